"""The study of numbers beside labels, on a table made for it: masses of intervals, and arcs of permuted columns."""

from __future__ import annotations

import numpy as np
import pytest

import fishernet as fn
from studies import mixed as study


def people(n: int) -> fn.Table:
    rng = np.random.default_rng(1)
    sex = rng.integers(0, 2, n)
    frame = {
        "sex": np.array(["f", "m"])[sex],
        "height": (np.where(sex == 1, 180, 167) + rng.normal(0, 6, n)).round(),
        "income": np.exp(rng.normal(10, 1, n)).round(-2),
        "hours": np.where(rng.random(n) < 0.4, 0.0, rng.normal(40, 8, n).round()),
    }
    return fn.Table.from_frame(frame)


def test_masses_of_intervals_add_up_to_one() -> None:
    table = people(600)
    net = study.learned(table, "scales")
    every = np.arange(100.0, 251.0)
    frame = {"sex": ["f"] * 151, "height": every, "income": [20_000.0] * 151, "hours": [40.0] * 151}
    rows = fn.Table.from_frame(frame, schema=net.variables)
    regression = net.conditional("height")
    logs = study._of_number(regression, rows, table.column("height"), 1.0)
    assert np.exp(logs).sum() == pytest.approx(1.0, abs=2e-3)


def test_scales_and_cut_heaps_predict_better_and_permuted_columns_get_few_arcs() -> None:
    table = people(1500)
    found = study.predicted(table)
    assert found.keys() == study.WAYS.keys()
    assert found["the default"].mean() > found["as they are"].mean()
    assert found["the default"].mean() > found["bins=4"].mean()
    assert study.false_arcs(table)["the default"] <= 1
