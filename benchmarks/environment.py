"""Who takes part, and the peers' own environment: ``python -m benchmarks.environment`` makes it.

The Python peers live in ``.bench-venv`` (or where BENCHMARK_VENV says), so that nothing they want can change ours.
bnlearn comes from the system's R, with its packages bnlearn and jsonlite (Debian: r-cran-bnlearn, r-cran-jsonlite).
Nothing here fails a run: a peer that is missing is "not available".
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("BENCHMARK_VENV", ROOT / ".bench-venv"))
PYTHON = str(FOLDER / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
REQUIREMENTS = Path(__file__).parent / "peers" / "requirements.txt"
R_VERSIONS = "library(jsonlite); cat(sprintf('%s (R %s)', packageVersion('bnlearn'), getRversion()))"


def output(*command: str) -> str | None:
    """Return what a command prints, or None where it fails or is not there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def python_version(package: str, python: str = PYTHON) -> str | None:
    """Return the version of a package in an environment, or None."""
    return output(python, "-c", f"import importlib.metadata as m; print(m.version({package!r}))")


@dataclass(frozen=True)
class Contender:
    """A library that takes part; each of its runs is a process of its own."""

    name: str
    package: str
    module: str = ""  # of `benchmarks.peers`, which has its calls; ours are in the topics
    threads: tuple[int, ...] = (0,)  # settings to run it at; 0 is its own default
    python: str = PYTHON
    limit: float = 900.0  # seconds after which a run is given up

    @functools.cached_property
    def version(self) -> str | None:
        """Its version; None: not available here."""
        if self.name == "bnlearn":
            return output("Rscript", "-e", R_VERSIONS)
        found = python_version(self.package, self.python)
        return found or ("not installed" if self.name == OURS else None)  # PYTHONPATH may lead to ours


OURS = "fishernet"
HELD = "one core held"  # a form of a contender that is run beside an endless loop, which holds a core
ALL = (
    Contender(OURS, "fishernet", threads=(1, 2), python=sys.executable),
    Contender("pyAgrum", "pyagrum", "pyagrum_peer", threads=(1, 2)),
    Contender("pgmpy", "pgmpy", "pgmpy_peer", limit=240.0),
    Contender("scikit-learn", "scikit-learn", "sklearn_peer", threads=(1, 2)),
    Contender("hmmlearn", "hmmlearn", "hmmlearn_peer"),
    Contender("tigramite", "tigramite", "tigramite_peer", threads=(1, 2)),
    Contender("causal-learn", "causal-learn", "causallearn_peer"),
    Contender("pyarrow", "pyarrow", "pyarrow_peer", threads=(1, 2), python=sys.executable),
    Contender("AIX360", "aix360", "aix360_peer"),
    Contender("mmd-critic", "mmd-critic", "mmd_critic_peer"),
    Contender("goodpoints", "goodpoints", "goodpoints_peer"),
    Contender("DuckDB", "duckdb", "duckdb_peer", threads=(1, 2)),
    Contender("Polars", "polars", "polars_peer", threads=(1, 2)),
    Contender("bnlearn", "bnlearn"),
)
CONTENDERS = {contender.name: contender for contender in ALL}


def make_python() -> None:
    """Make the environment unless it already holds what it should; what cannot be installed is said and left out."""
    lines = [line.split() for line in REQUIREMENTS.read_text().splitlines() if line.strip() and line[0] != "#"]
    missing = [words for words in lines if not is_installed(*words[0].split("=="))]
    if missing and not Path(PYTHON).exists():
        subprocess.run([sys.executable, "-m", "venv", FOLDER], check=True)
    for words in missing:  # a requirement, then options of pip
        print(f"installing {words[0]} in {FOLDER.name}", flush=True)
        if subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", *words]).returncode:
            print(f"{words[0]} could not be installed: the rows of the peers that need it will say 'not available'")


def is_installed(package: str, version: str) -> bool:
    return (python_version(package) or "").split("+")[0] == version


def main() -> None:
    make_python()
    for name, contender in CONTENDERS.items():
        print(f"{name}: {contender.version or 'not available'}")


if __name__ == "__main__":
    main()
