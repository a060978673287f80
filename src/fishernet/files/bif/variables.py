"""The variable blocks of an Interchange Format file."""

from __future__ import annotations

import re
from typing import NamedTuple

from fishernet.errors import SchemaError
from fishernet.files.bif.labels import label_lists, read_label, read_states
from fishernet.files.bif.text import Block, Source, Statement
from fishernet.table import State, Variable
from fishernet.table.variable import listed

STATES, CUTS, ROWS = "fishernet_states", "fishernet_cuts", "fishernet_n_rows"  # the properties that we write

_TYPE = re.compile(r"type\s+discrete\s*\[\s*([0-9]{1,9})\s*\]\s*\{([\s\S]*)\}")
_PROPERTY = re.compile(r"property\s+(\w+)\s*=\s*([\s\S]*)")


class Declared(NamedTuple):
    """A variable as the file declares it."""

    variable: Variable
    position: int
    codes: dict[str, int]
    """The code of each state, by the word that the file has for it."""


def declared(source: Source, block: Block, position: int) -> Declared:
    """Return the variable that a block declares."""
    name = _name(source, block)
    labels: list[str] | None = None
    for statement in block.statements:
        if statement.text.startswith("property"):
            continue
        if labels is not None:
            raise source.wrong(f"variable {name!r}: expected one type, got {source.shown(statement.at)}", statement.at)
        labels = _labels(source, statement, name)
    if labels is None:
        raise source.wrong(f"variable {name!r} has no type; it needs `type discrete [ n ] {{ states }};`", block.at)
    states, cuts = _states(source, block, name, labels), _cuts(source, block, name)
    try:
        variable = Variable(name, states, cuts)
    except SchemaError as error:
        raise source.wrong(str(error), block.at) from error
    return Declared(variable, position, {label: code for code, label in enumerate(labels)})


def properties(block: Block) -> dict[str, Statement]:
    """Return the properties of the form ``name = value`` of a block, by name."""
    found = {}
    for text, at in block.statements:
        match = _PROPERTY.fullmatch(text)
        if match:
            found[match[1]] = Statement(match[2].strip(), at)
    return found


def _name(source: Source, block: Block) -> str:
    try:
        name = read_label(block.head)
    except ValueError as error:
        raise source.wrong(str(error), block.at) from error
    if not block.head:
        raise source.wrong("a variable block has no name", block.at)
    return name


def _labels(source: Source, statement: Statement, name: str) -> list[str]:
    """Return the words of the states."""
    match = _TYPE.fullmatch(statement.text)
    if match is None:
        raise source.wrong(
            f"variable {name!r}: expected `type discrete [ n ] {{ states }}`, got {source.shown(statement.at)}",
            statement.at,
        )
    number = int(match[1])
    try:
        readings = label_lists(match[2])
    except ValueError as error:
        raise source.wrong(f"variable {name!r}: {error}", statement.at) from error
    labels = next((reading for reading in readings if len(reading) == number), None)
    if labels is None:
        raise source.wrong(f"variable {name!r}: [ {number} ] states, but {listed(readings[0])}", statement.at)
    if len(set(labels)) < number:
        twice = next(label for label in labels if labels.count(label) > 1)
        raise source.wrong(f"variable {name!r}: the state {twice!r} appears twice", statement.at)
    return labels


def _states(source: Source, block: Block, name: str, labels: list[str]) -> list[State]:
    """Return the states with the types that we wrote, or as the words they are."""
    typed = properties(block).get(STATES)
    if typed is None:
        return list(labels)
    try:
        states = read_states(typed.text)
    except ValueError as error:
        raise source.wrong(f"variable {name!r}, {STATES}: {error}", typed.at) from error
    if len(states) != len(labels):
        raise source.wrong(f"variable {name!r}: {STATES} has {len(states)} of {len(labels)} states", typed.at)
    return states


def _cuts(source: Source, block: Block, name: str) -> list[float] | None:
    cuts = properties(block).get(CUTS)
    if cuts is None:
        return None
    try:
        return [float(cut) for cut in cuts.text.split(",") if cut]
    except ValueError as error:
        raise source.wrong(f"variable {name!r}, {CUTS}: {error}", cuts.at) from error
