"""A two-sample test that needs no choice: many kernels, one soft maximum, one set of splits.

A kernel sees some differences and is blind to others, and which kernel is best depends on the difference. So the test
takes many and fuses what they say (Schrab et al., 2023 [1]_; Biggs et al., 2023 [2]_):

- *Partitions.* A set of columns at some resolutions puts each row in a cell. The kernel is ``1 / (p + 1 / n)`` for two
  rows of the same cell and 0 for others, where p is the cell's share of all rows and n the rows of the smaller table.
  It is the Fisher kernel of all distributions over the cells, up to a constant, but that cells in which the smaller
  table has hardly a row weigh less. Numbers are cut into 2, 4, 8, 16 or 32 bins at quantiles of both tables together,
  and again half a bin further. The sets are single columns, families of the network that was learned from both tables
  together, and pairs of columns.
- *Sums.* The empty graph adds what the single columns say; the learned one adds what its conditionals say.
- *Smooth kernels.* Gaussian and Laplace kernels of the columns of numbers, between the numbers and between their ranks:
  numbers see groups that lie apart, ranks are not disturbed by a few that are large. Together they weigh `SMOOTH` of
  all, however many partitions there are.

Each kernel gives a squared distance of the mean features for every random split of all rows. Such a distance is nearly
a sum of weighted chi-squared variables, whose fourth root is nearly normal (Hawkins and Wixley, 1986). Roots are
standardized by their mean and standard deviation over all splits, the observed one among them. Then the heavy tails of
coarse partitions do not hide what fine ones say. What is fused is the logarithm of the weighted mean of
``exp(SHARPNESS * score)``.

*Conditionals.* Among hundreds of sets one conditional that changed is hardly heard. So what each conditional of the
learned network adds to its kernel is fused by itself, and the smaller of the two p-values counts, of which that of the
conditionals is multiplied by `CAUTION` first: what is lost on other changes is small, and what is won is large
(docs/studies/whole-tables.md, docs/studies/drift.md).

No step knows which split was the observed one, so the p-value is exact.

References
----------
.. [1] A. Schrab, I. Kim, M. Albert, B. Laurent, B. Guedj and A. Gretton, "MMD aggregated two-sample test", JMLR 24,
   2023.
.. [2] F. Biggs, A. Schrab and A. Gretton, "MMD-FUSE: learning and combining kernels for two-sample testing without data
   splitting", NeurIPS 2023.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.compare.corrections import ROUNDING, max_t, permutation_p_values
from fishernet.compare.shares import first_names
from fishernet.data import Table
from fishernet.data.arrays import row_blocks

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.uint16]
Set = tuple[int, ...]  # ascending positions of columns

RESOLUTIONS = (1, 2, 3, 4, 5)  # base-2 logarithms of numbers of bins
FINEST_TOGETHER = 4  # of a column beside others
FIRST = 2  # the resolution that is looked at whatever the time
CAUTION = 3  # what a p-value of conditionals is multiplied by beside that of all else
SHARPNESS = math.sqrt(8)  # as of MMD-FUSE, whose statistics have about this standard deviation
SMOOTH = 0.25  # the weight of all smooth kernels: chosen with these by the power in 25 settings
MOST_CELLS = 512  # of a partition
MOST_COMBINED = 4096  # partitions of one set of columns that are thought of
LEAST_WORK = 2.5e8  # rows times splits times partitions that there is always time for
LEAST_PARTITIONS = 90  # however many rows there are
PARTITIONS_OF_COLUMN = 3
CELL_COST = 20  # rows that take as much time as a cell
MOST_SCORES = 2**26  # of all splits and partitions: 0.5 GB
MOST_COUNTS = 2**20  # in cells under splits at once: they stay in the processor's cache
ROWS_AT_ONCE = 2**16
ALL_SETS = 3  # columns up to which every set of them is looked at
MOST_PAIRED = 64  # columns up to which all pairs are thought of
ASSOCIATED = 2048  # rows from which associations of pairs are known
MOST_SMOOTH = 2**22  # rows times splits up to which there are smooth kernels
FREQUENCIES = 128  # of a smooth kernel
OF_NUMBERS, OF_RANKS = ((0.02, 0.5), (0.02, 0.5)), ((0.02, 0.5), ())  # bandwidths of Gaussian and of Laplace kernels:
# quantiles of the distances between rows
PROBED = 256  # rows whose distances are looked at


@dataclass(frozen=True, slots=True, repr=False)
class Term:
    """What a set of columns, looked at together, says of the difference of two tables."""

    variables: tuple[str, ...]
    """The columns of the set."""
    statistic: float
    """The soft maximum of its standardized statistics at all resolutions."""
    p_value: float
    """Of this set alone, under the same splits."""
    p_corrected: float
    """Corrected for all sets: the chance that any is false is at most the level."""

    def __repr__(self) -> str:
        names = first_names(self.variables)
        p_values = f"p = {self.p_value:.4g}, corrected {self.p_corrected:.4g}"
        return f"Term({names}; soft maximum {self.statistic:.4g}, {p_values})"


@dataclass(frozen=True)
class Fused:
    """A fused test: the soft maximum of every split, the observed one first, and the sets, the strongest first."""

    total: Array
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class _View:
    """A column at a resolution: the code of each row, below `size`. States have no level."""

    column: int
    codes: Codes
    size: int
    level: int | None = None
    shifted: bool = False


class _Partition(NamedTuple):
    """Views of a set of columns, which put each row in one of some cells.

    The order is what comes first where there is no time for all: even resolutions, then middle ones, then few cells.
    """

    order: tuple[int, int, int]
    columns: Set
    views: tuple[int, ...]
    cells: int


def fused_test(
    tables: Sequence[Table],
    families: Iterable[Sequence[str]] = (),
    *,
    n_splits: int,
    key: int,
    of_graph: Array | None = None,
    of_conditionals: Array | None = None,
) -> Fused:
    """Fuse what partitions and smooth kernels say of two complete tables of the same variables.

    Parameters
    ----------
    tables : two tables without weights and missing cells
    families : sets of names
        Sets of columns to look at together, before pairs.
    n_splits : int
        With the observed one.
    key : int
        Of the splits, and of all else that is drawn.
    of_graph : (n_splits,) array, optional
        The squared distance of each split under a kernel of all columns, to be fused as well.
    of_conditionals : (n_splits, n_conditionals) array, optional
        What each conditional of a network adds to that distance.
    """
    names = sorted(tables[0].names)
    both = [table.select(names) for table in tables]
    sizes = both[0].n_rows, both[1].n_rows
    views = _views(both)
    partitions = _affordable(_partitions(views, _sets(names, families, views, key)), len(names), sum(sizes), n_splits)
    distances = _distances(views, partitions, sizes, n_splits, key)
    sums = [*_empty_graphs(views, partitions, distances), *([] if of_graph is None else [of_graph])]
    numbers = tuple(i for i, variable in enumerate(both[0].variables) if variable.is_continuous)
    smooth = _smooth_distances(both, numbers, n_splits, key) if sum(sizes) * n_splits <= MOST_SMOOTH else []
    columns = [p.columns for p in partitions] + [tuple(range(len(names)))] * len(sums) + [numbers] * len(smooth)
    scores, varies = _scores(np.column_stack([distances, *sums, *smooth]))
    weights = _weights(varies, len(smooth))
    fused = _soft_maximum(scores, weights)
    if of_conditionals is not None and of_conditionals.shape[1] > 1:
        fused = _beside(fused, _soft_maximum(_scores(of_conditionals)[0]))
    return Fused(fused, _terms(scores, weights, [columns[at] for at in np.flatnonzero(varies)], names))


# -------------------------------------------------------------------------------------------------------- partitions


def _views(tables: Sequence[Table]) -> list[_View]:
    """Return each column at each resolution, but for those that tell rows apart just as one before, or not at all."""
    found: list[_View] = []
    for column, variable in enumerate(tables[0].variables):
        values = np.concatenate([table.codes[column] for table in tables])
        if variable.is_continuous:
            found += _of_numbers(column, values)
        elif (values != values[0]).any():
            found.append(_of_states(column, values, variable.cardinality))
    return found


def _of_numbers(column: int, values: Array) -> Iterator[_View]:
    """Yield a column of numbers in bins, and in bins that begin half a bin further."""
    ranks, seen = _pooled_ranks(values), set()
    for shifted, level in itertools.product((False, True), RESOLUTIONS):
        codes = (ranks * 2**level + shifted / 2).astype(np.uint16)
        present = np.bincount(codes) > 0
        told = (np.cumsum(present) - 1).astype(np.uint16)[codes].tobytes()
        if present.sum() > 1 and told not in seen:
            seen.add(told)
            yield _View(column, codes, 2**level + shifted, level, shifted)


def _of_states(column: int, codes: npt.NDArray[np.unsignedinteger], cardinality: int) -> _View:
    """Return a column of states, of which the rarest are taken for one where they are too many."""
    if cardinality <= MOST_CELLS:
        return _View(column, codes.astype(np.uint16), cardinality)
    place = np.empty(cardinality, dtype=np.int64)
    place[np.argsort(-np.bincount(codes, minlength=cardinality), kind="stable")] = np.arange(cardinality)
    return _View(column, np.minimum(place, MOST_CELLS - 1)[codes].astype(np.uint16), MOST_CELLS)


def _pooled_ranks(values: Array) -> Array:
    """Return the middle rank of each number, between 0 and 1; equal numbers have the same."""
    _, where, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray(((np.cumsum(counts) - counts / 2) / len(values))[where])


def _standardized(values: Array) -> Array:
    """Return numbers with a mean of 0 and a standard deviation of 1, however large they are; 0 of equal ones.

    Infinite ones count like the least and the largest of the others.
    """
    finite = np.append(values[np.isfinite(values)], [] if np.isfinite(values).any() else 0.0)
    shares = np.clip(values, finite.min(), finite.max()) / max(np.abs(finite).max(), np.finfo(np.float64).tiny)
    off = shares - shares.mean()
    spread = off.std()
    return np.asarray(off / spread if spread > 0 else np.zeros(len(off)))


def _sets(names: Sequence[str], families: Iterable[Sequence[str]], views: Sequence[_View], key: int) -> list[Set]:
    """Return sets of columns: single ones, families, and pairs; all sets of few columns."""
    n, place = len(names), {name: i for i, name in enumerate(names)}
    if n <= ALL_SETS:
        return [s for size in range(1, n + 1) for s in itertools.combinations(range(n), size)]
    sets = [(i,) for i in range(n)] + sorted(tuple(sorted(place[name] for name in family)) for family in families)
    if n <= MOST_PAIRED:
        sets += _pairs(views, key)
    return list(dict.fromkeys(sets))


def _pairs(views: Sequence[_View], key: int) -> list[Set]:
    """Return the pairs of columns that vary, those first that depend most on each other in some rows.

    Rows are drawn whatever table they are from, so that these do not matter.
    """
    middle = {view.column: view for view in sorted(views, key=_distance_from_first, reverse=True)}
    rows = np.random.default_rng(key).permutation(len(views[0].codes))[:ASSOCIATED] if views else ()
    standard = {}
    for column, view in sorted(middle.items()):
        one_hot = np.eye(view.size, dtype=np.float32)[view.codes[rows]]
        share = one_hot.mean(axis=0)
        standard[column] = (one_hot - share) / np.sqrt(np.maximum(share, 1 / len(rows)))
    strength: dict[Set, float] = {
        pair: _squares(*(standard[i] for i in pair)) for pair in itertools.combinations(standard, 2)
    }
    return sorted(strength, key=lambda pair: -strength[pair])


def _distance_from_first(view: _View) -> tuple[int, bool]:
    return abs((FIRST if view.level is None else view.level) - FIRST), view.shifted


def _squares(x: npt.NDArray[np.float32], y: npt.NDArray[np.float32]) -> float:
    return float(((x.T @ y) ** 2).sum())


def _partitions(views: Sequence[_View], sets: Iterable[Set]) -> list[_Partition]:
    """Return the partitions of sets of columns that have few enough cells, in the order in which they matter."""
    of_column: dict[int, list[int]] = {}
    for v, view in enumerate(views):
        of_column.setdefault(view.column, []).append(v)
    sizes = [view.size for view in views]
    levels = [view.level for view in views]
    coarse = [level is None or level <= FINEST_TOGETHER for level in levels]
    found = []
    for columns in sets:
        of_each = [[v for v in of_column.get(c, ()) if coarse[v] or len(columns) == 1] for c in columns]
        for chosen in itertools.islice(itertools.product(*of_each), MOST_COMBINED):
            cells = math.prod([sizes[v] for v in chosen])
            if cells <= MOST_CELLS:
                low, *_, high = sorted([FIRST if (level := levels[v]) is None else level for v in chosen] * 2)
                order = high - low, max(high - FIRST, FIRST - low), cells
                found.append(_Partition(order, columns, chosen, cells))
    return sorted(found, key=lambda partition: partition.order)


def _affordable(partitions: Sequence[_Partition], n_columns: int, n_rows: int, n_splits: int) -> list[_Partition]:
    """Return the first partitions, as many as there is time for."""
    work = np.cumsum([n_rows + CELL_COST * partition.cells for partition in partitions])
    most = max(LEAST_WORK / n_splits, n_rows * max(LEAST_PARTITIONS, PARTITIONS_OF_COLUMN * n_columns))
    return list(partitions[: min(int(np.searchsorted(work, most)), MOST_SCORES // n_splits)])


def _distances(
    views: Sequence[_View], partitions: Sequence[_Partition], sizes: tuple[int, int], n_splits: int, key: int
) -> Array:
    """Return the squared distance of every split under the kernel of every partition, (n_splits, partitions)."""
    if not partitions:
        return np.zeros((n_splits, 0))
    cardinalities = np.array([view.size for view in views], dtype=np.int64)
    conditionals = _core.Conditionals(cardinalities)
    for partition in partitions:
        child, *parents = partition.views
        conditionals.add(child, np.array(parents, dtype=np.int32), partition.cells // views[child].size)
    blocks = []
    for at in row_blocks(sum(sizes), ROWS_AT_ONCE):
        codes = [np.ascontiguousarray(view.codes[at]) for view in views]
        blocks.append(conditionals.cells(_core.Columns(codes, cardinalities, len(codes[0]))))
    shares = np.sum([block.counts(None) for block in blocks], axis=0) / sum(sizes)
    weights, theta = 1 / (shares + 1 / min(sizes)), np.zeros_like(shares)  # theta 0: a cell counts, not its conditional
    at_once = max(MOST_COUNTS // (_core.SPLIT_LANES * len(weights)), 2) * _core.SPLIT_LANES
    found = []
    for first in range(0, n_splits, at_once):
        counts = _core.SplitCounts(blocks[0], sum(sizes), sizes[0], key, first, min(at_once, n_splits - first))
        for block in blocks:
            counts.add(block)
        found.append(counts.distances(theta, weights, False)[0])
    return np.concatenate(found)


def _empty_graphs(views: Sequence[_View], partitions: Sequence[_Partition], distances: Array) -> Iterator[Array]:
    """Yield what all single columns say together, for each way to cut the numbers."""
    single = [(at, views[p.views[0]]) for at, p in enumerate(partitions) if len(p.columns) == 1]
    if len({view.column for _, view in single}) < 2:
        return
    grids: set[tuple[int | None, bool]] = {(view.level, view.shifted) for _, view in single if view.level is not None}
    for grid in sorted(grids or {(None, False)}, key=str):
        added = [at for at, view in single if view.level is None or (view.level, view.shifted) == grid]
        yield distances[:, added].sum(axis=1)


# ---------------------------------------------------------------------------------------------------- smooth kernels


def _smooth_distances(tables: Sequence[Table], numbers: Set, n_splits: int, key: int) -> list[Array]:
    """Return the squared distance of every split under Gaussian and Laplace kernels of numbers and of their ranks."""
    if not numbers:
        return []
    columns = [np.concatenate([table.codes[i] for table in tables]) for i in numbers]
    seen = ((_pooled_ranks, OF_RANKS), (_standardized, OF_NUMBERS))
    points = [(np.column_stack([way(column) for column in columns]), quantiles) for way, quantiles in seen]
    random = np.random.default_rng(key)
    taken = _core.splits(len(columns[0]), tables[0].n_rows, key, 0, n_splits).T.astype(np.float32)
    found = []
    for features in itertools.chain.from_iterable(_fourier_features(*of, random) for of in points):
        features -= features.mean(axis=0)  # constants do not matter, and float32 holds what is small
        found.append(((taken @ features).astype(np.float64) ** 2).sum(axis=1))
    return found


def _fourier_features(
    points: Array, quantiles: tuple[Sequence[float], Sequence[float]], random: np.random.Generator
) -> Iterator[npt.NDArray[np.float32]]:
    """Yield random Fourier features of each kernel (Rahimi and Recht, 2007), (rows, 2 * FREQUENCIES).

    Bandwidths are quantiles of the distances between rows that are drawn whatever table they are from.
    """
    some = points[random.permutation(len(points))[:PROBED]]
    squares, sums = np.zeros((2, len(some), len(some)))
    for column in some.T:  # many columns of all pairs at once would not stay in the cache
        apart = np.abs(column[:, None] - column)
        squares += apart**2
        sums += apart
    pairs = np.less.outer(*[np.arange(len(some))] * 2)
    shape = points.shape[1], FREQUENCIES
    kernels = [
        (np.sqrt(squares[pairs]), random.standard_normal(shape)),
        (sums[pairs], random.standard_cauchy(shape)),
    ]
    for (lengths, frequencies), wanted in zip(kernels, quantiles, strict=True):
        for bandwidth in np.quantile(lengths, wanted) if lengths.any() else ():
            angles = (points @ (frequencies / max(bandwidth, 1 / len(points)))).astype(np.float32)
            yield np.hstack([np.cos(angles), np.sin(angles)])


# ------------------------------------------------------------------------------------------------------------ fusing


def _scores(distances: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Return standardized fourth roots of the columns that vary, and which do."""
    varies = distances.std(axis=0) > ROUNDING * distances.max(axis=0, initial=0.0)
    roots = np.sqrt(np.sqrt(np.maximum(distances[:, varies], 0.0)))
    return (roots - roots.mean(axis=0)) / roots.std(axis=0), varies


def _weights(varies: npt.NDArray[np.bool_], n_smooth: int) -> Array:
    """Return what each kernel that varies weighs: the smooth ones, which come last, `SMOOTH` together."""
    smooth = (np.arange(len(varies)) >= len(varies) - n_smooth)[varies]
    n = np.count_nonzero(smooth)
    if n in (0, len(smooth)):
        return np.ones(len(smooth))
    return np.where(smooth, SMOOTH / n, (1 - SMOOTH) / (len(smooth) - n))


def _soft_maximum(scores: Array, weights: Array | None = None) -> Array:
    """Return the soft maximum of each row, which is at most its largest score; 0 of no scores."""
    if not scores.shape[1]:
        return np.zeros(len(scores))
    largest = scores.max(axis=1)
    mean = np.average(np.exp(SHARPNESS * (scores - largest[:, None])), axis=1, weights=weights)
    return np.asarray(largest + np.log(mean) / SHARPNESS)


def _beside(first: Array, second: Array) -> Array:
    """Return the larger of two statistics of each split, the second put on the scale of the first.

    There it is the value that `CAUTION` times as large a share of the splits reaches: the smaller of two p-values,
    of which the second is multiplied.
    """
    ordered, shown = np.sort(first)[::-1], np.round(second, 9)
    reached = len(second) - np.searchsorted(np.sort(shown), shown, side="left")
    return np.asarray(np.maximum(first, ordered[np.minimum(CAUTION * reached, len(first)) - 1]))


def _terms(scores: Array, weights: Array, columns: Sequence[Set], names: Sequence[str]) -> tuple[Term, ...]:
    """Return what each set of columns says, the strongest first."""
    where: dict[Set, list[int]] = {}
    for at, owner in enumerate(columns):
        where.setdefault(owner, []).append(at)
    if not where:
        return ()
    fused = np.column_stack([_soft_maximum(scores[:, at], weights[at]) for at in where.values()])
    figures = zip(where, fused[0].tolist(), permutation_p_values(fused).tolist(), max_t(fused).tolist(), strict=True)
    terms = [Term(tuple(names[i] for i in owner), *of) for owner, *of in figures]
    return tuple(sorted(terms, key=lambda term: -term.statistic))
