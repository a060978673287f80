"""Gram matrices of strings, for estimators with ``kernel="precomputed"``."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from fishernet.base.errors import SchemaError
from fishernet.kernels import Normalized
from fishernet.kernels.kernel import is_kernel
from fishernet.sklearn.columns import OfStrings, listed_strings


class KernelTransformer(OfStrings):
    """The kernel of strings with the strings of training: what comes before ``SVC(kernel="precomputed")``.

    Parameters
    ----------
    kernel : Kernel, or function that makes one
        A function is given the strings of training, and may learn a model of them.
    normalize : bool
        Take the cosine, ``k(x, y) / sqrt(k(x, x) k(y, y))``.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel that is used.
    strings_ : list
        The strings of training.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> import fishernet as fn
    >>> from fishernet.sklearn import KernelTransformer
    >>> model = make_pipeline(KernelTransformer(fn.kernels.SpectrumKernel(2)), SVC(kernel="precomputed"))
    >>> model.fit(["abab", "baba", "aabb", "bbaa"], [0, 0, 1, 1]).predict(["ababab", "aaabbb"])
    array([0, 1])
    """

    def __init__(self, kernel: Any, *, normalize: bool = False) -> None:
        self.kernel = kernel
        self.normalize = normalize

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Keep the strings, and make the kernel.

        Parameters
        ----------
        X : n strings
            A list, an array or a column of a frame; each a str or a sequence of symbols.
        y : ignored

        Raises
        ------
        SchemaError
            When X holds no strings, or `kernel` is and makes no kernel.
        """
        self.strings_ = listed_strings(X)
        kernel = self.kernel
        if not is_kernel(kernel) and callable(kernel):
            kernel = kernel(self.strings_)
        if not is_kernel(kernel):
            raise SchemaError(f"a kernel or a function that makes one is needed, not {type(kernel).__name__}")
        self.kernel_ = Normalized(kernel) if self.normalize else kernel
        return self

    def transform(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the kernel of each string with each string of training, (n, n_training) float64.

        Parameters
        ----------
        X : n strings
        """
        check_is_fitted(self)
        return self.kernel_(listed_strings(X), self.strings_)

    def fit_transform(self, X: Any, y: Any = None, **options: Any) -> npt.NDArray[np.float64]:
        """Return the kernel of the strings of training with one another, exactly symmetric."""
        self.fit(X, y, **options)
        return self.kernel_(self.strings_)

    @property
    def _n_features_out(self) -> int:
        return len(self.strings_)
