"""Networks whose rows are merged, and trees of a given graph: what they fit, to which data, and what is refused."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError, SchemaError, ZeroProbabilityError
from fishernet.base.vocabulary import ScoreName, SplitsName
from fishernet.learn.shared_rows.trees import leaf_shares
from fishernet.models import FullTable, MergedTable, TreeConditional
from fishernet.scores import named_score
from tests.learn.test_tree_inputs import score_of
from tests.reference.counting import joint_counts
from tests.reference.merging import partition_score
from tests.scores.test_groups import NAMES
from tests.sources import halves
from tests.tables import random_table, tables

ASIA = fn.datasets.load("asia")
ROWS = ASIA.sample(3000, seed=1)


def everything_before(names: tuple[str, ...], most: int = 3) -> fn.Dag:
    """Each variable has up to so many before it as parents."""
    arcs = [(names[p], names[v]) for v in range(len(names)) for p in range(max(0, v - most), v)]
    return fn.Dag.from_edges(names, arcs)


def family_rows(table: fn.Table, conditional: Any) -> list[list[int]]:
    """The counts of the child in each configuration of its parents, by a loop over the rows."""
    cells, _ = joint_counts(table, (*conditional.parents, conditional.child))
    shape = [v.cardinality for v in conditional.variables]
    every = itertools.product(*map(range, shape[:-1]))
    return [[cells.get((*j, k), 0) for k in range(shape[-1])] for j in every]


def groups_of(conditional: Any, q: int) -> list[list[int]]:
    found = conditional.group_map()
    labels = np.arange(q) if found is None else np.asarray(found)
    return [np.flatnonzero(labels == g).tolist() for g in range(conditional.n_groups)]


@settings(max_examples=40)
@given(tables(most_variables=4), st.sampled_from(NAMES))
def test_no_score_falls_and_rows_are_the_smoothed_counts_of_their_groups(table: fn.Table, name: str) -> None:
    net = fn.learn.parameters(everything_before(table.names), table)
    merged = fn.learn.merge_rows(net, table, named_score(name))
    assert (merged.dag, merged.variables, merged.n_rows) == (net.dag, net.variables, table.total)
    for before, after in zip(net.conditionals, merged.conditionals, strict=True):
        assert after.parents == before.parents
        rows = family_rows(table, after)
        groups = groups_of(after, len(rows))
        alone = partition_score(rows, [[j] for j in range(len(rows))], name)
        assert partition_score(rows, groups, name) >= alone - 1e-8
        assert type(after) is (FullTable if len(groups) == len(rows) else MergedTable)
        pooled = np.array([np.sum([rows[j] for j in group], axis=0) for group in groups]) + 1.0
        np.testing.assert_allclose(after.probabilities, pooled / pooled.sum(axis=1, keepdims=True), rtol=1e-12)


@settings(max_examples=40)
@given(tables(most_variables=4), st.sampled_from([1.0, 7.5]))
def test_the_equivalent_sample_size_is_divided_among_the_configurations(table: fn.Table, ess: float) -> None:
    dag = everything_before(table.names)
    for kind in ("merged", "tree"):
        net = fn.learn.parameters(dag, table, conditionals=kind, ess=ess)
        for conditional in net.conditionals:
            rows = np.array(family_rows(table, conditional), dtype=float)
            groups = groups_of(conditional, len(rows))
            weights = np.array([(rows[group] + ess / rows.size).sum(axis=0) for group in groups])
            expected = weights / weights.sum(axis=1, keepdims=True)
            np.testing.assert_allclose(conditional.probabilities, expected, rtol=1e-10)


def test_the_groups_of_the_network_do_not_matter_and_merging_twice_changes_nothing() -> None:
    once = fn.learn.merge_rows(ASIA, ROWS)
    assert once != ASIA
    assert fn.learn.merge_rows(once, ROWS) == once
    plain = fn.learn.parameters(ASIA.dag, ROWS)
    assert fn.learn.parameters(ASIA.dag, ROWS, conditionals="merged") == fn.learn.merge_rows(plain, ROWS)


def test_variables_are_found_by_name_and_states_by_label() -> None:
    shuffled = ROWS.select(list(ROWS.names[::-1]))
    shuffled = shuffled.conform([fn.Variable(v.name, v.states[::-1]) for v in shuffled.variables])
    assert fn.learn.merge_rows(ASIA, shuffled) == fn.learn.merge_rows(ASIA, ROWS)
    frame = {v.name: [v.states[k] for k in c] for v, c in zip(ROWS.variables, ROWS.codes, strict=True)}
    assert fn.learn.merge_rows(ASIA, frame) == fn.learn.merge_rows(ASIA, ROWS)
    assert fn.learn.merge_rows(ASIA, np.stack(ROWS.codes, axis=1)) == fn.learn.merge_rows(ASIA, ROWS)


def test_a_source_of_counts_and_expected_counts_will_do() -> None:
    merged = fn.learn.merge_rows(ASIA, ROWS)
    assert fn.learn.merge_rows(ASIA, halves(ROWS)) == merged
    assert fn.learn.merge_rows(ASIA, fn.learn.ExpectedCounts(ASIA, ROWS)) == merged
    holes = [np.where(np.arange(3000) % 9 == v, 2, c) for v, c in enumerate(ROWS.codes)]
    expected = fn.learn.merge_rows(ASIA, fn.learn.ExpectedCounts(ASIA, fn.Table(ROWS.variables, holes)))
    assert expected.n_parameters < ASIA.n_parameters
    other = random_table(1, 50, [2, 2])
    net = fn.learn.parameters(fn.Dag(other.names, [(), (0,)]), other)
    renamed = [fn.Variable(v.name, ["x", "y"]) for v in other.variables]
    with pytest.raises(SchemaError, match="other states"):
        fn.learn.merge_rows(net, halves(fn.Table(renamed, other.codes)))


@pytest.mark.parametrize("kind", ["merged", "tree"])
def test_weights_are_repeated_rows(kind: Any) -> None:
    table = random_table(6, 400, [3, 2, 3, 4, 2], weighted=True)
    assert table.weights is not None
    repeated = fn.Table(table.variables, [np.repeat(c, table.weights.astype(int)) for c in table.codes])
    dag = everything_before(table.names)
    one, two = (fn.learn.parameters(dag, data, conditionals=kind) for data in (table, repeated))
    assert one == two
    assert fn.learn.parameters(dag, halves(table), conditionals=kind) == one


def test_a_planted_partition_of_two_parents_is_recovered() -> None:
    """Six configurations in three groups; the child of five states lacks two of them."""
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 2, 60_000), rng.integers(0, 3, 60_000)
    group_of = np.array([[0, 1, 1], [2, 0, 1]])
    theta = np.array([[0.7, 0.2, 0.1], [0.2, 0.2, 0.6], [0.1, 0.8, 0.1]])
    c = (rng.random(60_000)[:, None] > theta.cumsum(axis=1)[group_of[a, b]]).sum(axis=1)
    variables = [fn.Variable("a", range(2)), fn.Variable("b", range(3)), fn.Variable("c", range(5))]
    table = fn.Table.from_codes(np.stack([a, b, c], axis=1), variables)
    dag = fn.Dag.from_edges(list("abc"), [("a", "c"), ("b", "c")])
    for name in ("bic", "bdeu", "qnml", "fnml", "k2"):
        net = fn.learn.parameters(dag, table, conditionals="merged", score=name)
        conditional: Any = net.conditional("c")
        assert conditional.group_of.tolist() == group_of.tolist()
        np.testing.assert_allclose(conditional.probabilities[:, :3], theta, atol=0.02)


def test_nothing_observed_and_one_state() -> None:
    variables = [fn.Variable("a", range(2)), fn.Variable("b", range(3)), fn.Variable("c", ["only"])]
    dag = fn.Dag.from_edges(list("abc"), [("a", "b"), ("a", "c"), ("b", "c")])
    empty = fn.Table.from_codes(np.zeros((0, 3), dtype=int), variables)
    for kind in ("merged", "tree"):
        net = fn.learn.parameters(dag, empty, conditionals=kind)
        assert [c.probabilities.tolist() for c in net.conditionals[:2]] == [[[0.5, 0.5]], [[1 / 3] * 3]]
        assert net.conditionals[2].n_parameters == 0
        with pytest.raises(ZeroProbabilityError, match="smoothing"):
            fn.learn.parameters(dag, empty, conditionals=kind, smoothing=0)


# ---------------------------------------------------------------------------------------------------------- trees


@settings(max_examples=40)
@given(tables(most_variables=4), st.sampled_from(["binary", "multiway"]), st.sampled_from(["bic", "aic", "loglik"]))
def test_trees_keep_the_graph_and_no_leaf_alone_scores_more(
    table: fn.Table, splits: SplitsName, name: ScoreName
) -> None:
    dag = everything_before(table.names)
    net = fn.learn.parameters(dag, table, conditionals="tree", splits=splits, score=name)
    assert net.dag == dag
    price = {"bic": 0.5 * np.log(max(1, table.total)), "aic": 1.0, "loglik": 0.0}[name]
    for conditional in net.conditionals:
        assert type(conditional) is TreeConditional
        leaf = TreeConditional(conditional.child, (), conditional.variables[-1:], 0, conditional.probabilities[:1])
        assert score_of(conditional, table, price) >= score_of(leaf, table, price) - 1e-9


@pytest.mark.parametrize("splits", ["binary", "multiway"])
def test_with_all_others_as_parents_the_tree_is_that_of_a_dependency_network(splits: SplitsName) -> None:
    """The last variable of a complete graph may ask what a dependency network's may."""
    table = fn.datasets.load("nursery")[:4000]
    dag = everything_before(table.names, most=len(table.names))
    net = fn.learn.parameters(dag, table, conditionals="tree", splits=splits)
    dn = fn.learn.dependency_network(table, inputs="tree", splits=splits, smoothing=1.0)
    one: Any = net.conditionals[-1]
    other: Any = dn.conditionals[-1]
    assert one.tree == other.tree
    np.testing.assert_array_equal(one.probabilities, other.probabilities)


def test_leaf_shares_are_those_of_the_configurations() -> None:
    table = fn.datasets.load("nursery")[:3000]
    net = fn.learn.bayesian_network(table, conditionals="tree", max_parents=3)
    for conditional in net.conditionals:
        tree: Any = conditional
        sizes = [v.cardinality for v in table.variables]
        shares = np.bincount(tree.group_map(), minlength=tree.n_groups) / len(tree.group_map())
        np.testing.assert_allclose(leaf_shares(tree.tree, sizes), shares, rtol=1e-12)


def test_a_tree_of_parents_whose_table_nobody_could_hold() -> None:
    """40 parents have 2**40 configurations; the child copies two of them."""
    rng = np.random.default_rng(7)
    parents = rng.integers(0, 2, (2000, 40))
    child = parents[:, 3] & parents[:, 30]
    table = fn.Table.from_codes(np.column_stack([parents, child]))
    dag = fn.Dag(table.names, [()] * 40 + [tuple(range(40))])
    net = fn.learn.parameters(dag, table, conditionals="tree")
    conditional: Any = net.conditionals[-1]
    assert conditional.n_groups == 3
    assert net.log_prob(table).shape == (2000,)
    assert net.sample(10, seed=1).n_rows == 10


# ---------------------------------------------------------------------------------------------- networks, refusals


def test_a_whole_network_is_learned_with_either() -> None:
    table = fn.datasets.load("nursery")
    plain = fn.learn.bayesian_network(table)
    for kind in ("tree", "merged"):
        net = fn.learn.bayesian_network(table, conditionals=kind)
        assert net.dag == plain.dag
        assert net.n_parameters < plain.n_parameters
    merged = fn.learn.bayesian_network(table, conditionals="merged", score=fn.scores.Bdeu(5), search="tabu")
    dag = fn.learn.dag(table, score=fn.scores.Bdeu(5), search="tabu")
    assert merged == fn.learn.parameters(dag, table, conditionals="merged", score=fn.scores.Bdeu(5))
    with pytest.raises(FishernetError, match="penalized likelihood"):
        fn.learn.bayesian_network(table, conditionals="tree", score="bdeu")


@pytest.mark.parametrize("kind", ["merged", "tree"])
def test_a_conditional_is_of_the_rows_that_are_complete_in_its_family(kind: Any) -> None:
    table = random_table(3, 300, [2, 3, 2], missing=0.1)
    dag = everything_before(table.names)
    net = fn.learn.parameters(dag, table, conditionals=kind)
    assert net == fn.learn.parameters(dag, table, conditionals=kind, available_cases=True)
    assert net.n_rows == 300
    with pytest.raises(FishernetError, match="hidden"):
        fn.learn.parameters(fn.Dag((*table.names, "h"), [()] * 4), table, conditionals=kind, hidden={"h": 2})
    if kind == "merged":
        full = fn.learn.parameters(dag, table, available_cases=True)
        assert fn.learn.merge_rows(full, table) == net


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"conditionals": "forest"}, "unknown conditionals 'forest'.*'table', 'tree', 'merged'"),
        ({"conditionals": "tree", "score": "bdeu"}, "penalized likelihood"),
        ({"conditionals": "tree", "splits": "ternary"}, "unknown splits 'ternary'"),
        ({"conditionals": "tree", "restarts": 3}, "restarts"),
        ({"conditionals": "merged", "splits": "binary"}, "splits"),
        ({"conditionals": "merged", "score": "fractional"}, "says nothing of groups"),
        ({"score": "bic"}, "score"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(FishernetError, match=message):
        fn.learn.parameters(ASIA.dag, ROWS, **options)


def test_numbers_have_no_rows_to_share() -> None:
    numbers = {"a": [0.5, 1.5, 2.5], "b": [1.5, 2.5, 6.5]}
    dag = fn.Dag.from_edges(list("ab"), [("a", "b")])
    with pytest.raises(FishernetError, match="numbers"):
        fn.learn.parameters(dag, numbers, conditionals="tree")
    with pytest.raises(FishernetError, match="continuous"):
        fn.learn.merge_rows(fn.learn.parameters(dag, numbers), numbers)
