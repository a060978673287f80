"""Cutting numbers into bins.

Bins are closed on the right: with cuts ``c_1 < ... < c_m`` bin k holds ``c_k < x <= c_(k+1)``, the first one all that
is at most ``c_1``, the last one all above ``c_m``. So equal numbers never part. Infinite numbers count like the least
and the largest finite one, and lie in the first and the last bin, alone where there are no more numbers than bins.

*Quantile* cuts for k bins are the 1/k, ..., (k-1)/k quantiles of the data: the smallest value that at least that share
of the (weighted) rows does not exceed; where that is the largest value of all, the one before it. Cuts that coincide
are merged. So no bin is empty, and with k > 1 there are at least two.

*Equal-width* cuts divide the range from the smallest to the largest number; bins between may be empty.

*Automatic* cuts (``bins="auto"``) are those of the histogram of least description length, by normalized maximum
likelihood (Kontkanen and Myllymäki, AISTATS 2007), between `LEAST_AUTO` and `MOST_AUTO` bins and never more than the
rows can support, over the quantiles as candidates.

The numbers may lie in one place or in many (`fishernet.data.statistics.ranks`), in memory or on the disk.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError
from fishernet.data.arrays import Weights, in_units, row_blocks
from fishernet.data.encoding.dates import Unit, date_texts
from fishernet.data.encoding.histogram import description_length_cuts
from fishernet.data.encoding.labels import is_numeric, numbers_of
from fishernet.data.options import AUTO, Options
from fishernet.data.statistics import ranks
from fishernet.data.statistics.ranks import Ladder, Place, Sum, Unsorted
from fishernet.data.variable import Bounds, Column, Continuous, Limits, Variable, label_array

Numbers = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

MOST_SORTED = 2**22  # numbers of one place that are sorted; of more a block is looked at at a time
CANDIDATES = 64  # pieces of equally many rows, between which automatic cuts lie
LEAST_AUTO, MOST_AUTO = 4, 6  # more lose arcs of a network: its tables grow with the product of the bins
ROWS_A_CELL = 50  # of the joint table of two columns, where there are more than the least number of bins
ROWS_A_BIN = 20


def is_cut(variable: Column, options: Options) -> bool:
    """Return whether a column is to be cut: one of numbers, or of states that are named."""
    if options.bins is None or options.cut(variable.name) is None:
        return False
    return variable.is_continuous or (variable.cuts is None and options.cuts_by_name(variable.name))


def cut_here(
    variable: Column, column: npt.NDArray[Any], weights: Weights | None, options: Options
) -> tuple[Column, Iterable[npt.NDArray[Any]]]:
    """Return a column of one table cut into bins as the options ask: its variable, and its blocks."""
    if not is_cut(variable, options):
        return variable, [column]
    place = place_of(variable, column, weights)
    unit = 1.0 if weights is None or not weights.any() else in_units(weights)[1]
    found = bins_found(lambda question: question({variable.name: place}), variable, options, unit)
    return found, [column] if found.is_continuous else in_bins(variable, column, found)


def place_of(
    variable: Column,
    column: npt.NDArray[Any],
    weights: Weights | None,
    unit: float | None = None,
    *,
    anyway: bool = False,
) -> Place:
    """Return the numbers of a column with the weights of their rows, as cuts are found from them.

    Where all weights are 0, every row counts once, but for parts of a table, `anyway`.
    """
    units = None if weights is None or not (anyway or weights.any()) else in_units(weights, unit)[0]
    if not variable.is_continuous:
        return Ladder.of(_numbers_of_states(variable, column)[column], units)
    if len(column) < MOST_SORTED:
        return Ladder.of(column, units)
    return Unsorted(partial(_blocks_of, column, units))


def _blocks_of(column: Numbers, units: Counts | None) -> Iterator[tuple[Numbers, Counts | None]]:
    for at in row_blocks(len(column)):
        yield column[at], None if units is None else units[at]


def _numbers_of_states(variable: Variable, column: npt.NDArray[Any]) -> Numbers:
    """Return the number that each state is, and NaN for a missing cell; SchemaError where a cell holds none."""
    labels = label_array(variable.states)
    numbers = numbers_of(labels)
    strange = np.append(np.isnan(numbers), False)[column] if not is_numeric(labels) else np.zeros(0, dtype=bool)
    if strange.any():
        row = int(np.argmax(strange))
        label = variable.states[int(column[row])]
        raise SchemaError(
            f"column {variable.name!r}, row {row}: bins are cut from numbers, and {label!r} is none; if it means a "
            "missing cell, write NA, or declare it as one",
            parameter="na_values",
        )
    return np.append(numbers, np.nan)


def in_bins(variable: Column, column: npt.NDArray[Any], bins: Variable) -> Iterator[npt.NDArray[Any]]:
    """Yield the codes of a column's numbers, so many at a time: of the bins they are in, or of the states they are."""
    of_states = None if variable.is_continuous else _numbers_of_states(variable, column)
    states = None if bins.cuts is not None else numbers_of(label_array(bins.states))
    for at in row_blocks(len(column)):
        numbers = column[at] if of_states is None else of_states[column[at]]
        if states is None:
            codes = bins.bin(numbers)
        else:
            codes = np.where(np.isnan(numbers), len(states), np.searchsorted(states, numbers))
        yield codes.astype(bins.dtype)


def bins_found(ask: Sum, variable: Column, options: Options, unit: float) -> Column:
    """Return what a column of numbers becomes, by what places answer that count the weights of rows in a unit."""
    name, cut = variable.name, options.cut(variable.name)
    assert cut is not None
    least, largest = _ends(ask, name)
    if least > largest:  # no number is known
        return variable
    bounds = _bounds(ask, name, least, largest)
    if isinstance(cut, tuple):
        return _binned(variable, cut, bounds)
    few = ranks.gathered(ask, name, most=max(1, cut if isinstance(cut, int) else 2))
    if few.values is not None and bounds is not None:
        return _states(variable, few.values, bounds)
    if few.values is not None:
        return _binned(variable, _between(few.values), bounds)
    if bounds is None:
        least, largest = _ends(ask, name, finite=True)
        ask = partial(_ask_clipped, ask, name, least, largest)
    if cut == 1 or least == largest:
        return _binned(variable, [], bounds)
    if cut == AUTO:
        return _binned(variable, _automatic(ask, name, least, largest, unit), bounds)
    if options.binning == "equal-width":
        return _binned(variable, equal_width_cuts(least, largest, cut), bounds)
    return _binned(variable, ranks.quantile_cuts(ask, name, cut), bounds)


def _ends(ask: Sum, name: str, *, finite: bool = False) -> tuple[float, float]:
    """Return the least and the largest number, or those that are finite."""
    least = ask(partial(ranks.largest_negated, name=name, more=-np.inf if finite else None))
    return -least.value, ask(partial(ranks.largest_of, name=name, less=np.inf if finite else None)).value


def _ask_clipped(ask: Sum, name: str, least: float, largest: float, question: Callable[[Any], Any]) -> Any:
    return ask(partial(ranks.of_clipped, question=question, name=name, low=least, high=largest))


def _bounds(ask: Sum, name: str, least: float, largest: float) -> Bounds | None:
    """Return the least and the largest number, as int where all are whole; None where one has no end."""
    if not np.isfinite([least, largest]).all():
        return None
    return (int(least), int(largest)) if ask(partial(ranks.are_whole, name=name)).value else (least, largest)


def _between(values: Numbers) -> list[float]:
    """Return cuts that part few numbers of which some are infinite, and those the least from minus infinity."""
    finite: list[float] = values[np.isfinite(values)].tolist()
    if not finite:
        return [0.0] if len(values) == 2 else []
    below = finite[0] - (finite[1] - finite[0] if len(finite) > 1 else max(1.0, abs(finite[0])))
    cuts = [*([below] if values[0] == -np.inf and math.isfinite(below) else []), *finite]
    return cuts if values[-1] == np.inf else cuts[:-1]


def _states(variable: Column, values: Numbers, bounds: Bounds | None) -> Variable:
    """Return a variable of no more numbers than bins are wanted; dates have no states that are numbers."""
    if variable.unit is not None:
        return _binned(variable, values[:-1].tolist(), bounds)
    whole = bool((values == np.rint(values)).all()) and bool((np.abs(values) < 2.0**53).all())
    return Variable(variable.name, [int(x) for x in values] if whole else values.tolist())


def _binned(variable: Column, cuts: Sequence[float], bounds: Bounds | None) -> Variable:
    texts = None if variable.unit is None else date_texts(cuts, variable.unit)
    unit: Unit | None = variable.unit
    return Variable(variable.name, interval_labels(cuts, texts), cuts, bounds, unit)


def quantile_cuts(values: Numbers, counts: Counts, n_bins: int) -> list[float]:
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


def equal_width_cuts(lowest: float, highest: float, n_bins: int) -> list[float]:
    """Return at most ``n_bins - 1`` cuts that divide a range into bins of equal width."""
    shares = np.arange(1, n_bins) / n_bins
    cuts = np.unique(lowest * (1 - shares) + highest * shares)
    kept: list[float] = cuts[(cuts >= lowest) & (cuts < highest)].tolist()
    return kept


# -------------------------------------------------------------------------------------------------- automatic cuts


def _automatic(ask: Sum, name: str, least: float, largest: float, unit: float) -> list[float]:
    """Return the cuts of the histogram of least description length."""
    ends = np.array([*ranks.quantile_cuts(ask, name, CANDIDATES), largest])
    counts = np.diff(ask(partial(ranks.rows_below, name=name, borders=ends)), prepend=0)
    n = max(1, round(counts.sum() * unit))
    most = min(MOST_AUTO, len(ends), max(LEAST_AUTO, math.isqrt(n // ROWS_A_CELL)), max(2, n // ROWS_A_BIN))
    return description_length_cuts(least, ends, counts * unit, min(LEAST_AUTO, most), most)


# -------------------------------------------------------------------------------------------------------- labels


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


def drawn_numbers(
    variables: Sequence[Column],
    columns: Sequence[npt.NDArray[Any]],
    random: np.random.Generator,
    within: Mapping[str, Limits],
) -> tuple[list[Column], list[npt.NDArray[Any]]]:
    """Return columns with a number for every cell of those that were cut into bins; see `Table.to_numbers`."""
    of, numbers = list(variables), list(columns)
    for place, variable in enumerate(variables):
        if not variable.is_continuous and variable.cuts is not None:
            of[place] = Continuous(variable.name, variable.unit)
            numbers[place] = variable.numbers(
                columns[place], random.random(len(columns[place])), within.get(variable.name)
            )
    return of, numbers
