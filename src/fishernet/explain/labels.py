"""Rows that are probably mislabelled: whose label surprises a network that was fitted to all rows but each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base.display import Framed, aligned
from fishernet.base.errors import SchemaError
from fishernet.base.names import a, cut, positions, several
from fishernet.data import Table, categorical_source
from fishernet.data.frames.rows import arrow_rows
from fishernet.data.matching import as_data
from fishernet.explain.counts import Tables
from fishernet.explain.responses import OfTables
from fishernet.infer.completion import require_possible
from fishernet.learn import dag, kdb, naive_bayes, parameters, tan
from fishernet.models.model import is_directed

Numbers = npt.NDArray[np.float64]

SHOWN = 10  # rows that str() shows
DEPENDENCE = (2, 3)  # parents besides the class of the k-dependence classifiers that are tried
SMALLEST = 1e-300
MIXTURE_STEPS = 200


@dataclass(frozen=True, eq=False, repr=False)
class Mislabelled(Framed):
    """How probable each row's own label is given its other cells; made by `fishernet.explain.mislabelled`."""

    target: str
    """The variable whose labels are judged."""
    probabilities: Numbers
    """(n_rows, r): of each label, given the row's other cells, by the network fitted to all other rows."""
    self_influence: Numbers
    """(n_rows,): what each row adds to the log-probability of its own label, in nats; large where it stands alone."""
    _table: Table

    @property
    def own(self) -> Numbers:
        """(n_rows,): the probability of the row's own label; NaN where it is missing."""
        codes = self._codes
        known = codes < self.probabilities.shape[1]
        found = np.full(len(codes), np.nan)
        found[known] = self.probabilities[known, codes[known]]
        return found

    @property
    def suggested(self) -> npt.NDArray[Any]:
        """(n_rows,): the most probable label of each row, given its other cells."""
        variable = self._table.variables[self._table.names.index(self.target)]
        labels = np.array(variable.states, dtype=object)
        return np.asarray(labels[self.probabilities.argmax(axis=1)])

    @property
    def order(self) -> npt.NDArray[np.int64]:
        """(n_rows,): the rows, those whose own label is least probable first; rows without a label last."""
        return np.argsort(np.where(np.isnan(self.own), np.inf, self.own), kind="stable").astype(np.int64)

    @property
    def expected(self) -> float:
        """How many rows the network expects to have another label than the one that is written: an upper guess.

        What the other cells leave open counts as well, and cannot be told apart from errors.
        """
        return float(np.nansum(1 - self.own))

    def to_frame(self) -> pa.Table:
        """Return the rows in order: their positions, the probability of the own label, what is suggested, columns."""
        order = self.order
        beside = {"probability": self.own[order], "suggested": self.suggested[order].astype(str)}
        return arrow_rows(self._table, order, beside)

    @property
    def _codes(self) -> npt.NDArray[np.int64]:
        return self._table.column(self.target).astype(np.int64)

    def __repr__(self) -> str:
        return f"Mislabelled({self.target!r}, {several(len(self.probabilities), 'row')})"

    def __str__(self) -> str:
        """Return the rows whose own label is least probable."""
        order = self.order[:SHOWN]
        labels = self._table[self.target][order]
        rows = [
            [str(int(row)), cut(str(label), 24), f"{self.own[row]:.3g}", cut(str(self.suggested[row]), 24)]
            for row, label in zip(order, labels, strict=True)
        ]
        header = ["row", self.target, "probability", "rather"]
        return "\n".join(
            [f"labels of {self.target!r} that the other cells make least probable", *aligned([header, *rows])]
        )


def mislabelled(table: Any, target: str, *, net: Any = None) -> Mislabelled:
    """Return how probable each row's label is given its other cells, without the row itself.

    The parameters are those of all other rows, exactly: each row is taken out of the counts of its own cells. The graph
    is held.

    Parameters
    ----------
    table : Table or data frame
        Numbers are cut into bins. That a cell is missing is a state of its column; a given network sums such cells out,
        and rows that lack some are then not taken out of its counts.
    target : str
        The variable whose labels are judged.
    net : BayesianNetwork, optional
        Of labels; learned from the table. Without it the default network, a naive Bayes, a tree-augmented and two
        k-dependence classifiers are learned, and judge together: their logarithms are averaged, half with equal weights
        and half with those of the mixture under which the labels are most probable, each row without itself.

    Returns
    -------
    Mislabelled

    Raises
    ------
    SchemaError
        When the network has numbers, or is no Bayesian network.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(2000, seed=1)
    >>> labels = table["bronc"].copy()
    >>> labels[:3] = ["no" if label == "yes" else "yes" for label in labels[:3]]
    >>> frame = table.to_frame().set_column(table.names.index("bronc"), "bronc", [labels.tolist()])
    >>> spoiled = fn.Table.from_frame(frame)
    >>> found = fn.explain.mislabelled(spoiled, "bronc")
    >>> found.probabilities.shape
    (2000, 2)
    """
    data = as_data(table, "explain.mislabelled")
    if net is not None:
        return _judged(net, data, target)
    data.places(target)
    data = cast(Table, categorical_source(data, purpose="judging labels"))
    rows = _with_missing_states(data, target)
    known = rows.drop_missing()  # of the target
    graphs = [dag(known), naive_bayes(known, target=target), tan(known, target=target)]
    graphs += [kdb(known, target=target, k=k) for k in DEPENDENCE]
    return replace(_pooled([_judged(parameters(graph, known), rows, target) for graph in graphs]), _table=data)


def _with_missing_states(table: Table, target: str) -> Table:
    """Return a table of labels whose missing cells are states, but for those of the target."""
    others = [name for name in table.names if name != target]
    filled = table.select(others).with_missing_states()
    (at,) = positions(table.names, [target])
    variables, columns = list(filled.variables), list(filled.codes)
    variables.insert(at, table.variables[at])
    columns.insert(at, table.codes[at])
    return Table.adopt(variables, columns, weights=table.weights, n_rows=table.n_rows)


def _pooled(judged: Sequence[Mislabelled]) -> Mislabelled:
    """Return the judgement of several together."""
    own = np.array([one.own for one in judged])
    weights = (_mixture(own[:, ~np.isnan(own[0])]) + 1 / len(own)) / 2
    parts = zip(weights, judged, strict=True)
    logs = np.sum([w * np.log(np.maximum(one.probabilities, SMALLEST)) for w, one in parts], axis=0)
    influence = weights @ np.array([one.self_influence for one in judged])
    first = judged[0]
    return Mislabelled(first.target, np.exp(logs - _log_sum(logs)[:, None]), influence, first._table)


def _mixture(own: Numbers) -> Numbers:
    """Return the weights of the mixture under which all labels are most probable, by expectation and maximization."""
    own = np.maximum(own, SMALLEST)
    weights = np.full(len(own), 1 / len(own))
    for _ in range(MIXTURE_STEPS):
        shares = weights[:, None] * own
        weights = (shares / shares.sum(axis=0)).mean(axis=1)
    return weights


def _judged(net: Any, data: Table, target: str) -> Mislabelled:
    """Return how probable each row's label is by a network."""
    if not is_directed(net) or net.values != "states":
        raise SchemaError(f"labels are judged by a Bayesian network of labels, not by {a(type(net).__name__)}")
    (at,) = positions(net.names, [target])
    rows = net.rows(data)
    lacking = [v.missing(column) for v, column in zip(net.variables, rows.codes, strict=True)]
    has = ~lacking.pop(at)
    complete = ~np.logical_or.reduce(lacking, initial=False)
    response = OfTables(net, rows if has.all() else rows[np.flatnonzero(has)], None)
    logs = _log_probabilities(net, rows, at)
    require_possible(logs.max(axis=1))
    own = np.minimum(rows.codes[at].astype(np.int64), net.variables[at].cardinality - 1)
    before = logs[np.arange(len(own)), own] - _log_sum(logs)
    with_own, with_others = np.zeros((2, rows.n_rows))
    at_hand = np.flatnonzero(complete)
    with_own[at_hand], with_others[at_hand] = _changes(response, rows[at_hand], at, has[at_hand])
    logs = logs + with_others[:, None]
    logs[np.arange(len(own)), own] += with_own - with_others
    total = _log_sum(logs)
    after = logs[np.arange(len(own)), own] - total
    return Mislabelled(target, np.exp(logs - total[:, None]), np.where(has & complete, before - after, np.nan), data)


def _log_sum(logs: Numbers) -> Numbers:
    top = logs.max(axis=1)
    return np.asarray(top + np.log(np.exp(logs - top[:, None]).sum(axis=1)))


def _log_probabilities(net: Any, rows: Table, at: int) -> Numbers:
    """Return the log-probability of each row with each label, (n_rows, r)."""
    found = []
    for state in range(net.variables[at].cardinality):
        columns = list(rows.codes)
        columns[at] = np.full(rows.n_rows, state, dtype=net.variables[at].dtype)
        found.append(net.log_prob(Table.adopt(net.variables, columns, n_rows=rows.n_rows)))
    return np.stack(found, axis=1)


def _changes(response: OfTables, rows: Table, at: int, has: npt.NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
    """Return by what the log-probability of the row changes without itself, with its own label and with others.

    Of what others have in common, only what the family of the target has is counted: the rest cancels.
    """
    net = response.net
    own: Tables = []
    others: Tables = []
    for v, (conditional, smoothing, n) in enumerate(zip(net.conditionals, response.ways, response.counts, strict=True)):
        of_target = v == at
        below = at in conditional.parents
        h, left = smoothing.weights(n), smoothing.weights(np.maximum(n - 1, 0.0))
        total = h.sum(axis=1, keepdims=True)
        rest = total - h + left
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.where(rest > 0, np.log(total / rest), 0.0)
            mine = np.where((h > 0) & (rest > 0), np.log(left / h), 0.0) + scale
        own.append(mine if of_target or below else np.zeros_like(n))
        others.append(scale if of_target else np.zeros_like(n))
    columns = list(rows.codes)
    columns[at] = np.where(has, rows.codes[at], 0).astype(net.variables[at].dtype)
    filled = Table.adopt(net.variables, columns, n_rows=rows.n_rows)
    of_own, of_others = (np.asarray(net.flat.look_up(filled.native, tables, True)) for tables in (own, others))
    return np.where(has, of_own, 0.0), np.where(has, of_others, 0.0)
