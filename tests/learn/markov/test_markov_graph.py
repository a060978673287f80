from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import fishernet as fn

# The 7-node network of Leppä-aho (2020), section 3.2.4, in the library's reading of it.
PARENTS = {0: [], 1: [0], 2: [0, 1], 3: [2], 4: [2, 3], 5: [4], 6: [4]}
TRUE = {tuple(sorted((p, v))) for v, of in PARENTS.items() for p in of}


def non_linear(n: int, seed: int) -> np.ndarray[Any, Any]:
    e = np.random.default_rng(seed).normal(size=(7, n))
    x = [e[0]]
    x.append(2 * np.cos(x[0]) + e[1])
    x.append(2 * np.abs(x[0]) + 1.5 * np.sin(2 * x[1]) + e[2])
    x.append(2 * np.log(np.abs(x[2]) + 0.1) + e[3])
    x.append(2 * np.cos(x[2]) + x[3] ** 2 / (1 + np.abs(x[3])) + e[4])
    x.append(3 * np.sin(x[4]) + e[5])
    x.append(1.5 * np.abs(x[4]) + e[6])
    return np.stack(x, axis=1)


def linear(n: int, seed: int) -> np.ndarray[Any, Any]:
    e = np.random.default_rng(seed).normal(size=(7, n))
    x = [e[0]]
    x.append(0.8 * x[0] + e[1])
    x.append(0.7 * x[0] - 0.8 * x[1] + e[2])
    x.append(0.9 * x[2] + e[3])
    x.append(0.8 * x[2] + 0.7 * x[3] + e[4])
    x.append(0.8 * x[4] + e[5])
    x.append(-0.9 * x[4] + e[6])
    return np.stack(x, axis=1)


def differences(graph: fn.UndirectedGraph) -> int:
    found = {tuple(sorted(graph.names.index(name) for name in edge)) for edge in graph.edges}
    return len(found ^ TRUE)


def test_non_linear_dependence_is_found_by_neighbours_and_missed_by_correlation() -> None:
    X = non_linear(500, 1)
    by_neighbours = differences(fn.learn.markov_graph(X, seed=1))
    assert by_neighbours <= 2
    assert differences(fn.learn.markov_graph(X, test="fisher-z")) > by_neighbours + 1


@pytest.mark.parametrize("search", ["iamb", "inter-iamb"])
def test_linear_dependence_is_found_by_correlation(search: Any) -> None:
    assert (
        np.mean([differences(fn.learn.markov_graph(linear(2000, s), test="fisher-z", search=search)) for s in range(5)])
        <= 1
    )


@pytest.mark.parametrize("test", ["g-squared", "chi-squared"])
def test_discrete_chain(test: Any) -> None:
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 3, size=3000)]
    for _ in range(4):
        columns.append(np.where(rng.random(3000) < 0.6, columns[-1], rng.integers(0, 3, size=3000)))
    table = fn.Table.from_codes(np.column_stack(columns))
    graph = fn.learn.markov_graph(table, test=test, alpha=0.001)
    assert graph.edges == (("v0", "v1"), ("v1", "v2"), ("v2", "v3"), ("v3", "v4"))
    assert fn.learn.markov_graph(table, test=test, alpha=0.001) == graph
    assert fn.learn.markov_graph(np.column_stack(columns), test=test, alpha=0.001) == graph


def test_one_seed_one_graph_on_any_number_of_threads() -> None:
    X = non_linear(150, 2)
    before = fn.set_threads(1)
    try:
        alone = fn.learn.markov_blankets(X, seed=5)
        fn.set_threads(4)
        together = fn.learn.markov_blankets(X, seed=5)
    finally:
        fn.set_threads(before)
    assert (alone.blankets, alone.n_tests, alone.seed) == (together.blankets, together.n_tests, 5)


def test_stopping_early_changes_no_graph() -> None:
    X = non_linear(120, 3)
    early = fn.learn.markov_graph(X, seed=5, permutations=100)
    assert fn.learn.markov_graph(X, seed=5, permutations=100, stop_early=False) == early


def test_and_joins_less_than_or() -> None:
    found = fn.learn.markov_blankets(non_linear(200, 4), seed=1)
    assert set(found.graph("and").edges) <= set(found.graph("or").edges)
    both = {(u, v) for u, of in enumerate(found.blankets) for v in of if u in found.blankets[v] and u < v}
    assert {(found.names.index(u), found.names.index(v)) for u, v in found.graph("and").edges} == both


def test_skipped_tests_are_counted() -> None:
    X = np.random.default_rng(5).normal(size=(300, 4))
    found = fn.learn.markov_blankets(X, seed=1, skip_below=0.2)
    assert 0 < found.n_skipped <= found.n_tests
    assert fn.learn.markov_blankets(X, seed=1).n_skipped == 0


def test_columns_are_standardized_unless_told_otherwise() -> None:
    X = non_linear(150, 6)
    scaled = X * 10.0 ** np.arange(7)
    assert fn.learn.markov_graph(scaled, seed=1) == fn.learn.markov_graph(X, seed=1)


def test_names_of_frames_and_arrays() -> None:
    X = linear(300, 7)
    letters = list("abcdefg")
    frame = pd.DataFrame(X, columns=letters)
    of_frame = fn.learn.markov_graph(frame, test="fisher-z")
    assert of_frame.names == tuple(letters)
    assert of_frame == fn.learn.markov_graph(X, test="fisher-z", names=letters)
    assert fn.learn.markov_graph(frame, test="fisher-z", names=["c", "a"]).names == ("c", "a")


def test_one_variable_and_independent_ones() -> None:
    x = np.random.default_rng(9).normal(size=(50, 1))
    assert fn.learn.markov_graph(x, seed=1).edges == ()


X = linear(50, 1)
COIN = np.where(np.arange(50)[:, None] % 7 == 0, X > 0, X)
COIN[:, 3] = X[:, 3] > 0


def with_cell(row: int, column: int, value: float) -> np.ndarray[Any, Any]:
    changed = X.copy()
    changed[row, column] = value
    return changed


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fn.learn.markov_graph(with_cell(3, 2, np.nan)), "missing in 'v2'"),
        (lambda: fn.learn.markov_graph(with_cell(4, 0, np.inf), test="fisher-z"), "'v0', row 4: inf"),
        (lambda: fn.learn.markov_graph(X * [1, 1, 0, 1, 1, 1, 1]), "'v2' is constant"),
        (lambda: fn.learn.markov_graph(X * [1, 1, 0, 1, 1, 1, 1], test="fisher-z"), "'v2' is constant"),
        (lambda: fn.learn.markov_graph(COIN), "'v3' is discrete"),
        (lambda: fn.learn.markov_graph(X[:6]), "6 rows are too few"),
        (lambda: fn.learn.markov_graph(X[:3], test="fisher-z"), "3 rows are too few"),
        (lambda: fn.learn.markov_graph(X, names=["a"]), "1 name for 7 columns"),
        (lambda: fn.learn.markov_graph(np.zeros((5, 0))), "no columns"),
        (lambda: fn.learn.markov_graph(fn.Table.from_codes([[0], [1]])), "'v0' is categorical"),
        (lambda: fn.learn.markov_graph(X, alpha=0), "alpha must be strictly between 0 and 1"),
        (lambda: fn.learn.markov_graph(X, alpha=1.0), "alpha"),
        (lambda: fn.learn.markov_graph(X, test="kcit"), "unknown test 'kcit'; there are 'knn-mi', 'fisher-z'"),  # type: ignore[arg-type]
        (lambda: fn.learn.markov_graph(X, rule="xor"), "unknown rule 'xor'; there are 'and', 'or'"),  # type: ignore[arg-type]
        (lambda: fn.learn.markov_graph(X, search="pc"), "unknown search 'pc'"),  # type: ignore[arg-type]
        (lambda: fn.learn.markov_graph(X, nearest=3), "neither this function nor the"),  # type: ignore[call-arg]
        (lambda: fn.learn.markov_graph(X, test="fisher-z", k=3), "neither this function nor the"),
        (lambda: fn.learn.markov_graph([[0, 1], [1, 0]], test="g-squared", k=3), "takes the option 'k'"),
        (lambda: fn.learn.markov_graph(X, test=fn.independence.FisherZ(X), k=3), "this test is made already"),
        (lambda: fn.learn.markov_graph(X, max_blanket=-1), "max_blanket"),
        (lambda: fn.learn.markov_graph(X, max_blanket=1.5), "max_blanket"),  # type: ignore[arg-type]
        (lambda: fn.learn.markov_graph(X, max_blanket="a"), "max_blanket"),  # type: ignore[arg-type]
        (lambda: fn.learn.markov_graph(X, seed=-1), "seed"),
    ],
)
def test_what_does_not_fit(call: Any, message: str) -> None:
    with pytest.raises(fn.FishernetError, match=message):
        call()


def test_missing_cells_of_a_table() -> None:
    x = ["x", "y"] * 50
    table = fn.Table.from_frame({"a": x, "b": [None, *x[1:]]})
    assert fn.learn.markov_graph(table, test="g-squared").edges == (("a", "b"),)
