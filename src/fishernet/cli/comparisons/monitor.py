"""``fishernet monitor``: batch after batch against a reference, a line of JSON each."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from fishernet.cli.kinds import explaining_kinds
from fishernet.cli.models import read_bayesian
from fishernet.cli.options import Reading, amount, count, reading_options
from fishernet.cli.tables.sources import scan_option
from fishernet.cli.terminal import CHANGED, FILE, Answer, Facts, answering, exit_code_option, progress_bar
from fishernet.compare import Monitor, MonitorResult


@click.command(short_help="Watch batches of rows: a line of JSON each.")
@click.argument("reference", type=FILE)
@click.argument("batches", type=FILE, nargs=-1, required=True)
@click.option("--model", type=FILE, help="Test the conditionals of this network, not of a learned one.")
@count("--permutations", default=999, show_default=True, help="Draw N tables for each test.")
@amount("--level", default=0.05, show_default=True, help="The probability of any false alarm, over all batches.")
@amount("--min-effect", default=0.0, show_default=True, help="Call a change of less than X nats none.")
@click.option("--state", type=FILE, help="Go on where the monitor ended that wrote this file, and keep it up to date.")
@exit_code_option
@count("--seed", default=0, show_default=True, help="The same seed gives the same p-values.")
@reading_options("keep", "drop", "error")
@scan_option
@answering()
@explaining_kinds
def monitor(reference: Path, batches: tuple[Path, ...], model: Path | None, exit_code: bool, **options: Any) -> Answer:
    """Compare each of BATCHES, in this order, with REFERENCE, and print a line of JSON for each.

    A line says whether there is an alarm, which variables changed given their parents, in which columns other shares of
    cells are missing, which labels are new, and which columns vanished or are new. The later batches are tested at
    smaller levels, so that false alarms stay as rare as --level says, however many batches there are.

    \b
    Examples
      fishernet monitor reference.csv batch-1.csv batch-2.csv
      fishernet monitor reference.parquet day-*.parquet --min-effect 0.01 --exit-code
      fishernet monitor reference.parquet today.parquet --state monitor.json
    """  # noqa: D301
    reading = Reading.out_of(options)
    network = None if model is None else read_bayesian(model, "monitor", "compare by")
    with progress_bar() as progress:
        found = Monitor(reading.read(reference, progress), network, bins=reading.uncut, **options)
        told = [_facts(path, found.update(reading.read(path, progress))) for path in batches]
    status = CHANGED if exit_code and any(facts["alarm"] for facts in told) else 0
    return Answer({"reference": str(reference), "batches": told}, map(json.dumps, told), status=status)


def _facts(path: Path, result: MonitorResult) -> Facts:
    words = ("nats", "low", "high")
    return {
        "file": str(path),
        "batch": result.batch,
        "rows": result.n_rows,
        "alarm": result.alarm,
        "changed": list(result.changed()),
        "missing": [asdict(missing) for missing in result.missing],
        "new_labels": {name: {str(label): n for label, n in of.items()} for name, of in result.new_labels.items()},
        "vanished": list(result.vanished),
        "new_columns": list(result.new_columns),
        "level": result.level,
        "p_values": {name: _finite(p) for name, p in result.p_values.items()},
        "nats": {name: dict(zip(words, map(_finite, of), strict=True)) for name, of in result.nats.items()},
    }


def _finite(number: float) -> float | None:
    """Return what JSON can say."""
    return number if math.isfinite(number) else None
