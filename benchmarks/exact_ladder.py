"""The ladder of exact search: what the default search finds in tables of the literature, and what a minute proves.

    python -m benchmarks.exact_ladder --data ../shared/data            # some half an hour on one core
    python -m benchmarks.exact_ladder --data ../shared/data zoo flag   # some tables
    python -m benchmarks.exact_ladder --data ../shared/data --write    # makes LADDER.md

Of each table, score and limit on parents: the score that the default search finds and its time, then that of exact
search with a deadline of a minute, its time and how far the best graph may be from it ("proven": no graph is better).
Rows of networks are sampled from them; of those with more variables the first 60 are taken.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fishernet as fn
from benchmarks.report import machine
from fishernet.base.errors import StateSpaceError

SECONDS = 60.0
FILES = {
    "zoo": "exact/zoo.csv.gz",
    "voting": "exact/voting.csv.gz",
    "flag": "exact/flag.csv.gz",
    "mushroom": "uci/mushroom.csv",
    "lung-cancer": "exact/lung-cancer.csv.gz",
    "soybean": "exact/soybean.csv.gz",
    "wdbc": "exact/wdbc.csv.gz",
    "steel": "exact/steel.csv.gz",
    "alarm1000": "exact/alarm1000.csv.gz",
    "insurance1000": "exact/insurance1000.csv.gz",
    "water1000": "exact/water1000.csv.gz",
    "carpo100": "exact/carpo100.csv.gz",
    "hailfinder100": "exact/hailfinder100.csv.gz",
    "kr-vs-kp": "uci/kr-vs-kp.csv",
    "lymph": "uci/lymph.csv",
    "primary-tumor": "uci/primary-tumor.csv",
    "spect": "uci/spect-test.csv",
}
NETWORKS = ("mildew", "barley", "hailfinder", "hepar2", "win95pts", "andes", "pigs")
ROWS_OF_NETWORKS = 1000
MOST_VARIABLES = 60
CASES: tuple[tuple[Any, int | None], ...] = (("bic", None), ("bic", 3), ("bdeu", 2), ("bdeu", 3), ("qnml", 3))


@dataclass(frozen=True)
class Rung:
    """What was found of a table by one score under one limit."""

    table: str
    size: str
    score: str
    limit: int | None
    default: float
    default_seconds: float
    exact: float | None
    gap: float | None
    seconds: float

    def line(self) -> str:
        """Return a line of the table."""
        limit = "none" if self.limit is None else str(self.limit)
        start = f"| {self.table} | {self.size} | {self.score} | {limit} | {self.default:.4f} "
        start += f"| {self.default_seconds:.1f} |"
        if self.exact is None:
            return f"{start} | | refused | |"
        short = max(0.0, self.exact - self.default)
        proof = "proven" if self.gap is not None and self.gap < 1e-6 else "?" if self.gap is None else f"{self.gap:.1f}"
        return f"{start} {self.exact:.4f} | {short:.4f} | {proof} | {self.seconds:.1f} |"


HEAD = (
    "| table | rows x columns | score | parents | default | s | exact | default is short by | gap | s |",
    "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
)


def tables(data: Path, names: list[str]) -> Iterator[tuple[str, fn.Table]]:
    """Yield the tables by name, with a state for missing cells."""
    for name, file in FILES.items():
        if not names or name in names:
            yield name, fn.read_table(data / file, missing="state")
    for name in NETWORKS:
        if not names or name in names:
            network = fn.load(data / f"networks/{name}.bif.gz")
            yield name, network.sample(ROWS_OF_NETWORKS, seed=1).select(network.names[:MOST_VARIABLES])


def climb(name: str, table: fn.Table, score: Any, limit: int | None) -> Rung:
    """Search twice."""
    options: dict[str, Any] = {"score": score, "max_parents": limit, "seed": 1}
    began = time.perf_counter()
    default = fn.learn.structure(table, **options)
    taken = time.perf_counter() - began
    size = f"{len(table):,} x {len(table.names)}"
    began = time.perf_counter()
    try:
        exact = fn.learn.structure(table, search="exact", max_seconds=SECONDS, **options)
    except StateSpaceError:
        return Rung(name, size, score, limit, default.score, taken, None, None, 0.0)
    seconds = time.perf_counter() - began
    return Rung(name, size, score, limit, default.score, taken, exact.score, exact.gap, seconds)


def main() -> None:
    """Run the ladder and print or write it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exact_ladder")
    parser.add_argument("--data", type=Path, required=True, help="the folder with exact/, uci/ and networks/")
    parser.add_argument("--write", action="store_true", help="write benchmarks/LADDER.md")
    parser.add_argument("tables", nargs="*")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = list(HEAD)
    print(*HEAD, sep="\n", flush=True)
    for name, table in tables(given.data, given.tables):
        for score, limit in CASES:
            lines.append(climb(name, table, score, limit).line())
            print(lines[-1], flush=True)
    if given.write:
        on = machine()
        head = [
            "# The ladder of exact search",
            "",
            "Made by `python -m benchmarks.exact_ladder`, which says of what.",
            f"{time.strftime('%Y-%m-%d')}, {on['processor']}, {on['system']}, fishernet {fn.__version__}.",
            "",
        ]
        Path(__file__).with_name("LADDER.md").write_text("\n".join([*head, *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
