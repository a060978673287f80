"""What is given: labels and likelihoods, what is refused, and evidence on thousands of variables."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from tests.reference.inference import ASKED, Array, Ask, Query, long_network, queries

DISTRIBUTIONS = ["marginal", "family_marginals", "tree.marginal", "tree.family_marginals"]
LOGS = ["log_evidence", "tree.log_evidence"]


def asked(names: list[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("ask", [ASKED[name] for name in names], ids=names)


def copies(n: int) -> fn.BayesianNetwork:
    """x0 is fair, and every other variable is its copy."""
    names = [f"x{i}" for i in range(n)]
    tables: dict[str, Any] = {name: [[1, 0], [0, 1]] for name in names} | {"x0": [0.5, 0.5]}
    parents = {name: ["x0"] for name in names[1:]}
    return fn.BayesianNetwork.from_tables([fn.Variable(name, ["no", "yes"]) for name in names], parents, tables)


# --------------------------------------------------------------------------------------------------------- log P(given)


@given(queries())
def test_evidence_has_the_chain_rule(query: Query) -> None:
    """log P(z, x) = log P(z) + log P(x | z)."""
    net = query.net
    state = fn.infer.most_probable(net, given=query.given)
    for x, variable in zip(net.names, net.variables, strict=True):
        p = fn.infer.marginal(net, [x], given=query.given)[variable.states.index(state[x])]
        both = fn.infer.log_evidence(net, {**query.given, x: state[x]})
        assert both == pytest.approx(fn.infer.log_evidence(net, query.given) + math.log(p), rel=1e-10, abs=1e-10)


# ------------------------------------------------------------------------------------------------------------- labels


def weighed() -> fn.BayesianNetwork:
    """Weight is cut into bins, grade has labels that are whole numbers."""
    weight = fn.Variable("carat", ["<= 0.5", "(0.5, 1]", "> 1"], [0.5, 1.0])
    grade = fn.Variable("grade", [1, 2, 10])
    tables: dict[str, Any] = {"carat": [0.5, 0.3, 0.2], "grade": [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]}
    return fn.BayesianNetwork.from_tables([weight, grade], {"grade": ["carat"]}, tables)


@asked(DISTRIBUTIONS + LOGS)
@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ({"carat": 1.2}, {"carat": "> 1"}),
        ({"carat": "0.7"}, {"carat": "(0.5, 1]"}),
        ({"grade": "10"}, {"grade": 10}),
        ({"grade": "2.0", "carat": 0}, {"grade": 2, "carat": "<= 0.5"}),
    ],
)
def test_numbers_and_text_mean_what_they_do_in_a_table(ask: Ask, said: dict[str, Any], meant: dict[str, Any]) -> None:
    assert repr(ask(weighed(), given=said)) == repr(ask(weighed(), given=meant))


def test_draws_clamped_chains_and_interventions_take_them_too() -> None:
    net = weighed()
    dn = fn.DependencyNetwork.from_joint(net)
    assert set(fn.infer.sample(net, 50, given={"carat": 1.2}, seed=1)["carat"].tolist()) == {"> 1"}
    assert set(dn.sample(50, given={"grade": "10"}, seed=1)["grade"].tolist()) == {10}
    assert fn.infer.most_probable(net, given={"carat": "0.1"}) == {"carat": "<= 0.5", "grade": 1}
    done = fn.infer.intervene(net, {"carat": 1.2})
    np.testing.assert_allclose(fn.infer.marginal(done, ["grade"]), [0.1, 0.1, 0.8])
    with pytest.raises(fn.UnknownStateError, match="'grade' has no state '3'; it has 1, 2, 10") as caught:
        fn.infer.marginal(net, ["carat"], given={"grade": "3"})
    assert caught.value.parameter == "given"


# -------------------------------------------------------------------------------------------------------- likelihoods


@given(queries(), st.sampled_from([1e-200, 0.5, 7.0, 1e200]))
def test_a_factor_moves_log_evidence_and_nothing_else(query: Query, factor: float) -> None:
    for name, values in query.likelihood.items():
        scaled = {**query.likelihood, name: values * factor}
        got = fn.infer.log_evidence(query.net, query.given, likelihood=scaled)
        bare = fn.infer.log_evidence(query.net, query.given, likelihood=query.likelihood)
        assert got == pytest.approx(bare + math.log(factor), rel=1e-12, abs=1e-10)
        marginal = fn.infer.marginal(query.net, query.names, given=query.given, likelihood=scaled)
        expected = fn.infer.marginal(query.net, query.names, **query.evidence)
        np.testing.assert_allclose(marginal, expected, rtol=1e-10, atol=1e-300)


@asked(LOGS)
@pytest.mark.parametrize("value", [5e-324, 1e-300, 1.0, 1e308, 1.7e308])
def test_likelihoods_of_any_size_neither_vanish_nor_overflow(ask: Ask, value: float) -> None:
    """Forty equal likelihoods leave P(x) as it is: log P = 40 log value."""
    net = copies(40)
    got = ask(net, likelihood={name: [value, value] for name in net.names})
    assert got == pytest.approx(40 * math.log(value), rel=1e-12, abs=1e-12)


@asked(["marginal", "tree.marginal"])
def test_likelihoods_of_all_sizes_at_once(ask: Ask) -> None:
    """1e308 * 1e-308 on one side and 1e-308 * 1e308 on the other."""
    got = ask(copies(3), likelihood={"x1": [1e308, 1e-308], "x2": [1e-308, 1e308]})
    np.testing.assert_allclose(got, [0.5, 0.5], rtol=1e-12)


# ------------------------------------------------------------------------------------------------- limits and threads


# ------------------------------------------------------------------------------------------------------ many variables


N = 2000
CLUES = [f"x{i}" for i in range(N)]


@cache
def naive_bayes(place: int) -> fn.BayesianNetwork:
    """A class, clues that are 1000 times likelier in the first, and at some place a proof that only the second has."""
    children = [*CLUES[:place], "proof", *CLUES[place:]]
    tables: dict[str, Any] = {name: [[0.1, 0.9], [1 - 0.0009, 0.0009]] for name in CLUES}
    tables |= {"class": [0.5, 0.5], "proof": [[1, 0], [0.75, 0.25]]}
    variables = [fn.Variable(name, ["no", "yes"]) for name in ["class", *children]]
    return long_network(variables, {name: ["class"] for name in children}, tables)


PLACES = pytest.mark.parametrize("place", [0, N], ids=["first", "last"])
SEEN = dict.fromkeys(CLUES, "yes")
PROVEN = {**SEEN, "proof": "yes"}


@PLACES
@asked(LOGS)
def test_log_evidence_of_many_clues(ask: Ask, place: int) -> None:
    both = math.log(0.5) + N * math.log(0.9)  # the second class adds 10**-6000 of it
    assert ask(naive_bayes(place), given=SEEN) == pytest.approx(both, rel=1e-12)
    second = math.log(0.5) + N * math.log(0.0009) + math.log(0.25)
    assert ask(naive_bayes(place), given=PROVEN) == pytest.approx(second, rel=1e-12)


@asked(DISTRIBUTIONS)
def test_a_class_that_is_ruled_out_leaves_the_other(ask: Ask) -> None:
    """The second class had 10**-6000 of the first one's probability; that it is positive must not be forgotten."""

    def classes(answer: Any) -> Array:
        return np.asarray(answer[0] if isinstance(answer, list) else answer)

    np.testing.assert_allclose(classes(ask(naive_bayes(N), given=SEEN)), [1, 0], rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(classes(ask(naive_bayes(N), given=PROVEN)), [0, 1], rtol=1e-12)


@PLACES
def test_a_row_of_many_clues_is_predicted(place: int) -> None:
    net = naive_bayes(place)
    codes = np.ones((2, N + 2), dtype=int)
    codes[1, 1 + place] = 2  # in the second row the proof is missing
    got = fn.infer.predict_proba(net, fn.Table.from_codes(codes, net.variables), "class")
    np.testing.assert_allclose(got, [[0, 1], [1, 0]], rtol=1e-12, atol=1e-300)


@asked(["marginal", "tree.marginal"])
def test_clues_that_cancel_leave_the_prior(ask: Ask) -> None:
    """As many clues for the second class as for the first, each 1000 to 1, all of the one before the other."""
    names = [f"x{i}" for i in range(4000)]
    tables: dict[str, Any] = {name: [[0.1, 0.9], [0.9991, 0.0009]] for name in names[:2000]}
    tables |= {name: [[0.9991, 0.0009], [0.1, 0.9]] for name in names[2000:]} | {"class": [0.3, 0.7]}
    variables = [fn.Variable(name, [0, 1]) for name in ["class", *names]]
    net = long_network(variables, {name: ["class"] for name in names}, tables)
    np.testing.assert_allclose(ask(net, given=dict.fromkeys(names, 1)), [0.3, 0.7], rtol=1e-9)


LENGTH = 8_000


@cache
def chain() -> fn.BayesianNetwork:
    rng = np.random.default_rng(0)
    names = [f"x{i}" for i in range(LENGTH)]
    tables: dict[str, Any] = dict(zip(names, rng.dirichlet([1, 1], size=(LENGTH, 2)), strict=True))
    tables["x0"] = [0.25, 0.75]
    parents = {names[i]: [names[i - 1]] for i in range(1, LENGTH)}
    return long_network([fn.Variable(name, [0, 1]) for name in names], parents, tables)


@pytest.mark.slow
@asked(LOGS)
def test_evidence_everywhere_in_a_long_chain_is_log_prob(ask: Ask) -> None:
    net = chain()
    row = net.sample(1, seed=0)
    states = {name: int(codes[0]) for name, codes in zip(net.names, row.codes, strict=True)}
    assert ask(net, given=states) == pytest.approx(float(net.log_prob(row)[0]), rel=1e-12)


@pytest.mark.slow
@asked(LOGS)
def test_no_evidence_in_a_long_chain_is_certain(ask: Ask) -> None:
    assert ask(chain()) == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
@asked(LOGS)
def test_evidence_here_and_there_in_a_long_chain_is_a_product_of_matrices(ask: Ask) -> None:
    net = chain()
    row = net.sample(1, seed=1)
    seen = {net.names[i]: int(row.codes[i][0]) for i in range(0, LENGTH, 3)}
    message, total = np.ones(1), 0.0
    for i, conditional in enumerate(net.conditionals):
        message = message @ conditional.table().reshape(-1, 2)
        if net.names[i] in seen:
            message = message * (np.arange(2) == seen[net.names[i]])
        total += math.log(message.sum())
        message = message / message.sum()
    assert ask(net, given=seen) == pytest.approx(total, rel=1e-12)


@asked(["family_marginals", "tree.family_marginals"])
@pytest.mark.parametrize("factor", [1.0, 1e-9, 1e9])
def test_a_long_hidden_chain_is_forward_and_backward(ask: Ask, factor: float) -> None:
    """Whatever all likelihoods are multiplied by: products of 2,000 leave the range of numbers on either side."""
    n, rng = 2000, np.random.default_rng(1)
    start, step, emit = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3), size=3), rng.dirichlet(np.ones(4), size=3)
    seen = emit[:, rng.integers(0, 4, size=n)].T
    names = [f"h{t}" for t in range(n)]
    tables: dict[str, Any] = dict.fromkeys(names, step) | {"h0": start}
    parents = {names[t]: [names[t - 1]] for t in range(1, n)}
    net = long_network([fn.Variable(name, range(3)) for name in names], parents, tables)
    got = ask(net, likelihood={name: seen[t] * factor for t, name in enumerate(names)})

    forward, backward = np.zeros((n, 3)), np.ones((n, 3))
    for t in range(n):
        forward[t] = (forward[t - 1] @ step if t else start) * seen[t]
        forward[t] /= forward[t].sum()
    for t in reversed(range(n - 1)):
        backward[t] = step @ (seen[t + 1] * backward[t + 1])
        backward[t] /= backward[t].sum()
    for t in range(1, n):
        pair = forward[t - 1][:, None] * step * (seen[t] * backward[t])
        np.testing.assert_allclose(got[t], pair / pair.sum(), rtol=1e-9)


@asked(["family_marginals", "tree.family_marginals"])
def test_a_long_hidden_chain_with_every_symbol_seen(ask: Ask) -> None:
    """The same with symbols as variables, 1,400 in all: two states that persist, and symbols in turn."""
    n = 700
    step, emit = np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([[0.9, 0.1], [0.1, 0.9]])
    hidden, symbols = [f"h{t}" for t in range(n)], [f"o{t}" for t in range(n)]
    tables: dict[str, Any] = dict.fromkeys(hidden, step) | dict.fromkeys(symbols, emit) | {"h0": [0.5, 0.5]}
    parents = {hidden[t]: [hidden[t - 1]] for t in range(1, n)} | {symbols[t]: [hidden[t]] for t in range(n)}
    net = long_network([fn.Variable(name, [0, 1]) for name in [*hidden, *symbols]], parents, tables)
    families = ask(net, given={symbols[t]: t % 2 for t in range(n)})
    for t in range(1, n):
        assert families[t].sum() == pytest.approx(1, rel=1e-12)
        before, after = families[t - 1].reshape(-1, 2).sum(axis=0), families[t].sum(axis=1)
        np.testing.assert_allclose(after, before, rtol=1e-9)


def test_hard_and_soft_evidence_on_one_variable_beyond_all_ratios() -> None:
    """P(a = 0) = 1/2 and the likelihood 1e-300 of that state: log 1/2 + log 1e-300, however likely the other was."""
    a, b = fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1])
    net = fn.BayesianNetwork.from_tables([a, b], {"b": ["a"]}, {"a": [0.5, 0.5], "b": [[0.9, 0.1], [0.2, 0.8]]})
    options: dict[str, Any] = {"given": {"a": 0}, "likelihood": {"a": [1e-300, 1e300]}}
    expected = math.log(0.5) + math.log(1e-300)
    assert fn.infer.log_evidence(net, **options) == pytest.approx(expected, rel=1e-13)
    np.testing.assert_allclose(fn.infer.marginal(net, ["b"], **options), [0.9, 0.1], rtol=1e-13)
    tree = fn.infer.JunctionTree(net)
    assert tree.log_evidence(**options) == pytest.approx(expected, rel=1e-13)
    np.testing.assert_allclose(tree.marginal(["b"], **options), [0.9, 0.1], rtol=1e-13)
    rows = fn.infer.sample(net, 2000, seed=1, **options)
    assert (rows.codes[0] == 0).all()
    assert abs(rows.codes[1].mean() - 0.1) < 6 * math.sqrt(0.09 / 2000)
    expected_tables: tuple[Any, ...] = ([1, 0], [[0.9, 0.1], [0, 0]])
    for one, other in zip(fn.infer.family_marginals(net, **options), expected_tables, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-13)
    assert fn.infer.most_probable(net, **options) == {"a": 0, "b": 0}
