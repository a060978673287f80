"""Tables of which some cells are hidden, by three mechanisms [1]_.

A quarter of the columns, drawn at random, is never hidden. Of each other column a share of the cells is: whatever the
row ("completely at random"), by a column that is always known ("at random"), or by what the cell itself would show
("not at random"). In the last two one half of the states has nine times the odds of the other half to be hidden.

References
----------
.. [1] D. B. Rubin, "Inference and missing data", Biometrika 63, 1976.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.metrics import mutual_info_score

import fishernet as fn
from studies.study import Array

Mechanism = Literal["MCAR", "MAR", "MNAR"]
MECHANISMS: tuple[Mechanism, ...] = ("MCAR", "MAR", "MNAR")
Codes = npt.NDArray[np.integer]
KNOWN = 4  # one column in so many is never hidden
ODDS = 9.0


def always_known(n_columns: int, rng: np.random.Generator) -> list[int]:
    """Return which columns are never hidden."""
    return sorted(rng.permutation(n_columns)[: max(1, n_columns // KNOWN)].tolist())


def probabilities(inclined: npt.NDArray[np.bool_], share: float) -> Array:
    """Return how probable it is that each row's cell is hidden: so much on average, by odds that differ by `ODDS`."""
    lean = np.log(ODDS) * inclined
    base = brentq(lambda at: expit(at + lean).mean() - share, -50, 50)
    return np.asarray(expit(base + lean))


def inclined_half(codes: Codes, states: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Return which rows have a state of a half that is drawn at random."""
    return np.isin(codes, rng.permutation(states)[: (states + 1) // 2])


def with_holes(table: fn.Table, mechanism: Mechanism, share: float, rng: np.random.Generator) -> fn.Table:
    """Return a table with a share of the cells of three columns in four hidden."""
    known = always_known(len(table.variables), rng)
    columns = []
    for v, (variable, codes) in enumerate(zip(table.variables, table.codes, strict=True)):
        lean = np.zeros(table.n_rows, dtype=bool)
        if mechanism == "MAR":
            driver = max(known, key=lambda u: (mutual_info_score(table.codes[u], codes), -u))
            lean = inclined_half(table.codes[driver], table.variables[driver].cardinality, rng)
        elif mechanism == "MNAR":
            lean = inclined_half(codes, variable.cardinality, rng)
        hidden = rng.random(table.n_rows) < probabilities(lean, share)
        columns.append(codes if v in known else hide(variable, codes, hidden))
    return fn.Table.adopt(table.variables, columns, n_rows=table.n_rows)


def hidden_anywhere(table: fn.Table, share: float, rng: np.random.Generator) -> fn.Table:
    """Return a table with a share of the cells of all columns hidden, completely at random."""
    columns = [
        hide(variable, codes, rng.random(table.n_rows) < share)
        for variable, codes in zip(table.variables, table.codes, strict=True)
    ]
    return fn.Table.adopt(table.variables, columns, n_rows=table.n_rows)


def hide(variable: Any, codes: Codes, hidden: npt.NDArray[np.bool_]) -> Codes:
    """Return a column with some cells missing."""
    return np.where(hidden, variable.cardinality, codes).astype(codes.dtype)


def lacking(table: fn.Table) -> Sequence[npt.NDArray[np.bool_]]:
    """Return which cells of each column are missing."""
    return [variable.missing(codes) for variable, codes in zip(table.variables, table.codes, strict=True)]
