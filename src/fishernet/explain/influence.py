"""Which rows are behind an answer of a network."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base import check
from fishernet.base.display import Framed, aligned
from fishernet.base.errors import SchemaError
from fishernet.base.names import a, cut, several
from fishernet.base.progress import Progress
from fishernet.base.random import Seed, fixed_seed
from fishernet.data.arrays import row_positions
from fishernet.data.frames.rows import arrow_rows
from fishernet.data.matching import as_data, is_table, listed_items
from fishernet.explain.answers import answer_of
from fishernet.explain.counts import Response
from fishernet.explain.near_graphs import MeanAnswer, OverGraphs, over_graphs
from fishernet.explain.number_responses import OfBoth
from fishernet.explain.responses import OfTables
from fishernet.explain.string_responses import OfStrings
from fishernet.models.model import Model

Numbers = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
Made = TypeVar("Made")  # the responses of one network, or of several

SHOWN = 5  # rows for and against that str() shows
FEW = 8  # rows, from which on they are taken out one by one, with another look at the influence of the others
MOST_TRIED = 64  # rows of a set that are tried to be put back


@dataclass(frozen=True)
class Without(Framed):
    """An answer as if some rows had not been there, without a new fit and with one; made by `Influence.without`.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(1000, seed=1)
    >>> why = fn.explain.rows(fn.learn.bayesian_network(table), table, query="smoke", state="yes")
    >>> found = why.without(range(100))
    >>> abs(found.predicted - found.refitted) < 0.01
    True
    """

    answer: float
    """The answer of the network."""
    predicted: float
    """What it is without the rows, to first order."""
    refitted: float
    """What it is of the network whose parameters are fitted to the other rows; its graph stays."""
    n_rows: int
    """How many rows were left out."""

    def to_frame(self) -> pa.Table:
        """Return the answers as a pyarrow Table: ``rows``, and ``answer``."""
        return pa.table(
            {
                "rows": ["all", "without, to first order", "without, fitted again"],
                "answer": [self.answer, self.predicted, self.refitted],
            }
        )


@dataclass(frozen=True, repr=False)
class GroupInfluence(Framed):
    """The rows of one label of a column, and what an answer is without them; made by `Influence.by`.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(1000, seed=1)
    >>> why = fn.explain.rows(fn.learn.bayesian_network(table), table, query="smoke", state="yes")
    >>> {group.label: group.n_rows for group in why.by("bronc")}
    {'no': 575, 'yes': 425}
    """

    label: Any
    """The label; None for missing cells."""
    n_rows: int
    """How many rows have it."""
    influence: float
    """What they add to the answer, to first order."""
    without: float
    """The answer of a network fitted to the other rows; NaN where there are none, or the table was not learned from."""
    answer: float
    """The answer of the network."""

    def to_frame(self) -> pa.Table:
        """Return the group as a pyarrow Table of one row."""
        return _groups_frame([self])


class Groups(tuple[GroupInfluence, ...]):
    """What each group of rows does to an answer, the strongest first.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(1000, seed=1)
    >>> why = fn.explain.rows(fn.learn.bayesian_network(table), table, query="smoke", state="yes")
    >>> why.by("bronc").to_frame().column_names
    ['label', 'rows', 'influence', 'without', 'answer']
    """

    __slots__ = ()

    def to_frame(self) -> pa.Table:
        """Return a pyarrow Table: label, rows, influence, and the answer without them and with them."""
        return _groups_frame(self)


def _groups_frame(groups: Iterable[GroupInfluence]) -> pa.Table:
    rows = [(str(g.label), g.n_rows, g.influence, g.without, g.answer) for g in groups]
    columns = list(zip(*rows, strict=True)) or [()] * 5
    names = ("label", "rows", "influence", "without", "answer")
    return pa.table({name: list(column) for name, column in zip(names, columns, strict=True)})


@dataclass(frozen=True, repr=False)
class RowSet(Framed):
    """A small set of rows without which an answer turns; made by `Influence.smallest_set`.

    Examples
    --------
    >>> import fishernet as fn
    >>> rows = {"smoke": ["yes"] * 52 + ["no"] * 48}
    >>> net = fn.learn.parameters(fn.Dag.from_edges(["smoke"], []), rows)
    >>> len(fn.explain.rows(net, rows, query="smoke", state="yes").smallest_set())
    4
    """

    rows: Rows
    """Their positions, ascending."""
    answer: float
    """The log odds of the state against the one that is most probable without the rows; or the answer."""
    without: float
    """The same of a network fitted to the other rows: of the other sign, or 0."""
    said: str
    """What was asked."""

    def to_frame(self) -> pa.Table:
        """Return the positions as a pyarrow Table."""
        return pa.table({"row": self.rows})

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, eq=False, repr=False)
class Influence(Framed):
    """How much each row of the learning table has to do with an answer; made by `fishernet.explain.rows`."""

    said: str
    """What was asked, in words."""
    answer: float
    """The answer of the network."""
    values: Numbers
    """(n_rows,): the change of the answer, to first order, per unit of each row's weight: above 0 where the row raises
    it. A row that is taken out takes its value times its weight away."""
    _table: Any = field(repr=False)  # a Table, or strings
    _response: Response = field(repr=False)
    _asked: Any = field(repr=False)  # an Answer, or the mean of one, or what an arc gains
    _over: OverGraphs | None = field(default=None, repr=False)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.values)

    @cached_property
    def removals(self) -> Numbers:
        """(n_rows,): the answer, less what it is without each row.

        Each row's own leverage is counted: exactly, of labels, in whole rows and in those that can be completed in up
        to 256 ways; in more it is that of `values`. Infinite where the answer's probability hangs on the row alone.
        """
        return self._response.removals(self._asked)

    @cached_property
    def agreement(self) -> float | None:
        """How far networks that are learned again, graph and all, answer as `values` say; None where the graph is held.

        The rank correlation, over the halves from which the graphs were learned, between the answers of the networks of
        these halves and the sums of the values of their rows. NaN where all answers are equal.
        """
        return None if self._over is None else self._over.agreement(self._asked, self.values)

    def exact(self, rows: Any) -> Numbers:
        """Return the answer, less what it is after a new fit without each of some rows, (k,).

        Parameters
        ----------
        rows : int or sequence of int
            Positions of rows, each left out by itself; the answers come in their order.

        Raises
        ------
        IndexError
            When there is no such row.
        SchemaError
            When the network was not learned from the table.
        """
        chosen = row_positions([rows] if isinstance(rows, int | np.integer) else rows, self.n_rows)
        return np.array([self.answer - self._refitted(np.array([row])) for row in chosen], dtype=np.float64)

    def without(self, rows: Any) -> Without:
        """Return the answer as if some rows had not been there: without a new fit, and with one.

        Parameters
        ----------
        rows : sequence of int, or (n_rows,) array of bool
            Their positions.
        """
        chosen = self._positions(rows)
        predicted = self.answer - float((self._weights * self.values)[chosen].sum())
        return Without(self.answer, predicted, self._refitted(chosen), len(chosen))

    def by(self, column: Any) -> Groups:
        """Return what the rows of each label do to the answer, the strongest first.

        Parameters
        ----------
        column : str or sequence
            A column of the table with labels, which need not be one of the network's; or a label of each row.

        Examples
        --------
        >>> import fishernet as fn
        >>> table = fn.datasets.load("nursery")
        >>> net = fn.learn.bayesian_network(table)
        >>> why = fn.explain.rows(net, table, query="class", state="priority", given={"health": "recommended"})
        >>> strongest = why.by("parents")[0]
        >>> strongest.label, strongest.n_rows, round(strongest.influence, 2), round(strongest.without, 2)
        ('usual', 4320, 0.07, -0.69)
        """
        labels, at = labels_of(self._table, column)
        sums = np.bincount(at, self._weights * self.values, minlength=len(labels))
        found = []
        for place in np.argsort(-np.abs(sums), kind="stable"):
            chosen = np.flatnonzero(at == place)
            if len(chosen):
                refits = self._response.refits and len(chosen) < self.n_rows
                without = self._refitted(chosen) if refits else math.nan
                found.append(GroupInfluence(labels[place], len(chosen), float(sums[place]), without, self.answer))
        return Groups(found)

    def smallest_set(self, *, most: int | None = None) -> RowSet | None:
        """Return a small set of rows without which the answer turns, each step checked by a new fit.

        A probability turns where its state becomes, or ceases to be, the most probable one; another answer where its
        sign changes. Rows are taken out in the order of their influence on what turns, which is taken again with each
        part that is out; then what is not needed is put back. No smaller set is looked for by trying all.

        Parameters
        ----------
        most : int, optional
            The most rows that may be taken out; half of them without it.

        Returns
        -------
        RowSet or None
            None where so many rows do not turn it.

        Raises
        ------
        SchemaError
            When the network was not learned from the table.
        """
        self._require_learning_table()
        limit = self.n_rows // 2 if most is None else check.integer(most, "most", least=1)
        asked = self._asked if self._asked.odds is None else self._asked.odds()
        begin = asked.of(self._response.net)
        sign = 1.0 if begin > 0 else -1.0
        out: Rows = np.zeros(0, dtype=np.int64)
        response = self._response
        while sign * asked.of(response.net) > 0:
            harm = sign * response.values(asked) * self._weights
            harm[out] = -np.inf
            order = np.argsort(-harm, kind="stable").astype(np.int64)
            order = order[: int(np.count_nonzero(harm > 0))]
            enough = int(np.searchsorted(np.cumsum(harm[order]), abs(asked.of(response.net)))) + 1  # to first order
            out = np.concatenate([out, order[: 1 if enough <= FEW else min(enough, len(order)) // 2]])
            if not len(order) or len(out) > limit or len(out) == self.n_rows:
                return None
            response = response.again(self._kept(out))
        out = self._put_back(asked, out, sign * self._response.values(asked) * self._weights, sign)
        return RowSet(np.sort(out), begin, self._left(asked, out), asked.said)

    def to_frame(self) -> pa.Table:
        """Return the rows, those that raise the answer most first: their positions, influence and columns."""
        order = np.argsort(-self.values, kind="stable").astype(np.int64)
        return arrow_rows(self._table, order, {"influence": self.values[order]})

    def __repr__(self) -> str:
        return f"Influence({self.said} = {self.answer:.6g}, of {several(self.n_rows, 'row')})"

    def __str__(self) -> str:
        """Return the answer, and the rows that raise and lower it most."""
        order = np.argsort(-self.values, kind="stable")
        shown = np.concatenate([order[:SHOWN], order[-SHOWN:]]) if len(order) > 2 * SHOWN else order
        frame = arrow_rows(self._table, shown.astype(np.int64), {})
        header = ["row", "influence", *(name for name in frame.column_names if name != "row")]
        cells = zip(*(frame.column(name).to_pylist() for name in header[2:]), strict=True)
        rows = [
            [str(int(row)), f"{self.values[row]:+.3g}", *(cut(str(cell), 16) for cell in of)]
            for row, of in zip(shown, cells, strict=True)
        ]
        first = [f"{self.said} = {self.answer:.6g}, and the rows behind it"]
        if self.agreement is not None:
            first.append(told_of_agreement(self.agreement))
        return "\n".join([*first, *aligned([header, *rows])])

    # --------------------------------------------------------------------------------------------- what rows there are

    @property
    def _weights(self) -> Numbers:
        return self._response.weights

    def _positions(self, rows: Any) -> Rows:
        return np.unique(row_positions(rows, self.n_rows)).astype(np.int64)

    def _kept(self, out: Rows) -> Numbers:
        weights = self._weights.copy()
        weights[out] = 0.0
        return weights

    def _left(self, asked: Any, out: Rows) -> float:
        """Return an answer of the network fitted to the rows that are left."""
        self._require_learning_table()
        if len(out) == self.n_rows:
            raise SchemaError("no row is left to fit a network to; leave some in")
        return float(asked.of(self._response.without(self._kept(out))))

    def _require_learning_table(self) -> None:
        if not self._response.refits:
            raise SchemaError(
                "the network was not learned from this table, so none of its rows can be left out of a fit; read "
                "`values` and `by`, or fit the network to these rows with fishernet.learn.parameters"
            )

    def _refitted(self, out: Rows) -> float:
        return self._left(self._asked, out)

    def _put_back(self, asked: Any, out: Rows, harm: Numbers, sign: float) -> Rows:
        """Return the rows that are needed of those that turn an answer; the weakest are tried first."""
        needed = out[np.argsort(harm[out], kind="stable")]
        for row in needed[:MOST_TRIED]:
            rest = needed[needed != row]
            if len(rest) and sign * self._left(asked, rest) <= 0:
                needed = rest
        return needed


def told_of_agreement(agreement: float) -> str:
    """Return in words how far networks that are learned again answer as influences say."""
    if math.isnan(agreement):
        return "networks that are learned again from halves of the rows all give the same answer"
    again = "networks that are learned again from halves of the rows answer as these say"
    return f"{again} with a rank correlation of {agreement:.2f}"


def labels_of(table: Any, column: Any) -> tuple[list[Any], Rows]:
    """Return the labels of a column, or those given, and the place of each row's (or string's) among them."""
    if not isinstance(column, str) or not is_table(table):
        values, n = list(column), len(table)
        if len(values) != n:
            message = f"{len(values):,} labels for {n:,} rows; give one a row"
            raise SchemaError(message, parameter="column")
        labels: list[Any] = list(dict.fromkeys(values))
        where = {label: place for place, label in enumerate(labels)}
        return labels, np.array([where[value] for value in values], dtype=np.int64)
    variable = table.variables[table.names.index(column)] if column in table.names else None
    if variable is None or variable.is_continuous:
        what = "there is no such column" if variable is None else "it is a column of numbers"
        raise SchemaError(f"groups by {column!r}: {what}; name a column with labels", parameter="column")
    return [*variable.states, None], table.column(column).astype(np.int64)


# of one network and table, that are often asked for many answers; they live as long as an Influence does
_responses: weakref.WeakValueDictionary[tuple[Any, ...], Any] = weakref.WeakValueDictionary()
RESPONSES: dict[str, Any] = {"states": OfTables, "numbers": OfBoth, "mixed": OfBoth, "symbols": OfStrings}


def _remembered(key: tuple[Any, ...], make: Callable[[], Made]) -> Made:
    found: Made | None = _responses.get(key)
    if found is None:
        found = _responses[key] = make()
    return found


def rows(
    net: Model,
    table: Any,
    *,
    query: str | Sequence[str] | None = None,
    state: Any = None,
    given: Any = None,
    log_prob: Any = None,
    n_rows: float | None = None,
    graphs: int | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
) -> Influence:
    """Return how much each row of the learning table has to do with an answer of a model.

    To first order that is the Fisher kernel between the answer's derivative and the row, over the number of rows: the
    influence function of maximum likelihood [1]_ [2]_. Smoothing, weights and missing cells are counted; the graph is
    held, or `graphs` of them are.

    Parameters
    ----------
    net : BayesianNetwork, DependencyNetwork, or model of strings
        Of labels, of numbers, or of both. A dependency network is asked for a variable given all of its inputs, or for
        the pseudo-log-likelihood of rows. Of strings (MarkovChain, HiddenMarkovModel, HiddenTree) the log-probability
        of some is the answer: `log_prob`.
    table : Table or data frame, or list of strings
        The rows that it was learned from, also with missing cells; or the strings.
    query : str or sequence of str, optional
        What is asked for. With a `state` the answer is ``log P(query = state | given)``, with a pair of states the
        logarithm of their odds, and of a number the logarithm of its density. Without one it is that of the most
        probable state, of a number its mean, and of two variables their mutual information.
    state : state or number, pair of states, or one for each name of `query`, optional
    given : mapping from name to state, number, several states or a range, optional
        What is known; a list of states is one of them, and a tuple ``(low, high)`` a range of states that are numbers
        or bins. Without `query` the answer is ``log P(given)``.
    log_prob : Table or data frame, or list of strings, optional
        Rows, whose mean log-probability is the answer in place of a query: the loss of rows held out, or of one row.
        Cells may be missing.
    n_rows : float, optional
        How many rows the network was learned from, where `table` is not these rows: what its rows would do, each to
        first order.
    graphs : int, optional
        Over how many graphs answer and influences are averaged, each learned from a random half of the rows by
        `fishernet.learn.dag` and fitted to all. A network that is learned again, graph and all, from a part of the rows
        answers by such a graph; the influences then say how, and ``agreement`` how well (docs/studies/influence.md). Of
        Bayesian networks that were learned from `table`; their conditionals are tables or regressions.
    seed : None, int or numpy.random.Generator
        Of the halves. Without one the same halves serve for all answers as long as an Influence of them is there.
    progress : callable or True, optional
        True for a bar, or ``progress("learning graphs from halves", graphs done, graphs)``.

    Returns
    -------
    Influence
        ``values`` in nats (of an expected number in its unit) per unit of a row's weight, ``by(column)``,
        ``without(rows)``, ``removals``, ``exact(rows)``, ``smallest_set()``.

    Raises
    ------
    SchemaError, UnknownStateError
        When a name, a state or a column is not the network's.
    ZeroProbabilityError
        When what is asked for has probability 0, or a row has.
    StateSpaceError
        When a table of the answer would be too large.

    Warns
    -----
    FishernetWarning
        When the network's probabilities are not those of the table's counts.

    References
    ----------
    .. [1] P. W. Koh and P. Liang, "Understanding black-box predictions via influence functions", ICML 2017.
    .. [2] F. R. Hampel, "The influence curve and its role in robust estimation", JASA 69, 1974.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(2000, seed=1)
    >>> net = fn.learn.bayesian_network(table)
    >>> why = fn.explain.rows(net, table, query="lung", state="yes", given={"smoke": "yes"})
    >>> why
    Influence(log P(lung = yes | smoke = yes) = -2.47264, of 2,000 rows)
    >>> strongest = int(why.values.argmax())
    >>> table["smoke"][strongest], table["lung"][strongest]
    ('yes', 'yes')
    """
    of_strings = net.values == "symbols"
    if not net.conditionals and not of_strings:
        what = f"explain.rows takes Bayesian and dependency networks and models of strings, not {a(type(net).__name__)}"
        raise SchemaError(what)
    strings = table if isinstance(table, list) else None  # the same list is the same strings
    data = (strings or listed_items(table)) if of_strings else as_data(table, "explain.rows")
    if of_strings and not data:
        raise SchemaError("no strings have no influence; give those that the model was learned from")
    if n_rows is not None:
        check.number(n_rows, "n_rows", least=1)
    answer = answer_of(net, query, state, given, log_prob)
    make = RESPONSES[net.values]
    key = id(net), id(data), n_rows  # a response holds both
    response = _remembered(key, lambda: make(net, data, n_rows))
    if graphs is None:
        return Influence(answer.said, answer.of(net), response.values(answer), data, response, answer)
    mean = MeanAnswer(answer, check.integer(graphs, "graphs", least=1))
    halves = *key, graphs, None if seed is None else fixed_seed(seed)
    over = _remembered(halves, lambda: over_graphs(response, lambda of: make(of, data, None), graphs, seed, progress))
    return Influence(mean.said, mean.of(over.net), over.values(mean), data, over, mean, over)
