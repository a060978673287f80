"""The probability blocks of an Interchange Format file.

::

    probability ( child | parent 1, ..., parent m ) {
      (state of parent 1, ..., state of parent m) p1, ..., pr;      one configuration, in any order
      default p1, ..., pr;                                          all configurations that have no row
      table p1, ..., p(q r);                                        everything at once, instead of rows
    }

A ``table`` runs through the states of the child, parent 1, ..., parent m with the last one fastest: all configurations
for the child's first state, then all for its second, and so on (BIF 0.15). Without a bar, the first name is the child.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from fishernet.errors import StateSpaceError
from fishernet.files.bif.labels import QUOTED, label_lists
from fishernet.files.bif.text import Block, Source, Statement
from fishernet.files.bif.variables import Declared
from fishernet.models.conditionals.conditional import Probabilities, check_cells
from fishernet.table.variable import listed

TOLERANCE = 1e-3  # files hold rounded numbers

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
            raise source.wrong(f"unknown variable {name!r} in {block.head}; there are {listed(known)}", block.at)
        if names.count(name) > 1:
            raise source.wrong(f"the variable {name!r} appears twice in {block.head}", block.at)
    return [known[name] for name in names]


def probabilities(source: Source, block: Block, family: Sequence[Declared]) -> Probabilities:
    """Return the rows of a block, one a configuration of the parents, the last parent fastest."""
    variables = [declared.variable for declared in family]
    states = variables[-1].cardinality
    try:
        cells = check_cells(variables, f"the table of {variables[-1].name!r}")
    except StateSpaceError as error:
        raise source.wrong(str(error), block.at) from error
    entries = _entries(source, block, family)
    if "table" in entries.whole:
        return _from_table(source, block, entries, cells, states)
    return _from_rows(source, block, entries, family, cells // states)


def _names(source: Source, block: Block, text: str, known: dict[str, Declared]) -> list[str]:
    try:
        readings = label_lists(text)
    except ValueError as error:
        raise source.wrong(str(error), block.at) from error
    return next((reading for reading in readings if all(name in known for name in reading)), readings[0])


def _entries(source: Source, block: Block, family: Sequence[Declared]) -> Entries:
    entries = Entries()
    name, states = family[-1].variable.name, family[-1].variable.cardinality
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
    try:
        readings = label_lists(labels.text)
    except ValueError as error:
        raise source.wrong(str(error), labels.at) from error
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
    states = family[-1].variable.cardinality
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
