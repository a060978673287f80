"""The kernels of a hidden Markov model: on strings of one length, and on pairs of strings of any lengths.

`string_model` makes the model as these kernels see it: only the visits that give one of two strings a symbol are left.
A visit of a state that gives neither a symbol leaves the pair of prefixes as it is. With S the diagonal matrix of
``P(empty | a)^2`` and T the transition, any number of such visits is ``N = (I - S T)^-1``: arrivals r become r N, moves
T become T N, and a trajectory that stops with weight f (1 for every state, without a final state) stops with weight
``f + T N S f`` after a visit that gave a symbol: trajectories that end without symbols belong to the sum.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base.errors import SchemaError
from fishernet.base.names import several
from fishernet.kernels.features import Matrix
from fishernet.kernels.kernel import LogMadeKernel
from fishernet.models.sequences.alphabet import Strings, with_sets
from fishernet.models.sequences.hidden_markov_model import HiddenMarkovModel

Block = npt.NDArray[np.int32]
Positions = npt.NDArray[np.intp]

MOST_NAMED = 10  # states in a message


def one_length(what: str, strings: Strings, length: int | None = None) -> Block:
    """Return the codes of strings of one length, (n, length), for the kernel named `what`; the first's by default."""
    lengths = strings.lengths
    if length is None:
        length = int(lengths[0]) if len(lengths) else 0
    if (lengths != length).any():
        other = int(np.argmax(lengths != length))
        raise SchemaError(
            f"{what} compares strings of one length: string {other} has {several(int(lengths[other]), 'symbol')}, "
            f"others have {length}; PairHmmKernel takes strings of any lengths"
        )
    return strings.codes.reshape(len(strings), length)


def string_model(hmm: HiddenMarkovModel) -> _core.StringModel:
    """Return the model without visits that give neither of two strings a symbol."""
    states = _reached(hmm.initial > 0, hmm.transition > 0)
    moves = hmm.transition[np.ix_(states, states)]
    emission = hmm.emission[states]
    empty = np.zeros(len(states)) if hmm.empty is None else hmm.empty[states]
    stops = np.ones(len(states)) if hmm.final is None else hmm.final[states]
    # what a visit has left for others than a next visit: 1 - P(empty)^2 (1 - final), without a subtraction
    left = emission.sum(axis=1) * (1 + empty) + (0.0 if hmm.final is None else empty**2 * stops)
    silent = empty[:, None] ** 2 * moves
    _check_end(silent, left, states)
    visits = _inverse(silent, left)
    first = hmm.initial[states] @ visits
    nothing = (1.0 if hmm.final is None else hmm.stop_at_once) + float(first @ (empty**2 * stops))
    end = stops + moves @ (visits @ (empty**2 * stops))
    symbols = with_sets(emission, hmm.alphabet.sets)
    return _packed(moves, visits, symbols, empty, first, end, nothing)


def _packed(
    moves: Matrix, visits: Matrix, emission: Matrix, empty: Matrix, first: Matrix, end: Matrix, nothing: float
) -> _core.StringModel:
    """Return the core's model: states that give symbols, ordered so that those that move alike follow one another."""
    giving = np.flatnonzero(emission.any(axis=1))
    rows, group = np.unique(moves[giving], axis=0, return_inverse=True)
    group = group.ravel()
    order = giving[np.argsort(group, kind="stable")]
    into = (rows @ visits)[:, order].T  # [state, group]
    state, out_of = np.nonzero(into)
    return _core.StringModel(
        emission=np.ascontiguousarray(emission[order]),
        empty=np.ascontiguousarray(empty[order]),
        initial=np.ascontiguousarray(first[order]),
        end=np.ascontiguousarray(end[order]),
        nothing=nothing,
        group_starts=_starts(group, len(rows)),
        starts=_starts(state, len(order)),
        from_=out_of.astype(np.int32),
        weights=np.ascontiguousarray(into[state, out_of]),
    )


def _starts(of: Positions, n: int) -> npt.NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.bincount(of, minlength=n))]).astype(np.int64)


def _reached(starts: npt.NDArray[np.bool_], steps: npt.NDArray[np.bool_]) -> Positions:
    """Return the states that can be reached, in order."""
    seen = starts.copy()
    new = seen
    while new.any():
        new = steps[new].any(axis=0) & ~seen
        seen = seen | new
    return np.flatnonzero(seen)


def _check_end(silent: Matrix, left: Matrix, states: Positions) -> None:
    """Refuse a model in which visits without symbols need not come to an end."""
    ends = _reached(left > 0, silent.T > 0)
    if len(ends) < len(left):
        stuck = states[np.setdiff1d(np.arange(len(left)), ends)]
        named = ", ".join(map(str, stuck[:MOST_NAMED])) + (", ..." if len(stuck) > MOST_NAMED else "")
        raise SchemaError(
            "the linear system of the visits without a symbol is singular: the spectral radius of "
            f"P(a | b) P(empty | a)^2 is 1, because trajectories never leave the states {named}, which never give a "
            "symbol; let one of them give a symbol or, with final, stop"
        )


def _inverse(silent: Matrix, left: Matrix) -> Matrix:
    """Return the inverse of I - silent for rows with ``silent.sum() + left == 1``.

    States are taken out one by one (Grassmann, Taksar and Heyman): no number is subtracted, so every entry is right to
    rounding however close to singular the matrix is.
    """
    moves, left = silent.copy(), left.copy()
    n = len(left)
    inverse = np.eye(n)
    pivots = np.empty(n)
    for k in range(n - 1, -1, -1):
        pivots[k] = left[k] + moves[k, :k].sum()
        into = moves[:k, k] / pivots[k]
        moves[:k, :k] += np.outer(into, moves[k, :k])
        left[:k] += into * left[k]
        inverse[:k] += np.outer(into, inverse[k])
    for k in range(n):
        inverse[k] = (inverse[k] + moves[k, :k] @ inverse[:k]) / pivots[k]
    return inverse


class _OfHiddenMarkov(LogMadeKernel):
    """A kernel of a hidden Markov model."""

    def __init__(self, hmm: HiddenMarkovModel, *, log: bool = False) -> None:
        super().__init__(log=log)
        self.hmm = hmm
        self._model = string_model(hmm)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), log=self.log), (self.hmm,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.hmm!r})"


class HmmKernel(_OfHiddenMarkov):
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
    .. [1] J. Shawe-Taylor and N. Cristianini, "Kernel methods for pattern analysis", 2004, Algorithm 12.8 and Eq. 12.2
       (the code printed there reads the first symbols twice).

    Examples
    --------
    >>> import fishernet as fn
    >>> hmm = fn.HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.2, 0.8]], alphabet="ab")
    >>> fn.kernels.HmmKernel(hmm)(["aa", "ab"]).round(4)
    array([[0.1876, 0.0544],
           [0.0544, 0.0436]])
    """

    def __init__(self, hmm: HiddenMarkovModel, *, log: bool = False) -> None:
        if hmm.empty is not None and hmm.empty.any():
            raise SchemaError("states that may give no symbol make strings of many lengths; use PairHmmKernel(hmm)")
        super().__init__(hmm, log=log)

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


class PairHmmKernel(_OfHiddenMarkov):
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
    .. [1] J. Shawe-Taylor and N. Cristianini, "Kernel methods for pattern analysis", 2004, Algorithm 12.14.

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
        super().__init__(hmm, log=log)
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

    def _pairs(self, x: Strings, y: Strings, rows: Positions, columns: Positions) -> Matrix:
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


def _of_length(strings: Strings, which: Positions, length: int) -> Block:
    codes: Block = strings.codes[strings.offsets[which][:, None] + np.arange(length)]
    return codes
