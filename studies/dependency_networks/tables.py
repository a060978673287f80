"""Tables 1 to 4 of P2, computed again."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

import numpy as np

import fishernet as fn
from studies.dependency_networks.markdown import cell, inputs, short, span
from studies.dependency_networks.measures import candidates_of_climb, entropy, kl_of_rows, truth_to_manifolds
from studies.dependency_networks.published import PUBLISHED, Published
from studies.dependency_networks.truths import Array, DataSet
from studies.markdown import table

T = TypeVar("T")

OUTPUT_SEEDS = (101, 102, 103)
TRAINING_SEEDS = (201, 202, 203)
OUTPUT_ROWS = 100_000
TRIALS = 3


@dataclass(frozen=True)
class Learned:
    """Both models of one data set, and how they were learned."""

    data: DataSet
    dn: fn.DependencyNetwork
    bn: fn.BayesianNetwork
    smoothing: str
    """How the Bayesian network's parameters were fitted."""
    found: fn.learn.InputsFound
    climbed: fn.learn.SearchResult
    milliseconds_dn: tuple[float, float]
    """CPU and wall clock, structure and parameters; the median of three."""
    milliseconds_bn: tuple[float, float]

    @property
    def published(self) -> Published | None:
        """What P2 prints."""
        return PUBLISHED.get(self.data.name)

    @property
    def evaluations_bn(self) -> int:
        """The acyclic graphs that Algorithm 7 evaluates."""
        return candidates_of_climb(self.data.truth.names, self.climbed.steps)


@dataclass(frozen=True)
class Accuracy:
    """Table 1 of one data set: KL of rows to the truth, by the seeds of the output."""

    training: float
    n_rows: tuple[int, ...]
    """The numbers of output rows."""
    dn: tuple[tuple[float, ...], ...]
    """By the number of output rows, then by seed."""
    bn: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Manifolds:
    """Tables 2 and 3 of one data set: KL to E(theta_i), by node."""

    training: Array
    truth: Array


def timed(work: Callable[[], T]) -> tuple[T, tuple[float, float]]:
    """Return a result, and the median milliseconds of three runs by the processor's and by the wall's clock."""
    cpu, wall = [], []
    for _ in range(TRIALS):
        began = time.process_time(), time.perf_counter()
        result = work()
        cpu.append(1e3 * (time.process_time() - began[0]))
        wall.append(1e3 * (time.perf_counter() - began[1]))
    return result, (median(cpu), median(wall))


def fit_bn(dag: fn.Dag, rows: fn.Table) -> tuple[fn.BayesianNetwork, str]:
    """Fit a Bayesian network by P2's Eq. 25, plain frequencies; where one is 0/0, by Algorithm 5 as for the other."""
    try:
        return fn.learn.parameters(dag, rows, smoothing=0), "Eq. 25"
    except fn.ZeroProbabilityError:
        return fn.learn.parameters(dag, rows, smoothing="zeros"), "Algorithm 5"


def learn_bn(rows: fn.Table) -> tuple[fn.learn.SearchResult, fn.BayesianNetwork, str]:
    """Learn by P2's Algorithm 7."""
    climbed = fn.learn.structure(rows, score="mdl", search="hill-climb")
    return climbed, *fit_bn(climbed.dag, rows)


def learn(data: DataSet) -> Learned:
    """Learn both models of a data set, three times for the clock."""
    found = fn.learn.local_structure(data.rows, score="mdl")
    dn, dn_time = timed(lambda: fn.learn.dependency_network(data.rows, score="mdl", smoothing="zeros"))
    (climbed, bn, smoothing), bn_time = timed(lambda: learn_bn(data.rows))
    return Learned(data, dn, bn, smoothing, found, climbed, dn_time, bn_time)


def accuracy(learned: Learned, n_rows: tuple[int, ...] = (OUTPUT_ROWS, 10 * OUTPUT_ROWS)) -> Accuracy:
    """Measure Table 1: burn-in and thinning are n firings, the scan is random (the sampler's defaults)."""
    truth = learned.data.truth
    dn = [learned.dn.sample(n_rows[-1], seed=seed) for seed in OUTPUT_SEEDS]
    bn = [learned.bn.sample(n_rows[-1], seed=seed) for seed in OUTPUT_SEEDS]
    of_dn, of_bn = (
        tuple(tuple(kl_of_rows(rows[:n], truth) for rows in outputs) for n in n_rows) for outputs in (dn, bn)
    )
    return Accuracy(kl_of_rows(learned.data.rows, truth), n_rows, of_dn, of_bn)


def manifolds(learned: Learned) -> Manifolds:
    """Measure how far the training rows and the truth are from every full-conditional manifold."""
    rows = learned.data.rows
    training = np.array([fn.compare.kl_to_manifold(rows, learned.dn, name) for name in learned.dn.names])
    return Manifolds(training, truth_to_manifolds(learned.data.truth, learned.dn))


def table_1(learned: list[Learned], measured: list[Accuracy]) -> str:
    """Return KL of the output rows to the truth."""
    rows = []
    for one, at in zip(learned, measured, strict=True):
        p = one.published
        printed = [cell(p, "kl_training"), cell(p, "kl_dn"), cell(p, "kl_bn")]
        rows.append([one.data.name, "P2", *printed])
        for k, n in enumerate(at.n_rows):
            rows.append([one.data.name, f"here, {n:,} rows", f"{at.training:.2f}", span(at.dn[k]), span(at.bn[k])])
    return table(["data", "output", "KL(training, truth)", "KL(DN's output, truth)", "KL(BN's output, truth)"], rows)


def table_2(learned: list[Learned], measured: list[Manifolds]) -> str:
    """Return what node 0 learned."""
    rows = []
    for one, at in zip(learned, measured, strict=True):
        p = one.published
        fields = ("inputs_0", "entropy_0", "entropy_given_0", "training_to_manifold_0", "truth_to_manifold_0")
        rows.append([one.data.name, "P2", *(cell(p, field) for field in fields)])
        name, of = one.dn.names[0], one.found.inputs[0]
        h0 = entropy(one.data.rows, name, [])
        h = entropy(one.data.rows, name, [one.dn.names[v] for v in of])
        rows.append([one.data.name, "here", inputs(of), *map(short, (h0, h, at.training[0], at.truth[0]))])
    return table(["data", "", "Y0", "H(X0)", "H(X0 given Y0)", "KL(training, E0)", "KL(truth, E0)"], rows)


def table_3(learned: list[Learned], measured: list[Manifolds]) -> str:
    """Return the averages over the nodes."""
    rows = []
    for one, at in zip(learned, measured, strict=True):
        p = one.published
        rows.append([one.data.name, "P2", cell(p, "training_to_manifolds"), cell(p, "truth_to_manifolds"), "every"])
        less = int((at.training > at.truth).sum())
        rows.append(
            [one.data.name, "here", short(at.training.mean()), short(at.truth.mean()), f"{less} of {len(at.truth)}"]
        )
    heads = ["data", "", "mean KL(training, Ei)", "mean KL(truth, Ei)", "nodes where the first is larger"]
    return table(heads, rows)


def table_4(learned: list[Learned]) -> str:
    """Return evaluations and times."""
    rows = []
    for one in learned:
        p = one.published
        fields = ("evaluations_dn", "evaluations_bn", "time_dn", "time_bn")
        rows.append([one.data.name, "P2", *(cell(p, field) for field in fields), "-", "-"])
        distinct = f"{one.found.n_scores} / {one.climbed.n_scores}"
        clock = [f"{one.milliseconds_dn[0]:.1f}", f"{one.milliseconds_bn[0]:.1f}"]
        walls = f"{one.milliseconds_dn[1]:.1f} / {one.milliseconds_bn[1]:.1f}"
        rows.append([one.data.name, "here", one.found.n_candidates, one.evaluations_bn, *clock, walls, distinct])
    heads = [
        "data",
        "",
        "evaluations DN",
        "BN",
        "CPU ms DN",
        "BN",
        "elapsed ms DN / BN",
        "distinct local scores DN / BN",
    ]
    return table(heads, rows)


def other_training_sets(sets: list[DataSet]) -> str:
    """Return how the printed figures move from one training set to the next."""
    rows = []
    for data in sets:
        truth = data.truth
        drawn = [truth.model.sample(data.rows.n_rows, seed=seed) for seed in TRAINING_SEEDS]
        learned = [learn(DataSet(data.name, truth, one)) for one in drawn]
        both = list(zip(learned, OUTPUT_SEEDS, strict=True))
        figures = [
            span([kl_of_rows(one, truth) for one in drawn]),
            span([kl_of_rows(one.dn.sample(OUTPUT_ROWS, seed=seed), truth) for one, seed in both]),
            span([kl_of_rows(one.bn.sample(OUTPUT_ROWS, seed=seed), truth) for one, seed in both]),
            " ".join(short(float(truth_to_manifolds(truth, one.dn).mean())) for one in learned),
            " ".join(str(one.found.n_candidates) for one in learned),
            " ".join(str(one.evaluations_bn) for one in learned),
        ]
        rows.append([data.name, *figures])
    heads = [
        "data",
        "KL(training, truth)",
        "KL(DN's output, truth)",
        "KL(BN's output, truth)",
        "mean KL(truth, Ei)",
        "evaluations DN",
        "BN",
    ]
    return table(heads, rows)
