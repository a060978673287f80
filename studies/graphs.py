"""Undirected graphs learned from drawn data by several methods: distances to the true one, and seconds."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import fishernet as fn
from studies import comparators, figures
from studies.study import Array, Run, Table, mean

Methods = Mapping[str, Callable[[Array, int], fn.UndirectedGraph]]
Limits = Mapping[str, Sequence[tuple[float, int]]]
"""Of a method that takes long: up to how many rows it has how many data sets, fewer rows first; with more rows none."""
Found = dict[tuple[str, int, str], list[list[float]]]
"""Distance, seconds and lacking edges of each data set, by data, rows and method."""

NEEDS = dict.fromkeys(("glasso", "NBS", "NPN_glasso", "NPN_mb"), "sklearn")
NEEDS |= {"KCIT": "causallearn", "RCIT": "causallearn", "SPACE": "space"}


class Truth(Protocol):
    """A distribution whose undirected graph is known; the graph of some is drawn, too."""

    @property
    def name(self) -> str:
        """What it is."""

    def draw(self, n: int, repetition: int) -> tuple[Array, fn.UndirectedGraph]:
        """Return n rows and the graph they are of; data sets are a function of what is asked."""

    def __hash__(self) -> int: ...


def available(methods: Methods) -> list[str]:
    return [name for name in methods if name not in NEEDS or not comparators.missing(NEEDS[name])]


def learned(methods: Methods, name: str, X: Array, seed: int = 0) -> tuple[fn.UndirectedGraph, float]:
    """Return a method's graph and the processor's seconds, all threads together; BLAS has one."""
    with comparators.one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few rows and of ties, and of numbers in others' libraries
        began = time.process_time()
        return methods[name](X, seed), time.process_time() - began


@lru_cache(maxsize=1)
def drawn(truth: Truth, n: int, repetition: int) -> tuple[Array, fn.UndirectedGraph]:
    """Draw once for the methods, which come one after another."""
    X, graph = truth.draw(n, repetition)
    X.flags.writeable = False
    return X, graph


def distances(methods: Methods, truth: Truth, n: int, repetition: int, names: Sequence[str]) -> list[list[float]]:
    """Return of each method the Hamming distance (edges to add plus edges to delete), seconds, and edges to add."""
    X, graph = drawn(truth, n, repetition)
    results = []
    for name in names:
        found, seconds = learned(methods, name, X, repetition)
        results.append([float(fn.hamming(found, graph)), seconds, float(len(set(graph.edges) - set(found.edges)))])
    return results


def sets(limits: Limits, method: str, n: int, usual: int) -> int:
    """Return on how many data sets of n rows a method runs."""
    if method not in limits:
        return usual
    return next((min(number, usual) for rows, number in limits[method] if n <= rows), 0)


def recover(
    run: Run,
    work: Callable[..., Any],
    truths: Sequence[Truth],
    sizes: Sequence[int],
    repetitions: int,
    methods: Sequence[str],
    limits: Limits,
) -> Found:
    """Draw, learn and compare; the data do not depend on the methods, nor a repetition on how many there are.

    Every method's graph is a task of its own, so that what is kept serves whatever the limits.
    """
    tasks = [
        (truth, n, r, (method,))
        for n in sizes
        for truth in truths
        for r in range(repetitions)
        for method in methods
        if r < sets(limits, method, n, repetitions)
    ]
    found: Found = {(truth.name, n, m): [] for truth in truths for n in sizes for m in methods}
    for (truth, n, _, (method,)), (result,) in zip(tasks, run.map(work, tasks), strict=True):
        found[truth.name, n, method].append(result)
    return found


def distance_rows(found: Found, usual: int) -> list[list[Any]]:
    """Return a row per data and number of rows, the mean distances of the methods."""
    methods = list(dict.fromkeys(method for _, _, method in found))
    places = dict.fromkeys((data, n) for data, n, _ in found)
    return [[*at, *(mean([d for d, *_ in found[(*at, m)]], usual=usual) for m in methods)] for at in places]


def seconds_rows(found: Found) -> list[list[Any]]:
    """Return the mean seconds of the methods by the number of rows."""
    times: dict[int, dict[str, list[float]]] = {}
    for (_, n, method), results in found.items():
        times.setdefault(n, {}).setdefault(method, []).extend(seconds for _, seconds, _ in results)
    return [[key, *map(mean, held.values())] for key, held in times.items()]


Groups = Mapping[str, Sequence[str]]
"""Names of data by the name of a group of them."""


def places(found: Found, groups: Groups) -> list[tuple[str, int, Sequence[str]]]:
    """Return the name of each group, a number of rows and the names of the data in it."""
    sizes = dict.fromkeys(n for _, n, _ in found)
    return [(group, n, names) for group, names in groups.items() for n in sizes]


def with_methods(found: Found, methods: Sequence[str]) -> Found:
    """Return the same with the methods that were not run, which have no results."""
    return {(data, n, method): found.get((data, n, method), []) for data, n, _ in found for method in methods}


def differences(found: Found, data: str, n: int, method: str, than: str) -> list[float]:
    """Return by how much a method's distance is larger than another's, on the data sets that both have."""
    both = zip(found[data, n, method], found[data, n, than], strict=False)  # these are the first ones of each
    return [one[0] - other[0] for one, other in both]


def over_strata(strata: Sequence[Sequence[float]], usual: int | None = None) -> dict[str, Any] | None:
    """Return a cell with the mean of numbers of several kinds, and its standard error, the kinds' shares fixed."""
    there = [np.asarray(one, dtype=np.float64) for one in strata if len(one)]
    cell = mean(np.concatenate(there) if there else [], usual=usual)
    if cell is not None:
        cell.pop("error", None)
        if all(len(one) > 1 for one in there):
            squares = sum(len(one) * float(one.var(ddof=1)) for one in there)
            cell["error"] = math.sqrt(squares) / sum(map(len, there))
    return cell


def paired_rows(found: Found, groups: Groups, methods: Sequence[str], than: str) -> list[list[Any]]:
    """Return a row per group and number of rows: by how much the methods have more wrong edges than another one.

    Pairs are those of the same data set; the second cell of a row is the number of sets of the other method.
    """
    rows = []
    for group, n, names in places(found, groups):
        pairs = [[differences(found, data, n, method, than) for data in names] for method in methods]
        there = sum(len(found[data, n, than]) for data in names)
        rows.append([group, n, there, *(over_strata(strata, there) for strata in pairs)])
    return rows


def sign_rows(found: Found, groups: Groups, methods: Sequence[str], than: str) -> list[list[Any]]:
    """Return on how many data sets the methods have more, as many and fewer wrong edges than another one."""
    rows = []
    for group, n, names in places(found, groups):
        pairs = [[d for data in names for d in differences(found, data, n, method, than)] for method in methods]
        counts = [[sum(np.sign(one) == sign for one in of) for sign in (1, 0, -1)] if of else None for of in pairs]
        rows.append([group, n, *(held and " / ".join(map(str, held)) for held in counts)])
    return rows


def error_rows(found: Found, groups: Groups, methods: Sequence[str]) -> list[list[Any]]:
    """Return how many edges lack and how many are too many in the mean."""
    rows = []
    for group, n, names in places(found, groups):
        row: list[Any] = [group, n]
        for method in methods:
            results = [one for data in names for one in found[data, n, method]]
            wrong, _, lacking = np.mean(results, axis=0) if results else (0.0, 0.0, 0.0)
            row.append(f"{lacking:.1f} + {wrong - lacking:.1f}" if results else None)
        rows.append(row)
    return rows


def draw(
    path: Path, table: Table, methods: Sequence[str], *, log: str = "x", apart: float = 0.0, same: bool = False
) -> None:
    """Draw the mean distances by the number of rows, a panel per data."""
    panels = {data: lines_of(table, data, methods) for data in dict.fromkeys(row[0] for row in table.rows)}
    figures.lines(path, panels, x="rows", y="wrong edges", log=log, apart=apart, same=same)


def lines_of(table: Table, data: str, methods: Sequence[str]) -> list[figures.Line]:
    """Return a line of each method that is in the table, in the look of its place among all methods."""
    rows = table.select(data=data)
    x = [row["rows"] for row in rows]
    looks = {method: figures.look_of(place) for place, method in enumerate(methods)}
    return [figures.Line(m, x, [row[m] for row in rows], looks[m]) for m in methods if m in table.columns]
