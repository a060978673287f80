"""Structures that are found in one step: Chow-Liu trees, naive Bayes, TAN and KDB.

What they go by is (conditional) mutual information under the empirical distribution, in nats and times the number of
rows: ``N I(X; Y | Z) = L(X | Y, Z) - L(X | Z)`` with L the maximized log-likelihood of a family. So every source of
counts will do, and for a table all pairs of one variable are counted in one pass.

A tie is a difference below max(1e-9, 1e-12 |score|), the score being the log-likelihood of the graph to which the arcs
are added. Ties go to the first pair in the order of the variables.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import positions
from fishernet.base.vocabulary import IncompleteName, word
from fishernet.data import Source, Statistic, as_source, categorical_source
from fishernet.graphs import Dag
from fishernet.learn.missing.incomplete import AvailableCases
from fishernet.learn.missing.structural_em import graph_by_turns
from fishernet.learn.missing.ways import MISSING, nearly_empty, way_with_missing
from fishernet.learn.rules import MAX_CELLS, checked_cells, refuse_large_families
from fishernet.learn.search import column_names, families_of_one_size, joined_families, tie
from fishernet.scores import LogLikelihood, local_scores
from fishernet.scores.base import cell_counts, sum_n_log_n
from fishernet.scores.local import SETS_AT_ONCE

MOST_CELLS_AT_ONCE = 2**22
TINY = float(np.finfo(np.float64).tiny)  # in place of no rows, among which there is nothing to be told

Array = npt.NDArray[np.float64]
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
    with a warning.

    Parameters
    ----------
    table : Table, data frame or Source
        The data. Cells of a Table or a frame may be missing.
    root : str, optional
        The variable without a parent, by default the first that may have children. The trees of all roots are
        equivalent.
    max_cells : float, optional
        At most this many cells per family (`fishernet.learn.structure`); pairs with more are not joined.
    missing : {"em", "node-average"}, optional
        How a table with missing cells is learned from. "em": by turns the tree that is likeliest for expected counts,
        and the parameters by expectation and maximization, while the likelihood of the known cells rises, from the
        other's tree on and often no further; right where cells are missing at random. "node-average": the mutual
        information of two variables is that of the rows in which both are known; fast, and right where cells are
        missing completely at random. Default: "em" for up to 200,000 cells.

    Returns
    -------
    Dag
        Over the table's variables, in their order.

    Raises
    ------
    SchemaError
        When there are no variables, or the root is none of them.
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
    source = categorical_source(table)
    names = column_names(source)
    every = np.arange(len(names))
    leaves = _leaves(source, every, root)
    start = _root(names, root, leaves)
    fits = _fitting_pairs(source, every, None, checked_cells(max_cells))

    def tree(counts: Source) -> Dag:
        above = tree_with_leaves(mutual_information(counts, every, None).ranks(fits), start, leaves)
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
    source, c, features, _ = _classification(_with_label(table, target), target, max_cells)
    return _augmented(source, c, {int(v): [] for v in features})


def _with_label(table: Any, target: str) -> Source:
    """Return a source in which the class has labels; numbers among the others stay, as none leads to another."""
    source = as_source(table)
    number = any(variable.is_continuous and variable.name == target for variable in source.variables)
    return categorical_source(source) if number else source


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

    Parameters
    ----------
    table, target, max_cells
        As for `naive_bayes`. Two features that have too many cells together with the class are not joined.
    root : str, optional
        The feature whose only parent is the class, by default the first that may have children. All roots give
        equivalent graphs.
    missing : {"em", "node-average"}, optional
        How a table with missing cells (of the class too) is learned from, as for `chow_liu`.

    Returns
    -------
    Dag
        Over the table's variables, in their order.

    Raises
    ------
    SchemaError
        As for `naive_bayes`, and when the root is no feature.
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
    source, c, features, limit = _classification(categorical_source(table), target, max_cells)
    leaves = _leaves(source, features, root, target)
    start = _root([source.names[v] for v in features], root, leaves, "feature")
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
    fits = _fitting_pairs(source, features, c, limit)
    above = tree_with_leaves(mutual_information(source, features, c).ranks(fits), start, leaves)
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
    lacks over nine tenths of its cells is no parent, with a warning.

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
    source, c, features, limit = _classification(categorical_source(table), target, max_cells)
    leaves = _leaves(source, features, target)
    return _found(lambda counts: _k_dependences(counts, c, features, int(k), limit, leaves), source, missing)


def _k_dependences(
    source: Source, c: int, features: Positions, k: int, limit: float, leaves: npt.NDArray[np.bool_]
) -> Dag:
    pairs = mutual_information(source, features, c)
    order = descending(pairs.with_given, pairs.tie)
    ranks = pairs.ranks()
    chosen: dict[int, list[int]] = {}
    for place, i in enumerate(order.tolist()):
        before = order[:place][~leaves[order[:place]]]
        nearest = features[before[np.argsort(ranks[i, before])]].tolist()
        chosen[int(features[i])] = _within(source, [c, int(features[i])], nearest, k, limit)
    return _augmented(source, c, chosen)


# ---------------------------------------------------------------------------------------------------------- graphs


def _classification(table: Any, target: str, max_cells: float | None) -> tuple[Source, int, Positions, float]:
    """Return the data, the position of the class, those of all other variables, and the limit on cells."""
    source, limit = as_source(table), checked_cells(max_cells)
    names = source.names
    c = positions(names, [target], "column")[0]
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


def _root(names: Sequence[str], root: str | None, leaves: npt.NDArray[np.bool_], what: str = "variable") -> int:
    """Return the place of a tree's root: of the name, otherwise of the first that is no leaf."""
    return int(leaves.argmin()) if root is None else positions(names, [root], what)[0]


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


def spanning_tree(ranks: npt.NDArray[np.int32], root: int) -> Positions:
    """Return each vertex's parent in the tree of the first pairs that close no cycle; the root's own is itself.

    No two pairs have the same rank, so there is one such tree, and growing it from any vertex (Prim) finds it.
    """
    parents = np.full(len(ranks), root, dtype=np.int64)
    nearest = ranks[root].copy()  # the best rank of a pair that joins a vertex outside with one inside
    outside = np.ones(len(ranks), dtype=bool)
    inside = np.iinfo(nearest.dtype).max
    nearest[root], outside[root] = inside, False
    for _ in range(len(ranks) - 1):
        vertex = int(nearest.argmin())
        nearest[vertex], outside[vertex] = inside, False
        closer = outside & (ranks[vertex] < nearest)
        parents[closer] = vertex
        nearest[closer] = ranks[vertex][closer]
    return parents


def tree_with_leaves(ranks: npt.NDArray[np.int32], root: int, leaves: npt.NDArray[np.bool_] | None = None) -> Positions:
    """Return each vertex's parent in the spanning tree of all but some, to which these are joined as leaves.

    It is the tree of the first pairs in which they have no children. The root's parent is itself; of all, where every
    vertex should be a leaf.
    """
    if leaves is None or not leaves.any():
        return spanning_tree(ranks, root)
    parents = np.arange(len(ranks))
    inner = np.flatnonzero(~leaves)
    if len(inner):
        parents[inner] = inner[spanning_tree(ranks[np.ix_(inner, inner)], int(np.searchsorted(inner, root)))]
        parents[leaves] = inner[ranks[np.ix_(leaves, inner)].argmin(axis=1)]
    return parents


# ------------------------------------------------------------------------------------------------------ dependence


@dataclass(frozen=True)
class Pairs:
    """The mutual information of pairs of features, given a variable or nothing."""

    n: int
    """The number of features."""
    values: Array
    """(n (n - 1) / 2,): in nats, times the number of rows, for the pairs (0, 1), (0, 2), ..., (1, 2), ..."""
    with_given: Array
    """(n,): the mutual information of each feature with the given variable."""
    tie: float
    """Values that differ by no more are equal."""

    def ranks(self, fits: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.int32]:
        """Return the place of each pair when they are sorted, largest first; (n, n), symmetric.

        Pairs that do not fit, [first, second], come after all others.
        """
        values = self.values
        if fits is not None:
            last = values.min(initial=0.0) - 2 * self.tie
            values = np.where(fits[np.triu_indices(self.n, 1)], values, last)
        places = np.empty(len(values), dtype=np.int32)
        places[descending(values, self.tie)] = np.arange(len(places), dtype=np.int32)
        square = np.zeros((self.n, self.n), dtype=np.int32)
        square[np.triu_indices(self.n, 1)] = places
        return square + square.T


def descending(values: Array, tie: float) -> Positions:
    """Return positions by descending value; of values that differ from the next by no more than a tie, the first."""
    order = np.argsort(-values, kind="stable")
    level = np.zeros(len(values), dtype=np.int64)
    np.cumsum(-np.diff(values[order]) > tie, out=level[1:])
    return order[np.lexsort((order, level))]


def mutual_information(source: Source, features: Positions, given: int | None) -> Pairs:
    """Return what each pair of features tells about one another, given a variable or nothing."""
    n = len(features)
    if source.by_set:
        return _information_of_available_cases(source, features, given)
    first, second = np.triu_indices(n, 1)
    parents, none = features[second][:, None], np.empty((n, 0), dtype=np.int64)
    asked = [(features[first], parents), (features, none)]
    if given is not None:
        each = np.full(n, given)
        both = np.sort(np.column_stack([parents, np.full(len(parents), given)]), axis=1)
        # first of all, as all features are then counted with it in one pass
        asked = [(each, features[:, None]), (each[:1], none[:1]), (features[first], both), (features, each[:, None])]
    families = joined_families([families_of_one_size(children, parents) for children, parents in asked])
    scores = local_scores(source, families, LogLikelihood())
    *by_given, between, own = np.split(scores, np.cumsum([len(children) for children, _ in asked])[:-1])
    with_given = by_given[0] - by_given[1] if by_given else np.zeros(n)
    return Pairs(n, between - own[first], with_given, tie(float(np.abs(own).sum())))


def _information_of_available_cases(source: Source, features: Positions, given: int | None) -> Pairs:
    """Return the same where each set of variables has rows of its own: every term of a pair is of the pair's rows.

    What a row tells there is multiplied with the number of all rows, as in the node-average likelihood.
    """
    n, total, known = len(features), float(source.total), () if given is None else (given,)
    each = [int(v) for v in features]
    pairs = [(each[i], each[j]) for i, j in zip(*np.triu_indices(n, 1), strict=True)]
    entropies = -_per_row(source, [(v,) for v in each], known, lambda sums: sums[1,] - sums[0,])
    with_given = np.zeros(n)
    if given is not None:
        with_given = _per_row(source, [(v, given) for v in each], (), _shared)
    values = _per_row(source, pairs, known, _shared)
    return Pairs(n, values * total, with_given * total, tie(float(entropies.sum()) * total))


Sums = dict[tuple[int, ...], Array]


def _shared(sums: Sums) -> Array:
    """Return the mutual information of two variables given the others, from sums of n log n; not below 0."""
    return np.maximum(0.0, sums[1, 1] - sums[1, 0] - sums[0, 1] + sums[0, 0])


def _per_row(
    source: Source, sets: Sequence[tuple[int, ...]], known: tuple[int, ...], combine: Callable[[Sums], Array]
) -> Array:
    """Return a combination of sums of n log n for each set (with what is known), by the weight of its rows.

    Those of equal shape are computed at once. The sums are named by which variables of a set they keep, 1 or 0 for
    each; those known are always kept.
    """
    found = np.zeros(len(sets))
    for part in _parts(source, sets, known):
        shapes: dict[tuple[int, ...], list[tuple[int, Array]]] = {}
        statistics = source.statistics([tuple(sorted(sets[at] + known)) for at in part])
        for at, statistic in zip(part, statistics, strict=True):
            if not statistic.is_dense:
                found[at] = combine(_sums_of_cells(statistic, sets[at], known))[0] / max(statistic.total, TINY)
                continue
            order = [statistic.variables.index(v) for v in (*sets[at], *known)]
            counts = statistic.table().transpose(order).astype(np.float64)
            shapes.setdefault(counts.shape, []).append((at, counts))
        for of in shapes.values():
            together = np.stack([counts for _, counts in of])
            total = together.sum(axis=tuple(range(1, together.ndim)))
            value = combine(_sums_of(together, len(sets[0])))
            found[[at for at, _ in of]] = np.divide(value, total, out=np.zeros(len(of)), where=total > 0)
    return found


def _parts(source: Source, sets: Sequence[tuple[int, ...]], known: tuple[int, ...]) -> Iterator[list[int]]:
    """Yield the places of as many sets as are counted at once; together they have some millions of cells."""
    part: list[int] = []
    room = MOST_CELLS_AT_ONCE
    for at, one in enumerate(sets):
        cells = math.prod(source.variables[v].cardinality for v in one + known)
        if part and (cells > room or len(part) == SETS_AT_ONCE):
            yield part
            part, room = [], MOST_CELLS_AT_ONCE
        part.append(at)
        room -= cells
    if part:
        yield part


def _sums_of_cells(statistic: Statistic, one: tuple[int, ...], known: tuple[int, ...]) -> Sums:
    """Return the sums of n log n of a set of so many states that only the cells that occur are held, (1,) each."""
    sums = {}
    for kept in itertools.product((0, 1), repeat=len(one)):
        variables = [v for v, keep in zip(one, kept, strict=True) if keep]
        sums[kept] = np.array([sum_n_log_n(cell_counts(statistic.marginal([*variables, *known])))])
    return sums


def _sums_of(counts: Array, n: int) -> Sums:
    """Return the sums of n log n over the cells of each choice among the n first variables, (n_sets,) each."""
    sums = {}
    for kept in itertools.product((0, 1), repeat=n):
        cells = counts.sum(axis=tuple(axis for axis, keep in enumerate(kept, start=1) if not keep))
        logs = np.log(cells, out=np.zeros_like(cells), where=cells > 0)
        sums[kept] = (cells * logs).reshape(len(counts), -1).sum(axis=1)
    return sums
