"""How the ordered scan moves (P2, Figs. 3 and 4), as numbers on a network of a few variables.

Firing variable i projects p^t on E(theta_i) (Theorem 2). With the full conditionals of one joint distribution, actual
Gibbs sampling, p^t falls on that distribution; with learned ones it ends in a cycle pi_0, ..., pi_(n-1), where pi_i is
the distribution before variable i fires and the centre is their average (Eq. 7).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import fishernet as fn
from studies.dependency_networks.markdown import short
from studies.dependency_networks.truths import Array, Truth
from studies.markdown import table

SEED = 501
ROWS = 200
SWEEPS = 64
SWEEPS_SHOWN = (2, 3, 4, 8, 16, 32, 64)  # beyond the first, of which every firing is shown


@dataclass(frozen=True)
class Orbit:
    """The ordered scan of one network."""

    to_centre: Array
    """(n_firings + 1,) KL(p^t || centre)."""
    to_cycle: Array
    """(n_firings + 1,) total variation between p^t and the point of the cycle that t ends in."""
    radius: Array
    """(n_variables,) KL(pi_i || centre)."""
    to_manifold: Array
    """(n_variables,) KL(pi_(i+1) || E(theta_i)), 0 because i has just been fired."""
    to_other_manifolds: Array
    """(n_variables,) the largest KL(pi_(i+1) || E(theta_j))."""
    between_scans: float
    """Total variation between the centre and the random scan's stationary distribution."""
    average_error: float
    """The largest difference between the average of the cycle and `fishernet.infer.stationary`."""


def total_variation(p: Array, q: Array) -> float:
    """Return half the sum of the absolute differences."""
    return float(np.abs(p - q).sum()) / 2


def cycle_of(dn: fn.DependencyNetwork) -> list[Array]:
    """Return pi_0, ..., pi_(n-1) by sweeping until a whole sweep changes nothing."""
    shape = tuple(variable.cardinality for variable in dn.variables)
    p, change = np.full(shape, 1 / np.prod(shape)), np.inf
    while change > 1e-15:
        cycle = []
        for name in dn.names:
            cycle.append(p)
            p = fn.compare.m_project(p, dn, name)
        p /= p.sum()
        change = total_variation(p, cycle[0])
    return cycle


def orbit(dn: fn.DependencyNetwork, sweeps: int = SWEEPS) -> Orbit:
    """Follow the ordered scan from the state in which every variable has its first code."""
    n = len(dn.names)
    cycle = cycle_of(dn)
    centre = fn.infer.stationary(dn, scan="ordered")
    p = np.zeros(centre.shape)
    p[(0,) * n] = 1.0
    to_centre, to_cycle = [fn.compare.kl(p, centre)], [total_variation(p, cycle[0])]
    for t in range(n * sweeps):
        p = fn.compare.m_project(p, dn, dn.names[t % n])
        to_centre.append(fn.compare.kl(p, centre))
        to_cycle.append(total_variation(p, cycle[(t + 1) % n]))
    after = [cycle[(i + 1) % n] for i in range(n)]
    all_of = np.array([[fn.compare.kl_to_manifold(q, dn, name) for name in dn.names] for q in after])
    return Orbit(
        np.array(to_centre),
        np.array(to_cycle),
        np.array([fn.compare.kl(q, centre) for q in cycle]),
        np.diagonal(all_of).copy(),
        all_of.max(axis=1),
        total_variation(centre, fn.infer.stationary(dn)),
        float(np.abs(np.mean(cycle, axis=0) - centre).max()),
    )


def networks(truth: Truth, n_rows: int = ROWS) -> tuple[fn.DependencyNetwork, fn.DependencyNetwork]:
    """Return the truth's own full conditionals, and learned ones."""
    rows = truth.model.sample(n_rows, seed=SEED)
    return fn.DependencyNetwork.from_joint(truth.model), fn.learn.dependency_network(rows)


def trajectory_table(actual: Orbit, pseudo: Orbit, names: tuple[str, ...]) -> str:
    """Return the distances after each firing."""
    n, rows = len(names), []
    for t in [*range(n + 1), *(n * sweep for sweep in SWEEPS_SHOWN if n * sweep < len(actual.to_centre))]:
        fired = names[(t - 1) % n] if t else "start"
        four = (actual.to_centre[t], actual.to_cycle[t], pseudo.to_centre[t], pseudo.to_cycle[t])
        rows.append([t, fired, *map(short, map(float, four))])
    heads = [
        "firings",
        "last fired",
        "actual: KL(pt, centre)",
        "TV to its end",
        "pseudo: KL(pt, centre)",
        "TV to its cycle",
    ]
    return table(heads, rows)


def cycle_table(pseudo: Orbit, names: tuple[str, ...]) -> str:
    """Return the points of the cycle."""
    heads = ["i", "KL(pi_i, centre)", "KL(pi_(i+1), E_i)", "largest KL(pi_(i+1), E_j)"]
    columns = zip(names, pseudo.radius, pseudo.to_manifold, pseudo.to_other_manifolds, strict=True)
    return table(heads, [[name, *map(short, map(float, figures))] for name, *figures in columns])


def radius_table(truth: Truth, sizes: list[int]) -> str:
    """Return how the cycle shrinks with more training rows."""
    rows = []
    for n in sizes:
        found = orbit(networks(truth, n)[1], sweeps=1)
        rows.append([f"{n:,}", *map(short, (float(found.radius.max()), found.between_scans, found.average_error))])
    heads = ["training rows", "largest KL(pi_i, centre)", "TV(ordered, random)", "largest error of Eq. 7"]
    return table(heads, rows)
