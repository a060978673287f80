"""Which names and states can be stored in a text file."""

from __future__ import annotations

from collections.abc import Iterable

from fishernet.errors import SchemaError
from fishernet.table import State, Variable


def check_storable(variables: Iterable[Variable]) -> None:
    """Raise SchemaError when a name or a state cannot be written to a text file and read back.

    Almost everything can. Not: half of a surrogate pair, which is no character, and an integer with more digits than
    Python turns into text (`sys.get_int_max_str_digits`).
    """
    for variable in variables:
        if not is_text(variable.name):
            raise SchemaError(f"the name {variable.name!r} holds half of a surrogate pair, which no file can")
        for position, state in enumerate(variable.states):
            _check_state(variable.name, position, state)


def _check_state(name: str, position: int, state: State) -> None:
    if isinstance(state, str) and not is_text(state):
        raise SchemaError(f"variable {name!r}: the state {state!r} holds half of a surrogate pair, which no file can")
    if isinstance(state, int):
        try:
            int.__repr__(state)
        except ValueError as error:
            raise SchemaError(f"variable {name!r}, state {position}: the integer is too long to be written") from error


def is_text(label: str) -> bool:
    """Return whether a str consists of characters, and not of halves of surrogate pairs."""
    try:
        label.encode()
    except UnicodeEncodeError:
        return False
    return True
