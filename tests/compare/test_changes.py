"""What changed in several tables: the same as table by table, a level held over all, and bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.base.errors import FishernetError, FishernetWarning, SchemaError
from tests.rates import assert_at_most

ASIA = fn.datasets.load("asia")
SMOKERS = fn.infer.intervene(ASIA, {"smoke": "yes"})
FAST: dict[str, Any] = {"permutations": 99, "resamples": 20}
explain = fn.compare.explain_changes
TABLES = [ASIA.sample(600, seed=1), ASIA.sample(500, seed=2), SMOKERS.sample(400, seed=3), SMOKERS.sample(500, seed=4)]


def numbers(n: int, seed: int, shift: float = 0.0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return {"x": x, "y": x + shift + rng.normal(size=n), "z": rng.normal(size=n)}


# --------------------------------------------------------------------------------------------- which are compared


@pytest.mark.parametrize(
    ("against", "expected"),
    [
        ("first", {"2": (), "3": ("smoke",), "4": ("smoke",)}),
        ("previous", {"2": (), "3": ("smoke",), "4": ()}),
        ("rest", {"1": ("smoke",), "2": ("smoke",), "3": ("smoke",), "4": ("smoke",)}),
    ],
)
def test_each_table_is_compared_with_the_one_that_was_asked_for(against: Any, expected: dict[str, Any]) -> None:
    found = explain(TABLES, ASIA, against=against, **FAST)
    assert dict(found.changed()) == expected
    assert (
        dict(found.references)
        == {
            "first": {"2": "1", "3": "1", "4": "1"},
            "previous": {"2": "1", "3": "2", "4": "3"},
            "rest": dict.fromkeys("1234", "the rest"),
        }[against]
    )


@pytest.mark.parametrize("against", ["first", "previous"])
def test_a_comparison_is_explain_change_at_its_part_of_the_level(against: Any) -> None:
    found = explain(TABLES, ASIA, against=against, level=0.06, **FAST)
    for k, result in enumerate(found.by_name.values(), start=1):
        before = TABLES[0] if against == "first" else TABLES[k - 1]
        alone = fn.compare.explain_change(before, TABLES[k], ASIA, level=0.02, **FAST)
        assert dict(result.by_variable) == dict(alone.by_variable)
        assert result.level == pytest.approx(0.02)
        assert result.n_rows == alone.n_rows


def test_the_rest_is_all_other_rows() -> None:
    found = explain(TABLES, ASIA, against="rest", **FAST)
    n = [table.n_rows for table in TABLES]
    assert [result.n_rows for result in found.by_name.values()] == [(sum(n) - one, one) for one in n]


def test_names_columns_and_sequences_are_the_same_tables() -> None:
    names = ["May", "June", "July", "August"]
    by_name = explain(dict(zip(names, TABLES, strict=True)), ASIA, **FAST)
    frames = [table.to_frame().to_pandas().assign(month=name) for name, table in zip(names, TABLES, strict=True)]
    import pandas as pd

    rows = pd.concat(frames)
    rows["month"] = pd.Categorical(rows["month"], names)
    by_column = explain(rows.sample(frac=1, random_state=1), ASIA, by="month", **FAST)
    listed = explain(TABLES, ASIA, **FAST)
    assert list(by_name.by_name) == list(by_column.by_name) == names[1:]
    assert list(listed.changed().values()) == list(by_name.changed().values()) == list(by_column.changed().values())


def test_one_graph_is_learned_from_all_rows() -> None:
    found = explain(TABLES, **FAST)
    unchanged = next(result for result in found.by_name.values() if not result.changed() and not result.in_doubt())
    assert unchanged.graphs[0][0] == found.graph
    assert set(found.graph.names) == set(ASIA.names)
    given = explain(TABLES, found.graph, **FAST)
    assert all(result.graphs == ((found.graph, 1.0),) for result in given.by_name.values())


def test_numbers_are_compared_too() -> None:
    found = explain([numbers(400, 1), numbers(300, 2), numbers(300, 3, 1.0)], **FAST)
    assert dict(found.changed()) == {"2": (), "3": ("y",)}


def test_a_frame_has_one_row_a_table_and_variable_and_the_repr_names_what_changed() -> None:
    found = explain(TABLES, ASIA, **FAST)
    rows = found.to_frame().to_pylist()
    assert [(row["table"], row["variable"]) for row in rows] == [(t, v) for t in "234" for v in ASIA.names]
    assert {(row["table"], row["variable"]) for row in rows if row["changed"]} == {("3", "smoke"), ("4", "smoke")}
    assert repr(found) == "Changes(3 comparisons; changed: 3 (smoke), 4 (smoke))"


# ------------------------------------------------------------------------------------------------------------ levels


def test_without_a_change_few_say_that_there_is_one() -> None:
    """A level per table, not over all five comparisons, would be .2 and more."""

    def is_wrong(seed: int) -> bool:
        tables = [ASIA.sample(150, seed=100 * seed + k) for k in range(6)]
        return any(explain(tables, ASIA, permutations=99, resamples=2, seed=seed).changed().values())

    assert_at_most(map(is_wrong, range(120)), 0.05, fault=0.2)


def test_a_change_smaller_than_the_smallest_effect_does_not_count() -> None:
    found = fn.compare.explain_change(TABLES[0], TABLES[2], ASIA, **FAST)
    low = found.by_variable["smoke"].low
    for factor, expected in ((0.9, ("smoke",)), (1.1, ())):
        how: dict[str, Any] = {"min_effect": factor * low, **FAST}
        assert fn.compare.explain_change(TABLES[0], TABLES[2], ASIA, **how).changed() == expected
    assert not any(explain(TABLES, ASIA, min_effect=5.0, **FAST).changed().values())
    assert fn.compare.explain_change(ASIA, SMOKERS, min_effect=1.0).changed() == ()
    assert fn.compare.explain_change(ASIA, SMOKERS, min_effect=0.5).changed() == ("smoke",)
    with pytest.raises(FishernetError, match="min_effect"):
        fn.compare.explain_change(ASIA, SMOKERS, min_effect=-1)


# ------------------------------------------------------------------------------------------------------- odd tables


def test_equal_tables_one_row_and_one_label_have_not_changed() -> None:
    one_label = fn.Table.from_frame({name: ["no"] * 5 for name in ASIA.names})
    found = explain([TABLES[0], TABLES[0], TABLES[0][:1], one_label], ASIA, **FAST)
    assert found.changed()["2"] == found.changed()["3"] == ()


def test_a_new_label_an_emptied_column_and_more_gaps_are_seen() -> None:
    rng = np.random.default_rng(0)
    new, gaps = (ASIA.sample(500, seed=seed).to_frame().to_pandas().astype(object) for seed in (5, 6))
    new.loc[rng.choice(500, 25, replace=False), "smoke"] = "sometimes"
    gaps.loc[rng.choice(500, 60, replace=False), "dysp"] = None
    empty = ASIA.sample(500, seed=7).select([name for name in ASIA.names if name != "lung"])
    tables = {"before": ASIA.sample(2000, seed=8), "new": new, "empty": empty, "gaps": gaps}
    with pytest.warns(FishernetWarning, match="all cells of 'lung' in empty for missing"):
        found = explain(tables, ASIA.dag, **FAST)
    assert found.by_name["new"].new_labels == {"smoke": {"sometimes": 25}}
    assert found.changed()["new"] == ("smoke",)
    assert [of.variable for of in found.by_name["empty"].missing] == ["lung"]
    assert [of.variable for of in found.by_name["gaps"].missing] == ["dysp"]


def test_columns_that_only_later_tables_have_are_left_out_with_a_warning() -> None:
    with pytest.warns(FishernetWarning, match="'xray' is only in 2"):
        found = explain([TABLES[0].select(ASIA.names[:6]), TABLES[1].select(ASIA.names[:7])], **FAST)
    assert set(found.by_name["2"].by_variable) == set(ASIA.names[:6])


@pytest.mark.parametrize(
    ("tables", "how", "message"),
    [
        (TABLES[0], {}, "one and by="),
        (TABLES[:1], {}, "at least two tables, not 1"),
        ([], {}, "at least two tables, not 0"),
        ([TABLES[0], TABLES[1][:0]], {}, "2 has no rows"),
        ([TABLES[0], {"q": ["a"]}], {}, "2 has none of the first"),
        ([TABLES[0], ASIA], {}, "one of these is a network"),
        (TABLES[0], {"by": "month"}, "no column 'month'"),
        ({"t": np.linspace(0, 1, 40), "a": ["x", "y"] * 20}, {"by": "t"}, "column of numbers or dates"),
        (3, {}, "sequence or a mapping of tables, not an int"),
    ],
)
def test_bad_input_is_answered(tables: Any, how: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        explain(tables, **how, **FAST)


def test_an_unknown_reference_is_answered_with_the_known_ones() -> None:
    with pytest.raises(FishernetError, match="previous"):
        explain(TABLES, against="last")  # type: ignore[arg-type]
