"""Forests of hidden variables above columns: what general inference says of each row, for all rows at once."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import ZeroProbabilityError
from fishernet.infer.completion import incomplete_log_prob
from fishernet.infer.hidden_forest import HiddenForest
from fishernet.learn.missing.incomplete import CompletedRows


def forest(sizes: list[int], n_hidden: int, seed: int, least: float = 0.0) -> fn.BayesianNetwork:
    """Return a network of hidden variables in a forest and columns below them, in any order of positions."""
    rng = np.random.default_rng(seed)
    above = [-1, *(int(rng.integers(-1, v)) for v in range(1, n_hidden))]
    above += [int(rng.integers(0, n_hidden)) for _ in sizes[n_hidden:]]
    names = [f"h{v}" if v < n_hidden else f"c{v}" for v in range(len(sizes))]
    order = rng.permutation(len(sizes))
    variables = [fn.Variable(names[v], range(sizes[v]), hidden=v < n_hidden) for v in order]
    tables: dict[str, Any] = {}
    for v, size in enumerate(sizes):
        table = np.maximum(rng.dirichlet(np.full(size, 0.3), sizes[above[v]] if above[v] >= 0 else 1), least)
        tables[names[v]] = (table / table.sum(axis=1, keepdims=True))[0 if above[v] < 0 else slice(None)]
    parents = {names[v]: [names[above[v]]] for v in range(len(sizes)) if above[v] >= 0}
    return fn.BayesianNetwork.from_tables(variables, parents, tables)


def seen(net: fn.BayesianNetwork, n: int, seed: int, missing: float, *, weighted: bool = False) -> fn.Table:
    """Return rows of a network in which hidden variables are missing, and some other cells."""
    rng = np.random.default_rng(seed)
    columns = []
    for variable, column in zip(net.variables, net.sample(n, seed=seed).codes, strict=True):
        gone = rng.random(n) < (1.0 if variable.hidden else missing)
        columns.append(np.where(gone, variable.cardinality, column).astype(variable.dtype))
    return fn.Table(net.variables, columns, weights=rng.random(n) * 3 + 0.01 if weighted else None)


@given(
    sizes=st.lists(st.integers(1, 11), min_size=2, max_size=9),
    share=st.floats(0, 1),
    n=st.sampled_from([1, 30, 200]),
    seed=st.integers(0, 10**6),
    missing=st.sampled_from([0.0, 0.3]),
    weighted=st.booleans(),
)
def test_expected_counts_are_those_of_inference(
    sizes: list[int], share: float, n: int, seed: int, missing: float, weighted: bool
) -> None:
    net = forest(sizes, max(1, int(share * (len(sizes) - 1))), seed, 1e-9)
    rows = seen(net, n, seed, missing, weighted=weighted)
    found = HiddenForest.of(net, rows)
    assert found is not None
    weights = None if rows.weights is None else np.asarray(rows.weights, dtype=np.float64)
    log_prob, counts = CompletedRows(net, rows, weights).expected(net)
    ours, of_forest = found.expected(net)
    np.testing.assert_allclose(ours, log_prob, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(found.log_prob(net), log_prob, rtol=1e-11, atol=1e-11)
    for one, other in zip(of_forest, counts, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_probabilities_are_sums_over_all_hidden_states() -> None:
    net = forest([3, 2, 4, 2, 3, 2], 3, 4)
    rows = seen(net, 40, 1, 0.2)
    hidden = [v for v, variable in enumerate(net.variables) if variable.hidden]
    wanted = np.zeros(40)
    for row in range(40):
        known = [int(column[row]) for column in rows.codes]
        lacking = [v for v, k in enumerate(known) if k == net.variables[v].cardinality]
        assert set(hidden) <= set(lacking)
        for states in product(*(range(net.variables[v].cardinality) for v in lacking)):
            whole = dict(enumerate(known)) | dict(zip(lacking, states, strict=True))
            wanted[row] += np.prod(
                [c.table()[tuple(whole[v] for v in (*c.parents, c.child))] for c in net.conditionals]
            )
    np.testing.assert_allclose(net.log_prob(rows), np.log(wanted), rtol=1e-12)


def test_parts_of_the_rows_add_up() -> None:
    net = forest([5, 3, 2, 4, 3], 2, 2, 1e-3)
    rows = seen(net, 300, 3, 0.1, weighted=True)
    found = HiddenForest.of(net, rows)
    assert found is not None
    cells = np.concatenate([of.table().ravel() for of in net.conditionals])
    _, whole = found.counts(cells)
    parts = [found.counts(cells, begin, end)[1] for begin, end in ((0, 1), (1, 150), (150, 150), (150, 300))]
    np.testing.assert_allclose(sum(parts), whole, rtol=1e-12)


def test_bits_do_not_depend_on_threads() -> None:
    net = forest([9, 8, 3, 2, 4, 3, 5], 3, 2)
    found = HiddenForest.of(net, seen(net, 20_000, 3, 0.1))
    assert found is not None
    results = []
    for n in (1, 3):
        with fn.threads(n):
            results.append(found.expected(net))
    assert (results[0][0] == results[1][0]).all()
    assert all((one == other).all() for one, other in zip(results[0][1], results[1][1], strict=True))


@pytest.mark.parametrize("least", [1e-9, 1e-200])
def test_a_thousand_columns_below_one_hidden_variable_do_not_underflow(least: float) -> None:
    """Each state makes half of the cells nearly impossible, so that the product of any two is no number."""
    k, n = 2, 1_000
    columns = [fn.Variable(f"c{v}", ["no", "yes"]) for v in range(n)]
    cells = [[1 - least, least], [least, 1 - least]]
    tables: dict[str, Any] = {f"c{v}": cells if v % 2 else cells[::-1] for v in range(n)} | {"h": [0.25, 0.75]}
    parents = {f"c{v}": ["h"] for v in range(n)}
    net = fn.BayesianNetwork.from_tables([*columns, fn.Variable("h", range(k), hidden=True)], parents, tables)
    rows = {f"c{v}": ["no", "no", "yes"] for v in range(n)}
    unlikely = np.log(least) * n / 2 + np.log1p(-least) * n / 2
    np.testing.assert_allclose(net.log_prob(rows), unlikely, rtol=1e-12)
    posterior = net.predict_proba({**rows, "c1": ["yes"] * 3, "c2": ["yes"] * 3}, "h")
    np.testing.assert_allclose(np.sum(posterior, axis=1), 1)


def test_impossible_rows_are_told() -> None:
    variables = [fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1]), fn.Variable("h", [0, 1], hidden=True)]
    tables: dict[str, Any] = {"a": np.eye(2), "b": np.eye(2), "h": [0.5, 0.5]}
    net = fn.BayesianNetwork.from_tables(variables, {"a": ["h"], "b": ["h"]}, tables)
    rows = net.rows({"a": [0, 0, 1], "b": [0, 1, None]})
    np.testing.assert_allclose(np.exp(net.log_prob(rows)), [0.5, 0, 0.5])
    with pytest.raises(ZeroProbabilityError):
        HiddenForest.of(net, rows).expected(net)  # type: ignore[union-attr]


def test_what_is_no_forest_takes_the_general_way() -> None:
    net = forest([2, 2, 3], 1, 1)
    assert HiddenForest.of(net, net.sample(20, seed=1)) is None  # somebody observed what is above
    asia = fn.datasets.load("asia")
    assert HiddenForest.of(asia, asia.sample(5, seed=1)) is None
    rows = seen(net, 20, 1, 0.0)
    np.testing.assert_allclose(net.log_prob(rows), incomplete_log_prob(net, rows), rtol=1e-12)
