"""Symbols and codes: a symbol is looked up once, here; from then on there are codes. And checks of probabilities.

A letter may stand for one of several symbols, as R in DNA does for A or G: it means a *set*. The codes from
``len(alphabet)`` on are sets. What a model says of a string with sets is what it says of the event that the string is
one of those meant: probabilities are summed over the letters, expected counts and scores are averages given the sets.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Self

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.display import Brief, brief
from fishernet.base.errors import SchemaError, UnknownStateError
from fishernet.base.names import a, several, shown
from fishernet.base.value import Value
from fishernet.data.matching import is_frame, is_table, listed_items

Symbol = Hashable

MOST_SHOWN = 30  # symbols of an alphabet in a message
TABLE_POINTS = 256  # characters whose codes are looked up; alphabets of others are searched

ERROR, SKIP, ANY = POLICIES = ("error", "skip", "any")

NUCLEOTIDES = {  # Nomenclature Committee of the IUB, 1985
    "R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC",
    "B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG", "N": "ACGT",
}  # fmt: skip
AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
NAMED: dict[str, tuple[str, dict[str, str]]] = {
    "dna": ("ACGT", {**NUCLEOTIDES, "U": "T"}),
    "rna": ("ACGU", {letter: of.replace("T", "U") for letter, of in NUCLEOTIDES.items()} | {"T": "U"}),
    "protein": (AMINO_ACIDS, {"B": "DN", "Z": "EQ", "J": "IL", "X": AMINO_ACIDS}),
}


@dataclass(frozen=True, eq=False, repr=False)
class Strings(Brief):
    """Strings as codes, one after the other."""

    codes: npt.NDArray[np.int32]
    """(total length,) positions in the alphabet; from ``len(alphabet)`` on, sets of symbols."""
    offsets: npt.NDArray[np.int64]
    """(n_strings + 1,) string i is ``codes[offsets[i]:offsets[i + 1]]``."""
    sets: npt.NDArray[np.float64] | None = None
    """(n_sets, n_symbols) 1 where a set has a symbol; None where no set is among the codes."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The lengths of the strings."""
        return np.diff(self.offsets)


def is_missing(symbol: object) -> bool:
    """Whether a symbol is None or NaN: it is not known."""
    return symbol is None or (isinstance(symbol, float | np.floating) and bool(np.isnan(symbol)))


def _is_policy(unknown: object) -> bool:
    return isinstance(unknown, str) and unknown in POLICIES


class Alphabet(Value):
    """The symbols of strings, in order; immutable.

    Parameters
    ----------
    symbols : iterable, or "dna", "rna", "protein"
        Distinct; each a character, or anything that can be a key. The three words are alphabets with the ambiguous
        letters of IUPAC (R is A or G, ..., N any), in which small letters are capitals, and U is T in DNA, T is U in
        RNA; ``list("dna")`` are three letters.
    unknown : {"error", "skip", "any"} or symbol, optional
        What to do about a symbol outside the alphabet: refuse it (the default); leave it out of its string, which gets
        shorter; take it for any symbol, so that it is summed out; or take it for this one symbol of the alphabet.
    ambiguous : mapping, optional
        From a letter to the symbols of which it means one.
    folds : bool
        Whether a letter in small is the same as in capitals, where only one of them is known.

    Raises
    ------
    SchemaError
        When there are no symbols, one appears twice, `unknown` is not one of them, or an ambiguous letter is itself a
        symbol or stands for something that is not.

    Examples
    --------
    >>> from fishernet.models.sequences.alphabet import Alphabet
    >>> dna = Alphabet("ACGT")
    >>> dna.encode(["GAT", ""]).codes
    array([2, 0, 3], dtype=int32)
    >>> Alphabet("dna").meaning(Alphabet("dna").encode(["gaR"]).codes[-1])
    ('A', 'G')
    """

    __slots__ = ("_code", "_points", "_sets", "ambiguous", "folds", "symbols", "unknown")

    symbols: tuple[Any, ...]
    """The symbols, in order."""
    unknown: Any
    """What a symbol outside the alphabet is taken for, "skip" or "any"; None where it is an error."""
    ambiguous: Mapping[Any, tuple[Any, ...]]
    """The symbols of which a letter means one."""
    folds: bool
    """Whether capitals and small letters are the same."""

    def __init__(
        self,
        symbols: Iterable[Symbol],
        *,
        unknown: Symbol | None = None,
        ambiguous: Mapping[Any, Iterable[Symbol]] | None = None,
        folds: bool = False,
    ) -> None:
        if isinstance(symbols, str) and symbols.lower() in NAMED:
            symbols, ambiguous = NAMED[symbols.lower()]
            folds = True
        given = symbols if isinstance(symbols, str) else check.items(symbols, "alphabet", "symbols")
        plain = tuple(symbol.item() if isinstance(symbol, np.generic) else symbol for symbol in given)
        for symbol in (*plain, unknown):
            require_symbol(symbol)
        self._code = {symbol: code for code, symbol in enumerate(plain)}
        if not plain:
            raise SchemaError("an alphabet needs symbols")
        if len(self._code) < len(plain):
            twice = next(symbol for code, symbol in enumerate(plain) if self._code[symbol] != code)
            raise SchemaError(f"the symbol {twice!r} is in the alphabet twice")
        if unknown is not None and unknown not in self._code and not _is_policy(unknown):
            raise SchemaError(
                f"unknown symbols are to be taken for {unknown!r}, which is not in the alphabet; say 'skip' to leave "
                "them out, 'any' to sum them out, or 'error'",
                parameter="unknown",
            )
        known = None if unknown == ERROR and ERROR not in self._code else unknown
        meant = {letter: tuple(_gone_through(of)) for letter, of in (ambiguous or {}).items()}
        self._set(symbols=plain, unknown=known, folds=check.flag(folds, "folds"), ambiguous=meant)
        self._sets = self._add_ambiguous()
        if folds:
            self._fold()
        single = all(isinstance(symbol, str) and len(symbol) == 1 for symbol in self._code)
        self._points = CodePoints({str(symbol): code for symbol, code in self._code.items()}) if single else None

    def _add_ambiguous(self) -> tuple[tuple[int, ...], ...]:
        """Give ambiguous letters codes; return the symbols of every set by their codes, that of all symbols last."""
        every = tuple(range(len(self)))
        codes: dict[tuple[int, ...], int] = {}
        found = {}
        for letter, of in self.ambiguous.items():
            strange = [symbol for symbol in of if symbol not in self._code]
            if letter in self._code or strange or not of:
                raise SchemaError(f"the letter {letter!r} cannot mean one of {list(of)}: {self._why(letter, strange)}")
            found[letter] = tuple(sorted({self._code[symbol] for symbol in of}))
            if 1 < len(found[letter]) < len(every):
                codes.setdefault(found[letter], len(every) + len(codes))
        codes[every] = len(every) + len(codes)
        self._code |= {letter: codes[of] if len(of) > 1 or of == every else of[0] for letter, of in found.items()}
        return tuple(codes)

    def _why(self, letter: Symbol, strange: list[Symbol]) -> str:
        if letter in self._code:
            return "it is a symbol itself"
        return f"{strange[0]!r} is not in the alphabet" if strange else "these are none"

    def _fold(self) -> None:
        for letter, code in list(self._code.items()):
            if isinstance(letter, str):
                self._code.setdefault(letter.lower(), code)
                self._code.setdefault(letter.upper(), code)

    @classmethod
    def of(cls, symbols: Iterable[Hashable] | Alphabet, *, unknown: Symbol | None = None) -> Alphabet:
        """Return the alphabet of some symbols, or the alphabet itself; with `unknown`, which then does so."""
        if not isinstance(symbols, Alphabet):
            return cls(symbols, unknown=unknown)
        return symbols if unknown is None else symbols.taking(unknown)

    def taking(self, unknown: Symbol) -> Self:
        """Return the alphabet with another way to deal with unknown symbols."""
        return type(self)(self.symbols, **{**self._options(), "unknown": unknown})

    @classmethod
    def seen(cls, strings: Iterable[Sequence[Symbol]], *, but: Symbol | None = None) -> Alphabet:
        """Return the alphabet of the symbols that occur in strings: sorted, or by appearance where they cannot be.

        One symbol, which stands for those that are not known, may be left out.
        """
        symbols: dict[Any, None] = {}
        for number, string in enumerate(listed_items(strings)):
            try:
                symbols.update(dict.fromkeys(_symbols_of(string)))
            except TypeError:
                raise SchemaError(f"string {number} is no sequence of symbols: {shown(string)}") from None
        for symbol in [symbol for symbol in symbols if is_missing(symbol)]:
            del symbols[symbol]
        if but is not None:
            require_symbol(but)
            symbols.pop(but, None)
        if not symbols:
            raise SchemaError("the strings have no symbols to make an alphabet of; say alphabet=")
        try:
            return cls(sorted(symbols))
        except TypeError:
            return cls(symbols)

    def with_ambiguous(self, letters: Mapping[Any, Iterable[Symbol]]) -> Self:
        """Return the alphabet with more letters that mean one of several symbols."""
        meant = {**self.ambiguous, **letters}
        return type(self)(self.symbols, **{**self._options(), "ambiguous": meant})

    def __len__(self) -> int:
        return len(self.symbols)

    def _parts(self) -> tuple[Any, ...]:
        return (self.symbols,)

    def _options(self) -> dict[str, Any]:
        return {"unknown": self.unknown, "ambiguous": self.ambiguous, "folds": self.folds}

    def __repr__(self) -> str:
        return f"Alphabet({brief(list(self.symbols))})"

    @property
    def sets(self) -> npt.NDArray[np.float64]:
        """(n_sets, n_symbols) 1 where a set has a symbol; the last has all of them."""
        found = np.zeros((len(self._sets), len(self)))
        for row, of in zip(found, self._sets, strict=True):
            row[list(of)] = 1.0
        return found

    @property
    def has_sets(self) -> bool:
        """Whether a letter may mean one of several symbols."""
        return bool(self.ambiguous) or (self.unknown == ANY and ANY not in self.symbols)

    def meaning(self, code: int) -> tuple[Any, ...]:
        """Return the symbols of which a code means one."""
        code = check.integer(code, "code", least=0, most=len(self) + len(self._sets) - 1)
        return (self.symbols[code],) if code < len(self) else tuple(self.decode(self._sets[code - len(self)]))

    def encode(self, strings: Iterable[Sequence[Symbol]]) -> Strings:
        """Return strings as codes; each string is a str or a sequence of symbols, and may be empty.

        Raises
        ------
        SchemaError
            When one string is given in place of a list of them.
        UnknownStateError
            When a symbol is not in the alphabet, and `unknown` does not say what to do then.
        """
        found = self.with_skipped(strings)
        codes, offsets = found.codes, found.offsets
        if (codes < 0).any():
            kept = codes >= 0
            offsets = np.concatenate([[0], np.cumsum(kept)])[offsets]
            codes = codes[kept]
        return Strings(codes, offsets, self.sets if (codes >= len(self)).any() else None)

    def with_skipped(self, strings: Iterable[Sequence[Symbol]]) -> Strings:
        """Return strings as codes, -1 for a symbol that is to be left out."""
        listed = listed_items(strings)
        if self._points is not None and all(type(string) is str for string in listed):
            offsets = _offsets(map(len, listed))
            codes = self._points.codes("".join(map(str, listed)))
        else:
            parts = [self._look_up(string, number) for number, string in enumerate(listed)]
            offsets = _offsets(map(len, parts))
            codes = np.concatenate([*parts, np.zeros(0, np.int32)])
        outside = codes < 0
        if outside.any():
            if self.unknown is None:
                self._refuse(listed, offsets, int(np.argmax(outside)))
            codes[outside] = self._code.get(self.unknown, -1 if self.unknown == SKIP else self.code_of_any)
        return Strings(codes, offsets)

    @property
    def code_of_any(self) -> int:
        """The code of the set of all symbols, the largest."""
        return len(self) + len(self._sets) - 1

    def decode(self, codes: Iterable[int]) -> list[Any]:
        """Return the symbols of codes."""
        most = len(self) - 1
        return [
            self.symbols[check.integer(code, "each code", least=0, most=most)]
            for code in check.items(codes, "codes", "codes")
        ]

    def string(self, codes: Iterable[int]) -> str | list[Any]:
        """Return the string of codes: a str where all symbols are single characters, otherwise a list."""
        symbols = self.decode(codes)
        return "".join(symbols) if self.is_text else symbols

    @property
    def is_text(self) -> bool:
        """Whether all symbols are single characters."""
        return all(isinstance(symbol, str) and len(symbol) == 1 for symbol in self.symbols)

    def _look_up(self, string: Sequence[Symbol], number: int) -> npt.NDArray[np.int32]:
        """Return the codes of one string, -1 for a symbol outside the alphabet."""
        numbers = isinstance(string, np.ndarray) and string.dtype.kind in "iu" and not self.ambiguous
        if numbers and isinstance(string, np.ndarray) and self.symbols == tuple(range(len(self))):
            inside = (string >= 0) & (string < len(self))
            return np.where(inside, string, -1).astype(np.int32).ravel()
        try:
            symbols = _symbols_of(string)
            codes = np.fromiter((self._code.get(symbol, -1) for symbol in symbols), np.int32)
        except TypeError:
            raise SchemaError(f"string {number} is no sequence of symbols: {shown(string)}") from None
        if (codes < 0).any() and isinstance(symbols, Sequence) and not isinstance(symbols, str):
            for place in np.flatnonzero(codes < 0).tolist():
                if is_missing(symbols[place]):
                    codes[place] = self.code_of_any
        return codes

    def _refuse(self, strings: Sequence[Sequence[Symbol]], offsets: npt.NDArray[np.int64], at: int) -> NoReturn:
        number = int(np.searchsorted(offsets, at, side="right")) - 1
        position = at - int(offsets[number])
        string: Any = strings[number]
        symbols = string.ravel().tolist() if isinstance(string, np.ndarray) else list(string)
        if position >= len(symbols):
            raise SchemaError(f"string {number} can be read only once; give a str or a list of its symbols")
        symbol = symbols[position]
        where = f"string {number} has the symbol {symbol!r} at position {position}"
        shown = ", ".join(map(repr, self.symbols[:MOST_SHOWN])) + (", ..." if len(self) > MOST_SHOWN else "")
        raise UnknownStateError(
            f"{where}, which is not in the alphabet ({shown}); unknown='any' sums over what it may be, unknown='skip' "
            "leaves it out",
            variable=f"string {number}",
            label=symbol,
            row=position,
            parameter="unknown",
        )


class CodePoints:
    """The codes of single characters, by their code points."""

    def __init__(self, code_of: Mapping[str, int]) -> None:
        points = np.array([ord(character) for character in code_of])
        codes = np.array(list(code_of.values()), np.int32)
        order = np.argsort(points)
        self._codes = codes[order]
        self._points = points[order].astype(np.uint32)
        self._table = np.full(TABLE_POINTS + 1, -1, np.int32)  # the last entry is for all other characters
        low = points < TABLE_POINTS
        self._table[points[low]] = codes[low]
        self._low = bool(low.all())

    def codes(self, text: str) -> npt.NDArray[np.int32]:
        """Return the codes of a text, -1 for a character outside the alphabet."""
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        if self._low:
            return self._table[np.minimum(points, TABLE_POINTS)]
        place = np.minimum(np.searchsorted(self._points, points), len(self._points) - 1)
        return np.where(self._points[place] == points, self._codes[place], np.int32(-1))


def alphabet_of_columns(
    symbols: Iterable[Hashable] | Alphabet | None, n_columns: int, unknown: Symbol | None = None
) -> Alphabet:
    """Return the alphabet of so many columns of an emission: 0, 1, ... by default."""
    alphabet = Alphabet.of(range(n_columns) if symbols is None else symbols, unknown=unknown)
    if len(alphabet) != n_columns:
        raise SchemaError(f"the alphabet has {several(len(alphabet), 'symbol')}, and emission columns for {n_columns}")
    return alphabet


def _gone_through(symbols: Iterable[Symbol]) -> Iterable[Symbol]:
    """Return symbols, which may be the characters of a str."""
    return symbols if isinstance(symbols, str) else check.items(symbols, "alphabet", "symbols")


def require_symbol(symbol: object) -> None:
    """Raise SchemaError when something cannot be looked up, as a list cannot."""
    try:
        hash(symbol)
    except TypeError:
        raise SchemaError(f"a symbol must be a str or a number, not {a(type(symbol).__name__)}") from None


def _symbols_of(string: Any) -> Any:
    """Return the symbols of a text, a list, an array or a column of a frame; TypeError of what holds none."""
    if isinstance(string, str):
        return string
    if is_table(string) or is_frame(string):
        raise TypeError
    return string.tolist() if isinstance(string, np.ndarray) else string


def _offsets(lengths: Iterable[int]) -> npt.NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.fromiter(lengths, np.int64))]).astype(np.int64)


Numbers = npt.NDArray[np.float64]


def with_sets(table: Numbers, sets: Numbers | None) -> Numbers:
    """Return (..., n_symbols) probabilities with a column for each set: the sum over its symbols."""
    return table if sets is None else np.ascontiguousarray(np.concatenate([table, table @ sets.T], axis=-1))


def of_symbols(derivatives: Numbers, sets: Numbers | None) -> Numbers:
    """Return (..., n_symbols) derivatives by symbols: a symbol's own, and those of the sets that have it."""
    if sets is None:
        return derivatives
    n = sets.shape[1]
    with np.errstate(invalid="ignore"):  # a derivative may be infinite
        shared = np.where(sets.T > 0, derivatives[..., None, n:], 0.0).sum(axis=-1)
    found: Numbers = derivatives[..., :n] + shared
    return found


def evenly(counts: Numbers, sets: Numbers | None) -> Numbers:
    """Return (..., n_symbols) counts: those of a set are shared evenly among its symbols."""
    if sets is None:
        return counts
    n = sets.shape[1]
    shared: Numbers = counts[..., :n] + counts[..., n:] @ (sets / sets.sum(axis=1, keepdims=True))
    return shared


ROUNDING = 1e-9


def checked_rows(values: npt.ArrayLike, what: str, shape: tuple[int | None, ...], *, most: bool = False) -> Numbers:
    """Return probabilities, read-only, whose last axis sums to 1, or with `most` to at most 1.

    A size of None in the shape is any from 1 on; `what` they are is for messages.
    """
    array = checked_numbers(values, what, shape)
    sums = array.sum(axis=-1)
    off = (sums > 1 + ROUNDING) if most else (np.abs(sums - 1) > ROUNDING)
    if np.any(off):
        row = np.unravel_index(int(np.argmax(off)), sums.shape)
        where = f"row {', '.join(map(str, row))} of {what}" if row else what
        raise SchemaError(f"{where} sums to {sums[row]:.12g}, not to {'at most ' if most else ''}1")
    return array


def checked_numbers(values: npt.ArrayLike, what: str, shape: tuple[int | None, ...]) -> Numbers:
    """Return finite, non-negative numbers of a shape, read-only."""
    array = check.numbers(values, what)
    fits = array.ndim == len(shape) and all(
        size >= 1 if wanted is None else size == wanted for size, wanted in zip(array.shape, shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise SchemaError(f"{what} must have shape ({wanted}), got {array.shape}")
    if not np.isfinite(array).all() or (array < 0).any():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array) | (array < 0))[0])
        raise SchemaError(f"{what} must hold finite numbers from 0 on, got {array[place]} at {place}")
    array.flags.writeable = False
    return array
