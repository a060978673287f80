"""What a search may and must do: arcs required or forbidden, tiers, limits on families, where to start."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.display import Brief
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import check_names, listed, positions, shown
from fishernet.data.variable import Column
from fishernet.graphs import Dag
from fishernet.scores.mixed import label_below_numbers

Edge = tuple[str, str]
Matrix = npt.NDArray[np.bool_]

MAX_CELLS = 2**24


@dataclass(frozen=True, eq=False, repr=False)
class Rules(Brief):
    """The rules of a search, by the positions of the variables; `Rules.of` makes them from names."""

    start: Dag
    """Acyclic and within the rules, with every required arc."""
    max_parents: int
    """At most this many parents per variable."""
    forbidden: Matrix
    required: Matrix
    """(n, n): ``[parent, child]``."""
    states: npt.NDArray[np.float64]
    """(n,): how many states each variable has; 1 for a column of numbers."""
    max_cells: float
    """At most this many cells per family: the product of the states of a variable and its parents."""

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        *,
        states: Sequence[int] | None = None,
        max_parents: int | None = None,
        max_cells: float | None = MAX_CELLS,
        required: Iterable[Edge] = (),
        forbidden: Iterable[Edge] = (),
        tiers: Iterable[Iterable[str]] | None = None,
        start: Dag | None = None,
    ) -> Rules:
        """Check rules against each other and put them in a search's form.

        Parameters
        ----------
        names : sequence of str
            The variables.
        states : sequence of int, optional
            How many states each has; None for columns of numbers, whose families have no cells.
        max_parents, max_cells : optional
            None means no limit.
        required, forbidden : iterables of (parent, child)
        tiers : iterable of iterables of names, optional
            No arc runs from a later tier to an earlier one; variables in no tier are free.
        start : Dag, optional
            Where the search begins; the required arcs are added to it.

        Raises
        ------
        SchemaError
            When a name is unknown, rules contradict each other, or the start (required arcs included) is beyond a
            limit.
        CycleError
            When the required arcs, or the start with them, close a cycle.
        """
        n = len(names)
        most = n if max_parents is None else max_parents
        names = check.items(names, "names")
        if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 0:
            raise SchemaError(
                f"max_parents must be a non-negative integer or None, got {shown(max_parents)}", parameter="max_parents"
            )
        must = _matrix(names, required, "required")
        must_not = _matrix(names, forbidden, "forbidden") | _against_tiers(names, tiers)
        _refuse_both(names, must & must_not, "both required and forbidden (or against the tiers)")
        present = must | _arcs(names, start)
        _refuse_both(names, present & must_not, "in the start and forbidden (or against the tiers)")
        crowded = np.flatnonzero(present.sum(axis=0) > most)
        if len(crowded):
            raise SchemaError(
                f"{names[crowded[0]]!r} has {present[:, crowded[0]].sum()} parents at the start (required arcs "
                f"included), more than max_parents allows ({most})",
                parameter="max_parents",
            )
        sizes = np.ones(n) if states is None else np.array(states, dtype=np.float64)
        limit = checked_cells(max_cells)
        refuse_large_families(names, present, sizes, limit)
        dag = Dag(names, [tuple(np.flatnonzero(present[:, child]).tolist()) for child in range(n)])
        return cls(dag, int(min(most, n)), must_not, must, sizes, limit)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""
        return self.start.names

    def of_columns(self, variables: Sequence[Column]) -> Rules:
        """Return the rules with no arc from a number to labels, and none of a column of one label.

        Such a column tells nothing, and where its cells are missing it only chooses rows by chance. An arc that is
        required or in the start stays; SchemaError when that is one from a number to labels.
        """
        numbers = np.array([variable.is_continuous for variable in variables], dtype=bool)
        against = numbers[:, None] & ~numbers
        present = self.required | _arcs(self.names, self.start)
        wrong = np.argwhere(present & against)
        if len(wrong):
            raise label_below_numbers(self.names[int(wrong[0][1])], [self.names[int(wrong[0][0])]])
        constant = np.array([not v.is_continuous and v.cardinality == 1 for v in variables], dtype=bool)
        of_one_label = (constant[:, None] | constant) & ~present
        return replace(self, forbidden=self.forbidden | against | of_one_label)

    @property
    def limits(self) -> tuple[int, Matrix, Matrix, npt.NDArray[np.float64], float]:
        """The rules but for the start, as the core's searches take them."""
        return self.max_parents, self.forbidden, self.required, self.states, self.max_cells

    @property
    def parents(self) -> list[list[int]]:
        """The start, as the core's searches take it."""
        return [list(parents) for parents in self.start.parents]


def checked_cells(max_cells: object) -> float:
    """Return a limit on cells, or raise FishernetError when it is none."""
    if max_cells is None:
        return math.inf
    if isinstance(max_cells, bool) or not isinstance(max_cells, int | float | np.number) or not max_cells >= 1:
        raise FishernetError(
            f"max_cells must be a positive number or None, got {shown(max_cells)}", parameter="max_cells"
        )
    return float(max_cells)


def refuse_large_families(
    names: Sequence[str], arcs: Matrix, states: npt.NDArray[np.float64], max_cells: float
) -> None:
    """Raise SchemaError when a family of a graph, ``arcs[parent, child]``, has more cells than may be."""
    for child in np.flatnonzero(arcs.any(axis=0)).tolist():
        parents = np.flatnonzero(arcs[:, child]).tolist()
        cells = math.prod(states[[child, *parents]].tolist())
        if cells > max_cells:
            raise SchemaError(
                f"the family of {names[child]!r} with the parents {listed(names[p] for p in parents)} has {cells:.3g} "
                f"cells, more than max_cells = {max_cells:.10g}: merge states, or raise max_cells",
                parameter="max_cells",
            )


def _arcs(names: Sequence[str], start: Dag | None) -> Matrix:
    present = np.zeros((len(names), len(names)), dtype=bool)
    if start is None:
        return present
    where = positions(names, start.names)
    if len(where) != len(names):
        raise SchemaError(f"start lacks the variable {listed(name for name in names if name not in start.names)}")
    for child, parents in enumerate(start.parents):
        present[[where[p] for p in parents], where[child]] = True
    return present


def _matrix(names: Sequence[str], edges: Iterable[Edge], what: str) -> Matrix:
    matrix = np.zeros((len(names), len(names)), dtype=bool)
    for edge in check.items(edges, what, "pairs (parent, child)"):
        pair = check.items(edge, f"each of {what}", "two names, parent and child")
        if len(pair) != 2:
            raise SchemaError(f"{what} must hold pairs (parent, child) of names, got {shown(edge)}", parameter=what)
        parent, child = positions(names, pair)
        if parent == child:
            raise SchemaError(f"{what} holds an arc from {pair[0]!r} to itself")
        matrix[parent, child] = True
    return matrix


def _against_tiers(names: Sequence[str], tiers: Iterable[Iterable[str]] | None) -> Matrix:
    against = np.zeros((len(names), len(names)), dtype=bool)
    if tiers is None:
        return against
    layers = [
        [tier] if isinstance(tier, str) else list(check.items(tier, "each of tiers"))
        for tier in check.items(tiers, "tiers", "names")
    ]
    check_names([name for layer in layers for name in layer])
    places = [list(positions(names, layer)) for layer in layers]
    for earlier, first in enumerate(places):
        for second in places[earlier + 1 :]:
            against[np.ix_(second, first)] = True
    return against


def _refuse_both(names: Sequence[str], clash: Matrix, what: str) -> None:
    if clash.any():
        parent, child = np.argwhere(clash)[0]
        raise SchemaError(f"the arc {names[parent]!r} -> {names[child]!r} is {what}")
