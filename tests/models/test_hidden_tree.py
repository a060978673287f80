"""Hidden trees against the sum over all labellings of their inner nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.models.trees.shape import TreeShape
from tests.reference.trees import Case, Floats, cases, labellings, likelihood, prior, probability, rows

MOVE = np.array([[0.7, 0.3], [0.1, 0.9]])  # example 12.16 with delta = 0.3, epsilon = 0.1
EXAMPLE = Case([[0, 1], [2, 3]], np.array([0.4, 0.6]), MOVE, MOVE)


def some_strings(case: Case, n: int, seed: int = 0) -> list[tuple[int, ...]]:
    draws = np.random.default_rng(seed)
    return [tuple(row) for row in draws.integers(0, case.n_symbols, (n, case.n_leaves)).tolist()]


def caterpillar(n_leaves: int) -> list[Any]:
    """Each inner node has a leaf and the next inner node."""
    tree: list[Any] = [n_leaves - 1]
    for leaf in range(n_leaves - 2, -1, -1):
        tree = [leaf, tree]
    return tree


@given(case=cases())
@settings(max_examples=60, deadline=None)
def test_log_prob_is_the_sum_over_the_labellings(case: Case) -> None:
    strings = some_strings(case, 4)
    expected = [probability(case, s) for s in strings]
    np.testing.assert_allclose(np.exp(case.model().log_prob(strings)), expected, rtol=1e-11, atol=0)


@given(case=cases(most_leaves=4))
@settings(max_examples=30, deadline=None)
def test_probabilities_sum_to_that_of_meeting_the_arities(case: Case) -> None:
    met = sum(prior(case, h) for h in labellings(case))
    assert np.exp(case.model().log_prob(case.strings())).sum() == pytest.approx(met, rel=1e-11)
    if case.arity is None:
        assert met == pytest.approx(1.0, rel=1e-11)


def test_a_missing_symbol_is_summed_out() -> None:
    model = EXAMPLE.model(alphabet="01", missing="?")
    both = np.exp(model.log_prob(["0110", "0111"])).sum()
    assert np.exp(model.log_prob(["011?"])) == pytest.approx(both, rel=1e-12)
    assert model.log_prob(["????"]) == pytest.approx(0.0, abs=1e-12)


def test_example_12_16_has_the_corrected_recursion_of_example_12_19() -> None:
    """Messages of two leaves that are s_l: prod of ((1 - delta) [s_l = 0] + delta [s_l = 1]), and so on."""
    delta, eps, tau = 0.3, 0.1, 0.6
    leaf = {0: (1 - delta, eps), 1: (delta, 1 - eps)}  # P(symbol | state 0), P(symbol | state 1)

    def cherry(s: int, t: int) -> tuple[float, float]:
        return leaf[s][0] * leaf[t][0], leaf[s][1] * leaf[t][1]

    def up(kerp: tuple[float, float]) -> tuple[float, float]:
        return (1 - delta) * kerp[0] + delta * kerp[1], eps * kerp[0] + (1 - eps) * kerp[1]

    for s in EXAMPLE.strings():
        left, right = up(cherry(s[0], s[1])), up(cherry(s[2], s[3]))
        expected = (1 - tau) * left[0] * right[0] + tau * left[1] * right[1]
        assert np.exp(EXAMPLE.model().log_prob([s]))[0] == pytest.approx(expected, rel=1e-12)


@given(case=cases())
@settings(max_examples=40, deadline=None)
def test_posteriors_are_shares_of_the_labellings(case: Case) -> None:
    model = case.model()
    possible = [s for s in some_strings(case, 4) if probability(case, s) > 0]
    found = model.posterior(possible)
    for s, of_s in zip(possible, found, strict=True):
        for v, node in enumerate(case.nodes()):
            shares = np.zeros(len(case.root))
            for h in labellings(case):
                shares[h[id(node)]] += prior(case, h) * likelihood(case, s, h)
            np.testing.assert_allclose(of_s[v], shares / shares.sum(), rtol=1e-10, atol=1e-300)


@given(case=cases())
@settings(max_examples=40, deadline=None)
def test_expected_counts_are_sums_over_the_labellings(case: Case) -> None:
    model = case.model()
    possible = [s for s in some_strings(case, 4) if probability(case, s) > 0]
    root, transition, emission = np.zeros_like(case.root), np.zeros_like(case.transition), np.zeros_like(case.emission)
    for s in possible:
        p = probability(case, s)
        for h in labellings(case):
            share = prior(case, h) * likelihood(case, s, h) / p
            root[h[id(case.tree)]] += share
            for node in case.nodes():
                for j, item in enumerate(node):
                    where = (j,) if case.transition.ndim == 3 else ()
                    if isinstance(item, list):
                        transition[(*where, h[id(node)], h[id(item)])] += share
                    else:
                        emission[(*where, h[id(node)], s[item])] += share
    counts = model.expected_counts(possible)
    np.testing.assert_allclose(counts.root, root, rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(counts.transition, transition, rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(counts.emission, emission, rtol=1e-10, atol=1e-300)


def numerical_scores(case: Case, s: tuple[int, ...]) -> Floats:
    """Central differences of the log-probability by parameters that are normalized after the step."""
    parts = [case.emission, case.transition, case.root]
    columns = []
    for k, part in enumerate(parts):
        for place in np.ndindex(part.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = part.copy()
                moved[place] += step
                moved = moved / moved.sum(axis=-1, keepdims=True)
                emission, transition, root = (moved if i == k else parts[i] for i in range(3))
                ends.append(np.log(probability(Case(case.tree, root, transition, emission, case.arity), s)))
            columns.append((ends[0] - ends[1]) / 2e-6)
    return np.array(columns)


@given(case=cases(zeros=False, most_leaves=4, most_nodes=4))
@settings(max_examples=20, deadline=None)
def test_fisher_scores_are_the_derivatives(case: Case) -> None:
    strings = some_strings(case, 2)
    expected = np.array([numerical_scores(case, s) for s in strings])
    assert case.model().n_parameters == expected.shape[1]
    np.testing.assert_allclose(case.model().fisher_scores(strings), expected, rtol=1e-5, atol=1e-7)


def test_the_score_of_a_parameter_that_is_0_is_the_limit() -> None:
    """P(symbol 1 | state 0) = e with e -> 0: the derivative does not divide by it."""
    sure = Case([0, 1], np.array([0.5, 0.5]), MOVE, np.array([[1.0, 0.0], [0.2, 0.8]]))
    nearly = Case([0, 1], sure.root, MOVE, np.array([[1 - 1e-9, 1e-9], [0.2, 0.8]]))
    assert np.isfinite(sure.model().fisher_scores([[0, 1]])).all()
    np.testing.assert_allclose(
        sure.model().fisher_scores([[0, 1]]), nearly.model().fisher_scores([[0, 1]]), rtol=1e-6, atol=1e-6
    )


def log_prob_in_logs(case: Case, s: Any) -> float:
    """Of a caterpillar without positions, node by node in logarithms of extended precision."""
    with np.errstate(divide="ignore"):
        move, emission = np.log(case.transition.astype(np.longdouble)), np.log(case.emission.astype(np.longdouble))
    message = emission[:, s[-1]]
    for symbol in reversed(s[:-1]):
        message = np.logaddexp.reduce(move + message, axis=1) + emission[:, symbol]
    with np.errstate(divide="ignore"):
        return float(np.logaddexp.reduce(np.log(case.root.astype(np.longdouble)) + message))


@pytest.mark.parametrize("zeros", [False, True])
def test_thousands_of_leaves_neither_underflow_nor_lose_digits(zeros: bool) -> None:
    """With zeros the one state stays far below the other for 3 000 leaves, and is then the only one left."""
    n = 3000
    transition = np.array([[1.0, 0.0], [0.0, 1.0]]) if zeros else MOVE
    root = np.array([1.0, 0.0]) if zeros else np.array([0.4, 0.6])
    case = Case(caterpillar(n), root, transition, np.array([[0.999, 0.001], [0.001, 0.999]]))
    strings = [[1] * n, [0, 1] * (n // 2), np.random.default_rng(0).integers(0, 2, n).tolist()]
    expected = [log_prob_in_logs(case, s) for s in strings]
    np.testing.assert_allclose(case.model().log_prob(strings), expected, rtol=1e-13)
    counts = case.model().expected_counts(strings)
    assert counts.emission.sum() == pytest.approx(3 * n, rel=1e-9)
    assert counts.transition.sum() == pytest.approx(3 * (n - 1), rel=1e-9)
    np.testing.assert_allclose(case.model().posterior(strings).sum(axis=2), 1.0, rtol=1e-9)


def test_a_star_of_thousands_of_leaves() -> None:
    n = 5000
    case = Case(list(range(n)), np.array([0.4, 0.6]), MOVE, np.array([[0.9, 0.1], [0.2, 0.8]]))
    zeros = n // 2
    logs = [zeros * np.log(e[0]) + (n - zeros) * np.log(e[1]) for e in case.emission]
    expected = np.logaddexp(np.log(0.4) + logs[0], np.log(0.6) + logs[1])
    assert case.model().log_prob([[0] * zeros + [1] * (n - zeros)])[0] == pytest.approx(expected, rel=1e-12)


def test_an_impossible_string_has_no_score() -> None:
    case = Case([0, 1], np.array([1.0]), np.array([[1.0]]), np.array([[1.0, 0.0]]))
    model = case.model()
    assert model.log_prob([[0, 0], [0, 1]]).tolist() == [0.0, -np.inf]
    for ask in (model.fisher_scores, model.posterior, model.expected_counts):
        with pytest.raises(fn.ZeroProbabilityError, match="string 1 has probability 0"):
            ask([[0, 0], [0, 1]])


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (0, "a tree is a list of its children"),
        ([], "an inner node without children"),
        ([0, []], "an inner node without children"),
        ([0, 1, 0], "the leaf 0 is in the tree twice"),
        ([0, [2]], "the leaf 1 is missing"),
        ([0, 10**6], "the leaf 1000000 is too far off"),
        ([0, -1], "the leaf -1 is no position"),
        ([0, True], "not of True"),
        ([0, "a"], "not of 'a'"),
        ([0, 1.0], "not of 1.0"),
    ],
)
def test_what_is_no_tree_is_an_error(tree: Any, message: str) -> None:
    with pytest.raises(fn.SchemaError, match=message):
        fn.HiddenTree(tree, [0.4, 0.6], MOVE, MOVE)


def test_one_list_in_two_places_is_an_error() -> None:
    shared = [0]
    with pytest.raises(fn.SchemaError, match="the same list in two places"):
        fn.HiddenTree([shared, shared], [0.4, 0.6], MOVE, MOVE)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"root": [0.4, 0.7]}, "root sums to 1.1"),
        ({"transition": [[0.5, 0.5], [0.5, 0.4]]}, "row 1 of transition sums to 0.9"),
        ({"transition": np.ones((3, 3)) / 3}, r"transition must have shape \(2, 2\)"),
        ({"emission": [[0.5, 0.5], [-0.5, 1.5]]}, "emission must hold finite numbers"),
        ({"emission": rows(1, 2, 2, seed=0)}, "a node has 2 children, and there are tables for 1 positions"),
        ({"transition": rows(2, 2, 2, seed=0), "emission": rows(3, 2, 2, seed=0)}, "transition has 2 tables"),
        ({"arity": [3, 3]}, "no labelling of the tree's nodes has the arities"),
        ({"arity": [2]}, r"arity must have shape \(2\)"),
        ({"arity": [2, 1.5]}, "arity must hold numbers of children"),
        ({"alphabet": "abc"}, "the alphabet has 3 symbols"),
        ({"missing": 1}, "1 cannot stand for a missing symbol"),
        ({"branch_tables": [0] * 6}, "branch_tables needs transition or emission with a first axis"),
        ({"emission": rows(2, 2, 2, seed=0), "branch_tables": [0] * 5}, "branch_tables must have shape"),
        ({"emission": rows(2, 2, 2, seed=0), "branch_tables": [2] * 6}, "numbers of tables from 0 to 1"),
    ],
)
def test_what_does_not_fit_is_an_error(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"root": [0.4, 0.6], "transition": MOVE, "emission": MOVE, **change}
    with pytest.raises(fn.SchemaError, match=message):
        fn.HiddenTree([[0, 1], [2, 3]], **arguments)


def test_arities_that_cannot_be_reached_are_an_error() -> None:
    """State 1 may be below state 0 by its arity, but never is."""
    with pytest.raises(fn.SchemaError, match="every string would be impossible"):
        fn.HiddenTree([[0]], [1.0, 0.0], np.eye(2), MOVE, arity=[2, 1])


def test_strings_that_do_not_fit_are_errors() -> None:
    model = EXAMPLE.model(alphabet="01")
    with pytest.raises(fn.SchemaError, match="string 1 has 3 symbols, and the tree 4 leaves"):
        model.log_prob(["0000", "000"])


@given(case=cases())
@settings(max_examples=20, deadline=None)
def test_a_tree_comes_back_as_nested_lists(case: Case) -> None:
    assert TreeShape.from_nested(case.tree).nested() == case.tree


@given(st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_tables_by_branch_are_each_branchs_own(seed: int) -> None:
    """All equal, they are the shared model; a branch's own table is used for that branch alone."""
    shape = TreeShape.from_nested(EXAMPLE.tree)
    strings = EXAMPLE.strings()
    order = np.random.default_rng(seed).permutation(shape.n_branches)
    tables = np.broadcast_to(MOVE, (shape.n_branches, 2, 2))
    same = fn.HiddenTree(shape, EXAMPLE.root, tables, tables, branch_tables=order)
    np.testing.assert_allclose(same.log_prob(strings), EXAMPLE.model().log_prob(strings), rtol=1e-12)
    branch = next(b for b, child in shape.children(0) if child == 1)  # the inner node above the leaves 0 and 1
    still = tables.copy()
    still[order[branch]] = [[1.0, 0.0], [0.0, 1.0]]
    moved = fn.HiddenTree(shape, EXAMPLE.root, still, tables, branch_tables=order)
    merged = Case([0, 1, [2, 3]], EXAMPLE.root, MOVE, MOVE)  # a node that never moves is its parent
    expected = [probability(merged, s) for s in strings]
    np.testing.assert_allclose(np.exp(moved.log_prob(strings)), expected, rtol=1e-12)
