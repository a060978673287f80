"""The best network by looking at all of them, and by Silander and Myllymäki's five steps taken literally."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt

Local = Callable[[int, tuple[int, ...]], float]
Masks = npt.NDArray[np.int64]


@cache
def all_dags(n: int) -> Masks:
    """The parents of every variable in every DAG, as bit masks: (n_dags, n)."""
    choices = [[mask for mask in range(2**n) if not mask >> v & 1] for v in range(n)]
    parents = np.stack(np.meshgrid(*choices, indexing="ij"), axis=-1).reshape(-1, n)
    left = np.full(len(parents), 2**n - 1)
    for _ in range(n):
        for v in range(n):
            left[(parents[:, v] & left) == 0] &= ~(1 << v)
    acyclic: Masks = parents[left == 0]
    return acyclic


def members(mask: int) -> tuple[int, ...]:
    return tuple(v for v in range(mask.bit_length()) if mask >> v & 1)


def best_of_all(n: int, local: Local, allowed: Callable[[Masks], npt.NDArray[np.bool_]] | None = None) -> float:
    """The highest score of all DAGs (that are allowed)."""
    dags = all_dags(n)
    if allowed is not None:
        dags = dags[allowed(dags)]
    score = np.zeros(len(dags))
    for v in range(n):
        known = {mask: local(v, members(mask)) for mask in np.unique(dags[:, v]).tolist()}
        table = np.array([known.get(mask, -math.inf) for mask in range(2**n)])
        score += table[dags[:, v]]
    return float(score.max())


def best_by_subsets(n: int, local: Local) -> float:
    """The highest score by dynamic programming over subsets."""
    best_parents: list[dict[int, float]] = []
    for v in range(n):
        best: dict[int, float] = {}
        for candidates in range(2**n):
            if candidates >> v & 1:
                continue
            smaller = [best[candidates & ~(1 << p)] for p in members(candidates)]
            best[candidates] = max([local(v, members(candidates)), *smaller])
        best_parents.append(best)
    scores = [0.0]
    for subset in range(1, 2**n):
        without = [(s, subset & ~(1 << s)) for s in members(subset)]
        scores.append(max(scores[rest] + best_parents[s][rest] for s, rest in without))
    return scores[-1]


def useful_parent_sets(
    n: int, child: int, local: Local, allowed: Callable[[int], bool] = lambda _: True
) -> dict[int, float]:
    """The sets of parents, as masks, that are better than all of their subsets (within the allowed ones)."""
    sets = [mask for mask in range(2**n) if not mask >> child & 1 and allowed(mask)]
    best: dict[int, float] = {}
    useful: dict[int, float] = {}
    for mask in sorted(sets, key=int.bit_count):
        score = local(child, members(mask))
        below = max((best[other] for other in best if other & ~mask == 0), default=-math.inf)
        best[mask] = max(score, below)
        if score > below + 1e-8:
            useful[mask] = score
    return useful
