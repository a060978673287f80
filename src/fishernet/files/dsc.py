"""Bayesian networks in the DSC format of Microsoft's belief networks, which bnlearn, GeNIe and Netica read or write.

::

    belief network "unknown"
    node wet {
      type : discrete [ 2 ] = { "no", "yes" };
    }
    probability ( wet | rain, wind ) {
      (0, 0) : 0.9, 0.1;                           states of the parents by their numbers, from 0 on
      default : 0.2, 0.8;                          all that have no row
    }

What the format cannot hold stands in comments of ours, as those properties that a BIF file has.
"""

from __future__ import annotations

import itertools
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

_COMMENT = r"//[^\n]*|/\*[\s\S]*?\*/"
Rows = dict[tuple[int, ...], tuple[list[float], Token]]


def read_dsc(path: Location, *, encoding: str | None = None) -> BayesianNetwork:
    """Return the Bayesian network of a file in the DSC format; FileFormatError says what is wrong, and where."""
    tokens = Tokens(path, file_text(path, encoding), _COMMENT, "//")
    nodes: list[Node] = []
    families: list[Family] = []
    head: dict[str, str] = {}
    while tokens.next.kind != "end":
        if tokens.take_noted(head):
            continue
        token = tokens.take()
        if token.text == "belief":
            tokens.expect("network", "belief")
            if tokens.next.kind in ("quoted", "word"):
                tokens.take()
        elif token.text == "node":
            nodes.append(_node(path, tokens))
        elif token.text == "probability":
            families.append(_probability(path, tokens, token))
        else:
            raise tokens.wrong(f"expected belief network, node or probability, got {token.text[:40]!r}", token.at)
    if not nodes and VARIABLES not in head:
        raise FileFormatError(path, "there is no node, so this is no DSC file")
    return assembled(path, nodes, families, noted_rows(path, head, 1))


def _node(path: Location, tokens: Tokens) -> Node:
    name = tokens.take()
    if name.kind not in ("word", "quoted"):
        raise tokens.wrong(f"expected the name of a node, got {name.text[:40]!r}", name.at)
    word, where = unquoted(name), f"node {unquoted(name)!r}"
    tokens.expect("{", where)
    own: dict[str, str] = {}
    states: list[str] = []
    while tokens.next.text != "}":
        if tokens.take_noted(own):
            continue
        attribute = tokens.take()
        if attribute.kind != "word":
            raise tokens.wrong(f"{where}: expected an attribute, got {attribute.text[:40]!r}", attribute.at)
        value = tokens.skip_value(f"{where}, {attribute.text}")
        if attribute.text == "type":
            states = _states(tokens, where, attribute, value)
    tokens.take()
    if not states:
        raise tokens.wrong(f"{where} has no states; it needs `type : discrete [ n ] = {{ states }};`", name.at)
    return node_of(path, word, states, own, tokens.line(name.at))


def _states(tokens: Tokens, where: str, attribute: Token, value: Sequence[Token]) -> list[str]:
    texts = [token.text for token in value]
    if "discrete" not in texts or "{" not in texts:
        raise tokens.wrong(f"{where}: what is read are types like `discrete [ 2 ] = {{ no, yes }}`", attribute.at)
    held = value[texts.index("{") :]
    return [unquoted(token) for token in held if token.kind in ("quoted", "word", "number")]


def _probability(path: Location, tokens: Tokens, begin: Token) -> Family:
    tokens.expect("(", "probability")
    child, *others = tokens.until(")", "probability", "quoted word sign") or [begin]
    parents = [token for token in others if token.text != "|"]
    if child is begin or (others and others[0].text != "|") or any(token.kind == "sign" for token in parents):
        raise tokens.wrong("probability: expected ( child | parents )", begin.at)
    word, line = unquoted(child), tokens.line(begin.at)
    where = f"node {word!r}"
    tokens.expect("{", where)
    rows: Rows = {}
    default: list[float] | None = None
    while tokens.next.text != "}":
        token = tokens.next
        if token.text == "(":
            tokens.take()
            at = tuple(_place(tokens, where, part) for part in tokens.until(")", where))
            tokens.expect(":", where)
            rows[at] = _numbers(tokens, where), token
        elif token.text == "default":
            tokens.take()
            tokens.expect(":", where)
            default = _numbers(tokens, where)
        elif token.kind == "number":
            rows[()] = _numbers(tokens, where), token
        else:
            raise tokens.wrong(f"{where}: expected rows of numbers, got {token.text[:40]!r}", token.at)
    tokens.take()
    return Family(word, [unquoted(token) for token in parents], partial(_rows, path, tokens, rows, default, line), line)


def _place(tokens: Tokens, where: str, token: Token) -> int:
    if not token.text.isdigit() or len(token.text) > 9:
        raise tokens.wrong(f"{where}: {token.text[:40]!r} is no number of a state", token.at)
    return int(token.text)


def _numbers(tokens: Tokens, where: str) -> list[float]:
    return [float(token.text) for token in tokens.until(";", where, "number")]


def _rows(
    path: Location, tokens: Tokens, rows: Rows, default: list[float] | None, line: int, family: Sequence[Node]
) -> Probabilities:
    shape = [len(parent.states) for parent in family[:-1]]
    where, width = f"node {family[-1].word!r}", len(family[-1].states)
    if list(rows) == [()] and shape and default is None:  # everything at once
        return rows_of(path, rows[()][0], family, line)
    for at, (numbers, token) in rows.items():
        if len(at) != len(shape) or any(place >= states for place, states in zip(at, shape, strict=True)):
            raise tokens.wrong(f"{where}: {at} are not the numbers of states of {len(shape)} parents", token.at)
        if len(numbers) != width:
            raise tokens.wrong(f"{where}: {len(numbers)} probabilities for {width} states", token.at)
    every: list[float] = []
    for at in itertools.product(*map(range, shape)):
        if at not in rows and (default is None or len(default) != width):
            raise FileFormatError(path, f"{where}: no row for {at} of the parents", line=line)
        every += rows[at][0] if at in rows else default or []
    return rows_of(path, np.array(every).tolist(), family, line)


# ------------------------------------------------------------------------------------------------------ writing


def store_dsc(net: Any, path: Location) -> str:
    """Write a network, and return which names and labels had to be replaced."""
    return stored(net, path, "a DSC file", _lines)


def _lines(net: BayesianNetwork, called: Called) -> Iterator[str]:
    yield 'belief network "unknown"\n'
    if net.n_rows is not None:
        yield f"// {ROWS} = {net.n_rows}\n"
    if not net.variables:
        yield f"// {VARIABLES} = 0\n"
    for variable in net.variables:
        words = called[variable.name]
        states = ", ".join(f'"{state}"' for state in words.states)
        yield f"node {words.name} {{\n  type : discrete [ {len(words.states)} ] = {{ {states} }};\n"
        for name, text in noted_properties(variable, words.name, words.states):
            yield f"  // {name} = {text}\n"
        yield "}\n"
    for conditional in net.conditionals:
        yield from _table(conditional, called)


def _table(conditional: Conditional, called: Called) -> Iterator[str]:
    *parents, child = [called[variable.name] for variable in conditional.variables]
    given = f" | {', '.join(parent.name for parent in parents)}" if parents else ""
    yield f"probability ( {child.name}{given} ) {{\n"
    table = with_never(conditional.table())
    places = itertools.product(*(range(len(parent.states)) for parent in parents))
    for at, row in zip(places, table.reshape(-1, table.shape[-1]), strict=True):
        where = f"({', '.join(map(str, at))}) : " if parents else ""
        yield f"  {where}{', '.join(map(repr, row.tolist()))};\n"
    yield "}\n"
