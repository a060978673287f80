"""The kernel of rows with hidden variables and missing cells, against the double sum over completions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import SchemaError, ZeroProbabilityError
from tests.infer.test_completion import known
from tests.networks import networks, random_network, with_holes
from tests.reference import inference as reference
from tests.reference.inference import all_kinds


def completions(net: fn.BayesianNetwork, table: fn.Table, row: int) -> list[tuple[float, list[int]]]:
    """Every completion of a row and its probability given what is known."""
    w = reference.weights(net, known(net, table, row))
    w = w / w.sum()
    return [(float(w[cell]), list(cell)) for cell in np.ndindex(w.shape) if w[cell] > 0]


def double_sum(net: fn.BayesianNetwork, table: fn.Table) -> np.ndarray:
    """sum over h, h' of P(h | x) P(h' | y) K((x, h), (y, h'))."""
    k = fn.kernels.FisherKernel(net)
    of_rows = [completions(net, table, row) for row in range(table.n_rows)]
    n = table.n_rows
    gram = np.zeros((n, n))
    for a, b in itertools.product(range(n), repeat=2):
        p, x = zip(*of_rows[a], strict=True)
        q, y = zip(*of_rows[b], strict=True)
        gram[a, b] = np.array(p) @ k(np.array(x), np.array(y)) @ np.array(q)
    return gram


@given(networks(most_variables=4), st.integers(0, 2**32), st.sampled_from([0.3, 0.7]))
def test_it_is_the_double_sum_over_completions(net: fn.BayesianNetwork, seed: int, missing: float) -> None:
    table = with_holes(net, 4, seed, missing)
    gram = fn.kernels.HiddenVariableKernel(net)(table)
    wanted = double_sum(net, table)
    np.testing.assert_allclose(gram, wanted, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(wanted).max()))
    assert (gram == gram.T).all()


@given(networks(most_variables=5), st.integers(0, 2**32))
def test_rows_of_which_all_is_known_have_the_fisher_kernel(net: fn.BayesianNetwork, seed: int) -> None:
    table = net.sample(6, seed=seed)
    hidden, plain = fn.kernels.HiddenVariableKernel(net), fn.kernels.FisherKernel(net)
    scale = max(1.0, np.abs(plain(table)).max())
    np.testing.assert_allclose(hidden(table), plain(table), rtol=1e-9, atol=1e-10 * scale)
    np.testing.assert_allclose(hidden.features(table).toarray(), plain.features(table).toarray(), atol=1e-9 * scale)
    np.testing.assert_allclose(hidden.terms(table), plain.terms(table), rtol=1e-9, atol=1e-10 * scale)


@settings(max_examples=25)
@given(all_kinds(), st.integers(0, 2**32))
def test_conditionals_that_share_rows_of_probabilities(net: fn.BayesianNetwork, seed: int) -> None:
    table = with_holes(net, 3, seed, 0.5)
    gram = fn.kernels.HiddenVariableKernel(net)(table)
    wanted = double_sum(net, table)
    np.testing.assert_allclose(gram, wanted, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(wanted).max()))


def relabelled(net: fn.BayesianNetwork, name: str, order: list[int]) -> fn.BayesianNetwork:
    """The same distribution, one variable's states numbered in another order."""
    at = net.names.index(name)
    tables, parents = {}, {}
    for conditional in net.conditionals:
        table = conditional.table()
        for axis, v in enumerate((*conditional.parents, conditional.child)):
            if v == at:
                table = np.take(table, order, axis=axis)
        tables[conditional.name] = table
        parents[conditional.name] = [net.names[p] for p in conditional.parents]
    return fn.BayesianNetwork.from_tables(net.variables, parents, tables)


def test_numbering_hidden_states_in_another_way_changes_nothing() -> None:
    net = random_network(11, [3, 2, 4, 2, 3])
    table = net.sample(8, seed=1)
    other = relabelled(net, "v2", [2, 0, 3, 1])
    grams = [fn.kernels.HiddenVariableKernel(one, ["v2"])(table) for one in (net, other)]
    np.testing.assert_allclose(grams[0], grams[1], rtol=1e-10, atol=1e-12)


def test_columns_of_hidden_variables_are_not_looked_at_and_may_lack() -> None:
    net = random_network(4, [2, 3, 2])
    rows = net.sample(6, seed=1)
    k = fn.kernels.HiddenVariableKernel(net, ["v1"])
    wanted = k(rows.select(["v0", "v2"]))
    codes = np.stack([c.astype(int) for c in rows.codes], axis=1)
    for same in (rows, rows.to_pandas(), codes, codes[:, [0, 2]], rows.to_frame().select(["v2", "v0"])):
        assert (k(same) == wanted).all()


def test_means_weights_and_selections_of_incomplete_rows() -> None:
    net = fn.datasets.load("asia")
    table = with_holes(net, 200, 1, 0.2)
    k = fn.kernels.HiddenVariableKernel(net, ["either"])
    weights = np.arange(200) % 3
    weighted = fn.Table(net.variables, table.codes, weights=weights)
    mean = k.features(table).toarray().T @ weights / weights.sum()
    np.testing.assert_allclose(k.mean_features(weighted), mean, atol=1e-12)
    chosen = fn.select.greedy_mmd(k, table, 10, seed=1)
    assert len(set(chosen.indices.tolist())) == 10
    gram = k(table)
    at = chosen.indices
    distance = gram.mean() - 2 * gram[:, at].mean() + gram[np.ix_(at, at)].mean()
    assert chosen.distance == pytest.approx(distance, rel=1e-6)
    found = fn.select.similar(k, table, 0, n=3)
    assert found.cosines[0] == pytest.approx(1.0)
    assert fn.compare.mmd(k, table, table) == pytest.approx(0.0, abs=1e-9)


def test_expected_features_have_mean_zero_under_the_network() -> None:
    """E[E[phi | x]] = E[phi] = 0: the features of all observed rows, weighted by their probabilities."""
    net = random_network(9, [2, 3, 2, 2])
    hidden = ["v1"]
    seen = [name for name in net.names if name not in hidden]
    shares = reference.marginal(net, seen).ravel()
    variables = [net.variables[net.names.index(name)] for name in seen]
    codes = np.indices([v.cardinality for v in variables]).reshape(len(seen), -1).T
    k = fn.kernels.HiddenVariableKernel(net, hidden)
    features = k.features(fn.Table.from_codes(codes, variables)).toarray()
    np.testing.assert_allclose(shares @ features, 0, atol=1e-12)


def test_what_is_refused() -> None:
    net = random_network(4, [2, 3, 2])
    with pytest.raises(SchemaError, match="no variable 'x'"):
        fn.kernels.HiddenVariableKernel(net, ["x"])
    with pytest.raises(SchemaError, match="v1"):
        fn.kernels.HiddenVariableKernel(net, ["v1", "v1"])
    with pytest.raises(SchemaError, match="column"):
        fn.kernels.HiddenVariableKernel(net, ["v1"])({"v0": ["s0"]})
    with pytest.raises(SchemaError, match="needs a likelihood in closed form"):
        fn.kernels.HiddenVariableKernel(fn.DependencyNetwork.from_joint(net))  # type: ignore[arg-type]
    sure = fn.BayesianNetwork.from_tables(net.variables[:1], {}, {"v0": [1.0, 0.0]})
    with pytest.raises(ZeroProbabilityError, match="row 0"):
        fn.kernels.HiddenVariableKernel(sure)([[1]])
    assert math.isfinite(float(fn.kernels.HiddenVariableKernel(sure)([[0]])[0, 0]))
