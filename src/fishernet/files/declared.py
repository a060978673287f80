"""Networks as files of other programs declare them: nodes with words for their states, and families with their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fishernet.base.errors import FileFormatError, FishernetError
from fishernet.base.names import doubled
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
from fishernet.files.words import quoted, without_never
from fishernet.models import BayesianNetwork, FullTable
from fishernet.models.conditionals.base import Probabilities, check_cells

VARIABLES = "fishernet_n_variables"  # what we note of a network without any, which looks like the begin of another
TOLERANCE = 1e-3  # files hold rounded numbers


class Node(NamedTuple):
    """A variable as the file has it."""

    word: str
    variable: Variable
    states: list[str]
    """The words for its states, with one that never occurs where the variable has one state."""
    line: int


class Family(NamedTuple):
    """What a file says of a variable given its parents."""

    child: str
    parents: Sequence[str]
    rows: Callable[[Sequence[Node]], Probabilities]
    """Returns a row for each configuration of the parents, the last one fastest, from their nodes and the child's."""
    line: int


def node_of(path: object, word: str, states: list[str], own: Mapping[str, str], line: int) -> Node:
    """Return a node, by the words of a file and the properties that we noted, where we wrote it."""
    if not word:
        raise FileFormatError(path, "a node has no id", line=line)
    if len(set(states)) < len(states):
        raise FileFormatError(path, f"node {word!r}: the state {doubled(states)!r} appears twice", line=line)
    try:
        name = read_label(own[NAME]) if NAME in own else word
        exact = read_states(own[STATES]) if STATES in own else states
        cuts, bounds = (read_numbers(own[word]) if word in own else None for word in (CUTS, BOUNDS))
        unit: Any = own.get(UNIT)
        if len(exact) != len(states) and not (len(exact) == 1 and len(states) == 2 and states[1].startswith(NEVER)):
            raise ValueError(f"{STATES} has {len(exact)} of {len(states)} states")
        return Node(word, Variable(name, exact, cuts, bounds, unit), states, line)
    except ValueError as error:
        raise FileFormatError(path, f"node {word!r}: {error}", line=line) from error


def noted_properties(variable: Variable, word: str, states: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the properties of a variable that is called by words: what these do not say."""
    if word != variable.name:
        yield NAME, quoted(variable.name)
    if list(states) != list(variable.states):
        yield STATES, written_states(variable.states)
    if variable.cuts is not None:
        yield CUTS, ", ".join(map(repr, variable.cuts))
    if variable.bounds is not None:
        yield BOUNDS, ", ".join(map(repr, variable.bounds))
    if variable.unit is not None:
        yield UNIT, variable.unit


def noted_rows(path: object, own: Mapping[str, str], line: int) -> int | float | None:
    """Return the number of rows that we noted of a network, if we wrote the file."""
    try:
        return read_rows(own[ROWS]) if ROWS in own else None
    except ValueError as error:
        raise FileFormatError(path, str(error), line=line) from error


def by_word(path: object, nodes: Sequence[Node]) -> dict[str, Node]:
    """Return nodes by their words; FileFormatError where a word or a name appears twice."""
    found: dict[str, Node] = {}
    names: set[str] = set()
    for node in nodes:
        if node.word in found or node.variable.name in names:
            raise FileFormatError(path, f"the node {node.variable.name!r} appears twice", line=node.line)
        found[node.word] = node
        names.add(node.variable.name)
    return found


def assembled(
    path: object, ordered: Sequence[Node], families: Sequence[Family], n_rows: int | float | None = None
) -> BayesianNetwork:
    """Return the network of nodes in their order, with a family each."""
    nodes = by_word(path, ordered)
    positions = {node.word: v for v, node in enumerate(ordered)}
    conditionals: dict[str, FullTable] = {}
    for family in families:
        if family.child not in nodes:
            raise FileFormatError(path, f"{family.child!r} is no node", line=family.line)
        if family.child in conditionals:
            raise FileFormatError(path, f"node {family.child!r}: a second table", line=family.line)
        conditionals[family.child] = _conditional(path, family, nodes, positions)
    lacking = [node for node in ordered if node.word not in conditionals]
    if lacking:
        raise FileFormatError(path, f"node {lacking[0].word!r} has no table", line=lacking[0].line)
    try:
        tables = [conditionals[node.word] for node in ordered]
        return BayesianNetwork([node.variable for node in ordered], tables, n_rows=n_rows)
    except FishernetError as error:  # a cycle
        raise FileFormatError(path, str(error)) from error


def _conditional(path: object, family: Family, nodes: dict[str, Node], positions: dict[str, int]) -> FullTable:
    twice = doubled(list(family.parents))
    for word in family.parents:
        if word not in nodes or word in (family.child, twice):
            what = f"node {family.child!r}: {word!r} is no other node, or is a parent twice"
            raise FileFormatError(path, what, line=family.line)
    members = [*(nodes[word] for word in family.parents), nodes[family.child]]
    try:
        check_cells([Variable(member.word, member.states) for member in members], f"the table of {family.child!r}")
        rows = without_never(
            family.rows(members),
            [len(member.states) for member in members],
            [member.variable.cardinality for member in members],
        )
        at = [positions[word] for word in family.parents]
        variables = [member.variable for member in members]
        return FullTable(positions[family.child], at, variables, rows, tolerance=TOLERANCE)
    except FileFormatError:
        raise
    except ValueError as error:
        raise FileFormatError(path, f"node {family.child!r}: {error}", line=family.line) from error


def rows_of(path: object, numbers: Sequence[float], family: Sequence[Node], line: int) -> Probabilities:
    """Return numbers as rows of probabilities, the child's state fastest; FileFormatError where they are none."""
    child, needed = family[-1], int(np.prod([float(len(member.states)) for member in family]))
    if len(numbers) != needed:
        what = f"node {child.word!r}: {len(numbers)} probabilities; its family needs {needed}"
        raise FileFormatError(path, what, line=line)
    rows = np.array(numbers, dtype=np.float64).reshape(-1, len(child.states))
    sums = rows.sum(axis=1)
    off = ~((rows >= 0).all(axis=1) & (np.abs(sums - 1) <= TOLERANCE))
    if off.any():
        what = f"row {int(np.argmax(off))} of the probabilities is negative, or sums to {sums[off][0]:.9g}, not to 1"
        raise FileFormatError(path, f"node {child.word!r}: {what}", line=line)
    return rows
