"""The Fisher kernel of the likelihood of the observed, against differences of that likelihood summed by brute force."""

from __future__ import annotations

import itertools
from typing import cast
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import SchemaError, ZeroProbabilityError
from fishernet.kernels.fisher import observed
from fishernet.models.conditionals.base import Grouped
from tests.kernels.test_hidden_variables import relabelled
from tests.networks import random_network, with_holes
from tests.reference.fisher import Floats, Rows, merged_network

STEP = 1e-5


def joint_of(parts: list[Floats], net: fn.BayesianNetwork, groups: list[Rows]) -> Floats:
    """The joint distribution with other probabilities, (cardinalities); `groups` map configurations to rows of them."""
    n = len(net.variables)
    p: Floats = np.ones([v.cardinality for v in net.variables])
    for conditional, theta, of_configuration in zip(net.conditionals, parts, groups, strict=True):
        axes = [*conditional.parents, conditional.child]
        table = theta[of_configuration].reshape([net.variables[v].cardinality for v in axes])
        order = np.argsort(axes)
        shape = [net.variables[v].cardinality if v in axes else 1 for v in range(n)]
        p *= table.transpose(order).reshape(shape)
    return p


def observed_scores(net: fn.BayesianNetwork, hidden: list[str]) -> tuple[fn.Table, Floats, Floats]:
    """All rows of the observed variables, their probabilities, and the derivatives of their logarithms by theta."""
    groups: list[Rows] = []
    for c in cast(list[Grouped], net.conditionals):
        found = c.group_map()
        groups.append(np.arange(c.n_groups) if found is None else np.asarray(found, dtype=np.int64))
    thetas = [np.array(c.probabilities) for c in net.conditionals]
    at = tuple(net.names.index(name) for name in hidden)
    seen = [v for v in range(len(net.variables)) if v not in at]

    def of_observed(parts: list[Floats]) -> Floats:
        return np.asarray(joint_of(parts, net, groups).sum(axis=at)).ravel()

    scores = []
    for v, theta in enumerate(thetas):
        for j, k in itertools.product(range(theta.shape[0]), range(theta.shape[1] - 1)):
            ends = []
            for sign in (1, -1):
                moved = [part.copy() for part in thetas]
                moved[v][j, k] += sign * STEP
                moved[v][j, -1] -= sign * STEP
                ends.append(np.log(of_observed(moved)))
            scores.append((ends[0] - ends[1]) / (2 * STEP))
    cards = [net.variables[v].cardinality for v in seen]
    states = list(itertools.product(*map(range, cards)))
    codes = np.array(states, dtype=np.int64).reshape(len(states), len(seen))
    rows = fn.Table.from_codes(codes, [net.variables[v] for v in seen])
    return rows, of_observed(thetas), np.array(scores).reshape(len(scores), len(states)).T


def check_projection(net: fn.BayesianNetwork, hidden: list[str]) -> None:
    """sqrt(P(x) P(y)) K(x, y) over all observed rows is the projection onto what the scores span."""
    rows, p, scores = observed_scores(net, hidden)
    gram = fn.kernels.FisherKernel(net, hidden=hidden)(rows)
    projection = np.sqrt(p)[:, None] * gram * np.sqrt(p)
    np.testing.assert_allclose(projection @ projection, projection, atol=1e-6)
    spanned = np.sqrt(p)[:, None] * scores
    np.testing.assert_allclose(projection @ spanned, spanned, atol=2e-4 * max(1.0, np.abs(spanned).max(initial=0.0)))
    singular = np.linalg.svd(spanned, compute_uv=False)
    clear = singular > 1e-3
    unclear = (singular > 1e-7) & ~clear
    assert clear.sum() - 1e-6 <= np.trace(projection) <= clear.sum() + unclear.sum() + 1e-6


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=5), st.integers(0, 2**32), st.sets(st.integers(0, 4), max_size=3)
)
def test_it_is_the_inverse_information_of_the_observed(cards: list[int], seed: int, chosen: set[int]) -> None:
    net = random_network(seed, cards, sharp=3.0)
    check_projection(net, [f"v{v}" for v in sorted(chosen) if v < len(cards)])


def test_of_conditionals_that_share_rows_of_probabilities() -> None:
    net = merged_network(1)
    for hidden in itertools.combinations(net.names, 2):
        check_projection(net, list(hidden))


def test_the_practical_metric_is_the_dot_product_of_the_observed_scores() -> None:
    net = random_network(5, [2, 3, 2, 3], sharp=3.0)
    rows, _, scores = observed_scores(net, ["v2"])
    k = fn.kernels.FisherKernel(net, hidden=["v2"], metric="practical")
    found = k.features(rows)
    np.testing.assert_allclose(found.toarray(), scores, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(k(rows), scores @ scores.T, rtol=1e-4, atol=1e-4)


def test_the_empirical_metric_whitens_the_reference() -> None:
    net = random_network(6, [2, 3, 2, 2], sharp=3.0)
    reference = net.sample(500, seed=1)
    k = fn.kernels.FisherKernel(net, hidden=["v1"], metric="empirical", reference=reference)
    features = k.features(reference)
    np.testing.assert_allclose(features.T @ features / 500, np.eye(k.dimension), atol=1e-9)


@pytest.mark.parametrize("metric", ["invariant", "empirical"])
def test_numbering_hidden_states_in_another_way_changes_nothing(metric: str) -> None:
    net = random_network(11, [3, 2, 4, 2, 3])
    table = net.sample(80, seed=1)
    reference = table if metric == "empirical" else None
    grams = [
        fn.kernels.FisherKernel(one, hidden=["v2"], metric=metric, reference=reference)(table)  # type: ignore[arg-type]
        for one in (net, relabelled(net, "v2", [2, 0, 3, 1]))
    ]
    np.testing.assert_allclose(grams[0], grams[1], rtol=1e-7, atol=1e-7 * np.abs(grams[0]).max())


def test_nothing_hidden_is_the_kernel_of_expected_features_and_takes_holes() -> None:
    net = random_network(3, [3, 2, 4, 2])
    table = with_holes(net, 50, 1, 0.3)
    found = fn.kernels.FisherKernel(net, hidden=())(table)
    wanted = fn.kernels.HiddenVariableKernel(net)(table)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
    complete = net.sample(20, seed=2)
    np.testing.assert_allclose(
        fn.kernels.FisherKernel(net, hidden=())(complete), fn.kernels.FisherKernel(net)(complete), atol=1e-9
    )


def test_a_hidden_variable_that_nothing_depends_on_leaves_the_kernel_of_the_others() -> None:
    names = {"a": [], "b": ["a"], "h": ["a", "b"]}
    variables = [fn.Variable(name, [0, 1, 2]) for name in names]
    rng = np.random.default_rng(0)
    tables = {name: rng.dirichlet([2.0] * 3, size=[3] * len(of)) for name, of in names.items()}
    net = fn.BayesianNetwork.from_tables(variables, names, tables)
    without = fn.BayesianNetwork.from_tables(variables[:2], {"b": ["a"]}, {name: tables[name] for name in ("a", "b")})
    rows = without.sample(30, seed=1)
    found = fn.kernels.FisherKernel(net, hidden="h")
    assert found.dimension == fn.kernels.FisherKernel(without).dimension
    np.testing.assert_allclose(found(rows), fn.kernels.FisherKernel(without)(rows), atol=1e-9)
    everything = fn.kernels.FisherKernel(net, hidden=net.names)
    assert not everything(net.sample(3, seed=1)).any()


def a_mixture() -> fn.BayesianNetwork:
    """A hidden class with four observed children."""
    rng = np.random.default_rng(2)
    variables = [fn.Variable("h", [0, 1]), *(fn.Variable(f"x{i}", range(r)) for i, r in enumerate([3, 2, 3, 2]))]
    tables = {v.name: rng.dirichlet([2.0] * v.cardinality, size=2) for v in variables[1:]} | {"h": [0.4, 0.6]}
    return fn.BayesianNetwork.from_tables(variables, {v.name: ["h"] for v in variables[1:]}, tables)


def test_drawn_rows_stand_for_states_that_are_too_many() -> None:
    net = a_mixture()
    rows = net.sample(40, seed=1)
    exact = fn.kernels.FisherKernel(net, hidden=["h"])(rows)
    with mock.patch.object(observed, "MOST_STATES", 1):
        drawn = [fn.kernels.FisherKernel(net, hidden=["h"], n_samples=200_000, seed=1)(rows) for _ in range(2)]
    assert (drawn[0] == drawn[1]).all()
    assert 0 < np.abs(drawn[0] - exact).max() < 0.1 * np.abs(exact).max()


def test_blocks_of_states_add_up() -> None:
    net = a_mixture()
    rows = net.sample(20, seed=1)
    whole = fn.kernels.FisherKernel(net, hidden=["h"])(rows)
    with mock.patch.object(observed, "ROWS_AT_ONCE", 3):
        np.testing.assert_allclose(fn.kernels.FisherKernel(net, hidden=["h"])(rows), whole, rtol=1e-6, atol=1e-7)


def test_means_selections_and_likeness_on_incomplete_tables() -> None:
    net = fn.datasets.load("asia")
    table = with_holes(net, 200, 1, 0.2)
    k = fn.kernels.FisherKernel(net, hidden=["either"])
    features = np.asarray(k.features(table).toarray() if hasattr(k.features(table), "toarray") else k.features(table))
    np.testing.assert_allclose(k.mean_features(table), features.mean(axis=0), atol=1e-10)
    np.testing.assert_allclose(k.diag(table), np.einsum("ij,ij->i", features, features), rtol=1e-9, atol=1e-10)
    chosen = fn.select.greedy_mmd(k, table, 10, seed=1)
    assert len(set(chosen.indices.tolist())) == 10
    assert fn.select.similar(k, table, 0, n=3).cosines[0] == pytest.approx(1.0)
    assert fn.compare.mmd(k, table, table) == pytest.approx(0.0, abs=1e-9)


def test_impossible_rows_and_zero_probabilities() -> None:
    net = random_network(2, [3, 3, 3], zeros=0.4)
    rows = net.sample(50, seed=1)
    assert np.isfinite(fn.kernels.FisherKernel(net, hidden=["v1"])(rows)).all()
    sure = fn.BayesianNetwork.from_tables(net.variables[:1], {}, {"v0": [1.0, 0.0, 0.0]})
    with pytest.raises(ZeroProbabilityError, match="row 0"):
        fn.kernels.FisherKernel(sure, hidden=())([[1]])


def test_what_is_refused() -> None:
    net = random_network(4, [2, 3, 2])
    with pytest.raises(SchemaError, match="no variable 'x'"):
        fn.kernels.FisherKernel(net, hidden=["x"])
    with pytest.raises(SchemaError, match="v1"):
        fn.kernels.FisherKernel(net, hidden=["v1", "v1"])
    with pytest.raises(SchemaError, match="hidden= needs a BayesianNetwork of tables"):
        fn.kernels.FisherKernel(fn.MarkovChain(range(2), 1, [[0.5, 0.5]] * 2), hidden=["v1"])
    with pytest.raises(SchemaError, match="cut-off"):
        fn.kernels.FisherKernel(net, hidden=["v1"], cutoff=2.0)
    with pytest.raises(fn.FishernetError, match="n_samples"):
        fn.kernels.FisherKernel(net, hidden=["v1"], n_samples=0)
    with pytest.raises(SchemaError, match="HiddenVariableKernel"):
        fn.kernels.FisherKernel(net, hidden=["v1"]).terms(net.sample(3, seed=1))
    with pytest.raises(SchemaError, match="takes no n_samples"):
        fn.kernels.FisherKernel(net, n_samples=10)
