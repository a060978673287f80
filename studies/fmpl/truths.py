"""The networks that data are drawn from: copies of one of 64 variables, as large as P4's (EXPERIMENTS, section 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import fishernet as fn

Array = npt.NDArray[np.float64]

PART = 64
"""Variables of a copy."""
N_EDGES = 78
"""Edges of a copy."""
DEGREES = 3.0


def part_edges() -> list[tuple[int, int]]:
    """Return the edges of a copy: a grid of four by four, four cliques of four, a circle of 16 and two stars of 8."""
    grid = [(4 * r + c, 4 * r + c + 1) for r in range(4) for c in range(3)]
    grid += [(4 * r + c, 4 * r + c + 4) for r in range(3) for c in range(4)]
    cliques = [(4 * k + a, 4 * k + b) for k in range(4, 8) for a in range(4) for b in range(a + 1, 4)]
    circle = [(32 + k, 32 + (k + 1) % 16) for k in range(16)]
    stars = [(hub, hub + leaf) for hub in (48, 56) for leaf in range(1, 8)]
    return grid + cliques + circle + stars


@dataclass(frozen=True)
class Copies:
    """Unconnected copies of the network of 64 variables; the precision is drawn, too."""

    n_variables: int

    @property
    def name(self) -> str:
        """What it is."""
        return f"{self.n_variables:,} variables"

    @property
    def graph(self) -> fn.UndirectedGraph:
        """The graph that the precision has the zeros of."""
        names = [f"v{v}" for v in range(self.n_variables)]
        starts = range(0, self.n_variables, PART)
        edges = [(names[start + a], names[start + b]) for start in starts for a, b in part_edges()]
        return fn.UndirectedGraph.from_edges(names, edges)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Array, fn.UndirectedGraph]:
        """Return rows, (n, n_variables), of a new precision, and the graph.

        Copies are independent of one another, so each has its precision drawn by itself.
        """
        copies = self.n_variables // PART
        factors = np.linalg.cholesky(fn.models.g_wishart(Copies(PART).graph, df=DEGREES, n=copies, seed=rng))
        rows = [np.linalg.solve(half.T, rng.normal(size=(PART, n))).T for half in factors]
        return np.ascontiguousarray(np.concatenate(rows, axis=1)), self.graph
