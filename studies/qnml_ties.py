"""What the rule for equal scores does to the networks that are learned from few rows.

Of networks with the same score the one with fewer parents, with more, or any at random can be taken. Scores of all
families are computed once; a bonus far below any difference of scores then decides between equal ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import fishernet as fn
from studies.qnml_data import CRITERIA, NAN, network, networks, published
from studies.study import Array, Run, Seeds, Table, mean

SEEDS = Seeds({"tie rules": 4235})
BONUS = 1e-6
RULES = ("fewer", "random", "more")
TIED, SIZES = ("Earthquake", "Asia", "Cancer", "Survey"), (10, 30, 100, 300)


@cache
def families(n: int) -> tuple[list[tuple[int, int]], Array]:
    """Return every variable with every set of parents, a bit each, and how many parents these are."""
    every = [(v, mask) for v in range(n) for mask in range(1 << n) if not mask >> v & 1]
    return every, np.array([mask.bit_count() for _, mask in every], dtype=np.float64)


def scores_of(rows: fn.Table, criterion: str) -> Array:
    """Return the scores of all families, [variable, set of parents]; -inf where a variable is its own parent."""
    names, n = rows.names, len(rows.names)
    options: dict[str, Any] = {"ess": 1.0} if criterion == "BDeu" else {}
    table = np.full((n, 1 << n), -np.inf)
    for v, mask in families(n)[0]:
        parents = [name for u, name in enumerate(names) if mask >> u & 1]
        table[v, mask] = fn.local_score(rows, names[v], parents, score=criterion.lower(), **options)  # type: ignore[arg-type]
    return table


def best(scores: Array, names: Sequence[str]) -> fn.Dag:
    """Return the network with the largest sum: best parents in every set, then the best last variable of every set."""
    n, size = scores.shape
    value, chosen = scores.copy(), np.tile(np.arange(size), (n, 1))
    masks = np.arange(size)
    for u in range(n):
        with_u = masks[(masks >> u & 1) == 1]
        without = with_u ^ (1 << u)
        better = value[:, without] > value[:, with_u]
        value[:, with_u] = np.where(better, value[:, without], value[:, with_u])
        chosen[:, with_u] = np.where(better, chosen[:, without], chosen[:, with_u])
    total, last = np.zeros(size), np.zeros(size, dtype=np.int64)
    for mask in range(1, size):
        ends = [v for v in range(n) if mask >> v & 1]
        sums = [total[mask ^ 1 << v] + value[v, mask ^ 1 << v] for v in ends]
        last[mask], total[mask] = ends[int(np.argmax(sums))], max(sums)
    arcs, mask = [], size - 1
    while mask:
        v = int(last[mask])
        mask ^= 1 << v
        arcs += [(names[u], names[v]) for u in range(n) if int(chosen[v, mask]) >> u & 1]
    return fn.Dag.from_edges(list(names), arcs)


def bonuses(n: int, rng: np.random.Generator) -> Mapping[str, Array]:
    """Return what each rule adds to the scores of families."""
    count = np.array([mask.bit_count() for mask in range(1 << n)], dtype=np.float64)
    return {"fewer": -BONUS * count, "random": BONUS * rng.random((n, 1 << n)), "more": BONUS * count}


def by_rule(name: str, path: Path | None, n_rows: int, repetition: int, criteria: Sequence[str]) -> list[list[int]]:
    """Return the distance to the true network, [score, rule], of one data set with its columns in random order."""
    truth, rng = network(name, path), np.random.default_rng([SEEDS["tie rules"], n_rows, repetition])
    rows = truth.sample(n_rows, seed=rng)
    rows = rows.select(rng.permutation(rows.names).tolist())
    found = []
    for criterion in criteria:
        scores = scores_of(rows, criterion)
        added = bonuses(len(rows.names), rng)
        found.append([fn.shd(best(scores + added[rule], rows.names), truth.dag) for rule in RULES])
    return found


def tie_rules(run: Run) -> Iterator[Table]:
    """Learn by every rule; all scores on Earthquake, fNML alone on the others."""
    known, there = published(run), networks(run)
    sets, rows = run.choose(5, 100), list[list[Any]]()
    for name in (name for name in TIED if name in there):
        criteria = CRITERIA if name == TIED[0] else ("fNML",)
        for n in SIZES:
            number = sets // 5 if name == "Asia" else sets  # its families are thirteen times as many
            tasks = [(name, there[name], n, r, criteria) for r in range(number)]
            found = np.array(list(run.map(by_rule, tasks)))
            for k, criterion in enumerate(criteria):
                printed = known.get((name, n), NAN)[CRITERIA.index(criterion)]
                cells = [mean(found[:, k, r]) for r in range(len(RULES))]
                rows.append([name, n, criterion, len(tasks), *cells, None if np.isnan(printed) else float(printed)])
    heads = ["network", "rows", "score", "sets", "fewer parents", "random", "more parents", "published"]
    yield Table("tie-rules", heads, rows)
