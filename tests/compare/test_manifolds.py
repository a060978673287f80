"""P2's Theorems 1 to 4 and section 5 on small networks: full-conditional manifolds and where sampling ends."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError, SchemaError, StateSpaceError
from tests.networks import networks, random_network
from tests.reference.dependency import (
    Array,
    cardinalities_of,
    conditional_entropy,
    dependency_networks,
    full_conditional_by_definition,
    joint_of,
    kl_by_definition,
    projected,
    random_dependency_network,
    random_distribution,
    stationary_by_definition,
)
from tests.tables import random_table

seeds = st.integers(0, 2**32)
ABSOLUTE = 1e-11  # sums of at most 81 terms


def weights_of(seed: int, n: int) -> Array:
    return np.random.default_rng(seed).dirichlet(np.full(n, 2.0))


def distribution_for(dn: fn.DependencyNetwork, seed: int, zeros: float = 0.0) -> Array:
    return random_distribution(seed, cardinalities_of(dn), zeros=zeros)


def on_manifold(dn: fn.DependencyNetwork, v: int, seed: int) -> Array:
    """Any distribution of the others, with theta_v for the conditional (P2, Eq. 9)."""
    return projected(distribution_for(dn, seed), dn, v)


# -------------------------------------------------------------------------------------- Theorem 1: flat either way


@given(dependency_networks(), seeds, st.floats(0, 1))
def test_manifolds_are_e_flat_and_m_flat(dn: fn.DependencyNetwork, seed: int, share: float) -> None:
    for v, name in enumerate(dn.names):
        p, q = on_manifold(dn, v, seed), on_manifold(dn, v, seed + 1)
        straight = (1 - share) * p + share * q
        geodesic = np.exp((1 - share) * np.log(p) + share * np.log(q))
        for between in (straight, geodesic / geodesic.sum()):
            assert fn.compare.kl_to_manifold(between, dn, name) == pytest.approx(0, abs=ABSOLUTE)
            np.testing.assert_allclose(
                fn.compare.project_on_manifold(between, dn, name), between, rtol=1e-10, atol=1e-13
            )


# ---------------------------------------------------------------------------------------- Theorem 2: m-projections


@given(dependency_networks(), seeds, st.sampled_from([0.0, 0.4]))
def test_the_projection_is_equation_11(dn: fn.DependencyNetwork, seed: int, zeros: float) -> None:
    p = distribution_for(dn, seed, zeros)
    for v, name in enumerate(dn.names):
        q = fn.compare.project_on_manifold(p, dn, name)
        np.testing.assert_allclose(q, projected(p, dn, v), rtol=1e-13, atol=1e-13)
        assert q.sum() == pytest.approx(1, rel=1e-13)
        np.testing.assert_allclose(fn.compare.project_on_manifold(q, dn, name), q, rtol=1e-13, atol=1e-13)


@given(dependency_networks(), seeds, st.sampled_from([0.0, 0.4]))
def test_the_distance_to_a_manifold_is_that_to_the_projection(
    dn: fn.DependencyNetwork, seed: int, zeros: float
) -> None:
    p = distribution_for(dn, seed, zeros)
    for v, name in enumerate(dn.names):
        expected = kl_by_definition(p, projected(p, dn, v))
        assert fn.compare.kl_to_manifold(p, dn, name) == pytest.approx(expected, rel=1e-10, abs=ABSOLUTE)


@given(dependency_networks(), seeds)
def test_the_projection_is_the_nearest_point_and_pythagoras_holds(dn: fn.DependencyNetwork, seed: int) -> None:
    """KL(p || r) = KL(p || q) + KL(q || r) for every r on the manifold, so q is nearest."""
    p = distribution_for(dn, seed)
    for v, name in enumerate(dn.names):
        q = fn.compare.project_on_manifold(p, dn, name)
        nearest = fn.compare.kl_to_manifold(p, dn, name)
        for other in range(3):
            r = on_manifold(dn, v, seed + other)
            legs = fn.compare.kl(p, q) + fn.compare.kl(q, r)
            assert fn.compare.kl(p, r) == pytest.approx(legs, rel=1e-10, abs=ABSOLUTE)
            assert fn.compare.kl(p, r) >= nearest - ABSOLUTE
            orthogonal = float(((p - q) * (np.log(q) - np.log(r))).sum())
            assert orthogonal == pytest.approx(0, abs=ABSOLUTE)


def test_projections_are_what_firing_does() -> None:
    """One row a chain from p, one firing of v: its rows have the projection's frequencies."""
    dn = random_dependency_network(5, [2, 3, 2])
    p = random_distribution(6, [2, 3, 2])
    n = 40_000
    cells = np.random.default_rng(0).choice(12, size=n, p=p.ravel())
    starts = fn.Table.from_codes(np.stack(np.unravel_index(cells, p.shape), axis=1), dn.variables)
    for v, name in enumerate(dn.names):
        rows = dn.sample(n, chains=n, start=starts, burn_in=1, weights={name: 1.0}, seed=v)
        counts = np.bincount(np.ravel_multi_index(tuple(c.astype(int) for c in rows.codes), p.shape), minlength=12)
        q = fn.compare.project_on_manifold(p, dn, name).ravel()
        assert np.abs((counts - n * q) / np.sqrt(n * q * (1 - q))).max() < 5.5


# -------------------------------------------------------------------------------------------- Theorem 3: the bound


@given(dependency_networks(), seeds, st.booleans(), st.sampled_from([0.0, 0.4]))
def test_the_bound_holds_for_every_distribution(
    dn: fn.DependencyNetwork, seed: int, weighted: bool, zeros: float
) -> None:
    p = distribution_for(dn, seed, zeros)
    weights = weights_of(seed, p.ndim) if weighted else None
    shares = np.full(p.ndim, 1 / p.ndim) if weights is None else weights
    both = fn.compare.stationary_divergence(p, dn, weights)
    assert both.divergence <= both.bound + ABSOLUTE
    pi = stationary_by_definition(dn, weights=weights)
    assert both.divergence == pytest.approx(full_conditional_by_definition(p, pi, weights), rel=1e-8, abs=ABSOLUTE)
    distances = [kl_by_definition(p, projected(p, dn, v)) for v in range(p.ndim)]
    assert both.by_variable == pytest.approx(dict(zip(dn.names, distances, strict=True)), rel=1e-10, abs=ABSOLUTE)
    assert both.bound == pytest.approx(float(shares @ distances), rel=1e-10, abs=ABSOLUTE)


def test_the_bound_takes_tables_and_networks() -> None:
    dn = random_dependency_network(1, [2, 3, 2])
    net = random_network(1, [2, 3, 2], sharp=2.0)
    of_net = fn.compare.stationary_divergence(net, dn)
    of_joint = fn.compare.stationary_divergence(joint_of(net), dn)
    assert (of_net.divergence, of_net.bound) == pytest.approx((of_joint.divergence, of_joint.bound), rel=1e-11)
    table = net.sample(500, seed=1)
    shares = np.zeros((2, 3, 2))
    np.add.at(shares, tuple(c.astype(int) for c in table.codes), 1 / 500)
    expected = fn.compare.stationary_divergence(shares, dn)
    for rows in (table, table.select(["v2", "v1", "v0"])):
        found = fn.compare.stationary_divergence(rows, dn)
        assert (found.divergence, found.bound) == pytest.approx((expected.divergence, expected.bound), rel=1e-11)


# ------------------------------------------------------------------------------------- Theorem 4: the best conditional


def fitted(p: Array, v: int, inputs: tuple[int, ...]) -> Array:
    """Eq. 18: p(x_v | inputs), one axis an input and v's last."""
    others = tuple(u for u in range(p.ndim) if u not in (*inputs, v))
    kept = p.sum(axis=others, keepdims=True)
    shares = np.asarray(kept / kept.sum(axis=v, keepdims=True))
    return shares.transpose([*inputs, v, *others]).reshape([p.shape[u] for u in (*inputs, v)])


@given(dependency_networks(), seeds)
def test_the_best_conditional_is_the_distributions_own(dn: fn.DependencyNetwork, seed: int) -> None:
    """Eqs. 18 and 19: its distance is H(X_i | Y_i) - H(X_i | X_-i), and no other conditional is nearer."""
    p = distribution_for(dn, seed)
    inputs = {name: [dn.names[u] for u in of] for name, of in zip(dn.names, dn.inputs, strict=True)}
    tables = {name: fitted(p, v, dn.inputs[v]) for v, name in enumerate(dn.names)}
    best = fn.DependencyNetwork.from_tables(dn.variables, inputs, tables, tolerance=1e-6)
    for v, name in enumerate(dn.names):
        rest = [u for u in range(p.ndim) if u != v]
        expected = conditional_entropy(p, v, dn.inputs[v]) - conditional_entropy(p, v, rest)
        assert fn.compare.kl_to_manifold(p, best, name) == pytest.approx(expected, rel=1e-9, abs=ABSOLUTE)
        assert fn.compare.kl_to_manifold(p, dn, name) >= expected - ABSOLUTE


# ------------------------------------------------------------------------------- section 5: an average over evidence


def clamped_network(dn: fn.DependencyNetwork, clamped: dict[int, int]) -> fn.DependencyNetwork:
    """The network of the free variables with conditionals theta(x_i | z_i, v) (P2, 2.4)."""
    free = [v for v in range(len(dn.variables)) if v not in clamped]
    inputs, tables = {}, {}
    for v in free:
        of = dn.inputs[v]
        inputs[dn.names[v]] = [dn.names[u] for u in of if u not in clamped]
        tables[dn.names[v]] = dn.conditionals[v].table()[tuple(clamped.get(u, slice(None)) for u in of)]
    return fn.DependencyNetwork.from_tables([dn.variables[v] for v in free], inputs, tables)


@settings(max_examples=50)
@given(dependency_networks(), seeds, st.data())
def test_the_distance_is_the_average_of_the_clamped_distances(
    dn: fn.DependencyNetwork, seed: int, data: st.DataObject
) -> None:
    p = distribution_for(dn, seed)
    v = data.draw(st.integers(0, p.ndim - 1))
    evidence = sorted(data.draw(st.sets(st.integers(0, p.ndim - 1))) - {v})
    average = 0.0
    for states in itertools.product(*(range(p.shape[u]) for u in evidence)):
        clamped = dict(zip(evidence, states, strict=True))
        slice_ = p[tuple(clamped.get(u, slice(None)) for u in range(p.ndim))]
        share = float(slice_.sum())
        distance = fn.compare.kl_to_manifold(slice_ / share, clamped_network(dn, clamped), dn.names[v])
        average += share * distance
    assert fn.compare.kl_to_manifold(p, dn, dn.names[v]) == pytest.approx(average, rel=1e-9, abs=ABSOLUTE)


def test_clamping_is_sampling_the_clamped_network() -> None:
    dn = random_dependency_network(7, [2, 3, 2, 2])
    smaller = clamped_network(dn, {1: 2})
    for scan in ("random", "ordered"):
        expected = fn.infer.stationary(smaller, scan=scan)
        np.testing.assert_allclose(fn.infer.stationary(dn, scan=scan, given={"v1": "s2"}), expected, rtol=1e-11)


# --------------------------------------------------------------------------------------------------- inconsistency


@given(networks(most_variables=4, positive=True), seeds)
def test_full_conditionals_of_a_joint_are_consistent(net: fn.BayesianNetwork, seed: int) -> None:
    dn = fn.DependencyNetwork.from_joint(net)
    for weights in (None, weights_of(seed, len(net.variables))):
        assert fn.compare.inconsistency_of_conditionals(dn, weights) == pytest.approx(0, abs=1e-9)


@given(dependency_networks(), st.booleans())
def test_inconsistency_is_the_average_distance_of_the_stationary_distribution(
    dn: fn.DependencyNetwork, weighted: bool
) -> None:
    n = len(dn.variables)
    weights = weights_of(1, n) if weighted else np.full(n, 1 / n)
    pi = stationary_by_definition(dn, weights=weights)
    expected = sum(c * kl_by_definition(pi, projected(pi, dn, v)) for v, c in enumerate(weights.tolist()))
    assert fn.compare.inconsistency_of_conditionals(dn, weights) == pytest.approx(expected, rel=1e-6, abs=1e-10)


def test_conditionals_that_fit_no_joint_are_inconsistent() -> None:
    """a copies b and b flips a: their odds ratios differ, which no joint allows."""
    a, b = fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1])
    tables = {"a": [[0.9, 0.1], [0.1, 0.9]], "b": [[0.2, 0.8], [0.8, 0.2]]}
    odd = fn.DependencyNetwork.from_tables([a, b], {"a": ["b"], "b": ["a"]}, tables)
    # pi(same) = (0.9 + 0.2) / 2, and all else is symmetric
    same = 0.55
    expected = sum(same * math.log(same / s) + (1 - same) * math.log((1 - same) / (1 - s)) for s in (0.9, 0.2)) / 2
    assert fn.compare.inconsistency_of_conditionals(odd) == pytest.approx(expected, rel=1e-11)


# ------------------------------------------------------------------------------------------ tables, networks, zeros


def test_tables_and_networks_are_their_distributions() -> None:
    dn = random_dependency_network(1, [2, 3, 2])
    net = random_network(1, [2, 3, 2], sharp=2.0)
    table = random_table(1, 300, [2, 3, 2], weighted=True)
    assert table.weights is not None
    shares = np.zeros((2, 3, 2))
    np.add.at(shares, tuple(c.astype(int) for c in table.codes), table.weights / table.weights.sum())
    for name in dn.names:
        expected = fn.compare.kl_to_manifold(shares, dn, name)
        for rows in (table, table.select(["v1", "v2", "v0"])):
            assert fn.compare.kl_to_manifold(rows, dn, name) == pytest.approx(expected, rel=1e-11)
        of_joint = fn.compare.kl_to_manifold(joint_of(net), dn, name)
        assert fn.compare.kl_to_manifold(net, dn, name) == pytest.approx(of_joint, rel=1e-11)


def test_a_network_is_matched_by_name() -> None:
    """Two coins, listed in another order than the dependency network has them."""
    a, b = fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1])
    tables = {"a": [0.9, 0.1], "b": [0.4, 0.6]}
    p = fn.BayesianNetwork.from_tables([b, a], {}, tables)
    dn = fn.DependencyNetwork.from_tables([a, b], {}, tables)
    for name in ("a", "b"):
        assert fn.compare.kl_to_manifold(p, dn, name) == pytest.approx(0, abs=1e-13)
    both = fn.compare.stationary_divergence(p, dn)
    assert (both.divergence, both.bound) == pytest.approx((0, 0), abs=1e-13)


def test_a_conditional_with_a_zero_is_infinitely_far() -> None:
    a = fn.Variable("a", [0, 1])
    dn = fn.DependencyNetwork.from_tables([a], {}, {"a": [1.0, 0.0]}, allow_zeros=True)
    assert fn.compare.kl_to_manifold([0.5, 0.5], dn, "a") == math.inf
    assert fn.compare.kl_to_manifold([1.0, 0.0], dn, "a") == 0


def test_a_table_of_a_hundred_variables() -> None:
    """Coins of probability 0.3 at rows 0...0 and 1...1: each cell is certain given the others."""
    variables = [fn.Variable(f"v{i}", [0, 1]) for i in range(100)]
    dn = fn.DependencyNetwork.from_tables(variables, {}, {v.name: [0.7, 0.3] for v in variables})
    table = fn.Table.from_codes([[0] * 100, [1] * 100], variables)
    assert fn.compare.kl_to_manifold(table, dn, "v50") == pytest.approx(-math.log(0.21) / 2, rel=1e-12)
    with pytest.raises(StateSpaceError):
        fn.compare.stationary_divergence(table, dn)
    with pytest.raises(StateSpaceError):
        fn.compare.inconsistency_of_conditionals(dn)


# ------------------------------------------------------------------------------------------------------- bad input


def test_what_does_not_fit_is_refused() -> None:
    dn = random_dependency_network(1, [2, 3])
    p = np.full((2, 3), 1 / 6)
    for measure in (fn.compare.kl_to_manifold, fn.compare.project_on_manifold):
        with pytest.raises(SchemaError, match="no variable 'w'"):
            measure(p, dn, "w")
        with pytest.raises(SchemaError):
            measure(p.T, dn, "v0")
    with pytest.raises(SchemaError, match="sum to 1"):
        fn.compare.kl_to_manifold(np.full((2, 3), 0.5), dn, "v0")


@pytest.mark.parametrize("weights", [[1.0], [0.5, 0.6], [1.5, -0.5]])
def test_weights_that_are_none_are_refused(weights: Any) -> None:
    dn = random_dependency_network(1, [2, 3])
    with pytest.raises(FishernetError, match="weights"):
        fn.compare.stationary_divergence(np.full((2, 3), 1 / 6), dn, weights)
    with pytest.raises(FishernetError, match="weights"):
        fn.compare.inconsistency_of_conditionals(dn, weights)


def test_manifolds_are_of_a_dependency_network() -> None:
    net: Any = random_network(0, [2, 2])
    p = np.full((2, 2), 0.25)
    for refused in (
        lambda: fn.compare.kl_to_manifold(p, net, "v0"),
        lambda: fn.compare.project_on_manifold(p, net, "v0"),
        lambda: fn.compare.stationary_divergence(p, net),
        lambda: fn.compare.inconsistency_of_conditionals(net),
    ):
        with pytest.raises(SchemaError, match="DependencyNetwork"):
            refused()
