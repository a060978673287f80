"""Batch after batch: alarms where something changed, few where nothing did, and odd batches answered."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import hypergeom

import fishernet as fn
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.compare.conditionals.state_tests import log_evidence
from fishernet.compare.monitor import spent
from tests.rates import assert_at_most

ASIA = fn.datasets.load("asia")
SMOKERS = fn.infer.intervene(ASIA, {"smoke": "yes"})
REFERENCE = ASIA.sample(2000, seed=1)
FAST: dict[str, Any] = {"permutations": 99, "resamples": 20}
Monitor = fn.compare.Monitor


def frame(n: int, seed: int) -> Any:
    return ASIA.sample(n, seed=seed).to_frame().to_pandas().astype(object)


def one_batch(batch: Any, reference: Any = REFERENCE, net: Any = ASIA, **how: Any) -> fn.compare.MonitorResult:
    return Monitor(reference, net, **FAST | how).update(batch)


# ------------------------------------------------------------------------------------------------------------- level


def test_the_parts_of_the_level_add_up_to_1_and_fall_slowly() -> None:
    parts = [spent(k) for k in range(1, 1001)]
    assert sum(parts) == pytest.approx(1 - 1 / math.log2(1002))
    assert all(one > other > 0 for one, other in itertools.pairwise(parts))
    assert spent(100) > 1 / 4000


def test_evidence_is_an_e_value() -> None:
    """Its expected value, over all counts that are possible, is 1 if nothing changed."""
    having, drawn = np.array([3, 2, 4]), 4
    expected = 0.0
    for count in itertools.product(*(range(h + 1) for h in having)):
        if sum(count) == drawn:
            chance = math.prod(math.comb(h, c) for h, c in zip(having, count, strict=True)) / math.comb(9, drawn)
            after = np.array([count], dtype=float)
            expected += chance * math.exp(log_evidence(having - after, after))
    assert expected == pytest.approx(1)


def test_evidence_of_two_states_is_by_the_hypergeometric_distribution() -> None:
    ratio = 1 / 11 / hypergeom(30, 12, 10).pmf(9)
    found = log_evidence(np.array([[3.0, 17.0]]), np.array([[9.0, 1.0]]))
    assert found == pytest.approx(math.log(0.8 + 0.2 * ratio))


def test_without_a_change_few_monitors_ever_alarm() -> None:
    """A level for each batch would let nearly all of them alarm."""

    def alarms(seed: int) -> bool:
        monitor = Monitor(ASIA.sample(500, seed=5000 + seed), ASIA, level=0.2, seed=seed, **FAST)
        batches = (ASIA.sample(100, seed=100 * seed + k) for k in range(15))
        return any(monitor.update(batch).alarm for batch in batches)

    assert_at_most(map(alarms, range(60)), 0.2, fault=0.5)


# ------------------------------------------------------------------------------------------------------------ alarms


def test_a_change_is_seen_in_a_late_batch_too() -> None:
    monitor = Monitor(REFERENCE, ASIA, **FAST)
    for k in range(40):
        monitor.update(ASIA.sample(60, seed=k))
    found = monitor.update(SMOKERS.sample(500, seed=1000))
    assert (found.batch, found.changed(), found.alarm, monitor.batches) == (41, ("smoke",), True, 41)
    nats, low, high = found.nats["smoke"]
    assert low < math.log(2) < high
    assert low <= nats <= high


def test_a_new_label_is_told_with_its_rows_and_seen_where_it_is_common() -> None:
    batch = frame(500, 2)
    batch.loc[:24, "smoke"] = "sometimes"
    found = one_batch(batch)
    assert dict(found.new_labels) == {"smoke": {"sometimes": 25}}
    assert found.changed() == ("smoke",)
    batch = frame(500, 2)
    batch.loc[0, "smoke"] = "once"
    found = one_batch(batch)
    assert (dict(found.new_labels), found.alarm) == ({"smoke": {"once": 1}}, False)


def test_vanished_and_new_columns_are_said_and_the_others_answered() -> None:
    batch = SMOKERS.sample(400, seed=3).to_frame().to_pandas().drop(columns="lung").assign(extra=1)
    found = one_batch(batch)
    assert (found.vanished, found.new_columns, found.changed()) == (("lung",), ("extra",), ("smoke",))
    assert found.untested() == ("lung",)
    assert [of.variable for of in found.missing] == ["lung"]


def test_other_shares_of_missing_cells_are_an_alarm() -> None:
    rng = np.random.default_rng(0)
    reference, batch = frame(2000, 4), frame(500, 5)
    for rows, share in ((reference, 0.02), (batch, 0.10)):
        rows.loc[rng.random(len(rows)) < share, "dysp"] = None
    found = one_batch(batch, reference, ASIA.dag)
    assert [of.variable for of in found.missing] == ["dysp"]
    assert (found.alarm, found.changed()) == (True, ())


def test_a_change_smaller_than_the_smallest_effect_is_none() -> None:
    batch = SMOKERS.sample(400, seed=3)
    low = one_batch(batch).nats["smoke"][1]
    assert one_batch(batch, min_effect=0.9 * low).changed() == ("smoke",)
    assert one_batch(batch, min_effect=1.1 * low).changed() == ()


def test_numbers_and_numbers_beside_labels_are_watched() -> None:
    def rows(n: int, seed: int, shift: float) -> dict[str, Any]:
        rng = np.random.default_rng(seed)
        x = rng.normal(size=n)
        return {"x": x, "y": x + shift + rng.normal(size=n)}

    monitor = Monitor(rows(1000, 1, 0.0), **FAST)
    assert not monitor.update(rows(300, 2, 0.0)).alarm
    assert monitor.update(rows(300, 3, 1.5)).changed() == ("y",)

    def mixed(n: int, seed: int, shift: float) -> dict[str, Any]:
        found = rows(n, seed, shift)
        return {**found, "big": np.where(found["x"] > 0, "yes", "no")}

    monitor = Monitor(mixed(1000, 1, 0.0), **FAST)
    assert not monitor.update(mixed(300, 2, 0.0)).alarm
    assert "y" in monitor.update(mixed(300, 3, 1.5)).changed()


# -------------------------------------------------------------------------------------------------------- odd batches


def test_the_reference_itself_one_row_and_no_row_are_no_alarm() -> None:
    monitor = Monitor(REFERENCE, ASIA, **FAST)
    for batch in (REFERENCE, REFERENCE[:1], REFERENCE[:0]):
        found = monitor.update(batch)
        assert not found.alarm
        assert found.n_rows == batch.n_rows
    assert set(found.untested()) == set(ASIA.names)


def test_all_rows_of_one_label_are_a_change() -> None:
    batch = fn.Table.from_frame({name: ["no"] * 300 for name in ASIA.names})
    assert "smoke" in one_batch(batch).changed()


def test_words_in_place_of_numbers_are_a_vanished_column() -> None:
    rng = np.random.default_rng(0)
    reference = {"x": rng.normal(size=300), "y": rng.normal(size=300)}
    found = one_batch({"x": ["a", "b"] * 50, "y": rng.normal(size=100)}, reference, None)
    assert found.vanished == ("x",)


def test_whole_numbers_that_are_states_are_found_however_they_were_read() -> None:
    rng = np.random.default_rng(1)
    reference = fn.Table.from_frame(
        {"a": rng.integers(0, 3, 500), "b": rng.integers(0, 2, 500)}, categorical=["a", "b"]
    )
    batch = fn.Table.from_frame({"a": [0, 1, 7], "b": [1, 0, 1]}, continuous=["a", "b"])
    found = one_batch(batch, reference, None)
    assert (found.vanished, dict(found.new_labels)) == ((), {"a": {7: 1}})


def test_bad_input_is_answered() -> None:
    with pytest.raises(SchemaError, match="the reference has no rows"):
        Monitor(REFERENCE[:0])
    with pytest.raises(SchemaError, match="none of the reference's columns"):
        one_batch({"q": ["a", "b"]})
    with pytest.raises(SchemaError, match="needs a Table or a data frame"):
        one_batch(3)
    with pytest.raises(FishernetError, match="level"):
        Monitor(REFERENCE, level=2)
    with pytest.raises(SchemaError, match="same variables"):
        Monitor(REFERENCE.select(["smoke", "lung"]), ASIA)


def test_a_frame_has_one_row_a_variable_and_a_seed_repeats_it() -> None:
    found, again = (one_batch(SMOKERS.sample(300, seed=6)) for _ in range(2))
    rows = found.to_frame().to_pylist()
    assert [row["variable"] for row in rows] == list(ASIA.names)
    assert [row["variable"] for row in rows if row["changed"]] == ["smoke"]
    assert list(found.p_values.values()) == pytest.approx(list(again.p_values.values()), rel=0, abs=0, nan_ok=True)
    assert dict(found.nats) == dict(again.nats)
    assert repr(found) == "MonitorResult(batch 1 of 300 rows: changed: smoke)"


def test_a_number_that_a_small_reference_lacks_is_one_of_the_column() -> None:
    """A reference of three rows has three numbers, and batches have others, beside labels."""
    rng = np.random.default_rng(1)
    rows = {"x": rng.normal(size=43).round(1).tolist(), "a": rng.choice(["p", "q"], 43).tolist()}
    first, later = ({name: cells[part] for name, cells in rows.items()} for part in (slice(3), slice(3, None)))
    found = fn.compare.Monitor(first, bins={}, permutations=39, resamples=20).update(later)
    assert not found.alarm
