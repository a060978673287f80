"""The tables and networks that everyone is given: from data in the package, from fixed seeds, or from a folder.

Tables are codes from 0 without gaps (a state that does not occur is left out), so that every library sees the same
number of states and BIC means the same to all.
"""

from __future__ import annotations

import atexit
import functools
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import fishernet as fn
from benchmarks.calls import Array, Data
from benchmarks.environment import ROOT

Codes = npt.NDArray[np.integer[Any]]
Edges = list[tuple[int, int]]

SAMPLE_SEED = 2
NETWORK_SEED = 3


class NotThereError(Exception):
    """A file that is looked for in the folder of data and is not there."""


def data_folder() -> Path:
    """Return where data that are not in the package are: FISHERNET_DATA, or a folder beside the repository."""
    return Path(os.environ.get("FISHERNET_DATA", ROOT.parent / "shared" / "data"))


@functools.cache
def scratch() -> Path:
    """Return a folder for files that are made here, which is gone when this process ends."""
    folder = tempfile.TemporaryDirectory(prefix="fishernet-bench-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


def spaced(number: int) -> str:
    """Return a number with its thousands apart."""
    return f"{number:,}".replace(",", " ")


def data_of(title: str, codes: Codes, halved: bool = False) -> Data:
    """Return a table, or a random half of its rows in their order, without codes that do not occur."""
    if halved:
        codes = codes[np.sort(np.random.default_rng(1).permutation(len(codes))[: len(codes) // 2])]
    columns = [np.unique(column, return_inverse=True) for column in codes.T]
    rows = np.asfortranarray(np.stack([column for _, column in columns], axis=1).astype(np.uint8))
    title = f"{title}, {spaced(len(codes))} x {codes.shape[1]}"
    return Data(title, rows, tuple(len(states) for states, _ in columns))


def codes_of(table: fn.Table) -> Codes:
    return np.stack(table.codes, axis=1)


def network_of(title: str, net: fn.BayesianNetwork | fn.DependencyNetwork) -> Data:
    """Return a network with every variable's parents in ascending order."""
    parents, tables = [], []
    for conditional in net.conditionals:
        order = np.argsort(conditional.parents)
        parents.append(tuple(int(conditional.parents[i]) for i in order))
        tables.append(conditional.table().transpose([*order, len(order)]))
    sizes = tuple(variable.cardinality for variable in net.variables)
    return Data(title, cardinalities=sizes, parents=tuple(parents), tables=tuple(tables))


def variables_of(data: Data) -> list[fn.Variable]:
    return [fn.Variable(name, range(r)) for name, r in zip(data.names, data.cardinalities, strict=True)]


def table_of(data: Data) -> fn.Table:
    return fn.Table.from_codes(data.rows, variables_of(data))


def named(data: Data) -> tuple[list[fn.Variable], dict[str, list[str]], Mapping[str, Array]]:
    """Return what networks are made from: ``from_tables(*named(data))``."""
    parents = {f"v{v}": [f"v{i}" for i in row] for v, row in enumerate(data.parents)}
    return variables_of(data), parents, dict(zip(data.names, data.tables, strict=True))


def bayesian_network(data: Data) -> fn.BayesianNetwork:
    """Return the network of its tables, of which nothing is known yet."""
    return fn.BayesianNetwork.from_tables(*named(data))


def graph_of(data: Data) -> fn.Dag:
    return fn.Dag(data.names, data.parents)


def fitted(data: Data) -> fn.BayesianNetwork:
    """Return the network of a graph, fitted to the table with pseudo-count one."""
    return fn.learn.parameters(graph_of(data), table_of(data), smoothing=1.0)


@functools.cache
def letter_half() -> Data:
    """Return half of the letter table with its sixteen integers 0 to 15 in four bins of equal width."""
    table = fn.datasets.load("letter")
    columns = []
    for variable, column in zip(table.variables, table.codes, strict=True):
        numeric = all(isinstance(state, int) for state in variable.states)
        columns.append(np.array(variable.states)[column] // 4 if numeric else column)
    return data_of("letter half", np.stack(columns, axis=1), halved=True)


@functools.cache
def letter_training() -> Data:
    """Return another half of letter, in four bins, with the graph that hill climbing finds."""
    table = fn.datasets.load("letter", bins=4, binning="equal-width").split(0.5, seed=0)[0]
    return with_graph(data_of("letter training half", codes_of(table)))


def with_graph(data: Data, **options: Any) -> Data:
    """Return a table with the graph that hill climbing with BIC finds on it."""
    dag = fn.learn.dag(fn.Table.from_codes(data.rows), score="bic", search="hill-climb")
    parents = tuple(tuple(row) for row in dag.parents)
    return Data(data.title, data.rows, data.cardinalities, parents, options=options)


@functools.cache
def nursery_half() -> Data:
    return data_of("nursery half", codes_of(fn.datasets.load("nursery")), halved=True)


@functools.cache
def alarm_rows() -> Codes:
    return codes_of(fn.datasets.load("alarm").sample(1_000_000, seed=SAMPLE_SEED))


@functools.cache
def alarm(n_rows: int) -> Data:
    """Return the first rows of one sample of the alarm network."""
    return data_of("alarm", alarm_rows()[:n_rows])


def sampled(title: str, net: fn.BayesianNetwork, n_rows: int) -> Data:
    return data_of(title, codes_of(net.sample(n_rows, seed=SAMPLE_SEED)))


def repository(name: str) -> fn.BayesianNetwork:
    """Return a network of the Bayesian Network Repository; alarm is in the package."""
    path = data_folder() / "networks" / f"{name}.bif.gz"
    if name != "alarm" and not path.exists():
        raise NotThereError(f"networks/{path.name}")
    return fn.datasets.load("alarm") if name == "alarm" else fn.read_bif(path)


def drawn_network(sizes: list[int], parents: list[list[int]], tables: list[Array]) -> fn.BayesianNetwork:
    data = Data("", cardinalities=tuple(sizes), parents=tuple(map(tuple, parents)), tables=tuple(tables))
    return bayesian_network(data)


def of_ones(chance: Any) -> Array:
    return np.stack([1 - chance, chance], axis=-1)


def binary_network() -> fn.BayesianNetwork:
    """Return 25 binary variables with two to four parents each, where there are so many before it.

    The conditionals are U-shaped (Beta(1/2, 1/2), kept from 0.05 to 0.95), so that most parents matter.
    """
    rng, parents, tables = np.random.default_rng(NETWORK_SEED), [], []
    for i in range(25):
        n_parents = min(i, int(rng.integers(2, 5)))
        parents.append(np.sort(rng.permutation(i)[:n_parents]).tolist())
        tables.append(of_ones(np.clip(rng.beta(0.5, 0.5, size=(2,) * n_parents), 0.05, 0.95)))
    return drawn_network([2] * 25, parents, tables)


def mixed_network(n: int) -> fn.BayesianNetwork:
    """Return n variables of two to four states with up to three parents each, conditionals from Dirichlet(1/2, ...)."""
    rng, parents, tables = np.random.default_rng(NETWORK_SEED), [], []
    sizes = [int(rng.choice((2, 3, 4))) for _ in range(n)]
    for i, r in enumerate(sizes):
        parents.append(np.sort(rng.permutation(i)[: int(rng.integers(4))]).tolist())
        tables.append(rng.dirichlet(np.full(r, 0.5), size=tuple(sizes[p] for p in parents[i])))
    return drawn_network(sizes, parents, tables)


def wide_network(n: int) -> fn.BayesianNetwork:
    """Return n binary variables, each with two random parents among the twenty before it."""
    rng, parents, tables = np.random.default_rng(7), [], []
    for i in range(n):
        chosen = rng.choice(np.arange(max(0, i - 20), i), size=min(2, i), replace=False)
        parents.append(np.sort(chosen).tolist())
        tables.append(of_ones(rng.uniform(0.05, 0.95, size=(2,) * len(chosen))))
    return drawn_network([2] * n, parents, tables)


def ising(height: int, width: int) -> fn.MarkovNetwork:
    """Return an Ising model on a grid, p in proportion to exp(sum s_i s_j / 2) with spins s of -1 and 1."""
    place = np.arange(height * width).reshape(height, width)
    across = np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()], axis=1)
    down = np.stack([place[:-1].ravel(), place[1:].ravel()], axis=1)
    pair = np.exp(0.5 * np.outer([-1.0, 1.0], [-1.0, 1.0]))
    factors = [((f"X{a}", f"X{b}"), pair) for a, b in np.concatenate([across, down]).tolist()]
    return fn.MarkovNetwork([fn.Variable(f"X{i}", [0, 1]) for i in range(height * width)], factors)
