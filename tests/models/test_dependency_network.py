"""The dependency network: how it is made, what it refuses, and its pseudo-log-likelihood."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import fishernet as fn
from fishernet.base.errors import (
    SchemaError,
    ZeroProbabilityError,
)
from tests.networks import networks, random_network
from tests.reference.dependency import (
    conditional_of,
    dependency_networks,
    joint_of,
    states_of,
)

A, B = fn.Variable("a", ["no", "yes"]), fn.Variable("b", ["no", "yes"])
COPY = [[0.9, 0.1], [0.1, 0.9]]


def pair(**options: Any) -> fn.DependencyNetwork:
    return fn.DependencyNetwork.from_tables([A, B], {"a": ["b"], "b": ["a"]}, {"a": COPY, "b": COPY}, **options)


def rows_of(model: fn.BayesianNetwork | fn.DependencyNetwork) -> fn.Table:
    return fn.Table.from_codes(np.array(states_of(model)).reshape(-1, len(model.variables)), model.variables)


# ---------------------------------------------------------------------------------------------------- construction


def test_inputs_may_run_in_circles_and_keep_the_order_of_the_axes() -> None:
    variables = [fn.Variable("x", range(2)), fn.Variable("y", range(3)), fn.Variable("z", range(4))]
    rng = np.random.default_rng(0)
    inputs = {"x": ["z", "y"], "z": ["x"]}
    tables = {"x": rng.dirichlet([1, 1], size=(4, 3)), "y": rng.dirichlet([1] * 3), "z": rng.dirichlet([1] * 4, size=2)}
    dn = fn.DependencyNetwork.from_tables(variables, inputs, tables)
    assert dn.inputs == ((2, 1), (), (0,))
    for name, table in tables.items():
        np.testing.assert_array_equal(dn.conditional(name).table(), table)
    assert dn.n_parameters == 4 * 3 * 1 + 2 + 2 * 3
    assert dn.n_rows is None


# ----------------------------------------------------------------------------------------------------------- zeros


def test_a_zero_is_named_and_refused_unless_allowed() -> None:
    tables: dict[str, list[list[float]]] = {"a": COPY, "b": [[1.0, 0.0], [0.5, 0.5]]}
    inputs = {"a": ["b"], "b": ["a"]}
    with pytest.raises(ZeroProbabilityError, match="'b' has state 'yes' .* given a = 'no'.*allow_zeros") as refused:
        fn.DependencyNetwork.from_tables([A, B], inputs, tables)
    assert (refused.value.variable, refused.value.state) == ("b", "yes")
    assert refused.value.configuration == {"a": "no"}
    dn = fn.DependencyNetwork.from_tables([A, B], inputs, tables, allow_zeros=True)
    assert dn.allow_zeros
    assert not pair().allow_zeros
    assert dn.pseudo_log_likelihood([[0, 1]]).tolist() == [-np.inf]


def test_a_joint_with_zeros_is_refused_unless_allowed() -> None:
    net = fn.BayesianNetwork.from_tables([A, B], {"b": ["a"]}, {"a": [0.5, 0.5], "b": np.array([[1, 0], [0.5, 0.5]])})
    with pytest.raises(ZeroProbabilityError, match="allow_zeros"):
        fn.DependencyNetwork.from_joint(net)
    assert fn.DependencyNetwork.from_joint(net, allow_zeros=True).allow_zeros


# ------------------------------------------------------------------------------------------- pseudo-log-likelihood


@given(dependency_networks())
def test_terms_are_the_logarithms_of_the_tables(dn: fn.DependencyNetwork) -> None:
    states = states_of(dn)
    expected = np.log([[c.table()[(*(s[p] for p in c.parents), s[c.child])] for c in dn.conditionals] for s in states])
    np.testing.assert_allclose(dn.log_prob_terms(rows_of(dn)), expected, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(dn.pseudo_log_likelihood(rows_of(dn)), expected.sum(axis=1), rtol=1e-12, atol=1e-13)


# ------------------------------------------------------------------------------------------------------ from_joint


@given(networks(most_variables=4, positive=True))
def test_from_joint_holds_the_full_conditionals(net: fn.BayesianNetwork) -> None:
    dn = fn.DependencyNetwork.from_joint(net)
    joint = joint_of(net)
    expected = np.stack([np.log(conditional_of(joint, v)).ravel() for v in range(joint.ndim)], axis=1)
    np.testing.assert_allclose(dn.log_prob_terms(rows_of(net)), expected, rtol=1e-10, atol=1e-13)


@settings(max_examples=30)
@given(networks(most_variables=5))
def test_the_inputs_of_from_joint_are_markov_blankets(net: fn.BayesianNetwork) -> None:
    dn = fn.DependencyNetwork.from_joint(net, allow_zeros=True)
    for name, inputs in zip(net.names, dn.inputs, strict=True):
        assert {dn.names[v] for v in inputs} == set(net.dag.markov_blanket(name))


def test_terms_of_a_joint_with_zeros_are_those_of_the_possible_rows_and_minus_infinity_else() -> None:
    """A cell is impossible where its row is; nothing is undefined."""
    net = random_network(7, [2, 3, 2, 2], zeros=0.3)
    joint = joint_of(net)
    assert 0 < (joint == 0).sum() < joint.size
    terms = fn.DependencyNetwork.from_joint(net, allow_zeros=True).log_prob_terms(rows_of(net))
    possible = joint.ravel() > 0
    with np.errstate(divide="ignore"):
        expected = np.stack([np.log(conditional_of(joint, v)).ravel() for v in range(4)], axis=1)
    np.testing.assert_allclose(terms[possible], expected[possible], rtol=1e-10, atol=1e-13)
    assert not np.isnan(terms).any()
    # the product of the tables is 0, so a factor of some variable is 0, and that variable's cell is impossible
    assert np.isneginf(terms[~possible].min(axis=1)).all()


def test_full_conditionals_are_of_a_bayesian_network() -> None:
    with pytest.raises(SchemaError, match="not DependencyNetwork"):
        fn.DependencyNetwork.from_joint(pair())  # type: ignore[arg-type]


# --------------------------------------------------------------------------------------------- blankets too large


def class_network(children: int = 60, seed: int = 0) -> fn.BayesianNetwork:
    """A class with many children of three states: the table of its blanket would have 3^61 cells."""
    rng = np.random.default_rng(seed)
    names = [f"x{i}" for i in range(children)]
    parents = {name: ["class"] for name in names}
    variables = [fn.Variable(name, ["u", "v", "w"]) for name in ("class", *names)]
    tables = {name: rng.dirichlet([5, 5, 5], size=3) for name in names}
    return fn.BayesianNetwork.from_tables(variables, parents, {"class": [0.2, 0.3, 0.5], **tables})


def test_the_class_of_sixty_children_is_bayes_rule() -> None:
    net = class_network()
    rows = net.sample(40, seed=1)
    terms = fn.DependencyNetwork.from_joint(net).log_prob_terms(rows)
    shares = net.predict_proba(rows, "class")  # the one variable that is left out, by Bayes' rule
    np.testing.assert_allclose(terms[:, 0], np.log(shares[np.arange(40), rows.codes[0]]), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(terms[:, 1:], net.log_prob_terms(rows)[:, 1:], rtol=1e-12)


def test_a_network_of_large_blankets_is_sampled() -> None:
    net = class_network()
    dn = fn.DependencyNetwork.from_joint(net)
    rows = dn.sample(4000, given={"class": "v"}, seed=1)
    for child in (1, 30, 60):  # given their class the children are independent, so rows are independent too
        counts = np.bincount(rows.codes[child], minlength=3)
        p = net.conditionals[child].probabilities[1]
        assert np.abs((counts - 4000 * p) / np.sqrt(4000 * p * (1 - p))).max() < 5


def test_a_network_of_large_blankets_can_be_printed_compared_and_pickled() -> None:
    dn = fn.DependencyNetwork.from_joint(class_network())
    assert "61 variables" in repr(dn)
    assert "class" in str(dn)
    assert pickle.loads(pickle.dumps(dn)) == dn
    assert fn.DependencyNetwork.from_joint(class_network(seed=1)) != dn
