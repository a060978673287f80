"""``score``, ``predict`` and ``sample`` with Gaussian networks."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
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


def conditioned(known: dict[str, float], names: list[str]) -> tuple[Any, Any]:
    """The mean and covariance of some variables given others, by blocks of the covariance."""
    at, on = [NAMES.index(n) for n in names], [NAMES.index(n) for n in known]
    move = np.linalg.solve(COVARIANCE[np.ix_(on, on)], COVARIANCE[np.ix_(on, at)]).T
    mean = np.array(MEAN)[at] + move @ (np.array(list(known.values())) - np.array(MEAN)[on])
    return mean, COVARIANCE[np.ix_(at, at)] - move @ COVARIANCE[np.ix_(on, at)]


def test_means_and_deviations_are_asked_for(model: Path) -> None:
    mean, covariance = conditioned({"b": 0.5}, ["a", "c"])
    facts = facts_of("query", model, "--given", "b=0.5")
    assert facts["given"] == {"b": 0.5}
    assert facts["normal"]["names"] == ["a", "c"]
    np.testing.assert_allclose(facts["normal"]["mean"], mean, rtol=1e-10)
    np.testing.assert_allclose(facts["normal"]["sd"], np.sqrt(np.diag(covariance)), rtol=1e-10)
    density = stats.norm(MEAN[1], math.sqrt(COVARIANCE[1, 1])).logpdf(0.5)
    assert facts["log_density_of_evidence"] == pytest.approx(density)
    joint = facts_of("query", model, "c", "a", "--joint", "--given", "b=0.5")["normal"]
    np.testing.assert_allclose(joint["covariance"], covariance[::-1, ::-1], rtol=1e-9, atol=1e-12)
    shown = good("query", model, "a", "--given", "b=0.5").out.splitlines()
    assert shown[-2].split() == ["variable", "mean", "sd"]
    assert shown[-1].split() == ["a", f"{mean[0]:.6g}", f"{math.sqrt(covariance[0, 0]):.6g}"]
    assert "covariance with a" in good("query", model, "a", "--joint").out


def test_the_most_probable_numbers_are_means(model: Path) -> None:
    facts = facts_of("query", model, "--most-probable", "--given", "c=2")
    mean, covariance = conditioned({"c": 2.0}, ["a", "b"])
    assert list(facts["most_probable"].values()) == pytest.approx([*mean, 2.0])
    assert facts["log_density"] == pytest.approx(stats.multivariate_normal(mean, covariance).logpdf(mean))
    assert good("query", model, "--most-probable").out.splitlines()[-3].split() == ["a", "1"]


def test_rows_are_drawn_given_numbers(model: Path) -> None:
    mean, covariance = conditioned({"b": 0.5}, ["a", "c"])
    facts = facts_of("sample", model, "-n", 20_000, "--given", "b=0.5", "--seed", 1)
    assert set(facts["columns"]["b"]) == {0.5}
    rows = np.array([facts["columns"]["a"], facts["columns"]["c"]])
    np.testing.assert_allclose(rows.mean(axis=1), mean, atol=0.05)
    np.testing.assert_allclose(np.cov(rows), covariance, atol=0.06)


def test_the_least_likely_cells_are_listed(model: Path, table: Path) -> None:
    net = fn.load(model)
    if not isinstance(net, fn.BayesianNetwork):
        return  # it has no conditionals, which is refused
    terms = net.log_prob_terms(ROWS)
    np.testing.assert_allclose(terms.sum(axis=1), stats.multivariate_normal(MEAN, COVARIANCE).logpdf(ROWS))
    first = facts_of("score", model, table, "--terms", "--top", 1)["terms"][0]
    row, child = np.unravel_index(int(np.argmin(terms)), terms.shape)
    assert (first["row"], first["variable"], first["state"]) == (row, NAMES[child], ROWS[row, child])
    assert first["log_probability"] == pytest.approx(terms.min())
    assert first["given"] == {p: ROWS[row, NAMES.index(p)] for p in net.parents(NAMES[child])}


def test_rows_are_chosen_and_compared(model: Path, tmp_path: Path) -> None:
    net, path = fn.load(model), tmp_path / "drawn.csv"
    good("sample", model, "-n", 60, "--seed", 5, "-o", path)
    rows = fn.read_table(path)
    kernel = fn.kernels.FisherKernel(net)
    facts = facts_of("select", model, path, "-k", 5, "--seed", 1)
    assert facts["distance"] == pytest.approx(fn.compare.mmd(kernel, rows[facts["indices"]], rows))
    assert facts["distance"] < facts["distance_at_start"]
    if isinstance(net, fn.BayesianNetwork):
        found = facts_of("similar", model, path, "--row", 7, "-n", 4)["similar"]
        K = fn.kernels.AgreementKernel(net)(rows)
        cosines = K[7] / np.sqrt(np.diagonal(K) * K[7, 7])
        assert [one["row"] for one in found] == np.argsort(-cosines)[:4].tolist()
        assert [sum(one["terms"].values()) for one in found] == pytest.approx([one["cosine"] for one in found])


def test_a_target_that_holds_text_is_predicted_all_the_same(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "others.csv"
    path.write_text("a,b,c\nunknown,-2,0.5\n")
    facts = facts_of("predict", model, path, "--target", "a")
    assert facts["predicted"] == pytest.approx([1.0])
    assert facts["root_mean_square_error"] is None


def test_a_column_that_others_determine_is_left_out_and_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    a, b, c = np.random.default_rng(1).normal(size=(3, 200))
    frame = pd.DataFrame({"a": a, "b": a + b, "sum": 2 * a + b, "c": c})
    frame.to_csv("all.csv", index=False)
    frame.drop(columns="sum").to_csv("rest.csv", index=False)
    note = "note: the column 'sum' is a linear combination of 'a', 'b' (collinear to 9 digits) and is left out"
    for words in ("learn all.csv", "learn all.csv --model gaussian", "learn all.csv --model markov --test fisher-z"):
        found = good(*words.split(), "--json")
        rest = good(*words.replace("all.csv", "rest.csv").split(), "--json")
        assert found.err.count(note) == 1
        edges = "arcs" if "arcs" in rest.facts else "edges"
        assert found.facts[edges] == rest.facts[edges]
        assert found.facts["columns"]["left out"] == ["sum"]
    kept = good("learn", "all.csv", "--exclude", "a", "--json")
    assert "left out;" not in kept.err
    assert "sum" in kept.facts["variables"]
    for words in ("compare all.csv all.csv --permutations 19", "report all.csv -o page.html"):
        assert good(*words.split()).err.count(note) == 1
    good("learn", "all.csv", "-o", "net.json")
    chosen = good("select", "net.json", "all.csv", "-k", "3", "--seed", "1")
    assert chosen.cells[0] == ["row", "a", "b", "sum", "c", "stands_for"]


def test_numbers_on_scales_and_dates_are_answered_in_their_own_unit(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    size = np.exp(rng.normal(5, 2, 300))
    frame = pd.DataFrame({"size": size.round(3), "cost": (size**0.5 * np.exp(rng.normal(0, 0.1, 300))).round(4)})
    frame["day"] = pd.Timestamp("2020-03-01") + pd.to_timedelta(rng.permutation(300) * 3, unit="D")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    good("learn", tmp_path / "rows.csv", "-o", tmp_path / "model.json")
    net: Any = fn.load(tmp_path / "model.json")
    assert net.variables[0].scale is not None
    rows = fn.read_table(tmp_path / "rows.csv")
    for target in ("size", "cost"):
        facts = facts_of("predict", tmp_path / "model.json", tmp_path / "rows.csv", "--target", target)
        np.testing.assert_allclose(facts["predicted"], net.predict(rows, target), rtol=1e-9)
    facts = facts_of("score", tmp_path / "model.json", tmp_path / "rows.csv")
    assert facts["log_likelihood"] == pytest.approx(net.log_prob(rows).sum())
    assert facts_of("query", tmp_path / "model.json", "cost")["numbers"]["cost"] == pytest.approx(
        net.query("cost").to_dict()
    )
    middle = facts_of("query", tmp_path / "model.json", "day")["numbers"]["day"]["median"]
    assert "2020-06-01" < middle < "2022-06-01"
    assert middle in str(net.query("day"))
    lines = good(
        "predict", tmp_path / "model.json", tmp_path / "rows.csv", "--target", "day", "--bare"
    ).out.splitlines()
    assert all(line.startswith("202") for line in lines[1:])
