"""The kernel of a hidden tree summed over the subtrees that pruning leaves (P3, remark 12.21)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fishernet.errors import FishernetError
from fishernet.kernels.trees.mixture import TreeMixture
from fishernet.models import HiddenTree


class PrunedTreeKernel(TreeMixture):
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
        Each branch to an inner node is kept with this probability, by itself: ``w(S)`` is the probability of S, and
        the kernel a P-kernel. 1 is `HiddenTreeKernel`. When omitted every subtree has weight 1; their number grows
        exponentially with the size of the tree, and values may exceed the range of doubles: take `log`.
    log : bool
        Return log k.

    Raises
    ------
    FishernetError
        When `keep` is not above 0 and at most 1.

    References
    ----------
    .. [1] P3, remark 12.21; it leaves the weights open, and whether the branches of a node are cut one by one (here) or
       all together.
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
        if keep is not None and not 0 < keep <= 1:
            raise FishernetError(f"keep must be a probability above 0, got {keep!r}")
        self.keep = keep
        kept, cut = (1.0, 1.0) if keep is None else (float(keep), 1.0 - float(keep))
        super().__init__(tree, weights, keep=kept, cut=cut, log=log)
