"""How numbers are taken, chosen together with a graph: on which scale, or cut into bins.

The scale on which a column alone is most nearly normal may be the wrong one: a sum of two columns is a sum on their own
scales, and a column of which labels make several heaps is normal in each of them as it is. So scales are chosen by the
families of a graph. By turns a graph is learned, and each number gets the scale on which its own family and those of
its children are most probable, per unit of the column and less the price of the scale's parameters, as long as the
probability of the whole table rises. That begins with the scales that columns have by themselves, without scales, and
with lines through quantiles, and the best end is taken.

Lines through quantiles make a column of any shape normal by itself, not what others tell of it: of humps that labels
tell by turns, say. Such a column is cut into bins where the whole table is more probable by the graph that is learned
then: in a bin the mass is spread evenly, so that both can be compared.

A sample of complete rows decides, so that it takes no longer for more rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fishernet.base.random import generator
from fishernet.data import Table
from fishernet.data.encoding.scales import QUANTILES, Scale, candidate_scales
from fishernet.data.options import AUTO
from fishernet.graphs import Dag
from fishernet.learn.structures import structure
from fishernet.scores import Bic, Families, local_scores

MOST_ROWS = 3000
SOUGHT = 8  # times as many are looked through for complete ones
FEWEST_ROWS = 40
MOST_COLUMNS = 80  # above, columns keep the scales that they have by themselves, and none is cut
ROUNDS = 4  # graphs that are learned from one start, at most
SWEEPS = 3  # over the numbers, given a graph
LEAST_GAIN = 1e-6  # nats
GAIN_OF_BINS = 0.2  # nats a row that a column must gain by being cut; one of equally likely numbers gains 0.18
MOST_TRIED = 6  # columns that are tried in bins one by one
FEW_NUMBERS = 10  # distinct ones, up to which each is a bin of its own
SEED = 0  # the same table has the same scales each time


class OnScale(NamedTuple):
    """A scale that a column may have, and what that adds to the log-probability of the sample beside its families."""

    scale: Scale | None
    worth: float


class Taken(NamedTuple):
    """How columns of numbers are taken."""

    scales: dict[str, Scale | None]
    """The scale of each column."""
    cuts: dict[str, Any]
    """The columns that are better cut into bins, and into how many, as `Table.discretize` takes them."""


def by_families(table: Table, free: Sequence[str], *, cut: bool = True) -> Taken:
    """Return how some columns of numbers are best taken; as they are where there is little to go by.

    Parameters
    ----------
    table : Table
        Its columns of numbers have the scales that they have by themselves.
    free : sequence of str
        The columns about which it is decided.
    cut : bool
        Whether columns may be cut.
    """
    rows = _sample(table)
    own = {v: table.variables[v].scale for v in map(table.names.index, free)}
    if rows.n_rows < FEWEST_ROWS or len(rows.names) > MOST_COLUMNS or not own:
        return Taken({table.names[v]: scale for v, scale in own.items()}, {})
    known = _some(table, SOUGHT * MOST_ROWS)  # a row that lacks another column shows a number below 0, too
    choices = {v: _worthwhile(rows, v, list(_choices(rows, v, known.codes[v], scale))) for v, scale in own.items()}
    choices = {v: found for v, found in choices.items() if len(found) > 1}
    starts = [rows]
    if any(scale is not None for scale in own.values()):
        starts.append(_on_scales(rows, dict.fromkeys(own)))
    last = {v: found[-1].scale for v, found in choices.items()}
    of_any_shape = {v: scale for v, scale in last.items() if scale is not None and scale.kind == QUANTILES}
    if of_any_shape:
        starts.append(_on_scales(rows, of_any_shape))
    best = max((_climbed(start, choices) for start in starts), key=lambda end: end.value)
    scales = {table.names[v]: best.rows.variables[v].scale for v in own}
    return Taken(scales, _better_cut(best, free) if cut else {})


# -------------------------------------------------------------------------------------------------------- a sample


def _sample(table: Table) -> Table:
    """Return so many complete rows at most, as they lie in the table."""
    if table.has_missing:
        table = _some(table, SOUGHT * MOST_ROWS).drop_missing()
    return _some(table, MOST_ROWS)


def _some(table: Table, most: int) -> Table:
    if table.n_rows <= most:
        return table
    return table[np.sort(generator(SEED).permutation(table.n_rows)[:most])]


def _choices(rows: Table, v: int, known: npt.NDArray[Any], own: Scale | None) -> Iterator[OnScale]:
    """Yield the scales that a column may have, by all that is known of it."""
    variable: Any = rows.variables[v]
    for scale in (None, *candidate_scales(known, own)):
        worth = _worth(rows, rows.codes[v], replace(variable, scale=scale), variable)
        if math.isfinite(worth):
            yield OnScale(scale, worth)


def _worthwhile(rows: Table, v: int, choices: list[OnScale]) -> list[OnScale]:
    """Return choices without scales of any shape on which the column alone is no more probable than on another."""
    values = _values(rows, Dag(rows.names, [()] * len(rows.names)), v, choices, {})
    shaped = np.array([choice.scale is not None and choice.scale.kind == QUANTILES for choice in choices])
    best = values[~shaped].max(initial=-np.inf)
    return [choice for choice, value, some in zip(choices, values, shaped, strict=True) if value > best or not some]


def _worth(rows: Table, column: npt.NDArray[Any], now: Any, was: Any) -> float:
    """Return what makes the score of a column's family one per unit of its numbers, less the price of its parameters.

    `was` is the column of numbers, and `now` the same on a scale or in bins.
    """
    weights = np.ones(rows.n_rows) if rows.weights is None else rows.weights
    price = 0.5 * math.log(max(rows.total, 2.0))
    if now.is_continuous:
        with np.errstate(over="ignore"):
            slopes = np.sum(weights * now.log_slope(column))
        return float(slopes) - price * (0 if now.scale is None else now.scale.n_fitted)
    widths = np.zeros(now.cardinality)
    if now.cuts is not None:
        limits = now.bin_limits()
        widths = limits[:, 1] - limits[:, 0]
    least = was.resolution or float(np.finfo(np.float64).tiny)
    logs = np.log(np.maximum(widths, least))[column]
    return float(-(weights @ logs) - price * (now.cardinality + 1))  # the cuts, and both ends


def _on_scales(rows: Table, scales: Mapping[int, Scale | None]) -> Table:
    variables: list[Any] = list(rows.variables)
    for v, scale in scales.items():
        variables[v] = replace(variables[v], scale=scale)
    return Table.adopt(variables, rows.codes, weights=rows.weights, n_rows=rows.n_rows)


@dataclass(frozen=True)
class _Fitted:
    """Rows whose numbers are taken in some way, a graph of them, and how probable the rows are by it."""

    rows: Table
    dag: Dag
    value: float

    @classmethod
    def of(cls, rows: Table, numbers: Table) -> _Fitted:
        """Learn a graph of rows; `numbers` are the same where nothing is cut."""
        # BIC keeps columns that are equal on some scale, where the default for numbers alone leaves one out
        dag = structure(rows, search="hill-climb", score="bic").dag
        families = Families.from_pairs(enumerate(dag.parents))
        pairs = zip(rows.codes, rows.variables, numbers.variables, strict=True)
        worth = sum(_worth(rows, column, now, was) for column, now, was in pairs if was.is_continuous)
        return cls(rows, dag, float(local_scores(rows, families, Bic()).sum()) + worth)


# ---------------------------------------------------------------------------------------------------------- scales


def _chosen(rows: Table, v: int, choices: Sequence[OnScale]) -> int:
    """Return which choice a column has."""
    return [choice.scale for choice in choices].index(rows.variables[v].scale)


def _climbed(rows: Table, choices: Mapping[int, Sequence[OnScale]]) -> _Fitted:
    """Choose scales and graphs by turns."""
    fitted = _Fitted.of(rows, rows)
    for _ in range(ROUNDS):
        better = _rescaled(fitted, choices)
        if better is None:
            break
        found = _Fitted.of(better, better)
        if found.value < fitted.value + LEAST_GAIN:
            break
        fitted = found
    return fitted


def _rescaled(fitted: _Fitted, choices: Mapping[int, Sequence[OnScale]]) -> Table | None:
    """Return rows on scales that are better by the graph, column by column; None where there are none."""
    rows, dag, open_ones = fitted.rows, fitted.dag, set(choices)
    plain: _Plain = {}
    for _ in range(SWEEPS):
        looked_at, open_ones = open_ones, set()
        for v in sorted(looked_at):
            found = choices[v]
            values = _values(rows, dag, v, found, plain)
            best, now = int(np.argmax(values)), _chosen(rows, v, found)
            if values[best] > values[now] + LEAST_GAIN:
                rows = _on_scales(rows, {v: found[best].scale})
                plain.pop(v, None)
                open_ones |= {u for u in _in_families_with(dag, v) if u in choices}
    return None if rows is fitted.rows else rows


def _families_of(dag: Dag, v: int) -> list[int]:
    """Return the variables in whose families one is: itself, and its children."""
    return [v, *(c for c, parents in enumerate(dag.parents) if v in parents)]


def _in_families_with(dag: Dag, v: int) -> set[int]:
    """Return the other variables that have a family with one."""
    return {u for c in _families_of(dag, v) for u in (c, *dag.parents[c])} - {v}


_Plain = dict[int, tuple[Any, npt.NDArray[Any]]]  # columns as they stand beside another, by position


def _beside(rows: Table, u: int, plain: _Plain) -> tuple[Any, npt.NDArray[Any]]:
    """Return a column as it stands beside another: numbers on their scale, as if they had come so.

    They are put on it once, and not for each of the others that they stand beside.
    """
    if u not in plain:
        variable: Any = rows.variables[u]
        column = rows.codes[u]
        if variable.is_continuous and variable.scale is not None:
            scaled = np.asarray(variable.scaled(column))
            known = scaled[~np.isnan(scaled)]
            weights = None if rows.weights is None else rows.weights[~np.isnan(scaled)]
            heavy = weights is None or weights.sum() > 0
            mean = float(np.average(known, weights=weights)) if len(known) and heavy else 0.0
            least = variable.least_variance(mean)
            variable, column = replace(variable, scale=None, resolution=math.sqrt(12 * least) or None), scaled
        plain[u] = replace(variable, name=f"_{u}"), column
    return plain[u]


def _values(rows: Table, dag: Dag, v: int, choices: Sequence[OnScale], plain: _Plain) -> npt.NDArray[np.float64]:
    """Return how probable the families of a number and of its children are on each of its scales, (n_choices,).

    The column stands in one table on all of them, so that all are scored from the same moments.
    """
    touched, others = _families_of(dag, v), sorted(_in_families_with(dag, v))
    place = {u: at for at, u in enumerate(others)}
    own: Any = rows.variables[v]
    of_v = [replace(own, name=f"{k}", scale=choice.scale) for k, choice in enumerate(choices)]
    known = [_beside(rows, u, plain) for u in others]
    columns = [column for _, column in known] + [rows.codes[v]] * len(choices)
    wide = Table.adopt([*(u for u, _ in known), *of_v], columns, weights=rows.weights, n_rows=rows.n_rows)
    pairs = []
    for k in range(len(choices)):
        at = {**place, v: len(others) + k}
        pairs += [(at[c], [at[p] for p in dag.parents[c]]) for c in touched]
    with np.errstate(over="ignore", invalid="ignore"):
        scores = local_scores(wide, Families.from_pairs(pairs), Bic()).reshape(len(choices), -1).sum(axis=1)
    found = scores + np.array([choice.worth for choice in choices])
    return np.where(np.isfinite(found), found, -np.inf)


# ------------------------------------------------------------------------------------------------------------ bins


def _better_cut(fitted: _Fitted, free: Sequence[str]) -> dict[str, Any]:
    """Return the columns that are better cut: all that are so by themselves together, then one after the other."""
    rows = fitted.rows
    gains = {name: _gain_of_bins(rows.select([name])) for name in free}
    by_gain = sorted((name for name in free if gains[name] > 0), key=lambda name: -gains[name])
    cut: list[str] = []
    best = fitted.value
    for names in [by_gain, *([name] for name in by_gain[:MOST_TRIED])] if by_gain else []:
        other = [name for name in by_gain if (name in cut) != (name in names)]
        value = _in_bins(rows, other).value - GAIN_OF_BINS * rows.total * len(other)
        if value > best:
            cut, best = other, value
    return _bins(rows, cut)


def _bins(rows: Table, names: Sequence[str]) -> dict[str, Any]:
    """Return into how many bins columns are cut: a few distinct numbers each have one of their own."""
    distinct = {name: len(np.unique(rows.column(name))) for name in names}
    return {name: n if n <= FEW_NUMBERS else AUTO for name, n in distinct.items()}


def _in_bins(rows: Table, names: Sequence[str]) -> _Fitted:
    """Learn a graph of rows with some columns in bins."""
    return _Fitted.of(rows.discretize(_bins(rows, names)) if names else rows, rows)


def _gain_of_bins(column: Table) -> float:
    """Return by how much a column alone is more probable in bins than as a normal number, less the prices."""
    if len(np.unique(column.codes[0])) < 2:
        return 0.0
    return _in_bins(column, column.names).value - _in_bins(column, []).value
