"""Logistic regressions that tests given numbers stand on: those of maximum likelihood, also of heavy tails."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax

from fishernet.compare.conditionals.logistic import log_shares


def columns(seed: int, n: int, *, tails: float) -> np.ndarray:
    """Return a constant, numbers and their squares."""
    numbers = np.random.default_rng(seed).standard_t(tails, (n, 4))
    return np.column_stack([np.ones(n), numbers, numbers**2])


def drawn(X: np.ndarray, seed: int, n_states: int, size: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    logits = X @ rng.normal(0, size, (X.shape[1], n_states))
    return np.asarray(np.argmax(logits + rng.gumbel(size=logits.shape), axis=1))


@pytest.mark.parametrize(("tails", "size", "n_states"), [(50, 0.5, 2), (50, 0.5, 5), (3, 0.5, 3), (2.5, 2.0, 6)])
def test_no_other_slopes_are_likelier(tails: float, size: float, n_states: int) -> None:
    X = columns(1, 400, tails=tails)
    codes = drawn(X, 2, n_states, size)
    n_states = max(n_states, int(codes.max()) + 1)

    def loss(slopes: np.ndarray) -> tuple[float, np.ndarray]:
        logs = log_softmax(X @ slopes.reshape(X.shape[1], n_states), axis=1)
        off = np.exp(logs)
        off[np.arange(len(codes)), codes] -= 1
        return -float(logs[np.arange(len(codes)), codes].sum()), (X.T @ off).ravel()

    best = minimize(loss, np.zeros(X.shape[1] * n_states), jac=True, method="L-BFGS-B", options={"maxiter": 20_000})
    ours = float(log_shares(X, codes, n_states)[np.arange(len(codes)), codes].sum())
    assert ours >= -best.fun - 0.5  # the ridge costs a little where few rows are told apart


def test_labels_that_numbers_tell_apart_have_shares_of_nearly_one() -> None:
    X = columns(3, 300, tails=3)
    codes = np.asarray(X[:, 1] > 0.3, dtype=np.int64)
    logs = log_shares(X, codes, 2)
    np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1)
    assert logs[np.arange(300), codes].mean() > -0.02


def test_a_label_that_no_row_has_costs_nothing() -> None:
    X = columns(4, 200, tails=30)
    codes = drawn(X, 5, 2, 0.5)
    with_more = log_shares(X, codes * 2, 4)  # states 1 and 3 have no row
    rows = np.arange(200)
    assert with_more[rows, codes * 2].sum() == pytest.approx(log_shares(X, codes, 2)[rows, codes].sum(), abs=0.5)
