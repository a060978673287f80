"""Who reads exported files right: sheets made with known truth, read by fishernet, pandas and DuckDB without an option.

    python -m studies.exports

makes a file for each of thirty kinds of columns, beside plain ones, and thirty files of mixed kinds in fifteen layouts,
and counts for each reader the files that come out right in all cells, and the columns that do. A column is right if its
numbers (or days, or seconds) are those that are meant and it is one of numbers, or if its labels are.
"""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import random
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import fishernet as fn

MIXED = 30
N = 150
DAY = datetime.date(1970, 1, 1)


@dataclass(frozen=True)
class Made:
    """A column: its cells as text, and what they mean: numbers (NaN for a missing one), or states."""

    cells: list[str]
    meant: list[Any]
    unit: str | None = None
    states: tuple[Any, ...] | None = None


Draws = random.Random


def numbers(
    draws: Draws, write: Callable[[float], str], low: float = 1000, high: float = 99999, digits: int = 2
) -> Made:
    x = [round(draws.uniform(low, high), digits) for _ in range(N)]
    return Made([write(v) for v in x], x)


def dates(draws: Draws, form: str) -> Made:
    days = [DAY + datetime.timedelta(draws.randrange(10000, 20000)) for _ in range(N)]
    return Made([day.strftime(form) for day in days], [(day - DAY).days for day in days], "days")


def spoiled(draws: Draws, word: str) -> Made:
    plain = numbers(draws, "{:.1f}".format, digits=1)
    gone = set(draws.sample(range(N), N // 10))
    return Made(
        [word if i in gone else cell for i, cell in enumerate(plain.cells)],
        [np.nan if i in gone else x for i, x in enumerate(plain.meant)],
    )


def labels(draws: Draws, *words: Any, order: tuple[Any, ...] | None = None) -> Made:
    cells = [*words, *(draws.choice(words) for _ in range(N - len(words)))]
    return Made([str(cell) for cell in cells], cells, states=order or tuple(sorted(words)))


def european(x: float) -> str:
    return f"{x:,.2f}".replace(",", " ").replace(".", ",").replace(" ", ".")


def times(draws: Draws) -> Made:
    seconds = [60 * draws.randrange(1440) for _ in range(N)]
    return Made([f"{s // 3600:02d}:{s // 60 % 60:02d}" for s in seconds], seconds, "time")


def zoned(draws: Draws) -> Made:
    seconds = [draws.randrange(10**9, 2 * 10**9) for _ in range(N)]
    utc = [datetime.datetime.fromtimestamp(s, datetime.UTC) for s in seconds]
    return Made([t.strftime("%Y-%m-%dT%H:%M:%SZ") for t in utc], seconds, "seconds")


def limits(draws: Draws) -> Made:
    x = [round(draws.uniform(0.5, 20), 2) for _ in range(N)]
    low = set(draws.sample(range(N), 12))
    return Made(
        ["<0.5" if i in low else f"{v}" for i, v in enumerate(x)], [0.5 if i in low else v for i, v in enumerate(x)]
    )


COLUMNS: dict[str, Callable[[Draws], Made]] = {
    "dollars": lambda d: numbers(d, "${:,.2f}".format),
    "euros": lambda d: numbers(d, lambda x: f"{european(x)} €"),
    "code of a currency": lambda d: numbers(d, "USD {:.2f}".format),
    "brackets": lambda d: numbers(d, lambda x: f"({-x:,.2f})" if x < 0 else f"{x:,.2f}", -5000, 5000),
    "commas between thousands": lambda d: numbers(d, lambda x: f"{int(x):,}", 1000, 10**7, 0),
    "points between thousands": lambda d: numbers(d, european),
    "blanks between thousands": lambda d: numbers(d, lambda x: f"{x:,.1f}".replace(",", " "), digits=1),
    "decimal commas": lambda d: numbers(d, lambda x: f"{x:.2f}".replace(".", ",")),
    "percentages": lambda d: numbers(d, "{:.1f}%".format, 0, 100, 1),
    "centimetres": lambda d: numbers(d, "{:.1f} cm".format, 100, 200, 1),
    "kilograms": lambda d: numbers(d, "{:.1f}kg".format, 10, 99, 1),
    "times": times,
    "times with zones": zoned,
    "day first with points": lambda d: dates(d, "%d.%m.%Y"),
    "day first with slashes": lambda d: dates(d, "%d/%m/%Y"),
    "day first with hyphens": lambda d: dates(d, "%d-%m-%Y"),
    "month first": lambda d: dates(d, "%m/%d/%Y"),
    "year first": lambda d: dates(d, "%Y/%m/%d"),
    "names of months": lambda d: dates(d, "%b %d %Y"),
    "days and names of months": lambda d: dates(d, "%d-%b-%Y"),
    "errors of spreadsheets": lambda d: spoiled(d, "#DIV/0!"),
    "n/a": lambda d: spoiled(d, "n/a"),
    "None": lambda d: spoiled(d, "None"),
    "hyphens": lambda d: spoiled(d, "-"),
    "limits": limits,
    "Likert": lambda d: labels(d, "agree", "disagree", "neutral", order=("disagree", "neutral", "agree")),
    "ranges": lambda d: labels(d, "18-24", "25-34", "5-17", "65+", order=("5-17", "18-24", "25-34", "65+")),
    "shares": lambda d: labels(d, "0%", "10%", "20%", "5%", order=("0%", "5%", "10%", "20%")),
    "ZIP codes": lambda d: labels(d, "01234", "02115", "94305"),
    "diagnoses": lambda d: labels(d, "E10", "E11", "I10", "1e5"),
}
PLAIN: dict[str, Callable[[Draws], Made]] = {
    "plain": lambda d: numbers(d, "{:.3f}".format, -5, 5, 3),
    "whole": lambda d: numbers(d, lambda x: str(int(x)), 0, 10**6, 0),
    "answer": lambda d: labels(d, "left", "right"),
    "place": lambda d: labels(d, "Göteborg", "Lund, Skåne", "Åbo"),
}
Rows = list[list[str]]


def delimited(rows: Rows, mark: str = ",", **how: Any) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=mark, lineterminator="\n", **how).writerows(rows)
    return text.getvalue()


def with_title(rows: Rows) -> str:
    return f"Export of the ward\n\nmade on 2024-01-01\n{delimited(rows)}"


def padded(rows: Rows) -> str:
    gap = [""] * (len(rows[0]) - 1)
    return delimited([["Export", *gap], ["", *gap], *rows])


def below_names(rows: Rows) -> str:
    return delimited([rows[0], [f"What is {name}?" for name in rows[0]], *rows[1:]])


LAYOUTS: dict[str, tuple[str, Callable[[Rows], str | bytes]]] = {
    "commas": ("t.csv", delimited),
    "semicolons": ("t.csv", lambda rows: delimited(rows, ";")),
    "tabs under another name": ("t.csv", lambda rows: delimited(rows, "\t")),
    "bars": ("t.txt", lambda rows: delimited(rows, "|")),
    "Windows": ("t.csv", lambda rows: delimited(rows, ";").replace("\n", "\r\n").encode("cp1252")),
    "UTF-16": ("t.txt", lambda rows: delimited(rows, "\t").encode("utf-16")),
    "a mark": ("t.csv", lambda rows: b"\xef\xbb\xbf" + delimited(rows).encode()),
    "a title": ("t.csv", with_title),
    "a padded title": ("t.csv", padded),
    "questions": ("t.csv", below_names),
    "all in quotes": ("t.csv", lambda rows: delimited(rows, quoting=csv.QUOTE_ALL)),
    "trailing delimiters": ("t.csv", lambda rows: delimited([[*row, ""] for row in rows])),
    "row names": ("t.csv", lambda rows: delimited([[str(i)[: i * 9], *row] for i, row in enumerate(rows)])),
    "comments": ("t.csv", lambda rows: "# made by a program, at night\n" + delimited(rows)),
    "packed": ("t.csv.gz", lambda rows: gzip.compress(delimited(rows).encode())),
}


@dataclass(frozen=True)
class Export:
    """A file, and what it means."""

    name: str
    path: str
    content: bytes
    columns: dict[str, Made]

    def written(self, folder: Path) -> Path:
        """Write it to a folder."""
        target = folder / self.path
        target.write_bytes(self.content)
        return target


def as_rows(columns: Mapping[str, Made]) -> Rows:
    """Return the header and the rows of a file."""
    return [list(columns), *map(list, zip(*(column.cells for column in columns.values()), strict=True))]


def exports() -> Iterator[Export]:
    """Yield all files."""
    for kind in COLUMNS:
        draws = random.Random(kind)
        columns = {name: make(draws) for name, make in {kind: COLUMNS[kind], **PLAIN}.items()}
        yield Export(kind, "t.csv", delimited(as_rows(columns)).encode(), columns)
    layouts = list(LAYOUTS.items())
    for seed in range(MIXED):
        draws = random.Random(seed)
        kinds = draws.sample([*COLUMNS], 5)
        columns = {name: make(draws) for name, make in {**{k: COLUMNS[k] for k in kinds}, **PLAIN}.items()}
        layout, (path, write) = layouts[seed % len(layouts)]
        content = write(as_rows(columns))
        yield Export(
            f"mixed {seed}: {layout}", path, content.encode() if isinstance(content, str) else content, columns
        )


# ----------------------------------------------------------------------------------------------------- who reads them

Read = Mapping[str, Any]  # the cells of each column, in a list or an array


def by_fishernet(path: Path) -> Read:
    """Read a file by `fishernet.read_table`."""
    table = fn.read_table(path)
    return {v.name: table.column(v.name) if v.is_continuous else table[v.name].tolist() for v in table.variables}


def by_pandas(path: Path) -> Read:
    """Read a file by `pandas.read_csv`."""
    import pandas as pd

    return {str(name): column.to_numpy() for name, column in pd.read_csv(path).items()}


def by_duckdb(path: Path) -> Read:
    """Read a file by DuckDB, which looks at a sample of its rows."""
    import duckdb

    relation: Any = duckdb.sql(f"select * from read_csv_auto('{path}')")
    return {str(name): column.to_numpy() for name, column in relation.df().items()}


READERS: dict[str, Callable[[Path], Read]] = {"fishernet": by_fishernet, "pandas": by_pandas, "DuckDB": by_duckdb}


def is_right(found: Any, made: Made) -> bool:
    """Whether the cells of a column are those that are meant."""
    if found is None or len(found) != N:
        return False
    if made.states is not None:
        return [None if x is None else str(x) for x in list(found)] == [str(x) for x in made.meant]
    values = np.asarray([_number(cell) for cell in found] if made.unit else found)
    if values.dtype.kind == "M":
        seconds = values.astype("datetime64[us]").astype(np.int64) / 1e6
        values = seconds / 86400 if made.unit == "days" else seconds
    return values.dtype.kind in "iuf" and bool(np.allclose(values, made.meant, rtol=1e-9, equal_nan=True))


def _number(cell: Any) -> Any:
    """Return what a time of the day, or a time in a zone, counts; other cells as they are."""
    if isinstance(cell, datetime.time):
        return 3600 * cell.hour + 60 * cell.minute + cell.second
    return cell.timestamp() if isinstance(cell, datetime.datetime) and cell.tzinfo is not None else cell


def main() -> None:
    """Print how many files and columns each reader has right."""
    files = list(exports())
    print(f"{'reader':<10} {'files right':>14} {'columns right':>16}")
    with tempfile.TemporaryDirectory() as folder:
        for reader, read in READERS.items():
            right = [count(read, one, Path(folder)) for one in files]
            n_files = sum(n == len(one.columns) for n, one in zip(right, files, strict=True))
            n_columns = sum(len(one.columns) for one in files)
            print(f"{reader:<10} {n_files:>7} of {len(files):>3} {sum(right):>8} of {n_columns:>4}")


def count(read: Callable[[Path], Read], export: Export, folder: Path) -> int:
    """Return how many columns of a file a reader has right; none of one that it refuses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = read(export.written(folder))
        except Exception:  # each reader has errors of its own
            return 0
    return sum(is_right(found.get(name), made) for name, made in export.columns.items())


if __name__ == "__main__":
    main()
