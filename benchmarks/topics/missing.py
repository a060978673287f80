"""Rows of alarm with missing cells: parameters by EM, probabilities, expected features, structures.

A masked cell's code is the number of states. Everyone fits the true graph with pseudo-count one and stops by its own
rule, ours when a step gains less than 1e-7 nats a known cell; a fit is right when its log-posterior is within 0.01 nats
a row of that of a long fit of ours. pgmpy's DiscreteEM drops the rows that lack a cell, here nearly all: it is for
hidden variables alone, and does not take part.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np

import fishernet as fn
from benchmarks.calls import Array, Call, Data
from benchmarks.environment import OURS
from benchmarks.race import Race, Told, Verdict, agrees, below, calls_of, faster, same
from benchmarks.sources import alarm_rows, bayesian_network, graph_of, network_of, spaced, variables_of

TITLE = "Missing cells"
STEPS = 10
HIDDEN = ["v5", "v12", "v20"]
LOOKED_AT = 20  # rows whose answers are computed in another way
NEAR = 0.01  # nats a row
GRAPH_NEAR = 0.02  # of the true graph's BIC


def masked(n_rows: int, share: float) -> Data:
    """Return rows of alarm with its network, a share of whose cells is missing completely at random."""
    net = network_of("", fn.datasets.load("alarm"))
    rows = np.array(alarm_rows()[:n_rows], dtype=np.uint8, order="F")
    holes = np.random.default_rng(5).random(rows.shape) < share
    rows = np.where(holes, np.array(net.cardinalities, dtype=np.uint8), rows)
    title = f"alarm, {spaced(n_rows)} rows, {100 * share:.0f} % missing"
    return Data(title, rows, net.cardinalities, net.parents, net.tables)


def whole(n_rows: int) -> Data:
    """Return the same rows with all their cells."""
    return dataclasses.replace(masked(n_rows, 0.0), title=f"alarm, {spaced(n_rows)} rows")


def incomplete(data: Data) -> fn.Table:
    return fn.Table(variables_of(data), list(data.rows.T.copy()))


def with_tables(data: Data, tables: Any) -> fn.BayesianNetwork:
    return bayesian_network(Data("", data.rows, data.cardinalities, data.parents, tuple(tables)))


def in_order(net: fn.BayesianNetwork, data: Data) -> list[Array]:
    """Return the tables with every variable's parents ascending."""
    del data
    return list(network_of("", net).tables)


def log_posterior(data: Data, tables: Any, smoothing: float) -> float:
    """Return the log-likelihood of what is known, and the prior's term, a row."""
    likelihood = with_tables(data, tables).log_prob(incomplete(data)).sum()
    prior = smoothing * sum(float(np.log(table).sum()) for table in tables) if smoothing else 0.0
    return (float(likelihood) + prior) / len(data.rows)


def is_a_top(told: Told) -> Verdict:
    """Hold a fit to a long one of ours, and every table to sum to one."""
    handed = graph_of(told.data), incomplete(told.data)
    net = fn.learn.em_fit(*handed, tolerance=1e-10, max_steps=5000).model
    best = log_posterior(told.data, in_order(net, told.data), 1.0)
    sums = max(float(np.abs(table.sum(axis=-1) - 1).max()) for table in told.answer)
    off = best - log_posterior(told.data, told.answer, 1.0)
    return off <= NEAR and sums < 1e-6, f"{off:.1e} nats a row below a long fit"


def evidence(told: Told) -> Array:
    """Return the log-probability of the first rows by elimination, one by one."""
    net, states = bayesian_network(told.data), told.data.cardinalities
    rows = told.data.rows[:LOOKED_AT].tolist()
    known = [{f"v{v}": code for v, code in enumerate(row) if code < states[v]} for row in rows]
    return np.array([fn.infer.log_evidence(net, row) for row in known])


def summed_features(told: Told) -> Array:
    """Return the features of the first rows, summed over all states of the hidden variables."""
    net = bayesian_network(told.data)
    kernel, places = fn.kernels.FisherKernel(net), [net.names.index(name) for name in HIDDEN]
    found = []
    for row in told.data.rows[:LOOKED_AT]:
        states = list(itertools.product(*(range(told.data.cardinalities[v]) for v in places)))
        completed = np.tile(row.astype(np.int64), (len(states), 1))
        completed[:, places] = states
        weights = np.exp(net.log_prob(completed))
        found.append(weights @ kernel.features(completed).toarray() / weights.sum())
    return np.array(found)


def is_near_the_truth(told: Told) -> Verdict:
    """Hold the BIC of a graph on the complete rows to that of the graph they come from."""
    data = whole(len(told.data.rows))
    table = incomplete(data)
    truth = fn.score(graph_of(data), table)
    off = (truth - fn.score(fn.Dag(data.names, told.answer), table)) / abs(truth)
    return off <= GRAPH_NEAR, f"BIC on the complete rows {100 * off:.2f} % below that of the true graph"


def first(found: Any, data: Data) -> Array:
    del data
    return np.asarray(found[:LOOKED_AT])


def learned(missing: Any, **options: Any) -> Call:
    return Call(
        incomplete,
        lambda table: fn.learn.structure(table, missing=missing, **options).dag,
        lambda dag, _: [sorted(row) for row in dag.parents],
    )


def steps(handed: tuple[fn.Dag, fn.Table]) -> Any:
    return fn.learn.em_fit(*handed, max_steps=STEPS, tolerance=0.0, accelerate=False)


EM = Call(lambda data: (graph_of(data), incomplete(data)), lambda handed: fn.learn.em_fit(*handed).model, in_order)
A_STEP = Call(
    lambda data: (graph_of(data), incomplete(data)),
    steps,
    lambda found, data: [found.log_likelihood / len(data.rows), *in_order(found.model, data)],
    clock=lambda found, seconds: seconds / (len(found.trace) - 1),
)
LOG_PROB = Call(
    lambda data: (bayesian_network(data), incomplete(data)), lambda handed: handed[0].log_prob(handed[1]), first
)
EXPECTED = Call(
    lambda data: (fn.kernels.HiddenVariableKernel(bayesian_network(data), HIDDEN), incomplete(data)),
    lambda handed: handed[0].features(handed[1]),
    lambda found, _: found[:LOOKED_AT].toarray(),
)


def is_its_likelihood(told: Told) -> Verdict:
    """Hold the log-likelihood that the steps report to the probabilities of the rows under the tables."""
    return agrees(lambda of: [log_posterior(of.data, of.answer[1:], 0.0), *of.answer[1:]], 1e-9)(told)


MISSINGNESS = Call(
    incomplete,
    fn.independence.missingness,
    lambda found, _: found.to_frame()["mutual_information"].to_numpy()[:LOOKED_AT],
)


def dependences(told: Told) -> Array:
    """Return the mutual information of the first variable's holes and the next variables, from the counts."""
    rows, states = told.data.rows, told.data.cardinalities
    found = []
    for v in range(1, LOOKED_AT + 1):
        joint = np.zeros((2, states[v] + 1))
        np.add.at(joint, ((rows[:, 0] == states[0]).astype(int), rows[:, v]), 1)
        joint = joint[:, :-1] / joint[:, :-1].sum()
        held = joint > 0
        apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
        found.append((joint[held] * np.log(joint[held] / apart[held])).sum())
    return np.array(found)


TEN_THOUSAND = 10_000
RACES = (
    Race(
        lambda: masked(1000, 0.2),
        EM,
        is_a_top,
        same("em", "pyAgrum"),
        [below(0.3), faster(20, "pyAgrum")],
        title="parameters by EM",
    ),
    Race(lambda: masked(TEN_THOUSAND, 0.1), A_STEP, is_its_likelihood, {}, [below(0.3)], title="a step of EM"),
    Race(
        lambda: masked(TEN_THOUSAND, 0.1),
        LOG_PROB,
        agrees(evidence),
        {},
        [below(0.5)],
        title="log-probability of every row",
    ),
    Race(
        lambda: masked(10 * TEN_THOUSAND, 0.1),
        MISSINGNESS,
        agrees(dependences),
        {},
        [below(0.3)],
        title="what missing cells depend on",
    ),
    Race(
        lambda: whole(TEN_THOUSAND),
        EXPECTED,
        agrees(summed_features, 1e-8),
        {},
        [below(1.0)],
        title=f"expected features, {len(HIDDEN)} variables hidden",
    ),
    Race(
        lambda: masked(TEN_THOUSAND, 0.1),
        {OURS: learned("node-average"), f"{OURS} (hill-climb)": learned("node-average", search="hill-climb")},
        is_near_the_truth,
        {},
        [below(0.1)],
        title="structure by the node-average likelihood",
    ),
    Race(
        lambda: masked(TEN_THOUSAND, 0.1),
        {OURS: learned("em"), f"{OURS} (hill-climb)": learned("em", search="hill-climb")},
        is_near_the_truth,
        {},
        [below(20)],
        title="structure by structural EM",
        needs="",
    ),
)
CALLS = calls_of(RACES)
