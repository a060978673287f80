"""Structures that are found in one step: Chow-Liu trees, naive Bayes, TAN and KDB.

What they go by is (conditional) mutual information under the empirical distribution
(`fishernet.learn.pair_information`). Numbers stay numbers, and are no parents of labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError, warn
from fishernet.base.names import positions
from fishernet.base.vocabulary import IncompleteName, word
from fishernet.data import Source, as_source
from fishernet.data.options import AUTO
from fishernet.data.source import told_of_cuts
from fishernet.data.variable import require_categorical
from fishernet.graphs import Dag
from fishernet.learn.missing.incomplete import AvailableCases
from fishernet.learn.missing.structural_em import graph_by_turns
from fishernet.learn.missing.ways import MISSING, nearly_empty, way_with_missing
from fishernet.learn.pair_information import descending, mutual_information
from fishernet.learn.rules import MAX_CELLS, checked_cells, refuse_large_families
from fishernet.learn.search import column_names

Positions = npt.NDArray[np.int64]


def chow_liu(
    table: Any,
    *,
    root: str | None = None,
    max_cells: float | None = MAX_CELLS,
    missing: IncompleteName | None = None,
) -> Dag:
    """Return the tree over all variables that has the largest likelihood [1]_.

    It is a maximum-weight spanning tree for the mutual information of pairs. Variables that depend on nothing are
    joined too, by arcs of weight 0. A variable that lacks over nine tenths of its cells has no children,
    with a warning. Where numbers stand beside labels, it is the likeliest in which no number is above a label.

    Parameters
    ----------
    table : Table, data frame or Source
        The data. Cells of a Table or a frame may be missing.
    root : str, optional
        The variable without a parent, by default the first that may have children: a label where there are labels. The
        trees of all roots are equivalent.
    max_cells : float, optional
        At most this many cells per family (`fishernet.learn.structure`); pairs with more are not joined.
    missing : {"em", "node-average"}, optional
        How a table with missing cells is learned from. "em": by turns the tree that is likeliest for expected counts,
        and the parameters by expectation and maximization, while the likelihood of the known cells rises, from the
        other's tree on and often no further; right where cells are missing at random. "node-average": the mutual
        information of two variables is that of the rows in which both are known; fast, and right where cells are
        missing completely at random. Default: "em" for up to 200,000 cells or 50,000
        missing ones.

    Returns
    -------
    Dag
        Over the table's variables, in their order.

    Raises
    ------
    SchemaError
        When there are no variables, or the root is none of them, or a number where there are labels.
    MissingValueError
        When a source that is no table lacks cells.

    Notes
    -----
    For n variables n (n - 1) / 2 pairs are counted; the tree takes O(n^2) time and memory.

    References
    ----------
    .. [1] C. K. Chow and C. N. Liu, "Approximating discrete probability distributions with dependence trees", IEEE
       Transactions on Information Theory 14, 1968.

    Examples
    --------
    >>> import fishernet as fn
    >>> fn.learn.chow_liu(fn.datasets.load("asia").sample(5000, seed=1), root="lung").n_edges
    7
    """
    source = as_source(table)
    names = column_names(source)
    every = np.arange(len(names))
    leaves, numbers = _leaves(source, every, root), _numbers(source, every)
    start = _root(names, root, leaves, numbers)
    fits = _fitting_pairs(source, every, None, checked_cells(max_cells))

    def tree(counts: Source) -> Dag:
        above = tree_with_leaves(mutual_information(counts, every, None).ranks(fits), start, leaves, numbers)
        return Dag(names, [(int(above[v]),) if above[v] != v and fits[v, above[v]] else () for v in every])

    return _found(tree, source, missing)


def naive_bayes(
    table: Any, target: str, *, max_cells: float | None = MAX_CELLS, missing: IncompleteName | None = None
) -> Dag:
    """Return the graph in which the class is the only parent of every other variable.

    Columns of numbers stay numbers: fitted, each has its mean and standard deviation in every state of the class.

    Parameters
    ----------
    table : Table, data frame or Source
        Only its columns are used, not its rows.
    target : str
        The class.
    max_cells : float, optional
        At most this many cells per family (`fishernet.learn.structure`); a feature that has more with the class is an
        error.
    missing : {"em", "node-average"}, optional
        As for the other structures; it makes no difference here.

    Returns
    -------
    Dag
        Over the table's variables, in their order.

    Raises
    ------
    SchemaError
        When there is no such column, it has a single state, there are no other columns, or a feature has too many cells
        with it.

    Examples
    --------
    >>> import fishernet as fn
    >>> dag = fn.learn.naive_bayes(fn.datasets.load("nursery"), "class")
    >>> dag.n_edges, dag.edges[0]
    (8, ('class', 'parents'))
    """
    if missing is not None:
        word(missing, "missing", MISSING)
    source, c, features, _ = _classification(with_label(table, target), target, max_cells)
    return _augmented(source, c, {int(v): [] for v in features})


def with_label(table: Any, target: str) -> Source:
    """Return a source in which the class has labels: a number is cut into bins, with a warning."""
    source = as_source(table)
    c = source.places(target)[0]
    if not source.variables[c].is_continuous:
        return source
    cut = source.discretize({target: AUTO})
    require_categorical([cut.variables[c]], "the class")  # without a known number nothing is cut
    warn(
        f"the class has to have labels, and {told_of_cuts(source, cut)}; "
        "Table.from_frame(data, bins=...) cuts otherwise"
    )
    return cut


def tan(
    table: Any,
    target: str,
    *,
    root: str | None = None,
    max_cells: float | None = MAX_CELLS,
    missing: IncompleteName | None = None,
) -> Dag:
    """Return a tree-augmented naive Bayes classifier [1]_: the likeliest in which features form a tree below the class.

    The class is a parent of every feature, and the features form a maximum-weight spanning tree for their mutual
    information given the class. A feature that lacks over nine tenths of its cells has no children, with a warning.
    Numbers stay numbers, with regressions in each configuration of labels: features with labels form a tree, to which
    numbers are joined.

    Parameters
    ----------
    table, target, max_cells
        As for `naive_bayes`. Two features that have too many cells together with the class are not joined.
    root : str, optional
        The feature whose only parent is the class, by default the first that may have children, one with labels where
        there are some. All roots give equivalent graphs.
    missing : {"em", "node-average"}, optional
        How a table with missing cells (of the class too) is learned from, as for `chow_liu`.

    Returns
    -------
    Dag
        Over the table's variables, in their order.

    Raises
    ------
    SchemaError
        As for `naive_bayes`, and when the root is no feature, or a number where there are features with labels.
    MissingValueError
        When a source that is no table lacks cells.

    References
    ----------
    .. [1] N. Friedman, D. Geiger and M. Goldszmidt, "Bayesian network classifiers", Machine Learning 29, 1997.

    Examples
    --------
    >>> import fishernet as fn
    >>> dag = fn.learn.tan(fn.datasets.load("nursery"), "class")
    >>> dag.n_edges, max(map(len, dag.parents))
    (15, 2)
    """
    source, c, features, limit = _classification(with_label(table, target), target, max_cells)
    leaves, numbers = _leaves(source, features, root, target), _numbers(source, features)
    start = _root([source.names[v] for v in features], root, leaves, numbers, "feature")
    return _found(lambda counts: tree_below(counts, c, features, start, limit, leaves), source, missing)


def tree_below(
    source: Source,
    c: int,
    features: Positions,
    start: int = 0,
    limit: float = MAX_CELLS,
    leaves: npt.NDArray[np.bool_] | None = None,
) -> Dag:
    """Return the likeliest graph in which features form a tree, from the place `start` among them, below the class.

    From those marked as leaves no arc leads.
    """
    fits, numbers = _fitting_pairs(source, features, c, limit), _numbers(source, features)
    leaves = np.zeros(len(features), dtype=bool) if leaves is None else leaves
    above = tree_with_leaves(mutual_information(source, features, c).ranks(fits), start, leaves, numbers)
    joined = [above[i] != i and fits[i, above[i]] for i in range(len(features))]
    chosen = {int(v): [int(features[above[i]])] if joined[i] else [] for i, v in enumerate(features)}
    return _augmented(source, c, chosen)


def kdb(
    table: Any,
    target: str,
    k: int = 3,
    *,
    max_cells: float | None = MAX_CELLS,
    missing: IncompleteName | None = None,
) -> Dag:
    """Return a k-dependence Bayesian classifier [1]_.

    Features come in the order of their mutual information with the class, largest first. Each has as parents the class
    and, of the features before it, the k that share the most mutual information with it given the class. A feature that
    lacks over nine tenths of its cells is no parent, with a warning. Numbers stay numbers; of features with labels they
    are no parents.

    Parameters
    ----------
    table, target, max_cells
        As for `naive_bayes`. A feature that would take a family beyond is left out of the parents.
    k : int
        How many features may be parents of one feature; all before it where these are fewer. With 0 it is
        `naive_bayes`; with the number of features or more, every two of them are joined.
    missing : {"em", "node-average"}, optional
        How a table with missing cells (of the class too) is learned from, as for `chow_liu`.

    Returns
    -------
    Dag
        Over the table's variables, in their order.

    Raises
    ------
    SchemaError
        As for `naive_bayes`.
    MissingValueError
        When a source that is no table lacks cells.
    FishernetError
        When k is no integer from 0 on.

    References
    ----------
    .. [1] M. Sahami, "Learning limited dependence Bayesian classifiers", KDD 1996.

    Examples
    --------
    >>> import fishernet as fn
    >>> dag = fn.learn.kdb(fn.datasets.load("nursery"), "class", k=2)
    >>> max(map(len, dag.parents))
    3
    """
    check.integer(k, "k", least=0)
    source, c, features, limit = _classification(with_label(table, target), target, max_cells)
    leaves = _leaves(source, features, target)
    return _found(lambda counts: _k_dependences(counts, c, features, int(k), limit, leaves), source, missing)


def _k_dependences(
    source: Source, c: int, features: Positions, k: int, limit: float, leaves: npt.NDArray[np.bool_]
) -> Dag:
    pairs = mutual_information(source, features, c)
    order = descending(pairs.with_given, pairs.tie)
    ranks, numbers = pairs.ranks(), _numbers(source, features)
    chosen: dict[int, list[int]] = {}
    for place, i in enumerate(order.tolist()):
        may = ~leaves if numbers[i] else ~leaves & ~numbers
        before = order[:place][may[order[:place]]]
        nearest = features[before[np.argsort(ranks[i, before])]].tolist()
        chosen[int(features[i])] = _within(source, [c, int(features[i])], nearest, k, limit)
    return _augmented(source, c, chosen)


# ---------------------------------------------------------------------------------------------------------- graphs


def _classification(table: Any, target: str, max_cells: float | None) -> tuple[Source, int, Positions, float]:
    """Return the data, the position of the class, those of all other variables, and the limit on cells."""
    source, limit = as_source(table), checked_cells(max_cells)
    names = source.names
    c = source.places(target)[0]
    if source.variables[c].cardinality < 2:
        raise SchemaError(
            f"the class {target!r} has the single state {source.variables[c].states[0]!r}; nothing tells it apart"
        )
    if len(names) < 2:
        raise SchemaError(f"there are no columns but the class {target!r}; a classifier needs features")
    features = np.delete(np.arange(len(names)), c)
    arcs = np.zeros((len(names), len(names)), dtype=bool)
    arcs[c, features] = True
    states = np.array([variable.cardinality for variable in source.variables], dtype=np.float64)
    refuse_large_families(names, arcs, states, limit)
    return source, c, features, limit


def _found(find: Callable[[Source], Dag], source: Any, missing: str | None) -> Dag:
    """Return the graph that is found on the counts of a source, in the way that deals with its missing cells."""
    way = way_with_missing(source, missing)
    if way == "em":
        return graph_by_turns(source, find)
    return find(source if way is None else AvailableCases(source))


def _leaves(source: Source, features: Positions, *needed: str | None) -> npt.NDArray[np.bool_]:
    """Return which features are nearly empty, so that no arc may lead from there; not those that are needed."""
    sparse = nearly_empty(source, [name for name in needed if name is not None])
    return np.array([source.names[v] in sparse for v in features], dtype=bool)


def _numbers(source: Source, features: Positions) -> npt.NDArray[np.bool_]:
    """Return which features are numbers."""
    return np.array([source.variables[v].is_continuous for v in features], dtype=bool)


def _root(
    names: Sequence[str],
    root: str | None,
    leaves: npt.NDArray[np.bool_],
    numbers: npt.NDArray[np.bool_],
    what: str = "variable",
) -> int:
    """Return the place of a tree's root: of the name, or of the first that is no leaf, with labels if one has some."""
    if root is None:
        may = ~leaves & ~numbers
        return int((may if may.any() else ~leaves).argmax())
    place = positions(names, [root], what)[0]
    if numbers[place] and not numbers.all():
        raise SchemaError(
            f"the root {root!r} is a number, and no arc runs from a number to labels; take a {what} with labels",
            parameter="root",
        )
    return place


def _fitting_pairs(source: Source, features: Positions, given: int | None, limit: float) -> npt.NDArray[np.bool_]:
    """Return which pairs of features have no more cells than may be, together with what is given; (n, n)."""
    states = np.array([source.variables[v].cardinality for v in features], dtype=np.float64)
    return np.outer(states, states) * (1 if given is None else source.variables[given].cardinality) <= limit


def _within(source: Source, family: list[int], others: list[int], most: int, limit: float) -> list[int]:
    """Return the first of the others, at most so many, with which a family has no more cells than may be."""
    cells = math.prod(source.variables[v].cardinality for v in family)
    chosen: list[int] = []
    for v in others:
        if len(chosen) < most and cells * source.variables[v].cardinality <= limit:
            cells *= source.variables[v].cardinality
            chosen.append(v)
    return chosen


def _augmented(source: Source, c: int, chosen: dict[int, list[int]]) -> Dag:
    """Return the graph in which each feature has the class and the chosen features as parents."""
    return Dag(column_names(source), [(c, *chosen[v]) if v != c else () for v in range(len(source.variables))])


def tree_with_leaves(
    ranks: npt.NDArray[np.int32], root: int, leaves: npt.NDArray[np.bool_], numbers: npt.NDArray[np.bool_]
) -> Positions:
    """Return each vertex's parent in the tree of the first pairs in which leaves have no children.

    No label has a number above it. So labels make a tree of their own, to which numbers are joined [1]_. No two pairs
    have the same rank, so there is one such tree. The parent of the root is itself; so is that of every label where
    labels can all be leaves only, and of every vertex where all should be leaves.

    References
    ----------
    .. [1] D. Edwards, G. de Abreu and R. Labouriau, "Selecting high-dimensional mixed graphical models using minimal
       AIC or BIC forests", BMC Bioinformatics 11, 2010.
    """
    parents = np.arange(len(ranks))
    inside = np.zeros(len(ranks), dtype=bool)
    if not leaves[root]:
        inside[root] = True
        for inner in (~leaves & ~numbers, ~leaves & numbers):
            _grow(ranks, parents, inside, inner & ~inside)
    for leaf in np.flatnonzero(leaves):
        above = np.flatnonzero(inside & (numbers[leaf] | ~numbers))
        if len(above):
            parents[leaf] = above[ranks[leaf, above].argmin()]
    return parents


def _grow(
    ranks: npt.NDArray[np.int32], parents: Positions, inside: npt.NDArray[np.bool_], outside: npt.NDArray[np.bool_]
) -> None:
    """Join the vertices outside with those inside by the first pairs that close no cycle (Prim)."""
    if not outside.any():
        return
    within, last = np.flatnonzero(inside), np.iinfo(ranks.dtype).max
    parents[outside] = within[ranks[np.ix_(outside, within)].argmin(axis=1)]
    nearest = np.where(outside, ranks[np.arange(len(ranks)), parents], last)
    inside |= outside
    for _ in range(int(outside.sum())):
        vertex = int(nearest.argmin())
        nearest[vertex], outside[vertex] = last, False
        closer = outside & (ranks[vertex] < nearest)
        parents[closer] = vertex
        nearest[closer] = ranks[vertex][closer]
