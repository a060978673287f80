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

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import FishernetError, FishernetWarning, SchemaError
from fishernet.base.progress import Progress, Reporter
from fishernet.base.random import Seed, fixed_seed, stream_key
from fishernet.base.vocabulary import word
from fishernet.compare.chi_squared import SquaredMean, chi_squared_p_values, degrees_of_freedom
from fishernet.compare.corrections import benjamini_hochberg, max_t, permutation_p_values
from fishernet.compare.large_samples import block_test, weighted_chi_square
from fishernet.compare.shares import (
    InShares,
    Share,
    first_names,
    shares_of_configurations,
    shares_of_variables,
)
from fishernet.compare.splits import MOST_SPLITS, Distances, split_distances
from fishernet.data import Parts, Table
from fishernet.data.matching import is_table
from fishernet.data.options import Bins
from fishernet.data.pooling import pooled, repeated, stacked
from fishernet.data.source import is_statistics
from fishernet.kernels import FisherKernel, HiddenVariableKernel
from fishernet.kernels.features import checked_length
from fishernet.kernels.rows import rows_of
from fishernet.learn import bayesian_network
from fishernet.models import BayesianNetwork

Array = npt.NDArray[np.float64]
MethodName = Literal["permutation", "chi-square", "block"]
METHODS = ("permutation", "chi-square", "block")

USUAL_BINS = 4
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
    kernel: Any = None,
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
    check_permutations(permutations, warn=way == "permutation")
    number = fixed_seed(seed)
    _require_samples(X, Y)
    if is_statistics(X) or is_statistics(Y):
        return _of_statistics(X, Y, kernel, way, number)
    if kernel is None:
        X, Y = joined(X, Y, bins)
        kernel = kernel_of(network_of_both(X, Y), X.has_missing or Y.has_missing)
    names = X.names if is_table(X) else ()
    first, second = (_rows(kernel, data) for data in (X, Y))
    sizes = checked_length(first, "X"), checked_length(second, "Y")
    if min(sizes) == 0:
        raise _no_rows("X" if sizes[0] == 0 else "Y")
    made = {"kernel": kernel, "n_rows": sizes, "seed": number, "method": way}
    if way == "block":
        size = None if block_size is None else check.integer(block_size, "block_size", least=2)
        statistic, p_value = block_test(kernel, first, second, size, number)
        return _without_shares(statistic, p_value, made)
    if way == "chi-square":
        statistic, p_value = weighted_chi_square(kernel, first, second, number)
        if not _is_standardized(kernel, first, second):
            return _without_shares(statistic, p_value, made)
        return _chi_squared(first, second, sizes, made, p_value)
    reporter = Reporter(progress, "permutations")
    found = split_distances(kernel, first, second, permutations, stream_key(number), reporter)
    reporter.finish(permutations)
    return _permuted(found, names, made)


def _is_standardized(kernel: Any, first: Any, second: Any) -> bool:
    """Return whether each variable's features have the covariance of a projection, as chi-squared tests of it need."""
    known = not any(getattr(rows, "has_missing", False) for rows in (first, second))
    invariant = getattr(kernel, "metric", "invariant") == "invariant"
    return known and invariant and getattr(kernel, "feature_parts", None) is not None


def check_permutations(permutations: int, *, warn: bool = True) -> None:
    """Warn of permutations that are so few that no p-value is at most 0.05."""
    check.integer(permutations, "permutations", least=1, most=MOST_SPLITS)
    if warn and permutations < FEWEST_PERMUTATIONS:
        warnings.warn(
            FishernetWarning(
                f"with {permutations} permutations no p-value is below {1 / (permutations + 1):.3g}; take 19 or more "
                "for a level of 0.05, and 999 for one to rely on",
                parameter="permutations",
            ),
            stacklevel=3,
        )


def _require_samples(X: Any, Y: Any) -> None:
    for name, data in (("X", X), ("Y", Y)):
        if hasattr(data, "conditionals"):
            raise SchemaError(
                f"two_sample_test compares rows, and {name} is a network; score_test takes one and a table"
            )
        if data is None:
            raise SchemaError(
                f"{name} must be a table, a data frame or rows that the kernel takes, not None", parameter=name
            )


def _no_rows(name: str) -> SchemaError:
    return SchemaError(f"{name} has no rows, and a test compares rows with rows")


def _of_statistics(X: Any, Y: Any, kernel: Any, way: str, seed: int) -> TwoSampleResult:
    """Return the result for sources that know counts and no rows: nothing can be exchanged."""
    if way != "chi-square" or not hasattr(getattr(kernel, "rule", None), "mean_of_statistics"):
        raise SchemaError(
            "a source of statistics has no rows to exchange; give the FisherKernel of a network of tables, fitted to "
            "other rows or to both sources together, and method='chi-square'"
        )
    made = {"kernel": kernel, "n_rows": (round(X.total), round(Y.total)), "seed": seed, "method": way}
    return _chi_squared(X, Y, (float(X.total), float(Y.total)), made)


def _chi_squared(
    X: Any, Y: Any, sizes: tuple[float, float], made: Mapping[str, Any], p_value: float | None = None
) -> TwoSampleResult:
    """Return a result by chi-squared distributions with as many degrees of freedom as there are parameters.

    A p-value of all variables together that is known better may be given.
    """
    kernel, (n, m) = made["kernel"], sizes
    scale = (n + m) / (n * m)
    found = SquaredMean.of(kernel.mean_features(X) - kernel.mean_features(Y), 1 / scale, kernel.feature_parts)
    total, of_variables, of_groups = chi_squared_p_values(found, degrees_of_freedom(kernel), kernel.feature_parts)
    return TwoSampleResult(
        found.total * scale,
        total if p_value is None else p_value,
        by_variable=MappingProxyType(
            shares_of_variables(kernel.feature_parts, found.by_variable * scale, *of_variables)
        ),
        by_configuration=()
        if of_groups is None
        else shares_of_configurations(kernel.feature_parts, found.by_group * scale, *of_groups),
        permutations=0,
        null=np.empty(0),
        **made,
    )


def _rows(kernel: Any, data: Any) -> Any:
    """Return rows as a kernel takes them, each as often as its weight says."""
    rows = rows_of(kernel, data)
    return repeated(rows, PURPOSE) if is_table(rows) else rows


def joined(
    X: Any, Y: Any, bins: Bins | None, purpose: str = PURPOSE, names: tuple[str, str] = ("X", "Y")
) -> tuple[Table, Table]:
    """Return two tables of the same variables to learn a network from: all of states, or all of numbers."""
    tables = [repeated(table, purpose) for table in pooled(X, Y, purpose)]
    for name, table in zip(names, tables, strict=True):
        if table.n_rows == 0:
            raise _no_rows(name)
    first, second = _cut(tables, bins)
    return first, second


def _cut(tables: list[Table], bins: Bins | None) -> list[Table]:
    """Return tables whose numbers are cut at quantiles of both together, where asked for or labels are there."""
    continuous = [variable.is_continuous for variable in tables[0].variables]
    if bins is None and (not any(continuous) or all(continuous)):
        return tables
    both = stacked(tables).discretize(USUAL_BINS if bins is None else bins)
    return [table.conform(both.variables) for table in tables]


def network_of_both(first: Table, second: Table) -> BayesianNetwork:
    """Return a Bayesian network learned from two tables together, the same in whatever order their columns come."""
    names = sorted(first.names)
    tables = [first.select(names), second.select(names)]
    counts_alone = not any(v.is_continuous for v in first.variables) and not any(t.has_missing for t in tables)
    far = counts_alone and first.n_rows + second.n_rows > MOST_STACKED  # the same network, without a copy
    return bayesian_network(Parts(tables) if far else stacked(tables), seed=0)


def kernel_of(net: BayesianNetwork, lacks_cells: bool) -> FisherKernel | HiddenVariableKernel:
    """Return the Fisher kernel of a network, averaged over what is missing where rows lack cells."""
    return HiddenVariableKernel(net, seed=0) if lacks_cells else FisherKernel(net, seed=0)


def _without_shares(statistic: float, p_value: float, made: Mapping[str, Any]) -> TwoSampleResult:
    nothing: Mapping[str, Share] = MappingProxyType({})
    return TwoSampleResult(
        statistic, p_value, by_variable=nothing, by_configuration=(), permutations=0, null=np.empty(0), **made
    )


def _permuted(found: Distances, names: Sequence[str], made: Mapping[str, Any]) -> TwoSampleResult:
    """Return the result of a permutation test; variables come in the order of the names, where these are all."""
    parts: Any = getattr(made["kernel"], "feature_parts", None)
    by_variable: dict[str, Share] = {}
    by_configuration: tuple[Share, ...] = ()
    if found.by_variable is not None:
        shares = shares_of_variables(parts, found.by_variable[0], *_p_values(found.by_variable))
        order = names if set(names) == set(shares) else parts.names
        by_variable = {name: shares[name] for name in order}
    if found.by_group is not None:
        by_configuration = shares_of_configurations(parts, found.by_group[0], *_p_values(found.by_group))
    return TwoSampleResult(
        float(max(found.total[0], 0.0)),
        float(permutation_p_values(found.total[:, None])[0]),
        by_variable=MappingProxyType(by_variable),
        by_configuration=by_configuration,
        permutations=len(found.total) - 1,
        null=found.total[1:].copy(),
        **made,
    )


def _p_values(statistics: Array) -> tuple[Array, Array, Array]:
    """Return p-values of each column, for any false one, and for the share of false ones."""
    alone = permutation_p_values(statistics)
    return alone, max_t(statistics), benjamini_hochberg(alone)
