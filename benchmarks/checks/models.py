"""Whether numbers, samples and tables are right: by ours, by the network they come from, by every cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import fishernet as fn
from benchmarks.checks.verdict import NUMBERS_AGREE, Verdict, fitted_of, graph_of, table_of, worst_difference
from benchmarks.data import CsvFile
from benchmarks.workers.job import Job, Result, column_digest

GIBBS_AGREES = 0.25
"""How far a share may lie from its probability: near certainties hold a chain of alarm for thousands of firings."""
SAMPLES_AGREE = 5.0
"""Standard deviations that a frequency may lie from its probability."""
ENOUGH = 25.0
"""Expected rows on either side below which a frequency is not close to normal, and not judged."""


def reference(job: Job, result: Result) -> fn.BayesianNetwork:
    """Return our network for a job, with the prior that the contender used."""
    if result.get("used_ess"):
        return fn.learn.parameters(graph_of(job), table_of(job), ess=job.ess)
    return fitted_of(job)


def judge_fit(job: Job, result: Result) -> Verdict:
    tables = [conditional.table().ravel() for conditional in reference(job, result).conditionals]
    worst = max(worst_difference(found, ours) for found, ours in zip(result["tables"], tables, strict=True))
    return Verdict(worst <= NUMBERS_AGREE, f"agrees with ours to {worst:.0e}")


def judge_log_prob(job: Job, result: Result) -> Verdict:
    expected = reference(job, result).log_prob(table_of(job))
    worst = worst_difference(result["log_prob"], expected[: len(result["log_prob"])])
    return Verdict(worst <= NUMBERS_AGREE, f"agrees with ours to {worst:.0e}")


def judge_gibbs(job: Job, result: Result) -> Verdict:
    """Hold shares to what a chain of a network with near certainties leaves: it mixes slowly."""
    variables = [fn.Variable(name, range(r)) for name, r in zip(job.names, job.cardinalities, strict=True)]
    parents = {job.names[child]: [job.names[i] for i in row] for child, row in enumerate(job.parents)}
    net = fn.BayesianNetwork.from_tables(variables, parents, {v: job.table(i) for i, v in enumerate(job.names)})
    exact = [
        table.reshape(-1, r).sum(axis=0)[0]
        for table, r in zip(fn.infer.family_marginals(net), job.cardinalities, strict=True)
    ]
    worst = worst_difference(result["shares"], exact)
    return Verdict(worst <= GIBBS_AGREES, f"shares of first states within {worst:.2f} of the exact ones")


def farthest_frequency(job: Job, codes: npt.NDArray[Any]) -> float:
    """Return how many standard deviations the worst frequency lies from its probability.

    Every state of every variable is counted under every configuration of its parents; given the configuration's count
    it is binomial. A state that must not occur and does is infinitely far.
    """
    worst = 0.0
    for child, parents in enumerate(job.parents):
        shape, probabilities = job.shape(child), job.table(child)
        cell = np.ravel_multi_index([codes[:, i] for i in (*parents, child)], shape)
        counts = np.bincount(cell, minlength=probabilities.size).reshape(shape)
        if counts[probabilities == 0].any():
            return float("inf")
        totals = counts.sum(axis=-1, keepdims=True)
        expected = totals * probabilities
        judged = (expected >= ENOUGH) & (totals - expected >= ENOUGH)
        spread = np.sqrt(expected * (1 - probabilities))
        worst = max(worst, float(np.max(np.abs(counts - expected)[judged] / spread[judged], initial=0.0)))
    return worst


def judge_sample(job: Job, result: Result) -> Verdict:
    del result
    codes = job.read_codes()
    if (codes >= np.array(job.cardinalities)).any():
        return Verdict(False, "codes beyond the states")
    worst = farthest_frequency(job, codes)
    return Verdict(worst <= SAMPLES_AGREE, f"frequencies within {worst:.1f} sd")


def judge_reading(csv: CsvFile, result: Result) -> Verdict:
    if "shape" in result:
        return Verdict(tuple(result["shape"]) == csv.codes.shape, "rows and columns counted")
    return Verdict(result["digest"] == column_digest(list(csv.codes.T)), "every cell compared")
