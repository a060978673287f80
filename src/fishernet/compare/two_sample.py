"""Whether two tables come from the same source, and which variables tell them apart.

Under a given kernel the statistic is the squared maximum mean discrepancy (Gretton et al., 2012 [1]_). Without a kernel
it fuses many (`fused`), and a network that is learned from both tables together tells which variables differ. The
Fisher kernel of a network (Leppä-aho et al., 2020, Eq. 10 [2]_) is a sum over the variables, and over the
configurations of their parents; so is the squared discrepancy under it, and what each adds is tested as well, corrected
for their number.

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
from dataclasses import dataclass, replace
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
from fishernet.compare.fused import Fused, Term, fused_test
from fishernet.compare.graph_of_tables import network_of_both
from fishernet.compare.large_samples import block_test, weighted_chi_square
from fishernet.compare.share_tests import ShareTests, share_tests
from fishernet.compare.shares import (
    InShares,
    Share,
    first_names,
    shares_of_configurations,
    shares_of_variables,
)
from fishernet.data import Source, Table
from fishernet.data.matching import is_table
from fishernet.data.moments import without_determined
from fishernet.data.options import Bins
from fishernet.data.pooling import pooled, pooled_all, stacked, whole_rows
from fishernet.data.source import is_statistics, without_empty
from fishernet.infer.factors import is_model
from fishernet.kernels import Kernel, RowSums
from fishernet.kernels.features import checked_length
from fishernet.kernels.fisher.hidden_variables import row_kernel
from fishernet.kernels.kernel import BaseKernel, ModelKernel, adapted
from fishernet.kernels.parts import FeatureParts
from fishernet.kernels.row_sums import Distances
from fishernet.kernels.rows import Rows
from fishernet.learn.numbers.preparing import prepared, varying, within_bounds
from fishernet.models import BayesianNetwork
from fishernet.models.model import is_directed

Array = npt.NDArray[np.float64]
MethodName = Literal["permutation", "conditionals", "chi-square", "block"]
METHODS = ("permutation", "conditionals", "chi-square", "block")
CONDITIONALS = "conditionals"  # also how the p-value is found where cells are missing

FEWEST_PERMUTATIONS = 19  # with fewer no p-value is at most 0.05
PURPOSE = "two_sample_test"


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
    """The squared maximum mean discrepancy; of the method "block" the mean of its unbiased estimates in blocks.

    Where `terms` are fused, it is their soft maximum: about 0 for tables of one source, and larger for others. Where
    the conditionals of the network say more, it is the soft maximum that would be as rare.
    """
    p_value: float
    """How probable a statistic at least as large is, if the tables come from one source."""
    method: str
    """By what the p-value was found: "permutation", "chi-square", "block", or, where cells lack, "conditionals"."""
    n_rows: tuple[int, int]
    """How many rows the tables have."""
    by_variable: Mapping[str, Share]
    """What each variable adds to the squared discrepancy under `kernel`, given its parents; empty if that is no sum."""
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
    terms: tuple[Term, ...] = ()
    """The sets of columns that are fused, those that differ most first; empty under a given kernel, by other methods
    and where cells are missing."""

    def __post_init__(self) -> None:
        self.null.flags.writeable = False

    def __repr__(self) -> str:
        changed = self.changed() if self.by_variable else ()
        where = f"; tell them apart: {first_names(changed)}" if changed else ""
        what = "soft maximum" if self.terms else "squared MMD"
        return f"TwoSampleResult(p = {self.p_value:.4g}, {what} {self.statistic:.6g}{where})"

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
        The two samples. Rows count as often as their weights say; where these are fractions, as of surveys, rows are
        drawn in proportion to them, which is told. Cells may be missing: what is missing is summed out. With method
        "chi-square" and a kernel of tables sources of statistics are taken too.
    kernel : Kernel, optional
        Any kernel of the library, fitted to other rows than these or to both tables together. Without it nothing has to
        be chosen: a Bayesian network is learned from both tables together, its Fisher kernel tells which variables
        differ, and the p-value is of many kernels together (see Notes). A kernel that was fitted to one of
        the two tables is not symmetric in them, and cries wolf: in a simulation with networks of 37 variables
        learned from 300 rows of X alone, 40 % of tests of equal sources were below 0.05.
    permutations : int
        How many random splits to draw. p-values are multiples of ``1 / (permutations + 1)``.
    method : {"permutation", "conditionals", "chi-square", "block"}
        How the p-value is found. "permutation" is exact, and so is "conditionals" if the kernel's Bayesian network has
        all arcs: the smallest corrected p-value of its conditionals, for which rows are counted once. "chi-square"
        takes a scaled chi-squared distribution with the mean and the variance that the statistic has for many rows
        (Satterthwaite, from the kernel of up to 4,096 rows of both tables): it needs expected counts of 5 or more in
        every cell; there is a warning where they are not.
        "block" takes the mean of unbiased estimates in blocks of rows and a normal distribution [1]_: of use where the
        kernel has no features and the tables are too large for its whole matrix.
    block_size : int, optional
        For "block": rows of each table a block; the square root of the smaller number of rows without it, and 2 gives
        the linear-time test of Gretton et al. (2012, section 6).
    bins : int, or mapping from column to int or to cut points; optional
        Where no kernel is given: how numbers are cut, as for `fishernet.Table.discretize`, by both tables together.
        Without it the network has numbers as they are, as `fishernet.learn.bayesian_network` does, but for columns in
        which many rows have one number; the fused test cuts them in several ways.
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
    Without a kernel, with the method "permutation" and no missing cell, the statistic is a soft maximum, as in the
    tests of Schrab et al. (2023, MMDAgg [2]_) and Biggs et al. (2023, MMD-FUSE [3]_): over single columns, families
    of the learned network and pairs of columns, with numbers cut into 2 to 32 bins on shifted grids; over the
    learned and the empty network; and, up to a few thousand rows, over Gaussian and Laplace kernels of the numbers'
    ranks. The conditionals of the network are fused by themselves: the smaller of the two p-values counts, three
    times that of the conditionals or that of all else. It sees whatever changes how often the cells of these sets
    occur: shifts, other widths, and a dependence between two columns that do not change alone. In tables of four or
    more columns it may miss what shows in three columns together and in no two of them. Of more than 64 columns it
    looks at no pairs but those of the network; where there is no time for all partitions, it leaves out fine ones.

    All kernels share one set of splits, and each set of columns is looked at whatever table a row is from. So the level
    is exact: tables of one source have ``p_value <= 0.05`` with a probability of at most 0.05. `terms` tells which sets
    differ most; their `p_corrected` is corrected for the number of sets. Statistics are standardized by the splits, and
    so depend a little on the seed.

    The Fisher kernel takes negative values and is not characteristic: it sees the counts of its network's families
    alone, and the distribution-free bounds of Gretton et al. (2012), which need a kernel from 0 to K, do not hold for
    it.

    Under a network the p-values of variables and configurations are those of exact tests of conditionals given the
    parents, as of `explain_change`: no change upstream can name a variable, and other shares of missing cells cannot
    either. Where cells are missing, the p-value of the whole is the smallest of these, corrected for their number, for
    rows of a table with many missing cells do not change places with rows of one that has few. Under other kernels that
    are sums, corrected p-values come from the largest standardized statistic of each split (Westfall and Young, 1993):
    there, a change upstream can name variables downstream as well.

    References
    ----------
    .. [1] W. Zaremba, A. Gretton and M. Blaschko, "B-tests: low variance kernel two-sample tests", NIPS 2013.
    .. [2] A. Schrab, I. Kim, M. Albert, B. Laurent, B. Guedj and A. Gretton, "MMD aggregated two-sample test", JMLR 24,
       2023.
    .. [3] F. Biggs, A. Schrab and A. Gretton, "MMD-FUSE: learning and combining kernels for two-sample testing without
       data splitting", NeurIPS 2023.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> fn.compare.two_sample_test(asia.sample(500, seed=1), asia.sample(400, seed=2), seed=1).p_value > 0.05
    True
    """
    way = word(method, "method", METHODS, error=FishernetError)
    check_permutations(permutations, used=way in ("permutation", CONDITIONALS))
    number = fixed_seed(seed)
    _require_samples(X, Y)
    if is_statistics(X) or is_statistics(Y):
        return _of_statistics(X, Y, kernel, way, number)
    to_fuse: tuple[tuple[Table, Table], BayesianNetwork] | None = None
    if kernel is None:
        together = _pooled_rows(X, Y, PURPOSE, ("X", "Y"))
        X, Y = without_determined_columns(*_ready(together, bins, graph=False))
        network = network_of_both(X, Y)
        kernel = row_kernel(network, X, Y, seed=0)
        if not (X.has_missing or Y.has_missing):
            uncut = together[0].select(X.names), together[1].select(X.names)
            to_fuse = uncut if bins is None else (X, Y), network
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
    key = stream_key(number)
    tests = _tested_shares(known, rows, permutations, number)
    if tests is None and way == CONDITIONALS:
        raise FishernetError(
            "method='conditionals' tests the conditionals of a Bayesian network; it needs its Fisher kernel, "
            "or none, and tables that have a cell in each of its columns",
            parameter="method",
        )
    if tests is not None and (way == CONDITIONALS or any(row.has_missing for row in rows)):
        observed = split_distances(first, second, 1, key, reporter)
        return made.by_conditionals(observed, known.feature_parts, names, tests)
    found = split_distances(first, second, permutations, key, reporter)
    fused = None
    if to_fuse is not None:
        tables, network = to_fuse
        of = {"of_graph": found.total, "of_conditionals": found.by_variable}
        fused = fused_test(tables, _families(network), n_splits=1 + permutations, key=key, **of)
    reporter.finish(permutations)
    return made.permuted(found, known.feature_parts, names, fused, tests)


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
        terms: tuple[Term, ...] = (),
    ) -> TwoSampleResult:
        """Return a result; `null` has a statistic for each permutation."""
        return TwoSampleResult(
            statistic,
            p_value,
            by_variable=MappingProxyType(by_variable),
            by_configuration=by_configuration,
            permutations=len(null),
            null=null,
            terms=terms,
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

    def permuted(
        self,
        found: Distances,
        parts: FeatureParts | None,
        names: Sequence[str],
        fused: Fused | None,
        tests: ShareTests | None,
    ) -> TwoSampleResult:
        """Return the result of a permutation test; variables come in the order of the names, where these are all."""
        total, terms = (found.total, ()) if fused is None else (fused.total, fused.terms)
        p_value = float(permutation_p_values(total[:, None])[0])
        statistic = float(total[0] if terms else max(total[0], 0.0))  # a squared length, but for rounding
        return self.result(statistic, p_value, *_shares(found, parts, names, tests), total[1:].copy(), terms)

    def by_conditionals(
        self, found: Distances, parts: FeatureParts | None, names: Sequence[str], tests: ShareTests
    ) -> TwoSampleResult:
        """Return the result of tests of conditionals, which other shares of missing cells do not move."""
        made = replace(self, method=CONDITIONALS)
        shares = _shares(found, parts, names, tests)
        return made.result(float(max(found.total[0], 0.0)), tests.whole, *shares, np.empty(0))


def _tested_shares(kernel: BaseKernel, rows: Sequence[Rows], permutations: int, seed: int) -> ShareTests | None:
    """Return tests of the conditionals of a kernel's Bayesian network; None of other kernels or hidden variables."""
    model = None if kernel.standardized is None else kernel.standardized.model
    if model is None or not is_directed(model) or not all(map(is_table, rows)):
        return None
    lacking = [table.missing_counts() for table in rows]
    hidden = any(
        all(of.get(name) == table.n_rows for of, table in zip(lacking, rows, strict=True)) for name in model.names
    )
    return None if hidden else share_tests(model, rows, permutations, seed)


def _shares(
    found: Distances, parts: FeatureParts | None, names: Sequence[str], tests: ShareTests | None
) -> tuple[dict[str, Share], tuple[Share, ...]]:
    """Return what variables and configurations add, with the p-values of their conditionals where there are some."""
    by_variable: dict[str, Share] = {}
    by_configuration: tuple[Share, ...] = ()
    if parts is not None and found.by_variable is not None:
        p_values = _p_values(found.by_variable) if tests is None else tests.by_variable
        shares = shares_of_variables(parts, found.by_variable[0], *p_values)
        order = names if set(names) == set(shares) else parts.names
        by_variable = {name: shares[name] for name in order}
    if parts is not None and found.by_group is not None:
        of_groups = None if tests is None else tests.by_configuration
        p_values = _p_values(found.by_group) if of_groups is None else of_groups
        by_configuration = shares_of_configurations(parts, found.by_group[0], *p_values)
    return by_variable, by_configuration


def _rows(kernel: BaseKernel, data: Any, name: str) -> Rows:
    """Return rows as a kernel takes them, each as often as its weight says."""
    rows = kernel.rows(data)
    rows = whole_rows(rows, PURPOSE) if is_table(rows) else rows
    if checked_length(rows, name) == 0:
        raise _no_rows(name)
    return rows


def joined(
    X: Any, Y: Any, bins: Bins | None, purpose: str = PURPOSE, names: tuple[str, str] = ("X", "Y")
) -> tuple[Table, Table]:
    """Return two tables of the same variables to learn a network from."""
    first, second = _ready(_pooled_rows(X, Y, purpose, names), bins)
    return first, second


def joined_all(tables: Mapping[str, Any], bins: Bins | None, purpose: str) -> list[Table]:
    """Return several tables of the same variables, as `joined` two."""
    found = pooled_all(tables, purpose)
    return _ready(_with_rows(list(found), list(found.values()), purpose), bins)


def _pooled_rows(X: Any, Y: Any, purpose: str, names: tuple[str, str]) -> list[Table]:
    """Return two tables of the same variables, in which each row stands as often as its weight says."""
    return _with_rows(names, pooled(X, Y, purpose), purpose)


def _with_rows(names: Sequence[str], tables: Sequence[Table], purpose: str) -> list[Table]:
    for name, table in zip(names, tables, strict=True):
        if table.n_rows == 0:
            raise _no_rows(name)
    return [whole_rows(table, purpose) for table in tables]


def _ready(tables: list[Table], bins: Bins | None, *, graph: bool = True) -> list[Table]:
    """Return tables as a network is learned from all of them together: with the same scales and cuts.

    Those of one table alone would tell it from the others: its rows lie evenly between them. Without `graph` each
    column goes by itself.
    """
    tables = list(without_empty(tables))
    if bins is None and not any(v.is_continuous for v in tables[0].variables):
        return tables
    whole = stacked(tables)
    if bins is None and not graph:
        whole = within_bounds(whole)
        if all(v.is_continuous for v in whole.variables):
            return tables
    variables = prepared(whole, bins, graph=graph).variables
    return [table.select([variable.name for variable in variables]).conform(variables) for table in tables]


def without_determined_columns(*tables: Table, each: bool = False) -> tuple[Table, ...]:
    """Return tables without the columns of numbers that do not vary, or that others determine, with a warning.

    They do not vary in all tables together, and are determined there, with `each` in any table, too. So a graph of all
    rows has the columns that are left. The same go in whatever order the columns come.
    """
    names = tables[0].names
    if not all(variable.is_continuous for variable in tables[0].variables):
        return tables
    whole = varying(stacked(tables).select(sorted(names)))
    left: Sequence[str] = whole.names
    for table in (whole, *tables) if each else (whole,):
        left = without_determined(table.select(left)).names
    kept = [name for name in names if name in left]
    return tables if len(kept) == len(names) else tuple(table.select(kept) for table in tables)


def _families(network: BayesianNetwork) -> list[tuple[str, ...]]:
    """Return the names of each variable and its parents."""
    return [tuple(network.names[i] for i in (child, *of)) for child, of in enumerate(network.dag.parents)]


def _p_values(statistics: Array) -> tuple[Array, Array, Array]:
    """Return p-values of each column, for any false one, and for the share of false ones."""
    alone = permutation_p_values(statistics)
    return alone, max_t(statistics), benjamini_hochberg(alone)
