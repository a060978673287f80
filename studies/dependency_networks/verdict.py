"""What agrees with P2's printed figures, and what does not, in one paragraph made of the numbers."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean

from studies.dependency_networks.markdown import inputs, short
from studies.dependency_networks.measures import entropy
from studies.dependency_networks.tables import Accuracy, Learned, Manifolds

RELATIVE = 0.05
ABSOLUTE = 0.006  # a little more than half the last printed digit of the figures that have two


@dataclass(frozen=True)
class Figure:
    """One printed figure and ours."""

    data: str
    what: str
    printed: float
    here: float

    @property
    def agrees(self) -> bool:
        """Whether they differ by no more than 5 % or the rounding of the print."""
        return abs(self.here - self.printed) <= max(RELATIVE * abs(self.printed), ABSOLUTE)

    def __str__(self) -> str:
        return f"{self.data} {self.what} ({short(self.here)}, printed {short(self.printed)})"


def figures(learned: Learned, at: Accuracy, to: Manifolds) -> list[Figure]:
    """Return the figures of one data set that P2 prints in nats, but for KL(truth, Ei)."""
    p = learned.published
    if p is None:
        return []
    rows, names = learned.data.rows, learned.dn.names
    given = entropy(rows, names[0], [names[v] for v in learned.found.inputs[0]])
    found = [
        ("KL of the training rows", p.kl_training, at.training),
        ("KL of DN's output", mean(p.kl_dn), mean(at.dn[0])),
        ("KL of BN's output", mean(p.kl_bn), mean(at.bn[0])),
        ("H(X0)", p.entropy_0, entropy(rows, names[0], [])),
        ("H(X0 given Y0)", p.entropy_given_0, given),
        ("KL(training, E0)", p.training_to_manifold_0, float(to.training[0])),
        ("mean KL(training, Ei)", p.training_to_manifolds, float(to.training.mean())),
    ]
    return [Figure(learned.data.name, *one) for one in found]


def counts(learned: list[Learned]) -> str:
    """Return what became of the evaluations and of node 0's inputs."""
    parts = []
    for one in learned:
        p = one.published
        if p is None:
            continue
        same = "as printed" if one.found.n_candidates == p.evaluations_dn else f"printed {p.evaluations_dn}"
        of = one.found.inputs[0]
        inputs_same = "as printed" if of == p.inputs_0 else f"printed {inputs(p.inputs_0)}"
        parts.append(
            f"{one.data.name}: {one.found.n_candidates} evaluations of the dependency network ({same}), "
            f"{one.evaluations_bn} of the Bayesian network (printed {p.evaluations_bn}), node 0 looks at {inputs(of)} "
            f"({inputs_same})"
        )
    return "; ".join(parts)


def truths(learned: list[Learned], found: list[Manifolds]) -> str:
    """Return the averages of KL(truth, Ei), which are too small for a tolerance: chance moves them."""
    pairs = [
        f"{one.data.name} {short(float(to.truth.mean()))} (printed {one.published.truth_to_manifolds})"
        for one, to in zip(learned, found, strict=True)
        if one.published
    ]
    return "The mean of KL(truth, Ei) is " + ", ".join(pairs)


def speed(learned: list[Learned]) -> str:
    """Return how the learning times compare with P2's conclusion that the dependency network is the faster one."""
    ratios = [one.milliseconds_bn[0] / one.milliseconds_dn[0] for one in learned]
    printed = [one.published.time_bn / one.published.time_dn for one in learned if one.published]
    text = (
        f"The Bayesian network takes {min(ratios):.1f} to {max(ratios):.1f} times the dependency network's CPU time "
        f"here, {min(printed):.1f} to {max(printed):.1f} times in P2"
    )
    if max(ratios) < 1:
        text += ": that the dependency network learns faster is not confirmed"
    if all(one.climbed.n_scores < one.found.n_scores for one in learned):
        text += (
            ". The hill climbing here keeps the local scores that a step does not change, and so computes fewer of "
            "them than the dependency network although it looks at many times more graphs; in P2 every evaluation "
            "costs time in proportion to the rows"
        )
    return text


def paragraph(learned: list[Learned], accuracies: list[Accuracy], found: list[Manifolds]) -> str:
    """Return the paragraph."""
    every = [f for three in zip(learned, accuracies, found, strict=True) for f in figures(*three)]
    if not every:
        return "No data set of this run is one of P2's."
    differ = [f for f in every if not f.agrees]
    tail = "; the others are " + ", ".join(map(str, differ)) if differ else ""
    rows = f"{accuracies[0].n_rows[0]:,}"
    return (
        f"Of {len(every)} figures in nats of Tables 1 to 3 (all but the divergences from the truth to the manifolds), "
        f"{len(every) - len(differ)} agree within 5 % or the rounding of the print{tail}. For sets S compare other "
        "training sets, below, which show how far chance goes; BN20-37 is a stand-in for a network that P2 does not "
        f"print. The printed Table 1 is that of {rows} output rows; the 1,000,000 of P2's text give much smaller "
        f"numbers. {truths(learned, found)}. "
        f"{counts(learned)}. {speed(learned)}."
    )
