"""hmmlearn: forward and backward, expected counts and Baum-Welch, of a categorical and of a Gaussian model.

All are run scaled and in logarithms.

Expected counts come from the step of its fit (`_do_estep`), for there is no public call.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hmmlearn.hmm import CategoricalHMM, GaussianHMM  # type: ignore[import-untyped, import-not-found, unused-ignore]

from benchmarks.calls import Call, Data

Handed = tuple[Any, np.ndarray, np.ndarray]


def hand(data: Data, way: str) -> Handed:
    """Return the model, whose fit makes the steps that are asked for, the symbols of all strings, and their lengths."""
    steps, n = data.options["steps"], len(data.tables[0])
    model = CategoricalHMM(n, implementation=way, init_params="", params="ste", n_iter=steps, tol=-np.inf)
    model.startprob_, model.transmat_, model.emissionprob_ = data.tables
    model.n_features = data.cardinalities[0]
    model._check()
    symbols = np.ascontiguousarray(data.rows, dtype=np.int64).reshape(-1, 1)
    return model, symbols, np.full(len(data.rows), data.rows.shape[1])


def hand_numbers(data: Data, way: str) -> Handed:
    """Return a model of numbers, whose fit makes the steps that are asked for without a prior, and the numbers."""
    how = {"init_params": "", "n_iter": data.options["steps"], "tol": -np.inf, "implementation": way}
    model = GaussianHMM(len(data.tables[0]), "diag", covars_prior=0, covars_weight=1, **how)
    model.startprob_, model.transmat_, means, sd = data.tables
    model.n_features, model.means_, model.covars_ = 1, means[:, None], sd[:, None] ** 2
    return model, data.rows.reshape(-1, 1), np.full(len(data.rows), data.rows.shape[1])


def flat(*parts: Any) -> np.ndarray:
    return np.concatenate([np.ravel(part) for part in parts])


def told_counts(found: Any, _: Data) -> np.ndarray:
    counts, log_likelihood = found
    return flat(log_likelihood, counts["start"], counts["trans"], counts["obs"])


def calls(way: str) -> dict[str, Call]:
    def hand_over(data: Data) -> Handed:
        return hand(data, way)

    def hand_numbers_over(data: Data) -> Handed:
        return hand_numbers(data, way)

    return {
        f"forward_backward {way}": Call(hand_over, lambda h: h[0].score_samples(*h[1:]), lambda found, _: flat(*found)),
        f"expected_counts {way}": Call(hand_over, lambda h: h[0]._do_estep(*h[1:]), told_counts),
        f"baum_welch {way}": Call(
            hand_over, lambda h: h[0].fit(*h[1:]), lambda m, _: flat(m.startprob_, m.transmat_, m.emissionprob_)
        ),
        f"gaussian_baum_welch {way}": Call(
            hand_numbers_over,
            lambda h: h[0].fit(*h[1:]),
            lambda m, _: flat(m.startprob_, m.transmat_, m.means_, np.sqrt(m.covars_)),
        ),
    }


CALLS = calls("scaling") | calls("log")
