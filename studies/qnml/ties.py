"""How much depends on which of several networks with the same score is taken.

A search breaks ties by the order of the columns; so the distances of every order show what ties may do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import numpy as np
import numpy.typing as npt

import fishernet as fn
from studies.markdown import table
from studies.pool import Pool
from studies.qnml.criteria import CRITERIA, learn
from studies.qnml.published import Curves
from studies.qnml.structure import network

Array = npt.NDArray[np.float64]

NETWORK = "Earthquake"
"""Five variables, and so 120 orders; its rare states make equal columns."""
SIZES = (10, 30, 100, 300, 1_000)
DATA_SETS = 100
SEED = 4233
MATTERS = 0.2


@dataclass(frozen=True)
class Task:
    """One data set."""

    data: Path | None
    n_rows: int
    repetition: int


@dataclass(frozen=True)
class Spread:
    """Distances to the true network over the orders, means over the data sets, [size, criterion]."""

    sizes: tuple[int, ...]
    data_sets: int
    least: Array
    mean: Array
    most: Array


def orders(task: Task) -> Array:
    """Return the least, the mean and the largest distance over all orders of the columns, by criterion."""
    truth = network(NETWORK, task.data)
    rows = truth.sample(task.n_rows, seed=np.random.default_rng([SEED, task.n_rows, task.repetition]))
    found = np.array([
        [fn.shd(learn(rows.select(names), criterion), truth.dag) for criterion in CRITERIA]
        for names in permutations(rows.names)
    ])  # fmt: skip
    return np.array([found.min(axis=0), found.mean(axis=0), found.max(axis=0)])


def spread(data: Path | None, sizes: Sequence[int], data_sets: int, pool: Pool) -> Spread:
    """Learn from every order of the columns of several data sets."""
    tasks = [Task(data, n, r) for n in sizes for r in range(data_sets)]
    found = np.array(list(pool.map(orders, tasks))).reshape(len(sizes), data_sets, 3, len(CRITERIA)).mean(axis=1)
    return Spread(tuple(sizes), data_sets, *found.swapaxes(0, 1))


def sentence(found: Spread, published: Curves) -> str:
    """Return where the published means are, where the order matters."""
    there = published.distances(NETWORK, found.sizes)
    matters = (found.most - found.least > MATTERS) & ~np.isnan(there)
    above = matters & (np.abs(there - found.most) < np.abs(there - found.mean))
    beyond = matters & (there > found.most + MATTERS)
    return (
        f"In {matters.sum()} cells the order makes a difference of more than {MATTERS}. In {above.sum()} of them the "
        f"published mean is nearer to the largest than to the mean over the orders, and in {beyond.sum()} it is "
        f"farther than {MATTERS} above the largest ({', '.join(_cells(beyond, found.sizes)) or 'none'})."
    )


def _cells(marked: npt.NDArray[np.bool_], sizes: Sequence[int]) -> list[str]:
    return [f"{CRITERIA[k]} at {sizes[i]:,}" for i, k in np.argwhere(marked).tolist()]


def spread_table(found: Spread, published: Curves) -> str:
    """Return least, mean and most beside the published means."""
    there = published.distances(NETWORK, found.sizes)
    rows = []
    for i, n in enumerate(found.sizes):
        cells = []
        for k in range(len(CRITERIA)):
            shown = f"{found.least[i, k]:.2f} {found.mean[i, k]:.2f} {found.most[i, k]:.2f}"
            cells.append(shown if np.isnan(there[i, k]) else f"{shown} ({there[i, k]:.2f})")
        rows.append([f"{n:,}", *cells])
    return table(["rows", *CRITERIA], rows)
