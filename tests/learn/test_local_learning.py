"""Learning dependency networks against Algorithms 4, 5 and 6 of Takabatake and Akaho (2021) taken literally."""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError, ZeroProbabilityError
from tests.learn.scoring import local_score
from tests.reference.dependency import algorithm_6, conditional_entropy, frequencies
from tests.reference.scoring import family_score, total_weight
from tests.tables import random_table, tables

Inputs = tuple[tuple[int, ...], ...]


def walked(
    table: fn.Table, name: str, most: int | None = None
) -> list[tuple[tuple[int, ...], list[tuple[int, ...]], int]]:
    """Algorithm 6 of every variable: the inputs, all families it looked at, the iterations."""
    n = len(table.variables)
    return [algorithm_6(n, v, partial(local_score(table, name), v), most) for v in range(n)]


def assert_fitted(dn: fn.DependencyNetwork, table: fn.Table, inputs: Inputs, *, keep_positive: bool) -> None:
    assert dn.inputs == inputs
    for v, conditional in enumerate(dn.conditionals):
        expected = frequencies(table, v, inputs[v], keep_positive=keep_positive)
        np.testing.assert_allclose(conditional.table(), expected, rtol=1e-13, atol=0)


# ------------------------------------------------------------------------------------------------------ Algorithm 6


@settings(max_examples=60)
@given(tables(most_variables=5, most_rows=200), st.sampled_from(["bic", "aic", "loglik"]))
def test_every_variable_is_learned_by_algorithm_6(table: fn.Table, name: Any) -> None:
    found = fn.learn.local_structure(table, score=name)
    expected = walked(table, name)
    assert found.inputs == tuple(inputs for inputs, _, _ in expected)
    scores = [family_score(table, v, inputs, name) for v, inputs in enumerate(found.inputs)]
    np.testing.assert_allclose(found.scores, scores, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("seed", range(8))
def test_longer_searches(seed: int) -> None:
    table = random_table(seed, 2000, [2, 3, 2, 4, 2, 2, 3, 2], dependence=0.5)
    expected = walked(table, "aic")
    assert fn.learn.local_structure(table, score="aic").inputs == tuple(inputs for inputs, _, _ in expected)


def test_removals_occur() -> None:
    """x is a and b, now and then wrongly; c is that too, from another draw: best alone, idle once a and b are known."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, size=(2, 4000))
    x, c = ((a & b) ^ (rng.random(4000) < wrong) for wrong in (0.05, 0.12))
    table = fn.Table.from_codes(np.stack([x, a, b, c], axis=1))
    score = partial(local_score(table), 0)
    assert score((3,)) > max(score((1,)), score((2,)))
    assert algorithm_6(4, 0, score)[0] == (1, 2)
    assert fn.learn.local_structure(table).inputs[0] == (1, 2)


def test_the_default_is_mdl() -> None:
    table = random_table(4, 500, [2, 3, 2, 4])
    default = fn.learn.local_structure(table)
    for name in ("mdl", "bic"):
        assert fn.learn.local_structure(table, score=name).inputs == default.inputs
    # the cost of Takabatake and Akaho (2021), Eqs. 21 and 23, is the score divided by minus the number of rows
    counts = np.zeros(table.cardinalities)
    np.add.at(counts, tuple(c.astype(int) for c in table.codes), 1 / 500)
    for v, inputs in enumerate(default.inputs):
        k = (table.cardinalities[v] - 1) * int(np.prod([table.cardinalities[u] for u in inputs], dtype=int))
        cost = conditional_entropy(counts, v, inputs) + k / (2 * 500) * np.log(500)
        assert -default.scores[v] / 500 == pytest.approx(cost, rel=1e-11)


def test_copies_of_a_column_tie_and_the_first_is_taken_even_in_circles() -> None:
    codes = np.random.default_rng(0).integers(0, 2, 200)
    found = fn.learn.local_structure(fn.Table.from_codes(np.stack([codes] * 5, axis=1)))
    assert found.inputs == ((1,), (0,), (0,), (0,), (0,))


def test_nothing_is_learned_from_no_rows_one_column_or_constants() -> None:
    assert fn.learn.local_structure(random_table(0, 30, [2, 3])[:0]).inputs == ((), ())
    one = fn.learn.local_structure(random_table(0, 30, [3]))
    assert (one.inputs, one.n_candidates, one.n_scores) == (((),), 1, 1)
    constant = fn.Table.from_codes(np.zeros((50, 4), dtype=int))
    assert fn.learn.local_structure(constant, score="loglik").inputs == ((),) * 4


# ----------------------------------------------------------------------------------------------------------- counts


@settings(max_examples=40)
@given(tables(most_variables=5, most_rows=150), st.sampled_from(["mdl", "aic"]))
def test_candidates_are_counted_as_table_4_does(table: fn.Table, name: Any) -> None:
    """Each variable alone, then n - 1 candidates an iteration, the last one that finds nothing included."""
    found = fn.learn.local_structure(table, score=name)
    expected = walked(table, name if name == "aic" else "bic")
    n = len(table.variables)
    iterations = [iterations for _, _, iterations in expected]
    assert found.n_candidates == n + (n - 1) * sum(iterations)
    assert found.n_candidates == sum(len(looked) for _, looked, _ in expected)
    assert found.n_scores == sum(len(set(looked)) for _, looked, _ in expected)
    if n > 1:
        assert found.steps == max(iterations)
    assert found.seconds >= 0


@pytest.mark.parametrize("most", [0, 1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_max_inputs_is_algorithm_6_without_further_additions(seed: int, most: int) -> None:
    table = random_table(seed, 1500, [2, 3, 2, 4, 2, 2], dependence=0.5)
    found = fn.learn.local_structure(table, score="aic", max_inputs=most)
    expected = walked(table, "aic", most)
    assert found.inputs == tuple(inputs for inputs, _, _ in expected)
    assert max(map(len, found.inputs)) == most
    assert found.n_candidates == sum(len(looked) for _, looked, _ in expected)


def test_the_frame_names_the_inputs() -> None:
    table = random_table(2, 500, [2, 2, 3], dependence=0.9)
    found = fn.learn.local_structure(table)
    frame = found.to_frame()
    assert frame["variable"].to_pylist() == list(table.names)
    assert frame["inputs"].to_pylist() == [[table.names[u] for u in of] for of in found.inputs]
    assert frame["score"].to_pylist() == found.scores.tolist()


# ------------------------------------------------------------------------------------------------ tabu and last step


@settings(max_examples=40)
@given(tables(most_variables=5, most_rows=150), st.sampled_from(["mdl", "aic", "loglik"]))
def test_tabu_is_never_worse_than_greedy(table: fn.Table, name: Any) -> None:
    greedy = fn.learn.local_structure(table, score=name)
    tabu = fn.learn.local_structure(table, score=name, search="tabu")
    assert (tabu.scores >= greedy.scores - 1e-9).all()
    expected = [
        family_score(table, v, inputs, "bic" if name == "mdl" else name) for v, inputs in enumerate(tabu.inputs)
    ]
    np.testing.assert_allclose(tabu.scores, expected, rtol=1e-12, atol=1e-10)


def xor_table(copies: int = 50) -> fn.Table:
    """x = a xor b with all four rows as often: no input says anything alone."""
    rows = [[a ^ b, a, b] for a, b in itertools.product(range(2), repeat=2)]
    return fn.Table.from_codes(rows * copies)


def test_tabu_gets_over_a_plain_where_greedy_stops() -> None:
    assert fn.learn.local_structure(xor_table()).inputs == ((), (), ())
    assert fn.learn.local_structure(xor_table(), search="tabu").inputs == ((1, 2), (0, 2), (0, 1))


@settings(max_examples=20)
@given(tables(most_variables=4, most_rows=100))
def test_tabu_keeps_to_max_inputs(table: fn.Table) -> None:
    found = fn.learn.local_structure(table, score="loglik", search="tabu", max_inputs=2)
    assert max(map(len, found.inputs)) <= 2
    for v, inputs in enumerate(found.inputs):
        assert list(inputs) == sorted(set(inputs) - {v})


def test_the_last_step_takes_everything_where_that_is_better() -> None:
    """Section 4.3: the plain that greedy stops at is left, which Theorem 5 needs."""
    table = xor_table()
    found = fn.learn.local_structure(table, last_step=True)
    assert found.inputs == ((1, 2), (0, 2), (0, 1))
    expected = [family_score(table, v, inputs, "bic") for v, inputs in enumerate(found.inputs)]
    np.testing.assert_allclose(found.scores, expected, rtol=1e-12)


@settings(max_examples=40)
@given(tables(most_variables=5, most_rows=150), st.sampled_from(["bic", "aic"]))
def test_the_last_step_changes_nothing_else(table: fn.Table, name: Any) -> None:
    plain = fn.learn.local_structure(table, score=name)
    last = fn.learn.local_structure(table, score=name, last_step=True)
    n = len(table.variables)
    for v in range(n):
        rest = tuple(u for u in range(n) if u != v)
        whole = family_score(table, v, rest, name)
        better = whole > plain.scores[v] + max(1e-9, 1e-12 * abs(whole))
        assert last.inputs[v] == (rest if better else plain.inputs[v])


# ------------------------------------------------------------------------------------------------ Algorithms 4 and 5


@settings(max_examples=60)
@given(tables(most_variables=5, most_rows=100))
def test_the_parameters_are_algorithm_5s(table: fn.Table) -> None:
    dn = fn.learn.dependency_network(table)
    assert_fitted(dn, table, fn.learn.local_structure(table).inputs, keep_positive=True)
    assert all((c.probabilities > 0).all() for c in dn.conditionals)
    assert dn.n_rows == total_weight(table)
    assert dn.variables == table.variables
    assert not dn.allow_zeros


def test_an_unseen_configuration_becomes_uniform() -> None:
    """ERRATA of Algorithm 5: N_y is summed up after zeros became ones."""
    a, b = fn.Variable("a", ["x", "y", "never"]), fn.Variable("b", ["u", "v", "w", "t"])
    table = fn.Table.from_codes([[0, 0]] * 30 + [[1, 1]] * 20 + [[1, 2]] * 10, [a, b])
    dn = fn.learn.dependency_network(table, score="loglik")
    assert dn.inputs == ((1,), (0,))
    expected = [[30 / 33, 1 / 33, 1 / 33, 1 / 33], [1 / 32, 20 / 32, 10 / 32, 1 / 32], [0.25] * 4]
    np.testing.assert_allclose(dn.conditional("b").probabilities, expected, rtol=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_plain_frequencies_are_algorithm_4s_and_may_be_zero(seed: int) -> None:
    table = random_table(seed, 3000, [2, 3, 2, 2], dependence=0.8, weighted=seed % 2 == 1)
    dn = fn.learn.dependency_network(table, smoothing=0, max_inputs=1)
    assert_fitted(dn, table, fn.learn.local_structure(table, max_inputs=1).inputs, keep_positive=False)
    assert dn.allow_zeros


def test_plain_frequencies_of_what_never_occurs_are_refused() -> None:
    a, b = fn.Variable("a", [0, 1, 2]), fn.Variable("b", [0, 1])
    table = fn.Table.from_codes([[0, 0], [1, 1]] * 50, [a, b])
    with pytest.raises(ZeroProbabilityError, match="never occur.*a = 2"):
        fn.learn.dependency_network(table, smoothing=0)


@pytest.mark.parametrize("smoothing", [0.5, 2, "snml"])
def test_other_smoothing_is_that_of_bayesian_networks(smoothing: float | str) -> None:
    """A variable's conditional is that of a graph in which its inputs are its parents."""
    table = random_table(3, 300, [2, 3, 2, 4])
    dn = fn.learn.dependency_network(table, smoothing=smoothing)
    assert any(dn.inputs)
    for v, inputs in enumerate(dn.inputs):
        graph = fn.Dag.from_edges(table.names, [(table.names[u], table.names[v]) for u in inputs])
        net = fn.learn.parameters(graph, table, smoothing=smoothing)
        assert net.conditionals[v].parents == inputs
        np.testing.assert_allclose(dn.conditionals[v].table(), net.conditionals[v].table(), rtol=1e-13)


@settings(max_examples=40)
@given(tables(most_variables=4, most_rows=60))
def test_bayesian_networks_take_algorithm_5_too(table: fn.Table) -> None:
    graph = fn.Dag.from_edges(table.names, list(itertools.pairwise(table.names)))
    net = fn.learn.parameters(graph, table, smoothing="zeros")
    for v, conditional in enumerate(net.conditionals):
        expected = frequencies(table, v, conditional.parents, keep_positive=True)
        np.testing.assert_allclose(conditional.table(), expected, rtol=1e-13)


# ------------------------------------------------------------------------------------------ Theorems 3 to 5 at work


def test_plain_frequencies_are_nearest_to_the_data() -> None:
    """Theorem 4 for the empirical distribution: H(X_i | Y_i) - H(X_i | X_-i)."""
    table = random_table(1, 3000, [2, 3, 2, 2], dependence=0.7)
    dn = fn.learn.dependency_network(table, smoothing=0, max_inputs=1)
    shares = np.zeros(table.cardinalities)
    np.add.at(shares, tuple(c.astype(int) for c in table.codes), 1 / table.n_rows)
    for v, name in enumerate(dn.names):
        rest = [u for u in range(4) if u != v]
        expected = conditional_entropy(shares, v, dn.inputs[v]) - conditional_entropy(shares, v, rest)
        assert fn.compare.kl_to_manifold(table, dn, name) == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_what_is_learned_ends_near_the_data() -> None:
    """Theorem 3: the stationary distribution is within the bound, which shrinks as rows come in (Theorem 5)."""
    truth = fn.datasets.load("asia")
    bounds = []
    for n in (300, 3000, 30_000):
        table = truth.sample(n, seed=1)
        both = fn.compare.stationary_divergence(table, fn.learn.dependency_network(table))
        assert 0 <= both.divergence <= both.bound
        bounds.append(both.bound)
    assert bounds[0] > bounds[1] > bounds[2]


# ----------------------------------------------------------------------------------------- sources, weights, threads


# ------------------------------------------------------------------------------------------- progress and bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": "mdll"}, "unknown score 'mdll'"),
        ({"search": "climb"}, "unknown search 'climb'"),
        ({"max_inputs": -1}, "max_inputs"),
        ({"max_inputs": 1.5}, "max_inputs"),
        ({"max_inputs": True}, "max_inputs"),
        ({"seed": -1}, "seed"),
        ({"no_such_option": 1}, "neither this function nor the"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], message: str) -> None:
    table = random_table(0, 20, [2, 2])
    for learn in (fn.learn.local_structure, fn.learn.dependency_network):
        with pytest.raises(FishernetError, match=message):
            learn(table, **options)


@pytest.mark.parametrize("options", [{"smoothing": -1}, {"smoothing": "ones"}, {"inputs": "forest"}])
def test_smoothing_and_inputs_that_are_none_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(FishernetError, match=f"{next(iter(options))}"):
        fn.learn.dependency_network(random_table(0, 20, [2, 2]), **options)


@pytest.mark.parametrize("search", ["greedy", "tabu"])
@pytest.mark.parametrize("max_cells", [8, 12, 40])
def test_conditionals_have_no_more_cells_than_may_be(search: Any, max_cells: int) -> None:
    table = random_table(3, 300, [2, 3, 2, 4, 3])
    found = fn.learn.local_structure(table, score="loglik", search=search, max_cells=max_cells, last_step=True)
    for child, inputs in enumerate(found.inputs):
        assert math.prod(table.cardinalities[v] for v in (child, *inputs)) <= max_cells
    assert any(found.inputs)
    network = fn.learn.dependency_network(table, score="loglik", search=search, max_cells=max_cells)
    assert network.inputs == fn.learn.local_structure(table, score="loglik", search=search, max_cells=max_cells).inputs
