"""Which search finds the best graph: BIC of the search over orders less that of every other, ours and pyAgrum's.

    python -m benchmarks.search_scores FOLDER

The folder holds ``uci/``, ``exact/`` and ``density/`` with the tables named below. Every graph is scored by this
library; a negative number would be a search that beats the default.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyagrum as gum

import fishernet as fn

UCI = [
    "adult-train.csv.gz",
    "breast-cancer.csv",
    "car.csv",
    "cmc.csv",
    "credit-g.csv",
    "dermatology.csv",
    "kr-vs-kp.csv",
    "letter.csv",
    "lymph.csv",
    "mushroom.csv",
    "pendigits.csv",
    "primary-tumor.csv",
    "segment.csv",
    "soybean.csv",
    "spect-train.csv",
    "vote.csv",
    "waveform-5000.csv.gz",
    "zoo.csv",
]
EXACT = ["alarm1000", "flag", "insurance1000", "steel", "water1000", "wdbc"]
DENSITY = ["dna", "nltcs"]
OURS: dict[str, Any] = {
    "hill-climb": fn.learn.HillClimb(),
    "tabu": fn.learn.Tabu(),
    "tabu, 25 restarts": fn.learn.Tabu(restarts=25),
}


def tables(folder: Path) -> dict[str, Callable[[], fn.Table]]:
    """Return what makes each table; numbers are cut into five bins."""
    found: dict[str, Callable[[], fn.Table]] = {}
    for name in UCI:
        path = folder / "uci" / name
        found[name.split(".")[0]] = partial(fn.read_table, path, bins=5, missing="state")
    for name in EXACT:
        found[name] = partial(of_codes, folder / "exact" / f"{name}.csv.gz")
    for name in DENSITY:
        found[name] = partial(of_codes, folder / "density" / f"{name}.train.csv.gz")
    return found


def of_codes(path: Path) -> fn.Table:
    """Read a file of whole numbers without a header; states that never occur are left out."""
    codes = np.loadtxt(path, delimiter=",", dtype=int)
    return fn.Table.from_codes(np.column_stack([np.unique(column, return_inverse=True)[1] for column in codes.T]))


def by_pyagrum(table: fn.Table, *, tabu: bool) -> fn.Dag:
    """Return the graph that pyAgrum finds under BIC, without a limit on parents."""
    columns = dict(zip(table.names, table.codes, strict=True))
    learner = gum.BNLearner(pd.DataFrame(columns))
    learner.useScoreBIC()
    learner.useNoPrior()
    if tabu:
        learner.useLocalSearchWithTabuList(100, 15)
    else:
        learner.useGreedyHillClimbing()
    graph = learner.learnDAG()
    names = {node: learner.nameFromId(node) for node in graph.nodes()}
    return fn.Dag.from_edges(table.names, [(names[tail], names[head]) for tail, head in graph.arcs()])


def row(name: str, table: fn.Table) -> tuple[str, bool]:
    """Return a line of the table, and whether the search over orders is below another."""
    began = time.perf_counter()
    best = fn.learn.structure(table)
    seconds = time.perf_counter() - began
    others = [fn.learn.structure(table, search=search).score for search in OURS.values()]
    others += [fn.score(by_pyagrum(table, tabu=tabu), table) for tabu in (False, True)]
    gains = [best.score - score for score in others]
    size = f"{name} | {table.n_rows:,} | {len(table.variables)}"
    shown = " | ".join(f"{gain + 0.0:.2f}" for gain in gains)
    return f"| {size} | {best.score:.2f} | {shown} | {seconds:.2f} |", min(gains) < -1e-6 * abs(best.score)


def main() -> None:
    """Print one row per table."""
    columns = ["table", "rows", "variables", "BIC", *OURS, "pyAgrum's climb", "pyAgrum's tabu", "seconds"]
    print("| " + " | ".join(columns) + " |")
    print("|---" * len(columns) + "|")
    below = []
    for name, make in tables(Path(sys.argv[1])).items():
        line, lost = row(name, make())
        below += [name] * lost
        print(line, flush=True)
    print(f"\nNever below another search: {'no, on ' + ', '.join(below) if below else 'yes'}.")


if __name__ == "__main__":
    main()
