"""Exact search with few parent sets: the shortest way through the subsets of the variables [1]_.

A way from the empty set to all variables adds one variable after the other, each with its best parents among those
before it. With few parent sets most subsets are on no way that could be short enough.

References
----------
.. [1] C. Yuan and B. Malone, "Learning optimal Bayesian networks: a shortest path perspective", JAIR 48, 2013.
"""

from __future__ import annotations

import numpy as np

from fishernet import _core
from fishernet.errors import StateSpaceError
from fishernet.graphs import Dag
from fishernet.learn.constraints import Constraints
from fishernet.learn.searches.exact.parent_sets import ParentSetSearch
from fishernet.learn.searches.exact.run import Watch
from fishernet.scores import LocalScores

MOST_VARIABLES = 63  # a set is a bit mask


class SparseRun:
    """One run.

    Parameters
    ----------
    scores : LocalScores
    constraints : Constraints
    watch : Watch
    start : Dag
        A good graph; ways that are no better are not taken.
    max_memory : float
        Bytes for the parent sets, and again for what is reached with them.

    Attributes
    ----------
    n_scores : int
        How many families were looked at.
    """

    def __init__(
        self, scores: LocalScores, constraints: Constraints, watch: Watch, *, start: Dag, max_memory: float
    ) -> None:
        self._scores = scores
        self._constraints = constraints
        self._watch = watch
        self._start = start
        self._max_memory = max_memory
        self._sets: _core.ParentSets | None = None
        self._search: _core.SparseSearch | None = None

    @property
    def n_scores(self) -> int:
        """How many families were looked at."""
        return 0 if self._sets is None else self._sets.n_wanted

    @property
    def how_far(self) -> str:
        """How many sets of parents, or of variables, were seen."""
        if self._search is not None:
            return f"exact search had reached {self._search.n_nodes:,} sets of variables"
        most = 0 if self._sets is None else self._sets.n_parents
        return f"exact search had looked at {self.n_scores:,} sets of up to {most} parents"

    def parents(self) -> list[list[int]] | None:
        """Return the best network's parents; None when the time was over first."""
        finding = ParentSetSearch(self._scores, self._constraints, self._max_memory)
        self._sets = finding.sets
        if not finding.run(self._watch):
            return None
        masks = [sum(1 << p for p in parents) for parents in self._start.parents]
        search = self._search = _core.SparseSearch(finding.sets, np.array(masks, dtype=np.uint64), self._max_memory)
        while not search.finished:
            if self._watch.late:
                return None
            search.advance()
            self._watch.tell(self.n_scores + search.n_nodes, None)
            if search.gave_up:
                self._refuse(search)
        self._watch.finish(self.n_scores + search.n_nodes)
        return [[p for p in range(len(masks)) if mask >> p & 1] for mask in search.parents]

    def _refuse(self, search: _core.SparseSearch) -> None:
        per_set = search.bytes / max(1, search.n_nodes)
        raise StateSpaceError(
            f"the sets of variables that an exact search over {len(self._start.names)} variables has to reach",
            cells=search.n_nodes,
            limit=int(self._max_memory / per_set),
            remedy="set max_parents or forbid arcs, learn from fewer variables, or take another search (a cell is a "
            f"set; max_memory allows {self._max_memory / 1e9:.3g} GB for them)",
        )
