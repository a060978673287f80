"""Whether answers on Gaussian columns are right."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import betaln, gammaln

from benchmarks.checks.verdict import Verdict
from benchmarks.workers.job import Job, Result

N_CHANGES = 300
TIE = 1e-6
GRADIENT = 1e-8


def judge_gaussian_graph(job: Job, result: Result) -> Verdict:
    """Count the edges that are not the true graph's; of ours, that taking any out or changing its place is no gain."""
    adjacency = [set(others) for others in result["adjacency"]]
    found, truth = (
        {(i, j) for i, others in enumerate(of) for j in others if i < j} for of in (result["adjacency"], job.parents)
    )
    said = f"{len(found)} edges, {len(found ^ truth)} of them and of the true {len(truth)} differ"
    if "digest" not in result:  # the peer's graph has no score of ours
        return Verdict(True, said)
    rows = job.read_numbers()
    centred = rows - rows.mean(axis=0)
    products = centred.T @ centred
    edges = np.array(sorted(found))
    chosen = edges[np.random.default_rng(job.seed).permutation(len(edges))[:N_CHANGES]]
    gains = [gain_without(products, job.n_rows, adjacency, int(i), int(j)) for i, j in chosen]
    most = max(gains, default=-math.inf)
    return Verdict(
        most < TIE, f"{said}; without any of {len(gains)} edges the score falls, by {-most:.2f} at the least"
    )


def gain_without(products: npt.NDArray[np.float64], n: int, adjacency: list[set[int]], i: int, j: int) -> float:
    """Return what the score gains when an edge is taken out."""
    d = len(adjacency)
    return sum(local(products, n, d, v, adjacency[v] - {i, j}) - local(products, n, d, v, adjacency[v]) for v in (i, j))


def local(products: npt.NDArray[np.float64], n: int, d: int, v: int, blanket: set[int]) -> float:
    """Return P4's Eq. 3.6 for one column, in logarithms, with the prior on the blanket's size."""
    p, of = len(blanket), sorted(blanket)
    family = [*of, v]
    logs = [np.linalg.slogdet(products[np.ix_(s, s)])[1] if s else 0.0 for s in (family, of)]
    gammas = gammaln((n + p) / 2) - gammaln((p + 1) / 2)
    score = (
        -(n - 1) / 2 * math.log(math.pi) + gammas - (2 * p + 1) / 2 * math.log(n) - (n - 1) / 2 * (logs[0] - logs[1])
    )
    return float(score + betaln(0.5 + p, 0.5 + d - 1 - p) - betaln(0.5, 0.5))


def judge_gaussian_network(job: Job, result: Result) -> Verdict:
    """Hold the precision against what makes it the maximum: its inverse is the covariance on the edges."""
    del result
    rows, d = job.read_numbers(), job.n_columns
    precision = np.fromfile(job.output).reshape(d, d)
    joined = np.eye(d, dtype=bool)
    for v, others in enumerate(job.parents):
        joined[v, list(others)] = True
    covariance = np.cov(rows.T, bias=True)
    scales = np.sqrt(np.diag(covariance))
    off = np.abs((np.linalg.inv(precision) - covariance) / np.outer(scales, scales))[joined].max()
    zeros = not precision[~joined].any()
    return Verdict(
        bool(zeros and off < GRADIENT), f"the covariance on the edges to {off:.0e} of the scales; zeros elsewhere"
    )
