"""Who takes part: the command of each worker, the thread settings it is run at, and whether it is there."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

from benchmarks.environment import PYTHON, ROOT, bnlearn_version, python_version

OURS = "fishernet"


@dataclass(frozen=True)
class Contender:
    """A library that runs jobs in processes of its own."""

    name: str
    command: tuple[str, ...]
    threads: tuple[int, ...]
    """Settings to run it at; 0 is its own default."""
    version: str | None
    """None: not available here."""
    python: str | None = None
    """The interpreter that imports it, and under which name."""
    module: str = ""
    limit: float = 900.0
    """Seconds after which a job is given up."""


def all_contenders(peers: bool = True) -> dict[str, Contender]:
    """Return the contenders by name, ours first."""
    here, there = sys.executable, os.fspath(PYTHON)
    ours = Contender(
        OURS,
        (here, "-m", "benchmarks.workers.ours"),
        (1, 2),
        python_version("fishernet", here) or "not installed",
        here,
        OURS,
    )
    if not peers:
        return {OURS: ours}
    worker = ROOT / "benchmarks" / "peers" / "bnlearn_peer.R"
    found = [
        ours,
        Contender(
            "pyAgrum",
            (there, "-m", "benchmarks.peers.pyagrum_peer"),
            (1, 2),
            python_version("pyagrum"),
            there,
            "pyagrum",
        ),
        Contender(
            "pgmpy",
            (there, "-m", "benchmarks.peers.pgmpy_peer"),
            (0,),
            python_version("pgmpy"),
            there,
            "pgmpy",
            limit=240.0,
        ),
        Contender(
            "scikit-learn",
            (there, "-m", "benchmarks.peers.sklearn_peer"),
            (1, 2),
            python_version("scikit-learn"),
            there,
        ),
        Contender(
            "hmmlearn",
            (there, "-m", "benchmarks.peers.hmmlearn_peer"),
            (0,),
            python_version("hmmlearn"),
            there,
        ),
        Contender(
            "tigramite",
            (there, "-m", "benchmarks.peers.tigramite_peer"),
            (1, 2),
            python_version("tigramite"),
            there,
        ),
        Contender("bnlearn", ("Rscript", os.fspath(worker)), (0,), bnlearn_version()),
        Contender(
            "pyarrow", (here, "-m", "benchmarks.peers.pyarrow_peer"), (1, 2), python_version("pyarrow", here), here
        ),
    ]
    return {contender.name: contender for contender in found}
