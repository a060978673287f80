"""Whether two tables come from the same source, and which variables tell them apart.

The statistic is the squared maximum mean discrepancy (Gretton et al., 2012 [1]_) under the Fisher kernel of a network
(Leppä-aho et al., 2020, Eq. 10 [2]_). That kernel is a sum over the variables, and over the configurations of their
parents; so is the statistic, and what each adds is tested as well, corrected for their number.

Where the tables come from one source, their rows may change places: the p-value is the share of random splits of all
rows at which the statistic is at least as large. It is exact when the kernel is the same whatever the split, as one
from a third table is, or one learned from both tables together.

References
----------
.. [1] A. Gretton, K. Borgwardt, M. Rasch, B. Schölkopf and A. Smola, "A kernel two-sample test", JMLR 13, 2012.
.. [2] J. Leppä-aho, T. Silander and T. Roos, "Bayesian network Fisher kernel for categorical feature spaces",
   Behaviormetrika 47, 2020.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import FishernetError, SchemaError, ZeroProbabilityError, warn
from fishernet.base.progress import Progress, Reporter
from fishernet.base.random import Seed, fixed_seed, stream_key
from fishernet.base.vocabulary import word
from fishernet.compare.chi_squared import SquaredMean, chi_squared_p_values, degrees_of_freedom
from fishernet.compare.corrections import MOST_SPLITS, benjamini_hochberg, max_t, permutation_p_values
from fishernet.compare.large_samples import block_test, weighted_chi_square
from fishernet.compare.shares import (
    InShares,
    Share,
    first_names,
    shares_of_configurations,
    shares_of_variables,
)
from fishernet.data import Blocks, Source, Table
from fishernet.data.matching import is_table
from fishernet.data.moments import without_determined
from fishernet.data.options import AUTO, Bins
from fishernet.data.pooling import pooled, pooled_all, repeated, stacked
from fishernet.data.source import is_statistics
from fishernet.data.variable import mixes_numbers
from fishernet.infer.factors import is_model
from fishernet.kernels import Kernel, RowSums
from fishernet.kernels.features import checked_length
from fishernet.kernels.fisher.hidden_variables import row_kernel
from fishernet.kernels.kernel import BaseKernel, ModelKernel, adapted
from fishernet.kernels.parts import FeatureParts
from fishernet.kernels.row_sums import Distances
from fishernet.kernels.rows import Rows
from fishernet.learn import bayesian_network
from fishernet.models import BayesianNetwork

Array = npt.NDArray[np.float64]
MethodName = Literal["permutation", "chi-square", "block"]
METHODS = ("permutation", "chi-square", "block")

FEWEST_PERMUTATIONS = 19  # with fewer no p-value is at most 0.05
PURPOSE = "two_sample_test"
MOST_STACKED = 2**22  # rows that are copied to learn from both tables together; more are asked where they lie


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class TwoSampleResult(InShares):
    """What a two-sample test found.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> smokers = fn.infer.intervene(asia, {"smoke": "yes"})
    >>> k = fn.kernels.FisherKernel(asia)
    >>> found = fn.compare.two_sample_test(asia.sample(500, seed=1), smokers.sample(500, seed=2), k, seed=1)
    >>> found.p_value, found.changed()
    (0.001, ('smoke',))
    """

    statistic: float
    """The squared maximum mean discrepancy; of the method "block" the mean of its unbiased estimates in blocks."""
    p_value: float
    """How probable a statistic at least as large is, if the tables come from one source."""
    method: str
    """By what the p-value was found: "permutation", "chi-square" or "block"."""
    n_rows: tuple[int, int]
    """How many rows the tables have."""
    by_variable: Mapping[str, Share]
    """What each variable adds to the statistic, given its parents; empty where the kernel is no sum over variables."""
    by_configuration: tuple[Share, ...]
    """What each configuration of a variable's parents adds, the largest first; those that occur in the tables."""
    permutations: int
    """How many splits were drawn; 0 where none were."""
    null: Array
    """(permutations,): the statistic at each of them."""
    kernel: Any
    """The kernel; its `model` is the network that was learned where none was given."""
    seed: int
    """The seed that repeats it."""

    def __post_init__(self) -> None:
        self.null.flags.writeable = False

    def __repr__(self) -> str:
        changed = self.changed() if self.by_variable else ()
        where = f"; tell them apart: {first_names(changed)}" if changed else ""
        return f"TwoSampleResult(p = {self.p_value:.4g}, squared MMD {self.statistic:.6g}{where})"

    def changed(self, level: float = 0.05) -> tuple[str, ...]:
        """Return the variables whose family-wise p-value is at most a level, those that add most first."""
        return self._found(level)


def two_sample_test(
    X: Any,
    Y: Any,
    kernel: Kernel | None = None,
    *,
    permutations: int = 999,
    method: MethodName = "permutation",
    block_size: int | None = None,
    bins: Bins | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
) -> TwoSampleResult:
    """Test whether two tables come from the same source, and find the variables that tell them apart.

    Parameters
    ----------
    X, Y : Table, data frame, or rows that the kernel takes
        The two samples. Rows count as often as their weights say, which must be whole. Cells may be missing: what is
        missing is summed out. With method "chi-square" and a kernel of tables sources of statistics are taken too.
    kernel : Kernel, optional
        Any kernel of the library, fitted to other rows than these or to both tables together. Without it a Bayesian
        network is learned from both tables together, and its Fisher kernel is used. A kernel that was fitted to one of
        the two tables is not symmetric in them, and cries wolf: in a simulation with networks of 37 variables
        learned from 300 rows of X alone, 40 % of tests of equal sources were below 0.05.
    permutations : int
        How many random splits to draw. p-values are multiples of ``1 / (permutations + 1)``.
    method : {"permutation", "chi-square", "block"}
        How the p-value is found. "permutation" is exact. "chi-square" takes a scaled chi-squared distribution with the
        mean and the variance that the statistic has for many rows (Satterthwaite, from the kernel of up to 4,096 rows
        of both tables): it needs expected counts of 5 or more in every cell; there is a warning where they are not.
        "block" takes the mean of unbiased estimates in blocks of rows and a normal distribution [1]_: of use where the
        kernel has no features and the tables are too large for its whole matrix.
    block_size : int, optional
        For "block": rows of each table a block; the square root of the smaller number of rows without it, and 2 gives
        the linear-time test of Gretton et al. (2012, section 6).
    bins : int, or mapping from column to int or to cut points; optional
        Where no kernel is given: how numbers are cut, as for `fishernet.Table.discretize`, at quantiles of both tables
        together. Without it they are cut into at most 4 bins where there are labels too, and tables of numbers alone
        are compared by a linear-Gaussian network.
    seed : None, int or numpy.random.Generator
    progress : callable, optional
        ``progress(what, done, total)``.

    Returns
    -------
    TwoSampleResult
        The same whatever order the columns and rows come in, up to the random splits.

    Raises
    ------
    SchemaError
        When the columns of the tables differ (says how), or one has no row.
    ZeroProbabilityError
        When the kernel's network gives a row probability 0.

    Warns
    -----
    FishernetWarning
        When permutations are so few that no p-value can be 0.05.

    See Also
    --------
    score_test : whether one table comes from a network.
    explain_change : in nats, which conditional changed, from what to what.

    Notes
    -----
    The Fisher kernel takes negative values and is not characteristic: it sees the counts of its network's families
    alone, and the distribution-free bounds of Gretton et al. (2012), which need a kernel from 0 to K, do not hold for
    it. Family-wise p-values (`p_max_t`) come from the largest standardized statistic of each split (Westfall and Young,
    1993), and hold whatever joins the variables.

    References
    ----------
    .. [1] W. Zaremba, A. Gretton and M. Blaschko, "B-tests: low variance kernel two-sample tests", NIPS 2013.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> fn.compare.two_sample_test(asia.sample(500, seed=1), asia.sample(400, seed=2), seed=1).p_value > 0.05
    True
    """
    way = word(method, "method", METHODS, error=FishernetError)
    check_permutations(permutations, used=way == "permutation")
    number = fixed_seed(seed)
    _require_samples(X, Y)
    if is_statistics(X) or is_statistics(Y):
        return _of_statistics(X, Y, kernel, way, number)
    if kernel is None:
        X, Y = without_determined_columns(*joined(X, Y, bins))
        kernel = row_kernel(network_of_both(X, Y), X, Y, seed=0)
    names = X.names if is_table(X) else ()
    known = adapted(kernel)
    rows = [_rows(known, data, name) for name, data in (("X", X), ("Y", Y))]
    first, second = (known.row_sums(some) for some in rows)
    made = _Made(kernel, (first.n_rows, second.n_rows), way, number)
    if way == "block":
        size = None if block_size is None else check.integer(block_size, "block_size", least=2)
        return made.without_shares(*block_test(first, second, size, number))
    if way == "chi-square":
        statistic, p_value = weighted_chi_square(known, first, second, number)
        standard = known.standardized
        lacks_cells = any(is_table(some) and some.has_missing for some in rows)
        if standard is None or standard.feature_parts is None or lacks_cells:
            return made.without_shares(statistic, p_value)
        return made.chi_squared(standard, standard.feature_parts, rows, made.n_rows, p_value)
    reporter = Reporter(progress, "permutations")
    found = split_distances(first, second, permutations, stream_key(number), reporter)
    reporter.finish(permutations)
    return made.permuted(found, known.feature_parts, names)


def split_distances(first: RowSums, second: RowSums, n_splits: int, key: int, reporter: Reporter) -> Distances:
    """Return the distances of the observed split and of others."""
    try:
        return first.splits(second, n_splits, key, reporter)
    except ZeroProbabilityError:
        for sums in (first, second):
            _ = sums.diagonal  # names an impossible row by its place in its own table
        raise


def check_permutations(permutations: int, *, used: bool = True) -> None:
    """Warn of permutations that are so few that no p-value is at most 0.05."""
    check.integer(permutations, "permutations", least=1, most=MOST_SPLITS)
    if used and permutations < FEWEST_PERMUTATIONS:
        warn(
            f"with {permutations} permutations no p-value is below {1 / (permutations + 1):.3g}; take 19 or more "
            "for a level of 0.05, and 999 for one to rely on",
            parameter="permutations",
        )


def _require_samples(X: Any, Y: Any) -> None:
    for name, data in (("X", X), ("Y", Y)):
        if is_model(data):
            raise SchemaError(
                f"two_sample_test compares rows, and {name} is a network; score_test takes one and a table"
            )
        if data is None:
            raise SchemaError(
                f"{name} must be a table, a data frame or rows that the kernel takes, not None", parameter=name
            )


def _no_rows(name: str) -> SchemaError:
    return SchemaError(f"{name} has no rows, and a test compares rows with rows")


def _of_statistics(X: Source, Y: Source, kernel: Kernel | None, way: str, seed: int) -> TwoSampleResult:
    """Return the result for sources that know counts and no rows: nothing can be exchanged."""
    standard = None if kernel is None else adapted(kernel).standardized
    if way != "chi-square" or standard is None or not standard.takes_statistics or standard.feature_parts is None:
        raise SchemaError(
            "a source of statistics has no rows to exchange; give the FisherKernel of a network of tables, fitted to "
            "other rows or to both sources together, and method='chi-square'"
        )
    made = _Made(standard, (round(X.total), round(Y.total)), way, seed)
    return made.chi_squared(standard, standard.feature_parts, (X, Y), (float(X.total), float(Y.total)))


@dataclass(frozen=True)
class _Made:
    """What every result of a test tells, however it was found."""

    kernel: Kernel | None
    n_rows: tuple[int, int]
    method: str
    seed: int

    def result(
        self,
        statistic: float,
        p_value: float,
        by_variable: Mapping[str, Share],
        by_configuration: tuple[Share, ...],
        null: Array,
    ) -> TwoSampleResult:
        """Return a result; `null` has a statistic for each permutation."""
        return TwoSampleResult(
            statistic,
            p_value,
            by_variable=MappingProxyType(by_variable),
            by_configuration=by_configuration,
            permutations=len(null),
            null=null,
            **vars(self),
        )

    def without_shares(self, statistic: float, p_value: float) -> TwoSampleResult:
        """Return the result of a test that says nothing of variables."""
        return self.result(statistic, p_value, {}, (), np.empty(0))

    def chi_squared(
        self,
        kernel: ModelKernel,
        parts: FeatureParts,
        data: Sequence[Rows],
        sizes: tuple[float, float],
        p_value: float | None = None,
    ) -> TwoSampleResult:
        """Return a result by chi-squared distributions with as many degrees of freedom as there are parameters.

        A p-value of all variables together that is known better may be given.
        """
        scale = sum(sizes) / (sizes[0] * sizes[1])
        difference = kernel.mean_features(data[0]) - kernel.mean_features(data[1])
        found = SquaredMean.of(difference, 1 / scale, parts)
        total, of_variables, of_groups = chi_squared_p_values(found, degrees_of_freedom(kernel), parts)
        by_variable = shares_of_variables(parts, found.by_variable * scale, *of_variables)
        groups = () if of_groups is None else shares_of_configurations(parts, found.by_group * scale, *of_groups)
        return self.result(found.total * scale, total if p_value is None else p_value, by_variable, groups, np.empty(0))

    def permuted(self, found: Distances, parts: FeatureParts | None, names: Sequence[str]) -> TwoSampleResult:
        """Return the result of a permutation test; variables come in the order of the names, where these are all."""
        by_variable: dict[str, Share] = {}
        by_configuration: tuple[Share, ...] = ()
        if parts is not None and found.by_variable is not None:
            shares = shares_of_variables(parts, found.by_variable[0], *_p_values(found.by_variable))
            order = names if set(names) == set(shares) else parts.names
            by_variable = {name: shares[name] for name in order}
        if parts is not None and found.by_group is not None:
            by_configuration = shares_of_configurations(parts, found.by_group[0], *_p_values(found.by_group))
        p_value = float(permutation_p_values(found.total[:, None])[0])
        null = found.total[1:].copy()
        return self.result(float(max(found.total[0], 0.0)), p_value, by_variable, by_configuration, null)


def _rows(kernel: BaseKernel, data: Any, name: str) -> Rows:
    """Return rows as a kernel takes them, each as often as its weight says."""
    rows = kernel.rows(data)
    rows = repeated(rows, PURPOSE) if is_table(rows) else rows
    if checked_length(rows, name) == 0:
        raise _no_rows(name)
    return rows


def joined(
    X: Any, Y: Any, bins: Bins | None, purpose: str = PURPOSE, names: tuple[str, str] = ("X", "Y")
) -> tuple[Table, Table]:
    """Return two tables of the same variables to learn a network from: all of states, or all of numbers."""
    first, second = _cut(_with_rows(names, pooled(X, Y, purpose), purpose), bins)
    return first, second


def joined_all(tables: Mapping[str, Any], bins: Bins | None, purpose: str) -> list[Table]:
    """Return several tables of the same variables, as `joined` two."""
    found = pooled_all(tables, purpose)
    return _cut(_with_rows(list(found), list(found.values()), purpose), bins)


def _with_rows(names: Sequence[str], tables: Sequence[Table], purpose: str) -> list[Table]:
    for name, table in zip(names, tables, strict=True):
        if table.n_rows == 0:
            raise _no_rows(name)
    return [repeated(table, purpose) for table in tables]


def _cut(tables: list[Table], bins: Bins | None) -> list[Table]:
    """Return tables whose numbers are cut at points of both together, where asked for or labels are there.

    Points of one table alone would tell it from the other: its rows lie evenly between them.
    """
    if bins is None and not mixes_numbers(tables[0].variables):
        return tables
    both = stacked(tables).discretize(AUTO if bins is None else bins)
    return [table.conform(both.variables) for table in tables]


def without_determined_columns(*tables: Table, each: bool = False) -> tuple[Table, ...]:
    """Return tables without the columns of numbers that others determine in all together, or in any of them.

    The same go in whatever order the columns come.
    """
    names = tables[0].names
    if not all(variable.is_continuous for variable in tables[0].variables):
        return tables
    left: Sequence[str] = sorted(names)
    for table in tables if each else (stacked(tables),):
        left = without_determined(table.select(left)).names
    kept = [name for name in names if name in left]
    return tables if len(kept) == len(names) else tuple(table.select(kept) for table in tables)


def network_of_both(first: Table, second: Table) -> BayesianNetwork:
    """Return a Bayesian network learned from two tables together, the same in whatever order their columns come."""
    names = sorted(first.names)
    tables = [first.select(names), second.select(names)]
    counts_alone = not any(v.is_continuous for v in first.variables) and not any(t.has_missing for t in tables)
    far = counts_alone and first.n_rows + second.n_rows > MOST_STACKED  # the same network, without a copy
    return bayesian_network(Blocks(tables) if far else stacked(tables), seed=0)


def _p_values(statistics: Array) -> tuple[Array, Array, Array]:
    """Return p-values of each column, for any false one, and for the share of false ones."""
    alone = permutation_p_values(statistics)
    return alone, max_t(statistics), benjamini_hochberg(alone)
