"""The stationary distribution of pseudo-Gibbs sampling, exactly.

A random scan leaves pi as it is when ``pi = sum_i c_i pi(X_-i) theta_i(X_i | Y_i)`` (Takabatake and Akaho, 2021,
Eq. 12). An ordered scan runs through a cycle of distributions, whose average is what its output shows (Eq. 7). The
operator is applied without a matrix; from a start by ordered sweeps, a restarted Krylov method takes the combination
of a few iterates that the operator changes least.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import ConvergenceError, FishernetError, StateSpaceError
from fishernet.base.names import shown
from fishernet.base.progress import Progress, Reporter
from fishernet.base.vocabulary import ScanName
from fishernet.data.variable import State
from fishernet.infer.factors import Array
from fishernet.infer.pseudo_gibbs import Sampled, Scan, Weights, sampled_of

MOST_STATES = 2**27  # of the joint distribution: eight vectors of them take 8 GiB
DIRECT = 512  # states up to which the linear equations are solved at once
VECTORS = 8
DEPTH = VECTORS - 1
FIRST_SWEEPS = 10
LATEST = 7  # estimates of the spectral gap that are looked at
ROUNDING = 1e-13
FLOOR = 1e-16  # a change in total variation below this is not seen
MARGIN = 10  # steps go on to this part of the tolerance: the gap is estimated, and may be twice the true one
REACHED = 2e-15  # a change that rounding lets every processor reach; nothing below it is asked for the margin's sake


def stationary(
    dn: Sampled,
    *,
    scan: ScanName = "random",
    given: Mapping[str, State] | None = None,
    weights: Weights = None,
    tolerance: float = 1e-10,
    max_steps: int = 50_000,
    start: Array | None = None,
    progress: Progress | None = None,
) -> Array:
    """Return the distribution in which pseudo-Gibbs sampling ends; exact up to a tolerance.

    Parameters
    ----------
    dn : DependencyNetwork
    scan : {"random", "ordered"}
        "ordered": the average over the cycle of a sweep.
    given : mapping from name to state, optional
        Clamped variables; they get no axis.
    weights : (n_variables,) array or mapping from name to number, optional
        How probable each variable is to be updated in a random scan; they sum to 1. Default: equally.
    tolerance : float
        The distance in total variation, estimated as the change in one step divided by the spectral gap. As the gap is
        an estimate, steps go on until the estimated distance is a tenth of it, or rounding hides the rest.
    max_steps : int
        Applications of the operator before it is given up.
    start : array, one axis per free variable, optional
        A distribution to begin with, the nearer the better: what the ordered scan ends in saves a random scan over many
        states most of its steps. Default: equal probabilities, and ten sweeps.
    progress : callable or True, optional
        True for a bar, or ``progress(what, done, None)``, in applications of the operator.

    Returns
    -------
    array, one axis a free variable, in the network's order
        Sums to 1.

    Raises
    ------
    StateSpaceError
        When there are more than 2**27 states.
    ConvergenceError
        When the steps did not suffice, or the distribution is not unique (with zeros the chain may not be ergodic).
    FishernetError
        When the scan, the weights, the start or what is given does not fit.

    Examples
    --------
    >>> import fishernet as fn
    >>> a, b = fn.Variable("a", ["no", "yes"]), fn.Variable("b", ["no", "yes"])
    >>> copy = [[0.9, 0.1], [0.1, 0.9]]
    >>> dn = fn.DependencyNetwork.from_tables([a, b], {"a": ["b"], "b": ["a"]}, {"a": copy, "b": copy})
    >>> fn.infer.stationary(dn).round(3)
    array([[0.45, 0.05],
           [0.05, 0.45]])
    """
    dn = sampled_of(dn, "a stationary distribution is")
    plan = Scan.of(dn.variables, scan, given, weights)
    if not isinstance(tolerance, float | int) or not 0 < tolerance < 1:
        raise FishernetError(f"tolerance must be a number between 0 and 1, got {shown(tolerance)}")
    sizes = [dn.variables[v].cardinality for v in plan.free]
    if any(share == 0 and size > 1 for share, size in zip(plan.probabilities, sizes, strict=True)):
        raise _not_unique()
    n_states = math.prod(sizes)
    if n_states > MOST_STATES:
        raise StateSpaceError(
            "the joint distribution of the free variables",
            cells=n_states,
            limit=MOST_STATES,
            remedy="clamp variables (given), or draw samples",
        )
    begun = None if start is None else _start_of(start, sizes)
    solver = _solver(dn, plan)
    reporter = Reporter(progress, "finding the stationary distribution")
    steps = 0
    if n_states <= DIRECT:
        solver.begin(_solve(solver))
    else:
        if begun is not None:
            solver.begin(begun)
        steps = _iterate(solver, tolerance, max_steps, reporter, sweeps=FIRST_SWEEPS if begun is None else 0)
        if any((dn.conditionals[v].probabilities == 0).any() for v in plan.free):
            steps += _check_unique(solver, tolerance, max_steps, reporter)
    found = solver.average_over_sweep() / len(sizes) if plan.ordered else solver.current()
    reporter.finish(steps)
    return np.asarray(np.maximum(found, 0) / found.sum()).reshape(sizes)


def _start_of(start: Array, sizes: list[int]) -> Array:
    """Return a start as the solver takes it, its sum 1."""
    found = check.numbers(start, "start")
    if found.shape != tuple(sizes):
        raise FishernetError(
            f"start must have one axis per free variable, in all {tuple(sizes)}; got {found.shape}", parameter="start"
        )
    total = float(found.sum())
    if not (found.min() >= 0 and 0 < total < math.inf):
        raise FishernetError("start must be probabilities: finite, not negative and not all 0", parameter="start")
    return np.ascontiguousarray(found / total).reshape(-1)


def _solver(dn: Sampled, plan: Scan) -> _core.Stationary:
    """Return the operator with the clamped states put in."""
    place = {int(v): i for i, v in enumerate(plan.free)}
    inputs, strides, theta = [], [], []
    for v in plan.free:
        conditional = dn.conditionals[v]
        table = conditional.table()
        table = table[tuple(plan.clamped.get(p, slice(None)) for p in conditional.parents)]
        free = [place[p] for p in conditional.parents if p in place]
        inputs.append(np.array(free, dtype=np.int32))
        strides.append(np.array([s // 8 for s in np.ascontiguousarray(table).strides[:-1]], dtype=np.int64))
        theta.append(np.ascontiguousarray(table).reshape(-1))
    states = np.array([dn.variables[v].cardinality for v in plan.free], dtype=np.int64)
    weights = np.zeros(0) if plan.ordered else plan.probabilities
    return _core.Stationary(states, inputs, strides, theta, weights, VECTORS)


def _solve(solver: _core.Stationary) -> Array:
    """Solve ``(T - I) p = 0, sum p = 1`` for few states."""
    n = solver.n_states
    operator = np.empty((n, n))
    for state in range(n):
        solver.begin(np.eye(n)[state])
        solver.step()
        operator[:, state] = solver.current()
    equations = operator - np.eye(n)
    if np.linalg.matrix_rank(equations, tol=1e-12) < n - 1:
        raise _not_unique()
    equations[-1] = 1  # one equation follows from the others; in its place, the sum
    return np.linalg.solve(equations, np.eye(n)[-1])


def _check_unique(solver: _core.Stationary, tolerance: float, max_steps: int, reporter: Reporter) -> int:
    """Raise ConvergenceError when another start, as positive as the first, ends elsewhere; return the steps made."""
    found = solver.current()
    other = np.random.default_rng(0).exponential(size=solver.n_states)
    solver.begin(other / other.sum())
    steps = _iterate(solver, tolerance, max_steps, reporter)
    if np.abs(solver.current() - found).sum() / 2 > max(100 * tolerance, 1e-9):
        raise _not_unique()
    solver.begin(found)
    return steps


def _not_unique() -> ConvergenceError:
    return ConvergenceError(
        "the stationary distribution is not unique: the chain is not ergodic; give the conditionals positive "
        "probabilities and every variable a weight, or clamp what cannot move",
        steps=0,
        residual=math.nan,
    )


def _iterate(
    solver: _core.Stationary, tolerance: float, max_steps: int, reporter: Reporter, *, sweeps: int = FIRST_SWEEPS
) -> int:
    """Move the solver's distribution until it is as near as asked; return the applications of the operator."""
    for _ in range(sweeps):
        solver.sweep()
    steps = sweeps
    gaps: list[float] = []
    gap, residual = 1.0, math.inf
    while steps < max_steps:
        residual = solver.step() / 2
        columns = solver.cycle(DEPTH)
        steps += 1 + len(columns)
        reporter.step(steps)
        small = columns.T[: len(columns) + 1]
        if residual > ROUNDING or not gaps:  # below that the vectors are rounding, and show no spectrum
            gaps.append(_gap(small))
        gap = sorted(gaps[-LATEST:])[min(1, len(gaps) - 1)]  # the smallest but one: single ones can be far off
        if max(residual, FLOOR) <= _largest_change(tolerance * gap):
            solver.combine(np.eye(len(columns))[0])  # the distribution itself, its length undone
            return steps
        # of all combinations of the iterates the one that the operator changes least
        solver.combine(np.ascontiguousarray(np.linalg.svd(small - np.eye(*small.shape))[2][-1]))
    raise ConvergenceError(
        f"the stationary distribution was not reached in {steps} steps: the last changed the distribution by "
        f"{residual:.2g} (total variation), with a spectral gap of about {gap:.2g}; allow more steps or a larger "
        "tolerance, or draw samples",
        steps=steps,
        residual=residual,
    )


def _largest_change(promised: float) -> float:
    """Return the change in one step at which the steps may end, for one at which the estimated distance is promised."""
    return max(promised / MARGIN, min(promised, REACHED))


def _gap(small: Array) -> float:
    """Return one less the modulus of the second eigenvalue, as Arnoldi's small matrix shows it."""
    values = np.sort(np.abs(np.linalg.eigvals(small[: small.shape[1]])))
    return float(np.clip(1 - values[-2], 1e-12, 1)) if len(values) > 1 else 1.0
