"""Run the study: ``python -m studies.qnml [--quick] [--data FOLDER] [--repetitions N] [--output FILE]``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from studies.qnml.report import PERMUTATIONS, REPETITIONS, Options, report

OUTPUT = Path("docs/studies/qnml.md")


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    line = argparse.ArgumentParser(prog="python -m studies.qnml", description="The experiments on qNML again.")
    line.add_argument("--quick", action="store_true", help="under a minute: fewer sizes, shares and repetitions")
    line.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        help="holds networks/*.bif.gz, uci/*.csv and reference/qnml-*.json; what it lacks is left out",
    )
    line.add_argument(
        "--repetitions",
        type=int,
        metavar="N",
        help=f"data sets a size, and permutations of a table up to {PERMUTATIONS} (default: {REPETITIONS[False]}, with "
        f"--quick {REPETITIONS[True]}; published: 1000)",
    )
    line.add_argument("--processes", type=int, metavar="N", default=os.cpu_count() or 1, help="default: one a core")
    line.add_argument("--output", type=Path, metavar="FILE", default=OUTPUT, help=f"the report (default: {OUTPUT})")
    return line


def main(arguments: Sequence[str] | None = None) -> None:
    """Compute the report and write it."""
    line = parser()
    asked = line.parse_args(arguments)
    repetitions = REPETITIONS[asked.quick] if asked.repetitions is None else asked.repetitions
    if repetitions < 1 or asked.processes < 1:
        line.error("--repetitions and --processes are at least 1")
    figures = None if asked.quick else asked.output.parent / "figures"
    options = Options(asked.quick, asked.data, repetitions, asked.processes, figures)
    text = report(options, lambda what: print(what, file=sys.stderr, flush=True))
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    asked.output.write_text(text)
    print(f"written: {asked.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
