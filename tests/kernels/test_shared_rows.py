"""The Fisher kernel where configurations of parents share rows: that of the tied model, in every path."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.kernels import FisherKernel, HiddenVariableKernel
from fishernet.models import Conditional, FullTable, MergedTable, Split, TreeConditional
from tests.networks import random_network
from tests.reference.fisher import Floats, Rows, WithoutFeatures, all_rows, assert_close, joint, scale, set_kernel
from tests.reference.inference import varied

STEP = 1e-4


@st.composite
def tied(draw: st.DrawFn, *, most_variables: int = 4) -> fn.BayesianNetwork:
    """Positive networks of full tables, merged ones and trees; unequal cardinalities, one state."""
    cardinalities = draw(st.lists(st.integers(1, 3), min_size=2, max_size=most_variables))
    net = varied(random_network(draw(st.integers(0, 2**32)), cardinalities, sharp=2.0), draw(st.integers(0, 2**32)))
    rows = [(c, 0.8 * c.probabilities + 0.2 / c.probabilities.shape[1]) for c in net.conditionals]
    return fn.BayesianNetwork(net.variables, [with_rows(c, p) for c, p in rows])


def with_rows(conditional: Any, probabilities: Floats) -> Conditional:
    head = conditional.child, conditional.parents, conditional.variables
    if isinstance(conditional, MergedTable):
        return MergedTable(*head, conditional.group_of, probabilities)
    if isinstance(conditional, TreeConditional):
        return TreeConditional(*head, conditional.tree, probabilities)
    return FullTable(*head, probabilities)


def moved(net: fn.BayesianNetwork, variable: int, group: int, state: int, h: float) -> fn.BayesianNetwork:
    """The tied model where a probability that all configurations of a group share is larger, and the last smaller."""
    conditionals = list(net.conditionals)
    rows = conditionals[variable].probabilities.copy()
    rows[group, [state, -1]] += [h, -h]
    conditionals[variable] = with_rows(conditionals[variable], rows)
    return fn.BayesianNetwork(net.variables, conditionals)


def numerical_scores(net: fn.BayesianNetwork) -> Floats:
    """d log p(x) of every row of the joint distribution by each free parameter, by differences of fourth order."""
    columns = []
    for v, c in enumerate(net.conditionals):
        for group, state in itertools.product(range(c.n_groups), range(c.variables[-1].cardinality - 1)):
            at = [np.log(joint(moved(net, v, group, state, k * STEP))) for k in (-2, -1, 1, 2)]
            columns.append((at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * STEP))
    return np.array(columns).reshape(-1, len(all_rows(net))).T


def numerical_kernel(net: fn.BayesianNetwork) -> Floats:
    """s' I^-1 s of all pairs of rows, I the expected product of the scores, by enumeration."""
    scores, p = numerical_scores(net), joint(net)
    information = (scores * p[:, None]).T @ scores
    return np.asarray(scores @ np.linalg.solve(information, scores.T)) if scores.size else np.zeros((len(p), len(p)))


@settings(max_examples=40)
@given(tied())
def test_every_path_is_the_kernel_of_the_tied_model(net: fn.BayesianNetwork) -> None:
    rows = all_rows(net)
    expected = numerical_kernel(net)
    size, kernel, hidden = scale(expected, expected) + 1, FisherKernel(net), HiddenVariableKernel(net)
    for one in (kernel, hidden):
        assert_close(one(rows), expected, size, rtol=1e-7)
        assert_close(one(rows[1:], rows[:3]), expected[1:, :3], size[1:, :3], rtol=1e-7)
        assert_close(one.terms(rows).sum(axis=0), expected, size, rtol=1e-7)
        features = one.features(rows)
        assert_close((features @ features.T).toarray(), expected, size, rtol=1e-7)
        assert_close(one.diag(rows), np.diag(expected).copy(), np.diag(size), rtol=1e-7)
    assert_close(kernel.mean_features(rows), np.asarray(kernel.features(rows).mean(axis=0)), 1 + np.sqrt(size.max()))


@settings(max_examples=40)
@given(tied())
def test_a_term_is_one_over_the_probability_of_the_group(net: fn.BayesianNetwork) -> None:
    """K_i = [g_i(x) = g_i(y)] / P(g) ([x_i = y_i] / theta - 1), with P(g) the sum over rows whose group it is."""
    rows, p = all_rows(net), joint(net)
    terms = FisherKernel(net).terms(rows)
    for i, c in enumerate(net.conditionals):
        groups = c.groups(fn.Table.from_codes(rows, net.variables))
        of_groups = np.bincount(groups, weights=p, minlength=c.n_groups)
        theta = c.probabilities[groups, rows[:, i]]
        same_state = rows[:, i, None] == rows[:, i]
        expected = (groups[:, None] == groups) / of_groups[groups][:, None] * (same_state / theta[:, None] - 1)
        np.testing.assert_allclose(terms[i], expected, rtol=1e-10, atol=1e-12)


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.lists(st.integers(1, 3), min_size=2, max_size=4))
def test_where_each_configuration_is_a_group_it_is_the_plain_kernel(seed: int, cardinalities: list[int]) -> None:
    net = random_network(seed, cardinalities, sharp=2.0)
    rows = all_rows(net)
    plain = FisherKernel(net)(rows)
    alone = []
    trees = []
    for c in net.conditionals:
        shape = [v.cardinality for v in c.variables[:-1]]
        q = len(c.probabilities)
        rng = np.random.default_rng(seed)
        order = rng.permutation(q)  # groups may have any numbers
        inverse = np.argsort(order)
        alone.append(MergedTable(c.child, c.parents, c.variables, order.reshape(shape), c.probabilities[inverse]))
        tree: Split | int = full_tree(list(c.parents), shape, 0)
        trees.append(TreeConditional(c.child, c.parents, c.variables, tree, c.probabilities))
    for conditionals in (alone, trees):
        other = fn.BayesianNetwork(net.variables, conditionals)
        assert_close(FisherKernel(other)(rows), plain, scale(plain, plain) + 1, rtol=1e-12)


def full_tree(parents: list[int], sizes: list[int], first: int) -> Split | int:
    """A tree that asks all parents, one after the other; its leaves are the configurations in their order."""
    if not parents:
        return first
    below = int(np.prod(sizes[1:], dtype=int))
    children = tuple(full_tree(parents[1:], sizes[1:], first + k * below) for k in range(sizes[0]))
    return Split(parents[0], tuple(range(sizes[0])), children)


@settings(max_examples=30)
@given(tied())
def test_features_have_mean_zero_and_their_squares_count_the_free_parameters(net: fn.BayesianNetwork) -> None:
    """Those of the tied model: of groups, not of configurations."""
    p, rows = joint(net), all_rows(net)
    kernel = FisherKernel(net)
    np.testing.assert_allclose(kernel.features(rows).T @ p, 0, atol=1e-10)
    reached = sum(
        (c.variables[-1].cardinality - 1) * len(np.unique(c.groups(fn.Table.from_codes(rows, net.variables))))
        for c in net.conditionals
    )
    assert p @ kernel.diag(rows) == pytest.approx(reached, rel=1e-9, abs=1e-9)


def test_vectors_whose_parents_differ_are_similar_where_their_conditionals_are_equal() -> None:
    """The thesis' third open problem: (x, z1) and (x, z2) with p(x | z1) = p(x | z2)."""
    z, x = fn.Variable("z", [1, 2, 3]), fn.Variable("x", [0, 1])
    of_z, of_x = [0.2, 0.3, 0.5], [[0.25, 0.75], [0.25, 0.75], [0.9, 0.1]]
    plain = fn.BayesianNetwork.from_tables([z, x], {"x": ["z"]}, {"z": of_z, "x": of_x})
    shared = MergedTable(1, (0,), [z, x], [0, 0, 1], [of_x[0], of_x[2]])
    merged = fn.BayesianNetwork([z, x], [plain.conditionals[0], shared])
    rows: Rows = np.array([[0, 0], [1, 0], [1, 1]])
    assert FisherKernel(plain).terms(rows)[1, 0, 1] == 0
    np.testing.assert_allclose(FisherKernel(merged).terms(rows)[1, 0], [6, 6, -2])  # (1 / 0.25 - 1) / 0.5


@pytest.mark.parametrize("kind", ["merged", "tree"])
def test_selection_and_distances_of_tables(kind: Any) -> None:
    """Of the core's search and of the literal average over pairs, by the groups."""
    table = fn.datasets.load("nursery")[::60]
    net = fn.learn.bayesian_network(table, conditionals=kind, max_parents=3)
    kernel = FisherKernel(net)
    assert any(c.n_groups < np.prod([v.cardinality for v in c.variables[:-1]]) for c in net.conditionals)
    subset = table[:20]
    assert kernel.mean_features(table) @ kernel.mean_features(subset) == pytest.approx(
        set_kernel(kernel, table, subset), rel=1e-9, abs=1e-9
    )
    in_core, by_matrix = (fn.select.greedy_mmd(k, table, 12, seed=1) for k in (kernel, WithoutFeatures(kernel)))
    assert in_core.indices.tolist() == by_matrix.indices.tolist()
    assert in_core.distance == pytest.approx(by_matrix.distance, rel=1e-8)
