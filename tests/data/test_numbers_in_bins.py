"""Numbers drawn for bins: each in its bin, so that binning them gives the bins again."""

from __future__ import annotations

import datetime
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import SchemaError

FINITE = st.floats(-1e9, 1e9) | st.integers(-1000, 1000).map(float)
COLUMNS = st.lists(FINITE | st.just(float("nan")), min_size=2, max_size=60)
BINS = st.integers(1, 6) | st.lists(FINITE, min_size=1, max_size=5, unique=True).map(sorted)


@given(COLUMNS, BINS, st.sampled_from(["quantile", "equal-width"]), st.integers(0, 99))
def test_numbers_lie_in_their_bins_and_within_the_range_that_was_seen(
    values: list[float], bins: Any, binning: str, seed: int
) -> None:
    values = [0.5, 1.25, *values]  # never all missing, nor all whole
    table = fn.Table.from_frame({"x": values}, bins={"x": bins}, binning=binning)  # type: ignore[arg-type]
    variable = table.variables[0]
    if variable.cuts is None:  # no more numbers than bins: they are states
        assert table.to_numbers(seed=seed) == table
        return
    drawn = table.to_numbers(seed=seed)
    assert drawn.variables == (fn.Continuous("x"),)
    assert drawn.conform(table.variables) == table
    again = fn.Table.from_frame({"x": drawn["x"]}, schema=table.variables)
    assert again == table
    known = drawn["x"][~np.isnan(drawn["x"])]
    assert np.array_equal(np.isnan(drawn["x"]), np.isnan(values))
    assert known.min() >= np.nanmin(values)
    assert known.max() <= np.nanmax(values)


@given(st.lists(st.integers(-300, 300), min_size=30, max_size=60, unique=True), st.integers(1, 9))
def test_where_all_were_whole_they_are_whole(values: list[int], n_bins: int) -> None:
    table = fn.Table.from_frame({"x": values}, bins=n_bins)
    drawn = table.to_numbers(seed=1)["x"]
    assert np.array_equal(drawn, np.rint(drawn))
    assert fn.Table.from_frame({"x": drawn}, schema=table.variables) == table


def test_they_are_uniform_within_a_bin() -> None:
    table = fn.Table.from_frame({"x": np.linspace(0, 8, 100_001)}, bins={"x": [2.0, 6.0]})
    drawn = table.to_numbers(seed=3)["x"]
    for low, high in ((0, 2), (2, 6), (6, 8)):
        inside = drawn[(drawn > low) & (drawn <= high)]
        shares, _ = np.histogram(inside, bins=8, range=(low, high))
        assert abs(shares / len(inside) - 1 / 8).max() < 0.01
    whole = fn.Table.from_frame({"x": np.arange(60_000) % 60}, bins={"x": [9, 39]}).to_numbers(seed=3)["x"]
    counts = np.bincount(whole.astype(int), minlength=60)
    assert abs(counts / 1000 - 1).max() < 0.2


def test_the_same_seed_gives_the_same_numbers() -> None:
    table = fn.Table.from_frame({"x": np.linspace(0, 1, 50), "y": np.linspace(0, 1, 50)}, bins=3)
    one, other = table.to_numbers(seed=7), table.to_numbers(seed=7)
    assert one == other != table.to_numbers(seed=8)
    assert not np.array_equal(one["x"], one["y"])


def test_dates_are_dates() -> None:
    days = [datetime.date(2021, 1, 1) + datetime.timedelta(days=i) for i in range(100)]
    times = [datetime.datetime(2021, 1, 1, 12) + datetime.timedelta(hours=i) for i in range(100)]
    table = fn.Table.from_frame({"day": days, "at": times}, bins=4)
    drawn = table.to_numbers(seed=1)
    assert drawn.variables == (fn.Continuous("day", "days"), fn.Continuous("at", "seconds"))
    assert drawn["day"].min() >= np.datetime64("2021-01-01")
    assert drawn["day"].max() <= np.datetime64("2021-04-10")
    assert drawn.conform(table.variables) == table


def test_other_columns_weights_and_the_state_for_missing_cells() -> None:
    frame = {"x": [0.5, None, 2.5, 3.5], "n": [1, 2, 1, 2], "w": [1, 2, 3, 4]}
    table = fn.Table.from_frame(frame, bins={"x": 2}, missing="state", weights="w")
    drawn = table.to_numbers(seed=1)
    assert drawn.variables == (fn.Continuous("x"), table.variables[1])
    assert np.isnan(drawn["x"]).tolist() == [False, True, False, False]
    assert drawn.weights is not None
    assert drawn.weights.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("cuts", "bounds", "expected"),
    [
        ([2.0], None, [[1, 2], [2, 3]]),
        ([2.0], (0.0, 5.0), [[0, 2], [2, 5]]),
        ([2.0], (3.0, 5.0), [[-1, 2], [3, 5]]),  # below 2 nothing was seen: as wide as from there to 5
        ([2.0, 6.0], None, [[-2, 2], [2, 6], [6, 10]]),
        ([2.0, 6.0], (3.0, 4.0), [[-2, 2], [3, 4], [6, 10]]),
        ([2.0, 6.0, 7.0], (2.0, 8.0), [[2, 2], [2, 6], [6, 7], [7, 8]]),
        ([], (3.0, 4.0), [[3, 4]]),
        ([], None, [[0, 1]]),
    ],
)
def test_where_bins_begin_and_end(cuts: list[float], bounds: Any, expected: list[list[float]]) -> None:
    variable = fn.Variable("x", [f"b{i}" for i in range(len(cuts) + 1)], cuts, bounds)
    assert variable.bin_limits().tolist() == expected


def test_bounds_are_checked_and_do_not_tell_variables_apart() -> None:
    plain, bounded = fn.Variable("x", ["a", "b"], [2.0]), fn.Variable("x", ["a", "b"], [2.0], (1, 3))
    assert plain == bounded
    assert hash(plain) == hash(bounded)
    assert pickle.loads(pickle.dumps(bounded)).bounds == (1, 3)
    for bounds in ([3, 1], [1], [1, float("inf")], ["1", "2"]):
        with pytest.raises(SchemaError, match="two finite numbers"):
            fn.Variable("x", ["a", "b"], [2.0], bounds)  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="there are no cuts"):
        fn.Variable("x", ["a", "b"], None, (1, 3))
    with pytest.raises(SchemaError, match="a unit is"):
        fn.Variable("x", ["a", "b"], [2.0], unit="years")  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore:.*written as words")
@pytest.mark.parametrize("ending", [".json", ".bif", ".xdsl"])
def test_files_of_models_keep_what_is_known_of_bins(tmp_path: Path, ending: str) -> None:
    days = np.datetime64("2021-01-01") + np.arange(200)
    frame = {"age": np.arange(200) % 71, "dose": np.arange(200) / 7, "day": days, "sick": np.arange(200) % 2}
    net = fn.learn.bayesian_network(fn.Table.from_frame(frame, bins=3))
    fn.save(net, tmp_path / f"m{ending}")
    back = fn.load(tmp_path / f"m{ending}")
    told = [(v.name, v.bounds, v.unit) for v in back.variables if v.cuts]
    day = (18628, 18827)  # the first of January 2021, and 199 days later
    assert told == [("age", (0, 70), None), ("dose", (0.0, 199 / 7), None), ("day", day, "days")]
    assert isinstance(told[0][1][0], int)
    assert isinstance(told[1][1][0], float)


def test_files_of_tables_keep_what_is_known_of_bins(tmp_path: Path) -> None:
    days = np.datetime64("2021-01-01") + np.arange(200)
    table = fn.Table.from_frame({"age": np.arange(200) % 71, "day": days}, bins=3)
    fn.write_table(table, tmp_path / "t.parquet")
    back = fn.read_table(tmp_path / "t.parquet")
    assert back == table
    assert back.to_numbers(seed=1) == table.to_numbers(seed=1)
