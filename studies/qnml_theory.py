"""How far qNML's penalty stays from that of exact NML on many rows, for graphs of up to four variables.

The penalty of exact NML is ``k / 2 log(n / 2 pi)`` and the logarithm of the integral of the root of the determinant of
the information, and less and less beside it (Rissanen, IEEE Transactions on Information Theory 42, 1996). Of a Bayesian
network the root is a product over families, so that the integral is a normalizer of Dirichlet distributions with
parameters 1/2 times a mean under these. qNML's penalty is made of such expansions itself; all that grows with n is the
same in both, and a constant of the graph and of the numbers of states is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations, product

import numpy as np
from scipy.special import gammaln

import fishernet as fn
from studies.study import Array, Run, Seeds, Table

SEEDS = Seeds({"gap limits": 4234})
DRAWS, CHUNK = 100_000, 10_000
Parents = tuple[tuple[int, ...], ...]
"""Of every variable; only variables before it."""


def classes(n: int) -> list[Parents]:
    """Return a graph of every class of equivalent graphs of n variables, up to the variables' names.

    Two graphs are equivalent if and only if skeleton and v-structures are the same.
    """
    pairs = list(combinations(range(n), 2))
    known: dict[tuple[frozenset[frozenset[int]], frozenset[tuple[frozenset[int], int]]], Parents] = {}
    for chosen in product((False, True), repeat=len(pairs)):
        arcs = [pair for pair, there in zip(pairs, chosen, strict=True) if there]
        skeleton = {frozenset(arc) for arc in arcs}
        structures = [
            (frozenset((a, b)), c)
            for (a, c), (b, d) in combinations(arcs, 2)
            if c == d and frozenset((a, b)) not in skeleton
        ]
        forms = (
            (
                frozenset(frozenset(name[v] for v in edge) for edge in skeleton),
                frozenset((frozenset(name[v] for v in pair), name[c]) for pair, c in structures),
            )
            for name in permutations(range(n))
        )
        parents = tuple(tuple(a for a, b in arcs if b == v) for v in range(n))
        same = next((form for form in forms if form in known), (frozenset(skeleton), frozenset(structures)))
        if same not in known or inexact(parents) < inexact(known[same]):
            known[same] = parents
    return sorted(known.values(), key=lambda parents: (sum(map(len, parents)), parents))


def inexact(parents: Parents) -> int:
    """Return how many parents have parents of their own that their child lacks: then draws are weighted unequally."""
    return sum(not set(parents[v]) <= set(of) for of in parents for v in of)


def arrows(parents: Parents) -> str:
    """Return the arcs as text: ``A>B B>C``."""
    letters = "ABCDEFGH"
    return " ".join(f"{letters[p]}>{letters[v]}" for v, of in enumerate(parents) for p in of) or "no arcs"


def dag(parents: Parents) -> fn.Dag:
    """Return the graph of the library."""
    names = "ABCDEFGH"[: len(parents)]
    return fn.Dag.from_edges(list(names), [(names[p], names[v]) for v, of in enumerate(parents) for p in of])


def log_volume(k: float) -> float:
    """Return the logarithm of the integral of Jeffreys's density over distributions of k states."""
    return k / 2 * float(np.log(np.pi)) - float(gammaln(k / 2))


def limit(parents: Parents, r: int, draws: int = DRAWS) -> tuple[float, float]:
    """Return what qNML's penalty is above that of exact NML on many rows, and the standard error of its estimate.

    The mean under Dirichlet distributions is taken over weighted draws from others that the product favours.
    """
    q = [r ** len(of) for of in parents]
    known = sum(log_volume(of * r) - log_volume(of) - of * log_volume(r) for of in q)
    alpha = [favoured(parents, r, v) for v in range(len(parents))]
    needed = {u for of in parents for u in of}
    rng, weights = np.random.default_rng([SEEDS["gap limits"], r, *map(len, parents)]), []
    for _ in range(0, draws, CHUNK):
        log_weight, joint = np.zeros(CHUNK), np.ones((CHUNK,))
        for v, of in enumerate(parents):
            if of:
                summed = joint.sum(axis=tuple(1 + u for u in range(v) if u not in of)).reshape(CHUNK, -1)
                log_weight += (r - 1) / 2 * np.log(summed).sum(axis=1)
            if v not in needed:
                joint = joint[..., None] * np.full(r, 1 / r)  # nobody asks
                continue
            theta = rng.dirichlet(np.full(r, alpha[v]), size=(CHUNK, q[v]))
            log_weight += (0.5 - alpha[v]) * np.log(theta).sum(axis=(1, 2))
            log_weight += q[v] * (_log_beta(alpha[v], r) - _log_beta(0.5, r))
            place = (CHUNK, *(r if u in of else 1 for u in range(v)), r)
            joint = joint[..., None] * theta.reshape(place)
        weights.append(log_weight)
    return _limit(known, np.concatenate(weights))


def _limit(known: float, log_weights: Array) -> tuple[float, float]:
    shift = float(log_weights.max())
    w = np.exp(log_weights - shift)
    return known - shift - float(np.log(w.mean())), float(w.std(ddof=1) / w.mean() / np.sqrt(len(w)))


def _log_beta(a: float, r: int) -> float:
    return float(r * gammaln(a) - gammaln(r * a))


def favoured(parents: Parents, r: int, v: int) -> float:
    """Return the Dirichlet parameter to draw with: 1/2 and a share of the exponents of the children's families.

    Where a family's parents are a clique that begins with v and its own, this is exact.
    """
    alpha = 0.5
    for of in parents:
        if v in of:
            share = 1.0 if set(parents[v]) <= set(of) else 0.5
            alpha += share * (r - 1) / 2 * r ** len(of) / r ** (len(parents[v]) + 1)
    return alpha


def union_of_tournaments(parents: Parents) -> bool:
    """Whether any two neighbours of a variable are adjacent."""
    adjacent = {frozenset((p, v)) for v, of in enumerate(parents) for p in of}
    triples = permutations(range(len(parents)), 3)
    return all(
        frozenset((a, c)) in adjacent
        for a, b, c in triples
        if frozenset((a, b)) in adjacent and frozenset((b, c)) in adjacent
    )


def limits(run: Run) -> Iterator[Table]:
    """Return the limits of all classes of three and of four variables of two and of three states."""
    rows = []
    for n in run.choose((3,), (3, 4)):
        for parents in classes(n):
            union = union_of_tournaments(parents)
            cells = []
            for r in (2, 3):
                value, error = (0.0, 0.0) if union else limit(parents, r, run.choose(CHUNK, DRAWS))
                sure = error < 1e-12  # all draws had the same weight
                cells.append(value if union or sure else {"mean": value, "error": error})
            rows.append([n, f"`{arrows(parents)}`", "yes" if union else "no", *cells])
    heads = ["variables", "graph", "union of tournaments", "2 states", "3 states"]
    yield Table("gap-limits", heads, rows, ["", "", "", ".4f", ".4f"])
