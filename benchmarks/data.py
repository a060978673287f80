"""The tables that everyone is given: made once a run, from data in the package and fixed seeds.

Each is stored as codes from 0 without gaps (a state that does not occur in the table is left out), so that every
library sees the same number of states and BIC means the same to all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

import fishernet as fn
from benchmarks.workers.job import write_codes

Codes = npt.NDArray[np.integer[Any]]

SPLIT_SEED = 1
SAMPLE_SEED = 2
NETWORK_SEED = 3
N_BINARY = 25


@dataclass(frozen=True)
class Data:
    """A table on disk."""

    title: str
    path: str
    n_rows: int
    cardinalities: tuple[int, ...]

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of a `Job` that say what the table is."""
        return {"codes": self.path, "n_rows": self.n_rows, "cardinalities": self.cardinalities}


@dataclass(frozen=True)
class Network:
    """A network as jobs carry it: ascending parents, flat tables [parents ..., state]."""

    title: str
    cardinalities: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[list[float], ...]


@dataclass(frozen=True)
class CsvFile:
    """A file of labels, and the codes they stand for."""

    title: str
    path: str
    codes: Codes
    labels: list[list[str]]


def spaced(number: int) -> str:
    """Return a number with its thousands apart."""
    return f"{number:,}".replace(",", " ")


def store(title: str, name: str, codes: Codes, folder: Path) -> Data:
    """Write a table without unused codes."""
    columns = [np.unique(column, return_inverse=True) for column in codes.T]
    path = folder / f"{name}.codes"
    write_codes(str(path), np.stack([column for _, column in columns], axis=1))
    return Data(
        f"{title}, {spaced(len(codes))} x {codes.shape[1]}",
        str(path),
        len(codes),
        tuple(len(states) for states, _ in columns),
    )


def half(codes: Codes) -> Codes:
    """Return a random half of the rows, in their order."""
    n_rows = len(codes)
    return codes[np.sort(np.random.default_rng(SPLIT_SEED).permutation(n_rows)[: n_rows // 2])]


def letter_codes() -> Codes:
    """Return the letter table with its sixteen integers 0 to 15 in four bins of equal width."""
    table = fn.datasets.load("letter")
    columns: list[Codes] = []
    for variable, column in zip(table.variables, table.codes, strict=True):
        numeric = all(isinstance(state, int) for state in variable.states)
        columns.append(np.array(variable.states)[column] // 4 if numeric else column)
    return np.stack(columns, axis=1)


def codes_of(table: fn.Table) -> Codes:
    return np.stack(table.codes, axis=1)


def network_of(title: str, net: fn.BayesianNetwork) -> Network:
    """Return a network with every variable's parents in ascending order."""
    cardinalities = tuple(variable.cardinality for variable in net.variables)
    parents, tables = [], []
    for conditional in net.conditionals:
        order = np.argsort(conditional.parents)
        parents.append(tuple(int(conditional.parents[i]) for i in order))
        tables.append(conditional.table().transpose([*order, len(order)]).ravel().tolist())
    return Network(title, cardinalities, tuple(parents), tuple(tables))


def binary_network() -> fn.BayesianNetwork:
    """Return a random network of 25 binary variables with two to four parents each, where there are so many before it.

    The conditionals are U-shaped (Beta(1/2, 1/2), kept from 0.05 to 0.95), so that most parents matter.
    """
    rng = np.random.default_rng(NETWORK_SEED)
    names = [f"b{i}" for i in range(N_BINARY)]
    parents: dict[str, list[str]] = {}
    tables: dict[str, npt.NDArray[np.float64]] = {}
    for i, name in enumerate(names):
        n_parents = min(i, int(rng.integers(2, 5)))
        parents[name] = [names[j] for j in np.sort(rng.permutation(i)[:n_parents])]
        chance = np.clip(rng.beta(0.5, 0.5, size=(2,) * n_parents), 0.05, 0.95)
        tables[name] = np.stack([1 - chance, chance], axis=-1)
    return fn.BayesianNetwork.from_tables([fn.Variable(name, (0, 1)) for name in names], parents, tables)


def write_csv(codes: Codes, states: Sequence[Sequence[object]], names: Sequence[str], folder: Path) -> CsvFile:
    """Write a table of labels as CSV."""
    labels = [[str(state) for state in row] for row in states]
    columns = [pa.array(row).take(pa.array(column)) for row, column in zip(labels, codes.T, strict=True)]
    path = folder / "table.csv"
    options = pa.csv.WriteOptions(quoting_style="needed")
    pa.csv.write_csv(pa.table(columns, names=list(names)), path, options)
    title = f"alarm, {spaced(len(codes))} x {codes.shape[1]}, {path.stat().st_size / 1e6:.0f} MB"
    return CsvFile(title, str(path), codes, [[label.lower() for label in row] for row in labels])


@dataclass(frozen=True)
class Tables:
    """Everything that is raced on."""

    letter: Data
    nursery: Data
    alarm: tuple[Data, ...]
    """Ascending in size; all are the first rows of one sample."""
    binary: Data
    network: Network
    csv: CsvFile


def make(folder: Path, quick: bool) -> Tables:
    """Make all tables; quick: no more than 100 000 rows."""
    alarm = fn.datasets.load("alarm")
    sizes = (5_000, 100_000) if quick else (5_000, 100_000, 1_000_000)
    sampled = codes_of(alarm.sample(sizes[-1], seed=SAMPLE_SEED))
    binary = codes_of(binary_network().sample(100_000, seed=SAMPLE_SEED))
    names = [variable.name for variable in alarm.variables]
    states = [variable.states for variable in alarm.variables]
    return Tables(
        letter=store("letter half", "letter", half(letter_codes()), folder),
        nursery=store("nursery half", "nursery", half(codes_of(fn.datasets.load("nursery"))), folder),
        alarm=tuple(store("alarm", f"alarm{n}", sampled[:n], folder) for n in sizes),
        binary=store("25 binary", "binary", binary, folder),
        network=network_of("alarm", alarm),
        csv=write_csv(sampled, states, names, folder),
    )
