"""Predicting a variable from rows in which cells are missing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.errors import ZeroProbabilityError
from fishernet.infer.findings import checked_limit, network_of
from fishernet.models import BayesianNetwork
from fishernet.models.factors import MAX_TABLE, check_held
from fishernet.models.incoming import without_target
from fishernet.table import Table
from fishernet.table.variable import positions

Array = npt.NDArray[np.float64]


def predict_proba(
    net: BayesianNetwork, table: Table | npt.ArrayLike, target: str, *, max_table: int = MAX_TABLE
) -> Array:
    """Return the probability of each state of one variable, given the cells of each row that are not missing.

    Missing cells are summed out exactly. Rows with the same cells missing share a plan, and equal rows are computed
    once.

    Parameters
    ----------
    net : BayesianNetwork
    table : Table or (n_rows, n_variables) array of codes
        All variables but the target must be there; the target's column is not looked at. A missing cell's code is the
        variable's cardinality.
    target : str
        The variable to predict.
    max_table : int
        How many cells (8 bytes each) the tables held at once may have.

    Returns
    -------
    (n_rows, r) float64
        Rows sum to 1.

    Raises
    ------
    ZeroProbabilityError
        When a row is impossible whatever the target's state.
    StateSpaceError
        When so much is missing that a table would be too large.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> rows = asia.sample(3, seed=1).to_frame().to_pydict() | {"smoke": ["yes", None, None]}
    >>> table = fn.Table.from_frame(rows, schema=asia.variables, missing="keep")
    >>> fn.infer.predict_proba(asia, table, "lung").shape
    (3, 2)
    """
    net = network_of(net)
    limit = checked_limit(max_table)
    position = positions(net.names, [target])[0]
    rows = without_target(table, net.variables, position)
    cardinalities = np.array([variable.cardinality for variable in net.variables])
    codes = np.stack([column.astype(np.int32) for column in rows.codes], axis=1)
    out = np.empty((rows.n_rows, int(cardinalities[position])))
    missing = codes == cardinalities
    missing[:, position] = True
    complete = missing.sum(axis=1) == 1
    if complete.any():
        out[complete] = net.predict_proba(rows[complete], target)
    patterns, pattern_of = np.unique(missing[~complete], axis=0, return_inverse=True)
    incomplete = np.flatnonzero(~complete)
    for number, pattern in enumerate(patterns):
        members = incomplete[pattern_of.ravel() == number]
        out[members] = _by_pattern(net, codes[members], pattern, position, members, limit)
    return out


def _by_pattern(
    net: BayesianNetwork,
    codes: npt.NDArray[np.int32],
    missing: npt.NDArray[np.bool_],
    target: int,
    members: npt.NDArray[np.int64],
    limit: int,
) -> Array:
    """Predict rows in which the same cells are missing."""
    known = np.where(missing, np.int32(0), codes)
    distinct, which = np.unique(known, axis=0, return_inverse=True)
    plan = _core.Inference(net.factors, np.flatnonzero(~missing).tolist(), [], [[target]], False, limit)
    check_held(plan.cells_held, limit, "a table of the elimination")
    found = plan.run_rows(np.ascontiguousarray(distinct, dtype=np.int32))
    result = found[which.ravel()]
    impossible = np.isnan(result).any(axis=1)
    if impossible.any():
        name = net.variables[target].name
        raise ZeroProbabilityError(
            f"row {members[int(np.argmax(impossible))]} has probability 0 whatever the state of {name!r}; "
            "fit the network with smoothing > 0",
            variable=name,
            configuration={},
        )
    return result
