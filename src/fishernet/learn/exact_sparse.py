"""Exact search with few parent sets: the parent sets that may be best, and the best order that they allow.

The parent sets that may be part of a best network are found without examining all of them. A set is of no use when one
of its subsets is as good. It and its supersets need not even be examined when a bound says so [1]_: no set fits better
than all variables together do, and a penalty only rises with more parents. Where the penalty is a price for every
parameter, a parent adds at most its own entropy given the others, for a known price.

With everyone's parent sets at hand a local search over orders [2]_ finds a good network at once. How much better
another may be a linear program bounds: in every set of variables, a cluster, one has no parent in the cluster [3]_. Its
charges rule out most of the parent sets [4]_. What is left is a way from the empty set to all variables, which adds one
variable after the other, each with its best parents among those before it [5]_: most subsets are on no way that is
short enough. Where not all parent sets could be examined in time, the local search goes on with those that were.

References
----------
.. [1] C. P. de Campos, M. Scanagatta, G. Corani and M. Zaffalon, "Entropy-based pruning for learning Bayesian networks
   using BIC", Artificial Intelligence 260, 2018; C. P. de Campos and Q. Ji, "Efficient structure learning of Bayesian
   networks using constraints", JMLR 12, 2011.
.. [2] C. Lee and P. van Beek, "Metaheuristics for score-and-search Bayesian network structure learning", Canadian AI
   2017.
.. [3] T. Jaakkola, D. Sontag, A. Globerson and M. Meila, "Learning Bayesian network structure using LP relaxations",
   AISTATS 2010; F. Barahona and R. Anbil, "The volume algorithm: producing primal solutions with a subgradient method",
   Mathematical Programming 87, 2000.
.. [4] F. Trösser, S. de Givry and G. Katsirelos, "Improved acyclicity reasoning for Bayesian network structure learning
   with constraint programming", IJCAI 2021.
.. [5] C. Yuan and B. Malone, "Learning optimal Bayesian networks: a shortest path perspective", JAIR 48, 2013.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base.errors import StateSpaceError
from fishernet.base.progress import Watch
from fishernet.graphs import Dag
from fishernet.learn.rules import Rules
from fishernet.learn.search import Scorer, families_of_one_size, score_in_parts
from fishernet.scores import Families, LocalScores, LogLikelihood
from fishernet.scores.base import CoreTerm

Float64 = npt.NDArray[np.float64]
BYTES_PER_SET = 60  # what is remembered of an examined set
UNKNOWN = CoreTerm("unknown", 0.0)  # of a score that the core does not know
MOST_VARIABLES = 63  # a set is a bit mask
MOST_GIVEN = 2  # others, of which the entropies of a variable are known; three rule out 3 % more sets, and take longer


@dataclass(frozen=True)
class Bounds:
    """What is known of a score before a set is examined, and during it."""

    best_fit: Float64
    """(n,): no set of parents of a child fits better; infinite when nothing is known."""
    price: float
    """What a parameter costs; -1 when that is not what the penalty is."""
    entropies: Float64
    """(n ** 3,): ``[y, u, v]``: n_rows times the entropy of y given u <= v; with a price only, empty otherwise."""
    fits: LocalScores | None
    """Where the penalty is what the fit of a set is above its score: what gives the fits."""


def measure_of(scores: Scorer) -> CoreTerm:
    """Return what is known of a score: nothing where numbers or missing cells are scored."""
    of_labels = not scores.source.has_missing and all(not v.is_continuous for v in scores.source.variables)
    return (scores.score.core_term(scores.source.total) if of_labels else None) or UNKNOWN


def has_bounds(scores: Scorer) -> bool:
    """Whether there is a penalty that rules sets out; without one nearly all of them are examined."""
    measure, parameter = measure_of(scores)
    return measure in ("fnml", "qnml") or (measure == "likelihood" and parameter > 0)


def n_parent_sets(rules: Rules) -> int:
    """Return how many sets of parents the rules allow, of all children together."""
    n, total = len(rules.names), 0
    for child in range(n):
        required = int(rules.required[:, child].sum())
        free = n - 1 - required - int(rules.forbidden[:, child].sum())
        room = min(free, rules.max_parents - required)
        total += sum(math.comb(free, size) for size in range(room + 1))
    return total


def bounds_of(scores: Scorer, watch: Watch, *, with_fits: bool = True) -> Bounds | None:
    """Return the bounds of a score on some data; None when the time was over first.

    Fits, where they are needed and wanted, rule sets out and take as long to count as the scores.
    """
    source = scores.source
    n = len(source.variables)
    nothing = np.zeros(0)
    measure, parameter = measure_of(scores)
    if measure in (UNKNOWN.measure, "bdq"):
        return Bounds(np.full(n, np.inf), -1.0, nothing, None)
    fits = LocalScores(source, LogLikelihood())
    best_fit = fits(Families.from_pairs((child, [v for v in range(n) if v != child]) for child in range(n)))
    if measure == "likelihood":
        known = entropies(fits, watch) if parameter > 0 else nothing
        return None if known is None else Bounds(best_fit, parameter, known, None)
    # a marginal likelihood is never above the fit; the regrets of fNML and qNML only rise with more parents
    return Bounds(best_fit, -1.0, nothing, fits if measure in ("fnml", "qnml") and with_fits else None)


def entropies(fits: LocalScores, watch: Watch) -> Float64 | None:
    """Return n_rows times the entropies of every variable given up to two others, as `Bounds` has them.

    None when the time was over first.
    """
    n = len(fits.source.variables)
    table = np.full((n, n, n), np.inf)
    for size in range(MOST_GIVEN + 1):
        combinations = list(itertools.combinations(range(n - 1), size))
        chosen = np.array(combinations, dtype=np.int32).reshape(len(combinations), size)
        for y in range(n):
            given = chosen + (chosen >= y)
            families = families_of_one_size(np.full(len(given), y), given)
            known = score_in_parts(fits, families, lambda: watch.look(0))
            if known is None:
                return None
            last = given[:, -1:] if size else np.full((1, 1), y)
            where = np.concatenate([given, np.repeat(last, MOST_GIVEN - size, axis=1)], axis=1)
            table[y, where[:, 0], where[:, 1]] = -known
    return table.ravel()


def bound_by_fit(scores: Scorer) -> float | None:
    """Return what no graph's score is above: everyone fits as with all others for parents, for the price of none.

    None where nothing is known of the score.
    """
    source = scores.source
    measure, parameter = measure_of(scores)
    if measure in (UNKNOWN.measure, "bdq"):
        return None
    n = len(source.variables)
    every = Families.from_pairs((child, [v for v in range(n) if v != child]) for child in range(n))
    fit = float(LocalScores(source, LogLikelihood())(every).sum())
    price = parameter if measure == "likelihood" else 0.0
    return fit - price * sum(variable.cardinality - 1 for variable in source.variables)


class ParentSetSearch:
    """Finds the parent sets of all children, those that are worse than a subset by less than some slack among them."""

    def __init__(
        self, scorer: Scorer, rules: Rules, max_memory: float, slack: float = 0.0, most: float = math.inf
    ) -> None:
        self._scorer, self._slack = scorer, slack
        self._n = len(scorer.source.variables)
        self._is_patient = most == math.inf
        self._most = int(min(max_memory / BYTES_PER_SET, 2.0**40, most))
        n_sets = n_parent_sets(rules)
        if self._is_patient and n_sets > self._most and not has_bounds(scorer):
            self._refuse(n_sets)
        self._rules = rules
        self.sets: _core.ParentSets | None = None

    def run(self, watch: Watch) -> bool:
        """Find them; False when the time was over first, or more than `most` sets are to be examined."""
        bounds = bounds_of(self._scorer, watch, with_fits=self._is_patient)
        if bounds is None:
            return False
        known = bounds.best_fit, bounds.entropies, bounds.price
        sets = self.sets = _core.ParentSets(*self._rules.limits, *known, self._most, self._slack)

        def look() -> bool:
            return watch.look(sets.n_wanted)

        while len(families := Families(*sets.wanted())):
            if sets.gave_up:
                if not self._is_patient:
                    return False
                self._refuse(sets.n_wanted)
            scores = score_in_parts(self._scorer, families, look)
            fits = np.zeros(0) if bounds.fits is None or scores is None else score_in_parts(bounds.fits, families, look)
            if scores is None or fits is None:
                return False
            left = watch.seconds_left
            if not sets.tell(scores, fits, math.inf if left is None else left):
                return False
        return True

    def _refuse(self, n_sets: int) -> NoReturn:
        raise StateSpaceError(
            f"the parent sets of an exact search over {self._n} variables",
            cells=n_sets,
            limit=self._most,
            remedy="allow fewer parents or forbid arcs, learn from fewer variables, or take another search (a cell is "
            f"a set that was looked at, of {BYTES_PER_SET} bytes)",
            parameter="max_memory",
        )


class SparseRun:
    """One run; it gives up where it would examine more than so many parent sets, or after so much work on them.

    Of the sets that were examined it then has a good network all the same.
    """

    def __init__(
        self,
        scorer: Scorer,
        rules: Rules,
        watch: Watch,
        *,
        start: Dag,
        max_memory: float,
        most_sets: float = math.inf,
        most_work: float = math.inf,
    ) -> None:
        self._watch = watch
        self._start = start
        self._max_memory, self._most_work = max_memory, most_work
        self._finding = ParentSetSearch(scorer, rules, max_memory, most=most_sets)
        self._search: _core.SparseSearch | None = None
        self._is_complete = False

    @property
    def bound(self) -> float | None:
        """What no graph's score is above; None where nothing is known."""
        known = self._search if self._is_complete else self._finding.sets
        return None if known is None or known.bound == math.inf else float(known.bound)

    @property
    def best(self) -> list[list[int]] | None:
        """The parents in the best network so far; None before there is one."""
        if self._search is None:
            return None
        n = len(self._start.names)
        return [[p for p in range(n) if mask >> p & 1] for mask in self._search.parents]

    @property
    def n_scores(self) -> int:
        """How many families were examined."""
        return 0 if self._finding.sets is None else self._finding.sets.n_wanted

    @property
    def how_far(self) -> str:
        """How many sets of parents, or of variables, were seen."""
        if self._search is not None:
            return f"exact search had reached {self._search.n_nodes:,} sets of variables"
        most = 0 if self._finding.sets is None else self._finding.sets.n_parents
        return f"exact search had looked at {self.n_scores:,} sets of up to {most} parents"

    def parents(self) -> list[list[int]] | None:
        """Return the best network's parents; None when the time was over first, or it gave up."""
        self._is_complete = self._finding.run(self._watch)
        sets = self._finding.sets
        if sets is None or not (self._is_complete or (sets.gave_up and sets.n_parents > 1)):
            return None
        masks = [sum(1 << p for p in parents) for parents in self._start.parents]
        search = self._search = _core.SparseSearch(sets, np.array(masks, dtype=np.uint64), self._max_memory)
        while not search.finished:
            if self._watch.look(self.n_scores + search.n_nodes) or search.work > self._most_work:
                return None
            search.advance()
            if search.gave_up:
                self._refuse(search)
        self._watch.finish(self.n_scores + search.n_nodes)
        return self.best if self._is_complete else None

    def _refuse(self, search: _core.SparseSearch) -> None:
        per_set = search.bytes / max(1, search.n_nodes)
        raise StateSpaceError(
            f"the sets of variables that an exact search over {len(self._start.names)} variables has to reach",
            cells=search.n_nodes,
            limit=int(self._max_memory / per_set),
            remedy="allow fewer parents or forbid arcs, learn from fewer variables, or take another search (a cell is "
            f"a set; {self._max_memory / 1e9:.3g} GB are allowed for them)",
            parameter="max_memory",
        )
