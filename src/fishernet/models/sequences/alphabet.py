"""Symbols and codes: a symbol is looked up once, here; from then on there are codes. And checks of probabilities."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.display import Brief, brief
from fishernet.base.errors import SchemaError, UnknownStateError
from fishernet.base.names import a, several, shown
from fishernet.base.value import Value

Symbol = Hashable

MOST_SHOWN = 30  # symbols of an alphabet in a message
TABLE_POINTS = 256  # characters whose codes are looked up; alphabets of others are searched


@dataclass(frozen=True, eq=False, repr=False)
class Strings(Brief):
    """Strings as codes, one after the other."""

    codes: npt.NDArray[np.int32]
    """(total length,) positions in the alphabet."""
    offsets: npt.NDArray[np.int64]
    """(n_strings + 1,) string i is ``codes[offsets[i]:offsets[i + 1]]``."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The lengths of the strings."""
        return np.diff(self.offsets)


class Alphabet(Value):
    """The symbols of strings, in order; immutable.

    Parameters
    ----------
    symbols : iterable
        Distinct; each a character, or anything that can be a key.
    unknown : symbol, optional
        What a symbol outside the alphabet is taken for; by default such a symbol is an error.

    Raises
    ------
    SchemaError
        When there are no symbols, one is there twice, or `unknown` is none of them.

    Examples
    --------
    >>> from fishernet.models.sequences.alphabet import Alphabet
    >>> dna = Alphabet("ACGT")
    >>> dna.encode(["GAT", ""]).codes
    array([2, 0, 3], dtype=int32)
    """

    __slots__ = ("_code", "_points", "symbols", "unknown")

    symbols: tuple[Any, ...]
    """The symbols, in order."""
    unknown: Any
    """What a symbol outside the alphabet is taken for; None where it is an error."""

    def __init__(self, symbols: Iterable[Symbol], *, unknown: Symbol | None = None) -> None:
        plain = tuple(symbol.item() if isinstance(symbol, np.generic) else symbol for symbol in _gone_through(symbols))
        for symbol in (*plain, unknown):
            require_symbol(symbol)
        self._set(symbols=plain, unknown=unknown)
        self._code = {symbol: code for code, symbol in enumerate(self.symbols)}
        if not self.symbols:
            raise SchemaError("an alphabet needs symbols")
        if len(self._code) < len(self.symbols):
            twice = next(symbol for code, symbol in enumerate(self.symbols) if self._code[symbol] != code)
            raise SchemaError(f"the symbol {twice!r} is in the alphabet twice")
        if unknown is not None and unknown not in self._code:
            raise SchemaError(f"unknown symbols are to be taken for {unknown!r}, which is not in the alphabet")
        self._points = CodePoints([str(symbol) for symbol in self.symbols]) if self.is_text else None

    @classmethod
    def of(cls, symbols: Iterable[Hashable] | Alphabet) -> Alphabet:
        """Return the alphabet of some symbols, or the alphabet itself."""
        return symbols if isinstance(symbols, Alphabet) else cls(symbols)

    @classmethod
    def seen(cls, strings: Iterable[Sequence[Symbol]], *, but: Symbol | None = None) -> Alphabet:
        """Return the alphabet of the symbols that occur in strings: sorted, or by appearance where they cannot be.

        One symbol, which stands for those that are not known, may be left out.
        """
        if isinstance(strings, str | bytes):
            raise SchemaError("a list of strings is needed, not one string; write [string]")
        symbols: dict[Any, None] = {}
        for number, string in enumerate(check.items(strings, "strings", "strings")):
            try:
                symbols.update(dict.fromkeys(string.tolist() if isinstance(string, np.ndarray) else string))
            except TypeError:
                raise SchemaError(f"string {number} is no sequence of symbols: {shown(string)}") from None
        if but is not None:
            require_symbol(but)
            symbols.pop(but, None)
        if not symbols:
            raise SchemaError("the strings have no symbols to make an alphabet of; say alphabet=")
        try:
            return cls(sorted(symbols))
        except TypeError:
            return cls(symbols)

    def __len__(self) -> int:
        return len(self.symbols)

    def _parts(self) -> tuple[Any, ...]:
        return (self.symbols,)

    def _options(self) -> dict[str, Any]:
        return {"unknown": self.unknown}

    def __repr__(self) -> str:
        return f"Alphabet({brief(list(self.symbols))})"

    def encode(self, strings: Iterable[Sequence[Symbol]]) -> Strings:
        """Return strings as codes; each string is a str or a sequence of symbols, and may be empty.

        Raises
        ------
        SchemaError
            When one string is given in place of a list of them.
        UnknownStateError
            When a symbol is not in the alphabet.
        """
        if isinstance(strings, str | bytes):
            raise SchemaError("a list of strings is needed, not one string; write [string]")
        listed = list(check.items(strings, "strings", "strings"))
        if self._points is not None and all(type(string) is str for string in listed):
            offsets = _offsets(map(len, listed))
            codes = self._points.codes("".join(map(str, listed)))
        else:
            parts = [self._look_up(string, number) for number, string in enumerate(listed)]
            offsets = _offsets(map(len, parts))
            codes = np.concatenate([*parts, np.zeros(0, np.int32)])
        if (codes < 0).any():
            if self.unknown is None:
                self._refuse(listed, offsets, int(np.argmax(codes < 0)))
            codes[codes < 0] = self._code[self.unknown]
        return Strings(codes, offsets)

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
        if isinstance(string, np.ndarray) and self.symbols == tuple(range(len(self))) and string.dtype.kind in "iu":
            inside = (string >= 0) & (string < len(self))
            return np.where(inside, string, -1).astype(np.int32).ravel()
        symbols = string.tolist() if isinstance(string, np.ndarray) else string
        try:
            return np.fromiter((self._code.get(symbol, -1) for symbol in symbols), np.int32)
        except TypeError:
            raise SchemaError(f"string {number} is no sequence of symbols: {shown(string)}") from None

    def _refuse(self, strings: Sequence[Sequence[Symbol]], offsets: npt.NDArray[np.int64], at: int) -> NoReturn:
        number = int(np.searchsorted(offsets, at, side="right")) - 1
        position = at - int(offsets[number])
        symbol = list(strings[number])[position]
        known = ", ".join(map(repr, self.symbols[:MOST_SHOWN])) + (", ..." if len(self) > MOST_SHOWN else "")
        raise UnknownStateError(
            f"string {number} has the symbol {symbol!r} at position {position}, which is not in the alphabet ({known})",
            variable=f"string {number}",
            label=symbol,
            row=position,
        )


class CodePoints:
    """The codes of an alphabet of single characters, by their code points."""

    def __init__(self, characters: Sequence[str]) -> None:
        points = np.array([ord(character) for character in characters])
        self._order = np.argsort(points).astype(np.int32)
        self._points = points[self._order].astype(np.uint32)
        self._table = np.full(TABLE_POINTS + 1, -1, np.int32)  # the last entry is for all other characters
        low = points < TABLE_POINTS
        self._table[points[low]] = np.flatnonzero(low)
        self._low = bool(low.all())

    def codes(self, text: str) -> npt.NDArray[np.int32]:
        """Return the codes of a text, -1 for a character outside the alphabet."""
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        if self._low:
            return self._table[np.minimum(points, TABLE_POINTS)]
        place = np.minimum(np.searchsorted(self._points, points), len(self._points) - 1)
        return np.where(self._points[place] == points, self._order[place], np.int32(-1))


def alphabet_of_columns(symbols: Iterable[Hashable] | Alphabet | None, n_columns: int) -> Alphabet:
    """Return the alphabet of so many columns of an emission: 0, 1, ... by default."""
    alphabet = Alphabet.of(range(n_columns) if symbols is None else symbols)
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


def _offsets(lengths: Iterable[int]) -> npt.NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.fromiter(lengths, np.int64))]).astype(np.int64)


Numbers = npt.NDArray[np.float64]

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
