"""Bootstrap strengths against simulation and counting by hand, and the averaged network."""

from __future__ import annotations

import itertools
import math
import os
import signal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.learn import EdgeStrengths
from tests.sources import Blocks
from tests.tables import random_table

Floats = npt.NDArray[np.float64]
MODULE = "fishernet.learn.resampling"
TABLE = random_table(2, 200, [2, 3, 2, 2, 3])


def strengths(n: int, votes: dict[tuple[int, int], tuple[float, float]], size: int) -> EdgeStrengths:
    """A result in which votes[a, b] networks of n have a -> b and b -> a."""
    strength, direction = np.zeros((size, size)), np.zeros((size, size))
    for (a, b), (there, back) in votes.items():
        strength[a, b] = strength[b, a] = (there + back) / n
        if there + back:
            direction[a, b], direction[b, a] = there / (there + back), back / (there + back)
    return EdgeStrengths(tuple(f"v{i}" for i in range(size)), strength, direction, n, 0, 0.0)


@st.composite
def results(draw: st.DrawFn) -> EdgeStrengths:
    size, n = draw(st.integers(1, 6)), draw(st.integers(1, 12))
    votes = {}
    for b in range(size):
        for a in range(b):
            joined = draw(st.integers(0, n))
            there = draw(st.integers(0, 2 * joined)) / 2
            votes[a, b] = (there, joined - there)
    return strengths(n, votes, size)


# -------------------------------------------------------------------------------------------------- what is counted


@st.composite
def dags(draw: st.DrawFn) -> fn.Dag:
    order = draw(st.permutations(range(4)))
    pairs = [(a, b) for i, b in enumerate(order) for a in order[:i]]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True))
    return fn.Dag([f"v{i}" for i in range(4)], [[a for a, b in chosen if b == child] for child in range(4)])


@given(st.lists(dags(), min_size=1, max_size=8))
def test_reversible_edges_count_half_each_way(graphs: list[fn.Dag]) -> None:
    table = fn.Table.from_codes(np.zeros((5, 4), dtype=int))
    given_out = iter(graphs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{MODULE}.dag", lambda *_, **__: next(given_out))
        found = fn.learn.edge_strengths(table, len(graphs), seed=1)
    classes = [fn.graphs.cpdag(graph) for graph in graphs]
    for a, one in enumerate(table.names):
        for b, other in enumerate(table.names):
            there = sum((one, other) in c.directed for c in classes)
            back = sum((other, one) in c.directed for c in classes)
            free = sum((one, other) in c.undirected or (other, one) in c.undirected for c in classes)
            assert found.strength[a, b] == (there + back + free) / len(graphs)
            if there + back + free:
                assert found.direction[a, b] == pytest.approx((there + free / 2) / (there + back + free), rel=1e-13)
            else:
                assert found.direction[a, b] == 0


def share_with_an_edge(codes: npt.NDArray[np.int64], repeats: int) -> float:
    """In what share of resampled tables BIC joins two binary columns, by a simulation with counts by hand."""
    rng = np.random.default_rng(99)
    cells, n = codes[:, 0] * 2 + codes[:, 1], len(codes)
    joined = 0
    for _ in range(repeats):
        counts = np.bincount(cells[rng.integers(n, size=n)], minlength=4).reshape(2, 2)
        rows, columns = counts.sum(axis=1), counts.sum(axis=0)
        gain = sum(
            counts[i, j] * math.log(counts[i, j] * n / (rows[i] * columns[j]))
            for i in range(2)
            for j in range(2)
            if counts[i, j]
        )
        joined += gain > math.log(n) / 2 + 1e-9
    return joined / repeats


@pytest.mark.parametrize("kind", ["rows", "some weights", "large weights"])
def test_the_strength_of_one_edge_is_that_of_a_simulation(kind: str) -> None:
    """Two columns of 33 rows near the limit where BIC joins them; the same rows plain and aggregated."""
    cells = {"rows": 1, "some weights": 1, "large weights": 3}[kind]
    counts = np.array([[12, 5], [6, 10]]) * cells
    aggregated = fn.Table.from_codes([[0, 0], [0, 1], [1, 0], [1, 1]], weights=counts.ravel())
    codes = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], counts.ravel(), axis=0)
    table = fn.Table.from_codes(codes) if kind == "rows" else aggregated
    expected = share_with_an_edge(codes, 4000)
    assert 0.2 < expected < 0.95
    found = fn.learn.edge_strengths(table, 2000, seed=7)
    error = math.sqrt(expected * (1 - expected) * (1 / 2000 + 1 / 4000))
    assert abs(found.strength[0, 1] - expected) < 4.5 * error
    assert found.direction[0, 1] == found.direction[1, 0] == 0.5


def test_a_copy_is_certain_and_what_is_independent_is_weak() -> None:
    rng = np.random.default_rng(3)
    first, other = rng.integers(0, 2, (2, 2000))
    found = fn.learn.edge_strengths(fn.Table.from_codes(np.stack([first, first, other], axis=1)), 100, seed=1)
    assert found.strength[0, 1] == 1.0
    # the gain is about half a chi square; resampling doubles its mean: P(2 chi2_1 > log 2000) = 0.051
    assert found.strength[0, 2] < 0.25
    assert np.diag(found.strength).tolist() == [0.0, 0.0, 0.0]


def test_a_collider_is_directed() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 2, (2, 3000))
    c = np.where(rng.random(3000) < 0.9, a | b, 1 - (a | b))
    found = fn.learn.edge_strengths(fn.Table.from_codes(np.stack([a, b, c], axis=1)), 50, seed=1)
    assert found.strength[0, 2] == found.strength[1, 2] == 1.0
    assert found.direction[0, 2] > 0.9
    assert found.averaged(0.99).edges == (("v0", "v2"), ("v1", "v2"))


def test_what_the_rules_do_not_let_turn_points_that_way() -> None:
    codes = np.repeat(np.random.default_rng(3).integers(0, 2, (500, 1)), 2, axis=1)
    table = fn.Table.from_codes(codes)
    arcs: dict[str, Any] = {
        "forbidden": iter([("v0", "v1")]),
        "required": iter([("v1", "v0")]),
        "tiers": iter([iter(["v1"]), iter(["v0"])]),
    }
    for rule, value in arcs.items():
        found = fn.learn.edge_strengths(table, 10, seed=1, **{rule: value})
        assert (found.strength[0, 1], found.direction[1, 0], found.direction[0, 1]) == (1, 1, 0), rule
        assert found.averaged().edges == (("v1", "v0"),)
    free = fn.learn.edge_strengths(table, 10, seed=1)
    assert free.direction[0, 1] == 0.5
    neither = fn.learn.edge_strengths(table, 10, seed=1, forbidden=[("v0", "v1"), ("v1", "v0")])
    assert neither.strength[0, 1] == 0


# ----------------------------------------------------------------------------------------------------- samples


def samples(monkeypatch: pytest.MonkeyPatch, table: fn.Table, n: int, seed: int) -> list[fn.Table]:
    drawn: list[fn.Table] = []

    def kept(rows: fn.Table, **_: Any) -> fn.Dag:
        drawn.append(rows)
        return fn.Dag.from_edges(rows.names, [])

    monkeypatch.setattr(f"{MODULE}.dag", kept)
    fn.learn.edge_strengths(table, n, seed=seed)
    return drawn


def test_a_sample_depends_on_the_seed_and_its_number_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    few, more = (samples(monkeypatch, TABLE, n, 4) for n in (3, 6))
    assert more[:3] == few
    assert more[3] != more[2]
    assert samples(monkeypatch, TABLE, 1, 5) != few[:1]


def test_a_row_is_drawn_as_often_as_it_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """One column that numbers the rows: each is in a sample Binomial(N, w / N) times."""
    for weights in (None, np.array([0, 1, 2, 3, 0, 4]), np.array([0, 100, 200, 300, 0, 400])):
        table = fn.Table.from_codes(np.arange(6)[:, None], weights=weights)
        w = np.ones(6, dtype=int) if weights is None else weights
        total = w.sum()
        drawn = np.zeros(6)
        for sample in samples(monkeypatch, table, 400, 4):
            times = np.bincount(sample.codes[0], sample.weights, minlength=6)
            assert times.sum() == total
            drawn += times
        p = w / total
        assert np.all(np.abs(drawn - 400 * w) <= 5 * np.sqrt(400 * total * p * (1 - p)))


def test_weights_of_one_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    weighted = fn.Table(TABLE.variables, TABLE.codes, weights=np.ones(200, dtype=int))
    assert samples(monkeypatch, weighted, 3, 4) == samples(monkeypatch, TABLE, 3, 4)


def test_the_seed_of_a_result_repeats_it() -> None:
    for seed in (None, 5, np.random.default_rng(4)):
        found = fn.learn.edge_strengths(TABLE, 10, seed=seed)
        again = fn.learn.edge_strengths(TABLE, 10, seed=found.seed)
        np.testing.assert_array_equal(again.strength, found.strength)
        np.testing.assert_array_equal(again.direction, found.direction)


# ------------------------------------------------------------------------------------------- the averaged network


def closes_a_cycle(edges: list[tuple[int, int]]) -> bool:
    """Whether nothing can be taken away any more though edges are left: no variable among them is without parents."""
    while edges:
        heads = {b for _, b in edges}
        left = [(a, b) for a, b in edges if a in heads]
        if len(left) == len(edges):
            return True
        edges = left
    return False


@given(results(), st.sampled_from([None, 0.1, 0.5, 0.75, 1.0]))
def test_edges_are_added_by_strength_unless_they_close_a_cycle(found: EdgeStrengths, threshold: float | None) -> None:
    size = len(found.names)
    least = found.threshold if threshold is None else threshold
    pairs = []
    for a in range(size):
        for b in range(size):
            there, back = found.direction[a, b], found.direction[b, a]
            likelier = there > back or (there == back and a < b)
            if a != b and likelier and found.strength[a, b] >= least:
                pairs.append((a, b))
    pairs.sort(key=lambda pair: (-found.strength[pair], -found.direction[pair], pair))
    edges: list[tuple[int, int]] = []
    for a, b in pairs:
        for edge in ((a, b), (b, a)) if found.direction[a, b] == found.direction[b, a] else ((a, b),):
            if not closes_a_cycle([*edges, edge]):
                edges.append(edge)
                break
    averaged = found.averaged(threshold)
    assert set(averaged.edges) == {(found.names[a], found.names[b]) for a, b in edges}
    assert averaged.names == found.names


def distance(t: Fraction, sorted_strengths: list[Fraction]) -> Fraction:
    """The integral over [0, 1] of |F(x) - t|, F the distribution function of the strengths, piece by piece."""
    ends = [Fraction(0), *sorted_strengths, Fraction(1)]
    return sum(
        (
            (after - before) * abs(Fraction(k, len(sorted_strengths)) - t)
            for k, (before, after) in enumerate(itertools.pairwise(ends))
        ),
        Fraction(0),
    )


@given(results())
def test_the_threshold_is_that_of_the_nearest_step_function(found: EdgeStrengths) -> None:
    """Scutari and Nagarajan 2013: significant is what is stronger than the t-quantile, t nearest in L1 to F."""
    upper = found.strength[np.triu_indices(len(found.names), 1)]
    values = sorted(Fraction(round(s * found.n), found.n) for s in upper.tolist())
    if not values:
        assert found.threshold == 1
        return
    shares = [Fraction(k, len(values)) for k in range(len(values) + 1)]  # convex and piecewise linear between these
    nearest = min(distance(t, values) for t in shares)
    t = max(t for t in shares if distance(t, values) == nearest)
    quantile = min((x for x in values if sum(y <= x for y in values) >= t * len(values)), default=Fraction(0))
    if t == 0:
        quantile = Fraction(0)
    significant = [x for x in values if x > quantile]
    assert [x for x in values if float(x) >= found.threshold] == significant


def test_ties_of_direction_turn_where_that_closes_no_cycle() -> None:
    """v1 -> v2 -> v0 are sure; v0 and v1 are joined either way alike, which only v1 -> v0 can be."""
    found = strengths(10, {(1, 2): (10, 0), (0, 2): (0, 9), (0, 1): (4, 4)}, 3)
    assert found.averaged().edges == (("v1", "v0"), ("v2", "v0"), ("v1", "v2"))
    clear = strengths(10, {(1, 2): (10, 0), (0, 2): (0, 9), (0, 1): (5, 3)}, 3)
    assert clear.averaged().edges == (("v2", "v0"), ("v1", "v2"))


@given(results())
def test_the_frame_lists_each_edge_once_the_strongest_first(found: EdgeStrengths) -> None:
    rows = found.to_frame().to_pylist()
    assert found.to_frame().column_names == ["from", "to", "strength", "direction"]
    assert [row["strength"] for row in rows] == sorted((row["strength"] for row in rows), reverse=True)
    assert {frozenset((row["from"], row["to"])) for row in rows} == {
        frozenset((a, b))
        for i, a in enumerate(found.names)
        for j, b in enumerate(found.names)
        if found.strength[i, j] > 0
    }
    assert len(rows) == np.count_nonzero(found.strength) // 2
    for row in rows:
        at = found.names.index(row["from"]), found.names.index(row["to"])
        assert (row["strength"], row["direction"]) == (found.strength[at], found.direction[at])
        assert row["direction"] >= 0.5


@pytest.mark.parametrize("threshold", [0, -0.1, 1.1, float("nan"), "0.5", True])
def test_a_threshold_that_is_none_is_refused(threshold: Any) -> None:
    with pytest.raises(FishernetError, match="threshold must be a number above 0 of at most 1"):
        strengths(4, {(0, 1): (2, 2)}, 2).averaged(threshold)


# --------------------------------------------------------------------------------------------------- bad input, stops


@pytest.mark.parametrize("n", [0, -1, 2.0, "3", True, None])
def test_a_number_of_samples_that_is_none_is_refused(n: Any) -> None:
    with pytest.raises(FishernetError, match="n must be an integer of at least 1"):
        fn.learn.edge_strengths(TABLE, n)


def test_bad_input_is_refused() -> None:
    with pytest.raises(SchemaError, match="needs the rows, and the source knows statistics alone"):
        fn.learn.edge_strengths(Blocks(TABLE))
    for empty in (TABLE[:0], fn.Table(TABLE.variables, TABLE.codes, weights=np.zeros(200, dtype=int))):
        with pytest.raises(SchemaError, match="no rows to draw"):
            fn.learn.edge_strengths(empty)
    for options in ({"score": "nope"}, {"search": "nope"}, {"seed": -1}, {"required": [("v0", "w")]}):
        with pytest.raises(FishernetError):
            fn.learn.edge_strengths(TABLE, 2, **options)


def test_control_c_ends_it_and_carries_no_graph_of_one_sample() -> None:
    """Ctrl-C once the first of ten thousand samples has been learned from."""
    table = fn.datasets.load("alarm").sample(20_000, seed=1)
    samples: list[int] = []

    def interrupt(what: str, done: int, total: int | None) -> None:
        samples.append(done)
        if done >= 1:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as stopped:
        fn.learn.edge_strengths(table, 10_000, progress=interrupt)
    assert 1 <= samples[-1] < 10_000
    assert not hasattr(stopped.value, "best")


def test_a_result_cannot_be_changed() -> None:
    found = fn.learn.edge_strengths(TABLE, 3, seed=1)
    for array in (found.strength, found.direction):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 1] = 1


def test_edges_of_numbers_are_sampled_too() -> None:
    """A chain of three columns of numbers, and one that nothing depends on."""
    a, b, c, d = np.random.default_rng(3).normal(size=(4, 300))
    table = fn.Table.from_frame({"a": a, "b": a + b, "c": a + b + c, "d": d})
    found = fn.learn.edge_strengths(table, 20, seed=1)
    assert found.strength[0, 1] == found.strength[1, 2] == 1
    assert found.strength[3].max() < 0.5
    assert found.averaged().is_equivalent(fn.Dag.from_edges(["a", "b", "c", "d"], [("a", "b"), ("b", "c")]))
    again = fn.learn.edge_strengths(table, 20, score="fractional", seed=1)
    np.testing.assert_array_equal(again.strength, found.strength)


# ------------------------------------------------------------------------------------------------------ missing cells


@pytest.mark.parametrize("missing", ["em", "node-average"])
def test_samples_are_drawn_with_their_holes(missing: Any) -> None:
    """Each network is that of rows drawn by the documented stream."""
    table = random_table(3, 60, [2, 3, 2], missing=0.2)
    found = fn.learn.edge_strengths(table, 6, seed=5, missing=missing)
    graphs = []
    key = np.random.default_rng(5).integers(0, 2**64, dtype=np.uint64)
    for sample in range(6):
        stream = np.random.Generator(np.random.Philox(key=np.array([key, sample], dtype=np.uint64)))
        rows: Any = table[stream.integers(0, 60, 60)]
        graphs.append(fn.learn.dag(rows, search="hill-climb", missing=missing))
    joined = np.zeros((3, 3))
    for graph in graphs:
        for a, b in graph.edges:
            one, other = table.names.index(a), table.names.index(b)
            joined[one, other] += 1
            joined[other, one] += 1
    np.testing.assert_array_equal(found.strength, joined / 6)


def test_a_strong_edge_is_sure_with_holes_too_and_the_way_is_that_of_the_table() -> None:
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 800)
    codes = np.stack([a, np.where(rng.random(800) < 0.1, 1 - a, a), rng.integers(0, 2, 800)], axis=1)
    variables = [fn.Variable(f"v{i}", [0, 1]) for i in range(3)]
    holes = [np.where(rng.random(800) < 0.2, 2, column).astype(np.uint8) for column in codes.T]
    table = fn.Table(variables, holes)
    by_default = fn.learn.edge_strengths(table, 20, seed=1)
    by_em = fn.learn.edge_strengths(table, 20, seed=1, missing="em")
    assert by_default.strength[0, 1] == 1
    assert by_default.strength[0, 2] < 0.5
    np.testing.assert_array_equal(by_default.direction, by_em.direction)
    with pytest.raises(FishernetError, match="score of its own"):
        fn.learn.edge_strengths(table, 2, missing="node-average", score="bdeu")


def test_samples_that_know_nothing_of_a_column_tell_of_the_others() -> None:
    rare = fn.Table.from_frame({"b": ["u", *[None] * 39], "a": ["x", "y"] * 20, "c": [1.5, 2.5] * 20})
    with pytest.warns(fn.FishernetWarning, match="'b' lacks over 90 %"):
        found = fn.learn.edge_strengths(rare, 20, tiers=[["b", "a"], ["c"]], seed=1)
    assert found.names == ("b", "a", "c")
    assert found.strength.tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 0]]
    with pytest.warns(fn.FishernetWarning, match="'b' lacks over 90 %"):
        wanted = fn.learn.edge_strengths(
            rare.select(["b", "a"]), 20, required=[("a", "b")], missing="node-average", seed=1
        )
    assert wanted.strength[0, 1] == 1


def test_an_edge_counts_for_its_own_columns_where_samples_leave_others_out() -> None:
    """c differs from a in one row: in a third of the samples it is a combination of a, and left out."""
    random = np.random.default_rng(0)
    a, b, noise = random.normal(size=(3, 60))
    c = a.copy()
    c[7] += 1.0
    with pytest.warns(fn.FishernetWarning, match="'c' "):
        found = fn.learn.edge_strengths({"a": a, "c": c, "b": b, "d": b + 0.3 * noise}, 40, seed=1)
    assert found.strength[2, 3] == found.strength[0, 1] == 1
    assert found.strength[1, 2] < 0.1


def test_samples_warn_once_of_what_they_lack_in_other_words_each() -> None:
    rng = np.random.default_rng(1)
    rare = {f"r{i}": np.where(rng.random(300) < 0.1, rng.integers(0, 2, 300), np.nan) for i in range(6)}
    table = fn.Table.from_frame({"a": rng.integers(0, 2, 300), "b": rng.integers(0, 2, 300), **rare})
    for _ in range(2):  # of each call
        with pytest.warns(fn.FishernetWarning, match="over 90 % of the cells") as said:
            fn.learn.edge_strengths(table, 20, seed=1)
        assert len(said) == 1


def test_an_arc_that_the_caller_wants_may_leave_a_nearly_empty_column() -> None:
    holes = [None if i % 40 else "uv"[i % 80 == 0] for i in range(800)]
    table = fn.Table.from_frame({"a": ["x", "y"] * 400, "h": holes})
    start = fn.Dag.from_edges(("a", "h"), [("h", "a")])
    with pytest.warns(fn.FishernetWarning, match="'h' lacks over 90 %"):
        assert ("h", "a") not in fn.learn.structure(table).dag.edges
    assert fn.learn.structure(table, start=start).dag.names == table.names
    assert ("h", "a") in fn.learn.structure(table, required=[("h", "a")]).dag.edges


def test_edges_by_chance_are_those_of_independent_columns() -> None:
    """Of independent columns as many are found as in the table, of columns that are alike none but those of chance."""
    rng = np.random.default_rng(4)
    states = [fn.Variable(f"c{v}", list("abc")) for v in range(12)]
    found = [
        len(fn.learn.dag(fn.Table(states, list(rng.integers(3, size=(12, 40)).astype(np.uint8))), score="aic").edges)
        for _ in range(30)
    ]
    column = rng.integers(3, size=40).astype(np.uint8)
    alike = fn.Table(states, [column if v < 6 else rng.permutation(column) for v in range(12)])
    chance = fn.learn.edges_by_chance(alike, 30, score="aic", seed=1)
    assert abs(chance - np.mean(found)) < 4 * np.hypot(np.std(found), np.std(found)) / np.sqrt(30)
    required = [("c0", "c11"), ("c1", "c10")]
    assert fn.learn.edges_by_chance(alike, 5, required=required, seed=1) < 3  # those that are required are not counted
    assert fn.learn.edges_by_chance(alike, 5, score="aic", seed=1) == fn.learn.edges_by_chance(
        alike, 5, score="aic", seed=1
    )
