"""Cross-validation against loops over the folds, with counts and probabilities by hand."""

from __future__ import annotations

import math
import os
import signal
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import fishernet as fn
from fishernet.base.errors import FishernetError, FishernetWarning, SchemaError, ZeroProbabilityError
from tests.networks import random_network
from tests.rates import assert_at_most
from tests.reference.inference import log_evidence
from tests.tables import random_table, tables

Floats = npt.NDArray[np.float64]
TABLE = random_table(1, 60, [2, 3, 2, 2])


def weights_of(table: fn.Table) -> npt.NDArray[np.int64]:
    return np.ones(table.n_rows, dtype=np.int64) if table.weights is None else table.weights.astype(np.int64)


def log_probabilities(dag: fn.Dag, training: fn.Table, rows: fn.Table, smoothing: float) -> Floats:
    """The log-probability of each row under frequencies with a pseudo-count, row by row."""
    names, sizes = training.names, training.cardinalities
    seen = list(zip(zip(*training.codes, strict=True), weights_of(training), strict=True))
    logs = np.zeros(rows.n_rows)
    for position, row in enumerate(zip(*rows.codes, strict=True)):
        for name, parents in zip(dag.names, dag.parents, strict=True):
            child = names.index(name)
            above = [names.index(dag.names[p]) for p in parents]
            alike = [(other, w) for other, w in seen if all(other[p] == row[p] for p in above)]
            same = sum(w for other, w in alike if other[child] == row[child])
            share = (same + smoothing) / (sum(w for _, w in alike) + smoothing * sizes[child])
            logs[position] += math.log(share)
    return logs


@settings(max_examples=25)
@given(tables(most_variables=4, most_rows=30), st.integers(2, 5), st.sampled_from([0.5, 1.0]))
def test_every_row_is_scored_under_a_network_learned_without_its_fold(
    table: fn.Table, folds: int, smoothing: float
) -> None:
    if (weights_of(table) > 0).sum() < folds:
        return
    found = fn.learn.cross_validate(table, folds=folds, score="aic", smoothing=smoothing, seed=3)
    for part in range(folds):
        training, held = table[found.fold != part], table[found.fold == part]
        dag = fn.learn.dag(training, score="aic")
        assert found.dags[part] == dag
        expected = log_probabilities(dag, training, held, smoothing)
        np.testing.assert_allclose(found.log_prob[found.fold == part], expected, rtol=1e-12, atol=1e-12)
        assert found.scores[part] == pytest.approx(fn.score(dag, training, "aic"), rel=1e-12, abs=1e-10)
        w = weights_of(held)
        assert found.n_rows[part] == w.sum()
        assert found.held_out[part] == pytest.approx((w * expected).sum() / w.sum(), rel=1e-12, abs=1e-12)
    w = weights_of(table)
    assert found.mean == pytest.approx((w * found.log_prob).sum() / w.sum(), rel=1e-12, abs=1e-12)
    by_rows = (w * (found.log_prob - found.mean) ** 2).sum() / max(w.sum() - 1, 1) / w.sum()
    spread = max(by_rows, np.var(found.held_out, ddof=1) / folds)
    assert found.standard_error == pytest.approx(math.sqrt(spread), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("fit", [{"smoothing": "snml"}, {"smoothing": "zeros"}, {"ess": 2.0}])
def test_parameters_are_fitted_as_asked(fit: dict[str, Any]) -> None:
    found = fn.learn.cross_validate(TABLE, folds=3, seed=1, **fit)
    for part, dag in enumerate(found.dags):
        net = fn.learn.parameters(dag, TABLE[found.fold != part], **fit)
        np.testing.assert_array_equal(found.log_prob[found.fold == part], net.log_prob(TABLE[found.fold == part]))


def test_the_mean_is_within_two_standard_errors_of_what_new_rows_have() -> None:
    """By the folds' scatter alone, which five numbers tell, a fifth of the tables were farther off."""
    net = random_network(4, [2, 3, 2, 3, 2])
    new = net.sample(20_000, seed=99)

    def is_far(seed: int) -> bool:
        table = net.sample(1000, seed=seed)
        found = fn.learn.cross_validate(table, folds=5, seed=seed)
        expected = fn.learn.bayesian_network(table).log_prob(new).mean()
        return bool(abs(found.mean - expected) > 2 * found.standard_error)

    assert_at_most((is_far(seed) for seed in range(80)), 0.06, fault=0.2)


def test_leaving_one_out_has_a_closed_form() -> None:
    """One binary column with counts a and b: a row is predicted from a + b - 1 others, one of its own kind fewer."""
    a, b = 7, 4
    table = fn.Table.from_codes([[0]] * a + [[1]] * b)
    found = fn.learn.cross_validate(table, folds=a + b, seed=1)
    expected = [math.log(a / (a + b + 1))] * a + [math.log(b / (a + b + 1))] * b
    np.testing.assert_allclose(found.log_prob, expected, rtol=1e-13)


@given(st.integers(2, 40), st.integers(2, 40), st.integers(0, 2**32))
def test_folds_share_the_rows_evenly(n_rows: int, folds: int, seed: int) -> None:
    folds = min(folds, n_rows)
    found = fn.learn.cross_validate(random_table(1, n_rows, [2]), folds=folds, seed=seed)
    sizes = np.bincount(found.fold, minlength=folds)
    assert len(sizes) == folds
    assert sizes.max() - sizes.min() <= 1
    assert sizes.tolist() == found.n_rows.tolist()


def test_two_rows_are_in_one_fold_as_often_as_chance_says() -> None:
    """6 rows in 3 folds of 2: a given other row shares the fold in 1 of 5 cuts; in order, in all or in none."""
    table = random_table(1, 6, [2])
    together = np.zeros((6, 6))
    for seed in range(400):
        fold = fn.learn.cross_validate(table, folds=3, seed=seed).fold
        together += fold[:, None] == fold
    off = together[np.triu_indices(6, 1)]
    assert np.abs(off - 80).max() < 5 * math.sqrt(400 * 0.2 * 0.8)


def test_every_fold_has_rows_that_count() -> None:
    weights = np.zeros(60, dtype=int)
    weights[10:13] = [5, 1, 2]
    table = fn.Table(TABLE.variables, TABLE.codes, weights=weights)
    found = fn.learn.cross_validate(table, folds=3, seed=5)
    assert sorted(found.n_rows.tolist()) == [1, 2, 5]
    sizes = np.bincount(found.fold)
    assert sizes.tolist() == [20, 20, 20]


def test_a_seed_gives_the_same_folds_to_every_setting() -> None:
    settings_: list[dict[str, Any]] = [{}, {"score": "aic"}, {"max_parents": 0}, {"smoothing": "snml"}]
    found = [fn.learn.cross_validate(TABLE, folds=5, seed=8, **options) for options in settings_]
    for one in found[1:]:
        np.testing.assert_array_equal(one.fold, found[0].fold)
    again = fn.learn.cross_validate(TABLE, folds=5, seed=8)
    np.testing.assert_array_equal(again.log_prob, found[0].log_prob)
    other = fn.learn.cross_validate(TABLE, folds=5, seed=9)
    assert not np.array_equal(other.fold, found[0].fold)
    for seed in (None, np.random.default_rng(4)):
        one = fn.learn.cross_validate(TABLE, folds=5, seed=seed)
        repeated = fn.learn.cross_validate(TABLE, folds=5, seed=one.seed)
        np.testing.assert_array_equal(repeated.log_prob, one.log_prob)


def test_rules_hold_in_every_fold_even_when_they_can_be_read_only_once() -> None:
    pairs = [(a, b) for a in TABLE.names for b in TABLE.names if a < b]  # what is left turns to lower numbers
    found = fn.learn.cross_validate(
        TABLE,
        folds=4,
        score="loglik",
        forbidden=(pair for pair in pairs),
        required=(pair for pair in [("v3", "v0")]),
        tiers=(iter(tier) for tier in [["v1"], ["v3", "v2"]]),
        seed=1,
    )
    for dag in found.dags:
        assert not set(dag.edges) & set(pairs)
        assert ("v3", "v0") in dag.edges
        assert not {("v2", "v1"), ("v3", "v1")} & set(dag.edges)


def test_impossible_rows_are_counted_and_said() -> None:
    """Of three states one occurs once: without smoothing, nothing else tells that it can."""
    table = fn.Table.from_codes([[0], [1], [2], [0], [1], [0], [1], [0]])
    with pytest.warns(
        FishernetWarning, match="1 of the held-out rows have probability 0 .* use smoothing above 0"
    ) as said:
        found = fn.learn.cross_validate(table, folds=4, smoothing=0, seed=1)
    assert said[0].filename == __file__
    np.testing.assert_array_equal(np.isneginf(found.log_prob), np.arange(8) == 2)
    assert found.impossible.sum() == found.impossible[found.fold[2]] == 1
    assert found.mean == -math.inf
    assert math.isnan(found.standard_error)
    assert np.isfinite(np.delete(found.held_out, found.fold[2])).all()
    weighted = fn.Table.from_codes([[0], [1], [0], [1], [2]], weights=[3, 2, 1, 4, 0])
    with warnings.catch_warnings():  # a row of weight 0 counts for nothing
        warnings.simplefilter("error")
        found = fn.learn.cross_validate(weighted, folds=4, smoothing=0, seed=1)
    assert found.log_prob[4] == -math.inf
    assert math.isfinite(found.mean)


def test_a_configuration_that_only_the_held_out_rows_have_needs_smoothing() -> None:
    table = fn.Table.from_codes([[0, 0], [0, 1], [1, 0], [1, 1], [2, 1]])
    options: dict[str, Any] = {"folds": 5, "required": [("v0", "v1")], "seed": 1}
    with pytest.raises(ZeroProbabilityError, match="use smoothing above 0"):
        fn.learn.cross_validate(table, smoothing=0, **options)
    assert math.isfinite(fn.learn.cross_validate(table, smoothing=1, **options).mean)


@pytest.mark.parametrize("missing", ["em", "node-average"])
def test_of_rows_with_missing_cells_what_is_known_is_scored(missing: Any) -> None:
    table = random_table(0, 60, [2, 3, 2], missing=0.2)
    found = fn.learn.cross_validate(table, folds=3, missing=missing, seed=1)
    assert np.isfinite(found.log_prob).all()
    for part in range(3):
        rest, rows = table[found.fold != part], table[found.fold == part]
        fitted = fn.learn.parameters(found.dags[part], rest)
        for row, log in zip(range(rows.n_rows), found.log_prob[found.fold == part], strict=True):
            cells = {name: rows[[row]][name].tolist()[0] for name in rows.names}
            known = {name: state for name, state in cells.items() if state is not None}
            assert log == pytest.approx(log_evidence(fitted, known), abs=1e-12)


@pytest.mark.parametrize("folds", [1, 0, -2, 61, 2.0, "3", True, None])
def test_a_number_of_folds_that_is_none_is_refused(folds: Any) -> None:
    with pytest.raises(FishernetError, match=r"folds must be an integer from 2 to 60 \(the rows that count\), got"):
        fn.learn.cross_validate(TABLE, folds=folds)


def test_bad_input_is_refused() -> None:
    with pytest.raises(SchemaError, match="needs a Table or a data frame, not list"):
        fn.learn.cross_validate([[1]])
    with pytest.raises(FishernetError, match="smoothing must be"):
        fn.learn.cross_validate(TABLE, smoothing=-1)
    with pytest.raises(FishernetError, match="unknown score"):
        fn.learn.cross_validate(TABLE, score="nope")  # type: ignore[arg-type]
    with pytest.raises(FishernetError, match="seed"):
        fn.learn.cross_validate(TABLE, seed=-1)


def test_a_result_cannot_be_changed_and_is_printed_as_a_frame() -> None:
    found = fn.learn.cross_validate(TABLE, folds=4, seed=1)
    with pytest.raises(ValueError, match="read-only"):
        found.log_prob[0] = 0
    frame = found.to_frame()
    assert frame["fold"].to_pylist() == [0, 1, 2, 3]
    assert frame["held_out_log_likelihood_per_row"].to_pylist() == found.held_out.tolist()
    assert frame["arcs"].to_pylist() == [dag.n_edges for dag in found.dags]


# ------------------------------------------------------------------------------------------- stopping and progress


def test_progress_counts_folds() -> None:
    calls: list[tuple[str, int, int | None]] = []
    fn.learn.cross_validate(TABLE, folds=4, progress=lambda *call: calls.append(call))
    assert calls[0] == ("cross-validating", 0, 4)
    assert calls[-1] == ("cross-validating", 4, 4)


def test_an_exception_of_progress_reaches_the_caller() -> None:
    def stop(what: str, done: int, total: int | None) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        fn.learn.cross_validate(TABLE, progress=stop)


def test_control_c_ends_it_and_carries_no_graph_of_one_fold() -> None:
    """Ctrl-C once the first of a thousand folds has been learned from."""
    table = fn.datasets.load("alarm").sample(20_000, seed=1)
    folds: list[int] = []

    def interrupt(what: str, done: int, total: int | None) -> None:
        folds.append(done)
        if done >= 1:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as stopped:
        fn.learn.cross_validate(table, folds=1000, search="hill-climb", progress=interrupt)
    assert 1 <= folds[-1] < 1000
    assert not hasattr(stopped.value, "best")


def test_numbers_are_held_out_too() -> None:
    """The density of each row by SciPy, under the regressions learned from the other folds."""
    a, b, noise = np.random.default_rng(3).normal(size=(3, 200))
    table = fn.Table.from_frame({"a": a, "b": a + b, "c": a - b + 0.1 * noise})
    found = fn.learn.cross_validate(table, folds=4, seed=1)
    for part, dag in enumerate(found.dags):
        net = fn.learn.parameters(dag, table[found.fold != part])
        expected = stats.multivariate_normal(net.mean, net.covariance).logpdf(table[found.fold == part].numbers.T)
        np.testing.assert_allclose(found.log_prob[found.fold == part], expected, rtol=1e-9)
        assert dag == fn.learn.bayesian_network(table[found.fold != part]).dag
    assert found.mean == pytest.approx(found.log_prob.mean())
    frame = pd.DataFrame({"a": a, "b": a + b, "c": a - b + 0.1 * noise})
    np.testing.assert_array_equal(fn.learn.cross_validate(frame, folds=4, seed=1).log_prob, found.log_prob)


def test_folds_whose_other_rows_know_nothing_of_a_column_are_scored_without_it() -> None:
    random = np.random.default_rng(1)
    a = random.normal(size=40)
    frame = {"a": a, "b": a + random.normal(size=40), "c": np.where(np.arange(40) == 3, 1.5, np.nan)}
    frame["c"][9] = 2.5
    with pytest.warns(fn.FishernetWarning) as told:
        found = fn.learn.cross_validate(frame, folds=5, seed=1)
    assert any("some folds are scored without 'c'" in str(one.message) for one in told)
    without = fn.learn.cross_validate({"a": frame["a"], "b": frame["b"]}, folds=5, seed=1)
    lacking = [part for part, dag in enumerate(found.dags) if dag.names == ("a", "b")]
    assert lacking == sorted({int(found.fold[3]), int(found.fold[9])})
    rows = np.isin(found.fold, lacking)
    assert found.log_prob[rows] == pytest.approx(without.log_prob[rows], rel=1e-9)
