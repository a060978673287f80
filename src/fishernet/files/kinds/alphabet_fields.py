"""An alphabet as fields of the model file, and back: ``[{"symbols": ["a", "b"], "unknown": null}]``.

``"unknown"`` is the position of the symbol that others are taken for.
"""

from __future__ import annotations

from fishernet.errors import SchemaError
from fishernet.files.fields import Fields, shown
from fishernet.files.labels import is_text
from fishernet.models import Alphabet


def alphabet_fields(alphabet: Alphabet) -> list[dict[str, object]]:
    """Return an alphabet as what `json` writes: a list of one.

    Raises
    ------
    SchemaError
        When a symbol is neither a text nor a number nor a truth value, or cannot be written.
    """
    for symbol in alphabet.symbols:
        if not storable(symbol):
            raise SchemaError(f"the symbol {symbol!r} cannot be stored: it is no text, finite number or truth value")
    unknown = None if alphabet.unknown is None else alphabet.symbols.index(alphabet.unknown)
    return [{"symbols": list(alphabet.symbols), "unknown": unknown}]


def read_alphabet(model: Fields) -> Alphabet:
    """Return the alphabet among the fields of a model."""
    alphabets = model.objects("alphabet")
    if len(alphabets) != 1:
        raise model.wrong(f"expected one alphabet, got {len(alphabets)}", "alphabet")
    fields = alphabets[0]
    symbols = fields.items("symbols")
    for position, symbol in enumerate(symbols):
        if not storable(symbol):
            raise fields.wrong(
                f"{shown(symbol)} is no symbol: a text, a number or a truth value", f"symbols[{position}]"
            )
    unknown = None if fields.is_null("unknown") else fields.whole("unknown")
    fields.end()
    if unknown is not None and unknown >= len(symbols):
        raise fields.wrong(f"expected a position from 0 to {len(symbols) - 1}, got {unknown}", "unknown")
    with fields.checking():
        return Alphabet(symbols, unknown=None if unknown is None else symbols[unknown])


def storable(symbol: object) -> bool:
    """Return whether a symbol can be written: a text, a finite number or a truth value."""
    if isinstance(symbol, str):
        return type(symbol) is str and is_text(symbol)
    if isinstance(symbol, float):
        return type(symbol) is float and abs(symbol) < float("inf")
    return type(symbol) in (int, bool) and abs(int(symbol)) < 2**64  # type: ignore[call-overload]
