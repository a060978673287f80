"""How often something wrong happens, in as few runs as tell."""

from __future__ import annotations

import math
from collections.abc import Iterable

WRONG_ALARM, MISSED = 1e-5, 1e-3


def assert_at_most(wrong: Iterable[bool], level: float, *, fault: float | None = None, what: str = "") -> None:
    """Look at runs, one after the other, until it is clear whether they go wrong at a level or at that of a fault.

    Wald's sequential test of the two likelihoods: at the level or below, it fails with a probability of 1e-5 at most;
    at the fault's level or above, it passes with one of 1e-3 at most. Runs that are left when it is clear are not made,
    which takes a generator; where they end before, the likelier of the two holds.

    Parameters
    ----------
    wrong : iterable of bool
    level : float
    fault : float, optional
        What share of wrong runs is to be found; 15 percent points above the level, where it is not given.
    what : str
        That is said where the test fails.
    """
    bad = level + 0.15 if fault is None else fault
    if_wrong, if_right = math.log(bad / level), math.log((1 - bad) / (1 - level))
    evidence, runs, failed = 0.0, 0, 0
    for one in wrong:
        runs, failed = runs + 1, failed + bool(one)
        evidence += if_wrong if one else if_right
        if evidence <= math.log(MISSED):
            return
        if evidence >= -math.log(WRONG_ALARM):
            break
    assert evidence <= 0, f"{failed} of {runs} runs are wrong, not {level:.0%} of them; {what}".removesuffix("; ")
