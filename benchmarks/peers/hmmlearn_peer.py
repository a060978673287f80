"""The worker of hmmlearn: forward and backward, expected counts and Baum-Welch of a categorical model.

Its two implementations, with scaled numbers and with logarithms (its default), are forms. Expected counts come from the
step of its fit (`_do_estep`), for there is no public call.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hmmlearn.hmm import CategoricalHMM  # type: ignore[import-untyped, import-not-found, unused-ignore]

from benchmarks.workers.job import Job, Result, main
from benchmarks.workers.timing import measure


def model_of(job: Job) -> Any:
    """Return the job's model; its fit makes steps of maximum likelihood, all that are asked for."""
    initial, transition, emission = job.read_tables()
    model = CategoricalHMM(
        len(initial), implementation=job.form, init_params="", params="ste", n_iter=job.steps, tol=-np.inf
    )
    model.n_features = emission.shape[1]
    model.startprob_, model.transmat_, model.emissionprob_ = initial, transition, emission
    return model


def symbols_of(job: Job) -> tuple[np.ndarray, np.ndarray]:
    """Return the symbols of all strings one after another, and the strings' lengths."""
    codes = job.read_codes()
    return np.ascontiguousarray(codes, dtype=np.int64).reshape(-1, 1), np.full(len(codes), codes.shape[1])


def forward_backward(job: Job) -> Result:
    symbols, lengths = symbols_of(job)
    timing = measure(lambda: model_of(job), lambda model: model.score_samples(symbols, lengths), repeats=job.repeats)
    log_likelihood, posteriors = timing.answer
    np.concatenate([[log_likelihood], posteriors.ravel()]).tofile(job.output)
    return timing.as_result() | {"note": "score_samples"}


def expected_counts(job: Job) -> Result:
    symbols, lengths = symbols_of(job)

    def expect(model: Any) -> Any:
        model._check()
        return model._do_estep(symbols, lengths)

    timing = measure(lambda: model_of(job), expect, repeats=job.repeats)
    counts, log_likelihood = timing.answer
    parts = (np.array([log_likelihood]), counts["start"], counts["trans"], counts["obs"])
    np.concatenate([part.ravel() for part in parts]).tofile(job.output)
    return timing.as_result() | {"note": "the first half of a step of its fit, all strings together"}


def baum_welch(job: Job) -> Result:
    symbols, lengths = symbols_of(job)
    timing = measure(lambda: model_of(job), lambda model: model.fit(symbols, lengths), repeats=job.repeats)
    model = timing.answer
    assert model.monitor_.iter == job.steps
    parts = (model.startprob_, model.transmat_, model.emissionprob_)
    np.concatenate([part.ravel() for part in parts]).tofile(job.output)
    return timing.as_result() | {"note": f"expects {job.steps} times"}


if __name__ == "__main__":
    main({"forward_backward": forward_backward, "expected_counts": expected_counts, "baum_welch": baum_welch})
