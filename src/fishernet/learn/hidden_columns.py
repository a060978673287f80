"""Hidden Chow-Liu trees: a tree of hidden variables, one above every column.

A Chow-Liu tree joins each column to others by single arcs. With a hidden variable of several states above every column,
and the tree among these [1]_, columns depend on one another by all that the states remember, and what a row is probable
by is still one pass over the tree. Such trees are among the best densities of tables of labels.

The states begin as the clusters of a mixture, the same for all columns: a tree whose arcs carry a cluster on is that
mixture. From there on expectation and maximization on parts of the rows (Cappé and Moulines' online form [2]_ of it,
here a step of the parameters towards those of each part) let every arc forget what its column does not need.

References
----------
.. [1] A. Liu and G. Van den Broeck, "Tractable regularization of probabilistic circuits", 2021, section 6, after
   C. K. Chow and C. N. Liu, 1968.
.. [2] O. Cappé and E. Moulines, "On-line expectation-maximization algorithm for latent data models", 2009.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base import check
from fishernet.base.display import Framed
from fishernet.base.errors import StateSpaceError
from fishernet.base.names import several, unused_name
from fishernet.base.progress import Interrupted, Progress, Watch
from fishernet.base.random import Seed, fixed_seed
from fishernet.data import Table, Variable
from fishernet.infer.factors import MAX_TABLE
from fishernet.infer.hidden_forest import HiddenForest
from fishernet.learn.classifiers import chow_liu
from fishernet.learn.missing.incomplete import observed_rows
from fishernet.models import BayesianNetwork, FullTable

Array = npt.NDArray[np.float64]

ESS = 10.0
MOST_STATES = 32
FIRST_STATES = 2
HELD_OUT = 0.1  # of the rows, which say when to stop and how many states there are
PARTS = 32  # of the rows in a pass; fewer where parts would have less than so many rows, and more where they have many
LEAST_ROWS, MOST_ROWS = 100, 2_500
FIRST_RATE, LAST_RATE = 0.2, 0.02  # how far a part moves the parameters
ROUGH_PASSES = 6  # of the mixture
KEPT = 0.95  # how much of a cluster an arc carries on at the beginning
LEAST_GAIN = 1e-5  # of a pass, in nats a cell; below it the rate is halved
SPREAD = 1.0  # of the logarithms of the mixture's first probabilities


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class HiddenChowLiu(Framed):
    """A tree of hidden variables above the columns of a table.

    Examples
    --------
    >>> import fishernet as fn
    >>> rows = fn.datasets.load("asia").sample(1000, seed=1)
    >>> found = fn.learn.hidden_chow_liu(rows, 2, seed=1)
    >>> found.n_states, len(found.model.names)
    (2, 16)
    """

    model: BayesianNetwork
    """The table's variables and, behind them, their hidden ones (`Variable.hidden`), which data need not have."""
    log_likelihood: float
    """Of what is known of all rows, in nats."""
    held_out: Mapping[int, float]
    """The mean log-probability of the rows that were held out, in nats, of every number of states that was tried."""
    seed: int
    """The seed that repeats it."""
    seconds: float
    """How long it took."""
    finished: bool = True
    """False when the time limit ended the work: this is the best so far."""

    @property
    def n_states(self) -> int:
        """How many states each hidden variable has."""
        return self.model.variables[-1].cardinality

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The tree, as pairs of columns: those whose hidden variables are joined."""
        n = len(self.model.variables) // 2
        above = [of.parents[0] for of in self.model.conditionals[:n]]  # each column's own
        names = {hidden: self.model.names[column] for column, hidden in enumerate(above)}
        joined = [(of.parents[0], of.child) for of in self.model.conditionals[n:] if of.parents]
        return tuple((names[one], names[other]) for one, other in joined)

    def __repr__(self) -> str:
        tree = f"{several(len(self.model.variables) // 2, 'column')}, {several(self.n_states, 'state')} each"
        end = "" if self.finished else "; stopped by the time limit"
        return f"HiddenChowLiu({tree}; held out {self.held_out[self.n_states]:,.4f} nats a row{end})"

    def to_frame(self) -> pa.Table:
        """Return the numbers of states that were tried and what each gave held out, as a pyarrow Table."""
        return pa.table({"n_states": list(self.held_out), "held_out": list(self.held_out.values())})


def hidden_chow_liu(
    table: Any,
    n_states: int | None = None,
    *,
    most: int = MOST_STATES,
    ess: float = ESS,
    max_passes: int = 100,
    max_seconds: float | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
) -> HiddenChowLiu:
    """Learn a hidden Chow-Liu tree: the Chow-Liu tree of the columns, with a hidden variable in the place of each.

    Parameters
    ----------
    table : Table or data frame
        Cells may be missing (at random, as for `em_fit`). Rows count by their weights, and columns of numbers are cut
        into bins.
    n_states : int, optional
        How many states each hidden variable has. By default 2, 4, 8, ... are tried while rows that are held out become
        more probable, by more than the standard error of the difference.
    most : int
        Up to how many states are tried where their number is not given; there are no more than the square root of the
        number of rows says.
    ess : float
        The equivalent sample size: so much is added to the expected counts of each table, spread over its cells.
    max_passes : int
        At most so many passes over the rows, of each number of states.
    max_seconds : float, optional
        After this time the best tree so far is the result; `finished` of the result is False then.
    seed : None, int or numpy.random.Generator
        For the rows that are held out, the order of the rows, and where the fits begin.
    progress : callable or True, optional
        True for a bar, or ``progress("fitting a hidden tree", passes done, how many at most)``.

    Returns
    -------
    HiddenChowLiu

    Raises
    ------
    SchemaError
        When there are no rows or columns.
    StateSpaceError
        When the tables of so many states would be too large.
    KeyboardInterrupt
        On Ctrl-C; once a number of states is fitted, its attribute ``best`` is the best network so far.

    Notes
    -----
    A pass takes ``6 k^2`` multiplications a cell, of k states: 15,000 rows of 100 columns take a fifth of a second with
    16 states, and two seconds with 64, on two processors. A tenth of the rows is held out; they stop each fit, and
    choose the number of states. Two more passes over all rows end the work.

    Answers about the network (`fn.infer`, `net.given`), its samples, kernels (`kernels.HiddenVariableKernel`) and files
    are those of any Bayesian network.

    Examples
    --------
    >>> import fishernet as fn
    >>> rows = fn.datasets.load("asia").sample(2000, seed=1)
    >>> found = fn.learn.hidden_chow_liu(rows, seed=1)
    >>> bool(found.model.log_prob(rows).mean() > -2.4)
    True
    """
    rows = observed_rows(table, "a hidden Chow-Liu tree")
    given = check.optional_integer(n_states, "n_states", least=1, most=2**14)
    last = check.integer(most, "most", least=1, most=2**14)
    number = fixed_seed(seed)
    watch = Watch(progress, "fitting a hidden tree", max_seconds)
    passes = check.integer(max_passes, "max_passes", least=1)
    began = time.monotonic()
    counting = rows if rows.weights is None else rows[np.flatnonzero(rows.weights)]
    fits = _Fits(counting, check.number(ess, "ess", above=0), passes, number, watch)
    tried = _doubled(min(last, max(FIRST_STATES, math.isqrt(rows.n_rows)))) if given is None else [given]
    best, held_out = fits.best(tried)
    model = fits.network(best)
    log_prob = model.log_prob(rows)
    total = float(log_prob.sum() if rows.weights is None else log_prob @ rows.weights)
    return HiddenChowLiu(model, total, held_out, number, time.monotonic() - began, not watch.late)


def _doubled(last: int) -> list[int]:
    """Return the numbers of states that are tried."""
    found = [min(FIRST_STATES, last)]
    while found[-1] < last:
        found.append(min(2 * found[-1], last))
    return found


@dataclass(frozen=True, eq=False)
class _Shape:
    """Rows under a forest, and the tables of it, all in one array: (rows of each, states of each)."""

    forest: HiddenForest
    sizes: tuple[tuple[int, int], ...]

    @cached_property
    def _widths(self) -> npt.NDArray[np.int64]:
        """How many states each row of a table has, of all tables."""
        return np.repeat([states for _, states in self.sizes], [rows for rows, _ in self.sizes])

    def added(self, ess: float) -> Array:
        """Return what is added to each cell: so much to each table."""
        cells = np.array([rows * states for rows, states in self.sizes])
        return np.repeat(ess / cells, cells)

    def normalized(self, cells: Array) -> Array:
        """Return tables whose rows add up to 1."""
        starts = np.concatenate([[0], np.cumsum(self._widths)[:-1]])
        sums: Array = np.repeat(np.add.reduceat(cells, starts), self._widths)
        return cells / sums


@dataclass(frozen=True)
class _Fit:
    """The tables of trees of so many states, and how probable they make each row that was held out."""

    n_states: int
    cells: Array
    log_prob: Array


class _Fits:
    """Fits trees of several numbers of states to the same rows."""

    def __init__(self, rows: Table, ess: float, passes: int, seed: int, watch: Watch) -> None:
        self._ess, self._passes, self._seed, self._watch = ess, passes, seed, watch
        order = np.random.default_rng(seed).permutation(rows.n_rows)
        n_held = math.ceil(HELD_OUT * rows.n_rows) if rows.n_rows > 1 else 0
        self._rows, self._all = rows, rows[order]
        self._train = self._all[n_held:]
        self._held = self._all[:n_held] if n_held else self._train
        tree = chow_liu(rows, missing="node-average" if rows.has_missing else None)
        self._above = [parents[0] if parents else -1 for parents in tree.parents]
        self._done = 0

    def best(self, tried: Sequence[int]) -> tuple[_Fit, dict[int, float]]:
        """Return the best tree, fitted to all rows, and what each number of states gave held out."""
        found: _Fit | None = None
        held_out: dict[int, float] = {}
        total = self._passes * len(tried)
        try:
            for place, k in enumerate(tried):
                self._done = place * self._passes
                now = self._fitted(k, total)
                held_out[k] = self._mean(now.log_prob)
                if found is not None and not self._is_better(now, found):
                    break
                found = now
                if self._watch.look(self._done, total):
                    break
        except KeyboardInterrupt:
            if found is None:
                raise
            raise Interrupted(best=self.network(found)) from None
        assert found is not None  # at least one number is tried
        self._watch.finish(total)
        return replace(found, cells=self._settled(found)), held_out

    def _is_better(self, now: _Fit, before: _Fit) -> bool:
        """Whether rows became more probable by more than the standard error of the difference."""
        gain = now.log_prob - before.log_prob
        weights = np.ones(len(gain)) if self._held.weights is None else np.asarray(self._held.weights, dtype=float)
        share = weights / weights.sum()
        mean = float(share @ gain)
        return mean > math.sqrt(float(share**2 @ (gain - mean) ** 2))

    def _mean(self, log_prob: Array) -> float:
        return float(np.average(log_prob, weights=self._held.weights))

    # ------------------------------------------------------------------------------------------------- one fit

    def _fitted(self, k: int, total: int) -> _Fit:
        """Return the tables that make the rows held out most probable, of k states."""
        random = np.random.default_rng([self._seed, k])
        n_cells = len(self._above) * k**2 + k * sum(v.cardinality for v in self._rows.variables)
        if n_cells > MAX_TABLE:
            what = f"the tables of a hidden tree with {several(k, 'state')} each"
            raise StateSpaceError(what, cells=n_cells, limit=MAX_TABLE, remedy="ask for fewer", parameter="n_states")
        train, held = self._tree(self._train, k), self._tree(self._held, k).forest
        cells = self._start(k, random)
        best, rate = _Fit(k, cells, held.log_prob_of(cells)), FIRST_RATE
        enough = LEAST_GAIN * len(self._above)
        for _ in range(self._passes):
            cells = self._passed(train, self._train, cells, rate)
            now = _Fit(k, cells, held.log_prob_of(cells))
            gain = self._mean(now.log_prob) - self._mean(best.log_prob)
            if gain > 0:
                best = now
            if gain < enough:
                rate /= 2
            self._done += 1
            if rate < LAST_RATE or self._watch.look(self._done, total):
                break
        return best

    def _settled(self, fit: _Fit) -> Array:
        """Return the tables of a fit after two more passes, over all rows."""
        tree, cells = self._tree(self._all, fit.n_states), fit.cells
        for _ in range(2):
            cells = self._passed(tree, self._all, cells, LAST_RATE)
        return cells

    def _passed(self, shape: _Shape, rows: Table, cells: Array, rate: float) -> Array:
        """Return tables after a pass over the rows, of which each part moves them by a rate."""
        n_parts = max(1, min(rows.n_rows // LEAST_ROWS, PARTS), rows.n_rows // MOST_ROWS)
        ends = np.linspace(0, rows.n_rows, n_parts + 1).astype(int).tolist()
        added = shape.added(self._ess)
        for begin, end in pairwise(ends):
            weight = float(end - begin if rows.weights is None else rows.weights[begin:end].sum())
            if weight:
                _, counts = shape.forest.counts(cells, begin, end)
                cells = (1 - rate) * cells + rate * shape.normalized(float(rows.total) / weight * counts + added)
        return cells

    # --------------------------------------------------------------------------------------- where it begins, and ends

    def _tree(self, rows: Table, k: int) -> _Shape:
        """Return rows under the tree: columns, and then a hidden variable above each."""
        n = len(self._above)
        return _over(rows, [*range(n, 2 * n), *(-1 if above < 0 else n + above for above in self._above)], k)

    def _start(self, k: int, random: np.random.Generator) -> Array:
        """Return the tree that is a mixture: the hidden variables agree on a cluster, but for a little."""
        n = len(self._above)
        star = _over(self._train, [*[n] * n, -1], k)
        drawn = []
        for variable, column in zip(self._train.variables, self._train.codes, strict=True):
            counts = np.bincount(column, self._train.weights, variable.cardinality + 1)[:-1] + 0.5
            drawn.append((counts * np.exp(random.normal(0.0, SPREAD, (k, variable.cardinality)))).ravel())
        cells = star.normalized(np.concatenate([*drawn, np.ones(k)]))
        for turn in range(ROUGH_PASSES if k > 1 else 1):
            cells = self._passed(star, self._train, cells, FIRST_RATE * (1 - turn / ROUGH_PASSES))
        emissions, shares = cells[:-k], cells[-k:]
        carried = (KEPT * np.eye(k) + (1 - KEPT) * shares).ravel()
        return np.concatenate([emissions, *(shares if above < 0 else carried for above in self._above)])

    def network(self, fit: _Fit) -> BayesianNetwork:
        """Return the network of a fit."""
        names = list(self._rows.names)
        hidden = []
        for name in self._rows.names:
            names.append(unused_name(f"hidden {name}", names))
            hidden.append(Variable(names[-1], range(fit.n_states), hidden=True))
        variables, n = [*self._rows.variables, *hidden], len(hidden)
        above: list[tuple[int, ...]] = [(n + v,) for v in range(n)]
        above += [() if parent < 0 else (n + parent,) for parent in self._above]
        sizes = [(fit.n_states if parents else 1, of.cardinality) for parents, of in zip(above, variables, strict=True)]
        parts = np.split(fit.cells, np.cumsum([rows * states for rows, states in sizes])[:-1])
        tables = [part.reshape(size) for part, size in zip(parts, sizes, strict=True)]
        conditionals = [
            FullTable(v, parents, [*(variables[p] for p in parents), variables[v]], table, tolerance=1e-6)
            for v, (parents, table) in enumerate(zip(above, tables, strict=True))
        ]
        return BayesianNetwork(variables, conditionals, n_rows=self._rows.total)


def _over(rows: Table, parents: Sequence[int], k: int) -> _Shape:
    """Return rows with hidden variables of k states behind their columns; each variable's parent, or -1."""
    n = len(rows.variables)
    hidden = [Variable(f"hidden {v}", range(k)) for v in range(len(parents) - n)]
    variables: Any = [*(Variable(f"column {v}", of.states) for v, of in enumerate(rows.variables)), *hidden]
    columns = [*rows.codes, *(variable.missing_column(rows.n_rows) for variable in hidden)]
    both = Table.adopt(variables, columns, weights=rows.weights, n_rows=rows.n_rows)
    sizes = [
        (1 if parent < 0 else k, variable.cardinality) for parent, variable in zip(parents, variables, strict=True)
    ]
    return _Shape(HiddenForest(both, parents, [v >= n for v in range(len(parents))]), tuple(sizes))
