"""``fishernet describe``: what the columns of a table are."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from fishernet.cli.options import Reading, explaining_kinds, reading_options, table_argument
from fishernet.cli.terminal import Answer, answering, csv_line
from fishernet.data.describe import ColumnDescription


@click.command(short_help="Say what each column of a table is, and why.")
@table_argument
@reading_options("keep", "drop", "state")
@answering()
@explaining_kinds
def describe(table: Path, **options: Any) -> Answer:
    """Print what each column of TABLE is taken for, what it holds, how many cells are missing, and why.

    \b
    Examples
      fishernet describe patients.csv
      fishernet describe patients.csv --categorical ward --bins 4 --bins age=6
    """  # noqa: D301
    found = Reading.out_of(options).read(table).describe()
    facts = {"table": str(table), "rows": found.n_rows, "columns": found.to_frame().to_pylist()}
    return Answer(facts, found.text(_options).splitlines())


def _options(column: ColumnDescription) -> str:
    """Return the options that overrule, as they are typed; a name with a comma stands in double quotes."""
    name = csv_line([column.name])
    words = {word: f"{column.name}=4" if word == "bins" else name for word in column.overrule}
    return " or ".join(f"--{word} {shlex.quote(text)}" for word, text in words.items())
