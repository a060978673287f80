"""What the study measures that is not one call of the library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

import fishernet as fn
from studies.dependency_networks.truths import Model, Truth
from studies.study import Array

MANY = 2**20  # states from which on a stationary distribution is less exact
STEPS = 2_000  # of a stationary distribution, before a coarser tolerance is tried


def kl_of_rows(rows: fn.Table, truth: Truth) -> float:
    """Return the KL divergence from the rows' empirical distribution to the truth, be it a Markov network, too."""
    keys = np.zeros(rows.n_rows, dtype=np.int64)
    for codes, r in zip(rows.codes, rows.cardinalities, strict=True):
        keys = keys * r + codes
    _, first, times = np.unique(keys, return_index=True, return_counts=True)
    shares = times / rows.n_rows
    return float(shares @ (np.log(shares) - truth.log_prob(rows[first])))


def stationary(dn: fn.DependencyNetwork) -> Array:
    """Return where a random scan ends, in total variation to 1e-8, of many states to 1e-6, and of 2^25 to 1e-2.

    Where the steps do not suffice, the next tolerance is tried. For 2^25 states the scan begins where the ordered one
    ends, which is near and reached sooner. The divergences that come of this are right to 0.2 % on Ising4x4, and to 3 %
    on Ising3x4.
    """
    n_states = int(np.prod([variable.cardinality for variable in dn.variables]))
    if n_states > MANY:
        ordered = fn.infer.stationary(dn, scan="ordered", tolerance=0.1)
        return fn.infer.stationary(dn, tolerance=1e-2, start=ordered)
    finer = (1e-8, 1e-6) if n_states <= 2**16 else (1e-6,)
    for tolerance in finer:
        try:
            return fn.infer.stationary(dn, tolerance=tolerance, max_steps=STEPS)
        except fn.ConvergenceError:  # the estimated spectral gap can come out far too small
            continue
    return fn.infer.stationary(dn, tolerance=1e-4)


def exact_kl(p: Model | Array, truth: Truth) -> float:
    """Return KL(p || truth) of a model or of an array with one axis per variable.

    By the marginals of the truth's factors: no sampling noise, no array over all states.
    """
    if isinstance(p, np.ndarray):
        positive = p[p > 0]
        return float(positive @ np.log(positive)) - _expected_log(p, truth)
    return _expected_log(p, Truth("itself", p)) - _expected_log(p, truth)


def _expected_log(p: Model | Array, of: Truth) -> float:
    """Return the mean under p of the logarithm of another distribution."""
    total = -of.log_normalizer
    for names, values in _log_factors(of.model):
        shares = _marginal(p, of, names)
        occurs = shares > 0
        total += float(shares[occurs] @ values[occurs])
    return total


def _log_factors(model: Model) -> Iterator[tuple[tuple[str, ...], Array]]:
    if isinstance(model, fn.MarkovNetwork):
        for names, values in model.potentials:
            yield names, np.log(values)
        return
    with np.errstate(divide="ignore"):
        for conditional in model.conditionals:
            scope = (*conditional.parents, conditional.child)
            yield tuple(model.names[v] for v in scope), np.log(conditional.table())


def _marginal(p: Model | Array, of: Truth, names: Sequence[str]) -> Array:
    if not isinstance(p, np.ndarray):
        return fn.infer.marginal(p, names)
    kept = [of.names.index(name) for name in names]
    summed = p.sum(axis=tuple(v for v in range(p.ndim) if v not in kept))
    return np.asarray(summed.transpose([sorted(kept).index(v) for v in kept]))


def truth_to_manifolds(truth: Truth, dn: fn.DependencyNetwork) -> Array:
    """Return KL(p* || E(theta_i)) of every variable, exactly.

    The full conditional depends on the Markov blanket alone and theta_i on its inputs, so the marginal of both with the
    variable itself is all that is needed.
    """
    found = []
    for v in range(len(dn.variables)):
        scope = sorted({v, *truth.blankets[v], *dn.inputs[v]})
        names, itself = [truth.names[u] for u in scope], truth.names[v]
        inputs = {itself: [truth.names[u] for u in dn.inputs[v]]}
        # the others' conditionals are not used; they only have to be there
        tables = {name: dn.conditionals[v].table() if name == itself else np.full(2, 0.5) for name in names}
        part = fn.DependencyNetwork.from_tables([truth.model.variables[u] for u in scope], inputs, tables)
        found.append(fn.compare.kl_to_manifold(fn.infer.marginal(truth.model, names), part, itself))
    return np.array(found)


def mean_to_manifolds(p: fn.Table | Array, dn: fn.DependencyNetwork) -> float:
    """Return the mean of KL(p || E(theta_i)); of an array by projections (Theorem 2), without a list of the states."""
    if not isinstance(p, np.ndarray):
        return float(np.mean([fn.compare.kl_to_manifold(p, dn, name) for name in dn.names]))
    return float(np.mean([(p * np.log(p / fn.compare.project_on_manifold(p, dn, name))).sum() for name in dn.names]))


def conditional_divergence(p: Array, q: Array) -> float:
    """Return FC(p || q) of equal weights for positive arrays, variable by variable, without a list of the states.

    `fishernet.compare.full_conditional_divergence` is for fewer states than the 2^25 of the large Ising model.
    """
    total = 0.0
    for v in range(p.ndim):
        difference = np.log(p / p.sum(axis=v, keepdims=True))
        difference -= np.log(q / q.sum(axis=v, keepdims=True))
        total += float((p * difference).sum()) / p.ndim
    return total


def rows_conditional_divergence(rows: fn.Table, q: Array) -> float:
    """Return FC(p || q) of equal weights for the rows' empirical distribution p; only states that occur are listed."""
    strides = np.array([stride // q.itemsize for stride in np.ascontiguousarray(q).strides])
    keys = sum((stride * codes.astype(np.int64) for stride, codes in zip(strides, rows.codes, strict=True)), start=0)
    states, times = np.unique(keys, return_counts=True)
    total = 0.0
    for v, (stride, r) in enumerate(zip(strides, q.shape, strict=True)):
        rest = states - stride * (states // stride % r)
        _, which = np.unique(rest, return_inverse=True)
        own = times / np.bincount(which, weights=times)[which]
        theirs = (q / q.sum(axis=v, keepdims=True)).ravel()[states]
        total += float(times @ np.log(own / theirs)) / (rows.n_rows * q.ndim)
    return total


def candidates_of_climb(names: Sequence[str], steps: Sequence[fn.learn.Step]) -> int:
    """Return how many graphs Algorithm 7 evaluates on its way: the empty one, then every acyclic neighbour."""
    place = {name: v for v, name in enumerate(names)}
    arcs = np.zeros((len(names), len(names)), dtype=bool)
    total = 1 + acyclic_neighbours(arcs)
    for step in steps:
        a, b = place[step.parent], place[step.child]
        arcs[a, b] = step.kind == "add"
        arcs[b, a] = step.kind == "reverse"
        total += acyclic_neighbours(arcs)
    return total


def all_candidates_of_climb(n: int, steps: Sequence[fn.learn.Step]) -> int:
    """Return how many graphs Algorithm 7 would evaluate if those with a cycle counted, too.

    Of a graph with e arcs these are n (n - 1) - e additions, e removals and e reversals, in every iteration, the last
    one included, in which nothing is better.
    """
    total = edges = 0
    for kind in (*(step.kind for step in steps), "end"):
        total += n * (n - 1) + edges
        edges += {"add": 1, "remove": -1}.get(kind, 0)
    return total


def acyclic_neighbours(arcs: npt.NDArray[np.bool_]) -> int:
    """Return the number of acyclic graphs that one addition, removal or reversal makes of an acyclic one."""
    n = len(arcs)
    reach = np.eye(n, dtype=bool) | arcs  # reach[a, b]: a path from a to b
    for v in range(n):
        reach |= np.outer(reach[:, v], reach[v])
    additions = int((~arcs & ~reach.T & ~np.eye(n, dtype=bool)).sum())
    # a -> b can be turned unless another way leads from a to b, that is, from another child of a
    reversals = sum(not (reach[[c for c in np.flatnonzero(arcs[a]) if c != b], b]).any() for a, b in np.argwhere(arcs))
    return additions + int(arcs.sum()) + reversals


def total_variation(p: Array, q: Array) -> float:
    return float(np.abs(p - q).sum()) / 2


def memory(file: str, field: str) -> int | None:
    """Return a field of a file below /proc in bytes: "VmHWM" of "self/status", "MemAvailable" of "meminfo".

    `resource.getrusage` would begin with the peak of the process that started this one.
    """
    try:
        lines = Path("/proc", file).read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(field + ":")), None)
