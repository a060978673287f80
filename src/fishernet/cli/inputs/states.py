"""What is known of variables, on the command line: NAME=STATE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fishernet.errors import FishernetError, SchemaError
from fishernet.table import State, Variable
from fishernet.table.encoding.cells import Cells
from fishernet.table.encoding.encode import UNKNOWN, looked_up
from fishernet.table.encoding.labels import label_array
from fishernet.table.variable import code_of, listed

States = dict[str, State]


def known_states(texts: Sequence[str], option: str, variables: Sequence[Variable]) -> States:
    """Return what NAME=STATE, said once or more often, says of the variables.

    Raises
    ------
    SchemaError
        When a text begins with no variable's name and an equals sign.
    UnknownStateError
        When a state is not one of its variable's.
    FishernetError
        When a variable is said to have two states.
    """
    by_name = {variable.name: variable for variable in variables}
    found: States = {}
    for text in texts:
        variable, label = _split(text, option, by_name)
        state = state_of(variable, label)
        before = found.setdefault(variable.name, state)
        if before != state:
            raise FishernetError(f"{option} names {variable.name!r} twice, with the states {before!r} and {state!r}")
    return found


def state_of(variable: Variable, label: str) -> State:
    """Return the state that a label means, looked up as a cell of a text file is."""
    code = int(looked_up(Cells(variable.name, label_array([label]), [], text=True), variable)[0])
    return variable.states[code_of(variable, label) if code == UNKNOWN else code]  # the former raises


def _split(text: str, option: str, by_name: Mapping[str, Variable]) -> tuple[Variable, str]:
    """Divide a text at the first equals sign that has a variable's name before it; names may hold some."""
    for place, character in enumerate(text):
        if character == "=" and text[:place] in by_name:
            return by_name[text[:place]], text[place + 1 :]
    name, equals, _ = text.partition("=")
    if not equals:
        raise SchemaError(f"{option} takes NAME=STATE, not {text!r}")
    raise SchemaError(f"{option}: no variable {name!r}; there are {listed(by_name)}")
