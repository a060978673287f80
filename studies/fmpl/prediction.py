"""How well every column is predicted from its neighbours in a learned graph (P4, 3.1.6)."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from studies.fmpl.methods import OTHERS, OURS, learned, missing
from studies.fmpl.truths import Array, Copies
from studies.kept import Kept

SEED = 3160
DRAWN_ROWS = 500
DRAWN = "drawn, 64 variables"
TABLES = {"digits": "load_digits", "breast cancer": "load_breast_cancer"}
"""Of scikit-learn: 8 by 8 pictures of digits, and measurements of cells."""
ALL, NONE = "all columns", "the mean"
METHODS = (*OURS, *OTHERS)


@dataclass(frozen=True)
class Task:
    """One split of a table into halves."""

    table: str
    split: int
    methods: tuple[str, ...]


@dataclass(frozen=True)
class Prediction:
    """Mean squared errors of held-out rows, in units of the training columns' variance; [split, method]."""

    table: str
    n_rows: int
    n_columns: int
    methods: tuple[str, ...]
    errors: Array
    n_edges: Array
    """Of each method's graph."""


def available() -> tuple[str, ...]:
    """Return the tables that are there."""
    return (DRAWN, *(TABLES if find_spec("sklearn") is not None else ()))


def rows_of(table: str, split: int) -> Array:
    """Return a table's rows in the order of a split; the drawn ones are new for each. Constant columns are left out."""
    rng = np.random.default_rng([SEED, split])
    if table == DRAWN:
        return Copies(64).draw(DRAWN_ROWS, rng)[0]
    X = np.asarray(getattr(importlib.import_module("sklearn.datasets"), TABLES[table])().data, dtype=np.float64)
    return rng.permutation(X)


def halves(table: str, split: int) -> tuple[Array, Array]:
    """Return training and test rows, of columns that vary among the training rows, scaled by these.

    Columns that others make up leave FMPL no score, and are left out (`independent`).
    """
    X = rows_of(table, split)
    training, test = X[: len(X) // 2], X[len(X) // 2 :]
    kept = independent(training)
    centre, scale = training[:, kept].mean(axis=0), training[:, kept].std(axis=0)
    return (training[:, kept] - centre) / scale, (test[:, kept] - centre) / scale


def independent(X: Array, least: float = 1e-4) -> list[int]:
    """Return the columns, the first first, of which those before leave at least a share of the variance."""
    chosen: list[int] = []
    basis: list[Array] = []
    for v in range(X.shape[1]):
        rest = X[:, v] - X[:, v].mean()
        size = float(rest @ rest)
        if (X[:, v] == X[0, v]).mean() > 0.99:  # nearly constant: a few rows decide
            continue
        for one in basis:
            rest = rest - (one @ rest) * one
        if rest @ rest > least * size:
            chosen.append(v)
            basis.append(rest / np.sqrt(rest @ rest))
    return chosen


def predict(task: Task) -> list[list[float]]:
    """Return the mean squared error and the edges of each method's graph, and before them the table's shape.

    A column is predicted by least squares on its neighbours in the graph.
    """
    training, test = halves(task.table, task.split)
    d = training.shape[1]
    found: list[list[float]] = [[len(training) + len(test), d]]
    for method in task.methods:
        if method in (ALL, NONE):
            neighbours = [[u for u in range(d) if u != v] if method == ALL else [] for v in range(d)]
        else:
            neighbours = [list(near) for near in learned(method, training).adjacency]
        found.append([error(training, test, neighbours), sum(map(len, neighbours)) / 2])
    return found


def error(training: Array, test: Array, neighbours: Sequence[Sequence[int]]) -> float:
    """Return the mean squared error over all columns and test rows."""
    total = 0.0
    for v, near in enumerate(neighbours):
        weights, *_ = np.linalg.lstsq(training[:, near], training[:, v], rcond=None)
        total += float(((test[:, v] - test[:, near] @ weights) ** 2).mean())
    return total / len(neighbours)


def predictions(splits: int, kept: Kept, tables: Sequence[str] | None = None) -> list[Prediction]:
    """Learn and predict on every split of every table."""
    methods = (*(method for method in METHODS if method not in missing()), ALL, NONE)
    found = []
    for name in available() if tables is None else tables:
        tasks = [Task(name, split, methods) for split in range(splits)]
        answers = list(kept.map(predict, tasks))
        n_rows, n_columns = answers[0][0]
        pairs = np.array([answer[1:] for answer in answers])
        found.append(Prediction(name, int(n_rows), int(n_columns), methods, pairs[..., 0], pairs[..., 1]))
    return found
