"""Our tasks on numbers: the permutation test by nearest neighbours, and an undirected graph learned with it."""

from __future__ import annotations

import numpy as np

import fishernet as fn
from benchmarks.workers.job import Job, Result, digest
from benchmarks.workers.timing import measure


def knn_test(job: Job) -> Result:
    """Test the first two columns given the others."""
    numbers = job.read_numbers()
    timing = measure(
        lambda: (numbers[:, 0].copy(), numbers[:, 1].copy(), numbers[:, 2:].copy()),
        lambda spaces: fn.independence.knn_test(
            *spaces, k=job.k, permutations=job.permutations, scheme=job.scheme, seed=job.seed
        ),
        repeats=job.repeats,
    )
    found = timing.answer
    return timing.as_result() | {
        "statistic": found.statistic,
        "p_value": found.p_value,
        "digest": digest(np.array([found.statistic, found.p_value])),
    }


def markov_graph(job: Job) -> Result:
    """Learn with the test's defaults, which stop a test when its decision is certain."""
    numbers = job.read_numbers()
    timing = measure(
        numbers.copy,
        lambda rows: fn.learn.markov_blankets(rows, k=job.k, permutations=job.permutations, seed=job.seed),
        repeats=job.repeats,
    )
    found = timing.answer
    adjacency = [list(others) for others in found.graph().adjacency]
    return timing.as_result() | {
        "adjacency": adjacency,
        "digest": digest(np.array([v for others in adjacency for v in [-1, *others]])),
        "note": f"{found.n_tests} tests",
    }


TASKS = {"knn_test": knn_test, "markov_graph": markov_graph}
