"""The rows behind an arc: scores without each row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.base.errors import SchemaError
from fishernet.base.vocabulary import ScoreName
from tests.tables import random_table

DAG = fn.Dag.from_edges(["v0", "v1", "v2"], [("v0", "v2"), ("v1", "v2")])


def gain(table: fn.Table, score: ScoreName, **options: Any) -> float:
    both = fn.local_score(table, "v2", ["v0", "v1"], score, **options)
    return both - fn.local_score(table, "v2", ["v1"], score, **options)


@pytest.mark.parametrize(("score", "options"), [("bic", {}), ("bdeu", {"ess": 2.0}), ("qnml", {}), ("aic", {})])
def test_what_a_row_adds_is_the_score_without_it(score: ScoreName, options: dict[str, Any]) -> None:
    table = random_table(2, 40, [2, 3, 2], dependence=0.8)
    found = fn.explain.arc(DAG, table, "v0", "v2", score=score, **options)
    assert found.answer == pytest.approx(gain(table, score, **options), rel=1e-12, abs=1e-12)
    for row in range(0, 40, 7):
        rest = table[[k for k in range(40) if k != row]]
        lost = found.answer - gain(rest, score, **options)
        assert found.values[row] == pytest.approx(lost, rel=1e-9, abs=1e-9)
        assert found.removals[row] == pytest.approx(lost, rel=1e-9, abs=1e-9)


def test_rows_that_count_several_times() -> None:
    table = random_table(2, 30, [2, 2, 2], dependence=0.8)
    weights = np.random.default_rng(1).integers(1, 4, 30)
    found = fn.explain.arc(DAG, table.reweighted(weights), "v0", "v2")
    repeated = table[np.repeat(np.arange(30), weights)]
    assert found.answer == pytest.approx(gain(repeated, "bic"), rel=1e-12)
    rest = table[np.repeat(np.arange(1, 30), weights[1:])]
    assert found.removals[0] == pytest.approx(found.answer - gain(rest, "bic"), rel=1e-9)


def test_numbers_hold_arcs_up_too() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    table = fn.Table.from_frame({"x": x.tolist(), "y": (x + rng.normal(size=60)).tolist()}, bins=None)
    dag = fn.Dag.from_edges(["x", "y"], [("x", "y")])
    found = fn.explain.arc(dag, table, "x", "y")
    rest = table[list(range(1, 60))]
    lost = found.answer - (fn.local_score(rest, "y", ["x"]) - fn.local_score(rest, "y", []))
    assert found.values[0] == pytest.approx(lost, rel=1e-9)


def test_without_its_smallest_set_the_arc_gains_nothing() -> None:
    table = fn.datasets.load("asia").sample(500, seed=1)
    dag = fn.learn.dag(table)
    found = fn.explain.arc(dag, table, "smoke", "bronc").smallest_set()
    assert found is not None
    rest = table[np.setdiff1d(np.arange(500), found.rows)]
    now = fn.local_score(rest, "bronc", ["smoke"]) - fn.local_score(rest, "bronc", [])
    assert now == pytest.approx(found.without, abs=1e-9)
    assert now <= 0 < found.answer


def test_there_is_an_arc_to_ask_for() -> None:
    with pytest.raises(SchemaError, match="has no arc 'v0' -> 'v1': it has no parents"):
        fn.explain.arc(DAG, random_table(1, 20, [2, 2, 2]), "v0", "v1")
