"""The report: what is computed, and in which words it is told."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from studies.dependency_networks import clamping, growth, orbits, sizes, tables, theorem_3, trees, verdict, words
from studies.dependency_networks.markdown import short
from studies.dependency_networks.truths import COUPLING, Truth, bn20_37, data_sets, ising

Say = Callable[[str], None]

FIGURE = "dependency-networks-growth.svg"
QUICK_SIZES = [100, 1_000, 10_000]
FULL_SIZES = [*QUICK_SIZES, 100_000, 1_000_000]


@dataclass(frozen=True)
class Options:
    """What to compute."""

    quick: bool = False
    data: Path | None = None
    """The folder of the reference data, for BN20-37."""
    ising_stationary: bool = False
    """Also the stationary distribution of the 5x5 Ising model: 2^25 states, gigabytes of memory."""
    figures: Path | None = None
    """The folder that figures are written to, below that of the report; without it there are none."""

    @property
    def sizes(self) -> list[int]:
        """The sizes of the training sets."""
        return QUICK_SIZES if self.quick else FULL_SIZES


def report(options: Options, say: Say = print) -> str:
    """Compute everything and return the report as Markdown."""
    bn = bn20_37(options.data)
    truths = [truth for truth in (bn, ising(5, 5)) if truth]
    parts = [
        head(options, bn is not None),
        paper(truths, say),
        training_sizes(options, truths, say),
        endings(options, truths, say),
        movement(say),
        evidence(options, say),
        generalized_inputs(options, truths, say),
        learning_time(options, say),
    ]
    return "\n\n".join(parts) + "\n"


def head(options: Options, with_bn: bool) -> str:
    """Return what was computed, and how."""
    how = "Computed by `python -m studies.dependency_networks"
    how += " --quick" if options.quick else ""
    how += " --data FOLDER" if with_bn else ""
    how += " --ising-stationary" if options.ising_stationary else ""
    cores = os.cpu_count() or 1
    bn = words.BN_IS_HERE if with_bn else words.BN_IS_LEFT_OUT
    made = f"{how}` on {cores} core{'s' if cores > 1 else ''}."
    return f"{words.TITLE}\n\n{made} {words.SET_UP.format(coupling=COUPLING)}\n\n{bn}"


def paper(truths: list[Truth], say: Say) -> str:
    """Return Tables 1 to 4 and what is to be said of them."""
    say("Tables 1 to 4: learning")
    drawn = data_sets(truths)
    learned = [tables.learn(data) for data in drawn]
    say("Tables 1 to 4: sampling and divergences")
    accuracies = [tables.accuracy(one) for one in learned]
    found = [tables.manifolds(one) for one in learned]
    fits = ", ".join(f"{one.data.name} {one.smoothing}" for one in learned)
    say("other training sets")
    return "\n\n".join([
        "## P2's tables",
        verdict.paragraph(learned, accuracies, found),
        f"### Table 1: accuracy\n\nKL divergence to the truth in nats, of the training rows and of output rows; three "
        f"seeds of the output. Parameters of the Bayesian network: {fits}.",
        tables.table_1(learned, accuracies),
        "### Table 2: node 0 of the dependency network\n\nEntropies are those of the training rows.",
        tables.table_2(learned, found),
        "### Table 3: all nodes of the dependency network",
        tables.table_3(learned, found),
        words.TABLE_4,
        tables.table_4(learned),
        "### Other training sets\n\nP2 has one training set of each kind. Three others of the same size (three figures "
        "a cell; 100,000 output rows) show how much of a difference is chance.",
        tables.other_training_sets(drawn),
    ])  # fmt: skip


def training_sizes(options: Options, truths: list[Truth], say: Say) -> str:
    """Return accuracy by the size of the training set."""
    parts = [words.SIZES]
    for truth in (*truths, ising(4, 4)):
        say(f"training sizes: {truth.name}")
        small = truth.name == "Ising4x4" or (truth.name == "BN20-37" and not options.quick)
        floor = short(sizes.sampling_floor(truth))
        parts.append(f"### {truth.name}\n\n100,000 rows of the truth itself are at {floor}.")
        parts.append(sizes.size_table(sizes.by_size(truth, options.sizes, exact=small)))
    return "\n\n".join(parts)


def endings(options: Options, truths: list[Truth], say: Say) -> str:
    """Return exact stationary distributions, and both sides of Theorem 3."""
    of = [ising(2, 4), ising(4, 4)]
    if not options.quick:
        of += [truth for truth in truths if truth.name == "BN20-37"]
    found = []
    for truth in of:
        say(f"stationary distributions: {truth.name}")
        found += theorem_3.endings([truth], options.sizes)
    if options.ising_stationary:
        say("stationary distributions: Ising5x5")
        found += theorem_3.endings([ising(5, 5)], [1_000, 100_000])
    sides = [(at.divergence, at.bound) for at in found] + [(at.training_divergence, at.training_bound) for at in found]
    holds = f"It holds in {sum(left <= right for left, right in sides)} of {len(sides)} cases."
    return f"{words.THEOREM_3}\n\n{holds}\n\n{theorem_3.ending_table(found)}"


def movement(say: Say) -> str:
    """Return the ordered scan's way and its cycle."""
    say("the ordered scan")
    truth = ising(2, 4)
    actual, pseudo = map(orbits.orbit, orbits.networks(truth))
    falls = bool((actual.to_centre[1:] <= actual.to_centre[:-1] + 1e-12).all())
    return "\n\n".join([
        words.MOVEMENT.format(rows=orbits.ROWS, falls="never rises" if falls else "RISES, which contradicts Theorem 2"),
        orbits.trajectory_table(actual, pseudo, truth.names),
        "The cycle of the learned network. Having fired X_i the distribution lies on E_i, as Theorem 2 says, and off "
        "the others.",
        orbits.cycle_table(pseudo, truth.names),
        "The more training rows, the smaller the cycle, and the nearer the two scans.",
        orbits.radius_table(truth, QUICK_SIZES),
    ])  # fmt: skip


def evidence(options: Options, say: Say) -> str:
    """Return the gap between conditioning and clamping."""
    say("conditioning and clamping")
    return f"{words.CLAMPING}\n\n" + clamping.gap_table(ising(2, 4), options.sizes)


def generalized_inputs(options: Options, truths: list[Truth], say: Say) -> str:
    """Return what trees gain over direct inputs."""
    say("trees")
    large = 10_000 if options.quick else 100_000
    learned = [one for truth in truths for n in (1_000, large) for one in trees.learn_both(truth, n)]
    return "\n\n".join([words.TREES, trees.tree_table(learned), words.TREES_OF_LETTER, trees.letter_table()])


def learning_time(options: Options, say: Say) -> str:
    """Return how learning time grows with the number of variables, and draw it."""
    say("learning time")
    found, left_out = growth.costs(growth.QUICK_SIZES if options.quick else growth.FULL_SIZES)
    text = f"From {growth.asymptotic(found)[0].n:,} variables on, time grows as n^{growth.exponent(found):.2f}"
    text += f"; c n^2 inputs fits best with c = {1e6 * growth.unit(found):.2f} us."
    if left_out:
        text += f" For {', '.join(f'{n:,}' for n in left_out)} variables there was not the memory."
    parts = [words.LEARNING_TIME.format(rows=growth.ROWS), growth.growth_table(found), text]
    if options.figures is not None:
        growth.growth_figure(found, options.figures / FIGURE)
        parts.append(f"![Learning time by the number of variables]({options.figures.name}/{FIGURE})")
    return "\n\n".join(parts)
