"""Markov networks against enumeration."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn

Array = npt.NDArray[np.float64]


def random_markov(seed: int, cardinalities: list[int], *, n_factors: int = 4, zeros: float = 0.0) -> fn.MarkovNetwork:
    rng = np.random.default_rng(seed)
    n = len(cardinalities)
    variables = [fn.Variable(f"v{i}", [f"s{k}" for k in range(r)]) for i, r in enumerate(cardinalities)]
    factors = []
    for _ in range(n_factors):
        axes = rng.choice(n, size=rng.integers(1, min(n, 3) + 1), replace=False)
        values = rng.gamma(1.0, size=[cardinalities[v] for v in axes]) * 10.0 ** rng.integers(-3, 4) + 1e-6
        values[rng.random(values.shape) < zeros] = 0
        factors.append(([f"v{v}" for v in axes], values))
    return fn.MarkovNetwork(variables, factors)


def potential(model: fn.MarkovNetwork) -> Array:
    """The product of the factors over all states."""
    shape = [v.cardinality for v in model.variables]
    product = np.ones(shape)
    for names, values in model.potentials:
        axes = [model.names.index(name) for name in names]
        order = np.argsort(axes)
        sizes = [r if v in axes else 1 for v, r in enumerate(shape)]
        product = product * values.transpose(order).reshape(sizes)
    return product


def all_states(model: fn.MarkovNetwork) -> fn.Table:
    shape = [v.cardinality for v in model.variables]
    return fn.Table.from_codes(np.indices(shape).reshape(len(shape), -1).T, model.variables)


markovs = st.builds(
    random_markov,
    st.integers(0, 2**32),
    st.lists(st.integers(1, 4), min_size=1, max_size=5),
    n_factors=st.integers(0, 5),
)
with_zeros = st.builds(
    random_markov,
    st.integers(0, 2**32),
    st.lists(st.integers(1, 4), min_size=1, max_size=5),
    n_factors=st.integers(0, 5),
    zeros=st.sampled_from([0.0, 0.2, 0.6]),
).filter(lambda model: potential(model).any())


@given(with_zeros)
def test_the_log_potential_is_the_log_of_the_product(model: fn.MarkovNetwork) -> None:
    with np.errstate(divide="ignore"):
        expected = np.log(potential(model)).ravel()
    np.testing.assert_allclose(model.log_potential(all_states(model)), expected, atol=1e-12)


@given(with_zeros)
def test_the_partition_function_sums_the_potentials(model: fn.MarkovNetwork) -> None:
    np.testing.assert_allclose(fn.infer.log_partition(model), np.log(potential(model).sum()), atol=1e-10)


@given(with_zeros, st.integers(0, 2**32))
def test_marginals_and_evidence_are_those_of_the_joint(model: fn.MarkovNetwork, seed: int) -> None:
    rng = np.random.default_rng(seed)
    joint = potential(model) / potential(model).sum()
    n = joint.ndim
    asked = rng.permutation(n)[: rng.integers(0, n + 1)].tolist()
    known = {v: int(rng.integers(joint.shape[v])) for v in range(n) if v not in asked and rng.random() < 0.5}
    sliced = joint[tuple(known.get(v, slice(None)) for v in range(n))]
    left = [v for v in range(n) if v not in known]
    summed = sliced.sum(axis=tuple(i for i, v in enumerate(left) if v not in asked))
    kept = [v for v in left if v in asked]
    evidence = {f"v{v}": f"s{k}" for v, k in known.items()}
    names = [f"v{v}" for v in asked]
    tree = fn.infer.JunctionTree(model)
    if not sliced.any():
        assert fn.infer.log_evidence(model, evidence) == tree.log_evidence(evidence) == -np.inf
        for ask in (tree.marginal, partial(fn.infer.marginal, model)):
            with pytest.raises(fn.ZeroProbabilityError, match="what is given has probability 0"):
                ask(names, given=evidence)
        return
    expected = summed.transpose([kept.index(v) for v in asked]) / sliced.sum()
    np.testing.assert_allclose(fn.infer.marginal(model, names, given=evidence), expected, atol=1e-12)
    np.testing.assert_allclose(tree.marginal(names, given=evidence), expected, atol=1e-12)
    np.testing.assert_allclose(fn.infer.log_evidence(model, evidence), np.log(sliced.sum()), atol=1e-10)
    np.testing.assert_allclose(tree.log_evidence(evidence), np.log(sliced.sum()), atol=1e-10)


@given(with_zeros)
def test_the_most_probable_states_have_the_largest_potential(model: fn.MarkovNetwork) -> None:
    best = fn.infer.most_probable(model)
    states = tuple(v.states.index(best[v.name]) for v in model.variables)
    assert potential(model)[states] >= potential(model).max() * (1 - 1e-9)


@given(markovs)
def test_its_full_conditionals_have_it_as_stationary_distribution(model: fn.MarkovNetwork) -> None:
    joint = potential(model) / potential(model).sum()
    found = fn.infer.stationary(fn.DependencyNetwork.from_joint(model))
    np.testing.assert_allclose(found, joint, atol=1e-9)


def test_the_ising_model_has_the_entropy_that_takabatake_and_akaho_print() -> None:
    """2021, Table 2: H(X_0 | X_1, X_5) of the 5 x 5 model with J = 0.5 rounds to 0.44 nats."""
    model = ising(5)
    joint = fn.infer.marginal(model, ["x0", "x1", "x5"])
    rest = joint.sum(axis=0)
    entropy = -(joint * np.log(joint)).sum() + (rest * np.log(rest)).sum()
    assert round(float(entropy), 2) == 0.44


def ising(side: int, coupling: float = 0.5) -> fn.MarkovNetwork:
    pair = np.exp(coupling * np.array([[1.0, -1.0], [-1.0, 1.0]]))
    names = [f"x{i}" for i in range(side * side)]
    edges = [(i, i + 1) for i in range(side * side) if (i + 1) % side]
    edges += [(i, i + side) for i in range(side * (side - 1))]
    return fn.MarkovNetwork([fn.Variable(n, [0, 1]) for n in names], [((names[a], names[b]), pair) for a, b in edges])


def test_rows_of_gibbs_sampling_have_the_joint_distribution() -> None:
    """Where the tables of the tree would not fit; that those of the tree have it is a law of all models."""
    model = random_markov(3, [2, 3, 2, 1], n_factors=5)
    joint = (potential(model) / potential(model).sum()).ravel()
    rows = model.sample(200_000, seed=4, max_table=1)
    cells = np.ravel_multi_index([c.astype(int) for c in rows.codes], [v.cardinality for v in model.variables])
    off = np.bincount(cells, minlength=len(joint)) - 200_000 * joint
    assert np.abs(off / np.sqrt(200_000 * joint * (1 - joint))).max() < 15  # rows are not independent


EQUAL = [[1.0, 0.0], [0.0, 1.0]]
PAIR = [fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1])]


@given(with_zeros, st.integers(0, 2**32))
@settings(max_examples=25)
def test_no_impossible_row_is_drawn(model: fn.MarkovNetwork, seed: int) -> None:
    assert np.isfinite(model.log_potential(model.sample(200, seed=seed))).all()


def test_gibbs_sampling_refuses_zeros_that_it_may_never_pass() -> None:
    """From a = b = 0 to a = b = 1 two variables would have to change at once."""
    model = fn.MarkovNetwork(PAIR, [(("a", "b"), EQUAL)])
    with pytest.raises(fn.StateSpaceError, match="Gibbs sampling needs potentials above zero") as refused:
        model.sample(10, max_table=1, seed=0)
    assert (refused.value.parameter, refused.value.limit) == ("max_table", 1)
    with pytest.raises(fn.ZeroProbabilityError, match="has a zero"):
        fn.DependencyNetwork.from_joint(model)
    rows = model.sample(1000, seed=0)
    assert (rows.codes[0] == rows.codes[1]).all()
    assert 400 < rows.codes[0].sum() < 600  # six standard deviations


ASKS: dict[str, Any] = {
    "marginal": lambda model: fn.infer.marginal(model, ["a"]),
    "log_evidence": lambda model: fn.infer.log_evidence(model, {"a": 0}),
    "most_probable": fn.infer.most_probable,
    "tree, marginal": lambda model: fn.infer.JunctionTree(model).marginal(["a"]),
    "tree, log_evidence": lambda model: fn.infer.JunctionTree(model).log_evidence({"a": 0}),
    "infer.sample": lambda model: fn.infer.sample(model, 3),
    "sample": lambda model: model.sample(3),
}


@pytest.mark.parametrize("ask", list(ASKS))
def test_a_network_in_which_nothing_is_possible_says_so(ask: str) -> None:
    model = fn.MarkovNetwork(PAIR, [(("a", "b"), EQUAL), (("a",), [1, 0]), (("b",), [0, 1])])
    assert fn.infer.log_partition(model) == -np.inf
    with pytest.raises(fn.ZeroProbabilityError, match="probability 0"):
        ASKS[ask](model)


def test_long_products_do_not_underflow() -> None:
    names = [f"x{i}" for i in range(3000)]
    variables = [fn.Variable(name, ["a", "b"]) for name in names]
    factors = [((name,), [1e-200, 1e-210]) for name in names]
    model = fn.MarkovNetwork(variables, factors)
    np.testing.assert_allclose(fn.infer.log_partition(model), 3000 * np.log(1e-200 + 1e-210), rtol=1e-12)
    one = fn.MarkovNetwork(variables[:1], factors[:1] * 1000)
    np.testing.assert_allclose(fn.infer.marginal(one, ["x0"]), [1, 0], atol=1e-12)
    np.testing.assert_allclose(fn.infer.log_partition(one), 1000 * np.log(1e-200), rtol=1e-12)
    assert fn.infer.most_probable(one) == {"x0": "a"}


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        ((("v0", "nobody"), [[1, 1], [1, 1]]), "nobody"),
        ((("v0", "v0"), [[1, 1], [1, 1]]), "more than once"),
        ((("v0",), [1, 1, 1]), "shape"),
        ((("v0",), [1, -1]), "not negative"),
        ((("v0",), [1, np.nan]), "finite"),
        ((("v0",), [1, np.inf]), "finite"),
        (("v0", [1, 1]), "one str"),
    ],
)
def test_bad_factors_are_refused(factor: tuple[object, object], message: str) -> None:
    with pytest.raises(fn.SchemaError, match=message):
        fn.MarkovNetwork([fn.Variable("v0", ["a", "b"])], [factor])  # type: ignore[list-item]


def test_what_is_no_markov_network_has_no_partition_function() -> None:
    with pytest.raises(fn.SchemaError, match="BayesianNetwork"):
        fn.infer.log_partition(fn.datasets.load("asia"))


@settings(max_examples=20)
@given(markovs)
def test_tables_of_the_tree_are_the_factors_marginals(model: fn.MarkovNetwork) -> None:
    joint = potential(model) / potential(model).sum()
    tables = fn.infer.JunctionTree(model).family_marginals()
    for (names, _), table in zip(model.potentials, tables, strict=True):
        axes = [model.names.index(name) for name in names]
        others = tuple(v for v in range(joint.ndim) if v not in axes)
        kept = sorted(axes)
        np.testing.assert_allclose(table, joint.sum(axis=others).transpose([kept.index(v) for v in axes]), atol=1e-12)
