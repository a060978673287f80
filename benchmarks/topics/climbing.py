"""Hill climbing from the empty graph, without a bound on the number of parents; search over orders beside it.

Greedy searches break ties differently and rightly end at different tops. So a graph's BIC, computed by ours, must lie
within 2 % of the best found, and no arc that is added, taken out or turned may improve it. pgmpy's search keeps a
tabu list, so only the first half is asked of it. With two threads pyAgrum becomes many times slower as soon as
another process wants one of the cores; hence the forms that are run beside an endless loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import fishernet as fn
from benchmarks import sources
from benchmarks.calls import Call, Data
from benchmarks.environment import HELD, OURS
from benchmarks.race import Race, Run, Target, Told, Verdict, below, calls_of, difference, faster, memory, same, within

TITLE = "Hill climbing"
PEERS = same("hill_climb", "pyAgrum", "pgmpy", "bnlearn")
Parents = tuple[tuple[int, ...], ...]


def search(score: Any = "bic", search: Any = "hill-climb", **more: Any) -> Call:
    """Return a search; its answer is the graph, its score and the name of the score."""
    return Call(
        lambda data: fn.Table.from_codes(data.rows),
        lambda table: fn.learn.structure(table, score=score, search=search, **more),
        lambda found, _: (found.dag.parents, found.score, score),
    )


def total(data: Data, parents: Parents, score: Any = "bic") -> float:
    return fn.score(fn.Dag(data.names, parents), sources.table_of(data), score)


def best_gain(data: Data, parents: Parents, score: Any) -> float:
    """Return what a climb from a graph would gain: nothing where no single change betters it."""
    start = fn.Dag(data.names, parents)
    found = fn.learn.structure(sources.table_of(data), score=score, search="hill-climb", start=start)
    return found.score - total(data, parents, score)


def graph_in(answer: Any) -> Parents:
    """Return the graph of an answer; that of a search of ours has its score beside it."""
    return tuple(tuple(row) for row in (answer[0] if isinstance(answer[-1], str) else answer))


def is_scored(told: Told) -> Verdict:
    """Score the graph anew."""
    parents, said, score = told.answer
    off = difference(said, total(told.data, parents, score))
    return off <= 1e-9, f"{sum(map(len, parents))} arcs, {said:.3f}, scored anew to {off:.0e}"


def is_top(told: Told) -> Verdict:
    """Judge a graph by the best one found, and by what a single change would do."""
    parents, score = graph_in(told.answer), told.answer[-1] if isinstance(told.answer[-1], str) else "bic"
    rivals = told.answers.values() if score == "bic" else [told.answer]
    value, most = total(told.data, parents, score), max(total(told.data, graph_in(a), score) for a in rivals)
    short, gain = (most - value) / abs(most), best_gain(told.data, parents, score)
    right = short <= 0.02 and (gain <= 1e-9 * abs(value) or told.label == "pgmpy")
    text = f"{sum(map(len, parents))} arcs, {value:.3f}, {short:.2%} below the best; a climb from it gains {gain:.3g}"
    return right, text


def above_truth(runs: Sequence[Run]) -> float:
    """Return by how much the score exceeds that of the graph that the rows were drawn from."""
    truth = total(sources.alarm(100_000), sources.network_of("", sources.repository("alarm")).parents)
    return min((run.result["answer"][1] - truth for run in runs if run.label == OURS and run.result), default=math.nan)


def climb(data: Callable[[], Data], times: float = 0, needs: str = "--quick", **more: Any) -> Race:
    """Return a race of plain climbs, in which ours is to be so many times as fast."""
    targets = ([faster(times, *PEERS)] if times else []) + ([] if needs else [memory(300e6)])
    return Race(data, CLIMB, is_top, PEERS, targets, needs=needs, **more)


def under_scores(data: Callable[[], Data]) -> Race:
    """Return a race of climbs under several scores; qNML is to cost little more than BIC."""
    calls = {f"fishernet ({score})": search(score) for score in ("bic", "qnml", "bdeu", "fnml", "k2")}
    target = within(1.5, "fishernet (qnml)", "fishernet (bic)")
    return Race(data, calls, is_top, targets=[target], title="under several scores")


CLIMB = Call(
    lambda data: fn.Table.from_codes(data.rows),
    lambda table: fn.learn.dag(table, score="bic", search="hill-climb"),
    lambda dag, _: dag.parents,
)
OURS_HELD = f"fishernet ({HELD})"
RACES = (
    climb(sources.letter_half, 5),
    climb(sources.nursery_half),
    climb(lambda: sources.alarm(5_000), 5),
    climb(lambda: sources.alarm(100_000), 20),
    climb(lambda: sources.alarm(1_000_000), 20, needs="", skipped={"pgmpy": "skipped (minutes; --full runs it)"}),
    climb(lambda: sources.sampled("25 binary", sources.binary_network(), 100_000), 20),
    Race(
        lambda: sources.alarm(100_000),
        {OURS: CLIMB, OURS_HELD: CLIMB},
        is_top,
        same("hill_climb", "pyAgrum", f"pyAgrum ({HELD})"),
        [within(2, OURS_HELD, OURS)],
        title="beside a process that holds a core",
    ),
    Race(
        lambda: sources.alarm(100_000),
        search(search="order"),
        is_top,
        same("hill_climb", "pyAgrum", "pgmpy"),
        [
            Target("not below the true graph", above_truth, lambda x: x >= 0, "{:+.3f}".format),
            faster(1, "pyAgrum", "pgmpy"),
        ],
        title="search over orders, beside the climbs of others",
    ),
    under_scores(sources.letter_half),
    under_scores(lambda: sources.alarm(10_000)),
    under_scores(lambda: sources.alarm(100_000)),
    Race(
        lambda: sources.sampled("2000 binary", sources.wide_network(2_000), 5_000),
        search(candidates=10),
        is_scored,
        targets=[below(10), memory(2e9)],
        title="10 candidates each",
    ),
)
CALLS = calls_of(RACES)
