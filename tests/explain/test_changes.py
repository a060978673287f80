"""The rows behind a change: what the score gains by a conditional of its own in each table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import fishernet as fn
from fishernet.base.errors import FishernetWarning, SchemaError

ASIA = fn.datasets.load("asia")
CURED = fn.infer.intervene(ASIA, {"bronc": "no"})
BEFORE = ASIA.sample(600, seed=1)
AFTER = fn.data.pooling.stacked([ASIA.sample(300, seed=2), CURED.sample(200, seed=3)])
GAPS = np.random.default_rng(5).random((600, 8)) < 0.05


def gain(before: fn.Table, after: fn.Table, score: Any = "bic") -> float:
    """By score of both tables together, with a column that says which of them a row is of."""
    both = pd.concat([before.to_pandas().assign(which="b"), after.to_pandas().assign(which="a")])
    table = fn.Table.from_frame(both)
    return fn.local_score(table, "bronc", ["smoke", "which"], score) - fn.local_score(table, "bronc", ["smoke"], score)


@pytest.mark.parametrize("score", ["bic", "bdeu", "qnml"])
def test_what_a_row_adds_is_the_score_without_it(score: Any) -> None:
    found = fn.explain.change(BEFORE, AFTER, "bronc", ASIA, score=score)
    assert found.n_rows == 1100
    assert found.answer == pytest.approx(gain(BEFORE, AFTER, score), rel=1e-10)
    for row in (0, 7, 599):
        rest = BEFORE[[k for k in range(600) if k != row]]
        assert found.removals[row] == pytest.approx(found.answer - gain(rest, AFTER, score), rel=1e-8, abs=1e-9)
    for row in (0, 350, 499):
        rest = AFTER[[k for k in range(500) if k != row]]
        assert found.removals[600 + row] == pytest.approx(found.answer - gain(BEFORE, rest, score), rel=1e-8, abs=1e-9)


def test_two_sets_of_the_same_rows_speak_against_a_change_by_what_parameters_cost() -> None:
    found = fn.explain.change(BEFORE, BEFORE, "bronc", ASIA)
    assert found.answer == pytest.approx(-2 * 0.5 * np.log(1200), rel=1e-9)  # a probability for smokers, one for others
    assert fn.explain.change(BEFORE, BEFORE, "bronc", ASIA, score="loglik").answer == pytest.approx(0, abs=1e-9)


def test_groups_by_a_column_that_the_graph_lacks() -> None:
    before = BEFORE.to_pandas().assign(clinic=["A", "B"] * 300)
    after = AFTER.to_pandas().assign(clinic=["A"] * 300 + ["B"] * 200)
    found = fn.compare.explain_change(BEFORE, AFTER, ASIA)
    assert found.changed() == ("bronc",)
    why = fn.explain.change(before, after, "bronc", found)
    without = {group.label: group.without for group in why.by("clinic")}
    assert without["B"] < 0 < why.answer < without["A"]
    few = why.smallest_set()
    assert few is not None
    assert few.without <= 0 < few.answer
    assert set(why.to_frame()["table"].to_pylist()) == {"before", "after"}


def test_numbers_and_labels_below_numbers() -> None:
    random = np.random.default_rng(4)

    def rows(slope: float, shift: float) -> pd.DataFrame:
        x = random.normal(size=150)
        label = np.where(x + shift + random.normal(size=150) > 0, "u", "v")
        return pd.DataFrame({"x": x, "y": slope * x + random.normal(size=150), "label": label})

    dag = fn.Dag.from_edges(["x", "y", "label"], [("x", "y"), ("x", "label")])
    before, after = rows(1.0, 0.0), rows(3.0, 0.0)
    gains = {name: fn.explain.change(before, after, name, dag).answer for name in dag.names}
    assert gains["y"] > 10
    assert gains["x"] < 0 > gains["label"]
    assert fn.explain.change(before, rows(1.0, 2.0), "label", dag).answer > 10


def test_missing_cells_are_told_once_and_scored_as_elsewhere() -> None:
    table, later = (fn.Table.from_frame(rows.to_pandas().mask(GAPS[: rows.n_rows])) for rows in (BEFORE, AFTER))
    table, later = (rows.select(["smoke", "bronc"]) for rows in (table, later))
    with pytest.warns(FishernetWarning, match="cells are missing") as warned:
        found = fn.explain.change(table, later, "bronc", ASIA)
    assert len(warned) == 1
    found.by("smoke")  # which warns of nothing
    with pytest.warns(FishernetWarning, match="cells are missing"):
        assert found.answer == pytest.approx(gain(table, later), rel=1e-10)


def test_weights_count() -> None:
    weights = np.random.default_rng(1).integers(1, 4, 500)
    found = fn.explain.change(BEFORE, AFTER.reweighted(weights), "bronc", ASIA)
    assert found.answer == pytest.approx(gain(BEFORE, AFTER[np.repeat(np.arange(500), weights)]), rel=1e-10)


def test_parents_that_the_tables_lack_are_left_out() -> None:
    before, after = (table.select(["bronc", "dysp"]) for table in (BEFORE, AFTER))
    alone = fn.Dag.from_edges(["bronc", "dysp"], [("bronc", "dysp")])
    expected = fn.explain.change(before, after, "bronc", alone).answer
    assert fn.explain.change(before, after, "bronc", ASIA).answer == pytest.approx(expected, rel=1e-12)


def test_what_cannot_be_asked() -> None:
    with pytest.raises(SchemaError) as raised:
        fn.explain.change(BEFORE, AFTER, "brunch", ASIA)
    assert raised.value.parameter == "variable"
    with pytest.raises(SchemaError) as raised:
        fn.explain.change(BEFORE, AFTER[[]], "bronc", ASIA)
    assert raised.value.parameter == "after"
    with pytest.warns(FishernetWarning, match="bronc"), pytest.raises(SchemaError, match="bronc"):
        fn.explain.change(BEFORE, AFTER.select(["smoke"]), "bronc", ASIA)
