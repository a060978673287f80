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
from benchmarks.networks import Network, Networks, binary_network, mixed_network, network_of, repository
from benchmarks.workers.job import Job, write_codes
from studies.dependency_networks.growth import random_network
from studies.dependency_networks.truths import LARGE, SEEDS, ising

Codes = npt.NDArray[np.integer[Any]]

SPLIT_SEED = 1
SAMPLE_SEED = 2
TRAINING_SEED = 0
N_WIDE = 1_000
N_WIDER = 2_000
N_MIXED = (20, 25)


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


def letter_training() -> Codes:
    """Return the training half of letter in four bins of equal width."""
    table = fn.datasets.load("letter", bins=4, binning="equal-width")
    return codes_of(table.split(0.5, seed=TRAINING_SEED)[0])


def grid_codes() -> Codes:
    """Return the study's 100 000 rows of an Ising model on a grid of 5 x 5."""
    return codes_of(ising(5, 5).model.sample(LARGE, seed=SEEDS["Ising5x5L"]))


def learned_parents(data: Data) -> tuple[tuple[int, ...], ...]:
    """Return the graph that hill climbing with BIC finds on a table."""
    codes = Job("hill_climb", **data.fields).read_codes()
    return tuple(tuple(row) for row in fn.learn.dag(fn.Table.from_codes(codes), score="bic").parents)


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
    training: Data
    """Another half of letter, that rows are compared in and selected from."""
    nursery: Data
    alarm: tuple[Data, ...]
    """Ascending in size; all are the first rows of one sample."""
    binary: Data
    grid: Data
    """Ising5x5L of the study of dependency networks: a grid of 25 spins."""
    wide: Data
    """Many variables."""
    wider: Data
    """Twice as many, half the rows."""
    medium: Data
    """10 000 rows of the sample of alarm."""
    mixed: tuple[Data, ...]
    """Random networks of 20 and 25 variables, of two to four states."""
    network: Network
    networks: Networks
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
        training=store("letter training half", "training", letter_training(), folder),
        nursery=store("nursery half", "nursery", half(codes_of(fn.datasets.load("nursery"))), folder),
        alarm=tuple(store("alarm", f"alarm{n}", sampled[:n], folder) for n in sizes),
        binary=store("25 binary", "binary", binary, folder),
        grid=store("Ising5x5L", "grid", grid_codes(), folder),
        wide=store("1000 binary", "wide", codes_of(random_network(N_WIDE).sample(10_000, seed=SAMPLE_SEED)), folder),
        wider=store("2000 binary", "wider", codes_of(random_network(N_WIDER).sample(5_000, seed=SAMPLE_SEED)), folder),
        medium=store("alarm", "alarm10000", sampled[:10_000], folder),
        mixed=tuple(
            store(
                f"{n} of 2 to 4 states",
                f"mixed{n}",
                codes_of(mixed_network(n).sample(10_000, seed=SAMPLE_SEED)),
                folder,
            )
            for n in N_MIXED
        ),
        network=network_of("alarm", alarm),
        networks=repository(quick),
        csv=write_csv(sampled, states, names, folder),
    )
