"""What is known of an answer, and what every check needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import fishernet as fn
from benchmarks.workers.job import Job

NUMBERS_AGREE = 1e-9


@dataclass(frozen=True)
class Verdict:
    """What is known of an answer."""

    right: bool
    text: str


def table_of(job: Job) -> fn.Table:
    variables = [fn.Variable(name, range(r)) for name, r in zip(job.names, job.cardinalities, strict=True)]
    return fn.Table.from_codes(job.read_codes(), variables)


def graph_of(job: Job) -> fn.Dag:
    return fn.Dag(job.names, [tuple(row) for row in job.parents])


def fitted_of(job: Job) -> fn.BayesianNetwork:
    """Return the network of a job's graph, fitted to its table."""
    return fn.learn.parameters(graph_of(job), table_of(job), smoothing=job.smoothing)


def worst_difference(found: npt.ArrayLike, expected: npt.ArrayLike) -> float:
    """Return the largest difference, relative where numbers exceed 1; NaN counts as infinitely far."""
    a, b = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    difference = np.abs(a - b) / np.maximum(1.0, np.abs(b))
    return float(np.nan_to_num(difference, nan=np.inf).max(initial=0.0))
