"""How many rows are enough: how near chosen rows come to a table, by their number, beside rows drawn at random.

The squared distance of the mean of k rows, drawn at random without replacement from N, to the mean of all is on average
``(1 / k - 1 / N) N / (N - 1) V``, where the spread V is the mean squared distance of one row to the mean of all. Rows
whose weights are whole are drawn as if each came that often, so that N is the sum of the weights; by other weights rows
are drawn with replacement, and the mean is ``V / k``. Solved for k, it says how many rows at random come as near as the
chosen ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base import check
from fishernet.base.display import Framed
from fishernet.base.errors import FishernetError
from fishernet.base.names import several
from fishernet.base.progress import Progress, Reporter
from fishernet.base.random import Seed, fixed_seed, generator
from fishernet.base.vocabulary import PrototypeName, word
from fishernet.data.arrays import Weights
from fishernet.data.frames.rows import held, weights_of
from fishernet.data.matching import Data
from fishernet.kernels import Kernel, RowSums
from fishernet.select.candidates import row_sums_of
from fishernet.select.greedy import greedy_mmd
from fishernet.select.prototypes import mmd_critic, protodash
from fishernet.select.selection import Selection
from fishernet.select.thinning import kernel_thinning
from fishernet.select.weighing import spread

Array = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]

FORWARD: dict[str, Callable[..., Selection]] = {"mmd-critic": mmd_critic, "protodash": protodash}
OTHERS: dict[str, Callable[..., Selection]] = {"mmd": greedy_mmd, "kernel-thinning": kernel_thinning}
MOST, NUMBERS = 100, 20  # the largest k by default, and how many there are up to it
MOST_WHOLE = 2**53  # the largest sum of weights whose parts are exact
MOST_SUBSETS = 10**6
BAND = (0.05, 0.95)  # the quantiles of random subsets


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class DistanceByK(Framed):
    """How near a number of chosen rows comes to a table, and how near as many random ones."""

    method: str
    """What the rows were chosen by."""
    k: npt.NDArray[np.int64]
    """(n,): the numbers of rows, ascending."""
    distance: npt.NDArray[np.float64]
    """(n,): the squared MMD of so many chosen rows to the table."""
    at_random: npt.NDArray[np.float64]
    """(n,): that of so many rows drawn at random, in the mean."""
    low: npt.NDArray[np.float64]
    """(n,): that of the sampled subsets, the quantile of 5 %."""
    high: npt.NDArray[np.float64]
    """(n,): the quantile of 95 %."""
    spread: float
    """The mean squared distance of one row to the mean of all: what one random row reaches."""
    drawn_from: float
    """How many rows random ones are drawn from: those of the table, or the sum of their weights where these are whole.
    Infinity: the weights are not, and rows are drawn with replacement."""
    n_random: int
    """How many random subsets were sampled."""
    seed: int
    """The seed that gives the same again."""

    def __post_init__(self) -> None:
        for array in (self.k, self.distance, self.at_random, self.low, self.high):
            array.flags.writeable = False

    @property
    def relative(self) -> npt.NDArray[np.float64]:
        """The distance as a share of the spread, (n,); 0 where all rows are alike."""
        return self.distance / self.spread if self.spread > 0 else np.zeros(len(self.k))

    @property
    def as_random(self) -> npt.NDArray[np.float64]:
        """How many rows drawn at random come as near as the k chosen ones in the mean, (n,).

        At most as many as they are drawn from; 1 where all rows are alike.
        """
        share = 1 / self.drawn_from
        if not self.spread > 0 or share == 1:
            return np.ones(len(self.k))
        with np.errstate(divide="ignore"):
            return np.asarray(1 / (self.relative * (1 - share) + share))

    @property
    def verdict(self) -> str:
        """What the largest number of rows is worth, as a sentence."""
        like = self.as_random[-1]
        others = "all of them do" if like >= self.drawn_from else f"{round(like):,} drawn at random do"
        return f"{several(int(self.k[-1]), 'row')} chosen stand for the table as {others}"

    def __repr__(self) -> str:
        reached = f"distance {self.distance[-1]:.6g}, at random {self.at_random[-1]:.6g}"
        return f"DistanceByK({self.method}: {self.verdict}; {reached}; {several(len(self.k), 'number')} of rows)"

    def to_frame(self) -> pa.Table:
        """Return a pyarrow Table with a row per k: distances, relative to the spread, and how many random rows do."""
        columns = ("k", "distance", "relative", "at_random", "low", "high", "as_random")
        return pa.table({name: getattr(self, name) for name in columns})


def distance_by_k(
    kernel: Kernel,
    table: Data,
    ks: Sequence[int] | npt.NDArray[np.int64] | None = None,
    *,
    method: PrototypeName = "mmd-critic",
    n_random: int = 100,
    seed: Seed = None,
    progress: Progress | None = None,
) -> DistanceByK:
    """Say how near chosen rows come to their table, by how many they are, beside rows drawn at random.

    Parameters
    ----------
    kernel : Kernel
        Any kernel, as for `mmd_critic`.
    table : Table, data frame, or what else the kernel takes, as a list of strings
        Random rows are drawn by its weights: a row of weight 3 as if it came three times.
    ks : sequence of int, optional
        The numbers of rows, from 1 to those of the table. Without them, 20 numbers up to 100, ever farther apart.
    method : {"mmd-critic", "protodash", "mmd", "kernel-thinning"}
        What chooses the rows. The first two find all numbers in one run; the others, `greedy_mmd` and
        `kernel_thinning`, run once for each. A method that ends before k rows keeps what it reached.
    n_random : int
        How many random subsets of each size the band is made of; their mean is exact and needs none.
    seed : None, int or numpy.random.Generator
        For the subsets, and for methods that draw.
    progress : callable, optional
        ``progress(what, done, total)``.

    Returns
    -------
    DistanceByK

    Raises
    ------
    FishernetError
        When a number does not fit, or the method is unknown.
    SchemaError
        When the table or the kernel does not fit, as for `mmd_critic`, which also says when there is a warning.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> table = asia.sample(500, seed=1)
    >>> found = fn.select.distance_by_k(fn.kernels.FisherKernel(asia), table, [5, 10, 20], seed=1)
    >>> bool((found.distance < found.at_random).all())
    True
    >>> bool((found.as_random > found.k).all())
    True
    """
    data = held(table)
    sums = row_sums_of(kernel, data, "distance_by_k")
    sums.check()
    numbers = _numbers(ks, sums.n_rows)
    name = word(method, "method", [*FORWARD, *OTHERS])
    check.integer(n_random, "n_random", least=1, most=MOST_SUBSETS)
    number = fixed_seed(seed)
    reached = _reached(name, kernel, data, numbers, number, progress)
    drawn = _Drawing(weights_of(data), sums.n_rows)
    low, high = _band(sums, drawn, numbers, n_random, number, progress)
    return DistanceByK(
        method=name,
        k=numbers,
        distance=reached,
        at_random=_mean_at_random(numbers, spread(sums), drawn.total),
        low=low,
        high=high,
        spread=spread(sums),
        drawn_from=drawn.total,
        n_random=n_random,
        seed=number,
    )


def _numbers(ks: Any, n_rows: int) -> Positions:
    """Return the numbers of rows that are asked about, ascending."""
    if ks is None:
        most = min(n_rows, MOST)
        return np.unique(np.geomspace(1, most, min(most, NUMBERS)).round().astype(np.int64))
    given = check.items(ks, "ks", "numbers of rows")
    numbers = [check.integer(k, "ks", least=1, most=n_rows, note="the rows of the table") for k in given]
    if not numbers:
        raise FishernetError("ks has no number of rows", parameter="ks")
    return np.unique(np.array(numbers, dtype=np.int64))


def _reached(method: str, kernel: Kernel, data: Data, ks: Positions, seed: int, progress: Progress | None) -> Array:
    """Return the distance of every number of rows that a method chooses."""
    if method in FORWARD:
        trace = FORWARD[method](kernel, data, int(ks[-1]), progress=progress).trace
        return np.array([trace[min(k, len(trace)) - 1] for k in ks.tolist()])
    choose = OTHERS[method]
    return np.array([choose(kernel, data, k, seed=seed, progress=progress).distance for k in ks.tolist()])


def _mean_at_random(ks: Positions, one: float, total: float) -> Array:
    """Return the mean squared distance of k random rows, where that of one is known."""
    if total == 1:
        return np.zeros(len(ks))
    share = 1 / total
    return np.asarray(np.maximum(1 / ks - share, 0.0) / (1 - share) * one)


class _Drawing:
    """Rows drawn at random, by their weights."""

    def __init__(self, weights: Weights | None, n_rows: int) -> None:
        self._ends = None if weights is None else np.cumsum(weights)
        total = float(n_rows if self._ends is None else self._ends[-1])
        whole = weights is None or (total < MOST_WHOLE and bool((weights == np.floor(weights)).all()))
        self.total = total if whole else np.inf

    def rows(self, k: int, random: np.random.Generator) -> Positions:
        """Return up to k rows in the order in which they were drawn; there may be no more."""
        if np.isinf(self.total):
            assert self._ends is not None
            places = np.minimum(random.random(k) * self._ends[-1], np.nextafter(self._ends[-1], 0))
        else:
            places = random.choice(int(self.total), min(k, int(self.total)), replace=False)
        if self._ends is not None:
            places = np.searchsorted(self._ends, places, side="right")
        return np.asarray(places, dtype=np.int64)


def _band(
    sums: RowSums, drawn: _Drawing, ks: Positions, n_random: int, seed: int, progress: Progress | None
) -> tuple[Array, Array]:
    """Return quantiles of the distances of random subsets; the first rows of one are a smaller one."""
    random = generator(seed)
    reporter = Reporter(progress, "drawing rows")
    found = np.zeros((n_random, len(ks)))
    ends = ks[ks < drawn.total]  # whatever comes then is the whole table, whose distance is 0
    for task in range(n_random if len(ends) else 0):
        rows = drawn.rows(int(ends[-1]), random)
        within = sums.squared_lengths(rows, ends) / ends**2
        towards = np.cumsum(sums.mean[rows])[ends - 1] / ends
        found[task, : len(ends)] = np.maximum(within - 2 * towards + sums.between, 0.0)
        reporter.step(task + 1, n_random)
    reporter.finish(n_random)
    low, high = np.quantile(found, BAND, axis=0)
    return low, high
