"""Progress is called at most ten times a second, and once at the end."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.base.progress import Reporter


def test_calls_are_a_tenth_of_a_second_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("fishernet.base.progress.time.monotonic", lambda: clock[0])
    calls: list[tuple[str, int, int | None]] = []
    reporter = Reporter(lambda *call: calls.append(call), "work")
    for done in range(1001):
        clock[0] = done / 1000  # a second in all
        reporter.step(done, 1001)
    reporter.finish(1001)
    assert 9 <= len(calls) - 1 <= 11
    assert calls[0] == ("work", 0, 1001)
    assert calls[-1] == ("work", 1001, 1001)


def test_without_a_function_nothing_happens() -> None:
    reporter = Reporter(None, "work")
    reporter.step(1)
    reporter.finish(1)


# ------------------------------------------------------------------------------------------------------ progress=True


class Terminal(io.StringIO):
    """A stderr that somebody looks at."""

    def isatty(self) -> bool:
        return True


def test_true_is_a_bar_on_stderr_that_is_wiped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", screen := Terminal())
    monkeypatch.setattr("fishernet.base.progress.INTERVAL", -1.0)
    table = fn.datasets.load("asia").sample(100, seed=1)
    fn.learn.edge_strengths(table, 4, search="hill-climb", seed=1, progress=True)
    lines = screen.getvalue().split("\r")
    assert any("learning from samples" in line and line.rstrip().endswith("2 of 4") for line in lines)
    assert lines[-1] == ""
    assert lines[-2].strip() == ""
    assert len(lines[-2]) >= len(lines[-3].rstrip())  # nothing of the bar is left
    assert "\n" not in screen.getvalue()


def test_nothing_is_written_where_nobody_looks(capfd: pytest.CaptureFixture[str]) -> None:
    table = fn.datasets.load("asia").sample(100, seed=1)
    assert fn.learn.dag(table, progress=True) == fn.learn.dag(table, progress=False) == fn.learn.dag(table)
    assert capfd.readouterr() == ("", "")


ASIA = fn.datasets.load("asia")
TABLE = ASIA.sample(60, seed=1)
SMALL = fn.DependencyNetwork.from_tables(
    [fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1])], {"a": ["b"]}, {"a": [[0.9, 0.1], [0.2, 0.8]], "b": [0.5, 0.5]}
)
NUMBERS = np.random.default_rng(1).normal(size=(60, 3))
STRINGS = ["ab", "ba", "aab"]
SHOWING: dict[str, Callable[[Any], Any]] = {
    "structure": lambda p: fn.learn.structure(TABLE, progress=p),
    "bayesian_network": lambda p: fn.learn.bayesian_network(TABLE, progress=p),
    "exact": lambda p: fn.learn.dag(TABLE, search="exact", progress=p),
    "edge_strengths": lambda p: fn.learn.edge_strengths(TABLE, 2, seed=1, progress=p),
    "cross_validate": lambda p: fn.learn.cross_validate(TABLE, folds=2, seed=1, progress=p),
    "local_structure": lambda p: fn.learn.local_structure(TABLE, progress=p),
    "dependency_network": lambda p: fn.learn.dependency_network(TABLE, inputs="tree", progress=p),
    "markov_graph": lambda p: fn.learn.markov_graph(NUMBERS, test="fisher-z", progress=p),
    "discrete_markov_graph": lambda p: fn.learn.discrete_markov_graph(TABLE, progress=p),
    "gaussian_graph": lambda p: fn.learn.gaussian_graph(NUMBERS, progress=p),
    "baum_welch": lambda p: fn.learn.baum_welch(STRINGS, n_states=2, seed=1, max_steps=2, progress=p),
    "greedy_mmd": lambda p: fn.select.greedy_mmd(fn.kernels.FisherKernel(ASIA), TABLE, 3, n_starts=1, progress=p),
    "greedy_chi_square": lambda p: fn.select.greedy_chi_square(TABLE, 3, n_starts=1, progress=p),
    "knn_test": lambda p: fn.independence.knn_test(NUMBERS[:, 0], NUMBERS[:, 1], permutations=20, seed=1, progress=p),
    "KnnTest": lambda p: fn.independence.KnnTest(NUMBERS, permutations=20, seed=1, progress=p)(0, 1, ()),
    "gram_matrix": lambda p: fn.kernels.gram_matrix(fn.kernels.SpectrumKernel(2), STRINGS, progress=p),
    "mmd_critic": lambda p: fn.select.mmd_critic(fn.kernels.FisherKernel(ASIA), TABLE, 3, progress=p),
    "protodash": lambda p: fn.select.protodash(fn.kernels.FisherKernel(ASIA), TABLE, 3, progress=p),
    "kernel_thinning": lambda p: fn.select.kernel_thinning(fn.kernels.FisherKernel(ASIA), TABLE, 3, progress=p),
    "distance_by_k": lambda p: fn.select.distance_by_k(fn.kernels.FisherKernel(ASIA), TABLE, [2], progress=p),
    "nearest": lambda p: fn.select.nearest(fn.kernels.SpectrumKernel(2), STRINGS, progress=p),
    "hidden_tree": lambda p: fn.learn.hidden_tree([0, 1], ["ab", "ba"], n_states=2, seed=1, max_steps=2, progress=p),
    "stationary": lambda p: fn.infer.stationary(SMALL, progress=p),
}


@pytest.mark.parametrize("name", SHOWING)
def test_every_function_with_progress_takes_true_and_refuses_what_cannot_be_called(name: str) -> None:
    SHOWING[name](True)
    with pytest.raises(fn.FishernetError, match="progress must be True for a bar") as told:
        SHOWING[name]("yes")
    assert told.value.parameter == "progress"
