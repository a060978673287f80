"""What the study measures that is not one call of the library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

import fishernet as fn
from studies.dependency_networks.truths import Array, Model, Truth

TOLERANCES = (1e-8, 1e-6, 1e-4)  # of stationary distributions
STEPS = 2_000  # before a coarser one is tried


def kl_of_rows(rows: fn.Table, truth: Truth) -> float:
    """Return the KL divergence from the rows' empirical distribution to the truth.

    `fishernet.compare.kl` does it for a Bayesian network; this does it for a Markov network too.
    """
    keys = np.zeros(rows.n_rows, dtype=np.int64)
    for codes, r in zip(rows.codes, rows.cardinalities, strict=True):
        keys = keys * r + codes
    _, first, times = np.unique(keys, return_index=True, return_counts=True)
    shares = times / rows.n_rows
    return float(shares @ (np.log(shares) - truth.log_prob(rows[first])))


def log_terms(model: Model) -> Iterator[tuple[tuple[str, ...], Array]]:
    """Yield the logarithms of a model's factors, with the names of their axes."""
    if isinstance(model, fn.MarkovNetwork):
        for names, values in model.potentials:
            yield names, np.log(values)
        return
    names = model.names
    with np.errstate(divide="ignore"):
        for conditional in model.conditionals:
            yield tuple(names[v] for v in (*conditional.parents, conditional.child)), np.log(conditional.table())


def stationary(dn: fn.DependencyNetwork) -> Array:
    """Return where a random scan ends, to the finest of `TOLERANCES` in total variation that is reached."""
    for tolerance in TOLERANCES[:-1]:
        try:
            return fn.infer.stationary(dn, tolerance=tolerance, max_steps=STEPS)
        except fn.ConvergenceError:  # the estimated spectral gap can come out far too small
            continue
    return fn.infer.stationary(dn, tolerance=TOLERANCES[-1])


def exact_kl(p: Model | Array, truth: Truth) -> float:
    """Return KL(p || truth) from the marginals of the truth's factors: no sampling noise, no array over all states.

    Parameters
    ----------
    p : BayesianNetwork, MarkovNetwork or array with one axis a variable
    truth : Truth
    """
    if isinstance(p, np.ndarray):
        positive = p[p > 0]
        own = float(positive @ np.log(positive))
    else:
        own = _expected_log(p, Truth("itself", p))
    return own - _expected_log(p, truth)


def _expected_log(p: Model | Array, of: Truth) -> float:
    """Return the mean under p of the logarithm of another distribution."""
    total = 0.0
    for names, values in log_terms(of.model):
        shares = _marginal(p, of, names)
        occurs = shares > 0
        total += float(shares[occurs] @ values[occurs])
    return total - of.log_normalizer


def _marginal(p: Model | Array, of: Truth, names: Sequence[str]) -> Array:
    if not isinstance(p, np.ndarray):
        return fn.infer.marginal(p, names)
    kept = [of.names.index(name) for name in names]
    summed = p.sum(axis=tuple(v for v in range(p.ndim) if v not in kept))
    ascending = sorted(kept)
    return np.asarray(summed.transpose([ascending.index(v) for v in kept]))


def truth_to_manifolds(truth: Truth, dn: fn.DependencyNetwork) -> Array:
    """Return KL(p* || E(theta_i)) of every variable, exactly.

    The full conditional depends on the Markov blanket alone and theta_i on its inputs, so the marginal of both with the
    variable itself is all that is needed.
    """
    return np.array([_truth_to_manifold(truth, dn, v) for v in range(len(dn.variables))])


def _truth_to_manifold(truth: Truth, dn: fn.DependencyNetwork, v: int) -> float:
    scope = sorted({v, *truth.blankets[v], *dn.inputs[v]})
    names = [truth.names[u] for u in scope]
    itself = truth.names[v]
    inputs = {itself: [truth.names[u] for u in dn.inputs[v]]}
    # the others are not asked; they only have to be there
    tables = {name: dn.conditionals[v].table() if name == itself else np.full(2, 0.5) for name in names}
    part = fn.DependencyNetwork.from_tables([truth.model.variables[u] for u in scope], inputs, tables)
    return fn.compare.kl_to_manifold(fn.infer.marginal(truth.model, names), part, itself)


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
    """Return FC(p || q) of equal weights for the rows' empirical distribution p, of which q's states are a superset.

    Only the states that occur are listed; q is an array with one axis a variable.
    """
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


def entropy(rows: fn.Table, child: str, parents: Sequence[str]) -> float:
    """Return H(child | parents) of the rows' empirical distribution."""
    return -fn.local_score(rows, child, parents, score="loglik") / rows.n_rows


def candidates_of_climb(names: Sequence[str], steps: Sequence[fn.learn.Step]) -> int:
    """Return how many graphs P2's Algorithm 7 evaluates on its way: the empty one, then every acyclic neighbour."""
    place = {name: v for v, name in enumerate(names)}
    arcs = np.zeros((len(names), len(names)), dtype=bool)
    total = 1 + acyclic_neighbours(arcs)
    for step in steps:
        a, b = place[step.parent], place[step.child]
        arcs[a, b] = step.kind == "add"
        arcs[b, a] = step.kind == "reverse"
        total += acyclic_neighbours(arcs)
    return total


def acyclic_neighbours(arcs: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> int:
    """Return the number of acyclic graphs that one addition, removal or reversal makes of an acyclic one."""
    n = len(arcs)
    reach = np.eye(n, dtype=bool) | arcs  # reach[a, b]: a path from a to b
    for v in range(n):
        reach |= np.outer(reach[:, v], reach[v])
    additions = int((~arcs & ~reach.T & ~np.eye(n, dtype=bool)).sum())
    # a -> b can be turned unless another way leads from a to b, that is, from another child of a
    reversals = sum(not (reach[[c for c in np.flatnonzero(arcs[a]) if c != b], b]).any() for a, b in np.argwhere(arcs))
    return additions + int(arcs.sum()) + reversals
