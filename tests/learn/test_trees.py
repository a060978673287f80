"""Chow-Liu trees, naive Bayes, TAN and KDB against enumeration and against their definitions."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.data import Source
from fishernet.learn.pair_information import mutual_information
from tests.reference.scoring import family_score
from tests.sources import Blocks
from tests.tables import random_table, tables

Weight = Callable[[int, int], float]


SOURCES = pytest.mark.parametrize("make", [lambda table: table, Blocks], ids=["table", "statistics"])


def information(table: fn.Table, x: int, y: int, given: int | None = None) -> float:
    """N sum p(x, y, z) log (p(x, y | z) / (p(x | z) p(y | z))), cell by cell."""
    rows = np.stack([np.zeros(table.n_rows, int), *(c.astype(int) for c in table.codes)], axis=1)
    z = 0 if given is None else given + 1
    xyz: Counter[tuple[int, int, int]] = Counter()
    xz: Counter[tuple[int, int]] = Counter()
    yz: Counter[tuple[int, int]] = Counter()
    alone: Counter[int] = Counter()
    weights = np.ones(table.n_rows, int) if table.weights is None else table.weights
    for row, weight in zip(rows.tolist(), weights.tolist(), strict=True):
        a, b, c = row[x + 1], row[y + 1], row[z]
        xyz[a, b, c] += weight
        xz[a, c] += weight
        yz[b, c] += weight
        alone[c] += weight
    return math.fsum(n * math.log(n * alone[c] / (xz[a, c] * yz[b, c])) for (a, b, c), n in xyz.items() if n)


def remembered(table: fn.Table, given: int | None) -> Weight:
    """The weight of a pair; equal ones are made equal to the last bit."""
    known = {
        (a, b): round(information(table, a, b, given), 8) for a, b in itertools.combinations(range(len(table.names)), 2)
    }
    return lambda a, b: known[min(a, b), max(a, b)]


def kruskal(vertices: Sequence[int], weight: Weight) -> set[tuple[int, int]]:
    """The heaviest pairs that close no cycle; of equal ones the first."""
    tree: set[tuple[int, int]] = set()
    part = {v: v for v in vertices}
    for a, b in sorted(itertools.combinations(vertices, 2), key=lambda pair: (-weight(*pair), pair)):
        if part[a] != part[b]:
            tree.add((a, b))
            old = part[b]
            part = {v: part[a] if p == old else p for v, p in part.items()}
    return tree


def sahami(features: Sequence[int], c: int, weight: Weight, with_class: Weight, k: int) -> dict[int, set[int]]:
    """The parents that KDB gives to each feature."""
    chosen: dict[int, set[int]] = {}
    for feature in sorted(features, key=lambda v: (-with_class(c, v), v)):
        nearest = sorted(chosen, key=lambda v: (-weight(feature, v), v))[:k]
        chosen[feature] = {c, *nearest}
    return chosen


def all_trees(n: int) -> list[list[tuple[int, int]]]:
    """Every tree over n labelled vertices."""
    if n < 3:
        return [[(0, 1)]] if n == 2 else [[]]
    return [list(nx.from_prufer_sequence(list(code)).edges) for code in itertools.product(range(n), repeat=n - 2)]


def pairs_below(dag: fn.Dag, c: int | None = None) -> set[tuple[int, int]]:
    """The arcs between features, as ascending pairs."""
    return {(min(p, v), max(p, v)) for v, parents in enumerate(dag.parents) for p in parents if p != c}


# ----------------------------------------------------------------------------------------------- mutual information


@SOURCES
@given(table=tables(most_variables=5, most_rows=80), c=st.none() | st.integers(0, 4))
def test_mutual_information_is_its_definition(
    make: Callable[[fn.Table], Source], table: fn.Table, c: int | None
) -> None:
    n = len(table.variables)
    c = None if c is None or n < 2 else c % n
    features = np.array([v for v in range(n) if v != c])
    pairs = mutual_information(make(table), features, c)
    expected = [information(table, a, b, c) for a, b in itertools.combinations(features.tolist(), 2)]
    np.testing.assert_allclose(pairs.values, expected, rtol=1e-9, atol=1e-9)
    alone = [0.0 if c is None else information(table, c, v) for v in features.tolist()]
    np.testing.assert_allclose(pairs.with_given, alone, rtol=1e-9, atol=1e-9)


# ------------------------------------------------------------------------------------------------------------ trees


@given(tables(most_variables=5, most_rows=80))
def test_no_tree_is_likelier_than_chow_liu_s(table: fn.Table) -> None:
    n = len(table.variables)
    dag = fn.learn.chow_liu(table)
    assert dag.n_edges == n - 1
    assert dag.parents[0] == ()
    assert all(len(parents) == 1 for parents in dag.parents[1:])

    def likelihood(edges: Sequence[tuple[int, int]]) -> float:
        graph = nx.Graph(edges)
        above = dict(nx.bfs_predecessors(graph, 0)) if edges else {}
        return math.fsum(family_score(table, v, [above[v]] if v else [], "loglik") for v in range(n))

    best = max(likelihood(edges) for edges in all_trees(n))
    assert fn.score(dag, table, "loglik") == pytest.approx(best, rel=1e-12, abs=1e-8)


@given(tables(most_variables=6, most_rows=80), st.integers(0, 5))
def test_tan_is_the_heaviest_of_all_spanning_trees(table: fn.Table, c: int) -> None:
    n = len(table.variables)
    c %= n
    if n < 2 or table.cardinalities[c] < 2:
        return
    dag = fn.learn.tan(table, table.names[c])
    features = [v for v in range(n) if v != c]
    assert dag.parents[c] == ()
    assert dag.parents[features[0]] == (c,)
    assert all(c in dag.parents[v] and len(dag.parents[v]) == 2 for v in features[1:])
    weight = remembered(table, c)
    best = max(sum(weight(features[a], features[b]) for a, b in tree) for tree in all_trees(n - 1))
    assert sum(weight(a, b) for a, b in pairs_below(dag, c)) == pytest.approx(best, rel=1e-9, abs=1e-6)


@SOURCES
@pytest.mark.parametrize("seed", range(10))
def test_trees_are_kruskal_s(make: Callable[[fn.Table], Source], seed: int) -> None:
    table = random_table(seed, 60, [2, 3, 2, 3, 2, 1, 2, 2])
    assert pairs_below(fn.learn.chow_liu(make(table))) == kruskal(range(8), remembered(table, None))
    tan = fn.learn.tan(make(table), "v3")
    assert pairs_below(tan, 3) == kruskal([0, 1, 2, 4, 5, 6, 7], remembered(table, 3))


def test_ties_go_to_the_first_pair() -> None:
    """Equal columns beside a class that is a coin: every pair weighs the same, and those with v0 come first."""
    rng = np.random.default_rng(0)
    copies = rng.integers(0, 2, 200)
    table = fn.Table.from_codes(np.stack([copies] * 5 + [rng.integers(0, 2, 200)], axis=1))
    assert pairs_below(fn.learn.tan(table, "v5"), 5) == {(0, v) for v in range(1, 5)}
    assert {(0, v) for v in range(1, 5)} <= pairs_below(fn.learn.chow_liu(table))
    assert pairs_below(fn.learn.tan(table, "v5", root="v3"), 5) == {(0, v) for v in range(1, 5)}


def test_variables_that_depend_on_nothing_are_joined_to_the_first() -> None:
    table = fn.Table.from_codes(list(itertools.product(range(2), repeat=4)) * 3)
    assert fn.learn.chow_liu(table).parents == ((), (0,), (0,), (0,))
    assert fn.learn.tan(table, "v1").parents == ((1,), (), (0, 1), (0, 1))


@pytest.mark.parametrize("seed", range(5))
def test_all_roots_give_equivalent_graphs(seed: int) -> None:
    table = random_table(seed, 100, [2, 3, 2, 3, 2])
    tree, tan = fn.learn.chow_liu(table), fn.learn.tan(table, "v2")
    for name in table.names:
        turned = fn.learn.chow_liu(table, root=name)
        assert turned.is_equivalent(tree)
        assert turned.parents[table.names.index(name)] == ()
        if name != "v2":
            turned = fn.learn.tan(table, "v2", root=name)
            assert turned.is_equivalent(tan)
            assert turned.parents[table.names.index(name)] == (2,)


def test_a_chain_is_found_again() -> None:
    """Each of a, b, c, d copies the one before it but for one row in ten, whatever the class is."""
    rng = np.random.default_rng(2)
    columns = [rng.integers(0, 2, 2000)]
    for _ in range(3):
        columns.append(np.where(rng.random(2000) < 0.1, 1 - columns[-1], columns[-1]))
    codes = np.stack([columns[2], columns[0], columns[3], columns[1], rng.integers(0, 3, 2000)], axis=1)
    table = fn.Table.from_codes(codes, [fn.Variable(name, range(3)) for name in ("c", "a", "d", "b", "class")])
    chain = {frozenset("ab"), frozenset("bc"), frozenset("cd")}
    assert {frozenset(edge) for edge in fn.learn.tan(table, "class").edges if "class" not in edge} == chain
    assert chain <= {frozenset(edge) for edge in fn.learn.chow_liu(table).edges}


# ------------------------------------------------------------------------------------------ naive Bayes and KDB


def test_naive_bayes_is_a_star() -> None:
    table = random_table(0, 30, [2, 3, 2, 4])
    assert fn.learn.naive_bayes(table, "v2").parents == ((2,), (2,), (), (2,))


@SOURCES
@given(table=tables(most_variables=6, most_rows=80), c=st.integers(0, 5), k=st.integers(0, 6))
def test_kdb_is_sahami_s(make: Callable[[fn.Table], Source], table: fn.Table, c: int, k: int) -> None:
    n = len(table.variables)
    c %= n
    if n < 2 or table.cardinalities[c] < 2:
        return
    dag = fn.learn.kdb(make(table), table.names[c], k)
    features = [v for v in range(n) if v != c]
    expected = sahami(features, c, remembered(table, c), remembered(table, None), k)
    assert {v: set(dag.parents[v]) for v in features} == expected
    assert dag.parents[c] == ()


def test_kdb_with_no_other_parents_is_naive_bayes() -> None:
    table = random_table(1, 100, [2, 3, 2, 4, 2])
    assert fn.learn.kdb(table, "v4", 0) == fn.learn.naive_bayes(table, "v4")


@pytest.mark.parametrize("k", [4, 5, 100])
def test_kdb_with_all_parents_joins_every_two_features(k: int) -> None:
    table = random_table(1, 100, [2, 3, 2, 4, 2])
    dag = fn.learn.kdb(table, "v4", k)
    assert dag.n_edges == 4 + 6
    assert sorted(map(len, dag.parents)) == [0, 1, 2, 3, 4]


def test_kdb_takes_three_by_default() -> None:
    table = random_table(1, 200, [2, 3, 2, 4, 2, 3, 2])
    assert fn.learn.kdb(table, "v0") == fn.learn.kdb(table, "v0", k=3)
    assert max(map(len, fn.learn.kdb(table, "v0").parents)) == 4


# -------------------------------------------------------------------------------------------------------- all of them


def test_one_feature_and_one_column() -> None:
    table = random_table(0, 30, [2, 3])
    for learn in (fn.learn.naive_bayes, fn.learn.tan, fn.learn.kdb):
        assert learn(table, "v1").edges == (("v1", "v0"),)
    assert fn.learn.chow_liu(table.select(["v0"])).edges == ()


def test_no_rows_are_no_information() -> None:
    table = random_table(0, 30, [2, 2, 2, 2])[:0]
    assert fn.learn.tan(table, "v3").parents == ((3,), (0, 3), (0, 3), ())
    assert fn.learn.kdb(table, "v3", 1).parents == ((3,), (0, 3), (0, 3), ())


@pytest.mark.parametrize("name", ["naive_bayes", "tan", "kdb"])
def test_bad_classes_are_refused(name: str) -> None:
    learn = getattr(fn.learn, name)
    table = fn.Table.from_frame({"a": ["x", "y"], "b": ["y", "y"]})
    with pytest.raises(SchemaError, match="no column 'c'; there are 'a', 'b'"):
        learn(table, "c")
    with pytest.raises(SchemaError, match="class 'b' has the single state 'y'"):
        learn(table, "b")
    with pytest.raises(SchemaError, match="no columns but the class 'a'"):
        learn(table.select(["a"]), "a")
    with pytest.raises(SchemaError, match="a source of statistics"):
        learn([[0, 1]], "a")


def test_other_bad_arguments_are_refused() -> None:
    table = random_table(0, 30, [2, 2, 2])
    for k in (-1, 1.5, True, "3"):
        with pytest.raises(FishernetError, match="k must be an integer of at least 0"):
            fn.learn.kdb(table, "v0", k)  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="no feature 'v0'; there are 'v1', 'v2'"):
        fn.learn.tan(table, "v0", root="v0")
    with pytest.raises(SchemaError, match="no variable 'w'"):
        fn.learn.chow_liu(table, root="w")
    with pytest.raises(SchemaError, match="no columns"):
        fn.learn.chow_liu(fn.Table([], []))


# ----------------------------------------------------------------------------------------------------- limits on cells


@pytest.mark.parametrize("max_cells", [24, 48, 60, 200])
def test_families_of_classifiers_have_no_more_cells_than_may_be(max_cells: int) -> None:
    """The largest feature has 24 cells with the class."""
    table = random_table(3, 400, [2, 5, 3, 8, 4, 3], dependence=0.6)
    sizes = dict(zip(table.names, table.cardinalities, strict=True))
    for dag in (
        fn.learn.tan(table, "v2", max_cells=max_cells),
        fn.learn.kdb(table, "v2", k=3, max_cells=max_cells),
        fn.learn.naive_bayes(table, "v2", max_cells=max_cells),
        fn.learn.chow_liu(table, max_cells=max_cells),
    ):
        for child, parents in enumerate(dag.parents):
            assert math.prod(sizes[dag.names[v]] for v in (child, *parents)) <= max_cells
    wide = fn.learn.tan(table, "v2", max_cells=8 * 5 * 3)  # the largest family that a tree can have
    assert wide == fn.learn.tan(table, "v2", max_cells=None)


def test_a_feature_that_is_too_large_with_the_class_is_named() -> None:
    table = random_table(3, 100, [2, 5, 3, 8])
    for learn in (fn.learn.naive_bayes, fn.learn.tan, fn.learn.kdb):
        with pytest.raises(SchemaError, match="family of 'v3' with the parents 'v2' has 24 cells"):
            learn(table, "v2", max_cells=23)
