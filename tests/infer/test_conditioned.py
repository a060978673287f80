"""A model under what is known: held beside the enumeration of all rows, integrals, and shares of draws."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import fishernet as fn


def states_network(seed: int = 1) -> fn.BayesianNetwork:
    """Return a network of labels, numbers as states, and bins of numbers from 0 to 10."""
    rng = np.random.default_rng(seed)
    bins = fn.Table.from_frame({"age": np.linspace(0, 10, 41)}, bins={"age": (2.0, 5.0)}).variables[0]
    variables: list[Any] = [fn.Variable("sick", ["no", "yes"]), fn.Variable("dose", [1, 2, 5]), bins]
    variables.append(fn.Variable("test result", ["low", "mid", "high"]))
    parents = {"dose": ["sick"], "age": ["sick"], "test result": ["dose", "age"]}
    sizes = {"sick": (2,), "dose": (2, 3), "age": (2, 3), "test result": (3, 3, 3)}
    tables = {name: rng.dirichlet(np.ones(shape[-1]), shape[:-1]) for name, shape in sizes.items()}
    return fn.BayesianNetwork.from_tables(variables, parents, tables)


def joint(net: fn.BayesianNetwork) -> np.ndarray[Any, Any]:
    """Return the probability of every row, one axis a variable."""
    shape = [variable.cardinality for variable in net.variables]
    codes = np.array(list(itertools.product(*map(range, shape))))
    rows = fn.Table.from_codes(codes, net.variables)
    return np.exp(net.log_prob(rows)).reshape(shape)


ONE, AGE = np.ones(3), np.array([0.0, 2 / 3, 1.0])
CASES: list[tuple[dict[str, Any], dict[str, Any], list[Any]]] = [
    ({"sick": "yes"}, {}, [[0, 1], ONE, ONE, ONE]),
    ({"test result": ["low", "high"]}, {}, [[1, 1], ONE, ONE, [1, 0, 1]]),
    ({"dose": (2, None), "sick": {"no"}}, {}, [[1, 0], [0, 1, 1], ONE, ONE]),
    ({"age": (3, None)}, {}, [[1, 1], ONE, AGE, ONE]),  # two thirds of the bin from 2 to 5
    ({"age": (None, None), "dose": 5}, {}, [[1, 1], [0, 0, 1], ONE, ONE]),
    ({"age": (3, 20), "dose": (1, 2)}, {"age": [0.5, 0.25, 1]}, [[1, 1], [1, 1, 0], AGE * [0.5, 0.25, 1], ONE]),
    ({}, {"test result": {"high": 0.1, "low": 0.7, "mid": 0}}, [[1, 1], ONE, ONE, [0.7, 0, 0.1]]),
]


@pytest.mark.parametrize(("known", "likelihood", "weights"), CASES)
def test_answers_are_those_of_all_rows(known: dict[str, Any], likelihood: dict[str, Any], weights: list[Any]) -> None:
    net = states_network()
    case = net.given(known, likelihood=likelihood)
    whole = joint(net)
    weighed = whole * np.einsum("a,b,c,d->abcd", *(np.asarray(w, dtype=float) for w in weights))
    total = weighed.sum()
    assert case.log_prob() == pytest.approx(np.log(total), rel=1e-12)
    for axis, name in enumerate(net.names):
        others = tuple(a for a in range(4) if a != axis)
        shares = weighed.sum(axis=others) / total
        np.testing.assert_allclose(case.query(name), shares, atol=1e-14)
        assert case.predict(name) == {name: net.variables[axis].states[int(shares.argmax())]}
    best = np.unravel_index(weighed.argmax(), weighed.shape)
    assert case.explain() == {v.name: v.states[code] for v, code in zip(net.variables, best, strict=True)}
    codes = np.array(list(itertools.product(*(range(n) for n in whole.shape))))
    of_rows = case.log_prob(fn.Table.from_codes(codes, net.variables))
    np.testing.assert_allclose(np.exp(of_rows), (weighed / total).reshape(-1), atol=1e-14)
    drawn = case.sample(20_000, seed=1)
    shares = np.bincount(drawn.codes[3], minlength=3) / 20_000
    np.testing.assert_allclose(shares, weighed.sum(axis=(0, 1, 2)) / total, atol=4 * 0.5 / np.sqrt(20_000))


def test_what_is_set_loses_its_causes_and_what_is_set_at_random_has_its_shares() -> None:
    net = states_network(2)
    whole = joint(net)
    sick = whole.sum(axis=(1, 2, 3))
    given = whole.sum(axis=(1, 3)) / sick[:, None]  # age, given sick
    last = net.conditional("test result").probabilities.reshape(3, 3, 3)
    shares = np.array([0.2, 0.0, 0.8])
    expected = np.einsum("s,sa,d,dat->t", sick, given, shares, last)
    found = net.given(do={"dose": {1: 0.2, 5: 0.8}}).query("test result")
    np.testing.assert_allclose(found, expected, atol=1e-14)
    certain = net.given().do(dose=5)
    np.testing.assert_allclose(certain.query("test result"), np.einsum("s,sa,at->t", sick, given, last[2]), atol=1e-14)
    assert certain.query("sick").array == pytest.approx(sick)
    assert "dose" not in certain.predict()
    kept = net.given(sick="yes").do({"dose": 5}).query("age")
    np.testing.assert_allclose(kept, given[1], atol=1e-14)


def mixed_network() -> fn.BayesianNetwork:
    """Return a label above two numbers, of which one has a scale and is a parent of the other."""
    table = fn.Table.from_frame({"income": [1.5**k for k in range(60)]}).rescale({"income": "log"})
    income = dataclasses.replace(table.variables[0], resolution=None)  # type: ignore[arg-type]
    variables: list[Any] = [fn.Variable("sex", ["f", "m"]), income, fn.Continuous("rent")]
    parts = {"intercept": [1.0, 2.0], "coefficients": [[], []], "sd": [0.5, 0.8]}
    rent = {"intercept": [1.0, 0.0], "coefficients": [[0.5], [1.0]], "sd": [0.3, 0.4]}
    tables: dict[str, Any] = {"sex": [0.3, 0.7], "income": parts, "rent": rent}
    return fn.BayesianNetwork.from_tables(variables, {"income": ["sex"], "rent": ["sex", "income"]}, tables)


def test_a_range_of_a_number_counts_by_its_tail() -> None:
    net = mixed_network()
    prior = np.array([0.3, 0.7])
    tail = norm.sf(np.log(6), [1.0, 2.0], [0.5, 0.8])
    case = net.given(income=(6, None))
    assert case.log_prob() == pytest.approx(np.log(prior @ tail), rel=1e-10)
    np.testing.assert_allclose(case.query("sex"), prior * tail / (prior @ tail), rtol=1e-10)
    far = net.given(income=(1e9, None))  # a probability of 1e-118 keeps its digits
    assert far.log_prob() == pytest.approx(np.log(prior @ norm.sf(np.log(1e9), [1.0, 2.0], [0.5, 0.8])), rel=1e-9)
    both = net.given(income=(4, 9), rent=(2, None))
    drawn = net.sample(200_000, seed=3)
    income, rent = drawn["income"], drawn["rent"]
    inside = (income >= 4) & (income <= 9) & (rent >= 2)
    assert np.exp(both.log_prob()) == pytest.approx(inside.mean(), abs=4 * 0.5 / np.sqrt(200_000))
    share = (drawn["sex"][inside] == "m").mean()
    assert both.query("sex")["m"] == pytest.approx(share, abs=4 * 0.5 / np.sqrt(inside.sum()))


def test_rows_are_drawn_and_judged_within_a_range() -> None:
    net = mixed_network()
    case = net.given(income=(6, 30), sex="m")
    rows = case.sample(20_000, seed=2)
    assert set(rows["sex"]) == {"m"}
    assert rows["income"].min() >= 6
    assert rows["income"].max() <= 30
    drawn = fn.infer.sample(net, 200_000, given={"sex": "m"}, seed=1)
    inside = (drawn["income"] >= 6) & (drawn["income"] <= 30)
    for name in ("income", "rent"):
        apart = rows[name].mean() - drawn[name][inside].mean()
        assert abs(apart) < 5 * drawn[name][inside].std() / np.sqrt(20_000)
    logs = case.log_prob(drawn)
    assert (np.isneginf(logs) == ~inside).all()
    lift = logs[inside] - net.log_prob(drawn)[inside]
    np.testing.assert_allclose(lift, -case.log_prob(), rtol=1e-12)


def test_both_ends_of_a_range_of_rounded_numbers_are_within() -> None:
    """What is left out of a range has the rest of the probability: 64 and below, 65 and above."""
    rng = np.random.default_rng(5)
    sex = rng.integers(0, 2, 800)
    age = np.round(rng.normal(50 + 8 * sex, 12))
    net = fn.learn.bayesian_network({"sex": np.array(["f", "m"])[sex], "age": age}, bins={})
    assert net.variables[1].resolution == 1
    older, younger = net.given(age=(65, None)), net.given(age=(None, 64))
    assert np.logaddexp(older.log_prob(), younger.log_prob()) == pytest.approx(0, abs=1e-12)
    every = {"sex": ["f"] * 201 + ["m"] * 201, "age": np.tile(np.arange(-50.0, 151), 2)}
    table = fn.Table.from_frame(every, schema=net.variables)
    assert np.exp(older.log_prob(table)).sum() == pytest.approx(1, abs=1e-9)


def test_a_gaussian_network_has_the_probability_of_a_range() -> None:
    net = fn.learn.gaussian_network(
        np.random.default_rng(1).normal(size=(300, 2)), fn.UndirectedGraph.from_edges(["X0", "X1"], [])
    )
    case = net.given(X0=(0.5, None))
    mean, sd = float(net.mean[0]), float(np.sqrt(net.covariance[0, 0]))
    assert case.log_prob() == pytest.approx(norm.logsf(0.5, mean, sd), rel=1e-12)
    assert net.given(X0=0.5).predict("X1")["X1"] == pytest.approx(float(net.mean[1]), abs=1e-12)


@pytest.mark.parametrize(
    ("known", "more", "message"),
    [
        ({"sick": ("no", "yes")}, {}, "give a list of labels"),
        ({"dose": (5, 1)}, {}, "begins above its end"),
        ({"dose": (1, 2, 5)}, {}, r"a range is \(low, high\)"),
        ({"dose": (6, 9)}, {}, "no state of 'dose' agrees"),
        ({"dose": []}, {}, "no state of 'dose' agrees"),
        ({"nobody": 1}, {}, "nobody"),
        ({}, {"likelihood": {"sick": {"yes": 1}}}, "lacks 'no'"),
        ({"sick": "yes"}, {"do": {"sick": "no"}}, "both given and set"),
        ({}, {"do": {"sick": {"no": 0.5}}}, "add up to 0.5"),
    ],
)
def test_bad_input(known: dict[str, Any], more: dict[str, Any], message: str) -> None:
    with pytest.raises(fn.SchemaError, match=message):
        states_network().given(known, **more)


def test_numbers_under_a_range_are_no_normal_mixture() -> None:
    case = mixed_network().given(income=(6, None))
    for ask in (lambda: case.query("rent"), case.explain, case.predict):
        with pytest.raises(fn.SchemaError, match="known by a range"):
            ask()


def test_rows_are_drawn_under_a_range_and_soft_evidence_together() -> None:
    """Shares of labels and the mean of another number, beside exact answers."""
    rng = np.random.default_rng(5)
    n = 4000
    sex = rng.choice(["f", "m"], n)
    height = np.round(np.where(sex == "m", 178, 166) + rng.normal(0, 7, n))
    weight = height - 100 + rng.normal(0, 8, n)
    frame = {"sex": sex.tolist(), "height": height.tolist(), "weight": weight.tolist()}
    net = fn.learn.bayesian_network(fn.Table.from_frame(frame, bins=None))
    case = net.given(height=(175, None), likelihood={"sex": {"f": 0.9, "m": 0.1}})
    drawn = case.sample(40_000, seed=2)
    exact = case.query("sex")["f"]
    assert abs(np.mean(drawn["sex"] == "f") - exact) < 5 * np.sqrt(exact * (1 - exact) / 40_000)
    assert np.asarray(drawn["height"]).min() >= 174.5
    kept = (height >= 175) & (rng.random(n) < np.where(sex == "f", 0.9, 0.1))
    spread = weight[kept].std() * (1 / np.sqrt(kept.sum()) + 1 / 200)
    assert abs(np.mean(np.asarray(drawn["weight"])) - weight[kept].mean()) < 4 * spread
