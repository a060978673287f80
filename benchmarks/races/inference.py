"""Races of exact inference: the marginals of all families of networks from the literature."""

from __future__ import annotations

import dataclasses

from benchmarks.contenders import OURS
from benchmarks.data import spaced
from benchmarks.networks import SHARED, Network, Networks
from benchmarks.races.race import Race, Target, who
from benchmarks.workers.job import Job

TREE, QUERIES, FRAGMENTS = "one tree", "a query a family", "a query a fragment"
ENTRANTS = (OURS, "pyAgrum", "pgmpy")
FORMS = {"pyAgrum": (TREE, QUERIES, FRAGMENTS)}

SKIPPED = {
    "munin1": {who("pyAgrum", TREE): "skipped (27 s and 5 GB)"},
    "link": {who("pyAgrum", TREE): "skipped (killed at 24 GB)"},
    "diabetes": {who("pyAgrum", FRAGMENTS): "skipped (killed at 24 GB)"},
}
MINUTES = {"diabetes": {"pgmpy": "skipped (minutes; `--full` runs it)"}}

THREE_TIMES = Target(ratio=3, against=("pyAgrum", "pgmpy"))
WITH_EVIDENCE = {"alarm": Target(seconds=1e-3), "barley": Target(seconds=0.5)}
"""The networks that are also raced with leaves observed."""


def inference_races(networks: Networks, repeats: int, full: bool) -> list[Race]:
    """Race on every network that is there, and say which are not."""
    races = [without_evidence(network, repeats, full) for network in networks.found]
    races += [with_evidence(network, repeats) for network in networks.found if network.title in WITH_EVIDENCE]
    if networks.missing:
        remark = f"Left out, because not in {'/'.join(SHARED.parts[-3:])}: {', '.join(networks.missing)}."
        races[0] = dataclasses.replace(races[0], remarks=(remark,))
    return races


def without_evidence(network: Network, repeats: int, full: bool) -> Race:
    job = Job("families", repeats=repeats, **network.fields)
    skipped = SKIPPED.get(network.title, {}) | ({} if full else MINUTES.get(network.title, {}))
    return Race("inference", heading(network), job, ENTRANTS, (THREE_TIMES,), forms=FORMS, skipped=skipped)


def with_evidence(network: Network, repeats: int) -> Race:
    job = Job("families", repeats=repeats, given=network.leaves, **network.fields)
    title = f"{heading(network)}, {len(network.leaves)} leaves observed"
    return Race("inference", title, job, ENTRANTS, (THREE_TIMES, WITH_EVIDENCE[network.title]), forms=FORMS)


def heading(network: Network) -> str:
    return f"{network.title}, {len(network.cardinalities)} variables, {spaced(sum(map(len, network.tables)))} cells"
