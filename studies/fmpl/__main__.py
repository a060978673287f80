"""Run the study: ``python -m studies.fmpl [--quick | --full] [--data FOLDER] [--keep FILE] [--output FILE]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from studies.fmpl.options import REPETITIONS, Options
from studies.fmpl.report import report

OUTPUT = Path("docs/studies/fmpl.md")


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    line = argparse.ArgumentParser(prog="python -m studies.fmpl", description="Gaussian Markov networks by FMPL.")
    form = line.add_mutually_exclusive_group()
    form.add_argument("--quick", action="store_true", help="under a minute: 64 variables, three data sets")
    form.add_argument("--full", action="store_true", help="days: the methods with an L1 penalty on all data sets")
    line.add_argument("--data", type=Path, metavar="FOLDER", help="holds reference/; without it that part is left out")
    line.add_argument(
        "--repetitions",
        type=int,
        metavar="N",
        help=f"data sets a size (default: {REPETITIONS['usual']}, with --quick {REPETITIONS['quick']})",
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
