"""Cutting numbers into bins.

Bins are closed on the right: with cuts ``c_1 < ... < c_m`` bin k holds ``c_k < x <= c_(k+1)``, the first one all that
is at most ``c_1``, the last one all above ``c_m``. So equal numbers never part.

*Quantile* cuts for k bins are the 1/k, ..., (k-1)/k quantiles of the data: the smallest value that at least that share
of the (weighted) rows does not exceed; where that is the largest value of all, the one before it. Cuts that coincide
are merged. So no bin is empty, and with k > 1 there are at least two.

*Equal-width* cuts divide the range from the smallest to the largest number; bins between may be empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]


def quantile_cuts(values: Numbers, counts: npt.NDArray[np.int64], n_bins: int) -> list[float]:
    """Return the cuts that put about equally many rows into each bin.

    Parameters
    ----------
    values : (n_values,) ascending distinct float64
    counts : (n_values,) positive int64
        The rows (or the sum of their weights) at each value.
    n_bins : int
        At most so many bins; at least 1, and fewer than there are values.

    Returns
    -------
    list of float
        At most ``n_bins - 1`` of the values, ascending.
    """
    below = np.cumsum(counts)
    total = int(below[-1])
    shares = [-(-j * total // n_bins) for j in range(1, n_bins)]  # j / n_bins of the rows, rounded up
    found = np.searchsorted(below, np.array(shares, dtype=np.int64), side="left")
    cuts: list[float] = values[np.unique(np.minimum(found, len(values) - 2))].tolist()
    return cuts


def equal_width_cuts(values: Numbers, counts: npt.NDArray[np.int64], n_bins: int) -> list[float]:  # noqa: ARG001
    """Return the cuts that divide the range of the values into bins of equal width.

    Parameters
    ----------
    values : (n_values,) ascending distinct float64
    counts : (n_values,) int64
        Not looked at: a width does not depend on how often a value occurs.
    n_bins : int

    Returns
    -------
    list of float
        ``n_bins - 1`` cuts; fewer where the range is so narrow that they coincide.
    """
    lowest, highest = float(values[0]), float(values[-1])
    shares = np.arange(1, n_bins) / n_bins
    cuts = np.unique(lowest * (1 - shares) + highest * shares)
    kept: list[float] = cuts[(cuts >= lowest) & (cuts < highest)].tolist()
    return kept


BINNINGS = {"quantile": quantile_cuts, "equal-width": equal_width_cuts}


def interval_labels(cuts: Sequence[float]) -> list[str]:
    """Return one readable label a bin, with digits enough to tell the cuts apart.

    Examples
    --------
    >>> interval_labels([2.5, 4.0, 7.0])
    ['<= 2.5', '(2.5, 4]', '(4, 7]', '> 7']
    """
    if not cuts:
        return ["any"]
    texts = _distinct_texts(cuts)
    inner = [f"({low}, {high}]" for low, high in pairwise(texts)]
    return [f"<= {texts[0]}", *inner, f"> {texts[-1]}"]


def _distinct_texts(cuts: Sequence[float]) -> list[str]:
    """Write ascending numbers with six digits, or as many more as keep them ascending."""
    for digits in range(6, 17):
        texts = [_text(cut, digits) for cut in cuts]
        read = [float(text) for text in texts]
        if all(low < high for low, high in pairwise(read)):
            return texts
    return [_text(cut, 17) for cut in cuts]


def _text(cut: float, digits: int) -> str:
    return str(int(cut)) if cut.is_integer() and abs(cut) < 1e15 else f"{cut:.{digits}g}"
