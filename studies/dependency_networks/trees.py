"""Decision trees against direct inputs (P2, section 6): not in P2's experiments."""

from __future__ import annotations

from dataclasses import dataclass

import fishernet as fn
from studies.dependency_networks.markdown import short
from studies.dependency_networks.measures import kl_of_rows, truth_to_manifolds
from studies.dependency_networks.sizes import OUTPUT_ROWS, TRAINING_SEEDS
from studies.dependency_networks.truths import Truth
from studies.markdown import table

KINDS = ("direct", "tree")


@dataclass(frozen=True)
class Learned:
    """One network, learned from rows of a truth; divergences in nats."""

    truth: str
    n_rows: int
    inputs: str
    """"direct" or "tree"."""
    n_parameters: int
    to_manifolds: float
    """KL(truth || E(theta_i)) averaged over the nodes."""
    output: float
    """KL of 10^5 output rows to the truth."""


def learn_both(truth: Truth, n: int, *, output_rows: int = OUTPUT_ROWS) -> list[Learned]:
    """Learn with direct inputs and with trees from the same rows."""
    rows = truth.model.sample(n, seed=TRAINING_SEEDS[0])
    found = []
    for kind in KINDS:
        dn = fn.learn.dependency_network(rows, inputs=kind)
        found.append(
            Learned(
                truth.name,
                n,
                kind,
                dn.n_parameters,
                float(truth_to_manifolds(truth, dn).mean()),
                kl_of_rows(dn.sample(output_rows, seed=1), truth),
            )
        )
    return found


def tree_table(learned: list[Learned]) -> str:
    """Return networks as a table."""
    heads = ["truth, training rows", "inputs", "parameters", "mean KL(truth, Ei)", "KL of output"]
    rows = [
        [
            f"{one.truth}, {one.n_rows:,}",
            one.inputs,
            f"{one.n_parameters:,}",
            short(one.to_manifolds),
            short(one.output),
        ]
        for one in learned
    ]
    return table(heads, rows)


def letter_table() -> str:
    """Return the loss of held-out rows of a real table, by their cells given the rest."""
    letter = fn.datasets.load("letter", bins=4, binning="equal-width")
    training, held_out = letter.split(0.5, seed=0)
    rows = []
    for kind in KINDS:
        dn = fn.learn.dependency_network(training, inputs=kind)
        loss = -float(dn.pseudo_log_likelihood(held_out).mean())
        rows.append([kind, f"{dn.n_parameters:,}", f"{loss:.3f}"])
    return table(["inputs", "parameters", "held-out negative pseudo-log-likelihood a row"], rows)
