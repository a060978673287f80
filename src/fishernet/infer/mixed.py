"""Exact inference in networks of labels and numbers: numbers are integrated out first, then labels are summed out.

That is strong elimination (Lauritzen, 1992): labels have parents with labels alone, so that given the labels the
numbers are jointly normal, and what is known of them is a table over the labels on which they depend. Missing cells of
a row that share conditionals are a *gap*. Given what is known, the gaps of a row are independent, and each depends on
the known cells around it alone. The core answers for gaps (`core/inference/mixed_gap.hpp`), many rows at once.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Protocol, TypeGuard, cast

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.data import Column, Table
from fishernet.infer.factors import CELLS_AT_ONCE, MAX_TABLE, Array, check_held, inference_of

Rows = npt.NDArray[np.int64]
Columns = Sequence[npt.NDArray[Any]]
Sums = tuple[Array, Array, Array]  # of a family's cells: weights (q,), numbers (q, d) and products (q, d, d)


HELD = "a table over the labels on which missing cells depend"
FEWER = "leave such rows out, or cut numbers into bins (bins='auto', --bins auto) before a network is learned"


class AnyConditional(Protocol):
    """P(child given its parents), a table or regressions."""

    @property
    def child(self) -> int:
        """Its position."""

    @property
    def parents(self) -> tuple[int, ...]:
        """Theirs."""

    def table(self) -> Array:
        """Return its probabilities, where it has a table."""

    def log_prob(self, table: Table) -> Array:
        """Return the log-probability or density of the child in each row."""


class Regression(Protocol):
    """A number given its parents: a regression in each configuration of their labels."""

    @property
    def label_parents(self) -> tuple[int, ...]:
        """Positions of the parents with labels, in the order of the axes."""

    @property
    def number_parents(self) -> tuple[int, ...]:
        """Positions of the parents that are numbers, in the order of the coefficients."""

    @property
    def intercept(self) -> Array:
        """One axis for each parent with labels."""

    @property
    def coefficients(self) -> Array:
        """The same axes and one for the numbers."""

    @property
    def sd(self) -> Array:
        """Shaped as the intercept."""

    def log_density(self, table: Table) -> Array:
        """Return the log-density of the child in each row, as if it was not rounded."""


class MixedNetwork(Protocol):
    """A Bayesian network of labels and numbers."""

    @property
    def variables(self) -> Sequence[Column]:
        """The variables."""

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""

    @property
    def conditionals(self) -> Sequence[AnyConditional]:
        """One per variable."""

    @property
    def dag(self) -> Any:
        """The graph, whose `order` has parents before their children."""


def is_mixed(model: object) -> TypeGuard[MixedNetwork]:
    """Whether a model has labels and numbers."""
    return inference_of(model) == "mixed"


def core_model(net: MixedNetwork, needed: Collection[int]) -> _core.MixedModel:
    """Return a network as the core takes it; only the conditionals that are needed have values."""
    conditionals = []
    for v, conditional in enumerate(net.conditionals):
        number = net.variables[v].is_continuous
        labels: list[int] = [*conditional.parents, v]
        numbers: list[int] = []
        values = np.zeros(0)
        if number:
            of = cast(Regression, conditional)
            labels, numbers = [*of.label_parents], [*of.number_parents]
            if v in needed:
                values = np.concatenate([of.intercept[..., None], of.coefficients, of.sd[..., None]], axis=-1)
        elif v in needed:
            with np.errstate(divide="ignore"):
                values = np.log(conditional.table())
        conditionals.append((number, labels, numbers, np.ascontiguousarray(values.reshape(-1))))
    cardinalities = [1 if v.is_continuous else v.cardinality for v in net.variables]
    return _core.MixedModel(np.array(cardinalities, dtype=np.int64), conditionals)


class Gap:
    """Missing variables of a network, and the conditionals in which they are.

    Methods take cells (`cells_of`), and the rows that lack these.

    Parameters
    ----------
    net : MixedNetwork
    model : MixedModel
        The network as the core has it.
    missing : collection of int
        The missing variables on which something known, or asked, depends.
    families : sequence of int
        The variables whose conditionals have some of them, and count; parents before their children.
    soft : sequence of (int, array)
        Logarithms of the likelihoods of a label's states.
    limit : float
        How many cells a table may have.
    row : int, optional
        The first of the rows that lack these.

    Raises
    ------
    StateSpaceError
        When a block of numbers depends on labels that have more joint states.
    """

    def __init__(
        self,
        net: MixedNetwork,
        model: _core.MixedModel,
        missing: Collection[int],
        families: Sequence[int],
        soft: Sequence[tuple[int, Array]] = (),
        limit: float = MAX_TABLE,
        row: int | None = None,
    ) -> None:
        self.model: _core.MixedModel = model
        self.missing: tuple[int, ...] = tuple(sorted(missing))
        self.families: Sequence[int] = families
        self.limit: float = limit
        self._row = row
        self._variables = net.variables
        self.core: _core.MixedGap = _core.MixedGap(model, self.missing, families, soft)
        self._held(())

    def under(self, model: _core.MixedModel) -> Gap:
        """Return the same gap of a network with the same graph."""
        found = copy.copy(self)
        found.model = model
        return found

    def _held(self, keep: Iterable[int]) -> None:
        """Raise StateSpaceError when the largest table has too many cells."""
        cells = self.core.most_cells(list(keep))
        if self._row is None:
            check_held(cells, self.limit, HELD)
        else:
            check_held(cells, self.limit, f"row {self._row} lacks so much that {HELD}", FEWER)

    def work_a_row(self) -> float:
        """Return what expected statistics take for a row: the states of missing labels, for each conditional."""
        return _work(self.core, self.families)

    def _states(self, scope: Iterable[int]) -> list[int]:
        return [self._variables[v].cardinality for v in sorted(scope)]

    def joint(self, cells: Array, rows: Rows, keep: Collection[int] = ()) -> Array:
        """Return the log-probability of what is known with each state of some missing labels, (n_rows, states, ...)."""
        if keep:
            self._held(keep)
        return self.core.joint(self.model, cells, rows, list(keep)).reshape(len(rows), *self._states(keep))

    def mixture(
        self, cells: Array, rows: Rows, wanted: Sequence[int], keep: Collection[int] = ()
    ) -> tuple[Array, Array, Array]:
        """Return the joint distribution of missing numbers, and of some missing labels, of each row.

        It is a mixture of normals with a component for each state of the labels of `mixture_scope`.

        Returns
        -------
        log_weights : (n_rows, states, ...)
        mean : (n_rows, states, ..., n_wanted)
        covariance : (n_rows, states, ..., n_wanted, n_wanted)
        """
        scope, d = self.mixture_scope(wanted, keep), len(wanted)
        self._held(scope)
        log_weights, mean, covariance = self.core.mixture(self.model, cells, rows, list(wanted), list(keep))
        shape = (len(rows), *self._states(scope))
        return log_weights.reshape(shape), mean.reshape(*shape, d), covariance.reshape(*shape, d, d)

    def mixture_scope(self, wanted: Iterable[int], keep: Iterable[int] = ()) -> list[int]:
        """Return the missing labels that tell the components of the distribution of some missing numbers."""
        return self.core.mixture_scope(list(wanted), list(keep))

    def completed(self, cells: Array, rows: Rows, noise: Array | None = None) -> dict[int, npt.NDArray[Any]]:
        """Return a value of each missing variable in each row: labels that are most probable together, and means.

        With `noise`, standard normal numbers (as many as missing variables and one more, n), they are n draws: as many
        of each row, one after the other.
        """
        labels = sum(not self._variables[v].is_continuous for v in self.missing)
        taken = np.zeros((0, 0))
        if noise is not None:
            from scipy.special import ndtr  # slow to import, and needed by few calls

            uniform = np.minimum(ndtr(noise[:labels]), np.nextafter(1.0, 0.0))
            taken = np.ascontiguousarray(np.concatenate([uniform, noise[labels:-1]]))
        values = self.core.completed(self.model, cells, rows, taken).T
        return {
            v: column if self._variables[v].is_continuous else column.astype(np.int64)
            for v, column in zip(self.missing, values, strict=True)
        }

    def expected(self, cells: Array, rows: Rows, origin: Array) -> tuple[Array, list[tuple[Rows, Array, Array, Array]]]:
        """Return the rows' log-probabilities, and the expected statistics of each family in each row.

        Of the k configurations that a row may have: which they are, (n_rows k,), their probabilities, and with them the
        sums and the products of the family's d numbers, (n_rows k, d) and (n_rows k, d, d), as
        `GappedRows.add_expected` has them.
        """
        log_prob, found = self.core.expected(self.model, cells, rows, origin)
        shaped = []
        for places, weights, first, second in found:
            n, d = len(places), len(first) // max(len(places), 1)
            shaped.append((places, weights, first.reshape(n, d), second.reshape(n, d, d)))
        return log_prob, shaped

    def parts(self, rows: Rows, target: int) -> Iterator[Rows]:
        """Yield some rows at once, so that few cells of the answers for a variable are held."""
        scope = self.mixture_scope([target]) if self._variables[target].is_continuous else [target]
        step = max(1, CELLS_AT_ONCE // math.prod(self._states(scope)))
        for begin in range(0, len(rows), step):
            yield rows[begin : begin + step]


def shares(values: Array) -> Array:
    """Return tables in logarithms as probabilities that sum to 1 in every row; NaN in rows that are impossible."""
    flat = values.reshape(len(values), -1)
    with np.errstate(invalid="ignore"):
        weights = np.exp(flat - flat.max(axis=1, keepdims=True))
        return np.asarray((weights / weights.sum(axis=1, keepdims=True)).reshape(values.shape))


# ------------------------------------------------------------------------------------------------------ rows with gaps


def gap_around(
    net: MixedNetwork,
    known: Collection[int],
    asked: Collection[int],
    limit: float = MAX_TABLE,
    soft: Sequence[tuple[int, Array]] = (),
) -> Gap:
    """Return the gap of everything that is not known, as far as what is known or asked depends on it."""
    needed = {*known, *asked}
    for v in reversed(net.dag.order):
        if v in needed:
            needed.update(net.conditionals[v].parents)
    families = [v for v in net.dag.order if v in needed]
    return Gap(net, core_model(net, needed), needed.difference(known), families, soft, limit)


class GappedRows:
    """Rows of a mixed network's variables in which cells are missing.

    Parameters
    ----------
    net : MixedNetwork
    rows : Table
        Of its variables, in its order.
    target : int, optional
        A variable that is asked for: it is missing in every row, whatever stands there.
    keep : bool
        Whether missing cells that nothing known depends on are in gaps as well, as they are to be filled in.
    limit : float
        How many cells a table may have.
    rounded : bool
        Whether numbers are what they were rounded from, by their resolution, or points, as regressions are fitted.
    """

    def __init__(
        self,
        net: MixedNetwork,
        rows: Table,
        target: int = -1,
        *,
        keep: bool = False,
        limit: float = MAX_TABLE,
        rounded: bool = True,
    ) -> None:
        self.net: MixedNetwork = net
        self.n_rows: int = rows.n_rows
        self.rounded: bool = rounded
        pairs = list(zip(net.variables, rows.codes, strict=True))
        missing = np.array([variable.missing(column) for variable, column in pairs])
        if target >= 0:
            missing[target] = True
        self._missing = missing
        filled = [np.where(gone, 0, column).astype(v.dtype) for gone, (v, column) in zip(missing, pairs, strict=True)]
        self.filled: Table = Table.adopt(net.variables, filled, n_rows=rows.n_rows)
        self.cells: Array = cells_of(net.variables, filled, rounded=rounded)
        found = _gaps_of(missing, net.dag, needed=not keep, target=target)
        self._needed = {v for _, families, _ in found for v in families}
        self._model = core_model(net, self._needed)
        self.gaps: list[tuple[Gap, Rows]] = [
            (Gap(net, self._model, members, families, limit=limit, row=int(which[0])), which)
            for members, families, which in found
        ]

    def under(self, net: MixedNetwork) -> GappedRows:
        """Return the same rows under a network with the same graph."""
        found, model = copy.copy(self), core_model(net, self._needed)
        found.net, found._model = net, model
        found.gaps = [(gap.under(model), rows) for gap, rows in self.gaps]
        return found

    @cached_property
    def origin(self) -> Array:
        """A number near those of each column, on its scale, so that sums of products do not cancel; 0 of labels."""
        found = np.zeros(len(self.net.variables))
        for v, variable in enumerate(self.net.variables):
            if variable.is_continuous and not self._missing[v].all():
                found[v] = self.cells[~self._missing[v], v].mean()
        return found

    def lacking(self, v: int) -> npt.NDArray[np.bool_]:
        """Return the rows in which a variable or one of its parents is missing, (n_rows,)."""
        return np.asarray(self._missing[[v, *self.net.conditionals[v].parents]].any(axis=0))

    def known_terms(self) -> Array:
        """Return what each row has without its gaps, (n_rows,).

        That is the log-probability of the cells whose families are known, and what makes the densities and masses of
        other known numbers, which gaps have on scales, ones per unit.
        """
        total = np.zeros(self.n_rows)
        for v, conditional in enumerate(self.net.conditionals):
            lacking = self.lacking(v)
            variable = self.net.variables[v]
            as_points = variable.is_continuous and not self.rounded
            if not lacking.all():
                own = cast(Regression, conditional).log_density if as_points else conditional.log_prob
                total += np.where(lacking, 0.0, own(self.filled))
            scaled = np.flatnonzero(lacking & ~self._missing[v])
            unit = variable.log_slope if as_points else variable.log_unit
            total[scaled] += unit(self.filled.codes[v][scaled])
        return total

    def add_expected(self, which: Iterable[int], weights: Array, sums: Sequence[Sums]) -> Array:
        """Add the expected statistics of the rows of some gaps to the sums of the families of all variables.

        Labels and numbers of a family are ascending, numbers count from the origin, and of products there is the lower
        triangle. Returned is what the gaps add to the rows' log-probabilities, (n_rows,).
        """
        gaps = [(gap.core, rows) for gap, rows in (self.gaps[at] for at in which)]
        return _core.add_expected(self._model, gaps, self.cells, weights, self.origin, sums)

    def log_prob(self) -> Array:
        """Return the log-probability of what is known of each row, (n_rows,)."""
        total = self.known_terms()
        for gap, rows in self.gaps:
            total[rows] += gap.joint(self.cells, rows)
        return total


def _gaps_of(
    missing: npt.NDArray[np.bool_], dag: Any, *, needed: bool, target: int = -1
) -> list[tuple[list[int], list[int], Rows]]:
    """Return the missing variables of each gap, those whose conditionals have some of them, and the rows.

    With `needed` it is those alone on which something known, or the target, depends.
    """
    lacking = _core.Columns(list(missing.view(np.uint8)), np.ones(len(missing), dtype=np.int64), missing.shape[1])
    scopes = [[*parents, v] for v, parents in enumerate(dag.parents)]
    rank = {v: at for at, v in enumerate(dag.order)}
    found = _core.mixed_gaps(lacking, scopes, needed, target)
    return [(members, sorted(families, key=rank.__getitem__), which) for members, families, which in found]


def work_of_rows(rows: Table, dag: Any) -> Array:
    """Return what the exact log-probability of each row takes by a graph, as `Gap.work_a_row` has it, (n_rows,)."""
    is_number = [variable.is_continuous for variable in rows.variables]
    conditionals = []
    for v, parents in enumerate(dag.parents):
        labels = [p for p in parents if not is_number[p]]
        numbers = [p for p in parents if is_number[p]]
        conditionals.append((is_number[v], labels if is_number[v] else [*labels, v], numbers, np.zeros(0)))
    cardinalities = [1 if variable.is_continuous else variable.cardinality for variable in rows.variables]
    model = _core.MixedModel(np.array(cardinalities, dtype=np.int64), conditionals)
    missing = np.array([variable.missing(column) for variable, column in zip(rows.variables, rows.codes, strict=True)])
    found = np.zeros(rows.n_rows)
    for members, families, which in _gaps_of(missing, dag, needed=True):
        gap = _core.MixedGap(model, sorted(members), families, [])
        found[which] += _work(gap, families)
    return found


def _work(gap: _core.MixedGap, families: Sequence[int]) -> float:
    return gap.most_states() * len(families)


def cells_of(variables: Sequence[Column], columns: Columns, *, rounded: bool = True) -> Array:
    """Return columns as gaps take them, (n_rows, n_variables): codes, and numbers on their scales.

    Where numbers were rounded, the middles and widths of the intervals from which they come follow,
    (n_rows, 3 n_variables).
    """
    pairs = list(zip(variables, columns, strict=True))
    parts = [variable.scaled(column) for variable, column in pairs]
    if rounded and any(variable.resolution is not None for variable in variables):
        intervals = [variable.rounded_from(column) for variable, column in pairs]
        parts += [middles for middles, _ in intervals] + [widths for _, widths in intervals]
    return np.ascontiguousarray(np.array(parts, dtype=np.float64).T)


def row_mixture(gap: Gap, cells: Array, rows: Rows, wanted: Sequence[int]) -> tuple[Array, Array, Array]:
    """Return the weights (n_rows, K), means (n_rows, K, d) and covariances of missing numbers in each row."""
    log_weights, mean, covariance = gap.mixture(cells, rows, wanted)
    n, d = len(rows), len(wanted)
    weights = shares(log_weights).reshape(n, -1)
    return weights, mean.reshape(*weights.shape, d), covariance.reshape(*weights.shape, d, d)
