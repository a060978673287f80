"""The marginalization kernel of a hidden tree model (P3, algorithm 12.17)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fishernet.kernels.trees.mixture import TreeMixture
from fishernet.models import HiddenTree


class HiddenTreeKernel(TreeMixture):
    """The probability that one history of the inner nodes gives both of two strings.

    ``k(s, t) = sum over labellings h of the inner nodes of P(h) P(s | h) P(t | h)``. Over all pairs of strings it sums
    to 1 (with arities, to the probability that they are met), so it is a P-kernel. Time for a pair is the number of
    branches times n_states squared, and less where strings agree below a node. In strings that are long or improbable
    no digits are lost; only the value itself may be below the smallest double, and then is 0: take `log`.

    Parameters
    ----------
    tree : HiddenTree, or sequence of HiddenTree
        Several are several topologies, summed with `weights` (remark 12.21).
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
    .. [1] P3, 12.1.6. A leaf below state a contributes P(s_l | a) P(t_l | a), and not [s_l = t_l = a] P(a | b) as
       printed, and the sum over a child's states has P(b | a) (ERRATA P3.12, P3.13).
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

    def __init__(
        self,
        tree: HiddenTree | Sequence[HiddenTree],
        weights: Sequence[float] | npt.NDArray[np.float64] | None = None,
        *,
        log: bool = False,
    ) -> None:
        super().__init__(tree, weights, keep=1.0, cut=0.0, log=log)
