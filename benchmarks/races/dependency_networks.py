"""Races of dependency networks: learning them, where their sampler ends, and how fast it fires."""

from __future__ import annotations

import fishernet as fn
from benchmarks.contenders import OURS
from benchmarks.data import Data, Tables, spaced
from benchmarks.networks import Network, dependency_network_of
from benchmarks.races.race import Race, Target
from benchmarks.workers.job import Job
from studies.dependency_networks.growth import random_network
from studies.dependency_networks.truths import LARGE, ising

FIRINGS = 10_000_000
SEED = 4

NO_PEER = "There is no peer: none of the libraries that are raced here learns dependency networks."


def learning(tables: Tables, repeats: int) -> list[Race]:
    """Race where there is much to count, and where there is much to choose from."""
    wanted = [(tables.grid, (Target(seconds=0.03),)), (tables.wide, (Target(seconds=10), Target(extra_bytes=2e9)))]
    races = []
    for data, targets in wanted:
        job = Job("dependency_network", repeats=repeats, **data.fields)
        remarks = (NO_PEER,) if data is tables.wide else ()
        races.append(Race("dependency-network", data.title, job, (OURS,), targets, remarks=remarks))
    return races


def stationary(repeats: int) -> list[Race]:
    """Race on networks of twenty variables: one whose chain mixes well, and one whose chain does not."""
    truths = [("20 binary", random_network(20)), ("Ising4x5", ising(4, 5).model)]
    races = []
    for title, truth in truths:
        network = dependency_network_of(title, fn.learn.dependency_network(truth.sample(LARGE, seed=SEED)))
        job = Job("stationary", repeats=repeats, **network.fields)
        races.append(Race("stationary", f"{heading(network)}, 2^20 states", job, (OURS,), (Target(seconds=10),)))
    return races


def firing(tables: Tables, repeats: int) -> list[Race]:
    """Fire the networks that are learned from the grid and from letter's columns of four states."""
    of_grid = dependency_network_of("Ising5x5L", fn.learn.dependency_network(table_of(tables.grid)))
    letter = table_of(tables.training)
    four = [v.name for v in letter.variables if v.cardinality == 4]
    three = fn.learn.dependency_network(letter.select(four), score="aic", max_inputs=3)  # all take as many as they may
    of_letter = dependency_network_of("letter, 4 states each", three)
    races = []
    for network, wanted in ((of_grid, 100e6), (of_letter, 30e6)):
        n_rows = FIRINGS // len(network.cardinalities)
        job = Job("fire", repeats=repeats, n_rows=n_rows, seed=1, **network.fields)
        title = f"{heading(network)}, {spaced(FIRINGS)} firings"
        races.append(Race("firing", title, job, (OURS,), (Target(rate=wanted),)))
    return races


def table_of(data: Data) -> fn.Table:
    return fn.Table.from_codes(Job("", **data.fields).read_codes())


def heading(network: Network) -> str:
    n = len(network.cardinalities)
    return f"{network.title}, {n} variables, {sum(map(len, network.parents)) / n:.1f} inputs each"
