"""Merging rows of a conditional table: configurations of the parents that share their probabilities.

A child with q configurations of its parents has q rows of probabilities, and often fewer different ones: a test may
be positive as often on every ward, unless the patient smokes. Configurations in one group share a row: fewer
parameters, each learned from more rows (Chickering, Heckerman and Meek, 1997). Any partition may be found; a decision
tree (`shared_rows.trees`) finds those that a few questions describe.

The search is agglomerative. From each configuration alone, the two groups whose merging raises the score
(`fishernet.scores.groups`) most become one, until no merging raises it. A tie is a difference below
max(1e-9, 1e-12 |score|) nats; it goes to the pair with the first group, then with the first other, in the order of the
configurations. Groups with equal shares of the states lose nothing by merging, and are taken together at once where
that is what the score wants first. Of more than `MOST_COMPARED` others, only neighbours in the order of the shares are
compared until so many are left.

Configurations that never occur leave no trace in any score but BDeu. They join a group without being asked: the one
that has most rows among the configurations that differ from theirs in the state of one parent, otherwise the largest.
BDeu imagines rows for them; all of them together are one more row to be merged, and may stay a group of their own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fishernet.data import Statistic, Variable
from fishernet.data.statistics import occurring
from fishernet.learn.search import tie
from fishernet.models import FullTable, MergedTable
from fishernet.models.conditionals.base import check_cells
from fishernet.models.conditionals.full_table import cell_weights, normalized
from fishernet.scores import Score
from fishernet.scores.groups import GroupScore, group_score

Array = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]

MOST_COMPARED = 1024  # rows that are all compared with one another
EQUAL = 12  # decimals in which shares are equal


@dataclass(frozen=True)
class MergedFit:
    """Merges the rows of a Bayesian network's tables, each from the counts of its family."""

    score: Score
    """What is maximized."""
    total: float
    """The weight of all rows."""

    def fit(
        self,
        statistic: Statistic,
        family: Sequence[int],
        variables: Sequence[Variable],
        *,
        smoothing: float | str = 1.0,
        ess: float | None = None,
        positions: Sequence[int] | None = None,
    ) -> FullTable | MergedTable:
        """Return the table of a family, as `FullTable.fit` does; a full one where no rows were merged."""
        by_position = dict(zip(family, variables, strict=True))
        statistic.require_complete(by_position, f"the conditional of {variables[-1].name!r}")
        sizes = [v.cardinality for v in variables[:-1]]
        n_configurations = check_cells(variables[:-1], f"the configurations of {variables[-1].name!r}")
        places, counts = rows_that_occur(statistic, [statistic.variables.index(v) for v in family], variables)
        groups = merged_configurations(
            places, counts, sizes, group_score(self.score, self.total, variables[-1].cardinality)
        )
        n_groups = int(groups.max()) + 1
        *parents, child = family if positions is None else positions
        of_groups = np.zeros((n_groups, variables[-1].cardinality))
        np.add.at(of_groups, groups[places], counts)
        if n_groups == n_configurations:
            return FullTable(child, parents, variables, normalized(cell_weights(of_groups, smoothing, ess), variables))
        shares = np.bincount(groups) / n_configurations
        rows = normalized(cell_weights(of_groups, smoothing, ess, shares), variables[-1:])
        return MergedTable(child, parents, variables, groups.reshape(sizes), rows)


def rows_that_occur(
    statistic: Statistic, axes: Sequence[int], variables: Sequence[Variable]
) -> tuple[Positions, Array]:
    """Return the configurations of the parents that occur, ascending, and their counts, (n,) and (n, r)."""
    states, counts = occurring(statistic)
    of = [states[:, axis].astype(np.int64) for axis in axes]
    sizes = [v.cardinality for v in variables[:-1]]
    flat = np.ravel_multi_index(tuple(of[:-1]), sizes).astype(np.int64) if sizes else np.zeros(len(counts), np.int64)
    places, row = np.unique(flat, return_inverse=True)
    table = np.zeros((len(places), variables[-1].cardinality))
    table[row, of[-1]] = counts
    return places, table


def merged_configurations(places: Positions, counts: Array, sizes: Sequence[int], score: GroupScore) -> Positions:
    """Return the group of every configuration, numbered in the order of their first ones, (q,).

    `places` are the configurations that occur, with their counts (n, r); `sizes` the parents' numbers of states.
    """
    n_configurations = math.prod(sizes)
    unseen = n_configurations - len(places)
    shares = np.full(len(places), 1 / n_configurations)
    if score.by_share and unseen:
        counts = np.concatenate([counts, np.zeros((1, counts.shape[1]))])
        shares = np.append(shares, unseen / n_configurations)
    labels = agglomerated(counts, shares, score)
    groups = np.full(n_configurations, -1, dtype=np.int64)
    groups[places] = labels[: len(places)]
    if score.by_share and unseen:
        groups[groups < 0] = labels[-1]
    elif unseen:
        _join_neighbours(groups, places, counts.sum(axis=1), sizes)
    return _in_order(groups)


def agglomerated(counts: Array, shares: Array, score: GroupScore) -> Positions:
    """Return the group of every row of counts, (n,), by merging two at a time while that raises the score."""
    labels = np.arange(len(counts))
    if score.takes_equal_rows_first and len(counts):
        of_states = np.round(counts / counts.sum(axis=1, keepdims=True), EQUAL)
        _, labels = np.unique(of_states, axis=0, return_inverse=True)
        labels = _in_order(labels.reshape(-1))
    if labels.max(initial=-1) + 1 > MOST_COMPARED:
        labels = _merge_neighbours(labels, counts, shares, score)
    groups = _Groups(*_pooled(labels, counts, shares), score)
    return _in_order(groups.merge()[labels])


class _Groups:
    """Groups that merge.

    Of each it is known what merging it with a later group gains at most, and with which: exactly, unless that one is
    gone or has grown worse, which is looked at when the group's turn comes.
    """

    def __init__(self, counts: Array, shares: Array, score: GroupScore) -> None:
        self._counts, self._shares, self._score = counts, shares, score
        self._terms = score.terms(counts, shares)
        self._tie = tie(float(np.abs(self._terms).sum()))
        self._into = np.arange(len(counts))
        """Of each group, the one that it was merged into, itself first."""
        self._alive = np.arange(len(counts))
        self._gain = np.full(len(counts), -np.inf)
        self._mate = np.full(len(counts), -1)
        self._known = np.ones(len(counts), dtype=bool)
        for group in range(len(counts)):
            self._find_mate(group, self._gains(group, self._alive[group + 1 :]))

    def merge(self) -> Positions:
        """Merge while that raises the score; return the group that each one ended in."""
        while len(self._alive) > 1:
            n = len(self._alive)
            gains = self._gain[self._alive]
            top = float(gains.max())
            if not top + self._score.whole(n - 1) - self._score.whole(n) > self._tie:
                break
            first = int(self._alive[np.argmax(gains >= top - self._tie)])
            if self._known[first]:
                self._unite(first, int(self._mate[first]))
            else:
                later = self._alive[np.searchsorted(self._alive, first, side="right") :]
                self._find_mate(first, self._gains(first, later))
        into = self._into
        for group in range(len(into)):  # each was merged into an earlier one, which has found its end
            into[group] = into[into[group]]
        return into

    def _unite(self, first: int, other: int) -> None:
        self._counts[first] += self._counts[other]
        self._shares[first] += self._shares[other]
        self._terms[first] = self._score.terms(self._counts[first, None], self._shares[first, None])[0]
        self._into[other] = first
        alive = self._alive = self._alive[self._alive != other]
        self._known[alive[np.isin(self._mate[alive], (first, other))]] = False
        gains = self._gains(first, alive)
        place = int(np.searchsorted(alive, first))
        before, ahead = alive[:place], gains[:place] - self._gain[alive[:place]]
        better = before[ahead > self._tie]
        self._gain[better], self._mate[better] = gains[:place][ahead > self._tie], first
        self._known[better] = True
        self._known[before[np.abs(ahead) <= self._tie]] = False  # which of equal ones comes first is to be found out
        self._find_mate(first, gains[place + 1 :])

    def _find_mate(self, group: int, gains: Array) -> None:
        """Keep the best of the later groups, of what merging with each of them gains."""
        self._known[group] = True
        if not len(gains):
            self._gain[group], self._mate[group] = -np.inf, -1
            return
        best = int(np.argmax(gains >= gains.max() - self._tie))
        later = self._alive[np.searchsorted(self._alive, group, side="right") :]
        self._gain[group], self._mate[group] = gains.max(), later[best]

    def _gains(self, group: int, others: Positions) -> Array:
        """Return what merging a group with each of some others adds to the terms."""
        merged = self._counts[others] + self._counts[group]
        terms = self._score.terms(merged, self._shares[others] + self._shares[group])
        return np.asarray(terms - self._terms[others] - self._terms[group])


def _merge_neighbours(labels: Positions, counts: Array, shares: Array, score: GroupScore) -> Positions:
    """Merge neighbours in the order of the states' shares until few enough groups are left, or no merging gains."""
    while True:
        rows, of = _pooled(labels, counts, shares)
        n = len(rows)
        if n <= MOST_COMPARED:
            return labels
        order = _by_shares(rows)
        rows, of = rows[order], of[order]
        terms = score.terms(rows, of)
        gains = score.terms(rows[1:] + rows[:-1], of[1:] + of[:-1]) - terms[1:] - terms[:-1]
        beside = np.concatenate([[-np.inf], gains, [-np.inf]])
        best = (gains >= beside[:-2]) & (gains > beside[2:])  # so that no row is in two pairs
        best &= gains + score.whole(n - 1) - score.whole(n) > tie(float(np.abs(terms).sum()))
        pairs = np.flatnonzero(best)
        if not len(pairs):
            return labels
        pairs = pairs[np.argsort(-gains[pairs], kind="stable")][: n - MOST_COMPARED]
        into = np.arange(n)
        into[order[pairs + 1]] = order[pairs]
        labels = _in_order(into[labels])


def _by_shares(rows: Array) -> Positions:
    """Return an order in which rows with similar shares of the states are near: along the axis that spreads most."""
    roots = np.sqrt(rows / np.maximum(rows.sum(axis=1, keepdims=True), 1e-300))
    centred = roots - roots.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    return np.argsort(centred @ axes[:, -1], kind="stable")


def _pooled(labels: Positions, counts: Array, shares: Array) -> tuple[Array, Array]:
    """Return the counts and the shares of groups."""
    n = int(labels.max(initial=-1)) + 1
    pooled = np.zeros((n, counts.shape[1]))
    np.add.at(pooled, labels, counts)
    return pooled, np.bincount(labels, weights=shares, minlength=n).astype(np.float64)


def _in_order(labels: Positions) -> Positions:
    """Return labels numbered from 0 in the order of their first occurrences."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse.reshape(-1)]


def _join_neighbours(groups: Positions, places: Positions, weights: Array, sizes: Sequence[int]) -> None:
    """Give each configuration without a group, -1, the one that weighs most beside it, or of all."""
    if not len(places):
        groups[:] = 0
        return
    n_groups = int(groups.max()) + 1
    of_all = np.bincount(groups[places], weights=weights, minlength=n_groups)
    keys, votes = np.zeros(0, np.int64), np.zeros(0)
    stride = 1
    for size in reversed(sizes):
        beside = places[:, None] + (np.arange(size) - places[:, None] // stride % size) * stride
        key = beside * n_groups + groups[places][:, None]
        free = groups[beside] < 0
        added = np.broadcast_to(weights[:, None], free.shape)[free]
        keys, votes = _summed(np.append(keys, key[free]), np.append(votes, added))
        stride *= size
    configuration, group = np.divmod(keys, n_groups)
    order = np.lexsort((group, -votes, configuration))
    unique, first = np.unique(configuration[order], return_index=True)
    groups[unique] = group[order][first]
    groups[groups < 0] = int(of_all.argmax())


def _summed(keys: Positions, values: Array) -> tuple[Positions, Array]:
    """Return the different keys, ascending, and the sums of their values."""
    unique, inverse = np.unique(keys, return_inverse=True)
    return unique, np.bincount(inverse.reshape(-1), weights=values, minlength=len(unique)).astype(np.float64)
