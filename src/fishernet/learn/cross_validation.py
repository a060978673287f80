"""How well networks learned in some way predict rows that they were not learned from."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base import check
from fishernet.base.errors import FishernetWarning
from fishernet.base.progress import Progress
from fishernet.base.random import Seed, fixed_seed, generator
from fishernet.data import Table
from fishernet.data.matching import as_data
from fishernet.graphs import Dag
from fishernet.learn.bootstrap import repeat_runs, reusable
from fishernet.learn.fit import check_smoothing, parameters
from fishernet.learn.search import SearchResult
from fishernet.learn.structure import structure
from fishernet.scores import Score

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class CrossValidation:
    """The held-out log-likelihood of every row: under a network learned from the rows of the other folds.

    Examples
    --------
    Whether one setting is better than another is seen from the differences of the same rows in the same folds, which
    the same seed gives; they scatter less than the rows.

    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(1000, seed=1)
    >>> trees, any_graphs = (fn.compare.cross_validate(table, max_parents=m, seed=1) for m in (1, None))
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
    """Standard deviation of `held_out` over the square root of the number of folds; NaN where it is not finite.

    The folds' networks share most of their rows, so it is an estimate on the low side; no unbiased one exists
    (Y. Bengio and Y. Grandvalet, JMLR 5, 2004)."""
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
    table: Table,
    *,
    folds: int = 10,
    score: str | Score = "bic",
    search: str = "hill-climb",
    smoothing: float | str = 1.0,
    ess: float | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
    **as_dag: Any,
) -> CrossValidation:
    """Learn a Bayesian network from all folds but one and score the rows of that one, for each in turn.

    Parameters
    ----------
    table : Table
        The data, without missing cells. A row that counts more than once by its weight stays in one fold.
    folds : int
        In how many parts the rows are cut, at random, from 2 to the number of rows that count. Their sizes differ by
        at most one row (weights apart).
    score, search, **as_dag
        How each structure is learned, as for `fishernet.learn.structure`. A time limit (max_seconds) is one for each
        fold.
    smoothing, ess
        How its parameters are fitted, as for `fishernet.learn.fit`.
    seed : None, int or numpy.random.Generator
        An int gives the same folds to every setting, so that they can be compared row by row.
    progress : callable, optional
        ``progress("cross-validating", folds done, folds)``.

    Returns
    -------
    CrossValidation

    Raises
    ------
    FishernetError
        When the number of folds is out of range.
    SchemaError
        When the data are no table.
    MissingValueError
        When a cell is missing.
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
    >>> found = fn.compare.cross_validate(table, folds=5, seed=1)
    >>> found.held_out.shape, found.n_rows.tolist()
    ((5,), [200, 200, 200, 200, 200])
    >>> bool(-3 < found.mean < -2)
    True
    """
    table = as_data(table, "cross_validate, which holds rows out,")
    check_smoothing(smoothing, ess)
    table.require_complete("cross_validate")
    number = fixed_seed(seed)
    random = generator(number)
    fold = _folds(table, folds, random)
    seeds = random.integers(0, 2**63, folds).tolist()
    options = reusable(as_dag)
    logs = np.empty(table.n_rows)
    seconds = np.empty(folds)

    def run(part: int, told: Progress) -> SearchResult:
        began = time.monotonic()
        rows = table[fold != part]
        found = structure(rows, score=score, search=search, seed=seeds[part], progress=told, **options)
        fitted = parameters(found.dag, rows, smoothing=smoothing, ess=ess)
        logs[fold == part] = fitted.log_prob(table[fold == part])
        seconds[part] = time.monotonic() - began
        return found

    results = list(repeat_runs(int(folds), run, "cross-validating", progress))
    return _summary(table, logs, fold, results, seconds, number)


def _folds(table: Table, folds: int, random: np.random.Generator) -> Integers:
    """Return the fold of each row: rows are shuffled and dealt, those that count before those of weight 0."""
    counting = np.ones(table.n_rows, dtype=bool) if table.weights is None else table.weights > 0
    most = int(counting.sum())
    check.integer(folds, "folds", least=2, most=most, note="the rows that count")
    shuffled = random.permutation(table.n_rows)
    dealt = shuffled[np.argsort(~counting[shuffled], kind="stable")]
    fold = np.empty(table.n_rows, dtype=np.int64)
    fold[dealt] = np.arange(table.n_rows) % folds
    return fold


def _summary(
    table: Table, logs: Floats, fold: Integers, results: Sequence[SearchResult], seconds: Floats, seed: int
) -> CrossValidation:
    weights = np.ones(table.n_rows, dtype=np.int64) if table.weights is None else table.weights
    kinds = [(fold == part) & (weights > 0) for part in range(len(results))]  # 0 times -inf would be no number
    n_rows = np.array([weights[rows].sum() for rows in kinds])
    sums = np.array([(weights[rows] * logs[rows]).sum() for rows in kinds])
    impossible = np.array([weights[rows][np.isneginf(logs[rows])].sum() for rows in kinds])
    held_out = sums / n_rows
    if impossible.any():
        warnings.warn(
            FishernetWarning(
                f"{impossible.sum():,} of the held-out rows have probability 0 under the network learned without them, "
                "so the mean log-likelihood is -inf; use smoothing above 0",
                parameter="smoothing",
            ),
            stacklevel=3,
        )
    return CrossValidation(
        log_prob=logs,
        fold=fold,
        n_rows=n_rows,
        held_out=held_out,
        impossible=impossible,
        mean=float(sums.sum() / n_rows.sum()),
        standard_error=math.nan if impossible.any() else float(held_out.std(ddof=1) / math.sqrt(len(held_out))),
        dags=tuple(found.dag for found in results),
        scores=np.array([found.score for found in results]),
        seconds=seconds,
        seed=seed,
    )
