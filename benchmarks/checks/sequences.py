"""Whether answers on sequences are right: every recursion is run anew in NumPy, on all strings or on some pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.checks.verdict import NUMBERS_AGREE, Verdict, worst_difference
from benchmarks.workers.job import Job, Result

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.integer[Any]]


def posteriors(codes: Codes, model: Sequence[Array]) -> tuple[Array, Array, Array]:
    """Return P(state of the symbol | string), the expected moves of all strings, and their log-probabilities.

    Forward and backward are scaled to sum 1 at every place.
    """
    initial, transition, emission = model
    n, length = codes.shape
    seen = emission.T[codes]  # (n, length, n_states)
    forward, backward, scale = np.empty(seen.shape), np.ones(seen.shape), np.empty((n, length))
    for i in range(length):
        now = (initial if i == 0 else forward[:, i - 1] @ transition) * seen[:, i]
        scale[:, i] = now.sum(axis=1)
        forward[:, i] = now / scale[:, i, None]
    for i in reversed(range(length - 1)):
        backward[:, i] = (seen[:, i + 1] * backward[:, i + 1]) @ transition.T / scale[:, i + 1, None]
    coming = seen[:, 1:] * backward[:, 1:] / scale[:, 1:, None]
    moves = transition * np.einsum("nib,nia->ba", forward[:, :-1], coming)
    return forward * backward, moves, np.log(scale).sum(axis=1)


def counts_of(codes: Codes, model: Sequence[Array]) -> tuple[Array, Array, Array, float]:
    """Return the expected counts of beginnings, moves and symbols, and the log-likelihood."""
    states, moves, logs = posteriors(codes, model)
    emission = np.stack([states[codes == symbol].sum(axis=0) for symbol in range(model[2].shape[1])], axis=1)
    return states[:, 0].sum(axis=0), moves, emission, float(logs.sum())


def judge_forward_backward(job: Job, result: Result) -> Verdict:
    """Hold the log-likelihood and all posteriors against NumPy's."""
    del result
    states, _, logs = posteriors(job.read_codes(), job.read_tables())
    found = np.fromfile(job.output)
    off = worst_difference(found, np.concatenate([[logs.sum()], states.ravel()]))
    return Verdict(
        off <= NUMBERS_AGREE, f"{found[0]:.3f} nats; {states.size} posteriors agree with NumPy's to {off:.0e}"
    )


def judge_expected_counts(job: Job, result: Result) -> Verdict:
    del result
    *parts, log_likelihood = counts_of(job.read_codes(), job.read_tables())
    found = np.fromfile(job.output)
    off = worst_difference(found, np.concatenate([[log_likelihood], *[part.ravel() for part in parts]]))
    return Verdict(
        off <= NUMBERS_AGREE, f"{found[0]:.3f} nats; {found.size - 1} counts agree with NumPy's to {off:.0e}"
    )


def judge_baum_welch(job: Job, result: Result) -> Verdict:
    """Make the same steps: counts, divided by their rows' sums."""
    del result
    codes, model = job.read_codes(), job.read_tables()
    first = counts_of(codes, model)[-1]
    for _ in range(job.steps):
        *counts, _ = counts_of(codes, model)
        model = [part / part.sum(axis=-1, keepdims=True) for part in counts]
    log_likelihood = counts_of(codes, model)[-1]
    off = worst_difference(np.fromfile(job.output), np.concatenate([part.ravel() for part in model]))
    text = f"from {first:.3f} to {log_likelihood:.3f} nats; parameters agree with NumPy's to {off:.0e}"
    return Verdict(off <= NUMBERS_AGREE, text)


def judge_hmm_gram(job: Job, result: Result) -> Verdict:
    """Compute some entries anew: both strings are given by one trajectory."""
    del result
    initial, transition, emission = job.read_tables()

    def log_kernel(s: Codes, t: Codes) -> float:
        weights, log = initial, 0.0
        for i, (a, b) in enumerate(zip(s, t, strict=True)):
            weights = (weights @ transition if i else weights) * emission[:, a] * emission[:, b]
            log += float(np.log(weights.sum()))
            weights = weights / weights.sum()
        return log

    return judge_entries(job, log_kernel)


def judge_pair_hmm_gram(job: Job, result: Result) -> Verdict:
    del result
    model = job.read_tables()
    return judge_entries(job, lambda s, t: log_pair_kernel(model, s, t))


def log_pair_kernel(model: Sequence[Array], s: Codes, t: Codes) -> float:
    """Return the logarithm of 12.1.5's sum, in logarithms, over the cells (i, j) of one i + j after another.

    The vectors are of the states about to be visited after i and j symbols; visits without a symbol are summed by the
    inverse of I - S T.
    """
    initial, transition, emission, final = model
    emission, empty = emission[:, :-1], emission[:, -1]
    closure = np.linalg.inv(np.eye(len(initial)) - (empty**2)[:, None] * transition)
    moves = transition @ closure
    n, m = len(s), len(t)
    with np.errstate(divide="ignore"):
        of_s, of_t, silent = np.log(emission.T[s]), np.log(emission.T[t]), np.log(empty)
        before = np.full(
            (n + 1, len(initial)), -np.inf
        )  # at i: the cell (i, i' - 1 - i); the one at hand is i' = i + j
        latest = before.copy()
        latest[0] = np.log(initial @ closure)
        visits = before
        for total in range(1, n + m + 1):
            i = np.arange(max(0, total - m), min(n, total) + 1)
            j = total - i
            both, only_s, only_t = (np.full((len(i), len(initial)), -np.inf) for _ in range(3))
            up, left = i > 0, j > 0
            on = up & left
            both[on] = before[i[on] - 1] + of_s[i[on] - 1] + of_t[j[on] - 1]
            only_s[up] = latest[i[up] - 1] + of_s[i[up] - 1] + silent
            only_t[left] = latest[i[left]] + of_t[j[left] - 1] + silent
            visits = np.logaddexp(np.logaddexp(both, only_s), only_t)
            before, latest = latest, np.full_like(latest, -np.inf)
            latest[i] = log_times(visits, moves)
        return float(log_times(visits, (final + moves @ (empty**2 * final))[:, None])[0, 0])


def log_times(logs: Array, matrix: Array) -> Array:
    """Return log(exp(logs) @ matrix)."""
    most = logs.max(axis=1, keepdims=True)
    most[np.isneginf(most)] = 0.0
    product: Array = most + np.log(np.exp(logs - most) @ matrix)
    return product


def judge_tree_gram(job: Job, result: Result) -> Verdict:
    """Compute some entries anew: both profiles are given by one history of the inner nodes."""
    del result
    root, transition, emission = job.read_tables()

    def below(node: Sequence[Any], s: Codes, t: Codes) -> Array:
        """Return the probability of what is below a node, by its state."""
        value = np.ones(len(root))
        for item in node:
            leaf = isinstance(item, int)
            value = value * (emission[:, s[item]] * emission[:, t[item]] if leaf else transition @ below(item, s, t))
        return value

    return judge_entries(job, lambda s, t: float(np.log(root @ below(job.tree, s, t))))


def judge_entries(job: Job, log_kernel: Callable[[Codes, Codes], float]) -> Verdict:
    """Hold random entries of a matrix of logarithms, or the one that there is, against a kernel."""
    codes, found = job.read_codes(), np.fromfile(job.output)
    if found.size == 1:
        expected, got = [log_kernel(codes[0], codes[1])], found
        told = f"log k = {found[0]:.3f} agrees"
    else:
        entries = job.entries()
        expected = [log_kernel(codes[i], codes[j]) for i, j in entries]
        got = found.reshape(job.n_rows, job.n_rows)[tuple(entries.T)]
        told = f"{len(entries)} logarithms, mean {got.mean():.3f}, agree"
    off = worst_difference(got, expected)
    return Verdict(off <= NUMBERS_AGREE, f"{told} with NumPy's to {off:.0e}")
