"""What a person says of one variable: a label, a number or a date, found as a cell of a table would be.

A label that equals what is said wins. Otherwise text stands for the number or truth value that it would be in a table,
and a number or a date falls into its bin where the variable was cut into some. So nothing said has two meanings.
"""

from __future__ import annotations

import datetime
import math
from typing import cast

import numpy as np
import pyarrow as pa

from fishernet.base import check
from fishernet.base.errors import UnknownStateError
from fishernet.base.names import listed
from fishernet.data.encoding.alike import places_of, states_alike, with_cuts
from fishernet.data.encoding.cells import Cells
from fishernet.data.encoding.dates import DATE, TIME, Unit, counted, unit_of
from fishernet.data.encoding.labels import numbers_of
from fishernet.data.encoding.readings import form_of
from fishernet.data.encoding.recode import UNKNOWN, looked_up
from fishernet.data.variable import Column, Continuous, State, Variable, label_array

PER_DAY = 86_400


def value_given(variable: Column, value: object, *, parameter: str | None = None) -> State:
    """Return the state of a variable, or the number of a continuous one, that a value means.

    Parameters
    ----------
    variable : Variable or Continuous
    value : str, int, float, bool, date or datetime
    parameter : str, optional
        The argument that it came in, for the error.

    Raises
    ------
    UnknownStateError
        When it is no state, and no number that falls into a bin; with the column, the value and the known labels.
    """
    if variable.is_continuous:
        return number_given(variable, value, parameter=parameter)
    return variable.states[code_of(variable, value, parameter=parameter)]


def code_of(variable: Variable, value: object, *, parameter: str | None = None) -> int:
    """Return the code of the state that a value means; UnknownStateError where it means none."""
    try:
        code = variable.code(cast(State, value))
    except TypeError:  # not hashable, so no state
        code = None
    if code is None and isinstance(value, str):
        found = int(looked_up(Cells(variable.name, label_array([value]), [], text=True), variable)[0])
        code = None if found == UNKNOWN else found
    if code is None and isinstance(value, str | int | float):
        code = states_alike(variable, [value]).get(value)
    cut = variable if code is not None else with_cuts(variable)
    if code is None and not cut.is_continuous and cut.cuts is not None:
        number = _number(value, _unit_of_bins(variable))
        code = None if math.isnan(number) else places_of(cut, variable)[int(cut.bin([number])[0])]
    if code is None:
        raise _no_state(variable, value, parameter)
    return code


DATED = {"days": "dates, as 2023-05-31", "seconds": "dates, as 2023-05-31 14:30", "time": "times, as 14:30"}


def number_given(variable: Continuous, value: object, *, parameter: str | None = None) -> float:
    """Return the number that a value means in a continuous column; UnknownStateError where it means none."""
    number = _number(value, variable.unit)
    if not math.isfinite(number):
        dates = f" or {DATED[variable.unit]}" if variable.unit else ""
        raise UnknownStateError(
            f"variable {variable.name!r} has finite numbers{dates}, and {value!r} is none",
            variable=variable.name,
            label=value,
            parameter=parameter,
        )
    return number


def _number(value: object, unit: Unit | None) -> float:
    """Return the number that a value is or stands for, NaN where it is none; with a unit, dates count in it."""
    if check.is_number(value):
        return float(cast(float, value))
    if isinstance(value, str):
        number = float(numbers_of(label_array([value]))[0])
        form = form_of(value.strip()) if math.isnan(number) else None
        if form is None:
            return number
        number = float(form.numbers([value.strip()])[0])
        return number if form.unit is None else _in_unit(number, form.unit, unit)
    if isinstance(value, datetime.date | datetime.time | np.datetime64):
        one = pa.array(np.array([value]) if isinstance(value, np.datetime64) else [value])
        of = unit_of(one.type)
        return math.nan if of is None else _in_unit(float(counted(pa.chunked_array([one]))[0].as_py()), of, unit)
    return math.nan


def _in_unit(number: float, have: Unit, want: Unit | None) -> float:
    """Return days or seconds as the other; NaN where the variable is none of dates."""
    if want is None or (have != want and "time" in (have, want)):
        return math.nan
    if have == want:
        return number
    return number * PER_DAY if want == "seconds" else float(number // PER_DAY)


def _unit_of_bins(variable: Variable) -> Unit | None:
    """Return what the cut points of bins count; of a variable made elsewhere, labels that are dates tell."""
    if variable.unit is not None:
        return variable.unit
    first = str(variable.states[0]).removeprefix("<= ")
    if DATE.fullmatch(first):
        return "days"
    return "seconds" if TIME.fullmatch(first) else None


def _no_state(variable: Variable, value: object, parameter: str | None) -> UnknownStateError:
    alike = [state for state in variable.states if type(state) is not type(value) and str(state) == str(value)]
    hint = f"; its label is {alike[0]!r}, of type {type(alike[0]).__name__}" if alike else ""
    bins = "" if variable.cuts is None else ", and numbers fall into their bins"
    return UnknownStateError(
        f"variable {variable.name!r} has no state {value!r}; it has {listed(variable.states)}{bins}{hint}",
        variable=variable.name,
        label=value,
        parameter=parameter,
    )
