"""``fishernet report``: one page on a table and its network, which answers questions in the browser."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from fishernet.base.errors import FishernetError
from fishernet.cli.kinds import explaining_kinds
from fishernet.cli.models import has_variables, read_model, require
from fishernet.cli.options import (
    QUANTILE,
    Reading,
    count,
    reading_options,
    refuse_empty,
    table_argument,
    unknown_option,
)
from fishernet.cli.terminal import FILE, Answer, answering, progress_bar
from fishernet.data import Table
from fishernet.data.formats.text_file import PACKED
from fishernet.reports import Report
from fishernet.reports import report as make_report
from fishernet.reports.page import GENERATOR

MOST_HEAD = 4000  # characters of a page that say what made it


@click.command(short_help="Make one page on a table that answers questions.")
@table_argument
@click.option("--model", type=FILE, help="See the table by this network instead of a learned one.")
@click.option("--compare-with", type=FILE, metavar="FILE", help="A later table: say what changed since.")
@click.option("--target", metavar="COLUMN", help="A variable to predict: its blanket, and how well that goes.")
@click.option("--title", help="Of the page.  [default: the name of TABLE]")
@click.option("--no-rows", is_flag=True, help="Leave single rows out of the page, where they must not be passed on.")
@count("--seed", default=0, show_default=True, help="The same seed gives the same page.")
@reading_options("keep", "drop", "state", "error")
@unknown_option
@answering()
@explaining_kinds
def report(
    table: Path,
    model: Path | None,
    compare_with: Path | None,
    target: str | None,
    title: str | None,
    no_rows: bool,
    seed: int,
    **options: Any,
) -> Answer:
    """Write one HTML page on TABLE: its columns, its network, and what follows when states are known or set.

    Without -o it goes to a file in this folder that is named as TABLE is (patients.html), and with -o - to stdout.

    The page is one file that asks the network for nothing. States of any variables can be chosen on it, as seen or as
    set from outside, and the distributions of all others move; they are exact. It shows how sure the edges are, each
    variable's neighbours, how probable rows held out are, the oddest rows and their odd cells, rows that stand for the
    table, and where asked how well a column is predicted and what changed since another table. Of a network of labels
    that was learned from complete rows it says which rows are behind each answer.

    Without --model a Bayesian network is learned, with numbers as fishernet learn takes them (--bins). What would take
    long on many rows is done on some of them, and the page says where.

    \b
    Examples
      fishernet report patients.csv
      fishernet report january.csv --compare-with february.csv --target cough -o report.html
    """  # noqa: D301
    reading = Reading.out_of(options)
    with progress_bar() as progress:
        progress("reading the table", 0, None)
        network = None if model is None else require(has_variables, read_model(model), model, "report")
        rows = _read(table, reading, network)
        uncut = reading if network is not None else replace(reading, bins=None, binning=QUANTILE)
        later = None if compare_with is None else _read(compare_with, uncut, network)
        made = make_report(
            rows,
            network,
            compare_with=later,  # whose numbers are cut as those of the first
            target=target,
            title=title or table.name,
            bins=reading.uncut if network is None else None,
            rows=not no_rows,
            seed=seed,
            progress=progress,
        )
    return Answer(_facts(table, rows, made), [made.html.rstrip("\n")], place=partial(_page_of, table))


def _page_of(table: Path) -> Path:
    """Return the file for a table's page: here, with the table's name, and never over another kind of file."""
    name = table.name
    for ending in PACKED:
        name = name.removesuffix(ending)
    stem = Path(name).stem
    pages = [Path(f"{stem}.html"), Path(f"{stem}-report.html")]
    for page in pages:
        if not page.exists() or GENERATOR in page.read_text(encoding="utf-8", errors="replace")[:MOST_HEAD]:
            return page
    raise FishernetError(f"{pages[0]} and {pages[1]} are there, and are no pages of this command; name a file with -o")


def _read(path: Path, reading: Reading, network: Any) -> Table:
    if network is None:
        rows = refuse_empty(path, reading.read(path))
        return reading.in_states(rows) if reading.missing == "state" else rows
    return reading.read_known(path, network.variables)


def _facts(path: Path, table: Table, made: Report) -> dict[str, Any]:
    return {
        "table": str(path),
        "rows": table.n_rows,
        "title": made.title,
        "variables": list(made.model.names),
        "left_out": dict(made.left_out),
        "bytes": len(made.html.encode()),
        "html": made.html,
    }
