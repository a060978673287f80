"""Marginalization kernels: of a list of models, and of strings with an independent hidden state at each position."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import a, several
from fishernet.data.frames.rows import held
from fishernet.kernels.features import Matrix
from fishernet.kernels.kernel import LogMadeKernel, log_mixture
from fishernet.kernels.sequences.hmm import Block, one_length
from fishernet.models.sequences.alphabet import Alphabet, Strings, checked_rows, with_sets


class HiddenBinomialKernel(LogMadeKernel):
    """The probability that hidden states, drawn independently at each position, give both strings.

    ``k(s, t) = prod_i sum_a P_i(a) P_i(s_i | a) P_i(t_i | a)``. Over all pairs of strings of a length it sums to 1: a
    P-kernel.

    Parameters
    ----------
    prior : (n_states,) or (length, n_states) array
        P(state), the same at every position or one row a position.
    emission : (n_states, n_symbols) or (length, n_states, n_symbols) array
        P(symbol | state), likewise.
    alphabet : iterable of symbols, or Alphabet, optional
        0, 1, ... without it.
    log : bool
        Return log k.

    Raises
    ------
    SchemaError
        When the shapes do not fit or a row does not sum to 1; when called on strings that are not all of one length,
        or not of the tables' length.
    UnknownStateError
        When called on strings with symbols outside the alphabet.

    References
    ----------
    .. [1] J. Shawe-Taylor and N. Cristianini, "Kernel methods for pattern analysis", 2004, Eq. 12.1 and Remark 12.6.

    Examples
    --------
    >>> import fishernet as fn
    >>> k = fn.kernels.HiddenBinomialKernel([0.5, 0.5], [[0.8, 0.2], [0.2, 0.8]], alphabet="ab")
    >>> k(["aa", "ab"]).round(4)
    array([[0.1156, 0.0544],
           [0.0544, 0.1156]])
    """

    def __init__(
        self,
        prior: npt.ArrayLike,
        emission: npt.ArrayLike,
        *,
        alphabet: Iterable[Hashable] | Alphabet | None = None,
        log: bool = False,
    ) -> None:
        super().__init__(log=log)
        weights, rows = check.numbers(prior, "prior"), check.numbers(emission, "emission")
        if weights.ndim not in (1, 2) or rows.ndim not in (2, 3):
            raise SchemaError(
                "prior must have shape (n_states,) or (length, n_states) and emission (n_states, n_symbols) or "
                f"(length, n_states, n_symbols), got {weights.shape} and {rows.shape}"
            )
        lengths = {len(table) for table, shared in ((weights, 1), (rows, 2)) if table.ndim > shared}
        if len(lengths) > 1:
            raise SchemaError(f"prior is for {len(weights)} positions and emission for {len(rows)}")
        self.length: int | None = next(iter(lengths), None)
        self.prior: npt.NDArray[np.float64] = checked_rows(weights, "prior", (None,) * weights.ndim)
        self.emission: npt.NDArray[np.float64] = checked_rows(
            rows, "emission", (*(None,) * (rows.ndim - 2), self.prior.shape[-1], None)
        )
        if alphabet is None:
            alphabet = range(self.emission.shape[-1])
        self.alphabet: Alphabet = Alphabet.of(alphabet)
        if len(self.alphabet) != self.emission.shape[-1]:
            raise SchemaError(
                f"the alphabet has {len(self.alphabet)} symbols, and emission columns for {self.emission.shape[-1]}"
            )
        self._logs = _log_of_pairs(self.prior, with_sets(self.emission, self.alphabet.sets))

    def log_matrix(self, X: Any, Y: Any = None) -> Matrix:
        """Return log k for all pairs, (n, m) float64; -inf where k is 0."""
        x = self._block(self.alphabet.encode(X))
        y = x if Y is None else self._block(self.alphabet.encode(Y), x.shape[1] if len(x) else self.length)
        logs = np.zeros((len(x), len(y)))
        for position in range(x.shape[1] if len(x) else 0):
            logs += self._at(position)[x[:, position]][:, y[:, position]]
        return logs

    def log_diag(self, X: Any) -> Matrix:
        """Return log k of each string with itself, (n,) float64."""
        x = self._block(self.alphabet.encode(X))
        logs = np.zeros(len(x))
        for position in range(x.shape[1]):
            logs += self._at(position)[x[:, position], x[:, position]]
        return logs

    def __repr__(self) -> str:
        at = "" if self.length is None else f", {self.length} positions"
        size = f"{several(self.emission.shape[-2], 'state')}, {several(len(self.alphabet), 'symbol')}"
        return f"HiddenBinomialKernel({size}{at})"

    def _block(self, strings: Strings, length: int | None = None) -> Block:
        return one_length("HiddenBinomialKernel", strings, self.length if length is None else length)

    def _at(self, position: int) -> Matrix:
        """Return log P(s, t) for the symbols of a position."""
        logs: Matrix = self._logs[position if self.length is not None else 0]
        return logs


def _log_of_pairs(prior: Matrix, emission: Matrix) -> Matrix:
    """Return log P(s, t) for all pairs of symbols, [position or 0, s, t]; exactly symmetric."""
    pairs = np.einsum("...a,...as,...at->...st", prior, emission, emission, optimize=False)
    pairs = np.maximum(pairs, np.swapaxes(pairs, -1, -2)).reshape(-1, *emission.shape[-1:] * 2)
    with np.errstate(divide="ignore"):
        logs: Matrix = np.log(pairs)
    return logs


class DataModel(Protocol):
    """What gives data a probability."""

    def log_prob(self, data: Any, /) -> Any:
        """Return log P(x) of each item, (n,)."""
        ...


class MarginalizationKernel(LogMadeKernel):
    """The probability that one model, drawn from a prior, gives both items: ``sum_m P(m) P(x | m) P(z | m)``.

    Parameters
    ----------
    models : sequence of models
        Each with ``log_prob``: hidden Markov models, trees, networks, or anything of your own.
    prior : (n_models,) array
        P(m).
    log : bool
        Return log k.

    Raises
    ------
    SchemaError
        When there are no models, one has no ``log_prob``, there is not one prior each, or the prior does not sum to 1;
        when called, and a model does not give one number for each item.

    References
    ----------
    .. [1] J. Shawe-Taylor and N. Cristianini, "Kernel methods for pattern analysis", 2004, Definition 12.4.

    Examples
    --------
    >>> import fishernet as fn
    >>> import numpy as np
    >>> class Coin:
    ...     def __init__(self, p):
    ...         self.p = p
    ...
    ...     def log_prob(self, tosses):
    ...         return np.log([self.p if toss == "h" else 1 - self.p for toss in tosses])
    >>> fn.kernels.MarginalizationKernel([Coin(0.1), Coin(0.9)], [0.5, 0.5])(["h", "t"]).round(2)
    array([[0.41, 0.09],
           [0.09, 0.41]])
    """

    def __init__(self, models: Sequence[DataModel], prior: npt.ArrayLike, *, log: bool = False) -> None:
        super().__init__(log=log)
        self.models: tuple[Any, ...] = check.items(models, "models", "models")
        if not self.models:
            raise SchemaError("a marginalization kernel needs models")
        for number, model in enumerate(self.models):
            if not hasattr(model, "log_prob"):
                raise SchemaError(f"model {number}, {a(type(model).__name__)}, has no log_prob")
        self.prior: npt.NDArray[np.float64] = checked_rows(prior, "prior", (len(self.models),))

    def log_matrix(self, X: Any, Y: Any = None) -> Matrix:
        """Return log k for all pairs, (n, m) float64; -inf where k is 0."""
        of_x = self._log_probs(X)
        of_y = of_x if Y is None else self._log_probs(Y)
        return log_mixture(self.prior, (x[:, None] + y for x, y in zip(of_x, of_y, strict=True)))

    def log_diag(self, X: Any) -> Matrix:
        """Return log k of each item with itself, (n,) float64."""
        return log_mixture(self.prior, (x + x for x in self._log_probs(X)))

    def __repr__(self) -> str:
        return f"MarginalizationKernel({several(len(self.models), 'model')})"

    def _log_probs(self, X: Any) -> list[Matrix]:
        """Return log P(x | m), one array a model."""
        data = held(X)
        values = [np.asarray(model.log_prob(data), np.float64) for model in self.models]
        shapes = {value.shape for value in values}
        if len(shapes) > 1 or len(next(iter(shapes))) != 1:
            raise SchemaError(f"log_prob of the models must give one number an item, got the shapes {sorted(shapes)}")
        return values
