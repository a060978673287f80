"""The marginalization kernel of a hidden tree model, and its sum over the subtrees that pruning leaves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.data.matching import listed_items
from fishernet.kernels.features import Matrix
from fishernet.kernels.kernel import LogMadeKernel, log_mixture
from fishernet.models import HiddenTree


class HiddenTreeKernel(LogMadeKernel):
    """The probability that one history of the inner nodes gives both of two strings.

    ``k(s, t) = sum over labellings h of the inner nodes of P(h) P(s | h) P(t | h)``. Over all pairs of strings it sums
    to 1 (with arities, to the probability that they are met), so it is a P-kernel [1]_. A pair takes as many steps as
    branches times n_states squared, and fewer where strings agree below a node. In strings long or improbable
    no digits are lost; only the value itself may be below the smallest double, and then is 0: take `log`.

    Parameters
    ----------
    tree : HiddenTree, or sequence of HiddenTree
        Several are several topologies, summed with `weights` [1]_.
    weights : sequence of float, optional
        One a tree, from 0 on: the probabilities of the topologies. Equal, with sum 1, when omitted.
    log : bool
        Return log k. Logarithms are no kernel: they cannot be added to or multiplied with others.

    Raises
    ------
    SchemaError
        When there is no tree, or the weights do not fit; when called on strings of another length.
    UnknownStateError
        When called on strings with symbols outside the alphabet.

    References
    ----------
    .. [1] J. Shawe-Taylor and N. Cristianini, "Kernel methods for pattern analysis", 2004, Algorithm 12.17. A leaf
       below state a contributes P(s_l | a) P(t_l | a), and not [s_l = t_l = a] P(a | b) as printed there, and the sum
       over a child's states has P(b | a).
    .. [2] J.-P. Vert, "A tree kernel to analyse phylogenetic profiles", Bioinformatics 18, 2002.

    Examples
    --------
    >>> import fishernet as fn
    >>> move = [[0.7, 0.3], [0.1, 0.9]]
    >>> tree = fn.HiddenTree([[0, 1], [2, 3]], [0.4, 0.6], move, move, alphabet="01")
    >>> fn.kernels.HiddenTreeKernel(tree)(["0000", "0110"]).round(6)
    array([[0.011652, 0.002165],
           [0.002165, 0.000526]])
    """

    _keep, _cut = 1.0, 0.0  # the weights of going on into the subtree below an inner branch, and of cutting it off

    def __init__(
        self,
        tree: HiddenTree | Sequence[HiddenTree],
        weights: Sequence[float] | npt.NDArray[np.float64] | None = None,
        *,
        log: bool = False,
    ) -> None:
        super().__init__(log=log)
        trees = list(tree) if isinstance(tree, Iterable) and not isinstance(tree, str) else [tree]
        self.trees: tuple[HiddenTree, ...] = tuple(trees)
        if not self.trees:
            raise SchemaError("tree must be a HiddenTree, or a list of them; the list is empty", parameter="tree")
        self.weights: npt.NDArray[np.float64] = _checked_weights(weights, len(self.trees))

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
        x, y = listed_items(X), None if Y is None else listed_items(Y)

        def of(tree: HiddenTree) -> Matrix:
            return tree.native.gram(tree.encode(x), None if y is None else tree.encode(y), self._keep, self._cut, log)

        return self._sum([of(tree) for tree in self.trees], log)

    def _diag(self, X: Any, *, log: bool) -> Matrix:
        x = listed_items(X)
        return self._sum([tree.native.diagonal(tree.encode(x), self._keep, self._cut, log) for tree in self.trees], log)

    def _sum(self, parts: list[Matrix], log: bool) -> Matrix:
        if len(parts) == 1 and self.weights[0] == 1:
            return parts[0]
        if not log:
            return sum((w * part for w, part in zip(self.weights, parts, strict=True)), start=np.zeros_like(parts[0]))
        return log_mixture(self.weights, parts)

    def __repr__(self) -> str:
        inside = repr(self.trees[0]) if len(self.trees) == 1 else f"{len(self.trees)} trees"
        return f"{type(self).__name__}({inside})"


class PrunedTreeKernel(HiddenTreeKernel):
    """A sum of hidden tree kernels over all subtrees that have the root and arise by pruning complete subtrees.

    For a subtree S, ``k_S(s, t) = sum over labellings h of the inner nodes of S of P(h) P(s | h) P(t | h)``: below a
    pruned branch the two strings' histories are independent given the state above it, so that strings need to share
    only the early part of their history. With every subtree weighted, ``k = sum over S of w(S) k_S``. Each inner node
    but the root may be cut off with all that is below it; leaves stay. All subtrees together take about twice the time
    of `HiddenTreeKernel`.

    Parameters
    ----------
    tree : HiddenTree, or sequence of HiddenTree
        Several are several topologies, summed with `weights`.
    weights : sequence of float, optional
        One a tree, from 0 on. Equal, with sum 1, when omitted.
    keep : float, optional
        Each branch to an inner node is kept with this probability, independently of the others: ``w(S)`` is the
        probability of S, and the kernel a P-kernel. 1 is `HiddenTreeKernel`. When omitted every subtree has weight 1;
        their number grows exponentially with the size of the tree, and values may exceed the range of doubles: take
        `log`.
    log : bool
        Return log k.

    Raises
    ------
    FishernetError
        When `keep` is not above 0 and at most 1.

    References
    ----------
    .. [1] J. Shawe-Taylor and N. Cristianini, "Kernel methods for pattern analysis", 2004, Remark 12.21, which leaves
       open the weights, and whether the branches of a node are cut one by one (as here) or all together.
    .. [2] J.-P. Vert, "A tree kernel to analyse phylogenetic profiles", Bioinformatics 18, 2002.

    Examples
    --------
    >>> import fishernet as fn
    >>> move = [[0.7, 0.3], [0.1, 0.9]]
    >>> tree = fn.HiddenTree([[0, 1], [2, 3]], [0.4, 0.6], move, move, alphabet="01")
    >>> fn.kernels.PrunedTreeKernel(tree, keep=0.5)(["0000", "0110"]).round(6)
    array([[0.008397, 0.001799],
           [0.001799, 0.000477]])
    """

    def __init__(
        self,
        tree: HiddenTree | Sequence[HiddenTree],
        weights: Sequence[float] | npt.NDArray[np.float64] | None = None,
        *,
        keep: float | None = None,
        log: bool = False,
    ) -> None:
        if keep is not None:
            keep = check.number(keep, "keep", above=0, most=1)
        super().__init__(tree, weights, log=log)
        self.keep = keep
        if keep is None:
            self._cut = 1.0
        else:
            self._keep, self._cut = float(keep), 1.0 - float(keep)


def _checked_weights(weights: Sequence[float] | npt.NDArray[np.float64] | None, n: int) -> npt.NDArray[np.float64]:
    numbers = np.full(n, 1 / n) if weights is None else check.numbers(weights, "weights")
    if numbers.shape != (n,):
        raise SchemaError(f"{n} trees need {n} weights, got shape {numbers.shape}")
    if not np.isfinite(numbers).all() or (numbers < 0).any() or not (numbers > 0).any():
        raise SchemaError(f"weights must be finite, from 0 on and not all 0; got {numbers.tolist()}")
    numbers.flags.writeable = False
    return numbers
