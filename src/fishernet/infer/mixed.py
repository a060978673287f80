"""Exact inference in networks of labels and numbers: numbers are integrated out first, then labels are summed out.

That is strong elimination (Lauritzen, 1992): labels have parents with labels alone, so that given the labels the
numbers are jointly normal, and what is known of them is a table over the labels on which they depend. Missing cells of
a row that share conditionals are a *gap*. Given what is known, the gaps of a row are independent, and each depends on
the known cells around it alone: rows with the same gap are answered together.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard, cast

import numpy as np
import numpy.typing as npt

from fishernet.data import Column, Table
from fishernet.infer.factors import CELLS_AT_ONCE, MAX_TABLE, Array, check_held, inference_of
from fishernet.infer.log_tables import Codes, Elimination, LogTable, shares
from fishernet.infer.number_blocks import BlockAnswer, Columns, NumberBlock, Regression, picked

Rows = npt.NDArray[np.intp]


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


@dataclass(frozen=True)
class Known:
    """What is known of the rows of a gap, in logarithms: tables over missing labels, and its numbers."""

    tables: list[LogTable]
    blocks: list[BlockAnswer]
    n_rows: int


class Gap:
    """Missing variables of a network, and the conditionals in which they are.

    Parameters
    ----------
    net : MixedNetwork
    missing : collection of int
        The missing variables on which something known, or asked, depends.
    families : collection of int
        The variables whose conditionals have some of them, and count.
    limit : int
        How many cells a table may have.

    Raises
    ------
    StateSpaceError
        When a block of numbers depends on labels that have more joint states.
    """

    def __init__(
        self, net: MixedNetwork, missing: Collection[int], families: Collection[int], limit: int = MAX_TABLE
    ) -> None:
        self.net, self.missing, self.families, self.limit = net, frozenset(missing), tuple(families), limit
        numbers = {v for v in missing if net.variables[v].is_continuous}
        self.labels = self.missing - numbers
        self.states = {v: net.variables[v].cardinality for v in self.labels}
        order = [v for v in net.dag.order if v in set(families)]
        self.tables = [net.conditionals[v] for v in order if not net.variables[v].is_continuous]
        regressions = [cast(Regression, net.conditionals[v]) for v in order if net.variables[v].is_continuous]
        self.blocks = [
            NumberBlock(of, numbers & {v for r in of for v in (r.child, *r.number_parents)}, self.labels, self.states)
            for of in _sharing(regressions, numbers)
        ]
        self._plans: dict[tuple[int, ...], Elimination] = {}
        self.cells = max((self._plan(block.scope).cells for block in self.blocks), default=self._plan(()).cells)
        check_held(self.cells, limit, "a table over the labels on which missing cells depend")

    def under(self, net: MixedNetwork) -> Gap:
        """Return the same gap of a network with the same graph."""
        return Gap(net, self.missing, self.families, self.limit)

    def _plan(self, keep: Iterable[int]) -> Elimination:
        kept = tuple(sorted(keep))
        if kept not in self._plans:
            scopes = [tuple(sorted({*c.parents, c.child} & self.labels)) for c in self.tables]
            self._plans[kept] = Elimination([*scopes, *(block.scope for block in self.blocks)], self.states, kept)
            check_held(self._plans[kept].cells, self.limit, "a table over missing labels")
        return self._plans[kept]

    def known(self, columns: Columns, n_rows: int, soft: Sequence[LogTable] = ()) -> Known:
        """Return what rows say, whose known cells stand in `columns`, one a variable; `soft` are likelihoods."""
        tables = list(soft)
        for conditional in self.tables:
            axes = (*conditional.parents, conditional.child)
            with np.errstate(divide="ignore"):
                values = np.log(picked(conditional.table(), axes, self.labels, columns, n_rows))
            tables.append(LogTable(tuple(sorted(self.labels.intersection(axes))), values))
        blocks = [block.answer(columns, n_rows) for block in self.blocks]
        return Known([*tables, *(block.density for block in blocks)], blocks, n_rows)

    def log_slopes(self, columns: Columns) -> Array:
        """Return what makes log-densities on scales ones per unit of the known numbers, whose columns are in these."""
        known = [v for v in self.families if v not in self.missing]
        return np.asarray(sum((self.net.variables[v].log_slope(columns[v]) for v in known), np.zeros(1)))

    def joint(self, known: Known, keep: Iterable[int] = ()) -> Array:
        """Return the log-probability of what is known with each state of some missing labels, (n_rows, states, ...)."""
        plan = self._plan(keep)
        found, _ = plan.run(known.tables)
        return np.broadcast_to(found, (known.n_rows, *found.shape[1:]))

    def mixture(self, known: Known, wanted: Sequence[int], keep: Iterable[int] = ()) -> tuple[Array, Array, Array]:
        """Return the joint distribution of missing numbers, and of some missing labels, of each row.

        It is a mixture of normals with a component for each state of the labels of `mixture_scope`.

        Returns
        -------
        log_weights : (n_rows, states, ...)
        mean : (n_rows, states, ..., n_wanted)
        covariance : (n_rows, states, ..., n_wanted, n_wanted)
        """
        scope = self.mixture_scope(wanted, keep)
        log_weights = self.joint(known, scope)
        mean = np.zeros((*log_weights.shape, len(wanted)))
        covariance = np.zeros((*mean.shape, len(wanted)))
        for block, answer in zip(self.blocks, known.blocks, strict=True):
            at = [place for place, v in enumerate(wanted) if v in block.members]
            inside = [block.members.index(wanted[place]) for place in at]
            if not at:
                continue
            L = answer.spread[..., inside, :]
            mean[..., at] = _widened(answer.mean[..., inside], block.scope, scope, last=1)
            within = _widened(L @ np.swapaxes(L, -1, -2), block.scope, scope, last=2)
            for i, place in enumerate(at):
                covariance[..., place, at] = within[..., i, :]
        return log_weights, mean, covariance

    def mixture_scope(self, wanted: Collection[int], keep: Iterable[int] = ()) -> tuple[int, ...]:
        """Return the missing labels that tell the components of the distribution of some missing numbers."""
        blocks = (block.scope for block in self.blocks if set(block.members) & set(wanted))
        return tuple(sorted(set(keep).union(*blocks)))

    def completed(self, known: Known, noise: Array | None = None) -> dict[int, npt.NDArray[Any]]:
        """Return a value of each missing variable in each row: labels that are most probable together, and means.

        With `noise`, standard normal numbers (as many as missing variables and one more, n), they are draws: one of
        each row, or n of a single one.
        """
        from scipy.special import ndtr  # slow to import, and needed by few calls

        plan, n = self._plan(()), known.n_rows if noise is None else noise.shape[1]
        last, products = plan.run(known.tables, most=noise is None)
        uniform = None if noise is None else np.minimum(ndtr(noise), np.nextafter(1.0, 0.0))
        codes = plan.completed(last, products, n, uniform)
        found: dict[int, npt.NDArray[Any]] = dict(codes)
        end = 0 if noise is None else len(noise) - 1
        for block, answer in zip(self.blocks, known.blocks, strict=True):
            at = tuple(codes[v] for v in block.scope)
            values = _of_rows(answer.mean, n, at)
            if noise is not None:
                begin = end - len(block.members)
                own = noise[begin:end].T[..., None]
                values, end = values + (_of_rows(answer.spread, n, at) @ own)[..., 0], begin
            found |= dict(zip(block.members, values.T, strict=True))
        return found


def _of_rows(values: Array, n: int, at: Sequence[Codes]) -> Array:
    """Return what each of n rows has at its codes; values that are the same for all rows are held once."""
    rows = np.arange(n) if len(values) > 1 else np.zeros(n, dtype=np.int64)
    return np.asarray(values[(rows, *at)])


def _widened(values: Array, scope: Sequence[int], wider: Sequence[int], *, last: int) -> Array:
    """Return an array over a scope with axes of length 1 for what a wider one has besides; `last` axes follow."""
    sizes = dict(zip(scope, values.shape[1 : 1 + len(scope)], strict=True))
    return values.reshape(len(values), *(sizes.get(v, 1) for v in wider), *values.shape[values.ndim - last :])


def _sharing(regressions: Sequence[Regression], missing: Collection[int]) -> list[list[Regression]]:
    """Return regressions in groups that share missing numbers, each in the order given."""
    groups: list[tuple[set[int], list[Regression]]] = []
    for regression in regressions:
        own = {regression.child, *regression.number_parents} & set(missing)
        joined = [group for group in groups if group[0] & own]
        groups = [group for group in groups if not group[0] & own]
        groups.append((own.union(*(of for of, _ in joined)), [r for _, of in joined for r in of] + [regression]))
    rank = {regression.child: at for at, regression in enumerate(regressions)}
    return [sorted(of, key=lambda r: rank[r.child]) for _, of in groups]


# ------------------------------------------------------------------------------------------------------ rows with gaps


def barren(net: MixedNetwork, missing: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which missing cells nothing known depends on, (n_variables, n_rows): they sum to 1."""
    found = np.array(missing)
    for v in reversed(net.dag.order):
        for parent in net.conditionals[v].parents:
            found[parent] &= found[v]
    return found


def gap_around(net: MixedNetwork, known: Collection[int], asked: Collection[int], limit: int = MAX_TABLE) -> Gap:
    """Return the gap of everything that is not known, as far as what is known or asked depends on it."""
    missing = np.ones((len(net.variables), 1), dtype=bool)
    missing[[*known, *asked]] = False
    without = set(np.flatnonzero(barren(net, missing)).tolist())
    families = [v for v in range(len(net.variables)) if v not in without]
    return Gap(net, [v for v in families if v not in known], families, limit)


class GappedRows:
    """Rows of a mixed network's variables in which cells are missing.

    Parameters
    ----------
    net : MixedNetwork
    rows : Table
        Of its variables, in its order.
    asked : collection of int
        Variables that are asked for: they are missing in every row, whatever stands there.
    keep : bool
        Whether missing cells that nothing known depends on are in gaps as well, as they are to be filled in.
    limit : int
        How many cells a table may have.
    """

    def __init__(
        self,
        net: MixedNetwork,
        rows: Table,
        asked: Collection[int] = (),
        *,
        keep: bool = False,
        limit: int = MAX_TABLE,
    ) -> None:
        self.net, self.n_rows = net, rows.n_rows
        pairs = list(zip(net.variables, rows.codes, strict=True))
        missing = np.array([variable.missing(column) for variable, column in pairs])
        missing[list(asked)] = True
        left = np.array(missing)
        left[list(asked)] = False
        self._barren = np.zeros_like(left) if keep else barren(net, left)
        self._missing = missing
        filled = [np.where(gone, 0, column).astype(v.dtype) for gone, (v, column) in zip(missing, pairs, strict=True)]
        self._filled = Table.adopt(net.variables, filled, n_rows=rows.n_rows)
        self.columns = on_scales(net.variables, filled)
        self.gaps = list(self._gaps(missing & ~self._barren, limit))

    def under(self, net: MixedNetwork) -> GappedRows:
        """Return the same rows under a network with the same graph."""
        found = copy.copy(self)
        found.net, found.gaps = net, [(gap.under(net), rows) for gap, rows in self.gaps]
        return found

    def known_terms(self) -> Array:
        """Return the log-probability of each cell whose family is known, 0 for others, (n_variables, n_rows)."""
        terms = np.zeros(self._missing.shape)
        for v, conditional in enumerate(self.net.conditionals):
            lacking = self._missing[[v, *conditional.parents]].any(axis=0)
            if not lacking.all():
                terms[v] = np.where(lacking, 0.0, conditional.log_prob(self._filled))
        return terms

    def log_prob(self) -> Array:
        """Return the log-probability of what is known of each row, (n_rows,)."""
        total = self.known_terms().sum(axis=0)
        for gap, rows in self.gaps:
            for at, known in self.parts(gap, rows):
                total[at] += self.log_prob_of(gap, at, known)
        return np.asarray(total)

    def log_prob_of(self, gap: Gap, at: Rows, known: Known) -> Array:
        """Return what a gap adds to the log-probability of rows, per unit of each column."""
        return gap.joint(known) + gap.log_slopes([column[at] for column in self._filled.codes])

    def parts(self, gap: Gap, rows: Rows, keep: Collection[int] = ()) -> Iterator[tuple[Rows, Known]]:
        """Yield what rows with a gap say, some rows at once."""
        cells = max([gap.cells, gap._plan(keep).cells]) * max((len(b.members) for b in gap.blocks), default=1)
        step = max(1, CELLS_AT_ONCE // max(1, cells))
        for begin in range(0, len(rows), step):
            at = rows[begin : begin + step]
            yield at, gap.known([column[at] for column in self.columns], len(at))

    def _gaps(self, missing: npt.NDArray[np.bool_], limit: int) -> Iterator[tuple[Gap, Rows]]:
        """Yield the gaps of rows, and the rows that have each; equal gaps of different rows are one."""
        patterns, which = np.unique(np.concatenate([missing, self._barren]), axis=1, return_inverse=True)
        order = np.argsort(which.ravel(), kind="stable")
        ends = np.searchsorted(which.ravel()[order], np.arange(patterns.shape[1] + 1))
        found: dict[tuple[frozenset[int], frozenset[int]], list[Rows]] = {}
        for number, (lacking, without) in enumerate(zip(*np.split(patterns.T, 2, axis=1), strict=True)):
            rows = order[ends[number] : ends[number + 1]]
            for members, families in self._joined(set(np.flatnonzero(lacking)), set(np.flatnonzero(without))):
                found.setdefault((members, families), []).append(rows)
        for (members, families), rows_of in found.items():
            yield Gap(self.net, members, families, limit), np.sort(np.concatenate(rows_of))

    def _joined(self, missing: set[Any], without: set[Any]) -> Iterator[tuple[frozenset[int], frozenset[int]]]:
        """Yield missing variables that share conditionals, and whose conditionals these are."""
        families = [
            (v, missing.intersection((v, *self._parents[v])))
            for v in range(len(self.net.variables))
            if v not in without and not missing.isdisjoint((v, *self._parents[v]))
        ]
        groups: list[tuple[set[Any], set[int]]] = []
        for v, own in families:
            joined = [group for group in groups if group[0] & own]
            groups = [group for group in groups if not group[0] & own]
            groups.append((own.union(*(of for of, _ in joined)), {v}.union(*(whose for _, whose in joined))))
        for members, whose in groups:
            yield frozenset(int(v) for v in members), frozenset(whose)

    @property
    def _parents(self) -> list[tuple[int, ...]]:
        return [conditional.parents for conditional in self.net.conditionals]


def on_scales(variables: Sequence[Column], columns: Columns) -> list[npt.NDArray[Any]]:
    """Return columns of codes and numbers as conditionals take them: numbers on their scales."""
    return [variable.scaled(column) for variable, column in zip(variables, columns, strict=True)]


def row_mixture(gap: Gap, known: Known, wanted: Sequence[int]) -> tuple[Array, Array, Array]:
    """Return the weights (n_rows, K), means (n_rows, K, d) and covariances of missing numbers in each row."""
    log_weights, mean, covariance = gap.mixture(known, wanted)
    n, d = known.n_rows, len(wanted)
    weights = shares(log_weights).reshape(n, -1)
    return weights, mean.reshape(*weights.shape, d), covariance.reshape(*weights.shape, d, d)
