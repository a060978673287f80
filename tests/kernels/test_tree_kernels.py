"""Kernels of hidden trees against their definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.kernels import HiddenTreeKernel, PrunedTreeKernel
from tests.reference.trees import Case, Floats, cases, kernel, labellings, prior, pruned_kernel, random_tree

KEEP = st.sampled_from([None, 1.0, 0.5, 0.01])


def some_strings(case: Case, n: int, seed: int = 0) -> list[tuple[int, ...]]:
    draws = np.random.default_rng(seed)
    return [tuple(row) for row in draws.integers(0, case.n_symbols, (n, case.n_leaves)).tolist()]


def large(n_leaves: int, *, seed: int, p: int = 2, small: float = 0.1) -> Case:
    move = np.full((p, p), small / max(p - 1, 1))
    np.fill_diagonal(move, 1 - small if p > 1 else 1.0)
    tree = random_tree(n_leaves, np.random.default_rng(seed))
    return Case(tree, np.full(p, 1 / p), move, move)


@given(case=cases())
@settings(max_examples=60, deadline=None)
def test_the_kernel_is_the_sum_over_the_labellings(case: Case) -> None:
    strings = some_strings(case, 5)
    expected = kernel(case, strings)
    np.testing.assert_allclose(HiddenTreeKernel(case.model())(strings), expected, rtol=1e-11, atol=0)
    np.testing.assert_allclose(np.exp(HiddenTreeKernel(case.model(), log=True)(strings)), expected, rtol=1e-11, atol=0)


@given(case=cases(most_leaves=4, most_nodes=5), keep=KEEP)
@settings(max_examples=50, deadline=None)
def test_the_pruned_kernel_is_the_sum_over_the_subtrees(case: Case, keep: float | None) -> None:
    strings = some_strings(case, 4)
    expected = pruned_kernel(case, strings, keep)
    k = PrunedTreeKernel(case.model(), keep=keep)
    np.testing.assert_allclose(k(strings), expected, rtol=1e-10, atol=0)
    np.testing.assert_allclose(k.diag(strings), np.diag(expected), rtol=1e-10, atol=0)
    np.testing.assert_allclose(np.exp(k.log_matrix(strings)), expected, rtol=1e-10, atol=0)


@given(case=cases(most_leaves=4), keep=st.sampled_from([1.0, 0.3]))
@settings(max_examples=25, deadline=None)
def test_over_all_pairs_it_sums_to_the_probability_of_the_arities(case: Case, keep: float) -> None:
    met = sum(prior(case, h) for h in labellings(case))
    if keep < 1 and case.arity is not None:
        return  # a pruned branch then meets the arities for each string by itself
    total = PrunedTreeKernel(case.model(), keep=keep)(case.strings()).sum()
    assert total == pytest.approx(met, rel=1e-10)


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 300])
def test_tiles_join_without_seams(n: int) -> None:
    """Rows computed all together are those computed one by one, whatever symbols repeat."""
    case = large(12, seed=4)
    strings = some_strings(case, n, seed=5)
    k = HiddenTreeKernel(case.model())
    whole = k(strings)
    np.testing.assert_array_equal(whole, whole.T)
    some = sorted({0, n // 2, n - 1})
    alone = np.vstack([k([strings[i]], strings) for i in some])
    np.testing.assert_allclose(whole[some], alone, rtol=1e-13)
    np.testing.assert_allclose(k.diag(strings), np.diag(whole), rtol=1e-13)


def naive_log(case: Case, s: Any, t: Any) -> float:
    """Algorithm 12.17 as corrected, in logarithms of extended precision; shared tables."""
    with np.errstate(divide="ignore"):
        move, emission = np.log(case.transition.astype(np.longdouble)), np.log(case.emission.astype(np.longdouble))

    def message(node: list[Any]) -> Any:
        total = np.zeros(len(case.root), np.longdouble)
        for item in node:
            if isinstance(item, list):
                total = total + np.logaddexp.reduce(move + message(item), axis=1)
            else:
                total = total + emission[:, s[item]] + emission[:, t[item]]
        return total

    with np.errstate(divide="ignore"):
        return float(np.logaddexp.reduce(np.log(case.root.astype(np.longdouble)) + message(case.tree)))


@pytest.mark.parametrize(("n_leaves", "small"), [(60, 0.1), (60, 1e-3), (84, 1e-12), (400, 0.1), (3000, 0.1)])
def test_long_and_improbable_strings_keep_their_digits(n_leaves: int, small: float) -> None:
    case = large(n_leaves, seed=n_leaves, small=small)
    strings = some_strings(case, 6)
    strings.append((0,) * n_leaves)
    expected = np.array([[naive_log(case, s, t) for t in strings] for s in strings])
    k = HiddenTreeKernel(case.model())
    np.testing.assert_allclose(k.log_matrix(strings), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(k.log_diag(strings), np.diag(expected), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(k(strings), np.exp(expected), rtol=1e-9, atol=1e-320)


def test_a_state_far_below_the_others_is_not_lost() -> None:
    """Below the root, state 0 is e^-20000 times as probable as state 1, and the only one that the root allows."""
    n = 1500
    case = Case([list(range(n))], np.array([1.0, 0.0]), np.eye(2), np.array([[0.999, 0.001], [0.001, 0.999]]))
    expected = 2 * n * np.log(0.001)
    k = HiddenTreeKernel(case.model(), log=True)
    np.testing.assert_allclose(k([[1] * n]), [[expected]], rtol=1e-13)
    assert k([[1] * n], [[0] * n])[0, 0] == pytest.approx(n * (np.log(0.001) + np.log(0.999)), rel=1e-13)


def test_impossible_pairs_have_0() -> None:
    case = Case([0, 1], np.array([0.5, 0.5]), np.eye(2), np.eye(2))
    assert HiddenTreeKernel(case.model())([[0, 0], [1, 1], [0, 1]]).tolist() == [[0.5, 0, 0], [0, 0.5, 0], [0, 0, 0]]
    logs = HiddenTreeKernel(case.model(), log=True)([[0, 0], [1, 1]])
    assert logs[0, 1] == -np.inf
    assert logs[0, 0] == pytest.approx(np.log(0.5), rel=1e-13)


def test_missing_symbols_are_summed_out_for_each_string() -> None:
    case = large(5, seed=1)
    model = case.model(missing="?")
    s, t = [0, 1, "?", 0, 1], [1, 1, 0, 0, 0]
    filled = [[0, 1, 0, 0, 1], [0, 1, 1, 0, 1]]
    k = HiddenTreeKernel(model)
    assert k([s], [t])[0, 0] == pytest.approx(k(filled, [t]).sum(), rel=1e-12)


def test_topologies_are_summed_with_their_weights() -> None:
    case = large(6, seed=2)
    trees = [case.model(), large(6, seed=3).model(), large(6, seed=8).model()]
    strings = some_strings(case, 5)
    weights = [0.5, 0.0, 0.25]
    grams = np.array([HiddenTreeKernel(tree)(strings) for tree in trees])
    expected: Floats = np.tensordot(weights, grams, axes=1)
    np.testing.assert_allclose(HiddenTreeKernel(trees, weights)(strings), expected, rtol=1e-12)
    np.testing.assert_allclose(HiddenTreeKernel(trees, weights, log=True)(strings), np.log(expected), rtol=1e-12)
    np.testing.assert_allclose(HiddenTreeKernel(trees)(strings), grams.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(HiddenTreeKernel(trees, weights)(iter(strings)), expected, rtol=1e-12)


def test_all_subtrees_of_a_large_tree_stay_finite_in_logs() -> None:
    """With a state that never changes and leaves that tell nothing, it is the number of subtrees / 4^n."""
    n = 3000
    tree: list[Any] = [n - 1]
    for leaf in range(n - 2, -1, -1):
        tree = [leaf, tree]
    model = fn.HiddenTree(tree, [1.0], [[1.0]], [[0.5, 0.5]])
    expected = np.log(n) - 2 * n * np.log(2.0)  # a chain of n inner nodes can be cut below each of them
    assert PrunedTreeKernel(model, log=True)([[0] * n])[0, 0] == pytest.approx(expected, rel=1e-13)


def test_what_does_not_fit_is_an_error() -> None:
    model = large(4, seed=0).model()
    k = HiddenTreeKernel(model)
    with pytest.raises(fn.SchemaError, match="string 1 has 3 symbols, and the tree 4 leaves"):
        k([[0, 0, 0, 0], [0, 0, 0]])
    with pytest.raises(fn.SchemaError, match="tree must be a HiddenTree, or a list of them"):
        HiddenTreeKernel([])
    with pytest.raises(fn.SchemaError, match="1 trees need 1 weights"):
        HiddenTreeKernel(model, [0.5, 0.5])
    for weights in ([-1.0], [0.0], [np.nan]):
        with pytest.raises(fn.SchemaError, match="weights must be finite"):
            HiddenTreeKernel(model, weights)
    for keep in (0.0, 1.5, np.nan):
        with pytest.raises(fn.FishernetError, match="keep must be a number above 0 of at most 1"):
            PrunedTreeKernel(model, keep=keep)
    assert k([]).shape == (0, 0)
    assert k([], [[0, 0, 0, 0]]).shape == (0, 1)
