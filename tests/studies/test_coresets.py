"""The study of coresets: what holds of any way to choose rows."""

from __future__ import annotations

import numpy as np
import pytest

import fishernet as fn
from studies import coresets
from studies.study import Run, Table
from studies.subsets import weighted

TABLE = fn.datasets.load("asia").sample(400, seed=1)
KERNEL = fn.kernels.FisherKernel(fn.learn.bayesian_network(TABLE))


def test_every_way_chooses_rows_whose_weights_add_up_to_the_table() -> None:
    ways = coresets.choosers(KERNEL, TABLE, 20, np.random.default_rng(0))
    assert {"strata", "k-means", "one-hot MMD", "chi-square", "MMD", "protodash", "coreset"} <= set(ways)
    assert set(ways) | set(coresets.EXTRAS) | {"random"} == set(coresets.WAYS)
    for way, choose in ways.items():
        rows, weights = choose()
        assert 0 < len(rows) <= 20 + (way == "strata"), way
        assert len(np.unique(rows)) == len(rows)
        assert weights is None or (np.asarray(weights) >= 0).all()
        assert coresets.copies(TABLE, (rows, weights)).total == pytest.approx(TABLE.n_rows)


def test_strata_have_the_shares_of_their_classes() -> None:
    rows, weights = coresets.by_strata(TABLE, 40, np.random.default_rng(1))
    assert weights is not None
    classes = TABLE.column(TABLE.names[-1])
    for c, size in enumerate(np.bincount(classes)):
        assert weights[classes[rows] == c].sum() == pytest.approx(size)


def test_as_many_centres_as_distinct_rows_lose_nothing() -> None:
    few = fn.Table.from_frame({"a": ["x", "y", "z"] * 20, "b": ["u", "v", "v"] * 20})
    rows, weights = coresets.by_means(few, 3, np.random.default_rng(2))
    assert weights is not None
    assert weights.tolist() == [20, 20, 20]
    dag = fn.Dag.from_edges(["a", "b"], [("a", "b")])
    fitted = [fn.learn.parameters(dag, of) for of in (few, coresets.copies(few, (rows, weights)))]
    np.testing.assert_allclose(fitted[1].log_prob(few), fitted[0].log_prob(few), atol=1e-12)


def test_rows_that_differ_are_counted() -> None:
    few = fn.Table.from_frame({"a": ["x", "y", "x"], "b": ["u", "v", "v"]})
    assert coresets.unlike(few).tolist() == [[0, 2, 1], [2, 0, 1], [1, 1, 0]]


def test_tables_are_counted_where_the_coreset_is_the_best() -> None:
    rows = [["t", 25, {"mean": 1.0}, {"mean": 0.09}, None], ["u", 25, {"mean": 1.0}, {"mean": 0.5}, {"mean": 0.2}]]
    losses = Table("losses", ["table", "k", "random", "coreset", "MMD"], rows)
    assert coresets.counts(losses, ("random", "coreset", "MMD")) == [[25, 2, 1, 1, 2]]

    assert coresets.shares(losses, ("random", "coreset", "MMD")) == [
        ["coreset", {"mean": pytest.approx(0.295), "error": pytest.approx(0.205)}, None, None, None],
        ["MMD", {"mean": 0.2}, None, None, None],
    ]


def test_weights_of_a_survey_add_up_to_the_rows_that_would_be_as_sure() -> None:
    alike, uneven = (weighted(TABLE[:4], np.array(w)) for w in ([5.0] * 4, [1e9, 1.0, 1.0, 1.0]))
    np.testing.assert_allclose(np.asarray(coresets.as_survey(alike).weights), 1.0)
    assert coresets.as_survey(uneven).total == pytest.approx(1.0, abs=1e-6)


def test_the_quick_form_needs_no_data() -> None:
    run = Run("quick", asked_repetitions=1)
    found = {table.name: table for table in coresets.compute(run)}
    losses = found["losses"].select(k=200)
    assert [row["table"] for row in losses] == ["nursery"]
    assert losses[0]["coreset"]["mean"] < losses[0]["MMD"]["mean"] < losses[0]["random"]["mean"]
