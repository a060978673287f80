"""What pairs of columns tell about one another: (conditional) mutual information under the empirical distribution.

It is in nats, times the number of rows: ``N I(X; Y | Z) = L(X | Y, Z) - L(X | Z)`` with L the maximized log-likelihood
of a family. So every source of counts will do, and for a table all pairs of one variable are counted in one pass. A
number has a regression in each configuration of the labels (`fishernet.scores.mixed`), so of a pair with a number that
is X.

A tie is a difference below max(1e-9, 1e-12 |score|), the score being the log-likelihood of the graph to which the arcs
are added. Ties go to the first pair in the order of the variables.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fishernet.data import Source, Statistic
from fishernet.learn.search import families_of_one_size, joined_families, tie
from fishernet.scores import LogLikelihood, local_scores
from fishernet.scores.base import cell_counts, sum_n_log_n
from fishernet.scores.local import SETS_AT_ONCE
from fishernet.scores.mixed import MixedTerms

MOST_CELLS_AT_ONCE = 2**22
TINY = float(np.finfo(np.float64).tiny)  # in place of no rows, among which there is nothing to be told

Array = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Pairs:
    """The mutual information of pairs of features, given a variable or nothing."""

    n: int
    """The number of features."""
    values: Array
    """(n (n - 1) / 2,): in nats, times the number of rows, for the pairs (0, 1), (0, 2), ..., (1, 2), ..."""
    with_given: Array
    """(n,): the mutual information of each feature with the given variable."""
    tie: float
    """Values that differ by no more are equal."""

    def ranks(self, fits: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.int32]:
        """Return the place of each pair when they are sorted, largest first; (n, n), symmetric.

        Pairs that do not fit, [first, second], come after all others.
        """
        values = self.values
        if fits is not None:
            last = values.min(initial=0.0) - 2 * self.tie
            values = np.where(fits[np.triu_indices(self.n, 1)], values, last)
        places = np.empty(len(values), dtype=np.int32)
        places[descending(values, self.tie)] = np.arange(len(places), dtype=np.int32)
        square = np.zeros((self.n, self.n), dtype=np.int32)
        square[np.triu_indices(self.n, 1)] = places
        return square + square.T


def descending(values: Array, tie: float) -> Positions:
    """Return positions by descending value; of values that differ from the next by no more than a tie, the first."""
    order = np.argsort(-values, kind="stable")
    level = np.zeros(len(values), dtype=np.int64)
    np.cumsum(-np.diff(values[order]) > tie, out=level[1:])
    return order[np.lexsort((order, level))]


def mutual_information(source: Source, features: Positions, given: int | None) -> Pairs:
    """Return what each pair of features tells about one another, given a variable with labels or nothing."""
    n = len(features)
    number = np.array([source.variables[v].is_continuous for v in features], dtype=bool)
    if source.by_set or (number.any() and source.has_missing):
        return _information_of_available_cases(source, features, given)
    first, second = np.triu_indices(n, 1)
    of = np.where(number[second], second, first)  # a number where there is one
    parents, none = features[first + second - of][:, None], np.empty((n, 0), dtype=np.int64)
    asked = [(features[of], parents), (features, none)]
    if given is not None:
        each, labels = np.full(n, given), features[~number][:, None]
        both = np.sort(np.column_stack([parents, np.full(len(parents), given)]), axis=1)
        # first of all, as all features are then counted with it in one pass
        asked = [(each[: len(labels)], labels), (each[:1], none[:1]), (features[number], none[: int(number.sum())])]
        asked += [(features[of], both), (features, each[:, None])]
    families = joined_families([families_of_one_size(children, parents) for children, parents in asked])
    scores = local_scores(source, families, LogLikelihood())
    *by_given, between, own = np.split(scores, np.cumsum([len(children) for children, _ in asked])[:-1])
    with_given = np.zeros(n)
    if by_given:
        with_given[~number], with_given[number] = by_given[0] - by_given[1], own[number] - by_given[2]
    return Pairs(n, between - own[of], with_given, tie(float(np.abs(own).sum())))


def _information_of_available_cases(source: Source, features: Positions, given: int | None) -> Pairs:
    """Return the same where each set of variables has rows of its own: every term of a pair is of the pair's rows.

    What a row tells there is multiplied with the number of all rows, as in the node-average likelihood.
    """
    n, total, known = len(features), float(source.total), () if given is None else (given,)
    each = [int(v) for v in features]
    labels = [v for v in each if not source.variables[v].is_continuous]
    entropies = -_per_row(source, [(v,) for v in labels], known, lambda sums: sums[1,] - sums[0,])
    with_given = np.zeros(n)
    if given is not None:
        with_given = _shared_per_row(source, [(v, given) for v in each], ())
    pairs = [(each[i], each[j]) for i, j in zip(*np.triu_indices(n, 1), strict=True)]
    values = _shared_per_row(source, pairs, known)
    return Pairs(n, values * total, with_given * total, tie(float(entropies.sum()) * total))


def _shared_per_row(source: Source, pairs: Sequence[tuple[int, int]], known: tuple[int, ...]) -> Array:
    """Return the mutual information of pairs given what is known, by the weight of the rows of each."""
    numbers = [at for at, pair in enumerate(pairs) if any(source.variables[v].is_continuous for v in pair)]
    if not numbers:
        return _per_row(source, pairs, known, _shared)
    found = np.zeros(len(pairs))
    others = np.setdiff1d(np.arange(len(pairs)), numbers)
    found[others] = _per_row(source, [pairs[at] for at in others], known, _shared)
    terms = MixedTerms(source, 0.0, averaged=False)
    for part in _parts(source, [pairs[at] for at in numbers], known):
        places = [numbers[at] for at in part]
        statistics = source.statistics([tuple(sorted(pairs[at] + known)) for at in places])
        for at, statistic in zip(places, statistics, strict=True):
            number, other = sorted(pairs[at], key=lambda v: not source.variables[v].is_continuous)
            told = terms.told(number, tuple(sorted((other, *known))), statistic, beyond=known)
            found[at] = max(0.0, told) / max(statistic.total, TINY)
    return found


Sums = dict[tuple[int, ...], Array]


def _shared(sums: Sums) -> Array:
    """Return the mutual information of two variables given the others, from sums of n log n; not below 0."""
    return np.maximum(0.0, sums[1, 1] - sums[1, 0] - sums[0, 1] + sums[0, 0])


def _per_row(
    source: Source, sets: Sequence[tuple[int, ...]], known: tuple[int, ...], combine: Callable[[Sums], Array]
) -> Array:
    """Return a combination of sums of n log n for each set (with what is known), by the weight of its rows.

    Those of equal shape are computed at once. The sums are named by which variables of a set they keep, 1 or 0 for
    each; those known are always kept.
    """
    found = np.zeros(len(sets))
    for part in _parts(source, sets, known):
        shapes: dict[tuple[int, ...], list[tuple[int, Array]]] = {}
        statistics = source.statistics([tuple(sorted(sets[at] + known)) for at in part])
        for at, statistic in zip(part, statistics, strict=True):
            if not statistic.is_dense:
                found[at] = combine(_sums_of_cells(statistic, sets[at], known))[0] / max(statistic.total, TINY)
                continue
            order = [statistic.variables.index(v) for v in (*sets[at], *known)]
            counts = statistic.table().transpose(order).astype(np.float64)
            shapes.setdefault(counts.shape, []).append((at, counts))
        for of in shapes.values():
            together = np.stack([counts for _, counts in of])
            total = together.sum(axis=tuple(range(1, together.ndim)))
            value = combine(_sums_of(together, len(sets[0])))
            found[[at for at, _ in of]] = np.divide(value, total, out=np.zeros(len(of)), where=total > 0)
    return found


def _parts(source: Source, sets: Sequence[tuple[int, ...]], known: tuple[int, ...]) -> Iterator[list[int]]:
    """Yield the places of as many sets as are counted at once; together they have some millions of cells."""
    part: list[int] = []
    room = MOST_CELLS_AT_ONCE
    for at, one in enumerate(sets):
        cells = math.prod(source.variables[v].cardinality for v in one + known)
        if part and (cells > room or len(part) == SETS_AT_ONCE):
            yield part
            part, room = [], MOST_CELLS_AT_ONCE
        part.append(at)
        room -= cells
    if part:
        yield part


def _sums_of_cells(statistic: Statistic, one: tuple[int, ...], known: tuple[int, ...]) -> Sums:
    """Return the sums of n log n of a set of so many states that only the cells that occur are held, (1,) each."""
    sums = {}
    for kept in itertools.product((0, 1), repeat=len(one)):
        variables = [v for v, keep in zip(one, kept, strict=True) if keep]
        sums[kept] = np.array([sum_n_log_n(cell_counts(statistic.marginal([*variables, *known])))])
    return sums


def _sums_of(counts: Array, n: int) -> Sums:
    """Return the sums of n log n over the cells of each choice among the n first variables, (n_sets,) each."""
    sums = {}
    for kept in itertools.product((0, 1), repeat=n):
        cells = counts.sum(axis=tuple(axis for axis, keep in enumerate(kept, start=1) if not keep))
        logs = np.log(cells, out=np.zeros_like(cells), where=cells > 0)
        sums[kept] = (cells * logs).reshape(len(counts), -1).sum(axis=1)
    return sums
