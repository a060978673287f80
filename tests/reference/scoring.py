"""Scores of families from their definitions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

from fishernet import Table


def log_likelihood(table: Table, child: int, parents: Sequence[int]) -> float:
    """sum_jk N_jk log (N_jk / N_j)."""
    joint: Counter[tuple[int, ...]] = Counter()
    parent: Counter[tuple[int, ...]] = Counter()
    for row in range(table.n_rows):
        weight = 1 if table.weights is None else int(table.weights[row])
        j = tuple(int(table.codes[p][row]) for p in parents)
        joint[(*j, int(table.codes[child][row]))] += weight
        parent[j] += weight
    return math.fsum(n * math.log(n / parent[cell[:-1]]) for cell, n in joint.items() if n)


def n_parameters(table: Table, child: int, parents: Sequence[int]) -> int:
    """(r - 1) times the product of the parents' cardinalities."""
    return (table.cardinalities[child] - 1) * math.prod(table.cardinalities[p] for p in parents)


def total_weight(table: Table) -> int:
    return table.n_rows if table.weights is None else int(table.weights.sum())


PENALIZED: dict[str, Callable[[int], float]] = {
    "loglik": lambda n: 0.0,
    "aic": lambda n: 1.0,
    "bic": lambda n: 0.5 * math.log(max(1, n)),
    "hqc": lambda n: math.log(math.log(n)) if n > math.e else 0.0,
}


def family_score(table: Table, child: int, parents: Sequence[int], name: str, **options: float) -> float:
    """A family's score by name."""
    if name in PENALIZED:
        price = PENALIZED[name](total_weight(table))
        return log_likelihood(table, child, parents) - price * n_parameters(table, child, parents)
    return OTHERS[name](table, child, parents, **options)


def cell_counts(table: Table, members: Sequence[int]) -> Counter[tuple[int, ...]]:
    """How often each cell of some variables occurs; one that does not is not there."""
    counts: Counter[tuple[int, ...]] = Counter()
    for row in range(table.n_rows):
        weight = 1 if table.weights is None else int(table.weights[row])
        if weight:
            counts[tuple(int(table.codes[v][row]) for v in members)] += weight
    return counts


def log_dirichlet(counts: Sequence[int], pseudo_counts: Sequence[float]) -> float:
    """log of the marginal likelihood of counts under a Dirichlet distribution, one draw after the other."""
    total, drawn, terms = math.fsum(pseudo_counts), 0, []
    for n, a in zip(counts, pseudo_counts, strict=True):
        for k in range(n):
            terms.append(math.log((a + k) / (total + drawn)))
            drawn += 1
    return math.fsum(terms)


def by_configuration(table: Table, child: int, parents: Sequence[int]) -> list[list[int]]:
    """The counts of the child's states in every configuration of the parents that occurs."""
    r = table.cardinalities[child]
    found: dict[tuple[int, ...], list[int]] = {}
    for cell, n in cell_counts(table, [*parents, child]).items():
        found.setdefault(cell[:-1], [0] * r)[cell[-1]] = n
    return list(found.values())


def bdeu(table: Table, child: int, parents: Sequence[int], ess: float = 1.0) -> float:
    """Dirichlet with ess / (r q) a cell, in every configuration."""
    r, q = table.cardinalities[child], math.prod(table.cardinalities[p] for p in parents)
    return math.fsum(log_dirichlet(row, [ess / (r * q)] * r) for row in by_configuration(table, child, parents))


def k2(table: Table, child: int, parents: Sequence[int]) -> float:
    """Dirichlet with 1 a cell, in every configuration."""
    r = table.cardinalities[child]
    return math.fsum(log_dirichlet(row, [1.0] * r) for row in by_configuration(table, child, parents))


def bdq(table: Table, child: int, parents: Sequence[int], alpha: float = 1.0) -> float:
    """The quotient of two Dirichlet marginal likelihoods with alpha a cell."""

    def of_set(members: Sequence[int]) -> float:
        cells = math.prod(table.cardinalities[v] for v in members)
        counts = list(cell_counts(table, members).values())
        return log_dirichlet([*counts, *[0] * (cells - len(counts))], [alpha] * cells)

    return of_set([*parents, child]) - of_set(parents)


def fnml(table: Table, child: int, parents: Sequence[int]) -> float:
    """P4, Eq. 4.6."""
    r = table.cardinalities[child]
    penalty = math.fsum(naive_regret(sum(row), r) for row in by_configuration(table, child, parents))
    return log_likelihood(table, child, parents) - penalty


def qnml(table: Table, child: int, parents: Sequence[int]) -> float:
    """P4, Eq. 4.10."""
    n, q = total_weight(table), math.prod(table.cardinalities[p] for p in parents)
    penalty = naive_regret(n, q * table.cardinalities[child]) - naive_regret(n, q)
    return log_likelihood(table, child, parents) - penalty


OTHERS: dict[str, Callable[..., float]] = {"bdeu": bdeu, "k2": k2, "bdq": bdq, "fnml": fnml, "qnml": qnml}


@cache
def naive_regret(n: int, r: int) -> float:
    """log sum_k n_(k) (r - 1)^(k) / (n^k k!), in fractions."""
    term = total = Fraction(1)
    for k in range(n):
        term *= Fraction((n - k) * (r - 1 + k), n * (k + 1))
        total += term
    return math.log(total.numerator) - math.log(total.denominator)
