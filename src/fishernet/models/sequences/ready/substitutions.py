"""Reversible substitution processes, and where they are half-way."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fishernet.errors import SchemaError
from fishernet.models.sequences.checks import ROUNDING, Numbers, checked_numbers, checked_rows

NEGATIVE = 1e-9  # what rounding may leave of an eigenvalue or a probability below 0
TOTAL = 1e-6  # how far the sum of a table may be from 1: it may have been printed


def half_way(joint: npt.ArrayLike) -> tuple[Numbers, Numbers]:
    """Return the frequencies of the symbols, and P(symbol | ancestor) half-way between two strings.

    With ``joint[i, j] = p_i P(j | i)`` symmetric, the answer is p and the square root H of P, so that two descendants
    of one ancestor have the joint distribution ``sum_a p_a H[a, i] H[a, j] = joint[i, j]``.

    Raises
    ------
    SchemaError
        When the table is not a symmetric distribution with every symbol, is not positive semidefinite, or has a square
        root with negative entries.
    """
    table = checked_numbers(joint, "joint", (None, None))
    if table.shape[0] != table.shape[1]:
        raise SchemaError(f"joint must be square, got the shape {table.shape}")
    if abs(table.sum() - 1) > TOTAL:
        raise SchemaError(f"joint sums to {table.sum():.12g}, not to 1")
    uneven = np.abs(table - table.T)
    if uneven.max() > ROUNDING:
        i, j = (int(k) for k in np.unravel_index(int(np.argmax(uneven)), table.shape))
        raise SchemaError(
            f"joint is not symmetric: {table[i, j]:.6g} at {(i, j)}, {table[j, i]:.6g} at {(j, i)}; a substitution "
            "process that has no direction in time is needed"
        )
    table = (table + table.T) / (2 * table.sum())
    frequencies = table.sum(axis=1)
    if (frequencies == 0).any():
        raise SchemaError(f"symbol {int(np.argmin(frequencies))} of joint has probability 0; leave it out")
    roots = np.sqrt(frequencies)
    values, vectors = np.linalg.eigh(table / np.outer(roots, roots))
    if values[0] < -NEGATIVE:
        raise SchemaError(
            f"joint is not positive semidefinite (its correlations have the eigenvalue {values[0]:.6g}): no two "
            "strings that were made independently from one ancestor by the same process have it"
        )
    half = _back(vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T, roots)
    if half.min() < -NEGATIVE:
        i, j = (int(k) for k in np.unravel_index(int(np.argmin(half)), half.shape))
        raise SchemaError(
            f"half-way, symbol {j} has the probability {half[i, j]:.6g} given the ancestor {i}: joint belongs to no "
            "process that runs evenly in time; smooth it, or take one of a greater divergence"
        )
    return frequencies, _distributions(half)


def after(exchange: npt.ArrayLike, frequencies: npt.ArrayLike, divergence: float) -> tuple[Numbers, Numbers]:
    """Return the frequencies, and P(symbol | ancestor) after `divergence` substitutions a position, in the mean.

    Parameters
    ----------
    exchange : (n, n) array
        Symmetric; the rate from i to j is in proportion to ``exchange[i, j] frequencies[j]``.
    frequencies : (n,) array
        Positive, sum 1.
    divergence : float
        From 0 on.
    """
    p = checked_rows(frequencies, "frequencies", (len(np.asarray(exchange)),))
    if (p == 0).any():
        raise SchemaError(f"frequencies must be positive, got 0 for symbol {int(np.argmin(p))}")
    if not np.isfinite(divergence) or divergence < 0:
        raise SchemaError(f"divergence must be finite and not negative, got {divergence!r}")
    rates = np.array(exchange, np.float64) * p
    np.fill_diagonal(rates, 0)
    leaving = rates.sum(axis=1)
    rates -= np.diag(leaving)
    rates /= p @ leaving
    roots = np.sqrt(p)
    symmetric = roots[:, None] * rates / roots
    values, vectors = np.linalg.eigh((symmetric + symmetric.T) / 2)
    return p, _distributions(_back(vectors * np.exp(values * divergence) @ vectors.T, roots))


def exchange_of(joint: Numbers) -> tuple[Numbers, Numbers]:
    """Return the exchange rates and the frequencies of the process behind a symmetric joint distribution.

    Its generator is the logarithm of P(j | i); rates that come out negative, as rounded tables have them, are taken
    for 0.
    """
    frequencies = joint.sum(axis=1)
    roots = np.sqrt(frequencies)
    values, vectors = np.linalg.eigh(joint / np.outer(roots, roots))
    rates = vectors * np.log(values) @ vectors.T / np.outer(roots, roots)
    return np.maximum((rates + rates.T) / 2, 0), frequencies


def _back(symmetric: Numbers, roots: Numbers) -> Numbers:
    matrix: Numbers = symmetric * roots / roots[:, None]
    return matrix


def _distributions(rows: Numbers) -> Numbers:
    """Return rows without what rounding left below 0, summing to 1."""
    positive = np.maximum(rows, 0)
    scaled: Numbers = positive / positive.sum(axis=1, keepdims=True)
    return scaled
