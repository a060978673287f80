"""Logistic regression of labels on columns, by Newton's method."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

MOST_STEPS, RIDGE = 60, 1e-3  # of slopes by columns in units of their spread
LEAST_GAIN = 1e-3  # nats that another step would bring
MOST_HALVED = 30  # times, of a step
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
    return _fitted(X, place[codes], counts[order])[:, place]


def _fitted(X: Array, codes: Codes, counts: Array) -> Array:
    """Return the logarithms of the probabilities, (n, n_states); the first state has slopes of 0.

    A step is halved until it brings a tenth of what it promises: few rows may be told apart by columns, or columns
    have heavy tails, and whole steps then go back and forth.
    """
    width, free = X.shape[1], len(counts) - 1
    constant = np.linalg.lstsq(X.T @ X, X.sum(axis=0), rcond=None)[0]
    slopes = np.outer(constant, np.log(counts[1:] / counts[0]))  # every row has the shares of all
    seen = np.asarray(codes[:, None] == np.arange(1, free + 1), dtype=np.float64)
    rows, found = np.arange(len(X)), _log_shares(X, slopes)

    def value(slopes: Array, logs: Array) -> float:
        return float(logs[rows, codes].sum() - RIDGE / 2 * (slopes**2).sum())

    for _ in range(MOST_STEPS):
        shares, reached = np.exp(found)[:, 1:], value(slopes, found)
        gradient = X.T @ (seen - shares) - RIDGE * slopes
        step = np.linalg.solve(_curvature(X, shares), gradient.T.ravel()).reshape(free, width).T
        promised = float((step * gradient).sum())  # twice the gain, if the logarithm were a parabola
        if promised < 2 * LEAST_GAIN:
            break
        for halved in range(MOST_HALVED):
            tried = slopes + step / 2**halved
            found = _log_shares(X, tried)
            if value(tried, found) >= reached + promised / 2**halved / 10:
                break
        slopes = tried
    return found


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
    logits = np.concatenate([np.zeros((len(X), 1)), X @ slopes], axis=1)
    logits -= logits.max(axis=1, keepdims=True)
    return np.asarray(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)))
