"""Exact inference by enumeration: every answer is read off the table of the full joint distribution."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

import fishernet as fn
from fishernet.models import Conditional, FullTable, MergedTable, Split, TreeConditional
from tests.networks import networks, random_network

Array = npt.NDArray[np.float64]
Given = Mapping[str, Any]
Likelihood = Mapping[str, npt.ArrayLike]


def _along(net: fn.BayesianNetwork, axes: Sequence[int], values: Array) -> Array:
    """Give a table over some variables one axis for every variable of the network."""
    shape = [v.cardinality if i in axes else 1 for i, v in enumerate(net.variables)]
    return values.transpose(np.argsort(axes)).reshape(shape)


def joint(net: fn.BayesianNetwork) -> Array:
    """P(x) for every x, one axis a variable."""
    product = np.ones([v.cardinality for v in net.variables])
    for conditional in net.conditionals:
        product = product * _along(net, (*conditional.parents, conditional.child), conditional.table())
    return product


def weights(net: fn.BayesianNetwork, given: Given | None = None, likelihood: Likelihood | None = None) -> Array:
    """P(x, given) times the likelihoods, for every x."""
    product = joint(net)
    for name, label in (given or {}).items():
        position = net.names.index(name)
        indicator = [float(state == label) for state in net.variables[position].states]
        product = product * _along(net, [position], np.array(indicator))
    for name, values in (likelihood or {}).items():
        product = product * _along(net, [net.names.index(name)], np.asarray(values, dtype=np.float64))
    return product


def log_evidence(net: fn.BayesianNetwork, given: Given | None = None, likelihood: Likelihood | None = None) -> float:
    total = weights(net, given, likelihood).sum()
    return math.log(total) if total > 0 else -math.inf


def marginal(
    net: fn.BayesianNetwork, names: Sequence[str], given: Given | None = None, likelihood: Likelihood | None = None
) -> Array:
    """P(names | given), one axis a name."""
    table = weights(net, given, likelihood)
    wanted = [net.names.index(name) for name in names]
    summed = (table / table.sum()).sum(axis=tuple(i for i in range(table.ndim) if i not in wanted))
    kept = sorted(wanted)
    return np.asarray(summed.transpose([kept.index(i) for i in wanted]))


def family_names(net: fn.BayesianNetwork, child: int) -> list[str]:
    return [net.names[i] for i in (*net.conditionals[child].parents, child)]


def family_marginals(
    net: fn.BayesianNetwork, given: Given | None = None, likelihood: Likelihood | None = None
) -> list[Array]:
    """P(family | given), one array a variable with axes [parents ..., child]."""
    return [marginal(net, family_names(net, child), given, likelihood) for child in range(len(net.variables))]


def weight_of(net: fn.BayesianNetwork, states: Given, likelihood: Likelihood | None = None) -> float:
    """P(states) times the likelihoods, of one state for every variable."""
    cell = tuple(v.states.index(states[v.name]) for v in net.variables)
    return float(weights(net, None, likelihood)[cell])


def predict_proba(net: fn.BayesianNetwork, codes: npt.NDArray[np.int64], target: str) -> Array:
    """P(target | the row's cells that are not missing), row by row."""
    return np.array([marginal(net, [target], observed(net, row, target)) for row in codes])


def observed(net: fn.BayesianNetwork, row: npt.NDArray[np.int64], target: str) -> dict[str, Any]:
    """What a row of codes says about the variables other than the target."""
    return {
        v.name: v.states[code]
        for v, code in zip(net.variables, row, strict=True)
        if v.name != target and code < v.cardinality
    }


def all_rows(net: fn.BayesianNetwork) -> npt.NDArray[np.int64]:
    """The codes of every joint state, in the order of `joint`'s cells."""
    return np.indices([v.cardinality for v in net.variables]).reshape(len(net.variables), -1).T


def group_probabilities(net: fn.BayesianNetwork) -> list[Array]:
    """P(the parents are in a configuration of the group), one array a variable."""
    table = fn.Table.from_codes(all_rows(net), net.variables)
    cells = joint(net).ravel()
    return [np.bincount(c.groups(table), weights=cells).astype(np.float64) for c in net.conditionals]


def intervene(net: fn.BayesianNetwork, states: Given) -> Array:
    """The truncated factorization: the product of the tables of all variables that were not set, where x agrees."""
    product = np.ones([v.cardinality for v in net.variables])
    for conditional in net.conditionals:
        variable = conditional.variables[-1]
        if variable.name in states:
            axes: tuple[int, ...] = (conditional.child,)
            table = np.array([float(state == states[variable.name]) for state in variable.states])
        else:
            axes = (*conditional.parents, conditional.child)
            table = conditional.table()
        product = product * _along(net, axes, table)
    return product


# --------------------------------------------------------------------------------------------- what is asked in tests

Ask = Callable[..., Any]
ASKED: Mapping[str, Ask] = {
    "marginal": lambda net, **evidence: fn.infer.marginal(net, net.names[:1], **evidence),
    "family_marginals": lambda net, **evidence: fn.infer.family_marginals(net, **evidence),
    "most_probable": lambda net, **evidence: fn.infer.most_probable(net, **evidence),
    "log_evidence": lambda net, **evidence: fn.infer.log_evidence(net, **evidence),
    "sample": lambda net, **evidence: fn.infer.sample(net, 300, seed=1, **evidence),
    "tree.marginal": lambda net, **evidence: fn.infer.JunctionTree(net).marginal(net.names[:1], **evidence),
    "tree.family_marginals": lambda net, **evidence: fn.infer.JunctionTree(net).family_marginals(**evidence),
    "tree.log_evidence": lambda net, **evidence: fn.infer.JunctionTree(net).log_evidence(**evidence),
}


@dataclass(frozen=True)
class Query:
    """Some names, and evidence that is possible."""

    net: fn.BayesianNetwork
    names: list[str]
    given: dict[str, Any]
    likelihood: dict[str, Array]

    @property
    def evidence(self) -> dict[str, Any]:
        return {"given": self.given, "likelihood": self.likelihood}


def random_tree(
    rng: np.random.Generator, sizes: dict[int, int], states: dict[int, list[int]] | None = None, depth: int = 3
) -> tuple[Split | int, int]:
    """A decision tree over variables with these numbers of states by position, and how many leaves it has.

    A variable may be asked again, for the states that are left; every leaf can be reached.
    """
    states = states or {variable: [*range(size)] for variable, size in sizes.items()}
    if not depth or rng.random() < 0.25:
        return 0, 1
    variable = int(rng.choice(list(sizes)))
    left = states[variable]
    _, taken = np.unique(rng.integers(0, 3, size=len(left)), return_inverse=True)
    branches = np.zeros(sizes[variable], dtype=int)
    branches[left] = taken
    children: list[Split | int] = []
    leaves = 0
    for branch in range(int(taken.max()) + 1):
        kept = [k for k, b in zip(left, taken, strict=True) if b == branch]
        below, more = random_tree(rng, sizes, {**states, variable: kept}, depth - 1)
        children.append(_numbered_from(below, leaves))
        leaves += more
    return Split(variable, tuple(branches.tolist()), tuple(children)), leaves


def _numbered_from(tree: Split | int, first: int) -> Split | int:
    if isinstance(tree, int):
        return tree + first
    return Split(tree.variable, tree.branches, tuple(_numbered_from(child, first) for child in tree.children))


def varied(net: fn.BayesianNetwork, seed: int) -> fn.BayesianNetwork:
    """Reorder the parents of every variable, and let configurations of some share rows, in a map or by a tree."""
    rng = np.random.default_rng(seed)
    conditionals: list[Conditional] = []
    for c in net.conditionals:
        order = rng.permutation(len(c.parents)).tolist()
        parents = [c.parents[i] for i in order]
        variables = [*(c.variables[i] for i in order), c.variables[-1]]
        rows = c.table().transpose([*order, len(order)]).reshape(-1, variables[-1].cardinality)
        kind = rng.random()
        if parents and kind < 0.25:
            tree, leaves = random_tree(rng, {p: v.cardinality for p, v in zip(parents, variables, strict=False)})
            kept = rows[np.arange(leaves) % len(rows)]
            conditionals.append(TreeConditional(c.child, parents, variables, tree, kept))
        elif parents and kind < 0.5:
            _, group_of = np.unique(rng.integers(0, 3, size=len(rows)), return_inverse=True)
            shape = [v.cardinality for v in variables[:-1]]
            kept = rows[: group_of.max() + 1]
            conditionals.append(MergedTable(c.child, parents, variables, group_of.reshape(shape), kept))
        else:
            conditionals.append(FullTable(c.child, parents, variables, rows))
    return fn.BayesianNetwork(net.variables, conditionals)


def married(cardinality: int) -> fn.BayesianNetwork:
    """Five uniform variables, every two of which have a child: too much for one table when they have many states."""
    roots = [f"x{i}" for i in range(5)]
    pairs = list(itertools.combinations(roots, 2))
    variables = [fn.Variable(name, range(cardinality)) for name in roots]
    variables += [fn.Variable(a + b, [0, 1]) for a, b in pairs]
    tables = {name: np.full(cardinality, 1 / cardinality) for name in roots}
    rng = np.random.default_rng(0)
    tables |= {a + b: rng.dirichlet([1, 1], size=(cardinality, cardinality)) for a, b in pairs}
    return fn.BayesianNetwork.from_tables(variables, {a + b: [a, b] for a, b in pairs}, tables)


def long_network(
    variables: list[fn.Variable], parents: dict[str, list[str]], tables: dict[str, Any]
) -> fn.BayesianNetwork:
    """What `BayesianNetwork.from_tables` makes; that looks all names up once a variable, which is too long here."""
    places = {v.name: i for i, v in enumerate(variables)}
    conditionals = []
    for child, v in enumerate(variables):
        of = [places[name] for name in parents.get(v.name, [])]
        rows = np.asarray(tables[v.name], dtype=np.float64).reshape(-1, v.cardinality)
        conditionals.append(FullTable(child, of, [*(variables[p] for p in of), v], rows))
    return fn.BayesianNetwork(variables, conditionals)


@st.composite
def all_kinds(draw: st.DrawFn, *, most_variables: int = 5) -> fn.BayesianNetwork:
    """Networks whose parents stand in any order, with merged tables, trees, zeros, and probabilities around 1e-9."""
    seed = draw(st.integers(0, 2**32))
    if draw(st.booleans()):
        return varied(draw(networks(most_variables=most_variables)), seed)
    cardinalities = draw(st.lists(st.integers(1, 4), min_size=1, max_size=most_variables))
    return varied(random_network(seed, cardinalities, sharp=0.3), seed)


LIKELIHOODS = st.sampled_from([1e-9, 0.25, 1.0, 3.0, 1e6])


@st.composite
def queries(draw: st.DrawFn, *, most_variables: int = 5) -> Query:
    """Names in any order; states and likelihoods, also of one and the same variable, that some x agrees with."""
    net = draw(all_kinds(most_variables=most_variables))
    table = joint(net)
    possible = np.argwhere(table > 0)
    cell = possible[draw(st.integers(0, len(possible) - 1))]
    subsets = st.lists(st.sampled_from(net.names), unique=True)
    places = {name: i for i, name in enumerate(net.names)}
    given = {name: net.variables[places[name]].states[cell[places[name]]] for name in draw(subsets)}
    likelihood: dict[str, Array] = {}
    for name in draw(subsets):
        r = table.shape[places[name]]
        values = np.array(draw(st.lists(LIKELIHOODS | st.just(0.0), min_size=r, max_size=r)))
        values[cell[places[name]]] = draw(LIKELIHOODS)
        likelihood[name] = values
    return Query(net, draw(subsets), given, likelihood)
