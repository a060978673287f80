"""What clamping answers, and what conditioning the free stationary distribution would (P2, 2.4.1 and section 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

import fishernet as fn
from studies.dependency_networks.markdown import short
from studies.dependency_networks.truths import Array, Truth
from studies.markdown import table

SEED = 601
EVIDENCE = (1, 2)


@dataclass(frozen=True)
class Gap:
    """One piece of evidence v; divergences over the other variables, in nats."""

    probability: float
    """p*(v)."""
    between: float
    """KL(pi(. | v) || pi_v): 0 if conditioning and clamping agree."""
    of_conditioning: float
    """KL(p*(. | v) || pi(. | v))."""
    of_clamping: float
    """KL(p*(. | v) || pi_v)."""


def evidence(n: int, size: int) -> Iterator[dict[int, int]]:
    """Yield every assignment of so many binary variables."""
    for where in combinations(range(n), size):
        for states in product((0, 1), repeat=size):
            yield dict(zip(where, states, strict=True))


def conditioned(joint: Array, given: dict[int, int]) -> tuple[Array, float]:
    """Return a joint distribution given some states, and their probability."""
    part = joint[tuple(given.get(v, slice(None)) for v in range(joint.ndim))]
    return part / part.sum(), float(part.sum())


def gaps(truth: Truth, dn: fn.DependencyNetwork, size: int) -> list[Gap]:
    """Compare both ways of answering, for every piece of evidence on so many variables."""
    p, pi = truth.joint(), fn.infer.stationary(dn)
    found = []
    for given in evidence(len(dn.names), size):
        exact, probability = conditioned(p, given)
        free, _ = conditioned(pi, given)
        clamped = fn.infer.stationary(dn, given={dn.names[v]: dn.variables[v].states[k] for v, k in given.items()})
        kl = fn.compare.kl
        found.append(Gap(probability, kl(free, clamped), kl(exact, free), kl(exact, clamped)))
    return found


def gap_table(truth: Truth, sizes: list[int]) -> str:
    """Return means weighted by p*(v) and the worst, for learned networks and the truth's own conditionals."""
    learned = [
        (f"learned, {n:,} rows", fn.learn.dependency_network(truth.model.sample(n, seed=SEED)), EVIDENCE) for n in sizes
    ]
    consistent = ("the truth's own conditionals", fn.DependencyNetwork.from_joint(truth.model), EVIDENCE[:1])
    rows = []
    for called, dn, of in (*learned, consistent):
        for size in of:
            found = gaps(truth, dn, size)
            shares = np.array([one.probability for one in found])
            shares = shares / shares.sum()
            between = np.array([one.between for one in found])
            fields = ("between", "of_conditioning", "of_clamping")
            means = [float(shares @ [getattr(one, field) for one in found]) for field in fields]
            rows.append([called, size, short(means[0]), short(float(between.max())), *map(short, means[1:])])
    heads = [
        "network",
        "clamped variables",
        "mean KL(conditioned, clamped)",
        "largest",
        "mean KL(truth, conditioned)",
        "mean KL(truth, clamped)",
    ]
    return table(heads, rows)
