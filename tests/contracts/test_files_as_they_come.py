"""Exported sheets, made with known truth: columns of one kind each, and files of mixed kinds and layouts."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fishernet as fn

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
    "answer": lambda d: labels(d, "no", "yes"),
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
MIXED = 30


def check(path: Path, made: dict[str, Made]) -> None:
    """Assert that a file is read as it is meant, whichever way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = fn.read_table(path)
        stream = fn.scan(path)
    assert stream == table
    assert table.n_rows == N
    assert table.names == tuple(made)
    for variable, (name, column) in zip(table.variables, made.items(), strict=True):
        if column.states is None:
            assert variable.is_continuous, variable
            assert variable.unit == column.unit
            np.testing.assert_allclose(table.column(name), column.meant, rtol=1e-12)
        else:
            assert variable.states == column.states
            assert table[name].tolist() == column.meant


def as_rows(made: dict[str, Made]) -> Rows:
    return [list(made), *map(list, zip(*(column.cells for column in made.values()), strict=True))]


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_of_one_kind(kind: str, tmp_path: Path) -> None:
    draws = random.Random(kind)
    made = {name: make(draws) for name, make in {kind: COLUMNS[kind], **PLAIN}.items()}
    path = tmp_path / "t.csv"
    path.write_text(delimited(as_rows(made)), encoding="utf-8")
    check(path, made)


@pytest.mark.parametrize("seed", range(MIXED))
def test_mixed_columns_in_a_layout(seed: int, tmp_path: Path) -> None:
    draws = random.Random(seed)
    kinds = draws.sample([*COLUMNS], 5)
    made = {name: make(draws) for name, make in {**{k: COLUMNS[k] for k in kinds}, **PLAIN}.items()}
    name, write = list(LAYOUTS.values())[seed % len(LAYOUTS)]
    content = write(as_rows(made))
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    check(path, made)
