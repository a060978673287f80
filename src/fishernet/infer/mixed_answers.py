"""Questions to networks of labels and numbers: distributions, predictions, filled cells and draws, all exact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError
from fishernet.base.names import position
from fishernet.base.random import Seed, draw_count, generator
from fishernet.data import Table
from fishernet.data.given import code_of, number_given
from fishernet.data.variable import State
from fishernet.infer.distribution import Distribution
from fishernet.infer.evidence import Given, Likelihood, as_mapping, checked_likelihood, impossible, impossible_row
from fishernet.infer.factors import MAX_TABLE, Array, checked_limit
from fishernet.infer.mixed import Gap, GappedRows, MixedNetwork, Rows, cells_of, gap_around, row_mixture, shares
from fishernet.infer.mixtures import MixedDistribution, NumberDistribution, moments_on_scale, quantiles
from fishernet.infer.normal import asked_for

DRAWN_ROWS = 2**14  # at once


class Case:
    """What is known of one case: states, numbers and likelihoods of states."""

    def __init__(self, net: MixedNetwork, given: Given, likelihood: Likelihood) -> None:
        where = {name: at for at, name in enumerate(net.names)}
        self.said: dict[str, Any] = dict(as_mapping(given, "given"))
        self.columns: list[npt.NDArray[Any]] = [np.zeros(1, dtype=v.dtype) for v in net.variables]
        self.known: list[int] = [position(where, name) for name in self.said]
        for at, value in zip(self.known, self.said.values(), strict=True):
            variable = net.variables[at]
            if variable.is_continuous:
                self.columns[at][0] = number_given(variable, value, parameter="given")
            else:
                self.columns[at][0] = code_of(variable, value, parameter="given")
        self.said = {net.names[at]: _value(net, at, self.columns[at][0]) for at in self.known}
        self.soft: list[tuple[int, Array]] = []
        for name, values in as_mapping(likelihood, "likelihood").items():
            at = position(where, name)
            variable = net.variables[at]
            if variable.is_continuous:
                raise SchemaError(f"{name!r} is continuous; likelihoods are of states", parameter="likelihood")
            numbers = checked_likelihood(variable, values)
            with np.errstate(divide="ignore"):
                self.soft.append((at, np.log(numbers)))

    @property
    def values(self) -> dict[int, float]:
        """What is known of each variable, by position: the code of a state, or a number."""
        return {at: float(self.columns[at][0]) for at in self.known}

    def around(self, net: MixedNetwork, asked: Iterable[int], limit: int) -> tuple[Gap, tuple[Array, Rows]]:
        """Return the gap of what is not known, with what the case says of it: cells, of one row."""
        asked = {*asked, *(v for v, _ in self.soft)} - set(self.known)
        gap = gap_around(net, self.known, asked, limit, self.soft)
        return gap, (cells_of(net.variables, self.columns), np.zeros(1, dtype=np.int64))


def _value(net: MixedNetwork, at: int, cell: Any) -> State:
    variable = net.variables[at]
    return float(cell) if variable.is_continuous else variable.states[int(cell)]


def query_mixed(
    net: MixedNetwork, names: str | Iterable[str] | None, given: Given, likelihood: Likelihood, max_table: int
) -> Distribution | NumberDistribution | MixedDistribution:
    """Return the distribution of some variables given what is known, by default of all that are not given."""
    case = Case(net, given, likelihood)
    wanted = list(asked_for(net.names, names, case.said))
    known = [v for v in wanted if v in case.known]
    certain = not any(net.variables[v].is_continuous for v in wanted)  # a label that is given has all its mass there
    if known and not certain:
        raise SchemaError(f"{net.names[known[0]]!r} is given; ask for what is not known", parameter="given")
    gap, what = case.around(net, [v for v in wanted if v not in known], checked_limit(max_table))
    labels = [v for v in wanted if not net.variables[v].is_continuous]
    numbers = [v for v in wanted if net.variables[v].is_continuous]
    if not numbers:
        free = [v for v in labels if v not in known]
        found = shares(_possible(gap.joint(*what, free), given))[0]
        variables: Any = tuple(net.variables[v] for v in labels)
        whole = np.zeros([variable.cardinality for variable in variables])
        whole[tuple(int(case.columns[v][0]) if v in known else slice(None) for v in labels)] = found.transpose(
            np.argsort(np.argsort(free))
        )
        return Distribution(variables, whole, case.said)
    _possible(gap.joint(*what), given)
    scope = gap.mixture_scope(numbers, labels)
    log_weights, mean, covariance = gap.mixture(*what, numbers, labels)
    weights = shares(log_weights).reshape(-1)
    held = np.flatnonzero(weights > 0)
    weights, d = weights[held], len(numbers)
    means, covariances = mean.reshape(-1, d)[held], covariance.reshape(-1, d, d)[held]
    if len(wanted) == 1:
        sds = np.sqrt(covariances[:, 0, 0])
        variable: Any = net.variables[numbers[0]]
        return NumberDistribution(variable, weights, means[:, 0], sds, case.said)
    codes = np.stack(np.unravel_index(held, log_weights.shape[1:]), axis=1) if scope else np.zeros((len(held), 0), int)
    of_labels = codes[:, [scope.index(v) for v in labels]]
    variables = tuple(net.variables[v] for v in wanted)
    return MixedDistribution(variables, weights, of_labels, means, covariances, case.said)


def _possible(log_prob: Array, given: Given) -> Array:
    """Return the log-probability of one case; ZeroProbabilityError where it is impossible."""
    if np.isneginf(log_prob).all():
        raise impossible(given)
    return log_prob


def most_probable_mixed(net: MixedNetwork, given: Given, likelihood: Likelihood, max_table: int) -> dict[str, State]:
    """Return the labels that are most probable together, numbers integrated out, and the means of those given them."""
    case = Case(net, given, likelihood)
    gap, what = case.around(net, range(len(net.names)), checked_limit(max_table))
    _possible(gap.joint(*what), given)
    found = {v: net.variables[v].unscaled(column)[0] for v, column in gap.completed(*what).items()}
    values = {net.names[at]: _value(net, at, cell) for at, cell in found.items()} | case.said
    return {name: values[name] for name in net.names}


def log_evidence_mixed(net: MixedNetwork, given: Given, likelihood: Likelihood, max_table: int) -> float:
    """Return the log-probability of the labels given, and the log-density of the numbers."""
    case = Case(net, given, likelihood)
    gap, what = case.around(net, (), checked_limit(max_table))
    units = sum(float(np.sum(net.variables[v].log_unit(case.columns[v]))) for v in case.known)
    return float(gap.joint(*what)[0]) + units + 0.0  # no -0.0


def sample_mixed(net: MixedNetwork, n: int, given: Given, likelihood: Likelihood, max_table: int, seed: Seed) -> Table:
    """Draw independent rows given what is known."""
    case, count, random = Case(net, given, likelihood), draw_count(n), generator(seed)
    gap, what = case.around(net, range(len(net.names)), checked_limit(max_table))
    _possible(gap.joint(*what), given)
    columns = [np.repeat(column, count) for column in case.columns]
    for begin in range(0, count, DRAWN_ROWS):
        size = min(DRAWN_ROWS, count - begin)
        drawn = gap.completed(*what, random.standard_normal((len(gap.missing) + 1, size)))
        for v, values in drawn.items():
            columns[v][begin : begin + size] = net.variables[v].unscaled(values)
    return Table.adopt(net.variables, columns, n_rows=count)


# ----------------------------------------------------------------------------------------------------- of every row


def mixed_log_prob(net: MixedNetwork, rows: Table, limit: int = MAX_TABLE) -> Array:
    """Return the log-probability of what is known of each row, (n_rows,)."""
    return GappedRows(net, rows, limit=limit).log_prob()


def mixed_prediction(net: MixedNetwork, rows: Table, target: int, limit: int) -> Array:
    """Return the probabilities of a label's states, (n_rows, r), or the mean of a number, (n_rows,), in each row.

    The target's own column is not looked at. ZeroProbabilityError when a row is impossible whatever the target.
    """
    variable = net.variables[target]
    if variable.is_continuous:
        return mixed_number(net, rows, target, limit)[0]
    lacking = GappedRows(net, rows, target, limit=limit)
    found = np.zeros((rows.n_rows, variable.cardinality))
    for some, gap in _around(lacking, target):
        found[some] = shares(gap.joint(lacking.cells, some, [target]))
    return _require_possible(found, variable.name)


def mixed_number(net: MixedNetwork, rows: Table, target: int, limit: int = MAX_TABLE) -> tuple[Array, Array]:
    """Return the mean of a number and its standard deviation given what else each row knows, both (n_rows,)."""
    variable = net.variables[target]
    found, spread = np.zeros(rows.n_rows), np.zeros(rows.n_rows)
    for some, weights, on_scale in _mixtures(net, rows, target, limit):
        means, sds = moments_on_scale(variable, *on_scale)
        found[some] = (weights * means).sum(axis=1)
        spread[some] = np.sqrt((weights * (sds**2 + (means - found[some][:, None]) ** 2)).sum(axis=1))
    return _require_possible(found, variable.name), spread


def mixed_quantiles(net: MixedNetwork, rows: Table, target: int, shares: Sequence[float], limit: int) -> Array:
    """Return the numbers that a number is at most with some probabilities in each row, (n_rows, n_shares)."""
    variable, found = net.variables[target], np.zeros((rows.n_rows, len(shares)))
    for some, weights, on_scale in _mixtures(net, rows, target, limit):
        found[some] = np.stack([quantiles(variable, weights, *on_scale, q) for q in shares], axis=1)
    return _require_possible(found, variable.name)


def mixed_shares_up_to(net: MixedNetwork, rows: Table, target: int, bounds: Array, limit: int = MAX_TABLE) -> Array:
    """Return the probability that a number is at most some others given what else a row knows, (n_rows, n_bounds)."""
    from scipy.special import ndtr  # slow to import, and needed by few calls

    variable, found = net.variables[target], np.zeros((rows.n_rows, len(bounds)))
    for some, weights, (means, sds) in _mixtures(net, rows, target, limit):
        for place, bound in enumerate(variable.scaled(bounds)):
            found[some, place] = (weights * ndtr((bound - means) / sds)).sum(axis=1)
    return _require_possible(found, variable.name)


def _mixtures(
    net: MixedNetwork, rows: Table, target: int, limit: int
) -> Iterator[tuple[Rows, Array, tuple[Array, Array]]]:
    """Yield some rows at once with a number's mixture in each: weights, and means and sds on its scale, (n, K)."""
    lacking = GappedRows(net, rows, target, limit=limit)
    for some, gap in _around(lacking, target):
        weights, mean, covariance = row_mixture(gap, lacking.cells, some, [target])
        yield some, weights, (mean[:, :, 0], np.sqrt(covariance[:, :, 0, 0]))


def _around(lacking: GappedRows, target: int) -> Iterator[tuple[Rows, Gap]]:
    """Yield some rows at once with the gap in which the target is."""
    for gap, at in lacking.gaps:
        if target in gap.missing:
            for some in gap.parts(at, target):
                yield some, gap


def _require_possible(found: Array, target: str) -> Array:
    """Return answers; ZeroProbabilityError names the first row that is impossible whatever the target."""
    wrong = np.isnan(found).any(axis=tuple(range(1, found.ndim)))
    if wrong.any():
        raise impossible_row(int(np.argmax(wrong)), target)
    return found


def mixed_imputation(net: MixedNetwork, rows: Table, seed: Seed | None, *, draw: bool, limit: int) -> Table:
    """Return rows whose missing cells are filled in, by what is most probable or by draws."""
    lacking, random = GappedRows(net, rows, keep=True, limit=limit), generator(seed)
    columns = [np.array(column) for column in rows.codes]
    for gap, at in lacking.gaps:
        wrong = np.isneginf(gap.joint(lacking.cells, at))
        if wrong.any():
            raise impossible_row(int(at[np.argmax(wrong)]), net.names[gap.missing[0]])
        noise = random.standard_normal((len(gap.missing) + 1, len(at))) if draw else None
        for v, values in gap.completed(lacking.cells, at, noise).items():
            columns[v][at] = net.variables[v].unscaled(values)
    return Table.adopt(net.variables, columns, n_rows=rows.n_rows, weights=rows.weights)
