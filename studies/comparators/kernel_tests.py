"""The kernel tests of conditional independence KCIT and RCIT, by causal-learn."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import fishernet as fn
from studies.comparators.optional import Array, missing_module, standardized_columns

N_FEATURES = 100
"""Random features of what is given, as in the authors' program (its manual says 25)."""


def missing() -> str:
    """Return what is missing, or nothing."""
    return missing_module("causallearn", "causal-learn")


def available() -> bool:
    """Return whether they can run here."""
    return not missing()


class KernelTest(ABC):
    """A test of causal-learn's on columns of numbers: ``test(i, j, given)``.

    A test is made once: the one of j and i is that of i and j, though KCIT and RCIT do not treat the two alike.

    Parameters
    ----------
    X : (n_rows, n_columns) array or data frame of numbers
    """

    def __init__(self, X: Any) -> None:
        self.names, self._columns = standardized_columns(X)
        self._known: dict[tuple[int, int, tuple[int, ...]], fn.independence.TestResult] = {}

    def __call__(self, i: int, j: int, given: tuple[int, ...]) -> fn.independence.TestResult:
        """Test whether column i is independent of column j given others."""
        key = (min(i, j), max(i, j), given)
        if key not in self._known:
            x, y, z = (self._columns[:, list(of)] for of in ((key[0],), (key[1],), given))
            p_value, statistic = self._compute(x, y, z, key)
            self._known[key] = fn.independence.TestResult(float(statistic), min(1.0, max(0.0, float(p_value))))
        return self._known[key]

    def association(self, i: int, j: int, given: tuple[int, ...]) -> float:
        """Order by the p-value: statistics given other columns are of other scales. Where it is 0, by the statistic."""
        found = self(i, j, given)
        return -found.p_value if found.p_value > 0 else found.statistic

    @abstractmethod
    def _compute(self, x: Array, y: Array, z: Array, key: tuple[int, int, tuple[int, ...]]) -> tuple[float, float]:
        """Return p-value and statistic."""


class Kcit(KernelTest):
    """The kernel conditional independence test [1]_, with causal-learn's widths and its gamma approximation.

    It takes memory and time that grow with the square and the cube of the number of rows.

    References
    ----------
    .. [1] K. Zhang, J. Peters, D. Janzing and B. Schoelkopf, "Kernel-based conditional independence test and
       application in causal discovery", UAI 2011.
    """

    def _compute(self, x: Array, y: Array, z: Array, key: tuple[int, int, tuple[int, ...]]) -> tuple[float, float]:
        del key
        tests = importlib.import_module("causallearn.utils.KCI.KCI")
        found = tests.KCI_CInd().compute_pvalue(x, y, z) if z.size else tests.KCI_UInd().compute_pvalue(x, y)
        return found[0], found[1]


class Rcit(KernelTest):
    """The randomized conditional independence test [1]_: 5 random features of x and y, 100 of z.

    The features of a test are a function of the seed and of what is tested.

    References
    ----------
    .. [1] E. V. Strobl, K. Zhang and S. Visweswaran, "Approximate kernel-based conditional independence tests for fast
       non-parametric causal discovery", Journal of Causal Inference 7, 2019.
    """

    def __init__(self, X: Any, seed: int = 0) -> None:
        super().__init__(X)
        self._seed = seed

    def _compute(self, x: Array, y: Array, z: Array, key: tuple[int, int, tuple[int, ...]]) -> tuple[float, float]:
        tests = importlib.import_module("causallearn.utils.RCIT.RCIT")
        with global_seed([self._seed, key[0], key[1], *key[2]]):
            found = tests.RCIT(num_f=N_FEATURES).compute_pvalue(x, y, z) if z.size else tests.RIT().compute_pvalue(x, y)
        return found[0], found[1]


@contextmanager
def global_seed(numbers: list[int]) -> Iterator[None]:
    """Seed NumPy's global generator, which causal-learn draws from, and leave it as it was."""
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(np.random.SeedSequence(numbers).generate_state(4))  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002
