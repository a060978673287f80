"""Clusters of rows: a hidden class that makes the columns of a table of states nearly independent.

A network in which one variable that nobody observed is the parent of all others is a mixture: each state of it is a
cluster with its own distribution of every column (Lazarsfeld's latent classes [1]_). It is fitted by expectation and
maximization; how many states there are is chosen by BIC [2]_.

References
----------
.. [1] P. F. Lazarsfeld and N. W. Henry, "Latent Structure Analysis", 1968; P. Cheeseman and J. Stutz, "Bayesian
   classification (AutoClass): theory and results", 1996.
.. [2] D. M. Chickering and D. Heckerman, "Efficient approximations for the marginal likelihood of Bayesian networks
   with hidden variables", Machine Learning 29, 1997; C. Fraley and A. E. Raftery, "How many clusters? Which clustering
   method?", 1998.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base import check
from fishernet.base.display import Framed, frame_html, page
from fishernet.base.names import positions, several, unused_name
from fishernet.base.progress import Progress, Reporter
from fishernet.base.random import Seed, fixed_seed
from fishernet.base.vocabulary import UnknownName, word
from fishernet.data import Source, Table
from fishernet.data.encoding.labels import as_text
from fishernet.graphs import Dag
from fishernet.infer.prediction import predict_proba
from fishernet.infer.queries import family_marginals
from fishernet.learn.classifiers import tree_below
from fishernet.learn.em import EmResult
from fishernet.learn.fitting import parameters
from fishernet.learn.missing.hidden_states import MOST_STATES, bic, climbed
from fishernet.learn.missing.incomplete import (
    ExpectedCounts,
    em_fit,
    incomplete_rows,
    observed_rows,
    row_weights,
    with_tables,
)
from fishernet.learn.missing.structural_em import COMPLETIONS, by_turns
from fishernet.models import BayesianNetwork

Array = npt.NDArray[np.float64]
StructureName = Literal["naive-bayes", "tree"]
STRUCTURES = ("naive-bayes", "tree")

NAME = "cluster"
LEAST_GAIN = 1e-6  # of a round, in nats a known cell
MOST_COMPARED = 4_000  # rows on which numbers of clusters and random starts are compared
SMALL = 0.1
ROUGH = 1e-4  # the tolerance of the restarts, of which only the best is fitted further
ROUNDED = 9  # digits by which shares are compared: rounding must not number clusters
SHOWN_MARKERS = 3  # of each cluster in a notebook


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Clusters(Framed):
    """Clusters of the rows of a table, numbered from 0 by falling share.

    Examples
    --------
    >>> import fishernet as fn
    >>> rows = {"fever": ["no", "no", "yes", "yes"] * 25, "cough": ["no", "no", "yes", "yes"] * 25}
    >>> found = fn.learn.clusters(rows, seed=1)
    >>> found.n_clusters, found.labels[:4].tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    (2, True)
    """

    model: BayesianNetwork
    """The table's variables and, behind them, the cluster, of which all of them are children; data need not have it."""
    name: str
    """What the cluster is called among the model's variables: "cluster", where no column is."""
    probabilities: Array
    """(n_rows, n_clusters): how probable it is that a row belongs to each, given what is known of it."""
    shares: Array
    """(n_clusters,): the mean of the probabilities, by the rows' weights."""
    scores: Mapping[int, float]
    """The BIC of every number of clusters that was tried, in nats: larger is better; of many rows, on some."""
    log_likelihood: float
    """Of what is known of all rows, in nats."""
    converged: bool
    """Whether the fit ended before its steps were over."""
    seed: int
    """The seed that repeats it."""
    seconds: float
    """How long it took."""

    def __post_init__(self) -> None:
        for array in (self.probabilities, self.shares):
            array.flags.writeable = False

    def __repr__(self) -> str:
        shares = ", ".join(f"{100 * share:.3g} %" for share in self.shares[:8])
        more = ", ..." if self.n_clusters > len(self.shares[:8]) else ""
        size = f"{several(self.n_clusters, 'cluster')} of {several(len(self.probabilities), 'row')}: {shares}{more}"
        return f"Clusters({size}; BIC {self.scores[self.n_clusters]:,.4f})"

    def _repr_html_(self) -> str:
        return page(repr(self), frame_html(self.markers(SHOWN_MARKERS)))

    @property
    def n_clusters(self) -> int:
        """How many there are."""
        return len(self.shares)

    @property
    def labels(self) -> npt.NDArray[np.int64]:
        """(n_rows,): the likeliest cluster of each row; of equally likely ones the first."""
        return np.asarray(self.probabilities.argmax(axis=1), dtype=np.int64)

    def predict_proba(self, data: Any, *, unknown: UnknownName = "error") -> Any:
        """Return how probable it is that each row of other data belongs to each cluster.

        Parameters
        ----------
        data : Table, data frame or mapping from names to columns
            The columns of the table that was clustered; cells may be missing.
        unknown : {"error", "missing"}
            What becomes of labels that the table did not have.

        Returns
        -------
        (n_rows, n_clusters) float64, or a frame of the kind that was given
        """
        return self.model.predict_proba(data, self.name, unknown=unknown)

    def predict(self, data: Any, *, unknown: UnknownName = "error") -> Any:
        """Return the likeliest cluster of each row of other data.

        Parameters
        ----------
        data, unknown
            As for `predict_proba`.

        Returns
        -------
        (n_rows,) array, or a column of the kind of frame that was given
        """
        return self.model.predict(data, self.name, unknown=unknown)

    def profile(self, name: str) -> Array:
        """Return how probable each state of a column is in each cluster.

        Parameters
        ----------
        name : str
            The column.

        Returns
        -------
        (n_clusters, r) ndarray
            Rows sum to 1; states come in the variable's order.

        Raises
        ------
        SchemaError
            When the table had no such column.
        """
        joint = self._joint()[positions(self.model.names[:-1], [name], "column")[0]]
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))

    def markers(self, most: int | None = None) -> pa.Table:
        """Return which states are likelier in a cluster than in the others, those that tell most first.

        Parameters
        ----------
        most : int, optional
            How many of each cluster; all of them by default.

        Returns
        -------
        pyarrow.Table
            Cluster by cluster, one row a state: its probability in the cluster (`inside`) and in the others together
            (`outside`), the logarithm of their ratio, and `information`, by whose fall they are sorted. That is
            ``P(c, s) log(P(s | c) / P(s))``, what the state adds to the mutual information of its variable and the
            cluster, in nats: a state counts that is both frequent in the cluster and rare elsewhere.
        """
        least = check.optional_integer(most, "most", least=1)
        kept: list[dict[str, Any]] = []
        for number in range(self.n_clusters):
            own = [mark for mark in self._marks() if mark["cluster"] == number]
            kept += sorted(own, key=lambda mark: -round(mark["information"], 12))[:least]
        return pa.Table.from_pylist(kept, schema=MARKERS)

    def _marks(self) -> Iterator[dict[str, Any]]:
        """Yield the states that are likelier in a cluster than in the others, in the order of the variables."""
        for variable, joint in zip(self.model.variables, self._joint(), strict=False):
            for number, code in zip(*np.nonzero(joint > 0), strict=True):
                share, both, whole = joint[number].sum(), joint[number, code], joint[:, code].sum()
                inside, outside = both / share, max(0.0, whole - both) / max(1 - share, np.finfo(float).tiny)
                if self.n_clusters == 1 or inside <= outside:
                    continue
                yield {
                    "cluster": int(number),
                    "variable": variable.name,
                    "state": as_text(variable.states[code]),
                    "inside": inside,
                    "outside": outside,
                    "log_ratio": math.log(inside / outside) if outside else math.inf,
                    "information": both * math.log(inside / whole),
                }

    def _joint(self) -> list[Array]:
        """Return the joint probabilities of the cluster and each other variable, (n_clusters, r)."""
        cluster = len(self.model.variables) - 1
        found = []
        for conditional, table in zip(self.model.conditionals, family_marginals(self.model), strict=True):
            if conditional.child != cluster:
                axis = conditional.parents.index(cluster)
                others = tuple(place for place in range(table.ndim - 1) if place != axis)
                found.append(table.sum(axis=others))
        return found

    def to_frame(self) -> pa.Table:
        """Return the likeliest cluster of each row and its probability, as a pyarrow Table."""
        return pa.table({"cluster": self.labels, "probability": self.probabilities.max(axis=1)})


MARKERS = pa.schema(
    [
        ("cluster", pa.int64()),
        ("variable", pa.string()),
        ("state", pa.string()),
        *((name, pa.float64()) for name in ("inside", "outside", "log_ratio", "information")),
    ]
)


def clusters(
    table: Any,
    n_clusters: int | None = None,
    *,
    structure: StructureName = "naive-bayes",
    most: int = MOST_STATES,
    restarts: int = 10,
    smoothing: float = SMALL,
    max_steps: int = 500,
    tolerance: float = 1e-6,
    seed: Seed = None,
    progress: Progress | None = None,
) -> Clusters:
    """Find clusters of rows by a Bayesian network with one hidden class.

    Parameters
    ----------
    table : Table or data frame
        Cells may be missing (at random, as for `em_fit`). Rows count by their weights, and columns of numbers are cut
        into bins.
    n_clusters : int, optional
        How many. By default 1, 2, ... are tried until BIC falls, and the best is kept.
    structure : {"naive-bayes", "tree"}
        Within a cluster all columns are independent, or depend on one another by a tree, the same in all clusters: the
        likeliest one, found by turns with the parameters. A tree needs fewer clusters where columns repeat each other.
    most : int
        Up to how many clusters are tried where their number is not given.
    restarts : int
        So many random starts are fitted roughly, and the best of them as far as `tolerance` says.
    smoothing : float
        Is added to every expected count. It is small, so that the likelihood is nearly the largest there is, which is
        what BIC is made for, and above 0, so that new rows are possible.
    max_steps, tolerance
        As for `em_fit`.
    seed : None, int or numpy.random.Generator
        For the starts; those of k clusters depend on the seed and k alone.
    progress : callable or True, optional
        True for a bar, or ``progress("clustering", numbers of clusters done, how many at most)``.

    Returns
    -------
    Clusters

    Raises
    ------
    SchemaError
        When there are no rows or columns, or a column has no known cell.
    FishernetError
        When there would be more clusters than rows, or an option does not fit.

    Notes
    -----
    BIC is ``log P(known cells) - log(N) / 2 * (free parameters)``, N the sum of the weights. Different starts may end
    in different optima; more restarts are surer. Of more than 4,000 rows, so many drawn at random tell the number of
    clusters and the best start, from which the fit goes on with all rows.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(1000, seed=1)
    >>> found = fn.learn.clusters(table, 2, restarts=3, seed=1)
    >>> found.probabilities.shape, found.markers(1)["variable"].to_pylist()
    ((1000, 2), ['dysp', 'dysp'])
    """
    way = word(structure, "structure", STRUCTURES)
    rows = observed_rows(table, "clustering")
    least, last = 1, min(check.integer(most, "most", least=1), rows.n_rows)
    if n_clusters is not None:
        note = "the rows of the table"
        least = last = check.integer(n_clusters, "n_clusters", least=1, most=rows.n_rows, note=note)
    fitting = {
        "smoothing": check.number(smoothing, "smoothing", least=0),
        "max_steps": check.integer(max_steps, "max_steps", least=1),
        "tolerance": check.number(tolerance, "tolerance", least=0),
    }
    restarts = check.integer(restarts, "restarts", least=1)
    number = fixed_seed(seed)
    mixture = _Mixture(_some_rows(rows, number), way, restarts, fitting, number, Reporter(progress, "clustering"))
    began = time.monotonic()
    best, scores = mixture.best(least, last)
    if mixture.rows is not rows:
        mixture, start = replace(mixture, rows=rows), best.model
        hidden = {mixture.name: len(start.variables[-1].states)}
        best = em_fit(start.dag, rows, hidden=hidden, start=start, **mixture.fitting)
    return mixture.result(best, scores, began)


def _some_rows(rows: Table, seed: int) -> Table:
    """Return the rows on which numbers of clusters and random starts are compared: all, or some drawn at random."""
    if rows.n_rows <= MOST_COMPARED:
        return rows
    drawn = np.random.default_rng([seed, MOST_COMPARED]).permutation(rows.n_rows)[:MOST_COMPARED]
    some = rows[np.sort(drawn)]
    lacking = some.missing_counts()
    return rows if any(lacking.get(name, 0) == some.n_rows for name in rows.names) or not some.total else some


@dataclass(frozen=True)
class _Mixture:
    """Fits mixtures of several numbers of clusters to the same rows."""

    rows: Table
    structure: str
    restarts: int
    fitting: Mapping[str, Any]
    seed: int
    reporter: Reporter

    @property
    def name(self) -> str:
        return unused_name(NAME, self.rows.names)

    def best(self, least: int, last: int) -> tuple[EmResult[BayesianNetwork], dict[int, float]]:
        """Return the best fit of so many clusters up to so many, and the scores of those tried until one falls."""
        fits: dict[int, EmResult[BayesianNetwork]] = {}

        def score(k: int) -> float:
            fits[k] = self.fit(k, lambda *_: self.reporter.step(k - least, last + 1 - least))
            return bic(fits[k], self.rows.total)

        scores = climbed(range(least, last + 1), score)
        self.reporter.finish(len(scores))
        return fits[max(scores, key=lambda k: scores[k])], scores

    def fit(self, k: int, progress: Progress) -> EmResult[BayesianNetwork]:
        """Return the best fit of so many clusters."""
        names, hidden = self.rows.names, {self.name: k}
        independent = Dag([*names, self.name], [*[(len(names),)] * len(names), ()])
        rough = {**self.fitting, "tolerance": max(ROUGH, self.fitting["tolerance"])}
        restarts, stream = self.restarts if k > 1 else 1, np.random.default_rng([self.seed, k])
        start = em_fit(
            independent, self.rows, hidden=hidden, restarts=restarts, seed=stream, progress=progress, **rough
        ).model
        found = em_fit(independent, self.rows, hidden=hidden, start=start, progress=progress, **self.fitting)
        return self._with_tree(found, hidden, progress) if self.structure == "tree" else found

    def _with_tree(
        self, found: EmResult[BayesianNetwork], hidden: Mapping[str, int], progress: Progress
    ) -> EmResult[BayesianNetwork]:
        """Return a better fit with a tree among the columns: its graph and its parameters take turns."""
        whole = incomplete_rows(found.model.dag, self.rows, hidden)
        enough = LEAST_GAIN * whole.n_rows * len(self.rows.names)
        features, smoothing = np.arange(len(self.rows.names)), self.fitting["smoothing"] or SMALL

        def fitted_from(dag: Dag, counts: Source) -> EmResult[BayesianNetwork]:
            start = parameters(dag, counts, smoothing=smoothing)
            return em_fit(dag, self.rows, hidden=hidden, start=start, progress=progress, **self.fitting)

        expected = partial(ExpectedCounts, rows=whole, most=COMPLETIONS)
        return by_turns(
            found, expected, lambda counts: tree_below(counts, len(features), features), fitted_from, enough
        )

    def result(self, found: EmResult[BayesianNetwork], scores: Mapping[int, float], began: float) -> Clusters:
        """Return the clusters of a fit, numbered by their shares."""
        model, weights = found.model, row_weights(self.rows)
        shares = np.average(predict_proba(model, self.rows, self.name), axis=0, weights=weights)
        model = _renumbered(model, shares)
        probabilities = np.array(predict_proba(model, self.rows, self.name))
        return Clusters(
            model=model,
            name=self.name,
            probabilities=probabilities,
            shares=np.average(probabilities, axis=0, weights=weights),
            scores=scores,
            log_likelihood=found.log_likelihood,
            converged=found.converged,
            seed=self.seed,
            seconds=time.monotonic() - began,
        )


def _renumbered(model: BayesianNetwork, shares: Array) -> BayesianNetwork:
    """Return a model with its last variable's states by falling share; of equal ones by their tables."""
    cluster = len(model.variables) - 1
    tables = [
        (conditional, np.moveaxis(conditional.table(), [*conditional.parents, conditional.child].index(cluster), 0))
        for conditional in model.conditionals
    ]

    def place(state: int) -> tuple[Any, ...]:
        cells = np.concatenate([np.ravel(table[state]) for _, table in tables])
        return -round(float(shares[state]), ROUNDED), *(-cells.round(ROUNDED)).tolist()

    order = sorted(range(len(shares)), key=place)
    moved = []
    for conditional, table in tables:
        axis = [*conditional.parents, conditional.child].index(cluster)
        moved.append(np.moveaxis(table[order], 0, axis).reshape(-1, conditional.variables[-1].cardinality))
    return with_tables(model, moved)
