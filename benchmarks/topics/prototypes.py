"""Rows chosen one after the other, or by halving, as prototypes of a table under the Fisher kernel.

Beside ours is plain NumPy: it is given the dense features, makes the matrix of all pairs of rows, and follows the
definitions step by step; of kernel thinning, which draws, it halves by that matrix. Of chosen rows the distance is
computed anew, from counts. Of alarm's million rows there is no such matrix.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

import fishernet as fn
from benchmarks.calls import Array, Call, Data
from benchmarks.race import Race, Told, Verdict, below, calls_of, faster, memory
from benchmarks.sources import alarm, bayesian_network, fitted, letter_training, network_of, table_of

TITLE = "Prototypes"
NUMPY = "plain NumPy"
K = 100
Handed = tuple[fn.BayesianNetwork, fn.Table]


def letters() -> Data:
    return letter_training()


def alarms() -> Data:
    """Return a million rows of alarm, with the network that they were drawn from."""
    network = network_of("alarm", fn.datasets.load("alarm"))
    rows = alarm(1_000_000)
    return dataclasses.replace(
        rows, cardinalities=network.cardinalities, parents=network.parents, tables=network.tables
    )


def network(data: Data) -> fn.BayesianNetwork:
    return bayesian_network(data) if data.tables else fitted(data)


def hand(data: Data) -> Handed:
    return network(data), table_of(data)


def hand_features(data: Data) -> Array:
    kernel = fn.kernels.FisherKernel(network(data))
    return np.ascontiguousarray(kernel.features(table_of(data)).toarray())


def tell(found: fn.select.Selection, _: Data) -> Any:
    return found.indices, np.ones(K) / K if found.weights is None else found.weights, found.distance


CHOOSE: dict[str, Callable[[Any, fn.Table], fn.select.Selection]] = {
    "protodash": lambda kernel, table: fn.select.protodash(kernel, table, K),
    "mmd_critic": lambda kernel, table: fn.select.mmd_critic(kernel, table, K),
    "kernel_thinning": lambda kernel, table: fn.select.kernel_thinning(kernel, table, K, seed=1),
}


def critic_plainly(features: Array) -> Any:
    """Add the row with which the mean of the chosen ones is nearest."""
    gram = features @ features.T
    mean, diagonal = gram.mean(axis=1), np.diag(gram)
    chosen: list[int] = []
    for n in range(1, K + 1):
        within = gram[np.ix_(chosen, chosen)].sum() + 2 * gram[:, chosen].sum(axis=1) + diagonal
        distance = within / n**2 - 2 * (mean[chosen].sum() + mean) / n
        distance[chosen] = np.inf
        chosen.append(int(distance.argmin()))
    return of_rows(gram, np.array(chosen), np.full(K, 1 / K))


def dash_plainly(features: Array) -> Any:
    """Add the row towards which a step improves most, and weigh by non-negative least squares; the sum is heavy."""
    from scipy.optimize import nnls

    gram = features @ features.T
    mean, diagonal = gram.mean(axis=1), np.diag(gram)
    heavy = 1e3 * np.sqrt(diagonal.mean())
    chosen = [int((2 * mean - diagonal).argmax())]
    weights = np.ones(1)
    while len(chosen) < K:
        to_rows = gram[:, chosen] @ weights
        ahead = mean - to_rows - weights @ (mean - to_rows)[chosen]
        far = diagonal - 2 * to_rows + weights @ to_rows[chosen]
        promise = np.where(ahead < far, np.maximum(ahead, 0) ** 2 / far, 2 * ahead - far)
        promise[chosen] = -np.inf
        chosen.append(int(promise.argmax()))
        lower = np.linalg.cholesky(gram[np.ix_(chosen, chosen)] + 1e-9 * diagonal.mean() * np.eye(len(chosen)))
        matrix = np.concatenate([lower.T, np.full((1, len(chosen)), heavy)])
        weights, _ = nnls(matrix, np.append(np.linalg.solve(lower, mean[chosen]), heavy))
    return of_rows(gram, np.array(chosen), weights)


class Plain:
    """A kernel of which nothing is known but how to compute it."""

    def __init__(self, features: Array) -> None:
        self._features = features

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """Return the kernel of all pairs of positions."""
        others = X if Y is None else Y
        return np.asarray(self._features[X] @ self._features[others].T)

    def diag(self, X: Any) -> Array:
        """Return the kernel of each with itself."""
        return np.asarray((self._features[X] ** 2).sum(axis=1))


def thin_plainly(features: Array) -> Any:
    found = fn.select.kernel_thinning(Plain(features), np.arange(len(features)), K, seed=1)
    return found.indices, np.full(K, 1 / K), found.distance


def of_rows(gram: Array, rows: Any, weights: Array) -> Any:
    chosen = gram[np.ix_(rows, rows)]
    return rows, weights, float(weights @ chosen @ weights - 2 * weights @ gram[rows].mean(axis=1) + gram.mean())


PLAINLY = {"protodash": dash_plainly, "mmd_critic": critic_plainly, "kernel_thinning": thin_plainly}


def is_near(told: Told) -> Verdict:
    """Compute the distance anew; rows are as near as those of plain NumPy, and nearer than at random."""
    rows, weights, distance = told.answer
    net, table = hand(told.data)
    kernel = fn.kernels.FisherKernel(net)
    features = kernel.features(table[rows])
    off = np.asarray(features.T @ weights).ravel() - kernel.mean_features(table)
    anew = float(off @ off)
    level = float(kernel.diag(table).mean()) / K  # that of random rows, or a little above
    others = [answer[2] for answer in told.answers.values()]
    right = abs(distance / anew - 1) <= 1e-6 and distance < level / 3 and distance <= 1.2 * min(others)
    return right and len(set(rows.tolist())) == K, (
        f"{distance:.5g}, anew to {abs(distance / anew - 1):.0e}; of random rows {level:.4g}"
    )


def race(method: str, data: Callable[[], Data], *, large: bool) -> Race:
    ours = Call(hand, lambda handed: CHOOSE[method](fn.kernels.FisherKernel(handed[0]), handed[1]), tell)
    title = f"{K} of {'1 000 000' if large else '10 000'} by {method}"
    if large:
        return Race(data, ours, is_near, targets=[below(20), memory(2e9)], title=title, needs="")
    both = {"fishernet": ours, NUMPY: Call(hand_features, PLAINLY[method])}
    return Race(data, both, is_near, targets=[below(0.2), faster(20, NUMPY)], title=title)


RACES = (
    *(race(method, letters, large=False) for method in CHOOSE),
    *(race(method, alarms, large=True) for method in CHOOSE),
)
CALLS = calls_of(RACES)
