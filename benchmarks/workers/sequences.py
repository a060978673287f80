"""Our tasks on sequences: forward and backward, Baum-Welch, and kernels of strings and of profiles.

Strings are handed over as `str`; turning them into codes is part of the call.
"""

from __future__ import annotations

import string
from typing import Any

import numpy as np

import fishernet as fn
from benchmarks.workers.job import Job, Result, digest
from benchmarks.workers.timing import Timing, measure

LETTERS = string.ascii_uppercase

Handed = tuple[fn.HiddenMarkovModel, list[str]]


def strings_of(job: Job) -> list[str]:
    return ["".join(LETTERS[code] for code in row) for row in job.read_codes().tolist()]


def model_of(job: Job) -> fn.HiddenMarkovModel:
    initial, transition, emission, *final = job.read_tables()
    empty = emission.shape[1] > job.cardinalities[0]
    alphabet = LETTERS[: job.cardinalities[0]]
    stops = final[0] if final else None
    return fn.HiddenMarkovModel(initial, transition, emission, alphabet=alphabet, final=stops, empty=empty)


def tree_of(job: Job) -> fn.HiddenTree:
    root, transition, emission = job.read_tables()
    return fn.HiddenTree(list(job.tree), root, transition, emission, alphabet=LETTERS[: job.cardinalities[0]])


def forward_backward(job: Job) -> Result:
    """Tell the log-likelihood and the posteriors of all symbols' states."""
    strings = strings_of(job)

    def both(handed: Handed) -> tuple[list[np.ndarray], np.ndarray]:
        hmm, given = handed
        return hmm.posterior(given, return_log_prob=True)

    timing = measure(lambda: (model_of(job), strings), both, repeats=job.repeats)
    posteriors, logs = timing.answer
    found = np.concatenate([[logs.sum()], np.concatenate(posteriors).ravel()])
    return told(job, timing, found)


def expected_counts(job: Job) -> Result:
    """Tell the log-likelihood and how often each parameter is expected to be used, all strings together."""
    strings = strings_of(job)
    timing = measure(
        lambda: (model_of(job), strings), lambda handed: handed[0].expected_counts(handed[1]), repeats=job.repeats
    )
    total = timing.answer.total()
    parts = (total.log_prob, total.initial, total.transition, total.emission)
    note = "counts of each string; here they are summed for the check"
    return told(job, timing, np.concatenate([part.ravel() for part in parts])) | {"note": note}


def baum_welch(job: Job) -> Result:
    """Make so many steps of maximum likelihood."""
    strings = strings_of(job)

    def fit(start: fn.HiddenMarkovModel) -> fn.HiddenMarkovModel:
        found = fn.learn.baum_welch(strings, start=start, smoothing=0.0, max_steps=job.steps, tolerance=0.0)
        assert len(found.trace) == job.steps + 1
        return found.model

    timing = measure(lambda: model_of(job), fit, repeats=job.repeats)
    model = timing.answer
    found = np.concatenate([part.ravel() for part in (model.initial, model.transition, model.emission)])
    return told(job, timing, found) | {
        "note": f"expects {job.steps + 1} times: the last model's likelihood is told too"
    }


def hmm_gram(job: Job) -> Result:
    strings = strings_of(job)
    timing = measure(
        lambda: fn.kernels.HmmKernel(model_of(job), log=True), lambda kernel: kernel(strings), repeats=job.repeats
    )
    return told_matrix(job, timing)


def pair_hmm_gram(job: Job) -> Result:
    """Tell the matrix of all pairs, or where there are two strings only the value of the pair."""
    strings = strings_of(job)

    def compare(kernel: fn.kernels.PairHmmKernel) -> np.ndarray:
        return kernel(strings[:1], strings[1:]) if len(strings) == 2 else kernel(strings)

    timing = measure(lambda: fn.kernels.PairHmmKernel(model_of(job), log=True), compare, repeats=job.repeats)
    return told_matrix(job, timing)


def tree_gram(job: Job) -> Result:
    strings = strings_of(job)
    timing = measure(
        lambda: fn.kernels.HiddenTreeKernel(tree_of(job), log=True),
        lambda kernel: kernel(strings),
        repeats=job.repeats,
    )
    return told_matrix(job, timing)


def told(job: Job, timing: Timing[Any], found: np.ndarray) -> Result:
    found.tofile(job.output)
    return timing.as_result() | {"digest": digest(found)}


def told_matrix(job: Job, timing: Timing[np.ndarray]) -> Result:
    matrix = timing.answer
    note = "logarithms"
    if matrix.size > 1:  # all pairs of one set: a symmetric matrix
        each = float(np.median(timing.seconds)) / (len(matrix) * (len(matrix) + 1) // 2)
        note += f"; {each * 1e6:.3g} us a pair"
    matrix.tofile(job.output)
    return timing.as_result() | {"digest": digest(matrix), "note": note}


TASKS = {
    "forward_backward": forward_backward,
    "expected_counts": expected_counts,
    "baum_welch": baum_welch,
    "hmm_gram": hmm_gram,
    "pair_hmm_gram": pair_hmm_gram,
    "tree_gram": tree_gram,
}
