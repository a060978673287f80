"""Cutting numbers into bins.

Bins are closed on the right: with cuts ``c_1 < ... < c_m`` bin k holds ``c_k < x <= c_(k+1)``, the first one all that
is at most ``c_1``, the last one all above ``c_m``. So equal numbers never part.

*Quantile* cuts for k bins are the 1/k, ..., (k-1)/k quantiles of the data: the smallest value that at least that share
of the (weighted) rows does not exceed; where that is the largest value of all, the one before it. Cuts that coincide
are merged. So no bin is empty, and with k > 1 there are at least two.

*Equal-width* cuts divide the range from the smallest to the largest number; bins between may be empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError
from fishernet.data.arrays import Weights, in_units
from fishernet.data.encoding.cells import MOST_KEPT, Cells, NumberCells, SourceColumn
from fishernet.data.encoding.dates import date_texts
from fishernet.data.options import Options
from fishernet.data.statistics import ranks
from fishernet.data.variable import Bounds, Variable

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
    found = np.searchsorted(below, ranks.cut_ranks(int(below[-1]), n_bins), side="left")
    cuts: list[float] = values[np.unique(np.minimum(found, len(values) - 2))].tolist()
    return cuts


def equal_width_cuts(values: Numbers, counts: npt.NDArray[np.int64], n_bins: int) -> list[float]:  # noqa: ARG001
    """Return at most ``n_bins - 1`` cuts that divide the range of ascending values into bins of equal width."""
    lowest, highest = float(values[0]), float(values[-1])
    shares = np.arange(1, n_bins) / n_bins
    cuts = np.unique(lowest * (1 - shares) + highest * shares)
    kept: list[float] = cuts[(cuts >= lowest) & (cuts < highest)].tolist()
    return kept


BINNINGS = {"quantile": quantile_cuts, "equal-width": equal_width_cuts}


def interval_labels(cuts: Sequence[float], texts: Sequence[str] | None = None) -> list[str]:
    """Return one readable label a bin, with digits enough to tell the cuts apart, or with these texts for the cuts.

    Examples
    --------
    >>> interval_labels([2.5, 4.0, 7.0])
    ['<= 2.5', '(2.5, 4]', '(4, 7]', '> 7']
    """
    if not cuts:
        return ["any"]
    texts = _distinct_texts(cuts) if texts is None else texts
    inner = [f"({low}, {high}]" for low, high in pairwise(texts)]
    return [f"<= {texts[0]}", *inner, f"> {texts[-1]}"]


def _distinct_texts(cuts: Sequence[float]) -> list[str]:
    """Write ascending numbers with six digits, or as many more as keep them ascending and finite."""
    for digits in range(6, 17):
        texts = [_text(cut, digits) for cut in cuts]
        read = [float(text) for text in texts]
        # rounded up, the largest of all numbers would read as infinity
        if np.isfinite(read).all() and all(low < high for low, high in pairwise(read)):
            return texts
    return [_text(cut, 17) for cut in cuts]


def _text(cut: float, digits: int) -> str:
    return str(int(cut)) if cut.is_integer() and abs(cut) < 1e15 else f"{cut:.{digits}g}"


def in_bins(column: SourceColumn, cuts: Sequence[float], bounds: Bounds | None) -> Variable:
    """Return the variable that a column of numbers makes, cut into bins."""
    texts = None if column.unit is None else date_texts(cuts, column.unit)
    return Variable(column.name, interval_labels(cuts, texts), cuts, bounds, column.unit)


def bounds_of(blocks: Iterable[npt.NDArray[np.float64]]) -> Bounds | None:
    """Return the least and the largest number, as int where all are whole; None where there is none, or no end."""
    low, high, whole = np.inf, -np.inf, True
    for numbers in blocks:
        known = numbers[~np.isnan(numbers)]
        low, high = float(known.min(initial=low)), float(known.max(initial=high))
        whole = whole and bool((known == np.rint(known)).all())
    if low > high or not np.isfinite([low, high]).all():
        return None
    return (int(low), int(high)) if whole else (low, high)


def bins_of_many(column: SourceColumn, weights: Weights | None, options: Options) -> Variable | None:
    """Return what a long column of very many numbers is in bins, found without gathering them; None of another."""
    cut = options.asked_cut(column.name, numbers=True)
    if cut is None or not column.holds_numbers:
        return None
    of_numbers = cast(NumberCells, column)
    if len(of_numbers.column) < MOST_KEPT:
        return None
    if isinstance(cut, tuple):
        return in_bins(column, cut, bounds_of(of_numbers.blocks()))
    name, units = column.name, None if weights is None else in_units(weights)[0]
    numbers = ranks.Unsorted(partial(_weighed_blocks, of_numbers, units))

    def asked(question: Callable[[Any], Any]) -> Any:
        return question({name: numbers})

    if ranks.gathered(asked, name).values is not None:
        return None
    ends = np.array([numbers.least(), numbers.largest(np.inf)])
    if not np.isfinite(ends).all() or numbers.holds_infinity():
        raise no_bins_of_infinite(name)
    if options.binning == "quantile":
        cuts = ranks.quantile_cuts(asked, name, cut)
    else:
        cuts = BINNINGS[options.binning](ends, np.ones(2, dtype=np.int64), cut)
    return in_bins(column, cuts, bounds_of(of_numbers.blocks()))


def _weighed_blocks(
    column: NumberCells, units: npt.NDArray[np.int64] | None
) -> Iterator[tuple[npt.NDArray[np.float64], npt.NDArray[np.int64] | None]]:
    begin = 0
    for numbers in column.blocks():
        yield numbers, None if units is None else units[begin : begin + len(numbers)]
        begin += len(numbers)


def no_bins_of_infinite(name: str) -> SchemaError:
    """Return the error that says that a column has infinite numbers, of which there are no bins."""
    return SchemaError(
        f"column {name!r} holds infinite numbers; say where to cut it instead of in how many bins", parameter="bins"
    )


def cuts_of(
    column: Cells, weights: Weights | None, cut: int | tuple[float, ...], binning: str
) -> Sequence[float] | None:
    """Return where to cut a numeric column, None where it has no more numbers than bins are wanted."""
    if isinstance(cut, tuple):
        return cut
    counts = column.counts(None if weights is None else in_units(weights)[0])
    if not counts.any():  # no weights but zero
        counts = column.counts()
    held = counts > 0
    values, inverse = np.unique(column.label_numbers[held] + 0.0, return_inverse=True)  # -0.0 becomes 0.0
    if len(values) <= cut:
        return None if column.unit is None else values[:-1].tolist()  # dates have no states that are numbers
    if not np.isfinite(values).all():
        raise no_bins_of_infinite(column.name)
    sums = np.zeros(len(values), dtype=counts.dtype)
    np.add.at(sums, inverse, counts[held])
    return BINNINGS[binning](values, sums, cut)
