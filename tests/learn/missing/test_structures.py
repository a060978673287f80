"""Trees, classifiers and dependency networks from rows with missing cells."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.learn.classifiers import tree_with_leaves
from fishernet.learn.missing.incomplete import AvailableCases, fit_to
from fishernet.learn.pair_information import mutual_information
from fishernet.scores.base import Families
from fishernet.scores.local import LocalScores
from fishernet.scores.node_average import NodeAverage
from tests.learn.test_trees import information
from tests.networks import networks, random_network, with_holes

WAYS: tuple[Any, ...] = ("em", "node-average")
STRONG = [[0.9, 0.1], [0.15, 0.85]]


def chain(n: int = 5) -> fn.BayesianNetwork:
    """A chain of strong links."""
    variables = [fn.Variable(f"v{i}", ["a", "b"]) for i in range(n)]
    tables: dict[str, Any] = {"v0": [0.4, 0.6]} | {f"v{i}": STRONG for i in range(1, n)}
    return fn.BayesianNetwork.from_tables(variables, {f"v{i}": [f"v{i - 1}"] for i in range(1, n)}, tables)


def below_a_class() -> fn.BayesianNetwork:
    """Four features in a chain below a class, v0."""
    variables = [fn.Variable(f"v{i}", ["a", "b"]) for i in range(5)]
    tables: dict[str, Any] = {"v0": [0.4, 0.6], "v1": [[0.8, 0.2], [0.3, 0.7]]}
    parents = {"v1": ["v0"]}
    for i in range(2, 5):
        parents[f"v{i}"] = ["v0", f"v{i - 1}"]
        tables[f"v{i}"] = [[[0.9, 0.1], [0.3, 0.7]], [[0.6, 0.4], [0.05, 0.95]]]
    return fn.BayesianNetwork.from_tables(variables, parents, tables)


# --------------------------------------------------------------------------------------------- mutual information


@pytest.mark.parametrize("large", [False, True], ids=["all cells", "cells that occur"])
@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.3, 0.9]), st.sampled_from([None, 0, 2]), st.booleans())
def test_information_of_available_cases_is_that_of_each_set_s_rows(
    large: bool, seed: int, missing: float, given: int | None, weighted: bool
) -> None:
    rng = np.random.default_rng(seed)
    states = [2, 3, 30, 25] if large else [2, 3, 4, 1]
    variables = [fn.Variable(f"v{i}", range(r)) for i, r in enumerate(states)]
    columns = [np.where(rng.random(20) < missing, r, rng.integers(0, r, 20)).astype(np.uint8) for r in states]
    table = fn.Table(variables, columns, weights=rng.random(20) if weighted else None)
    features = np.array([v for v in range(4) if v != given])
    found = mutual_information(AvailableCases(table), features, given)

    def by_hand(a: int, b: int, c: int | None) -> float:
        rows: Any = table[np.all([columns[v] < states[v] for v in (a, b, c) if v is not None], axis=0)]
        return information(rows, a, b, c) * float(table.total) / float(rows.total) if rows.n_rows else 0.0

    wanted = [by_hand(a, b, given) for a, b in itertools.combinations(features.tolist(), 2)]
    np.testing.assert_allclose(found.values, wanted, rtol=1e-9, atol=1e-9)
    if given is not None:
        alone = [by_hand(v, given, None) for v in features.tolist()]
        np.testing.assert_allclose(found.with_given, alone, rtol=1e-9, atol=1e-9)
    assert (found.values >= 0).all()


@given(networks(most_variables=4), st.sampled_from([None, 0]))
def test_information_of_complete_rows_is_the_same_either_way(net: fn.BayesianNetwork, given: int | None) -> None:
    table = net.sample(50, seed=1)
    features = np.array([v for v in range(len(net.variables)) if v != given], dtype=np.int64)
    ways = [mutual_information(source, features, given) for source in (table, AvailableCases(table))]
    np.testing.assert_allclose(ways[0].values, ways[1].values, rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(ways[0].with_given, ways[1].with_given, rtol=1e-9, atol=1e-8)
    assert ways[0].tie == pytest.approx(ways[1].tie)


# ---------------------------------------------------------------------------------------------------------- graphs

LEARNERS: dict[str, tuple[Callable[..., fn.Dag], fn.BayesianNetwork]] = {
    "chow-liu": (fn.learn.chow_liu, chain()),
    "tan": (lambda table, **how: fn.learn.tan(table, "v0", **how), below_a_class()),
    "kdb": (lambda table, **how: fn.learn.kdb(table, "v0", 1, **how), below_a_class()),
}
EVERY = pytest.mark.parametrize(("learn", "net"), LEARNERS.values(), ids=LEARNERS)


@EVERY
@pytest.mark.parametrize("missing", ["em", "node-average", None])
def test_structures_come_back_from_rows_with_holes(learn: Callable[..., fn.Dag], net: Any, missing: Any) -> None:
    table = with_holes(net, 4000, 1, 0.2)
    complete = learn(net.sample(4000, seed=1))
    found = learn(table, missing=missing)
    assert {frozenset(arc) for arc in found.edges} == {frozenset(arc) for arc in complete.edges}


@EVERY
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32), n=st.sampled_from([20, 60]))
def test_em_never_ends_below_the_available_cases(learn: Callable[..., fn.Dag], net: Any, seed: int, n: int) -> None:
    """By the likelihood of the known cells of the two graphs, each fitted to its end."""
    table = with_holes(net, n, seed, 0.4)
    if any((c == v.cardinality).all() for v, c in zip(net.variables, table.codes, strict=True)):
        return
    likelihoods = [
        fn.learn.em_fit(learn(table, missing=missing), table, tolerance=1e-9).objective
        for missing in ("em", "node-average")
    ]
    assert likelihoods[0] >= likelihoods[1] - 0.02 * n  # the rounds are fitted roughly, and smoothed


def test_em_sees_what_cells_missing_at_random_hide() -> None:
    """v0 and v2 copy v1, and v2 is known only where v0 is "a": v1 hardly varies there, and so tells little about v2."""
    copy = [[0.97, 0.03], [0.03, 0.97]]
    variables = [fn.Variable(f"v{i}", ["a", "b"]) for i in range(3)]
    tables: dict[str, Any] = {"v1": [0.5, 0.5], "v0": copy, "v2": copy}
    net = fn.BayesianNetwork.from_tables(variables, {"v0": ["v1"], "v2": ["v1"]}, tables)
    whole = net.sample(20_000, seed=1)
    v0, v1, v2 = (np.array(column) for column in whole.codes)
    v2[v0 == 1] = 2
    table = fn.Table(net.variables, [v0, v1, v2])
    counts = fn.learn.ExpectedCounts(fn.learn.parameters(fn.learn.chow_liu(table, missing="em"), table), table)
    pairs = [
        mutual_information(source, np.arange(3), None).values[2] for source in (whole, counts, AvailableCases(table))
    ]
    assert pairs[1] == pytest.approx(pairs[0], rel=0.15)
    assert pairs[2] < pairs[0] / 3


def test_em_changes_the_tree_where_that_is_likelier() -> None:
    """A chain whose cells are missing by what their neighbours show; in few tables, as in these, the trees differ."""
    gains = []
    for seed in (169, 201, 322):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, 2, (300, 4))
        for v, noise in ((1, 0.15), (2, 0.2), (3, 0.2)):
            codes[:, v] = np.where(rng.random(300) < noise, 1 - codes[:, v - 1], codes[:, v - 1])
        gone = rng.random((300, 4)) < 0.05
        gone[:, 2] |= (codes[:, 3] == 0) & (rng.random(300) < 0.95)
        gone[:, 1] |= (codes[:, 0] == 0) & (rng.random(300) < 0.8)
        codes[gone] = 2
        table = fn.Table([fn.Variable(f"v{v}", [0, 1]) for v in range(4)], [*codes.T.astype(np.uint8)])
        em, available = (fn.learn.chow_liu(table, missing=way) for way in WAYS)
        if em != available:
            likelihoods = [fn.learn.em_fit(dag, table).log_likelihood for dag in (em, available)]
            gains.append(likelihoods[0] - likelihoods[1])
    assert gains
    assert min(gains) > 0


@EVERY
def test_ways_are_chosen_by_size_and_complete_rows_need_none(learn: Callable[..., fn.Dag], net: Any) -> None:
    table = with_holes(net, 500, 2, 0.2)
    assert learn(table) == learn(table, missing="em")
    large = with_holes(net, 61_000, 2, 0.2)
    assert learn(large) == learn(large, missing="node-average")
    whole = net.sample(500, seed=3)
    assert learn(whole) == learn(whole, missing="em") == learn(whole, missing="node-average")
    assert learn(table.to_pandas(), missing="node-average").edges == learn(table, missing="node-average").edges
    with pytest.raises(FishernetError, match="unknown missing 'mean'; there are 'em', 'node-average'"):
        learn(table, missing="mean")


def test_the_class_may_be_missing_and_stars_do_not_look() -> None:
    net = below_a_class()
    table = with_holes(net, 300, 2, 0.3)
    assert fn.learn.naive_bayes(table, "v0").n_edges == 4
    fitted = fn.learn.parameters(fn.learn.tan(table, "v0"), table)
    assert fitted.predict_proba(table, "v0").shape == (300, 2)
    never = fn.Table(net.variables, [np.full(9, 2, dtype=np.uint8), *(c[:9] for c in net.sample(9, seed=1).codes[1:])])
    with pytest.raises(SchemaError, match="'v0' has no known cell"):
        fn.learn.tan(never, "v0", missing="em")
    assert fn.learn.tan(never, "v0", missing="node-average").n_edges == 7  # nothing is told: the first of equals


def test_a_fit_to_counts_is_that_of_the_table() -> None:
    net = random_network(3, [2, 3, 2])
    table = net.sample(40, seed=1)
    assert fit_to(net.dag, table) == fn.learn.parameters(net.dag, table)


# --------------------------------------------------------------------------------------------- dependency networks


@pytest.mark.parametrize("search", ["greedy", "tabu"])
def test_inputs_by_node_average_are_at_a_maximum_of_it(search: Any) -> None:
    table = with_holes(below_a_class(), 2000, 1, 0.2)
    found = fn.learn.local_structure(table, missing="node-average", search=search)
    scorer = LocalScores(table, NodeAverage())
    for v, inputs in enumerate(found.inputs):
        near = [tuple(sorted(set(inputs) ^ {u})) for u in range(5) if u != v]
        [own, *others] = scorer(Families.from_pairs([(v, inputs), *((v, other) for other in near)]))
        assert own == pytest.approx(found.scores[v], rel=1e-12)
        assert own >= max(others) - 1e-9


def test_neighbours_in_a_chain_are_inputs() -> None:
    found = fn.learn.local_structure(with_holes(chain(4), 4000, 1, 0.1), missing="node-average")
    assert found.inputs == ((1,), (0, 2), (1, 3), (2,))


def test_a_dependency_network_by_node_average_has_the_shares_of_complete_families() -> None:
    table = with_holes(chain(4), 500, 1, 0.3)
    dn = fn.learn.dependency_network(table, missing="node-average", smoothing=0.5)
    for conditional in dn.conditionals:
        family = [*conditional.parents, conditional.child]
        rows: Any = table[np.all([table.codes[v] < 2 for v in family], axis=0)]
        counts = np.full([2] * len(family), 0.5)
        np.add.at(counts, tuple(rows.codes[v].astype(int) for v in family), 1)
        np.testing.assert_allclose(conditional.table(), counts / counts.sum(axis=-1, keepdims=True), rtol=1e-12)


def test_a_dependency_network_by_em_is_that_of_expected_counts() -> None:
    table = with_holes(chain(4), 500, 1, 0.3)
    counts = fn.learn.ExpectedCounts(fn.learn.bayesian_network(table, missing="em"), table)
    for missing in ("em", None):
        found = fn.learn.dependency_network(table, missing=missing)
        assert found == fn.learn.dependency_network(counts)
        assert fn.learn.local_structure(table, missing=missing).inputs == found.inputs
    assert found.inputs == fn.learn.dependency_network(chain(4).sample(500, seed=1)).inputs


def test_what_dependency_networks_do_not_take() -> None:
    table = with_holes(chain(4), 100, 1, 0.3)
    with pytest.raises(FishernetError, match="score of its own"):
        fn.learn.dependency_network(table, missing="node-average", score="aic")
    with pytest.raises(FishernetError, match="missing='em' goes with inputs='direct'"):
        fn.learn.dependency_network(table, inputs="tree", missing="em")
    with pytest.raises(FishernetError, match="unknown missing"):
        fn.learn.local_structure(table, missing="mean")  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------------------- nearly empty columns


@given(st.integers(1, 5), st.integers(0, 2**32))
def test_a_tree_with_leaves_is_the_heaviest_in_which_these_have_no_children(n: int, seed: int) -> None:
    """Of all ways to choose a parent for every vertex but the root that make a tree."""
    rng = np.random.default_rng(seed)
    leaves = rng.random(n) < 0.4
    ranks = np.zeros((n, n), dtype=np.int32)
    ranks[np.triu_indices(n, 1)] = rng.permutation(n * (n - 1) // 2)
    ranks += ranks.T
    root = int(leaves.argmin())
    found = tree_with_leaves(ranks, root, leaves, np.zeros(n, dtype=bool))
    if leaves.all():
        assert found.tolist() == list(range(n))
        return

    def reaches_root(above: Any) -> bool:
        seen = np.arange(n)
        for _ in range(n):
            seen = above[seen]
        return bool((seen == root).all())

    def weight(above: Any) -> int:  # sums of powers order trees as their first pairs that differ do
        return sum(2 ** (100 - int(ranks[v, above[v]])) for v in range(n) if v != root)

    choices = [[root] if v == root else [u for u in range(n) if u != v and not leaves[u]] for v in range(n)]
    trees = [np.array(above) for above in itertools.product(*choices) if reaches_root(np.array(above))]
    assert found.tolist() in [above.tolist() for above in trees]
    assert weight(found) == max(map(weight, trees))


@EVERY
@pytest.mark.parametrize("missing", WAYS)
def test_no_arc_leads_from_a_nearly_empty_column(learn: Callable[..., fn.Dag], net: Any, missing: Any) -> None:
    """The arcs between the others are those of the table without it; it is a copy of a column where it is known."""
    table = with_holes(net, 2000, 1, 0.05)
    copied = np.where(np.arange(2000) % 15 == 0, table.codes[2], 2).astype(np.uint8)
    first, *rest = table.variables
    sparse = fn.Table([first, fn.Variable("h", ["a", "b"]), *rest], [table.codes[0], copied, *table.codes[1:]])
    with pytest.warns(fn.FishernetWarning, match="'h' lacks over 90 % of the cells"):
        found = learn(sparse, missing=missing)
    without = [arc for arc in found.edges if "h" not in arc]
    assert set(without) == set(learn(table, missing=missing).edges)
    assert not [arc for arc in found.edges if arc[0] == "h"]
    assert "v2" in [parent for parent, child in found.edges if child == "h"]


@pytest.mark.parametrize("missing", WAYS)
@pytest.mark.parametrize("learn", [fn.learn.local_structure, fn.learn.dependency_network])
def test_a_nearly_empty_column_is_no_input(learn: Callable[..., Any], missing: Any) -> None:
    table = with_holes(below_a_class(), 2000, 1, 0.05)
    copied = np.where(np.arange(2000) % 15 == 0, table.codes[2], 2).astype(np.uint8)
    sparse = fn.Table([fn.Variable("h", ["a", "b"]), *table.variables], [copied, *table.codes])
    with pytest.warns(fn.FishernetWarning, match="'h' lacks over 90 % of the cells") as told:
        found = learn(sparse, missing=missing, last_step=True)
    assert [str(line.message) for line in told].count(str(told[0].message)) == 1
    assert not [v for v, inputs in enumerate(found.inputs) if 0 in inputs]
    alone = learn(table, missing=missing, last_step=True)
    others = [{u - 1 for u in inputs} for inputs in found.inputs[1:]]
    if missing == "em":
        assert others == [set(inputs) for inputs in alone.inputs]
    else:  # the price of an input rises with the share of all cells that are missing
        assert all(inputs <= set(of) for inputs, of in zip(others, alone.inputs, strict=True))


def test_a_root_or_a_class_that_is_nearly_empty_is_taken_as_asked() -> None:
    net = below_a_class()
    table = with_holes(net, 1000, 1, 0.05)
    columns = [*table.codes]
    columns[1] = np.where(np.arange(1000) % 15 == 0, columns[1], 2).astype(np.uint8)
    sparse = fn.Table(table.variables, columns)
    assert fn.learn.tan(sparse, "v0", root="v1").parents[1] == (0,)
    assert fn.learn.chow_liu(sparse, root="v1").parents[1] == ()
    arcs = fn.learn.kdb(sparse, "v1", missing="node-average").edges
    assert {child for parent, child in arcs if parent == "v1"} == {"v0", "v2", "v3", "v4"}


@pytest.mark.parametrize("kind", ["labels", "both"])
def test_columns_that_lack_most_cells_are_not_joined_by_chance(kind: str) -> None:
    """Four rows in a hundred know two columns that each lack 80 %: what chance says there counts 25 times."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows: dict[str, Any] = {f"v{v}": rng.integers(0, 3, 1000).astype(object) for v in range(6)}
        if kind == "both":
            rows |= {f"x{v}": rng.normal(size=1000) for v in range(3)}
        for name in ("v0", "v1", "v2", *(["x0", "x1"] if kind == "both" else [])):
            rows[name][rng.random(1000) < 0.8] = None if name[0] == "v" else np.nan
        assert fn.learn.structure(rows, missing="node-average").dag.n_edges == 0


def with_constants(seed: int) -> fn.Table:
    """Return independent columns, some of one label, three of which lack two thirds of their cells."""
    random = np.random.default_rng(seed)
    columns: dict[str, Any] = {
        f"x{i}": np.array(["a", "b"], dtype=object)[random.integers(2, size=200)] for i in range(8)
    }
    columns |= {f"same{i}": np.full(200, "s", dtype=object) for i in range(5)}
    for name in ("x0", "x1", "same0"):
        columns[name][random.random(200) < 0.65] = None
    return fn.Table.from_frame(columns)


@pytest.mark.parametrize("search", ["order", "tabu", "hill-climb"])
def test_columns_of_one_label_have_no_arcs(search: Any) -> None:
    """They tell nothing, but by the rows on which they are known, or as one of many steps that change no score."""
    for seed in range(6):
        table = with_constants(seed)
        for missing in ("node-average", "em"):
            arcs = fn.learn.dag(table, search=search, missing=missing, seed=seed).edges
            assert not [arc for arc in arcs if "same" in "".join(arc)]
    asked = [("same0", "x2"), ("x3", "same1")]
    assert {*fn.learn.dag(with_constants(0), search=search, required=asked).edges} >= {*asked}
