"""Run the study: ``python -m studies.knn_mi [--quick | --full] [--data FOLDER] [--keep FILE] [--output FILE]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from studies.knn_mi.options import REPETITIONS, Options
from studies.knn_mi.report import report

OUTPUT = Path("docs/studies/knn-mi.md")


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    line = argparse.ArgumentParser(
        prog="python -m studies.knn_mi", description="Markov networks by nearest neighbours."
    )
    form = line.add_mutually_exclusive_group()
    form.add_argument("--quick", action="store_true", help="about a minute: few rows, two repetitions, hardly any KCIT")
    form.add_argument("--full", action="store_true", help="many hours: 25 repetitions, KCIT on all sizes")
    line.add_argument("--data", type=Path, metavar="FOLDER", help="holds bio/; without it the proteins are left out")
    line.add_argument(
        "--repetitions",
        type=int,
        metavar="N",
        help=f"data sets a size of the seven nodes (default: {REPETITIONS['usual']}, with --quick "
        f"{REPETITIONS['quick']}, with --full {REPETITIONS['full']})",
    )
    line.add_argument("--processes", type=int, metavar="N", default=1, help="default: one, of as many threads as cores")
    line.add_argument("--keep", type=Path, metavar="FILE", help="keeps results; a run that finds them there goes on")
    line.add_argument("--output", type=Path, metavar="FILE", default=OUTPUT, help=f"the report (default: {OUTPUT})")
    return line


def main(arguments: Sequence[str] | None = None) -> None:
    """Compute the report and write it."""
    line = parser()
    asked = line.parse_args(arguments)
    form = "quick" if asked.quick else "full" if asked.full else "usual"
    repetitions = REPETITIONS[form] if asked.repetitions is None else asked.repetitions
    if repetitions < 1 or asked.processes < 1:
        line.error("--repetitions and --processes are at least 1")
    figures = None if asked.quick else asked.output.parent / "figures"
    options = Options(form, repetitions, asked.data, asked.processes, figures, asked.keep)
    text = report(options, lambda what: print(what, file=sys.stderr, flush=True))
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    asked.output.write_text(text)
    print(f"written: {asked.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
