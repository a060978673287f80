"""The true distributions, and the data sets drawn from them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

import fishernet as fn

Array = npt.NDArray[np.float64]
Model = fn.BayesianNetwork | fn.MarkovNetwork

COUPLING = 0.5  # P2 does not print it; at this value H(X0 | X1, X5) and the KL of the training rows are as printed
SMALL, LARGE = 1_000, 100_000
SEEDS = {"BN20-37S": 11, "BN20-37L": 12, "Ising5x5S": 13, "Ising5x5L": 14}


@dataclass(frozen=True)
class Truth:
    """A known distribution over binary variables."""

    name: str
    model: Model

    @property
    def names(self) -> tuple[str, ...]:
        """The variables' names."""
        return tuple(variable.name for variable in self.model.variables)

    @cached_property
    def log_normalizer(self) -> float:
        """The logarithm of what the product of the model's factors sums to."""
        return fn.infer.log_partition(self.model) if isinstance(self.model, fn.MarkovNetwork) else 0.0

    @cached_property
    def blankets(self) -> tuple[tuple[int, ...], ...]:
        """The positions on which each variable's full conditional depends."""
        return fn.DependencyNetwork.from_joint(self.model).inputs

    def log_prob(self, rows: fn.Table) -> Array:
        """Return each row's log-probability."""
        if isinstance(self.model, fn.MarkovNetwork):
            return self.model.log_potential(rows) - self.log_normalizer
        return self.model.log_prob(rows)

    def joint(self) -> Array:
        """Return the joint probabilities, one axis a variable."""
        return fn.infer.marginal(self.model, self.names)


@dataclass(frozen=True)
class DataSet:
    """Rows drawn independently from a truth."""

    name: str
    truth: Truth
    rows: fn.Table


def ising(height: int, width: int, coupling: float = COUPLING) -> Truth:
    """Return an Ising model on a grid without periodic boundary: p in proportion to exp(J sum s_i s_j), s = 2 x - 1."""
    variables = [fn.Variable(f"X{i}", [0, 1]) for i in range(height * width)]
    place = np.arange(height * width).reshape(height, width)
    across = np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()], axis=1)
    down = np.stack([place[:-1].ravel(), place[1:].ravel()], axis=1)
    spins = np.array([-1.0, 1.0])
    pair = np.exp(coupling * np.outer(spins, spins))
    edges = np.concatenate([across, down]).tolist()
    factors = [((f"X{a}", f"X{b}"), pair) for a, b in edges]
    return Truth(f"Ising{height}x{width}", fn.MarkovNetwork(variables, factors))


def bn20_37(folder: Path | None) -> Truth | None:
    """Return the Bayesian network of 20 nodes and 37 edges, None where its file is not.

    P2 shows it in a figure only; the file holds a network of that shape, whose node 0 has the printed blanket and
    entropies.
    """
    if folder is None:
        return None
    found = [path for path in (folder / "reference" / "bn20-37.json", folder / "bn20-37.json") if path.is_file()]
    return read_bn20_37(found[0]) if found else None


def read_bn20_37(path: Path) -> Truth:
    """Read the network: row ``sum_k x_parents[k] << k`` of a table is the probability of state 1."""
    held = json.loads(path.read_text())
    names = [f"X{i}" for i in range(len(held["parents"]))]
    parents = {name: [names[p] for p in of] for name, of in zip(names, held["parents"], strict=True)}
    tables = {}
    for name, of, ones in zip(names, held["parents"], held["p_x1_given_parents"], strict=True):
        one = np.array(ones).reshape((2,) * len(of), order="F")  # the first parent is the fastest
        tables[name] = np.stack([1 - one, one], axis=-1)
    variables = [fn.Variable(name, [0, 1]) for name in names]
    return Truth("BN20-37", fn.BayesianNetwork.from_tables(variables, parents, tables))


def data_sets(truths: list[Truth], small: int = SMALL, large: int = LARGE) -> list[DataSet]:
    """Draw a small and a large training set of each truth."""
    drawn = []
    for truth in truths:
        for letter, n in (("S", small), ("L", large)):
            name = truth.name + letter
            drawn.append(DataSet(name, truth, truth.model.sample(n, seed=SEEDS.get(name, 10))))
    return drawn
