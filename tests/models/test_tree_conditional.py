"""Decision trees as conditionals: in the core, in networks, and refused where they are wrong."""

from __future__ import annotations

import numpy as np
import pytest

import fishernet as fn
from fishernet.models import Conditional, MergedTable, Split, TreeConditional

A, B, C = fn.Variable("a", ["x", "y"]), fn.Variable("b", [0, 1, 2]), fn.Variable("c", ["u", "v", "w"])
TREE = Split(1, (0, 1, 0), (2, Split(0, (1, 0), (0, 1))))
PROBABILITIES = [[0.1, 0.2, 0.7], [0.5, 0.25, 0.25], [0.3, 0.3, 0.4]]


def pair(kind: str) -> tuple[Conditional, Conditional, Conditional]:
    """P(c | a, b) as a tree, or as the merged table that is the same; a and b depend on c."""
    tree = TreeConditional(2, (0, 1), [A, B, C], TREE, PROBABILITIES)
    merged = MergedTable(2, (0, 1), [A, B, C], [[2, 1, 2], [2, 0, 2]], PROBABILITIES)
    of_a = TreeConditional(0, (2,), [C, A], Split(2, (1, 0, 0), (0, 1)), [[0.2, 0.8], [0.6, 0.4]])
    merged_a = MergedTable(0, (2,), [C, A], [1, 0, 0], [[0.2, 0.8], [0.6, 0.4]])
    of_b = TreeConditional(1, (), [B], 0, [[0.2, 0.3, 0.5]])
    return (of_a if kind == "tree" else merged_a, of_b, tree if kind == "tree" else merged)


def dependency(kind: str) -> fn.DependencyNetwork:
    return fn.DependencyNetwork([A, B, C], pair(kind))


def bayesian(kind: str) -> fn.BayesianNetwork:
    root = TreeConditional(0, (), [A], 0, [[0.4, 0.6]])
    return fn.BayesianNetwork([A, B, C], [root, *pair(kind)[1:]])


ROWS = fn.Table.from_codes(np.indices((2, 3, 3)).reshape(3, -1).T, [A, B, C])


def test_a_tree_gives_what_the_same_groups_in_a_map_give() -> None:
    tree, merged = dependency("tree"), dependency("merged")
    np.testing.assert_array_equal(tree.log_prob_terms(ROWS), merged.log_prob_terms(ROWS))
    np.testing.assert_allclose(fn.infer.stationary(tree), fn.infer.stationary(merged), atol=1e-12)
    for v in range(3):
        np.testing.assert_array_equal(tree.flat.groups(ROWS.native, v), merged.conditionals[v].groups(ROWS))


def test_a_bayesian_network_of_trees_is_that_of_maps() -> None:
    tree, merged = bayesian("tree"), bayesian("merged")
    np.testing.assert_array_equal(tree.log_prob(ROWS), merged.log_prob(ROWS))
    assert tree.sample(5000, seed=1) == merged.sample(5000, seed=1)
    for target in ("a", "b", "c"):
        np.testing.assert_allclose(tree.predict_proba(ROWS, target), merged.predict_proba(ROWS, target), atol=1e-13)
    np.testing.assert_allclose(fn.infer.marginal(tree, ["c", "a"]), fn.infer.marginal(merged, ["c", "a"]), atol=1e-13)
    ours, theirs = fn.kernels.FisherKernel(tree), fn.kernels.FisherKernel(merged)
    np.testing.assert_allclose(ours(ROWS), theirs(ROWS), rtol=1e-12)


def test_rules_say_what_leads_to_each_leaf() -> None:
    tree = dependency("tree").conditionals[2]
    assert isinstance(tree, TreeConditional)
    assert tree.rules() == [
        "b = 1 and a = y  ->  c  u: 0.1, v: 0.2, w: 0.7",
        "b = 1 and a = x  ->  c  u: 0.5, v: 0.25, w: 0.25",
        "b in {0, 2}  ->  c  u: 0.3, v: 0.3, w: 0.4",
    ]


def test_a_tree_over_many_variables_needs_no_table() -> None:
    names = [f"v{i}" for i in range(40)]
    variables = [fn.Variable(name, ["a", "b", "c"]) for name in names]
    tree: Split | int = 0
    for v in range(1, 40):  # a chain: every variable in turn, if it is "a"
        tree = Split(v, (1, 0, 0), (v, tree))
    chain = TreeConditional(0, range(1, 40), [*variables[1:], variables[0]], tree, np.full((40, 3), 1 / 3))
    others = [TreeConditional(v, (), [variables[v]], 0, [[0.5, 0.3, 0.2]]) for v in range(1, 40)]
    dn = fn.DependencyNetwork(variables, [chain, *others])
    rows = dn.sample(100, seed=1)
    assert dn.pseudo_log_likelihood(rows).shape == (100,)
    with pytest.raises(fn.StateSpaceError):
        chain.table()


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (1, "leaves"),
        (Split(1, (0, 1, 1), (0, 0)), "leaves"),
        (Split(1, (0, 1, 1), (0, 2)), "leaves"),
        (Split(0, (0, 1, 1), (0, 1)), "for 3 states"),
        (Split(5, (0, 1), (0, 1)), "position 5"),
        (Split(1, (0, 2, 2), (0, 1)), "branches"),
    ],
)
def test_wrong_trees_are_refused(tree: Split | int, message: str) -> None:
    with pytest.raises(fn.SchemaError, match=message):
        TreeConditional(2, (0, 1), [A, B, C], tree, PROBABILITIES[:2])
