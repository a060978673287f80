"""A Markov chain of any order over sequences of symbols (Shawe-Taylor and Cristianini, 2004, example 12.32).

The next symbol is drawn given the last k, the *context* u: ``P(s) = prod_j p(s_{j+k} | s_j ... s_{j+k-1})``, given the
first k symbols. With an end symbol the string also draws after each context whether it stops there.

Scores are taken where the parameters are unconstrained numbers a that are normalized, ``p(c | u) = a_uc / sum_c a_uc``,
at a = p::

    d log P / d a_uc = (number of u c) / p(c | u) - (number of u followed by a symbol)

A letter that may be one of several symbols is summed over these: `ambiguous_steps` says what that means.

The printed special case for equal probabilities counts a u at the very end of s too, which its own general formula does
not. In this parametrisation the scores of one context, weighted by p, add to 0, so the information is singular.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Literal, NoReturn, Self

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import FishernetError, SchemaError, StateSpaceError, ZeroProbabilityError
from fishernet.base.names import several
from fishernet.base.random import Seed, draw_count, stream_key
from fishernet.data.arrays import as_integers
from fishernet.models.sequences.alphabet import Alphabet, Numbers, checked_rows
from fishernet.models.sequences.alphabet import Strings as Encoded
from fishernet.models.sequences.ambiguous_steps import Passed, Run, known_steps, passed, runs
from fishernet.models.sequences.chain_information import (
    draw_codes,
    information_of_length,
    information_until_end,
    reached_contexts,
)
from fishernet.models.sequences.counted import CountedModel
from fishernet.models.sequences.hmm_counts import require_possible
from fishernet.models.sequences.profile import Integers

Strings = Iterable[Sequence[Hashable]]

MOST_CELLS = 2**28  # of a transition table, 2 GiB
MOST_SCORES = 2**31
MOST_INFORMATION = 2**27


class MarkovChain(CountedModel):
    """A Markov chain of any order; immutable.

    Parameters
    ----------
    alphabet : iterable of symbols, or Alphabet
        With "dna", "rna" or "protein", ambiguous letters are summed over what they may be.
    order : int
        The length of a context, from 0 (independent symbols).
    transition : (n_symbols, ..., n_symbols, n_symbols) array
        ``transition[u_1, ..., u_k, c]`` is P(c | u); with `end` the last axis has one entry more.
    end : bool
        Whether the last entry of the last axis is P(the string stops | u).
    start : (n_symbols, ..., n_symbols) array, optional
        One axis for each symbol of a context: P(first k symbols). Log-probabilities and scores are given the first
        symbols and do not depend on it where they are known; samples and the information do. Without it all contexts
        are as likely.
    unknown : {"error", "skip", "any"} or symbol, optional
        What to do about a symbol that is not in the alphabet: as for `Alphabet`. "any" sums it out: the log-probability
        is that of all strings with some symbol there.

    Raises
    ------
    SchemaError
        When shapes do not fit, a number is negative or not finite, or a row does not sum to 1.
    StateSpaceError
        When the table would have more than 2**28 cells.

    Notes
    -----
    A string shorter than `order` has log-probability 0 and score 0. So has one of just that length, unless there is an
    end symbol: then it may stop or go on like any other.

    Where the first `order` symbols are not all known, it is the log-probability of the rest given that they are among
    those meant, with the shares that `start` gives these.

    Examples
    --------
    >>> import fishernet as fn
    >>> chain = fn.MarkovChain("ab", 1, [[0.9, 0.1], [0.5, 0.5]])
    >>> chain.log_prob(["aab", "b"]).round(3)
    array([-2.408,  0.   ])
    >>> chain.fisher_scores(["aab"]).round(3)
    array([[-0.889,  8.   ,  0.   ,  0.   ]])
    """

    __slots__ = ("alphabet", "end", "order", "start", "transition")

    kind: ClassVar[str] = "Markov chain"
    """What it is called."""
    values: ClassVar[Literal["symbols"]] = "symbols"
    """Its data are strings of symbols."""
    has_hidden_states: ClassVar[bool] = False
    """Every symbol is seen."""

    alphabet: Alphabet
    """The symbols."""
    order: int
    """The length of a context."""
    transition: Numbers
    """(n_symbols, ..., n_symbols + end) P(next | context)."""
    end: bool
    """Whether strings stop by an end symbol."""
    start: Numbers
    """(n_symbols, ...) P(first symbols), one axis for each symbol of a context."""

    def __init__(
        self,
        alphabet: Iterable[Hashable] | Alphabet,
        order: int,
        transition: npt.ArrayLike,
        *,
        end: bool = False,
        start: npt.ArrayLike | None = None,
        unknown: Hashable | None = None,
    ) -> None:
        symbols = Alphabet.of(alphabet, unknown=unknown)
        shape = table_shape(len(symbols), order, check.flag(end, "end"))
        self._set(
            alphabet=symbols,
            order=len(shape) - 1,
            transition=checked_rows(transition, "transition", shape),
            end=bool(end),
            start=_checked_start(start, shape[:-1]),
        )

    @property
    def n_parameters(self) -> int:
        """The number of scores: the cells of `transition`."""
        return self.transition.size

    def log_prob(self, strings: Strings) -> Numbers:
        """Return the log-probability of each string given its first symbols, (n,) float64; -inf for the impossible."""
        encoded = self.alphabet.encode(strings)
        owners, cells = self._steps(encoded)
        with np.errstate(divide="ignore"):
            logs = np.log(self.transition).ravel()
        found = np.bincount(owners, logs[cells], minlength=len(encoded)).astype(np.float64, copy=False)
        for run, through in self.passes(encoded):
            found[run.owner] += through.log
        return found

    def encode(self, strings: Strings) -> Encoded:
        """Return strings as codes of the alphabet; what is unknown is treated as it says."""
        return self.alphabet.encode(strings)

    @property
    def probability_tables(self) -> tuple[Numbers, ...]:
        """Its parameters as a table with a row for each context, a distribution."""
        return (self._rows,)

    def _of_tables(self, tables: Sequence[Numbers]) -> Self:
        alphabet, order, transition = self._parts()
        [rows] = tables
        return type(self)(alphabet, order, rows.reshape(transition.shape), **self._options())

    def counts(self, strings: Strings) -> Any:
        """Return how often each string goes from a context to a symbol, (n, n_parameters), as a sparse csr_array.

        Columns are the cells of `transition` in C order. Where symbols are not known they are expected numbers.

        Raises
        ------
        UnknownStateError
            When a symbol is not in the alphabet.
        ZeroProbabilityError
            When a string with unknown symbols is impossible.
        """
        encoded = self.alphabet.encode(strings)
        owners, cells = self._steps(encoded)
        unclear = self._unclear(encoded)
        values = np.concatenate([np.ones(len(cells)), unclear.data * self.transition.ravel()[unclear.col]])
        return _sparse(
            np.concatenate([owners, unclear.row]), np.concatenate([cells, unclear.col]), values, unclear.shape
        )

    def total_counts(self, encoded: Encoded) -> Numbers:
        """Return the sums of `counts` over strings that ``alphabet.encode`` gave, (n_parameters,)."""
        _, cells = self._steps(encoded)
        unclear = self._unclear(encoded)
        known = np.bincount(cells, minlength=self.n_parameters)
        of_others = np.bincount(unclear.col, unclear.data * self.transition.ravel()[unclear.col], self.n_parameters)
        return np.asarray(known + of_others, dtype=np.float64)

    def fisher_scores(self, strings: Strings) -> Numbers:
        """Return the derivatives of each string's log-probability ([1]_, example 12.32).

        Returns
        -------
        (n, n_parameters) float64
            Columns are the cells of `transition` in C order; unconstrained, then normalized, at normalized values.

        Raises
        ------
        UnknownStateError
            When a symbol is not in the alphabet.
        ZeroProbabilityError
            When a string is impossible.
        StateSpaceError
            When they would not fit; `counts` is sparse.

        References
        ----------
        .. [1] J. Shawe-Taylor and N. Cristianini, "Kernel methods for pattern analysis", 2004.
        """
        encoded = self.alphabet.encode(strings)
        size = len(encoded) * self.n_parameters
        if size > MOST_SCORES:
            raise StateSpaceError("the scores", cells=size, limit=MOST_SCORES, remedy="take the strings in parts")
        owners, cells = self._steps(encoded)
        p = self.transition.ravel()
        impossible = p[cells] == 0
        if impossible.any():
            self._refuse(int(owners[np.argmax(impossible)]), int(cells[np.argmax(impossible)]))
        unclear = self._unclear(encoded)  # their derivatives stand beside parameters that are 0 as well
        scores: Numbers = _sparse(owners, cells, np.ones(len(cells)), unclear.shape).toarray()
        of_context = scores + unclear.toarray() * p if unclear.nnz else scores
        of_context = of_context.reshape(len(encoded), *self._rows.shape).sum(axis=2)
        np.divide(scores, p, out=scores, where=p > 0)
        if unclear.nnz:
            scores += unclear.toarray()
        scores -= np.repeat(of_context, self.transition.shape[-1], axis=1)
        return scores

    def fisher_information(self, *, length: int | None = None) -> Numbers:
        """Return the expected product of the scores of one string, exactly.

        Parameters
        ----------
        length : int
            The length of the string, whose first symbols come from `start`. A chain with an end symbol takes none: its
            strings stop by it.

        Returns
        -------
        (n_parameters, n_parameters) float64
            The block of a context is the expected number of steps from it times ``diag(1 / p) - 1``, and contexts do
            not mix (where all of p is positive). Singular, as the parametrisation is redundant.

        Raises
        ------
        FishernetError
            When a length is missing, or there is one and the chain has an end symbol, or strings may never end.
        StateSpaceError
            When it would have more than 2**27 cells.
        """
        size = self.n_parameters**2
        if size > MOST_INFORMATION:
            remedy = "use the second moments of the scores of a sample"
            raise StateSpaceError("the information", cells=size, limit=MOST_INFORMATION, remedy=remedy)
        if not self.end:
            return information_of_length(self._rows, self.start.ravel(), self._n_steps(length))
        self._refuse_length(length)
        return information_until_end(self._rows, self.start.ravel())

    def sample(self, n: int, *, length: int | npt.ArrayLike | None = None, seed: Seed = None) -> list[Any]:
        """Draw strings; the first symbols come from `start`.

        Parameters
        ----------
        n : int
        length : int or (n,) array of int
            The length of all strings, or of each, from `order`. A chain with an end symbol takes none.
        seed : None, int or numpy.random.Generator

        Returns
        -------
        list of n strings
            Each a str where all symbols are single characters, otherwise a list of symbols.

        Raises
        ------
        FishernetError
            When a length is missing, too short, or given for a chain with an end symbol, or strings may never end.
        """
        lengths = self._wanted_lengths(draw_count(n), length)
        random = np.random.Generator(np.random.Philox(key=stream_key(seed)))
        drawn = draw_codes(self._rows, self.start.ravel(), self.order, len(self.alphabet), lengths, random)
        return [self.alphabet.string(codes.tolist()) for codes in drawn]

    def _parts(self) -> tuple[Any, ...]:
        return self.alphabet, self.order, self.transition

    def _options(self) -> dict[str, Any]:
        return {"end": self.end, "start": self.start}

    def __repr__(self) -> str:
        return f"MarkovChain(order {self.order}, {several(len(self.alphabet), 'symbol')}{', end' if self.end else ''})"

    @property
    def _rows(self) -> Numbers:
        """One row per context."""
        return self.transition.reshape(-1, self.transition.shape[-1])

    def with_unknown(self, unknown: Hashable) -> Self:
        """Return the chain with another way to deal with symbols that are not in its alphabet.

        Examples
        --------
        >>> import numpy as np
        >>> import fishernet as fn
        >>> chain = fn.MarkovChain("ab", 1, [[0.9, 0.1], [0.5, 0.5]]).with_unknown("any")
        >>> np.exp(chain.log_prob(["a?b"])).round(3)  # 0.9 0.1 + 0.1 0.5
        array([0.14])
        """
        return type(self)(self.alphabet.taking(unknown), *self._parts()[1:], **self._options())

    def passes(self, encoded: Encoded) -> Iterator[tuple[Run, Passed]]:
        """Yield what is found about the parts of strings whose symbols are not all known."""
        start, n_symbols = self.start.ravel(), len(self.alphabet)
        for run in runs(encoded, self.order, n_symbols, self.end):
            yield run, passed(run, self._rows, start, n_symbols)

    def _steps(self, encoded: Encoded) -> tuple[Integers, Integers]:
        """Return the string and the cell of `transition` of every step among known symbols."""
        return known_steps(encoded, self.transition.shape, len(self.alphabet))

    def _unclear(self, encoded: Encoded) -> Any:
        """Return the derivatives of the strings' log-probabilities by the other steps, a sparse coo_array."""
        rows: list[Integers] = [np.zeros(0, np.int64)]
        found = [(np.zeros(0, np.int64), np.zeros(0))]
        possible = np.ones(len(encoded), bool)
        for run, through in self.passes(encoded):
            possible[run.owner] &= through.log > -np.inf
            rows.append(np.full(len(through.cells), run.owner))
            found.append((through.cells, through.derivatives))
        require_possible(possible)
        cells, values = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return _sparse(np.concatenate(rows), cells, values, (len(encoded), self.n_parameters)).tocoo()

    def _n_steps(self, length: int | None) -> int:
        if length is None:
            raise FishernetError("the information of strings depends on their length; give length=")
        return max(check.integer(length, "length", least=0, most=MOST_LENGTH) - self.order, 0)

    def _wanted_lengths(self, n: int, length: int | npt.ArrayLike | None) -> Integers:
        """Return how long each drawn string is at most."""
        if self.end:
            self._refuse_length(length)
            reached_contexts(self._rows, self.start.ravel())
            return np.full(n, np.iinfo(np.int64).max)
        if length is None:
            raise FishernetError("a chain without an end symbol draws strings of a given length; give length=")
        asked = as_integers(length, "length")
        if asked.shape not in ((), (n,)):
            raise SchemaError(f"length must be one integer, or one for each of {n} strings, got shape {asked.shape}")
        if asked.max(initial=0) > MOST_LENGTH:
            raise FishernetError(f"length must be at most {MOST_LENGTH:,}, got {asked.max():,}", parameter="length")
        lengths = np.broadcast_to(asked.astype(np.int64), (n,))
        if (lengths < self.order).any():
            raise FishernetError(
                f"strings begin with a context of {several(self.order, 'symbol')}; got length {lengths.min()}"
            )
        return lengths

    def _refuse_length(self, length: object) -> None:
        if length is not None:
            raise FishernetError("a chain with an end symbol takes no length=; its strings end by themselves")

    def _refuse(self, number: int, cell: int) -> NoReturn:
        *context, last = map(int, np.unravel_index(cell, self.transition.shape))
        symbols = [*self.alphabet.symbols, "the end"]
        given = [symbols[code] for code in context]
        raise ZeroProbabilityError(
            f"string {number} has {symbols[last]!r} after {given!r}, which has probability 0, and so no scores; "
            "learn the chain with smoothing above 0",
            variable=f"string {number}",
            configuration=dict(enumerate(given)),  # type: ignore[arg-type]
            state=symbols[last],
            parameter="smoothing",
        )


def _sparse(rows: Integers, columns: Integers, values: Numbers, shape: tuple[int, int]) -> Any:
    """Return a csr_array of the sums of values in the same place."""
    import scipy.sparse as sp  # slow to import, and needed by few calls

    return sp.coo_array((values, (rows, columns)), shape=shape).tocsr()


MOST_ORDER = 30  # and one axis more of an array of NumPy 1
MOST_LENGTH = 2**31 - 1  # of a string that is drawn, or summed over


def table_shape(n_symbols: int, order: int, end: bool) -> tuple[int, ...]:
    """Return the shape of a chain's table, of at most 2**28 cells."""
    check.flag(end, "end")
    order = check.integer(order, "order", least=0, most=None if n_symbols > 1 else MOST_ORDER, error=SchemaError)
    cells = n_symbols**order * (n_symbols + end) if order <= MOST_ORDER else math.inf
    if cells > MOST_CELLS:
        what = f"the table of a chain of order {order} over {several(n_symbols, 'symbol')}"
        raise StateSpaceError(what, cells=cells, limit=MOST_CELLS, remedy="take a lower order")
    return (n_symbols,) * order + (n_symbols + end,)


def _checked_start(start: npt.ArrayLike | None, shape: tuple[int, ...]) -> Numbers:
    if start is None:
        given = np.full(shape, 1 / np.prod(shape, dtype=np.int64))
    else:
        given = check.numbers(start, "start")
        if given.shape != shape:
            raise SchemaError(f"start must have shape {shape}, got {given.shape}")
    return checked_rows(given.ravel(), "start", (given.size,)).reshape(shape)
