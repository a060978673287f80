"""Growing trees: what the score says, what it finds, what it refuses."""

from __future__ import annotations

import itertools
import signal
import threading

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.learn.shared_rows.trees import TreeGrower
from fishernet.models import TreeConditional
from fishernet.models.conditionals.tree import Split
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
        (grown,) = grower.grow([child])
        variables = [table.variables[v] for v in (*grown.inputs, child)]
        rows = (grown.counts + 1) / (grown.counts + 1).sum(axis=1, keepdims=True)
        tree = TreeConditional(child, grown.inputs, variables, grown.tree, rows)
        assert grown.score == pytest.approx(score_of(tree, table, 1.0), abs=1e-8)
        groups = np.bincount(tree.groups(table), weights=table.weights, minlength=len(rows))
        np.testing.assert_allclose(grown.counts.sum(axis=1), groups)
        stump = TreeConditional(child, (), variables[-1:], 0, [np.full(cardinalities[child], 1 / cardinalities[child])])
        assert grown.score >= score_of(stump, table, 1.0) - 1e-9


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.floats(0, 3), st.integers(0, 3), st.sampled_from([2.0, 6.0, 12.0, 1e9]))
def test_splits_have_their_price_and_a_tree_its_limits(seed: int, price: float, most: int, cells: float) -> None:
    """However many ways there are through it, the whole tree asks so many variables."""
    table = random_table(seed, 80, [2, 3, 2, 2, 3])
    plain = TreeGrower(table, 0.4, max_inputs=most, max_cells=cells).grow(range(5))
    dearer = TreeGrower(table, 0.4, split_price=price, max_inputs=most, max_cells=cells).grow(range(5))
    for child, (free, paid) in enumerate(zip(plain, dearer, strict=True)):
        for grown, cost in ((free, 0.0), (paid, price)):
            assert len(grown.inputs) <= most
            assert np.prod([table.cardinalities[v] for v in (*grown.inputs, child)]) <= max(cells, 3)
            score, _ = walked(grown.tree, table, child, 0.4)
            assert grown.score == pytest.approx(score - cost * grown.n_splits, abs=1e-8)


@settings(max_examples=40)
@given(st.integers(0, 2**32))
def test_the_first_split_of_a_child_with_two_states_is_the_best_of_all_sets(seed: int) -> None:
    """Of all ways to divide the states of all variables (Breiman et al., 1984, theorem 4.5)."""
    table = random_table(seed, 200, [2, 4, 5, 3], dependence=0.8)
    assume(len(set(table.codes[0].tolist())) == 2)
    (grown,) = TreeGrower(table, 0.0, max_inputs=1).grow([0])
    codes = [np.asarray(column, dtype=np.int64) for column in table.codes]

    def likelihood(branch: np.ndarray) -> float:
        return sum(walked(0, table[branch == b], 0, 0.0)[0] for b in (0, 1))

    scores = {
        (v, chosen): likelihood(np.isin(codes[v], chosen).astype(int))
        for v, size in ((1, 4), (2, 5), (3, 3))
        for k in range(1, size)
        for chosen in itertools.combinations(range(size), k)
        if np.isin(codes[v], chosen).any()
    }
    root = grown.tree
    assert isinstance(root, Split)
    found = likelihood(np.array(root.branches)[codes[root.variable]])
    assert found == pytest.approx(max(scores.values()), abs=1e-8)


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
    train, test = train[:3000], test[:3000]
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


# ------------------------------------------------------------------------------------------------------ missing cells


def known(table: fn.Table, variable: int) -> fn.Table:
    return table[table.codes[variable] < table.variables[variable].cardinality]


def counts_of(table: fn.Table, child: int) -> np.ndarray:
    return np.bincount(table.codes[child], weights=table.weights, minlength=table.cardinalities[child]).astype(float)


def walked(node: Split | int, rows: fn.Table, child: int, price: float) -> tuple[float, dict[int, np.ndarray]]:
    """The score of a tree, and the counts of its leaves, by the definition, from rows that know the child."""
    counts = counts_of(rows, child)
    alone = float((counts[counts > 0] * np.log(counts[counts > 0] / counts.sum())).sum() - price * (len(counts) - 1))
    if isinstance(node, int):
        return alone, {node: counts}
    left = known(rows, node.variable)
    branch = np.array(node.branches)[left.codes[node.variable].astype(int)] if left.n_rows else np.zeros(0)
    parts = [walked(below, left[branch == b], child, price) for b, below in enumerate(node.children)]
    on_left, _ = walked(0, left, child, price)
    return alone + sum(part[0] for part in parts) - on_left, {k: v for part in parts for k, v in part[1].items()}


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.sampled_from([0.1, 0.4]), st.sampled_from(["binary", "multiway"]), st.booleans())
def test_leaves_hold_the_rows_that_know_the_child_and_what_was_asked(
    seed: int, missing: float, splits: str, weighted: bool
) -> None:
    table = random_table(seed, 80, [2, 3, 4], missing=missing, weighted=weighted)
    grower = TreeGrower(table, 0.5, splits=splits)
    for child in range(3):
        (grown,) = grower.grow([child])
        score, counts = walked(grown.tree, known(table, child), child, 0.5)
        assert grown.score == pytest.approx(score, abs=1e-9)
        assert sorted(counts) == list(range(len(grown.counts)))
        np.testing.assert_array_equal(grown.counts, [counts[leaf] for leaf in range(len(counts))])
        assert grown.score >= walked(0, known(table, child), child, 0.5)[0] - 1e-9


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.booleans())
def test_where_all_inputs_are_missing_together_the_tree_is_that_of_the_complete_rows(seed: int, binary: bool) -> None:
    rng = np.random.default_rng(seed)
    table, gone = random_table(seed, 60, [2, 3, 4]), rng.random(60) < 0.3
    columns = [np.where(gone, r, column).astype(np.uint8) for r, column in zip([2, 3], table.codes, strict=False)]
    grow = [
        next(TreeGrower(of, 0.5, splits="binary" if binary else "multiway").grow([2]))
        for of in (fn.Table(table.variables, [*columns, table.codes[2]]), table[~gone])
    ]
    assert grow[0].tree == grow[1].tree
    if grow[0].inputs:
        np.testing.assert_array_equal(grow[0].counts, grow[1].counts)


def test_trees_come_back_from_rows_with_holes_and_say_what_they_are_of() -> None:
    rng = np.random.default_rng(0)
    a, b, noise = rng.integers(0, 2, (3, 4000))
    columns = [np.where(rng.random(4000) < 0.1, 2, column) for column in (a, noise, b, a ^ b)]
    columns.append(np.where(rng.random(4000) < 0.95, 2, a ^ b))
    table = fn.Table([fn.Variable(f"v{i}", [0, 1]) for i in range(5)], [c.astype(np.uint8) for c in columns])
    with pytest.warns(fn.FishernetWarning) as lines:
        dn = fn.learn.dependency_network(table, inputs="tree", missing="node-average")
    assert [str(line.message).split(",")[0] for line in lines] == [
        "'v4' lacks over 90 % of the cells",
        "cells are missing: each tree is grown on the rows that know its variable and the inputs that it asks",
    ]
    assert dn.inputs[3] == (0, 2)
    assert dn.inputs[1] == ()
    assert dn.inputs[4] == (3,)


def test_numbers_are_cut_before_trees_are_grown() -> None:
    x = np.random.default_rng(1).normal(size=200)
    frame = {"x": x, "y": x > 0}
    with pytest.warns(fn.FishernetWarning, match="numbers are cut into bins: 'x'"):
        dn = fn.learn.dependency_network(frame, inputs="tree")
    assert dn.inputs == ((1,), (0,))


def test_control_c_ends_a_tree_that_would_grow_for_hours() -> None:
    """Of two columns of 3,000 labels in another order, each leaf sets one label apart."""
    random = np.random.default_rng(0)
    labels = [fn.Variable(name, range(3000)) for name in "ab"]
    table = fn.Table.from_codes(np.column_stack([random.permutation(3000), random.permutation(3000)]), labels)
    threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        fn.learn.dependency_network(table, inputs="tree", score="loglik")
