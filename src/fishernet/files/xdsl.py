"""Bayesian networks in XDSL, the XML format of GeNIe and SMILE.

::

    <smile version="1.0" id="Network">
      <nodes>                                        parents before children
        <cpt id="wet">
          <state id="no" /><state id="yes" />
          <parents>rain wind</parents>
          <probabilities>0.9 0.1 ...</probabilities>       the child's state fastest, then the last parent's
        </cpt>
      </nodes>
      <extensions> ... </extensions>                 what GeNIe shows
    </smile>

pyAgrum writes, and reads, the first parent's state fastest but for the child's. Its files say that they are its own
(``<genie app="aGrUM 2.0">``) and are read so; it cannot read the files of others where a variable has several parents.

A ``<deterministic>`` node has ``<resultingstates>``, one a configuration, instead of probabilities. Identifiers are
letters, digits and underscores, and begin with a letter. Other names and labels are written as such ones
(`fishernet.files.words`), and exactly in properties, which are those of a BIF file (`fishernet.files.bif_words`).
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from xml.parsers import expat

import numpy as np

from fishernet.base.errors import FileFormatError, FishernetError
from fishernet.base.io import read_text, replacing_text
from fishernet.base.names import doubled, listed
from fishernet.data import Variable
from fishernet.files.bif_words import (
    BOUNDS,
    CUTS,
    NAME,
    NEVER,
    ROWS,
    STATES,
    UNIT,
    read_label,
    read_numbers,
    read_rows,
    read_states,
    written_states,
)
from fishernet.files.bif_writer import Called, Words, replaced, require_tables
from fishernet.files.words import escaped, noted, quoted, safe_words, with_never, without_never
from fishernet.models import BayesianNetwork, Conditional, FullTable
from fishernet.models.conditionals.base import Probabilities, check_cells

TOLERANCE = 1e-3  # files hold rounded numbers
PLACE = "fishernet_place"  # of a variable in the network, whose order is another one than the file's
MOST_DEEP = 100  # elements within one another
MOST_ELEMENTS = 2**21  # of a file

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_DECLARED = rb"""(?:\xef\xbb\xbf)?<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']"""
_ENCODINGS = "utf-?8|(?:us-)?ascii|latin-?1|iso-8859-(?:[1-9]|1[03456])|(?:windows-|cp)125[0-8]"
_NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"


# ------------------------------------------------------------------------------------------------------ writing


def write_xdsl(net: BayesianNetwork, path: str | os.PathLike[str]) -> None:
    """Write a Bayesian network to an XDSL file, for GeNIe, SMILE, pgmpy and others.

    Not for pyAgrum, which takes the parents of a table in the reverse order: give it a BIF file.

    Names and labels that are no identifiers are written as such, and as they are in properties. A variable of one state
    gets a second one, of probability 0. `read_xdsl` reads all back exactly, except that a merged table comes back as a
    full one.

    Parameters
    ----------
    net : BayesianNetwork
    path : path
        A name that ends in ``.gz`` is compressed. The file is written beside and renamed.

    Warns
    -----
    FishernetWarning
        When names or labels had to be replaced.

    Raises
    ------
    SchemaError
        When it is no Bayesian network of variables with states, or a label cannot be written.
    FileFormatError
        When the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import fishernet as fn
    >>> from fishernet.files import read_xdsl, write_xdsl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_xdsl(fn.datasets.load("asia"), Path(folder, "asia.xdsl"))
    ...     read_xdsl(Path(folder, "asia.xdsl"))
    BayesianNetwork(8 variables, 8 arcs, 18 parameters)
    """
    noted(store_xdsl(net, path))


def store_xdsl(net: Any, path: str | os.PathLike[str]) -> str:
    """Write a network, and return which names and labels had to be replaced."""
    require_tables(net, "an XDSL file")
    names = safe_words(net.names, _PLAIN, (), folds=True)
    called = {
        variable.name: Words(name, state_words(variable)) for variable, name in zip(net.variables, names, strict=True)
    }
    with replacing_text(path) as file:
        file.writelines(_lines(net, called))
    return replaced(net.variables, called)


def state_words(variable: Variable) -> list[str]:
    """Return the identifiers for the states of a variable."""
    labels = [str(state) for state in variable.states]
    return safe_words(labels if len(labels) > 1 else [*labels, NEVER], _PLAIN, (), folds=False)


def _lines(net: BayesianNetwork, called: Called) -> Iterator[str]:
    order = list(net.dag.order)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<smile version="1.0" id="Network">\n'
    if net.n_rows is not None:
        yield f'  <properties>\n    <property id="{ROWS}">{net.n_rows}</property>\n  </properties>\n'
    yield "  <nodes>\n"
    for v in order:
        place = None if order == sorted(order) else v
        yield from _node(net.conditionals[v], called, place)
    yield '  </nodes>\n  <extensions>\n    <genie version="1.0" app="fishernet" name="Network">\n'
    for number, v in enumerate(order):
        yield from _shown(net.names[v], called[net.names[v]].name, number)
    yield "    </genie>\n  </extensions>\n</smile>\n"


def _node(conditional: Conditional, called: Called, place: int | None) -> Iterator[str]:
    *parents, variable = conditional.variables
    words = called[variable.name]
    yield f'    <cpt id="{words.name}">\n'
    for state in words.states:
        yield f'      <state id="{state}" />\n'
    if parents:
        yield f"      <parents>{' '.join(called[parent.name].name for parent in parents)}</parents>\n"
    for name, text in _properties(variable, words, place):
        yield f'      <property id="{name}">{escaped(text)}</property>\n'
    numbers = " ".join(map(repr, with_never(conditional.table()).reshape(-1).tolist()))
    yield f"      <probabilities>{numbers}</probabilities>\n    </cpt>\n"


def _properties(variable: Variable, words: Words, place: int | None) -> Iterator[tuple[str, str]]:
    if words.name != variable.name:
        yield NAME, quoted(variable.name)
    if words.states != list(variable.states):
        yield STATES, written_states(variable.states)
    if variable.cuts is not None:
        yield CUTS, ", ".join(map(repr, variable.cuts))
    if variable.bounds is not None:
        yield BOUNDS, ", ".join(map(repr, variable.bounds))
    if variable.unit is not None:
        yield UNIT, variable.unit
    if place is not None:
        yield PLACE, str(place)


def _shown(name: str, word: str, number: int) -> Iterator[str]:
    """Yield how GeNIe shows a node: with its name, in rows of eight."""
    text = "".join(c if c.isprintable() else " " for c in name).strip() or word
    x, y = 20 + number % 8 * 130, 20 + number // 8 * 90
    yield f'      <node id="{word}">\n        <name>{escaped(text)}</name>\n'
    yield '        <interior color="e5f6f7" />\n        <outline color="000080" />\n'
    yield '        <font color="000000" name="Arial" size="8" />\n'
    yield f"        <position>{x} {y} {x + 100} {y + 50}</position>\n      </node>\n"


# ------------------------------------------------------------------------------------------------------ reading


@dataclass(slots=True)
class Element:
    """An element of an XML file, and where it begins."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What stands in it."""
        return "".join(self.pieces).strip()

    def all(self, tag: str) -> list[Element]:
        """Return its children of a kind."""
        return [child for child in self.children if child.tag == tag]


class Node(NamedTuple):
    """A variable as the file has it."""

    element: Element
    word: str
    variable: Variable
    states: list[str]
    """The identifiers of its states, with one that never occurs where the variable has one state."""


def _encoding(data: bytes) -> str:
    """Return the encoding that an XML file says; LookupError for one that is not of single bytes, nor UTF-8."""
    declared = re.match(_DECLARED, data)
    name = "utf-8" if declared is None else declared[1].decode().lower()
    if not re.fullmatch(_ENCODINGS, name):
        raise LookupError(f"the encoding {name!r} is not known")
    return "utf-8-sig" if name in ("utf-8", "utf8") else name


def parsed(path: str | os.PathLike[str]) -> Element:
    """Return the root of an XML file, without document types, whose entities could have no end."""
    text = read_text(path, encoding=_encoding)
    root = Element("", {}, 0)
    open_ones, counted = [root], itertools.count(1)
    parser = expat.ParserCreate()

    def begins(tag: str, attributes: dict[str, str]) -> None:
        line = parser.CurrentLineNumber
        if len(open_ones) > MOST_DEEP:
            raise FileFormatError(path, f"more than {MOST_DEEP} elements are within one another", line=line)
        if next(counted) == MOST_ELEMENTS:
            raise FileFormatError(path, f"more than {MOST_ELEMENTS:,} elements are more than a network has", line=line)
        element = Element(tag, attributes, line)
        open_ones[-1].children.append(element)
        open_ones.append(element)

    def doctype(*_: object) -> None:
        what = "a document type declaration is not read; XDSL files have none"
        raise FileFormatError(path, what, line=parser.CurrentLineNumber)

    parser.StartElementHandler = begins
    parser.EndElementHandler = lambda _: open_ones.pop()
    parser.CharacterDataHandler = lambda data: open_ones[-1].pieces.append(data)
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        what = f"this is no XML, or it is damaged or ends early ({expat.ErrorString(error.code)})"
        raise FileFormatError(path, what, line=error.lineno) from error
    return root.children[0]


def read_xdsl(path: str | os.PathLike[str]) -> BayesianNetwork:
    """Read a Bayesian network from an XDSL file, as GeNIe, SMILE, pyAgrum and `write_xdsl` write them.

    Parameters
    ----------
    path : path
        Compressed with gzip or not.

    Returns
    -------
    BayesianNetwork
        Of nodes with tables and deterministic ones, in the order of the file. Names and states are the identifiers,
        except where `write_xdsl` noted others. Rows of probabilities that are off by rounding, up to 0.001, are divided
        by their sum.

    Raises
    ------
    FileFormatError
        When there is no such file, it is damaged, or it holds other nodes (noisy, decisions, utilities, equations); it
        names file and line.
    """
    root = parsed(path)
    if root.tag != "smile":
        raise FileFormatError(path, f"expected <smile>, got <{root.tag}>; this is no XDSL file", line=root.line)
    nodes: dict[str, Node] = {}
    names: set[str] = set()
    for element in [node for block in root.all("nodes") for node in block.children]:
        node = _read_node(path, element)
        if node.word in nodes or node.variable.name in names:
            raise FileFormatError(path, f"the node {node.variable.name!r} appears twice", line=element.line)
        nodes[node.word] = node
        names.add(node.variable.name)
    ordered = _in_order(path, list(nodes.values()))
    positions = {node.word: v for v, node in enumerate(ordered)}
    turned = _is_of_agrum(root)
    conditionals = [_conditional(path, node, nodes, positions, turned) for node in ordered]
    n_rows = _n_rows(path, root)
    try:
        return BayesianNetwork([node.variable for node in ordered], conditionals, n_rows=n_rows)
    except FishernetError as error:  # a cycle
        raise FileFormatError(path, str(error)) from error


def _read_node(path: object, element: Element) -> Node:
    word = element.attributes.get("id", "")
    if element.tag not in ("cpt", "deterministic"):
        what = f"the node {word!r} is a <{element.tag}>; what is read: <cpt> and <deterministic>"
        raise FileFormatError(path, what, line=element.line)
    if not word:
        raise FileFormatError(path, "a node has no id", line=element.line)
    states = [state.attributes.get("id", "") for state in element.all("state")]
    if len(set(states)) < len(states):
        raise FileFormatError(path, f"node {word!r}: the state {doubled(states)!r} appears twice", line=element.line)
    own = properties(element)
    try:
        name = read_label(own[NAME]) if NAME in own else word
        exact = read_states(own[STATES]) if STATES in own else states
        cuts, bounds = (read_numbers(own[word]) if word in own else None for word in (CUTS, BOUNDS))
        unit: Any = own.get(UNIT)
        if len(exact) != len(states) and not (len(exact) == 1 and len(states) == 2 and states[1].startswith(NEVER)):
            raise ValueError(f"{STATES} has {len(exact)} of {len(states)} states")
        return Node(element, word, Variable(name, exact, cuts, bounds, unit), states)
    except ValueError as error:
        raise FileFormatError(path, f"node {word!r}: {error}", line=element.line) from error


def properties(element: Element) -> dict[str, str]:
    """Return the properties of a node or a network, by name."""
    return {child.attributes.get("id", ""): child.text for child in element.all("property")}


def _is_of_agrum(root: Element) -> bool:
    """Whether pyAgrum wrote a file, in which the first parents' states are the fastest ones."""
    shown = [genie for block in root.all("extensions") for genie in block.all("genie")]
    return any(genie.attributes.get("app", "").startswith("aGrUM") for genie in shown)


def _in_order(path: object, nodes: list[Node]) -> list[Node]:
    """Return the nodes in the order that we noted, or that of the file."""
    places = [properties(node.element).get(PLACE) for node in nodes]
    if not any(places):
        return nodes
    if sorted(map(str, places)) != sorted(map(str, range(len(nodes)))):
        raise FileFormatError(path, f"the properties {PLACE} must number the nodes from 0 to {len(nodes) - 1}")
    return [node for _, node in sorted(zip(map(int, map(str, places)), nodes, strict=True), key=lambda pair: pair[0])]


def _conditional(
    path: object, node: Node, nodes: dict[str, Node], positions: dict[str, int], turned: bool
) -> FullTable:
    element = node.element
    own = [word for parents in element.all("parents") for word in parents.text.split()]
    twice = doubled(own)
    for word in own:
        if word not in nodes or word in (node.word, twice):
            what = f"node {node.word!r}: {word!r} is no other node, or is a parent twice"
            raise FileFormatError(path, what, line=element.line)
    if turned:
        own.reverse()
    family = [*(nodes[word] for word in own), node]
    try:
        check_cells([Variable(member.word, member.states) for member in family], f"the table of {node.word!r}")
        read = _probabilities if element.tag == "cpt" else _certain
        rows = without_never(
            read(path, family),
            [len(member.states) for member in family],
            [member.variable.cardinality for member in family],
        )
        at = [positions[word] for word in own]
        variables = [member.variable for member in family]
        return FullTable(positions[node.word], at, variables, rows, tolerance=TOLERANCE)
    except FileFormatError:
        raise
    except ValueError as error:
        raise FileFormatError(path, f"node {node.word!r}: {error}", line=element.line) from error


def _words(path: object, family: Sequence[Node], tag: str, per_row: int) -> list[str]:
    """Return what stands in the element of a node that has so many words a configuration of its parents."""
    node = family[-1]
    found = node.element.all(tag)
    if len(found) != 1:
        raise FileFormatError(path, f"node {node.word!r}: {len(found)} <{tag}>, not one", line=node.element.line)
    words = found[0].text.split()
    needed = int(np.prod([float(len(parent.states)) for parent in family[:-1]])) * per_row
    if len(words) != needed:
        what = f"node {node.word!r}: {len(words)} entries of <{tag}>; its parents need {needed}"
        raise FileFormatError(path, what, line=found[0].line)
    return words


def _probabilities(path: object, family: Sequence[Node]) -> Probabilities:
    node = family[-1]
    words = _words(path, family, "probabilities", len(node.states))
    line = node.element.all("probabilities")[0].line
    number = re.compile(_NUMBER)
    bad = next((word for word in words if not number.fullmatch(word)), None)
    if bad is not None:
        raise FileFormatError(path, f"node {node.word!r}: {bad[:40]!r} is no number", line=line)
    rows = np.array(list(map(float, words))).reshape(-1, len(node.states))
    sums = rows.sum(axis=1)
    off = ~((rows >= 0).all(axis=1) & (np.abs(sums - 1) <= TOLERANCE))
    if off.any():
        what = f"row {int(np.argmax(off))} of the probabilities is negative, or sums to {sums[off][0]:.9g}, not to 1"
        raise FileFormatError(path, f"node {node.word!r}: {what}", line=line)
    return rows


def _certain(path: object, family: Sequence[Node]) -> Probabilities:
    node = family[-1]
    codes = {state: code for code, state in enumerate(node.states)}
    words = _words(path, family, "resultingstates", 1)
    unknown = next((word for word in words if word not in codes), None)
    if unknown is not None:
        what = f"node {node.word!r}: {unknown[:40]!r} is no state; there are {listed(node.states)}"
        raise FileFormatError(path, what, line=node.element.all("resultingstates")[0].line)
    return np.eye(len(codes))[[codes[word] for word in words]]


def _n_rows(path: object, root: Element) -> int | float | None:
    """Return the number of rows that we noted, if we wrote the file."""
    text = next((properties(block)[ROWS] for block in root.all("properties") if ROWS in properties(block)), None)
    if text is None:
        return None
    try:
        return read_rows(text)
    except ValueError as error:
        raise FileFormatError(path, str(error), line=root.line) from error
