"""Trees, TAN and KDB of labels and numbers against enumeration, by regressions of least squares."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import networkx as nx
import numpy as np
import pytest

import fishernet as fn
from fishernet.base.errors import SchemaError
from fishernet.data import Blocks
from tests.learn.test_trees import all_trees

CLASS = "c"


def table_of(seed: int, n: int = 600, *, labels: int = 2, numbers: int = 3, missing: float = 0.0) -> fn.Table:
    """Return a class, labels and numbers that depend on one another, in a random order of columns."""
    rng = np.random.default_rng(seed)
    frame: dict[str, Any] = {CLASS: rng.integers(0, 3, n)}
    for k in range(labels):
        before = frame[list(frame)[int(rng.integers(len(frame)))]]
        frame[f"L{k}"] = np.where(rng.random(n) < 0.6, before % 2, rng.integers(0, k + 2, n))
    for k in range(numbers):
        before = frame[list(frame)[int(rng.integers(len(frame)))]]
        frame[f"x{k}"] = rng.normal(size=n) + rng.normal(0, 1.5) * before
    columns = {}
    for v in rng.permutation(len(frame)):
        name = list(frame)[v]
        column = frame[name] if name.startswith("x") else np.array([f"s{code}" for code in frame[name]], dtype=object)
        columns[name] = column.astype(object)
        columns[name][(rng.random(n) < missing) & (name != CLASS)] = None
    return fn.Table.from_frame(columns, continuous=[name for name in columns if name.startswith("x")])


def log_likelihood(table: fn.Table, child: int, parents: Sequence[int]) -> float:
    """Of the rows that are complete in the family: by counts, or by least squares in each configuration of labels."""
    family = [child, *parents]
    known = np.all([~table.variables[v].missing(table.codes[v]) for v in family], axis=0)
    columns = {v: table.codes[v][known].astype(float) for v in family}
    labels = [v for v in parents if not table.variables[v].is_continuous]
    groups: dict[tuple[float, ...], list[int]] = {}
    for row in range(int(known.sum())):
        groups.setdefault(tuple(columns[v][row] for v in labels), []).append(row)
    found = 0.0
    for rows in groups.values():
        y = columns[child][rows]
        if not table.variables[child].is_continuous:
            counts = np.unique(y, return_counts=True)[1]
            found += float(counts @ np.log(counts / len(y)))
            continue
        others = [columns[v][rows] for v in parents if table.variables[v].is_continuous]
        X = np.stack([np.ones(len(y)), *others], axis=1)
        rest = y - X @ np.linalg.lstsq(X, y, rcond=None)[0]
        found -= len(y) / 2 * (math.log(2 * math.pi * float(rest @ rest) / len(y)) + 1)
    return found


def information(table: fn.Table, a: int, b: int, given: Sequence[int] = ()) -> float:
    """What a pair tells about one another on the rows that know both and what is given, as though all rows did."""
    number, other = sorted((a, b), key=lambda v: not table.variables[v].is_continuous)
    family = [number, other, *given]
    rows: fn.Table = table[
        np.flatnonzero(np.all([~table.variables[v].missing(table.codes[v]) for v in family], axis=0))
    ]
    told = log_likelihood(rows, number, [other, *given]) - log_likelihood(rows, number, given)
    return told * table.n_rows / rows.n_rows


def may_be(table: fn.Table, edges: Sequence[tuple[int, int]], vertices: Sequence[int]) -> bool:
    """Whether the arcs of a tree can be directed so that none runs from a number to a label: labels are joined."""
    labels = [v for v in vertices if not table.variables[v].is_continuous]
    return not labels or nx.is_connected(nx.Graph(edges).subgraph(labels)) or len(labels) == 1


def heaviest(table: fn.Table, vertices: Sequence[int], given: Sequence[int] = ()) -> float:
    weight = {pair: information(table, *pair, given) for pair in itertools.combinations(vertices, 2)}
    trees = ([(vertices[a], vertices[b]) for a, b in tree] for tree in all_trees(len(vertices)))
    return max(sum(weight[min(edge), max(edge)] for edge in tree) for tree in trees if may_be(table, tree, vertices))


SHAPES = pytest.mark.parametrize(("labels", "numbers"), [(0, 4), (1, 3), (2, 3), (3, 1), (3, 0)])
HOLES = pytest.mark.parametrize("missing", [0.0, 0.2])


@SHAPES
@HOLES
def test_no_tree_is_likelier_than_chow_liu_s(labels: int, numbers: int, missing: float) -> None:
    for seed in range(5):
        table = table_of(seed, labels=labels, numbers=numbers, missing=missing)
        way: Any = {"missing": "node-average"} if missing else {}
        for source in (table, Blocks([table[:200], table[200:]])):
            dag = fn.learn.chow_liu(source, **way)
            arcs = [(p, v) for v, parents in enumerate(dag.parents) for p in parents]
            assert all(len(parents) <= 1 for parents in dag.parents)
            assert len(arcs) == len(table.names) - 1
            for p, v in arcs:
                assert table.variables[v].is_continuous or not table.variables[p].is_continuous
            found = sum(information(table, *arc) for arc in arcs)
            assert found == pytest.approx(heaviest(table, range(len(table.names))), rel=1e-9, abs=1e-6)


@SHAPES
@HOLES
def test_tan_is_the_heaviest_tree_below_the_class(labels: int, numbers: int, missing: float) -> None:
    for seed in range(5):
        table = table_of(seed, labels=labels, numbers=numbers, missing=missing)
        way: Any = {"missing": "node-average"} if missing else {}
        dag = fn.learn.tan(table, CLASS, **way)
        c = table.names.index(CLASS)
        features = [v for v in range(len(table.names)) if v != c]
        assert dag.parents[c] == ()
        assert all(c in dag.parents[v] and len(dag.parents[v]) <= 2 for v in features)
        arcs = [(p, v) for v in features for p in dag.parents[v] if p != c]
        assert len(arcs) == len(features) - 1
        found = sum(information(table, *arc, (c,)) for arc in arcs)
        assert found == pytest.approx(heaviest(table, features, (c,)), rel=1e-9, abs=1e-6)


@HOLES
def test_kdb_s_parents_are_the_nearest_before_that_may_be(missing: float) -> None:
    for seed in range(10):
        table = table_of(seed, labels=2, numbers=3, missing=missing)
        dag = fn.learn.kdb(table, CLASS, k=2, missing="node-average" if missing else None)
        c = table.names.index(CLASS)
        features = sorted((v for v in range(len(table.names)) if v != c), key=lambda v: -information(table, v, c))
        for place, v in enumerate(features):
            may = [
                u for u in features[:place] if table.variables[v].is_continuous or not table.variables[u].is_continuous
            ]
            nearest = sorted(may, key=lambda u: -information(table, v, u, (c,)))[:2]
            assert set(dag.parents[v]) == {c, *nearest}


def test_a_tree_of_numbers_has_the_strongest_correlations() -> None:
    table = table_of(1, labels=0, numbers=4).select(["x0", "x1", "x2", "x3"])
    dag = fn.learn.chow_liu(table, root="x2")
    correlations = np.abs(np.corrcoef(np.array(table.codes)))
    tree = nx.maximum_spanning_tree(nx.from_numpy_array(correlations))
    assert {tuple(sorted((p, v))) for v, of in enumerate(dag.parents) for p in of} == {
        tuple(sorted(e)) for e in tree.edges
    }
    assert dag.parents[table.names.index("x2")] == ()


def test_the_root_has_labels_where_there_are_some() -> None:
    table = table_of(2)
    learners: tuple[Any, ...] = (partial(fn.learn.chow_liu, table), partial(fn.learn.tan, table, CLASS))
    for learn in learners:
        assert learn(root="L1").n_edges
        with pytest.raises(SchemaError, match="no arc runs from a number to labels") as caught:
            learn(root="x1")
        assert caught.value.parameter == "root"


@pytest.mark.parametrize("model", ["naive-bayes", "tan", "kdb"])
def test_a_class_of_numbers_is_cut_and_the_others_stay(model: str) -> None:
    table = table_of(3)
    with pytest.warns(fn.FishernetWarning, match="the class has to have labels"):
        found = fn.learn.fit(table, model, target="x1")
    kinds = {v.name: v.is_continuous for v in found.model.variables}
    assert not kinds["x1"]
    assert kinds["x0"]
    assert kinds["x2"]
    assert 0 < found.to_dict()["held_out_accuracy"] <= 1
