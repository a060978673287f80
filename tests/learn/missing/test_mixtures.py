"""The E step of a mixture is that of any network."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import ZeroProbabilityError
from fishernet.learn.missing.incomplete import CompletedRows
from fishernet.learn.missing.mixtures import Mixture
from tests.tables import random_table


def mixture(k: int, sizes: list[int], at: int, seed: int, zeros: bool) -> fn.BayesianNetwork:
    """Return a network whose variable at a position is the parent of all others."""
    rng = np.random.default_rng(seed)
    variables = [fn.Variable(f"v{i}", list(range(size))) for i, size in enumerate(sizes)]
    variables.insert(at, fn.Variable("h", list(range(k))))
    tables: dict[str, Any] = {"h": rng.dirichlet(np.ones(k))}
    for variable in variables:
        if variable.name != "h":
            tables[variable.name] = rng.dirichlet(np.ones(variable.cardinality), size=k)
            if zeros and variable.cardinality > 1 and k > 1:
                tables[variable.name][0] = np.eye(variable.cardinality)[0]
    return fn.BayesianNetwork.from_tables(variables, {v.name: ["h"] for v in variables if v.name != "h"}, tables)


@given(
    k=st.integers(1, 4),
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=5),
    where=st.integers(0, 5),
    seed=st.integers(0, 10**6),
    missing=st.sampled_from([0.0, 0.3, 1.0]),
    weighted=st.booleans(),
    zeros=st.booleans(),
)
def test_expected_counts_are_those_of_inference(
    k: int, sizes: list[int], where: int, seed: int, missing: float, weighted: bool, zeros: bool
) -> None:
    at = min(where, len(sizes))
    net = mixture(k, sizes, at, seed, zeros and missing < 1)
    seen = random_table(seed, 30, sizes, missing=missing)
    columns = list(seen.codes)
    columns.insert(at, net.variables[at].missing_column(30))
    rows = fn.Table(net.variables, columns)
    weights = np.random.default_rng(seed).random(30) * 3 if weighted else None
    found = Mixture.of(net, rows, weights)
    assert found is not None
    general = CompletedRows(net, rows, weights, 2**26)
    try:
        log_prob, counts = general.expected(net)
    except ZeroProbabilityError:
        with pytest.raises(ZeroProbabilityError):
            found.expected(net)
        return
    ours, of_mixture = found.expected(net)
    np.testing.assert_allclose(ours, log_prob, rtol=1e-9, atol=1e-9)
    for one, other in zip(of_mixture, counts, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_what_is_no_mixture_takes_the_general_way() -> None:
    net = mixture(2, [2, 3], 0, 1, zeros=False)
    table = net.sample(20, seed=1)
    assert Mixture.of(net, table, None) is None  # somebody observed the class
    assert Mixture.of(fn.datasets.load("asia"), fn.datasets.load("asia").sample(5, seed=1), None) is None
