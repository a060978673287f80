"""Looking labels up in the states of a variable: those of a column that is read, and those of another variable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import UnknownStateError
from fishernet.base.names import listed
from fishernet.base.remedies import Remedy
from fishernet.data.arrays import Codes as Coded
from fishernet.data.encoding.alike import Codes, places_of, said, states_alike, states_alike_of, with_cuts
from fishernet.data.encoding.cells import Cells
from fishernet.data.encoding.labels import numbers_of, value_of
from fishernet.data.variable import Column, State, Variable, label_array

UNKNOWN = -1  # the code of a label that a variable does not have
AS_MISSING = Remedy({"unknown": "missing"}, "take such cells as missing")


def recode(
    column: npt.NDArray[Any], have: Column, want: Column, *, unknown: str = "error", first_row: int = 0
) -> npt.NDArray[Any]:
    """Return a column as another variable of the same name has it.

    Parameters
    ----------
    column : (n_rows,) array
        Codes or numbers of `have`; a missing cell stays missing.
    have, want : Variable or Continuous
        What the cells mean, and what they shall mean. A number is looked up among states, or in bins; states that are
        numbers become these.
    unknown : {"error", "missing"}
        What a label becomes that `want` does not have.
    first_row : int
        Where in its table the column begins, for messages.

    Returns
    -------
    (n_rows,) array of `want`'s own type; the same array where nothing changes.

    Raises
    ------
    UnknownStateError
        When a label that occurs is not among the wanted states, naming column, label and first row.
    """
    if have.is_continuous:
        return column if want.is_continuous else _coded_numbers(column, want, unknown, first_row)
    lookup = _numbers_of_states(have) if want.is_continuous else _codes_of_states(have, want)
    if lookup is None:
        return column
    codes, known = lookup
    if not known.all() and unknown == "error":
        strange = ~known[column]
        if strange.any():
            row = int(np.argmax(strange))
            raise _unknown_state(want, have.states[column[row]], first_row + row)
    found: npt.NDArray[Any] = codes[column]
    return found


Lookup = tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]  # what each code becomes, and whether that is known


def _codes_of_states(have: Variable, want: Variable) -> Lookup | None:
    """Return the code of each state in another variable; None where they have the same states."""
    if have.states == want.states:
        return None
    alike = states_alike_of(have, want)
    lookup = [alike.get(state, want.code(state)) for state in have.states]
    codes = [want.cardinality if code is None else code for code in lookup]
    known = np.array([code is not None for code in lookup] + [True])
    return np.array([*codes, want.cardinality], dtype=want.dtype), known


def _numbers_of_states(have: Variable) -> Lookup:
    """Return the number that each state is, or stands for as text; NaN for one that is none, as a bin is."""
    found = numbers_of(label_array(have.states)) if have.cuts is None else np.full(len(have.states), np.nan)
    return np.append(found, np.nan), np.append(~np.isnan(found), True)


def _coded_numbers(column: npt.NDArray[np.float64], want: Variable, unknown: str, first_row: int) -> Coded:
    """Return the codes of numbers: of the bins they are in, or of the states they are."""
    cut = with_cuts(want)
    if not cut.is_continuous and cut.cuts is not None:
        codes_of: Coded = np.array(places_of(cut, want), dtype=want.dtype)
        return codes_of[cut.bin(column)]
    numbers, places = np.unique(column, return_inverse=True)
    codes = codes_alike(want, numbers.tolist())
    codes[np.isnan(numbers)] = want.cardinality
    if unknown == "error" and (codes == UNKNOWN).any():
        strange = (codes == UNKNOWN)[places]
        if strange.any():
            row = int(np.argmax(strange))
            raise _unknown_state(want, float(column[row]), first_row + row)
    codes[codes == UNKNOWN] = want.cardinality
    return codes.astype(want.dtype)[places]


def _unknown_state(variable: Column, label: object, row: int) -> UnknownStateError:
    """Return the error that says that a variable does not have a label, found first in a row."""
    what = (
        f"numbers are needed, and the label {label!r} is none"
        if variable.is_continuous
        else f"the label {label!r} is not among the states {listed(variable.states)}{_hint(label, variable)}"
    )
    return UnknownStateError(
        f"column {variable.name!r}, row {row}: {what}",
        variable=variable.name,
        label=label,
        row=row,
        parameter="unknown",
        remedies=[AS_MISSING],
    )


def _hint(label: object, want: Variable) -> str:
    """Say so when the label differs from a state by its type only, or what it says is said by several."""
    alike = [state for state in want.states if said(label) & said(state)]
    if alike:
        return f"; that {listed(alike)} says the same is not certain, since another label or state does, too"
    for state in want.states:
        if type(state) is not type(label) and str(state) == str(label):
            return (
                f"; there is {state!r} ({type(state).__name__}, not {type(label).__name__}): "
                f"read the table with schema=model.variables, or turn the column into {type(state).__name__}"
            )
    if want.are_numbers and isinstance(value_of(label.strip()) if isinstance(label, str) else label, int | float):
        return "; a model learned with the column as continuous takes any number"
    return ""


def codes_alike(variable: Variable, labels: Sequence[State]) -> npt.NDArray[np.int64]:
    """Return the code of each label, as a state or in other signs; UNKNOWN for one that the variable does not have."""
    codes = np.array([_code(variable, label) for label in labels], dtype=np.int64)
    strange = np.flatnonzero(codes == UNKNOWN).tolist()
    alike = states_alike(variable, [labels[place] for place in strange], set(codes.tolist()))
    for place in strange:
        codes[place] = alike.get(labels[place], UNKNOWN)
    return codes


def looked_up(column: Cells, variable: Variable, alike: Codes | None = None) -> npt.NDArray[np.int64]:
    """Return the code of each label, UNKNOWN for one that the variable does not have.

    Numbers are binned where the variable has cuts. Otherwise a label is looked up as it is, and text that is no state
    as the number or truth value it stands for; what is found in neither way, by the codes of labels in other signs.
    """
    codes = _looked_up(column, variable)
    if alike:
        for place in np.flatnonzero(codes == UNKNOWN).tolist():
            codes[place] = alike.get(column.labels[place], UNKNOWN)
    return codes


def _looked_up(column: Cells, variable: Variable) -> npt.NDArray[np.int64]:
    if variable.cuts is not None and column.cuts is None:
        codes = variable.bin(column.label_numbers)
        rest = np.flatnonzero(np.isnan(column.label_numbers))
        codes[rest] = [_code(variable, label) for label in column.labels[rest].tolist()]
        return codes
    return np.array([_code(variable, label) for label in column.labels.tolist()], dtype=np.int64)


def _code(variable: Variable, label: Any) -> int:
    code = variable.code(label)
    if code is None and isinstance(label, str):
        value = value_of(label.strip())
        code = None if value is None else variable.code(value)
    return UNKNOWN if code is None else code


def refuse_unknown(
    column: Cells,
    variable: Column,
    strange: npt.NDArray[np.bool_],
    kept: npt.NDArray[np.bool_] | None,
    first_row: int = 0,
) -> None:
    """Raise UnknownStateError for the first row whose label is one of those marked as strange."""
    hits = column.marked(strange) if strange.any() else strange
    if hits.any():
        row, label = column.first(hits, kept)
        raise _unknown_state(variable, label, first_row + row)
