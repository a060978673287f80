"""Proteins of a signalling pathway, measured in single cells: a real example of continuous columns."""

from __future__ import annotations

import csv
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from studies.kept import Kept
from studies.knn_mi.methods import learned
from studies.knn_mi.truths import Array

FILE, EDGES = "sachs-observational.csv", "sachs-consensus-edges.csv"


@dataclass(frozen=True)
class Proteins:
    """Logarithms of intensities, and what biologists agree on."""

    names: tuple[str, ...]
    rows: Array
    arcs: tuple[tuple[str, str], ...]

    @property
    def skeleton(self) -> set[frozenset[str]]:
        """The agreed pairs."""
        return {frozenset(arc) for arc in self.arcs}

    @property
    def moral(self) -> set[frozenset[str]]:
        """The agreed pairs, and those who act on a third one together."""
        joined = self.skeleton
        for one, child in self.arcs:
            joined |= {frozenset((one, other)) for other, same in self.arcs if same == child and other != one}
        return joined

    @property
    def tied(self) -> float:
        """The largest share of a column's rows that share their value with another row."""
        shares = []
        for column in self.rows.T:
            _, counts = np.unique(column, return_counts=True)
            shares.append(counts[counts > 1].sum() / len(column))
        return float(max(shares))


@dataclass(frozen=True)
class Found:
    """A method's graph."""

    method: str
    pairs: frozenset[frozenset[str]]
    seconds: float


def read(folder: Path) -> Proteins | None:
    """Read the cells of the first condition, or nothing where the files are not there."""
    if not (folder / FILE).exists() or not (folder / EDGES).exists():
        return None
    with (folder / FILE).open() as lines:
        names, *rows = csv.reader(lines)
    with (folder / EDGES).open() as lines:
        arcs = tuple((row["from"], row["to"]) for row in csv.DictReader(lines))
    return Proteins(tuple(names), np.log(np.array(rows, dtype=np.float64)), arcs)


@dataclass(frozen=True)
class Task:
    """One method on the proteins in a folder."""

    folder: Path
    method: str


def learn(task: Task) -> list[Any]:
    """Return the pairs of the method's graph, and the processor's seconds."""
    proteins = read(task.folder)
    assert proteins is not None
    began = time.process_time()
    graph = learned(task.method, proteins.rows, 0)
    seconds = time.process_time() - began
    pairs = [[i, j] for i, others in enumerate(graph.adjacency) for j in others if i < j]
    return [[[proteins.names[i], proteins.names[j]] for i, j in pairs], seconds]


def graphs(folder: Path, methods: Sequence[str], kept: Kept) -> list[Found]:
    """Learn a graph by each method."""
    found = kept.map(learn, [Task(folder, method) for method in methods])
    return [
        Found(method, frozenset(map(frozenset, pairs)), seconds)
        for method, (pairs, seconds) in zip(methods, found, strict=True)
    ]
