"""P2's chains, divergences and learning from their definitions: dense matrices, loops over states and over rows."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import chi2

import fishernet as fn
from fishernet.models import Conditional, FullTable, MergedTable
from tests.reference.counting import joint_counts

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
State = tuple[int, ...]
FREE: Mapping[int, int] = {}  # nothing is clamped
ALMOST_NEVER = 1e-7  # how probable it is that a test of a right sampler with another seed would fail


# ------------------------------------------------------------------------------------------------- random networks


def random_dependency_network(
    seed: int, cardinalities: Sequence[int], *, inputs: int = 3, merged: bool = False, sharp: float = 2.0
) -> fn.DependencyNetwork:
    """Conditionals that fit no joint distribution, over inputs in no order; the last variable has all `inputs`."""
    rng = np.random.default_rng(seed)
    n = len(cardinalities)
    variables = [fn.Variable(f"v{i}", [f"s{k}" for k in range(r)]) for i, r in enumerate(cardinalities)]
    conditionals: list[Conditional] = []
    for v, r in enumerate(cardinalities):
        most = min(inputs, n - 1)
        chosen = rng.permutation([u for u in range(n) if u != v])[: most if v == n - 1 else rng.integers(0, most + 1)]
        of = [int(u) for u in chosen]
        shape = [cardinalities[u] for u in of]
        family = [variables[u] for u in (*of, v)]
        if merged and of:
            groups = np.unique(rng.integers(0, 4, size=shape), return_inverse=True)[1].reshape(shape)
            rows = _rows(rng, int(groups.max()) + 1, r, sharp)
            conditionals.append(MergedTable(v, of, family, groups, rows))
        else:
            conditionals.append(FullTable(v, of, family, _rows(rng, math.prod(shape), r, sharp)))
    return fn.DependencyNetwork(variables, conditionals)


def _rows(rng: np.random.Generator, groups: int, r: int, sharp: float) -> Array:
    """Probabilities of 0.05 / r at least, so that the chain mixes."""
    return np.asarray(0.95 * rng.dirichlet(np.full(r, sharp), size=groups) + 0.05 / r)


@st.composite
def dependency_networks(draw: st.DrawFn, *, most_variables: int = 4, most_states: int = 3) -> fn.DependencyNetwork:
    """Small networks: unequal cardinalities, one state, no inputs, merged tables."""
    cardinalities = draw(st.lists(st.integers(1, most_states), min_size=1, max_size=most_variables))
    return random_dependency_network(draw(st.integers(0, 2**32)), cardinalities, merged=draw(st.booleans()))


def random_distribution(seed: int, shape: Sequence[int], *, zeros: float = 0.0) -> Array:
    """A joint distribution, some of whose states may have probability 0."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(math.prod(shape)))
    p = np.where(rng.random(p.shape) < zeros, 0, p)
    p[rng.integers(len(p))] += 0.1  # something is left
    return np.asarray(p / p.sum()).reshape(shape)


# ------------------------------------------------------------------------------------------------------ the chains


def cardinalities_of(model: fn.BayesianNetwork | fn.DependencyNetwork) -> tuple[int, ...]:
    return tuple(variable.cardinality for variable in model.variables)


def states_of(model: fn.BayesianNetwork | fn.DependencyNetwork, clamped: Mapping[int, int] = FREE) -> list[State]:
    """All states that agree with what is clamped, the last variable fastest."""
    return list(
        itertools.product(*([clamped[v]] if v in clamped else range(r) for v, r in enumerate(cardinalities_of(model))))
    )


def joint_of(net: fn.BayesianNetwork) -> Array:
    """The product of the tables (P2, Eq. 1)."""
    found = [
        math.prod(float(c.table()[(*(s[p] for p in c.parents), s[c.child])]) for c in net.conditionals)
        for s in states_of(net)
    ]
    return np.array(found).reshape(cardinalities_of(net))


def firing_matrix(dn: fn.DependencyNetwork, v: int, clamped: Mapping[int, int] = FREE) -> Array:
    """Column s, row s': the probability that firing variable v turns state s into s'."""
    states = states_of(dn, clamped)
    number = {state: i for i, state in enumerate(states)}
    conditional = dn.conditionals[v]
    theta = conditional.table()
    matrix = np.zeros((len(states), len(states)))
    for column, state in enumerate(states):
        for k, probability in enumerate(theta[tuple(state[p] for p in conditional.parents)]):
            matrix[number[*state[:v], k, *state[v + 1 :]], column] = probability
    return matrix


def free_variables(dn: fn.DependencyNetwork, clamped: Mapping[int, int] = FREE) -> list[int]:
    return [v for v in range(len(dn.variables)) if v not in clamped]


def random_scan_matrix(
    dn: fn.DependencyNetwork, weights: Array | None = None, clamped: Mapping[int, int] = FREE
) -> Array:
    """One step of a random scan: the firings' average; clamped variables' weights go to the others in proportion."""
    free = free_variables(dn, clamped)
    shares = np.ones(len(dn.variables)) if weights is None else weights
    n_states = math.prod(cardinalities_of(dn)[v] for v in free)
    matrix = np.zeros((n_states, n_states))
    for v in free:
        matrix += shares[v] / shares[free].sum() * firing_matrix(dn, v, clamped)
    return matrix


def stationary_vector(matrix: Array) -> Array:
    """The p of sum 1 with T p = p, for T with columns of sum 1.

    Adding up the rows of (I - T + u 1') p = u gives sum p = 1, and so (I - T) p = 0.
    """
    n = len(matrix)
    u = np.full(n, 1 / n)
    return np.asarray(np.linalg.solve(np.eye(n) - matrix + u[:, None], u))


def cycle(dn: fn.DependencyNetwork, clamped: Mapping[int, int] = FREE) -> list[Array]:
    """pi_0, ..., pi_(n-1) of an ordered scan: the distributions before each free variable is fired (P2, 2.2)."""
    firings = [csr_array(firing_matrix(dn, v, clamped)) for v in free_variables(dn, clamped)]
    sweep = np.eye(firings[0].shape[0])
    for matrix in firings:
        sweep = matrix @ sweep
    found = [stationary_vector(sweep)]
    for matrix in firings[:-1]:
        found.append(matrix @ found[-1])
    return found


def stationary_by_definition(
    dn: fn.DependencyNetwork,
    *,
    scan: str = "random",
    weights: Array | None = None,
    clamped: Mapping[int, int] = FREE,
) -> Array:
    """Eq. 12 for a random scan, Eq. 7 for an ordered one; one axis a free variable."""
    shape = [cardinalities_of(dn)[v] for v in free_variables(dn, clamped)]
    if scan == "ordered":
        return np.asarray(np.mean(cycle(dn, clamped), axis=0)).reshape(shape)
    return np.asarray(stationary_vector(random_scan_matrix(dn, weights, clamped))).reshape(shape)


# ------------------------------------------------------------------------------------------------------- samples


def codes_of(table: fn.Table) -> Codes:
    return np.stack([column.astype(np.int64) for column in table.codes], axis=1)


def cells_of(codes: Codes, shape: tuple[int, ...]) -> Codes:
    return np.asarray(np.ravel_multi_index(tuple(codes.T), shape), dtype=np.int64)


def assert_drawn_from(codes: Codes, p: Array) -> None:
    """Pearson's chi-square of well separated rows; cells with fewer than 20 expected rows count as one."""
    counts = np.bincount(cells_of(codes, p.shape), minlength=p.size)
    expected = len(codes) * p.ravel()
    assert counts[expected == 0].sum() == 0
    rare = expected < 20
    seen = np.append(counts[~rare], counts[rare].sum())
    wanted = np.append(expected[~rare], expected[rare].sum())
    if wanted[-1] < 20:
        seen, wanted = seen[:-1], wanted[:-1]
    statistic = float(((seen - wanted) ** 2 / wanted).sum())
    assert chi2.sf(statistic, max(1, len(wanted) - 1)) > ALMOST_NEVER


def assert_averages_to(codes: Codes, p: Array, *, batches: int = 250) -> None:
    """Rows that depend on one another: each cell's share, with its standard error by the means of long batches."""
    cells = cells_of(codes, p.shape).reshape(batches, -1)
    for cell, probability in enumerate(p.ravel()):
        shares = (cells == cell).mean(axis=1)
        error = shares.std(ddof=1) / math.sqrt(batches)
        assert abs(shares.mean() - probability) < 6.5 * error + 1e-12, (cell, shares.mean(), probability)


# ----------------------------------------------------------------------------------------------------- divergences


def kl_by_definition(p: Array, q: Array) -> float:
    """<ln p / q> under p."""
    pairs = [(a, b) for a, b in zip(p.ravel().tolist(), q.ravel().tolist(), strict=True) if a > 0]
    return math.inf if any(b == 0 for _, b in pairs) else math.fsum(a * math.log(a / b) for a, b in pairs)


def conditional_of(p: Array, v: int) -> Array:
    """p(x_v | x_-v), of p's shape; 0 where it is not defined."""
    rest = p.sum(axis=v, keepdims=True)
    return np.asarray(np.divide(p, rest, out=np.zeros_like(p), where=rest > 0))


def full_conditional_by_definition(p: Array, q: Array, weights: Array | None = None) -> float:
    """Eq. 13."""
    shares = np.full(p.ndim, 1 / p.ndim) if weights is None else weights
    total = 0.0
    for v, share in enumerate(shares.tolist()):
        mine, other = conditional_of(p, v), conditional_of(q, v)
        for state in np.argwhere(p > 0):
            at = tuple(state)
            total += share * p[at] * math.log(mine[at] / other[at])
    return total


def projected(p: Array, dn: fn.DependencyNetwork, v: int) -> Array:
    """Eq. 11, state by state: p(x_-v) theta(x_v | y_v)."""
    rest = p.sum(axis=v, keepdims=True)
    conditional = dn.conditionals[v]
    theta = conditional.table()
    out = np.zeros_like(p)
    for state in states_of(dn):
        others = (*state[:v], 0, *state[v + 1 :])
        out[state] = rest[others] * theta[(*(state[u] for u in conditional.parents), state[v])]
    return out


def conditional_entropy(p: Array, v: int, inputs: Sequence[int]) -> float:
    """H(X_v | inputs) = H(X_v, inputs) - H(inputs)."""

    def entropy(of: set[int]) -> float:
        kept = p.sum(axis=tuple(u for u in range(p.ndim) if u not in of)).ravel()
        return -math.fsum(x * math.log(x) for x in kept.tolist() if x > 0)

    return entropy({v, *inputs}) - entropy(set(inputs))


# -------------------------------------------------------------------------------------------------------- learning


def algorithm_6(
    n: int, v: int, score: Callable[[tuple[int, ...]], float], most: int | None = None
) -> tuple[tuple[int, ...], list[tuple[int, ...]], int]:
    """Where Algorithm 6 ends (scores are -N times P2's costs), every family it looked at, and its iterations."""
    inputs: tuple[int, ...] = ()
    looked: list[tuple[int, ...]] = [inputs]
    for iteration in itertools.count(1):
        full = most is not None and len(inputs) >= most
        added = [] if full else [tuple(sorted({*inputs, u})) for u in range(n) if u != v and u not in inputs]
        candidates = [*added, *(tuple(u for u in inputs if u != out) for out in inputs)]
        looked += candidates
        here, found = score(inputs), [score(candidate) for candidate in candidates]
        tie = max(1e-9, 1e-12 * abs(here))
        if not found or max(found) <= here + tie:
            return inputs, looked, iteration
        inputs = next(c for c, value in zip(candidates, found, strict=True) if value >= max(found) - tie)
    raise AssertionError


def frequencies(table: fn.Table, v: int, inputs: Sequence[int], *, keep_positive: bool) -> Array:
    """Algorithm 5, or Algorithm 4 where nothing is kept positive; [inputs ..., state]."""
    counts = Counter(joint_counts(table, (*inputs, v))[0])
    r = table.cardinalities[v]
    theta = np.zeros([table.cardinalities[u] for u in (*inputs, v)])
    for y in itertools.product(*(range(table.cardinalities[u]) for u in inputs)):
        row = [counts[*y, k] for k in range(r)]
        if keep_positive:
            row = [1 if count == 0 else count for count in row]
        for k in range(r):
            theta[*y, k] = row[k] / sum(row)
    return theta
