"""The kernel of a hidden Markov model on strings of one length (P3, 12.1.4)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fishernet.errors import SchemaError
from fishernet.kernels.kernel import Matrix
from fishernet.kernels.strings.equal_lengths import one_length
from fishernet.kernels.strings.log_kernel import LogMadeKernel
from fishernet.kernels.strings.visits import string_model
from fishernet.models.sequences.hidden_markov_model import HiddenMarkovModel


class HmmKernel(LogMadeKernel):
    """The probability that one hidden path gives both of two strings of one length.

    ``k(s, t) = sum over paths h of P(h) prod_i P(s_i | h_i) P(t_i | h_i)``, and with a final state times the
    probability of stopping after the path. Over all pairs of strings of a length it sums to 1 (with a final state, to
    the probability of that length), so it is a P-kernel. Time is the length times the transitions above 0.

    Parameters
    ----------
    hmm : HiddenMarkovModel
        Every state gives a symbol.
    log : bool
        Return log k.

    Raises
    ------
    SchemaError
        When the model has empty emissions; when called on strings of different lengths.
    UnknownStateError
        When called on strings with symbols outside the alphabet.

    References
    ----------
    .. [1] P3, algorithm 12.8 and Eq. 12.2 (its code reads the first symbols twice; ERRATA P3.3).

    Examples
    --------
    >>> import fishernet as fn
    >>> hmm = fn.HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.2, 0.8]], alphabet="ab")
    >>> fn.kernels.HmmKernel(hmm)(["aa", "ab"]).round(4)
    array([[0.1876, 0.0544],
           [0.0544, 0.0436]])
    """

    def __init__(self, hmm: HiddenMarkovModel, *, log: bool = False) -> None:
        super().__init__(log=log)
        if hmm.empty is not None and hmm.empty.any():
            raise SchemaError("states that may give no symbol make strings of many lengths; use PairHmmKernel(hmm)")
        self.hmm = hmm
        self._model = string_model(hmm)

    def log_matrix(self, X: Any, Y: Any = None) -> Matrix:
        """Return log k for all pairs, (n, m) float64; -inf where k is 0."""
        x = one_length("HmmKernel", self.hmm.alphabet.encode(X))
        if Y is None:
            return self._model.equal_lengths(x, x, True)
        y = one_length("HmmKernel", self.hmm.alphabet.encode(Y), x.shape[1] if len(x) else None)
        if not len(x) or not len(y):
            return np.empty((len(x), len(y)))
        return self._model.equal_lengths(x, y, False)

    def log_diag(self, X: Any) -> Matrix:
        """Return log k of each string with itself, (n,) float64."""
        return self._model.diagonal(one_length("HmmKernel", self.hmm.alphabet.encode(X)))

    def __repr__(self) -> str:
        return f"HmmKernel({self.hmm!r})"
