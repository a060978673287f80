"""Nats by conditional add up to the divergence of the joint distributions (the chain rule)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import rel_entr

import fishernet as fn
from fishernet.base.errors import SchemaError
from fishernet.compare.mechanisms import divergences, marginals, nats_by_configuration
from fishernet.models import ConditionalGaussian
from tests.networks import random_network
from tests.reference.fisher import all_rows, group_probabilities, joint

shapes = st.lists(st.integers(1, 4), min_size=1, max_size=5)
seeds = st.integers(0, 2**32)


def another(net: fn.BayesianNetwork, seed: int, *, zeros: float = 0.0, keep: float = 0.3) -> fn.BayesianNetwork:
    """A network over the same graph, of which some conditionals are the same."""
    rng = np.random.default_rng(seed)
    tables = {}
    for c in net.conditionals:
        table = c.table()
        if rng.random() >= keep:
            table = rng.dirichlet(np.ones(table.shape[-1]), size=table.shape[:-1] or None)
            dropped = np.where(rng.random(table.shape) < zeros, 0, table)
            table = np.where(dropped.sum(axis=-1, keepdims=True) > 0, dropped, table)
            table = table / table.sum(axis=-1, keepdims=True)
        tables[net.names[c.child]] = table
    parents = {net.names[c.child]: [net.names[p] for p in c.parents] for c in net.conditionals}
    return fn.BayesianNetwork.from_tables(net.variables, parents, tables)


@given(shapes, seeds, st.sampled_from([0.0, 0.3]))
def test_the_shares_add_up_to_the_divergence_of_the_joints(shape: list[int], seed: int, zeros: float) -> None:
    """One state, no parents and zeros in both: inf as a whole where a row is possible after and was not before."""
    before = random_network(seed, shape, zeros=zeros)
    after = another(before, seed + 1, zeros=zeros)
    parts = nats_by_configuration(after, before)
    p, q = joint(after), joint(before)
    divergence = float(rel_entr(p, q).sum())
    assert sum(float(part.sum()) for part in parts) == pytest.approx(divergence, rel=1e-9, abs=1e-12)
    assert all((part >= 0).all() for part in parts)
    found = fn.compare.explain_change(before, after)
    assert found.nats == pytest.approx(divergence, rel=1e-9, abs=1e-12)
    assert sum(change.nats for change in found.by_configuration) == pytest.approx(found.nats, rel=1e-9)
    for change in found.by_configuration:
        assert change.state in change.after
        assert 0 < change.probability <= 1 + 1e-12


@given(shapes, seeds)
def test_each_share_is_the_expected_divergence_of_its_rows(shape: list[int], seed: int) -> None:
    before = random_network(seed, shape)
    after = another(before, seed + 1)
    for part, c, d, of_group in zip(
        nats_by_configuration(after, before),
        after.conditionals,
        before.conditionals,
        group_probabilities(after),
        strict=True,
    ):
        own = [of_group[j] * rel_entr(c.probabilities[j], d.probabilities[j]).sum() for j in range(len(of_group))]
        np.testing.assert_allclose(part, own, rtol=1e-9, atol=1e-13)


@given(shapes, seeds, st.sampled_from([0.0, 0.3]))
def test_marginals_are_sums_of_the_joint(shape: list[int], seed: int, zeros: float) -> None:
    net = random_network(seed, shape, zeros=zeros)
    rows, p = all_rows(net), joint(net)
    for v, found in enumerate(marginals(net)):
        expected = np.bincount(rows[:, v], weights=p, minlength=shape[v])
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-13)


def test_what_never_occurs_adds_nothing_where_it_was_impossible() -> None:
    """b given a = y is another distribution than before, with other zeros; after, a is never y."""
    variables = [fn.Variable("a", ["x", "y"]), fn.Variable("b", ["u", "v"])]
    tables: list[dict[str, Any]] = [
        {"a": [0.5, 0.5], "b": [[0.5, 0.5], [1, 0]]},
        {"a": [1, 0], "b": [[0.5, 0.5], [0, 1]]},
    ]
    before, after = (fn.BayesianNetwork.from_tables(variables, {"b": ["a"]}, given) for given in tables)
    found = fn.compare.explain_change(before, after)
    assert found.nats == pytest.approx(math.log(2), rel=1e-12)
    assert found.changed() == ("a",)
    back = fn.compare.explain_change(after, before)
    assert back.nats == math.inf
    assert back.changed() == ("a", "b")
    assert [change.probability for change in back.by_configuration] == [1.0, 0.5]


def test_divergences_of_rows() -> None:
    p, q = np.array([[0.5, 0.5], [1, 0], [0.2, 0.8]]), np.array([[0.5, 0.5], [0.25, 0.75], [1, 0]])
    np.testing.assert_allclose(divergences(p, q), [0, math.log(4), math.inf], rtol=1e-12)


# --------------------------------------------------------------------------------------------------------- numbers


def gaussian(seed: int, parents: list[list[int]]) -> fn.BayesianNetwork:
    rng = np.random.default_rng(seed)
    variables = [fn.Continuous(f"v{i}") for i in range(len(parents))]
    return fn.BayesianNetwork(
        variables,
        [
            ConditionalGaussian(
                i,
                of,
                [variables[p] for p in (*of, i)],
                intercept=rng.normal(),
                coefficients=rng.normal(size=len(of)),
                sd=rng.uniform(0.3, 2),
            )
            for i, of in enumerate(parents)
        ],
    )


@given(seeds, st.sampled_from([[[]], [[], [0]], [[], [], [0, 1], [2]], [[], [0], [0, 1], [0, 2]]]))
def test_of_gaussian_networks_they_add_up_to_that_of_two_normal_distributions(
    seed: int, parents: list[list[int]]
) -> None:
    before, after = gaussian(seed, parents), gaussian(seed + 1, parents)
    precision = np.linalg.inv(before.covariance)
    apart = before.mean - after.mean
    expected = 0.5 * (
        np.trace(precision @ after.covariance)
        + apart @ precision @ apart
        - len(parents)
        + np.linalg.slogdet(before.covariance)[1]
        - np.linalg.slogdet(after.covariance)[1]
    )
    found = fn.compare.explain_change(before, after)
    assert found.nats == pytest.approx(expected, rel=1e-7, abs=1e-9)
    assert sum(change.nats for change in found.by_variable.values()) == pytest.approx(expected, rel=1e-7, abs=1e-9)
    assert found.by_configuration == ()


def test_a_gaussian_network_is_not_changed_against_itself() -> None:
    net = gaussian(1, [[], [0], [0, 1]])
    found = fn.compare.explain_change(net, net)
    assert (found.nats, found.changed(), dict(found.inherited())) == (0, (), {})


# ------------------------------------------------------------------------------------------------------- inheritance


ASIA = fn.datasets.load("asia")


def test_networks_inherit_what_their_marginals_show() -> None:
    """Whoever smokes or not, more or fewer have lung cancer: the conditionals downstream are the same."""
    found = fn.compare.explain_change(ASIA, fn.infer.intervene(ASIA, {"smoke": "yes"}))
    assert found.changed() == ("smoke",)
    assert set(found.inherited()) == {"lung", "bronc", "either", "xray", "dysp"}
    assert set(found.inherited().values()) == {("smoke",)}
    assert math.isnan(found.by_variable["smoke"].p_corrected)
    assert found.n_rows is None


def test_a_network_against_itself_and_a_gaussian_one_downstream() -> None:
    same = fn.compare.explain_change(ASIA, ASIA)
    assert (same.nats, same.changed(), dict(same.inherited()), same.by_configuration) == (0, (), {}, ())
    net = gaussian(3, [[], [0], []])
    moved = fn.BayesianNetwork(
        net.variables,
        [ConditionalGaussian(0, (), [net.variables[0]], 9.0, [], 1.0), *net.conditionals[1:]],
    )
    assert dict(fn.compare.explain_change(net, moved).inherited()) == {"v1": ("v0",)}


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (
            fn.learn.parameters(fn.Dag.from_edges(ASIA.names, []), ASIA.sample(50, seed=1)),
            "two networks over one graph",
        ),
        (random_network(1, [2, 2]), "two networks over one graph"),
    ],
)
def test_networks_over_other_graphs_are_refused(other: fn.BayesianNetwork, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        fn.compare.explain_change(ASIA, other)
    one = fn.BayesianNetwork.from_tables([fn.Variable("a", ["x", "y"])], {}, {"a": [0.5, 0.5]})
    turned = fn.BayesianNetwork.from_tables([fn.Variable("a", ["y", "x"])], {}, {"a": [0.5, 0.5]})
    with pytest.raises(SchemaError, match="in one order, with the same states"):
        fn.compare.explain_change(one, turned)
