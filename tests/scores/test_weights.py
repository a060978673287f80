"""Weights that are not whole numbers: laws of scaling, of whole weights and of the order of rows."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

import fishernet as fn
from fishernet.data import Statistic
from fishernet.learn.cross_validation import PredictionQuality
from fishernet.scores.named import named_score
from fishernet.scores.nml import regrets

SCORES = ["loglik", "bic", "aic", "hqc", "bdeu", "k2", "bdq", "fnml", "qnml"]
ARCS = fn.Dag.from_edges(["v0", "v1", "v2"], [("v0", "v2"), ("v1", "v2")])


def table(n: int = 60, seed: int = 0) -> fn.Table:
    random = np.random.default_rng(seed)
    codes = np.column_stack([random.integers(0, r, n) for r in (2, 3, 4)])
    codes[: n // 2, 2] = codes[: n // 2, 1]
    return fn.Table.from_codes(codes, [fn.Variable(f"v{i}", range(r)) for i, r in enumerate((2, 3, 4))])


def weighted(rows: fn.Table, weights: Any) -> fn.Table:
    return fn.Table(rows.variables, rows.codes, weights=weights, n_rows=rows.n_rows)


def eighths(n: int, seed: int = 1) -> Any:
    """Weights whose sums are exact."""
    return np.random.default_rng(seed).integers(1, 40, n) / 8


@pytest.mark.parametrize("score", SCORES)
def test_whole_weights_are_the_same_as_floats_and_as_integers(score: Any) -> None:
    whole = np.random.default_rng(2).integers(0, 5, 60)
    one, other = weighted(table(), whole), weighted(table(), whole.astype(float))
    assert other.weights is not None
    assert other.weights.dtype == np.int64
    assert fn.score(ARCS, one, score) == fn.score(ARCS, other, score)


@pytest.mark.parametrize("score", SCORES)
def test_two_halves_of_a_row_are_a_row(score: Any) -> None:
    rows = table()
    twice = weighted(rows[np.repeat(np.arange(60), 2)], np.full(120, 0.5))
    assert twice.total == 60
    assert fn.score(ARCS, twice, score) == pytest.approx(fn.score(ARCS, rows, score), rel=1e-12)
    again = weighted(rows, np.full(60, 2.0))
    assert fn.score(ARCS, again, score) == fn.score(ARCS, rows[np.repeat(np.arange(60), 2)], score)


def test_likelihood_grows_with_the_weights() -> None:
    one, three = (fn.score(ARCS, weighted(table(), c * eighths(60)), "loglik") for c in (1, 3))
    assert three == pytest.approx(3 * one, rel=1e-12)


def naive(rows: fn.Table, score: str) -> float:
    """The sum over families of the printed formulas, from sums of weights."""
    weights, found = np.asarray(rows.weights, dtype=float), 0.0
    for child, parents in ((0, []), (1, []), (2, [0, 1])):
        cells = np.zeros([rows.cardinalities[v] for v in (*parents, child)])
        np.add.at(cells, tuple(rows.codes[v] for v in (*parents, child)), weights)
        n = cells.reshape(-1, cells.shape[-1])
        q, r = n.shape
        sums = n.sum(axis=1)
        if score == "bdeu":
            a = 1 / (q * r)
            found += (gammaln(a + n) - gammaln(a)).sum() - (gammaln(a * r + sums) - gammaln(a * r)).sum()
        elif score == "k2":
            found += gammaln(1 + n).sum() - (gammaln(r + sums) - gammaln(r)).sum()
        else:
            found += sum(x * math.log(x / s) for line, s in zip(n, sums, strict=True) for x in line if x > 0)
            found -= 0.5 * math.log(weights.sum()) * q * (r - 1)
    return found


@pytest.mark.parametrize("score", ["bic", "bdeu", "k2"])
@pytest.mark.parametrize("scale", [0.1, 1.7, 300.5])
def test_scores_are_their_formulas(score: Any, scale: float) -> None:
    rows = weighted(table(), scale * np.random.default_rng(5).exponential(size=60))
    assert rows.total == pytest.approx(float(np.asarray(rows.weights).sum()), rel=1e-15)
    assert fn.score(ARCS, rows, score) == pytest.approx(naive(rows, score), rel=1e-10)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("weights", [eighths(60), np.random.default_rng(7).exponential(size=60)])
def test_rows_that_weigh_nothing_are_no_rows(score: Any, weights: Any) -> None:
    rows, counts = table(), np.arange(60) % 3 > 0
    one, other = weighted(rows, weights * counts), weighted(rows[counts], weights[counts])
    assert fn.score(ARCS, one, score) == pytest.approx(fn.score(ARCS, other, score), rel=1e-12)


@given(st.floats(0, 50), st.integers(1, 10**6))
def test_the_regret_is_interpolated(n: float, r: int) -> None:
    low, share = math.floor(n), n - math.floor(n)
    expected = (1 - share) * fn.regret(low, r) + share * fn.regret(low + 1, r)
    assert regrets(np.array([n]), r)[0] == pytest.approx(expected, rel=1e-12, abs=1e-300)


def test_expected_counts_are_not_cut_to_integers() -> None:
    counts = Statistic((0,), (2,), np.array([0.9, 1.1]), None)
    n_log_n = sum(x * math.log(x) for x in (0.9, 1.1))
    regret = 0.9 * fn.regret(1, 3) + 0.9 * fn.regret(1, 3) + 0.1 * fn.regret(2, 3)
    assert named_score("fnml").marginal(counts, 3) == pytest.approx(n_log_n + regret, rel=1e-12)
    assert named_score("qnml").joint(counts) == pytest.approx(n_log_n - fn.regret(2, 2), rel=1e-12)
    part = Statistic((0,), (2,), np.array([0.25, 1.0]), None)
    regret = 0.75 * fn.regret(1, 2) + 0.25 * fn.regret(2, 2)
    assert named_score("qnml").joint(part) == pytest.approx(0.25 * math.log(0.25) - regret, rel=1e-12)


@pytest.mark.parametrize("score", ["bic", "bdeu", "fnml", "qnml"])
def test_neither_the_order_of_rows_nor_the_threads_show(score: Any) -> None:
    """Sums of weights are exact: the same bits."""
    n = 300_000  # so many rows are counted in several parts
    rows = weighted(table(n, seed=3), np.random.default_rng(4).exponential(size=n))
    value = fn.score(ARCS, rows, score)
    assert fn.score(ARCS, rows[np.random.default_rng(6).permutation(n)], score) == value
    before = fn.set_threads(1)
    try:
        assert fn.score(ARCS, rows, score) == value
    finally:
        fn.set_threads(before)


@pytest.mark.parametrize("search", ["hill-climb", "tabu", "order", "exact"])
@pytest.mark.parametrize("score", ["bic", "bdeu", "qnml"])
def test_searches_find_in_halves_what_they_find_in_rows(search: Any, score: Any) -> None:
    rows = table(80, seed=8)
    times = np.random.default_rng(9).integers(1, 5, 80)
    halves = weighted(rows[np.repeat(np.arange(80), 2)], np.repeat(times / 2, 2))
    whole = rows[np.repeat(np.arange(80), times)]
    one, other = (fn.learn.structure(data, score=score, search=search, seed=1).score for data in (halves, whole))
    assert one == pytest.approx(other, rel=1e-12)


def test_parameters_are_shares_of_the_weight() -> None:
    rows = weighted(table(), eighths(60))
    net = fn.learn.parameters(fn.Dag.from_edges(ARCS.names, []), rows, smoothing=0)
    assert rows.weights is not None
    shares = np.bincount(rows.codes[2], weights=rows.weights) / rows.weights.sum()
    np.testing.assert_allclose(net.conditional("v2").table(), shares, rtol=1e-14)
    assert net.n_rows == rows.total


def test_trees_and_kernels_take_parts_of_a_row() -> None:
    rows = table(50, seed=11)
    halves = weighted(rows[np.repeat(np.arange(50), 2)], np.full(100, 0.5))
    kernel = fn.kernels.FisherKernel(fn.learn.parameters(ARCS, rows, smoothing=1.0))
    np.testing.assert_allclose(kernel.mean_features(halves), kernel.mean_features(rows), rtol=1e-12, atol=1e-14)
    odd = [weighted(rows, 1.1 * np.ones(50)), rows]  # with 1.1 each, the weights are no multiples of anything short
    assert len({fn.learn.chow_liu(data).edges for data in odd}) == 1
    assert len({fn.learn.tan(data, "v2").edges for data in odd}) == 1
    assert len({fn.learn.kdb(data, "v2", 1).edges for data in odd}) == 1


def test_models_and_their_files_know_the_weight(tmp_path: Path) -> None:
    net = fn.learn.parameters(ARCS, weighted(table(50), eighths(50)), smoothing=1.0)
    fn.save(net, tmp_path / "net.json")
    fn.write_bif(net, tmp_path / "net.bif")
    assert fn.load(tmp_path / "net.json").n_rows == net.n_rows
    assert fn.read_bif(tmp_path / "net.bif").n_rows == net.n_rows


def test_strengths_do_not_change_with_the_scale_of_weights() -> None:
    rows, weights = table(200, seed=12), eighths(200) + 0.0625
    one, two = (
        fn.learn.edge_strengths(weighted(rows, c * weights), n=5, score="loglik", max_parents=1, seed=3) for c in (1, 2)
    )
    np.testing.assert_array_equal(one.strength, two.strength)


def test_held_out_rows_and_chosen_rows_weigh_what_they_weigh() -> None:
    rows, weights = table(80, seed=13), eighths(80)
    options: dict[str, Any] = {"score": "loglik", "max_parents": 1, "smoothing": 0.5}
    one = fn.learn.cross_validate(weighted(rows, weights), folds=4, seed=1, **options)
    shares = [np.average(one.log_prob[one.fold == k], weights=weights[one.fold == k]) for k in range(4)]
    np.testing.assert_allclose(one.held_out, shares, rtol=1e-12)
    assert one.mean == pytest.approx(weights @ one.log_prob / weights.sum(), rel=1e-12)
    chosen = fn.select.random_subset(weighted(rows, weights), 10, seed=2).as_table()
    assert chosen.total == weights.sum()


def test_the_quality_of_predictions_is_a_mean_by_weight() -> None:
    probabilities, truth = np.array([[0.75, 0.25], [0.5, 0.5], [0.1, 0.9]]), np.array([0, 0, 0], dtype=np.uint8)
    quality = PredictionQuality.of(probabilities, truth, np.array([0.25, 0.0, 0.25]))
    assert quality is not None
    assert (quality.known_rows, quality.accuracy) == (0.5, 0.5)
    assert quality.log_loss == pytest.approx(-(math.log(0.75) + math.log(0.1)) / 2, rel=1e-12)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_files_keep_weights(tmp_path: Path, form: str) -> None:
    rows = weighted(table(), eighths(60))
    fn.write_table(rows, tmp_path / f"rows.{form}")
    again = fn.read_table(tmp_path / f"rows.{form}", weights="weights", schema=rows.variables)
    np.testing.assert_array_equal(again.weights, rows.weights)


def test_counts_are_sums_of_weights() -> None:
    rows = weighted(table(), eighths(60))
    (counts,) = rows.statistics([(1, 2)])
    expected = np.zeros((3, 4))
    np.add.at(expected, (rows.codes[1], rows.codes[2]), np.asarray(rows.weights))
    np.testing.assert_array_equal(counts.counts, expected)
