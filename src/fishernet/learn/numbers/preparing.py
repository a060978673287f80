"""What is done with numbers before a network is learned: one answer for all verbs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import warn
from fishernet.base.remedies import Remedy
from fishernet.data.encoding.scales import heaped_at
from fishernet.data.moments import without_determined
from fishernet.data.numbers import LARGEST
from fishernet.data.options import AUTO, Bins
from fishernet.data.source import told_of_cuts, without_empty
from fishernet.data.table import Table
from fishernet.data.variable import Column
from fishernet.learn.missing.ways import enough_known
from fishernet.learn.numbers.by_families import by_families
from fishernet.learn.numbers.reach import within_reach
from fishernet.learn.structures import named_columns
from fishernet.scores import named_score

LEAST_SPREAD = 1e-12  # of the largest: numbers that differ by less are hardly told apart
UNCUT = (Remedy({"bins": {}}, "keep them as they are"),)
LEFT_OUT = (Remedy({"bins": {}}, "leave them out"),)


def prepared(
    rows: Table, bins: Bins | None = None, *, keep: Iterable[str] = (), graph: bool = True, told: bool = True
) -> Table:
    """Return a table as networks are learned from it by default.

    Numbers are put on their likeliest scales; those that have one, or a unit, keep it. Columns in which rows heap up at
    one number, as at no hours or no income, are cut into bins, as are those that no regression can take
    (`within_bounds`), and all where rows lack more than can be summed out (`within_reach`). With `graph`, scales go by
    the families of one, and columns that are more probable in bins by far are cut, too (`by_families`). Nothing is cut
    but what `bins` says, if it does. What is cut is told in a warning, and what is left out: columns without a known
    cell, those of numbers without two that differ, and in a table of numbers alone those that others determine, but
    the ones to `keep`.
    """
    [rows] = without_empty([rows], {*keep})
    if bins is not None:
        rows = rows.discretize(bins)
    if not any(v.is_continuous for v in rows.variables):
        return rows
    if bins is None:
        rows = within_bounds(rows, told=told)
    rows = cast(Table, without_determined(varying(rows), keep))
    plain = [v.name for v in rows.variables if v.is_continuous and v.scale is None and v.resolution is None]
    heavy = [name for name in plain if bins is None and heaped_at(rows.column(name)) is not None]
    cut = _cut(rows, dict.fromkeys(heavy, AUTO), "one number has three tenths of the rows or more" if told else "")
    scaled = cut.rescale({name: "auto" for name in plain if name not in heavy})
    if bins is None and not within_reach(scaled):
        return _all_cut(scaled, told)
    if not graph:
        return scaled
    free = {v.name: v.scale for v in scaled.variables if v.name in plain and v.is_continuous}
    better = by_families(scaled, list(free), cut=bins is None)
    scaled = scaled.rescale({name: scale for name, scale in better.scales.items() if scale != free[name]})
    if better.cuts and not within_reach(scaled.discretize(better.cuts)):
        return _all_cut(scaled, told)
    return _cut(scaled, better.cuts, "no normal distribution fits" if told else "")


def _all_cut(rows: Table, told: bool) -> Table:
    """Return a table whose rows lack too much with all numbers in bins."""
    numbers = [v.name for v in rows.variables if v.is_continuous]
    why = "rows lack more labels and numbers together than can be summed out"
    return _cut(rows.rescale(dict.fromkeys(numbers)), dict.fromkeys(numbers, AUTO), why if told else "")


def prepared_for(rows: Table, bins: Bins | None = None, **options: Any) -> Table:
    """Return a table as `prepared` has it, for a search with the options of `structure`.

    Numbers alone stay numbers for a score or a search that takes no labels beside them, and where arcs are asked for,
    which cannot run from a number to labels.
    """
    score, search = options.get("score"), options.get("search")
    asked = named_columns(options.get("required", ()), options.get("start"))
    numbers_only = search == "exact" or not (score is None or named_score(score).mixes)
    if bins is None and (numbers_only or asked) and all(variable.is_continuous for variable in rows.variables):
        bins = {}
    return prepared(rows, bins, keep=asked)


def _cut(rows: Table, cuts: dict[str, Any], why: str, remedies: Sequence[Remedy] = UNCUT) -> Table:
    """Return a table with columns cut into bins, which a warning tells where it says why."""
    if not cuts:
        return rows
    found = rows.discretize(cuts)
    if why:
        warn(f"{why}, and {told_of_cuts(rows, found)}", parameter="bins", remedies=remedies)
    return found


def within_bounds(rows: Table, *, told: bool = True) -> Table:
    """Return a table whose columns of numbers that no regression can take are cut into bins, with a warning."""
    pairs = zip(rows.variables, rows.codes, strict=True)
    why = {variable.name: _out_of_bounds(column) for variable, column in pairs if variable.is_continuous}
    beyond = {name: AUTO for name, reason in why.items() if reason}
    reasons = "; ".join(f"{name!r} {why[name]}" for name in beyond)
    return _cut(rows, beyond, reasons if told else "", LEFT_OUT)


def varying(rows: Table) -> Table:
    """Return a table without the columns of numbers that no regression can have, with a warning."""
    why = {v.name: _unfit(v, column) for v, column in zip(rows.variables, rows.codes, strict=True) if v.is_continuous}
    left = {name: reason for name, reason in why.items() if reason}
    if not left:
        return rows
    warn("; ".join(f"{name!r} {reason}, and is left out" for name, reason in left.items()))
    return rows.leave_out(left)


def _unfit(variable: Column, column: npt.NDArray[np.float64]) -> str:
    """Return what is wrong with a column of numbers; nothing where it has two that differ, and all are finite."""
    known = column[~np.isnan(column)]
    if reason := _out_of_bounds(known):
        return reason
    return "" if enough_known(variable, known) else "has no two numbers that differ"


def _out_of_bounds(column: npt.NDArray[np.float64]) -> str:
    """Return why the squares of a column's numbers cannot be reckoned with; nothing where they can."""
    low, high = np.fmin.reduce(column, initial=np.inf), np.fmax.reduce(column, initial=-np.inf)
    size = max(abs(low), abs(high))
    if not low < high:
        return ""
    if math.isinf(size):
        return "holds infinite numbers"
    if size > LARGEST:
        return f"holds numbers beyond {LARGEST:g}"
    if size < 1 / LARGEST:
        return f"holds no number beyond {1 / LARGEST:g}"
    return "holds numbers that are the same to twelve digits" if high - low < LEAST_SPREAD * size else ""
