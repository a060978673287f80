"""A hidden Markov model over sequences of symbols (Shawe-Taylor and Cristianini, 2004, chapter 12)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, ClassVar, Literal, Self, overload

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import SchemaError, StateSpaceError
from fishernet.base.names import several, shown
from fishernet.base.random import Seed, generator
from fishernet.base.vocabulary import DecodeMethodName, word
from fishernet.models.sequences.alphabet import (
    Alphabet,
    Numbers,
    alphabet_of_columns,
    checked_numbers,
    checked_rows,
    with_sets,
)
from fishernet.models.sequences.alphabet import Strings as Encoded
from fishernet.models.sequences.counted import CountedModel
from fishernet.models.sequences.hmm_counts import (
    HmmCounts,
    Parameters,
    best_states,
    counts_of_each,
    draw,
    require_possible,
    scores,
    summed_counts,
)

Strings = Iterable[Sequence[Hashable]]
ROUNDING = 1e-12  # of a sum of probabilities

MOST_ENUMERATED = 2**20  # symbols of all strings of a length


class HiddenMarkovModel(CountedModel):
    """A hidden Markov model; immutable.

    A trajectory begins in a state drawn from `initial`, draws a symbol in every state, and moves on by `transition`.
    The probability of a string is the sum over the trajectories that give it:

    ==============  =====================  ==========================================================================
    final state     empty symbol           what `log_prob` is the logarithm of
    ==============  =====================  ==========================================================================
    no              no                     P(string | its length): sums to 1 over the strings of each length
    yes             no                     P(string): sums to 1 over all strings
    yes             yes                    P(string): sums to 1 over all strings
    no              yes                    a sum over trajectories of every length, the empty one included: no
                                           probability, since the trajectories of *each* length have mass 1
    ==============  =====================  ==========================================================================

    Visits without a symbol are summed exactly, by a linear system. Everything is scaled, or where doubles would leave
    their range computed with exponents of its own, so that long strings neither underflow nor lose precision.

    Parameters
    ----------
    initial : (n_states,) array
        P(first state).
    transition : (n_states, n_states) array
        ``transition[b, a]`` is P(a | b), from b to a.
    emission : (n_states, n_symbols) array
        ``emission[a, s]`` is P(symbol s | a); with `empty` one column more.
    alphabet : iterable of symbols, or Alphabet, optional
        Default: 0, 1, ... With "dna", "rna" or "protein", ambiguous letters are summed over what they may be.
    unknown : {"error", "skip", "any"} or symbol, optional
        What to do about a symbol that is not in the alphabet: as for `Alphabet`. "any" sums it out: every state gives
        it with probability 1 (less that of none).
    final : (n_states,) array, optional
        ``final[a]`` is the probability of stopping after a. Rows of `transition` then sum to 1 - final[a], and what
        `initial` lacks to 1 is the probability of stopping at once. Without it a string ends where it ends.
    empty : bool
        Whether the last column of `emission` is P(no symbol | a).

    Raises
    ------
    SchemaError
        When shapes do not fit, a number is negative or not finite, or a row does not sum to what it must. When
        probabilities are asked for: when states without a symbol can follow one another forever (the linear system is
        singular).

    Notes
    -----
    Chapter 12 of [1]_: strings of one length in 12.1.4, the empty symbol in 12.1.5, scores in 12.2.2.

    References
    ----------
    .. [1] J. Shawe-Taylor and N. Cristianini, "Kernel methods for pattern analysis", 2004.

    Examples
    --------
    >>> import fishernet as fn
    >>> hmm = fn.HiddenMarkovModel(
    ...     [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.2, 0.8]], alphabet="ab"
    ... )
    >>> hmm.log_prob(["aab", ""]).round(3)
    array([-2.341,  0.   ])
    >>> hmm.decode(["aaabbb"])[0]
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    __slots__ = ("_native", "_with_sets", "alphabet", "emission", "empty", "final", "initial", "transition")

    kind: ClassVar[str] = "hidden Markov model"
    """What it is called."""
    values: ClassVar[Literal["symbols"]] = "symbols"
    """Its data are strings of symbols."""
    has_hidden_states: ClassVar[bool] = True
    """Its states are only expected."""

    alphabet: Alphabet
    """The symbols."""
    initial: Numbers
    """(n_states,) P(first state)."""
    transition: Numbers
    """(n_states, n_states) P(a | b) in row b, column a."""
    emission: Numbers
    """(n_states, n_symbols) P(symbol | state); without the empty symbol, so rows may sum to less than 1."""
    empty: Numbers | None
    """(n_states,) P(no symbol | state), or None when every state has a symbol."""
    final: Numbers | None
    """(n_states,) P(stop | state), or None."""

    def __init__(
        self,
        initial: npt.ArrayLike,
        transition: npt.ArrayLike,
        emission: npt.ArrayLike,
        *,
        alphabet: Iterable[Hashable] | Alphabet | None = None,
        unknown: Hashable | None = None,
        final: npt.ArrayLike | None = None,
        empty: bool = False,
    ) -> None:
        starts = checked_rows(initial, "initial", (None,), most=final is not None)
        n = len(starts)
        stops = None if final is None else checked_numbers(final, "final", (n,))
        symbols, none = _divided(checked_rows(emission, "emission", (n, None)), empty)
        self._set(
            alphabet=alphabet_of_columns(alphabet, symbols.shape[1], unknown),
            initial=starts,
            transition=_checked_transition(transition, stops, n),
            emission=symbols,
            empty=none,
            final=stops,
        )
        self._native: _core.HiddenMarkov | None = None
        self._with_sets: _core.HiddenMarkov | None = None

    @classmethod
    def from_hmmlearn(cls, model: Any, *, alphabet: Iterable[Hashable] | Alphabet | None = None) -> HiddenMarkovModel:
        """Return the model of a fitted ``hmmlearn.hmm.CategoricalHMM``.

        Parameters
        ----------
        model : object
            With ``startprob_``, ``transmat_`` and ``emissionprob_``.
        alphabet : iterable of symbols, or Alphabet, optional
            Default: 0, 1, ...

        Raises
        ------
        SchemaError
            When the model is not fitted, or of another kind.
        """
        names = ("startprob_", "transmat_", "emissionprob_")
        missing = [name for name in names if not hasattr(model, name)]
        if missing:
            raise SchemaError(f"a fitted CategoricalHMM is needed; this {type(model).__name__} has no {missing[0]}")
        initial, transition, emission = (_normalized(getattr(model, name)) for name in names)
        return cls(initial, transition, emission, alphabet=alphabet)

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.initial)

    @property
    def stop_at_once(self) -> float:
        """The probability of a trajectory without any state; 0 without `final`."""
        return self.parameters.stop_at_once

    @property
    def parameters(self) -> Parameters:
        """All parameters."""
        return Parameters(self.initial, self.transition, self.emission, self.final, self.empty)

    @property
    def n_parameters(self) -> int:
        """The number of columns of the Fisher scores."""
        return sum(values.size for values in self.parameters.by_name().values())

    @property
    def native(self) -> _core.HiddenMarkov:
        """The model as the core sees it; SchemaError when states without a symbol can follow one another forever."""
        if self._native is None:
            native = self._made(self.emission)
            if native.singular >= 0:
                raise SchemaError(
                    f"from state {native.singular} on, states without a symbol follow one another forever: the linear "
                    "system of the empty symbol is singular (spectral radius 1); let one of the states emit or stop"
                )
            self._native = native
        return self._native

    def native_for(self, strings: Encoded) -> _core.HiddenMarkov:
        """Return the model as the core sees it that knows the codes of these strings, sets of symbols too."""
        if strings.sets is None:
            return self.native
        if self._with_sets is None and self.native is not None:  # a singular one is refused
            self._with_sets = self._made(with_sets(self.emission, strings.sets))
        assert self._with_sets is not None
        return self._with_sets

    def _made(self, emission: Numbers) -> _core.HiddenMarkov:
        own = self.initial, self.transition, emission, self.empty, self.final, self.stop_at_once
        return _core.HiddenMarkov(*own, n_single=len(self.alphabet))

    def with_unknown(self, unknown: Hashable) -> Self:
        """Return the model with another way to deal with symbols that are not in its alphabet.

        Examples
        --------
        >>> import fishernet as fn
        >>> hmm = fn.learn.hidden_markov_model(["aab", "abb"], n_states=2, seed=1)
        >>> hmm.with_unknown("any").log_prob(["axb"]).shape
        (1,)
        """
        return type(self)(*self._parts(), **{**self._options(), "alphabet": self.alphabet.taking(unknown)})

    def log_prob(self, strings: Strings) -> Numbers:
        """Return the log-probability of each string, (n,) float64 in nats; -inf for an impossible one.

        Parameters
        ----------
        strings : iterable of strings
            Each a str or a sequence of symbols; the empty string is one too.

        Raises
        ------
        SchemaError
            When one string is given in place of a list, or the model is singular.
        UnknownStateError
            When a symbol is not in the alphabet.
        """
        encoded = self.alphabet.encode(strings)
        return self.native_for(encoded).log_prob(encoded.codes, encoded.offsets)

    @overload
    def posterior(self, strings: Strings, *, return_log_prob: Literal[False] = False) -> list[Numbers]: ...

    @overload
    def posterior(self, strings: Strings, *, return_log_prob: Literal[True]) -> tuple[list[Numbers], Numbers]: ...

    def posterior(
        self, strings: Strings, *, return_log_prob: bool = False
    ) -> list[Numbers] | tuple[list[Numbers], Numbers]:
        """Return P(state of the symbol | string) for every symbol, one (length, n_states) array per string.

        With `return_log_prob` the log-probability of each string comes too, (n,) float64; it costs nothing more.

        Raises
        ------
        ZeroProbabilityError
            When a string is impossible.
        """
        encoded = self.alphabet.encode(strings)
        flat, logs = self.native_for(encoded).posterior(encoded.codes, encoded.offsets)
        require_possible(~np.isneginf(logs))
        shares = [flat[first:end] for first, end in itertools.pairwise(encoded.offsets.tolist())]
        return (shares, logs) if check.flag(return_log_prob, "return_log_prob") else shares

    def decode(self, strings: Strings, *, method: DecodeMethodName = "viterbi") -> list[npt.NDArray[np.int32]]:
        """Return the state of every symbol (but those left out), one (length,) int32 array per string.

        Parameters
        ----------
        strings : iterable of strings
        method : {"viterbi", "posterior"}
            Along the most probable trajectory, whose states without a symbol are left out; or the most probable state
            of each symbol on its own. Ties go to the first state.

        Raises
        ------
        SchemaError
            When the method is unknown.
        ZeroProbabilityError
            When a string is impossible.
        """
        if word(method, "method", ("viterbi", "posterior"), error=SchemaError) == "posterior":
            return [share.argmax(axis=1).astype(np.int32) for share in self.posterior(strings)]
        encoded = self.alphabet.encode(strings)
        states = best_states(self.parameters, encoded)
        return [states[first:end] for first, end in itertools.pairwise(encoded.offsets.tolist())]

    def expected_counts(self, strings: Strings) -> HmmCounts:
        """Return how often the trajectories of each string are expected to use each parameter."""
        encoded = self.alphabet.encode(strings)
        return counts_of_each(self.native_for(encoded), self.parameters, encoded)

    def encode(self, strings: Strings) -> Encoded:
        """Return strings as codes of the alphabet; what is unknown is treated as it says."""
        return self.alphabet.encode(strings)

    @property
    def _stops_at_once(self) -> bool:
        """Whether trajectories may be empty by more than rounding."""
        return self.stop_at_once > ROUNDING

    @property
    def probability_tables(self) -> tuple[Numbers, ...]:
        """Its parameters as tables whose rows are distributions: of symbols, of the next state, and of the first one.

        The empty symbol, stopping after a state and stopping at once are last columns, where there are some.
        """
        emission = self.parameters.by_name()["emission"]
        if self.final is None:
            return emission, self.transition, self.initial[None]
        moves = np.column_stack([self.transition, self.final])
        return emission, moves, np.append(self.initial, self.stop_at_once if self._stops_at_once else 0.0)[None]

    def _of_tables(self, tables: Sequence[Numbers]) -> Self:
        emission, moves, begin = tables
        stops = None if self.final is None else moves[:, -1]
        n = self.n_states
        options = {**self._options(), "final": stops}
        return type(self)(begin[0, :n], moves[:, :n], emission, **options)

    def counts(self, strings: Strings) -> Numbers:
        """Return how often each string is expected to use each parameter, (n, cells of `probability_tables`).

        Raises
        ------
        ZeroProbabilityError
            When a string is impossible.

        Examples
        --------
        >>> import fishernet as fn
        >>> hmm = fn.HiddenMarkovModel([1, 0], [[0.5, 0.5], [0, 1]], [[1, 0], [0.5, 0.5]], alphabet="ab")
        >>> hmm.counts(["ab"])  # two symbols, a move, a beginning
        array([[1., 0., 0., 1., 0., 1., 0., 0., 1., 0.]])
        """
        return self._cells(self.expected_counts(strings))

    def total_counts(self, encoded: Encoded) -> Numbers:
        """Return the sums of `counts` over strings that ``alphabet.encode`` gave, (cells,)."""
        found = summed_counts(self.native_for(encoded), self.parameters, encoded)
        return np.asarray(self._cells(found, len(encoded))[0])

    def _cells(self, found: HmmCounts, of: int = 1) -> Numbers:
        """Return counts of each string, or of so many together, in the order of `probability_tables`."""
        moves, begin = found.transition, found.initial
        if found.final is not None:
            moves = np.concatenate([moves, found.final[..., None]], axis=2)
            at_once = np.maximum(of - begin.sum(axis=1), 0.0) if self._stops_at_once else np.zeros(len(begin))
            begin = np.column_stack([begin, at_once])
        parts = (found.emission, moves, begin)
        return np.concatenate([part.reshape(len(begin), math.prod(part.shape[1:])) for part in parts], axis=1)

    def fisher_scores(self, strings: Strings, *, parameters: Sequence[str] | None = None) -> Numbers:
        """Return the derivatives of the log-probability of each string by the parameters.

        Parameters
        ----------
        strings : iterable of strings
        parameters : sequence of str, optional
            Some of "emission", "transition", "initial" and "final"; by default all.

        Returns
        -------
        (n, n_parameters) float64
            Columns: emission [state, symbol] (with the empty symbol's column), transition [from, to], initial and,
            where there is one, final. Each row of probabilities is taken as numbers without a constraint that are then
            normalized, at a point where they sum to 1. A row of `transition` is one with its `final`; `initial` is one
            with the probability of stopping at once, which has no column since the others determine its score. At a
            parameter that is 0 it is the derivative all the same, and inf where no double holds it.

        Raises
        ------
        ZeroProbabilityError
            When a string is impossible.
        StateSpaceError
            When the scores would not fit.
        """
        known = tuple(self.parameters.by_name())
        wanted = known if parameters is None else check.items(parameters, "parameters")
        if not wanted or not all(isinstance(kind, str) and kind in known for kind in wanted):
            raise SchemaError(
                f"parameters must be some of {', '.join(map(repr, known))}, in a list; got {shown(parameters)}"
            )
        encoded = self.alphabet.encode(strings)
        return scores(self.native_for(encoded), self.parameters, encoded, wanted)

    def fisher_information(self, *, length: int | None = None, parameters: Sequence[str] | None = None) -> Numbers:
        """Return the Fisher information of strings of one length, by enumeration, (n_parameters, n_parameters).

        There must not be too many; of a model with a final state or an empty symbol there are infinitely many.
        """
        what = "the strings of a model with a final state or an empty symbol"
        remedy = "simulate the information"
        if self.final is not None or self.empty is not None:
            raise StateSpaceError(what, cells=math.inf, limit=MOST_ENUMERATED, remedy=remedy)
        if length is None:
            raise SchemaError("a model without a final state knows no lengths: give length, an integer from 0")
        length = check.integer(length, "length", least=0, error=SchemaError)
        n_symbols = len(self.alphabet)
        cells = math.inf if length > MOST_ENUMERATED else n_symbols**length * max(length, 1)
        if cells > MOST_ENUMERATED:
            raise StateSpaceError(f"the strings of length {length}", cells=cells, limit=MOST_ENUMERATED, remedy=remedy)
        strings = [self.alphabet.decode(codes) for codes in itertools.product(range(n_symbols), repeat=length)]
        logs = self.log_prob(strings)
        possible = [string for string, log in zip(strings, logs, strict=True) if log > -np.inf]
        derivatives = self.fisher_scores(possible, parameters=parameters)
        return (derivatives * np.exp(logs[logs > -np.inf])[:, None]).T @ derivatives

    def sample(self, n: int, *, length: npt.ArrayLike | None = None, seed: Seed = None) -> list[Any]:
        """Draw strings.

        Parameters
        ----------
        n : int
        length : int or (n,) array of int, optional
            The number of states of each trajectory: without the empty symbol, the length of the string. For models
            without a final state, which need it; with one, lengths are drawn too.
        seed : None, int or numpy.random.Generator

        Returns
        -------
        list
            Each a str where all symbols are single characters, otherwise a list of symbols.

        Raises
        ------
        SchemaError
            When `n` or `length` does not fit, or a trajectory might never stop.
        """
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
            raise SchemaError(f"the number of strings must be an integer from 0, got {shown(n)}")
        return [self.alphabet.string(codes) for codes in draw(self.parameters, int(n), length, generator(seed))]

    def _parts(self) -> tuple[Any, ...]:
        return self.initial, self.transition, self.parameters.by_name()["emission"]

    def _options(self) -> dict[str, Any]:
        return {"alphabet": self.alphabet, "final": self.final, "empty": self.empty is not None}

    def __repr__(self) -> str:
        extras = [word for word, there in (("final", self.final), ("empty", self.empty)) if there is not None]
        more = "".join(f", {word}" for word in extras)
        size = f"{several(self.n_states, 'state')}, {several(len(self.alphabet), 'symbol')}"
        return f"HiddenMarkovModel({size}{more})"


def _normalized(rows: npt.ArrayLike) -> Numbers:
    """Return rows that sum to 1 to the last digits: other libraries let them be off by more."""
    array = np.asarray(rows, dtype=np.float64)
    sums = array.sum(axis=-1, keepdims=True)
    result: Numbers = np.where(np.abs(sums - 1) < 1e-3, array / sums, array)
    return result


def _checked_transition(transition: npt.ArrayLike, final: Numbers | None, n: int) -> Numbers:
    if final is None:
        return checked_rows(transition, "transition", (n, n))
    moves = checked_numbers(transition, "transition", (n, n))
    checked_rows(np.column_stack([moves, final]), "transition with final", (n, n + 1))
    return moves


def _divided(rows: Numbers, empty: bool) -> tuple[Numbers, Numbers | None]:
    """Return the emission of symbols and of none."""
    if not check.flag(empty, "empty"):
        return rows, None
    if rows.shape[1] < 2:
        raise SchemaError("with empty=True emission has a column for each symbol and one more, for none")
    symbols, none = rows[:, :-1].copy(), rows[:, -1].copy()
    symbols.flags.writeable = none.flags.writeable = False
    return symbols, none
