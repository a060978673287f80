"""Where results go: stdout, or the file of ``-o``; as text or as one JSON object.

What `fishernet learn` says of every kind of network.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import click

from fishernet.base.errors import FileFormatError, FishernetError
from fishernet.base.io import replacing_text

Facts = Mapping[str, Any]

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print the same facts as one JSON object.")
output_option = click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write here instead of to stdout."
)


def write_facts(facts: Facts, output: Path | None = None) -> None:
    """Write facts as one JSON object, a line a fact; numbers that JSON has no word for (-inf) are null."""
    fields = (f"{json.dumps(name)}: {_written(value)}" for name, value in facts.items())
    write_lines(["{", ",\n".join(fields), "}"], output)


def write_lines(lines: Iterable[str], output: Path | None = None) -> None:
    """Write lines to a file, or to stdout; always in UTF-8."""
    if output is not None:
        with replacing_text(output) as file:
            file.writelines(f"{line}\n" for line in lines)
        return
    stream = stdout()
    for line in lines:
        stream.write(f"{line}\n".encode("utf-8", "backslashreplace"))


def check_folder(path: Path | None) -> None:
    """Raise FileFormatError, before any work, when a file could not be written; None is stdout."""
    if path is None:
        return
    folder = Path(os.path.realpath(path)).parent
    if path.is_dir():
        raise FileFormatError(path, "cannot be written; it is a directory")
    if not folder.is_dir():
        raise FileFormatError(path, f"cannot be written; there is no directory {str(folder)!r}")
    if not os.access(folder, os.W_OK):
        raise FileFormatError(path, "cannot be written; its directory does not allow it")


def stdout() -> IO[bytes]:
    """Return the standard output, to write bytes to.

    Raises
    ------
    FishernetError
        When it was closed.
    """
    if sys.stdout is None:
        raise FishernetError("there is no standard output to write to; name a file with -o")
    return sys.stdout.buffer


def number(value: float) -> str:
    """Return a number of nats as people read it; ``-`` for one that is not known."""
    return "-" if math.isnan(value) else f"{value:,.4f}"


def csv_line(cells: Sequence[str]) -> str:
    """Return cells as a line of a CSV file, quoted where needed."""
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue().removesuffix("\r\n")


def aligned(rows: Sequence[Sequence[str]], *, right: bool = False) -> list[str]:
    """Return rows of cells as lines whose columns stand under each other; all but the first to the right if asked."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *rest in rows:
        placed = [
            f"{cell:>{width}}" if right else f"{cell:<{width}}" for cell, width in zip(rest, widths[1:], strict=True)
        ]
        lines.append("  ".join([f"{first:<{widths[0]}}", *placed]).rstrip())
    return lines


def _written(value: Any) -> str:
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


Line = tuple[str, str]


def number_or_word(text: str) -> float | str:
    """Return the number that a text is, or the text."""
    try:
        return float(text)
    except ValueError:
        return text


def row_lines(facts: Facts) -> list[Line]:
    """Return how many rows and variables there are."""
    return [
        ("rows", f"{facts['rows']:,} ({facts['training_rows']:,} to learn from, {facts['held_out_rows']:,} held out)"),
        ("variables", f"{len(facts['variables']):,}"),
    ]


def held_out_words(facts: Facts, name: str) -> str:
    """Return how well the rows held out are predicted; the name is that of the fact."""
    if not facts["held_out_rows"]:
        return "none, no rows were held out"
    impossible = facts.get("impossible_rows", 0)  # a density is nowhere 0
    told = f" ({impossible:,} rows have probability 0; --smoothing above 0 helps)" if impossible else ""
    return f"{number(facts[name])} a row{told}"


def seconds_line(facts: Facts) -> Line:
    """Return how long each part took."""
    return "seconds", ", ".join(f"{part} {seconds:.3f}" for part, seconds in facts["seconds"].items())


def saved_lines(facts: Facts, what: str) -> list[Line]:
    """Return where the network was saved and drawn, if it was; what stays is its arcs, inputs or edges."""
    if facts["model"] is None:
        return drawn_lines(facts)
    saved = f"{facts['model']}: these {what}, parameters fitted again on all {facts['rows']:,} rows"
    return [("saved", saved), *drawn_lines(facts)]


def drawn_lines(facts: Facts) -> list[Line]:
    """Return where the graph was drawn, if it was."""
    return [] if facts["plot"] is None else [("drawn", facts["plot"])]
