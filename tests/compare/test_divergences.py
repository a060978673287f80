"""Divergences against their definitions (P2, section 3.2), for arrays, tables and networks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import rel_entr

import fishernet as fn
from fishernet.base.errors import FishernetError, MissingValueError, SchemaError, StateSpaceError, UnknownStateError
from tests.networks import networks, random_network
from tests.reference.dependency import (
    Array,
    cardinalities_of,
    conditional_entropy,
    conditional_of,
    full_conditional_by_definition,
    joint_of,
    kl_by_definition,
    random_dependency_network,
    random_distribution,
    states_of,
)
from tests.tables import random_table

shapes = st.lists(st.integers(1, 4), min_size=1, max_size=4)
seeds = st.integers(0, 2**32)
ABSOLUTE = 1e-11  # sums of at most 256 terms


def weights_of(seed: int, n: int) -> Array:
    return np.random.default_rng(seed).dirichlet(np.ones(n))


def empirical(table: fn.Table) -> Array:
    """Shares of the rows, by weight."""
    counts = np.zeros(table.cardinalities)
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    np.add.at(counts, tuple(column.astype(int) for column in table.codes), weights)
    return np.asarray(counts / counts.sum())


def negative_conditional_entropy(p: Array, weights: Array) -> float:
    """The Bregman function of FC: -sum_i c_i H(X_i | X_-i)."""
    rest = [[u for u in range(p.ndim) if u != v] for v in range(p.ndim)]
    return -sum(float(share) * conditional_entropy(p, v, rest[v]) for v, share in enumerate(weights))


# -------------------------------------------------------------------------------------------------------------- KL


@given(shapes, seeds, st.sampled_from([0.0, 0.4]))
def test_kl_is_its_definition(shape: list[int], seed: int, zeros: float) -> None:
    p, q = random_distribution(seed, shape, zeros=zeros), random_distribution(seed + 1, shape)
    assert fn.compare.kl(p, q) == pytest.approx(kl_by_definition(p, q), rel=1e-11, abs=ABSOLUTE)
    assert fn.compare.kl(p, q) == pytest.approx(rel_entr(p, q).sum(), rel=1e-11, abs=ABSOLUTE)
    assert fn.compare.kl(p, p) == pytest.approx(0, abs=1e-13)
    assert fn.compare.kl(p, q) >= -1e-14


def test_kl_is_infinite_where_q_has_no_mass() -> None:
    assert fn.compare.kl([0.5, 0.5], [1.0, 0.0]) == math.inf
    assert fn.compare.kl([1.0, 0.0], [0.5, 0.5]) == pytest.approx(math.log(2), rel=1e-13)


# -------------------------------------------------------------------------------------- the full-conditional kind


@given(shapes, seeds, st.sampled_from([0.0, 0.4]), st.booleans())
def test_fc_is_equation_13(shape: list[int], seed: int, zeros: float, weighted: bool) -> None:
    p, q = random_distribution(seed, shape, zeros=zeros), random_distribution(seed + 1, shape)
    weights = weights_of(seed, len(shape)) if weighted else None
    found = fn.compare.full_conditional_divergence(p, q, weights)
    assert found == pytest.approx(full_conditional_by_definition(p, q, weights), rel=1e-11, abs=ABSOLUTE)
    assert fn.compare.full_conditional_divergence(p, p, weights) == pytest.approx(0, abs=1e-13)


@given(networks(most_variables=4, positive=True), seeds)
def test_fc_is_negative_conditional_entropy_less_pseudo_log_likelihood(net: fn.BayesianNetwork, seed: int) -> None:
    """P2, Eq. 14, with the pseudo-log-likelihood of the full conditionals of q."""
    shape = cardinalities_of(net)
    p = random_distribution(seed, shape)
    weights = weights_of(seed, len(shape))
    terms = fn.DependencyNetwork.from_joint(net).log_prob_terms(np.array(states_of(net)))
    expected = negative_conditional_entropy(p, weights) - float(p.ravel() @ terms @ weights)
    found = fn.compare.full_conditional_divergence(p, joint_of(net), weights)
    assert found == pytest.approx(expected, rel=1e-10, abs=ABSOLUTE)


@given(networks(most_variables=4, positive=True), seeds)
def test_fc_is_the_average_distance_to_the_manifolds_of_q(net: fn.BayesianNetwork, seed: int) -> None:
    """The first line of Eq. 13: sum_i c_i KL(p || E_i(q))."""
    p = random_distribution(seed, cardinalities_of(net))
    weights = weights_of(seed, p.ndim)
    dn = fn.DependencyNetwork.from_joint(net)
    expected = sum(c * fn.compare.kl_to_manifold(p, dn, name) for c, name in zip(weights, dn.names, strict=True))
    found = fn.compare.full_conditional_divergence(p, net, weights)
    assert found == pytest.approx(expected, rel=1e-11, abs=ABSOLUTE)


def test_fc_of_disconnected_supports_does_not_tell_them_apart() -> None:
    """Mass on 00 and 11 only: each cell is certain given the other, however the mass is shared."""
    p, q = np.diag([0.9, 0.1]), np.diag([0.3, 0.7])
    assert fn.compare.full_conditional_divergence(p, q) == pytest.approx(0, abs=1e-13)
    assert fn.compare.kl(p, q) > 0.5


def test_fc_is_infinite_where_q_has_no_mass() -> None:
    a, b, c = (fn.Variable(name, [0, 1]) for name in "abc")
    tables = {"a": np.full(2, 0.5), "b": np.array([[1, 0], [1, 0]]), "c": np.array([[1, 0], [0.5, 0.5]])}
    net = fn.BayesianNetwork.from_tables([a, b, c], {"b": ["a"], "c": ["b"]}, tables)
    p = np.full((2, 2, 2), 1 / 8)
    for q in (joint_of(net), net, fn.Table.from_codes([[0, 0, 0], [1, 0, 0]], net.variables)):
        assert fn.compare.full_conditional_divergence(p, q) == math.inf
        assert fn.compare.kl(p, q) == math.inf


def test_a_variable_of_weight_zero_does_not_count() -> None:
    p, q = random_distribution(1, [2, 3]), random_distribution(2, [2, 3])
    mine, other = conditional_of(p, 1), conditional_of(q, 1)
    expected = float((p * np.log(mine / other)).sum())
    assert fn.compare.full_conditional_divergence(p, q, [0, 1]) == pytest.approx(expected, rel=1e-12)


# --------------------------------------------------------------------------- arrays, tables and networks are the same


def both(p: Any, q: Any, weights: Any = None) -> tuple[float, float]:
    return fn.compare.kl(p, q), fn.compare.full_conditional_divergence(p, q, weights)


def test_a_table_stands_for_its_empirical_distribution() -> None:
    q = random_network(1, [2, 3, 4], sharp=2.0)
    for weighted in (False, True):
        table = random_table(1, 300, [2, 3, 4], weighted=weighted)
        expected = both(empirical(table), joint_of(q), [0.2, 0.3, 0.5])
        assert both(table, q, [0.2, 0.3, 0.5]) == pytest.approx(expected, rel=1e-11)


def test_rows_of_weight_zero_are_not_there() -> None:
    variables = [fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1])]
    table = fn.Table.from_codes([[0, 0], [1, 1], [0, 1]], variables, weights=[1, 0, 3])
    assert fn.compare.kl(table, [[0.25, 0.75], [0, 0]]) == pytest.approx(0, abs=1e-13)


def test_two_tables() -> None:
    p, q = random_table(1, 200, [2, 3, 2]), random_table(2, 5000, [2, 3, 2], dependence=0.2)
    assert (empirical(q) > 0).all()
    assert both(p, q) == pytest.approx(both(empirical(p), empirical(q)), rel=1e-11)
    assert fn.compare.kl(q, p[:3]) == math.inf


@given(networks(most_variables=4), seeds)
def test_networks_are_their_joints(p: fn.BayesianNetwork, seed: int) -> None:
    q = random_network(seed, list(cardinalities_of(p)), sharp=2.0)
    expected = fn.compare.kl(joint_of(p), joint_of(q))
    assert fn.compare.kl(p, q) == pytest.approx(expected, rel=1e-10, abs=ABSOLUTE)
    assert fn.compare.kl(joint_of(p), q) == pytest.approx(expected, rel=1e-10, abs=ABSOLUTE)
    assert fn.compare.kl(p, joint_of(q)) == pytest.approx(expected, rel=1e-10, abs=ABSOLUTE)
    expected = fn.compare.full_conditional_divergence(joint_of(p), joint_of(q))
    assert fn.compare.full_conditional_divergence(p, q) == pytest.approx(expected, rel=1e-10, abs=ABSOLUTE)


def test_columns_and_states_are_matched_by_name() -> None:
    net = random_network(2, [2, 3, 4], sharp=2.0)
    table = net.sample(500, seed=1)
    turned = table.select(["v2", "v0", "v1"]).conform(
        [fn.Variable(f"v{i}", net.variables[i].states[::-1]) for i in (2, 0, 1)]
    )
    other = net.sample(50_000, seed=2)
    for q in (net, other):
        assert both(turned, q) == pytest.approx(both(table, q), rel=1e-12)


def test_two_tables_are_matched_by_name() -> None:
    """Columns of as many states in another order: nothing but the names tells."""
    a, b = fn.Variable("a", ["no", "yes"]), fn.Variable("b", ["no", "yes"])
    table = fn.Table.from_codes([[0, 0], [0, 1], [0, 1], [1, 1]], [a, b])
    turned = table.select(["b", "a"])
    assert both(table, turned) == pytest.approx((0, 0), abs=1e-13)


def test_two_networks_are_matched_by_name() -> None:
    """The same two coins, listed in another order."""
    a, b = fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1])
    tables = {"a": [0.9, 0.1], "b": [0.4, 0.6]}
    p, q = (fn.BayesianNetwork.from_tables(of, {}, tables) for of in ([a, b], [b, a]))
    assert both(p, q) == pytest.approx((0, 0), abs=1e-13)


def test_networks_over_other_variables_are_refused() -> None:
    a, b = fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1])
    p, q = (fn.BayesianNetwork.from_tables([of], {}, {of.name: [0.9, 0.1]}) for of in (a, b))
    with pytest.raises(SchemaError):
        fn.compare.kl(p, q)


# ----------------------------------------------------------------------------------------------- many variables


def coins(n: int, p: float) -> fn.BayesianNetwork:
    variables = [fn.Variable(f"v{i}", [0, 1]) for i in range(n)]
    return fn.BayesianNetwork.from_tables(variables, {}, {v.name: [1 - p, p] for v in variables})


def test_a_table_of_a_hundred_variables_needs_no_array_of_all_states() -> None:
    """Rows 0...0 and 1...1, each half of the mass, against coins that fall on 1 with probability p."""
    n, p = 100, 0.3
    net = coins(n, p)
    table = fn.Table.from_codes([[0] * n, [1] * n, [1] * n, [0] * n], net.variables)
    expected = -math.log(2) - n / 2 * math.log(p * (1 - p))
    assert fn.compare.kl(table, net) == pytest.approx(expected, rel=1e-12)
    # each cell is certain given the others, so only the coins' own surprise is left
    fc = -math.log(p * (1 - p)) / 2
    assert fn.compare.full_conditional_divergence(table, net) == pytest.approx(fc, rel=1e-12)


def test_two_tables_of_a_hundred_variables() -> None:
    """Keys of rows do not overflow: 100 variables of 7 states, and rows that differ in the first or last one only."""
    variables = [fn.Variable(f"v{i}", range(7)) for i in range(100)]
    rows = np.random.default_rng(0).integers(0, 7, size=(1, 100)).repeat(3, axis=0)
    rows[1, 0] = (rows[0, 0] + 1) % 7
    rows[2, 99] = (rows[0, 99] + 1) % 7
    p = fn.Table.from_codes(rows[[0, 0, 1, 2]], variables)
    q = fn.Table.from_codes(rows[[0, 1, 1, 1, 1, 2, 2, 2]], variables)
    expected = 0.5 * math.log(0.5 / 0.125) + 0.25 * math.log(0.25 / 0.5) + 0.25 * math.log(0.25 / 0.375)
    assert fn.compare.kl(p, q) == pytest.approx(expected, rel=1e-13)
    assert fn.compare.kl(p, fn.Table.from_codes(rows[:2], variables)) == math.inf
    # only the first and the last variable differ given the rest: (2/3, 1/3) against (1/5, 4/5), and against (1/4, 3/4)
    first = 0.5 * math.log((2 / 3) / (1 / 5)) + 0.25 * math.log((1 / 3) / (4 / 5))
    last = 0.5 * math.log((2 / 3) / (1 / 4)) + 0.25 * math.log((1 / 3) / (3 / 4))
    found = fn.compare.full_conditional_divergence(p, q)
    assert found == pytest.approx((first + last) / 100, rel=1e-12)


def test_a_joint_that_would_not_fit_is_refused() -> None:
    with pytest.raises(StateSpaceError) as refused:
        fn.compare.kl(coins(60, 0.3), coins(60, 0.4))
    assert refused.value.cells == 2**60


# ------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("bad", [[0.5, 0.6], [1.5, -0.5], [float("nan"), 1.0], "no numbers", [[0.5], [0.25, 0.25]]])
@pytest.mark.parametrize("divergence", [fn.compare.kl, fn.compare.full_conditional_divergence])
def test_what_is_no_distribution_is_refused(bad: Any, divergence: Any) -> None:
    with pytest.raises(SchemaError):
        divergence(bad, [0.5, 0.5])
    with pytest.raises(SchemaError):
        divergence([0.5, 0.5], bad)


@pytest.mark.parametrize("divergence", [fn.compare.kl, fn.compare.full_conditional_divergence])
def test_a_dependency_network_has_no_joint(divergence: Any) -> None:
    dn = random_dependency_network(0, [2, 2])
    for pair in ((np.full((2, 2), 0.25), dn), (dn, np.full((2, 2), 0.25))):
        with pytest.raises(SchemaError, match="stationary|DependencyNetwork"):
            divergence(*pair)


@pytest.mark.parametrize("divergence", [fn.compare.kl, fn.compare.full_conditional_divergence])
def test_other_shapes_variables_and_states_are_refused(divergence: Any) -> None:
    net = random_network(0, [2, 3])
    with pytest.raises(SchemaError, match="states"):
        divergence(np.full((3, 2), 1 / 6), np.full((2, 3), 1 / 6))
    with pytest.raises(SchemaError, match="states"):
        divergence(np.full((3, 2), 1 / 6), net)
    with pytest.raises(SchemaError, match="lacks the column 'v1'"):
        divergence(fn.Table.from_frame({"v0": ["s0"]}), net)
    with pytest.raises(UnknownStateError):
        divergence(fn.Table.from_frame({"v0": ["s0"], "v1": ["s9"]}), net)
    with pytest.raises(MissingValueError):
        divergence(fn.Table.from_codes([[0, 3]], net.variables), net)
    with pytest.raises(SchemaError, match="no row"):
        divergence(fn.Table.from_codes(np.zeros((0, 2), dtype=int), net.variables), net)


@pytest.mark.parametrize("weights", [[0.5], [0.5, 0.6], [1.5, -0.5], [float("nan"), 1], {"v0": 1.0}])
def test_weights_that_are_none_are_refused(weights: Any) -> None:
    with pytest.raises(FishernetError, match="weights"):
        fn.compare.full_conditional_divergence(np.full((2, 2), 0.25), np.full((2, 2), 0.25), weights)
