"""One variable from the other cells of each row: its states' probabilities, its most probable state, or its mean.

What is missing is summed out exactly. Answers come in the kind of frame that was asked with.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError
from fishernet.base.names import positions
from fishernet.base.vocabulary import UnknownName
from fishernet.data import Continuous, Table, as_table
from fishernet.data.frames.answering import columns_in_kind, in_kind
from fishernet.data.variable import Column
from fishernet.infer.completion import predicted
from fishernet.infer.conditioned import Queried
from fishernet.infer.evidence import impossible_row
from fishernet.infer.factors import MAX_TABLE, Array, Model, checked_limit, model_of, network_of, planned
from fishernet.infer.mixed import is_mixed
from fishernet.infer.mixed_answers import mixed_prediction, mixed_quantiles, mixed_shares_up_to, query_mixed
from fishernet.infer.mixtures import tails
from fishernet.infer.normal import Normal, completed, gaps_of, is_normal


class Predicting(Queried):
    """A model that predicts one variable from the others."""

    __slots__ = ()

    def predict_proba(
        self, data: Any, target: str, *, unknown: UnknownName = "error", max_table: int = MAX_TABLE
    ) -> Any:
        """Return the probability of each state of one variable, given the other cells of each row.

        Missing cells are summed out exactly; all is as for `fishernet.infer.predict_proba`.

        Parameters
        ----------
        data : Table, data frame, mapping from names to columns, or (n_rows, n_variables) array of codes
            All variables but the target must be there; the target's column is not looked at.
        target : str
            The variable to predict.
        unknown : {"error", "missing"}
            What becomes of labels that the model does not have.
        max_table : int
            How many cells (8 bytes each) the tables held at once may have.

        Returns
        -------
        (n_rows, r) float64, or a frame of the kind that was given
            Rows sum to 1; the columns are the states.
        """
        return predict_proba(self, data, target, unknown=unknown, max_table=max_table)  # type: ignore[arg-type]

    def predict(self, data: Any, target: str, *, unknown: UnknownName = "error", max_table: int = MAX_TABLE) -> Any:
        """Return the most probable state of one variable given the other cells of each row, or its conditional mean.

        Parameters
        ----------
        data, target, unknown, max_table
            As for `predict_proba`.

        Returns
        -------
        (n_rows,) array, or a column of the kind of frame that was given, named as the target
            Labels; among equally probable ones the first. Numbers of a continuous variable.
        """
        return predict(self, data, target, unknown=unknown, max_table=max_table)

    def predict_interval(
        self,
        data: Any,
        target: str,
        *,
        level: float = 0.95,
        unknown: UnknownName = "error",
        max_table: int = MAX_TABLE,
    ) -> Array:
        """Return two numbers between which a continuous variable is with a probability, given the cells of each row.

        Parameters
        ----------
        data, target, unknown, max_table
            As for `predict_proba`.
        level : float
            The probability; it is as often below as above.

        Returns
        -------
        (n_rows, 2) float64

        Raises
        ------
        SchemaError, UnknownStateError
            When columns or labels do not fit, or the target has states.
        ZeroProbabilityError
            When a row is impossible whatever the target's number.

        Notes
        -----
        That is what the model says of the target, and it is as sure as the model is right: parameters count as known.

        Examples
        --------
        >>> import fishernet as fn
        >>> dag = fn.Dag.from_edges(["x", "y"], [("x", "y")])
        >>> net = fn.BayesianNetwork.from_regressions(dag, [0, 1], [[], [2]], [1, 0.5])
        >>> net.predict_interval({"x": [0.0, 3.0]}, "y", level=0.9).round(2)
        array([[0.18, 1.82],
               [6.18, 7.82]])
        """
        return predict_interval(self, data, target, level=level, unknown=unknown, max_table=max_table)


def predict(model: Any, data: Any, target: str, *, unknown: UnknownName = "error", max_table: int = MAX_TABLE) -> Any:
    """Return the most probable state of a variable, or its mean, in each row; see `Predicting.predict`."""
    if is_normal(model):
        position = positions(model.names, [target])[0]
        others = [v for v in range(len(model.names)) if v != position]
        rows = numbers_with_gaps(data, model.variables, [model.names[v] for v in others])
        return in_kind(data, model.variables[position], conditional_means(model, rows, others, [position])[:, 0])
    if is_mixed(model):
        position = positions(model.names, [target])[0]
        if model.variables[position].is_continuous:
            given = without_target(data, model.variables, position, unknown)
            means = mixed_prediction(model, given, position, checked_limit(max_table))
            return in_kind(data, model.variables[position], means)
    probabilities = _probabilities(model, data, target, unknown, max_table)
    variable = model.variables[positions(model.names, [target])[0]]
    return in_kind(data, variable, probabilities.argmax(axis=1))


def predict_interval(
    model: Any, data: Any, target: str, *, level: float, unknown: UnknownName, max_table: int
) -> Array:
    """Return the ends of an interval of a number in each row; see `Predicting.predict_interval`."""
    position = positions(model.names, [target])[0]
    if not model.variables[position].is_continuous:
        wrong = f"{target!r} has states, and no interval; predict_proba gives their probabilities"
        raise SchemaError(wrong, parameter="target")
    shares = tails(level)
    if is_mixed(model):
        given = without_target(data, model.variables, position, unknown)
        return mixed_quantiles(model, given, position, shares, checked_limit(max_table))
    from scipy.special import ndtri  # slow to import, and needed by few calls

    means, sds = _moments(model, data, position)
    return np.asarray(means[:, None] + sds[:, None] * ndtri(shares))


def level_as_if_known(model: Any, target: str, level: float) -> float:
    """Return the level at which intervals of known parameters are as wide as those of fitted ones at a level.

    They are so of a regression with as many coefficients, at a row whose distance from the mean is the average one:
    Student's t, with the error of the line. A child of the target counts as one coefficient more.
    """
    from scipy.special import ndtr, stdtrit  # slow to import, and needed by few calls

    (position,), (_, share) = positions(model.names, [target]), tails(level)
    conditional = model.conditionals[position]
    children = sum(position in one.parents for one in model.conditionals)
    n, k = float(model.n_rows or 1), conditional.n_parameters - conditional.n_groups + children
    free = max(n - k, 1.0)
    wide = float(stdtrit(free, share)) * math.sqrt((n + k) / free)
    return float(min(2 * ndtr(wide) - 1, 1 - 1e-12))


def shares_up_to(model: Any, data: Any, target: str, bounds: Array) -> Array:
    """Return the probability that a number is at most some others given the cells of each row, (n_rows, n_bounds).

    Data, errors and missing cells are as for `predict_proba`.
    """
    position = positions(model.names, [target])[0]
    if is_mixed(model):
        return mixed_shares_up_to(model, without_target(data, model.variables, position, "error"), position, bounds)
    from scipy.special import ndtr  # slow to import, and needed by few calls

    means, sds = _moments(model, data, position)
    return np.asarray(ndtr((bounds - means[:, None]) / sds[:, None]))


def number_quantiles(model: Any, target: str, shares: Sequence[float], limit: int) -> Array:
    """Return the numbers that a number is at most with some probabilities where nothing is known, (n_shares,).

    StateSpaceError when a table over the labels on which it depends would have more than `limit` cells.
    """
    if is_mixed(model):
        found: Any = query_mixed(model, target, None, None, limit)
        return np.array([found.quantile(share) for share in shares])
    from scipy.special import ndtri  # slow to import, and needed by few calls

    at = positions(model.names, [target])[0]
    return np.asarray(model.mean[at] + np.sqrt(model.covariance[at, at]) * ndtri(np.array(shares)))


def _moments(model: Normal, data: Any, target: int) -> tuple[Array, Array]:
    """Return a number's mean and standard deviation given the other numbers of each row, both (n_rows,)."""
    others = [v for v in range(len(model.names)) if v != target]
    rows = numbers_with_gaps(data, model.variables, [model.names[v] for v in others])
    columns = np.full((len(model.names), len(rows)), np.nan)
    columns[others] = rows.T
    means, sds = np.zeros(len(rows)), np.zeros(len(rows))
    for gap in gaps_of(columns):
        at = gap.missing.tolist().index(target)
        found, covariance = gap.given(model, columns)
        means[gap.rows], sds[gap.rows] = found[at], np.sqrt(covariance[at, at])
    return means, sds


def predict_proba(
    net: Model, data: Any, target: str, *, unknown: UnknownName = "error", max_table: int = MAX_TABLE
) -> Any:
    """Return the probability of each state of one variable, given the cells of each row that are not missing.

    Missing cells are summed out exactly. Rows with the same cells missing share a plan, and equal rows are computed
    once. Numbers have a density and no probabilities: of a Gaussian network ``net.predict`` gives means, and
    ``net.query`` a mean with its standard deviation.

    Parameters
    ----------
    net : BayesianNetwork or MarkovNetwork
    data : Table, data frame, mapping from names to columns, or (n_rows, n_variables) array of codes
        All variables but the target must be there; the target's column is not looked at. In an array, a missing cell's
        code is the variable's cardinality.
    target : str
        The variable to predict.
    unknown : {"error", "missing"}
        What becomes of labels that the model does not have: they are refused, or taken for missing.
    max_table : int
        How many cells (8 bytes each) the tables held at once may have.

    Returns
    -------
    (n_rows, r) float64, or a frame of the kind that was given
        Rows sum to 1. A pandas, polars or pyarrow frame is answered with such a frame, whose columns are the states
        (as text but in pandas); pandas keeps the index.

    Raises
    ------
    SchemaError, UnknownStateError
        When columns or labels do not fit, or the target is continuous.
    ZeroProbabilityError
        When a row is impossible whatever the target's state.
    StateSpaceError
        When so much is missing that a table would be too large.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> rows = asia.sample(3, seed=1).to_frame().to_pydict() | {"smoke": ["yes", None, None]}
    >>> fn.infer.predict_proba(asia, rows, "lung").shape
    (3, 2)
    """
    probabilities = _probabilities(net, data, target, unknown, max_table)
    variable = net.variables[positions(net.names, [target])[0]]
    return columns_in_kind(data, variable.states, probabilities)


def _probabilities(net: Any, data: Any, target: str, unknown: UnknownName, max_table: int) -> Array:
    """Return the probabilities of the target's states in each row, (n_rows, r)."""
    limit = checked_limit(max_table)
    if is_normal(net):
        positions(net.names, [target])
        raise _has_no_states(target)
    position = positions(net.names, [target])[0]
    if is_mixed(net):
        if net.variables[position].is_continuous:
            raise _has_no_states(target)
        given = without_target(data, net.variables, position, unknown)
        return mixed_prediction(net, given, position, limit)
    net = model_of(net)
    rows = without_target(data, net.variables, position, unknown)
    if net.likelihood == "exact":
        network = network_of(net)
        if rows.has_missing:
            return predicted(network, rows, position, limit)
        return np.asarray(network.probabilities_given_rest(rows, position))
    codes = np.stack([column.astype(np.int32) for column in rows.codes], axis=1)
    missing = codes == np.array([variable.cardinality for variable in net.variables], dtype=np.int32)
    missing[:, position] = True
    out = np.empty((rows.n_rows, net.variables[position].cardinality))
    for members, pattern in _by_gaps(missing, np.arange(rows.n_rows)):
        out[members] = _by_pattern(net, codes[members], pattern, position, members, limit)
    return out


def _has_no_states(target: str) -> SchemaError:
    """Return the error for probabilities that are asked of a number."""
    return SchemaError(f"{target!r} is continuous and has no states; predict gives its mean, and query its mean and sd")


def _by_gaps(
    missing: npt.NDArray[np.bool_], rows: npt.NDArray[np.intp]
) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]]:
    """Yield the rows in which the same cells are missing, and which these are."""
    marked = missing[rows]
    if len(rows) and (marked == marked[0]).all():  # most often: none is missing, and a million rows need no sorting
        yield rows, marked[0]
        return
    patterns, pattern_of = np.unique(marked, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        yield rows[pattern_of.ravel() == number], pattern


def _by_pattern(
    net: Model,
    codes: npt.NDArray[np.int32],
    missing: npt.NDArray[np.bool_],
    target: int,
    members: npt.NDArray[np.intp],
    limit: int,
) -> Array:
    """Predict rows in which the same cells are missing."""
    known = np.where(missing, np.int32(0), codes)
    distinct, which = np.unique(known, axis=0, return_inverse=True)
    plan = planned(net, np.flatnonzero(~missing).tolist(), [], [[target]], limit)
    found = plan.run_rows(np.ascontiguousarray(distinct, dtype=np.int32))
    result = found[which.ravel()]
    nowhere = np.isnan(result).any(axis=1)
    if nowhere.any():
        raise impossible_row(int(members[int(np.argmax(nowhere))]), net.variables[target].name)
    return result


def without_target(data: Any, variables: Sequence[Column], target: int, unknown: UnknownName) -> Table:
    """Return data as a table of a model's variables in which the target's column means nothing.

    Other cells may be missing.
    """
    rows = as_table(data, variables, without=(variables[target].name,), unknown=unknown)
    columns = list(rows.codes)
    columns.insert(target, np.zeros(rows.n_rows, dtype=variables[target].dtype))
    return Table.adopt(variables, columns, n_rows=rows.n_rows)


# ------------------------------------------------------------------------------------------------------- of numbers


def numbers_with_gaps(data: Any, variables: Sequence[Continuous], names: Sequence[str]) -> Array:
    """Return some of a model's columns of numbers, (n_rows, len(names)); NaN where a cell is missing.

    An array has the model's variables in their order, or the named ones alone.
    """
    every: Sequence[Continuous] = variables
    if isinstance(data, list | tuple | np.ndarray) and np.ndim(data) == 2 and np.shape(data)[1] == len(names):
        every = [variables[v] for v in positions([variable.name for variable in variables], names)]
    table = as_table(data, every, without={variable.name for variable in every} - set(names))
    return np.array([table.column(name) for name in names], dtype=np.float64).reshape(len(names), table.n_rows).T


def conditional_means(model: Normal, rows: Array, known: Sequence[int], wanted: Sequence[int]) -> Array:
    """Return the means of some variables given the known ones of each row, (n_rows, len(wanted)).

    `rows` holds the known ones, (n_rows, len(known)); where one is NaN it is integrated out.
    """
    columns = np.full((len(model.mean), len(rows)), np.nan)
    columns[list(known)] = rows.T
    return completed(model, columns)[list(wanted)].T
