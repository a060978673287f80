"""The graphs within some nats of the best, held to all graphs of few variables."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.graphs.equivalence import class_marks
from fishernet.learn import best_graphs

EQUIVALENT = ["bic", "aic", "bdeu", "qnml"]
Classes = dict[frozenset[Any], float]


def rows(seed: int, n: int, d: int) -> fn.Table:
    """Return labels that lean on one another, of two to four states."""
    rng = np.random.default_rng(seed)
    columns: list[np.ndarray] = []
    for v in range(d):
        states = int(rng.integers(2, 5))
        own = rng.integers(0, states, n)
        copied = rng.random(n) < rng.random()
        columns.append(np.where(copied & (v > 0), columns[v - 1] % states if v else own, own))
    return fn.Table.from_frame(
        {f"v{v}": column for v, column in enumerate(columns)}, categorical=[f"v{v}" for v in range(d)]
    )


def acyclic(parents: tuple[tuple[int, ...], ...]) -> bool:
    left = set(range(len(parents)))
    while left:
        free = {v for v in left if not left.intersection(parents[v])}
        if not free:
            return False
        left -= free
    return True


def every_arc(parent: str, child: str) -> bool:
    return True


def every_family(child: int, parents: tuple[int, ...]) -> bool:
    return True


def brute_force(
    table: fn.Table,
    score: Any,
    within: float,
    allowed: Callable[[str, str], bool] = every_arc,
    fits: Callable[[int, tuple[int, ...]], bool] = every_family,
) -> Classes:
    """Return the score of the best graph of each class within some nats of the best of all."""
    names = table.names
    n = len(names)
    local: dict[tuple[int, tuple[int, ...]], float] = {}
    sets = []
    for child in range(n):
        others = [v for v in range(n) if v != child and allowed(names[v], names[child])]
        every = [s for size in range(len(others) + 1) for s in itertools.combinations(others, size)]
        sets.append([s for s in every if fits(child, s)])
        for s in sets[-1]:
            dag = fn.Dag(names, [s if v == child else () for v in range(n)])
            local[child, s] = fn.score(dag, table, score) - sum(
                fn.score(fn.Dag([names[v]], [()]), table.select([names[v]]), score) for v in range(n) if v != child
            )
    found: Classes = {}
    for chosen in itertools.product(*sets):
        if acyclic(chosen):
            dag = fn.Dag(names, chosen)
            marks = frozenset(class_marks(dag.parents, dag.order).items())
            found[marks] = max(found.get(marks, -np.inf), sum(local[v, s] for v, s in enumerate(chosen)))
    best = max(found.values())
    return {marks: value for marks, value in found.items() if value >= best - within}


def classes(found: fn.learn.BestGraphs) -> Classes:
    return {
        frozenset(class_marks(dag.parents, dag.order).items()): float(score)
        for dag, score in zip(found, found.scores, strict=True)
    }


def same(found: Classes, wanted: Classes) -> None:
    assert found.keys() == wanted.keys()
    for marks, value in wanted.items():
        assert found[marks] == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("score", [*EQUIVALENT, "fnml", "k2"])
def test_they_are_those_of_all_graphs_of_four_variables(seed: int, score: Any) -> None:
    table = rows(seed, [8, 40, 200, 1000][seed], 4)
    for within in (0.0, 1.7, 40.0):
        found = best_graphs(table, score=score, within=within)
        assert found.complete
        same(classes(found), brute_force(table, score, within))


def test_they_are_those_of_all_graphs_of_five_variables() -> None:
    table = rows(11, 60, 5)
    same(classes(best_graphs(table, score="bic", within=6.0)), brute_force(table, "bic", 6.0))


@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_a_class_is_there_when_one_of_its_graphs_keeps_the_rules(score: Any) -> None:
    table = rows(5, 100, 4)
    forbidden = [("v0", "v1"), ("v3", "v2")]
    wanted = brute_force(table, score, 5.0, lambda parent, child: (parent, child) not in forbidden)
    same(classes(best_graphs(table, score=score, within=5.0, forbidden=forbidden)), wanted)
    tiers = [["v3"], ["v0", "v1", "v2"]]
    later = brute_force(table, score, 5.0, lambda parent, child: child != "v3")
    same(classes(best_graphs(table, score=score, within=5.0, tiers=tiers)), later)


@pytest.mark.parametrize("seed", [9, 10, 12])
def test_limits_on_families_cut_no_class_in_two(seed: int) -> None:
    """Of equivalent graphs all or none keep within a number of parents, or of cells."""
    table = rows(seed, 400, 4)
    states = [variable.cardinality for variable in table.variables]
    few = brute_force(table, "aic", 500.0, fits=lambda _, parents: len(parents) <= 1)
    same(classes(best_graphs(table, score="aic", within=500.0, max_parents=1)), few)
    small = brute_force(
        table, "aic", 500.0, fits=lambda child, parents: states[child] * math.prod(states[p] for p in parents) <= 12
    )
    same(classes(best_graphs(table, score="aic", within=500.0, max_cells=12)), small)
    assert len(few) < 185 > len(small)  # all classes of four variables


def test_numbers_and_both_kinds_have_theirs() -> None:
    rng = np.random.default_rng(2)
    a = rng.integers(0, 2, 150)
    x = rng.normal(size=150) + a
    numbers = {"x": x, "y": x + rng.normal(size=150), "z": rng.normal(size=150)}
    for frame in (numbers, {"a": a, **numbers}):
        table = fn.Table.from_frame(frame, categorical=[name for name in frame if name == "a"])
        wanted = brute_force(table, "bic", 4.0, lambda _, child: child != "a")
        same(classes(best_graphs(table, score="bic", within=4.0)), wanted)
        exact = fn.learn.structure(table, score="bic", search="exact")
        assert exact.score == pytest.approx(max(wanted.values()), abs=1e-6)
        assert exact.gap == 0


def test_copies_of_a_column_are_no_trouble() -> None:
    table = rows(3, 50, 2)
    frame = {"a": table.column("v0"), "b": table.column("v0"), "c": table.column("v1")}
    copied = fn.Table.from_frame(frame, categorical=["a", "b", "c"])
    same(classes(best_graphs(copied, score="bic", within=3.0)), brute_force(copied, "bic", 3.0))


def test_of_too_many_the_best_are_kept() -> None:
    table = rows(7, 80, 5)
    every = best_graphs(table, score="bic", within=30.0)
    some = best_graphs(table, score="bic", within=30.0, most=7)
    assert len(every) > 7
    assert not some.complete
    assert len(some) == 7
    np.testing.assert_allclose(some.scores, every.scores[:7])
    assert some.within == pytest.approx(every.scores[0] - every.scores[6], abs=1e-6)


def test_edges_are_averaged_over_classes() -> None:
    table = fn.datasets.load("asia").sample(300, seed=4)
    found = best_graphs(table, within=2.0)
    strength, direction = np.zeros((8, 8)), np.zeros((8, 8))
    for share, dag in zip(found.shares, found, strict=True):
        for a, b in itertools.permutations(range(8), 2):
            joined = {(a, b), (b, a)} & {(p, c) for c, of in enumerate(dag.parents) for p in of}
            strength[a, b] += share * bool(joined)
            members = fn.graphs.cpdag(dag) if joined else None
            if members is not None:
                pair = (dag.names[a], dag.names[b])
                directed = pair in members.directed
                free = pair in members.undirected or pair[::-1] in members.undirected
                direction[a, b] += share * (1.0 if directed else 0.5 if free else 0.0)
    edges = found.edge_strengths()
    np.testing.assert_allclose(edges.strength, strength, atol=1e-12)
    np.testing.assert_allclose(edges.strength * edges.direction, direction, atol=1e-12)
    assert edges.seed is None


def test_missing_cells_are_left_out_family_by_family() -> None:
    table = fn.datasets.load("asia").sample(200, seed=1)
    codes = [np.array(column) for column in table.codes]
    codes[2][:20] = table.variables[2].cardinality
    lacking = fn.Table.from_codes(np.stack(codes, axis=1), table.variables)
    found = best_graphs(lacking, within=0.5)
    assert found.scores[0] == pytest.approx(
        fn.learn.structure(lacking, search="exact", missing="node-average").score, abs=1e-6
    )


def test_what_cannot_be_asked_is_refused() -> None:
    table = rows(1, 50, 3)
    with pytest.raises(fn.FishernetError) as negative:
        best_graphs(table, within=-1)
    assert negative.value.parameter == "within"
    with pytest.raises(fn.FishernetError) as none:
        best_graphs(table, most=0)
    assert none.value.parameter == "most"
    with pytest.raises(fn.StateSpaceError, match="25 variables"):
        best_graphs(rows(1, 30, 26))
    with pytest.raises(fn.FishernetError) as short:
        best_graphs(rows(1, 500, 10), max_seconds=1e-9)
    assert short.value.parameter == "max_seconds"
    one = best_graphs(rows(1, 1, 3))
    assert one.complete


def test_numbers_that_lack_cells_have_best_graphs() -> None:
    random = np.random.default_rng(1)
    x = random.normal(size=400)
    y = x + random.normal(size=400)
    z = y + random.normal(size=400)
    cells = {"x": x, "y": np.where(random.random(400) < 0.2, np.nan, y), "z": z}
    found = fn.learn.best_graphs(cells)
    best = fn.learn.structure(cells, search="exact")
    assert found.scores[0] == pytest.approx(best.score)
    assert found[0].skeleton() == best.dag.skeleton()
