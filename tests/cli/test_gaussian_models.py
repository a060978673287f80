"""``score``, ``predict`` and ``sample`` with Gaussian networks."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import stats

import fishernet as fn
from tests.cli.running import facts_of, good
from tests.reference.gaussians import rows_of

MEAN, PRECISION = [1.0, -2.0, 0.5], [[2.0, -1.0, 0.0], [-1.0, 2.0, 0.7], [0.0, 0.7, 1.0]]
NAMES = ["a", "b", "c"]
COVARIANCE = np.linalg.inv(PRECISION)
ROWS = np.array([[0.5, -1.0, 0.25], [2.0, -3.5, 1e-3], [1.0, 0.0, -7.125]])


@pytest.fixture(params=["markov", "bayesian"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return the same distribution as a file of either kind."""
    net: Any = fn.GaussianMarkovNetwork(NAMES, MEAN, PRECISION)
    if request.param == "bayesian":  # the regressions of c, of b on c, and of a on b and c
        slopes = [np.linalg.solve(COVARIANCE[k + 1 :, k + 1 :], COVARIANCE[k + 1 :, k]) for k in range(3)]
        variances = [COVARIANCE[k, k] - slopes[k] @ COVARIANCE[k + 1 :, k] for k in range(3)]
        dag = fn.Dag(NAMES, [(1, 2), (2,), ()])
        intercepts = [MEAN[k] - slopes[k] @ MEAN[k + 1 :] for k in range(3)]
        net = fn.BayesianNetwork.from_regressions(dag, intercepts, slopes, np.sqrt(variances))
    path = tmp_path / "model.json"
    fn.save(net, path)
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Return rows in a file, in another order and with a column more."""
    path = tmp_path / "rows.csv"
    lines = ["id,c,a,b", *(f"x{i},{c},{a},{b}" for i, (a, b, c) in enumerate(ROWS.tolist()))]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_scores_are_log_densities(model: Path, table: Path) -> None:
    expected = stats.multivariate_normal(MEAN, COVARIANCE).logpdf(ROWS)
    facts = facts_of("score", model, table, "--rows")
    np.testing.assert_allclose(facts["row_log_likelihoods"], expected, rtol=1e-12)
    assert facts["log_likelihood"] == pytest.approx(expected.sum())
    assert facts["rows"] == 3
    assert f"{expected.sum():,.4f}" in good("score", model, table).out
    lines = good("score", model, table, "--rows").out.split()
    np.testing.assert_allclose(np.array(lines, dtype=float), expected, rtol=1e-12)


def test_predictions_are_conditional_means(model: Path, table: Path) -> None:
    gain = np.linalg.solve(COVARIANCE[1:, 1:], COVARIANCE[1:, 0])
    expected = MEAN[0] + (ROWS[:, 1:] - MEAN[1:]) @ gain
    facts = facts_of("predict", model, table, "--target", "a")
    np.testing.assert_allclose(facts["predicted"], expected, rtol=1e-12)
    assert facts["sd"] == pytest.approx(math.sqrt(COVARIANCE[0, 0] - gain @ COVARIANCE[1:, 0]))
    error = math.sqrt(np.mean((expected - ROWS[:, 0]) ** 2))
    assert facts["root_mean_square_error"] == pytest.approx(error)
    shown = good("predict", model, table, "--target", "a").out
    rows = [line.rsplit(",", 2) for line in shown.splitlines()]
    assert [row[0] for row in rows] == table.read_text(encoding="utf-8").splitlines()
    assert rows[0][1:] == ["predicted", "sd"]
    assert [[float(cell) for cell in row[1:]] for row in rows[1:]] == [[x, facts["sd"]] for x in facts["predicted"]]


def test_the_target_need_not_be_there(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "others.csv"
    path.write_text("b,c\n-2,0.5\n")
    facts = facts_of("predict", model, path, "--target", "a")
    assert facts["predicted"] == pytest.approx([1.0])
    assert facts["root_mean_square_error"] is None


def test_samples_have_the_distribution(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "drawn.parquet"
    good("sample", model, "-n", 20_000, "--seed", 3, "-o", out)
    drawn = pq.read_table(out)
    assert drawn.column_names == NAMES
    rows = np.stack([column.to_numpy() for column in drawn.columns], axis=1)
    np.testing.assert_allclose(rows.mean(axis=0), MEAN, atol=0.06)
    np.testing.assert_allclose(np.cov(rows.T), COVARIANCE, atol=0.1)


@pytest.mark.parametrize("name", ["drawn.csv", "drawn.tsv.gz", "drawn.arrow"])
def test_samples_are_written_to_the_last_bit(model: Path, tmp_path: Path, name: str) -> None:
    expected = rows_of(fn.load(model).sample(5, seed=1))
    good("sample", model, "-n", 5, "--seed", 1, "-o", tmp_path / name)
    np.testing.assert_array_equal(fn.read_table(tmp_path / name).numbers.T, expected)
    told = good("sample", model, "-n", 5, "--seed", 1).cells
    assert told[0] == NAMES
    np.testing.assert_array_equal(np.array(told[1:], dtype=float), expected)
    facts = facts_of("sample", model, "-n", 5, "--seed", 1)
    assert facts["columns"]["b"] == expected[:, 1].tolist()


def test_the_graph_is_scored(model: Path, tmp_path: Path) -> None:
    net = fn.load(model)
    rows = rows_of(net.sample(50, seed=2))
    good("sample", model, "-n", 50, "--seed", 2, "-o", tmp_path / "rows.csv")
    graph = net.dag if isinstance(net, fn.BayesianNetwork) else net.graph
    facts = facts_of("score", model, tmp_path / "rows.csv", "--score", "fractional")
    assert facts["score_value"] == pytest.approx(fn.score(graph, dict(zip(NAMES, rows.T, strict=True)), "fractional"))
