from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.independence import IndependenceTest, TestResult
from fishernet.independence.contingency import FunctionTest
from fishernet.learn.blankets import BlanketSearch

EDGES = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("c", "e"), ("f", "g")]
NAMES = list("abcdefgh")
GRAPH = fn.UndirectedGraph.from_edges(NAMES, EDGES)


class Oracle(IndependenceTest):
    """Knows the graph: dependent where not separated; the closer, the stronger."""

    def __init__(self, graph: fn.UndirectedGraph) -> None:
        self.graph = graph
        self.asked: list[tuple[int, int, tuple[int, ...]]] = []

    def __call__(self, i: int, j: int, given: tuple[int, ...]) -> TestResult:
        self.asked.append((i, j, given))
        names = self.graph.names
        separated = self.graph.is_separated(names[i], names[j], [names[v] for v in given])
        direct = j in self.graph.adjacency[i]
        return TestResult(0.0 if separated else 1.0 + direct, 1.0 if separated else 0.0)


class Confused(Oracle):
    """Finds what is far away strongest, so that blankets grow beyond the neighbours and must shrink."""

    def association(self, i: int, j: int, given: tuple[int, ...]) -> float:
        return -super().__call__(i, j, given).statistic % 3


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("kind", [Oracle, Confused])
def test_an_oracle_gives_the_graph(kind: type[Oracle], interleaved: bool) -> None:
    search = BlanketSearch(len(NAMES), kind(GRAPH), interleaved=interleaved)
    assert tuple(search.find(v) for v in range(len(NAMES))) == GRAPH.adjacency


def test_what_is_given_is_ascending_and_without_the_two() -> None:
    oracle = Oracle(GRAPH)
    BlanketSearch(len(NAMES), oracle).find(2)
    for i, j, given in oracle.asked:
        assert list(given) == sorted(set(given) - {i, j})


def test_growth_stops_at_the_limit() -> None:
    assert len(BlanketSearch(len(NAMES), Oracle(GRAPH), max_blanket=2).find(2)) == 2


def test_the_strongest_is_tested_first_and_the_first_of_equals() -> None:
    tested: list[int] = []

    class Strengths(IndependenceTest):
        ranks_by_test = False

        def association(self, i: int, j: int, given: tuple[int, ...]) -> float:
            return [0.0, 1.0, 5.0, 5.0][j]

        def __call__(self, i: int, j: int, given: tuple[int, ...]) -> TestResult:
            tested.append(j)
            return TestResult(1.0, 1.0)

    assert BlanketSearch(4, Strengths()).find(0) == ()
    assert tested == [2]


def test_interleaving_ends_where_a_member_comes_and_goes() -> None:
    def fickle(i: int, j: int, given: tuple[int, ...]) -> TestResult:
        """1 is needed without 2, and not beside it; 2 likewise beside 1."""
        return TestResult(1.0, 0.0 if (len(given) < 2 and j not in (1,)) or not given else 1.0)

    assert BlanketSearch(3, FunctionTest(fickle), interleaved=True).find(0) in [(), (1,), (2,), (1, 2)]


@pytest.mark.parametrize(
    "answer", [0.5, TestResult(1.0, 1.5), TestResult(float("nan"), 0.5), TestResult(1.0, float("nan"))]
)
def test_an_answer_that_is_none(answer: Any) -> None:
    with pytest.raises(fn.FishernetError, match="test"):
        BlanketSearch(3, FunctionTest(lambda i, j, given: answer)).find(0)


def test_a_function_of_ones_own_learns_a_graph() -> None:
    data = np.zeros((5, len(NAMES)))
    found = fn.learn.markov_graph(data, test=Oracle(GRAPH), names=NAMES)
    assert found == GRAPH
