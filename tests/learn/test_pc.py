"""Graphs by tests of independence, held to what a test that knows the truth must give."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

import fishernet as fn
from fishernet.independence import GSquared, IndependenceTest, TestResult
from fishernet.learn import pc


def random_dag(seed: int, n: int, share: float = 0.35) -> fn.Dag:
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    names = [f"v{v}" for v in range(n)]
    pairs = itertools.combinations(range(n), 2)
    return fn.Dag.from_edges(names, [(names[order[a]], names[order[b]]) for a, b in pairs if rng.random() < share])


class Oracle(IndependenceTest):
    """Knows the graph: a test whose p-value is 1 where the two are d-separated, and 0 where they are not."""

    def __init__(self, dag: fn.Dag) -> None:
        self.names, self._dag = dag.names, dag

    def __call__(self, i: int, j: int, given: tuple[int, ...]) -> TestResult:
        apart = self._dag.is_d_separated(self.names[i], self.names[j], [self.names[v] for v in given])
        return TestResult(0.0, float(apart))


@pytest.mark.parametrize("colliders", ["majority", "conservative"])
@pytest.mark.parametrize("seed", range(25))
def test_who_knows_the_truth_finds_its_class(seed: int, colliders: fn.learn.constraints.ColliderName) -> None:
    dag = random_dag(seed, 4 + seed % 5)
    found = pc(None, names=dag.names, test=Oracle(dag), colliders=colliders)
    assert found.cpdag == fn.graphs.cpdag(dag)
    assert not found.ambiguous
    assert not found.conflicts
    assert all(dag.is_d_separated(a, b, given) for (a, b), given in found.separating.items())


@pytest.mark.parametrize("seed", range(10))
def test_tiers_direct_what_they_can_and_contradict_nothing(seed: int) -> None:
    dag = random_dag(seed, 7)
    order = [dag.names[v] for v in dag.order]
    found = pc(None, names=dag.names, test=Oracle(dag), tiers=[order[:3], order[3:]])
    assert set(found.directed) <= set(dag.edges)
    assert {frozenset(edge) for edge in (*found.directed, *found.undirected)} == {frozenset(arc) for arc in dag.edges}
    early = set(order[:3])
    assert all((a in early) == (b in early) for a, b in found.undirected)
    assert set(pc(None, names=dag.names, test=Oracle(dag), tiers=[[name] for name in order]).directed) == set(dag.edges)


def test_the_order_of_the_columns_does_not_matter() -> None:
    table = fn.datasets.load("asia").sample(3000, seed=2)
    found = pc(table)
    rng = np.random.default_rng(0)
    for _ in range(3):
        other = pc(table.select(rng.permutation(table.names).tolist()))
        edges = [{frozenset(edge) for edge in (*one.directed, *one.undirected)} for one in (found, other)]
        assert edges[0] == edges[1]


def test_linear_numbers_come_back() -> None:
    rng = np.random.default_rng(1)
    a, b, e, f = rng.normal(size=(4, 20_000))
    c = a + b + e
    frame = {"a": a, "b": b, "c": c, "d": c + f}
    found = pc(frame, alpha=0.001)
    assert found.directed == (("a", "c"), ("b", "c"), ("c", "d"))
    assert found.undirected == ()
    assert found.cpdag is not None


def test_labels_and_missing_cells() -> None:
    asia = fn.datasets.load("asia")
    table = asia.sample(50_000, seed=3)
    codes = [np.array(column) for column in table.codes]
    holes = np.random.default_rng(4).random((8, 50_000)) < 0.05
    for column, hole in zip(codes, holes, strict=True):
        column[hole] = 2
    lacking = fn.Table.from_codes(np.stack(codes, axis=1), table.variables)
    for rows in (table, lacking):
        found = pc(rows, alpha=1e-4)
        edges = {frozenset(edge) for edge in (*found.directed, *found.undirected)}
        assert edges <= {frozenset(arc) for arc in asia.dag.edges}
        assert len(edges) >= 5
        assert ("lung", "either") in found.directed


def test_numbers_beside_labels_are_cut_and_sources_of_counts_are_asked() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=2000)
    frame = {"label": np.where(x + rng.normal(size=2000) > 0, "a", "b"), "x": x, "noise": rng.normal(size=2000)}
    found = pc(frame, alpha=0.001)
    assert [set(edge) for edge in (*found.directed, *found.undirected)] == [{"label", "x"}]


def test_bounds_leave_out_no_separation() -> None:
    """A test whose bounds are not asked for gives the same graph."""
    table = fn.datasets.load("asia").sample(2000, seed=6)
    test = GSquared(table)
    found, without = pc(table), pc(table, test=lambda i, j, given: test(i, j, given))
    assert (found.directed, found.undirected) == (without.directed, without.undirected)
    assert dict(found.separating) == dict(without.separating)
    for i, j in itertools.combinations(range(8), 2):
        sets = list(itertools.combinations([v for v in range(8) if v not in (i, j)], 2))
        bounds = test.bounds(i, j, sets)
        assert bounds is not None
        assert all(test(i, j, given).p_value <= bound * (1 + 1e-6) for given, bound in zip(sets, bounds, strict=True))


def test_limits_are_kept() -> None:
    dag = random_dag(3, 8, 0.6)
    none_given = pc(None, names=dag.names, test=Oracle(dag), max_given=0)
    assert all(given == () for given in none_given.separating.values())
    stopped = pc(fn.datasets.load("alarm").sample(2000, seed=1), max_seconds=0.0)
    assert not stopped.finished
    assert "stopped by the time limit" in repr(stopped)


class Certain(IndependenceTest):
    """A test whose bounds say of all sets that they separate nothing."""

    def __call__(self, i: int, j: int, given: tuple[int, ...]) -> TestResult:
        raise AssertionError((i, j, given))

    def bounds(self, i: int, j: int, sets: Sequence[tuple[int, ...]]) -> np.ndarray:
        return np.zeros(len(sets))


def test_time_is_looked_at_where_bounds_decide_all_tests() -> None:
    names = [f"v{v}" for v in range(5)]
    every = pc(None, names=names, test=Certain())
    assert every.finished
    assert every.n_tests == 10 * (1 + 3 + 3 + 1)  # each pair given each set of the three others
    stopped = pc(None, names=names, test=Certain(), max_seconds=0.0)
    assert (stopped.finished, stopped.n_tests) == (False, 0)


def test_contradictions_are_told() -> None:
    """Few rows make tests disagree: what they found is told, and no circle is directed."""
    table = fn.datasets.load("alarm").sample(300, seed=5)
    found = pc(table)
    assert found.ambiguous or found.conflicts
    fn.Dag.from_edges(found.names, found.directed)  # no circle
    assert found.links().pairs
    assert found.to_frame().num_rows == len(found.directed) + len(found.undirected)


def test_what_does_not_fit_is_refused() -> None:
    table = fn.datasets.load("asia").sample(20, seed=1)
    with pytest.raises(fn.FishernetError) as alpha:
        pc(table, alpha=0)
    assert alpha.value.parameter == "alpha"
    with pytest.raises(fn.FishernetError):
        pc(table, test="fisher")  # type: ignore[arg-type]
    with pytest.raises(fn.SchemaError):
        pc(table, tiers=[["nobody"]])
    with pytest.raises(fn.SchemaError):
        pc(table, test="fisher-z")
