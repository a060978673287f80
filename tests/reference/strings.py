"""Naive twins of the kernels of strings: sums over hidden paths, and linear systems over everything that can be."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet import HiddenMarkovModel

Numbers = npt.NDArray[np.float64]
Codes = Sequence[int]


def empty_of(hmm: HiddenMarkovModel) -> Numbers:
    return np.zeros(hmm.n_states) if hmm.empty is None else hmm.empty


def stops_of(hmm: HiddenMarkovModel) -> tuple[Numbers, float]:
    """Weights of stopping after a state, and at once; without a final state every trajectory counts in full."""
    return (np.ones(hmm.n_states), 1.0) if hmm.final is None else (hmm.final, hmm.stop_at_once)


def path_value(hmm: HiddenMarkovModel, path: Codes, s: Codes, t: Codes) -> float:
    """P(path) P(s | path) P(t | path), stopping included."""
    stops, at_once = stops_of(hmm)
    if not path:
        return at_once * float(not s) * float(not t)
    value = float(hmm.initial[path[0]]) * float(stops[path[-1]])
    for b, a in itertools.pairwise(path):
        value *= float(hmm.transition[b, a])
    return value * string_given_path(hmm, path, s) * string_given_path(hmm, path, t)


def string_given_path(hmm: HiddenMarkovModel, path: Codes, s: Codes) -> float:
    """P(s | path): which states gave the symbols is summed over."""
    total = 0.0
    empty = empty_of(hmm)
    for places in itertools.combinations(range(len(path)), len(s)):
        symbols = dict(zip(places, s, strict=True))
        total += float(np.prod([hmm.emission[a, symbols[i]] if i in symbols else empty[a] for i, a in enumerate(path)]))
    return total


def path_sum(hmm: HiddenMarkovModel, s: Codes, t: Codes, longest: int, shortest: int = 0) -> float:
    """The sum over all paths of some lengths."""
    lengths = range(shortest, longest + 1)
    paths = (path for n in lengths for path in itertools.product(range(hmm.n_states), repeat=n))
    return sum(path_value(hmm, path, s, t) for path in paths)


def pair_kernel(hmm: HiddenMarkovModel, s: Codes, t: Codes) -> float:
    """One linear system over (symbols of s out, symbols of t out, state about to be visited)."""
    n, m, p = len(s), len(t), hmm.n_states
    shape = (n + 1, m + 1, p)
    empty = empty_of(hmm)
    stops, at_once = stops_of(hmm)
    moves = np.zeros(shape + shape)
    ends = np.zeros(shape)
    for i, j, a in np.ndindex(shape):
        for di, dj in itertools.product((0, 1), repeat=2):
            if i + di > n or j + dj > m:
                continue
            visit = (hmm.emission[a, s[i]] if di else empty[a]) * (hmm.emission[a, t[j]] if dj else empty[a])
            moves[i, j, a, i + di, j + dj] += visit * hmm.transition[a]
            if (i + di, j + dj) == (n, m):
                ends[i, j, a] += visit * stops[a]
    size = int(np.prod(shape))
    start = np.zeros(shape)
    start[0, 0] = hmm.initial
    arrivals = np.linalg.solve(np.eye(size) - moves.reshape(size, size).T, start.ravel())
    return float(arrivals @ ends.ravel()) + at_once * float(n == m == 0)


def exact_pair_kernel(hmm: HiddenMarkovModel, s: Codes, t: Codes) -> Decimal:
    """The recursion of 12.1.5 in decimals, visits without symbols summed by the inverse of I - S T."""
    exact = np.vectorize(Decimal, otypes=[object])
    initial, transition, emission, empty = map(exact, (hmm.initial, hmm.transition, hmm.emission, empty_of(hmm)))
    stops = exact(stops_of(hmm)[0])
    p = hmm.n_states
    closure = exact_inverse(np.eye(p, dtype=int) * Decimal(1) - (empty**2)[:, None] * transition)
    moves = transition.dot(closure)
    zero = np.array([Decimal(0)] * p, dtype=object)
    before: list[Any] = []
    visits = zero
    for i in range(len(s) + 1):
        row: list[Any] = []
        for j in range(len(t) + 1):
            visits = zero
            if i and j:
                visits = visits + emission[:, s[i - 1]] * emission[:, t[j - 1]] * before[j - 1]
            if i:
                visits = visits + emission[:, s[i - 1]] * empty * before[j]
            if j:
                visits = visits + empty * emission[:, t[j - 1]] * row[j - 1]
            row.append(visits.dot(moves) if i or j else initial.dot(closure))
        before = row
    ends = stops + moves.dot(empty**2 * stops)
    return Decimal(visits.dot(ends))


def exact_inverse(matrix: Any) -> Any:
    """Gauss and Jordan, in whatever numbers the matrix has."""
    n = len(matrix)
    work = np.concatenate([matrix, np.eye(n, dtype=int) * Decimal(1)], axis=1)
    for k in range(n):
        work[k] = work[k] / work[k, k]
        for i in range(n):
            if i != k:
                work[i] = work[i] - work[i, k] * work[k]
    return work[:, n:]


def exact_hmm_kernel(hmm: HiddenMarkovModel, s: Codes, t: Codes) -> Decimal:
    """Algorithm 12.8, corrected, in decimals."""
    exact = np.vectorize(Decimal, otypes=[object])
    weights = exact(hmm.initial)
    transition, emission = exact(hmm.transition), exact(hmm.emission)
    for position, (a, b) in enumerate(zip(s, t, strict=True)):
        weights = (weights if position == 0 else weights.dot(transition)) * emission[:, a] * emission[:, b]
    return Decimal(weights.dot(exact(stops_of(hmm)[0])))
