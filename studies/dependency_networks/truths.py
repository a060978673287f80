"""The true distributions, the data sets drawn from them, and the figures that the paper prints of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import fishernet as fn
from studies.study import Array, moved

Model = fn.BayesianNetwork | fn.MarkovNetwork

COUPLING = 0.5  # not printed; at this value H(X0 | X1, X5) and the KL divergence of the training rows are as printed
SMALL, LARGE = 1_000, 100_000
SEEDS = {"BN20-37S": 11, "BN20-37L": 12, "Ising5x5S": 13, "Ising5x5L": 14}

NO = [None] * 4

# fmt: off
PRINTED: dict[str, tuple[list[Any], list[Any], list[Any]]] = {
    "BN20-37S": ([4.14, [1.43, 1.43, 1.43], [0.78, 0.78, 0.78]],
                 ["X1 X2 X4 X19", "0.68", "0.41", "0.41", "0.17", "0.47", "4.5E-2"], [1616, 16945, 17, 73, *NO]),
    "BN20-37L": ([0.67, [0.69, 0.69, 0.69], [0.69, 0.69, 0.70]],
                 ["X1 X2 X3 X4 X6 X7 X11 X19", "0.68", "0.22", "0.09", "1.3E-3", "0.17", "1.1E-3"],
                 [2129, 23797, 2466, 13127, *NO]),
    "Ising5x5S": ([3.87, [1.37, 1.36, 1.39], [1.37, 1.37, 1.37]],
                  ["X1 X5", "0.69", "0.44", "0.36", "2.9E-3", "0.28", "7.0E-3"], [2497, 32298, 25, 144, *NO]),
    "Ising5x5L": ([1.16, [1.17, 1.18, 1.19], [1.16, 1.15, 1.16]],
                  ["X1 X5", "0.69", "0.44", "0.19", "1.4E-5", "0.16", "5.3E-5"], [2545, 42365, 2419, 22676, *NO]),
}
# fmt: on
"""The paper's section 7.4, as printed: Table 1, Tables 2 and 3, and Table 4 (evaluations, and milliseconds of the
processor; the dependency network's and then the Bayesian network's)."""


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
        """Return the joint probabilities, one axis per variable."""
        return fn.infer.marginal(self.model, self.names)


class DataSet(NamedTuple):
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
    factors = [((f"X{a}", f"X{b}"), pair) for a, b in np.concatenate([across, down]).tolist()]
    return Truth(f"Ising{height}x{width}", fn.MarkovNetwork(variables, factors))


def read_bn20_37(path: Path) -> Truth:
    """Read the stand-in for the paper's network of 20 nodes and 37 edges.

    Row ``sum_k x_parents[k] << k`` of a table is the probability of state 1: the first parent is the fastest.
    """
    held = json.loads(path.read_text())
    names = [f"X{i}" for i in range(len(held["parents"]))]
    parents = {name: [names[p] for p in of] for name, of in zip(names, held["parents"], strict=True)}
    tables = {}
    for name, of, ones in zip(names, held["parents"], held["p_x1_given_parents"], strict=True):
        one = np.array(ones).reshape((2,) * len(of), order="F")
        tables[name] = np.stack([1 - one, one], axis=-1)
    variables = [fn.Variable(name, [0, 1]) for name in names]
    return Truth("BN20-37", fn.BayesianNetwork.from_tables(variables, parents, tables))


def data_sets(truths: list[Truth]) -> list[DataSet]:
    """Draw a small and a large training set of each truth."""
    asked = [(truth.name + letter, truth, n) for truth in truths for letter, n in (("S", SMALL), ("L", LARGE))]
    return [DataSet(name, truth, truth.model.sample(n, seed=moved(SEEDS.get(name, 10)))) for name, truth, n in asked]


def random_network(n: int, seed: int = 7, reach: int = 20) -> fn.BayesianNetwork:
    """Return a network of n binary variables, each with two random parents among the twenty before it."""
    rng = np.random.default_rng(seed)
    names = [f"X{i}" for i in range(n)]
    parents, tables = {}, {}
    for i, name in enumerate(names):
        near = np.arange(max(0, i - reach), i)
        chosen = np.sort(rng.choice(near, size=min(2, i), replace=False))
        ones = rng.uniform(0.05, 0.95, size=(2,) * len(chosen))
        parents[name] = [names[p] for p in chosen]
        tables[name] = np.stack([1 - ones, ones], axis=-1)
    return fn.BayesianNetwork.from_tables([fn.Variable(name, [0, 1]) for name in names], parents, tables)
