"""Rows with missing cells: what is known, what is likely, what is filled in; against sums over all joint states."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import StateSpaceError, ZeroProbabilityError
from fishernet.infer.completion import completion, expected_indicators, incomplete_log_prob, predicted
from tests.networks import networks, random_network, with_holes
from tests.reference import inference as reference

Codes = npt.NDArray[np.int64]


def known(net: fn.BayesianNetwork, table: fn.Table, row: int) -> dict[str, Any]:
    codes = [int(column[row]) for column in table.codes]
    return {v.name: v.states[k] for v, k in zip(net.variables, codes, strict=True) if k < v.cardinality}


holes = st.sampled_from([0.0, 0.2, 0.6, 1.0])


@given(networks(most_variables=6), st.integers(0, 2**32), holes)
def test_the_probability_of_what_is_known(net: fn.BayesianNetwork, seed: int, missing: float) -> None:
    table = with_holes(net, 8, seed, missing)
    wanted = [reference.log_evidence(net, known(net, table, row)) for row in range(8)]
    np.testing.assert_allclose(incomplete_log_prob(net, table), wanted, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(completion(net, table).log_prob(), wanted, rtol=1e-11, atol=1e-12)


@given(networks(most_variables=6), st.integers(0, 2**32), holes)
def test_the_probabilities_of_all_cells_of_the_tables(net: fn.BayesianNetwork, seed: int, missing: float) -> None:
    table = with_holes(net, 6, seed, missing)
    got = expected_indicators(net, table).toarray()
    for row in range(6):
        wanted = reference.family_marginals(net, known(net, table, row))
        np.testing.assert_allclose(got[row], np.concatenate([w.ravel() for w in wanted]), rtol=1e-10, atol=1e-14)


@given(networks(most_variables=6), st.integers(0, 2**32), holes, st.booleans())
def test_expected_counts_are_sums_over_all_states(
    net: fn.BayesianNetwork, seed: int, missing: float, weighted: bool
) -> None:
    table = with_holes(net, 7, seed, missing)
    weights = np.random.default_rng(seed).random(7) if weighted else None
    plan = completion(net, table)
    lacking, _ = plan.expected(weights)
    got = [a + b for a, b in zip(plan.known_counts(weights), lacking, strict=True)]
    w = np.ones(7) if weights is None else weights
    for child, counts in enumerate(got):
        rows = [reference.family_marginals(net, known(net, table, row))[child] for row in range(7)]
        np.testing.assert_allclose(counts, np.tensordot(w, rows, 1).ravel(), rtol=1e-10, atol=1e-13)


@given(networks(most_variables=5), st.integers(0, 2**32), holes, st.data())
def test_expected_counts_of_any_set(net: fn.BayesianNetwork, seed: int, missing: float, data: st.DataObject) -> None:
    table = with_holes(net, 5, seed, missing)
    n = len(net.variables)
    chosen = sorted(data.draw(st.sets(st.integers(0, n - 1))))
    plan = completion(net, table)
    plan.complete(2**12, 1)
    names = [net.names[v] for v in chosen]
    wanted = sum(reference.marginal(net, names, known(net, table, row)) for row in range(5))
    [(cells, counts)] = plan.set_counts([chosen], None, 2**20)
    assert cells is None
    np.testing.assert_allclose(counts, np.ravel(wanted), rtol=1e-10, atol=1e-13)
    [(cells, counts)] = plan.set_counts([chosen], None, 0)
    assert cells is not None
    np.testing.assert_allclose(counts, np.ravel(wanted)[cells], rtol=1e-10, atol=1e-13)
    assert counts.sum() == pytest.approx(5, rel=1e-12)


@given(networks(most_variables=6), st.integers(0, 2**32), st.sampled_from([0.3, 0.7]))
def test_filled_in_states_are_the_most_probable(net: fn.BayesianNetwork, seed: int, missing: float) -> None:
    table = with_holes(net, 6, seed, missing)
    filled = fn.infer.impute(net, table)
    assert not filled.has_missing
    for row in range(6):
        evidence = known(net, table, row)
        whole = known(net, filled, row)
        assert evidence.items() <= whole.items()
        best = reference.weights(net, evidence).max()
        assert reference.weight_of(net, whole) == pytest.approx(best, rel=1e-12)


def test_a_column_that_is_not_there_is_filled_in_whole() -> None:
    net = random_network(4, [2, 3, 2, 2])
    rows = net.sample(10, seed=1).select(["v3", "v0"])
    filled = fn.infer.impute(net, rows)
    assert filled.names == net.names
    for same in (rows.to_pandas(), rows.to_frame()):
        assert fn.infer.impute(net, same) == filled
    for row in range(10):
        best = fn.infer.most_probable(net, given=known(net, _with_gaps(net, rows), row))
        assert reference.weight_of(net, best) == pytest.approx(reference.weight_of(net, known(net, filled, row)))


def _with_gaps(net: fn.BayesianNetwork, rows: fn.Table) -> fn.Table:
    columns = [rows.column(v.name) if v.name in rows.names else v.missing_column(rows.n_rows) for v in net.variables]
    return fn.Table(net.variables, columns)


def test_draws_have_the_distribution_of_what_is_missing() -> None:
    """The frequencies of 40,000 draws of one row, beside the exact conditional distribution, at 5 standard errors."""
    net = random_network(3, [2, 3, 2, 4, 2])
    n = 40_000
    columns = [np.full(n, v.cardinality, dtype=v.dtype) for v in net.variables]
    columns[3][:] = 2
    table = fn.Table(net.variables, columns)
    filled = fn.infer.impute(net, table, how="draw", seed=1)
    assert (filled.column("v3") == 2).all()
    names = [name for name in net.names if name != "v3"]
    wanted = reference.marginal(net, names, {"v3": net.variables[3].states[2]})
    place = np.ravel_multi_index([filled.column(name).astype(int) for name in names], wanted.shape)
    shares = np.bincount(place, minlength=wanted.size) / n
    errors = np.sqrt(wanted.ravel() * (1 - wanted.ravel()) / n)
    assert (np.abs(shares - wanted.ravel()) <= 5 * errors + 1e-12).all()
    again = fn.infer.impute(net, table, how="draw", seed=1)
    assert all((a == b).all() for a, b in zip(filled.codes, again.codes, strict=True))


@pytest.mark.parametrize("how", ["most_probable", "draw"])
def test_gaps_too_large_to_enumerate_have_a_tree(how: str) -> None:
    """Three quarters of 28 variables are missing: more joint states than anybody enumerates."""
    net = random_network(6, [2, 3, 4, 2] * 7)
    table = with_holes(net, 12, 1, 0.75)
    tree = fn.infer.JunctionTree(net)
    logs = [tree.log_evidence(known(net, table, row)) for row in range(12)]
    np.testing.assert_allclose(incomplete_log_prob(net, table), logs, rtol=1e-10)
    cells = expected_indicators(net, table).toarray()
    for row in range(12):
        families = tree.family_marginals(given=known(net, table, row))
        np.testing.assert_allclose(cells[row], np.concatenate([f.ravel() for f in families]), rtol=1e-9, atol=1e-13)
    filled = fn.infer.impute(net, table, how=how, seed=3)  # type: ignore[arg-type]
    assert not filled.has_missing
    for row in range(12):
        assert known(net, table, row).items() <= known(net, filled, row).items()
    if how == "most_probable":
        for row in range(12):
            best = fn.infer.most_probable(net, given=known(net, table, row))
            codes = [[v.states.index(best[v.name]) for v in net.variables]]
            np.testing.assert_allclose(net.log_prob(filled)[row], net.log_prob(np.array(codes)), rtol=1e-10)


def test_products_beyond_the_range_of_numbers() -> None:
    """A hidden cause of 120 effects: one state makes the first half improbable (1e-9 each), the other the last half.

    The posterior is one half each; products in any order fall below 1e-308 on the way.
    """
    effects = 120
    variables = [fn.Variable("h", [0, 1]), *(fn.Variable(f"e{i}", [0, 1]) for i in range(effects))]
    tiny = [[1 - 1e-9, 1e-9], [0.5, 0.5]]
    tables = {"h": np.array([0.5, 0.5])} | {
        f"e{i}": np.array(tiny if i < effects // 2 else tiny[::-1]) for i in range(effects)
    }
    net = fn.BayesianNetwork.from_tables(variables, {f"e{i}": ["h"] for i in range(effects)}, tables)
    table = fn.Table.from_codes(np.array([[2] + [1] * effects]), variables)
    wanted = (effects / 2) * (math.log(1e-9) + math.log(0.5))
    np.testing.assert_allclose(incomplete_log_prob(net, table), [wanted], rtol=1e-12)
    np.testing.assert_allclose(expected_indicators(net, table).toarray()[0, :2], [0.5, 0.5], rtol=1e-9)


def test_an_impossible_row_is_told() -> None:
    a, b, c = (fn.Variable(name, [0, 1]) for name in "abc")
    net = fn.BayesianNetwork.from_tables(
        [a, b, c], {"b": ["a"], "c": ["b"]}, {"a": [1, 0], "b": [[1, 0], [0, 1]], "c": [[1, 0], [0, 1]]}
    )
    table = fn.Table.from_codes([[2, 2, 0], [0, 2, 1]], net.variables)
    assert incomplete_log_prob(net, table).tolist() == [0.0, -math.inf]
    with pytest.raises(ZeroProbabilityError, match="row 1 has probability 0"):
        fn.infer.impute(net, table)
    with pytest.raises(ZeroProbabilityError, match="row 1 has probability 0"):
        expected_indicators(net, table)


def test_a_row_with_nothing_known_is_the_prior() -> None:
    net = random_network(2, [3, 2, 2])
    table = fn.Table.from_codes([[3, 2, 2]], net.variables)
    assert incomplete_log_prob(net, table).tolist() == [0.0]
    np.testing.assert_allclose(predicted(net, table, 1), [reference.marginal(net, ["v1"])], rtol=1e-12)


def test_a_gap_too_large_is_refused_before_it_is_allocated() -> None:
    net = fn.datasets.load("alarm")
    table = fn.Table.from_codes([[v.cardinality for v in net.variables]], net.variables)
    with pytest.raises(StateSpaceError, match="limit"):
        fn.infer.impute(net, table, max_table=4)


@given(networks(most_variables=6), st.integers(0, 2**32), st.sampled_from([0.3, 0.8, 1.0]))
def test_prediction_from_what_is_known(net: fn.BayesianNetwork, seed: int, missing: float) -> None:
    table = with_holes(net, 6, seed, missing)
    codes = np.stack([c.astype(np.int64) for c in table.codes], axis=1)
    for position, variable in enumerate(net.variables):
        wanted = reference.predict_proba(net, codes, variable.name)
        np.testing.assert_allclose(predicted(net, table, position), wanted, rtol=1e-10, atol=1e-300)
