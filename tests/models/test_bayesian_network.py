"""The Bayesian network against the product of its tables."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import fishernet as fn
from fishernet.base.errors import (
    CycleError,
    FishernetError,
    MissingValueError,
    SchemaError,
    StateSpaceError,
    UnknownStateError,
    ZeroProbabilityError,
)
from fishernet.models import FullTable, MergedTable
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


@given(networks(most_variables=4))
def test_predict_proba_is_bayes_rule(net: fn.BayesianNetwork) -> None:
    rows = all_rows(net)
    joint = np.exp(net.log_prob(rows)).reshape([v.cardinality for v in net.variables])
    for target, variable in enumerate(net.variables):
        by_target = np.moveaxis(joint, target, -1).reshape(-1, variable.cardinality)
        picked = np.moveaxis(rows.reshape(*joint.shape, -1), target, 0)[0].reshape(-1, len(net.variables))
        possible = by_target.sum(axis=1) > 0
        expected = by_target[possible] / by_target[possible].sum(axis=1, keepdims=True)
        got = net.predict_proba(picked[possible], variable.name)
        np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-300)


@pytest.mark.parametrize("seed", range(5))
def test_missing_cells_are_summed_out_of_predictions(seed: int) -> None:
    net = random_network(seed, [2, 3, 2, 3])
    every = all_rows(net)
    joint = np.exp(net.log_prob(every))
    sizes = [v.cardinality for v in net.variables]
    rows = np.random.default_rng(seed).integers(0, np.array(sizes) + 1, size=(12, 4))  # the cardinality: missing
    for target, name in enumerate(net.names):
        expected = np.zeros((len(rows), sizes[target]))
        for row, out in zip(rows, expected, strict=True):
            known = [v for v in range(4) if v != target and row[v] < sizes[v]]
            agrees = (every[:, known] == row[known]).all(axis=1)
            out += np.bincount(every[agrees, target], weights=joint[agrees], minlength=sizes[target])
        expected /= expected.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(net.predict_proba(rows, name), expected, rtol=1e-9)
        labels = [net.variables[target].states[k] for k in expected.argmax(axis=1)]
        assert net.predict(rows, name).tolist() == labels


def test_predict_proba_does_not_need_the_targets_column() -> None:
    net = random_network(1, [2, 3, 4])
    table = net.sample(50, seed=0)
    whole = net.predict_proba(table, "v1")
    np.testing.assert_array_equal(whole, net.predict_proba(table.select(["v2", "v0"]), "v1"))
    strange = fn.Table.from_frame({"v0": ["s0"], "v1": ["no such state"], "v2": ["s1"]})
    assert net.predict_proba(strange, "v1").shape == (1, 3)
    with pytest.raises(SchemaError, match="lacks the column 'v2'"):
        net.predict_proba(table.select(["v0", "v1"]), "v1")


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


def test_columns_and_states_in_other_orders_give_the_same_numbers() -> None:
    net = random_network(3, [2, 3, 4])
    table = net.sample(200, seed=0)
    turned = table.select(["v2", "v0", "v1"])
    other = turned.conform([fn.Variable(v.name, v.states[::-1]) for v in turned.variables])
    assert other.codes[0].tolist() != turned.codes[0].tolist()
    np.testing.assert_array_equal(net.log_prob(other), net.log_prob(table))
    np.testing.assert_array_equal(net.fisher_scores(other), net.fisher_scores(table))
    codes = np.stack(table.codes, axis=1)
    np.testing.assert_array_equal(net.log_prob(codes), net.log_prob(table))
    np.testing.assert_array_equal(net.log_prob(codes.astype(float)), net.log_prob(table))


def test_what_does_not_fit_is_named() -> None:
    net = random_network(3, [2, 3])
    with pytest.raises(UnknownStateError, match=r"column 'v1', row 1: the label 'x' is not among .*'s0'"):
        net.log_prob(fn.Table.from_frame({"v0": ["s0", "s1"], "v1": ["s2", "x"]}))
    with pytest.raises(SchemaError, match="lacks the column 'v1'"):
        net.log_prob(fn.Table.from_frame({"v0": ["s0"]}))
    with pytest.raises(SchemaError, match="row 0: the code 9"):
        net.log_prob([[0, 9]])
    with pytest.raises(SchemaError, match="fractions"):
        net.log_prob([[0, 0.5]])
    with pytest.raises(MissingValueError, match=r"log_prob needs .* missing in 'v0' \(1\)"):
        net.log_prob([[2, 0]])


@pytest.mark.parametrize(
    ("parents", "tables", "message"),
    [
        ({}, {"a": [0.5, 0.5]}, "no table for 'b'"),
        ({}, {"a": [0.5, 0.5], "b": [0.5, 0.5], "c": [1]}, "no variable 'c'"),
        ({"b": ["z"]}, {"a": [0.5, 0.5], "b": [0.5, 0.5]}, "no variable 'z'"),
        ({"b": "a"}, {"a": [0.5, 0.5], "b": [0.5, 0.5]}, "not one str"),
        ({"b": ["a", "a"]}, {"a": [0.5, 0.5], "b": [0.5, 0.5]}, "more than once"),
        ({"b": ["a"]}, {"a": [0.5, 0.5], "b": [0.5, 0.5]}, r"shape \(2,\); .* need \(2, 2\)"),
        ({}, {"a": [0.5, 0.5], "b": [0.5, 0.6]}, "row 0 sums to 1.1"),
        ({}, {"a": [0.5, 0.5], "b": [1e308, 1e308]}, "row 0 sums to inf"),
        ({}, {"a": [0.5, 0.5], "b": [1.5, -0.5]}, "negative"),
        ({}, {"a": [0.5, 0.5], "b": [float("nan"), 1]}, "not a finite number"),
    ],
)
def test_tables_that_do_not_fit(parents: dict[str, Any], tables: dict[str, Any], message: str) -> None:
    variables = [fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1])]
    with pytest.raises(SchemaError, match=message):
        fn.BayesianNetwork.from_tables(variables, parents, tables)


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


@pytest.mark.parametrize("seed", range(4))
def test_sampled_frequencies(seed: int) -> None:
    net = random_network(seed, [2, 3, 1, 4])
    n = 400_000
    codes = np.stack([c.astype(np.int64) for c in net.sample(n, seed=seed).codes], axis=1)
    shape = [v.cardinality for v in net.variables]
    counts = np.bincount(np.ravel_multi_index(tuple(codes.T), shape), minlength=int(np.prod(shape)))
    p = np.exp(net.log_prob(all_rows(net)))
    assert counts[p == 0].sum() == 0
    z = (counts - n * p)[p > 0] / np.sqrt(n * p * (1 - p) + 1e-9)[p > 0]
    assert np.abs(z).max() < 5


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


def test_a_sample_is_a_function_of_the_seed_alone() -> None:
    net = random_network(0, [2, 3, 4])
    before = fn.set_threads(1)
    try:
        one = net.sample(20_000, seed=5)
        fn.set_threads(2)
        two = net.sample(20_000, seed=5)
    finally:
        fn.set_threads(before)
    assert one == two
    assert net.sample(5000, seed=5) == one[:5000]  # a longer sample begins with the shorter one
    assert net.sample(20_000, seed=6) != one
    rng = np.random.default_rng(5)
    assert net.sample(20_000, seed=rng) == one
    assert net.sample(20_000, seed=rng) != one


def test_the_global_generator_is_left_alone() -> None:
    np.random.seed(1)  # noqa: NPY002
    before = pickle.dumps(np.random.get_state())  # noqa: NPY002
    random_network(0, [2, 3]).sample(100, seed=None)
    assert pickle.dumps(np.random.get_state()) == before  # noqa: NPY002


@pytest.mark.parametrize("n", [-1, 1.5, "3", True, 2**50])
def test_bad_sizes_of_samples(n: Any) -> None:
    with pytest.raises(FishernetError, match="n must be an integer from 0"):
        random_network(0, [2]).sample(n)


def test_an_empty_sample() -> None:
    assert random_network(0, [2, 3]).sample(0, seed=1).n_rows == 0


# --------------------------------------------------------------------------------------- Fisher scores, information


def perturbed(net: fn.BayesianNetwork, child: int, group: int, state: int, h: float) -> fn.BayesianNetwork:
    conditionals = list(net.conditionals)
    c = conditionals[child]
    p = c.probabilities.copy()
    p[group, state] += h
    p[group, -1] -= h
    conditionals[child] = FullTable(child, c.parents, c.variables, p)
    return fn.BayesianNetwork(net.variables, conditionals)


@given(networks(most_variables=3, positive=True))
def test_fisher_scores_are_derivatives(net: fn.BayesianNetwork) -> None:
    rows = all_rows(net)
    scores = net.fisher_scores(rows)
    assert scores.shape == (len(rows), net.n_parameters)
    column = 0
    h = 1e-6
    for child, c in enumerate(net.conditionals):
        for group in range(c.probabilities.shape[0]):
            for state in range(c.probabilities.shape[1] - 1):
                up, down = (perturbed(net, child, group, state, s * h).log_prob(rows) for s in (1, -1))
                np.testing.assert_allclose(scores[:, column], (up - down) / (2 * h), rtol=1e-4, atol=1e-6)
                column += 1


@given(networks(most_variables=4, positive=True))
def test_scores_have_mean_zero_and_the_information_as_covariance(net: fn.BayesianNetwork) -> None:
    """E s = 0 and E s s^T = I, by enumeration; I is block-diagonal (P1, Eq. 9)."""
    rows = all_rows(net)
    p = np.exp(net.log_prob(rows))
    scores = net.fisher_scores(rows)
    np.testing.assert_allclose(p @ scores, 0, atol=1e-9)
    blocks = net.fisher_information()
    dense = np.zeros((net.n_parameters, net.n_parameters))
    at = 0
    for block in (b for of_variable in blocks for b in of_variable):
        dense[at : at + len(block), at : at + len(block)] = block
        at += len(block)
    np.testing.assert_allclose(scores.T @ (p[:, None] * scores), dense, rtol=1e-8, atol=1e-8)


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


def test_merged_rows_act_as_the_full_table() -> None:
    a, b, c = (fn.Variable(name, range(r)) for name, r in (("a", 2), ("b", 3), ("c", 2)))
    group_of = np.array([[0, 1, 1], [2, 0, 1]])
    p = np.array([[0.1, 0.9], [0.5, 0.5], [0.7, 0.3]])
    roots = [FullTable(0, (), [a], [[0.3, 0.7]]), FullTable(1, (), [b], [[0.2, 0.3, 0.5]])]
    merged = MergedTable(2, (0, 1), [a, b, c], group_of, p)
    net = fn.BayesianNetwork([a, b, c], [*roots, merged])
    full = fn.BayesianNetwork([a, b, c], [*roots, FullTable(2, (0, 1), [a, b, c], p[group_of].reshape(6, 2))])
    rows = all_rows(net)
    np.testing.assert_array_equal(net.log_prob(rows), full.log_prob(rows))
    np.testing.assert_allclose(net.predict_proba(rows, "a"), full.predict_proba(rows, "a"), rtol=1e-13)
    assert net.sample(5000, seed=1) == full.sample(5000, seed=1)
    assert (net.n_parameters, full.n_parameters) == (1 + 2 + 3, 1 + 2 + 6)
    np.testing.assert_array_equal(
        merged.groups(fn.Table.from_codes(rows, net.variables)), group_of[rows[:, 0], rows[:, 1]]
    )
    p_full, p_merged = full.fisher_information()[2], net.fisher_information()[2]
    for group in range(3):
        np.testing.assert_allclose(p_merged[group], p_full[group_of.ravel() == group].sum(axis=0), rtol=1e-12)


@given(networks(most_variables=3))
def test_contexts_are_disjoint_and_cover_the_groups(net: fn.BayesianNetwork) -> None:
    rows = all_rows(net)
    table = fn.Table.from_codes(rows, net.variables)
    for c in net.conditionals:
        groups = c.groups(table)
        for group in range(c.probabilities.shape[0]):
            inside = np.zeros(len(rows), dtype=int)
            for box in c.contexts(group):
                inside += np.all([np.isin(rows[:, v], states) for v, states in box.items()], axis=0) if box else 1
            np.testing.assert_array_equal(inside, groups == group)


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


def test_networks_are_pickled_and_compared() -> None:
    net = random_network(0, [2, 3, 4])
    again = pickle.loads(pickle.dumps(net))
    assert again == net
    np.testing.assert_array_equal(again.log_prob(all_rows(net)), net.log_prob(all_rows(net)))
    assert random_network(1, [2, 3, 4]) != net


def test_nothing_can_be_changed() -> None:
    net = random_network(0, [2, 3])
    with pytest.raises(AttributeError):
        net.dag = net.dag  # type: ignore[misc]
    with pytest.raises(AttributeError):
        net.conditionals[0].child = 3
    with pytest.raises(ValueError, match="read-only"):
        net.conditionals[0].probabilities[0, 0] = 0.5
