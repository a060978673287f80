"""What a search may and must do: arcs required or forbidden, tiers, how many parents, where to start."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError
from fishernet.base.names import check_names, listed, positions
from fishernet.graphs import Dag

Edge = tuple[str, str]
Matrix = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Constraints:
    """Rules in the form that a search reads.

    Attributes
    ----------
    start : Dag
        Acyclic, with every required arc and no forbidden one.
    max_parents : int
        At most this many parents a variable.
    forbidden, required : (n, n) arrays of bool
        ``[parent, child]``.
    """

    start: Dag
    max_parents: int
    forbidden: Matrix
    required: Matrix


def make_constraints(
    names: Sequence[str],
    *,
    max_parents: int | None = None,
    required: Iterable[Edge] = (),
    forbidden: Iterable[Edge] = (),
    tiers: Iterable[Iterable[str]] | None = None,
    start: Dag | None = None,
) -> Constraints:
    """Check rules against each other and put them in a search's form.

    Parameters
    ----------
    names : sequence of str
        The variables.
    max_parents : int, optional
        None means no limit.
    required, forbidden : iterables of (parent, child)
    tiers : iterable of iterables of names, optional
        No arc runs from a later tier to an earlier one; variables in no tier are free.
    start : Dag, optional
        Where the search begins; the required arcs are added to it.

    Raises
    ------
    SchemaError
        When a name is unknown or rules contradict each other.
    CycleError
        When the required arcs, or the start with them, close a cycle.
    """
    n = len(names)
    most = n if max_parents is None else max_parents
    if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 0:
        raise SchemaError(
            f"max_parents must be a non-negative integer or None, got {max_parents!r}", parameter="max_parents"
        )
    must = _matrix(names, required, "required")
    must_not = _matrix(names, forbidden, "forbidden") | _against_tiers(names, tiers)
    _refuse_both(names, must & must_not, "both required and forbidden (or against the tiers)")
    present = must.copy()
    if start is not None:
        where = positions(names, start.names)
        if len(where) != n:
            raise SchemaError(f"start lacks the variable {listed(name for name in names if name not in start.names)}")
        for child, parents in enumerate(start.parents):
            present[[where[p] for p in parents], where[child]] = True
        _refuse_both(names, present & must_not, "in the start and forbidden (or against the tiers)")
    crowded = np.flatnonzero(present.sum(axis=0) > most)
    if len(crowded):
        raise SchemaError(
            f"{names[crowded[0]]!r} has {present[:, crowded[0]].sum()} parents at the start (required arcs included), "
            f"more than max_parents allows ({most})",
            parameter="max_parents",
        )
    dag = Dag(names, [tuple(np.flatnonzero(present[:, child]).tolist()) for child in range(n)])
    return Constraints(dag, int(min(most, n)), must_not, must)


def _matrix(names: Sequence[str], edges: Iterable[Edge], what: str) -> Matrix:
    matrix = np.zeros((len(names), len(names)), dtype=bool)
    for edge in edges:
        pair: Any = edge
        if isinstance(pair, str) or len(pair) != 2:
            raise SchemaError(f"{what} must hold pairs (parent, child) of names, got {edge!r}")
        parent, child = positions(names, pair)
        if parent == child:
            raise SchemaError(f"{what} holds an arc from {pair[0]!r} to itself")
        matrix[parent, child] = True
    return matrix


def _against_tiers(names: Sequence[str], tiers: Iterable[Iterable[str]] | None) -> Matrix:
    against = np.zeros((len(names), len(names)), dtype=bool)
    if tiers is None:
        return against
    layers = [[tier] if isinstance(tier, str) else list(tier) for tier in tiers]
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
