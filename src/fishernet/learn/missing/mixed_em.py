"""Networks of labels and numbers from rows in which some of either are missing, by expectation and maximization.

Given what is known of a row, what it lacks of a family is a mixture of normals, with a component for each state of the
missing labels on which it depends. So a row counts as its components do, by their weights: each with the means of the
missing numbers, and with their covariance added to the scatter. The rows that know a family are counted once for all
steps.

A row that lacks many labels which numbers join has more such components than a step can go through, and next to nothing
to say of them. What it lacks is passed over: it counts for the families that it knows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import warn
from fishernet.base.names import listed, several
from fishernet.base.progress import Watch
from fishernet.base.random import generator
from fishernet.data import Source, Statistic, Table
from fishernet.data.variable import Column
from fishernet.graphs import Dag
from fishernet.infer.completion import require_possible
from fishernet.infer.mixed import Gap, GappedRows, Rows, Sums
from fishernet.learn.conditional_fits import fit_conditionals
from fishernet.learn.em import Effort, EmResult, fit
from fishernet.learn.missing.extrapolation import Extrapolation
from fishernet.learn.missing.incomplete import AvailableCases
from fishernet.models import BayesianNetwork

Floats = npt.NDArray[np.float64]
Family = tuple[int, ...]
Refit = Callable[[Source], BayesianNetwork]

WORK_OF_ROW = 2**12  # states of missing labels, for each conditional, that a row is worth: about a millisecond
WORK_OF_STEP = 2**20  # up to which rows with more are gone through, those with the fewest first: a quarter of a second
DRAWN = 1000  # rows that tell how far apart a network draws numbers
CLOSE = 0.1  # of the spread of rows, below which some of them lie close together
FAR = 20.0  # times the spread of those that are known


class FamilyStatistics(Source):
    """The statistics of the families of a network of rows that lack cells: those expected, or to begin with."""

    def __init__(self, rows: Table, found: dict[Family, Statistic]) -> None:
        self._rows, self._found = rows, found

    @property
    def variables(self) -> tuple[Column, ...]:
        """The network's variables."""
        return self._rows.variables

    @property
    def total(self) -> int | float:
        """The sum of the rows' weights."""
        return self._rows.total

    def statistics(self, sets: Sequence[tuple[int, ...]]) -> list[Statistic]:
        """Return the statistics of families of the network."""
        return [self._found[chosen] for chosen in sets]


class MixedSteps:
    """The two steps for networks with one graph and some rows of its variables; `refit` fits one to statistics."""

    def __init__(self, rows: Table, graph: BayesianNetwork, refit: Refit) -> None:
        self._rows, self._refit = rows, refit
        self._families = [tuple(sorted((*c.parents, c.child))) for c in graph.conditionals]
        self.size: int = rows.n_rows * len(rows.variables) - sum(rows.missing_counts().values())
        self._weights = np.ones(rows.n_rows) if rows.weights is None else rows.weights.astype(np.float64)
        self._first = GappedRows(graph, rows, keep=True, rounded=False, limit=math.inf)
        self._kept = _within_reach(self._first.gaps)

    def passed_over(self) -> int:
        """Return how many rows lack more than a step goes through."""
        kept = set(self._kept)
        rows = [which for at, (_, which) in enumerate(self._first.gaps) if at not in kept]
        return len(np.unique(np.concatenate(rows))) if rows else 0

    @cached_property
    def _of_known(self) -> list[Statistic]:
        """The statistics of the rows that know each family."""
        return AvailableCases(self._rows).statistics(self._families)

    def expected(self, model: BayesianNetwork) -> tuple[float, dict[Family, Statistic]]:
        """Return the log-likelihood of what is known, and the expected statistics."""
        rows = self._first.under(model)
        sums = [_no_sums(self._rows.variables, family) for family in self._families]
        log_prob = rows.known_terms()
        log_prob += rows.add_expected(self._kept, self._weights, sums)
        require_possible(log_prob)
        found = {
            family: of_known + self._statistic(family, *of_gaps)
            for family, of_known, of_gaps in zip(self._families, self._of_known, sums, strict=True)
        }
        return float(log_prob @ self._weights), found

    def _statistic(self, family: Family, n: Floats, first: Floats, second: Floats) -> Statistic:
        """Return the statistic of weights, sums and sums of products, (q,), (q, d) and (q, d, d)."""
        variables = self._rows.variables
        labels = tuple(v for v in family if not variables[v].is_continuous)
        numbers = tuple(v for v in family if variables[v].is_continuous)
        shape, d = tuple(variables[v].cardinality for v in labels), len(numbers)
        mean = np.divide(first, n[:, None], out=np.zeros_like(first), where=n[:, None] > 0)
        scatter = np.tril(second) - n[:, None, None] * np.tril(mean[:, :, None] * mean[:, None, :])
        scatter += np.swapaxes(np.tril(scatter, -1), -1, -2)
        centres = np.where(n[:, None] > 0, mean + self._first.origin[list(numbers)], 0.0)
        parts = (centres.reshape(*shape, d), scatter.reshape(*shape, d, d))
        return Statistic.adopt(labels, shape, n.reshape(shape), None, 0, numbers, *parts)

    def maximized(self, model: BayesianNetwork, counts: dict[Family, Statistic]) -> BayesianNetwork:  # noqa: ARG002
        """Return the network fitted to the expected statistics."""
        return self._refit(FamilyStatistics(self._rows, counts))

    def log_prior(self, model: BayesianNetwork) -> float:  # noqa: ARG002
        """Return 0: what is added to the counts is a matter of the fit."""
        return 0.0


def fit_mixed(
    dag: Dag,
    rows: Table,
    effort: Effort,
    watch: Watch | None = None,
    *,
    smoothing: float | str = 1.0,
    ess: float | None = None,
    start: BayesianNetwork | None = None,
    told: bool = True,
) -> EmResult[BayesianNetwork]:
    """Fit the parameters of a graph of labels and numbers to rows of its variables, in their order.

    It begins with a network of the graph, or with the rows that are complete in each family (`_first`), and ends with
    these where EM leads astray. That, and what is passed over, is told in warnings.
    """
    families = [(*parents, child) for child, parents in enumerate(dag.parents)]

    def refit(source: Source) -> BayesianNetwork:
        fitted = fit_conditionals(source, families, smoothing=smoothing, ess=ess)
        return BayesianNetwork(rows.variables, fitted, n_rows=rows.total)

    first = refit(_first(rows, [tuple(sorted(family)) for family in families]))
    steps = MixedSteps(rows, first, refit)
    if told and (n := steps.passed_over()):
        warn(
            f"{several(n, 'row')} of {rows.n_rows:,} {'lacks' if n == 1 else 'lack'} more labels that depend on one "
            "another than EM goes through: a conditional is fitted without those of them in which it lacks cells"
        )
    found = fit(
        "a network",
        steps,
        effort,
        start=first if start is None else start,
        drawn=lambda _: first,
        seed=None,
        leap=Extrapolation.of(rows),
        watch=watch,
    )
    far = strayed(found.model, rows)
    far = far and sorted(set(far) - set(strayed(first, rows)))  # else it is where the complete rows lead
    if told and far:
        warn(
            f"EM leads {listed(far)} far from what is known of {'it' if len(far) == 1 else 'them'}, as where missing "
            "cells let a conditional fit without an error: each is fitted to the rows complete in it"
        )
    return replace(found, model=first) if far else found


def _first(rows: Table, families: Sequence[Family]) -> FamilyStatistics:
    """Return the statistics that EM begins with: of the rows that are complete in a family.

    A family that has hardly a complete row begins as though its columns were independent: what rows lack is drawn from
    what the others know of the column. So does one whose complete rows lie close together in a number, next to those
    that lack its labels alone: what holds there tells next to nothing of these.
    """
    cases = AvailableCases(rows)
    found = dict(zip(families, cases.statistics(families), strict=True))
    of_numbers = sorted({one.continuous for one in found.values() if one.continuous})
    every = dict(zip(of_numbers, cases.statistics(of_numbers), strict=True))
    few = [
        family
        for family, one in found.items()
        if one.continuous in every
        and (one.total <= len(family) or _lies_close(one.marginal(one.continuous), every[one.continuous]))
    ]
    if few:
        random = generator(0)
        columns = []
        for variable, column in zip(rows.variables, rows.codes, strict=True):
            known = column[~variable.missing(column)]
            drawn = known[random.integers(len(known), size=len(column))] if len(known) else column
            columns.append(np.where(variable.missing(column), drawn, column).astype(variable.dtype))
        filled = AvailableCases(Table.adopt(rows.variables, columns, weights=rows.weights))
        found |= dict(zip(few, filled.statistics(few), strict=True))
    return FamilyStatistics(rows, found)


def _lies_close(numbers: Statistic, every: Statistic) -> bool:
    """Return whether rows spread far less in a number than all rows that know the same numbers."""
    near, wide = (np.diagonal(of.scatter).ravel() for of in (numbers, every))
    return bool((near * every.total < CLOSE**2 * wide * numbers.total).any())


def completions(net: BayesianNetwork, rows: Table, copies: int) -> Table:
    """Return rows several times over, each a fraction, with what they lack drawn given what they know.

    Those that lack more than a step of EM goes through are left out. The same call draws the same.
    """
    lacking = GappedRows(net, rows, keep=True, rounded=False, limit=math.inf)
    kept, random = set(_within_reach(lacking.gaps)), generator(0)
    passed_over = np.zeros(rows.n_rows, dtype=bool)
    drawn_of: dict[int, list[tuple[Rows, npt.NDArray[Any]]]] = {}
    for number, (gap, which) in enumerate(lacking.gaps):
        if number not in kept:
            passed_over[which] = True
            continue
        at = (which[:, None] + rows.n_rows * np.arange(copies)).ravel()
        noise = random.standard_normal((len(gap.missing) + 1, len(at)))
        for v, values in gap.completed(lacking.cells, which, noise).items():
            drawn_of.setdefault(v, []).append((at, values))
    columns = [np.tile(column, copies) for column in rows.codes]
    for v, parts in drawn_of.items():
        at, values = map(np.concatenate, zip(*parts, strict=True))
        columns[v][at] = rows.variables[v].unscaled(np.clip(values, *reach(rows, v)))
    weights = np.tile(np.ones(rows.n_rows) if rows.weights is None else rows.weights, copies) / copies
    drawn = Table.adopt(rows.variables, columns, weights=weights, n_rows=copies * rows.n_rows)
    return drawn[np.flatnonzero(~np.tile(passed_over, copies))] if passed_over.any() else drawn


def reach(rows: Table, v: int) -> tuple[float, float]:
    """Return how far what is drawn of a number may lie, on its scale: `FAR` spreads beyond those that rows know.

    Labels, and numbers that are all the same, tell of no reach.
    """
    variable, column = rows.variables[v], rows.codes[v]
    known = column[~variable.missing(column)] if variable.is_continuous else column[:0]
    scaled = variable.scaled(known)
    spread = FAR * scaled.std() if len(known) else 0.0
    return (scaled.min() - spread, scaled.max() + spread) if spread else (-math.inf, math.inf)


def _within_reach(gaps: Sequence[tuple[Gap, Rows]]) -> list[int]:
    """Return which gaps steps go through, in their order."""
    of_rows = np.array([gap.work_a_row() for gap, _ in gaps])
    total = of_rows * [len(which) for _, which in gaps]
    order = np.argsort(of_rows, kind="stable")
    held = (of_rows[order] <= WORK_OF_ROW) | (np.cumsum(total[order]) <= WORK_OF_STEP)
    return sorted(order[held].tolist())


def strayed(model: BayesianNetwork, rows: Table) -> list[str]:
    """Return the numbers that a network draws far apart from what rows know of them.

    Missing cells can lend a family all that it lacks to fit next to without an error; its likelihood is then as large
    as one likes, and what is expected of these cells is nowhere near the others.
    """
    found = []
    with np.errstate(over="ignore", invalid="ignore"):
        drawn = model.sample(DRAWN, seed=0)
    for v, variable in enumerate(rows.variables):
        known = rows.codes[v][~variable.missing(rows.codes[v])]
        if variable.is_continuous and len(known):
            with np.errstate(over="ignore", invalid="ignore"):
                spread = variable.scaled(drawn.codes[v]).std()
            if not spread <= FAR * variable.scaled(known).std():
                found.append(variable.name)
    return found


def _no_sums(variables: Sequence[Column], family: Family) -> Sums:
    """Return sums of nothing in each cell of a family."""
    q = math.prod(variables[v].cardinality for v in family)
    d = sum(variables[v].is_continuous for v in family)
    return np.zeros(q), np.zeros((q, d)), np.zeros((q, d, d))
