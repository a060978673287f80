"""A variable as fields of the model file, and back: ``{"name": "age", "states": ["young", "old"], "cuts": [40.0]}``."""

from __future__ import annotations

from fishernet.files.fields import Fields, shown
from fishernet.files.labels import is_text
from fishernet.table import Variable


def variable_fields(variable: Variable) -> dict[str, object]:
    """Return a variable as what `json` writes."""
    cuts = None if variable.cuts is None else list(variable.cuts)
    return {"name": variable.name, "states": list(variable.states), "cuts": cuts}


def read_variable(fields: Fields) -> Variable:
    """Return the variable that the fields describe."""
    name, states = fields.text("name"), fields.items("states")
    cuts = None if fields.is_null("cuts") else fields.items("cuts")
    fields.end()
    for position, state in enumerate(states):
        if not isinstance(state, str | int | float) or (isinstance(state, str) and not is_text(state)):
            raise fields.wrong(f"{shown(state)} is no state: a text, a number or a truth value", f"states[{position}]")
    if cuts is not None:
        cuts = fields.numbers(cuts, "cuts").tolist()
    with fields.checking():
        return Variable(name, states, cuts)
