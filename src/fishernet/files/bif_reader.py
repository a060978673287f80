"""Reading a Bayesian network in the Interchange Format (BIF 0.15).

::

    file       network, then variable and probability blocks in any order
    block      keyword, head, "{", statements, "}"
    statement  anything up to ";" (quotes and the braces of a list of states hold together)

The format allows arbitrary text between blocks; here it must stand in comments, so that a damaged block is not taken
for such text. A property ends at the first ``;`` even when its quotes do not close. Probabilities are::

    probability ( child | parent 1, ..., parent m ) {
      (state of parent 1, ..., state of parent m) p1, ..., pr;      one configuration, in any order
      default p1, ..., pr;                                          all configurations that have no row
      table p1, ..., p(q r);                                        everything at once, instead of rows
    }

A ``table`` runs through the states of the child, parent 1, ..., parent m with the last one fastest: all configurations
for the child's first state, then all for its second, and so on. Without a bar, the first name is the child.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from fishernet.base.errors import FileFormatError, FishernetError
from fishernet.base.names import cut, doubled, listed
from fishernet.data import State, Variable
from fishernet.files.bif_words import (
    BOUNDS,
    CUTS,
    NAME,
    NEVER,
    QUOTED,
    ROWS,
    STATES,
    UNIT,
    label_lists,
    read_label,
    read_numbers,
    read_rows,
    read_states,
)
from fishernet.files.tokens import file_text
from fishernet.files.words import without_never
from fishernet.models import BayesianNetwork, FullTable
from fishernet.models.conditionals.base import Probabilities, check_cells

MOST_HEAD = 400  # characters of what stands before a block, in a message
TOLERANCE = 1e-3  # files hold rounded numbers

_COMMENT = re.compile(rf"({QUOTED})|(?<!:)//[^\n]*|/\*[\s\S]*?\*/")  # http:// begins no comment
_BLANK = re.compile(r"\s*+")
_HEAD = re.compile(rf'(network|variable|probability)(?=[\s("{{])((?:[^"{{}};]|{QUOTED})*+)\{{')
_STATEMENT = re.compile(rf'((?:[^"{{}};]++|{QUOTED}|\{{(?:[^"{{}};]|{QUOTED})*+\}})*+);')
_PROPERTY = re.compile(r"(property\b[^;]*+);")


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a file without its comments; lines are where they were."""

    path: object
    text: str

    def wrong(self, what: str, at: int) -> FileFormatError:
        """Return the error that says what is wrong at a position of the text."""
        return FileFormatError(self.path, what, line=self.text.count("\n", 0, at) + 1)

    def shown(self, at: int) -> str:
        """Return the beginning of what stands at a position, for a message."""
        line = self.text[at : at + 41].split("\n", 1)[0]
        return repr(line if len(line) <= 40 else f"{line[:40]}...")

    @contextmanager
    def checking(self, at: int, where: str = "") -> Iterator[None]:
        """Turn what is said of the labels and numbers inside into an error of the file, with the line."""
        try:
            yield
        except ValueError as error:
            raise self.wrong(f"{where}{error}", at) from error


class Statement(NamedTuple):
    """What stands before a semicolon."""

    text: str
    at: int


class Block(NamedTuple):
    """One block of the file."""

    kind: str
    head: str
    at: int
    statements: list[Statement]


def source_of(path: str | os.PathLike[str], encoding: str | None = None) -> Source:
    """Return the text of a file without its comments."""
    text = file_text(path, encoding)
    if "//" in text or "/*" in text:
        text = _COMMENT.sub(_blanked, text)
    return Source(path, text)


def blocks(source: Source) -> Iterator[Block]:
    """Yield the blocks of a file, in order."""
    at = _skip(source, 0)
    while at < len(source.text):
        match = _HEAD.match(source.text, at)
        if match is None:
            raise source.wrong(_no_block(source, at), at)
        statements, end = _statements(source, match.end(), f"{match[1]}{match[2].rstrip()}")
        yield Block(match[1], match[2].strip(), at, statements)
        at = _skip(source, end)


def _statements(source: Source, at: int, block: str) -> tuple[list[Statement], int]:
    """Return the statements of a block and where it ends."""
    statements = []
    text = source.text
    at = _skip(source, at)
    while not text.startswith("}", at):
        match = _STATEMENT.match(text, at) or _PROPERTY.match(text, at)
        if match is None:
            raise source.wrong(_no_statement(source, at, block), at)
        statements.append(Statement(match[1].rstrip(), at))
        at = _skip(source, match.end())
    return statements, at + 1


def _skip(source: Source, at: int) -> int:
    match = _BLANK.match(source.text, at)
    return match.end() if match else at


def _no_block(source: Source, at: int) -> str:
    if source.text.startswith("{", at):
        return "this is no BIF file; fishernet.load reads the library's own files"
    if source.text.startswith("<", at):
        return "this is no BIF file; XMLBIF ends in .xmlbif or .xml"
    if source.text.startswith(("network", "variable", "probability"), at) and "{" not in source.text[at:]:
        return f"the file ends inside of {source.shown(at)}"
    return f"expected a network, variable or probability block, got {source.shown(at)}; other text must be a comment"


def _no_statement(source: Source, at: int, block: str) -> str:
    rest = source.text[at:]
    if ";" not in rest or "}" not in rest:
        return f"the file ends inside of the block {block!r}"
    return f"in the block {block!r}: {source.shown(at)} cannot be read; a statement ends with ';', a block with '}}'"


def _blanked(match: re.Match[str]) -> str:
    return match[1] or " " + "\n" * match[0].count("\n")


_TYPE = re.compile(r"type\s+discrete\s*\[\s*([0-9]{1,9})\s*\]\s*\{([\s\S]*)\}")
_OF_VARIABLE = re.compile(r"property\s+(\w+)\s*=\s*([\s\S]*)")


class Declared(NamedTuple):
    """A variable as the file declares it."""

    variable: Variable
    position: int
    word: str
    """What the file calls it."""
    codes: dict[str, int]
    """The code of each state, by the word that the file has for it; the last one may be a state that never occurs."""


def declared(source: Source, block: Block, position: int) -> Declared:
    """Return the variable that a block declares."""
    with source.checking(block.at):
        word = name = read_label(block.head)
    if not block.head:
        raise source.wrong("a variable block has no name", block.at)
    exact = properties(block).get(NAME)
    if exact is not None:
        with source.checking(exact.at, f"variable {word!r}, {NAME}: "):
            name = read_label(exact.text)
    types = [statement for statement in block.statements if not statement.text.startswith("property")]
    if not types:
        raise source.wrong(f"variable {name!r} has no type; it needs `type discrete [ n ] {{ states }};`", block.at)
    labels = _labels(source, types[0], name)
    if len(types) > 1:
        raise source.wrong(f"variable {name!r}: expected one type, got {source.shown(types[1].at)}", types[1].at)
    states = _states(source, block, name, labels)
    cuts, bounds = (_property(source, block, name, word) for word in (CUTS, BOUNDS))
    unit: Any = text.text if (text := properties(block).get(UNIT)) else None
    with source.checking(block.at):
        variable = Variable(name, states, cuts, bounds, unit)
    return Declared(variable, position, word, {label: code for code, label in enumerate(labels)})


def properties(block: Block) -> dict[str, Statement]:
    """Return the properties of the form ``name = value`` of a block, by name; those of one name as one."""
    texts: dict[str, list[str]] = {}
    places: dict[str, int] = {}
    for text, at in block.statements:
        match = _OF_VARIABLE.fullmatch(text)
        if match:
            texts.setdefault(match[1], []).append(match[2].strip())
            places.setdefault(match[1], at)
    return {name: Statement("".join(pieces), places[name]) for name, pieces in texts.items()}


def _labels(source: Source, statement: Statement, name: str) -> list[str]:
    """Return the words of the states."""
    match = _TYPE.fullmatch(statement.text)
    if match is None:
        raise source.wrong(
            f"variable {name!r}: expected `type discrete [ n ] {{ states }}`, got {source.shown(statement.at)}",
            statement.at,
        )
    number = int(match[1])
    with source.checking(statement.at, f"variable {name!r}: "):
        readings = label_lists(match[2])
    labels = next((reading for reading in readings if len(reading) == number), None)
    if labels is None:
        raise source.wrong(f"variable {name!r}: [ {number} ] states, but {listed(readings[0])}", statement.at)
    if len(set(labels)) < number:
        raise source.wrong(f"variable {name!r}: the state {doubled(labels)!r} appears twice", statement.at)
    return labels


def _states(source: Source, block: Block, name: str, labels: list[str]) -> list[State]:
    """Return the states with the types that we wrote, or as the words they are."""
    typed = properties(block).get(STATES)
    if typed is None:
        return list(labels)
    with source.checking(typed.at, f"variable {name!r}, {STATES}: "):
        states = read_states(typed.text)
    if len(states) != len(labels) and not (len(states) == 1 and len(labels) == 2 and labels[1].startswith(NEVER)):
        raise source.wrong(f"variable {name!r}: {STATES} has {len(states)} of {len(labels)} states", typed.at)
    return states


def _property(source: Source, block: Block, name: str, word: str) -> list[float] | None:
    """Return the numbers of one of our properties, whole ones without a point as int; None where there is none."""
    found = properties(block).get(word)
    if found is None:
        return None
    with source.checking(found.at, f"variable {name!r}, {word}: "):
        return read_numbers(found.text)


_CHILD = re.compile(rf'((?:[^"|]++|{QUOTED})*+)(\|)?')
_WHOLE = re.compile(r"(table|default)\b([\s\S]*)")


class Row(NamedTuple):
    """Numbers, and where they stand."""

    values: list[float]
    at: int


@dataclass
class Entries:
    """What a block says."""

    rows: dict[int, Row] = field(default_factory=dict)
    """By configuration, the last parent fastest."""
    whole: dict[str, Row] = field(default_factory=dict)
    """By keyword: the default row, the table."""


def family_of(source: Source, block: Block, known: dict[str, Declared]) -> list[Declared]:
    """Return the parents, in their order, then the child."""
    inside = block.head[1:-1]
    match = _CHILD.match(inside)
    if match is None or f"({inside})" != block.head:
        raise source.wrong(f"expected `( child | parents )`, got {block.head!r}", block.at)
    child = _names(source, block, match[1], known)
    parents = _names(source, block, inside[match.end() :], known)
    if not child or (match[2] and len(child) > 1):
        raise source.wrong(f"expected one child before the bar, got {block.head!r}", block.at)
    names = [*child[1:], *parents, child[0]]
    for name in names:
        if name not in known:
            raise source.wrong(
                f"unknown variable {name!r} in {cut(block.head, MOST_HEAD)}; there are {listed(known)}", block.at
            )
    if len(set(names)) < len(names):
        raise source.wrong(f"the variable {doubled(names)!r} appears twice in {cut(block.head, MOST_HEAD)}", block.at)
    return [known[name] for name in names]


def probabilities(source: Source, block: Block, family: Sequence[Declared]) -> Probabilities:
    """Return the rows of a block, one a configuration of the parents, the last parent fastest."""
    variables = [Variable(declared.variable.name, declared.codes) for declared in family]  # with what never occurs
    states = variables[-1].cardinality
    with source.checking(block.at):
        cells = check_cells(variables, f"the table of {variables[-1].name!r}")
    entries = _entries(source, block, family)
    if "table" in entries.whole:
        rows = _from_table(source, block, entries, cells, states)
    else:
        rows = _from_rows(source, block, entries, family, cells // states)
    kept = [declared.variable.cardinality for declared in family]
    with source.checking(block.at, f"{block.head}: "):
        return without_never(rows, [variable.cardinality for variable in variables], kept)


def _names(source: Source, block: Block, text: str, known: dict[str, Declared]) -> list[str]:
    with source.checking(block.at):
        readings = label_lists(text)
    return next((reading for reading in readings if all(name in known for name in reading)), readings[0])


def _entries(source: Source, block: Block, family: Sequence[Declared]) -> Entries:
    entries = Entries()
    name, states = family[-1].variable.name, len(family[-1].codes)
    for statement in block.statements:
        text, at = statement
        if text.startswith("("):
            labels, _, numbers = text[1:].rpartition(")")
            configuration = _configuration(source, Statement(labels, at), family)
            if configuration in entries.rows:
                raise source.wrong(f"{name!r}: a second row for ({labels}) of the parents", at)
            entries.rows[configuration] = Row(_numbers(source, numbers, at, states, name), at)
        elif match := _WHOLE.match(text):
            if match[1] in entries.whole:
                raise source.wrong(f"{name!r}: a second {match[1]!r}", at)
            expected = states if match[1] == "default" else None
            entries.whole[match[1]] = Row(_numbers(source, match[2], at, expected, name), at)
        elif not text.startswith("property"):
            raise source.wrong(f"{name!r}: expected (states) numbers, table or default, got {source.shown(at)}", at)
    return entries


def _configuration(source: Source, labels: Statement, family: Sequence[Declared]) -> int:
    """Return the position of a configuration of the parents, the last one fastest."""
    parents = family[:-1]
    words = [word.strip() for word in labels.text.split(",")]
    if len(words) != len(parents) or '"' in labels.text:
        words = _words(source, labels, family)
    position = 0
    for word, parent in zip(words, parents, strict=True):
        code = parent.codes.get(word)
        if code is None:
            raise source.wrong(
                f"{family[-1].variable.name!r}: {word!r} is no state of the parent {parent.variable.name!r}; "
                f"there are {listed(parent.codes)}",
                labels.at,
            )
        position = position * len(parent.codes) + code
    return position


def _words(source: Source, labels: Statement, family: Sequence[Declared]) -> list[str]:
    with source.checking(labels.at):
        readings = label_lists(labels.text)
    words = next((reading for reading in readings if len(reading) == len(family) - 1), None)
    if words is None:
        what = f"({labels.text}) must be one state of each of the {len(family) - 1} parents"
        raise source.wrong(f"{family[-1].variable.name!r}: {what}", labels.at)
    return words


def _numbers(source: Source, text: str, at: int, expected: int | None, name: str) -> list[float]:
    words = text.replace(",", " ").split()
    try:
        values = list(map(float, words))
    except ValueError as error:
        raise source.wrong(f"{name!r}: {str(error).split(': ')[-1]} is no number", at) from error
    if "_" in text or not text.isascii():  # Python reads more than the format has
        raise source.wrong(f"{name!r}: {text.strip()!r} are no numbers", at)
    if expected is not None and len(values) != expected:
        raise source.wrong(f"{name!r}: {len(values)} probabilities for {expected} states", at)
    return values


def _from_table(source: Source, block: Block, entries: Entries, cells: int, states: int) -> Probabilities:
    values, at = entries.whole["table"]
    if entries.rows or "default" in entries.whole:
        raise source.wrong(f"the block of {block.head} has a table, and rows or a default beside it", at)
    if len(values) != cells:
        raise source.wrong(f"the table of {block.head} has {len(values)} probabilities; it needs {cells}", at)
    rows = np.ascontiguousarray(np.array(values).reshape(states, -1).T)
    _check(source, block, rows, [at] * len(rows))
    return rows


def _from_rows(
    source: Source, block: Block, entries: Entries, family: Sequence[Declared], configurations: int
) -> Probabilities:
    default = entries.whole.get("default")
    if default is None and len(entries.rows) < configurations:
        missing = next(j for j in range(configurations) if j not in entries.rows)
        raise source.wrong(f"no row for {_shown(missing, family)} in the block of {block.head}", block.at)
    given = list(entries.rows.values())
    states = len(family[-1].codes)
    values = np.array([row.values for row in given]).reshape(-1, states)
    _check(source, block, values, [row.at for row in given])
    rows = np.empty((configurations, states))
    if default is not None:
        _check(source, block, np.array([default.values]), [default.at])
        rows[:] = default.values
    rows[list(entries.rows)] = values
    return rows


def _check(source: Source, block: Block, rows: Probabilities, at: Sequence[int]) -> None:
    """Raise when a number is no probability or a row's sum is not 1, with the row's line."""
    wrong = ~((rows >= 0) & (rows <= 1 + TOLERANCE))  # NaN too
    if wrong.any():
        row, state = np.argwhere(wrong)[0]
        raise source.wrong(f"{block.head}: {rows[row, state]} is no probability", at[row])
    sums = rows.sum(axis=1)
    off = np.abs(sums - 1) > TOLERANCE
    if off.any():
        row = int(np.argmax(off))
        table = " (a table has the child's states slowest, the last parent's fastest)" if len(set(at)) < len(at) else ""
        raise source.wrong(f"{block.head}: the probabilities sum to {sums[row]:.9g}, not to 1{table}", at[row])


def _shown(configuration: int, family: Sequence[Declared]) -> str:
    shape = [len(parent.codes) for parent in family[:-1]]
    codes = np.unravel_index(configuration, shape) if shape else ()
    labels = [list(parent.codes)[code] for parent, code in zip(family, codes, strict=False)]
    return f"({', '.join(labels)})" if labels else "the probabilities"


def read_bif(path: str | os.PathLike[str], *, encoding: str | None = None) -> BayesianNetwork:
    """Read a Bayesian network from a file in the Interchange Format (BIF 0.15).

    Reads what bnlearn, pgmpy, JavaBayes and `write_bif` write.

    Parameters
    ----------
    path : path
        Compressed with gzip or not.
    encoding : str, optional
        What the text is encoded in, as "gbk", where it is neither UTF-8 nor marked as UTF-16.

    Returns
    -------
    BayesianNetwork
        Variables in the order of the file. States are str, except where `write_bif` noted another type. Rows of
        probabilities that are off by rounding, up to 0.001, are divided by their sum.

    Raises
    ------
    FileFormatError
        When there is no such file, or it is not BIF, is damaged, or does not describe a Bayesian network; it names
        file and line. A directed cycle is one too: the message names the cycle, and ``__cause__`` is the `CycleError`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from fishernet.files import read_bif
    >>> text = '''
    ... network unknown { }
    ... variable rain { type discrete [ 2 ] { no, yes }; }
    ... variable wet { type discrete [ 2 ] { no, yes }; }
    ... probability ( rain ) { table 0.8, 0.2; }
    ... probability ( wet | rain ) { (yes) 0.1, 0.9; default 0.9, 0.1; }
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "wet.bif").write_text(text)
    ...     net = read_bif(Path(folder, "wet.bif"))
    >>> net
    BayesianNetwork(2 variables, 1 arc, 3 parameters)
    """
    source = source_of(path, encoding)
    head: Block | None = None
    known: dict[str, Declared] = {}
    names: set[str] = set()
    tables = []
    for block in blocks(source):
        if block.kind == "probability":
            tables.append(block)
        elif block.kind == "variable":
            found = declared(source, block, len(known))
            name = found.variable.name
            if found.word in known or name in names:
                raise source.wrong(f"the variable {name!r} is declared twice", block.at)
            known[found.word] = found
            names.add(name)
        elif head is None:
            head = block
        else:
            raise source.wrong("a second network block; a file holds one network", block.at)
    if head is None:
        raise FileFormatError(path, "there is no network block, so this is no BIF file")
    return _network(source, known, tables, _n_rows(source, head))


def _network(source: Source, known: dict[str, Declared], tables: list[Block], n_rows: float | None) -> BayesianNetwork:
    conditionals: dict[str, FullTable] = {}
    for block in tables:
        family = family_of(source, block, known)
        *parents, child = family
        if child.word in conditionals:
            raise source.wrong(f"a second probability block of {child.variable.name!r}", block.at)
        conditionals[child.word] = FullTable(
            child.position,
            [parent.position for parent in parents],
            [member.variable for member in family],
            probabilities(source, block, family),
            tolerance=TOLERANCE,
        )
    lacking = [name for name in known if name not in conditionals]
    if lacking:
        raise FileFormatError(source.path, f"there is no probability block of {listed(lacking)}")
    variables = [member.variable for member in known.values()]
    try:
        return BayesianNetwork(variables, [conditionals[name] for name in known], n_rows=n_rows)
    except FishernetError as error:  # a cycle
        raise FileFormatError(source.path, str(error)) from error


def _n_rows(source: Source, head: Block) -> int | float | None:
    """Return the number of rows that we noted, if we wrote the file."""
    rows = properties(head).get(ROWS)
    if rows is None:
        return None
    with source.checking(rows.at):
        return read_rows(rows.text)
