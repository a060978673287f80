"""Search over orders of the variables: best order score search [1]_.

An order stands for the graph in which everyone's parents are chosen among its predecessors: grown one at a time, the
best first, while the score rises, then shrunk in the same way. One variable after the other is put where the graph's
score is best, until no such move raises it. What was found about a variable's parents is kept in a grow-shrink tree, in
the core, so that another order costs walks down the trees. A restart puts some variables of the best order in random
places and searches on.

The first order is that of the graph where a tabu search ends, so that the result is never below that. Another tabu
search, with restarts, goes on from the best graph: it finds the parents that help only together, which growing them one
at a time cannot. (The paper ends with the backward steps of greedy equivalence search instead.)

References
----------
.. [1] B. Andrews, J. Ramsey, R. Sanchez-Romero, J. Camchong and E. Kummerfeld, "Fast scalable and accurate discovery of
   DAGs using the best order score search and grow-shrink trees", NeurIPS 2023.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.graphs import Dag
from fishernet.learn.hill_climb import TabuSearch, check_restarts
from fishernet.learn.rules import Constraints
from fishernet.learn.search import Search, Step
from fishernet.scores import Families


class Orders:
    """The search over orders alone, from the order of the start.

    Parameters
    ----------
    constraints : Constraints
        Where it starts, and what it may do. A required parent comes before its child in every order.
    restarts, perturb : int
        How often, and how many variables of the best order are put in random places.
    key : int
        All randomness comes from it.
    """

    def __init__(self, constraints: Constraints, *, restarts: int = 0, perturb: int = 1, key: int = 0) -> None:
        self._names = constraints.start.names
        self._orders = _core.OrderSearch(
            [list(parents) for parents in constraints.start.parents],
            constraints.max_parents,
            constraints.forbidden,
            constraints.required,
            restarts=restarts,
            perturb=perturb,
            key=key,
        )

    @property
    def best(self) -> Dag:
        """The graph of the best order so far; the start, before an order was scored."""
        return Dag(self._names, self._orders.parents)

    @property
    def score(self) -> float:
        """Its score; NaN before an order was scored."""
        return self._orders.score

    @property
    def steps(self) -> int:
        """How many moves were made, those in vain too."""
        return self._orders.n_moves

    def wanted(self) -> Families:
        """Return the families on which walks down the trees wait."""
        return Families(*self._orders.wanted())

    def tell(self, scores: npt.NDArray[np.float64]) -> None:
        """Take the scores of the wanted families and make moves until a walk has to wait again."""
        self._orders.tell(scores)

    def trace(self) -> tuple[Step, ...]:
        """Return the moves from the start's order to the best one."""
        return tuple(
            Step("move", "" if after < 0 else self._names[after], self._names[variable], gain)
            for variable, after, gain in self._orders.moves
        )


PERTURB = 5  # variables
LAST_RESTARTS = 10  # of the tabu search that comes last


class OrderSearch:
    """Tabu search, orders, and tabu search again, each from the best graph so far, as one `Search`.

    Parameters
    ----------
    constraints : Constraints
        Where it starts, and what it may do.
    restarts : int
        How often variables of the best order are put in random places.
    perturb : int, optional
        How many variables; 5 when not said.
    key : int
        All randomness comes from it.
    """

    def __init__(
        self, constraints: Constraints, *, restarts: int = 50, perturb: int | None = None, key: int = 0
    ) -> None:
        self._constraints = constraints
        self._draws = {**check_restarts(restarts, perturb, PERTURB), "key": key}
        self._stages: list[Search] = [TabuSearch(constraints)]
        self._before: list[Search | None] = [None]
        """The stage from whose graph each stage began."""

    @property
    def best(self) -> Dag:
        """The best graph so far."""
        return self._leader.best

    @property
    def score(self) -> float:
        """Its score; NaN before the first scores."""
        return self._leader.score

    @property
    def steps(self) -> int:
        """How many steps and moves were made, those in vain too."""
        return sum(stage.steps for stage in self._stages)

    def wanted(self) -> Families:
        """Return what the present stage wants."""
        families = self._stages[-1].wanted()
        while not len(families) and self._begin_next_stage():
            families = self._stages[-1].wanted()
        return families

    def tell(self, scores: npt.NDArray[np.float64]) -> None:
        """Tell the present stage."""
        self._stages[-1].tell(scores)

    def trace(self) -> tuple[Step, ...]:
        """Return the way to the best graph; a step "order" leads from a graph to that of its order."""
        way: tuple[Step, ...] = ()
        stage: Search | None = self._leader
        while stage is not None:
            before = self._before[self._stages.index(stage)]
            steps = stage.trace()
            if isinstance(stage, Orders) and before is not None:
                gain = stage.score - math.fsum(step.gain for step in steps) - before.score
                steps = (Step("order", "", "", gain), *steps)
            way, stage = steps + way, before
        return way

    @property
    def _leader(self) -> Search:
        """The stage with the best graph, the first of those that tie."""
        leader = self._stages[0]
        for stage in self._stages[1:]:
            if stage.score > leader.score + max(1e-9, 1e-12 * abs(leader.score)):
                leader = stage
        return leader

    def _begin_next_stage(self) -> bool:
        """Go on from the best graph; False after the last stage."""
        if len(self._stages) == 3:
            return False
        leader = self._leader
        constraints = replace(self._constraints, start=leader.best)
        if len(self._stages) == 1:
            self._stages.append(Orders(constraints, **self._draws))
        else:
            self._stages.append(TabuSearch(constraints, restarts=LAST_RESTARTS, key=self._draws["key"]))
        self._before.append(leader)
        return True
