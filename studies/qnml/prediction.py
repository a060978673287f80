"""How well the best network of each criterion predicts new rows, and how many parameters it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import csv
from scipy.stats import rankdata

import fishernet as fn
from studies.pool import Pool
from studies.qnml.criteria import CRITERIA, fit, learn
from studies.qnml.structure import standard_error

Array = npt.NDArray[np.float64]

SHARES = tuple(range(10, 91, 10))
"""Percentages of the rows that are trained on."""
QUICK_SHARES = (10, 50, 90)
SEED = 4231
BINS = 3
EQUAL = 1e-9  # log losses that differ by less are of the same network and parameters


@dataclass(frozen=True)
class Source:
    """Where one of the tables comes from."""

    file: str
    """Below ``uci``."""
    without: tuple[str, ...] = ()
    """Columns that the published experiments do not have."""
    binned_class: bool = False
    """Whether the class is a number like the other columns."""
    binned: bool = True
    """Whether numbers are put into bins at all."""


SOURCES = {
    "Iris": Source("iris.csv"),
    "Wine": Source("wine.csv"),
    "Glass": Source("glass.csv"),
    "BreastCancer": Source("breast-cancer.csv"),
    "Ecoli": Source("ecoli.csv"),
    "Balance": Source("balance-scale.csv", binned=False),  # only with five states is -log P above 7
    "BcWisconsin": Source("breast-w.csv"),
    "Diabetes": Source("diabetes-pima.csv"),
    "TicTacToe": Source("tic-tac-toe.csv"),
    "Yeast": Source("yeast.csv", without=("name",)),
    "Abalone": Source("abalone.csv", binned_class=True),  # with 28 states -log P is above 5
    "Adult": Source("adult-train.csv.gz"),
}
SHIPPED = "nursery"
"""Comes with the library; not one of the published sets."""


@dataclass(frozen=True)
class Task:
    """One permutation of the rows of one table, cut at every share."""

    name: str
    data: Path | None
    shares: tuple[int, ...]
    repetition: int


@dataclass(frozen=True)
class Predicted:
    """What was found on one table."""

    name: str
    n_rows: int
    cardinalities: tuple[int, ...]
    shares: tuple[int, ...]
    losses: Array
    """Mean -log P of a test row in nats, by repetition, share and criterion."""
    parameters: Array
    """The number of free parameters, likewise."""

    @property
    def repetitions(self) -> int:
        """How many permutations there were."""
        return len(self.losses)

    @property
    def mean(self) -> Array:
        """[share, criterion]: the log loss."""
        return np.asarray(self.losses.mean(axis=0))

    @property
    def error(self) -> Array:
        """The standard error of `mean`."""
        return standard_error(self.losses, 0)

    @property
    def ranks(self) -> Array:
        """[repetition, share, criterion]: the best is 1, ties share the mean of their ranks."""
        return np.asarray(rankdata(np.round(self.losses / EQUAL), method="average", axis=-1))

    @property
    def mean_ranks(self) -> Array:
        """By criterion, over shares and repetitions."""
        return np.asarray(self.ranks.mean(axis=(0, 1)))

    def at(self, share: int) -> int:
        """Return the position of a share."""
        return self.shares.index(share)


@cache
def read(name: str, data: Path | None) -> fn.Table:
    """Return a table: numbers in at most three bins of equal width, the class as it is, incomplete rows left out."""
    if data is None:
        found = fn.datasets.load(name)
        assert isinstance(found, fn.Table)
        return found
    source = SOURCES[name]
    types = {} if source.binned_class else {"class": pa.string()}
    convert = csv.ConvertOptions(column_types=types, null_values=["?"], strings_can_be_null=True)
    frame = csv.read_csv(data / "uci" / source.file, convert_options=convert).drop_columns(list(source.without))
    bins = BINS if source.binned else None
    return fn.Table.from_frame(frame, bins=bins, binning="equal-width", missing="drop")


def available(data: Path | None) -> tuple[str, ...]:
    """Return the published tables that are there."""
    if data is None:
        return ()
    return tuple(name for name, of in SOURCES.items() if (data / "uci" / of.file).exists())


def repeat(task: Task) -> Array:
    """Return losses and numbers of parameters of one permutation, [loss or parameters, share, criterion]."""
    table = read(task.name, task.data)
    order = np.random.default_rng([SEED, task.repetition]).permutation(table.n_rows)
    found = np.empty((2, len(task.shares), len(CRITERIA)))
    for i, share in enumerate(task.shares):
        cut = table.n_rows * share // 100
        train, test = table[order[:cut]], table[order[cut:]]
        for k, criterion in enumerate(CRITERIA):
            model = fit(learn(train, criterion), train, criterion)
            found[:, i, k] = -model.log_prob(test).mean(), model.n_parameters
    return found


def predict(name: str, data: Path | None, shares: Sequence[int], repetitions: int, pool: Pool) -> Predicted:
    """Permute, cut, learn and predict."""
    tasks = [Task(name, data, tuple(shares), r) for r in range(repetitions)]
    losses, parameters = np.array(list(pool.map(repeat, tasks))).swapaxes(0, 1)
    table = read(name, data)
    return Predicted(name, table.n_rows, table.cardinalities, tuple(shares), losses, parameters)
