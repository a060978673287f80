"""P(the parents are in a group): exact by tree and elimination, or sampled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

import fishernet as fn
from fishernet.base.errors import SchemaError, StateSpaceError
from fishernet.models import FullTable, MergedTable, Split, TreeConditional
from tests.networks import random_network
from tests.reference import inference as reference
from tests.reference.inference import all_kinds, married

EXACT = pytest.mark.parametrize("method", ["auto", "tree", "elimination"])


def merged() -> fn.BayesianNetwork:
    """c has parents a and b, whose six configurations are three groups of 2, 3 and 1."""
    a, b, c = (fn.Variable(name, range(r)) for name, r in (("a", 2), ("b", 3), ("c", 2)))
    roots = [FullTable(0, (), [a], [[0.3, 0.7]]), FullTable(1, (), [b], [[0.2, 0.3, 0.5]])]
    p = [[0.1, 0.9], [0.5, 0.5], [0.7, 0.3]]
    return fn.BayesianNetwork([a, b, c], [*roots, MergedTable(2, (0, 1), [a, b, c], [[0, 1, 1], [2, 0, 1]], p)])


@EXACT
@given(net=all_kinds())
def test_exact_methods_are_enumeration(method: str, net: fn.BayesianNetwork) -> None:
    got = fn.infer.group_probabilities(net, method=method)  # type: ignore[arg-type]
    expected = reference.group_probabilities(net)
    assert [array.shape for array in got] == [(c.probabilities.shape[0],) for c in net.conditionals]
    assert all(array.dtype == np.float64 for array in got)
    for ours, theirs in zip(got, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-300)


@EXACT
def test_a_group_has_the_sum_of_its_configurations(method: str) -> None:
    got = fn.infer.group_probabilities(merged(), method=method)[2]  # type: ignore[arg-type]
    groups = [0.3 * 0.2 + 0.7 * 0.3, 0.3 * 0.3 + 0.3 * 0.5 + 0.7 * 0.5, 0.7 * 0.2]
    np.testing.assert_allclose(got, groups, rtol=1e-13)


@EXACT
def test_configurations_are_in_the_conditionals_order(method: str) -> None:
    """The last parent's state changes fastest, and here that is the first variable."""
    a, b, c = (fn.Variable(name, range(r)) for name, r in (("a", 2), ("b", 3), ("c", 2)))
    tables: dict[str, Any] = {"a": [0.3, 0.7], "b": [0.2, 0.3, 0.5], "c": np.full((3, 2, 2), 0.5)}
    net = fn.BayesianNetwork.from_tables([a, b, c], {"c": ["b", "a"]}, tables)
    got = fn.infer.group_probabilities(net, method=method)[2]  # type: ignore[arg-type]
    np.testing.assert_allclose(got, np.outer([0.2, 0.3, 0.5], [0.3, 0.7]).ravel(), rtol=1e-13)


@pytest.mark.parametrize("seed", range(5))
def test_tree_and_elimination_agree_where_nobody_can_enumerate(seed: int) -> None:
    net = random_network(seed, [2, 3, 4] * 7)
    trees = fn.infer.group_probabilities(net, method="tree")
    for tree, elimination in zip(trees, fn.infer.group_probabilities(net, method="elimination"), strict=True):
        np.testing.assert_allclose(tree, elimination, rtol=1e-10, atol=1e-300)
        assert tree.sum() == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("method", ["auto", "tree", "elimination", "sample"])
def test_without_parents_there_is_one_group(method: str) -> None:
    got = fn.infer.group_probabilities(random_network(0, [3]), method=method, n_samples=100, seed=0)  # type: ignore[arg-type]
    assert [array.tolist() for array in got] == [[1.0]]


# ------------------------------------------------------------------------------------------------------------- sampled


@pytest.mark.parametrize("seed", range(3))
def test_sampled_values_are_counts_with_one_added_to_each_group(seed: int) -> None:
    """(count + 1) / (samples + groups): what was added is taken off, and integers are left."""
    net = reference.varied(random_network(seed, [2, 3, 1, 4, 2]), seed)
    n = 1000
    for c, got in zip(
        net.conditionals, fn.infer.group_probabilities(net, method="sample", n_samples=n, seed=seed), strict=True
    ):
        assert len(got) == c.n_groups
        counts = got * (n + c.n_groups) - 1
        np.testing.assert_allclose(counts, counts.round(), atol=1e-9)
        assert counts.round().min() >= 0
        assert counts.round().sum() == n


@pytest.mark.parametrize("seed", range(4))
def test_sampled_values_are_near_the_exact_ones(seed: int) -> None:
    net = random_network(seed, [2, 3, 2, 4, 2])
    n = 200_000
    sampled = fn.infer.group_probabilities(net, method="sample", n_samples=n, seed=seed)
    for p, got in zip(reference.group_probabilities(net), sampled, strict=True):
        counts = got * (n + len(p)) - 1
        z = (counts - n * p) / np.sqrt(n * p * (1 - p) + 1e-9)
        assert np.abs(z).max() < 5


def test_configurations_that_cannot_be_drawn_are_left_their_pseudo_count() -> None:
    a, b, c = (fn.Variable(name, [0, 1]) for name in "abc")
    tables: dict[str, Any] = {"a": [0.5, 0.5], "b": [[1, 0], [0, 1]], "c": np.full((2, 2, 2), 0.5)}
    net = fn.BayesianNetwork.from_tables([a, b, c], {"b": ["a"], "c": ["a", "b"]}, tables)
    got = fn.infer.group_probabilities(net, method="sample", n_samples=996, seed=0)[2]
    assert got[[1, 2]].tolist() == [1 / 1000, 1 / 1000]


def test_one_million_samples_are_drawn_unless_told_otherwise() -> None:
    net = fn.BayesianNetwork.from_tables(
        [fn.Variable("a", [0, 1]), fn.Variable("b", [0])], {"b": ["a"]}, {"a": [1, 0], "b": [[1], [1]]}
    )
    got = fn.infer.group_probabilities(net, method="sample", seed=0)[1]
    np.testing.assert_allclose(got, [1_000_001 / 1_000_002, 1 / 1_000_002], rtol=1e-12)


# -------------------------------------------------------------------------------------------------------- the method


def entangled() -> fn.BayesianNetwork:
    """A child of the ten children of all pairs of five variables of 100 states: its parents' joint needs 1e10 cells."""
    net = married(100)
    last, parents = fn.Variable("last", [0, 1]), range(5, 15)
    table = FullTable(15, parents, [*net.variables[5:], last], np.full((2**10, 2), 0.5))
    return fn.BayesianNetwork([*net.variables, last], [*net.conditionals, table])


def test_auto_samples_where_nothing_exact_fits() -> None:
    net = entangled()
    for method in ("tree", "elimination"):
        with pytest.raises(StateSpaceError) as refused:
            fn.infer.group_probabilities(net, method=method)
        assert refused.value.cells > refused.value.limit == 2**28
    auto = fn.infer.group_probabilities(net, n_samples=5000, seed=3)
    sample = fn.infer.group_probabilities(net, method="sample", n_samples=5000, seed=3)
    np.testing.assert_array_equal(auto[-1], sample[-1])


def test_auto_is_exact_where_elimination_fits_and_a_tree_does_not() -> None:
    """Parents are independent, whatever children they share, but a tree of the whole network marries them."""
    net = married(100)
    with pytest.raises(StateSpaceError):
        fn.infer.group_probabilities(net, method="tree")
    for c, got in zip(net.conditionals, fn.infer.group_probabilities(net), strict=True):
        np.testing.assert_allclose(got, 100.0 ** -len(c.parents), rtol=1e-12)


def test_an_unknown_method_is_told_the_known_ones() -> None:
    with pytest.raises(SchemaError, match="'magic'") as refused:
        fn.infer.group_probabilities(random_network(0, [2]), method="magic")  # type: ignore[arg-type]
    for known in ("auto", "tree", "elimination", "sample"):
        assert known in str(refused.value)


def test_a_tree_over_more_parents_than_a_table_could_hold_is_sampled() -> None:
    """One of 40 parents decides: the groups have 1/4 and 3/4, though nobody can enumerate 2**40 configurations."""
    parents = [fn.Variable(f"p{v}", [0, 1]) for v in range(40)]
    child = fn.Variable("c", [0, 1])
    roots = [FullTable(v, (), [parents[v]], [[0.75, 0.25]]) for v in range(40)]
    tree = TreeConditional(40, range(40), [*parents, child], Split(7, (0, 1), (0, 1)), [[0.5, 0.5], [0.1, 0.9]])
    net = fn.BayesianNetwork([*parents, child], [*roots, tree])
    got = fn.infer.group_probabilities(net, n_samples=50_000, seed=1)[-1]
    np.testing.assert_allclose(got, [0.75, 0.25], atol=0.02)
