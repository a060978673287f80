"""Undirected graphs learned from drawn data by several methods: distances to the true one, and seconds."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import fishernet as fn
from studies import comparators, figures
from studies.study import Array, Run, Table, mean

Methods = Mapping[str, Callable[[Array, int], fn.UndirectedGraph]]
Limits = Mapping[str, tuple[float, int]]
"""Up to how many rows, and on how many data sets, a method goes that takes long."""
Found = dict[tuple[str, int, str], list[list[float]]]
"""Distance and seconds of each data set, by data, rows and method."""

NEEDS = dict.fromkeys(("glasso", "NBS", "NPN_glasso", "NPN_mb"), "sklearn")
NEEDS |= {"KCIT": "causallearn", "RCIT": "causallearn", "SPACE": "space"}


class Truth(Protocol):
    """A distribution whose undirected graph is known; the graph of some is drawn, too."""

    @property
    def name(self) -> str:
        """What it is."""

    def draw(self, n: int, repetition: int) -> tuple[Array, fn.UndirectedGraph]:
        """Return n rows and the graph they are of; data sets are a function of what is asked."""


def available(methods: Methods) -> list[str]:
    return [name for name in methods if name not in NEEDS or not comparators.missing(NEEDS[name])]


def learned(methods: Methods, name: str, X: Array, seed: int = 0) -> tuple[fn.UndirectedGraph, float]:
    """Return a method's graph and the processor's seconds, all threads together."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few rows and of ties, and of numbers in others' libraries
        began = time.process_time()
        return methods[name](X, seed), time.process_time() - began


def distances(methods: Methods, truth: Truth, n: int, repetition: int, names: Sequence[str]) -> list[list[float]]:
    """Return the Hamming distance (edges to add plus edges to delete) and the seconds of each method."""
    X, graph = truth.draw(n, repetition)
    found = [learned(methods, name, X, repetition) for name in names]
    return [[float(fn.hamming(one, graph)), seconds] for one, seconds in found]


def recover(
    run: Run,
    work: Callable[..., Any],
    truths: Sequence[Truth],
    sizes: Sequence[int],
    repetitions: int,
    methods: Sequence[str],
    limits: Limits,
) -> Found:
    """Draw, learn and compare; the data do not depend on the methods, nor a repetition on how many there are."""
    tasks = [
        (truth, n, r, tuple(m for m in methods if m not in limits or (n <= limits[m][0] and r < limits[m][1])))
        for n in sizes
        for truth in truths
        for r in range(repetitions)
    ]
    found: Found = {(truth.name, n, m): [] for truth in truths for n in sizes for m in methods}
    for (truth, n, _, names), results in zip(tasks, run.map(work, tasks), strict=True):
        for method, result in zip(names, results, strict=True):
            found[truth.name, n, method].append(result)
    return found


def distance_rows(found: Found, usual: int) -> list[list[Any]]:
    """Return a row per data and number of rows, the mean distances of the methods."""
    methods = list(dict.fromkeys(method for _, _, method in found))
    places = dict.fromkeys((data, n) for data, n, _ in found)
    return [[*at, *(mean([d for d, _ in found[(*at, m)]], usual=usual) for m in methods)] for at in places]


def seconds_rows(found: Found) -> list[list[Any]]:
    """Return the mean seconds of the methods by the number of rows."""
    times: dict[int, dict[str, list[float]]] = {}
    for (_, n, method), results in found.items():
        times.setdefault(n, {}).setdefault(method, []).extend(seconds for _, seconds in results)
    return [[key, *map(mean, held.values())] for key, held in times.items()]


def draw(path: Path, table: Table, methods: Sequence[str]) -> None:
    """Draw the mean distances by the number of rows, a panel per data."""
    panels = {}
    for data in dict.fromkeys(row[0] for row in table.rows):
        rows = table.select(data=data)
        x = [row["rows"] for row in rows]
        panels[data] = [figures.Line(m, x, [row[m] for row in rows]) for m in methods if m in table.columns]
    figures.lines(path, panels, x="rows", y="Hamming distance", log="x")
