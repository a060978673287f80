"""Our tasks on Gaussian columns: FMPL's graphs, and the network of a graph."""

from __future__ import annotations

import numpy as np

import fishernet as fn
from benchmarks.workers.job import Job, Result, digest
from benchmarks.workers.timing import measure

RULES = ("and", "or", "hc")


def gaussian_graph(job: Job) -> Result:
    """Learn all three graphs; the answer is the last."""
    numbers = job.read_numbers()
    timing = measure(
        numbers.copy, lambda rows: [fn.learn.gaussian_graph(rows, rule=rule) for rule in RULES], repeats=job.repeats
    )
    found = [[list(others) for others in graph.adjacency] for graph in timing.answer]
    return timing.as_result() | {
        "adjacency": found[-1],
        "digest": digest(np.array([v for graph in found for others in graph for v in [-1, *others]])),
        "note": "three graphs (AND, OR, HC), each from the rows; the edges are HC's",
    }


def gaussian_network(job: Job) -> Result:
    """Fit the precision with the zeros of the graph."""
    numbers = job.read_numbers()
    names = [f"v{v}" for v in range(job.n_columns)]
    graph = fn.UndirectedGraph(names, job.parents)
    timing = measure(numbers.copy, lambda rows: fn.learn.gaussian_network(rows, graph), repeats=job.repeats)
    precision = timing.answer.precision
    precision.tofile(job.output)
    return timing.as_result() | {"digest": digest(precision)}


TASKS = {"gaussian_graph": gaussian_graph, "gaussian_network": gaussian_network}
