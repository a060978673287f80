"""The command line of studies that have a quick, a usual and a full form, and can go on where they were ended."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar


@dataclass(frozen=True)
class Options:
    """What to compute; a study's own options say what follows from it."""

    form: str = "usual"
    """"quick", "usual" or "full"."""
    repetitions: int = 25
    """Data sets a size."""
    data: Path | None = None
    """The folder of real data and published figures; what it lacks is left out."""
    processes: int = 1
    figures: Path | None = None
    """The folder that figures are written to, below that of the report; without it there are none."""
    kept: Path | None = None
    """The file that results are kept in."""


Own = TypeVar("Own", bound=Options)


@dataclass(frozen=True)
class Study(Generic[Own]):
    """What such a study says of itself."""

    name: str
    """Of its package in ``studies``."""
    description: str
    quick: str
    """What the quick form takes, and leaves out."""
    full: str
    data: str
    """What the folder of data holds."""
    repetitions: Mapping[str, int]
    """By form."""
    options: Callable[..., Own]
    """Makes the study's own options."""
    report: Callable[[Own, Callable[[str], None]], str]
    """Makes the report, and says what it is doing."""
    output: Path

    def parser(self) -> argparse.ArgumentParser:
        """Return the command line."""
        line = argparse.ArgumentParser(prog=f"python -m studies.{self.name}", description=self.description)
        form = line.add_mutually_exclusive_group()
        form.add_argument("--quick", action="store_true", help=self.quick)
        form.add_argument("--full", action="store_true", help=self.full)
        line.add_argument("--data", type=Path, metavar="FOLDER", help=self.data)
        defaults = f"{self.repetitions['usual']}, with --quick {self.repetitions['quick']}"
        if self.repetitions["full"] != self.repetitions["usual"]:
            defaults += f", with --full {self.repetitions['full']}"
        line.add_argument("--repetitions", type=int, metavar="N", help=f"data sets a size (default: {defaults})")
        line.add_argument(
            "--processes", type=int, metavar="N", default=1, help="default: one, of as many threads as cores"
        )
        line.add_argument(
            "--keep", type=Path, metavar="FILE", help="keeps results; a run that finds them there goes on"
        )
        line.add_argument(
            "--output", type=Path, metavar="FILE", default=self.output, help=f"the report (default: {self.output})"
        )
        return line

    def main(self, arguments: Sequence[str] | None = None) -> None:
        """Compute the report and write it."""
        line = self.parser()
        asked = line.parse_args(arguments)
        form = "quick" if asked.quick else "full" if asked.full else "usual"
        repetitions = self.repetitions[form] if asked.repetitions is None else asked.repetitions
        if repetitions < 1 or asked.processes < 1:
            line.error("--repetitions and --processes are at least 1")
        figures = None if asked.quick else asked.output.parent / "figures"
        wanted = self.options(form, repetitions, asked.data, asked.processes, figures, asked.keep)
        text = self.report(wanted, lambda what: print(what, file=sys.stderr, flush=True))
        asked.output.parent.mkdir(parents=True, exist_ok=True)
        asked.output.write_text(text)
        print(f"written: {asked.output}", file=sys.stderr)
