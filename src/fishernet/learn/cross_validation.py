"""How well networks learned in some way predict rows that they were not learned from."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, Unpack

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base import check
from fishernet.base.display import Brief, Framed
from fishernet.base.errors import FishernetError, warn
from fishernet.base.names import listed, several, shown
from fishernet.base.progress import Progress
from fishernet.base.random import Seed, fixed_seed, generator, shuffled
from fishernet.base.vocabulary import ScoreName, SearchName
from fishernet.data import Table
from fishernet.data.arrays import Weights, row_blocks
from fishernet.data.matching import as_data
from fishernet.data.pooling import stacked
from fishernet.graphs import Dag
from fishernet.learn.fitting import check_smoothing, parameters
from fishernet.learn.keywords import FoldKeywords
from fishernet.learn.missing.ways import enough_known
from fishernet.learn.numbers.preparing import prepared_for
from fishernet.learn.resampling import knowing, repeat_runs, reusable
from fishernet.learn.search import SearchResult
from fishernet.learn.structures import options_for, structure
from fishernet.scores import Score

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
BLOCK_ROWS = 2**18  # whose log-probabilities are in memory at once


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class CrossValidation(Framed):
    """The held-out log-likelihood of every row: under a network learned from the rows of the other folds.

    Examples
    --------
    Whether one setting is better than another is seen from the differences of the same rows in the same folds, which
    the same seed gives; they scatter less than the rows.

    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(1000, seed=1)
    >>> trees, any_graphs = (fn.learn.cross_validate(table, max_parents=m, seed=1) for m in (1, None))
    >>> bool((trees.fold == any_graphs.fold).all())
    True
    >>> gain = any_graphs.log_prob - trees.log_prob
    >>> gain.shape, bool(gain.std() < any_graphs.log_prob.std())
    ((1000,), True)
    """

    log_prob: Floats
    """(n_rows,) log-probability of each row in nats; -inf where the network deems it impossible."""
    fold: Integers
    """(n_rows,) the fold in which each row is held out, from 0."""
    n_rows: Integers
    """(folds,) how many rows are held out in each, every row as often as its weight says."""
    held_out: Floats
    """(folds,) the mean of `log_prob` over these."""
    impossible: Integers
    """(folds,) how many of these have `log_prob` -inf."""
    mean: float
    """The mean of `log_prob` over all rows."""
    standard_error: float
    """Of the mean: what the rows scatter by or what the folds do, whichever is more; NaN where it is not finite.

    That is the standard deviation of `log_prob` over the square root of the number of rows, or that of `held_out` over
    the square root of the number of folds. The folds' networks share most of their rows, and no unbiased estimate
    exists (Y. Bengio and Y. Grandvalet, JMLR 5, 2004): of two simulated tables of labels the mean and two standard
    errors hold what new rows have under a network learned from all in 87 to 92 % of cases with 60 rows, and 94 to 99 %
    with 200 or more.
    """
    dags: tuple[Dag, ...]
    """The structure learned for each fold."""
    scores: Floats
    """(folds,) their scores on the rows that they were learned from."""
    seconds: Floats
    """(folds,) how long each fold took."""
    seed: int
    """The seed that gives the same folds again."""

    def __post_init__(self) -> None:
        for name in ("log_prob", "fold", "n_rows", "held_out", "impossible", "scores", "seconds"):
            getattr(self, name).flags.writeable = False

    def __repr__(self) -> str:
        impossible = int(self.impossible.sum())
        rows = f", {several(impossible, 'impossible row')}" if impossible else ""
        held_out = f"{self.mean:.4f} nats a row (standard error {self.standard_error:.4f}){rows}"
        return f"CrossValidation(held-out log-likelihood {held_out}; {several(len(self.dags), 'fold')})"

    def to_frame(self) -> pa.Table:
        """Return the folds, one row each, as a pyarrow Table."""
        return pa.table(
            {
                "fold": np.arange(len(self.dags)),
                "rows": self.n_rows,
                "held_out_log_likelihood_per_row": self.held_out,
                "impossible_rows": self.impossible,
                "arcs": np.array([dag.n_edges for dag in self.dags], dtype=np.int64),
                "score_value": self.scores,
                "seconds": self.seconds,
            }
        )


def cross_validate(
    table: Any,
    *,
    folds: int = 10,
    score: ScoreName | Score | None = None,
    search: SearchName = "order",
    smoothing: float | str = 1.0,
    ess: float | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
    **as_dag: Unpack[FoldKeywords],
) -> CrossValidation:
    """Learn a Bayesian network from all folds but one and score the rows of that one, for each in turn.

    Parameters
    ----------
    table : Table or data frame
        The data: states, of which some may be missing, or numbers alone, whose networks are Gaussian. A row that counts
        more than once by its weight stays in one fold. Of a row with missing cells, what is known is scored.
    folds : int
        In how many parts the rows are cut, at random, from 2 to the number of rows that count. Their sizes differ by
        at most one row (weights apart).
    score, search, **as_dag
        How each structure is learned, as for `fishernet.learn.structure` (`missing` too); the score is "bic", of
        columns of numbers "fractional". A time limit (max_seconds) is one for each fold.
    smoothing, ess
        How its parameters are fitted, as for `fishernet.learn.parameters`.
    seed : None, int or numpy.random.Generator
        An int gives the same folds to every setting, so that they can be compared row by row.
    progress : callable or True, optional
        True for a bar, or ``progress("cross-validating", folds done, folds)``.

    Returns
    -------
    CrossValidation
        Likelihoods are compared on the same variables only: with other bins, or none, they are of other data. Finer
        bins have more states and lower probabilities, and a density of numbers is no probability at all.

    Raises
    ------
    FishernetError
        When the number of folds is out of range.
    SchemaError
        When the data are no table.
    ZeroProbabilityError
        When nothing is added to the counts and a configuration of parents never occurs in the other folds.

    Warns
    -----
    FishernetWarning
        When held-out rows are impossible, as they can be when nothing is added to the counts: then the mean is -inf.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(1000, seed=1)
    >>> found = fn.learn.cross_validate(table, folds=5, seed=1)
    >>> found.held_out.shape, found.n_rows.tolist()
    ((5,), [200, 200, 200, 200, 200])
    >>> bool(-3 < found.mean < -2)
    True
    """
    table = as_data(table, "cross_validate, which holds rows out,")
    check_smoothing(smoothing, ess)
    number = fixed_seed(seed)
    random = generator(number)
    fold = _folds(table, folds, random)
    options: Mapping[str, Any] = reusable(as_dag)
    names = table.names
    table = prepared_for(table, score=score, search=search, **options)
    options = options_for(names, table.names, options)
    seeds = random.integers(0, 2**63, folds).tolist()
    logs = np.empty(table.n_rows)
    seconds = np.empty(folds)

    def run(part: int, told: Progress) -> SearchResult:
        began = time.monotonic()
        rows, of = knowing(table[fold != part], options)
        found = structure(rows, score=score, search=search, seed=seeds[part], progress=told, **of)
        fitted = parameters(found.dag, rows, smoothing=smoothing, ess=ess)
        logs[fold == part] = fitted.log_prob(table[fold == part])
        left_out.update(set(table.names).difference(found.dag.names))
        seconds[part] = time.monotonic() - began
        return found

    left_out: set[str] = set()
    results = list(repeat_runs(int(folds), run, "cross-validating", progress))
    if left_out:
        names = [name for name in table.names if name in left_out]
        warn(f"some folds are scored without {listed(names)}: the other rows tell nothing of it, or nothing of its own")
    return _summary(table, logs, fold, results, seconds, number)


def _folds(table: Table, folds: int, random: np.random.Generator) -> Integers:
    """Return the fold of each row: rows are shuffled and dealt, those that count before those of weight 0."""
    counting = np.ones(table.n_rows, dtype=bool) if table.weights is None else table.weights > 0
    most = int(counting.sum())
    if most < 2:
        raise FishernetError("cross-validation needs at least two rows that count", parameter="folds")
    check.integer(folds, "folds", least=2, most=most, note="the rows that count")
    order = shuffled(table.n_rows, random)
    fold = np.empty(table.n_rows, dtype=np.int64)
    dealt = 0
    for counts in (True, False):
        for at in row_blocks(table.n_rows):
            of = order[at][counting[order[at]] == counts]
            fold[of] = np.arange(dealt, dealt + len(of)) % folds
            dealt += len(of)
    return fold


def error_of_mean(of_rows: Floats, of_folds: Floats, weights: Weights | None) -> float:
    """Return the standard error of a mean over rows in folds, by what scatters more; NaN where some are infinite."""
    if not np.isfinite(of_folds).all():
        return math.nan
    w = np.ones(len(of_rows)) if weights is None else np.asarray(weights, dtype=np.float64)
    counting = w > 0
    mean, total = np.average(of_rows[counting], weights=w[counting]), w.sum()
    squares = (w[counting] * (of_rows[counting] - mean) ** 2).sum()
    by_rows = squares / max(total - 1, 1) / total
    return math.sqrt(max(by_rows, of_folds.var(ddof=1) / len(of_folds)))


def _summary(
    table: Table, logs: Floats, fold: Integers, results: Sequence[SearchResult], seconds: Floats, seed: int
) -> CrossValidation:
    parts = []
    for part in range(len(results)):
        rows = fold == part
        parts.append(Likelihood.of_rows(logs[rows], None if table.weights is None else table.weights[rows]))
    n_rows, sums = np.array([part.n_rows for part in parts]), np.array([part.total for part in parts])
    impossible = np.array([part.impossible for part in parts])
    held_out = sums / n_rows
    if impossible.any():
        warn(
            f"{impossible.sum():,} of the held-out rows have probability 0 under the network learned without them, "
            "so the mean log-likelihood is -inf; use smoothing above 0",
            parameter="smoothing",
        )
    return CrossValidation(
        log_prob=logs,
        fold=fold,
        n_rows=n_rows,
        held_out=held_out,
        impossible=impossible,
        mean=float(sums.sum() / n_rows.sum()),
        standard_error=error_of_mean(logs, held_out, table.weights),
        dags=tuple(found.dag for found in results),
        scores=np.array([found.score for found in results]),
        seconds=seconds,
        seed=seed,
    )


# ---------------------------------------------------------------------- rows held out, and how they are predicted

MOST_WEIGHED = 10**9  # NumPy's hypergeometric draws go no further
FEW_KNOWN = 100  # cells of a column in rows to learn from: of more it is not asked whether they are enough


def hold_out(table: Table, holdout: float, *, seed: Seed = None) -> tuple[Table, Table]:
    """Divide a table at random in rows to learn from and rows held out.

    Parameters
    ----------
    table : Table
        With whole weights, a row that counts n times is n rows, of which some may be held out; rows of other weights
        are held out or not.
    holdout : float
        The share of the rows held out, from 0 to below 1, rounded to whole rows. They are fewer where a column is known
        in so few rows that without these nothing could be learned of it.
    seed : None, int or numpy.random.Generator

    Returns
    -------
    (Table, Table)
        Rows to learn from, rows held out.

    Raises
    ------
    FishernetError
        When the share is out of range or leaves no row to learn from.

    Examples
    --------
    >>> import fishernet as fn
    >>> training, held_out = fn.learn.hold_out(fn.datasets.load("asia").sample(1000, seed=1), 0.2, seed=1)
    >>> training.n_rows, held_out.n_rows
    (800, 200)
    """
    if not check.is_number(holdout) or not 0 <= holdout < 1:
        raise FishernetError(f"holdout must be from 0 to below 1, got {shown(holdout)}", parameter="holdout")
    whole = table.weights is not None and not table.has_fractions
    held_out, training = _drawn_counts(table, holdout, seed) if whole else table.split(holdout, seed)
    if not training.total:
        message = f"there are no rows to learn from: {table.total:,} in all, of which a share of {holdout} is held out"
        raise FishernetError(message, parameter="holdout")
    if needed := _needed(training, held_out):
        training = stacked([training, held_out[needed]])
        held_out = held_out[np.setdiff1d(np.arange(held_out.n_rows), needed)]
    return training, held_out


def _needed(training: Table, held_out: Table) -> list[int]:
    """Return the rows held out without which a column has no known cell left, or one of numbers no two that differ."""
    found: list[int] = []
    pairs = zip(training.variables, training.codes, held_out.codes, strict=True)
    missing = training.missing_counts()
    for variable, kept, out in pairs:
        if training.n_rows - missing.get(variable.name, 0) > FEW_KNOWN:
            continue
        counting = training.weights is None or training.weights > 0
        known = np.unique(kept[~variable.missing(kept) & counting])
        counting = held_out.weights is None or held_out.weights > 0
        for row in np.flatnonzero(~variable.missing(out) & counting).tolist():
            if enough_known(variable, known):
                break
            if out[row] not in known:
                known = np.append(known, out[row])
                found.append(row)
    return sorted(set(found))


def _drawn_counts(table: Table, holdout: float, seed: Seed) -> tuple[Table, Table]:
    """Return the rows held out, and the others, where each row counts as often as its weight says."""
    weights = np.asarray(table.weights).astype(np.int64)
    total = int(weights.sum())
    size = math.floor(holdout * total + 0.5)
    if not size:
        return table[:0], table
    if total > MOST_WEIGHED:
        message = f"the weights add up to {several(total, 'row')}, too many to hold some out; hold out none (0)"
        raise FishernetError(message, parameter="holdout")
    drawn = generator(seed).multivariate_hypergeometric(weights, size, method="marginals")
    return _weighted(table, drawn), _weighted(table, weights - drawn)


def _weighted(table: Table, weights: Integers) -> Table:
    return Table.adopt(table.variables, table.codes, weights=weights, n_rows=table.n_rows)


class Density(Protocol):
    """A model that gives rows a log-probability, or numbers a log-density."""

    def log_prob(self, table: Table, /) -> Floats:
        """Return that of each row, (n_rows,) in nats."""


@dataclass(frozen=True, repr=False)
class Likelihood(Brief):
    """The log-likelihood of a table under a model.

    Two models are compared by it on the same rows and the same variables only. Columns cut into other bins are other
    variables: with more bins every row is less probable, whatever was learned.

    Examples
    --------
    >>> import fishernet as fn
    >>> net = fn.datasets.load("asia")
    >>> found = fn.learn.Likelihood.of(net, net.sample(1000, seed=1))
    >>> found.n_rows, found.impossible, -2.5 < found.per_row < -2
    (1000, 0, True)
    """

    total: float
    """In nats; -inf when a row is impossible."""
    n_rows: int | float
    """How many rows there are, each as often as its weight says."""
    impossible: int | float
    """How many of them the model gives probability 0."""
    per_row_of_others: float = math.nan
    """As `per_row`, without the row that is least probable: one number far out may outweigh all others."""

    @property
    def per_row(self) -> float:
        """The total divided by the number of rows; NaN when there are none."""
        return self.total / self.n_rows if self.n_rows else math.nan

    @classmethod
    def of(cls, model: Density, table: Table) -> Self:
        """Return the log-likelihood of a table; rows of weight 0 count for nothing."""
        return cls.of_blocks(
            (np.asarray(model.log_prob(rows)), rows.weights)
            for rows in (table[begin : begin + BLOCK_ROWS] for begin in range(0, max(1, table.n_rows), BLOCK_ROWS))
        )

    @classmethod
    def of_rows(cls, logs: Floats, weights: npt.NDArray[Any] | None = None) -> Self:
        """Return the log-likelihood of rows whose log-probabilities are known, (n_rows,)."""
        return cls.of_blocks([(logs, weights)])

    @classmethod
    def of_blocks(cls, blocks: Iterable[tuple[Floats, npt.NDArray[Any] | None]]) -> Self:
        """Return the log-likelihood of rows that come block by block: their log-probabilities, and weights if any.

        The total does not depend on where one block ends and the next begins.
        """
        sums: list[float] = []
        n_rows: int | float = 0
        impossible: int | float = 0
        least = (math.inf, 0.0)  # and the weight of that row
        for logs, weights in blocks:
            if weights is not None:
                logs, weights = logs[weights > 0], weights[weights > 0]
            n_rows += len(logs) if weights is None else weights.sum().item()
            never = np.isneginf(logs)
            impossible += int(never.sum()) if weights is None else weights[never].sum().item()
            sums += _exact_sum(logs if weights is None else logs * weights)
            if len(logs):
                at = int(logs.argmin())
                least = min(least, (float(logs[at]), 1.0 if weights is None else float(weights[at])))
        total = sum(sums) if not np.isfinite(sums).all() else math.fsum(sums)
        others = n_rows - least[1]
        of_others = (total - least[0] * least[1]) / others if others > 0 and math.isfinite(total) else math.nan
        return cls(total, n_rows, impossible, of_others)


def _exact_sum(values: Floats) -> list[float]:
    """Return a sum as two numbers, the second of which is what rounding took off the first."""
    listed = values.tolist()
    total = math.fsum(listed) if np.isfinite(values).all() else float(values.sum())
    return [total, math.fsum([*listed, -total])] if math.isfinite(total) else [total]


@dataclass(frozen=True, repr=False)
class PredictionQuality(Brief):
    """How well a variable was predicted where its state is known.

    On the rows that a model was learned from it is better than on new ones; `hold_out` and `cross_validate` keep rows
    apart for that.

    Examples
    --------
    >>> import numpy as np
    >>> import fishernet as fn
    >>> fn.learn.PredictionQuality.of(np.array([[0.5, 0.5], [0.0, 1.0]]), np.array([0, 1])).accuracy
    1.0
    """

    known_rows: int | float
    """How many rows have a known state, each as often as its weight says."""
    accuracy: float
    """The share of them whose most probable state is theirs."""
    log_loss: float
    """The mean of -log P(their state), in nats."""

    @classmethod
    def of(cls, probabilities: Floats, truth: npt.NDArray[Any], weights: npt.NDArray[Any] | None = None) -> Self | None:
        """Return the quality of predictions; None where no state is known.

        Parameters
        ----------
        probabilities : ndarray
            (n_rows, r) float64.
        truth : ndarray
            (n_rows,) the codes of the true states; r is that of a missing one, and higher ones are states that have
            no probabilities, which count as predicted with probability 0.
        weights : ndarray, optional
            (n_rows,) how often each row counts.
        """
        r = probabilities.shape[1]
        counts = np.where(truth != r, 1 if weights is None else weights, 0)
        known = np.flatnonzero(counts)
        if not len(known):
            return None
        right = probabilities[known].argmax(axis=1) == truth[known]
        with np.errstate(divide="ignore"):  # -log 0 = inf is what is meant
            likely = probabilities[known, np.minimum(truth[known], r - 1)]
            losses = -np.log(np.where(truth[known] < r, likely, 0.0))
        total = counts.sum().item()
        return cls(total, float(counts[known] @ right) / total, float(counts[known] @ losses) / total)
