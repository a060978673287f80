"""How data comes to a model: columns matched by name, labels looked up in the model's states."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fishernet.table import Table, Variable
from fishernet.table.variable import code_dtype


def as_model_table(table: Table | npt.ArrayLike, variables: Sequence[Variable], *, complete_for: str) -> Table:
    """Return data as a table of a model's variables without missing cells.

    Parameters
    ----------
    table : Table or (n_rows, n_variables) array
        An array holds codes of the model's variables in the model's order.
    variables : sequence of Variable
        The model's.
    complete_for : str
        What needs complete rows, for the message.
    """
    rows = table.conform(variables) if isinstance(table, Table) else Table.from_codes(table, variables)
    rows.require_complete(complete_for)
    return rows


def without_target(table: Table | npt.ArrayLike, variables: Sequence[Variable], target: int) -> Table:
    """Return data as a table of a model's variables in which the target's column means nothing.

    Other cells may be missing.
    """
    if isinstance(table, Table):
        others = [variable for position, variable in enumerate(variables) if position != target]
        rows = table.conform(others)
    else:
        codes = np.array(table)
        if codes.ndim == 2 and codes.shape[1] == len(variables):
            codes[:, target] = 0
        whole = Table.from_codes(codes, variables)
        rows = whole.select([variable.name for position, variable in enumerate(variables) if position != target])
    columns = list(rows.codes)
    columns.insert(target, np.zeros(rows.n_rows, dtype=code_dtype(variables[target].cardinality)))
    return Table(variables, columns, n_rows=rows.n_rows)
