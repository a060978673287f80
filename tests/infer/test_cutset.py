"""Answers by the cases of some variables, where tables may have few cells only."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import StateSpaceError, ZeroProbabilityError
from tests.reference import inference as brute
from tests.reference.inference import Query, queries

LIMITS = st.sampled_from([1, 4, 16, 64])


def grid(n: int, seed: int, *, spread: float = 1.0, zeros: float = 0.0) -> fn.MarkovNetwork:
    """A square of variables with two states, neighbours joined by potentials of any size."""
    rng = np.random.default_rng(seed)
    names = [[f"v{i}{j}" if n < 10 else f"v{i}_{j}" for j in range(n)] for i in range(n)]
    pairs = [(names[i][j], names[i][j + 1]) for i in range(n) for j in range(n - 1)]
    pairs += [(names[i][j], names[i + 1][j]) for i in range(n - 1) for j in range(n)]
    potentials = []
    for pair in pairs:
        values = np.exp(np.clip(rng.normal(0, spread, (2, 2)), -700, 700))
        values[rng.random((2, 2)) < zeros] = 0
        potentials.append((pair, values))
    return fn.MarkovNetwork([fn.Variable(name, [0, 1]) for row in names for name in row], potentials)


def log_products(net: fn.MarkovNetwork) -> Any:
    """The logarithm of the product of all potentials, one axis a variable."""
    n = len(net.variables)
    total = np.zeros([variable.cardinality for variable in net.variables])
    with np.errstate(divide="ignore"):
        for axes, values in net.factor_tables():
            shape = [net.variables[v].cardinality if v in axes else 1 for v in range(n)]
            total = total + np.log(values.transpose(np.argsort(axes))).reshape(shape)
    return total


@contextlib.contextmanager
def refused(limit: int) -> Iterator[None]:
    """An answer may have more cells itself than are allowed, or more cliques be left; with 0 none may be refused."""
    caught = []
    try:
        yield
    except StateSpaceError as error:
        caught.append(error)
    assert all(error.limit == limit for error in caught)


@settings(max_examples=12)
@given(queries(most_variables=5), LIMITS)
def test_answers_are_those_of_enumeration(query: Query, limit: int) -> None:
    net, likely = query.net, query.likelihood
    expected = brute.log_evidence(net, query.given, likely)
    if math.isinf(expected):
        return
    asked: dict[str, Any] = {"given": query.given, "likelihood": likely, "max_table": limit}
    with refused(limit):
        found = fn.infer.log_evidence(net, query.given, likelihood=likely, max_table=limit)
        assert found == pytest.approx(expected, rel=1e-10, abs=1e-10)
    for variable in net.variables:
        name = variable.name
        with refused(limit if variable.cardinality > limit else 0):
            got = fn.infer.marginal(net, [name], **asked)
            np.testing.assert_allclose(got, brute.marginal(net, [name], query.given, likely), rtol=1e-9, atol=1e-15)
    with refused(limit):
        families = fn.infer.family_marginals(net, **asked)
        for got, right in zip(families, brute.family_marginals(net, query.given, likely), strict=True):
            np.testing.assert_allclose(got, right, rtol=1e-9, atol=1e-15)
    with refused(limit):
        best = fn.infer.most_probable(net, **asked)
        most = max(
            brute.weight_of(net, dict(zip(net.names, states, strict=True)), likely)
            for states in itertools.product(*(variable.states for variable in net.variables))
            if all(states[net.names.index(name)] == state for name, state in query.given.items())
        )
        assert brute.weight_of(net, best, likely) == pytest.approx(most, rel=1e-9)


@pytest.mark.parametrize("zeros", [0.0, 0.2])
@pytest.mark.parametrize("limit", [16, 100, 2**20])
def test_a_grid_is_answered_in_whatever_memory_there_is(zeros: float, limit: int) -> None:
    net = grid(4, 1, zeros=zeros)
    logs = log_products(net)
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()
    tree = fn.infer.JunctionTree(net, max_table=limit)
    assert (tree.n_cells > limit) == (limit < 2**20)  # the tree that there would be
    assert all(any(set(pair) <= set(clique) for clique in tree.cliques) for pair, _ in net.potentials)
    for v, name in enumerate(net.names):
        expected = shares.sum(axis=tuple(u for u in range(16) if u != v))
        np.testing.assert_allclose(tree.marginal([name]), expected, rtol=1e-10, atol=1e-15)
        if v % 5 == 0:
            alone = fn.infer.marginal(net, [name], max_table=limit)
            np.testing.assert_allclose(alone, expected, rtol=1e-10, atol=1e-15)
    for (axes, _), table in zip(net.factor_tables(), tree.family_marginals(), strict=True):
        expected = shares.sum(axis=tuple(u for u in range(16) if u not in axes))
        np.testing.assert_allclose(table, expected if axes[0] < axes[1] else expected.T, rtol=1e-10, atol=1e-15)
    best = fn.infer.most_probable(net, max_table=limit)
    assert logs[tuple(best[name] for name in net.names)] == pytest.approx(logs.max())
    sum_of_all = float(np.log(np.exp(logs - logs.max()).sum()) + logs.max())
    assert fn.infer.log_partition(net, max_table=limit) == pytest.approx(sum_of_all)


def test_marginals_of_many_are_those_of_each() -> None:
    net = grid(4, 2)
    case = net.given(v00=1, v33=0)
    together = case.marginals(max_table=64)
    assert list(together) == [name for name in net.names if name not in ("v00", "v33")]
    for name, found in together.items():
        np.testing.assert_allclose(np.asarray(found), np.asarray(case.query(name)), rtol=1e-10)
        assert found[1] == pytest.approx(case.query(name)[1])


def test_what_is_impossible_in_every_case_is_said() -> None:
    pair = np.array([[1.0, 0.0], [0.0, 0.0]])
    net = grid(3, 3)
    net = fn.MarkovNetwork(net.variables, [*net.potentials, (("v00", "v11"), pair)])
    with pytest.raises(ZeroProbabilityError):
        fn.infer.marginal(net, ["v22"], given={"v11": 1}, max_table=4)
    with pytest.raises(ZeroProbabilityError):
        fn.infer.most_probable(net, given={"v11": 1}, max_table=4)


def test_an_answer_that_is_too_large_itself_is_refused() -> None:
    names = ["a", "b", "c", "d", "other"]
    variables = [fn.Variable(name, range(10 if name != "other" else 2)) for name in names]
    tables: dict[str, Any] = {name: np.full(10, 0.1) for name in "abc"} | {"other": [0.5, 0.5]}
    tables["d"] = np.full((10, 10, 10, 10), 0.1)
    net = fn.BayesianNetwork.from_tables(variables, {"d": ["a", "b", "c"]}, tables)
    with pytest.raises(StateSpaceError) as caught:
        fn.infer.family_marginals(net, given={"other": 1}, max_table=9_999)
    assert caught.value.limit == 9_999
    np.testing.assert_allclose(fn.infer.marginal(net, ["d"], given={"a": 3}, max_table=999), 0.1)


def test_too_many_cases_are_refused_before_anything_is_made() -> None:
    net = grid(30, 4)
    with pytest.raises(StateSpaceError) as refused:
        fn.infer.marginal(net, ["v0_0"], max_table=1000)
    assert refused.value.limit == 1000
    assert refused.value.parameter == "max_table"


# ------------------------------------------------------------------------------------------------ numbers out of range


@pytest.mark.parametrize("spread", [50.0, 150.0, 300.0])
@pytest.mark.parametrize("zeros", [0.0, 0.15])
def test_potentials_beyond_all_numbers_keep_their_digits(spread: float, zeros: float) -> None:
    """Products that leave the range of doubles many times over, against sums of logarithms."""
    for seed in range(8):
        net = grid(4, seed, spread=spread, zeros=zeros)
        logs = log_products(net)
        if np.isneginf(logs).all():
            continue
        shares = np.exp(logs - logs.max())
        total = float(logs.max() + np.log(shares.sum()))
        assert fn.infer.log_partition(net) == pytest.approx(total, rel=1e-11)
        tree = fn.infer.JunctionTree(net)
        shares /= shares.sum()
        for v, name in enumerate(net.names):
            expected = shares.sum(axis=tuple(u for u in range(16) if u != v))
            np.testing.assert_allclose(tree.marginal([name]), expected, rtol=1e-9, atol=1e-40)


def test_what_is_most_probable_in_one_place_may_be_impossible_together() -> None:
    """The states that are left are so improbable at each place that their products are below all numbers."""
    n = 20
    names = [f"v{i}" for i in range(n)]
    favour = [((name,), [1.0, 1e-60]) for name in names]
    exclude = [((a, b), [[0.0, 1.0], [1.0, 1.0]]) for a, b in itertools.combinations(names, 2)]  # at most one is 0
    net = fn.MarkovNetwork([fn.Variable(name, [0, 1]) for name in names], [*favour, *exclude])
    found = fn.infer.JunctionTree(net)
    for name in names:
        np.testing.assert_allclose(found.marginal([name]), [1 / n, 1 - 1 / n], rtol=1e-10)
    expected = math.log(n) - (n - 1) * 60 * math.log(10)
    assert fn.infer.log_partition(net) == pytest.approx(expected, rel=1e-12)
