"""Scores of rows that lack cells, of each family on the rows that are complete in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError, warn
from fishernet.data import Source, Statistic
from fishernet.data.matching import as_numbers, is_frame, is_table
from fishernet.scores.base import Families, Score
from fishernet.scores.likelihood import Bic
from fishernet.scores.node_average import NodeAverage


def scored_cells(data: Any, score: Score) -> tuple[Any, Score]:
    """Return data and the score that they get: where cells are missing, of what is known, with a warning.

    BIC becomes the node-average likelihood, which learners maximize then. Numbers are scored on the complete rows.
    """
    if score.takes_numbers:
        return _complete_numbers(data), score
    source = score.source(data)
    if not source.has_missing:
        return source, score
    how: Score = NodeAverage() if score == Bic() else AvailableScore(score)
    name = "by the node-average likelihood" if score == Bic() else "and a child alone on those in which it is known"
    warn(f"cells are missing: each family is scored on the rows that are complete in it, {name}")
    return source, how


def _complete_numbers(data: Any) -> Any:
    """Return data without the rows of a table or a frame that lack numbers."""
    if not (is_table(data) or is_frame(data)):
        return data
    rows = as_numbers(data, purpose="the score 'fractional'", gaps=True)
    if not rows.has_missing:
        return rows
    complete = rows.drop_missing()
    warn(f"numbers are missing: {complete.n_rows:,} of {rows.n_rows:,} rows are complete, and scored")
    return complete


@dataclass(frozen=True)
class AvailableScore(Score):
    """What parents tell, on the rows that are complete in the family, and the child alone, on those that know it.

    With ``s_F(c | P)`` the score of the child c and the parents P on the rows that are complete in F, a family has

        ``s_cP(c | P) - s_cP(c) + s_c(c)``.

    The first two are of the same rows, so what is missing adds no difference between two sets of parents but fewer rows
    to tell it. On complete rows it is the score itself.
    """

    score: Score
    """The score of complete rows."""

    @property
    def mixes(self) -> bool:  # type: ignore[override]
        """As of that."""
        return self.score.mixes

    @property
    def prior(self) -> bool:
        """As of that."""
        return self.score.prior

    def price_in(self, source: Source) -> float:
        """Return what a parameter costs, in nats."""
        return self.score.price_in(source)

    def arc_price(self, source: Source) -> float:
        """Return what an arc to a number costs, in nats."""
        return self.score.arc_price(source)

    def joint(self, statistic: Statistic) -> float:  # noqa: ARG002
        """Raise: a family is scored as a whole, by `terms`."""
        raise _no_terms_of_sets()

    def marginal(self, statistic: Statistic, states: int) -> float:  # noqa: ARG002
        """Raise, as `joint` does."""
        raise _no_terms_of_sets()

    def source(self, data: Any) -> Source:
        """Return the rows or statistics, where cells may be missing."""
        return self.score.source(data)

    def terms(self, source: Source) -> _AvailableTerms:
        """Return what scores families of a source."""
        return _AvailableTerms(source, self.score)


@dataclass(frozen=True)
class _AvailableTerms:
    source: Source
    score: Score
    subsets: ClassVar[None] = None

    def families(self, families: Families) -> npt.NDArray[np.float64]:
        """Return the scores of families, (n_families,)."""
        pairs = list(families)
        found = self.source.statistics([tuple(sorted((*parents, child))) for child, parents in pairs])
        alone = self.source.statistics([(child,) for child, _ in pairs])
        return np.array([self._of(*one) for one in zip(pairs, found, alone, strict=True)])

    def _of(self, family: tuple[int, tuple[int, ...]], complete: Statistic, alone: Statistic) -> float:
        child, parents = family
        states = self.source.variables[child].cardinality
        own, of_parents = complete.marginal([child]), complete.marginal(parents)
        told = self._score(complete, of_parents, states) - self._score(own, own.marginal([]), states)
        return told + self._score(alone, alone.marginal([]), states)

    def _score(self, joint: Statistic, of_parents: Statistic, states: int) -> float:
        return self.score.joint(joint) - self.score.marginal(of_parents, states)


def _no_terms_of_sets() -> SchemaError:
    return SchemaError("a score of rows that lack cells is no difference of terms of sets")
