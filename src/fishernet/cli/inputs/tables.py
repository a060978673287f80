"""Table files on the command line: the options that say how one is read, and reading one for a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from fishernet.errors import FishernetError, SchemaError
from fishernet.models import BayesianNetwork, DependencyNetwork
from fishernet.table import Table, Variable, read_table
from fishernet.table.number_files import read_numbers
from fishernet.table.numbers import NamedColumns

Bins = int | dict[str, int | tuple[float, ...]]

weights_option = click.option("--weights", metavar="COLUMN", help="The column that says how often each row counts.")


@dataclass(frozen=True)
class Reading:
    """How a table without a model is read; the keywords of `fishernet.read_table`."""

    bins: Bins | None
    binning: str
    missing: str
    weights: str | None
    columns: list[str] | None = None

    def read(self, path: Path) -> Table:
        """Read a table and find the states of its variables."""
        return read_table(
            path,
            bins=self.bins,
            binning=self.binning,
            missing=self.missing,
            weights=self.weights,
            columns=self.columns,
        )

    def read_numbers(self, path: Path, what: str) -> NamedColumns:
        """Read columns of numbers.

        Parameters
        ----------
        path : Path
        what : str
            What takes numbers, for messages.

        Raises
        ------
        FishernetError
            When an option was given that only tables of states have.
        """
        if self.bins is not None:
            raise FishernetError(f"--bins makes states of numbers; {what} takes them as they are")
        if self.weights is not None:
            raise FishernetError(f"--weights is for tables of states; for {what} every row counts once")
        if self.missing not in ("error", "drop"):
            raise FishernetError(f"--missing {self.missing} is for tables of states; {what} takes --missing drop")
        return read_numbers(path, columns=self.columns, missing=self.missing)


columns_option = click.option(
    "--columns", metavar="A,B,...", help="Read these columns only. A name with a comma stands in double quotes."
)


def reading_options(*missing: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options that say how a table is read; it gets them as one keyword ``reading``.

    Parameters
    ----------
    *missing : str
        The words that ``--missing`` knows, the first of them the default.
    """

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        @click.option(
            "--bins",
            multiple=True,
            metavar="N|COLUMN=N|COLUMN=CUT,...",
            help="Cut numeric columns into at most N bins, or at the given points. May be repeated for columns.",
        )
        @click.option(
            "--binning",
            default="quantile",
            show_default=True,
            metavar="quantile|equal-width",
            help="How N bins are cut.",
        )
        @missing_option(*missing)
        @weights_option
        @wraps(command)
        def with_reading(
            *args: Any, bins: tuple[str, ...], binning: str, missing: str, weights: str | None, **rest: Any
        ) -> Any:
            reading = Reading(parse_bins(bins), binning, missing, weights)
            return command(*args, reading=reading, **rest)

        return with_reading

    return add


def missing_option(*words: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option ``--missing`` with these words, the first of them the default."""
    explained = {
        "error": "refuse them",
        "drop": "leave their rows out",
        "state": "make them a state of their own",
        "keep": "keep them",
    }
    return click.option(
        "--missing",
        type=click.Choice(words),
        default=words[0],
        show_default=True,
        help=f"Missing cells (empty, NA or ?): {', '.join(f'{explained[word]} ({word})' for word in words)}.",
    )


def parse_bins(texts: Sequence[str]) -> Bins | None:
    """Return what ``--bins`` says: None, a number of bins, or numbers and cut points by column.

    Raises
    ------
    FishernetError
        When one is no number, or a number for all columns comes with others.
    """
    if not texts:
        return None
    if len(texts) == 1 and "=" not in texts[0]:
        return _n_bins(texts[0], texts[0])
    bins: dict[str, int | tuple[float, ...]] = {}
    for text in texts:
        column, equals, value = text.rpartition("=")
        if not equals or column in bins:
            wrong = f"names the column {column!r} twice" if equals else "gives one number for all columns and others"
            raise FishernetError(f"--bins {wrong}; it takes N once, or COLUMN=N for different columns")
        bins[column] = _cuts(value, text) if "," in value or "." in value else _n_bins(value, text)
    return bins


def _n_bins(value: str, text: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise _no_bins(text) from None


def _cuts(value: str, text: str) -> tuple[float, ...]:
    try:
        return tuple(float(cut) for cut in value.split(",") if cut.strip())
    except ValueError:
        raise _no_bins(text) from None


def _no_bins(text: str) -> FishernetError:
    return FishernetError(f"--bins takes N, COLUMN=N or COLUMN=CUT,CUT,... (as in 4, age=4 or age=18,65), not {text!r}")


def read_for_model(
    path: Path, model: BayesianNetwork | DependencyNetwork, *, missing: str = "error", weights: str | None = None
) -> Table:
    """Read a table whose labels are looked up in a model's states; columns that it does not know are ignored."""
    return refuse_empty(path, read_table(path, schema=model.variables, missing=missing, weights=weights))


def read_columns(path: Path, variables: Sequence[Variable], missing: str, unknown: str = "error") -> Table:
    """Read some columns of a table, in their order, and every row."""
    return refuse_empty(path, read_table(path, schema=variables, missing=missing, unknown=unknown))


Rows = TypeVar("Rows", Table, NamedColumns)


def refuse_empty(path: Path, table: Rows) -> Rows:
    """Return the table, or the columns; raise SchemaError when there are no rows."""
    if not table.n_rows:
        raise SchemaError(f"{path}: there are no rows")
    return table
