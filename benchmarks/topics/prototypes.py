"""Rows chosen one after the other, or by halving, as prototypes of a table: under the Fisher and a Gaussian kernel.

The Fisher kernel is handed to the others as dense features (columns that are 0 everywhere are left out), of which the
kernel is the product; the Gaussian one as indicators of the states, scaled so that a row has length 1. What they reach
is computed by one function for all. Plain NumPy makes the matrix of all pairs of rows, and follows the definitions step
by step. A form "(matrix)" is given the matrix beforehand, so that the choice alone is timed; ours then knows nothing of
its kernel but that matrix. AIX360's weights are free, and so are ours beside it. Of alarm's million rows there is no
such matrix, and ours runs alone.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import fishernet as fn
from benchmarks.calls import Array, Call, Data
from benchmarks.environment import OURS
from benchmarks.race import Race, Target, Told, Verdict, below, calls_of, faster, memory
from benchmarks.sources import alarm, bayesian_network, fitted, letter_training, network_of, table_of

TITLE = "Prototypes"
NUMPY = "plain NumPy"
K = 100
FEW = 64  # what Compress++ leaves of 4 096 rows
SIGMA = 0.5  # of the Gaussian kernel; two rows without an equal cell have the squared distance 2
Handed = tuple[fn.BayesianNetwork, fn.Table, Data]


@functools.cache
def letters() -> Data:
    """Return the letters with the features of the Fisher kernel."""
    data = letter_training()
    features = fn.kernels.FisherKernel(network(data)).features(table_of(data)).toarray()
    return with_features(data, features[:, features.any(axis=0)], K, None)


@functools.cache
def gaussian_letters(k: int = K) -> Data:
    """Return the letters with indicators of their states, of which the kernel is Gaussian."""
    data = letter_training()
    columns = [np.eye(r)[column] for r, column in zip(data.cardinalities, data.rows.T, strict=True)]
    return with_features(data, np.concatenate(columns, axis=1) / np.sqrt(len(columns)), k, SIGMA)


def few_gaussian_letters() -> Data:
    return gaussian_letters(FEW)


def with_features(data: Data, features: Array, k: int, sigma: float | None) -> Data:
    return dataclasses.replace(
        data, options={"features": np.ascontiguousarray(features, dtype=np.float64), "k": k, "sigma": sigma}
    )


def alarms() -> Data:
    """Return a million rows of alarm, with the network that they were drawn from."""
    network = network_of("alarm", fn.datasets.load("alarm"))
    rows = alarm(1_000_000)
    return dataclasses.replace(
        rows, cardinalities=network.cardinalities, parents=network.parents, tables=network.tables, options={"k": K}
    )


def network(data: Data) -> fn.BayesianNetwork:
    return bayesian_network(data) if data.tables else fitted(data)


def hand(data: Data) -> Handed:
    return network(data), table_of(data), data


def kernel_of(handed: Handed) -> Any:
    """Return the kernel, anew."""
    net, _, data = handed
    return (
        fn.kernels.GaussianKernel(data.options["sigma"]) if data.options.get("sigma") else fn.kernels.FisherKernel(net)
    )


def rows_of(handed: Handed) -> Any:
    """Return the rows that the kernel takes: under the Gaussian one the numbers that the others are handed."""
    _, table, data = handed
    return data.options["features"] if data.options.get("sigma") else table


CHOOSE: dict[str, Callable[[Any, Any, int], fn.select.Selection]] = {
    "protodash": fn.select.protodash,
    "protodash, free weights": functools.partial(fn.select.protodash, sum_to_one=False),
    "mmd_critic": fn.select.mmd_critic,
    "kernel_thinning": functools.partial(fn.select.kernel_thinning, seed=1),
    "compress": functools.partial(fn.select.kernel_thinning, method="compress", oversampling=0, seed=1),
}


def tell(found: fn.select.Selection, data: Data) -> Any:
    k = data.options["k"]
    return found.indices, np.ones(k) / k if found.weights is None else found.weights, found.distance


def kernel_rows(data: Data, rows: Any) -> Array:
    """Return the kernel of some rows with all, from what the others are handed."""
    features, sigma = data.options["features"], data.options["sigma"]
    inner = features[rows] @ features.T
    if not sigma:
        return np.asarray(inner)
    lengths = (features**2).sum(axis=1)
    return np.asarray(np.exp((2 * inner - lengths[rows][:, None] - lengths) / (2 * sigma**2)))


@functools.cache
def matrix_of(data: Data) -> Array:
    return kernel_rows(data, np.arange(len(data.rows)))


def critic_plainly(gram: Array, k: int) -> Any:
    """Add the row with which the mean of the chosen ones is nearest."""
    mean, diagonal = gram.mean(axis=1), np.diag(gram)
    chosen: list[int] = []
    for n in range(1, k + 1):
        within = gram[np.ix_(chosen, chosen)].sum() + 2 * gram[:, chosen].sum(axis=1) + diagonal
        distance = within / n**2 - 2 * (mean[chosen].sum() + mean) / n
        distance[chosen] = np.inf
        chosen.append(int(distance.argmin()))
    return np.array(chosen), np.full(k, 1 / k)


def dash_plainly(gram: Array, k: int) -> Any:
    """Add the row towards which a step improves most, and weigh by non-negative least squares; the sum is heavy."""
    mean, diagonal = gram.mean(axis=1), np.diag(gram)
    chosen = [int((2 * mean - diagonal).argmax())]
    weights = np.ones(1)
    while len(chosen) < k:
        to_rows = gram[:, chosen] @ weights
        ahead = mean - to_rows - weights @ (mean - to_rows)[chosen]
        far = diagonal - 2 * to_rows + weights @ to_rows[chosen]
        promise = np.where(ahead < far, np.maximum(ahead, 0) ** 2 / far, 2 * ahead - far)
        promise[chosen] = -np.inf
        chosen.append(int(promise.argmax()))
        weights = least_squares(gram, chosen, heavy=1e3 * np.sqrt(diagonal.mean()))
    return np.array(chosen), weights


def dash_freely(gram: Array, k: int) -> Any:
    """Add the row of steepest gradient, and weigh by non-negative least squares."""
    mean = gram.mean(axis=1)
    chosen: list[int] = []
    weights = np.zeros(0)
    while len(chosen) < k:
        gradient = mean - gram[:, chosen] @ weights
        gradient[chosen] = -np.inf
        chosen.append(int(gradient.argmax()))
        weights = least_squares(gram, chosen, heavy=0.0)
    return np.array(chosen), weights


def least_squares(gram: Array, chosen: list[int], heavy: float) -> Array:
    """Return weights not below 0 whose sum of rows is nearest to the mean; they add up to 1 as far as that is heavy."""
    from scipy.optimize import nnls

    within = gram[np.ix_(chosen, chosen)]
    lower = np.linalg.cholesky(within + 1e-9 * np.diag(within).mean() * np.eye(len(chosen)))
    matrix = np.concatenate([lower.T, np.full((1, len(chosen)), heavy)])
    weights, _ = nnls(matrix, np.append(np.linalg.solve(lower, gram[chosen].mean(axis=1)), heavy))
    return np.asarray(weights)


def thin_plainly(gram: Array, k: int) -> Any:
    """Halve rows again and again, take the part whose mean is nearest, and exchange each of its rows once."""
    random = np.random.default_rng(1)
    mean, diagonal = gram.mean(axis=1), np.diag(gram)
    rounds = (len(gram) // k).bit_length() - 1
    parts = [random.permutation(len(gram))[: k << rounds]]
    for _ in range(rounds):
        parts = [half for part in parts for half in halved(gram, part, 1 / (rounds * (k << rounds)), random)]
    rows = min(parts, key=lambda part: gram[np.ix_(part, part)].mean() - 2 * mean[part].mean()).copy()
    for place in range(k):
        rest = np.delete(rows, place)
        value = (2 * gram[rest].sum(axis=0) + diagonal) / k**2 - 2 * mean / k
        value[rest] = np.inf
        rows[place] = value.argmin()
    return rows, np.full(k, 1 / k)


def halved(gram: Array, part: Any, delta: float, random: np.random.Generator) -> tuple[Any, Any]:
    """Put one of each pair into either half, with a preference that keeps the signed sum near 0."""
    sums, variance, halves = np.zeros(len(gram)), 0.0, ([], [])  # type: tuple[Array, float, tuple[list[int], list[int]]]
    for x, y in part.reshape(-1, 2):
        squared = gram[x, x] + gram[y, y] - 2 * gram[x, y]
        threshold = max(np.sqrt(squared * variance * 2 * np.log(2 / delta)), squared)
        if threshold > 0:
            variance += max(squared * (1 + (squared - 2 * threshold) * variance / threshold**2), 0.0)
        first = random.random() < 0.5 * (1 - (sums[x] - sums[y]) / threshold if threshold > 0 else 1)
        kept, other = (x, y) if first else (y, x)
        halves[0].append(kept)
        halves[1].append(other)
        sums += gram[kept] - gram[other]
    return np.array(halves[0]), np.array(halves[1])


PLAINLY: dict[str, Callable[[Array, int], Any]] = {
    "protodash": dash_plainly,
    "protodash, free weights": dash_freely,
    "mmd_critic": critic_plainly,
    "kernel_thinning": thin_plainly,
}


def squared_distance(data: Data, rows: Any, weights: Any) -> float:
    """Return what is reached, computed anew: from the others' features, or where there are none from counts."""
    if "features" not in data.options:
        net, table, _ = hand(data)
        kernel = fn.kernels.FisherKernel(net)
        off = np.asarray(kernel.features(table[rows]).T @ weights).ravel() - kernel.mean_features(table)
        return float(off @ off)
    to_all = kernel_rows(data, rows)
    return float(weights @ to_all[:, rows] @ weights - 2 * weights @ to_all.mean(axis=1) + of_mean(data))


@functools.cache
def of_mean(data: Data) -> float:
    """Return the squared length of the table's mean."""
    if not data.options["sigma"]:
        mean = data.options["features"].mean(axis=0)
        return float(mean @ mean)
    places = np.arange(len(data.rows))
    return float(np.mean([kernel_rows(data, part).mean() for part in np.split(places, 10)]))


@functools.cache
def of_random(data: Data) -> float:
    """Return what rows at random reach in the mean, or a little more: a row's kernel with itself, by their number."""
    handed = hand(data)
    return float(np.mean(kernel_of(handed).diag(rows_of(handed)))) / float(data.options["k"])


def is_near(told: Told) -> Verdict:
    """Compute the distance anew; ours is less than half of that at random, and no farther than others' by a half.

    Of others only the number of rows is judged, and that each comes once: what they reach stands beside their time.
    """
    rows, weights = told.answer[:2]
    k = told.data.options["k"]
    reached = squared_distance(told.data, rows, weights)
    text = f"{reached:.4g}"
    if abs(weights.sum() - 1) > 1e-6:
        text += f"; weights add up to {weights.sum():.3g}, divided by that {at_one(told.data, rows, weights):.4g}"
    right = len(set(rows.tolist())) == k == len(rows)
    if told.label.split(" (")[0] == OURS:
        best = min(squared_distance(told.data, *answer[:2]) for answer in told.answers.values())
        near = reached < of_random(told.data) / 2 and reached <= 1.5 * best
        right = right and near and not abs(told.answer[2] / reached - 1) > 1e-6  # NaN: it was not measured
    return bool(right), text


def at_one(data: Data, rows: Any, weights: Any) -> float:
    """Return what the weights reach when they are divided by their sum."""
    return squared_distance(data, rows, weights / weights.sum())


def ours_of(method: str) -> Call:
    return Call(hand, lambda handed: CHOOSE[method](kernel_of(handed), rows_of(handed), handed[2].options["k"]), tell)


def numpy_of(method: str) -> Call:
    """Return a call that makes the matrix, too."""
    return Call(lambda data: data, lambda data: PLAINLY[method](matrix_of.__wrapped__(data), data.options["k"]))


def matrix_form(method: str) -> Call:
    def run(handed: tuple[Array, int]) -> fn.select.Selection:
        gram, k = handed
        return CHOOSE[method](fn.kernels.Precomputed(gram), np.arange(len(gram)), k)

    return Call(lambda data: (matrix_of(data), data.options["k"]), run, tell, note="matrix beforehand")


def race(
    method: str, data: Callable[[], Data], peers: Mapping[str, str], *targets: Target, title: str = "", plainly: bool
) -> Race:
    """Return a race beside plain NumPy, or without it where it takes what the others take; forms as the peers have."""
    ours = {OURS: ours_of(method)}
    ours |= {f"{OURS} (matrix)": matrix_form(method)} if any("matrix" in label for label in peers) else {}
    ours |= {NUMPY: numpy_of(method)} if plainly else {}
    return Race(data, ours, is_near, peers, targets, title=title, tells=True)


def large(method: str) -> Race:
    title = f"{K} of 1 000 000 by {method}"
    return Race(alarms, ours_of(method), is_near, targets=[below(20), memory(2e9)], title=title, needs="", tells=True)


DASH = {"AIX360 (cvxpy)": "cvxpy", "AIX360 (osqp)": "osqp"}
CRITIC = {"mmd-critic (features)": "prototypes", "mmd-critic (matrix)": "from_matrix"}
THIN = {"goodpoints (features)": "thin", "goodpoints (matrix)": "from_matrix"}
COMPRESS = {"goodpoints (Compress++)": "compress_0", "goodpoints (Compress++, g = 4)": "compress_4"}
WANTED = (below(0.2), faster(20, NUMPY))


def of_fisher(method: str, peers: Mapping[str, str], *rivals: str) -> Race:
    targets = (*WANTED, *(faster(20, rival) for rival in rivals))
    return race(method, letters, peers, *targets, title=f"Fisher kernel, {K} by {method}", plainly=True)


def of_gaussian(method: str, data: Callable[[], Data], k: int, peers: Mapping[str, str]) -> Race:
    return race(method, data, peers, title=f"Gaussian kernel, {k} by {method}", plainly=False)


RACES = (
    of_fisher("protodash", {}),
    of_fisher("protodash, free weights", DASH, "AIX360"),
    of_fisher("mmd_critic", CRITIC, "mmd-critic (features)"),
    of_fisher("kernel_thinning", THIN, "goodpoints (features)"),
    of_gaussian("protodash, free weights", gaussian_letters, K, DASH),
    of_gaussian("mmd_critic", gaussian_letters, K, CRITIC),
    of_gaussian("kernel_thinning", gaussian_letters, K, THIN),
    of_gaussian("compress", few_gaussian_letters, FEW, COMPRESS),
    *(large(method) for method in ("protodash", "mmd_critic", "kernel_thinning")),
)
CALLS = calls_of(RACES)
