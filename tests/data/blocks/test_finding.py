"""What the columns of rows in many places are is what one table of all rows makes of them."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.data import column_summary
from fishernet.data.blocks.blocks import Blocks, facts_of
from fishernet.data.blocks.passes import encoded_parts
from fishernet.data.blocks.places import Mapped
from fishernet.data.options import Options

pd: Any = pytest.importorskip("pandas")

N = 3000


def frame(n: int = N) -> Any:
    rng = np.random.default_rng(0)
    hours = pd.date_range("2020-01-01", periods=n, freq="h")
    holes = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    return pd.DataFrame(
        {
            "few": rng.integers(0, 5, n),
            "many": rng.integers(0, 400, n),
            "real": rng.normal(size=n),
            "row": np.arange(n) + 7,
            "shuffled": rng.permutation(n),
            "text": rng.choice(np.array(["a", "b", "c", None]), n),
            "name": [f"n{i}" for i in range(n)],
            "day": hours.strftime("%Y-%m-%d"),
            "day, but for one": ["2020-01-01"] * (n - 1) + ["2021-01-01 10:00"],
            "when": hours,
            "when, as text": hours.strftime("%Y-%m-%d %H:%M"),
            "flag": rng.random(n) < 0.3,
            "declared": pd.Categorical(rng.choice(["x", "y"], n), categories=["y", "x", "z"]),
            "holes": holes,
            "whole with holes": np.rint(holes),
            "empty": [None] * n,
            "numbers as text": rng.integers(0, 900, n).astype(str),
            "spoiled": [str(i) if i % 500 else "n/a!" for i in range(n)],
            "thousands": [f"{i:,}" for i in range(900, 900 + n)],
            "slip": [f"${i}.50" if i != n // 2 else "$1..5" for i in range(n)],
            "percent": [f"{i}%" for i in rng.integers(0, 99, n)],
            "tail": np.exp(rng.normal(size=n) * 9),
            "weight": rng.random(n),
            "times": rng.integers(0, 3, n),
            "first half": [1.0] * (n // 2) + [None] * (n - n // 2),
        }
    )


FRAME = frame()
OPTIONS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "drop": {"missing": "drop", "exclude": ["first half"]},
    "state": {"missing": "state", "exclude": ["holes"]},
    "error": {"missing": "error"},
    "bins": {"bins": 4},
    "many bins": {"bins": 60},
    "bins, weighted": {"bins": 4, "weights": "weight"},
    "bins, repeated": {"bins": {None: 5, "real": [0.0]}, "weights": "times"},
    "bins, dropped": {"bins": 5, "missing": "drop", "weights": "weight", "exclude": ["first half"]},
    "equal widths": {"bins": 3, "binning": "equal-width", "weights": "times"},
    "bins of text": {"bins": {"numbers as text": 4, "when, as text": 3}},
    "bins of no numbers": {"bins": {"name": 3}},
    "categorical": {"categorical": ["name", "many", "when"]},
    "continuous": {"continuous": ["numbers as text", "few"]},
    "some": {"columns": ["text", "few"]},
    "no such column": {"columns": ["nothing"]},
}


def outcome(make: Callable[[], Any]) -> tuple[Any, list[str]]:
    """Return a result or the error, and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = make()
        except fn.FishernetError as error:
            result = error
    return result, [str(one.message) for one in caught if issubclass(one.category, fn.FishernetWarning)]


def pieces(whole: Any, n_parts: int) -> list[Any]:
    borders = np.linspace(0, len(whole), n_parts + 1).astype(int)
    return [partial(whole.iloc.__getitem__, slice(a, b)) for a, b in itertools.pairwise(borders)]


def described(variables: Any) -> list[Any]:
    return [(v, repr(v), v.unit, None if v.is_continuous else v.bounds) for v in variables]


def of_parts(readers: list[Any], options: Options) -> Blocks:
    found = encoded_parts(Mapped(), readers, options)
    return Blocks.adopt(Mapped(), found.held, found.variables, [facts_of(one) for one in found.held], found.decisions)


def assert_same(whole: Any, n_parts: int, keywords: dict[str, Any], of_one: Any = None) -> None:
    expected, warned = of_one or outcome(lambda: fn.Table.from_frame(whole, **keywords))
    options = Options.checked(**keywords)
    found, warned_of_parts = outcome(lambda: of_parts(pieces(whole, n_parts), options))
    if isinstance(expected, Exception):
        assert type(found) is type(expected)
        return
    assert not isinstance(found, Exception), found
    assert described(found.variables) == described(expected.variables)
    assert list(found._decisions) == list(expected._decisions)
    assert warned_of_parts == warned
    assert found.rows_digest() == expected.rows_digest()


@cache
def of_one_table(options: str, most_labels: int = column_summary.MOST_LABELS) -> Any:
    """Return the outcome, of which warnings name the number of labels that are kept."""
    assert most_labels == column_summary.MOST_LABELS
    return outcome(lambda: fn.Table.from_frame(FRAME, **OPTIONS[options]))


@pytest.mark.parametrize(
    ("n_parts", "options"), [*((2, name) for name in OPTIONS), *((11, name) for name in list(OPTIONS)[::4])]
)
def test_variables_and_decisions_are_those_of_one_table(n_parts: int, options: str) -> None:
    assert_same(FRAME, n_parts, OPTIONS[options], of_one_table(options))


@pytest.mark.parametrize(
    ("options", "n_parts"),
    [
        ("as it is", 11),
        ("drop", 3),
        ("bins, weighted", 3),
        ("bins of text", 3),
        ("continuous", 3),
        ("many bins", 2),
        ("categorical", 2),
        ("some", 2),
    ],
)
def test_labels_that_stand_for_all_decide_as_all_do(
    options: str, n_parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The least number of labels kept with which texts are still told from identifiers."""
    monkeypatch.setattr(column_summary, "MOST_LABELS", 260)
    assert_same(FRAME, n_parts, OPTIONS[options], of_one_table(options, 260))


@pytest.mark.parametrize("keywords", [{}, {"bins": 3}, {"missing": "drop"}])
def test_parts_may_hold_other_types_than_their_neighbours(keywords: dict[str, Any]) -> None:
    columns = {
        "whole, then not": [[1, 2, 3], [1.5, 2.0, None]],
        "numbers, then text": [[1, 2, 3], ["a", "b", "1"]],
        "nothing, then text": [[None, None, None], ["a", "b", "a"]],
    }
    for name, (first, second) in columns.items():
        parts = [pd.DataFrame({name: pd.Series(half), "other": half}) for half in (first, second)]
        parts = [part.assign(other=["x", "y", "x"]) for part in parts]
        whole = pd.concat(parts, ignore_index=True)
        expected, _ = outcome(partial(fn.Table.from_frame, whole, **keywords))
        readers = [partial(part.copy) for part in parts]
        found, _ = outcome(partial(of_parts, readers, Options.checked(**keywords)))
        if isinstance(expected, Exception):
            assert type(found) is type(expected)
        else:
            assert described(found.variables) == described(expected.variables), name


def test_dates_and_other_labels_do_not_add() -> None:
    parts = [pd.DataFrame({"d": pd.to_datetime(["2020-01-01"])}), pd.DataFrame({"d": ["tomorrow"]})]
    with pytest.raises(fn.SchemaError, match="'d' holds dates in one part and other labels in another"):
        of_parts([partial(part.copy) for part in parts], Options.checked())


@pytest.mark.parametrize("n", [100, 3000])
def test_ids_are_told_from_numbers_that_are_nearly_ids(n: int) -> None:
    """The sum that tells them is over all numbers: one that is there twice, or lacks, is seen."""
    ids = np.random.default_rng(1).permutation(n) + 5
    twice = ids.copy()
    twice[np.argmax(twice == 50)] = 51
    gap = np.where(ids == n + 4, n + 5, ids)
    for numbers in (ids, twice, gap, ids + 0.5):
        assert_same(pd.DataFrame({"x": numbers, "y": np.arange(n) % 3}), 7, {})
