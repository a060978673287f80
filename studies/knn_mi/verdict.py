"""What was found beside what P4 says, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from studies.knn_mi.methods import LOCAL, PERMUTATIONS
from studies.knn_mi.proteins import Found, Proteins
from studies.knn_mi.recovery import Recovery
from studies.knn_mi.schemes import DEPENDENCES, NULLS, Rates
from studies.knn_mi.truths import Array, SevenNodes

NOMINAL = 10 / (1 + PERMUTATIONS)  # the largest p-value of these permutations that is not above 0.05
GLASSO = (
    " The graphical lasso keeps edges that are not there on any number of rows: its penalty shrinks the true ones as "
    "well, and the extended BIC of what is shrunk asks for a smaller penalty."
)
FAR = 2.0
"""Edges wrong that are left at the largest size by a method that does not converge."""


def averaged(found: Recovery, truths: Sequence[int]) -> dict[str, Array]:
    """Return mean distances over some truths, by method and size; NaN where one is missing."""
    return {
        method: np.mean([found.at(t, method) for t in truths], axis=0)
        for method in found.plan.methods
        if method != LOCAL
    }


def common_size(means: dict[str, Array]) -> int | None:
    """Return the position of the largest size at which all methods that learned at all did."""
    there = np.array([mean for mean in means.values() if not np.isnan(mean).all()])
    complete = np.flatnonzero(~np.isnan(there).any(axis=0))
    return int(complete[-1]) if len(complete) else None


def ranking(means: dict[str, Array], at: int) -> list[tuple[str, float]]:
    """Return the methods that learned from rows of one size, the best first."""
    there = [(method, float(mean[at])) for method, mean in means.items() if not np.isnan(mean[at])]
    return sorted(there, key=lambda one: one[1])


def listed(ranked: Sequence[tuple[str, float]]) -> str:
    """Return names and distances."""
    return ", ".join(f"{method} {distance:.1f}" for method, distance in ranked)


def heading(found: Recovery, means: dict[str, Array]) -> str:
    """Return the ranks at the common and at the largest size."""
    sizes, at = found.plan.sizes, common_size(means)
    chosen = sorted({len(sizes) - 1, *([] if at is None else [at])})
    return "; ".join(f"at {sizes[s]:,} rows {listed(ranking(means, s))}" for s in chosen)


def leaders(found: Recovery, means: dict[str, Array]) -> str:
    """Return who is best at how many sizes."""
    sizes = found.plan.sizes
    best = Counter(ranking(means, s)[0][0] for s in range(len(sizes)))
    return ", ".join(f"{method} is best at {times}" for method, times in best.most_common()) + f" of {len(sizes)} sizes"


def seven(found: Recovery) -> str:
    """Return what became of Fig. 3.3."""
    truths = found.plan.truths
    said = []
    for linear in (True, False):
        chosen = [t for t, truth in enumerate(truths) if isinstance(truth, SevenNodes) and truth.linear == linear]
        means = averaged(found, chosen)
        kind = "Linear" if linear else "Non-linear"
        said.append(f"**{kind}**, mean distances over the three noises: {heading(found, means)}.")
        said.append(of_linear(found, means) if linear else of_non_linear(found, means))
    return " ".join(said)


def of_linear(found: Recovery, means: dict[str, Array]) -> str:
    """Return whether the Gaussian test and KCIT lead, and whether knnMI follows."""
    sizes, knn = found.plan.sizes, means["knnMI"]
    leaders = sum(ranking(means, s)[0][0] in ("fisherZ", "KCIT", "RCIT") for s in range(len(sizes)))
    return (
        f"P4 has the kernel tests and the Gaussian one most accurate and knnMI converging more slowly: here one of "
        f"these tests is best at {leaders} of {len(sizes)} sizes, and knnMI goes from {knn[0]:.1f} to {knn[-1]:.1f} "
        f"(fisherZ from {means['fisherZ'][0]:.1f} to {means['fisherZ'][-1]:.1f})."
        + (GLASSO if "NPN_glasso" in means and means["NPN_glasso"][-1] > FAR else "")
    )


def of_non_linear(found: Recovery, means: dict[str, Array]) -> str:
    """Return whether knnMI leads, and who does not converge."""
    sizes = found.plan.sizes
    best = sum(ranking(means, s)[0][0] == "knnMI" for s in range(len(sizes)))
    ends = {method: mean[~np.isnan(mean)][-1] for method, mean in means.items() if not np.isnan(mean).all()}
    far = [method for method, end in ends.items() if end > FAR]
    near = [method for method, end in ends.items() if end <= FAR]
    return (
        f"P4 has knnMI best, KCIT second and the others not converging: here knnMI is best at {best} of {len(sizes)} "
        f"sizes; at the largest size that each was run on, more than {FAR:g} edges are wrong with "
        f"{', '.join(far) or 'none'}, and no more than that with {', '.join(near) or 'none'}."
        + (" Other than in P4, RCIT is among those that converge." if "RCIT" in near else "")
    )


def larger(found: Recovery) -> str:
    """Return what became of the network of 21 nodes."""
    means = averaged(found, range(len(found.plan.truths)))
    return (
        f"Mean distances over the noises: {heading(found, means)}. P4 has only knnMI and KCIT work consistently, "
        f"knnMI a little better on few rows: here {leaders(found, means)}."
    )


def nonparanormal(found: Recovery) -> str:
    """Return what became of the nonparanormal networks."""
    said = []
    for t, truth in enumerate(found.plan.truths):
        means = averaged(found, [t])
        said.append(f"{truth.n_variables} nodes: {heading(found, means)}; {leaders(found, means)}.")
    return " ".join(said) + (
        " P4 has the nonparanormal methods best in the larger networks, KCIT good and knnMI comparable to it on the "
        "fewest and on the most rows."
    )


def schemes(nulls: Rates, dependences: Rates) -> str:
    """Return how often either scheme errs, and what it sees."""
    at = [f"At {n:,} rows {errors_at(nulls, s)}." for s, n in enumerate(nulls.sizes)]
    power = "; ".join(
        f"{name}: simple {dependences.of(name, 'simple')[0]:.2f}, local {dependences.of(name, 'local')[0]:.2f}"
        for name in DEPENDENCES
    )
    return (
        f"{' '.join(at)} A dependence is seen at {dependences.sizes[0]:,} rows in these shares: {power}. P4 permutes "
        "simply, though that breaks what binds y to z, since local permutations did not make its graphs more accurate."
    )


def errors_at(nulls: Rates, size: int) -> str:
    """Return the range of either scheme's shares of true independences rejected, and what is too often."""
    margin = 2 * (NOMINAL * (1 - NOMINAL) / nulls.tests) ** 0.5
    said = []
    for scheme in ("simple", "local"):
        shares = {name: float(nulls.of(name, scheme)[size]) for name in NULLS}
        shares = {name: share for name, share in shares.items() if not np.isnan(share)}
        too_often = [name for name, share in shares.items() if share > NOMINAL + margin]
        often = (
            f"too often by more than two standard errors: {'; '.join(too_often)}" if too_often else "never too often"
        )
        said.append(
            f"{scheme} permutations reject a true independence in {min(shares.values()):.3f} to "
            f"{max(shares.values()):.3f} of the tests ({often})"
        )
    return "; ".join(said)


def local_learning(found: Recovery) -> str:
    """Return whether local permutations make better graphs, over all data on which both learned."""
    simple, local = (found.distances[..., found.plan.methods.index(m)] for m in ("knnMI", LOCAL))
    both = ~(np.isnan(simple) | np.isnan(local))
    if both.sum() < 2:
        return ""
    difference = (local - simple)[both]
    error = difference.std(ddof=1) / len(difference) ** 0.5
    gain = "which is no gain, as P4 found" if difference.mean() > -2 * error else "which is better, other than P4 found"
    return (
        f"Over {both.sum()} data sets of seven nodes, graphs by local permutations have {difference.mean():+.2f} ± "
        f"{error:.2f} edges wrong beside those by simple ones, {gain}."
    )


def proteins(held: Proteins, found: Sequence[Found]) -> str:
    """Return what each method shares with the agreed pairs."""
    agreed = held.skeleton
    return "; ".join(
        f"{one.method} {len(one.pairs)} edges, {len(one.pairs & agreed)} of the {len(agreed)} agreed pairs"
        for one in found
    )
