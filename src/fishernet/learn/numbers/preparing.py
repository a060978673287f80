"""What is done with numbers that stand beside labels before a network is learned: one answer for all verbs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import warn
from fishernet.base.remedies import Remedy
from fishernet.data.encoding.scales import heaped_at
from fishernet.data.options import AUTO, Bins
from fishernet.data.source import told_of_cuts
from fishernet.data.table import Table
from fishernet.data.variable import mixes_numbers
from fishernet.learn.numbers.by_families import by_families

UNCUT = (Remedy({"bins": {}}, "keep them as they are"),)


def prepared(rows: Table, bins: Bins | None = None, *, graph: bool = True, told: bool = True) -> Table:
    """Return a table as networks are learned from it by default; columns of numbers alone stay as they are.

    Numbers beside labels are put on their likeliest scales; those that have one, or a unit, keep it. Columns in which
    rows heap up at one number, as at no hours or no income, are cut into bins. With `graph`, scales go by the families
    of one, and columns that are more probable in bins by far are cut, too (`by_families`). Nothing is cut but what
    `bins` says, if it does. What is cut is told in a warning.
    """
    if bins is not None:
        rows = rows.discretize(bins)
    if not mixes_numbers(rows.variables):
        return rows
    rows = _varying(rows)
    plain = [v.name for v in rows.variables if v.is_continuous and v.scale is None and v.resolution is None]
    heavy = [name for name in plain if bins is None and heaped_at(rows.column(name)) is not None]
    cut = _cut(rows, dict.fromkeys(heavy, AUTO), "one number has a tenth of the rows or more" if told else "")
    scaled = cut.rescale({name: "auto" for name in plain if name not in heavy})
    if not graph:
        return scaled
    free = {v.name: v.scale for v in scaled.variables if v.name in plain and v.is_continuous}
    better = by_families(scaled, list(free), cut=bins is None)
    scaled = scaled.rescale({name: scale for name, scale in better.scales.items() if scale != free[name]})
    return _cut(scaled, better.cuts, "no normal distribution fits" if told else "")


def _cut(rows: Table, cuts: dict[str, Any], why: str) -> Table:
    """Return a table with columns cut into bins, which a warning tells where it says why."""
    if not cuts:
        return rows
    found = rows.discretize(cuts)
    if why:
        warn(f"{why}, and {told_of_cuts(rows, found)}", parameter="bins", remedies=UNCUT)
    return found


def _varying(rows: Table) -> Table:
    """Return a table without the columns of numbers that no regression can have, with a warning."""
    why = {v.name: _unfit(column) for v, column in zip(rows.variables, rows.codes, strict=True) if v.is_continuous}
    left = {name: reason for name, reason in why.items() if reason}
    if not left:
        return rows
    warn("; ".join(f"{name!r} {reason}, and is left out" for name, reason in left.items()))
    return rows.select([name for name in rows.names if name not in left])


def _unfit(column: npt.NDArray[np.float64]) -> str:
    """Return what is wrong with a column of numbers; nothing where it has two that differ, and all are finite."""
    known = column[~np.isnan(column)]
    if np.isinf(known).any():
        return "holds infinite numbers"
    return "" if len(known) and known.min() < known.max() else "has no two numbers that differ"
