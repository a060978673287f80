"""Plans for models whose tables do not fit: some variables are held at each of their states in turn.

Given these, tables are smaller, and what is asked is the mean over all cases by their probabilities: cutset
conditioning [1]_. It is exact, and takes a run for each case.

References
----------
.. [1] J. Pearl, "Probabilistic reasoning in intelligent systems", Morgan Kaufmann, 1988, section 4.4.2.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.data import Variable

Array = npt.NDArray[np.float64]
States = npt.NDArray[np.int32]

MOST_WORK = 2.0**35  # cells that are multiplied and summed in all cases: about a minute on two cores
WORK_OF_CASE = 2.0**20  # what each case costs beside
HOPELESS = 2.0**12  # times the cells that may be held: of a table that no cut makes small enough


class Factored(Protocol):
    """A product of factors."""

    @property
    def variables(self) -> Sequence[Variable]:
        """The variables."""

    @property
    def factors(self) -> _core.Factors:
        """The factors, as the core multiplies them."""

    def factor_tables(self) -> Sequence[tuple[tuple[int, ...], Array]]:
        """Return the positions of each factor's axes, and its values."""


class CutPlan:
    """A plan for each case of some variables, which together answer for all; `cut_plan` makes it."""

    def __init__(self, ask: _Question, whole: _core.Inference, cut: list[int], plan: _core.Inference) -> None:
        self._ask, self._whole, self._cut, self._plan = ask, whole, cut, plan

    @property
    def width(self) -> int:
        """The number of variables of the largest clique, less one; as the cells and the cliques, without a cut."""
        return self._whole.width

    @property
    def cells(self) -> float:
        """The cells of all cliques' tables together."""
        return self._whole.cells

    def cliques(self) -> list[list[int]]:
        """Return the cliques."""
        return self._whole.cliques()

    def run(self, states: States, likelihoods: Sequence[Array]) -> tuple[list[Array], float]:
        """Return the distribution of each target, flat, and the log-probability of what is known."""
        whole = [np.zeros([self._ask.sizes[v] for v in target]) for target in self._ask.targets]
        top, total = -math.inf, 0.0
        for case in self._cases(states):
            tables, log_prob = self._plan.run(case, likelihoods)
            if log_prob == -math.inf:
                continue
            if log_prob > top:  # shares are of the most probable case so far
                shrink = math.exp(top - log_prob)
                total, top = total * shrink, log_prob
                for table in whole:
                    table *= shrink
            share = math.exp(log_prob - top)
            total += share
            for target, table, of_case in zip(self._ask.targets, whole, tables, strict=True):
                at = tuple(int(case[v]) if v in self._cut else slice(None) for v in target)
                table[at] += share * of_case.reshape(table[at].shape)
        if not total:
            return [], -math.inf
        return [(table / total).reshape(-1) for table in whole], top + math.log(total)

    def maximize(self, states: States, likelihoods: Sequence[Array]) -> States:
        """Return the most probable states of all variables; none where what is known is impossible."""
        best, most = np.zeros(0, dtype=np.int32), -math.inf
        for case in self._cases(states):
            codes = self._plan.maximize(case, likelihoods)
            found = self._ask.log_product(codes, likelihoods) if len(codes) else -math.inf
            if found > most:
                best, most = codes, found
        return best

    def _cases(self, states: States) -> Iterator[States]:
        for values in itertools.product(*(range(self._ask.sizes[v]) for v in self._cut)):
            case = states.copy()
            case[self._cut] = values
            yield case


class _Question:
    """What a plan is for."""

    def __init__(
        self,
        model: Factored,
        observed: Sequence[int],
        soft: Sequence[int],
        targets: Sequence[Sequence[int]],
        *,
        tree: bool,
    ) -> None:
        self.model: Factored = model
        self.observed: list[int] = list(observed)
        self.soft: list[int] = list(soft)
        self.sizes: list[int] = [variable.cardinality for variable in model.variables]
        self.targets: list[list[int]] = [list(target) for target in targets]
        self.tree: bool = tree
        self.together: bool = tree or len(targets) > 1  # all tables are held at once, not one after the other

    def planned(self, cut: Sequence[int], most: float) -> _core.Inference:
        """Return the plan of each case."""
        free = [[v for v in target if v not in cut] for target in self.targets]
        return _core.Inference(self.model.factors, [*self.observed, *cut], self.soft, free, self.tree, most)

    def work(self, cut: Sequence[int], plan: _core.Inference) -> float:
        """Return what all cases cost."""
        n_cases = math.prod(float(self.sizes[v]) for v in cut)
        return n_cases * ((3 if self.together else 1) * plan.cells + WORK_OF_CASE)

    def more(self, plan: _core.Inference, limit: float) -> list[int]:
        """Return variables to hold, so that about as many cells are left of a plan's cliques as may be held.

        It is an empty list where cutting further saves nothing.
        """
        cliques = [np.array(clique) for clique in plan.cliques()]
        sizes = np.array(self.sizes, dtype=np.float64)
        cells = np.array([sizes[clique].prod() for clique in cliques])
        found: list[int] = []
        while (cells.sum() if self.together else cells.max(initial=0)) > limit:
            saved = np.zeros(len(sizes))
            for clique, of in zip(cliques, cells, strict=True):
                saved[clique] += of if self.together or of > limit else 0
            saved[[*found, *np.flatnonzero(sizes == 1)]] = 0
            if not saved.any():
                break
            best = int((saved * (1 - 1 / sizes) / np.log(np.maximum(sizes, 2))).argmax())
            found.append(best)
            cells = np.array(
                [of / sizes[best] if best in clique else of for clique, of in zip(cliques, cells, strict=True)]
            )
        return found

    def log_product(self, codes: States, likelihoods: Sequence[Array]) -> float:
        """Return the logarithm of the product of all factors and likelihoods at some states."""
        numbers = [values[tuple(codes[list(scope)])] for scope, values in self.model.factor_tables()]
        numbers += [values[codes[v]] for v, values in zip(self.soft, likelihoods, strict=True)]
        return float(np.log(np.array(numbers)).sum())


def cut_plan(
    model: Factored,
    observed: Sequence[int],
    soft: Sequence[int],
    targets: Sequence[Sequence[int]],
    limit: float,
    *,
    tree: bool,
) -> CutPlan | None:
    """Return a plan by cases that holds no more cells than `limit`; None where none does in about a minute.

    Parameters
    ----------
    model : Factored
    observed, soft : list of int
        The variables that are known, and those with likelihoods.
    targets : list of list of int
        Unobserved variables whose joint distributions are asked for.
    limit : float
    tree : bool
        Whether all variables count, those too on which nothing asked depends.
    """
    ask = _Question(model, observed, soft, targets, tree=tree)
    if any(math.prod(ask.sizes[v] for v in target) > limit for target in targets):
        return None  # the answer itself is too large
    cut: list[int] = []
    whole = plan = ask.planned(cut, HOPELESS * limit)
    while plan.cells_held > limit:
        if plan.cells_held > HOPELESS * limit or ask.work(cut, plan) > MOST_WORK:
            return None
        more = ask.more(plan, limit)
        if not more:
            return None
        cut += more
        plan = ask.planned(cut, HOPELESS * limit)
    return CutPlan(ask, whole, cut, plan) if ask.work(cut, plan) <= MOST_WORK else None
