"""Growing trees: what the score says, what it finds, what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.learn.shared_rows.trees import TreeGrower
from fishernet.models import TreeConditional
from tests.tables import random_table


def score_of(tree: TreeConditional, table: fn.Table, price: float) -> float:
    """The log-likelihood of the leaves' own frequencies less the price of the free parameters, from scratch."""
    groups = tree.groups(table)
    states = table.codes[tree.child].astype(int)
    n_groups, r = tree.probabilities.shape
    counts = np.bincount(groups * r + states, weights=table.weights, minlength=n_groups * r).reshape(n_groups, r)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(counts > 0, counts * np.log(counts / counts.sum(axis=1, keepdims=True)), 0)
    return float(terms.sum() - price * n_groups * (r - 1))


@settings(max_examples=40)
@given(
    st.integers(0, 2**32),
    st.lists(st.integers(1, 4), min_size=1, max_size=4),
    st.sampled_from(["binary", "multiway"]),
    st.booleans(),
)
def test_the_score_is_that_of_the_tree_and_no_leaf_alone_scores_more(
    seed: int, cardinalities: list[int], splits: str, weighted: bool
) -> None:
    table = random_table(seed, 80, cardinalities, weighted=weighted)
    grower = TreeGrower(table, 1.0, splits=splits)
    for child in range(len(cardinalities)):
        grown = grower.grow(child)
        variables = [table.variables[v] for v in (*grown.inputs, child)]
        rows = (grown.counts + 1) / (grown.counts + 1).sum(axis=1, keepdims=True)
        tree = TreeConditional(child, grown.inputs, variables, grown.tree, rows)
        assert grown.score == pytest.approx(score_of(tree, table, 1.0), abs=1e-8)
        groups = np.bincount(tree.groups(table), weights=table.weights, minlength=len(rows))
        np.testing.assert_allclose(grown.counts.sum(axis=1), groups)
        stump = TreeConditional(child, (), variables[-1:], 0, [np.full(cardinalities[child], 1 / cardinalities[child])])
        assert grown.score >= score_of(stump, table, 1.0) - 1e-9


def test_an_exclusive_or_is_found_though_no_single_split_helps() -> None:
    rng = np.random.default_rng(0)
    a, b, noise = rng.integers(0, 2, (3, 4000))
    table = fn.Table.from_codes(np.stack([a, noise, b, a ^ b], axis=1))
    dn = fn.learn.dependency_network(table, inputs="tree")
    assert dn.inputs[3] == (0, 2)
    assert dn.inputs[1] == ()


def test_independent_columns_get_trees_of_one_leaf() -> None:
    rng = np.random.default_rng(1)
    table = fn.Table.from_codes(rng.integers(0, 3, (5000, 6)))
    dn = fn.learn.dependency_network(table, inputs="tree")
    assert all(len(c.probabilities) == 1 for c in dn.conditionals)


def test_a_tree_that_a_set_of_states_decides_has_two_leaves() -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(0, 6, 3000)
    y = np.where(np.isin(x, [1, 4, 5]), 1, 0) ^ (rng.random(3000) < 0.05)
    dn = fn.learn.dependency_network(fn.Table.from_codes(np.stack([x, y], axis=1)), inputs="tree")
    tree = dn.conditionals[1]
    assert len(tree.probabilities) == 2
    boxes = sorted(tree.contexts(g)[0][0] for g in range(2))
    assert boxes == [(0, 2, 3), (1, 4, 5)]


def test_trees_predict_held_out_rows_of_letter_better_than_direct_inputs() -> None:
    train, test = fn.datasets.load("letter", bins=4, binning="equal-width").split(0.3, seed=0)
    direct = fn.learn.dependency_network(train)
    trees = fn.learn.dependency_network(train, inputs="tree")
    assert trees.pseudo_log_likelihood(test).mean() > direct.pseudo_log_likelihood(test).mean() + 1


def test_max_inputs_holds() -> None:
    table = fn.datasets.load("nursery")[:3000]
    dn = fn.learn.dependency_network(table, inputs="tree", max_inputs=1)
    assert max(map(len, dn.inputs)) == 1


def test_what_cannot_grow_is_refused() -> None:
    table = fn.datasets.load("nursery")[:50]
    for options in ({"splits": "ternary"}, {"max_inputs": -1}, {"score": "nope"}):
        with pytest.raises(fn.FishernetError):
            fn.learn.dependency_network(table, inputs="tree", **options)
    with pytest.raises(fn.FishernetError, match="inputs"):
        fn.learn.dependency_network(table, inputs="forest")  # type: ignore[arg-type]
