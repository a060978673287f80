"""``fishernet describe``: what the columns of a table are."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from fishernet.base.io import check_writable, replacing_text
from fishernet.cli.kinds import explaining_kinds
from fishernet.cli.options import (
    Reading,
    plan_lines,
    reading_options,
    scales_of,
    scan_options,
    table_argument,
)
from fishernet.cli.tables.sources import opening, scheduler_option
from fishernet.cli.terminal import FILE, Answer, Facts, answering, csv_line, progress_bar, terminal_width
from fishernet.data.describe import ColumnDescription
from fishernet.independence import MissingnessResult, missingness
from fishernet.learn.missing.ways import way_with_missing

SHOWN = 3  # columns with missing cells
WIDTH = 100  # of the lines that say it
TIED = "\N{NO-BREAK SPACE}"


@click.command(short_help="Say what each column of a table is, and why.")
@table_argument
@reading_options("keep", "drop", "state", "error")
@scan_options
@scheduler_option
@click.option("--html", "page", type=FILE, help="Write the same as a page whose headings sort its table.")
@answering()
@explaining_kinds
def describe(table: Path, page: Path | None, **options: Any) -> Answer:
    """Print what each column of TABLE is taken for, what it holds, how many cells are missing, and why.

    Below stands what is odd: copies of rows and columns, columns that are empty, constant or follow from another,
    numbers far from the others.

    Where cells are missing, a paragraph says whether that depends on what is known of their rows (not of those of a
    cluster, --scheduler).

    \b
    Examples
      fishernet describe patients.csv
      fishernet describe patients.csv --categorical ward --bins 4 --bins age=6
    """  # noqa: D301
    if page is not None:
        check_writable(page)
    with progress_bar() as progress:
        reading = Reading.out_of(options)
        rows = reading.read(table, progress)
        if reading.missing == "state":
            rows = reading.in_states(rows)
        found, holes = rows.describe(), None if opening().scheduler else missingness(rows)
        ready = reading.ready(rows)
        plan = plan_lines(rows, ready, found.missing(), way_with_missing(ready, None))
        plan += [f"{name!r} is taken as {scale}" for name, scale in scales_of(ready).items()]
    facts = {"table": str(table), "rows": found.n_rows, "columns": found.to_frame().to_pylist(), "plan": plan}
    odd = () if opening().scheduler else rows.alerts()
    facts["alerts"] = list(odd)
    if page is not None:
        with replacing_text(page) as file:
            file.write(found.html(table.name, odd))
        facts["html"] = str(page)
    lines = found.text(_options, terminal_width()).splitlines()
    for paragraph in (odd, plan):
        lines += ["", *_wrapped(paragraph)] if paragraph else []
    if holes is None:  # it looks at all columns in the rows that lack one
        return Answer(facts, lines)
    said = ["", *_wrapped(holes.text(SHOWN).splitlines())] if holes.columns else []
    return Answer(facts | {"missingness": _facts(holes)}, [*lines, *said])


def _facts(holes: MissingnessResult) -> Facts:
    """Return what is said of missing cells; of every column the strongest tests alone."""
    return {
        "verdict": holes.verdict,
        "against_completely_at_random": holes.against,
        "alpha": holes.alpha,
        "tests_on_values": holes.n_values,
        "columns": [asdict(column) for column in holes.columns],
    }


def _options(column: ColumnDescription) -> str:
    """Return the options that overrule, as they are typed; a name with a comma stands in double quotes."""
    name = csv_line([column.name])
    first, *others = column.order or ("",)
    by_column = {"bins": f"{column.name}=4", "order": csv_line([f"{column.name}={first}", *others])}
    words = {word: by_column.get(word, name) for word in column.overrule}
    return " or ".join(f"--{word} {shlex.quote(text)}" for word, text in words.items())


def _wrapped(lines: Iterable[str]) -> list[str]:
    """Return lines broken at words, but not within ``12 %`` or ``p = 0.002``; those of a list are indented."""
    found = []
    for line in lines:
        tied = re.sub(r" (?=[%=<])|(?<=[=<]) ", TIED, line)
        indent = "  " * line.startswith("- ")
        found += textwrap.wrap(tied, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
    return [line.replace(TIED, " ") for line in found]
