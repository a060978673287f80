"""Drawing strings from a hidden tree, all at once, node by node."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from fishernet.models.trees.shape import TreeShape

Numbers = npt.NDArray[np.float64]


class Drawable(Protocol):
    """What of a hidden tree is needed."""

    @property
    def shape(self) -> TreeShape:
        """The tree."""
        ...

    @property
    def root(self) -> Numbers:
        """(n_states,) P(state of the root)."""
        ...

    @property
    def transition(self) -> Numbers:
        """P(b | a) in row a, column b; with or without a first axis of tables."""
        ...

    @property
    def emission(self) -> Numbers:
        """P(symbol | a) in row a; with or without a first axis of tables."""
        ...

    @property
    def arity(self) -> npt.NDArray[np.int64] | None:
        """(n_states,) the number of children of a node in each state, or None."""
        ...

    @property
    def branch_tables(self) -> npt.NDArray[np.int32]:
        """(n_branches,) which table each branch has."""
        ...


def draw_symbols(model: Drawable, n: int, draws: np.random.Generator) -> npt.NDArray[np.int32]:
    """Return the codes of n strings, (n, n_leaves); given that the arities are met, where there are some."""
    shape = model.shape
    mass = met_mass(model)
    states: dict[int, npt.NDArray[np.intp]] = {0: _drawn(np.tile(model.root * mass[0], (n, 1)), draws)}
    codes = np.empty((n, shape.n_leaves), np.int32)
    for node in range(shape.n_nodes):
        above = states.pop(node)
        for branch, child in shape.children(node):
            if child < 0:
                codes[:, ~child] = _drawn(table_of(model.emission, model, branch)[above], draws)
            else:
                states[child] = _drawn((table_of(model.transition, model, branch) * mass[child])[above], draws)
    return codes


def met_mass(model: Drawable) -> Numbers:
    """Return how probable it is that everything from a node on has its arity, given its state; up to a factor a node.

    Returns
    -------
    (n_nodes, n_states) float64
    """
    shape = model.shape
    mass = np.ones((shape.n_nodes, len(model.root)))
    if model.arity is None:
        return mass
    for node in range(shape.n_nodes - 1, -1, -1):
        for branch, child in shape.children(node):
            if child >= 0:
                mass[node] *= table_of(model.transition, model, branch) @ mass[child]
                mass[node] /= max(mass[node].max(), np.finfo(float).tiny)  # so that depth does not underflow
        mass[node] *= model.arity == shape.n_children[node]
    return mass


def table_of(tables: Numbers, model: Drawable, branch: int) -> Numbers:
    """Return the table of a branch."""
    table: Numbers = tables if tables.ndim == 2 else tables[model.branch_tables[branch]]
    return table


def _drawn(weights: Numbers, draws: np.random.Generator) -> npt.NDArray[np.intp]:
    """Return a column for each row of weights."""
    sums = np.cumsum(weights, axis=1)
    points = draws.random(len(weights)) * sums[:, -1]
    columns: npt.NDArray[np.intp] = np.sum(points[:, None] >= sums, axis=1)
    last = weights.shape[1] - 1 - np.argmax(weights[:, ::-1] > 0, axis=1)  # rounding must not give what cannot be
    possible: npt.NDArray[np.intp] = np.minimum(columns, last)
    return possible
