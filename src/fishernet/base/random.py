"""Random streams: one key per call, counters inside.

A public function that draws takes ``seed``: None (fresh entropy), an int, or a `numpy.random.Generator`. It draws one
64-bit *key* from it; everything random inside the call comes from Philox 4x32-10 [1]_ with that key and a counter
made of (task, block, position). Work is cut into blocks by the problem alone, so a result depends on the seed and never
on the number of threads. No global random state is read or touched.

References
----------
.. [1] J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

from __future__ import annotations

import math
import operator
from functools import lru_cache
from typing import SupportsIndex

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import FishernetError, SchemaError

Seed = SupportsIndex | np.random.Generator | None


def generator(seed: Seed) -> np.random.Generator:
    """Return the generator that a seed stands for; a generator itself moves on when it is drawn from."""
    if isinstance(seed, np.random.Generator):
        return seed
    if seed is None:
        return np.random.default_rng()
    try:
        number = operator.index(seed)
    except TypeError:
        raise FishernetError(
            f"seed must be None, an int or a numpy.random.Generator, not {type(seed).__name__}",
            parameter="seed",
        ) from None
    if number < 0:
        raise FishernetError(f"seed must not be negative, got {number}", parameter="seed")
    return np.random.default_rng(number)


def fixed_seed(seed: Seed) -> int:
    """Return an int that repeats what a seed gives: itself, or one drawn from fresh entropy or from the generator.

    Results that depend on chance keep it.
    """
    if seed is None or isinstance(seed, np.random.Generator):
        return int(generator(seed).integers(0, 2**63))
    generator(seed)  # refuses what is none
    return operator.index(seed)


def stream_key(seed: Seed) -> int:
    """Draw the 64-bit key from which all randomness of one call comes."""
    return int(generator(seed).integers(0, 2**64, dtype=np.uint64))


def drawn_share(n: int, fraction: float, seed: Seed) -> npt.NDArray[np.bool_]:
    """Mark a share of n things at random, (n,) bool; the share is rounded to whole things."""
    check.number(fraction, "fraction", least=0, most=1, error=SchemaError)
    chosen = np.zeros(n, dtype=bool)
    chosen[shuffled(n, generator(seed))[: math.floor(fraction * n + 0.5)]] = True
    return chosen


def shuffled(n: int, random: np.random.Generator) -> npt.NDArray[np.unsignedinteger]:
    """Return 0 to n - 1 in the order of ``random.permutation(n)``, in the narrowest type that holds them."""
    order = np.arange(n, dtype=np.min_scalar_type(max(n - 1, 0)))
    random.shuffle(order)
    return order


MOST_DRAWS = 2**40  # rows, chains or updates in one call


def draw_count(n: object, name: str = "n", *, least: int = 0, most: int = MOST_DRAWS) -> int:
    """Return how many rows, chains or updates there shall be: an integer within limits."""
    return check.integer(n, name, least=least, most=most)


def raw_words(key: int, task: int, first: int, n: int) -> npt.NDArray[np.uint64]:
    """Return the words from first to first + n - 1 of an endless stream of random 64-bit words, a stream a task.

    Each depends on the key, the task and its place alone.
    """
    stream = np.random.Philox(key=np.array([key, task], dtype=np.uint64), counter=np.array([first // 4, 0, 0, 0]))
    skipped = first % 4
    words: npt.NDArray[np.uint64] = stream.random_raw(skipped + n)[skipped:]
    return words


MOST_EXACT = 2**12  # mean of Poisson numbers that are looked up


@lru_cache(maxsize=1024)
def _poisson_thresholds(mean: int) -> tuple[int, npt.NDArray[np.uint64]]:
    """Return the least number that counts, and the words from which on each number is exceeded."""
    least = max(0, mean - 40 * math.isqrt(mean) - 1)
    numbers = range(least, mean + 40 * math.isqrt(mean) + 40)
    chances = [math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in numbers]
    below = np.minimum(np.cumsum(chances) * 2.0**64, np.nextafter(2.0**64, 0))
    return least, below.astype(np.uint64)


def poisson_draws(
    means: npt.NDArray[np.int64] | None, key: int, task: int, first: int, n: int
) -> npt.NDArray[np.int64]:
    """Return a Poisson number for each row from first to first + n - 1, of mean 1 or whole means, (n,).

    A row's number depends on the key, the task, its place and its mean alone.
    """
    words = raw_words(key, task, first, n)
    found = np.zeros(n, dtype=np.int64)
    for mean in [1] if means is None else np.unique(means).tolist():
        if mean:
            at = slice(None) if means is None else means == mean
            if mean > MOST_EXACT:
                found[at] = _near_poisson(mean, words[at])
                continue
            least, below = _poisson_thresholds(mean)
            found[at] = least + np.searchsorted(below, words[at], side="right")
    return found


def _near_poisson(mean: int, words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Return Poisson numbers of a large mean: normal ones with the skew put right, rounded."""
    from scipy.special import ndtri  # slow to import, and needed by few calls

    z = ndtri((words.astype(np.float64) + 0.5) / 2.0**64).clip(-9, 9)
    found: npt.NDArray[np.int64] = np.rint(mean + math.sqrt(mean) * z + (z**2 - 1) / 6).astype(np.int64)
    return found
