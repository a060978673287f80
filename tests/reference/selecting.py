"""P1, Algorithm 1, taken literally: the criterion is computed from nothing for every candidate."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.special
import scipy.stats

import fishernet as fn
from tests.reference.fisher import rows_of, weights_of

ROUNDING = 1e-12

Criterion = Callable[[Sequence[int]], float]


class Found(NamedTuple):
    indices: list[int]
    trace: list[float]
    sweeps: int


def algorithm_1(n_rows: int, start: Sequence[int], criterion: Criterion) -> Found:
    """Visit the positions in order; ties go to the lowest row, and a change must lower the criterion."""
    chosen = [int(row) for row in start]
    value = criterion(chosen)
    trace = [value]
    sweeps = 0
    changed = True
    while changed:
        changed = False
        sweeps += 1
        for position in range(len(chosen)):
            tried = {row: criterion(swapped(chosen, position, row)) for row in range(n_rows) if row not in chosen}
            if not tried:
                continue
            best = min(tried.values())
            row = min(row for row, d in tried.items() if d <= best + ROUNDING * max(1, best))
            if value - tried[row] > ROUNDING * abs(value):
                chosen = swapped(chosen, position, row)
                value = tried[row]
                trace.append(value)
                changed = True
    return Found(chosen, trace, sweeps)


def swapped(chosen: Sequence[int], position: int, row: int) -> list[int]:
    return [*chosen[:position], row, *chosen[position + 1 :]]


def lowest_of_swaps(n_rows: int, chosen: Sequence[int], criterion: Criterion) -> float:
    """The smallest criterion that one swap reaches; infinity when there is none."""
    others = [row for row in range(n_rows) if row not in chosen]
    swaps = (swapped(chosen, position, row) for position in range(len(chosen)) for row in others)
    return min(map(criterion, swaps), default=math.inf)


# ------------------------------------------------------------------------------------------------------ the criteria


def mmd_to(gram: npt.NDArray[np.float64], weights: Sequence[int] | None = None) -> Criterion:
    """P1, Eq. 10 between chosen rows, once each, and the whole table, whose rows may count more than once.

    In integers, so that only the kernel itself is rounded: equal rows tie exactly.
    """
    n = len(gram)
    w = [1] * n if weights is None else list(weights)
    unit = 2**300  # every double of a kernel is a whole number of these
    K = [[int(Fraction(value) * unit) for value in row] for row in gram.tolist()]
    across = [sum(v * k for v, k in zip(w, row, strict=True)) for row in K]
    whole = sum(v * row for v, row in zip(w, across, strict=True))
    total = sum(w)

    def distance(chosen: Sequence[int]) -> float:
        k = len(chosen)
        within = sum(K[a][b] for a in chosen for b in chosen)
        d = within * total**2 + whole * k**2 - 2 * sum(across[a] for a in chosen) * k * total
        return float(Fraction(d, unit * k**2 * total**2))

    return distance


def chi_square_to(table: fn.Table) -> Criterion:
    """P1, 7.1: minus the sum of the logarithms of the p values, a test a variable (ERRATA P1.11)."""
    columns = rows_of(table).T.tolist()
    weights = weights_of(table)

    def criterion(chosen: Sequence[int]) -> float:
        total = 0.0
        for column in columns:
            counts: dict[int, int] = {}
            for state, weight in zip(column, weights, strict=True):
                counts[state] = counts.get(state, 0) + weight
            seen = {state: count for state, count in counts.items() if count}
            observed = [column[row] for row in chosen]
            statistic = Fraction(0)
            for state, count in seen.items():
                expected = Fraction(len(chosen) * count, sum(weights))
                statistic += (observed.count(state) - expected) ** 2 / expected
            total -= log_survival(float(statistic), len(seen) - 1)
        return total

    return criterion


def log_survival(statistic: float, dof: int) -> float:
    """log P(chi-square > statistic): a finite sum (behind erfc when dof is odd), which does not underflow."""
    if dof == 0 or statistic == 0:
        return 0.0
    if statistic < dof:  # near log 1 the sum would cancel
        return math.log1p(-float(scipy.stats.chi2.cdf(statistic, dof)))
    half = statistic / 2
    if dof % 2 == 0:
        scaled = math.fsum(half**i / math.factorial(i) for i in range(dof // 2))
    else:
        tail = (half ** (i - 0.5) / math.gamma(i + 0.5) for i in range(1, (dof + 1) // 2))
        scaled = math.fsum([float(scipy.special.erfcx(math.sqrt(half))), *tail])
    return math.log(scaled) - half
