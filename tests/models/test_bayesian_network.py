"""The Bayesian network against the product of its tables."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import (
    CycleError,
    FishernetError,
    SchemaError,
    StateSpaceError,
    ZeroProbabilityError,
)
from fishernet.models import FullTable
from tests.networks import networks, random_network


def all_rows(net: fn.BayesianNetwork) -> np.ndarray:
    return np.array(list(itertools.product(*(range(v.cardinality) for v in net.variables))))


def term(net: fn.BayesianNetwork, row: np.ndarray, child: int) -> float:
    conditional = net.conditionals[child]
    return float(conditional.table()[(*row[list(conditional.parents)], row[child])])


@given(networks(most_variables=4))
def test_log_prob_is_the_product_of_the_tables(net: fn.BayesianNetwork) -> None:
    rows = all_rows(net)
    expected = np.array([[term(net, row, child) for child in range(rows.shape[1])] for row in rows])
    with np.errstate(divide="ignore"):
        logs = np.log(expected)
    np.testing.assert_allclose(net.log_prob_terms(rows), logs, rtol=1e-13)
    np.testing.assert_allclose(net.log_prob(rows), logs.sum(axis=1), rtol=1e-12, atol=1e-13)
    assert np.exp(net.log_prob(rows)).sum() == pytest.approx(1, rel=1e-12)


@given(networks(most_variables=5), st.integers(0, 2**20))
def test_a_term_is_that_of_a_cell_given_the_known_ones_before_it(net: fn.BayesianNetwork, seed: int) -> None:
    rng = np.random.default_rng(seed)
    cards = np.array([variable.cardinality for variable in net.variables])
    codes = rng.integers(0, cards + 1, (20, len(cards)))  # the cardinality: missing
    codes[0] = cards
    terms = net.log_prob_terms(fn.Table.from_codes(codes, net.variables))
    seen, before = np.tile(cards, (20, 1)), np.zeros(20)
    for v in net.dag.order:
        seen[:, v] = codes[:, v]
        now = net.log_prob(fn.Table.from_codes(seen, net.variables))
        with np.errstate(invalid="ignore"):
            expected = np.where(codes[:, v] == cards[v], 0.0, now - before)
        np.testing.assert_allclose(terms[:, v], expected, rtol=1e-9, atol=1e-9)
        before = now


def test_the_most_probable_label_is_predicted() -> None:
    """What probabilities are, with cells missing or not, is tested where they are computed: in tests/infer."""
    net = random_network(2, [2, 3, 2, 3])
    rows = fn.Table.from_codes([[0, 3, 1, 2], [1, 2, 2, 3], [0, 0, 0, 0]], net.variables)  # the cardinality: missing
    for name, variable in zip(net.names, net.variables, strict=True):
        best = fn.infer.predict_proba(net, rows, name).argmax(axis=1)
        assert net.predict(rows, name).tolist() == [variable.states[k] for k in best]
        np.testing.assert_array_equal(net.predict_proba(rows, name).argmax(axis=1), best)


def test_an_impossible_row_cannot_be_predicted() -> None:
    a, b = fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1])
    net = fn.BayesianNetwork.from_tables([a, b], {"b": ["a"]}, {"a": [0.5, 0.5], "b": [[1, 0], [1, 0]]})
    with pytest.raises(ZeroProbabilityError, match="row 1 has probability 0"):
        net.predict_proba([[0, 0], [0, 1]], "a")
    assert net.log_prob([[0, 1]]).tolist() == [-np.inf]


def test_extreme_probabilities() -> None:
    """Products of 400 probabilities of 1e-9 stay finite in logarithms."""
    variables = [fn.Variable(f"x{i}", [0, 1]) for i in range(400)]
    net = fn.BayesianNetwork.from_tables(variables, {}, {v.name: [1 - 1e-9, 1e-9] for v in variables})
    assert net.log_prob(np.ones((1, 400), dtype=int))[0] == pytest.approx(400 * np.log(1e-9), rel=1e-13)


# ------------------------------------------------------------------------------------------------ data meets model


A, B = fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1])
HALF = [0.5, 0.5]


@pytest.mark.parametrize("kind", [fn.BayesianNetwork, fn.DependencyNetwork])
@pytest.mark.parametrize(
    ("parents", "b", "message"),
    [
        ({}, None, "no table for 'b'"),
        ({"z": ["b"]}, HALF, "no variable 'z'"),
        ({"b": ["z"]}, HALF, "no variable 'z'"),
        ({"b": "a"}, HALF, "not one str"),
        ({"b": ["a", "a"]}, HALF, "more than once"),
        ({"b": ["b"]}, HALF, "more than once"),
        ({"b": ["a"]}, HALF, r"shape \(2,\); .* need \(2, 2\)"),
        ({}, [0.5, 0.6], "row 0 sums to 1.1"),
        ({}, [1e308, 1e308], "row 0 sums to inf"),
        ({}, [1.5, -0.5], "negative"),
        ({}, [float("nan"), 1], "not a finite number"),
    ],
)
def test_tables_that_do_not_fit(kind: Any, parents: dict[str, Any], b: Any, message: str) -> None:
    tables = {"a": HALF} | ({} if b is None else {"b": b})
    with pytest.raises(SchemaError, match=message):
        kind.from_tables([A, B], parents, tables)


@pytest.mark.parametrize("kind", [fn.BayesianNetwork, fn.DependencyNetwork])
def test_rounded_tables_are_taken_with_a_tolerance(kind: Any) -> None:
    net = kind.from_tables([A, B], {}, {"a": [0.333, 0.666], "b": HALF}, tolerance=0.01)
    assert net.conditional("a").probabilities[0, 0] == pytest.approx(1 / 3, rel=1e-13)


def test_conditionals_must_be_those_of_the_variables() -> None:
    half = FullTable(0, (), [A], [HALF])
    with pytest.raises(SchemaError, match="each variable needs one conditional"):
        fn.BayesianNetwork([A, B], [half])
    with pytest.raises(SchemaError, match="conditional 1"):
        fn.BayesianNetwork([A, B], [half, half])


@pytest.mark.parametrize("n_rows", [np.nan, "7", -1, True])
def test_the_number_of_rows_is_a_number_of_rows(n_rows: Any) -> None:
    net = random_network(0, [2])
    with pytest.raises(FishernetError, match="n_rows"):
        fn.BayesianNetwork(net.variables, net.conditionals, n_rows=n_rows)


def test_a_cycle_is_named() -> None:
    variables = [fn.Variable("a", [0]), fn.Variable("b", [0])]
    with pytest.raises(CycleError, match="a -> b -> a|b -> a -> b"):
        fn.BayesianNetwork.from_tables(variables, {"a": ["b"], "b": ["a"]}, {"a": [[1.0]], "b": [[1.0]]})


# ------------------------------------------------------------------------------------------------------- sampling


def test_rare_states_are_drawn_and_impossible_ones_never() -> None:
    x = fn.Variable("x", range(5))
    net = fn.BayesianNetwork.from_tables([x], {}, {"x": [0, 1e-15, 1 - 1e-15, 0, 0]})
    counts = np.bincount(net.sample(3_000_000, seed=1).codes[0], minlength=5)
    assert counts[[0, 3, 4]].tolist() == [0, 0, 0]
    certain = fn.BayesianNetwork.from_tables([x], {}, {"x": [0, 0, 1, 0, 0]})
    assert set(certain.sample(1000, seed=0).codes[0].tolist()) == {2}


def test_many_states_and_wide_codes() -> None:
    x = fn.Variable("x", range(700))
    p = np.random.default_rng(0).dirichlet(np.ones(700))
    sample = fn.BayesianNetwork.from_tables([x], {}, {"x": p}).sample(500_000, seed=2)
    assert sample.codes[0].dtype == np.uint16
    counts = np.bincount(sample.codes[0], minlength=700)
    assert ((counts - 500_000 * p) ** 2 / (500_000 * p)).sum() < 900  # chi-square, 699 degrees of freedom


def test_a_longer_sample_begins_with_the_shorter_one() -> None:
    net = random_network(0, [2, 3, 4])
    assert net.sample(5000, seed=5) == net.sample(20_000, seed=5)[:5000]


# --------------------------------------------------------------------------------------- Fisher scores, information


def test_a_row_of_probability_zero_has_no_score() -> None:
    a, b = fn.Variable("a", ["x", "y"]), fn.Variable("b", ["u", "v", "w"])
    net = fn.BayesianNetwork.from_tables(
        [a, b], {"b": ["a"]}, {"a": [0.5, 0.5], "b": [[0.5, 0, 0.5], [0.25, 0.25, 0.5]]}
    )
    assert np.isfinite(net.fisher_scores([[0, 0], [0, 2], [1, 1]])).all()
    with pytest.raises(ZeroProbabilityError, match="row 1 has b = 'v' given a = 'x'") as refused:
        net.fisher_scores([[0, 0], [0, 1]])
    assert (refused.value.variable, refused.value.configuration, refused.value.state) == ("b", {"a": "x"}, "v")
    with pytest.raises(ZeroProbabilityError, match="information"):
        net.fisher_information()


def test_scores_that_would_not_fit_are_refused() -> None:
    x = fn.Variable("x", range(50_000))
    net = fn.BayesianNetwork.from_tables([x], {}, {"x": np.full(50_000, 1 / 50_000)})
    with pytest.raises(StateSpaceError, match="take the rows in parts"):
        net.fisher_scores(np.zeros((50_000, 1), dtype=int))


# ----------------------------------------------------------------------------------------- conditionals, printing


def test_frames_have_labels() -> None:
    net = fn.learn.bayesian_network(fn.datasets.load("asia").sample(500, seed=0))
    frame = net.conditional("dysp").to_frame()
    assert frame.column_names[-2:] == ["dysp", "probability"]
    assert set(frame["dysp"].to_pylist()) == {"yes", "no"}
    x = fn.Variable("probability", ["a", "b"])
    odd = fn.BayesianNetwork.from_tables([x], {}, {"probability": [0.25, 0.75]})
    assert odd.conditionals[0].to_frame().to_pydict() == {"probability": ["a", "b"], "probability_": [0.25, 0.75]}


def test_print_says_what_the_network_is() -> None:
    net = random_network(0, [2, 3])
    text = str(net)
    assert text.splitlines()[0] == repr(net)
    assert "v1" in text
    assert "3 states" in text


def test_parents_edges_and_tables_go_by_name() -> None:
    a, b, c = fn.Variable("a", [0, 1]), fn.Variable("b", ["x", "y"]), fn.Variable("c", [False, True])
    rows = np.arange(1, 9).reshape(2, 2, 2) / np.array([[3, 7], [11, 15]])[..., None]
    net = fn.BayesianNetwork.from_tables([c, a, b], {"c": ["b", "a"]}, {"a": [0.5, 0.5], "b": [0.2, 0.8], "c": rows})
    assert net.parents("c") == ("a", "b")  # in the order of the variables
    assert net.parents("a") == ()
    assert net.edges == net.dag.edges == (("a", "c"), ("b", "c"))
    table = net.cpt("c").to_pandas().set_index(["a", "b", "c"])["probability"]
    for (i, x), (j, y), (k, z) in itertools.product(enumerate(a.states), enumerate(b.states), enumerate(c.states)):
        assert table[x, y, z] == pytest.approx(rows[j, i, k])
    with pytest.raises(SchemaError, match="no variable 'd'"):
        net.cpt("d")


def test_the_table_of_a_regression_has_its_terms() -> None:
    dag = fn.Dag.from_edges(["x", "y"], [("x", "y")])
    net = fn.BayesianNetwork.from_regressions(dag, [0, 1], [[], [2]], [1, 0.5])
    assert net.cpt("y").to_pydict() == {"term": ["(intercept)", "x", "(sd)"], "value": [1.0, 2.0, 0.5]}


def test_a_network_shows_itself_without_a_look_for_each_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text, HTML and the arcs of thousands of variables: names are not searched one by one."""
    asia = fn.datasets.load("asia")
    before = (repr(asia), str(asia), asia.edges)
    assert before[2] == tuple((parent, name) for name in asia.names for parent in asia.parents(name))

    def searched(*_: object) -> None:
        raise AssertionError("a name was searched")

    monkeypatch.setattr("fishernet.models.network.positions", searched)
    assert (repr(asia), str(asia), asia.edges) == before
    assert "8 variables, 8 arcs" in repr(asia)
