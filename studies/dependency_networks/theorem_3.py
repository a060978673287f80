"""Where the random scan ends, and Theorem 3's bound: FC(p || pi) <= sum_i c_i KL(p || E(theta_i))."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import fishernet as fn
from studies.dependency_networks.markdown import short
from studies.dependency_networks.measures import (
    conditional_divergence,
    exact_kl,
    rows_conditional_divergence,
    stationary,
    truth_to_manifolds,
)
from studies.dependency_networks.truths import Array, Truth
from studies.markdown import table

SEED = 401
LARGEST_JOINT = 2**16  # states up to which the library's own compare functions are used


@dataclass(frozen=True)
class Ending:
    """The stationary distribution pi of one learned network; all without sampling noise, in nats."""

    truth: str
    n_rows: int
    kl: float
    """KL(pi || p*), from where the sampler ends to the truth."""
    divergence: float
    """FC(p* || pi), Theorem 3's left side for the truth."""
    bound: float
    """Its right side."""
    training_divergence: float
    """FC(p~ || pi), the left side for the training rows p~."""
    training_bound: float
    """Its right side."""
    inconsistency: float
    """The mean of KL(pi || E(theta_i)), 0 if and only if a joint distribution has these conditionals."""


def ending(truth: Truth, n: int) -> Ending:
    """Learn from n rows and compute where the sampler ends."""
    rows = truth.model.sample(n, seed=SEED)
    dn = fn.learn.dependency_network(rows)
    pi = stationary(dn)
    p = truth.joint()
    if pi.size > LARGEST_JOINT:
        left, inconsistent = conditional_divergence(p, pi), mean_to_manifolds(pi, dn)
        of_training = rows_conditional_divergence(rows, pi)
    else:
        left = fn.compare.full_conditional_divergence(p, pi)
        inconsistent = float(np.mean([fn.compare.kl_to_manifold(pi, dn, name) for name in dn.names]))
        of_training = fn.compare.full_conditional_divergence(rows, pi)
    right = float(truth_to_manifolds(truth, dn).mean())
    right_of_training = float(np.mean([fn.compare.kl_to_manifold(rows, dn, name) for name in dn.names]))
    kl = exact_kl(pi, truth)
    return Ending(truth.name, n, kl, left, right, of_training, right_of_training, inconsistent)


def mean_to_manifolds(pi: Array, dn: fn.DependencyNetwork) -> float:
    """Return the mean of KL(pi || E(theta_i)) by projecting on each (Theorem 2): no list of the states."""
    total = 0.0
    for name in dn.names:
        total += float((pi * np.log(pi / fn.compare.m_project(pi, dn, name))).sum())
    return total / len(dn.names)


def endings(truths: list[Truth], sizes: list[int]) -> list[Ending]:
    """Learn from every size of every truth."""
    return [ending(truth, n) for truth in truths for n in sizes]


def ending_table(found: list[Ending]) -> str:
    """Return both sides of the theorem."""
    heads = [
        "truth",
        "training rows",
        "KL(pi, p\\*)",
        "FC(p\\*, pi)",
        "bound",
        "FC(training, pi)",
        "bound",
        "inconsistency",
    ]
    rows = []
    for at in found:
        figures = (at.kl, at.divergence, at.bound, at.training_divergence, at.training_bound, at.inconsistency)
        rows.append([at.truth, f"{at.n_rows:,}", *map(short, figures)])
    return table(heads, rows)
