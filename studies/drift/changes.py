"""Networks with one conditional changed by a given number of nats, freely or in dependence alone.

With theta the table of a variable, P(j) the probabilities of its parents'
configurations and theta' = theta + t delta, the joint divergence is ``sum_j P(j) KL(theta'_j || theta_j)``, since no
other factor changes. The marginal of every variable is a linear function of theta; so those directions in which no
marginal moves are the null space of a matrix, which exact inference gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

import fishernet as fn
from fishernet.infer.factors import parent_marginals
from studies.study import Array

FREE, DEPENDENCE = "free", "dependence"
TRIES = 1_000
RARE = 50  # one direction of so many is enough; that none of all tries is has a probability of 2e-9
RIM = 1e-9  # how far from 0 probabilities stay that are not 0


def table_of(net: fn.BayesianNetwork, name: str) -> Array:
    """Return the probabilities of a variable, (configurations of its parents, states)."""
    table = net.conditionals[net.names.index(name)].table()
    return np.asarray(table).reshape(-1, table.shape[-1])


def of_parents(net: fn.BayesianNetwork, name: str) -> Array:
    """Return the probabilities of the configurations of a variable's parents."""
    return np.asarray(parent_marginals(net)[net.names.index(name)])


def with_table(net: fn.BayesianNetwork, name: str, table: Array) -> fn.BayesianNetwork:
    """Return the network with another table of one variable."""
    tables = {one: np.asarray(c.table()) for one, c in zip(net.names, net.conditionals, strict=True)}
    parents = {one: [net.names[u] for u in c.parents] for one, c in zip(net.names, net.conditionals, strict=True)}
    tables[name] = table.reshape(tables[name].shape)
    return fn.BayesianNetwork.from_tables(net.variables, parents, tables)


def joint_divergence(theta: Array, other: Array, weights: Array) -> float:
    """Return KL(other || theta) of networks that differ in one table alone."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(other > 0, other * np.log(other / theta), 0.0)
    return float(weights @ terms.sum(axis=1))


def marginal_rows(net: fn.BayesianNetwork, name: str) -> Array:
    """Return the matrix that maps a change of a variable's table to changes of marginals: its own and all below it.

    Its columns are the table's cells. A cell (j, k) moves P(x = s) by P(j) P(x = s | j, k) for every x below.
    """
    table, weights = table_of(net, name), of_parents(net, name)
    n, r = table.shape
    rows = [np.kron(weights, np.eye(r))]
    family = [*(net.names[u] for u in net.conditionals[net.names.index(name)].parents), name]
    uniform = with_table(net, name, np.full((n, r), 1 / r))  # every cell is possible, and the rest as it was
    for below in [one for one in net.names if one != name and name in net.dag.ancestors(one)]:
        states = net.variables[net.names.index(below)].cardinality
        joint = np.asarray(fn.infer.marginal(uniform, [below, *family])).reshape(states, -1)
        with np.errstate(divide="ignore", invalid="ignore"):
            given = np.where(joint.sum(axis=0) > 0, joint / joint.sum(axis=0), 0.0)
        rows.append(given * np.repeat(weights, r))
    return np.vstack(rows)


def still(theta: Array, weights: Array, rows: Array) -> Array:
    """Return the projection onto changes of a table that `rows` maps to 0, in the metric of the divergence.

    It keeps sums of configurations at 1, and zeros at zero; it is applied to changes in units of sqrt(theta / P(j)).
    """
    n, r = theta.shape
    free = (theta > 0).ravel() & np.repeat(weights > 0, r)
    scale = np.sqrt(theta.ravel() / np.repeat(np.maximum(weights, 1e-300), r))
    constraints = np.vstack([np.kron(np.eye(n), np.ones((1, r))), rows])[:, free] * scale[free]
    _, values, basis = np.linalg.svd(constraints, full_matrices=True)
    rank = int((values > 1e-10 * values.max()).sum())
    null = basis[rank:].T
    units = np.zeros((n * r, null.shape[1]))
    units[free] = null
    return units


def directions(net: fn.BayesianNetwork, name: str, kind: str, random: np.random.Generator) -> Iterator[Array]:
    """Return random changes of a variable's table: towards tables that are uniform on what is possible.

    Where the marginals are to stay, what moves them is projected out of the way.
    """
    theta, weights = table_of(net, name), of_parents(net, name)
    scale = np.sqrt(theta.ravel() / np.repeat(np.maximum(weights, 1e-300), theta.shape[1]))
    units = still(theta, weights, marginal_rows(net, name)) if kind == DEPENDENCE else None
    while units is None or units.shape[1]:
        target = random.exponential(size=theta.shape) * (theta > 0)
        delta = target / target.sum(axis=1, keepdims=True) - theta
        if units is not None:
            inside = np.where(scale > 0, delta.ravel() / np.where(scale > 0, scale, 1.0), 0.0)
            delta = (scale * (units @ (units.T @ inside))).reshape(theta.shape)
        yield delta


def changed_tables(
    net: fn.BayesianNetwork, name: str, kind: str, nats: float, random: np.random.Generator, tries: int = TRIES
) -> Iterator[Array]:
    """Return the tables of a variable, so many nats away, that some random directions lead to."""
    theta, weights = table_of(net, name), of_parents(net, name)
    for delta in islice(directions(net, name, kind, random), tries):
        found = towards(theta, delta, weights, nats)
        if found is not None:
            yield found


def changed_table(net: fn.BayesianNetwork, name: str, kind: str, nats: float, random: np.random.Generator) -> Array:
    """Return a table of a variable that differs by so many nats, in a random direction."""
    for found in changed_tables(net, name, kind, nats, random):
        return found
    raise ValueError(f"no table of {name} is {nats:g} nats away ({kind})")


def towards(theta: Array, delta: Array, weights: Array, nats: float) -> Array | None:
    """Return theta + t delta with so many nats, None where it leaves the simplex before."""
    falling = delta < -1e-12
    most = float((theta[falling] / -delta[falling]).min(initial=1e6)) * (1 - RIM)
    if not falling.any() or joint_divergence(theta, theta + most * delta, weights) < nats:
        return None
    low, high = 0.0, most
    for _ in range(80):
        middle = (low + high) / 2
        if joint_divergence(theta, theta + middle * delta, weights) < nats:
            low = middle
        else:
            high = middle
    return np.asarray(theta + high * delta)


def changeable(net: fn.BayesianNetwork, kind: str, nats: float) -> list[str]:
    """Return the variables that can be changed by so many nats: along one random direction of `RARE` or more.

    One found by chance alone would not be found again with other random numbers, nor on another machine.
    """
    found = []
    for name in net.names:
        reached = changed_tables(net, name, kind, nats, np.random.default_rng(0), TRIES)
        if sum(1 for _ in islice(reached, TRIES // RARE)) == TRIES // RARE:
            found.append(name)
    return found
