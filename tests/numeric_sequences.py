"""Hidden Markov models of numbers: a changed parameter, and sums over all trajectories."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import fishernet as fn
from fishernet.models.emissions import Emission, GaussianEmission, LabelEmission, PoissonEmission


def move_emission(emission: Emission, parameter: int, h: float) -> Emission:
    """The emission with one parameter, in the order of the scores, changed; a row of probabilities normalized again."""
    if isinstance(emission, PoissonEmission):
        rate = emission.rate.copy()
        column, state = divmod(parameter, len(rate))
        rate[state, column] += h
        return PoissonEmission(rate, names=emission.names)
    if isinstance(emission, LabelEmission):
        p = emission.probabilities_of_labels.copy()
        p.ravel()[parameter] += h
        return LabelEmission(p / p.sum(axis=1, keepdims=True), emission.variable.states, emission.variable.name)
    assert isinstance(emission, GaussianEmission)
    d, cells = len(emission.names), emission.n_states * emission.n_components
    intercept, sd = emission.intercept.reshape(cells, d).copy(), emission.sd.reshape(cells, d).copy()
    joined = emission.coefficients is not None
    slopes = (
        np.zeros((cells, d, d)) if emission.coefficients is None else emission.coefficients.reshape(-1, d, d).copy()
    )
    weights = None if emission.weights is None else emission.weights.copy()
    for j in range(d):
        width = 2 + (j if joined else 0)
        if parameter < 0:
            break
        if parameter < cells * width:
            cell, place = divmod(parameter, width)
            if place == 0:
                intercept[cell, j] += h
            elif place == width - 1:
                sd[cell, j] += h
            else:
                slopes[cell, j, place - 1] += h
        parameter -= cells * width
    if weights is not None and parameter >= 0:
        weights.ravel()[parameter] += h
        weights /= weights.sum(axis=1, keepdims=True)
    shape = emission.intercept.shape
    return GaussianEmission(
        intercept.reshape(shape),
        sd.reshape(shape),
        coefficients=slopes.reshape(*shape, d) if joined else None,
        weights=weights,
        names=emission.names,
    )


def by_all_paths(model: fn.NumericHiddenMarkovModel, densities: Any) -> tuple[float, Any, list[int], Any]:
    """Log-probability, posteriors, the best path and expected moves, as sums over every trajectory.

    `densities` are the probabilities of the steps in each state, (length, n_states), not their logarithms.
    """
    length, k = densities.shape
    posterior, moves, best = np.zeros((length, k)), np.zeros((k, k)), (0.0, [0] * length)
    for path in itertools.product(range(k), repeat=length):
        p = model.initial[path[0]]
        for t, state in enumerate(path):
            p = p * densities[t, state] * (model.transition[path[t - 1], state] if t else 1.0)
        posterior[np.arange(length), path] += p
        for a, b in itertools.pairwise(path):
            moves[a, b] += p
        if p > best[0]:
            best = (p, list(path))
    total = posterior[0].sum()
    return float(np.log(total)), posterior / total, best[1], moves / total
