"""What the studies of undirected graphs compare with, through libraries that others keep; for studies only.

`graphical_lasso`, `lasso_neighbourhoods` and `space` go from columns of numbers, (n_rows, n_columns), to an undirected
graph, `nonparanormal` from columns to columns, and `kcit` and `rcit` are tests for `fishernet.learn.markov_graph`.
They need scikit-learn, causal-learn, and R with its package space; `missing` says what is not installed.
"""

from __future__ import annotations

import importlib
import math
import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import norm, rankdata

import fishernet as fn

Array = npt.NDArray[np.float64]

GAMMA, N_PENALTIES, SMALLEST = 0.5, 10, 0.1  # of the graphical lasso, as in the R package huge
ALPHA, SPACE_ALPHA = 0.05, 0.1
N_FEATURES = 100  # random features of the given columns, as in RCIT's own program (its manual says 25)
HAS_SPACE = 'quit(status = !requireNamespace("space", quietly = TRUE))'
SPACE = """
asked <- commandArgs(trailingOnly = TRUE)
rows <- as.matrix(read.csv(asked[1], header = FALSE))
fit <- space::space.joint(rows, lam1 = as.numeric(asked[3]), lam2 = 0, weight = 2, iter = 3)
write.table(1 * (abs(fit$ParCor) > 1e-6), asked[2], sep = ",", row.names = FALSE, col.names = FALSE)
"""


def missing(library: str) -> str:
    """Return what "sklearn", "causallearn" or "space" lacks here, or nothing."""
    if library != "space":
        return "" if find_spec(library) else f"{library} is not installed"
    if shutil.which("Rscript") is None:
        return "R is not installed"
    found = subprocess.run(["Rscript", "-e", HAS_SPACE], capture_output=True, check=False)
    return "R's package space is not installed" if found.returncode else ""


def one_blas_thread() -> AbstractContextManager[object]:
    """Leave BLAS one thread: for matrices as small as these more cost time, and seconds would depend on the machine.

    It takes threadpoolctl, which comes with scikit-learn.
    """
    if find_spec("threadpoolctl") is None:
        return nullcontext()
    limits: AbstractContextManager[object] = importlib.import_module("threadpoolctl").threadpool_limits(1)
    return limits


def varying(X: Array) -> Array:
    """Return the columns, which must be finite and not constant."""
    columns = np.asarray(X, dtype=np.float64)
    if not np.isfinite(columns).all() or (np.ptp(columns, axis=0) == 0).any():
        raise ValueError("columns must be finite numbers that vary")
    return columns


def standardized(X: Array) -> Array:
    """Return columns of mean 0 and standard deviation 1."""
    columns = varying(X)
    scaled: Array = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    return np.ascontiguousarray(scaled)


def graph(joined: npt.NDArray[np.bool_]) -> fn.UndirectedGraph:
    """Return the graph of a symmetric matrix; its nodes are v0, v1, ..."""
    return fn.UndirectedGraph([f"v{v}" for v in range(len(joined))], [np.flatnonzero(row) for row in joined])


def ebic(log_likelihood: float, n_edges: int, n: int, d: int, gamma: float = GAMMA) -> float:
    """Return the extended BIC of a Gaussian graph, ``-2 log L + E log n + 4 E gamma log d`` (Foygel, Drton, 2010)."""
    return -2 * log_likelihood + n_edges * math.log(n) + 4 * n_edges * gamma * math.log(d)


def log_likelihood(precision: Array, correlations: Array, n: int) -> float:
    """Return the log-likelihood of n centred rows, without the constant ``n d log(2 pi) / 2``."""
    sign, log_determinant = np.linalg.slogdet(precision)
    return n / 2 * (log_determinant - float((precision * correlations).sum())) if sign > 0 else -math.inf


def lasso_path(correlations: Array, number: int = N_PENALTIES, smallest: float = SMALLEST) -> Iterator[Array]:
    """Yield the precision for each penalty, from the one that leaves no edge down to a share of it.

    The path ends where the solver finds the matrix too ill-conditioned.
    """
    estimate = importlib.import_module("sklearn.covariance").graphical_lasso
    most = float(np.abs(correlations - np.diag(np.diag(correlations))).max())
    for penalty in np.geomspace(most, smallest * most, number):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that it stopped before its tolerance: the edges are seldom others
                yield np.asarray(estimate(correlations, alpha=float(penalty), enet_tol=1e-6)[1])
        except (FloatingPointError, np.linalg.LinAlgError):
            return


def long_path(correlations: Array, least: float, number: int) -> Iterator[tuple[float, Array]]:
    """Yield shares of the penalty that leaves no edge, down to the least, and the precision for each."""
    shares = np.geomspace(1.0, least, number).tolist()
    yield from zip(shares, lasso_path(correlations, number, least), strict=False)


def refitted_likelihood(columns: Array, joined: fn.UndirectedGraph) -> float:
    """Return the largest log-likelihood of a graph, without the constant; -inf where there is no maximum."""
    n = len(columns)
    named = columns - columns.mean(axis=0)
    try:
        precision = fn.learn.gaussian_network(named, joined).precision
    except fn.FishernetError:
        return -math.inf
    return log_likelihood(np.asarray(precision), named.T @ named / n, n)


def graphical_lasso(X: Array, *, gamma: float = GAMMA) -> fn.UndirectedGraph:
    """Return the graph on the path of the graphical lasso that has the smallest extended BIC; columns standardized."""
    columns = standardized(X)
    n, d = columns.shape
    correlations: Array = columns.T @ columns / n
    best, edges = math.inf, np.zeros((d, d), dtype=bool)
    for precision in lasso_path(correlations):
        joined = (precision != 0) & ~np.eye(d, dtype=bool)
        score = ebic(log_likelihood(precision, correlations, n), int(joined.sum()) // 2, n, d, gamma)
        if score < best:
            best, edges = score, joined
    return graph(edges | edges.T)


def lasso_penalty(n: int, d: int, alpha: float = ALPHA) -> float:
    """Return ``n^(-1/2) Phi^(-1)(1 - alpha / (2 d^2))``, for columns of standard deviation 1.

    It multiplies the sum of absolute values beside half the mean square; with the whole mean square, as Meinshausen and
    Bühlmann write it (Annals of Statistics 34, 2006, Eq. 9), it is twice this.
    """
    return float(norm.isf(alpha / (2 * d**2))) / math.sqrt(n)


def lasso_neighbourhoods(X: Array, *, alpha: float = ALPHA, rule: str = "and") -> fn.UndirectedGraph:
    """Return the graph that joins columns with a coefficient in each other's lasso ("and") or in one's ("or")."""
    columns = standardized(X)
    n, d = columns.shape
    lasso = importlib.import_module("sklearn.linear_model").Lasso
    products = columns.T @ columns
    chosen = np.zeros((d, d), dtype=bool)
    for v in range(d):
        rest = np.delete(np.arange(d), v)
        within = products[np.ix_(rest, rest)]  # the tolerance leaves small coefficients at zero
        model = lasso(lasso_penalty(n, d, alpha), fit_intercept=False, precompute=within, tol=1e-8, max_iter=10_000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it stopped before its tolerance: the support is seldom another
            chosen[v, rest] = model.fit(columns[:, rest], columns[:, v]).coef_ != 0
    return graph(chosen & chosen.T if rule == "and" else chosen | chosen.T)


def space(X: Array, *, alpha: float = SPACE_ALPHA) -> fn.UndirectedGraph:
    """Return the graph of the partial correlations that SPACE leaves (Peng et al., JASA 104, 2009), by its R package.

    The penalty is ``n`` times that of `lasso_neighbourhoods`, as the package's manual has it; 3 iterations, columns
    standardized and weighted by their degrees.
    """
    columns = standardized(X)
    n, d = columns.shape
    with tempfile.TemporaryDirectory() as folder:
        script, rows, found = (Path(folder) / name for name in ("run.R", "rows.csv", "found.csv"))
        script.write_text(SPACE)
        np.savetxt(rows, columns, delimiter=",", fmt="%.17g")
        asked = [os.fspath(rows), os.fspath(found), repr(n * lasso_penalty(n, d, alpha))]
        subprocess.run(["Rscript", os.fspath(script), *asked], check=True, capture_output=True)
        joined = np.loadtxt(found, delimiter=",", ndmin=2) != 0
    np.fill_diagonal(joined, False)
    return graph(joined | joined.T)


def nonparanormal(X: Array) -> Array:
    """Return columns whose value is the normal quantile of their rank, ``Phi^(-1)(rank / (n + 1))``, scaled.

    What increasing functions were applied to the columns before does not matter (Liu, Lafferty, Wasserman, JMLR 10,
    2009). Equal values share the mean of their ranks; every column is given standard deviation 1. Of the forms in use
    this is the one with ``n + 1`` below (the "shrinkage" of the R package huge).
    """
    quantiles = norm.ppf(rankdata(varying(X), axis=0) / (len(X) + 1))
    scaled: Array = quantiles / quantiles.std(axis=0)
    return np.ascontiguousarray(scaled)


class KernelTest(fn.independence.IndependenceTest):
    """A test of causal-learn's on columns of numbers: ``test(i, j, given)``.

    A test is made once: the one of j and i is that of i and j, though KCIT and RCIT do not treat the two alike.

    Parameters
    ----------
    X : (n_rows, n_columns) array
    compute : callable
        From the columns x, y and z, and the places of all, to p-value and statistic.
    """

    ranks_by_test = False

    def __init__(self, X: Array, compute: Callable[[Array, Array, Array, Sequence[int]], Sequence[Any]]) -> None:
        self._columns, self._compute = standardized(X), compute
        self._known: dict[tuple[int, ...], fn.independence.TestResult] = {}

    def __call__(self, i: int, j: int, given: tuple[int, ...]) -> fn.independence.TestResult:
        """Test whether column i is independent of column j given others."""
        key = (min(i, j), max(i, j), *given)
        if key not in self._known:
            x, y, z = (self._columns[:, list(of)] for of in (key[:1], key[1:2], given))
            p_value, statistic, *_ = self._compute(x, y, z, key)
            self._known[key] = fn.independence.TestResult(float(statistic), min(1.0, max(0.0, float(p_value))))
        return self._known[key]

    def association(self, i: int, j: int, given: tuple[int, ...]) -> float:
        """Order by the p-value: statistics given other columns are of other scales. Where it is 0, by the statistic."""
        found = self(i, j, given)
        return -found.p_value if found.p_value > 0 else found.statistic


def kcit(X: Array) -> KernelTest:
    """Return the kernel test of Zhang et al. (UAI 2011), with causal-learn's widths and its gamma approximation.

    Its memory and time grow with the square and the cube of the number of rows.
    """
    tests = importlib.import_module("causallearn.utils.KCI.KCI")

    def compute(x: Array, y: Array, z: Array, key: Sequence[int]) -> Any:
        del key
        return tests.KCI_CInd().compute_pvalue(x, y, z) if z.size else tests.KCI_UInd().compute_pvalue(x, y)

    return KernelTest(X, compute)


def rcit(X: Array, seed: int = 0) -> KernelTest:
    """Return the randomized test of Strobl et al. (Causal Inference 7, 2019): 5 features of x and y, 100 of z.

    The features of a test are a function of the seed and of the columns that it tests.
    """
    tests = importlib.import_module("causallearn.utils.RCIT.RCIT")

    def compute(x: Array, y: Array, z: Array, key: Sequence[int]) -> Any:
        with global_seed([seed, *key]):
            return tests.RCIT(num_f=N_FEATURES).compute_pvalue(x, y, z) if z.size else tests.RIT().compute_pvalue(x, y)

    return KernelTest(X, compute)


@contextmanager
def global_seed(numbers: list[int]) -> Iterator[None]:
    """Seed NumPy's global generator, which causal-learn draws from, and leave it as it was."""
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(np.random.SeedSequence(numbers).generate_state(4))  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002
