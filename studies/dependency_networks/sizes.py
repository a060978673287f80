"""How accurate each model is by the size of its training set: not in P2."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import fishernet as fn
from studies.dependency_networks.markdown import short
from studies.dependency_networks.measures import exact_kl, kl_of_rows, stationary, truth_to_manifolds
from studies.dependency_networks.tables import learn_bn
from studies.dependency_networks.truths import Truth
from studies.markdown import table

TRAINING_SEEDS = (301, 302, 303)
OUTPUT_ROWS = 100_000


@dataclass(frozen=True)
class AtSize:
    """Means over the training sets of one size; divergences in nats."""

    n_rows: int
    output_dn: float
    """KL of 10^5 output rows to the truth."""
    output_bn: float
    exact_dn: float
    """KL of the stationary distribution itself to the truth; NaN where it was not computed."""
    exact_bn: float
    to_manifolds: float
    """KL(truth || E(theta_i)) averaged over the nodes."""
    inputs: float
    """Inputs a node of the dependency network."""
    parents: float
    """Parents a node of the Bayesian network."""


def at_size(truth: Truth, n: int, *, exact: bool, output_rows: int = OUTPUT_ROWS) -> AtSize:
    """Learn from a few training sets of one size and measure."""
    found = []
    for seed in TRAINING_SEEDS:
        rows = truth.model.sample(n, seed=seed)
        dn = fn.learn.dependency_network(rows)
        _, bn, _ = learn_bn(rows)
        found.append([
            kl_of_rows(dn.sample(output_rows, seed=seed), truth),
            kl_of_rows(bn.sample(output_rows, seed=seed), truth),
            exact_kl(stationary(dn), truth) if exact else np.nan,
            exact_kl(bn, truth),
            truth_to_manifolds(truth, dn).mean(),
            np.mean([len(of) for of in dn.inputs]),
            np.mean([len(of) for of in bn.dag.parents]),
        ])  # fmt: skip
    return AtSize(n, *np.mean(found, axis=0).tolist())


def sampling_floor(truth: Truth, output_rows: int = OUTPUT_ROWS) -> float:
    """Return KL of as many rows drawn from the truth itself: what a perfect model would get."""
    drawn = [truth.model.sample(output_rows, seed=1000 + seed) for seed in TRAINING_SEEDS]
    return float(np.mean([kl_of_rows(rows, truth) for rows in drawn]))


def by_size(truth: Truth, sizes: list[int], *, exact: bool) -> list[AtSize]:
    """Measure at every size."""
    return [at_size(truth, n, exact=exact) for n in sizes]


def size_table(measured: list[AtSize]) -> str:
    """Return the measurements as a table."""
    heads = [
        "training rows",
        "KL of output, DN",
        "BN",
        "exact KL, DN",
        "BN",
        "mean KL(truth, Ei)",
        "inputs a node",
        "parents a node",
    ]
    rows = []
    for at in measured:
        figures = (at.output_dn, at.output_bn, at.exact_dn, at.exact_bn, at.to_manifolds)
        shown = ["-" if np.isnan(value) else short(value) for value in figures]
        rows.append([f"{at.n_rows:,}", *shown, f"{at.inputs:.2f}", f"{at.parents:.2f}"])
    return table(heads, rows)
