"""Bayesian networks in XMLBIF 0.3, which Weka, pyAgrum, pgmpy, SamIam and JavaBayes read or write.

::

    <BIF VERSION="0.3"><NETWORK><NAME>unknown</NAME>
      <VARIABLE TYPE="nature">
        <NAME>wet</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME>
        <PROPERTY>fishernet_states = bool False, bool True</PROPERTY>
      </VARIABLE>
      <DEFINITION>
        <FOR>wet</FOR><GIVEN>rain</GIVEN><GIVEN>wind</GIVEN>
        <TABLE>0.9 0.1 ...</TABLE>                 the child's state fastest, then the last parent's
      </DEFINITION>
    </NETWORK></BIF>
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from fishernet.base.errors import FileFormatError
from fishernet.files.bif_words import ROWS
from fishernet.files.bif_writer import Called, stored
from fishernet.files.declared import Family, Node, assembled, node_of, noted_properties, noted_rows, rows_of
from fishernet.files.tokens import Location
from fishernet.files.words import escaped, with_never
from fishernet.files.xdsl import Element, numbers_of, parsed
from fishernet.models import BayesianNetwork
from fishernet.models.conditionals.base import Probabilities


def read_xmlbif(path: Location) -> BayesianNetwork:
    """Return the Bayesian network of an XMLBIF file; FileFormatError says what is wrong, and where."""
    return network_of(path, parsed(path, declares=True))


def network_of(path: Location, root: Element) -> BayesianNetwork:
    """Return the network of an XMLBIF file's root."""
    if root.tag != "BIF":
        raise FileFormatError(path, f"expected <BIF>, got <{root.tag}>; this is no XMLBIF file", line=root.line)
    networks = root.all("NETWORK")
    if len(networks) != 1:
        raise FileFormatError(path, f"{len(networks)} networks; a file holds one", line=root.line)
    (network,) = networks
    nodes = [_node(path, element) for element in network.all("VARIABLE")]
    families = [_family(path, element) for element in (*network.all("DEFINITION"), *network.all("PROBABILITY"))]
    return assembled(path, nodes, families, noted_rows(path, _noted(network), network.line))


def _texts(element: Element, tag: str) -> list[str]:
    return [child.text for child in element.all(tag)]


def _noted(element: Element) -> dict[str, str]:
    """Return the properties of the form ``name = value``."""
    pairs = (text.partition("=") for text in _texts(element, "PROPERTY"))
    return {name.strip(): value.strip() for name, _, value in pairs}


def _node(path: Location, element: Element) -> Node:
    name = "".join(_texts(element, "NAME"))
    kind = element.attributes.get("TYPE", "nature")
    if kind != "nature":
        raise FileFormatError(path, f"node {name!r} is of the type {kind!r}; what is read: nature", line=element.line)
    states = [*_texts(element, "OUTCOME"), *_texts(element, "VALUE")]
    if not states:
        raise FileFormatError(path, f"node {name!r} has no <OUTCOME>", line=element.line)
    return node_of(path, name, states, _noted(element), element.line)


def _family(path: Location, element: Element) -> Family:
    children = _texts(element, "FOR")
    if len(children) != 1:
        raise FileFormatError(path, f"{len(children)} <FOR> in a definition, not one", line=element.line)
    return Family(children[0], _texts(element, "GIVEN"), partial(_rows, path, element), element.line)


def _rows(path: Location, element: Element, family: Sequence[Node]) -> Probabilities:
    child = family[-1].word
    tables = element.all("TABLE")
    if len(tables) != 1:
        raise FileFormatError(path, f"node {child!r}: {len(tables)} <TABLE>, not one", line=element.line)
    line = tables[0].line
    return rows_of(path, numbers_of(path, child, tables[0].text.split(), line), family, line)


# ------------------------------------------------------------------------------------------------------ writing


def store_xmlbif(net: Any, path: Location) -> str:
    """Write a network, and return which names and labels had to be replaced."""
    return stored(net, path, "an XMLBIF file", _lines)


def _lines(net: BayesianNetwork, called: Called) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<BIF VERSION="0.3">\n<NETWORK>\n<NAME>unknown</NAME>\n'
    if net.n_rows is not None:
        yield f"<PROPERTY>{ROWS} = {net.n_rows}</PROPERTY>\n"
    for variable in net.variables:
        words = called[variable.name]
        yield f'<VARIABLE TYPE="nature">\n  <NAME>{words.name}</NAME>\n'
        for state in words.states:
            yield f"  <OUTCOME>{state}</OUTCOME>\n"
        for name, text in noted_properties(variable, words.name, words.states):
            yield f"  <PROPERTY>{name} = {escaped(text)}</PROPERTY>\n"
        yield "</VARIABLE>\n"
    for conditional in net.conditionals:
        *parents, child = [called[variable.name].name for variable in conditional.variables]
        yield f"<DEFINITION>\n  <FOR>{child}</FOR>\n"
        for parent in parents:
            yield f"  <GIVEN>{parent}</GIVEN>\n"
        numbers = " ".join(map(repr, with_never(conditional.table()).reshape(-1).tolist()))
        yield f"  <TABLE>{numbers}</TABLE>\n</DEFINITION>\n"
    yield "</NETWORK>\n</BIF>\n"
