"""What a test of independence is, and what it answers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar, Protocol, runtime_checkable

import pyarrow as pa

from fishernet.errors import FishernetError


@dataclass(frozen=True, slots=True)
class TestResult:
    """The answer of a test of independence.

    Examples
    --------
    >>> import fishernet as fn
    >>> fn.independence.TestResult(statistic=0.3, p_value=0.01)
    TestResult(statistic=0.3, p_value=0.01)
    """

    statistic: float
    """How far the data are from independence, by the test's own measure; larger is farther."""
    p_value: float
    """The probability, under independence, of a statistic at least as large."""

    __test__: ClassVar[bool] = False  # no test of pytest's

    def to_frame(self) -> pa.Table:
        """Return the fields as a pyarrow Table of one row."""
        return pa.table({name: [value] for name, value in asdict(self).items()})


@dataclass(frozen=True, slots=True)
class PermutationResult(TestResult):
    """The answer of a permutation test."""

    permutations: int
    """How many permuted statistics there were: T of p = (1 + K) / (1 + T)."""
    exceeding: int
    """How many of them were at least as large as the observed one: K."""
    skipped: bool = False
    """Whether there were none because a simpler test answered; the p-value is that test's."""
    stopped_early: bool = False
    """Whether there were fewer than asked for, because the decision was certain."""
    seed: int | None = None
    """The seed that gives the same permutations again; None where they were given."""


@dataclass(frozen=True, slots=True)
class ContingencyResult(TestResult):
    """The answer of a test on a table of counts."""

    degrees_of_freedom: int
    """Of the chi-square distribution that the statistic has under independence."""


class Answer(Protocol):
    """What a test must answer; `TestResult` is one."""

    @property
    def statistic(self) -> float:
        """How far the data are from independence; larger is farther."""
        ...

    @property
    def p_value(self) -> float:
        """The probability of that under independence."""
        ...


class IndependenceTest(Protocol):
    """A test whether variable i is independent of variable j given others; all are positions."""

    def __call__(self, i: int, j: int, given: tuple[int, ...], /) -> Answer:
        """Return the statistic and the p-value; `given` is ascending and without i and j."""
        ...


@runtime_checkable
class MeasuresAssociation(Protocol):
    """A test that knows a cheaper measure by which candidates are compared, than its statistic with its p-value."""

    def association(self, i: int, j: int, given: tuple[int, ...], /) -> float:
        """Return how strongly i depends on j given others; larger is more."""
        ...


def check_alpha(alpha: float) -> float:
    """Return a significance level; FishernetError unless it lies strictly between 0 and 1."""
    if isinstance(alpha, bool) or not isinstance(alpha, float | int) or not 0 < alpha < 1:
        raise FishernetError(f"alpha must lie strictly between 0 and 1, got {alpha!r}")
    return float(alpha)
