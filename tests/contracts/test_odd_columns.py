"""One odd column stops no verb: what nothing can be learned of is left out or cut into bins, and told."""

from __future__ import annotations

import datetime
import decimal
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fishernet as fn
from fishernet.sklearn import BayesianNetworkOutlierDetector, BayesianNetworkRegressor

N = 80
RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=N)
SOME = RANDOM.random(N) < 0.2
DAYS = pd.Timestamp("2020-01-01") + pd.to_timedelta(RANDOM.integers(0, 900, N), unit="D")

COLUMNS: dict[str, Any] = {
    "infinite": np.where(SOME, np.inf, X),
    "few and infinite": np.where(SOME, -np.inf, np.arange(N) % 3.0),
    "all infinite": np.full(N, np.inf),
    "huge": X * 1e300,
    "one huge": np.r_[1e300, X[1:]],
    "as large as numbers are": np.where(SOME, 1.7976931348623157e308, -1.7976931348623157e308 * RANDOM.random(N)),
    "tiny": X * 1e-300,
    "denormal": X * 1e-310,
    "whole of denormal": np.abs(X) * 5e-324,
    "far from zero": 1e16 + np.round(X * 10) * 2,
    "one known": np.r_[7.25, np.full(N - 1, np.nan)],
    "two known": np.r_[7.25, 8, np.full(N - 2, np.nan)],
    "constant": np.full(N, 3.5),
    "lists": [[1, 2], [3]] * (N // 2),
    "dicts": [{"a": 1}] * N,
    "complex": X + 1j,
    "bytes": [b"\xff", b"\xfe"] * (N // 2),
    "text as bytes": [b"one", b"two"] * (N // 2),
    "no date": pd.Series(pd.NaT, index=range(N)),
    "no label": pd.Categorical([None] * N, categories=["a", "b"]),
    "one date": [pd.Timestamp("2020-01-01")] * N,
    "dates and a word": [datetime.date(2020, 1, 1), "unknown"] * (N // 2),
    "dates as categories": pd.Categorical(DAYS),
    "uuids": [uuid.UUID(int=i) for i in range(N)],
    "decimals and a word": [decimal.Decimal("1.5"), "none"] * (N // 2),
}


def rows(name: str, kind: str) -> pd.DataFrame:
    """Return a table of labels, of numbers, or of both, with gaps, and one odd column."""
    random = np.random.default_rng(4)
    a = random.normal(size=N)
    label = np.where(random.random(N) < 0.5 + 0.4 * np.tanh(a), "yes", "no")
    labels = {"l": label, "k": np.where(random.random(N) < 0.8, label, random.choice(["yes", "no"], N))}
    numbers = {"a": a, "b": a + random.normal(size=N), "c": random.normal(size=N)}
    columns: dict[str, Any] = {**(labels if kind != "numbers" else {}), **(numbers if kind != "labels" else {})}
    frame = pd.DataFrame(columns)
    if kind == "gaps":
        frame = frame.mask(random.random(frame.shape) < 0.1)
    frame["odd"] = COLUMNS[name]
    return frame


def effect_of_last(t: pd.DataFrame) -> Any:
    """The odd column is the last, where a network has it."""
    net = fn.learn.bayesian_network(t)
    return fn.explain.effect(net, t, net.names[-1], net.names[0], n=20, seed=1)


VERBS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "describe": lambda t: (str(fn.Table.from_frame(t).describe()), fn.Table.from_frame(t).alerts()),
    "bayesian_network": lambda t: fn.learn.bayesian_network(t).log_prob(t),
    "dependency_network": fn.learn.dependency_network,
    "clusters": lambda t: fn.learn.clusters(t, 2, seed=1),
    "edge_strengths": lambda t: fn.learn.edge_strengths(t, 2, seed=1),
    "cross_validate": lambda t: fn.learn.cross_validate(t, folds=2),
    "pc": fn.learn.pc,
    "two_sample_test": lambda t: fn.compare.two_sample_test(t[:40], t[40:], permutations=19, seed=1),
    "explain_change": lambda t: fn.compare.explain_change(t[:40], t[40:], seed=1),
    "falsify": lambda t: fn.compare.falsify(fn.learn.bayesian_network(t), t, permutations=19),
    "effect": effect_of_last,
    "outliers": lambda t: BayesianNetworkOutlierDetector().fit(t).predict(t),
}


BESIDE_NUMBERS = ("few and infinite", "huge", "one huge", "as large as numbers are", "one known", "constant", "complex")
BESIDE_LABELS = ("infinite", "two known", "lists", "no date", "no label")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "gaps") for name in COLUMNS),
        *((name, "numbers") for name in BESIDE_NUMBERS),
        *((name, "labels") for name in BESIDE_LABELS),
    ],
)
@pytest.mark.filterwarnings("ignore::fishernet.FishernetWarning")
def test_an_odd_column_stops_no_verb(name: str, kind: str) -> None:
    table = rows(name, kind)
    for verb, ask in VERBS.items():
        try:
            ask(table)
        except fn.FishernetError as error:
            pytest.fail(f"{verb}: {error}")
    if kind != "labels":
        rest = table.drop(columns="a")
        assert np.isfinite(BayesianNetworkRegressor().fit(rest, table["a"].fillna(0.0)).predict(rest)).all()
    if kind != "numbers":
        assert len(fn.explain.mislabelled(table, "l").probabilities) == N


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("lists", "column 'odd' holds lists, and is left out: labels are text, numbers or truth values"),
        ("dicts", "column 'odd' holds records"),
        ("complex", "column 'odd' holds complex numbers"),
        ("bytes", "column 'odd' holds bytes"),
    ],
)
def test_what_is_no_label_is_left_out_and_told(name: str, why: str) -> None:
    table = rows(name, "labels")
    with pytest.warns(fn.FishernetWarning, match=why):
        assert fn.Table.from_frame(table).names == ("l", "k")
    assert fn.Table.from_frame(table, exclude=["odd"]).names == ("l", "k")
    with pytest.raises(fn.SchemaError, match=r"so turn it into one of these; pass exclude=\['odd'\] to leave it out"):
        fn.Table.from_frame(table, categorical=["odd"])
    with pytest.raises(fn.SchemaError, match="column 'odd'"):
        fn.Table.from_frame(table, schema=[fn.Variable("odd", ["a"])])
    with pytest.raises(fn.SchemaError, match="column 'odd'"):
        fn.Table.from_frame(table[["odd"]])


@pytest.mark.parametrize(
    ("name", "states"),
    [("text as bytes", ("one", "two")), ("dates and a word", ("2020-01-01", "unknown"))],
)
def test_what_says_a_label_is_one(name: str, states: tuple[str, ...]) -> None:
    assert fn.Table.from_frame({"x": COLUMNS[name]}).variables[0] == fn.Variable("x", states)


@pytest.mark.parametrize("name", ["infinite", "huge", "as large as numbers are", "tiny", "far from zero"])
def test_numbers_that_no_regression_takes_are_cut_into_bins(name: str) -> None:
    table = rows(name, "both")
    with pytest.warns(fn.FishernetWarning, match=r"'odd' holds .*, and numbers are cut into bins: 'odd' \(4\)"):
        net = fn.learn.bayesian_network(table)
    assert isinstance(net.variables[net.names.index("odd")], fn.Variable)
    with pytest.warns(fn.FishernetWarning, match="'odd' holds .*, and is left out"):
        assert "odd" not in fn.learn.bayesian_network(table, bins={}).names


@pytest.mark.parametrize("kind", ["numbers", "both"])
@pytest.mark.parametrize("beyond", [np.inf, -np.inf, 1e200])
@pytest.mark.filterwarnings("ignore::fishernet.FishernetWarning")
def test_rows_with_numbers_that_no_model_takes_are_told_by_place(kind: str, beyond: float) -> None:
    """By models; a monitor, which watches unattended, takes such cells as missing."""
    reference = rows("constant", kind).drop(columns="odd")
    net, batch = fn.learn.bayesian_network(reference), reference[::2].reset_index(drop=True)
    batch.loc[3, "b"] = beyond
    for ask in (net.log_prob, lambda t: net.predict(t, "a"), lambda t: fn.infer.impute(net, t, seed=1)):
        with pytest.raises(
            fn.SchemaError, match=r"column 'b', row 3: .* cannot be used; leave these rows out, or fill"
        ):
            ask(batch)
    lacking = batch.assign(b=batch["b"].where(batch.index != 3))
    watched, same = (fn.compare.Monitor(reference, seed=1).update(t) for t in (batch, lacking))
    assert dict(watched.p_values) == dict(same.p_values)


@pytest.mark.parametrize("name", ["constant", "no label", "no date", "one known"])
@pytest.mark.filterwarnings("ignore::fishernet.FishernetWarning")
def test_rules_may_name_columns_that_are_left_out(name: str) -> None:
    table, tiers = rows(name, "gaps"), [["a", "odd"], ["b", "c", "l", "k"]]
    forbidden = [("odd", "l"), ("a", "b")]
    net = fn.learn.bayesian_network(table, tiers=tiers, forbidden=iter(forbidden))
    assert ("a", "b") not in net.dag.edges
    fn.learn.edge_strengths(table, 2, tiers=tiers, forbidden=forbidden, seed=1)
    fn.learn.cross_validate(table, folds=2, tiers=tiers, forbidden=forbidden)
    fn.learn.pc(table, tiers=tiers)
    fn.learn.pc(rows(name, "numbers"), tiers=[["a", "odd"], ["b", "c"]])
    with pytest.raises(fn.SchemaError, match="nobody"):
        fn.learn.bayesian_network(table, tiers=[["a", "nobody"], ["b"]])
