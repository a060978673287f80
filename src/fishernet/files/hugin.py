"""Bayesian networks in Hugin's NET format, which bnlearn, pyAgrum, SamIam, GeNIe and Netica read or write.

::

    net { node_size = (100 40); }
    node wet
    {
        states = ("no" "yes");
        label = "Wet grass";                      any attributes, which are passed over
    }
    potential (wet | rain wind)
    {
        data = (( 0.9 0.1 )( 0.2 0.8 ) ... );     the child's state fastest, then the last parent's
    }

What the format cannot hold stands in comments of ours, as those properties that a BIF file has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from fishernet.base.errors import FileFormatError
from fishernet.files.bif_words import ROWS
from fishernet.files.bif_writer import Called, stored
from fishernet.files.declared import VARIABLES, Family, Node, assembled, node_of, noted_properties, noted_rows, rows_of
from fishernet.files.tokens import Location, Token, Tokens, file_text, unquoted
from fishernet.files.words import with_never
from fishernet.models import BayesianNetwork, Conditional
from fishernet.models.conditionals.base import Probabilities

_COMMENT = r"%[^\n]*"
_OTHERS = ("decision", "utility", "continuous", "function")


def read_net(path: Location, *, encoding: str | None = None) -> BayesianNetwork:
    """Return the Bayesian network of a file in Hugin's NET format; FileFormatError says what is wrong, and where."""
    tokens = Tokens(path, file_text(path, encoding), _COMMENT, "%")
    nodes: list[Node] = []
    families: list[Family] = []
    head: dict[str, str] = {}
    while tokens.next.kind != "end":
        if tokens.take_noted(head):
            continue
        token = tokens.take()
        if token.text == "potential":
            families.append(_potential(path, tokens, token))
        elif token.text == "net":
            _attributes(tokens, "net", head)
        elif token.text in ("node", "discrete"):
            nodes.append(_node(path, tokens, token))
        elif token.text in _OTHERS or token.text == "class":
            what = "a class, of which networks are made," if token.text == "class" else f"a {token.text} node"
            raise tokens.wrong(f"{what} is not read; what is: nodes with states and their potentials", token.at)
        else:
            raise tokens.wrong(f"expected net, node or potential, got {token.text[:40]!r}", token.at)
    if not nodes and VARIABLES not in head:
        raise FileFormatError(path, "there is no node, so this is no NET file")
    return assembled(path, nodes, families, noted_rows(path, head, 1))


def _attributes(tokens: Tokens, where: str, own: dict[str, str]) -> dict[str, list[Token]]:
    """Return the attributes between braces, and what we noted there."""
    found: dict[str, list[Token]] = {}
    tokens.expect("{", where)
    while tokens.next.text != "}":
        if tokens.take_noted(own):
            continue
        name = tokens.take()
        if name.kind != "word":
            raise tokens.wrong(f"{where}: expected an attribute, got {name.text[:40]!r}", name.at)
        tokens.expect("=", f"{where}, {name.text}")
        found[name.text] = tokens.skip_value(f"{where}, {name.text}")
    tokens.take()
    return found


def _node(path: Location, tokens: Tokens, begin: Token) -> Node:
    if begin.text == "discrete":
        tokens.expect("node", "discrete")
    name = tokens.take()
    if name.kind != "word":
        raise tokens.wrong(f"expected the name of a node, got {name.text[:40]!r}", name.at)
    own: dict[str, str] = {}
    attributes = _attributes(tokens, f"node {name.text!r}", own)
    states = [unquoted(token) for token in attributes.get("states", []) if token.kind in ("quoted", "word", "number")]
    if not states:
        raise tokens.wrong(f"node {name.text!r} has no states", name.at)
    return node_of(path, name.text, states, own, tokens.line(name.at))


def _potential(path: Location, tokens: Tokens, begin: Token) -> Family:
    tokens.expect("(", "potential")
    words: list[str] = []
    bar = 0
    while tokens.next.text != ")":
        token = tokens.take()
        if token.text == "|":
            bar = len(words)
        elif token.kind == "word":
            words.append(token.text)
        else:
            raise tokens.wrong(f"potential: expected the name of a node, got {token.text[:40]!r}", token.at)
    tokens.take()
    where = f"potential ({' '.join(words)})"
    if not words or (bar or 1) != 1:
        raise tokens.wrong(f"{where}: one child is needed before the bar", begin.at)
    data = _attributes(tokens, where, {}).get("data")
    line = tokens.line(begin.at)
    if data is None:  # every state is as probable as the others
        return Family(words[0], words[1:], _even, line)
    bad = next((token for token in data if token.kind not in ("number", "sign")), None)
    if bad is not None:
        raise tokens.wrong(f"{where}: {bad.text[:40]!r} is no number; what is read are tables of numbers", bad.at)
    numbers = [float(token.text) for token in data if token.kind == "number"]
    return Family(words[0], words[1:], partial(rows_of, path, numbers, line=line), line)


def _even(family: Sequence[Node]) -> Probabilities:
    states = len(family[-1].states)
    return np.full((int(np.prod([len(parent.states) for parent in family[:-1]])), states), 1 / states)


# ------------------------------------------------------------------------------------------------------ writing


def store_net(net: Any, path: Location) -> str:
    """Write a network, and return which names and labels had to be replaced."""
    return stored(net, path, "a NET file", _lines)


def _lines(net: BayesianNetwork, called: Called) -> Iterator[str]:
    yield "net\n{\n    node_size = (100 40);\n"
    if net.n_rows is not None:
        yield f"    % {ROWS} = {net.n_rows}\n"
    if not net.variables:
        yield f"    % {VARIABLES} = 0\n"
    yield "}\n"
    for place, variable in enumerate(net.variables):
        words = called[variable.name]
        states = " ".join(f'"{state}"' for state in words.states)
        position = f"({20 + place % 8 * 130} {20 + place // 8 * 90})"
        yield f"node {words.name}\n{{\n    states = ({states});\n    position = {position};\n"
        for name, text in noted_properties(variable, words.name, words.states):
            yield f"    % {name} = {text}\n"
        yield "}\n"
    for conditional in net.conditionals:
        yield from _table(conditional, called)


def _table(conditional: Conditional, called: Called) -> Iterator[str]:
    *parents, child = [called[variable.name].name for variable in conditional.variables]
    given = f" | {' '.join(parents)}" if parents else ""
    yield f"potential ({child}{given})\n{{\n    data = {_nested(with_never(conditional.table()))};\n}}\n"


def _nested(table: Probabilities) -> str:
    """Return a table in brackets within one another, an axis each."""
    if table.ndim == 1:
        return f"({' '.join(map(repr, table.tolist()))})"
    return f"({' '.join(map(_nested, table))})"
