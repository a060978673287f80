"""Run the study: ``python -m studies.dependency_networks [--quick] [--data FOLDER] [--output FILE]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from studies.dependency_networks.report import Options, report

OUTPUT = Path("docs/studies/dependency-networks.md")


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    line = argparse.ArgumentParser(prog="python -m studies.dependency_networks", description="P2's experiments again.")
    line.add_argument("--quick", action="store_true", help="under a minute: fewer training sizes and state spaces")
    line.add_argument("--data", type=Path, metavar="FOLDER", help="holds reference/bn20-37.json; left out without it")
    line.add_argument("--output", type=Path, metavar="FILE", default=OUTPUT, help=f"the report (default: {OUTPUT})")
    line.add_argument(
        "--ising-stationary",
        action="store_true",
        help="also the stationary distribution of 2^25 states: minutes, and 3 GB of memory (not with --quick)",
    )
    return line


def main(arguments: Sequence[str] | None = None) -> None:
    """Compute the report and write it."""
    line = parser()
    asked = line.parse_args(arguments)
    if asked.quick and asked.ising_stationary:
        line.error("--ising-stationary takes minutes; leave --quick out")
    figures = None if asked.quick else asked.output.parent / "figures"
    options = Options(asked.quick, asked.data, asked.ising_stationary, figures)
    text = report(options, lambda what: print(what, file=sys.stderr, flush=True))
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    asked.output.write_text(text)
    print(f"written: {asked.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
