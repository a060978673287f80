"""Whether a graph is right: by its BIC as *we* compute it.

Two searches may rightly end at different tops, so the BIC must lie near the best one found, and no single change may
improve it.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence

import fishernet as fn
from benchmarks.checks.verdict import NUMBERS_AGREE, Verdict, table_of
from benchmarks.workers.job import Job, Result

BIC_AGREES = 0.02
"""Share of the best BIC that a graph may fall short of it."""

Parents = tuple[tuple[int, ...], ...]


def best_gain(table: fn.Table, parents: Parents, score: str = "bic") -> float:
    """Return what the best single change of a graph would add to its score: 0 or less at the end of a hill climb.

    An arc is added, taken out or turned wherever no cycle comes of it.
    """
    names, above = [variable.name for variable in table.variables], ancestors(parents)

    @functools.cache
    def family(child: int, members: tuple[int, ...]) -> float:
        return fn.local_score(table, names[child], [names[i] for i in members], score)

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
