"""Print results as Markdown: ``python -m studies.tables NAME [TABLE ...]``.

With ``--update`` the tables in the study's report are replaced, each below its mark ``<!-- table: NAME -->``, and what
computed them, below ``<!-- computed -->``. ``--beside FILE`` first counts which means are others in results of other
seeds (``--seed``), and puts the table ``second-seed`` into the results.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from studies.study import DOCS, TOLD, Table, joined, read, write

SECONDS = "seconds"  # in names of tables and columns: what a machine took


def main(arguments: Sequence[str] | None = None) -> None:
    line = argparse.ArgumentParser(prog="python -m studies.tables", description=__doc__)
    line.add_argument("name", help="of a study, or a file of results")
    line.add_argument("table", nargs="*", help="default: all")
    line.add_argument("--update", action="store_true", help="write the tables into the report")
    line.add_argument("--beside", type=Path, metavar="FILE", help="results of the same study with other seeds")
    asked = line.parse_args(arguments)
    path = Path(asked.name)
    called = asked.name.replace("_", "-")
    if asked.beside is not None:
        held = DOCS / "results" / f"{called}.json"
        other, others = read(asked.beside)
        found = second_seed(read(held)[1], others)
        other["settings"] = {"seed": other["seed"]}
        header, known = joined(held, "second seed", other, {found.name: found})
        write(held, header, list(known.values()))
    header, tables = read(path if path.suffix == ".json" else DOCS / "results" / f"{called}.json")
    if asked.update:
        report = DOCS / f"{called}.md"
        report.write_text(with_tables(report.read_text(encoding="utf-8"), tables, header), encoding="utf-8")
        return
    for table in tables:
        if not asked.table or table.name in asked.table:
            print(f"{table.name}\n\n{markdown(table)}\n")


def with_tables(report: str, tables: Sequence[Table], header: Mapping[str, Any] | None = None) -> str:
    """Return a report with the tables that its marks name, and with what the header says of how they were computed."""
    made = {f"table: {table.name}": markdown(table) for table in tables}
    if header is not None:
        made["computed"] = markdown(computed(header, tables))
    mark = re.compile(r"(<!-- (table: \S+|computed) -->\n)(\|.*\n)*")
    return mark.sub(lambda found: f"{found[1]}{made[found[2]]}\n" if found[2] in made else found[0], report)


def second_seed(tables: Sequence[Table], others: Sequence[Table]) -> Table:
    """Return of how many means of each table those of other seeds are further than three standard errors.

    The errors are those of the differences; cells without an error are not compared, nor is how long something took.
    Rows are the same that begin alike, and columns that are called alike.
    """
    rows, by_name = list[list[Any]](), {table.name: table for table in others}
    for table in tables:
        other = by_name.get(table.name)
        if other is None or table.name.endswith(SECONDS):
            continue
        names = [(at, name) for at, name in enumerate(table.columns) if name in other.columns and name != SECONDS]
        places = [(at, other.columns.index(name)) for at, name in names]
        waiting = [(_begins(row), row) for row in other.rows]
        apart = list[float]()
        for row in table.rows:
            like = next((one for one in waiting if one[0] == _begins(row)), None)
            if like is not None:
                waiting.remove(like)
                cells = [(row[at], like[1][there]) for at, there in places]
                apart += [_apart(*pair) for pair in cells if all(map(_has_error, pair))]
        if apart:
            rows.append([table.name, len(apart), sum(by > 3 for by in apart), max(apart)])
    return Table("second-seed", ["table", "means", "further than three", "furthest"], rows, ["", "", "", ".1f"])


def _begins(row: Sequence[Any]) -> list[Any]:
    """Return the words and whole numbers before the first mean, which say what a row is of."""
    return [cell for cell in takewhile(lambda cell: not isinstance(cell, Mapping), row) if isinstance(cell, str | int)]


def _has_error(cell: Any) -> bool:
    return isinstance(cell, Mapping) and "error" in cell


def _apart(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Return how many standard errors two means are apart; 0 where both are the same."""
    off, error = abs(one["mean"] - other["mean"]), float(np.hypot(one["error"], other["error"]))
    return off / error if error > 1e-9 else 0.0 if off < 1e-9 else np.inf


def computed(header: Mapping[str, Any], tables: Sequence[Table]) -> Table:
    """Return what computed the tables: a row per part that was computed by itself, and one of all others."""
    parts = [(held["tables"], held) for held in header.get("parts", {}).values()]
    others = [table.name for table in tables if not any(table.name in names for names, _ in parts)]
    rows = [
        [", ".join(names), *(told(held, key) for key in TOLD)] for names, held in [(others, header), *parts] if names
    ]
    heads = [
        "tables",
        "version",
        "date",
        "processor",
        "wall time, s",
        "processor time, s",
        "processes",
        "threads",
        "form",
    ]
    return Table("computed", heads, rows, ",.0f")


def told(header: Mapping[str, Any], key: str) -> Any:
    """Return what a header says, or that nobody wrote it down."""
    value = header.get(key)
    return "not recorded" if value is None else value


def markdown(table: Table) -> str:
    """Return a Markdown table; the first column is left-aligned, the others right."""
    formats = [table.format] * len(table.columns) if isinstance(table.format, str) else table.format
    lines: list[Sequence[str]] = [table.columns, [":---", *["---:"] * (len(table.columns) - 1)]]
    for row in table.rows:
        if not table.only or row[1] in table.only:
            least = min((cell["mean"] for cell in row if isinstance(cell, Mapping)), default=None)
            lines.append([text(c, f, least if table.best else None) for c, f in zip(row, formats, strict=True)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def text(cell: Any, form: str, least: float | None = None) -> str:
    """Return one cell; bold where its mean is the least."""
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Sequence):
        return " ".join(text(one, form) for one in cell)
    if not isinstance(cell, Mapping):
        return f"{cell:,}" if isinstance(cell, int) else short(cell) if form == "short" else format(cell, form)
    said = text(float(cell["mean"]), form)
    said += f" ± {text(float(cell['error']), form.removeprefix('+'))}" if "error" in cell else ""
    said = f"**{said}**" if cell["mean"] == least else said
    said += f" ({text(cell['published'], form)})" if cell.get("published") is not None else ""
    return said + "".join(f" ({cell[key]:,.0f})" for key in ("n", "edges") if key in cell)


def short(value: float) -> str:
    """Return a number with three digits; small ones as 4.5E-2."""
    if abs(value) < 1e-15:
        return "0"
    if abs(value) < 0.01:
        return f"{value:.1E}".replace("E-0", "E-")
    return f"{value:.3f}" if abs(value) < 10 else f"{value:,.1f}"


if __name__ == "__main__":
    main()
