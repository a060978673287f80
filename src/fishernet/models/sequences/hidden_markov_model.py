"""A hidden Markov model over sequences of symbols (P3, 12.1.4, 12.1.5 and 12.2.2)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from fishernet.errors import SchemaError
from fishernet.models.sequences.alphabet import Alphabet
from fishernet.models.sequences.checks import Numbers, checked_numbers, checked_rows

Strings = Iterable[Sequence[Hashable]]


class HiddenMarkovModel:
    """A hidden Markov model; immutable.

    A trajectory begins in a state drawn from `initial`, draws a symbol in every state, and moves on by `transition`.

    Parameters
    ----------
    initial : (n_states,) array
        P(first state).
    transition : (n_states, n_states) array
        ``transition[b, a]`` is P(a | b), from b to a.
    emission : (n_states, n_symbols) array
        ``emission[a, s]`` is P(symbol s | a); with `empty` one column more.
    alphabet : iterable of symbols, or Alphabet, optional
        0, 1, ... without it.
    final : (n_states,) array, optional
        ``final[a]`` is the probability of stopping after a. Rows of `transition` then sum to 1 - final[a], and what
        `initial` lacks to 1 is the probability of stopping at once. Without it a string ends where it ends.
    empty : bool
        Whether the last column of `emission` is P(no symbol | a).

    Raises
    ------
    SchemaError
        When shapes do not fit, a number is negative or not finite, or a row does not sum to what it must.
    """

    __slots__ = ("__weakref__", "_alphabet", "_emission", "_empty", "_final", "_initial", "_transition")

    def __init__(
        self,
        initial: npt.ArrayLike,
        transition: npt.ArrayLike,
        emission: npt.ArrayLike,
        *,
        alphabet: Iterable[Hashable] | Alphabet | None = None,
        final: npt.ArrayLike | None = None,
        empty: bool = False,
    ) -> None:
        stops = final is not None
        self._initial = checked_rows(initial, "initial", (None,), most=stops)
        n = len(self._initial)
        self._final = None if final is None else checked_numbers(final, "final", (n,))
        self._transition = _checked_transition(transition, self._final, n)
        rows = checked_rows(emission, "emission", (n, None))
        self._emission, self._empty = _divided(rows, empty)
        n_symbols = self._emission.shape[1]
        if alphabet is None:
            alphabet = range(n_symbols)
        self._alphabet = alphabet if isinstance(alphabet, Alphabet) else Alphabet(alphabet)
        if len(self._alphabet) != n_symbols:
            raise SchemaError(f"the alphabet has {len(self._alphabet)} symbols, and emission columns for {n_symbols}")

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self._initial)

    @property
    def alphabet(self) -> Alphabet:
        """The symbols."""
        return self._alphabet

    @property
    def initial(self) -> Numbers:
        """(n_states,) P(first state)."""
        return self._initial

    @property
    def transition(self) -> Numbers:
        """(n_states, n_states) P(a | b) in row b, column a."""
        return self._transition

    @property
    def emission(self) -> Numbers:
        """(n_states, n_symbols) P(symbol | state); without the empty symbol, so rows may sum to less than 1."""
        return self._emission

    @property
    def empty(self) -> Numbers | None:
        """(n_states,) P(no symbol | state), or None when every state has a symbol."""
        return self._empty

    @property
    def final(self) -> Numbers | None:
        """(n_states,) P(stop | state), or None."""
        return self._final

    @property
    def stop_at_once(self) -> float:
        """The probability of a trajectory without any state; 0 without `final`."""
        return 0.0 if self._final is None else max(0.0, 1.0 - float(self._initial.sum()))

    def __repr__(self) -> str:
        extras = [word for word, there in (("final", self._final), ("empty", self._empty)) if there is not None]
        more = "".join(f", {word}" for word in extras)
        return f"HiddenMarkovModel({self.n_states} states, {len(self._alphabet)} symbols{more})"


def _checked_transition(transition: npt.ArrayLike, final: Numbers | None, n: int) -> Numbers:
    if final is None:
        return checked_rows(transition, "transition", (n, n))
    moves = checked_numbers(transition, "transition", (n, n))
    checked_rows(np.column_stack([moves, final]), "transition with final", (n, n + 1))
    return moves


def _divided(rows: Numbers, empty: bool) -> tuple[Numbers, Numbers | None]:
    """Return the emission of symbols and of none."""
    if not empty:
        return rows, None
    if rows.shape[1] < 2:
        raise SchemaError("with empty=True emission has a column for each symbol and one more, for none")
    symbols, none = rows[:, :-1].copy(), rows[:, -1].copy()
    symbols.flags.writeable = none.flags.writeable = False
    return symbols, none
