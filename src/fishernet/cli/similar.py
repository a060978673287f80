"""``fishernet similar``: the rows most like a given one, and what makes them so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa

from fishernet.base import check
from fishernet.base.vocabulary import UnknownName
from fishernet.cli.models import read_bayesian
from fishernet.cli.options import (
    count,
    missing_option,
    model_argument,
    read_known_rows,
    table_argument,
    text_options,
    unknown_option,
    with_states_of_model,
)
from fishernet.cli.tables.sources import read_originals
from fishernet.cli.terminal import Answer, Facts, aligned, answering, number, progress_bar, shown
from fishernet.data import Table
from fishernet.data.originals import shown_cells
from fishernet.kernels import AgreementKernel
from fishernet.kernels.fisher.hidden_variables import row_kernel
from fishernet.kernels.kernel import BaseKernel
from fishernet.select import Similar
from fishernet.select import similar as most_similar

SEED = 0  # of the kernel, which draws where exact probabilities would not fit: equal commands give equal numbers


@click.command(short_help="Find the rows most like a given one.")
@model_argument
@table_argument
@count("--row", metavar="I", required=True, help="The given row, counted from 0.")
@count("-n", "n", default=10, show_default=True, help="How many rows to find.")
@click.option(
    "--by",
    type=click.Choice(["agreement", "fisher"]),
    default="agreement",
    show_default=True,
    help="The kernel: the columns in which rows agree, as far as the rest of them says; or the Fisher kernel.",
)
@count("--top", default=3, show_default=True, help="How many variables to name per row.")
@text_options
@missing_option("keep", "state", "error")
@unknown_option
@answering()
def similar(
    model: Path, table: Path, row: int, n: int, by: str, top: int, missing: str, unknown: UnknownName
) -> Answer:
    """Find the rows of TABLE that are most like one of them, by a kernel of MODEL (.json, .bif, .net, ...).

    Likeness is a cosine, from -1 to 1, and a sum over the variables: for each row, those that add most to it are named
    with the row's cells as they are in the file. With --json all of them are, with the states that the model takes them
    for, and with all cells of the row. The given row itself is one of those that are compared; of equally like rows
    the first come first. Rows are counted from 0.

    Rows with missing cells (--missing keep) are compared by what is expected of these given what is known of each row;
    missing cells are shown as ?.

    \b
    Example
      fishernet similar model.json patients.csv --row 17 -n 5
    """  # noqa: D301
    check.integer(n, "n", least=1)
    check.integer(top, "top", least=1)
    with progress_bar() as progress:
        progress("reading the table", 0, None)
        network = read_bayesian(model, "similar", "compare rows by")
        file = read_originals(table)
        data = read_known_rows(table, file, network.variables, missing=missing, unknown=unknown).table
        data = with_states_of_model(data)
        check.integer(row, "row", least=0, most=data.n_rows - 1, note="the rows of the table")
        progress("comparing rows", 0, None)
        kernel: BaseKernel = AgreementKernel(network) if by == "agreement" else row_kernel(network, data, seed=SEED)
        found = list(_found(most_similar(kernel, data, row, n=n), file.frame))
    facts = {"model": str(model), "table": str(table), "rows": data.n_rows, "row": row, "by": by}
    lines = [("row", "cosine", "adds most to the cosine")]
    lines += [(str(one["row"]), number(one["cosine"]), _largest(one, top)) for one in found]
    return Answer(
        facts | {"states": states(data, row), "cells": shown_cells(file.frame, row), "similar": found},
        aligned([line if kernel.term_names else line[:2] for line in lines]),
    )


def states(table: Table, row: int) -> dict[str, Any]:
    """Return the labels or numbers of one row, by variable; None for a missing cell."""
    cells = {name: table[[row]][name].tolist()[0] for name in table.names}
    return {name: cell if cell == cell else None for name, cell in cells.items()}  # NaN is not itself


def _found(found: Similar, frame: pa.Table) -> Iterator[Facts]:
    """Yield the facts of each row that was found."""
    rows = zip(found.indices.tolist(), found.cosines.tolist(), found.by_variable.tolist(), strict=True)
    for row, cosine, terms in rows:
        of_row = {"states": states(found.table, row), "cells": shown_cells(frame, row)}
        yield {"row": row, "cosine": cosine, **of_row, "terms": dict(zip(found.names, terms, strict=True))}


def _largest(one: Facts, top: int) -> str:
    """Return the variables that add most to a cosine, with their cells; ties in the order of the variables."""
    names = list(one["terms"])
    terms = np.array(list(one["terms"].values()))
    order = np.argsort(-terms.round(12), kind="stable")[:top].tolist()  # rounding must not decide between equal ones
    signed = {v: f"{round(float(terms[v]), 2) + 0.0:+.2f}" for v in order}  # -0.0 becomes 0.0
    return ", ".join(f"{shown(names[v])} = {_cell(one, names[v])} ({signed[v]})" for v in order)


def _cell(one: Facts, name: str) -> str:
    """Return a cell as it is in the file, or the state that stands for a missing one; ? where none does."""
    found = one["cells"][name] if one["cells"][name] is not None else one["states"][name]
    return "?" if found is None else shown(found)
