"""Fitting hidden trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.learn.hidden_trees import TreeSteps
from tests.reference.trees import Case, cases, random_tree, rows

TREE = [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
MOVE = np.array([[0.9, 0.1], [0.2, 0.8]])
EMIT = np.array([[0.95, 0.05], [0.1, 0.9]])


@given(seed=st.integers(0, 10**6), smoothing=st.sampled_from([0.0, 0.5]), shared=st.booleans())
@settings(max_examples=20, deadline=None)
def test_the_objective_never_falls(seed: int, smoothing: float, shared: bool) -> None:
    draws = np.random.default_rng(seed)
    tree = random_tree(5, draws)
    strings = draws.integers(0, 3, (20, 5)).tolist()
    found = fn.learn.hidden_tree_fit(
        tree,
        strings,
        n_states=2,
        shared=shared,
        restarts=1,
        smoothing=smoothing,
        max_steps=15,
        tolerance=0.0,
        seed=seed,
    )
    assert np.all(np.diff(found.trace) > -1e-9 * np.abs(found.trace[0]))
    assert found.log_likelihood == pytest.approx(found.model.log_prob(strings).sum(), rel=1e-12)
    assert found.model.transition.ndim == (2 if shared else 3)


@given(case=cases(zeros=True))
@settings(max_examples=20, deadline=None)
def test_a_step_keeps_zeros_and_unused_rows(case: Case) -> None:
    model = case.model()
    strings = model.sample(10, seed=1)
    better = TreeSteps(model.encode(strings), 0.0).maximized(model, model.expected_counts(strings))
    assert better.log_prob(strings).sum() >= model.log_prob(strings).sum() - 1e-9
    for before, after in ((model.transition, better.transition), (model.emission, better.emission)):
        assert not after[before == 0].any()


def test_without_hidden_states_the_fit_is_counting() -> None:
    strings = ["aab", "abb", "aaa"]
    found = fn.learn.hidden_tree_fit([[0, 1], 2], strings, n_states=1, smoothing=0.0, seed=1)
    np.testing.assert_allclose(found.model.emission, [[6 / 9, 3 / 9]], rtol=1e-12)
    smoothed = fn.learn.hidden_tree([[0, 1], 2], strings, n_states=1, smoothing=1.0, seed=1)
    np.testing.assert_allclose(smoothed.emission, [[7 / 11, 4 / 11]], rtol=1e-12)
    assert found.model.alphabet.symbols == ("a", "b")
    assert found.converged


def test_the_truth_is_found_again() -> None:
    """With leaves at several depths: else states swapped at every other level do nearly as well."""
    tree = [[[0, 1], 2], [3, [4, 5]], 6, 7]
    truth = fn.HiddenTree(tree, [0.3, 0.7], MOVE, EMIT)
    strings = truth.sample(3000, seed=1)
    found = fn.learn.hidden_tree_fit(
        tree, strings, n_states=2, smoothing=0.0, restarts=1, max_steps=500, tolerance=1e-9, seed=2
    )
    assert found.log_likelihood >= truth.log_prob(strings).sum()
    order = np.argsort(found.model.emission[:, 1])
    np.testing.assert_allclose(found.model.emission[order], EMIT, atol=0.05)
    np.testing.assert_allclose(found.model.transition[np.ix_(order, order)], MOVE, atol=0.06)


def test_at_a_maximum_the_scores_are_0() -> None:
    strings = fn.HiddenTree(TREE, [0.3, 0.7], MOVE, EMIT).sample(200, seed=3)
    model = fn.learn.hidden_tree(
        TREE, strings, n_states=2, smoothing=0.0, restarts=1, max_steps=3000, tolerance=1e-15, seed=1
    )
    assert np.abs(model.fisher_scores(strings).sum(axis=0)).max() < 0.01


def test_a_start_fixes_what_it_fixes() -> None:
    case = Case([[0], [1, 2]], rows(3, seed=1), rows(3, 3, seed=2), rows(3, 2, seed=3), [2, 1, 2])
    start = case.model(missing="?")
    strings: list[Any] = [[0, 1, "?"], [0, 0, 0], ["?", 1, 1]]
    found = fn.learn.hidden_tree_fit(None, strings, start=start, max_steps=5)
    assert found.model.arity is not None
    assert found.model.arity.tolist() == [2, 1, 2]
    assert found.model.missing == "?"
    assert len(found.restarts) == 1
    assert found.seed is None
    with pytest.raises(fn.SchemaError, match="are those of `start`"):
        fn.learn.hidden_tree(None, strings, start=start, n_states=2)


def test_missing_symbols_and_arities_are_allowed() -> None:
    strings = ["01?", "000", "1?1"]
    found = fn.learn.hidden_tree([[0], [1, 2]], strings, n_states=2, arity=[2, 1], missing="?", seed=1)
    assert found.alphabet.symbols == ("0", "1")
    assert np.isfinite(found.log_prob(strings)).all()


def test_a_seed_repeats_a_fit_and_more_restarts_are_no_worse() -> None:
    strings = fn.HiddenTree(TREE, [0.3, 0.7], MOVE, EMIT).sample(50, seed=3)
    one = fn.learn.hidden_tree_fit(TREE, strings, n_states=2, restarts=1, seed=4)
    again = fn.learn.hidden_tree_fit(TREE, strings, n_states=2, restarts=1, seed=4)
    more = fn.learn.hidden_tree_fit(TREE, strings, n_states=2, restarts=4, seed=4)
    assert one.trace == again.trace
    assert more.restarts[0] == one.trace[-1]
    assert more.trace[-1] == max(more.restarts)
    assert more.to_frame().num_rows == len(more.trace)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"strings": []}, "no symbols to make an alphabet of"),
        ({"strings": [], "alphabet": "01"}, "there is none"),
        ({"strings": ["011"]}, "string 0 has 3 symbols"),
        ({"n_states": None}, "n_states must be an integer from 1 to 16,384"),
        ({"n_states": 0}, "n_states must be an integer from 1 to 16,384"),
        ({"restarts": 0}, "restarts must be an integer of at least 1"),
        ({"max_steps": 1.5}, "max_steps must be an integer of at least 1"),
        ({"smoothing": -1.0}, "smoothing must be a number of at least 0"),
        ({"tolerance": np.nan}, "tolerance must be a number of at least 0"),
    ],
)
def test_what_does_not_fit_is_an_error(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"tree": [0, 1], "strings": ["01", "11"], "n_states": 2, "seed": 1, **change}
    with pytest.raises(fn.FishernetError, match=message):
        fn.learn.hidden_tree(**arguments)
