"""``fishernet similar``: the rows most like a given one, and what makes them so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.cli.models import read_bayesian
from fishernet.cli.options import missing_option, read_for_model
from fishernet.cli.output import (
    Facts,
    aligned,
    as_json_option,
    check_folder,
    number,
    output_option,
    write_facts,
    write_lines,
)
from fishernet.cli.terminal import progress_bar, shown
from fishernet.data import Table
from fishernet.kernels import FisherKernel
from fishernet.select import Similar
from fishernet.select import similar as most_similar

SEED = 0  # of the kernel, which draws where exact probabilities would not fit: equal commands give equal numbers


@click.command(short_help="Find the rows most like a given one.")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--row", type=int, required=True, metavar="I", help="The given row, counted from 0.")
@click.option("-n", "n", type=int, default=10, show_default=True, metavar="N", help="How many rows to find.")
@click.option("--top", type=int, default=3, show_default=True, metavar="N", help="How many variables to name a row.")
@missing_option("error", "state")
@output_option
@as_json_option
def similar(
    model: Path,
    table: Path,
    row: int,
    n: int,
    top: int,
    missing: str,
    output: Path | None,
    as_json: bool,
) -> None:
    """Find the rows of TABLE that are most like one of them, by the Fisher kernel of MODEL (.json or .bif).

    Likeness is a cosine, from -1 to 1, and a sum over the variables: for each row, those that add most to it are named
    with the row's states. With --json all of them are. The given row itself is among the rows found. Rows are counted
    from 0.

    \b
    Example
      fishernet similar model.json patients.csv --row 17 -n 5
    """  # noqa: D301
    check.integer(n, "n", least=1)
    check.integer(top, "top", least=1)
    check_folder(output)
    with progress_bar() as progress:
        progress("reading the table", 0, None)
        network = read_bayesian(model, "similar")
        if not network.variables:
            raise SchemaError(f"{model}: the model has no variables, so there is nothing to compare rows by")
        data = read_for_model(table, network, missing=missing)
        check.integer(row, "row", least=0, most=data.n_rows - 1, note="the rows of the table")
        progress("comparing rows", 0, None)
        found = most_similar(FisherKernel(network, seed=SEED), data, row, n=n)
    if as_json:
        facts = {"model": str(model), "table": str(table), "rows": data.n_rows, "row": row}
        write_facts(facts | {"states": states(data, row), "similar": [*_found(found)]}, output)
    else:
        write_lines(_text(found, top), output)


def states(table: Table, row: int) -> dict[str, Any]:
    """Return the labels of one row of a table without missing cells, by variable."""
    return {name: table[[row]][name].tolist()[0] for name in table.names}


def _found(found: Similar) -> Iterator[Facts]:
    """Yield the facts of each row that was found."""
    rows = zip(found.indices.tolist(), found.cosines.tolist(), found.by_variable.tolist(), strict=True)
    for row, cosine, terms in rows:
        yield {
            "row": row,
            "cosine": cosine,
            "states": states(found.table, row),
            "terms": dict(zip(found.names, terms, strict=True)),
        }


def _text(found: Similar, top: int) -> list[str]:
    rows = [(str(one["row"]), number(one["cosine"]), _largest(one, top)) for one in _found(found)]
    return aligned([("row", "cosine", "adds most to the cosine"), *rows])


def _largest(one: Facts, top: int) -> str:
    """Return the variables that add most to a cosine, with their states; ties in the order of the variables."""
    names = list(one["terms"])
    terms = np.array(list(one["terms"].values()))
    order = np.argsort(-terms.round(12), kind="stable")[:top].tolist()  # rounding must not decide between equal ones
    return ", ".join(f"{shown(names[v])} = {shown(one['states'][names[v]])} ({_signed(terms[v])})" for v in order)


def _signed(term: float) -> str:
    return f"{round(float(term), 2) + 0.0:+.2f}"  # -0.0 becomes 0.0
