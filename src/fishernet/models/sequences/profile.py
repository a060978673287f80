"""A profile: the hidden Markov model of a family of sequences, from their alignment.

Columns where most rows have a symbol are *match* columns. Each gives a match state, which emits that column's symbols,
and a delete state, which emits none; between them stand insert states, which emit what the other columns hold::

    M_k, I_k or D_k  ->  M_k+1, I_k or D_k+1        (k = 0: the start, k + 1 past the last: the end)

Every row is one path through them, so the probabilities are smoothed shares of counts; no search is needed. `windows`
gives all substrings of one length as numbers, which Markov chains and spectrum kernels count.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import several
from fishernet.models.sequences.alphabet import Alphabet, Numbers, Strings, checked_numbers, checked_rows, evenly
from fishernet.models.sequences.hidden_markov_model import HiddenMarkovModel

GAPS = "-._~"

_NO_GAPS = str.maketrans("", "", GAPS)


@dataclass(frozen=True)
class Alignment:
    """A multiple alignment.

    Attributes
    ----------
    names : tuple of str
        One per row.
    rows : tuple of str
        Symbols and gaps (``-``, ``.``, ``_`` or ``~``), all of one width.
    columns : mapping from str to str
        Marks of the columns, each as wide as a row: of a Stockholm file the #=GC lines, as "RF" or "SS_cons".
    residues : mapping from str to mapping
        Marks of single rows, ``residues[tag][name]``: of a Stockholm file the #=GR lines.

    Raises
    ------
    SchemaError
        When there is no row, or rows or marks are of several widths.

    Examples
    --------
    >>> from fishernet.models import Alignment
    >>> alignment = Alignment(["one", "two"], ["AC-T", "A-GT"])
    >>> alignment.strings
    ('ACT', 'AGT')
    """

    names: Sequence[str]
    rows: Sequence[str]
    columns: Mapping[str, str] = field(default_factory=dict)
    residues: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Sequence[str] | Alignment) -> Alignment:
        """Return an alignment of rows that have numbers for names, or the alignment itself."""
        if isinstance(rows, Alignment):
            return rows
        if isinstance(rows, str):
            raise SchemaError("a list of rows is needed, not one row; write [row]")
        given = check.items(rows, "alignment", "rows")
        return cls([f"row {number}" for number in range(len(given))], given)

    def __post_init__(self) -> None:
        for part in ("names", "rows"):
            object.__setattr__(self, part, check.items(getattr(self, part), part, "str"))
        object.__setattr__(self, "columns", dict(self.columns))
        object.__setattr__(self, "residues", {tag: dict(of) for tag, of in self.residues.items()})
        if not self.rows:
            raise SchemaError("an alignment needs a row")
        if len(self.names) != len(self.rows):
            raise SchemaError(f"{several(len(self.names), 'name')} for {several(len(self.rows), 'row')}")
        marks = [(f"the line of marks {tag!r}", text) for tag, text in self.columns.items()]
        marks += [
            (f"the line of marks {tag!r} of {n!r}", text) for tag, of in self.residues.items() for n, text in of.items()
        ]
        for what, text in [*((f"the row {n!r}", r) for n, r in zip(self.names, self.rows, strict=True)), *marks]:
            if len(text) != self.width:
                raise SchemaError(
                    f"{what} has {several(len(text), 'column')}, the first row {self.width}; a row may be cut off, "
                    "or a name may stand there twice"
                )

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.rows[0])

    @property
    def strings(self) -> tuple[str, ...]:
        """The rows without their gaps."""
        return tuple(row.translate(_NO_GAPS) for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Alignment({several(len(self), 'row')}, {several(self.width, 'column')})"


PROTEIN = "protein"

Codes = npt.NDArray[np.int64]


def profile_hmm(
    alignment: Alignment | Sequence[str],
    *,
    alphabet: Iterable[Hashable] | Alphabet = PROTEIN,
    match_threshold: float | None = 0.5,
    smoothing: float = 1.0,
    transition_smoothing: float = 1.0,
    background: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
) -> HiddenMarkovModel:
    """Make a profile hidden Markov model of an alignment [1]_.

    Parameters
    ----------
    alignment : Alignment or list of rows
        Rows of one width, with gaps ``-``, ``.``, ``_`` or ``~``.
    alphabet : iterable of characters, or Alphabet
        Default: the 20 amino acids, with the ambiguous letters of IUPAC, which count as equal shares of the symbols
        that they may be. ``Alphabet(symbols, unknown=symbol)`` takes other letters for that symbol.
    match_threshold : float or None
        A column is a match column when at least this share of the rows (by their weights) has a symbol there; with
        None, when the alignment's marks "RF" (of a Stockholm file) have no gap there.
    smoothing : float
        The pseudo-count of a symbol in a state, on average: a state's pseudo-counts are ``smoothing * n_symbols *
        background``.
    transition_smoothing : float
        The pseudo-count of every move that the states allow.
    background : (n_symbols,) array, optional
        P(symbol) where nothing is known. Default: the shares of the symbols in the alignment, each counted once more
        than it occurs.
    weights : (n_rows,) array, optional
        How many rows each row counts for.

    Returns
    -------
    HiddenMarkovModel
        With final probabilities and an empty symbol. Its 3 n + 1 states are the n match states, the n + 1 insert states
        (insert state k comes after match state k - 1, the first before all) and the n delete states.

    Raises
    ------
    SchemaError
        When rows or weights do not fit, or no column is a match column.
    UnknownStateError
        When a row has a symbol that is not in the alphabet.
    FishernetError
        When an option is no number that it can be.

    References
    ----------
    .. [1] R. Durbin, S. Eddy, A. Krogh and G. Mitchison, *Biological Sequence Analysis*, 1998, chapter 5.

    Examples
    --------
    >>> import fishernet as fn
    >>> hmm = fn.models.profile_hmm(["AC-G", "ACTG", "A--G"], alphabet="ACGT")
    >>> hmm.n_states
    10
    >>> hmm.emission[0].argmax(), hmm.alphabet.symbols[int(hmm.emission[1].argmax())]
    (np.int64(0), 'C')
    """
    alignment = Alignment.of(alignment)
    alphabet = Alphabet.of(alphabet)
    pseudo = check.number(smoothing, "smoothing", least=0) * len(alphabet)
    of_moves = check.number(transition_smoothing, "transition_smoothing", least=0)
    shares = np.ones(len(alignment)) if weights is None else checked_numbers(weights, "weights", (len(alignment),))
    if not shares.sum() > 0:
        raise SchemaError("the alignment needs a row of positive weight")
    symbols = _symbols(alignment, alphabet)
    states = _states(symbols >= 0, _match_columns(alignment, symbols >= 0, shares, match_threshold))
    everywhere = _symbol_counts(alphabet, 1, np.zeros_like(symbols), symbols, shares)[0] + 1
    if background is not None:
        everywhere = checked_rows(background, "background", (len(alphabet),))
    counts = _symbol_counts(alphabet, 3 * states.n + 1, states.of_cells, symbols, shares)
    emission = _emission(states.n, counts, everywhere / everywhere.sum(), pseudo)
    moves = _moves(states.n, _move_counts(states, shares), of_moves)
    start, stop = moves[-1, :-1], moves[:-1, -1]
    return HiddenMarkovModel(start, moves[:-1, :-1], emission, alphabet=alphabet, final=stop, empty=True)


class States(NamedTuple):
    """The state of every cell of an alignment."""

    n: int
    """The number of match columns."""
    of_cells: Codes
    """(n_rows, width); -1 where a row has a gap in a column that is no match column."""


def _symbols(alignment: Alignment, alphabet: Alphabet) -> Codes:
    """Return the code of every cell, -1 for a gap, (n_rows, width)."""
    gaps = np.array([[symbol in GAPS for symbol in row] for row in alignment.rows], dtype=bool)
    gaps = gaps.reshape(len(alignment), alignment.width)
    codes = np.full(gaps.shape, -1, np.int64)
    codes[~gaps] = alphabet.with_skipped(alignment.strings).codes  # what is left out is as a gap
    return codes


def _match_columns(
    alignment: Alignment, there: npt.NDArray[np.bool_], shares: Numbers, threshold: float | None
) -> npt.NDArray[np.bool_]:
    if threshold is None:
        if "RF" not in alignment.columns:
            raise SchemaError('the alignment has no marks "RF" of its match columns; say match_threshold=')
        matches = np.array([mark not in GAPS for mark in alignment.columns["RF"]], dtype=bool)
    else:
        matches = shares @ there >= check.number(threshold, "match_threshold", above=0, most=1) * shares.sum()
    if not matches.any():
        raise SchemaError("no column is a match column; take a lower match_threshold")
    return matches


def _states(there: npt.NDArray[np.bool_], matches: npt.NDArray[np.bool_]) -> States:
    n = int(matches.sum())
    before: Codes = np.cumsum(matches) - matches  # match columns before each column
    of_cells = np.where(there, n + before, -1)
    of_cells[:, matches] = np.where(there[:, matches], before[matches], 2 * n + 1 + before[matches])
    return States(n, of_cells)


def _symbol_counts(alphabet: Alphabet, n_states: int, states: Codes, symbols: Codes, shares: Numbers) -> Numbers:
    """Return how often each state has each symbol; a letter that means several counts as a share of each."""
    there = symbols >= 0
    rows = np.nonzero(there)[0]
    width = alphabet.code_of_any + 1
    counts = np.bincount(states[there] * width + symbols[there], shares[rows], minlength=n_states * width)
    return evenly(counts.astype(np.float64, copy=False).reshape(n_states, width), alphabet.sets)


def _emission(n: int, counts: Numbers, background: Numbers, pseudo: float) -> Numbers:
    """Return the emission with the empty symbol's column, (3 n + 1, n_symbols + 1)."""
    emission = np.zeros((3 * n + 1, len(background) + 1))
    emission[2 * n + 1 :, -1] = 1
    seen = counts[: 2 * n + 1] + pseudo * background
    sums = seen.sum(axis=1, keepdims=True)
    emission[: 2 * n + 1, :-1] = np.where(sums > 0, seen, background) / np.where(sums > 0, sums, 1)
    return emission


def _move_counts(states: States, shares: Numbers) -> Numbers:
    """Return how often rows go from state to state, from the start (last row) and to the end (last column)."""
    outside = 3 * states.n + 1
    around = np.pad(states.of_cells, ((0, 0), (1, 1)), constant_values=outside)
    rows, _ = np.nonzero(around >= 0)
    path = around[around >= 0]
    same = rows[1:] == rows[:-1]
    size = outside + 1
    counts = np.bincount((path[:-1] * size + path[1:])[same], shares[rows[1:][same]], minlength=size * size)
    return counts.astype(np.float64, copy=False).reshape(size, size)


def _moves(n: int, counts: Numbers, pseudo: float) -> Numbers:
    """Return the probabilities of moves; from a state where no row was, all that are allowed are as likely."""
    allowed = _allowed(n)
    weights = counts + pseudo * allowed
    sums = weights.sum(axis=1, keepdims=True)
    weights = np.where(sums > 0, weights, allowed)
    moves: Numbers = weights / weights.sum(axis=1, keepdims=True)
    return moves


def _allowed(n: int) -> Numbers:
    """Return 1 for each move that the states allow; start and end are last."""
    allowed = np.zeros((3 * n + 2, 3 * n + 2))
    for k in range(n + 1):
        match_before, insert, delete_before = (k - 1 if k else -1), n + k, (2 * n + k if k else -1)
        for state in (match_before, insert, delete_before):
            allowed[state, insert] = 1
            allowed[state, [k, 2 * n + 1 + k] if k < n else [-1]] = 1
    return allowed


Integers = npt.NDArray[np.int64]


def windows(strings: Strings, bases: Sequence[int]) -> tuple[Integers, Integers]:
    """Return every substring of a length, (n_windows,) each: the string that it is in, ascending, and its number.

    There are ``bases[i]`` codes at its position i; the number is its place in an array of that shape, in C order.
    """
    width = len(bases)
    n_places = len(strings.codes) - width + 1
    if n_places <= 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    numbers = np.zeros(n_places, np.int64)
    for place, base in enumerate(bases):
        numbers *= base
        numbers += strings.codes[place : place + n_places]
    owners = np.repeat(np.arange(len(strings)), strings.lengths)
    inside = owners[:n_places] == owners[width - 1 :]
    return owners[:n_places][inside], numbers[inside]


def with_end(strings: Strings, code: int) -> Strings:
    """Return the strings, each with one more code at its end."""
    codes = np.insert(strings.codes, strings.offsets[1:], code)
    return Strings(codes, strings.offsets + np.arange(len(strings.offsets)))
