"""Answers that are rows: of a table, or of a file as they are (`fishernet.data.originals`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

import click
import pyarrow as pa

from fishernet.base.errors import FileFormatError
from fishernet.cli.terminal import Answer, Command, answering, ending, stdout
from fishernet.data import Table, write_table
from fishernet.data.writing import FORMATS, FRAME_FORMATS, write_frame

formulas_option = click.option(
    "--escape-formulas",
    is_flag=True,
    help="CSV and TSV: write an apostrophe before text that a spreadsheet would take for a formula (= + - @).",
)


@dataclass(frozen=True, kw_only=True)
class RowsAnswer(Answer):
    """Rows of a table, or those of a frame, as CSV on stdout and in the format of its ending in a file."""

    rows: Table | None = None
    frame: pa.Table | None = None
    weights: str = "weights"
    escape_formulas: bool = False

    def write_plainly(self, output: Path | None) -> None:
        """Write the rows."""
        if self.frame is not None:
            if output is None:
                FRAME_FORMATS[".csv"](self.frame, stdout(), self.escape_formulas)
            else:
                write_frame(self.frame, output, escape_formulas=self.escape_formulas)
        elif self.rows is not None:
            if output is None:
                FORMATS[".csv"](self.rows, stdout(), self.weights, self.escape_formulas)
            else:
                write_table(self.rows, output, weights=self.weights, escape_formulas=self.escape_formulas)


def answering_rows(command: Callable[..., RowsAnswer]) -> Command:
    """Give a command that returns `RowsAnswer` what `answering` gives, and the option for spreadsheets."""

    @formulas_option
    @answering(_check_ending)
    @wraps(command)
    def answer(escape_formulas: bool, **words: Any) -> RowsAnswer:
        return replace(command(**words), escape_formulas=escape_formulas)

    return answer


def _check_ending(path: Path) -> None:
    packed = path.name.lower().endswith(".gz")
    if ending(path) not in FORMATS or (packed and ending(path) not in (".csv", ".tsv")):
        formats = ", ".join(FORMATS)
        raise FileFormatError(path, f"a table is written to {formats}, .csv.gz or .tsv.gz, by the path's ending")
