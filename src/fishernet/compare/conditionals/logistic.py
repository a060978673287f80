"""Logistic regression of labels on columns, by Newton's method."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

STEPS, RIDGE, NEAR = 30, 1e-3, 1e-3  # of slopes by columns in units of their spread
MOST_LOGIT = 40.0
MOST_NUMBERS = 2**20  # that are held at once beside the columns


def log_shares(X: Array, codes: Codes, n_states: int) -> Array:
    """Return the logarithms of the probabilities of each state, (n, n_states), nearly those of maximum likelihood.

    Parameters
    ----------
    X : (n, width)
        The columns, a constant among them.
    codes : (n,)
        The labels.
    n_states : int
        At least 1.
    """
    if n_states == 1:
        return np.zeros((len(X), 1))
    counts: Array = np.bincount(codes, minlength=n_states) + np.float64(0.5)
    order = np.argsort(-counts, kind="stable")
    place = np.argsort(order)  # the slopes are beside the most frequent state, whose own are 0: so they are small
    return _log_shares(X, _slopes(X, place[codes], counts[order]))[:, place]


def _slopes(X: Array, codes: Codes, counts: Array) -> Array:
    """Return the slopes of all states but the first, (width, n_states - 1)."""
    width, free = X.shape[1], len(counts) - 1
    constant = np.linalg.lstsq(X.T @ X, X.sum(axis=0), rcond=None)[0]
    slopes = np.outer(constant, np.log(counts[1:] / counts[0]))  # every row has the shares of all
    seen = np.asarray(codes[:, None] == np.arange(1, free + 1), dtype=np.float64)
    for _ in range(STEPS):
        shares = np.exp(_log_shares(X, slopes))[:, 1:]
        gradient = X.T @ (seen - shares) - RIDGE * slopes
        step = np.linalg.solve(_curvature(X, shares), gradient.T.ravel()).reshape(free, width).T
        largest = float(np.abs(step).max(initial=0.0))
        slopes += step / max(1.0, largest)  # no slope moves by more than 1
        if largest < NEAR:
            break
    return slopes


def _curvature(X: Array, shares: Array) -> Array:
    """Return the negative second derivatives by the slopes, (free * width, free * width), those of a state together."""
    (n, free), width = shares.shape, X.shape[1]
    found, own = RIDGE * np.eye(free * width), np.zeros((free * width, width))
    at_once = max(1, MOST_NUMBERS // (free * width))
    for begin in range(0, n, at_once):
        rows = X[begin : begin + at_once]
        weighted = (shares[begin : begin + at_once, :, None] * rows[:, None, :]).reshape(len(rows), -1)
        found -= weighted.T @ weighted
        own += weighted.T @ rows
    for state in range(free):
        block = slice(state * width, (state + 1) * width)
        found[block, block] += own[block]
    return found


def _log_shares(X: Array, slopes: Array) -> Array:
    logits = np.concatenate([np.zeros((len(X), 1)), np.clip(X @ slopes, -MOST_LOGIT, MOST_LOGIT)], axis=1)
    logits -= logits.max(axis=1, keepdims=True)
    return np.asarray(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)))
