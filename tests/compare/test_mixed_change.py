"""What changed between tables of labels and numbers, without an option."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.compare.conditionals.number_tests import label_p_value
from tests.rates import assert_at_most

FAST: dict[str, Any] = {"permutations": 199, "resamples": 60}
explain = fn.compare.explain_change


def table(n: int, seed: int, *, a: float = 0.5, slope: float = 1.0, sd: float = 1.0, odds: float = 0.0) -> Any:
    """Return rows of a label above a number, a number above which is that one, and a label below it."""
    rng = np.random.default_rng(seed)
    label = rng.random(n) < a
    x = 1.5 * label + rng.normal(size=n)
    below = rng.random(n) < 1 / (1 + np.exp(2 - 2 * x - odds))
    return {
        "a": np.where(label, "p", "q"),
        "x": np.exp(x),
        "y": slope * x + sd * rng.normal(size=n),
        "b": np.where(below, "yes", "no"),
    }


@pytest.mark.parametrize(
    ("change", "guilty"),
    [({}, set()), ({"a": 0.7}, {"a"}), ({"slope": 0.6}, {"y"}), ({"sd": 1.4}, {"y"}), ({"odds": 1.2}, {"b"})],
    ids=["nothing", "a", "slope", "sd", "odds"],
)
def test_it_names_what_changed(change: dict[str, float], guilty: set[str]) -> None:
    found = explain(table(1500, 11), table(1500, 12, **change), **FAST)
    assert set(found.changed()) == guilty
    assert not found.in_doubt()
    assert set(found.numbers) == guilty & {"x", "y"}


def test_cells_may_be_missing() -> None:
    frames = [table(1500, 11), table(1500, 12, slope=0.6)]
    for number, frame in enumerate(frames):
        gone = np.random.default_rng(number).random((4, 1500)) < 0.1
        for name, of in zip(frame, gone, strict=True):
            frame[name] = [None if lacks else cell for cell, lacks in zip(frame[name].tolist(), of, strict=True)]
    found = explain(*frames, **FAST)
    assert found.changed() == ("y",)
    assert fn.compare.two_sample_test(*frames, permutations=99, seed=1).p_value <= 0.05


def test_the_graph_that_is_given_may_lead_from_a_number_to_a_label() -> None:
    dag = fn.Dag.from_edges(["a", "x", "y", "b"], [("a", "x"), ("x", "y"), ("x", "b")])
    found = explain(table(1000, 11), table(1000, 12, odds=1.2), dag, **FAST)
    assert found.changed() == ("b",)
    assert {name for change in found.by_configuration for name in change.configuration} == {"x"}


def test_a_label_that_numbers_explain_may_have_one_state_in_a_table() -> None:
    """The graph is searched for, so that regressions of the label on numbers are tried in either table."""
    always, before = table(300, 11, odds=-40), table(300, 12, odds=4)
    assert explain(before, always, **FAST).changed() == ("b",)


def test_nothing_is_said_of_what_no_row_knows_together() -> None:
    """Rows know the label or the number below which it is, never both."""
    halves = [np.arange(40) % 2 == 0, np.arange(40) % 2 == 1]
    frames = []
    for seed in (1, 2):
        frame = table(40, seed)
        for name, half in zip("xb", halves, strict=True):
            frame[name] = [cell if there else None for cell, there in zip(frame[name].tolist(), half, strict=True)]
        frames.append(frame)
    dag = fn.Dag.from_edges(["a", "x", "y", "b"], [("a", "x"), ("x", "y"), ("x", "b")])
    one, other = frames
    found = explain(one, other, dag, **FAST)
    assert found.by_variable["b"].covered == 0 or math.isnan(found.by_variable["b"].nats)
    assert found.changed() == ()


def test_a_label_below_numbers_is_not_accused_of_what_changed_above() -> None:
    """The numbers shift by half their spread; the label depends on them as before."""

    def alarm(seed: int) -> bool:
        rng = np.random.default_rng(seed)
        before, after = rng.normal(size=(300, 2)), rng.normal(0.5, 1, size=(200, 2))
        logits = np.concatenate([before, after]) @ [[0, 1.5, -1], [0, 0.5, 1]]
        codes = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
        return label_p_value(before, after, codes, rng, 99) <= 0.05

    assert_at_most((alarm(seed) for seed in range(400)), 0.05, fault=0.12)


def test_what_becomes_of_a_number_is_told_in_its_own_unit() -> None:
    """x is e to the power of a normal number, which is 1 larger later, whatever the label is: now more often q."""
    rng = np.random.default_rng(5)
    frames: list[Any] = []
    for share, shift in ((0.5, 0.0), (0.2, 1.0)):
        label = rng.random(4000) < share
        frames.append({"a": np.where(label, "p", "q"), "x": np.exp(2 * label + shift + rng.normal(size=4000))})
    found = explain(frames[0], frames[1], **FAST)
    assert set(found.numbers) == {"x"}
    was, now = found.numbers["x"].before, found.numbers["x"].after
    np.testing.assert_allclose(now, np.quantile(frames[1]["x"], [0.1, 0.5, 0.9]))
    np.testing.assert_allclose(was, np.array(now) / math.e, rtol=0.15)


@pytest.mark.parametrize("holes", [False, True])
def test_numbers_that_do_not_vary_are_left_out(holes: bool) -> None:
    """A day that all rows share says nothing, and is refused by no comparison of numbers."""
    random = np.random.default_rng(1)
    x, y = random.normal(size=(2, 60))
    if holes:
        x[3] = np.nan
    day = np.full(60, 17187.0)
    rows = fn.Table.adopt([fn.Continuous(name) for name in ("day", "x", "y")], [day, x, y])
    with pytest.warns(fn.FishernetWarning, match="'day' has no two numbers that differ, and is left out"):
        found = fn.compare.two_sample_test(rows, rows, permutations=99, seed=1)
    assert set(found.by_variable) == {"x", "y"}


def test_intervals_of_many_rows_hold_the_truth_and_are_as_wide_as_rows_tell() -> None:
    """Many rows share weights in blocks: intervals are as wide as their n tells beside those of fewer rows."""
    truth, widths, held = 0.5 * 0.15**2, {4000: 0.0, 4500: 0.0}, 0
    for n in widths:
        for seed in range(6):
            rng = np.random.default_rng([n, seed])
            x = rng.normal(size=(2, n))
            y = np.array([[1.0], [1.15]]) * x + rng.normal(size=(2, n))
            before, after = (fn.Table.from_frame({"x": x[at], "y": y[at]}) for at in range(2))
            change = explain(before, after, fn.Dag.from_edges(["x", "y"], [("x", "y")]), seed=seed).by_variable["y"]
            widths[n] += change.high - change.low
            held += change.low < truth < change.high
    assert held >= 9
    assert widths[4500] == pytest.approx(widths[4000] * np.sqrt(4000 / 4500), rel=0.2)


@pytest.mark.parametrize("holes", [0.0, 0.1])
def test_a_number_that_changed_under_one_label_says_under_which(holes: float) -> None:
    def rows(seed: int, longer: float) -> dict[str, Any]:
        rng = np.random.default_rng(seed)
        channel, town = rng.choice(["app", "phone", "shop"], 900), rng.choice(["u", "v"], 900)
        minutes = np.exp(1 + 0.4 * (channel == "shop") + 0.5 * rng.normal(size=900)) + longer * (channel == "phone")
        columns = {"channel": channel.astype(object), "town": town.astype(object), "minutes": minutes}
        gone = rng.random((3, 900)) < holes
        nothing: dict[str, Any] = {"channel": None, "town": None, "minutes": np.nan}
        return {
            name: np.where(lacks, nothing[name], cells)
            for (name, cells), lacks in zip(columns.items(), gone, strict=True)
        }

    dag = fn.Dag.from_edges(["channel", "town", "minutes"], [("channel", "minutes"), ("town", "minutes")])
    before, after = rows(1, 0.0), rows(2, 6.0)
    one, other = (fn.Table.from_frame(of, continuous=["minutes"]) for of in (before, after))
    found = explain(one, other, dag, **FAST)
    assert found.changed() == ("minutes",)
    whole = found.numbers["minutes"]
    assert whole.given is None
    assert whole.most is not None
    assert whole.most.given == ("channel", "phone")
    for side, frame in ((whole.most.before, before), (whole.most.after, after)):
        phoned = frame["minutes"][frame["channel"] == "phone"].astype(float)
        np.testing.assert_allclose(side, np.nanquantile(phoned, [0.1, 0.5, 0.9]), rtol=0.15)
    assert "given channel = 'phone'" in repr(whole.most)
