"""Networks of any kind, judged by rows that were held out and fitted to all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.base.errors import FishernetError
from tests.networks import with_holes
from tests.tables import random_table

TABLE = fn.datasets.load("nursery").split(0.2, seed=1)[0]
KINDS: dict[str, dict[str, Any]] = {
    "bn": {"score": "aic"},
    "dn": {},
    "naive-bayes": {"target": "class"},
    "tan": {"target": "class"},
    "kdb": {"target": "class", "k": 2},
    "chow-liu": {},
}


@pytest.mark.parametrize(("kind", "options"), KINDS.items(), ids=KINDS)
def test_it_is_judged_by_rows_that_it_has_not_seen(kind: str, options: dict[str, Any]) -> None:
    found = fn.learn.fit(TABLE, kind, seed=3, **options)
    training, held_out = fn.learn.hold_out(TABLE, 0.2, seed=3)
    assert found.held_out == held_out
    known = found.to_dict()
    assert (known["training_rows"], known["held_out_rows"]) == (training.total, held_out.total)
    assert found.trained.edges == found.model.edges
    assert found.model.n_rows == TABLE.total
    assert found.trained.n_rows == training.total
    if kind == "dn":
        expected = np.mean(found.trained.pseudo_log_likelihood(held_out))
        assert known["held_out_pseudo_log_likelihood_per_row"] == pytest.approx(float(expected), rel=1e-12)
        return
    assert known["held_out_log_likelihood_per_row"] == pytest.approx(float(found.trained.log_prob(held_out).mean()))
    again = fn.learn.parameters(found.model.dag, TABLE)
    np.testing.assert_allclose(found.model.log_prob(held_out), again.log_prob(held_out), rtol=1e-12)


def test_a_classifier_says_how_well_it_predicts() -> None:
    found = fn.learn.fit(TABLE, "tan", target="class")
    right = found.trained.predict(found.held_out, "class") == found.held_out["class"]
    assert found.to_dict()["held_out_accuracy"] == pytest.approx(np.mean(right))


@pytest.mark.parametrize(
    ("n", "share", "way"), [(2000, 0.4, "em"), (60_000, 0.02, "em"), (60_000, 0.3, "node-average")]
)
def test_em_is_for_few_cells_or_few_that_are_missing(n: int, share: float, way: str) -> None:
    table = with_holes(fn.datasets.load("asia"), n, 1, share)
    assert fn.learn.fit(table, "tan", target="dysp").to_dict()["missing"] == way


def test_numbers_and_missing_cells_need_no_option() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=300)
    frame: dict[str, Any] = {"x": x.tolist(), "y": (x + rng.normal(size=300)).tolist()}
    frame["sick"] = [None if k % 10 == 0 else "yes" if v > 0 else "no" for k, v in enumerate(x)]
    found = fn.learn.fit(frame)
    assert found.model.values == "mixed"
    assert found.to_dict()["missing"] == "em"
    graph = fn.learn.fit({name: frame[name] for name in ("x", "y")}, "gaussian")
    assert graph.model.edges == (("x", "y"),)
    tests = fn.learn.fit({name: frame[name] for name in ("x", "y")}, "markov", test="fisher-z")
    assert tests.held_out.n_rows == 0
    assert tests.model.edges == (("x", "y"),)


def test_it_speaks() -> None:
    found = fn.learn.fit(TABLE, "bn")
    facts = {fact.label: fact for fact in found.facts()}
    assert facts["arcs"].value == len(found.model.edges)
    assert facts["bic score"].unit == "nats"
    assert facts["held-out log-likelihood"].value == found.to_dict()["held_out_log_likelihood_per_row"]
    assert [line.split()[0] for line in str(found).splitlines()][:2] == ["rows", "rows"]
    assert found.to_frame().column_names == ["fact", "value", "unit"]
    assert "<table>" in found._repr_html_()
    stopped = fn.learn.fit(random_table(1, 60, [2, 2, 2]), search="exact")
    assert {fact.label: fact.value for fact in stopped.facts()}["of all graphs"] == "proven best"


@pytest.mark.parametrize(
    ("kind", "options", "sentence"),
    [
        ("tan", {}, "needs a target"),
        ("dn", {"max_parents": 2}, r"max_parents is for a Bayesian network \(model='bn'\); it does not go with a dep"),
        ("tan", {"target": "class", "k": 2}, r"k is for a k-dependence classifier"),
        ("bn", {"prior": False}, "prior is for a Gaussian Markov network"),
        ("dn", {"score": "fractional"}, r"score is for a Bayesian network of numbers \(score='fractional'\)"),
        ("nothing", {}, "model"),
        ("bn", {"holdout": 1.0}, "holdout must be"),
    ],
)
def test_what_does_not_go_together_is_told(kind: str, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(FishernetError, match=sentence):
        fn.learn.fit(TABLE, kind, **options)


def test_an_option_of_nobody_is_pythons_own_error() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'scoer'"):
        fn.learn.fit(TABLE, scoer="bic")  # type: ignore[call-arg]
