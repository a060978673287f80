"""The inner product of expected counts: what a model is expected to have done for a string."""

from __future__ import annotations

from typing import Any

import numpy as np

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import a, shown
from fishernet.kernels.features import Features
from fishernet.kernels.kernel import FeatureMade

PARTS = ("emission", "transition", "initial", "final")


class CountKernel(FeatureMade):
    """The inner product of expected counts: how often the hidden trajectories of a string use each parameter.

    Parameters
    ----------
    model : HiddenMarkovModel
        Or any model with `expected_counts`.
    parts : sequence of str
        Which counts: some of "emission", "transition", "initial" and "final".

    Notes
    -----
    A marginalized kernel (Shawe-Taylor and Cristianini, 2004, Remark 12.23): the counts of pairs of symbol and hidden
    state, or of pairs of states, summed over the hidden states by their posterior probability. Counts grow with the
    strings; `Normalized` makes them comparable.

    Examples
    --------
    >>> import fishernet as fn
    >>> hmm = fn.HiddenMarkovModel([1, 0], [[0.5, 0.5], [0, 1]], [[1, 0], [0.5, 0.5]], alphabet="ab")
    >>> k = fn.kernels.CountKernel(hmm, parts=["emission"])
    >>> k.features(["ab", "aab"])
    array([[1. , 0. , 0. , 1. ],
           [1.5, 0. , 0.5, 1. ]])
    """

    def __init__(self, model: Any, *, parts: Any = ("emission", "transition")) -> None:
        if not hasattr(model, "expected_counts"):
            raise SchemaError(
                f"counts need a model with hidden states; {a(type(model).__name__)} has no expected_counts"
            )
        chosen = check.items(parts, "parts", "str")
        if not chosen or not all(isinstance(part, str) and part in PARTS for part in chosen):
            known = ", ".join(map(repr, PARTS))
            raise SchemaError(f"parts must be some of {known}, in a list; got {shown(parts)}", parameter="parts")
        self._model = model
        self._parts = tuple(part for part in PARTS if part in chosen)

    @property
    def model(self) -> Any:
        """The model."""
        return self._model

    def features(self, X: Any) -> Features:
        """Return the expected counts of each string, (n, dimension) float64.

        Raises
        ------
        ZeroProbabilityError
            When a string is impossible.
        """
        counts = self._model.expected_counts(X)
        tables = [getattr(counts, part) for part in self._parts]
        if any(table is None for table in tables):
            raise SchemaError("the model has no final state, and so no counts of it")
        return np.concatenate([table.reshape(len(table), int(np.prod(table.shape[1:]))) for table in tables], axis=1)

    def __repr__(self) -> str:
        return f"CountKernel({self._model!r}, parts={list(self._parts)!r})"
