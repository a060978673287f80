"""What is said of missing cells, against SciPy's tests of the same counts and by simulation."""

from __future__ import annotations

import dataclasses
import importlib
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import fishernet as fn
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.independence import MissingnessResult, missingness


def holed(values: Any, absent: Any) -> list[Any]:
    return [None if lost else value for value, lost in zip(np.asarray(values).tolist(), absent, strict=True)]


def row(found: MissingnessResult, column: str, other: str, on: str = "values") -> dict[str, Any]:
    [test] = [t for t in found.to_frame().to_pylist() if (t["column"], t["other"], t["on"]) == (column, other, on)]
    return dict(test)


def mixed(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Columns of several kinds that depend on one another."""
    age = rng.normal(50, 15, n)
    ward = rng.choice(["A", "B", "C"], n, p=[0.5, 0.3, 0.2])
    return {"age": age, "ward": ward, "lab": np.exp(rng.normal(age / 50, 1)), "sick": (age + rng.normal(0, 9, n)) > 55}


# ----------------------------------------------------------------------------------------------------- right numbers


def test_every_test_is_the_one_of_the_counts_made_by_pandas() -> None:
    rng = np.random.default_rng(1)
    n = 3000
    frame = pd.DataFrame(mixed(rng, n))
    lost = rng.random((n, 4)) < [0.3, 0.2, 0.25, 0.0]
    lost[:, 1] |= frame["age"].to_numpy() > 60
    holes = frame.astype(object).mask(lost)
    found = missingness({name: holed(frame[name], lost[:, c]) for c, name in enumerate(frame)})
    binned = holes.copy()
    for name in ("age", "lab"):
        known = holes[name].dropna().astype(float).to_numpy()
        cuts = np.quantile(known, [0.25, 0.5, 0.75], method="inverted_cdf")
        binned[name] = holes[name].map(lambda x, cuts=cuts: x if x is None or x != x else int((x > cuts).sum()))
    tests = 0
    for c in ("age", "ward", "lab"):
        for v in frame:
            if c == v:
                continue
            counts = pd.crosstab(holes[c].isna(), binned[v]).to_numpy()
            test = row(found, c, v)
            g = stats.chi2_contingency(counts, correction=False, lambda_="log-likelihood")
            assert test["mutual_information"] == pytest.approx(g.statistic / (2 * counts.sum()), rel=1e-9)
            assert test["p_value"] == pytest.approx(g.pvalue, rel=0.05)  # Williams' factor is near 1, exact ones near
            tests += 1
    assert tests == found.n_values == 9
    for c, v in (("age", "ward"), ("age", "lab"), ("ward", "lab")):
        counts = pd.crosstab(holes[c].isna(), holes[v].isna()).to_numpy()
        g = stats.chi2_contingency(counts, correction=False, lambda_="log-likelihood")
        assert row(found, c, v, "missing")["mutual_information"] == pytest.approx(g.statistic / 2 / n, rel=1e-9)
        share = counts[1, 1] / counts[:, 1].sum()
        assert row(found, c, v, "missing")["share"] == pytest.approx(share)
    assert len(found.to_frame()) == 12


def test_the_two_families_are_corrected_each_by_itself() -> None:
    rng = np.random.default_rng(2)
    lost = rng.random((3, 200)) < 0.3
    found = missingness({f"v{i}": holed(rng.integers(0, 3, 200), lost[i]) for i in range(3)}).to_frame().to_pylist()
    for on, n in (("values", 6), ("missing", 3)):
        p = np.array([test["p_value"] for test in found if test["on"] == on])
        adjusted = [test["p_adjusted"] for test in found if test["on"] == on]
        ranked = np.sort(p)
        expected = [max(min(1.0, (n - i) * ranked[i]) for i in range(np.searchsorted(ranked, x) + 1)) for x in p]
        assert len(p) == n
        assert adjusted == pytest.approx(expected)


def test_tests_that_are_the_same_count_once() -> None:
    """Three columns of one laboratory are missing in the same rows: what is found does not depend on how many."""
    rng = np.random.default_rng(14)
    columns = mixed(rng, 300)
    lost = rng.random(300) < np.where(columns["ward"] == "A", 0.3, 0.15)
    one = missingness(columns | {"lab": holed(columns["lab"], lost)})
    many = missingness(columns | {name: holed(columns["lab"], lost) for name in ("lab", "lab2", "lab3")})
    assert one.n_values == many.n_values == 3
    for other in ("age", "ward", "sick"):
        for name in ("lab", "lab2", "lab3"):
            assert row(many, name, other)["p_adjusted"] == row(one, "lab", other)["p_adjusted"]
    together = [test for test in many.to_frame().to_pylist() if test["on"] == "missing"]
    assert len(together) == 3
    assert all(test["p_adjusted"] == test["p_value"] for test in together)


def test_weights_are_repeated_rows_and_zero_ones_are_not_there() -> None:
    rng = np.random.default_rng(3)
    n = 120
    frame = pd.DataFrame(mixed(rng, n)).astype({"sick": object})
    frame.loc[rng.random(n) < 0.3, "lab"] = np.nan
    frame.loc[rng.random(n) < 0.7, "sick"] = None  # more missing than known
    weights = rng.integers(0, 4, n)
    weighted = missingness(fn.Table.from_frame(frame.assign(w=weights), weights="w"))
    schema = fn.Table.from_frame(frame).variables
    repeated = missingness(fn.Table.from_frame(frame.loc[frame.index.repeat(weights)], schema=schema))
    assert weighted.to_frame() == repeated.to_frame()
    assert weighted.columns == repeated.columns
    assert weighted.total == repeated.total == weights.sum()


def test_weights_of_a_survey_count_as_many_rows_as_they_are_worth() -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(mixed(rng, 400))
    frame.loc[rng.random(400) < 0.3 + 0.2 * (frame["ward"] == "A"), "lab"] = np.nan
    once = missingness(fn.Table.from_frame(frame)).to_frame()
    halves = missingness(fn.Table.from_frame(frame.assign(w=0.5), weights="w"))
    assert halves.total == 400
    assert halves.to_frame()["p_value"].to_pylist() == pytest.approx(once["p_value"].to_pylist(), rel=1e-9)
    uneven = missingness(fn.Table.from_frame(frame.assign(w=rng.uniform(0.1, 3, 400)), weights="w"))
    assert all(0 <= p <= 1 for p in uneven.to_frame()["p_value"].to_pylist())


# ------------------------------------------------------------------------------------------------------ simulations


def test_the_verdict_keeps_its_level_under_missing_completely_at_random() -> None:
    """Columns that depend on one another, holes that come together, but at random: at most alpha of false alarms."""
    rng = np.random.default_rng(5)
    alarms, runs, p = 0, 200, []
    for _ in range(runs):
        columns = mixed(rng, 250)
        lost = rng.random((4, 250)) < [[0.05], [0.2], [0.4], [0.1]]
        lost[1] |= lost[0]  # whatever is missing in the first column is so in the second
        found = missingness({name: holed(columns[name], lost[i]) for i, name in enumerate(columns)}, alpha=0.1)
        alarms += found.against
        p.append(row(found, "lab", "ward")["p_value"])
    assert alarms <= 0.1 * runs + 3 * np.sqrt(0.09 * runs)
    assert alarms > 0
    assert stats.kstest(p, "uniform").pvalue > 0.001


@pytest.mark.parametrize(
    ("decides", "where"),
    [
        (lambda c: c["ward"] == "C", "ward"),
        (lambda c: c["age"] > 60, "age"),
        (lambda c: abs(c["age"] - 50) > 15, "age"),  # no trend: ranks see nothing here
        (lambda c: c["sick"], "sick"),
    ],
)
def test_missing_at_random_is_found_where_it_is(decides: Any, where: str) -> None:
    rng = np.random.default_rng(6)
    right = 0
    for _ in range(30):
        columns = mixed(rng, 500)
        columns["other"] = rng.normal(size=500)
        columns["lab"] = holed(columns["lab"], rng.random(500) < np.where(decides(columns), 0.4, 0.1))
        columns["other"] = holed(columns["other"], rng.random(500) < 0.2)
        found = missingness(columns)
        lab, other = found.columns
        right += lab.strongest is not None and lab.strongest.other == where and lab.depends_on > 0
        assert (lab.name, other.name) == ("lab", "other")
    assert right >= 27


def test_missing_not_at_random_is_not_seen() -> None:
    """Incomes above a limit are not told, and nothing else is known of the people: the table looks as it should."""
    rng = np.random.default_rng(7)
    income, hobby = rng.lognormal(10, 1, 2000), rng.choice(["music", "chess"], 2000)
    found = missingness({"income": holed(income, income > 50_000), "hobby": hobby})
    assert not found.against
    assert "not at random" in str(found)


def test_cells_that_are_missing_together_are_told_but_are_no_evidence() -> None:
    rng = np.random.default_rng(8)
    columns = {name: rng.normal(size=300) for name in "abc"}
    lost = rng.random(300) < 0.3
    found = missingness({"a": holed(columns["a"], lost), "b": holed(columns["b"], lost), "c": columns["c"]})
    assert not found.against
    first, second = found.columns
    assert first.together_with == second.together_with == 1
    assert first.together is not None
    assert (first.together.column, first.together.other) == ("a", "b")
    assert second.together is not None
    assert (second.together.column, second.together.other) == ("b", "a")
    assert first.untested == 1  # where a is missing b never is known
    assert "`a` is missing more often where `b` is missing too (100 % against 0 %, p = " in str(found)


# --------------------------------------------------------------------------------------------------- awkward tables


def verdict(columns: Any) -> str:
    return missingness(columns).verdict


def test_there_may_be_nothing_to_say() -> None:
    nothing = "There is nothing with which the missing cells could be compared."
    assert verdict({"a": [1, 2, 3], "b": [0.5, 1.5, 2.5]}) == "No cell is missing."
    assert verdict({"a": [1, None, 3]}) == nothing
    assert verdict({"a": ["x", None, "x"], "b": ["y", "y", "y"]}) == nothing  # a constant tells nothing
    assert (
        verdict(fn.Table.from_codes([[0, 2]], [fn.Variable("a", list("xy")), fn.Variable("b", list("xy"))])) == nothing
    )  # one row
    assert verdict(fn.Table((), (), n_rows=5)) == "No cell is missing."
    assert verdict(
        fn.Table.from_codes(np.zeros((0, 2), int), [fn.Variable("a", list("xy")), fn.Variable("b", list("xy"))])
    ) == ("No cell is missing.")


def test_a_column_that_is_missing_everywhere_is_told() -> None:
    rng = np.random.default_rng(9)
    variables: list[Any] = [
        fn.Variable("gone", list("xy")),
        fn.Continuous("lost"),
        fn.Variable("here", list("xy")),
        fn.Variable("half", list("xy")),
    ]
    here = rng.integers(0, 2, 100).astype(np.uint8)
    columns = [np.full(100, 2, np.uint8), np.full(100, np.nan), here, np.where(here == 1, 2, 0).astype(np.uint8)]
    found = missingness(fn.Table(variables, columns))
    assert [column.share for column in found.columns[:2]] == [1.0, 1.0]
    assert [column.strongest for column in found.columns[:2]] == [None, None]
    assert "- missing everywhere: `gone`, `lost`" in str(found)
    half = found.columns[2]
    assert (half.depends_on, half.untested) == (1, 2)
    assert str(half.strongest).startswith("`half` is missing more often where `here` is 'y' (100 % against 0 %, p = ")


def test_numbers_without_end_ties_and_dates_are_cut() -> None:
    rng = np.random.default_rng(10)
    n = 400
    lost = rng.random(n) < 0.3
    mostly_zero = np.where(rng.random(n) < 0.9, 0.0, rng.random(n))
    days = pd.Series(pd.date_range("2020-01-01", periods=n))
    columns = {
        "a": holed(rng.normal(size=n), lost | (mostly_zero > 0)),
        "zero": mostly_zero,
        "ends": np.where(np.arange(n) % 3 == 0, np.inf, np.where(np.arange(n) % 3 == 1, -np.inf, rng.normal(size=n))),
        "day": days,
    }
    found = missingness(columns)
    test = row(found, "a", "zero")
    assert (test["state"], test["share"]) == ("> 0", 1.0)
    assert row(found, "a", "day")["state"].lstrip("(<=> ").startswith("2020-")
    assert row(found, "a", "ends")["p_value"] > 0
    assert "where `zero` is > 0 (100 %" in str(found)


def test_bins_may_be_chosen_and_are_those_of_a_table() -> None:
    rng = np.random.default_rng(11)
    columns = {"a": holed(rng.normal(size=300), rng.random(300) < 0.3), "b": rng.integers(0, 1000, 300).astype(float)}
    cut = {"a": columns["a"], "b": fn.Table.from_frame(columns).discretize({"b": 7})["b"]}
    ours, theirs = row(missingness(columns, bins=7), "a", "b"), row(missingness(cut), "a", "b")
    assert ours["mutual_information"] == pytest.approx(theirs["mutual_information"], rel=1e-12)
    assert len({row(missingness(columns, bins=k), "a", "b")["p_value"] for k in (2, 4, 9)}) == 3


def test_many_columns_are_compared() -> None:
    rng = np.random.default_rng(12)
    codes = rng.integers(0, 4, (2000, 80))
    codes[rng.random(codes.shape) < 0.1] = 4
    variables = [fn.Variable(f"v{i}", list("abcd")) for i in range(80)]
    found = missingness(fn.Table.from_codes(codes, variables))
    assert found.n_values == 80 * 79
    assert len(found.to_frame()) == 80 * 79 + 80 * 79 // 2
    assert not found.against
    assert len(repr(found)) < 200


def test_work_in_parts_is_the_same_work(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(13)
    columns = mixed(rng, 300)
    columns = {name: holed(column, rng.random(300) < 0.1 + 0.2 * i) for i, (name, column) in enumerate(columns.items())}
    whole = missingness(columns)
    module = importlib.import_module("fishernet.independence.completely_at_random")
    monkeypatch.setattr(module, "ROWS_AT_ONCE", 40)
    monkeypatch.setattr(module, "CELLS_AT_ONCE", 5)
    assert missingness(columns) == whole


def test_a_state_for_missing_cells_is_a_state() -> None:
    table = fn.Table.from_frame({"a": ["x", None, "y"], "b": ["u", "v", "u"]}, missing="state")
    assert verdict(table) == "No cell is missing, but `a` has a state for that."


def test_identifiers_are_left_out_of_a_frame() -> None:
    rows = {"id": [f"P{i}" for i in range(200)], "a": ["x", None] * 100, "b": ["u", "v"] * 100}
    with pytest.warns(fn.FishernetWarning, match="identifier"):
        found = missingness(rows)
    assert found.n_columns == 2
    assert set(found.to_frame()["other"].to_pylist()) == {"b"}


@pytest.mark.parametrize(
    ("data", "words", "message"),
    [
        (np.zeros((3, 2)), {}, "missingness needs a Table or a data frame, not ndarray"),
        (None, {}, "missingness needs a Table or a data frame"),
        ({"a": [1, None]}, {"alpha": 0}, "alpha must be a number above 0 of at most 1, got 0"),
        ({"a": [1, None]}, {"alpha": 1.5}, "alpha must be"),
        ({"a": [1, None]}, {"alpha": "x"}, "alpha must be"),
        ({"a": [1, None]}, {"bins": 1}, "bins must be"),
        ({"a": [1, None]}, {"bins": 2.5}, "bins must be"),
        ({"a": [1, None]}, {"bins": 101}, "bins must be"),
    ],
)
def test_wrong_arguments_are_refused(data: Any, words: dict[str, Any], message: str) -> None:
    with pytest.raises(FishernetError, match=message):
        missingness(data, **words)
    with pytest.raises(SchemaError):
        missingness([1, 2])


# ------------------------------------------------------------------------------------------------------------ words


def test_it_is_said_in_words() -> None:
    n = 1000
    edema = np.array(["yes", "no"])[(np.arange(n) >= 200).astype(int)]
    lost = np.zeros(n, bool)
    lost[:62], lost[200:272] = True, True
    found = missingness({"edema": edema, "albumin": holed(np.arange(n) % 7 + 0.5, lost)})
    counts = np.array([[62, 138], [72, 728]])
    p = 2 * stats.hypergeom(n, 200, 134).sf(61)
    assert stats.fisher_exact(counts).pvalue < p * 1.01
    said = f"`albumin` is missing more often where `edema` is 'yes' (31 % against 9 %, p = {p:.0e})"
    assert found.verdict == f"Not completely at random: {said}."
    assert str(found.columns[0]) == f"`albumin` is missing in 13 % of rows, {said.partition('missing ')[2]}"
    assert repr(found) == (
        "MissingnessResult(1,000 rows, 1 of 2 columns with missing cells, 1 test on values, not completely at random)"
    )


def test_shares_have_as_many_digits_as_tell_them_apart() -> None:
    def said(share: float, elsewhere: float, p: float = 0.0) -> str:
        test = fn.independence.MissingnessTest("a", "b", "values", p, p, 0.1, 3, share, elsewhere)
        return str(test).partition("(")[2].rstrip(")")

    assert said(0.5, 0.5, 1.0) == "50 % against 50 %, p = 1"
    assert said(0.123, 0.118, 0.0023) == "12.3 % against 11.8 %, p = 0.0023"
    assert said(0.0004, 1.0, 2e-9) == "0.04 % against 100.00 %, p = 2e-09"
    assert said(0.0, 1.0) == "0 % against 100 %, p < 1e-300"
    assert said(1e-9, 1.0, 0.04) == "0.000 % against 100.000 %, p = 0.04"


def test_long_and_hostile_names_stay_in_their_line() -> None:
    name = "new\nline" + "x" * 500
    found = missingness({name: ["x", None] * 50, "b": ["u" * 500, "v"] * 50})
    assert all(len(line) < 400 for line in str(found).splitlines())
    assert "`new linexxx" in found.verdict


def test_results_compare_and_pickle_and_cannot_be_changed() -> None:
    found = missingness({"a": ["x", None] * 50, "b": ["u", "v"] * 50})
    assert pickle.loads(pickle.dumps(found)) == found
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.alpha = 0.5  # type: ignore[misc]
    assert found.columns[0].to_frame().schema == found.to_frame().schema
    assert found.columns[0].to_frame() == found.to_frame()
