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

A ``<deterministic>`` node has ``<resultingstates>``, one a configuration, instead of probabilities. A ``<noisymax>``
node has ``<parameters>``, a distribution of its states for every state of each parent alone, the strongest state first,
and one for what no parent causes (leak), as its state is the strongest that one of them gives (Diez, 1993); it is read
as a table. ``<strengths>`` order the states of each parent. Identifiers are
letters, digits and underscores, and begin with a letter. Other names and labels are written as such ones
(`fishernet.files.words`), and exactly in properties, which are those of a BIF file (`fishernet.files.bif_words`).
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from xml.parsers import expat

import numpy as np

from fishernet.base.errors import FileFormatError
from fishernet.base.io import read_text, replacing_text
from fishernet.base.names import listed
from fishernet.data import Variable
from fishernet.files.bif_words import NEVER, ROWS
from fishernet.files.bif_writer import Called, Words, replaced, require_tables
from fishernet.files.declared import Family, Node, assembled, node_of, noted_properties, noted_rows, rows_of
from fishernet.files.words import escaped, noted, safe_words, with_never
from fishernet.models import BayesianNetwork, Conditional
from fishernet.models.conditionals.base import Probabilities

PLACE = "fishernet_place"  # of a variable in the network, whose order is another one than the file's
MOST_DEEP = 100  # elements within one another
MOST_ELEMENTS = 2**21  # of a file
MOST_CELLS = 2**24  # of the table of a noisy node

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
    noted_there = [] if place is None else [(PLACE, str(place))]
    for name, text in [*noted_properties(variable, words.name, words.states), *noted_there]:
        yield f'      <property id="{name}">{escaped(text)}</property>\n'
    numbers = " ".join(map(repr, with_never(conditional.table()).reshape(-1).tolist()))
    yield f"      <probabilities>{numbers}</probabilities>\n    </cpt>\n"


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


def _encoding(data: bytes) -> str:
    """Return the encoding that an XML file says; LookupError for one that is not of single bytes, nor UTF-8."""
    declared = re.match(_DECLARED, data)
    name = "utf-8" if declared is None else declared[1].decode().lower()
    if not re.fullmatch(_ENCODINGS, name):
        raise LookupError(f"the encoding {name!r} is not known")
    return "utf-8-sig" if name in ("utf-8", "utf8") else name


def parsed(path: str | os.PathLike[str], *, declares: bool = False) -> Element:
    """Return the root of an XML file, without entities of its own, which could have no end.

    With `declares` a document type may say what elements there are.
    """
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

    def refuse(*_: object) -> None:
        what = "entities of a file's own are not read" if declares else "a document type declaration is not read"
        raise FileFormatError(path, f"{what}; such files have none", line=parser.CurrentLineNumber)

    parser.StartElementHandler = begins
    parser.EndElementHandler = lambda _: open_ones.pop()
    parser.CharacterDataHandler = lambda data: open_ones[-1].pieces.append(data)
    if declares:
        parser.EntityDeclHandler = refuse
    else:
        parser.StartDoctypeDeclHandler = refuse
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
        Of nodes with tables, deterministic and noisy-MAX ones, in the order of the file, all as tables. Names and
        states are the identifiers, except where `write_xdsl` noted others. Rows of probabilities that are off by
        rounding, up to 0.001, are divided by their sum.

    Raises
    ------
    FileFormatError
        When there is no such file, it is damaged, or it holds other nodes (noisy adders, decisions, utilities,
        equations); it names file and line.
    """
    root = parsed(path)
    if root.tag != "smile":
        raise FileFormatError(path, f"expected <smile>, got <{root.tag}>; this is no XDSL file", line=root.line)
    elements = [node for block in root.all("nodes") for node in block.children]
    nodes = [_read_node(path, element) for element in elements]
    turned = _is_of_agrum(root)
    head = {name: text for block in root.all("properties") for name, text in properties(block).items()}
    families = [_family(path, *pair, turned) for pair in zip(elements, nodes, strict=True)]
    return assembled(path, _in_order(path, elements, nodes), families, noted_rows(path, head, root.line))


def _read_node(path: object, element: Element) -> Node:
    word = element.attributes.get("id", "")
    if element.tag not in READ:
        what = f"the node {word!r} is a <{element.tag}>; what is read: {listed([f'<{tag}>' for tag in READ])}"
        raise FileFormatError(path, what, line=element.line)
    states = [state.attributes.get("id", "") for state in element.all("state")]
    return node_of(path, word, states, properties(element), element.line)


def properties(element: Element) -> dict[str, str]:
    """Return the properties of a node or a network, by name."""
    return {child.attributes.get("id", ""): child.text for child in element.all("property")}


def _is_of_agrum(root: Element) -> bool:
    """Whether pyAgrum wrote a file, in which the first parents' states are the fastest ones."""
    shown = [genie for block in root.all("extensions") for genie in block.all("genie")]
    return any(genie.attributes.get("app", "").startswith("aGrUM") for genie in shown)


def _in_order(path: object, elements: Sequence[Element], nodes: Sequence[Node]) -> Sequence[Node]:
    """Return the nodes in the order that we noted, or that of the file."""
    places = [properties(element).get(PLACE) for element in elements]
    if not any(places):
        return nodes
    if sorted(map(str, places)) != sorted(map(str, range(len(nodes)))):
        raise FileFormatError(path, f"the properties {PLACE} must number the nodes from 0 to {len(nodes) - 1}")
    return [node for _, node in sorted(zip(map(int, map(str, places)), nodes, strict=True), key=lambda pair: pair[0])]


def _family(path: object, element: Element, node: Node, turned: bool) -> Family:
    own = [word for parents in element.all("parents") for word in parents.text.split()]
    if turned:
        own.reverse()
    return Family(node.word, own, partial(READ[element.tag], path, element), element.line)


def _n_configurations(family: Sequence[Node]) -> int:
    return int(np.prod([float(len(parent.states)) for parent in family[:-1]]))


def _words(path: object, element: Element, node: Node, tag: str, needed: int) -> tuple[list[str], int]:
    """Return what stands in the element of a node that needs so many words, and where."""
    found = element.all(tag)
    if len(found) != 1:
        raise FileFormatError(path, f"node {node.word!r}: {len(found)} <{tag}>, not one", line=element.line)
    words = found[0].text.split()
    if len(words) != needed:
        what = f"node {node.word!r}: {len(words)} entries of <{tag}>; its parents need {needed}"
        raise FileFormatError(path, what, line=found[0].line)
    return words, found[0].line


def _probabilities(path: object, element: Element, family: Sequence[Node]) -> Probabilities:
    node = family[-1]
    words, line = _words(path, element, node, "probabilities", _n_configurations(family) * len(node.states))
    return rows_of(path, numbers_of(path, node.word, words, line), family, line)


def numbers_of(path: object, node: str, words: Sequence[str], line: int) -> list[float]:
    """Return words as numbers; FileFormatError for one that is none."""
    number = re.compile(_NUMBER)
    bad = next((word for word in words if not number.fullmatch(word)), None)
    if bad is not None:
        raise FileFormatError(path, f"node {node!r}: {bad[:40]!r} is no number", line=line)
    return list(map(float, words))


def _certain(path: object, element: Element, family: Sequence[Node]) -> Probabilities:
    node = family[-1]
    codes = {state: code for code, state in enumerate(node.states)}
    words, line = _words(path, element, node, "resultingstates", _n_configurations(family))
    unknown = next((word for word in words if word not in codes), None)
    if unknown is not None:
        what = f"node {node.word!r}: {unknown[:40]!r} is no state; there are {listed(node.states)}"
        raise FileFormatError(path, what, line=line)
    return np.eye(len(codes))[[codes[word] for word in words]]


def _noisy(path: object, element: Element, family: Sequence[Node]) -> Probabilities:
    """Return the table of a noisy-MAX node: at most a state is what no cause brings beyond it, each by itself."""
    *parents, node = family
    sizes, r = [len(parent.states) for parent in parents], len(node.states)
    if _n_configurations(family) * r > MOST_CELLS:
        what = f"node {node.word!r}: the table of its {len(parents)} parents would have more than {MOST_CELLS:,} cells"
        raise FileFormatError(path, what, line=element.line)
    words, line = _words(path, element, node, "parameters", (sum(sizes) + 1) * r)
    every = node._replace(states=list(map(str, range(sum(sizes) + 1))))  # all states of all parents, and none
    rows = rows_of(path, numbers_of(path, node.word, words, line), [every, node], line)
    rows = rows / rows.sum(axis=1, keepdims=True)
    reached = np.cumsum(rows[:, ::-1], axis=1)[:, ::-1]  # P(this state or a weaker one)
    orders = _strengths(path, element, node, sizes)
    whole = reached[-1:]
    first = 0
    for size, order in zip(sizes, orders, strict=True):
        own = reached[first : first + size]
        at = _in_order_of_states(rows[first : first + size], order)
        if at is None:
            what = (
                f"node {node.word!r}: no state of a parent is the one that brings nothing, (0, ..., 0, 1), where the "
            )
            raise FileFormatError(path, f"{what}strengths say it is", line=line)
        whole = (whole[:, None, :] * own[at][None, :, :]).reshape(-1, r)
        first += size
    table: Probabilities = whole - np.column_stack([whole[:, 1:], np.zeros(len(whole))])
    return table


def _strengths(path: object, element: Element, node: Node, sizes: Sequence[int]) -> list[list[int]]:
    """Return the states of each parent by falling strength."""
    if not element.all("strengths"):
        return [list(range(size)) for size in sizes]
    words, line = _words(path, element, node, "strengths", sum(sizes))
    found = numbers_of(path, node.word, words, line)
    ends = np.cumsum(sizes).tolist()
    orders = [found[end - size : end] for size, end in zip(sizes, ends, strict=True)]
    if any(sorted(order) != list(range(size)) for order, size in zip(orders, sizes, strict=True)):
        raise FileFormatError(
            path, f"node {node.word!r}: strengths order the states of each parent, from 0 on", line=line
        )
    return [list(map(int, order)) for order in orders]


def _in_order_of_states(rows: Probabilities, order: Sequence[int]) -> list[int] | None:
    """Return where the row of each state of a parent stands; None where that is not told.

    Rows are in the order of strengths, in which the last brings nothing; elsewhere they are found in that of states.
    """
    nothing = np.zeros(rows.shape[1])
    nothing[-1] = 1
    if np.allclose(rows[-1], nothing, atol=1e-9):
        return [order.index(state) for state in range(len(order))]
    if np.allclose(rows[order[-1]], nothing, atol=1e-9):
        return list(range(len(order)))
    return None


READ = {"cpt": _probabilities, "deterministic": _certain, "noisymax": _noisy}
