"""Run the study: ``python -m studies.sequences [--quick] [--data FOLDER] [--output FILE]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from studies.sequences.report import Options, report

OUTPUT = Path("docs/studies/sequences.md")


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    line = argparse.ArgumentParser(prog="python -m studies.sequences", description="Kernels of sequences in an SVM.")
    line.add_argument("--quick", action="store_true", help="a few seconds: the toys alone, with few repetitions")
    line.add_argument("--data", type=Path, metavar="FOLDER", help="holds bio/; without it only the toys are computed")
    line.add_argument("--output", type=Path, metavar="FILE", default=OUTPUT, help=f"the report (default: {OUTPUT})")
    return line


def main(arguments: Sequence[str] | None = None) -> None:
    """Compute the report and write it."""
    asked = parser().parse_args(arguments)
    figures = None if asked.quick else asked.output.parent / "figures"
    text = report(Options(asked.quick, asked.data, figures), lambda what: print(what, file=sys.stderr, flush=True))
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    asked.output.write_text(text)
    print(f"written: {asked.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
