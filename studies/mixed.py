"""What to do with numbers beside labels: ``python -m studies.mixed --data FOLDER``.

Real tables with columns of numbers, those of a folder (`uci/*.csv` in it) and of the packages that are installed, are
divided at random; networks are learned from two thirds of the rows, and the rest is predicted. A number counts as the
interval of its rounding unit: its mass over the unit is comparable whether the network cuts columns into bins or has
regressions. Then every column is permuted by itself, and arcs are counted: all are false.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import log_ndtr

import fishernet as fn
from fishernet.data.encoding.scales import rounding_unit
from studies.real_tables import frames
from studies.study import Array, Run, Seeds, Table, main, mean

SEEDS = Seeds({"rows": 43_1, "columns": 43_2})
TAKES = "two minutes of one processor, --quick ten seconds"
WAYS: dict[str, dict[str, Any]] = {
    "bins=4": {"bins": 4},
    "bins=8": {"bins": 8},
    "bins='auto'": {"bins": "auto"},
    "as they are": {"bins": {}},
    "own scales": {"bins": {}},
    "scales": {"bins": {}},
    "the default": {},
}
MOST_ROWS, FEWEST_ROWS = 20_000, 60
MOST_STATES = 30
FEW_NUMBERS = 8  # of a column: bins=8 takes them as states
PLAIN, ALONE, BINS = "as they are", "own scales", "bins=8"


def real_tables(run: Run) -> Iterator[tuple[str, fn.Table]]:
    """Yield tables of labels and numbers, or of numbers, without rows that lack cells."""
    folder = run.file("uci")
    named: list[tuple[str, Any]] = (
        [(path.name.partition(".")[0], path) for path in sorted(folder.glob("*.csv*"))] if folder else []
    )
    for name, source in [*named, *frames()][: run.choose(3, 10_000)]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = fn.Table.from_frame(source()) if callable(source) else fn.read_table(source)
            table = table.drop_missing()
        kept = [v.name for v in table.variables if v.is_continuous or v.cardinality <= MOST_STATES]
        kept = [
            name for name in kept if len(np.unique(table.column(name)[:MOST_ROWS])) > 2 or not _is_number(table, name)
        ]
        if table.n_rows >= FEWEST_ROWS and any(_is_number(table, name) for name in kept):
            yield name, table.select(kept)


def _is_number(table: fn.Table, name: str) -> bool:
    return table.variables[table.names.index(name)].is_continuous


def learned(table: fn.Table, way: str) -> fn.BayesianNetwork:
    """Return the network of a way to take numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if way == PLAIN:
            units = {v.name: "identity" for v in table.variables if v.is_continuous}
            table = table.rescale(units)
        elif way == ALONE:
            table = table.rescale()
        return fn.learn.bayesian_network(table, search="hill-climb", **WAYS[way])


def predicted(table: fn.Table) -> dict[str, Array]:
    """Return the log-mass of each row held out, in nats, by way."""
    random = np.random.default_rng(SEEDS["rows"])
    order = random.permutation(table.n_rows)[:MOST_ROWS]
    first = 2 * len(order) // 3
    rows, held_out = table[np.sort(order[:first])], table[np.sort(order[first:])]
    held_out = held_out[np.flatnonzero(_has_known_numbers(rows, held_out))]
    units = {
        v.name: rounding_unit(table.column(v.name)) or 1e-9 * np.ptp(table.column(v.name))
        for v in table.variables
        if v.is_continuous
    }
    return {way: _log_mass(learned(rows, way), rows, held_out, units) for way in WAYS}


def _has_known_numbers(rows: fn.Table, held_out: fn.Table) -> npt.NDArray[np.bool_]:
    """Return which rows have, in columns of so few numbers that a way takes them as states, those of training alone."""
    known = np.ones(held_out.n_rows, bool)
    for variable in rows.variables:
        seen = np.unique(rows.column(variable.name))
        if variable.is_continuous and len(seen) <= FEW_NUMBERS:
            known &= np.isin(held_out.column(variable.name), seen)
    return known


def _log_mass(net: fn.BayesianNetwork, rows: fn.Table, held_out: fn.Table, units: dict[str, float]) -> Array:
    table, total = held_out.conform(net.variables), np.zeros(held_out.n_rows)
    if not any(v.is_continuous for v in net.variables):
        total += net.log_prob(table)
    for v, conditional in enumerate(net.conditionals):
        variable: Any = net.variables[v]
        if variable.is_continuous:
            total += _of_number(conditional, table, rows.column(variable.name), units[variable.name])
        elif any(one.is_continuous for one in net.variables):
            total += conditional.log_prob(table)
        if variable.name in units and not variable.is_continuous:
            widths = np.full(variable.cardinality, units[variable.name])  # of few numbers, which stay as they are
            if variable.cuts is not None:
                limits = variable.bin_limits()
                widths = np.maximum(limits[:, 1] - limits[:, 0], units[variable.name])
            total -= np.log(widths)[table.codes[v]]
    return total


def _of_number(regression: Any, table: fn.Table, column: Array, unit: float) -> Array:
    """Return the log-mass of intervals of the rounding unit, over it; a share of 1 / (n + 1) of a Cauchy guards it."""
    x, variable, n = table.codes[regression.child], regression.variables[-1], len(column)
    at, e = regression.noise(table)
    sd = regression.by_group()[2][at]
    expected = variable.scaled(x) - e * sd
    low, high = ((variable.scaled(x + side * unit / 2) - expected) / sd for side in (-1, 1))
    low, high = np.where(low > 0, -high, low), np.where(low > 0, -low, high)  # the tail that keeps its digits
    with np.errstate(divide="ignore"):
        mass = log_ndtr(high) + np.log1p(-np.exp(np.minimum(log_ndtr(low) - log_ndtr(high), -1e-300)))
    middle, width = float(np.median(column)), max(float(np.std(column)), unit)
    ends = [np.arctan((x + side * unit / 2 - middle) / width) for side in (1, -1)]
    guard = np.log((ends[0] - ends[1]) / np.pi)
    return np.asarray(np.logaddexp(mass + np.log(n / (n + 1)), guard - np.log(n + 1)) - np.log(unit))


def false_arcs(table: fn.Table) -> dict[str, float]:
    """Return how many arcs are learned, by way, from columns that are permuted each by itself."""
    random = np.random.default_rng(SEEDS["columns"])
    table = table[:2000]
    columns = [column[random.permutation(table.n_rows)] for column in table.codes]
    rows = fn.Table.adopt(table.variables, columns, n_rows=table.n_rows)
    return {way: float(learned(rows, way).dag.n_edges) for way in WAYS}


def compute(run: Run) -> Iterator[Table]:
    """Predict rows held out, and count false arcs."""
    found = list(real_tables(run))
    masses, arcs = [predicted(table) for _, table in found], [false_arcs(table) for _, table in found]
    kinds = [
        [name, table.n_rows, len(table.names), sum(v.is_continuous for v in table.variables)] for name, table in found
    ]
    ways = list(WAYS)
    means = [{way: float(np.mean(of[way])) for way in ways} for of in masses]
    rows = [
        [*kind, of[ways[0]], *(of[way] - of[ways[0]] for way in ways[1:])]
        for kind, of in zip(kinds, means, strict=True)
    ]
    yield Table("predicted", ["table", "rows", "columns", "numbers", *ways], rows)
    more = [
        [
            way,
            *_summary(np.array([of[way] - of[ways[0]] for of in means]), [of[way] for of in arcs]),
            *(float(np.mean([_is_as_good(of[way], of[other]) for of in masses])) for other in (BINS, PLAIN)),
        ]
        for way in ways
    ]
    words = ["numbers", "mean", "median", "false arcs", "most false arcs", "as good as bins=8", "as good as they are"]
    yield Table("ways", words, more)


def _summary(gains: Array, arcs: list[float]) -> list[Any]:
    return [mean(gains), float(np.median(gains)), mean(arcs), max(arcs)]


def _is_as_good(found: Array, other: Array) -> bool:
    """Return whether rows are not less probable than in another way, by more than two standard errors."""
    less = other - found
    return bool(less.mean() <= 2 * less.std(ddof=1) / np.sqrt(len(less)))


if __name__ == "__main__":
    main("mixed", compute, seeds=SEEDS, about=__doc__, takes=TAKES)
