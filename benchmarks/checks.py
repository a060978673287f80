"""Whether an answer is right.

Two searches may rightly end at different tops, so graphs are judged by their BIC as *we* compute it: it must lie near
the best one found, and no single change may improve it. Numbers are judged by ours to 1e-9, samples by the network they
come from, a table that was read by every cell.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import fishernet as fn
from benchmarks.data import CsvFile
from benchmarks.workers.job import Job, Result, column_digest

NUMBERS_AGREE = 1e-9
SAMPLES_AGREE = 5.0
"""Standard deviations that a frequency may lie from its probability."""
ENOUGH = 25.0
"""Expected rows on either side below which a frequency is not close to normal, and not judged."""
BIC_AGREES = 0.02
"""Share of the best BIC that a graph may fall short of it."""


Parents = tuple[tuple[int, ...], ...]


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


def best_gain(table: fn.Table, parents: Parents) -> float:
    """Return what the best single change of a graph would add to its BIC: 0 or less at the end of a hill climb.

    An arc is added, taken out or turned wherever no cycle comes of it.
    """
    names, above = [variable.name for variable in table.variables], ancestors(parents)

    @functools.cache
    def family(child: int, members: tuple[int, ...]) -> float:
        return fn.local_score(table, names[child], [names[i] for i in members], "bic")

    def gain(child: int, members: tuple[int, ...]) -> float:
        return family(child, members) - family(child, parents[child])

    def changes() -> Iterator[float]:
        for tail, head in itertools.permutations(range(len(names)), 2):
            without = tuple(i for i in parents[head] if i != tail)
            if tail in parents[head]:
                yield gain(head, without)
                if not any(tail in above[i] for i in without):
                    yield gain(head, without) + gain(tail, tuple(sorted((*parents[tail], head))))
            elif head not in above[tail]:
                yield gain(head, tuple(sorted((*parents[head], tail))))

    return max(changes(), default=0.0)


def ancestors(parents: Parents) -> list[set[int]]:
    """Return the ancestors of every variable of an acyclic graph, itself left out."""
    found: dict[int, set[int]] = {}

    def above(i: int) -> set[int]:
        if i not in found:
            found[i] = set(parents[i]).union(*(above(parent) for parent in parents[i]))
        return found[i]

    return [above(i) for i in range(len(parents))]


def judge_graphs(job: Job, results: Sequence[Result | None]) -> list[Verdict | None]:
    """Judge the graphs that several searches found on one table.

    A search with a tabu list may stop where a change that it forbids would still gain something: not held against it.
    """
    table = table_of(job)
    found = [None if result is None else tuple(tuple(row) for row in result["parents"]) for result in results]
    graphs = list(dict.fromkeys(parents for parents in found if parents is not None))
    values = {parents: fn.score(fn.Dag(job.names, parents), table, "bic") for parents in graphs}
    gains = {parents: best_gain(table, parents) for parents in graphs}
    best = max(values.values(), default=0.0)
    return [
        None
        if parents is None or result is None
        else judge_graph(parents, values[parents], gains[parents], best, tabu=result.get("tabu", False))
        for parents, result in zip(found, results, strict=True)
    ]


def judge_graph(parents: Parents, value: float, gain: float, best: float, *, tabu: bool) -> Verdict:
    short, at_top = (best - value) / abs(best), gain <= NUMBERS_AGREE * abs(value)
    text = f"{sum(map(len, parents))} arcs, BIC {value:.3f}, "
    text += "the best found" if short < NUMBERS_AGREE else f"{short:.2%} below the best"
    text += "" if at_top else f", a single change would gain {gain:.3g}"
    return Verdict(short <= BIC_AGREES and (at_top or tabu), text)


def worst_difference(found: npt.ArrayLike, expected: npt.ArrayLike) -> float:
    """Return the largest difference, relative where numbers exceed 1; NaN counts as infinitely far."""
    a, b = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    difference = np.abs(a - b) / np.maximum(1.0, np.abs(b))
    return float(np.nan_to_num(difference, nan=np.inf).max(initial=0.0))


def reference(job: Job, result: Result) -> fn.BayesianNetwork:
    """Return our network for a job, with the prior that the contender used."""
    dag, table = graph_of(job), table_of(job)
    if result.get("used_ess"):
        return fn.learn.parameters(dag, table, ess=job.ess)
    return fn.learn.parameters(dag, table, smoothing=job.smoothing)


def judge_fit(job: Job, result: Result) -> Verdict:
    tables = [conditional.table().ravel() for conditional in reference(job, result).conditionals]
    worst = max(worst_difference(found, ours) for found, ours in zip(result["tables"], tables, strict=True))
    return Verdict(worst <= NUMBERS_AGREE, f"agrees with ours to {worst:.0e}")


def judge_log_prob(job: Job, result: Result) -> Verdict:
    expected = reference(job, result).log_prob(table_of(job))
    worst = worst_difference(result["log_prob"], expected[: len(result["log_prob"])])
    return Verdict(worst <= NUMBERS_AGREE, f"agrees with ours to {worst:.0e}")


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
