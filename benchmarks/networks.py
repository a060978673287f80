"""The networks that are raced on: the one that is shipped, those of a folder beside the repository, a random one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import fishernet as fn
from benchmarks.environment import ROOT

SHARED = ROOT.parent / "shared" / "data" / "networks"
"""Where networks of the Bayesian Network Repository are looked for; what is not there is left out."""

REPOSITORY = ("alarm", "hailfinder", "barley", "mildew", "andes", "pigs", "diabetes", "munin", "munin1", "link")
QUICK = ("alarm", "hailfinder", "munin1")

NETWORK_SEED = 3
N_BINARY = 25
MIXED_STATES = (2, 3, 4)
EVIDENCE_SEED = 3
N_OBSERVED = 5


@dataclass(frozen=True)
class Network:
    """A network as jobs carry it: ascending parents, flat tables [parents ..., state]."""

    title: str
    cardinalities: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[list[float], ...]
    leaves: tuple[tuple[int, int], ...] = ()
    """The first childless variables, each with its code in a sampled row: possible evidence."""

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of a `Job` that say what the network is."""
        return {"cardinalities": self.cardinalities, "parents": self.parents, "tables": self.tables}


@dataclass(frozen=True)
class Networks:
    """The networks of the repository."""

    found: tuple[Network, ...]
    missing: tuple[str, ...]
    """The names of those that are not there."""


def network_of(title: str, net: fn.BayesianNetwork) -> Network:
    """Return a network with every variable's parents in ascending order."""
    cardinalities = tuple(variable.cardinality for variable in net.variables)
    parents, tables = [], []
    for conditional in net.conditionals:
        order = np.argsort(conditional.parents)
        parents.append(tuple(int(conditional.parents[i]) for i in order))
        tables.append(conditional.table().transpose([*order, len(order)]).ravel().tolist())
    return Network(title, cardinalities, tuple(parents), tuple(tables), sampled_leaves(net))


def dependency_network_of(title: str, dn: fn.DependencyNetwork) -> Network:
    """Return a dependency network; its inputs are in ascending order already."""
    cardinalities = tuple(variable.cardinality for variable in dn.variables)
    tables = tuple(conditional.table().ravel().tolist() for conditional in dn.conditionals)
    return Network(title, cardinalities, dn.inputs, tables)


def sampled_leaves(net: fn.BayesianNetwork) -> tuple[tuple[int, int], ...]:
    """Return the first leaves, in the order of the variables, with their codes in one sampled row."""
    have_children = {parent for conditional in net.conditionals for parent in conditional.parents}
    leaves = [v for v in range(len(net.variables)) if v not in have_children][:N_OBSERVED]
    row = net.sample(1, seed=EVIDENCE_SEED)
    return tuple((v, int(row.codes[v][0])) for v in leaves)


def repository(quick: bool) -> Networks:
    """Read the networks of the repository that are there."""
    names = QUICK if quick else REPOSITORY
    found, missing = [], []
    for name in names:
        path = SHARED / f"{name}.bif.gz"
        if name == "alarm":
            found.append(network_of(name, fn.datasets.load("alarm")))
        elif path.exists():
            found.append(network_of(name, fn.read_bif(path)))
        else:
            missing.append(name)
    return Networks(tuple(found), tuple(missing))


def binary_network() -> fn.BayesianNetwork:
    """Return a random network of 25 binary variables with two to four parents each, where there are so many before it.

    The conditionals are U-shaped (Beta(1/2, 1/2), kept from 0.05 to 0.95), so that most parents matter.
    """
    rng = np.random.default_rng(NETWORK_SEED)
    names = [f"b{i}" for i in range(N_BINARY)]
    parents: dict[str, list[str]] = {}
    tables: dict[str, npt.NDArray[np.float64]] = {}
    for i, name in enumerate(names):
        n_parents = min(i, int(rng.integers(2, 5)))
        parents[name] = [names[j] for j in np.sort(rng.permutation(i)[:n_parents])]
        chance = np.clip(rng.beta(0.5, 0.5, size=(2,) * n_parents), 0.05, 0.95)
        tables[name] = np.stack([1 - chance, chance], axis=-1)
    return fn.BayesianNetwork.from_tables([fn.Variable(name, (0, 1)) for name in names], parents, tables)


def mixed_network(n: int) -> fn.BayesianNetwork:
    """Return a random network of n variables of two to four states, with up to three parents each.

    The conditionals are drawn from Dirichlet(1/2, ..., 1/2), so that most parents matter.
    """
    rng = np.random.default_rng(NETWORK_SEED)
    variables = [fn.Variable(f"m{i}", range(int(rng.choice(MIXED_STATES)))) for i in range(n)]
    parents: dict[str, list[str]] = {}
    tables: dict[str, npt.NDArray[np.float64]] = {}
    for i, variable in enumerate(variables):
        chosen = np.sort(rng.permutation(i)[: int(rng.integers(4))]).tolist()
        parents[variable.name] = [variables[j].name for j in chosen]
        shape = tuple(variables[j].cardinality for j in chosen)
        tables[variable.name] = rng.dirichlet(np.full(variable.cardinality, 0.5), size=shape)
    return fn.BayesianNetwork.from_tables(variables, parents, tables)
