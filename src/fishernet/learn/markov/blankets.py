"""Markov blankets by tests of independence: IAMB and inter-IAMB.

The blanket of a variable grows: of all others the one with the strongest association given the blanket is tested, and
added if the test rejects independence; the first that is not ends the growth. Then it shrinks: a member that is
independent of the variable given the rest is dropped. Inter-IAMB shrinks after every addition [1]_.

References
----------
.. [1] I. Tsamardinos, C. F. Aliferis and A. Statnikov, "Algorithms for large scale Markov blanket discovery", FLAIRS
   2003; P4, 3.2.4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from fishernet.errors import FishernetError
from fishernet.independence.result import Answer, IndependenceTest, MeasuresAssociation

Blanket = tuple[int, ...]


@dataclass
class BlanketSearch:
    """Finds the blankets of variables one at a time, and counts what it took.

    Parameters
    ----------
    n_variables : int
    test : IndependenceTest
    alpha : float
        Independence is rejected where the p-value is at most this.
    interleaved : bool
        Inter-IAMB.
    max_blanket : int, optional
        A blanket with so many members grows no more.
    """

    n_variables: int
    test: IndependenceTest
    alpha: float = 0.05
    interleaved: bool = False
    max_blanket: int | None = None
    n_tests: int = field(default=0, init=False)
    """Tests made."""
    n_skipped: int = field(default=0, init=False)
    """Those of them that skipped their permutations."""

    def find(self, variable: int) -> Blanket:
        """Return the blanket of a variable, ascending."""
        blanket: Blanket = ()
        met = {blanket}
        while (grown := self._grown(variable, blanket)) != blanket:
            blanket = self._shrunk(variable, grown) if self.interleaved else grown
            if blanket in met:  # what was dropped would come back for ever
                break
            met.add(blanket)
        return blanket if self.interleaved else self._shrunk(variable, blanket)

    def _grown(self, variable: int, blanket: Blanket) -> Blanket:
        """Return the blanket with one more member, or as it is when it is complete."""
        candidates = [v for v in range(self.n_variables) if v != variable and v not in blanket]
        if not candidates or (self.max_blanket is not None and len(blanket) >= self.max_blanket):
            return blanket
        best, answer = self._strongest(variable, candidates, blanket)
        if answer is None:
            answer = self._ask(variable, best, blanket)
        return tuple(sorted((*blanket, best))) if answer.p_value <= self.alpha else blanket

    def _strongest(self, variable: int, candidates: Sequence[int], given: Blanket) -> tuple[int, Answer | None]:
        """Return the first of the candidates with the largest association, and its test where one was made."""
        best, most, found = candidates[0], -math.inf, None
        for candidate in candidates:
            answer = None
            if isinstance(self.test, MeasuresAssociation):
                strength = self.test.association(variable, candidate, given)
            else:
                answer = self._ask(variable, candidate, given)
                strength = answer.statistic
            if strength > most:
                best, most, found = candidate, strength, answer
        return best, found

    def _shrunk(self, variable: int, blanket: Blanket) -> Blanket:
        """Return the blanket without the members that are independent given the rest, one after the other."""
        kept = blanket
        for member in blanket:
            rest = tuple(v for v in kept if v != member)
            if self._ask(variable, member, rest).p_value > self.alpha:
                kept = rest
        return kept

    def _ask(self, i: int, j: int, given: Blanket) -> Answer:
        answer = self.test(i, j, given)
        self.n_tests += 1
        self.n_skipped += bool(getattr(answer, "skipped", False))
        if not (hasattr(answer, "statistic") and hasattr(answer, "p_value")):
            raise FishernetError(f"a test must answer with a statistic and a p_value, got {answer!r}")
        if not 0 <= answer.p_value <= 1 or math.isnan(answer.statistic):
            raise FishernetError(f"the test of {i} and {j} given {given} answered {answer!r}: no p-value from 0 to 1")
        return answer
