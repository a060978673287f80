"""Rows drawn given what is known."""

from __future__ import annotations

import numpy as np
import pytest

import fishernet as fn
from tests.networks import random_network


@pytest.mark.parametrize("seed", range(4))
def test_rows_have_the_posterior_distribution(seed: int) -> None:
    net = random_network(seed, [2, 3, 2, 4, 1])
    given = {"v1": "s2"}
    likelihood = {"v3": [0.1, 1.0, 0.5, 2.0]}
    joint = fn.infer.marginal(net, net.names, given=given, likelihood=likelihood).ravel()
    n = 100_000
    rows = fn.infer.sample(net, n, given=given, likelihood=likelihood, seed=seed)
    cells = np.ravel_multi_index([c.astype(int) for c in rows.codes], [v.cardinality for v in net.variables])
    counts = np.bincount(cells, minlength=len(joint))
    assert (counts[joint == 0] == 0).all()
    off = (counts - n * joint) / np.sqrt(np.maximum(n * joint * (1 - joint), 1))
    assert np.abs(off).max() < 5


def test_rare_evidence_costs_no_rejected_rows() -> None:
    """P(all of 400 children agree) is far below one in 10^100."""
    names = ["class", *(f"x{i}" for i in range(400))]
    variables = [fn.Variable(name, ["a", "b"]) for name in names]
    tables: dict[str, list[list[float]] | list[float]] = {name: [[0.5, 0.5], [0.499, 0.501]] for name in names[1:]}
    tables["class"] = [0.5, 0.5]
    net = fn.BayesianNetwork.from_tables(variables, {name: ["class"] for name in names[1:]}, tables)
    given = dict.fromkeys(names[1:], "b")
    rows = fn.infer.sample(net, 20_000, given=given, seed=1)
    share = float((rows.column("class") == 1).mean())
    expected = float(fn.infer.marginal(net, ["class"], given=given)[1])
    assert abs(share - expected) < 5 * np.sqrt(expected * (1 - expected) / 20_000)
    assert all((rows.column(name) == 1).all() for name in names[1:])


def test_zero_rows_a_seed_and_impossible_evidence() -> None:
    asia = fn.datasets.load("asia")
    assert fn.infer.sample(asia, 0).n_rows == 0
    assert fn.infer.sample(asia, 50, seed=3) == fn.infer.sample(asia, 50, seed=3)
    with pytest.raises(fn.ZeroProbabilityError):
        fn.infer.sample(asia, 5, given={"lung": "yes", "either": "no"})
    with pytest.raises(fn.StateSpaceError):
        fn.infer.sample(asia, 5, max_table=1)
