"""Marginals of all families of networks from the literature, and small questions to a small network.

A race begins with a network that has been loaded and ends with all marginals: making the plan, calibrating and
reading them off. Ours agree with a peer's, and everyone's with ours, to 1e-8 in every cell; those of one contender
also with one another: a variable has one distribution, from whichever family it is summed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

import fishernet as fn
from benchmarks.calls import Array, Call, Data
from benchmarks.race import Race, Target, Told, Verdict, agrees, below, calls_of, difference, faster
from benchmarks.sources import bayesian_network, network_of, repository, spaced

TITLE = "Inference"
TREE, FRAGMENTS = "pyAgrum (one tree)", "pyAgrum (a query a fragment)"
PEERS = {TREE: "one_tree", "pyAgrum (a query a family)": "queries", FRAGMENTS: "fragments", "pgmpy": "families"}
TOO_MUCH = {
    "munin1": {TREE: "skipped (27 s and 5 GB)"},
    "link": {TREE: "skipped (killed at 24 GB)"},
    "diabetes": {FRAGMENTS: "skipped (killed at 24 GB)", "pgmpy": "skipped (minutes; --full runs it)"},
}


def network(name: str, observed: bool) -> Data:
    """Return a network; what may be observed are the first five childless variables, in the states of a sampled row."""
    net = repository(name)
    data = network_of(name, net)
    title = f"{name}, {len(data.tables)} variables, {spaced(sum(table.size for table in data.tables))} cells"
    parents, row = {parent for of in data.parents for parent in of}, net.sample(1, seed=3)
    leaves = [v for v in range(len(data.tables)) if v not in parents][:5] if observed else []
    title += f", {len(leaves)} leaves observed" if leaves else ""
    return dataclasses.replace(data, title=title, given={v: int(row.codes[v][0]) for v in leaves})


def tell(marginals: Sequence[Array], data: Data) -> list[Array]:
    """Return what is asked of marginals of families: of the members that are not given."""
    families = [tuple(data.given.get(v, slice(None)) for v in data.family(child)) for child in range(len(marginals))]
    parts = [np.asarray(table[place]) for table, place in zip(marginals, families, strict=True)]
    return [part for part in parts if part.ndim]


def are_marginals(told: Told) -> Verdict:
    """Compare the marginals with those of another contender, and with one another."""
    right, text = agrees(tolerance=1e-8)(told)
    own: dict[str, list[Array]] = {}
    for names, table in zip(told.data.asked(), told.answer, strict=True):
        for axis, name in enumerate(names):
            own.setdefault(name, []).append(table.sum(axis=tuple(i for i in range(table.ndim) if i != axis)))
    apart = max(max(difference(p, of[0]), difference(p.sum(), 1)) for of in own.values() for p in of)
    return right and apart <= 1e-8, f"{text}, in itself to {apart:.0e}"


def joint_sum(told: Told) -> Any:
    """Let NumPy sum the product of all tables: for the last variable's marginal, or for the evidence."""
    data = told.data
    operands: list[Any] = []
    for child, table in enumerate(data.tables):
        operands += [table, list(data.family(child))]
    given = sorted(data.given)
    joint = np.einsum(*operands, [*given, len(data.tables) - 1], optimize="greedy")[tuple(data.given[v] for v in given)]
    return joint / joint.sum() if np.ndim(told.answer) else np.log(joint.sum())


FAMILIES = Call(
    lambda data: (bayesian_network(data), data.known),
    lambda handed: fn.infer.family_marginals(handed[0], given=handed[1]),
    tell,
)


def families(name: str, observed: bool = False, needs: str = "", more: Sequence[Target] = ()) -> Race:
    targets, skipped = [faster(3, "pyAgrum", "pgmpy"), *more], TOO_MUCH.get(name, {})
    return Race(lambda: network(name, observed), FAMILIES, are_marginals, PEERS, targets, needs=needs, skipped=skipped)


def small(title: str, ask: Any) -> Race:
    """Return a race for a question about the last variable of a fresh network, of which five leaves are known."""
    call = Call(lambda data: (bayesian_network(data), data.names[-1], data.known), lambda handed: ask(*handed))
    return Race(lambda: network("alarm", True), call, agrees(joint_sum, 1e-8), title=title)


RACES = (
    small("one marginal", lambda net, name, given: fn.infer.marginal(net, [name], given=given)),
    small("log-evidence", lambda net, _, given: fn.infer.log_evidence(net, given)),
    families("alarm", needs="--quick"),
    families("alarm", True, "--quick", [below(1e-3)]),
    families("hailfinder", needs="--quick"),
    families("munin1", needs="--quick"),
    *(families(name) for name in ("barley", "mildew", "andes", "pigs", "diabetes", "munin", "link")),
    families("barley", True, more=[below(0.5)]),
)
CALLS = calls_of(RACES)
