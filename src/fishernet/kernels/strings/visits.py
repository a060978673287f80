"""A hidden Markov model as the kernels of two strings see it: only the visits that give a symbol are left.

A visit of a state that gives neither string a symbol leaves the pair of prefixes as it is. With S the diagonal matrix
of ``P(empty | a)^2`` and T the transition, any number of such visits is ``N = (I - S T)^-1``: arrivals r become r N,
moves T become T N, and a trajectory that stops with weight f (1 for every state, without a final state) stops with
weight ``f + T N S f`` after a visit that gave a symbol (ERRATA P3.7: trajectories that end without symbols belong to
the sum).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.errors import SchemaError
from fishernet.models.sequences.hidden_markov_model import HiddenMarkovModel

Numbers = npt.NDArray[np.float64]
Positions = npt.NDArray[np.intp]

MOST_NAMED = 10  # states in a message


def string_model(hmm: HiddenMarkovModel) -> _core.StringModel:
    """Return the model without visits that give neither of two strings a symbol.

    Raises
    ------
    SchemaError
        When trajectories can visit states without symbols for ever: the sum over all of them is infinite, or singular.
    """
    states = _reached(hmm.initial > 0, hmm.transition > 0)
    moves = hmm.transition[np.ix_(states, states)]
    emission = hmm.emission[states]
    empty = np.zeros(len(states)) if hmm.empty is None else hmm.empty[states]
    stops = np.ones(len(states)) if hmm.final is None else hmm.final[states]
    # what a visit has left for others than a next visit: 1 - P(empty)^2 (1 - final), without a subtraction
    left = emission.sum(axis=1) * (1 + empty) + (0.0 if hmm.final is None else empty**2 * stops)
    silent = empty[:, None] ** 2 * moves
    _check_end(silent, left, states)
    visits = _inverse(silent, left)
    first = hmm.initial[states] @ visits
    nothing = (1.0 if hmm.final is None else hmm.stop_at_once) + float(first @ (empty**2 * stops))
    end = stops + moves @ (visits @ (empty**2 * stops))
    return _packed(moves, visits, emission, empty, first, end, nothing)


def _packed(
    moves: Numbers, visits: Numbers, emission: Numbers, empty: Numbers, first: Numbers, end: Numbers, nothing: float
) -> _core.StringModel:
    """Return the core's model: states that give symbols, ordered so that those that move alike follow one another."""
    giving = np.flatnonzero(emission.any(axis=1))
    rows, group = np.unique(moves[giving], axis=0, return_inverse=True)
    group = group.ravel()
    order = giving[np.argsort(group, kind="stable")]
    into = (rows @ visits)[:, order].T  # [state, group]
    state, out_of = np.nonzero(into)
    return _core.StringModel(
        emission=np.ascontiguousarray(emission[order]),
        empty=np.ascontiguousarray(empty[order]),
        initial=np.ascontiguousarray(first[order]),
        end=np.ascontiguousarray(end[order]),
        nothing=nothing,
        group_starts=_starts(group, len(rows)),
        starts=_starts(state, len(order)),
        from_=out_of.astype(np.int32),
        weights=np.ascontiguousarray(into[state, out_of]),
    )


def _starts(of: Positions, n: int) -> npt.NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.bincount(of, minlength=n))]).astype(np.int64)


def _reached(starts: npt.NDArray[np.bool_], steps: npt.NDArray[np.bool_]) -> Positions:
    """Return the states that can be reached, in order."""
    seen = starts.copy()
    new = seen
    while new.any():
        new = steps[new].any(axis=0) & ~seen
        seen = seen | new
    return np.flatnonzero(seen)


def _check_end(silent: Numbers, left: Numbers, states: Positions) -> None:
    """Refuse a model in which visits without symbols need not come to an end."""
    ends = _reached(left > 0, silent.T > 0)
    if len(ends) < len(left):
        stuck = states[np.setdiff1d(np.arange(len(left)), ends)]
        named = ", ".join(map(str, stuck[:MOST_NAMED])) + (", ..." if len(stuck) > MOST_NAMED else "")
        raise SchemaError(
            "the linear system of the visits without a symbol is singular: the spectral radius of "
            f"P(a | b) P(empty | a)^2 is 1, because trajectories never leave the states {named}, which never give a "
            "symbol; let one of them give a symbol or, with final, stop"
        )


def _inverse(silent: Numbers, left: Numbers) -> Numbers:
    """Return the inverse of I - silent for rows with ``silent.sum() + left == 1``.

    States are taken out one by one (Grassmann, Taksar and Heyman): no number is subtracted, so every entry is right to
    rounding however close to singular the matrix is.
    """
    moves, left = silent.copy(), left.copy()
    n = len(left)
    inverse = np.eye(n)
    pivots = np.empty(n)
    for k in range(n - 1, -1, -1):
        pivots[k] = left[k] + moves[k, :k].sum()
        into = moves[:k, k] / pivots[k]
        moves[:k, :k] += np.outer(into, moves[k, :k])
        left[:k] += into * left[k]
        inverse[:k] += np.outer(into, inverse[k])
    for k in range(n):
        inverse[k] = (inverse[k] + moves[k, :k] @ inverse[:k]) / pivots[k]
    return inverse
