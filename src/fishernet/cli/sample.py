"""``fishernet sample``: rows drawn from a model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.random import Seed, generator
from fishernet.cli.evidence import Known, given_option, known_values, states_alone
from fishernet.cli.models import called, has_numbers, has_states, is_dependency, read_model, require
from fishernet.cli.options import count, model_argument, option_of, seed_option, taken
from fishernet.cli.tables.rows import RowsAnswer, answering_rows
from fishernet.data import Table, as_table
from fishernet.data.variable import seen_among

FURTHER_DIGITS = 6  # than the unit has


@click.command(short_help="Draw rows from a model.")
@model_argument
@count("-n", "n", required=True, help="Number of rows.")
@given_option
@count("--chains", metavar="C", help="Dependency networks: number of chains.  [default: 1]")
@count(
    "--burn-in",
    metavar="B",
    help="Dependency networks: draws before a chain's first row.  [default: one per variable; of several chains 100]",
)
@count("--thin", metavar="T", help="Dependency networks: draws between two rows.  [default: one per variable]")
@click.option(
    "--scan", metavar="random|ordered", help="Dependency networks: which variable is drawn next.  [default: random]"
)
@click.option(
    "--numbers/--bins",
    default=True,
    help="Where the model has bins, draw a number within each, uniformly, or name the bin.  [default: numbers]",
)
@seed_option
@answering_rows
def sample(model: Path, n: int, given: tuple[str, ...], numbers: bool, seed: int | None, **chain: Any) -> RowsAnswer:
    """Draw rows from MODEL (.json, .bif, .xdsl, .net, ...), given what is known.

    Rows of a Bayesian network are independent and exact, also with --given. Rows of a dependency network are drawn by
    pseudo-Gibbs sampling: one variable at a time is drawn from its conditional, given variables keep their states, and
    after every --thin draws the current states are written as a row. The rows of several --chains come one chain after
    the other. States are written as in a table. What is given may be several states (--given cough=mild,strong) or a
    range (--given "age>65"), but of a dependency network.

    Where the model has bins, a number (or date) is drawn uniformly within each bin; the outer bins end at the smallest
    and largest number of the column; columns of whole numbers get whole numbers. In a model of another program that
    does not have these limits, an outer bin is as wide as its neighbour. A given number means its bin; --bins names
    the bins instead.

    Numbers that a network has as numbers are drawn as such, exact and independent, also with --given (--given
    height=1.8). They are rounded as those of the table were that the network was learned from, where it knows their
    unit.

    The output is CSV on stdout, or the FILE of -o by its ending: .csv, .tsv (.gz may follow), .parquet,
    .arrow. With --json they are lists of labels, one per variable.

    \b
    Examples
      fishernet sample model.json -n 1000 --seed 1 -o rows.parquet
      fishernet sample model.json -n 1000 --given smoke=yes --chains 4 --thin 50
    """  # noqa: D301
    network, chain, known = read_model(model), taken(chain), {}
    if has_numbers(network):
        for name in chain:
            raise FishernetError(f"{option_of(name)} does not go with {called(network)}")
        known, random = known_values(given, "--given", network.variables), generator(seed)
        drawn = network.given(known).sample(n, seed=random) if known else network.sample(n, seed=random)
        rows = _in_units(as_table(drawn, network.variables), known)
    else:
        require(has_states, network, model, "sample")
        if not network.variables:
            raise SchemaError(f"{model}: the model has no variables, so there is nothing to draw")
        known = known_values(given, "--given", network.variables)
        random = generator(seed)  # the bins are those of the same seed with --bins
        rows = draw(network, n, known, random, chain)
    rows = rows.select(seen_among(rows.variables))
    if numbers:
        bins = {variable.name for variable in rows.variables if not variable.is_continuous}
        ranges = {name: value for name, value in known.items() if isinstance(value, tuple) and name in bins}
        rows = rows.to_numbers(within=ranges, seed=random)
    columns = {name: partial(labels, rows, name) for name in rows.names}
    return RowsAnswer({"rows": n, "seed": seed, "given": known, "columns": columns}, rows=rows)


def _in_units(rows: Table, known: Mapping[str, Any]) -> Table:
    """Return rows with drawn numbers rounded to the units of their columns."""
    columns = list(rows.codes)
    for v, variable in enumerate(rows.variables):
        if (
            variable.is_continuous
            and variable.resolution is not None
            and not isinstance(known.get(variable.name), float)
        ):
            unit = variable.resolution
            digits = FURTHER_DIGITS + math.ceil(-math.log10(unit))  # three times 0.1 is 0.3, without a 4 at the end
            columns[v] = np.round(np.round(columns[v] / unit) * unit, digits)
    return Table.adopt(rows.variables, columns, n_rows=rows.n_rows)


def draw(model: Any, n: int, given: Known, seed: Seed, chain: Mapping[str, Any]) -> Table:
    """Return rows drawn from a model of states: exactly, or by chains, which only a dependency network has."""
    if is_dependency(model):
        why = "chains keep one state each; that needs a model with exact inference"
        rows = model.sample(n, given=states_alone(given, "--given", why), seed=seed, **chain)
    elif chain:
        option = option_of(next(iter(chain)))
        raise FishernetError(f"{option} is for dependency networks; this model's rows are drawn without chains")
    else:
        rows = model.given(given).sample(n, seed=seed) if given else model.sample(n, seed=seed)
    return rows  # type: ignore[no-any-return]


def labels(rows: Table, name: str) -> list[Any]:
    """Return the labels of a column as JSON has them: dates as text."""
    column = rows[name]
    found: list[Any] = rows.to_frame()[name].cast("string").to_pylist() if column.dtype.kind == "M" else column.tolist()
    return found
