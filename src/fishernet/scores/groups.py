"""What scores say where configurations of the parents share a row of probabilities.

The score of a child whose parents' configurations are put into G groups is that of the child with one parent, which is
the group::

    sum over groups of  term(counts of the group, share of the configurations in it)  +  whole(G)

so that with every configuration in a group of its own it is the score of the family. Only BDeu looks at the share: the
equivalent sample size is spread evenly over the configurations, and a group has those of its members. BDq keeps alpha
imagined rows in every cell of a group, K2 one.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base.errors import FishernetError
from fishernet.scores.base import Score
from fishernet.scores.nml import regrets

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class GroupScore(ABC):
    """A score of groups of configurations, of one child."""

    parameter: float
    """The score's own number: a price, an equivalent sample size, imagined rows a cell."""
    total: float
    """The weight of all rows."""
    states: int
    """The number of states of the child."""

    by_share: ClassVar[bool] = False
    """Whether the share of the configurations in a group matters, and so those that never occur."""

    @abstractmethod
    def terms(self, counts: Array, shares: Array) -> Array:
        """Return what each group adds, (n,), of its counts (n, r) and its share of all configurations, (n,)."""

    def whole(self, n_groups: int) -> float:  # noqa: ARG002
        """Return what their number adds."""
        return 0.0

    @property
    def takes_equal_rows_first(self) -> bool:
        """Whether no pair of groups gains more by merging than one with equal shares of the states."""
        return False


class _Priced(GroupScore):
    def terms(self, counts: Array, shares: Array) -> Array:  # noqa: ARG002
        return log_likelihoods(counts) - self.parameter * (self.states - 1)

    @property
    def takes_equal_rows_first(self) -> bool:
        return self.parameter > 0 and self.states > 1


class _Fnml(GroupScore):
    def terms(self, counts: Array, shares: Array) -> Array:  # noqa: ARG002
        return log_likelihoods(counts) - regrets(counts.sum(axis=1), self.states)


class _Qnml(GroupScore):
    def terms(self, counts: Array, shares: Array) -> Array:  # noqa: ARG002
        return log_likelihoods(counts)

    def whole(self, n_groups: int) -> float:
        n = np.array([self.total], dtype=np.float64)
        return float((regrets(n, n_groups) - regrets(n, n_groups * self.states))[0])

    @property
    def takes_equal_rows_first(self) -> bool:
        return self.states > 1


class _K2(GroupScore):
    def terms(self, counts: Array, shares: Array) -> Array:  # noqa: ARG002
        return np.asarray(_rising(0.0, counts).sum(axis=1) - _rising(math.log(self.states), counts.sum(axis=1)))


class _Bdq(GroupScore):
    def terms(self, counts: Array, shares: Array) -> Array:  # noqa: ARG002
        log_alpha = math.log(self.parameter)
        return np.asarray(_rising(log_alpha, counts).sum(axis=1) - _rising(log_alpha, counts.sum(axis=1)))

    def whole(self, n_groups: int) -> float:
        n, log_groups = np.array([float(self.total)]), math.log(self.parameter) + math.log(n_groups)
        return float((_rising(log_groups, n) - _rising(log_groups + math.log(self.states), n))[0])


class _Bdeu(GroupScore):
    by_share = True

    def terms(self, counts: Array, shares: Array) -> Array:
        log_a = math.log(self.parameter) + np.log(shares)
        cells = np.broadcast_to((log_a - math.log(self.states))[:, None], counts.shape)
        return np.asarray(_rising(cells, counts).sum(axis=1) - _rising(log_a, counts.sum(axis=1)))


MEASURES: dict[str, type[GroupScore]] = {
    "likelihood": _Priced,
    "bdeu": _Bdeu,
    "bdq": _Bdq,
    "fnml": _Fnml,
    "k2": _K2,
    "qnml": _Qnml,
}


def group_score(score: Score, total: float, states: int) -> GroupScore:
    """Return a score of groups for rows of so much weight and a child of so many states.

    FishernetError for a score that is not defined for groups.
    """
    term = score.core_term(total)
    if term is None or term.measure not in MEASURES:
        known = "'bic' ('mdl'), 'aic', 'hqc', 'loglik', 'bdeu', 'k2', 'bdq', 'fnml' or 'qnml'"
        raise FishernetError(f"rows are merged by {known}; {score!r} says nothing of groups", parameter="score")
    return MEASURES[term.measure](term.parameter, float(total), states)


def log_likelihoods(counts: Array) -> Array:
    """Return the maximized log-likelihood of each row of counts, (n,)."""
    return np.asarray(_n_log_n(counts).sum(axis=1) - _n_log_n(counts.sum(axis=1)))


def _n_log_n(n: Array) -> Array:
    return np.asarray(n * np.log(np.where(n > 0, n, 1.0)))


def _rising(log_a: float | Array, n: Array) -> Array:
    """Return ``log a (a + 1) ... (a + n - 1)`` of each count, 0 of none; of one a, or of one for each."""
    found, positive = np.zeros(n.shape), n > 0
    counts = np.ascontiguousarray(n[positive])
    if isinstance(log_a, float):
        found[positive] = _core.log_rising(log_a, counts)
    else:
        found[positive] = _core.log_rising_each(np.ascontiguousarray(log_a[positive]), counts)
    return found
