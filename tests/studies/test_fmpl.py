"""The study of FMPL, on tiny sizes: facts about its networks and arithmetic."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import fishernet as fn
from studies import fmpl
from studies.study import Run


def test_the_graphs_have_the_edges_that_the_thesis_counts() -> None:
    assert fmpl.Copies(64).graph.n_edges == 78 == fmpl.N_EDGES
    assert fmpl.Copies(1024).graph.n_edges == 1248
    parts = sorted(len(part) for part in fmpl.Copies(64).graph.components())
    assert parts == [4, 4, 4, 4, 8, 8, 16, 16]
    degrees = sorted(map(len, fmpl.Copies(64).graph.adjacency))
    assert degrees == sorted([1] * 14 + [2] * 4 + [2] * 16 + [3] * 8 + [3] * 16 + [4] * 4 + [7] * 2)


def test_copies_are_drawn_independent_with_the_zeros_of_the_graph() -> None:
    X, graph = fmpl.Copies(128).draw(40_000, 0)
    assert X.shape == (40_000, 128)
    partial = fn.GaussianMarkovNetwork(graph.names, X.mean(axis=0), np.linalg.inv(np.cov(X.T))).partial_correlations
    joined = np.zeros((128, 128), dtype=bool)
    for v, others in enumerate(graph.adjacency):
        joined[v, list(others)] = True
    apart = ~joined & ~np.eye(128, dtype=bool)
    assert np.abs(partial[apart]).max() < 6 / np.sqrt(40_000)
    assert np.sqrt((partial[joined] ** 2).mean()) > 0.2
    assert np.abs(np.asarray(np.corrcoef(X.T))[: fmpl.PART, fmpl.PART :]).max() < 6 / np.sqrt(40_000)


def test_data_do_not_depend_on_who_learns() -> None:
    both, one = fmpl.learn(fmpl.Copies(64), 250, 0, ("AND", "OR")), fmpl.learn(fmpl.Copies(64), 250, 0, ("OR",))
    assert both[1][0] == one[0][0]


def test_columns_that_others_make_up_are_left_out() -> None:
    X = np.random.default_rng(1).normal(size=(50, 4))
    Y = np.column_stack([X[:, 0], np.full(50, 3.0), X[:, 1], X[:, 0] - 2 * X[:, 1], X[:, 2], X[:, 2] + 1e-3 * X[:, 3]])
    assert fmpl.independent(Y) == [0, 2, 4]


def test_the_error_of_all_columns_is_that_of_least_squares() -> None:
    random = np.random.default_rng(2)
    X, Y = np.array(random.normal(size=(2, 40, 3)))
    X[:, 2] += X[:, 0]
    Y[:, 2] += Y[:, 0]
    expected = []
    for v in range(3):
        rest = [u for u in range(3) if u != v]
        weights = np.linalg.solve(X[:, rest].T @ X[:, rest], X[:, rest].T @ X[:, v])
        expected.append(((Y[:, v] - Y[:, rest] @ weights) ** 2).mean())
    assert fmpl.error(X, Y, [[1, 2], [0, 2], [0, 1]]) == pytest.approx(np.mean(expected))
    assert fmpl.error(X, Y, [[], [], []]) == pytest.approx((Y**2).mean())


def test_agreement_counts_the_published_figures(tmp_path: Path) -> None:
    X = next(fmpl.published_rows(2, 3, 40, [0.1], 7))
    entry: dict[str, object] = {"k": 0}
    for rule in ("OR", "AND", "HC"):
        entry[rule] = fmpl.precision_and_recall(fn.learn.gaussian_graph(X, rule=rule.lower(), prior=False), 2)  # type: ignore[arg-type]
    entry["AND"] = [0.0, 0.0]
    held = {"init": [2, 3, 40, fmpl.EACH, [0.1]], "seed": 7, "entries": [entry]}
    path = tmp_path / "it.json"
    path.write_text(json.dumps({"data": {fmpl.SETTING: held}}))
    assert fmpl.agreement_with(path).rows == [["OR", 1, 1], ["AND", 0, 1], ["HC", 1, 1]]


def test_precision_and_recall() -> None:
    graph = fn.UndirectedGraph.from_edges(list("abcd"), [("a", "c"), ("c", "d")])
    assert fmpl.precision_and_recall(graph, 2) == (1 / 2, 1 / 5)
    assert fmpl.precision_and_recall(fn.UndirectedGraph.from_edges(list("ab"), []), 1) == (0.0, 0.0)


@pytest.mark.slow
def test_the_quick_form_has_all_tables_and_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(fmpl, "TABLES", {})
    tables = {table.name: table for table in fmpl.compute(Run("quick", asked_repetitions=1))}
    assert [row[:2] for row in tables["distances"].rows] == [["64 variables", 250], ["64 variables", 1_000]]
    fmpl.draw(tables, lambda name: tmp_path / f"{name}.svg")
    assert {path.stem for path in tmp_path.iterdir()} == {"graphs", "lasso"}
