"""A junction tree: one plan for many questions to one network.

The graph is moralized (parents of a child are joined), triangulated, and its maximal cliques are joined into a tree
with the running intersection property [1]_. Two passes of messages make every clique's table the joint distribution of
its variables and what is known. The tree without evidence is calibrated once. Evidence shrinks the graph, so each
set of findings gets a tree of its own; the last one is kept.

References
----------
.. [1] S. L. Lauritzen and D. J. Spiegelhalter, "Local computations with probabilities on graphical structures and
   their application to expert systems", J. R. Stat. Soc. B 50 (1988).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from fishernet import _core
from fishernet.base import check
from fishernet.base.names import check_names, positions, several
from fishernet.infer.cutset import CutPlan
from fishernet.infer.evidence import Evidence, Given, Likelihood, impossible
from fishernet.infer.factors import MAX_TABLE, Array, Model, checked_limit, model_of, planned_or_cut
from fishernet.infer.queries import check_answer, joint_of_query, log_share, with_observed_axes


class JunctionTree:
    """A junction tree of a Bayesian or a Markov network.

    Parameters
    ----------
    net : BayesianNetwork or MarkovNetwork
    max_table : int
        How many cells (8 bytes each) its tables may have together.

    Raises
    ------
    StateSpaceError
        When they would have more, and still too many in the cases of some variables; nothing has been allocated then.
        `fishernet.infer.family_marginals` may still find a cheaper way.

    Notes
    -----
    Where its tables would have more cells (`n_cells`), they are never made: some variables are held at each of their
    states in turn, and answers are means over these cases.

    Examples
    --------
    >>> import fishernet as fn
    >>> tree = fn.infer.JunctionTree(fn.datasets.load("asia"))
    >>> tree.width
    2
    >>> tree.marginal(["lung"], given={"smoke": "yes"}).round(2)
    array([0.1, 0.9])
    >>> round(tree.log_evidence({"smoke": "yes"}), 4)
    -0.6931
    """

    def __init__(self, net: Model, *, max_table: int = MAX_TABLE) -> None:
        self._net = model_of(net)
        self._scopes = self._net.scopes
        self._limit = checked_limit(max_table)
        self._tree = self._plan(Evidence.of(net.variables, None, None))
        self._calibrated: tuple[tuple[object, ...], list[Array], float] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(JunctionTree, max_table=self._limit), (self._net,)  # which makes the same tree again

    @property
    def net(self) -> Model:
        """The network."""
        return self._net

    @property
    def width(self) -> int:
        """The number of variables of the largest clique, less one."""
        return self._tree.width

    @property
    def n_cells(self) -> int:
        """The number of cells of all cliques' tables together."""
        return int(self._tree.cells)

    @property
    def cliques(self) -> tuple[tuple[str, ...], ...]:
        """The names of each clique's variables; a clique comes after its neighbour towards the root."""
        names = self._net.names
        return tuple(tuple(names[v] for v in clique) for clique in self._tree.cliques())

    @property
    def parents(self) -> tuple[int, ...]:
        """The position of each clique's neighbour towards the root; -1 where it has none.

        What a clique shares with all cliques before it, it shares with that neighbour: along these edges messages run
        from the last clique to the first and back.

        Examples
        --------
        >>> import fishernet as fn
        >>> fn.infer.JunctionTree(fn.datasets.load("asia")).parents[0]
        -1
        """
        cliques = [frozenset(clique) for clique in self._tree.cliques()]
        seen: set[int] = set()
        found = []
        for position, clique in enumerate(cliques):
            shared = clique & seen
            found.append(next((p for p in range(position) if shared <= cliques[p]), -1) if shared else -1)
            seen |= clique
        return tuple(found)

    def __repr__(self) -> str:
        cliques, cells = several(len(self.cliques), "clique"), several(self.n_cells, "cell")
        return f"JunctionTree({cliques}, width {self.width}, {cells})"

    def marginal(self, names: Iterable[str], *, given: Given = None, likelihood: Likelihood = None) -> Array:
        """Return the joint probabilities of some variables, given what is known, one axis per name; see `marginal`.

        The names need not lie in one clique.
        """
        asked = [names] if isinstance(names, str) else list(check.items(names, "names"))
        check_names(asked)
        where = positions(self._net.names, asked)
        check_answer(self._net, where, self._limit)
        evidence = Evidence.of(self._net.variables, given, likelihood)
        free = [v for v in where if v not in evidence.observed]
        for position, scope in enumerate(self._scopes):
            family = [v for v in scope if v not in evidence.observed]
            if set(free) <= set(family):
                table = self._families(evidence, given)[position]
                return with_observed_axes(self._net, where, evidence, _onto(table, family, free))
        return joint_of_query(self._net, where, evidence, given, self._limit)

    def family_marginals(self, *, given: Given = None, likelihood: Likelihood = None) -> list[Array]:
        """Return the joint probabilities of every variable and its parents, by one calibration.

        Returns
        -------
        list of arrays, one per variable
            One axis per parent, in the order of its conditional, and the variable's own axis last. Of a Markov network:
            one per factor, with its axes.
        """
        evidence = Evidence.of(self._net.variables, given, likelihood)
        tables = self._families(evidence, given)
        return [
            with_observed_axes(self._net, scope, evidence, table)
            for scope, table in zip(self._scopes, tables, strict=True)
        ]

    def log_evidence(self, given: Given = None, *, likelihood: Likelihood = None) -> float:
        """Return the log-probability of what is known, in nats; -inf when it is impossible.

        With soft evidence: the logarithm of the expected product of the likelihoods where the rest is as given.
        """
        total = self._calibrate(Evidence.of(self._net.variables, given, likelihood))[1]
        return log_share(self._net, total, self._limit)

    def _plan(self, evidence: Evidence) -> _core.Inference | CutPlan:
        free = [[v for v in scope if v not in evidence.observed] for scope in self._scopes]
        return planned_or_cut(self._net, evidence.observed, evidence.soft, free, self._limit)

    def _calibrate(self, evidence: Evidence) -> tuple[list[Array], float]:
        key = (
            *zip(evidence.observed, evidence.states[evidence.observed].tolist(), strict=True),
            *((v, tuple(numbers.tolist())) for v, numbers in zip(evidence.soft, evidence.likelihoods, strict=True)),
        )
        calibrated = self._calibrated
        if calibrated is None or calibrated[0] != key:
            plan = self._tree if evidence.empty else self._plan(evidence)
            calibrated = (key, *plan.run(evidence.states, evidence.likelihoods))
            self._calibrated = calibrated  # another thread's may take its place; what is returned is this call's
        return calibrated[1:]

    def _families(self, evidence: Evidence, given: Given) -> list[Array]:
        """Return the tables of all families over their unobserved variables."""
        tables, log_evidence = self._calibrate(evidence)
        if np.isneginf(log_evidence):
            raise impossible(given)
        shaped = []
        for scope, table in zip(self._scopes, tables, strict=True):
            free = [v for v in scope if v not in evidence.observed]
            shaped.append(table.reshape([self._net.variables[v].cardinality for v in free]))
        return shaped


def _onto(table: Array, axes: list[int], wanted: list[int]) -> Array:
    """Sum a table over all axes but the wanted ones, which come in their order."""
    others = tuple(axis for axis, v in enumerate(axes) if v not in wanted)
    kept = [v for v in axes if v in wanted]
    summed: Array = table.sum(axis=others)
    return summed.transpose([kept.index(v) for v in wanted])
