"""What data are drawn from: the network of seven nodes, copies of it, and nonparanormal networks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import fishernet as fn

Array = npt.NDArray[np.float64]

PARENTS = ((), (0,), (0, 1), (2,), (2, 3), (4,), (4,))
"""Of the seven nodes: two triangles and a fork, whose parents are joined, so that the moral graph has no other edge."""
NOISES: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "Gaussian": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.uniform(-1, 1, size=n),
    "t, 2 d.f.": lambda rng, n: rng.standard_t(2, size=n),
}
MEAN_DEGREE = 2.0
DEGREES_OF_FREEDOM = 3.0
POWER = 3


class Truth(ABC):
    """A distribution whose undirected graph is known; the graph of some is drawn, too."""

    name: str
    n_variables: int

    @abstractmethod
    def draw(self, n: int, rng: np.random.Generator) -> tuple[Array, fn.UndirectedGraph]:
        """Return n rows, (n, n_variables), and the graph they are of."""


@dataclass(frozen=True)
class SevenNodes(Truth):
    """Copies, unconnected, of the network of seven nodes and eight edges."""

    linear: bool
    noise: str
    copies: int = 1

    @property
    def name(self) -> str:  # type: ignore[override]
        """What it is."""
        return f"{'linear' if self.linear else 'non-linear'}, {self.noise}"

    @property
    def n_variables(self) -> int:  # type: ignore[override]
        """Seven a copy."""
        return 7 * self.copies

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Array, fn.UndirectedGraph]:
        """Return rows, and the graph."""
        rows = np.concatenate([self._one(n, rng) for _ in range(self.copies)], axis=1)
        names = [f"v{v}" for v in range(self.n_variables)]
        edges = [
            (names[7 * c + parent], names[7 * c + child])
            for c in range(self.copies)
            for child, parents in enumerate(PARENTS)
            for parent in parents
        ]
        return rows, fn.UndirectedGraph.from_edges(names, edges)

    def _one(self, n: int, rng: np.random.Generator) -> Array:
        x = np.empty((7, n))
        means = LINEAR if self.linear else NON_LINEAR
        for v, mean in enumerate(means):
            x[v] = mean(x) + NOISES[self.noise](rng, n)
        return x.T


Mean = Callable[[Array], Array | float]

LINEAR: tuple[Mean, ...] = (
    lambda _: 0.0,
    lambda x: 0.8 * x[0],
    lambda x: 0.7 * x[0] - 0.8 * x[1],
    lambda x: 0.9 * x[2],
    lambda x: 0.8 * x[2] + 0.7 * x[3],
    lambda x: 0.8 * x[4],
    lambda x: -0.9 * x[4],
)
NON_LINEAR: tuple[Mean, ...] = (
    lambda _: 0.0,
    lambda x: 2 * np.cos(x[0]),
    lambda x: 2 * np.abs(x[0]) + 1.5 * np.sin(2 * x[1]),
    lambda x: 2 * np.log(np.abs(x[2]) + 0.1),
    lambda x: 2 * np.cos(x[2]) + x[3] ** 2 / (1 + np.abs(x[3])),
    lambda x: 3 * np.sin(x[4]),
    lambda x: 1.5 * np.abs(x[4]),
)


@dataclass(frozen=True)
class Nonparanormal(Truth):
    """A Gaussian network of a random graph, its columns put through ``sign(x) |x|^3``."""

    n_variables: int

    @property
    def name(self) -> str:  # type: ignore[override]
        """What it is."""
        return f"nonparanormal, {self.n_variables} nodes"

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Array, fn.UndirectedGraph]:
        """Return rows of a new network, and its graph."""
        graph = random_graph(self.n_variables, rng)
        half = np.linalg.cholesky(fn.models.g_wishart(graph, df=DEGREES_OF_FREEDOM, seed=rng)[0])
        rows = np.linalg.solve(half.T, rng.normal(size=(self.n_variables, n))).T
        powered: Array = np.sign(rows) * np.abs(rows) ** POWER
        return powered, graph


def random_graph(d: int, rng: np.random.Generator) -> fn.UndirectedGraph:
    """Return a graph that joins every pair with the probability that makes two neighbours a node in the mean."""
    joined = np.triu(rng.random((d, d)) < MEAN_DEGREE / (d - 1), 1)
    return fn.UndirectedGraph([f"v{v}" for v in range(d)], [np.flatnonzero(row) for row in joined | joined.T])
