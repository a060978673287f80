"""Weighted sums of the kernels of several trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.errors import SchemaError
from fishernet.kernels.kernel import Algebra, Matrix
from fishernet.models import HiddenTree


class TreeMixture(Algebra):
    """A weighted sum of kernels of hidden trees, or its logarithms.

    Parameters
    ----------
    trees : HiddenTree, or sequence of HiddenTree
    weights : sequence of float, or None
        One a tree; None makes them equal, with sum 1.
    keep, cut : float
        Weights of going on into the subtree below an inner branch, and of cutting it off.
    log : bool
        Whether calls return log k instead of k.
    """

    def __init__(
        self,
        trees: HiddenTree | Sequence[HiddenTree],
        weights: Sequence[float] | npt.NDArray[np.float64] | None,
        *,
        keep: float,
        cut: float,
        log: bool,
    ) -> None:
        self.trees = (trees,) if isinstance(trees, HiddenTree) else tuple(trees)
        if not self.trees or not all(isinstance(tree, HiddenTree) for tree in self.trees):
            raise SchemaError("a HiddenTree is needed, or a list of them")
        self.weights = _checked_weights(weights, len(self.trees))
        self.log = bool(log)
        self._keep, self._cut = keep, cut

    def log_matrix(self, X: Any, Y: Any = None) -> Matrix:
        """Return log k for all pairs, (n, m) float64; -inf where k is 0."""
        return self._matrix(X, Y, log=True)

    def log_diag(self, X: Any) -> Matrix:
        """Return log k of each string with itself, (n,) float64; -inf where k is 0."""
        return self._diag(X, log=True)

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the values for all pairs, or their logarithms, (n, m) float64; without Y exactly symmetric."""
        return self._matrix(X, Y, log=self.log)

    def diag(self, X: Any) -> Matrix:
        """Return the value of each string with itself, or its logarithm, (n,) float64."""
        return self._diag(X, log=self.log)

    def _matrix(self, X: Any, Y: Any, *, log: bool) -> Matrix:
        x, y = _listed(X), None if Y is None else _listed(Y)

        def of(tree: HiddenTree) -> Matrix:
            return tree.native.gram(tree.encode(x), None if y is None else tree.encode(y), self._keep, self._cut, log)

        return self._sum([of(tree) for tree in self.trees], log)

    def _diag(self, X: Any, *, log: bool) -> Matrix:
        x = _listed(X)
        return self._sum([tree.native.diagonal(tree.encode(x), self._keep, self._cut, log) for tree in self.trees], log)

    def _sum(self, parts: list[Matrix], log: bool) -> Matrix:
        if len(parts) == 1 and self.weights[0] == 1:
            return parts[0]
        if not log:
            return sum((w * part for w, part in zip(self.weights, parts, strict=True)), start=np.zeros_like(parts[0]))
        total = np.full_like(parts[0], -np.inf)
        for weight, part in zip(self.weights, parts, strict=True):
            if weight > 0:
                total = np.logaddexp(total, part + np.log(weight))
        return total

    def __repr__(self) -> str:
        inside = repr(self.trees[0]) if len(self.trees) == 1 else f"{len(self.trees)} trees"
        return f"{type(self).__name__}({inside})"


def _listed(strings: Any) -> Any:
    """Return strings that can be gone through more than once."""
    return strings if isinstance(strings, str | bytes | Sequence | np.ndarray) else list(strings)


def _checked_weights(weights: Sequence[float] | npt.NDArray[np.float64] | None, n: int) -> npt.NDArray[np.float64]:
    if weights is None:
        return np.full(n, 1 / n)
    numbers = np.array(weights, dtype=np.float64)
    if numbers.shape != (n,):
        raise SchemaError(f"{n} trees need {n} weights, got shape {numbers.shape}")
    if not np.isfinite(numbers).all() or (numbers < 0).any() or not (numbers > 0).any():
        raise SchemaError(f"weights must be finite, from 0 on and not all 0; got {numbers.tolist()}")
    return numbers
