"""Looking the labels of one variable up in the states of another."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.errors import UnknownStateError
from fishernet.table.variable import Variable, code_dtype, listed


def recode(
    column: npt.NDArray[np.unsignedinteger[Any]], have: Variable, want: Variable
) -> npt.NDArray[np.unsignedinteger[Any]]:
    """Return the codes of a column under another variable with the same labels.

    Parameters
    ----------
    column : (n_rows,) unsigned integers
        Codes of `have`; its cardinality marks a missing cell, which stays missing.
    have, want : Variable
        What the codes mean, and what they shall mean.

    Returns
    -------
    (n_rows,) unsigned integers of `want`'s own type; the same array where the states are equal.

    Raises
    ------
    UnknownStateError
        When a label that occurs is not among the wanted states, naming column, label and first row.
    """
    if have.states == want.states:
        return column
    unknown = want.cardinality + 1
    lookup = [want.code(state) for state in have.states]
    table = np.array([unknown if code is None else code for code in lookup] + [want.cardinality], dtype=np.int64)
    if None in lookup:
        strange = table[column] == unknown
        if strange.any():
            row = int(np.argmax(strange))
            raise unknown_state(want, have.states[column[row]], row)
        table[table == unknown] = 0  # labels that are declared and never occur
    codes: npt.NDArray[np.unsignedinteger[Any]] = table.astype(code_dtype(want.cardinality))[column]
    return codes


def unknown_state(variable: Variable, label: object, row: int, remedy: str = "") -> UnknownStateError:
    """Return the error that says that a variable does not have a label, found first in a row."""
    return UnknownStateError(
        f"column {variable.name!r}, row {row}: the label {label!r} is not among the states {listed(variable.states)}"
        + (_hint(label, variable) or remedy),
        variable=variable.name,
        label=label,
        row=row,
    )


def _hint(label: object, want: Variable) -> str:
    """Say so when the label differs from a state by its type only."""
    for state in want.states:
        if type(state) is not type(label) and str(state) == str(label):
            return (
                f"; there is {state!r} ({type(state).__name__}, not {type(label).__name__}): "
                f"read the table with schema=model.variables, or turn the column into {type(state).__name__}"
            )
    return ""
