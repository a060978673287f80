"""Trees with names, and the model of phylogenetic profiles on them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.models import NamedTree, birth_death_tree
from tests.reference.trees import Case, kernel, probability

#        root - ab - a, b
#             - c
SMALL = NamedTree((-1, 0, 1, 1, 0), ("", "ab", "a", "b", "c"), (None, 0.5, 0.25, 1.0, 2.0))
PROFILES = list(itertools.product([0, 1], repeat=3))


def test_columns_give_leaves_their_positions() -> None:
    assert SMALL.leaves == ("a", "b", "c")
    assert SMALL.shape(["a", "b", "c"]).nested() == [[0, 1], 2]
    assert SMALL.shape(["c", "b", "a"]).nested() == [[2, 1], 0]
    assert SMALL.branch_lengths(["c", "b", "a"]).tolist() == [0.5, 2.0, 0.25, 1.0]


def test_fewer_leaves_join_branches() -> None:
    assert SMALL.restricted(["c", "a"]) == NamedTree((-1, 0, 0), ("", "a", "c"), (None, 0.75, 2.0))
    assert SMALL.restricted(["b", "a"]) == NamedTree((-1, 0, 1, 1), ("", "ab", "a", "b"), (None, 0.5, 0.25, 1.0))
    assert SMALL.restricted(["c"]) == NamedTree((-1, 0), ("", "c"), (None, 2.0))
    deep = NamedTree((-1, 0, 1, 2, 2, 0), ("", "", "", "a", "b", "c"), (None, 1.0, None, 1.0, 1.0, 1.0))
    assert deep.restricted(["a", "c"]).lengths == (None, None, 1.0)
    assert SMALL.restricted(SMALL.leaves) == SMALL


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: NamedTree((), (), ()), "a tree needs nodes"),
        (lambda: NamedTree((-1, 1), ("", "a"), (None, None)), "must come before it"),
        (lambda: NamedTree((0,), ("a",), (None,)), "must come before it"),
        (lambda: NamedTree((-1, 0, 0), ("", "a", "a"), (None,) * 3), "two leaves have the name 'a'"),
        (lambda: SMALL.shape(["a", "b"]), "'c' is no column"),
        (lambda: SMALL.shape(["a", "b", "c", "d"]), "'d' is no leaf"),
        (lambda: SMALL.shape(["a", "b", "c", "c"]), "two columns have the same name"),
        (lambda: NamedTree((-1,), ("a",), (None,)).shape(["a"]), "a single node"),
        (lambda: SMALL.restricted(["a", "x"]), "no leaves of the tree: 'x'"),
        (lambda: SMALL.restricted([]), "no leaves are left"),
        (lambda: birth_death_tree(SMALL, ["a", "b", "x"]), "no column"),
        (lambda: birth_death_tree(NamedTree((-1, 0), ("", "a"), (None, None)), by_length=True), "has no length"),
        (lambda: birth_death_tree(NamedTree((-1, 0), ("", "a"), (None, -1.0)), by_length=True), "negative length"),
        (lambda: birth_death_tree(SMALL, birth=1.5), "birth must be a probability, got 1.5"),
        (lambda: birth_death_tree(SMALL, death=-1.0, by_length=True), "death must be a rate"),
        (lambda: birth_death_tree(SMALL, present=2.0), "present must be a number from 0 to 1"),
        (lambda: birth_death_tree(SMALL, birth=0.0, death=0.0), "say how probable"),
    ],
)
def test_what_does_not_fit_is_an_error(call: Any, message: str) -> None:
    with pytest.raises(fn.FishernetError, match=message):
        call()


def test_example_12_16() -> None:
    """P(0 | 1) = epsilon, P(1 | 0) = delta, P(root = 1) = tau."""
    delta, eps, tau = 0.2, 0.05, 0.7
    move = np.array([[1 - delta, delta], [eps, 1 - eps]])
    case = Case([[0, 1], 2], np.array([1 - tau, tau]), move, move)
    model = birth_death_tree(SMALL, birth=delta, death=eps, present=tau)
    np.testing.assert_allclose(np.exp(model.log_prob(PROFILES)), [probability(case, s) for s in PROFILES], rtol=1e-12)
    np.testing.assert_allclose(fn.kernels.HiddenTreeKernel(model)(PROFILES), kernel(case, PROFILES), rtol=1e-12)


def matrix_power_series(rates: Any, t: float) -> Any:
    """exp(t Q) by its series."""
    term = total = np.eye(2)
    for k in range(1, 60):
        term = term @ rates * t / k
        total = total + term
    return total


def test_lengths_are_times_of_the_process() -> None:
    rates = np.array([[-0.3, 0.3], [0.8, -0.8]])
    move = [matrix_power_series(rates, t) for t in (0.5, 0.25, 1.0, 2.0)]
    start = np.array([8, 3]) / 11
    expected = []
    for a, b, c in PROFILES:
        inner = [sum(move[0][r, v] * move[1][v, a] * move[2][v, b] for v in (0, 1)) for r in (0, 1)]
        expected.append(sum(start[r] * inner[r] * move[3][r, c] for r in (0, 1)))
    model = birth_death_tree(SMALL, birth=0.3, death=0.8, by_length=True)
    np.testing.assert_allclose(np.exp(model.log_prob(PROFILES)), expected, rtol=1e-12)


@pytest.mark.parametrize("by_length", [True, False])
def test_leaving_out_a_species_is_not_knowing_it(by_length: bool) -> None:
    """Joined branches are the process over the sum of their lengths or of their steps (Chapman-Kolmogorov)."""
    whole = birth_death_tree(SMALL, birth=0.3, death=0.8, by_length=by_length, missing="?")
    part = birth_death_tree(SMALL, ["c", "a"], birth=0.3, death=0.8, by_length=by_length)
    for a, c in itertools.product([0, 1], repeat=2):
        assert part.log_prob([[c, a]])[0] == pytest.approx(whole.log_prob([[a, "?", c]])[0], rel=1e-12)


def test_profiles_may_be_arrays_or_text() -> None:
    model = birth_death_tree(SMALL)
    text = birth_death_tree(SMALL, alphabet="01")
    k, of_text = fn.kernels.HiddenTreeKernel(model), fn.kernels.HiddenTreeKernel(text)
    np.testing.assert_array_equal(k(np.array(PROFILES)), of_text(["".join(map(str, s)) for s in PROFILES]))
