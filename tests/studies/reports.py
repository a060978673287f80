"""The reports of studies as tests read them: their text, and their tables as rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studies.study import read

REPORTS = Path(__file__).parents[2] / "docs" / "studies"
Row = dict[str, Any]
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")


def of(cell: Any) -> float:
    """The mean in a cell."""
    return float(cell["mean"] if isinstance(cell, dict) else cell)


def plus_minus(cell: Any) -> str:
    return f"{of(cell):.3f} ± {cell['error']:.3f}"


def within(rows: list[Row], table: str) -> list[Row]:
    return [row for row in rows if row["table"] == table]


class Report:
    """A report's text with single spaces, and its tables as rows."""

    def __init__(self, name: str) -> None:
        self.text = " ".join((REPORTS / f"{name}.md").read_text(encoding="utf-8").split())
        self.tables = {table.name: table.select() for table in read(REPORTS / "results" / f"{name}.json")[1]}

    def says(self, *phrases: str) -> None:
        for phrase in phrases:
            assert phrase in self.text
