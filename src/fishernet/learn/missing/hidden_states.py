"""How many states a hidden variable has, chosen by BIC: of one variable (the clusters of a table), or of several.

BIC is ``log P(known cells) - log(N) / 2 * (free parameters)``, N the sum of the rows' weights: the likelihood of what
was observed, with hidden variables and missing cells summed out, less a price per parameter [1]_. All parameters are
counted, also where hidden variables make some of them superfluous, so that it leans to few states.

References
----------
.. [1] G. Schwarz, "Estimating the dimension of a model", 1978; D. M. Chickering and D. Heckerman, "Efficient
   approximations for the marginal likelihood of Bayesian networks with hidden variables", Machine Learning 29, 1997.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.learn.em import EmResult
from fishernet.models import BayesianNetwork

MOST_STATES = 8  # that are tried where nobody says up to how many
USUAL = 2  # states that a variable has while the number of another is chosen for the first time

Found = EmResult[BayesianNetwork]
Choice = tuple[int, ...]


def bic(found: Found, total: float) -> float:
    """Return the BIC of a fit to rows of so much weight, in nats; larger is better."""
    return found.log_likelihood - math.log(max(total, 1)) / 2 * found.model.n_parameters


def climbed(
    numbers: Iterable[int], score: Callable[[int], float | None], *, past_falls: bool = False
) -> dict[int, float]:
    """Return the scores of numbers until one does not better that before it (unless past falls), or is None."""
    scores: dict[int, float] = {}
    last = -math.inf
    for number in numbers:
        now = score(number)
        if now is None:
            break
        scores[number] = now
        if now <= last and not past_falls:
            break
        last = now
    return scores


@dataclass(frozen=True)
class Numbers:
    """How many states one hidden variable may have."""

    tried: tuple[int, ...]
    """Ascending."""
    ladder: bool = False
    """Whether to stop where the score falls."""

    @classmethod
    def of(cls, name: str, asked: object) -> Numbers:
        """Return what a number, several of them, or None (1, 2, ... until the score falls) says."""
        if asked is None:
            return cls(tuple(range(1, MOST_STATES + 1)), ladder=True)
        called = f"hidden[{name!r}]"
        if not isinstance(asked, Iterable):
            return cls((check.integer(asked, called, least=1),))
        numbers = check.items(asked, called, "numbers of states")
        tried = sorted({check.integer(number, called, least=1) for number in numbers})
        if not tried:
            raise SchemaError(f"{called} holds no number of states to try", parameter="hidden")
        return cls(tuple(tried))

    @property
    def is_open(self) -> bool:
        """Whether there is a choice."""
        return len(self.tried) > 1

    @property
    def first(self) -> int:
        """What is taken while the number of another variable is chosen."""
        return min(self.tried, key=lambda number: abs(number - USUAL))


def chosen_states(
    of: Mapping[str, Numbers], total: float, fitted: Callable[[Mapping[str, int]], Found], late: Callable[[], bool]
) -> Found:
    """Return the best fit by BIC among the numbers of states of hidden variables, with the scores of those tried.

    Where several are open they are chosen by turns, each with the others at what is best so far, until a round changes
    nothing. When it is `late`, the best so far is the answer.
    """
    names = list(of)
    turns = [place for place, name in enumerate(names) if of[name].is_open]
    fits: list[Found] = []  # the best so far, alone
    scores: dict[Choice, float] = {}

    def score(choice: Choice) -> float | None:
        if choice in scores:
            return scores[choice]
        if fits and late():
            return None
        found = fitted(dict(zip(names, choice, strict=True)))
        now = bic(found, total)
        if not fits or now > max(scores.values()):
            fits[:] = [found]
        scores[choice] = now
        return now

    best: Choice = tuple(numbers.first for numbers in of.values())
    before: Choice = ()
    while best != before:
        before = best
        for place in turns:
            numbers = of[names[place]]
            tried = {number: (*best[:place], number, *best[place + 1 :]) for number in numbers.tried}
            climbed(tried, partial(_score_of, tried, score), past_falls=not numbers.ladder)
            best = max(scores, key=lambda choice: scores[choice])
        if len(turns) == 1:
            break
    return replace(fits[0], scores=scores, finished=fits[0].finished and not late())


def _score_of(choices: Mapping[int, Choice], score: Callable[[Choice], float | None], number: int) -> float | None:
    return score(choices[number])
