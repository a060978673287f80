"""The pair hidden Markov model kernel, on strings of any lengths (P3, 12.1.5)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.kernels.kernel import Matrix
from fishernet.kernels.strings.log_kernel import LogMadeKernel
from fishernet.kernels.strings.visits import string_model
from fishernet.models.sequences.alphabet import Strings
from fishernet.models.sequences.hidden_markov_model import HiddenMarkovModel


class PairHmmKernel(LogMadeKernel):
    """The probability that one trajectory of hidden states gives both of two strings.

    In every state of the trajectory each string gets a symbol or, with P(empty | state), none, independently of the
    other, so that all alignments of the two strings are summed over. Visits that give neither a symbol are summed by a
    linear system. Time is the product of the two lengths times the transitions above 0 (states whose rows of
    `transition` are equal count once); memory is linear in the lengths.

    With a final state the values of all pairs of strings sum to 1 (where trajectories end with probability 1): a
    P-kernel. Without one the sum is over trajectories of every length, the one without states included; each length
    has total mass 1, so it is a kernel but no P-kernel. Where no state may give no symbol, strings of different lengths
    have the value 0.

    Parameters
    ----------
    hmm : HiddenMarkovModel
    log : bool
        Return log k.

    Raises
    ------
    SchemaError
        When trajectories can go on for ever without a symbol: the spectral radius of P(a | b) P(empty | a)^2 over the
        states that can be reached is 1, and the linear system singular.
    UnknownStateError
        When called on strings with symbols outside the alphabet.

    References
    ----------
    .. [1] P3, algorithm 12.14 (ERRATA P3.5 to 11).

    Examples
    --------
    >>> import fishernet as fn
    >>> hmm = fn.HiddenMarkovModel([0.9], [[0.9]], [[0.4, 0.4, 0.2]], alphabet="ab", final=[0.1], empty=True)
    >>> fn.kernels.PairHmmKernel(hmm)(["", "a", "ab"]).round(5)
    array([[0.10373, 0.00775, 0.00058],
           [0.00775, 0.01665, 0.00244],
           [0.00058, 0.00244, 0.00285]])
    """

    def __init__(self, hmm: HiddenMarkovModel, *, log: bool = False) -> None:
        super().__init__(log=log)
        self.hmm = hmm
        self._model = string_model(hmm)
        self._aligned = hmm.empty is None or not hmm.empty.any()

    def log_matrix(self, X: Any, Y: Any = None) -> Matrix:
        """Return log k for all pairs, (n, m) float64; -inf where k is 0."""
        x = self.hmm.alphabet.encode(X)
        y = x if Y is None else self.hmm.alphabet.encode(Y)
        if self._aligned:
            return self._by_length(x, y, symmetric=Y is None)
        rows, columns = np.triu_indices(len(x)) if Y is None else np.indices((len(x), len(y))).reshape(2, -1)
        logs = np.empty((len(x), len(y)))
        logs[rows, columns] = self._pairs(x, y, rows, columns)
        if Y is None:
            logs[columns, rows] = logs[rows, columns]
        return logs

    def log_diag(self, X: Any) -> Matrix:
        """Return log k of each string with itself, (n,) float64."""
        x = self.hmm.alphabet.encode(X)
        each = np.arange(len(x))
        if not self._aligned:
            return self._pairs(x, x, each, each)
        logs = np.empty(len(x))
        for length in np.unique(x.lengths):
            rows = np.flatnonzero(x.lengths == length)
            logs[rows] = self._model.diagonal(_of_length(x, rows, length))
        return logs

    def __repr__(self) -> str:
        return f"PairHmmKernel({self.hmm!r})"

    def _pairs(self, x: Strings, y: Strings, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]) -> Matrix:
        return self._model.pairs(
            x_codes=x.codes,
            x_offsets=x.offsets,
            y_codes=y.codes,
            y_offsets=y.offsets,
            x_of=rows.astype(np.int64),
            y_of=columns.astype(np.int64),
        )

    def _by_length(self, x: Strings, y: Strings, *, symmetric: bool) -> Matrix:
        """Where every visit gives both strings a symbol."""
        logs = np.full((len(x), len(y)), -np.inf)
        for length in np.intersect1d(x.lengths, y.lengths):
            rows = np.flatnonzero(x.lengths == length)
            columns = np.flatnonzero(y.lengths == length)
            block = self._model.equal_lengths(_of_length(x, rows, length), _of_length(y, columns, length), symmetric)
            logs[np.ix_(rows, columns)] = block
        return logs


def _of_length(strings: Strings, which: npt.NDArray[np.intp], length: int) -> npt.NDArray[np.int32]:
    codes: npt.NDArray[np.int32] = strings.codes[strings.offsets[which][:, None] + np.arange(length)]
    return codes
