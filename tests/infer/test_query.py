"""Answers with labels: what they hold is what enumeration gives, and every way to read them says the same."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import fishernet as fn
from tests.networks import random_network
from tests.reference import inference as reference
from tests.reference.inference import Query, queries

ASIA = fn.datasets.load("asia")


@given(queries())
def test_every_way_to_read_an_answer_says_what_enumeration_does(query: Query) -> None:
    expected = reference.marginal(query.net, query.names, query.given, query.likelihood)
    d = query.net.query(query.names, **query.evidence)
    assert d.names == tuple(query.names)
    assert d.given == dict(query.given)
    np.testing.assert_allclose(np.asarray(d), expected, rtol=1e-10, atol=1e-300)
    assert np.asarray(d) is d.array
    assert d.standard_errors is None
    states = [query.net.variables[query.net.names.index(name)].states for name in query.names]
    frame = d.to_frame()
    assert frame.num_rows == len(d) == expected.size
    for row, labels in enumerate(itertools.product(*states)):
        key = labels[0] if len(labels) == 1 else labels
        assert d[key] == d.to_dict()[key] == d.array.ravel()[row] == frame["probability"][row].as_py()
        assert tuple(frame[name][row].as_py() for name in query.names) == labels
    assert list(d) == list(d.to_dict())
    assert d[d.most_probable] == d.array.max()


def test_without_names_all_that_is_not_given_is_asked_for() -> None:
    known = dict.fromkeys(ASIA.names[:5], "no") | {"either": "no"}
    left = [name for name in ASIA.names if name not in known]
    d = ASIA.query(given=known)
    assert d.names == tuple(left)
    np.testing.assert_array_equal(d.array, fn.infer.marginal(ASIA, left, given=known))
    with pytest.raises(fn.SchemaError, match="every one is given"):
        ASIA.query(given=dict.fromkeys(ASIA.names, "no"))
    chain = [fn.Variable(f"v{i}", [0, 1]) for i in range(40)]
    wide = fn.BayesianNetwork.from_tables(chain, {}, {v.name: [0.5, 0.5] for v in chain})
    with pytest.raises(fn.SchemaError, match="ask for at most 32"):
        wide.query()


def test_labels_are_looked_up_as_what_is_given_is() -> None:
    carat = fn.Variable("carat", ["<= 1", "> 1"], [1.0])
    grade = fn.Variable("grade", [1, 10])
    net = fn.BayesianNetwork.from_tables(
        [carat, grade], {"grade": ["carat"]}, {"carat": [0.25, 0.75], "grade": [[0.5, 0.5], [0.125, 0.875]]}
    )
    assert net.query("grade", given={"carat": 1.2})["10"] == 0.875
    assert net.query("carat")[0.3] == 0.25
    assert net.query(["grade", "carat"])["1", 7] == 0.75 * 0.125
    with pytest.raises(fn.UnknownStateError, match="'grade' has no state 2; it has 1, 10"):
        net.query("grade")[2]
    with pytest.raises(fn.SchemaError, match="2 labels are needed, one per variable in this order, not 1 label"):
        net.query(["grade", "carat"])[1]


def test_a_given_variable_has_all_its_mass_at_its_state() -> None:
    assert ASIA.query("smoke", given={"smoke": "yes"}).to_dict() == {"yes": 1.0, "no": 0.0}


def test_what_is_shown() -> None:
    d = ASIA.query("smoke", given={"asia": "no"})
    assert repr(d) == "Distribution(smoke | asia = 'no': 'yes' 0.5, 'no' 0.5)"
    assert str(d).splitlines() == [
        "P(smoke | asia = 'no')",
        "smoke  probability",
        "yes    0.5",
        "no     0.5",
    ]
    joint = ASIA.query(ASIA.names[:5])
    assert repr(joint) == "Distribution(asia, tub, smoke, lung, bronc: 32 cells)"
    assert str(joint).splitlines()[-1] == "... and 12 more rows"
    assert "<td>yes</td>" in d._repr_html_()


def test_a_column_of_the_same_name_keeps_its_own() -> None:
    net = fn.BayesianNetwork.from_tables([fn.Variable("probability", ["a", 1])], {}, {"probability": [0.5, 0.5]})
    assert net.query("probability").to_frame().to_pydict() == {"probability": ["a", "1"], "probability_": [0.5, 0.5]}


def test_markov_networks_are_asked_too() -> None:
    a, b = fn.Variable("a", ["x", "y"]), fn.Variable("b", ["x", "y"])
    pair = fn.MarkovNetwork([a, b], [(("a", "b"), [[2.0, 1.0], [1.0, 4.0]])])
    assert pair.query("a", given={"b": "y"})["y"] == pytest.approx(0.8)
    np.testing.assert_allclose(pair.query(["b", "a"]).array, np.array([[2, 1], [1, 4]]) / 8)
    np.testing.assert_allclose(
        pair.predict_proba({"b": ["x", "y", None]}, "a"), [[2 / 3, 1 / 3], [0.2, 0.8], [3 / 8, 5 / 8]]
    )
    assert pair.predict({"b": ["x", "y", None]}, "a").tolist() == ["x", "y", "y"]


def test_dependency_networks_are_sampled_and_say_how_far_off_they_may_be() -> None:
    net = random_network(1, [2, 3, 2])
    dn = fn.DependencyNetwork.from_joint(net)
    d = dn.query(["v0", "v2"], n=40_000, seed=1)
    exact = net.query(["v0", "v2"]).array
    assert (d.n_rows, d.seed) == (40_000, 1)
    assert d.standard_errors is not None
    assert (np.abs(d.array - exact) < 8 * d.standard_errors).all()
    frame = d.to_frame()
    assert frame.column_names == ["v0", "v2", "probability", "standard_error"]
    np.testing.assert_array_equal(frame["standard_error"].to_numpy(), d.standard_errors.ravel())
    assert str(d).splitlines()[1].split() == ["v0", "v2", "probability", "standard", "error"]
    with pytest.raises(fn.SchemaError, match="takes no likelihoods"):
        dn.query("v0", likelihood={"v2": [1, 2]})


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: ASIA.query("lungs"), "no variable 'lungs'"),
        (lambda: ASIA.query(["lung", "lung"]), "more than once"),
        (lambda: ASIA.query("lung", given=["smoke"]), "given must be a mapping"),  # type: ignore[arg-type]
        (lambda: ASIA.query("lung", n=10), "'n' are options of sampling; this answer is exact"),
        (lambda: ASIA.query(3), "an iterable of names is needed"),  # type: ignore[arg-type]
    ],
)
def test_what_makes_no_sense_is_refused(ask: Any, message: str) -> None:
    with pytest.raises(fn.SchemaError, match=message):
        ask()


def test_an_answer_does_not_change() -> None:
    d = ASIA.query("lung")
    with pytest.raises(ValueError, match="read-only"):
        d.array[0] = 1
    with pytest.raises(AttributeError):
        d.given = {}
    copy = np.array(d)
    copy[0] = 9
    assert d["yes"] < 1
