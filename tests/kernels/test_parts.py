"""Whose each feature is, against the features themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.kernels import FisherKernel, HiddenVariableKernel
from tests.networks import random_network

ASIA = fn.datasets.load("asia")
MIXED = random_network(5, [3, 2, 4, 1, 3])
GAUSSIAN = fn.learn.bayesian_network(np.random.default_rng(3).normal(size=(200, 4)).cumsum(axis=1))


def merged() -> fn.BayesianNetwork:
    """A variable whose parents' six configurations share three rows."""
    a, b, c = fn.Variable("a", ["x", "y"]), fn.Variable("b", [0, 1, 2]), fn.Variable("c", ["u", "v"])
    return fn.BayesianNetwork(
        [a, b, c],
        [
            fn.models.FullTable(0, (), [a], [[0.4, 0.6]]),
            fn.models.FullTable(1, (), [b], [[0.2, 0.3, 0.5]]),
            fn.models.MergedTable(2, (0, 1), [a, b, c], [[0, 1, 1], [2, 0, 1]], [[0.3, 0.7], [0.6, 0.4], [0.5, 0.5]]),
        ],
    )


MERGED = merged()
KERNELS: dict[str, Any] = {
    "asia": FisherKernel(ASIA),
    "one state": FisherKernel(MIXED),
    "merged": FisherKernel(MERGED),
    "practical": FisherKernel(ASIA, metric="practical"),
    "hidden variables": HiddenVariableKernel(ASIA),
    "Gaussian": FisherKernel(GAUSSIAN),
}


def dense(features: Any) -> np.ndarray:
    return np.asarray(features.toarray() if hasattr(features, "toarray") else features)


@pytest.mark.parametrize("name", KERNELS)
def test_the_features_of_a_variable_give_its_term(name: str) -> None:
    kernel = KERNELS[name]
    rows = kernel.model.sample(30, seed=1)
    parts, features = kernel.feature_parts, dense(kernel.features(rows))
    assert parts.names == kernel.model.names
    assert parts.variable_of.shape == (kernel.dimension,)
    assert (np.diff(parts.variable_of) >= 0).all()
    for v, term in enumerate(kernel.terms(rows)):
        own = features[:, parts.variable_of == v]
        np.testing.assert_allclose(own @ own.T, term, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["asia", "one state", "merged"])
def test_a_row_has_features_in_the_group_of_its_configuration_alone(name: str) -> None:
    kernel = KERNELS[name]
    net = kernel.model
    rows = net.sample(60, seed=1)
    labels = rows.to_frame().to_pylist()
    parts, features = kernel.feature_parts, dense(kernel.features(rows))
    assert (parts.variable_of_group[parts.group_of] == parts.variable_of).all()
    assert len(parts.variable_of_group) == sum(c.n_groups for c in net.conditionals)
    for g, v in enumerate(parts.variable_of_group):
        conditional = net.conditionals[v]
        first = int(np.flatnonzero(parts.variable_of_group == v)[0])
        inside = conditional.groups(rows) == g - first
        assert not features[np.ix_(~inside, parts.group_of == g)].any()
        states = parts.describe(g)
        if name != "merged":  # where the states of the parents in a group are those of one configuration
            assert sorted(states) == sorted(net.names[p] for p in conditional.parents)
            matching = [all(row[parent] == state for parent, state in states.items()) for row in labels]
            assert matching == inside.tolist()


def test_variables_that_are_mixed_have_no_parts() -> None:
    rows = ASIA.sample(50, seed=1)
    assert FisherKernel(ASIA, metric="empirical", reference=rows).feature_parts is None
    assert FisherKernel(ASIA, hidden=["either"]).feature_parts is None
    assert KERNELS["Gaussian"].feature_parts.group_of is None
    assert (KERNELS["asia"] + KERNELS["asia"]).feature_parts is None
