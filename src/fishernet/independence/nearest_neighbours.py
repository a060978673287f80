"""Mutual information and entropy from nearest neighbours, and the permutation test of independence by them.

For row i, ``eps_i`` is the distance to its k-th nearest other row in the joint space, in the maximum norm over all
columns; ``n_x(i)`` is how many other rows lie strictly closer than ``eps_i`` in the space of x alone, and likewise
for other spaces. The densities cancel, and what remains is counted (Leppä-aho, 2020, sections 3.2.2 and 3.2.3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import several, shown
from fishernet.base.progress import Progress, Reporter
from fishernet.base.random import Seed, fixed_seed, stream_key
from fishernet.base.vocabulary import SchemeName, word
from fishernet.data.matching import as_numbers
from fishernet.data.numbers import Columns, points, require_varying
from fishernet.independence.contingency import IndependenceTest, PermutationResult
from fishernet.independence.continuous import (
    STATES,
    Spaces,
    TestWise,
    labels_of,
    read_spaces,
    require_continuous,
    require_known_varying,
    standardized,
    warn_of_ties,
)
from fishernet.independence.fisher_z import partial_correlation_test


def knn_mutual_information(x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike | None = None, *, k: int = 5) -> float:
    """Return the mutual information of x and y, given z where there is one, estimated from nearest neighbours.

    Without z it is ``psi(n) + psi(k) - <psi(n_x + 1) + psi(n_y + 1)>`` [1]_; with z,
    ``psi(k) + <psi(n_z + 1) - psi(n_xz + 1) - psi(n_yz + 1)>`` [2]_.

    Parameters
    ----------
    x, y : (n,) or (n, d) arrays of numbers
        Taken as they are: columns of very different scales should be standardized first.
    z : (n,) or (n, d) array of numbers, optional
        What is known.
    k : int
        Which neighbour; small is less biased, large is less scattered.

    Returns
    -------
    float
        Nats. It may be somewhat below zero.

    Raises
    ------
    SchemaError
        When rows differ in number, there are fewer than k + 2, a value is NaN or infinite, or a column is constant.

    Warns
    -----
    FishernetWarning
        When more than a tenth of the rows of a column are tied.

    Notes
    -----
    Rows are sorted along the column that spreads most; a row's neighbours are sought among those whose value of it is
    near. For n rows of d columns that takes about ``d n^2 (k / n)^(1 / d)`` steps, eight of them at once.

    The bias is of order ``k / n`` times what depends on how the density varies within ``eps``; for two Gaussians with
    correlation below 0.9 and n = 1000 it is below 0.02 nats, and one standard deviation is about
    ``sqrt(2 / n)``, at most 0.05 nats.

    References
    ----------
    .. [1] A. Kraskov, H. Stoegbauer and P. Grassberger, "Estimating mutual information", Physical Review E 69, 2004,
       Eq. 8; J. Leppä-aho, "Methods for Learning Directed and Undirected Graphical Models", 2020, Eq. 3.9.
    .. [2] M. Vejmelka and M. Palus, "Inferring the directionality of coupling with conditional mutual information",
       Physical Review E 77, 2008; S. Frenzel and B. Pompe, Physical Review Letters 99, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> import fishernet as fn
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=2000)
    >>> y = x + rng.normal(size=2000)  # mutual information log(2) / 2 = 0.35
    >>> round(fn.independence.knn_mutual_information(x, y), 1)
    0.3
    """
    labels, spaces = read_spaces(x, y, z)
    check_k(k, spaces[0].shape[1])
    warn_of_ties(labels, np.concatenate(spaces))
    return _estimated(_core.KnnInformation(*spaces, k), spaces)


def _estimated(engine: _core.KnnInformation, spaces: Spaces, look: Callable[[], None] | None = None) -> float:
    """Return the information of the rows as they are; `look` is called now and then."""
    return float(engine.estimate(np.arange(spaces[0].shape[1], dtype=np.int32)[None], look)[0])


def entropy(x: npt.ArrayLike, *, k: int = 5) -> float:
    """Return the differential entropy of x, estimated from nearest neighbours (Kozachenko and Leonenko [1]_).

    It is ``psi(n) - psi(k) + d <log(2 eps)>``: a cube of the maximum norm with radius eps has volume ``(2 eps)^d``.

    Parameters
    ----------
    x : (n,) or (n, d) array of numbers
    k : int
        Which neighbour.

    Returns
    -------
    float
        Nats; -inf where a row has k or more equals, as for a distribution with an atom.

    Raises
    ------
    SchemaError
        As for `knn_mutual_information`.

    References
    ----------
    .. [1] L. F. Kozachenko and N. N. Leonenko, "Sample estimate of the entropy of a random vector", Problems of
       Information Transmission 23, 1987.

    Examples
    --------
    >>> import numpy as np
    >>> import fishernet as fn
    >>> x = np.random.default_rng(1).uniform(0, 4, size=5000)  # entropy log(4) = 1.39
    >>> round(fn.independence.entropy(x), 1)
    1.4
    """
    space = points(x, "x")
    check_k(k, space.shape[1])
    labels = labels_of("x", space)
    require_varying(labels, space)
    warn_of_ties(labels, space)
    _, distances = _core.nearest_others(space, k)
    eps = distances[:, k - 1]
    if not eps.all():
        return -math.inf
    d, n = space.shape
    return float((1 / np.arange(k, n)).sum() + d * np.log(2 * eps).mean())  # psi(n) - psi(k)


def check_k(k: int, n_rows: int) -> None:
    """Raise FishernetError unless k is a positive integer, SchemaError when there are fewer than k + 2 rows."""
    check.integer(k, "k", least=1)
    if n_rows < k + 2:
        message = (
            f"{several(n_rows, 'row is', 'rows are')} too few for the {k}-th neighbour; at least {k + 2} are needed"
        )
        raise SchemaError(message, parameter="k")


Orders = npt.NDArray[np.int32]

PERMUTING = "permuting"
SCHEMES: tuple[SchemeName, ...] = ("simple", "local")
ORDERS_AT_ONCE = 1 << 22  # numbers in the orders that are held at once
FIRST_ORDERS = 32  # how many come before the first look at whether the decision is certain


MOST_PERMUTATIONS = 2**40


@dataclass(frozen=True)
class Plan:
    """How a permutation test goes: the options of `knn_test`, checked."""

    k: int = 5
    permutations: int | Orders = 200
    scheme: SchemeName = "local"
    k_perm: int = 5
    skip_below: float | None = None
    stop_early: bool = False
    alpha: float = 0.05

    def __post_init__(self) -> None:
        object.__setattr__(self, "scheme", word(self.scheme, "scheme", SCHEMES))
        number = self.permutations
        if not isinstance(number, np.ndarray):
            check.integer(number, "permutations", least=1, most=MOST_PERMUTATIONS, note="or row orders (T, n)")
        if self.skip_below is not None and self.skip_below != -math.inf:
            check.number(self.skip_below, "skip_below")
        check.flag(self.stop_early, "stop_early")
        check.integer(self.k_perm, "k_perm", least=2)
        check.share(self.alpha, "alpha")

    @property
    def n_permutations(self) -> int:
        """The number of permutations when nothing ends them early."""
        return len(self.permutations) if isinstance(self.permutations, np.ndarray) else self.permutations


def knn_test(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    z: npt.ArrayLike | None = None,
    *,
    k: int = 5,
    permutations: int | npt.ArrayLike = 200,
    scheme: SchemeName | None = None,
    k_perm: int = 5,
    skip_below: float | None = None,
    stop_early: bool = False,
    alpha: float = 0.05,
    seed: Seed = None,
    progress: Progress | None = None,
) -> PermutationResult:
    """Test whether x and y are independent, given z where there is one, by permuting the rows of y.

    The statistic is `knn_mutual_information`; of T statistics with permuted y, K are at least as large, and
    ``p = (1 + K) / (1 + T)``. A tie counts as exceeding.

    Parameters
    ----------
    x, y, z, k
        As for `knn_mutual_information`; discrete columns are refused.
    permutations : int or (T, n) array of integers
        How many, or row orders: row i is given ``y[order[i]]``. Without z an order must hold every row once.
    scheme : {"local", "simple"}, optional
        "local": a row takes the y of one of the rows nearest to it in z [1]_. "simple": all rows are permuted [2]_.
        Default: "local" where there is a z, "simple" without. With a z the simple scheme is no test of the level that
        it is asked for: it breaks what binds y to z as well, and so compares with data that depend less than any
        under the hypothesis. Of X = 3 Z + e and Y = 3 Z + e', which are independent given Z, it rejects 99 % of
        samples of 100 rows at the level 0.05; the local scheme rejects 11 %, and fewer of more rows.
    k_perm : int
        "local": among how many rows, itself included.
    skip_below : float, optional
        Without a permutation, x and y pass for independent when the estimate is below this, in nats [2]_, and
        Fisher's z test of the partial correlation accepts independence at `alpha`; the p-value is then that test's, and
        the result says ``skipped``. For single columns x and y.
    stop_early : bool
        End when it is certain on which side of `alpha` the p-value of all permutations would be; (1 + K) / (1 + T) of
        those made is on the same side. Leave it off for exact p-values.
    alpha : float
        The level at which somebody will decide; it matters for `skip_below` and `stop_early` alone.
    seed : None, int or numpy.random.Generator
    progress : callable or True, optional
        True for a bar, or ``progress(what, done, total)``, in permutations.

    Returns
    -------
    PermutationResult

    Raises
    ------
    SchemaError
        When the data do not fit (see `knn_mutual_information`) or a column is discrete: no more than 8 values again
        and again.
    FishernetError
        When an option is out of range.

    Warns
    -----
    FishernetWarning
        When more than a tenth of the rows of a column are tied.

    Notes
    -----
    What a permutation does not change is found once: the rows near each row in (x, z), sorted along an axis.
    Permutation t is a function of the seed and t.

    References
    ----------
    .. [1] J. Runge, "Conditional independence testing based on a nearest-neighbor estimator of conditional mutual
       information", AISTATS 2018.
    .. [2] J. Leppä-aho, "Methods for Learning Directed and Undirected Graphical Models", 2020, section 3.2.3, where
       `skip_below` is 0.001.

    Examples
    --------
    >>> import numpy as np
    >>> import fishernet as fn
    >>> rng = np.random.default_rng(1)
    >>> z = rng.normal(size=300)
    >>> x, y = np.cos(2 * z) + rng.normal(size=(2, 300)) / 2
    >>> bool(fn.independence.knn_test(x, y, seed=1).p_value < 0.05)
    True
    >>> bool(fn.independence.knn_test(x, y, z, seed=1).p_value > 0.05)
    True
    """
    labels, spaces = read_spaces(x, y, z)
    check_k(k, spaces[0].shape[1])
    columns = np.concatenate(spaces)
    require_continuous(labels, columns)
    warn_of_ties(labels, columns)
    given = int(permutations) if isinstance(permutations, int | np.integer) else row_orders(permutations, spaces)
    by_default: SchemeName = "local" if len(spaces[2]) else "simple"
    plan = Plan(k, given, by_default if scheme is None else scheme, k_perm, skip_below, stop_early, alpha)
    return run_test(spaces, plan, seed, Reporter(progress, PERMUTING))


class PermutingKeywords(TypedDict, total=False):
    """How rows are permuted, as `knn_test` takes it beside their number and the level."""

    scheme: SchemeName
    k_perm: int
    skip_below: float | None
    stop_early: bool


class KnnTest(IndependenceTest):
    """`knn_test` on the columns of a table of numbers: ``test(i, j, given)``.

    Parameters
    ----------
    X : (n_rows, n_columns) array or data frame of numbers
    standardize : bool
        Bring every column to mean 0 and standard deviation 1 first.
    names, k, permutations, alpha, **as_knn_test
        As for `fishernet.learn.markov_graph` and `knn_test`; permutations is a number, and the default of `scheme` is
        "local", which without a z to be near in is "simple".
    seed : None, int or numpy.random.Generator
        The permutations of a test are a function of it and of (i, j, given).
    progress : callable or True, optional
        As for `knn_test`, at every test.

    Examples
    --------
    >>> import numpy as np
    >>> import fishernet as fn
    >>> X = np.random.default_rng(1).normal(size=(200, 3))
    >>> test = fn.independence.KnnTest(X, seed=1)
    >>> test(0, 1, (2,)).permutations
    200
    """

    ranks_by_test = False

    def __init__(
        self,
        X: Any,
        *,
        names: Any = None,
        standardize: bool = True,
        k: int = 5,
        permutations: int = 200,
        alpha: float = 0.05,
        seed: Seed = None,
        progress: Progress | None = None,
        **as_knn_test: Unpack[PermutingKeywords],
    ) -> None:
        data = as_numbers(X, names, purpose="the test 'knn-mi'", remedy=STATES, gaps=True)
        if data.weights is not None:
            raise SchemaError("nearest neighbours count every row once; leave the weights out")
        check_k(k, data.n_rows)
        require_known_varying(data.names, data.numbers)
        require_continuous(data.names, data.numbers)
        warn_of_ties(data.names, data.numbers)
        if not isinstance(permutations, int | np.integer):
            message = f"permutations must be a positive integer, got {shown(permutations)}"
            raise FishernetError(message, parameter="permutations")
        self.names: tuple[str, ...] = data.names
        scaled = check.flag(standardize, "standardize")
        self._rows = TestWise(standardized(data.numbers) if scaled else data.numbers)
        self._plan = Plan(k, int(permutations), alpha=alpha, **as_knn_test)
        self.seed: int = fixed_seed(seed)
        self._reporter = Reporter(progress, PERMUTING)
        self._known: dict[tuple[int, int, tuple[int, ...]], float] = {}

    def __call__(self, i: int, j: int, given: tuple[int, ...]) -> PermutationResult:
        """Test whether column i is independent of column j given others."""
        own = np.random.SeedSequence([self.seed, i, j, *given]).generate_state(1, np.uint64)
        plan = self._plan if given else replace(self._plan, scheme="simple")
        spaces = self._spaces(i, j, given)
        if spaces is None:
            return PermutationResult(0.0, 1.0, 0, 0, seed=self.seed)
        return replace(run_test(spaces, plan, int(own[0]), self._reporter), seed=self.seed)

    def association(self, i: int, j: int, given: tuple[int, ...]) -> float:
        """Return the (conditional) mutual information in nats, without a permutation."""
        key = (min(i, j), max(i, j), given)
        if key not in self._known:
            spaces = self._spaces(*key)
            self._known[key] = (
                0.0 if spaces is None else _estimated(_core.KnnInformation(*spaces, self._plan.k), spaces, self._look)
            )
        return self._known[key]

    @property
    def permutations(self) -> int:
        """How many there are of a test that does not end early."""
        return self._plan.n_permutations

    def _look(self) -> None:
        self._reporter.step(0, self.permutations)

    def _spaces(self, i: int, j: int, given: tuple[int, ...]) -> Spaces | None:
        """Return x, y and z over the rows that are complete in them; None where these are too few to tell anything."""
        rows = self._rows.of([i, j, *given])
        return None if rows is None or rows.shape[1] < self._plan.k + 2 else (rows[:1], rows[1:2], rows[2:])


def run_test(spaces: Spaces, plan: Plan, seed: Seed, reporter: Reporter) -> PermutationResult:
    """Run a permutation test on checked (d, n) columns x, y and z."""
    given = isinstance(plan.permutations, np.ndarray)
    number = None if given else fixed_seed(seed)
    exceeding = done = 0
    total = plan.n_permutations

    def look() -> None:
        reporter.step(done, total)

    look()
    engine = _core.KnnInformation(*spaces, plan.k)
    observed = _estimated(engine, spaces, look)
    if plan.skip_below is not None and observed < plan.skip_below:
        linear = _linear_p_value(spaces)
        if linear > plan.alpha:
            return PermutationResult(observed, linear, 0, 0, skipped=True, seed=number)
    for orders in _batches(spaces, plan, number):
        exceeding += int((engine.estimate(orders, look) >= observed).sum())
        done += len(orders)
        if plan.stop_early and is_certain(exceeding, done, total, plan.alpha):
            break
    reporter.finish(done)
    p_value = (1 + exceeding) / (1 + done)
    return PermutationResult(observed, p_value, done, exceeding, stopped_early=done < total, seed=number)


def is_certain(exceeding: int, done: int, total: int, alpha: float) -> bool:
    """Whether the permutations that are left cannot move the p-value to the other side of alpha."""
    least = (1 + exceeding) / (1 + total)
    most = (1 + exceeding + total - done) / (1 + total)
    return least > alpha or most <= alpha


def row_orders(permutations: npt.ArrayLike, spaces: Spaces) -> Orders:
    """Return row orders that somebody gave, checked: (T, n) rows, and without z every one of them once per order."""
    orders = np.asarray(permutations)
    n = spaces[0].shape[1]
    if orders.ndim != 2 or orders.shape[1] != n or not len(orders) or orders.dtype.kind not in "iu":
        raise SchemaError(f"row orders must be integers of shape (T, {n}), got {orders.dtype} {orders.shape}")
    outside = np.argwhere((orders < 0) | (orders >= n))
    if len(outside):
        t, i = outside[0]
        raise SchemaError(f"row order {t}, position {i}: {orders[t, i]} is not a row from 0 to {n - 1}")
    if not len(spaces[2]):
        partial = np.flatnonzero((np.sort(orders, axis=1) != np.arange(n)).any(axis=1))
        if len(partial):
            raise SchemaError(f"row order {partial[0]} does not hold every row once, as it must without z")
    return np.ascontiguousarray(orders, dtype=np.int32)


def _batches(spaces: Spaces, plan: Plan, seed: int | None) -> Iterator[Orders]:
    """Yield row orders, some at a time; few at first where the test may end early."""
    n = spaces[0].shape[1]
    size = FIRST_ORDERS if plan.stop_early else plan.n_permutations
    most = max(1, ORDERS_AT_ONCE // n)
    near = None if plan.scheme == "simple" or seed is None else _nearest_in_z(spaces[2], plan.k_perm)
    key = 0 if seed is None else stream_key(seed)
    done = 0
    while done < plan.n_permutations:
        count = min(size, most, plan.n_permutations - done)
        if isinstance(plan.permutations, np.ndarray):
            yield plan.permutations[done : done + count]
        elif near is None:
            yield _core.draw_orders(n, count, key, done)
        else:
            yield _core.draw_local_orders(near, count, key, done)
        done += count
        size *= 2


def _nearest_in_z(z: Columns, k_perm: int) -> Orders:
    if not len(z):
        raise FishernetError(
            "scheme 'local' permutes among rows of alike z, and there is no z; use 'simple'", parameter="scheme"
        )
    if z.shape[1] < k_perm:
        raise SchemaError(f"{several(z.shape[1], 'row is', 'rows are')} too few for k_perm={k_perm}")
    return _core.nearest_others(z, k_perm - 1)[0]


def _linear_p_value(spaces: Spaces) -> float:
    x, y, z = spaces
    if len(x) != 1 or len(y) != 1:
        raise FishernetError("skip_below needs single columns x and y: it asks for their partial correlation")
    return partial_correlation_test(np.concatenate(spaces), ["x", "y", *(f"z[:, {c}]" for c in range(len(z)))]).p_value
