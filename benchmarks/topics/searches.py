"""What stands on many searches or scores: the best graph of all, local scores of all small families, edges' strengths.

Neither hill climbing nor the search over orders comes above an exact graph. Random ones of the local scores are
computed one by one. Strengths of edges lie within five standard deviations of their shares among samples that NumPy
draws.
"""

from __future__ import annotations

import functools
from itertools import chain, combinations

import numpy as np

import fishernet as fn
from benchmarks.calls import Call, Data
from benchmarks.race import Race, Told, Verdict, below, calls_of, difference
from benchmarks.sources import alarm, mixed_network, sampled, table_of
from benchmarks.topics.climbing import is_scored, search, total

TITLE = "Exact search, local scores and strengths of edges"
MOST_PARENTS, N_SAMPLES, N_OTHERS = 4, 200, 100


@functools.cache
def families(n: int) -> fn.scores.Families:
    """Return all families of at most so many parents, child after child, smaller sets first."""
    sets = [list(combinations(range(n - 1), size)) for size in range(MOST_PARENTS + 1)]
    places = np.fromiter(chain.from_iterable(chain.from_iterable(sets)), np.int32)  # among the others
    sizes = np.tile(np.repeat(range(MOST_PARENTS + 1), [len(of) for of in sets]), n)
    children = np.repeat(np.arange(n, dtype=np.int32), len(sizes) // n)
    parents = [places + (places >= child) for child in range(n)]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return fn.scores.Families(children, offsets, np.concatenate(parents).astype(np.int32))


def local_scores(score: str) -> Call:
    """Return a call that counts and scores all small families of a table of which nothing is known yet."""

    def hand(data: Data) -> tuple[fn.scores.LocalScores, fn.scores.Families]:
        source = fn.data.as_source(fn.Table.from_codes(data.rows))
        return fn.scores.LocalScores(source, fn.scores.named_score(score)), families(len(data.cardinalities))

    return Call(hand, lambda handed: handed[0](handed[1]), lambda found, _: (found, score))


def is_best(told: Told) -> Verdict:
    """Hold the best graph to what other searches find."""
    right, text = is_scored(told)
    (value, score), table = told.answer[1:], table_of(told.data)
    others = [fn.learn.dag(table, score=score, search=name).parents for name in ("hill-climb", "order")]
    short = [value - total(told.data, parents, score) for parents in others]
    text += f"; hill climbing stays {short[0]:.3f} below, search over orders {short[1]:.3f}"
    return right and min(short) >= -1e-9 * abs(value), text


def are_scores(told: Told) -> Verdict:
    """Compute random ones of the scores one by one."""
    (found, score), table, names = told.answer, table_of(told.data), told.data.names
    of = families(len(names))
    asked = np.random.default_rng(0).integers(len(of.children), size=200).tolist()
    parents = [[names[p] for p in of.parents[of.offsets[f] : of.offsets[f + 1]]] for f in asked]
    alone = [fn.local_score(table, names[of.children[f]], row, score) for f, row in zip(asked, parents, strict=True)]
    off = difference(found[asked], alone)
    return off <= 1e-9 and len(found) == len(of.children), f"200 of {len(found)} computed one by one to {off:.0e}"


def are_shares(told: Told) -> Verdict:
    """Hold the strengths against shares of samples that NumPy draws; each is learned from by hill climbing."""
    rows, strength, rng = told.data.rows, told.answer[0], np.random.default_rng(1)
    joined = np.zeros(strength.shape)
    for _ in range(N_OTHERS):
        table = fn.Table.from_codes(rows[rng.integers(len(rows), size=len(rows))])
        for head, tails in enumerate(fn.learn.dag(table, score="bic", search="hill-climb").parents):
            joined[list(tails), head] += 1
            joined[head, list(tails)] += 1
    pooled = (joined + strength * N_SAMPLES + 1) / (N_OTHERS + N_SAMPLES + 2)
    spread = np.sqrt(pooled * (1 - pooled) * (1 / N_OTHERS + 1 / N_SAMPLES))
    apart = float(np.max(np.abs(joined / N_OTHERS - strength) / spread))
    return apart <= 5, f"shares within {apart:.1f} sd of those of {N_OTHERS} other samples"


STRENGTHS = Call(
    lambda data: fn.Table.from_codes(data.rows),
    lambda table: fn.learn.edge_strengths(table, N_SAMPLES, score="bic", search="hill-climb", seed=1),
    lambda found, _: (found.strength, found.direction),
)


def exact(n: int, score: str, seconds: float, needs: str = "--quick") -> Race:
    """Return a race for the best graph of all; fNML prunes least."""
    title, targets = f"best graph of all, {score}", [below(seconds)] if seconds else []

    def data() -> Data:
        return sampled(f"{n} of 2 to 4 states", mixed_network(n), 10_000)

    return Race(data, search(score, "exact"), is_best, targets=targets, title=title, needs=needs)


def small_families(score: str) -> Race:
    title = f"families of up to {MOST_PARENTS} parents, {score}"
    return Race(lambda: alarm(10_000), local_scores(score), are_scores, targets=[below(6)], title=title)


RACES = (
    exact(20, "fnml", 6),
    exact(20, "bic", 0),
    exact(25, "fnml", 480, "--full"),
    small_families("fnml"),
    small_families("bic"),
    Race(lambda: alarm(10_000), STRENGTHS, are_shares, title=f"strengths of edges, {N_SAMPLES} samples"),
)
CALLS = calls_of(RACES)
