"""What a score is.

A score of a structure is the sum over its families of ``f(S + child) - g(S, r)``: S are the parents, r the number of
states of the child, and f and g see nothing but the statistic of their set. So equal sets give equal bits, an arc and
its reversal over the same parents tie, and every set is counted once.

Families (a child with its parents) in flat arrays, so that a search over thousands of variables makes no objects.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from fishernet.base.display import Brief
from fishernet.data import Source, Statistic, as_source, categorical_source
from fishernet.data.statistics import occurring
from fishernet.data.variable import Column


@dataclass(frozen=True, eq=False, repr=False)
class Families(Brief):
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

    def configurations(self, states: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return how many configurations the parents of each family have, of variables with so many states."""
        found = np.ones(len(self))
        np.multiply.at(found, self.owners, states[self.parents])
        return found

    @property
    def owners(self) -> npt.NDArray[np.int64]:
        """The family of each of the parents, (offsets[-1],)."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def take(self, positions: npt.NDArray[np.int64]) -> Families:
        """Return some of the families, in the order of the positions."""
        sizes = np.diff(self.offsets)[positions]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[positions] - offsets[:-1], sizes)
        return Families(self.children[positions], offsets, self.parents[places])


class CoreTerm(NamedTuple):
    """A score as the core computes it: its name there and its parameter (`core/counts/score_term.hpp`)."""

    measure: str
    parameter: float


class Terms(Protocol):
    """What scores families of one source, all of whose variables it has seen at once."""

    def families(self, families: Families) -> npt.NDArray[np.float64]:
        """Return the scores of families, (n_families,)."""
        ...

    @property
    def subsets(self) -> Callable[[int], npt.NDArray[np.float64]] | None:
        """What returns f, which here is g as well, of all sets of up to so many variables by bit masks, (2 ** n,).

        None where scores are no differences of terms of sets.
        """
        ...


class Score(ABC):
    """A decomposable score in nats, higher is better.

    A score of one's own needs `joint` and `marginal`, of the statistics of a set of variables. Those shipped say the
    same twice: so in NumPy, and by their `core_term` in the core, which counts and scores in one pass.
    """

    @abstractmethod
    def joint(self, statistic: Statistic) -> float:
        """Return f of the statistic of the parents and the child."""

    @abstractmethod
    def marginal(self, statistic: Statistic, states: int) -> float:
        """Return g of the statistic of the parents, for a child with so many states."""

    @property
    def prior(self) -> bool:
        """Whether a prior on graphs is in it; a score with one has it as a field."""
        return False

    def core_term(self, total: float) -> CoreTerm | None:  # noqa: ARG002
        """Return the score as the core knows it, for rows of so much weight; None when it does not."""
        return None

    takes_numbers: ClassVar[bool] = False
    """Whether it is for columns of numbers alone."""
    mixes: ClassVar[bool] = False
    """Whether columns may be labels and numbers; what follows is then of its scores of numbers."""
    averages: ClassVar[bool] = False
    """Whether the likelihood of rows that are complete in a family is taken for as many as there are rows at all."""
    equivalent: ClassVar[bool] = False
    """Whether equivalent graphs of labels, all cells known, have the same score."""

    def price_in(self, source: Source) -> float:  # noqa: ARG002
        """Return what a parameter costs, in nats."""
        return 0.0

    def arc_price(self, source: Source) -> float:  # noqa: ARG002
        """Return what an arc to a number costs beside its parameters, in nats."""
        return 0.0

    def source(self, data: Any) -> Source:
        """Return data as a source of what the score is for; raise SchemaError when they are of another kind."""
        return categorical_source(
            data, purpose="this score", remedy="take score='fractional' where all are", every=True
        )

    def terms(self, source: Source) -> Terms | None:  # noqa: ARG002
        """Return what scores families of all columns at once; None where the statistic of each set is needed."""
        return None

    def most_parents(self, source: Source) -> int | None:  # noqa: ARG002
        """Return how many parents the rows allow a variable; None where there is no such limit."""
        return None


ARC_PRICE = 1.5  # of the logarithm of the number of columns: with 1 noise gets more arcs, and with 2 weak arcs are lost


def not_constant(variables: Sequence[Column]) -> list[int]:
    """Return the positions of the columns that can have arcs: a constant, which tells nothing, is priced by none."""
    return [v for v, variable in enumerate(variables) if variable.is_continuous or variable.cardinality > 1]


def prior_price(variables: Sequence[Column]) -> float:
    """Return what an arc costs, in nats, under the prior on graphs of columns."""
    return ARC_PRICE * math.log(max(1, len(not_constant(variables))))


class PenalizedLikelihood(Score):
    """The maximized log-likelihood, less a price for every free parameter.

    A family's score is ``sum_jk N_ijk log(N_ijk / N_ij) - price q (r - 1)``: the sum of n log n over the cells of
    the whole family, less the same over the cells of the parents, less the penalty. Of numbers it is that of
    regressions (``fishernet.scores.mixed``).
    """

    mixes: ClassVar[bool] = True
    equivalent: ClassVar[bool] = True

    def source(self, data: Any) -> Source:
        """Return data as a source of labels, of numbers or of both."""
        return as_source(data)

    @abstractmethod
    def price(self, total: float) -> float:
        """Return what a free parameter costs, in nats, for rows of so much weight."""

    def price_in(self, source: Source) -> float:
        """Return what a parameter costs, in nats."""
        return self.price(source.total)

    def joint(self, statistic: Statistic) -> float:
        """Return the sum of n log n over the cells."""
        return sum_n_log_n(cell_counts(statistic))

    def marginal(self, statistic: Statistic, states: int) -> float:
        """Return the sum of n log n over the parents' cells, and the penalty."""
        price = self.price(statistic.total)
        penalty = price * (states - 1) * math.prod(map(float, statistic.cardinalities)) if price else 0.0
        return sum_n_log_n(cell_counts(statistic)) + penalty

    def core_term(self, total: float) -> CoreTerm:
        """Return the likelihood and its price."""
        return CoreTerm("likelihood", self.price(total))


def cell_counts(statistic: Statistic) -> npt.NDArray[np.float64]:
    """Return the counts of the cells that occur."""
    return occurring(statistic)[1].astype(np.float64)


def sum_n_log_n(n: npt.NDArray[np.float64]) -> float:
    """Return the sum of n log n over positive counts."""
    return float(np.sum(n * np.log(n)))


def log_cells(statistic: Statistic) -> float:
    """Return the logarithm of the number of cells of a set, those that do not occur included."""
    return math.log(math.prod(statistic.cardinalities))
