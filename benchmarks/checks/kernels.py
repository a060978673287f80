"""Whether entries of a kernel matrix are right: each is computed anew, naively."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import fishernet as fn
from benchmarks.checks.verdict import NUMBERS_AGREE, Verdict, fitted_of, worst_difference
from benchmarks.workers.job import Job, Result

Array = npt.NDArray[np.float64]


def judge_gram(job: Job, result: Result) -> Verdict:
    """Judge the entries that a matrix told, each by what it should be made of."""
    codes, pairs = job.read_codes(), job.entries()
    equal = (codes[pairs[:, 0]] == codes[pairs[:, 1]]).sum(axis=1)
    if result["kind"] == "equal":
        expected, by = equal.astype(np.float64), "the number of equal cells"
    elif result["kind"] == "unequal":
        expected, by = 1 - equal / codes.shape[1], "the share of unequal cells"
    else:
        net = fitted_of(job)
        of_parents = [parent_probabilities(net, child) for child in range(len(net.variables))]
        expected = np.array([theorem_1(net, of_parents, codes[a], codes[b]) for a, b in pairs])
        by = "P1, Theorem 1, computed naively"
    worst = worst_difference(result["entries"], expected)
    return Verdict(worst <= NUMBERS_AGREE, f"{len(pairs)} entries agree with {by} to {worst:.0e}")


def theorem_1(net: fn.BayesianNetwork, of_parents: Sequence[Array], x: Sequence[int], y: Sequence[int]) -> float:
    """Return K(x, y) case by case, as P1 prints it."""
    total = 0.0
    for child, conditional in enumerate(net.conditionals):
        of_x, of_y = (tuple(int(row[p]) for p in conditional.parents) for row in (x, y))
        if of_x != of_y:
            continue
        p, theta = of_parents[child][of_x], conditional.table()[(*of_x, int(x[child]))]
        total += (1 - theta) / theta / p if x[child] == y[child] else -1 / p
    return total


def parent_probabilities(net: fn.BayesianNetwork, child: int) -> Array:
    """Return P(parents), one axis a parent, by summing the product of all tables (NumPy chooses the order)."""
    operands: list[Any] = []
    for conditional in net.conditionals:
        operands += [conditional.table(), [*conditional.parents, conditional.child]]
    return np.asarray(np.einsum(*operands, list(net.conditionals[child].parents), optimize="greedy"))
