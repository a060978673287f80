"""P1's kernels from their definitions: loops over variables, rows and states."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

import fishernet as fn
from fishernet.models import Conditional, FullTable, MergedTable

Rows = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
T = TypeVar("T")


class AnyKernel(Protocol):
    """What every kernel can do."""

    def __call__(self, X: Any, Y: Any = None) -> Floats: ...
    def diag(self, X: Any) -> Floats: ...


class WithoutFeatures:
    """A kernel that gives its values and nothing else."""

    def __init__(self, kernel: AnyKernel) -> None:
        self._kernel = kernel

    def __call__(self, X: Any, Y: Any = None) -> Floats:
        return self._kernel(X, Y)

    def diag(self, X: Any) -> Floats:
        return self._kernel.diag(X)


def rows_of(table: fn.Table) -> Rows:
    """(n_rows, n_variables) codes."""
    return np.stack([column.astype(np.int64) for column in table.codes], axis=1)


def weights_of(table: fn.Table) -> list[int]:
    return [1] * table.n_rows if table.weights is None else table.weights.tolist()


# ------------------------------------------------------------------------------------------------ the distribution


def all_rows(net: fn.BayesianNetwork) -> Rows:
    return np.array(list(itertools.product(*(range(v.cardinality) for v in net.variables))), dtype=np.int64)


def joint(net: fn.BayesianNetwork) -> Floats:
    """The probability of each of `all_rows`: the product of the tables."""
    tables = [c.table() for c in net.conditionals]
    return np.array(
        [
            math.prod(t[(*row[list(c.parents)], row[c.child])] for c, t in zip(net.conditionals, tables, strict=True))
            for row in all_rows(net)
        ]
    )


def possible_rows(net: fn.BayesianNetwork, most: int | None = None) -> Rows:
    """The rows of positive probability, or as many of them, spread over all."""
    rows = all_rows(net)[joint(net) > 0]
    if most is None or len(rows) <= most:
        return rows
    return np.asarray(rows[np.linspace(0, len(rows) - 1, most).astype(int)])


def groups_of(conditional: Conditional) -> dict[tuple[int, ...], int]:
    """The group of every configuration of the parents."""
    sizes = [variable.cardinality for variable in conditional.variables[:-1]]
    groups = {}
    for group in range(len(conditional.probabilities)):
        for box in conditional.contexts(group):
            axes = [box.get(p, range(size)) for p, size in zip(conditional.parents, sizes, strict=True)]
            groups.update(dict.fromkeys(itertools.product(*axes), group))
    return groups


def row_groups(conditional: Conditional, rows: Rows) -> list[int]:
    groups = groups_of(conditional)
    return [groups[tuple(row)] for row in rows[:, list(conditional.parents)].tolist()]


def group_probabilities(net: fn.BayesianNetwork) -> list[Floats]:
    """P(pi_i = j), by enumeration: one array a variable, by group."""
    rows, p = all_rows(net), joint(net)
    found = []
    for c in net.conditionals:
        of_group = np.zeros(len(c.probabilities))
        np.add.at(of_group, row_groups(c, rows), p)
        found.append(of_group)
    return found


# ------------------------------------------------------------------------------------------------------- the kernel


def theorem_1(net: fn.BayesianNetwork, X: Rows, Y: Rows) -> Floats:
    """K_i(x, y) case by case as P1, Eq. 2 prints them, (n_variables, n, m)."""
    probabilities = group_probabilities(net)
    terms = np.zeros((len(net.variables), len(X), len(Y)))
    for i, c in enumerate(net.conditionals):
        of_x, of_y = row_groups(c, X), row_groups(c, Y)
        for a, b in itertools.product(range(len(X)), range(len(Y))):
            p, theta = probabilities[i][of_x[a]], c.probabilities[of_x[a], X[a, i]]
            if of_x[a] != of_y[b]:
                terms[i, a, b] = 0
            elif X[a, i] != Y[b, i]:
                terms[i, a, b] = -1 / p
            else:
                terms[i, a, b] = 1 / p * (1 - theta) / theta
    return terms


def definition_1(net: fn.BayesianNetwork, X: Rows, Y: Rows) -> Floats:
    """s(x)^T I^-1 s(y), block by block; all probabilities must be positive."""
    first, second = net.fisher_scores(X), net.fisher_scores(Y)
    gram = np.zeros((len(X), len(Y)))
    at = 0
    for block in (block for of_variable in net.fisher_information() for block in of_variable):
        columns = slice(at, at + len(block))
        gram += first[:, columns] @ np.linalg.solve(block, second[:, columns].T)
        at += len(block)
    assert at == net.n_parameters
    return gram


def scale(gram_of_x: Floats, gram_of_y: Floats) -> Floats:
    """sqrt(K(x, x) K(y, y)), which rounding is measured by."""
    return np.sqrt(np.outer(np.diag(gram_of_x), np.diag(gram_of_y)))


# --------------------------------------------------------------------------------------------------------- of tables


def mean_of_pairs(gram: Floats, first: list[int], second: list[int]) -> float:
    """The average of K over all pairs (P1, 6.1); a row counts as often as its weight says."""
    pairs = itertools.product(range(len(first)), range(len(second)))
    total = math.fsum(first[a] * second[b] * gram[a, b] for a, b in pairs)
    return total / (sum(first) * sum(second))


def set_kernel(kernel: Callable[[fn.Table, fn.Table], Floats], X: fn.Table, Y: fn.Table) -> float:
    return mean_of_pairs(kernel(X, Y), weights_of(X), weights_of(Y))


def squared_mmd(kernel: Callable[[fn.Table, fn.Table], Floats], X: fn.Table, Y: fn.Table) -> float:
    """P1, Eq. 10."""
    return set_kernel(kernel, X, X) + set_kernel(kernel, Y, Y) - 2 * set_kernel(kernel, X, Y)


def set_kernel_of_counts(net: fn.BayesianNetwork, X: fn.Table, Y: fn.Table) -> float:
    """P1, 6.2, last but one line: sum_j 1 / P(j) (sum_k N_ijk M_ijk / theta_ijk - N_ij M_ij), over N M."""
    total = 0.0
    for c, probabilities in zip(net.conditionals, group_probabilities(net), strict=True):
        n, m = family_counts(c, X), family_counts(c, Y)
        for group, p in enumerate(probabilities):
            states = range(c.probabilities.shape[1])
            alike = math.fsum(n[group, k] * m[group, k] / c.probabilities[group, k] for k in states)
            total += (alike - sum(n[group, k] for k in states) * sum(m[group, k] for k in states)) / p
    return total / (sum(weights_of(X)) * sum(weights_of(Y)))


def family_counts(conditional: Conditional, table: fn.Table) -> Counter[tuple[int, int]]:
    """N_ijk by (group, state)."""
    rows = rows_of(table)
    counts: Counter[tuple[int, int]] = Counter()
    states = rows[:, conditional.child].tolist()
    for group, state, weight in zip(row_groups(conditional, rows), states, weights_of(table), strict=True):
        counts[group, state] += weight
    return counts


# ------------------------------------------------------------------------------------------------ networks and tables


def merged_network(seed: int) -> fn.BayesianNetwork:
    """Three variables, the last with two parents whose six configurations share three rows."""
    rng = np.random.default_rng(seed)
    variables = [fn.Variable(f"v{i}", [f"s{k}" for k in range(r)]) for i, r in enumerate((2, 3, 4))]
    group_of = rng.permutation([0, 0, 1, 1, 1, 2]).reshape(2, 3)
    conditionals: list[Conditional] = [
        FullTable(0, (), variables[:1], rng.dirichlet([2, 2], size=1)),
        FullTable(1, (0,), variables[:2], rng.dirichlet([2, 2, 2], size=2)),
        MergedTable(2, (0, 1), variables, group_of, rng.dirichlet([2, 2, 2, 2], size=3)),
    ]
    return fn.BayesianNetwork(variables, conditionals)


def repeated(table: fn.Table) -> fn.Table:
    """The table with every row as often as its weight says."""
    rows = np.repeat(rows_of(table), weights_of(table), axis=0)
    return fn.Table.from_codes(rows, table.variables)


def network_with_a_covered_arc(seed: int, cardinalities: list[int]) -> fn.BayesianNetwork:
    """Every variable has up to two parents, but one has the one before it and that one's parents."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(cardinalities))
    covered = int(rng.integers(1, len(order)))
    parents: dict[int, list[int]] = {}
    for place, v in enumerate(order.tolist()):
        size = rng.integers(0, min(place, 2) + 1)
        parents[v] = rng.choice(order[:place], size=size, replace=False).tolist()
        if place == covered:
            parents[v] = rng.permutation([*parents[int(order[place - 1])], order[place - 1]]).tolist()
    variables = [fn.Variable(f"v{v}", range(r)) for v, r in enumerate(cardinalities)]
    tables = {
        f"v{v}": rng.dirichlet(np.full(cardinalities[v], 2.0), size=[cardinalities[p] for p in of] or None)
        for v, of in parents.items()
    }
    return fn.BayesianNetwork.from_tables(
        variables, {f"v{v}": [f"v{p}" for p in of] for v, of in parents.items()}, tables
    )


def covered_arcs(net: fn.BayesianNetwork) -> list[tuple[int, int]]:
    parents = [set(c.parents) for c in net.conditionals]
    return [(i, j) for j, of in enumerate(parents) for i in sorted(of) if of == parents[i] | {i}]


def turned(net: fn.BayesianNetwork, i: int, j: int) -> fn.BayesianNetwork:
    """The same distribution with the covered arc i -> j turned: P(i, j | Z), factored the other way (appendix C)."""
    first, second = net.conditionals[i], net.conditionals[j]
    axes = [second.parents.index(p) for p in (*first.parents, i)]
    both = first.table()[..., None] * second.table().transpose(*axes, -1)  # axes Z, i, j
    of_j = both.sum(axis=-2)
    of_i = np.swapaxes(both / of_j[..., None, :], -1, -2)  # axes Z, j, i
    names = net.names
    parents = {names[c.child]: [names[p] for p in c.parents] for c in net.conditionals}
    tables = {names[c.child]: c.table() for c in net.conditionals}
    common = [names[p] for p in first.parents]
    parents |= {names[j]: common, names[i]: [*common, names[j]]}
    tables |= {names[j]: of_j, names[i]: of_i}
    return fn.BayesianNetwork.from_tables(net.variables, parents, tables)


# -------------------------------------------------------------------------------------------------------- comparing


def on_threads(n: int, work: Callable[[], T]) -> T:
    before = fn.set_threads(n)
    try:
        return work()
    finally:
        fn.set_threads(before)


def assert_close(got: Floats, expected: Floats, size: Floats | float, rtol: float = 1e-12) -> None:
    """Equal up to a share of the sizes that were added and subtracted."""
    assert got.shape == expected.shape
    assert got.dtype == np.float64
    assert (np.abs(got - expected) <= rtol * size + 1e-300).all()
