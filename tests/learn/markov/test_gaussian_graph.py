"""FMPL against a literal version of its two steps, and what the theory says of it."""

from __future__ import annotations

import gc
import itertools
import math
import os
import signal
import threading
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaln

import fishernet as fn
from fishernet.data import Scatter

Blankets = list[list[int]]


def local(X: Any, child: int, blanket: list[int], prior: bool) -> float:
    m, p = X.shape[1] - 1, len(blanket)
    extra = float(betaln(0.5 + p, 0.5 + m - p) - betaln(0.5, 0.5)) if prior else 0.0
    return fn.scores.fmpl(X, child, sorted(blanket)) + extra


def literal_blanket(X: Any, child: int, prior: bool) -> list[int]:
    """Leppä-aho (2020), section 3.1.5, first step, every score from scratch."""
    n, d = X.shape
    blanket: list[int] = []
    now = local(X, child, blanket, prior)
    while len(blanket) < min(d - 1, n - 2):
        others = [v for v in range(d) if v != child and v not in blanket]
        score, best = max((local(X, child, [*blanket, v], prior), -v) for v in others)
        if score <= now:
            break
        blanket, now = [*blanket, -best], score
        while len(blanket) > 1:
            score, best = max((local(X, child, [v for v in blanket if v != m], prior), -m) for m in blanket)
            if score <= now:
                break
            blanket, now = [v for v in blanket if v != -best], score
    return blanket


def literal_climb(X: Any, candidates: list[tuple[int, int]], prior: bool) -> set[tuple[int, int]]:
    """The second step."""
    edges: set[tuple[int, int]] = set()

    def at(v: int, graph: set[tuple[int, int]]) -> float:
        return local(X, v, [a + b - v for a, b in graph if v in (a, b)], prior)

    while candidates:
        gains = [sum(at(v, edges ^ {edge}) - at(v, edges) for v in edge) for edge in candidates]
        best = int(np.argmax(gains))
        if gains[best] <= 1e-9:
            break
        edges ^= {candidates[best]}
    return edges


def edges_of(graph: fn.UndirectedGraph) -> set[tuple[int, int]]:
    return {(int(a[1:]), int(b[1:])) for a, b in graph.edges}


def numbers(n: int, d: int, seed: int) -> Any:
    random = np.random.default_rng(seed)
    mixing = np.eye(d) + np.tril(random.normal(0, 0.6, size=(d, d)) * (random.random((d, d)) < 0.4), -1)
    return random.normal(size=(n, d)) @ mixing.T


@settings(max_examples=40)  # the literal steps are slow
@given(st.integers(8, 60), st.integers(2, 6), st.booleans(), st.integers(0, 999))
def test_both_steps_are_the_literal_ones(n: int, d: int, prior: bool, seed: int) -> None:
    X = numbers(n, d, seed)
    blankets = [set(literal_blanket(X, v, prior)) for v in range(d)]
    pairs = list(itertools.combinations(range(d), 2))
    one = {(a, b) for a, b in pairs if b in blankets[a] or a in blankets[b]}
    both = {(a, b) for a, b in pairs if b in blankets[a] and a in blankets[b]}
    assert edges_of(fn.learn.gaussian_graph(X, rule="or", prior=prior)) == one
    assert edges_of(fn.learn.gaussian_graph(X, rule="and", prior=prior)) == both
    assert edges_of(fn.learn.gaussian_graph(X, prior=prior)) == literal_climb(X, sorted(one), prior)


def chain_with_a_triangle(n: int, seed: int) -> tuple[Any, fn.UndirectedGraph]:
    """Ten columns: a chain whose first three are joined, with partial correlations of 0.3."""
    edges = [(v, v + 1) for v in range(9)] + [(0, 2)]
    precision = np.eye(10)
    for a, b in edges:
        precision[a, b] = precision[b, a] = -0.3
    X = np.random.default_rng(seed).multivariate_normal(np.zeros(10), np.linalg.inv(precision), size=n)
    return X, fn.UndirectedGraph.from_edges([f"v{v}" for v in range(10)], [(f"v{a}", f"v{b}") for a, b in edges])


@pytest.mark.parametrize("rule", ["and", "or", "hc"])
def test_the_graph_of_the_distribution_is_found_in_the_end(rule: Any) -> None:
    """Leppä-aho et al. (2017): the score is consistent."""
    distances = []
    for n in (100, 1_000, 10_000, 100_000):
        found = [chain_with_a_triangle(n, seed) for seed in range(8)]
        distances.append(sum(fn.hamming(fn.learn.gaussian_graph(X, rule=rule), truth) for X, truth in found))
    assert distances == sorted(distances, reverse=True)
    assert distances[0] > 8
    assert distances[-1] == 0


def test_the_best_of_all_blankets_is_the_true_one() -> None:
    """Theorem 3.1 itself: the maximum over all sets, not where a greedy search ends."""
    X, truth = chain_with_a_triangle(20_000, 1)
    scatter = Scatter.from_data(X)
    for child in (0, 2, 5):
        others = [v for v in range(10) if v != child]
        sets = itertools.chain.from_iterable(itertools.combinations(others, size) for size in range(6))
        best = max(sets, key=lambda of: fn.scores.fmpl(scatter, child, of))
        assert tuple(f"v{v}" for v in best) == truth.neighbors(f"v{child}")


@pytest.mark.parametrize(("n", "d"), [(10, 40), (20, 100), (60, 100)])
def test_noise_of_few_rows(n: int, d: int) -> None:
    X = np.random.default_rng(1).normal(size=(n, d))
    with_prior = fn.learn.gaussian_graph(X)
    assert with_prior.n_edges <= d / 10
    with pytest.warns(fn.FishernetWarning, match="fewer rows than columns"):
        without = fn.learn.gaussian_graph(X, prior=False)
    assert without.n_edges > with_prior.n_edges


def test_nodes_that_want_rows_are_named() -> None:
    X = np.random.default_rng(1).normal(size=(8, 60))
    with pytest.warns(fn.FishernetWarning, match="the Markov blankets of 'v0', .* ended for want of rows"):
        fn.learn.gaussian_graph(X, prior=False, rule="and")


def test_units_and_origins_do_not_matter() -> None:
    X = numbers(150, 7, 4)
    moved = X * np.array([1e-3, 1, 50, 2, 1e4, 0.3, 9]) + np.arange(7) * 1e3
    assert fn.learn.gaussian_graph(moved) == fn.learn.gaussian_graph(X)
    assert fn.learn.gaussian_graph(moved, center=False) != fn.learn.gaussian_graph(X, center=False)


def test_threads_do_not_matter() -> None:
    X = numbers(300, 40, 5)
    found = []
    before = fn.set_threads(1)
    try:
        for n in (1, 2, 5):
            fn.set_threads(n)
            found.append(fn.learn.gaussian_graph(X, prior=False))
    finally:
        fn.set_threads(before)
    assert found[0] == found[1] == found[2]


def test_names() -> None:
    frame = pd.DataFrame(numbers(100, 3, 1), columns=["b", "a", "c"])
    assert fn.learn.gaussian_graph(frame).names == ("b", "a", "c")
    assert fn.learn.gaussian_graph(frame, names=["c", "a"]).names == ("c", "a")
    assert fn.learn.gaussian_graph(frame.to_numpy(), names=["x", "y", "z"]).names == ("x", "y", "z")


@pytest.mark.parametrize("d", [1, 2])
def test_very_small_graphs(d: int) -> None:
    X = numbers(30, d, 1)
    graph = fn.learn.gaussian_graph(X)
    assert len(graph.names) == d
    assert fn.learn.gaussian_graph(X[:3]).n_edges <= d - 1


def broken(change: Any, X: Any) -> Any:
    X = X.copy()
    change(X)
    return X


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (broken(lambda X: X.__setitem__((3, 1), np.nan), numbers(20, 3, 1)), {}, "missing in 'v1'"),
        (broken(lambda X: X.__setitem__((3, 1), -np.inf), numbers(20, 3, 1)), {}, "column 'v1', row 3: -inf"),
        (broken(lambda X: X.__setitem__((slice(None), 2), 4), numbers(20, 3, 1)), {}, "'v2' is constant"),
        (numbers(2, 3, 1), {}, "at least 3 rows, got 2"),
        (numbers(0, 3, 1), {}, "at least 3 rows, got 0"),
        (numbers(20, 0, 1), {}, "no columns"),
        (numbers(20, 3, 1)[:, 0], {}, "two axes"),
        (numbers(20, 3, 1), {"names": ["a", "b"]}, "2 names for 3 columns"),
        (numbers(20, 3, 1), {"rule": "xor"}, "unknown rule 'xor'"),
        (numbers(20, 3, 1), {"prior": (0, 1, 5)}, "needs positive a and b"),
        (numbers(20, 3, 1), {"prior": (1, 1, 1)}, "m at least 2"),
        (numbers(20, 3, 1), {"prior": (1, 1)}, "three numbers"),
        (numbers(20, 3, 1), {"prior": "yes"}, "three numbers"),
    ],
)
def test_bad_input(X: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(fn.FishernetError, match=message):
        fn.learn.gaussian_graph(X, **options)


def test_a_weak_prior_lets_more_in() -> None:
    X = numbers(60, 30, 8)
    strong = fn.learn.gaussian_graph(X, prior=(0.5, 50.0, 1e4)).n_edges
    assert strong < fn.learn.gaussian_graph(X).n_edges < fn.learn.gaussian_graph(X, prior=(50.0, 0.5, 29.0)).n_edges


def test_it_can_be_interrupted() -> None:
    X = np.random.default_rng(1).normal(size=(500, 700))
    gc.collect()  # Python swallows what is raised while garbage of earlier tests is collected
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            fn.learn.gaussian_graph(X, prior=(1e6, 1e-3, 699.0))  # blankets as large as can be: takes minutes
    finally:
        timer.cancel()


def test_the_score_of_the_climb_is_the_sum_of_its_columns() -> None:
    X = numbers(100, 6, 2)
    graph = fn.learn.gaussian_graph(X, prior=False)
    columns = {name: v for v, name in enumerate(graph.names)}
    total = sum(
        fn.scores.fmpl(X, columns[name], [columns[other] for other in graph.neighbors(name)]) for name in graph.names
    )
    assert fn.score(graph, X, "fractional") == pytest.approx(total, rel=1e-12)
    assert math.isfinite(total)
