"""Drawing rows from the alarm network, and firing all its variables in one chain from their full conditionals.

Of a sample, every frequency of a state under a configuration of its parents lies within five standard deviations of
its probability (where at least 25 rows are expected on either side), and what is impossible does not occur.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

import fishernet as fn
from benchmarks.calls import Call, Data
from benchmarks.race import Race, Told, Verdict, calls_of, difference, faster, same
from benchmarks.sources import bayesian_network, codes_of, network_of, repository, spaced

TITLE = "Drawing rows"
PEERS = ("pyAgrum", "pgmpy", "bnlearn")
FIRINGS = 20_000
ENOUGH = 25.0


def net(n_rows: int, title: str) -> Data:
    data = network_of(f"alarm, {title}", repository("alarm"))
    return dataclasses.replace(data, options={"n_rows": n_rows, "seed": 1})


def chain(data: Data) -> tuple[fn.DependencyNetwork, int]:
    """Return a network whose tables are made, as the peer makes its engine, and the number of rows."""
    dn = fn.DependencyNetwork.from_joint(bayesian_network(data), allow_zeros=True)
    dn.sample(1, burn_in=0, seed=0)
    return dn, data.options["n_rows"]


SAMPLE = Call(
    lambda data: (bayesian_network(data), data.options["n_rows"]),
    lambda handed: handed[0].sample(handed[1], seed=1),
    lambda table, _: codes_of(table),
)
GIBBS = Call(
    chain,
    lambda handed: handed[0].sample(handed[1], burn_in=0, seed=1),
    lambda table, _: [float((column == 0).mean()) for column in table.codes],
)


def has_frequencies(told: Told) -> Verdict:
    """Count every state of every variable under every configuration of its parents, where it is binomial."""
    codes: np.ndarray[Any, Any] = np.asarray(told.answer)
    worst = 0.0
    for child, p in enumerate(told.data.tables):
        cell = np.ravel_multi_index([codes[:, i] for i in told.data.family(child)], p.shape)
        counts = np.bincount(cell, minlength=p.size).reshape(p.shape)
        if counts[p == 0].any():
            return False, "what is impossible occurs"
        totals = counts.sum(axis=-1, keepdims=True)
        expected = totals * p
        judged = (expected >= ENOUGH) & (totals - expected >= ENOUGH)
        away = np.abs(counts - expected)[judged] / np.sqrt(expected * (1 - p))[judged]
        worst = max(worst, float(np.max(away, initial=0.0)))
    return worst <= 5, f"frequencies within {worst:.1f} sd"


def has_shares(told: Told) -> Verdict:
    """Hold shares of first states to 0.25: near certainties hold a chain of alarm for thousands of firings."""
    marginals = fn.infer.family_marginals(bayesian_network(told.data))
    exact = [table.reshape(-1, table.shape[-1]).sum(axis=0)[0] for table in marginals]
    worst = difference(told.answer, exact)
    return worst <= 0.25, f"shares of first states within {worst:.2f} of the exact ones"


def forward(n_rows: int, **more: Any) -> Race:
    return Race(lambda: net(n_rows, f"{spaced(n_rows)} rows"), SAMPLE, has_frequencies, same("sample", *PEERS), **more)


RACES = (
    forward(100),
    forward(100_000),
    forward(1_000_000, targets=[faster(3, *PEERS)], needs=""),
    Race(
        lambda: net(FIRINGS, f"{spaced(37 * FIRINGS)} firings"),
        GIBBS,
        has_shares,
        same("gibbs", "pyAgrum"),
        [faster(200, "pyAgrum")],
        title="Gibbs sampling",
    ),
)
CALLS = calls_of(RACES)
