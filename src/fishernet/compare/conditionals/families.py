"""What two tables say of a variable and its parents: each family is looked at once, whatever graphs have it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from fishernet.compare.conditionals.configurations import ConfigurationChange
from fishernet.compare.conditionals.nats import FEWEST_DRAWS, Nats
from fishernet.compare.conditionals.number_change import NumberChange
from fishernet.compare.conditionals.state_tests import numbers_of_draws
from fishernet.compare.corrections import Outcome, holm_sidak
from fishernet.data import State

Array = npt.NDArray[np.float64]
Family = tuple[int, ...]  # the parents, ascending, and the child as the last

PRIOR = 0.1  # of a conditional to have changed
FEWER = 4  # times fewer resamples where a test speaks of no change
UNLIKELY = 0.1  # p-values above which a change is not likely

Found = TypeVar("Found")


def once(method: Callable[[Any, Family], Found]) -> Callable[[Any, Family], Found]:
    """Let what is found of a family be found once."""

    @wraps(method)
    def found(self: Any, family: Family) -> Found:
        key = (method.__qualname__, family)
        if key not in self._known:
            self._known[key] = method(self, family)
        answer: Found = self._known[key]
        return answer

    return found


@dataclass(frozen=True)
class Effort:
    """How closely families are looked at."""

    draws: int
    """How many tables are drawn for a test; ten times as many where it speaks of a change."""
    resamples: int
    """How many are drawn for an interval, at each divergence that is tried."""
    level: float
    seed: int


class Families(ABC):
    """What is asked of the families of two tables of so many columns."""

    def __init__(self, n_variables: int, effort: Effort) -> None:
        self._seed, self._resamples = effort.seed, effort.resamples
        self._draws = numbers_of_draws(effort.draws, n_variables, effort.level)
        self._known: dict[tuple[str, Family], Any] = {}

    @once
    def tested(self, family: Family) -> Outcome:
        """Return the test of "this conditional did not change", with NaN where the tables can tell nothing."""
        return self._tested(family, self._random(family, 0))

    def p_value(self, family: Family) -> float:
        """Return the p-value of `tested`."""
        return self.tested(family).p_value

    def corrected(self, families: Iterable[Family]) -> Array:
        """Return the p-values of families, one of each variable, corrected for their number."""
        return holm_sidak([self.tested(family) for family in families])

    @once
    def nats(self, family: Family) -> Nats:
        """Return by how many nats a conditional changed."""
        return self._estimated(family, self.p_value(family), self._random(family, 1))

    @once
    def evidence(self, family: Family) -> float:
        """Return the log likelihood of both tables, where a conditional may have changed, by that where it did not."""
        return float(np.logaddexp(np.log1p(-PRIOR), np.log(PRIOR) + self._bayes_factor(family)))

    def p_value_bound(self, family: Family) -> float:  # noqa: ARG002
        """Return a p-value without draws, which may be as small as a change is large; 1 where none is known."""
        return 1.0

    def _draws_for(self, p_value: float) -> int:
        """Return how many tables are drawn for an interval: nobody looks closely at that of what did not change."""
        draws = self._resamples
        return min(draws, max(draws // FEWER, FEWEST_DRAWS)) if p_value > UNLIKELY else draws

    def _random(self, family: Family, use: int) -> np.random.Generator:
        """Return a generator of a family's own, so that no answer hangs on which families were asked before."""
        return np.random.default_rng([self._seed, use, *family])

    def prepare(self, families: Iterable[Family]) -> None:  # noqa: B027
        """Look at families that will be asked for, all at once."""

    @abstractmethod
    def counts(self, family: Family) -> Array | None:
        """Return the counts before and after, (2, configurations, states); None of numbers."""

    @abstractmethod
    def marginal_p_value(self, v: int) -> float:
        """Return the p-value of "this column has the same distribution", whatever the others are."""

    @abstractmethod
    def new_labels(self) -> dict[str, dict[State, int]]:
        """Return the labels that only the later table has, by column, with their rows."""

    @abstractmethod
    def configurations(self, families: Iterable[Family], smoothing: float) -> tuple[ConfigurationChange, ...]:
        """Return how conditionals changed in each configuration of the parents, the largest first."""

    def number_change(self, family: Family) -> NumberChange | None:  # noqa: ARG002
        """Return what a changed conditional makes of a number; None of labels."""
        return None

    @abstractmethod
    def is_small(self, family: Family) -> bool:
        """Return whether a family can be looked at."""

    @abstractmethod
    def score(self, family: Family) -> float:
        """Return the BIC of a conditional that both tables share."""

    @abstractmethod
    def score_apart(self, family: Family) -> float:
        """Return the BIC of a conditional for each table."""

    @abstractmethod
    def _bayes_factor(self, family: Family) -> float:
        """Return log P(tables | two conditionals) - log P(tables | one)."""

    @abstractmethod
    def _tested(self, family: Family, random: np.random.Generator) -> Outcome: ...

    @abstractmethod
    def _estimated(self, family: Family, p_value: float, random: np.random.Generator) -> Nats: ...
