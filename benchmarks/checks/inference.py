"""Whether the marginals of families are right: ours by pyAgrum's, everyone else's by ours.

Beyond that the families must agree with one another: a variable has one distribution, whichever of its families it is
summed from. Where nobody else has run, that is all there is to tell.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from benchmarks.checks.verdict import Verdict
from benchmarks.contenders import OURS
from benchmarks.workers.job import Job

MARGINALS_AGREE = 1e-8
"""How far two probabilities may lie apart."""

Marginals = list[npt.NDArray[np.float64]]


def judge_families(job: Job, contenders: Sequence[str], found: Sequence[Marginals | None]) -> list[Verdict | None]:
    """Judge the marginals that several contenders found; None where one found none."""
    pairs = list(zip(contenders, found, strict=True))
    verdicts: list[Verdict | None] = []
    for contender, mine in pairs:
        judge = "pyAgrum" if contender == OURS else OURS
        others = [theirs for other, theirs in pairs if other == judge and theirs is not None]
        verdicts.append(None if mine is None else judge_marginals(job, mine, others, judge))
    return verdicts


def judge_marginals(job: Job, mine: Marginals, others: Sequence[Marginals], judge: str) -> Verdict:
    apart = max((difference(mine, theirs) for theirs in others), default=0.0)
    within = inconsistency(job, mine)
    named = "ours" if judge == OURS else judge
    text = f"agrees with {named} to {apart:.0e}" if others else "nothing to compare with"
    return Verdict(max(apart, within) <= MARGINALS_AGREE, f"{text}, in itself to {within:.0e}")


def difference(mine: Marginals, theirs: Marginals) -> float:
    """Return how far apart two probabilities are at most; NaN counts as infinitely far."""
    worst = np.max([np.max(np.abs(a - b)) for a, b in zip(mine, theirs, strict=True)])
    return float("inf") if np.isnan(worst) else float(worst)


def inconsistency(job: Job, marginals: Marginals) -> float:
    """Return how far the distribution of a variable summed from any family lies from that in its own, and both from 1.

    What is given must have all mass at its code.
    """
    own = [table.reshape(-1, table.shape[-1]).sum(axis=0) for table in marginals]
    off = [abs(float(values.sum()) - 1) for values in own]
    off += [abs(float(own[v][code]) - 1) for v, code in job.given]
    for child, table in enumerate(marginals):
        for axis, v in enumerate(job.family(child)):
            others = tuple(i for i in range(table.ndim) if i != axis)
            off.append(float(np.max(np.abs(table.sum(axis=others) - own[v]))))
    return float("inf") if np.isnan(off).any() else max(off)
