"""How near the best network is to the one that the data were drawn from, by the size of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

import fishernet as fn
from studies.pool import Pool
from studies.qnml.criteria import CRITERIA, learn

Array = npt.NDArray[np.float64]

NETWORKS = ("Asia", "Cancer", "Earthquake", "Sachs", "Survey")
SIZES = (*range(10, 101, 10), *range(200, 1_001, 100), *range(2_000, 10_001, 1_000))
QUICK_SIZES = (10, 100, 1_000, 10_000)
SEED = 4230


@dataclass(frozen=True)
class Task:
    """One repetition on one network, at every size."""

    network: str
    data: Path | None
    sizes: tuple[int, ...]
    repetition: int


@dataclass(frozen=True)
class Recovery:
    """The structural Hamming distances that were found."""

    networks: tuple[str, ...]
    sizes: tuple[int, ...]
    shd: npt.NDArray[np.int64]
    """By network, repetition, size and criterion."""

    @property
    def repetitions(self) -> int:
        """How many data sets there were of each size."""
        return len(self.shd[0])

    @property
    def mean(self) -> Array:
        """[network, size, criterion]."""
        return np.asarray(self.shd.mean(axis=1))

    @property
    def error(self) -> Array:
        """The standard error of `mean`."""
        return standard_error(self.shd, 1)

    @property
    def ranks(self) -> Array:
        """[size, criterion]: the mean over networks and repetitions of 1 for the smallest distance, 2 for the next."""
        return np.asarray(rankdata(self.shd, method="dense", axis=-1).mean(axis=(0, 1)))

    @property
    def rank_error(self) -> Array:
        """The standard error of `ranks`."""
        return standard_error(rankdata(self.shd, method="dense", axis=-1).mean(axis=0), 0)


def standard_error(values: npt.NDArray[np.int64] | Array, axis: int) -> Array:
    """Return the standard error of the mean along an axis; NaN for a single value."""
    n = values.shape[axis]
    if n == 1:
        return np.full(np.delete(values.shape, axis), np.nan)
    return np.asarray(values.std(axis=axis, ddof=1) / np.sqrt(n))


@cache
def network(name: str, data: Path | None) -> fn.BayesianNetwork:
    """Return a network: Asia comes with the library, the others with the data."""
    if data is None:
        found = fn.datasets.load(name.lower())
        assert isinstance(found, fn.BayesianNetwork)
        return found
    return fn.read_bif(data / "networks" / f"{name.lower()}.bif.gz")


def available(data: Path | None) -> tuple[str, ...]:
    """Return the networks that are there, Asia always."""
    if data is None:
        return NETWORKS[:1]
    return tuple(n for n in NETWORKS if n == "Asia" or (data / "networks" / f"{n.lower()}.bif.gz").exists())


def repeat(task: Task) -> npt.NDArray[np.int64]:
    """Return the distances of one repetition, [size, criterion].

    Every size has rows of its own, their columns in random order: a search that breaks ties by it would else be told
    something of the network, whose variables are listed with parents first.
    """
    at = NETWORKS.index(task.network)
    truth = network(task.network, None if task.network == "Asia" else task.data)
    found = np.empty((len(task.sizes), len(CRITERIA)), dtype=np.int64)
    for i, n in enumerate(task.sizes):
        rng = np.random.default_rng([SEED, at, n, task.repetition])
        rows = truth.sample(n, seed=rng)
        rows = rows.select(rng.permutation(rows.names).tolist())
        found[i] = [fn.shd(learn(rows, criterion), truth.dag) for criterion in CRITERIA]
    return found


def recover(networks: Sequence[str], data: Path | None, sizes: Sequence[int], repetitions: int, pool: Pool) -> Recovery:
    """Draw, learn and compare."""
    tasks = [Task(name, data, tuple(sizes), r) for name in networks for r in range(repetitions)]
    found = np.array(list(pool.map(repeat, tasks)))
    shape = (len(networks), repetitions, len(sizes), len(CRITERIA))
    return Recovery(tuple(networks), tuple(sizes), found.reshape(shape))
