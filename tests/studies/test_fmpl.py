"""The study of FMPL, on tiny sizes: facts of EXPERIMENTS and of arithmetic."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import fishernet as fn
from studies.fmpl import methods, prediction, published, recovery, report, verdict
from studies.fmpl.__main__ import main
from studies.fmpl.options import Options
from studies.fmpl.recovery import Recovery
from studies.fmpl.truths import N_EDGES, PART, Copies
from studies.kept import Kept
from studies.pool import Pool

HERE = Kept(Pool(None))
METHODS = (*methods.OURS, *methods.OTHERS)
nan = np.nan


def test_the_graphs_have_the_edges_that_p4_counts() -> None:
    assert Copies(64).graph.n_edges == 78 == N_EDGES
    assert Copies(1024).graph.n_edges == 1248
    parts = sorted(len(part) for part in Copies(64).graph.components())
    assert parts == [4, 4, 4, 4, 8, 8, 16, 16]
    degrees = sorted(map(len, Copies(64).graph.adjacency))
    assert degrees == sorted([1] * 14 + [2] * 4 + [2] * 16 + [3] * 8 + [3] * 16 + [4] * 4 + [7] * 2)


def test_copies_are_drawn_independent_with_the_zeros_of_the_graph() -> None:
    X, graph = Copies(128).draw(40_000, np.random.default_rng(1))
    assert X.shape == (40_000, 128)
    partial = fn.GaussianMarkovNetwork(graph.names, X.mean(axis=0), np.linalg.inv(np.cov(X.T))).partial_correlations
    joined = np.zeros((128, 128), dtype=bool)
    for v, others in enumerate(graph.adjacency):
        joined[v, list(others)] = True
    apart = ~joined & ~np.eye(128, dtype=bool)
    assert np.abs(partial[apart]).max() < 6 / np.sqrt(40_000)
    assert np.sqrt((partial[joined] ** 2).mean()) > 0.2
    assert np.abs(np.asarray(np.corrcoef(X.T))[:PART, PART:]).max() < 6 / np.sqrt(40_000)


def test_means_are_over_what_is_there() -> None:
    distances = np.array([[[1.0, 3.0, 8.0], [2.0, nan, nan], [nan, nan, nan]]])
    found = Recovery(Copies(64), (250,), ("AND", "glasso", "NBS"), distances, distances * 10)
    assert found.of("AND")[0] == 4
    assert found.error_of("AND")[0] == pytest.approx(np.std([1, 3, 8], ddof=1) / np.sqrt(3))
    assert found.of("glasso")[0] == 2
    assert np.isnan(found.error_of("glasso")[0])
    assert np.isnan(found.of("NBS")[0])
    assert found.seconds_of("glasso")[0] == 20
    assert report.cells(found, "AND", 3) == ["4.0 ± 2.1"]
    assert report.cells(found, "glasso", 3) == ["2.0 (1)"]
    assert report.cells(found, "NBS", 3) == ["-"]


def test_the_verdict_counts_who_is_nearer() -> None:
    distances = np.array([[[5.0], [9.0], [4.0], [6.0], [8.0], [nan]], [[5.0], [9.0], [7.0], [6.0], [5.5], [nan]]])
    found = Recovery(Copies(64), (250, 500), METHODS, distances, distances)
    said = verdict.beside_lasso([found])
    assert "at 2 and HC at 1 of the 2 sizes" in said
    assert "NBS at 1, glasso at 1" in said
    assert "64: AND 1, OR 0, HC 1" in verdict.among_graphs([found])


def test_data_do_not_depend_on_who_learns() -> None:
    options = Options(form="quick", repetitions=2)
    both = recovery.recover(64, options, HERE, ("AND", "OR"))
    one = recovery.recover(64, options, HERE, ("OR",))
    np.testing.assert_array_equal(both.of("OR"), one.of("OR"))


def test_columns_that_others_make_up_are_left_out() -> None:
    X = np.random.default_rng(1).normal(size=(50, 4))
    Y = np.column_stack([X[:, 0], np.full(50, 3.0), X[:, 1], X[:, 0] - 2 * X[:, 1], X[:, 2], X[:, 2] + 1e-3 * X[:, 3]])
    assert prediction.independent(Y) == [0, 2, 4]


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
    assert prediction.error(X, Y, [[1, 2], [0, 2], [0, 1]]) == pytest.approx(np.mean(expected))
    assert prediction.error(X, Y, [[], [], []]) == pytest.approx((Y**2).mean())


def test_agreement_counts_the_published_figures(tmp_path: Path) -> None:
    init = [2, 3, 40, published.EACH, [0.1]]
    X = next(published.data_sets(2, 3, 40, [0.1], 7))
    entry: dict[str, object] = {"k": 0}
    for rule in published.RULES:
        graph = fn.learn.gaussian_graph(X, rule=rule.lower(), prior=False)
        entry[rule] = published.precision_and_recall(graph, 2)
    entry["AND"] = [0.0, 0.0]
    path = tmp_path / published.FILE
    path.parent.mkdir()
    path.write_text(json.dumps({"data": {published.SETTING: {"init": init, "seed": 7, "entries": [entry]}}}))
    found = published.agreement(tmp_path)
    assert found == published.Agreement(1, {"OR": 1, "AND": 0, "HC": 1})
    assert published.agreement(None) is None
    assert published.agreement(tmp_path / "none") is None


def test_precision_and_recall() -> None:
    graph = fn.UndirectedGraph.from_edges(list("abcd"), [("a", "c"), ("c", "d")])
    assert published.precision_and_recall(graph, 2) == (1 / 2, 1 / 5)
    assert published.precision_and_recall(fn.UndirectedGraph.from_edges(list("ab"), []), 1) == (0.0, 0.0)


@pytest.mark.slow
def test_the_quick_form_writes_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prediction, "available", lambda: (prediction.DRAWN,))
    out = tmp_path / "fmpl.md"
    main(["--quick", "--repetitions", "1", "--keep", str(tmp_path / "kept"), "--output", str(out)])
    text = out.read_text()
    assert "## 64 variables, 78 edges" in text
    assert all(f"| {method} |" in text for method in methods.METHODS if method not in methods.missing())
    assert (tmp_path / "kept").exists()


@pytest.mark.parametrize("arguments", [["--repetitions", "0"], ["--processes", "0"], ["--quick", "--full"]])
def test_what_is_no_run(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "error:" in capsys.readouterr().err
