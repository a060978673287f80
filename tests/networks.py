"""Random networks for tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import fishernet as fn


def random_network(
    seed: int, cardinalities: list[int], *, zeros: float = 0.0, sharp: float = 1.0
) -> fn.BayesianNetwork:
    """A network over v0, v1, ... whose parents are drawn among the others, in a random order of the variables."""
    rng = np.random.default_rng(seed)
    n = len(cardinalities)
    variables = [fn.Variable(f"v{i}", [f"s{k}" for k in range(r)]) for i, r in enumerate(cardinalities)]
    order = rng.permutation(n)
    parents: dict[str, list[str]] = {}
    tables: dict[str, np.ndarray] = {}
    for place, v in enumerate(order):
        of = sorted(rng.choice(order[:place], size=rng.integers(0, min(place, 3) + 1), replace=False).tolist())
        shape = [cardinalities[p] for p in of]
        values = rng.dirichlet(np.full(cardinalities[v], sharp), size=shape or None)
        if zeros:
            values = np.where(rng.random(values.shape) < zeros, 0, values)
            values[values.sum(axis=-1) == 0] = 1 / cardinalities[v]
            values = values / values.sum(axis=-1, keepdims=True)
        parents[f"v{v}"] = [f"v{p}" for p in of]
        tables[f"v{v}"] = values
    return fn.BayesianNetwork.from_tables(variables, parents, tables)


@st.composite
def networks(draw: st.DrawFn, *, most_variables: int = 5, positive: bool = False) -> fn.BayesianNetwork:
    """Small networks: unequal cardinalities, one state, no parents, probabilities near or at 0."""
    cardinalities = draw(st.lists(st.integers(1, 4), min_size=1, max_size=most_variables))
    return random_network(
        draw(st.integers(0, 2**32)),
        cardinalities,
        zeros=0.0 if positive else draw(st.sampled_from([0.0, 0.2])),
        sharp=2.0 if positive else 1.0,
    )


def with_holes(net: fn.BayesianNetwork, n: int, seed: int, missing: float) -> fn.Table:
    """Rows drawn from the network, in which cells are missing."""
    rng = np.random.default_rng(seed)
    columns = [
        np.where(rng.random(n) < missing, v.cardinality, c).astype(v.dtype)
        for v, c in zip(net.variables, net.sample(n, seed=seed).codes, strict=True)
    ]
    return fn.Table(net.variables, columns)
