"""Logistic regression of labels on columns, by Newton's method."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

STEPS, RIDGE, NEAR = 30, 1e-3, 1e-3  # of slopes by columns in units of their spread
MOST_LOGIT = 40.0


def log_shares(X: Array, codes: Codes, n_states: int) -> Array:
    """Return the logarithms of the probabilities of each state, (n, n_states), nearly those of maximum likelihood.

    Parameters
    ----------
    X : (n, width)
        The columns, a constant among them.
    codes : (n,)
        The labels.
    n_states : int
    """
    width, free = X.shape[1], n_states - 1
    slopes = np.zeros((width, free))
    seen = np.asarray(codes[:, None] == np.arange(1, n_states), dtype=np.float64)
    for _ in range(STEPS):
        shares = np.exp(_log_shares(X, slopes))[:, 1:]
        gradient = X.T @ (seen - shares) - RIDGE * slopes
        hessian = np.empty((free, width, free, width))
        for a in range(free):
            for b in range(free):
                weights = shares[:, a] * ((a == b) - shares[:, b])
                hessian[a, :, b, :] = (X * weights[:, None]).T @ X
        square = hessian.reshape(free * width, free * width) + RIDGE * np.eye(free * width)
        step = np.linalg.solve(square, gradient.T.ravel()).reshape(free, width).T
        largest = float(np.abs(step).max(initial=0.0))
        slopes += step / max(1.0, largest)  # no slope moves by more than 1
        if largest < NEAR:
            break
    return _log_shares(X, slopes)


def _log_shares(X: Array, slopes: Array) -> Array:
    logits = np.concatenate([np.zeros((len(X), 1)), np.clip(X @ slopes, -MOST_LOGIT, MOST_LOGIT)], axis=1)
    return np.asarray(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
