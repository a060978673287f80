"""Markov graphs in time: estimates beforehand, parts of the rows, an end by the clock; the clock is a made one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fishernet as fn
from fishernet import _core
from fishernet.independence import TestResult

CLOCK = "fishernet.base.progress.time.monotonic"
NAMES = ["a", "b", "c", "d"]


class Clock:
    """Goes on by so many seconds whenever somebody asks for what it measures."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Chain(fn.independence.IndependenceTest):
    """Knows the graph a - b - c - d, and takes ten seconds for a test."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.n_tests = clock, 0
        self.graph = fn.UndirectedGraph.from_edges(NAMES, [("a", "b"), ("b", "c"), ("c", "d")])

    def __call__(self, i: int, j: int, given: tuple[int, ...]) -> TestResult:
        self.clock.now += 10
        self.n_tests += 1
        apart = self.graph.is_separated(NAMES[i], NAMES[j], [NAMES[v] for v in given])
        return TestResult(0.0 if apart else 1.0 / abs(i - j), 1.0 if apart else 0.0)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(CLOCK, made)
    return made


def learned(clock: Clock, **options: Any) -> tuple[Any, Chain]:
    test = Chain(clock)
    return fn.learn.markov_blankets(np.zeros((5, 4)), test=test, names=NAMES, **options), test


def test_enough_time_changes_nothing(clock: Clock) -> None:
    whole, test = learned(clock)
    again, _ = learned(clock, max_seconds=10 * test.n_tests + 1)
    assert (again.blankets, again.unfinished) == (whole.blankets, ())
    assert again.graph().edges == (("a", "b"), ("b", "c"), ("c", "d"))


def test_what_is_found_in_time_is_kept(clock: Clock) -> None:
    whole, test = learned(clock)
    met = set()
    for seconds in range(0, 10 * test.n_tests, 10):
        with pytest.warns(fn.FishernetWarning, match=rf"max_seconds={seconds} .*not done") as told:
            found, short = learned(clock, max_seconds=seconds)
        assert short.n_tests * 10 == seconds == found.n_tests * 10
        done = len(NAMES) - len(found.unfinished)
        assert found.unfinished == tuple(NAMES[done:])
        assert found.blankets[:done] == whole.blankets[:done]
        assert str(found.unfinished)[1:-1].rstrip(",") in str(told[0].message)
        assert f"{len(found.unfinished)} of 4 columns" in str(told[0].message)
        assert told[0].message.parameter == "max_seconds"  # type: ignore[union-attr]
        # an edge at a finished column is there as in the whole graph, whatever the other column has
        edges = {edge for edge in whole.graph().edges if set(edge) & set(NAMES[:done])}
        assert edges <= set(found.graph().edges)
        met.add(done)
    assert met == {0, 1, 2, 3}


def test_the_graph_of_what_is_found_in_time(clock: Clock) -> None:
    with pytest.warns(fn.FishernetWarning, match="not done"):
        graph = fn.learn.markov_graph(np.zeros((5, 4)), test=Chain(clock), names=NAMES, max_seconds=0)
    assert graph.edges == ()


class Slow:
    """An engine whose every estimate takes a second, after which it looks whether to go on."""

    made = _core.KnnInformation
    clock: Clock
    n_estimates: int

    def __init__(self, *spaces: Any) -> None:
        self.engine = self.made(*spaces)

    def estimate(self, orders: Any, look: Any) -> Any:
        for _ in orders:
            self.clock.now += 1
            type(self).n_estimates += 1
            look()
        return self.engine.estimate(orders, look)


def test_a_test_ends_within_its_permutations(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "KnnInformation", Slow)
    monkeypatch.setattr(Slow, "clock", clock, raising=False)
    monkeypatch.setattr(Slow, "n_estimates", 0, raising=False)
    a, b = np.random.default_rng(1).normal(size=(2, 50))
    with pytest.warns(fn.FishernetWarning, match="after 0 tests"):
        fn.learn.markov_graph({"a": a, "b": a + b}, seed=1, max_seconds=20)
    assert Slow.n_estimates == 20


def test_the_core_looks_while_it_works() -> None:
    x, y, z = np.random.default_rng(1).normal(size=(3, 1, 50_000))
    engine = _core.KnnInformation(x, y, np.concatenate([z, x + z]), 5)
    looked: list[None] = []
    order = np.arange(50_000, dtype=np.int32)[None]
    assert engine.estimate(order, lambda: looked.append(None)) == engine.estimate(order)
    assert looked  # it takes dozens of times as long as the core waits between two looks

    def stop() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        engine.estimate(order, stop)
    assert engine.estimate(order) == engine.estimate(order)


@pytest.mark.parametrize(("per_estimate", "words"), [(0.2, "1 minute"), (6.0, "1 hour")])
def test_long_work_is_told_before_it_begins(per_estimate: float, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(CLOCK, clock)
    asked = fn.independence.KnnTest.association

    def slow(test: Any, i: int, j: int, given: tuple[int, ...]) -> float:
        clock.now += per_estimate
        return asked(test, i, j, given)

    monkeypatch.setattr(fn.independence.KnnTest, "association", slow)
    a, b = np.random.default_rng(1).normal(size=(2, 60))
    data = {"a": a, "b": b}
    expected = per_estimate * (1 + 2 * 200)  # one pair, and 200 permutations for each column at least
    if expected < 3600:
        says = rf"about {round(expected / 60)} minutes? or more.*max_rows=5000.*max_seconds="
    else:
        says = rf"about {round(expected / 60)} minutes or more.*2 columns with 200 permutations"
    with pytest.warns(fn.FishernetWarning, match=says) as told:
        fn.learn.markov_graph(data, seed=1)
    assert told[0].message.parameter == "max_rows"  # type: ignore[union-attr]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fn.learn.markov_graph(data, seed=1, permutations=20, max_seconds=1e6)  # who limits it knows


def test_short_work_is_not_told(clock: Clock) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fn.learn.markov_graph(np.random.default_rng(1).normal(size=(60, 3)), seed=1)


def test_some_rows_are_those_drawn_by_the_seed() -> None:
    rng = np.random.default_rng(1)
    a = rng.normal(size=300)
    X = np.column_stack([a, a + rng.normal(size=300), rng.normal(size=300)])
    frame = pd.DataFrame(X, columns=NAMES[:3])
    some = [
        fn.learn.markov_blankets(data, test="fisher-z", max_rows=50, seed=seed).blankets
        for data in (frame, fn.Table.from_frame(frame), X)
        for seed in (3, 3)
    ]
    assert len(set(some)) == 1
    seen: list[int] = []

    class Seen(fn.independence.FisherZ):
        def __init__(self, X: Any, **options: Any) -> None:
            seen.append(X.n_rows)
            super().__init__(X, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(fn.learn.markov_graph.__globals__["CONTINUOUS"], "fisher-z", Seen)
        fn.learn.markov_graph(frame, test="fisher-z", max_rows=50, seed=1)
        fn.learn.markov_graph(frame, test="fisher-z", max_rows=5000, seed=1)
    assert seen == [50, 300]
    assert fn.learn.markov_graph(frame, test="fisher-z", max_rows=5000) == fn.learn.markov_graph(frame, test="fisher-z")


def test_some_rows_of_counts_are_cut_before_they_are_drawn() -> None:
    rng = np.random.default_rng(2)
    data = {"x": rng.normal(size=400), "y": ["u", "v"] * 200}
    found = fn.learn.markov_blankets(data, test="g-squared", bins=4, max_rows=100, seed=1)
    again = fn.learn.markov_blankets(fn.Table.from_frame(data, bins=4), test="g-squared", max_rows=100, seed=1)
    assert found.blankets == again.blankets
    assert found.names == ("x", "y")
    assert found.seed == 1  # some rows were drawn


def test_names_choose_columns_of_some_rows() -> None:
    X = pd.DataFrame(np.random.default_rng(1).normal(size=(50, 3)), columns=["a", "b", "c"])
    assert fn.learn.markov_graph(X, test="fisher-z", names=["c", "a"], max_rows=20, seed=1).names == ("c", "a")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_rows": 0}, "max_rows must be an integer of at least 1"),
        ({"max_rows": "all"}, "max_rows must be"),
        ({"max_seconds": -1}, "max_seconds must be a number"),
        ({"max_rows": 10, "test": Chain(Clock())}, "this test has its rows already"),
    ],
)
def test_what_does_not_fit(options: dict[str, Any], message: str) -> None:
    with pytest.raises(fn.FishernetError, match=message):
        fn.learn.markov_graph(np.random.default_rng(1).normal(size=(50, 4)), **{"test": "fisher-z", **options})


def test_progress_is_told_within_a_test_and_may_end_it() -> None:
    a, b = np.random.default_rng(1).normal(size=(2, 60))
    told: list[Any] = []
    fn.independence.knn_test(a, b, seed=1, progress=lambda *of: told.append(of))
    assert told[-1] == ("permuting", 200, 200)

    def stop(what: str, done: int, total: int | None) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        fn.independence.knn_test(a, b, seed=1, progress=stop)
    with pytest.raises(InterruptedError):
        fn.learn.markov_graph({"a": a, "b": b}, seed=1, progress=stop)


def test_progress_and_limits_change_no_p_value() -> None:
    a, b = np.random.default_rng(1).normal(size=(2, 60))
    plain = fn.independence.knn_test(a, b, seed=1, stop_early=True)
    assert fn.independence.knn_test(a, b, seed=1, stop_early=True, progress=lambda *_: None) == plain
