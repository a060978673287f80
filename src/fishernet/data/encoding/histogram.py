"""The histogram of least description length, by normalized maximum likelihood."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fishernet import _core

Numbers = npt.NDArray[np.float64]


def description_length_cuts(least: float, ends: Numbers, counts: Numbers, fewest: int, most: int) -> list[float]:
    """Return where the histogram of least description length is cut (Kontkanen and Myllymäki, 2007, Eq. 8 and 22).

    Parameters
    ----------
    least : float
        The least number.
    ends : (n_pieces,) ascending float64
        The upper ends of the pieces that bins are made of; the last is the largest number.
    counts : (n_pieces,) float64
        The weight of the numbers in each piece.
    fewest, most : int
        So many bins, no more than there are pieces.

    Returns
    -------
    list of float
        Some of the ends, ascending, without the last.
    """
    n_pieces, n = len(ends), max(1, round(counts.sum()))
    borders = np.concatenate([[least], ends])
    borders = np.ldexp(borders, -np.frexp(np.abs(borders).max())[1])  # only their proportions matter
    steps = np.diff(borders)
    upto = np.concatenate([[0], np.cumsum(counts)])
    # the log-likelihood of one bin over the pieces from i to j
    held = upto[None, 1:] - upto[:-1, None]
    width = borders[None, 1:] - borders[:-1, None]
    width[0] += steps[steps > 0].min()  # the least number lies in the first bin
    with np.errstate(divide="ignore", invalid="ignore"):
        of_bin = np.where(np.tri(n_pieces, k=-1, dtype=bool), -np.inf, held * (np.log(held / n) - np.log(width)))
    best = of_bin[0]
    before: list[npt.NDArray[np.intp]] = []
    found: list[tuple[float, list[float]]] = []
    for k in range(1, most + 1):
        if k > 1:
            sums = np.concatenate([[-np.inf], best[:-1]])[:, None] + of_bin  # a last bin from piece i to piece j
            before.append(np.argmax(sums, axis=0))
            best = sums[before[-1], np.arange(n_pieces)]
        if k >= fewest:
            price = _regret(n, k) + _log_choices(n_pieces - 1, k - 1)
            found.append((float(best[-1]) - price, _traced(before, ends)))
    return max(found, key=lambda one: one[0])[1]


def _traced(before: Sequence[npt.NDArray[np.intp]], ends: Numbers) -> list[float]:
    """Return the cuts of the best histogram that ends with the last piece."""
    at, cuts = len(ends) - 1, []
    for first in reversed(before):
        at = int(first[at]) - 1
        cuts.append(float(ends[at]))
    return cuts[::-1]


def _regret(n: int, k: int) -> float:
    return float(_core.regret(np.array([n]), float(k), math.log(k))[0])


def _log_choices(n: int, k: int) -> float:
    return float(np.log(np.arange(n - k + 1, n + 1)).sum() - np.log(np.arange(1, k + 1)).sum())
