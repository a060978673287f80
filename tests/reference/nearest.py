"""Mutual information from nearest neighbours by its definition: every distance is written down."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import digamma

Floats = npt.NDArray[np.float64]


def distances(points: npt.ArrayLike) -> Floats:
    """Maximum-norm distances between all rows of (n,) or (n, d) points, (n, n); 0 for no columns."""
    rows = np.asarray(points, dtype=float)
    rows = rows[:, None] if rows.ndim == 1 else rows
    found: Floats = np.abs(rows[:, None, :] - rows[None, :, :]).max(axis=2, initial=0.0)
    return found


def kth_distances(joint: Floats, k: int) -> Floats:
    others = joint + np.diag(np.full(len(joint), np.inf))
    kth: Floats = np.sort(others, axis=1)[:, k - 1]
    return kth


def strictly_within(space: Floats, eps: Floats) -> npt.NDArray[np.int64]:
    """How many other rows are closer to each than its eps."""
    others = space + np.diag(np.full(len(space), np.inf))
    counts: npt.NDArray[np.int64] = (others < eps[:, None]).sum(axis=1)
    return counts


def information_counts(x: Any, y: Any, z: Any, k: int) -> tuple[npt.NDArray[np.int64], float]:
    """The counts that the estimate is made of, (n, 3), and the estimate (P4, Eq. 3.9 and ERRATA P4.3)."""
    dx, dy = distances(x), distances(y)
    n = len(dx)
    if z is None:
        eps = kth_distances(np.maximum(dx, dy), k)
        nx, ny = strictly_within(dx, eps), strictly_within(dy, eps)
        counts = np.stack([nx, ny, np.zeros_like(nx)], axis=1)
        return counts, float(digamma(n) + digamma(k) - np.mean(digamma(nx + 1) + digamma(ny + 1)))
    dz = distances(z)
    eps = kth_distances(np.maximum(np.maximum(dx, dy), dz), k)
    nxz, nyz = strictly_within(np.maximum(dx, dz), eps), strictly_within(np.maximum(dy, dz), eps)
    nz = strictly_within(dz, eps)
    value = digamma(k) + np.mean(digamma(nz + 1) - digamma(nxz + 1) - digamma(nyz + 1))
    return np.stack([nxz, nyz, nz], axis=1), float(value)
