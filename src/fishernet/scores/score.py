"""What a score is.

A score of a structure is the sum over its families of ``f(S + child) - g(S, r)``: S are the parents, r the number of
states of the child, and f and g see nothing but the counts of their set. So equal sets give equal bits, an arc and its
reversal over the same parents tie, and every set is counted once.

Families (a child with its parents) in flat arrays, so that a search over thousands of variables makes no objects.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from fishernet.data import Counts
from fishernet.data.counts import occurring


@dataclass(frozen=True, eq=False)
class Families:
    """A list of families.

    Attributes
    ----------
    children : (n_families,) int32
        Positions of the children.
    offsets : (n_families + 1,) int64
        The parents of family f are ``parents[offsets[f]:offsets[f + 1]]``.
    parents : (offsets[-1],) int32
        Positions of the parents, ascending within a family and without the child.
    once : bool
        Nobody will ask for them again, so their scores need not be remembered.
    """

    children: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    parents: npt.NDArray[np.int32]
    once: bool = False

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[int, Sequence[int]]]) -> Families:
        """Make a list of (child, parents) pairs; parents may come in any order."""
        children: list[int] = []
        parents: list[int] = []
        offsets = [0]
        for child, of in pairs:
            children.append(child)
            parents.extend(sorted(of))
            offsets.append(len(parents))
        return cls(np.array(children, np.int32), np.array(offsets, np.int64), np.array(parents, np.int32))

    def __len__(self) -> int:
        return len(self.children)

    def __iter__(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        for f, child in enumerate(self.children.tolist()):
            yield child, tuple(self.parents[self.offsets[f] : self.offsets[f + 1]].tolist())

    def __getitem__(self, part: slice) -> Families:
        """Return a stretch of the list."""
        begin, end, _ = part.indices(len(self))
        offsets = self.offsets[begin : end + 1]
        parents = self.parents[offsets[0] : offsets[-1]]
        return Families(self.children[begin:end], offsets - offsets[0], parents, self.once)

    def take(self, positions: npt.NDArray[np.int64]) -> Families:
        """Return some of the families, in the order of the positions."""
        if len(positions) == len(self):
            return self
        every = list(self)
        return Families.from_pairs(every[position] for position in positions.tolist())


@runtime_checkable
class Score(Protocol):
    """A decomposable score in nats, higher is better."""

    def joint(self, counts: Counts) -> float:
        """Return f of the counts of the parents and the child."""
        ...

    def marginal(self, counts: Counts, states: int) -> float:
        """Return g of the counts of the parents, for a child with so many states."""
        ...


class Rule(NamedTuple):
    """A score in the core's words (`core/counts/score_rule.hpp`)."""

    measure: str
    parameter: float


class BuiltIn(ABC):
    """A score that the core counts and computes in one pass; its ``joint`` and ``marginal`` say the same in NumPy."""

    @abstractmethod
    def joint(self, counts: Counts) -> float:
        """Return f of the counts of the parents and the child."""

    @abstractmethod
    def marginal(self, counts: Counts, states: int) -> float:
        """Return g of the counts of the parents, for a child with so many states."""

    @abstractmethod
    def rule(self, n_rows: float) -> Rule:
        """Return the score as the core knows it, for so many rows."""


class PenalizedLikelihood(BuiltIn):
    """The maximized log-likelihood, less a price for every free parameter.

    A family's score is ``sum_jk N_ijk log(N_ijk / N_ij) - price q (r - 1)``: the sum of n log n over the cells of
    the whole family, less the same over the cells of the parents, less the penalty.
    """

    @abstractmethod
    def price(self, n_rows: float) -> float:
        """Return what a free parameter costs, in nats."""

    def joint(self, counts: Counts) -> float:
        """Return the sum of n log n over the cells."""
        return sum_n_log_n(cell_counts(counts))

    def marginal(self, counts: Counts, states: int) -> float:
        """Return the sum of n log n over the parents' cells, and the penalty."""
        price = self.price(counts.total)
        penalty = price * (states - 1) * math.prod(map(float, counts.cardinalities)) if price else 0.0
        return sum_n_log_n(cell_counts(counts)) + penalty

    def rule(self, n_rows: float) -> Rule:
        """Return the likelihood and its price."""
        return Rule("likelihood", self.price(n_rows))


def cell_counts(counts: Counts) -> npt.NDArray[np.float64]:
    """Return the counts of the cells that occur."""
    return occurring(counts)[0].astype(np.float64)


def sum_n_log_n(n: npt.NDArray[np.float64]) -> float:
    """Return the sum of n log n over positive counts."""
    return float(np.sum(n * np.log(n)))


def log_cells(counts: Counts) -> float:
    """Return the logarithm of the number of cells of a set, those that do not occur included."""
    return math.log(math.prod(counts.cardinalities))
