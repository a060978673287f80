"""Which rows hold an arc up: a score is a sum over counts, so leaving a row out is exact."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError
from fishernet.base.names import cut, listed
from fishernet.base.vocabulary import ScoreName
from fishernet.data import Table
from fishernet.data.matching import as_data
from fishernet.explain.influence import Influence
from fishernet.graphs.graph import directed_arcs, graph_of
from fishernet.scores import Score
from fishernet.scores.available import scored_cells
from fishernet.scores.base import Families
from fishernet.scores.local import local_scores
from fishernet.scores.named import ScoreKeywords, named_score

Numbers = npt.NDArray[np.float64]


class ArcGain:
    """What an arc adds to the score of its child, as a function of the weights of the rows; `said` is it in words."""

    odds: None = None

    def __init__(
        self, table: Table, child: str, parents: list[str], parent: str, score: Any, options: Any, said: str
    ) -> None:
        self._family = table.select([child, *parents])
        named = named_score(score, **options)
        self._score: Score = named if named.takes_numbers else scored_cells(self._family, named)[1]  # it warns of gaps
        others = [place for place, name in enumerate(self._family.names) if place and name != parent]
        self._pair = Families.from_pairs([(0, range(1, len(parents) + 1)), (0, others)])
        self.said: str = said
        first, cell = _distinct(self._family)
        self.first: npt.NDArray[np.int64] = first
        self.cell: npt.NDArray[np.int64] = cell

    def of(self, weights: Numbers) -> float:
        """Return the score with the arc less that without it, of rows with these weights."""
        cells = np.bincount(self.cell, weights, minlength=len(self.first))
        return self.of_cells(cells.astype(np.float64))

    def of_cells(self, weights: Numbers) -> float:
        """Return the same by the weights of the distinct rows."""
        kept = np.flatnonzero(weights)
        codes = [column[self.first[kept]] for column in self._family.codes]
        counts = weights[kept]
        whole = counts.astype(np.int64) if (counts == np.floor(counts)).all() else counts
        rows = Table.adopt(self._family.variables, codes, weights=whole, n_rows=len(kept))
        data = scored_cells(rows, self._score)[0] if self._score.takes_numbers else rows
        whole, without = local_scores(self._score.source(data), self._pair, self._score).tolist()
        return float(whole - without)


def _distinct(rows: Table) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the first row of each kind, and the kind of each row."""
    if any(variable.is_continuous for variable in rows.variables):
        return np.arange(rows.n_rows), np.arange(rows.n_rows)
    keys = np.stack([np.asarray(column, dtype=np.int64) for column in rows.codes], axis=1)
    _, first, cell = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return first.astype(np.int64), np.ravel(cell).astype(np.int64)


class OfScore:
    """The response of a score to the weights of rows, which stand in the place of a network."""

    refits = True

    def __init__(self, table: Table) -> None:
        self.table = table
        weights = table.weights
        self.weights: Numbers = np.ones(table.n_rows) if weights is None else np.asarray(weights, dtype=np.float64)
        self.net: Numbers = self.weights

    def values(self, asked: Any) -> Numbers:
        """Return what the score loses without each row, per unit of its weight, (n_rows,)."""
        lost = self.removals(asked)
        return np.divide(lost, self.net, out=np.zeros_like(lost), where=self.net > 0)

    def removals(self, asked: Any) -> Numbers:
        """Return what the score loses without each row, (n_rows,): exactly."""
        cells = np.bincount(asked.cell, self.net, minlength=len(asked.first))
        whole = asked.of_cells(cells)
        kinds, kind = np.unique(np.stack([asked.cell, self.net], axis=1), axis=0, return_inverse=True)
        lost = np.zeros(len(kinds))
        for at, (cell, weight) in enumerate(kinds):
            left = cells.copy()
            left[int(cell)] -= weight
            lost[at] = whole - asked.of_cells(left)
        return lost[np.ravel(kind)]

    def without(self, weights: Numbers) -> Numbers:
        """Return the weights: all that a score knows of the rows."""
        return weights

    def again(self, weights: Numbers) -> OfScore:
        """Return the response of the same rows with other weights."""
        return OfScore(self.table.reweighted(weights))


def behind_gain(gain: Any, data: Table) -> Influence:
    """Return how much each row has to do with what an arc adds to a score."""
    response = OfScore(data)
    return Influence(gain.said, gain.of(response.net), response.values(gain), data, response, gain)


def arc(
    graph: Any,
    table: Any,
    parent: str,
    child: str,
    *,
    score: ScoreName | Score = "bic",
    **options: Unpack[ScoreKeywords],
) -> Influence:
    """Return how much each row of a table holds an arc of a graph up.

    The arc's gain is the score of its child's family, less that of the family without the parent. What it loses without
    a row is exact: the scores are computed again.

    Parameters
    ----------
    graph : Dag, or a network with one
        In which the parent is one of the child's.
    table : Table or data frame
        The rows; their missing cells are dealt with as in `fishernet.score`.
    parent, child : str
        The arc.
    score, **options
        As for `fishernet.score`.

    Returns
    -------
    Influence
        ``answer`` is the gain in nats; a row with a value below 0 speaks against the arc. ``smallest_set()`` are rows
        without which the arc gains nothing. Values are exact here, as ``removals`` and ``exact`` are.

    Raises
    ------
    SchemaError
        When the graph has no such arc, or the table no such column.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(500, seed=1)
    >>> why = fn.explain.arc(fn.learn.dag(table), table, "smoke", "bronc")
    >>> round(why.answer, 2), why.smallest_set().rows.size
    (25.85, 82)
    """
    data = as_data(table, "explain.arc")
    parents = [one for one, other in directed_arcs(graph_of(graph), "graph") if other == child]
    if parent not in parents:
        there = f"its parents are {listed(parents)}" if parents else "it has no parents"
        raise SchemaError(f"the graph has no arc {parent!r} -> {child!r}: {there}", parameter="parent")
    said = f"what {cut(parent, 30)} -> {cut(child, 30)} adds to the score"
    return behind_gain(ArcGain(data, child, parents, parent, score, options, said), data)
