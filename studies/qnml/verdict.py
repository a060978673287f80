"""What agrees with the published figures, and what does not, in paragraphs made of the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from studies.qnml.criteria import CRITERIA
from studies.qnml.equivalent_sample_size import Chosen
from studies.qnml.nml import COLLIDER, STAR, Penalties, is_union_of_tournaments, shape
from studies.qnml.prediction import Predicted
from studies.qnml.published import PRINTED, Curves
from studies.qnml.structure import Recovery
from studies.qnml.tables import differences, parameters_at

Array = npt.NDArray[np.float64]

ERRORS = 3.0
PUBLISHED_REPETITIONS = 1_000
FEW = 100  # rows
DIGIT = 0.015  # what reading a curve, or the rounding of the print, may be off


@dataclass(frozen=True)
class Pair:
    """One of our figures and the published one."""

    what: str
    here: float
    published: float
    error: float
    """The standard error of their difference."""
    rows: int = 0
    """Of the data, where that is a matter."""

    @property
    def agrees(self) -> bool:
        """Whether they differ by no more than three standard errors and the rounding."""
        return abs(self.here - self.published) <= ERRORS * self.error + DIGIT

    def __str__(self) -> str:
        digits = 0 if max(self.here, self.published) >= 100 else 2
        return f"{self.what} {self.here:,.{digits}f} (published {self.published:,.{digits}f})"


def both_errors(error: float, repetitions: int) -> float:
    """Return the standard error of a difference from a mean of 1,000; infinite where ours is not known."""
    return float(error * np.sqrt(1 + repetitions / PUBLISHED_REPETITIONS)) if np.isfinite(error) else np.inf


def summary(pairs: Sequence[Pair], shown: int = 5) -> str:
    """Return how many agree, and the ones that differ most."""
    differ = sorted((p for p in pairs if not p.agrees), key=lambda p: -abs(p.here - p.published))
    text = f"{len(pairs) - len(differ)} of {len(pairs)} agree within three standard errors"
    if not differ:
        return text
    most = "the others are " if len(differ) <= shown else "the largest differences are "
    return (
        text
        + f" (median difference {np.median([abs(p.here - p.published) for p in pairs]):.2f}); {most}"
        + ", ".join(map(str, differ[:shown]))
    )


def distances(found: Recovery, published: Curves) -> list[Pair]:
    """Return every mean distance that is also published.

    The error is at least that of as rare a count (Poisson's): a few of 1,000 may be off where all of ours are right.
    """
    pairs = []
    for i, network in enumerate(found.networks):
        there = published.distances(network, found.sizes)
        for k, n in enumerate(found.sizes):
            for c, criterion in enumerate(CRITERIA):
                if not np.isnan(there[k, c]):
                    error = both_errors(float(found.error[i, k, c]), found.repetitions)
                    few = np.sqrt(there[k, c] / PUBLISHED_REPETITIONS)  # where all of ours are 0, theirs need not be
                    what = f"{criterion} on {network} at {n:,} rows"
                    pairs.append(Pair(what, float(found.mean[i, k, c]), float(there[k, c]), max(error, float(few)), n))
    return pairs


def average_ranks(found: Recovery, published: Curves) -> list[Pair]:
    """Return every average rank that is also published."""
    there = published.average_ranks(found.sizes)
    return [
        Pair(
            f"{criterion} at {n:,} rows",
            float(found.ranks[k, c]),
            float(there[k, c]),
            both_errors(float(found.rank_error[k, c]), found.repetitions),
        )
        for k, n in enumerate(found.sizes)
        for c, criterion in enumerate(CRITERIA)
        if not np.isnan(there[k, c])
    ]


def structure(found: Recovery, published: Curves) -> str:
    """Return the paragraph on structure recovery."""
    parts = []
    pairs = distances(found, published)
    if pairs:
        parts.append(f"Of the mean distances to the true network, {summary(pairs)}.")
        parts.append(where(pairs))
        parts.append(offsets(pairs, "sizes"))
    ranks = average_ranks(found, published) if len(found.networks) == 5 else []
    if ranks:
        parts.append(f"Of the average ranks over the five networks, {summary(ranks, shown=3)}.")
    names = f"{len(found.networks)} networks" if len(found.networks) > 1 else found.networks[0]
    return " ".join([*parts, f"On {names}: " + "; ".join(claims(found)) + "."])


def where(pairs: Sequence[Pair]) -> str:
    """Return how many of the distances that differ are those that ties explain."""
    differ = [p for p in pairs if not p.agrees]
    few = sum(p.rows <= FEW for p in differ)
    rare = sum(p.rows > FEW and " on Earthquake " in p.what for p in differ)
    return (
        f"{few} of the {len(differ)} that differ are of at most {FEW} rows, where ties matter most (below), and {rare} "
        "of the others of Earthquake, whose rare states make many."
    )


def offsets(pairs: Sequence[Pair], over: str, least: float = 0.1, shown: int = 6) -> str:
    """Return the curves that are above or below the published ones on the whole, as a sentence."""
    by_curve: dict[str, list[float]] = {}
    for pair in pairs:
        by_curve.setdefault(pair.what.split(" at ")[0], []).append(pair.here - pair.published)
    means = {name: float(np.mean(of)) for name, of in by_curve.items() if abs(np.mean(of)) >= least}
    near = len(by_curve) - len(means)
    head = f"Averaged over the {over}, {near} of {len(by_curve)} curves are within {least} of the published"
    most = sorted(means.items(), key=lambda item: -abs(item[1]))[:shown]
    told = [f"{name} {abs(mean):.2f} {'above' if mean > 0 else 'below'}" for name, mean in most]
    farthest = "the farthest are " if len(means) > shown else ""
    return f"{head}; {farthest}{', '.join(told)}." if told else f"{head}."


def claims(found: Recovery) -> list[str]:
    """Return what becomes of P4's three claims on the average ranks."""
    ranks, sizes = found.ranks, np.array(found.sizes)
    best, worst = ranks.argmin(axis=1), ranks.argmax(axis=1)
    qnml, bic = CRITERIA.index("qNML"), CRITERIA.index("BIC")
    bad = sizes[worst == qnml]
    never = "is never" if not len(bad) else f"is at {among(bad)} rows"
    texts = [f"qNML {never} the worst by average rank (P4: never)"]
    large = sizes > 300
    wins = [CRITERIA[k] for k in best[large]]
    texts.append(f"beyond 300 rows qNML is the best at {wins.count('qNML')} of {large.sum()} sizes (P4: at all)")
    small = sizes <= 100
    n_bic = int((best[small] == bic).sum())
    texts.append(f"up to 100 rows BIC is the best at {n_bic} of {small.sum()} (P4: BIC on the smaller sizes)")
    return texts


def among(sizes: npt.NDArray[np.int64]) -> str:
    """Return sizes as text."""
    return ", ".join(f"{n:,}" for n in sizes)


def losses(found: Sequence[Predicted], published: Curves) -> list[Pair]:
    """Return every mean log loss that is also published."""
    pairs = []
    for one in found:
        there = published.log_losses(one.name, one.shares)
        for k, share in enumerate(one.shares):
            for c, criterion in enumerate(CRITERIA):
                if not np.isnan(there[k, c]):
                    error = both_errors(float(one.error[k, c]), one.repetitions)
                    what = f"{criterion} on {one.name} at {share} %"
                    pairs.append(Pair(what, float(one.mean[k, c]), float(there[k, c]), error))
    return pairs


def prediction(found: Sequence[Predicted], published: Curves) -> str:
    """Return the paragraph on prediction."""
    known = [one for one in found if one.name in PRINTED]
    if not known:
        return "None of the tables of this run is one of the paper's."
    ours = np.array([one.mean_ranks for one in known])
    there = np.array([PRINTED[one.name].ranks for one in known])
    same = int((ours.argmin(axis=1) == there.argmin(axis=1)).sum())
    parts = [
        f"Of {len(known)} tables the same criterion predicts best by average rank on {same}; the mean difference of a "
        f"rank is {np.abs(ours - there).mean():.2f}. On the whole: {order(ours.mean(axis=0))}; published, of the same "
        f"tables: {order(there.mean(axis=0))}."
    ]
    others = np.flatnonzero(ours.argmin(axis=1) != there.argmin(axis=1))
    if len(others):
        told = [
            f"{known[i].name} ({CRITERIA[ours[i].argmin()]}, published {CRITERIA[there[i].argmin()]})" for i in others
        ]
        parts.append(f"Another one is best on {', '.join(told)}.")
    worst = [known[i].name for i in np.flatnonzero(ours.argmax(axis=1) == CRITERIA.index("qNML"))]
    printed = [known[i].name for i in np.flatnonzero(there.argmax(axis=1) == CRITERIA.index("qNML"))]
    parts.append(f"qNML is the worst on {listed(worst)} (published: {listed(printed)}).")
    pairs = losses(known, published)
    if pairs:
        parts.append(f"Of the mean log losses, {summary(pairs, shown=4)}.")
        parts.append(offsets(pairs, "shares"))
    return " ".join(parts)


def order(ranks: Array) -> str:
    """Return the criteria from the best to the worst."""
    return ", ".join(f"{CRITERIA[k]} {ranks[k]:.2f}" for k in np.argsort(ranks))


def listed(names: Sequence[str]) -> str:
    """Return names as text."""
    return ", ".join(names) or "none"


def parsimony(found: Sequence[Predicted]) -> str:
    """Return the paragraph on the numbers of parameters."""
    pairs, most, least = [], [], []
    for one in found:
        of_set = PRINTED.get(one.name)
        if of_set is None or of_set.share not in one.shares:
            continue
        mean, error = parameters_at(one, of_set.share)
        most.append((CRITERIA[mean.argmax()], CRITERIA[int(np.argmax(of_set.parameters))]))
        least.append((CRITERIA[mean.argmin()], CRITERIA[int(np.argmin(of_set.parameters))]))
        for c, criterion in enumerate(CRITERIA):
            # the printed counts are rounded to whole ones
            both = both_errors(float(error[c]), one.repetitions) + 0.5 / ERRORS
            pairs.append(Pair(f"{criterion} on {one.name}", float(mean[c]), float(of_set.parameters[c]), both))
    if not pairs:
        return "None of the tables of this run is one of the paper's."
    text = f"Of the mean numbers of parameters, {summary(pairs, shown=6)}."
    for what, of in (("most", most), ("fewest", least)):
        counts = [
            f"{name} on {sum(here == name for here, _ in of)} ({sum(there == name for _, there in of)})"
            for name in CRITERIA
            if any(name in pair for pair in of)
        ]
        text += f" The {what} parameters, of {len(of)} tables, has {', '.join(counts)}, in brackets the published."
    return text


def ess(by_ess: Sequence[Chosen], others: dict[str, Chosen]) -> str:
    """Return the paragraph on BDeu's setting."""
    arcs = [at.arcs for at in by_ess]
    nearest = min(at.shd for at in by_ess)
    where = [at.ess for at in by_ess if at.shd == nearest and at.ess is not None]
    rest = ", ".join(f"{name} {at.arcs} arcs and distance {at.shd}" for name, at in others.items())
    return (
        f"From {arcs[0]} arcs at {by_ess[0].ess:g} to {arcs[-1]} at {by_ess[-1].ess:g} (at most {max(arcs)}); the "
        f"smallest distance, {nearest}, is met between {min(where):g} and {max(where):g}. {rest}."
    )


def penalty(small: dict[str, dict[int, Penalties]], large: dict[int, dict[str, Penalties]]) -> str:
    """Return the paragraph on the penalties."""
    unions = [name for name in small if is_union_of_tournaments(shape(name))]
    most = max(abs(at.qnml - at.exact) for name in unions for at in small[name].values())
    n = max(large)
    told = []
    for name in (STAR, COLLIDER):
        at = ", ".join(f"{score} {off:+.3f}" for score, off in differences(large[n][name]).items())
        told.append(f"on `{name}` the penalties are {at} nats off the exact one of {large[n][name].exact:.2f}")
    holds = "as P4 says" if most < 1e-9 else "which CONTRADICTS P4"
    return (
        f"On the {len(unions)} unions of tournaments qNML and exact NML differ by at most {most:.0e} nats, {holds}. "
        f"With {n:,} rows, {'; '.join(told)}."
    )
