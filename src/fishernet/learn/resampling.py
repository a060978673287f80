"""How sure the edges of a learned structure are: the bootstrap, the averaged network, and runs of a learner in general.

A structure is learned from each of many samples of the rows, drawn with replacement (Friedman et al., 1999). What share
of them has an edge is its strength; in what share of these it points one way is its direction. Networks of one
equivalence class cannot be told apart by data, so an edge that is reversible in its class counts as half an arc each
way. An average of the networks keeps the significant edges (Scutari and Nagarajan, 2013).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, Unpack

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base import check
from fishernet.base.display import Framed
from fishernet.base.errors import FishernetError, SchemaError, telling_once
from fishernet.base.names import several
from fishernet.base.progress import Progress, Reporter
from fishernet.base.random import Seed, fixed_seed, generator, poisson_draws, raw_words, stream_key
from fishernet.base.vocabulary import IncompleteName, ScoreName, SearchName, word
from fishernet.data import Source, Table
from fishernet.data.arrays import row_blocks
from fishernet.data.matching import as_data
from fishernet.data.source import is_statistics
from fishernet.data.variable import Column
from fishernet.graphs import Dag, Links
from fishernet.graphs.equivalence import UNDIRECTED, class_marks, relabelled
from fishernet.learn.keywords import SampleKeywords, ShuffledKeywords
from fishernet.learn.missing.ways import enough_known, way_with_missing
from fishernet.learn.numbers.preparing import prepared_for
from fishernet.learn.rules import Matrix, Rules
from fishernet.learn.structures import dag, named_columns, options_for, usual_score
from fishernet.scores import Score, named_score

Result = TypeVar("Result")


def reusable(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of `fishernet.learn.structure` that more than one run can read.

    A generator of arcs would be empty for the second run, which then went by no rules at all.
    """
    kept = dict(options)
    if kept.get("checkpoint") is not None:
        message = "a checkpoint is of one search, and here are many; give it to learn.structure, or take none"
        raise FishernetError(message, parameter="checkpoint")
    for rule in ("required", "forbidden"):
        if rule in kept:
            kept[rule] = _listed(kept[rule])
    if kept.get("tiers") is not None:
        kept["tiers"] = [_listed(tier) for tier in _listed(kept["tiers"])]
    return kept


def _listed(items: Any) -> Any:
    """Return a list of what can be gone through; a name, or what is no iterable, is for the learner to judge."""
    return list(items) if isinstance(items, Iterable) and not isinstance(items, str) else items


def knowing(rows: Table, options: Mapping[str, Any]) -> tuple[Table, Mapping[str, Any]]:
    """Return some rows of a table without the columns that they know nothing of, and the search's options for the rest.

    Left out are columns without a known cell, and numbers of which no two differ. Columns that arcs or a graph ask for
    stay, and all do where none would be left.
    """
    asked = named_columns(options.get("required", ()), options.get("start"))
    counting = np.ones(rows.n_rows, dtype=bool) if rows.weights is None else rows.weights > 0

    def tells(variable: Column, column: npt.NDArray[Any], at: slice) -> bool:
        return enough_known(variable, column[at][~variable.missing(column[at]) & counting[at]])

    few, every = slice(FEW_SEEN), slice(None)  # a few rows mostly tell
    pairs = zip(rows.variables, rows.codes, strict=True)
    kept = [v.name for v, column in pairs if v.name in asked or tells(v, column, few) or tells(v, column, every)]
    if not kept or len(kept) == len(rows.names) or options.get("rules") is not None:
        return rows, options
    return rows.select(kept), options_for(rows.names, kept, options)


def repeat_runs(
    n: int, run: Callable[[int, Progress], Result], what: str, progress: Progress | None
) -> Iterator[Result]:
    """Yield ``run(0, ...)`` up to ``run(n - 1, ...)``, each when it is done; what several warn of, the first tells."""
    reporter = Reporter(progress, what)
    warned: set[Any] = set()
    for number in range(n):
        reporter.step(number, n)
        try:
            with telling_once(warned):
                result = run(number, lambda *_, done=number: reporter.step(done, n))
        except KeyboardInterrupt:
            raise KeyboardInterrupt from None
        yield result
    reporter.finish(n)


FEW_SEEN = 64  # rows that are looked at before all are
MOST_DRAWN = 10  # times as many rows as are stored: up to here drawing them beats counting rows with weights
MAJORITY = 0.5
NO_ROWS = "the table has no rows to draw from"
SCHEMES = ("multinomial", "poisson")
SchemeName = Literal["multinomial", "poisson"]
OWN_SEED = 2**64  # where no row is: the place of a sample's own seed in its stream of words


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class EdgeStrengths(Framed):
    """In what share of networks each edge is, and which way it points.

    The networks are learned from samples of the rows (`edge_strengths`), or are those that the rows leave open, by
    their probability (`edge_probabilities`, `BestGraphs.edge_strengths`).

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(5000, seed=1)
    >>> found = fn.learn.edge_strengths(table, 50, seed=1)
    >>> smoke, bronchitis = found.names.index("smoke"), found.names.index("bronc")
    >>> float(found.strength[smoke, bronchitis])
    1.0
    >>> found.averaged(0.9).n_edges <= found.averaged().n_edges
    True
    """

    names: tuple[str, ...]
    """The variables, in the order of the axes of the arrays."""
    strength: npt.NDArray[np.float64]
    """(n_variables, n_variables), symmetric: the share of networks in which the two are joined, either way, among those
    of samples that know something of both."""
    direction: npt.NDArray[np.float64]
    """(n_variables, n_variables): ``direction[a, b]`` is the share of a -> b among the networks in which a and b are
    joined; an edge that is reversible in its class counts half each way. 0 for two that are never joined."""
    n: int
    """The number of networks."""
    seed: int | None
    """The seed that gives the same samples again; None where none were drawn."""
    seconds: float
    """How long it took."""
    error: float | None = None
    """The largest standard error of a strength, where they are estimates by random walks (`edge_probabilities`)."""

    def __post_init__(self) -> None:
        for array in (self.strength, self.direction):
            array.flags.writeable = False

    def __repr__(self) -> str:
        strong, edges = int((np.triu(self.strength) >= self.threshold).sum()), int((np.triu(self.strength) > 0).sum())
        size = (
            f"{several(len(self.names), 'variable')}, {several(edges, 'edge')} in any of {several(self.n, 'network')}"
        )
        return f"EdgeStrengths({size}, {strong:,} of them significant: strength {self.threshold:.3g} or more)"

    @property
    def threshold(self) -> float:
        """The strength from which on an edge is significant, by the rule of Scutari and Nagarajan (2013).

        They look for the share t of pairs without an edge for which the step function that is t on [0, 1) is nearest
        in L1 to F, the distribution function of the strengths of all pairs. The integral of ``|F(x) - t|`` over x in
        [0, 1] is least at a median of F(x), which is F(1/2) since F is monotone. Significant is what is stronger than
        the F(1/2)-quantile, so what is in more than half of the networks: the rule is the majority's. The threshold
        is the least such strength, or 1 when there is none.
        """
        significant = self.strength[self.strength > MAJORITY]
        return float(significant.min(initial=1.0))

    def averaged(self, threshold: float | None = None) -> Dag:
        """Return the averaged network: the strong edges, each in its likelier direction.

        Edges are added by falling strength (then by how clear their direction is, then in the order of the
        variables), and one that would close a cycle is left out. One that points as often either way points from the
        earlier variable to the later, or back where only that closes no cycle.

        Parameters
        ----------
        threshold : float, optional
            The least strength of an edge, above 0 and up to 1; by default `threshold`.

        Raises
        ------
        FishernetError
            When the threshold is out of range.
        """
        least = self.threshold if threshold is None else threshold
        check.number(least, "threshold", above=0, most=1)
        parents: list[list[int]] = [[] for _ in self.names]
        for tail, head in self._edges():
            if self.strength[tail, head] < least:
                break
            if not _reaches(parents, head, tail):
                parents[head].append(tail)
            elif self.direction[tail, head] == MAJORITY:
                parents[tail].append(head)
        return Dag(self.names, parents)

    def links(self) -> Links:
        """Return what joins the variables in the averaged network, for pictures and files."""
        return self.averaged().links()

    def to_frame(self) -> pa.Table:
        """Return the edges as a pyarrow Table with the columns from, to, strength and direction.

        One row an edge that is in any network, in its likelier direction, in the order in which `averaged` adds them;
        the share of the other direction is 1 - direction.
        """
        edges = list(self._edges())
        return pa.table(
            {
                "from": pa.array([self.names[tail] for tail, _ in edges], pa.string()),
                "to": pa.array([self.names[head] for _, head in edges], pa.string()),
                "strength": pa.array([self.strength[edge] for edge in edges], pa.float64()),
                "direction": pa.array([self.direction[edge] for edge in edges], pa.float64()),
            }
        )

    def _edges(self) -> Iterator[tuple[int, int]]:
        """Yield the edges in their likelier direction (tail, head), the surest first."""
        one, other = np.nonzero(np.triu(self.strength))
        forward = self.direction[one, other] >= MAJORITY
        tails, heads = np.where(forward, one, other), np.where(forward, other, one)
        order = np.lexsort((heads, tails, -self.direction[tails, heads], -self.strength[tails, heads]))
        yield from zip(tails[order].tolist(), heads[order].tolist(), strict=True)


def _reaches(parents: list[list[int]], source: int, target: int) -> bool:
    """Return whether a directed path leads from the one to the other."""
    waiting, seen = [target], {target}
    while waiting:
        variable = waiting.pop()
        if variable == source:
            return True
        fresh = [parent for parent in parents[variable] if parent not in seen]
        seen.update(fresh)
        waiting.extend(fresh)
    return False


def edge_strengths(
    table: Any,
    n: int = 200,
    *,
    score: ScoreName | Score | None = None,
    search: SearchName = "hill-climb",
    missing: IncompleteName | None = None,
    scheme: SchemeName | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
    **as_dag: Unpack[SampleKeywords],
) -> EdgeStrengths:
    """Learn a structure from many bootstrap samples [1]_, and say how sure each edge is [2]_.

    Parameters
    ----------
    table : Table, data frame or Blocks
        The data: states, numbers or both, of which some may be missing. Numbers are put on scales, and cut where they
        must be, once for all samples, as `bayesian_network` does. With weights, a row that counts k times is k rows.
    n : int
        How many samples.
    score, search, **as_dag
        As for `structure`; the score is "bic", of columns of numbers "fractional". A time limit (max_seconds) is one
        for each search.
    missing : {"em", "node-average"}, optional
        As for `structure`: how each sample is learned from where cells are missing. Rows are drawn with their holes.
    scheme : {"multinomial", "poisson"}, optional
        A sample is as many rows as the table has, drawn with replacement; or every row comes as often as a Poisson
        number of mean 1 says, which depends on the seed, the sample and the row's place alone. So "poisson" gives the
        same strengths of a table, a stream, and rows in several places, and takes 8 bytes a row. It is the scheme of
        `fishernet.data.Blocks`; of tables it is "multinomial".
    seed : None, int or numpy.random.Generator
        Sample b depends on the seed and b alone, so the first samples of more are the same.
    progress : callable or True, optional
        True for a bar, or ``progress("learning from samples", samples done, n)``.

    Returns
    -------
    EdgeStrengths

    Raises
    ------
    FishernetError
        When n is no positive integer.
    SchemaError
        When the data are no table, it has no rows to draw, or a sample has no known cell of a column that an arc asks
        for.
    MissingValueError
        When a number is missing.

    Notes
    -----
    Where rules (required, forbidden, tiers) allow an edge in one direction only, it counts as pointing that way even if
    its class leaves it free.

    References
    ----------
    .. [1] N. Friedman, M. Goldszmidt and A. Wyner, "Data analysis with Bayesian networks: a bootstrap approach", UAI
       1999.
    .. [2] M. Scutari and R. Nagarajan, "Identifying significant edges in graphical models of molecular networks",
       Artificial Intelligence in Medicine 57, 2013.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(5000, seed=1)
    >>> found = fn.learn.edge_strengths(table, 20, seed=1)
    >>> found.to_frame().column_names
    ['from', 'to', 'strength', 'direction']
    """
    options: Mapping[str, Any] = reusable(as_dag)
    source: Source = table
    if not is_statistics(table):
        rows = as_data(table, "edge_strengths, which draws rows,")
        source = prepared_for(rows, score=score, search=search, **options)
        options = options_for(rows.names, source.names, options)
    names = source.names
    check.integer(n, "n", least=1)
    sampler = _sampler(source, scheme)
    way: Any = way_with_missing(source, missing, usual_score(source) if score is None else named_score(score))
    only_way = _only_way(names, options)
    number = fixed_seed(seed)
    key = stream_key(number)
    began = time.monotonic()

    def run(sample: int, told: Progress) -> Dag:
        rows, own = sampler.draw(key, sample)
        of: Mapping[str, Any] = options
        if rows.rows is not None:
            rows, of = knowing(rows.rows, options)
        return dag(rows, score=score, search=search, missing=way, seed=own, progress=told, **of)

    place = {name: at for at, name in enumerate(names)}
    halves, runs = np.zeros((2, len(names), len(names)), dtype=np.int64)
    for found in repeat_runs(int(n), run, "learning from samples", progress):
        there = tuple(place[name] for name in found.names)
        runs[np.ix_(there, there)] += 1
        _count(halves, found, there, only_way)
    both = halves + halves.T
    return EdgeStrengths(
        names=names,
        strength=both / np.maximum(2 * runs, 1),
        direction=np.divide(halves, both, out=np.zeros(both.shape), where=both > 0),
        n=int(n),
        seed=number,
        seconds=time.monotonic() - began,
    )


def edges_by_chance(
    table: Any,
    n: int = 20,
    *,
    seed: Seed = None,
    progress: Progress | None = None,
    **as_structure: Unpack[ShuffledKeywords],
) -> float:
    """Return how many edges are found by chance: in tables whose columns are each shuffled by themselves.

    A score also finds edges between columns that are independent, the more the fewer rows and the more columns there
    are. If it finds as many by chance as in the table itself, the rows tell little of its structure.

    Parameters
    ----------
    table : Table or data frame
        The data, as for `edge_strengths`. Weights stay with the places of the rows.
    n : int
        How many such tables.
    seed : None, int or numpy.random.Generator
        Of the orders, and of the searches.
    progress : callable or True, optional
        True for a bar, or ``progress("learning from shuffled columns", tables done, n)``.
    **as_structure
        As for `structure`.

    Returns
    -------
    float
        The mean number of edges, those that are required left out.

    Raises
    ------
    FishernetError
        When n is no positive integer, or a checkpoint is given.
    SchemaError
        As `structure` raises it.

    Examples
    --------
    >>> import fishernet as fn
    >>> rows = fn.datasets.load("asia").sample(5000, seed=1)
    >>> fn.learn.edges_by_chance(rows, 5, seed=1) < 1
    True
    """
    options: Mapping[str, Any] = reusable(as_structure)
    read = as_data(table, "edges_by_chance, which shuffles rows,")
    rows = prepared_for(read, **options)
    options = options_for(read.names, rows.names, options)
    check.integer(n, "n", least=1)
    random = generator(seed)
    required = len({frozenset(arc) for arc in options.get("required", ())})

    def run(_: int, told: Progress) -> int:
        columns = [codes[random.permutation(rows.n_rows)] for codes in rows.codes]
        shuffled = Table.adopt(rows.variables, columns, n_rows=rows.n_rows, weights=rows.weights)
        return len(dag(shuffled, seed=random, progress=told, **options).edges) - required

    return float(np.mean(list(repeat_runs(int(n), run, "learning from shuffled columns", progress))))


class _Sampler:
    """Draws as many rows as a table has, with replacement.

    Whole weights are numbers of rows. Others are those of a survey: its units are the rows, which are drawn as they
    are and keep their weights.
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        if not table.total:
            raise SchemaError(NO_ROWS)
        if table.weights is not None:
            self._rows = np.flatnonzero(table.weights)
            self._ends = np.cumsum(table.weights[self._rows])

    def draw(self, key: int, sample: int) -> tuple[Table, int]:
        """Return one sample, and a seed of its own."""
        stream = np.random.Generator(np.random.Philox(key=np.array([key, sample], dtype=np.uint64)))
        rows = self._drawn(stream)
        return rows, int(stream.integers(2**63))

    def _drawn(self, stream: np.random.Generator) -> Table:
        """Return one sample; only where rows stand for many others does it come as rows with weights."""
        table = self._table
        if table.weights is None:
            return table[stream.integers(0, table.n_rows, table.n_rows)]
        if table.has_fractions:
            return table[self._rows[stream.integers(0, len(self._rows), len(self._rows))]]
        total = int(self._ends[-1])
        if total <= MOST_DRAWN * len(self._rows):
            rows = self._rows[np.searchsorted(self._ends, stream.integers(0, total, total), side="right")]
            return Table.adopt(table.variables, [column[rows] for column in table.codes], n_rows=total)
        counts = stream.multinomial(total, np.diff(self._ends, prepend=0) / total)
        rows = self._rows[counts > 0]
        columns = [column[rows] for column in table.codes]
        return Table.adopt(table.variables, columns, weights=counts[counts > 0], n_rows=len(rows))


@dataclass(frozen=True)
class _Poisson:
    """Lets every row come as often as a Poisson number says, wherever it lies."""

    source: Source

    def draw(self, key: int, sample: int) -> tuple[Source, int]:
        """Return one sample, as rows with weights, and a seed of its own."""
        rows = self.source.changed(_Weigh(key, sample))
        if not rows.total:
            raise SchemaError("a sample has no rows; take more rows, or the scheme 'multinomial'", parameter="scheme")
        return rows, int(raw_words(key, sample, OWN_SEED, 1)[0] >> np.uint64(1))


@dataclass(frozen=True)
class _Weigh:
    key: int
    sample: int

    def __call__(self, table: Table, first_row: int) -> Table:
        """Return a table whose rows have the weights of a sample."""
        whole = None if table.weights is None or table.has_fractions else table.weights.astype(np.int64, copy=False)
        times: npt.NDArray[Any] = np.empty(table.n_rows, dtype=np.int64)
        for at in row_blocks(table.n_rows):
            means = None if whole is None else whole[at]
            size = at.stop - at.start
            times[at] = poisson_draws(means, self.key, self.sample, first_row + at.start, size)
        weights = times if table.weights is None or whole is not None else times * table.weights
        return Table.adopt(table.variables, table.codes, weights=weights, n_rows=table.n_rows)


def _sampler(source: Source, scheme: SchemeName | None) -> _Sampler | _Poisson:
    usual: SchemeName = "poisson" if source.rows is None else "multinomial"
    way = usual if scheme is None else word(scheme, "scheme", SCHEMES, error=SchemaError)
    if way == "multinomial" and source.rows is None:
        raise SchemaError("rows in several places need the scheme 'poisson'", parameter="scheme")
    if not source.total:
        raise SchemaError(NO_ROWS)
    return _Poisson(source) if way == "poisson" or source.rows is None else _Sampler(source.rows)


def _only_way(names: tuple[str, ...], options: Mapping[str, Any]) -> Matrix:
    """Return which arcs [tail, head] the rules do not let turn."""
    given = {rule: options[rule] for rule in ("required", "forbidden", "tiers") if rule in options}
    rules = options.get("rules") or Rules.of(names, **given)
    return rules.required | (rules.forbidden.T & ~rules.forbidden)


def _count(halves: npt.NDArray[np.int64], found: Dag, there: tuple[int, ...], only_way: Matrix) -> None:
    """Add the half arcs [tail, head] of the class of a network of the variables at some places."""
    for (a, b), head in relabelled(class_marks(found.parents, found.order), there).items():
        if head == UNDIRECTED and not only_way[a, b] and not only_way[b, a]:
            halves[a, b] += 1
            halves[b, a] += 1
        elif head == b or (head == UNDIRECTED and only_way[a, b]):
            halves[a, b] += 2
        else:
            halves[b, a] += 2
