"""Whether a table comes from a network: Rao's score test, which is the length of the mean Fisher feature.

Under the network the features have mean 0 and, for the invariant metric, the covariance of a projection: so N times
the squared length of their mean over N rows is Rao's score statistic, chi-squared with one degree of freedom per
parameter [1]_. It needs no rows that the network draws. Where the parameters were fitted to M other rows their error
adds to it, and the factor is NM / (N + M).

References
----------
.. [1] C. R. Rao, "Large sample tests of statistical hypotheses concerning several parameters", Proceedings of the
   Cambridge Philosophical Society 44, 1948; J. Leppä-aho, T. Silander and T. Roos, "Bayesian network Fisher kernel for
   categorical feature spaces", Behaviormetrika 47, 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import FishernetError, SchemaError, warn
from fishernet.base.progress import Progress, Reporter
from fishernet.base.random import Seed, fixed_seed, generator
from fishernet.base.vocabulary import word
from fishernet.compare.chi_squared import (
    LEAST_EXPECTED,
    PValues,
    SquaredMean,
    chi_squared_p_values,
    degrees_of_freedom,
)
from fishernet.compare.corrections import MOST_SPLITS, benjamini_hochberg, max_t, permutation_p_values
from fishernet.compare.share_tests import fit_tests, has_tables
from fishernet.compare.shares import (
    InShares,
    Share,
    first_names,
    shares_of_configurations,
    shares_of_variables,
)
from fishernet.data import Table
from fishernet.data.matching import is_table
from fishernet.infer import group_probabilities
from fishernet.infer.parent_moments import moments_of_parents
from fishernet.kernels import FisherKernel, HiddenVariableKernel
from fishernet.kernels.features import checked_length
from fishernet.kernels.fisher.scored_model import ScoredModel
from fishernet.kernels.kernel import ModelKernel, adapted
from fishernet.kernels.parts import FeatureParts
from fishernet.kernels.row_sums import MOST_SPLIT_CELLS
from fishernet.kernels.rows import Rows
from fishernet.learn.fitting import refitted
from fishernet.models import BayesianNetwork
from fishernet.models.model import is_directed

Array = npt.NDArray[np.float64]
ReferenceName = Literal["auto", "chi-square", "bootstrap"]
REFERENCES = ("auto", "chi-square", "bootstrap")
Fit = Callable[[Table], BayesianNetwork]

ROWS_OF_COEFFICIENTS = 30  # fitted to for each pair of coefficients, for residuals of new rows to be as large as fitted
UNSAID = object()
KNOWN = 1e7  # rows of a configuration, by which probabilities are known
FEWEST_ROWS = 200  # of a regression, for the mean of squared residuals to be near normal


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class ScoreTestResult(InShares):
    """What a score test found.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> k = fn.kernels.FisherKernel(asia)
    >>> fn.compare.score_test(k, asia.sample(2000, seed=1), seed=1).p_value > 0.05
    True
    """

    statistic: float
    """N times the squared length of the mean feature; NM / (N + M) times it where the network was fitted to M rows."""
    p_value: float
    """How probable a statistic at least as large is, if the rows come from the network."""
    degrees_of_freedom: int
    """The number of parameters that the rows can tell of."""
    reference: str
    """Whose distribution was used: "chi-square" or "bootstrap"."""
    n_rows: float
    """N: the rows of the table; with weights that are fractions, how many unweighted ones tell as much (Kish, 1965)."""
    n_fitted: float | None
    """M: the rows that the network was fitted to; None where its parameters were known beforehand."""
    by_variable: Mapping[str, Share]
    """What each variable adds, given its parents; empty where the kernel is no sum over variables."""
    by_configuration: tuple[Share, ...]
    """What each configuration of a variable's parents adds, the largest first."""
    seed: int
    """The seed that repeats it."""

    def __repr__(self) -> str:
        changed = self.misfits() if self.by_variable else ()
        where = f"; does not fit: {first_names(changed)}" if changed else ""
        of = f"{self.statistic:.6g} for {self.degrees_of_freedom} parameters, {self.reference}"
        return f"ScoreTestResult(p = {self.p_value:.4g}, {of}{where})"

    def misfits(self, level: float = 0.05) -> tuple[str, ...]:
        """Return the variables whose family-wise p-value is at most a level, those that add most first."""
        return self._found(level)


def score_test(
    kernel: FisherKernel | HiddenVariableKernel,
    table: Any,
    *,
    n_fitted: float | None = None,
    reference: ReferenceName = "auto",
    simulations: int = 999,
    smoothing: float = 1.0,
    fit: Fit | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
) -> ScoreTestResult:
    """Test whether the rows of a table come from the model of a Fisher kernel.

    Parameters
    ----------
    kernel : FisherKernel or HiddenVariableKernel
        Of a network or another model, with the metric "invariant". For a table that lacks cells a HiddenVariableKernel.
    table : Table, data frame, or rows that the kernel takes
        Rows that the model was *not* fitted to: on its own rows the mean feature is small whatever they are.
    n_fitted : float, optional
        How many rows the parameters were fitted to; 0 when they were known beforehand. By default what the model says
        (``net.n_complete``), and without that 0, with a warning where it is of a kind that cannot say.
    reference : {"auto", "chi-square", "bootstrap"}
        Whose distribution the statistic is compared with. "bootstrap" draws tables from the network, fits it again to
        as many drawn rows as it was fitted to, and asks how often the statistic is at least as large. "auto" takes the
        chi-squared distribution where it is near: where at least 5 rows are expected in every cell, of the table and of
        the rows that were fitted, 200 in every regression and, where it was fitted, 30 times the square of the number
        of its coefficients, and no cell is missing.
    simulations : int
        How many tables the bootstrap draws.
    smoothing : float
        The pseudo-count that the network was fitted with, as of `fishernet.learn.parameters`. The bootstrap takes it
        off before it draws, and fits with it again: rare states are otherwise drawn too often, and misfits overlooked.
    fit : callable, optional
        How the network was made from its rows, ``fit(table) -> net``, where its graph was learned from those that its
        parameters were fitted to: the bootstrap then makes a network of each drawn table in the same way. Without it
        the graph counts as known.
    seed : None, int or numpy.random.Generator
    progress : callable, optional
        ``progress(what, done, total)``.

    Returns
    -------
    ScoreTestResult

    Raises
    ------
    SchemaError
        When the kernel is no invariant Fisher kernel, or there are no rows.
    ZeroProbabilityError
        When a row is impossible under the network: no test is needed.

    See Also
    --------
    two_sample_test : whether two tables come from one source, without a model.

    Notes
    -----
    The p-values of a network's variables and configurations are those of exact tests of the conditionals, given the
    configurations of the parents that the table has: a change upstream names no variable downstream. They are corrected
    (`p_corrected`) by Holm's method with Sidak's bound; those of other models by Holm's (1979) with the chi-squared
    reference, and by the largest standardized statistic with the bootstrap.

    A learned graph has those arcs that look strong in the rows it was learned from, some of them by chance; fitted to
    the same rows, the parameters of these are too strong for all others. With few rows and weak arcs the test then
    cries wolf (10 binary variables, 500 rows: 12 % of tests at a level of 5 %). Tell it how the network was made
    (`fit`), or fit the parameters to rows that the graph was not learned from.

    A network that was fitted to rows with missing cells is less sure than they count: by default it counts as fitted to
    those that are complete in the family of which fewest are (``net.n_complete``). Where 30 % of the cells are missing
    0 to 5 % of tests then reject at 5 %, of labels, of numbers and of both; with all rows it were 7 to 22 %.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> smokers = fn.infer.intervene(asia, {"smoke": "yes"}).sample(2000, seed=1)
    >>> found = fn.compare.score_test(fn.kernels.FisherKernel(asia), smokers, seed=1)
    >>> found.misfits()
    ('smoke',)
    """
    known = adapted(kernel, "score_test", logs=True)
    standard = known.standardized
    if standard is None:
        raise SchemaError(
            f"score_test needs a Fisher kernel with the metric 'invariant', not {kernel!r}: features with mean 0 and "
            "variance 1 under the model"
        )
    model = standard.model
    way = word(reference, "reference", REFERENCES, error=FishernetError)
    check.integer(simulations, "simulations", least=1, most=MOST_SPLITS)
    check.number(smoothing, "smoothing", least=0)
    if table is None:
        raise SchemaError(
            "table must be a table, a data frame or rows that the kernel takes, not None", parameter="table"
        )
    rows = known.rows(table)
    n = _independent_rows(rows) if is_table(rows) else float(checked_length(rows, "table"))
    if n == 0:
        raise SchemaError("table has no rows, and a test needs some", parameter="table")
    fitted = _fitted_to(model, n_fitted)
    parts = standard.feature_parts
    if fit is not None and (way == "chi-square" or fitted == 0):
        raise SchemaError(
            "fit says how a network was made of rows, for the bootstrap; it needs n_fitted and no chi-squared reference"
        )
    if fit is not None:
        way = "bootstrap"
    elif way == "auto":
        way = "chi-square" if _is_near(standard, rows, n, fitted) else "bootstrap"
    number = fixed_seed(seed)
    observed = _statistic(standard, rows, n, fitted, parts)
    free = degrees_of_freedom(standard)
    if way == "chi-square":
        total, by_variable, by_group = chi_squared_p_values(observed, free, parts)
    else:
        reporter = Reporter(progress, "drawn tables")
        _require_network(model)
        source = _unsmoothed(model, fitted, smoothing) if fitted > 0 else model
        again = fit or (lambda drawn: refitted(model, drawn, smoothing=smoothing))
        drawn = _bootstrap(
            kernel, source, again if fitted > 0 else None, rows, n, fitted, simulations, number, reporter
        )
        total, by_variable, by_group = _simulated(observed, drawn)
    if is_directed(model) and is_table(rows) and has_tables(model) and not rows.has_fractions:
        tests = fit_tests(model, _fitted_counts(model, fitted, smoothing), rows, simulations, number)
        by_variable, by_group = tests.by_variable, tests.by_configuration if by_group is not None else None
    return ScoreTestResult(
        observed.total,
        total,
        int(free.sum()),
        way,
        n,
        None if fitted == 0 else fitted,
        MappingProxyType(shares_of_variables(parts, observed.by_variable, *by_variable) if parts else {}),
        shares_of_configurations(parts, observed.by_group, *by_group) if parts and by_group is not None else (),
        number,
    )


def _independent_rows(table: Table) -> float:
    """Return the number of rows; with survey weights the number of unweighted ones that tell as much (Kish, 1965)."""
    if table.weights is None or not table.has_fractions:
        return float(table.total)
    weights = np.asarray(table.weights, dtype=np.float64)
    return float(weights.sum() ** 2 / max((weights**2).sum(), np.finfo(float).tiny))


def _fitted_to(model: Any, n_fitted: float | None) -> float:
    """Return the number of rows that a model was fitted to, 0 where its parameters were known.

    Of rows that lack cells it is that of the rows that are complete in the family of which fewest are: others tell of
    it, too, but how much is not known here.
    """
    if n_fitted is not None:
        return float(check.number(n_fitted, "n_fitted", least=0))
    known: Any = getattr(model, "n_complete", UNSAID)
    if known is UNSAID:
        warn(
            f"{model!r} does not say how many rows it was fitted to, so its parameters count as known, and the test "
            "rejects too often where they are not; n_fitted=0 says that they are known, n_fitted=200 that they were "
            "fitted to 200 rows",
            parameter="n_fitted",
        )
        return 0.0
    return 0.0 if known is None else max(float(known), 1.0)  # of a family that no row knows, too


def _is_near(kernel: ModelKernel, rows: Rows, n: float, fitted: float) -> bool:
    """Return whether the statistic is near its chi-squared distribution."""
    least = n if fitted == 0 else min(n, fitted)
    if is_table(rows) and rows.has_missing:
        return False
    expected = kernel.smallest_expected(int(least))
    if expected is None and kernel.hidden:
        return False
    needed = max(FEWEST_ROWS, ROWS_OF_COEFFICIENTS * _most_coefficients(kernel.model) ** 2) if fitted else 0
    return (
        (expected is None or expected >= LEAST_EXPECTED)
        and kernel.fewest_regressed(n) >= FEWEST_ROWS
        and (fitted == 0 or kernel.fewest_regressed(fitted) >= needed)
    )


def _most_coefficients(model: Any) -> int:
    """Return how many coefficients the regression of a model has that has most, its intercept among them."""
    if model.conditionals:
        above = (one.variables[:-1] for one in model.conditionals if one.variables[-1].is_continuous)
        return 1 + max((sum(parent.is_continuous for parent in parents) for parents in above), default=0)
    return 1 + max(map(len, model.graph.adjacency)) if model.inference == "normal" else 1


def _statistic(kernel: ModelKernel, rows: Rows, n: float, fitted: float, parts: FeatureParts | None) -> SquaredMean:
    factor = n if fitted == 0 else n * fitted / (n + fitted)
    return SquaredMean.of(kernel.mean_features(rows), factor, parts)


def _in_order(one: SquaredMean, parts: FeatureParts | None, own: FeatureParts | None) -> SquaredMean:
    """Return what variables add in the order of another kernel; of other configurations nothing is left."""
    if parts is None or own is None or own is parts:
        return one
    places = [own.names.index(name) for name in parts.names]
    same = own.names == parts.names and np.array_equal(own.variable_of_group, parts.variable_of_group)
    return SquaredMean(one.total, one.by_variable[places], one.by_group if same else np.empty(0))


def _simulated(observed: SquaredMean, drawn: list[SquaredMean]) -> tuple[float, PValues, PValues | None]:
    """Return p-values beside statistics of drawn tables, in the first place the observed one."""
    every = [observed, *drawn]
    total = permutation_p_values(np.array([[one.total] for one in every]))
    by_variable = _of_columns(np.array([one.by_variable for one in every]))
    few = len(observed.by_group) > 0 and all(len(one.by_group) for one in drawn)
    return float(total[0]), by_variable, _of_columns(np.array([one.by_group for one in every])) if few else None


def _of_columns(statistics: Array) -> PValues:
    alone = permutation_p_values(statistics)
    return alone, max_t(statistics), benjamini_hochberg(alone)


def _bootstrap(
    kernel: Any,
    source: Any,
    fit: Fit | None,
    rows: Any,
    n: float,
    fitted: float,
    simulations: int,
    seed: int,
    reporter: Reporter,
) -> list[SquaredMean]:
    """Return the statistics of tables that a network draws; where it was fitted, it is fitted again each time."""
    random = generator(seed)
    masked = _masking(rows)
    parts: FeatureParts | None = kernel.feature_parts
    keep = parts is None or simulations * len(parts.variable_of_group) <= MOST_SPLIT_CELLS
    found = []
    for done in range(simulations):
        again = kernel if fit is None else kernel.with_model(fit(source.sample(round(fitted), seed=random)))
        drawn = masked(again.rows(source.sample(max(round(n), 1), seed=random)))
        one = _in_order(_statistic(again, drawn, n, fitted, again.feature_parts), parts, again.feature_parts)
        found.append(one if keep else SquaredMean(one.total, one.by_variable, np.empty(0)))
        reporter.step(done + 1, simulations)
    reporter.finish(simulations)
    return found


def _require_network(model: Any) -> None:
    if not model.conditionals and model.inference != "normal":
        raise SchemaError(f"the bootstrap draws and fits networks; for {model!r} there is reference='chi-square'")


def _unsmoothed(net: Any, n_fitted: float, smoothing: float) -> Any:
    """Return a network as its rows are, by how many of them are expected in each group."""
    kind = ScoredModel(net)
    if (kind.tables is None and kind.mixed is None) or smoothing == 0:
        return net
    found = list(net.conditionals)
    labels = [v for v, variable in enumerate(net.variables) if not variable.is_continuous]
    for v, shares in zip(labels, group_probabilities(net.of_labels() if kind.mixed else net, seed=0), strict=True):
        found[v] = found[v].unsmoothed(n_fitted * shares, smoothing)
    unsmoothed = type(net)(net.variables, found, n_rows=net.n_rows)
    if kind.mixed is None:
        return unsmoothed
    for v, of_parents in enumerate(moments_of_parents(unsmoothed)):
        if of_parents is not None:
            found[v] = found[v].unsmoothed(n_fitted * of_parents.probabilities, smoothing)
    return type(net)(net.variables, found, n_rows=net.n_rows)


def _fitted_counts(net: BayesianNetwork, n_fitted: float, smoothing: float) -> list[Array]:
    """Return how many rows conditionals were fitted to, (configurations, states) each; many where they are known."""
    source = _unsmoothed(net, n_fitted, smoothing) if n_fitted > 0 else net
    return [
        np.rint(c.probabilities * (n_fitted * of_groups if n_fitted > 0 else np.full(len(of_groups), KNOWN))[:, None])
        for c, of_groups in zip(source.conditionals, group_probabilities(net, seed=0), strict=True)
    ]


def _masking(rows: Table) -> Callable[[Table], Table]:
    """Return what leaves out the cells of drawn rows that the given rows lack."""
    if not rows.has_missing:
        return lambda drawn: drawn
    lacking = [variable.missing(column) for variable, column in zip(rows.variables, rows.codes, strict=True)]

    def masked(drawn: Table) -> Table:
        columns = [
            np.where(np.resize(holes, drawn.n_rows), variable.missing_column(drawn.n_rows), column)
            for variable, holes, column in zip(drawn.variables, lacking, drawn.codes, strict=True)
        ]
        return Table.adopt(drawn.variables, columns, n_rows=drawn.n_rows)

    return masked
