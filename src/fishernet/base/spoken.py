"""What a name or a label says, in letters and digits: signs of comparison as words, all else as underscores."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

MOST_LETTERS = 80  # of a word that is made

_NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|-?inf"
_INTERVAL = rf"\s*([\[(])\s*({_NUMBER})\s*,\s*({_NUMBER})\s*([\])])\s*"
_SPOKEN = (  # patterns are compiled when they are used: an import should not wait for them
    ("<=|≤", " le "),
    (">=|≥", " ge "),
    ("!=|≠", " ne "),
    ("<", " lt "),
    (">", " gt "),
    ("=", " eq "),
    (r"(?<!\w)[-\u2212](?=[.0-9]|inf\b)", " minus "),
    (r"(?<=[0-9])\+(?!\w)", " plus "),
    ("%", " percent "),
    ("&", " and "),
)


def spoken(label: str, reserved: Collection[str] = ()) -> str:
    """Return an identifier that says what a label says: letters, digits and underscores, a letter first."""
    interval = re.fullmatch(_INTERVAL, label)
    if interval:
        opening, low, high, closing = interval.groups()
        label = f"{'>=' if opening == '[' else '>'} {low} {'<=' if closing == ']' else '<'} {high}"
    for pattern, words in _SPOKEN:
        label = re.sub(pattern, words, label)
    letters = [c for c in unicodedata.normalize("NFKD", label[: 4 * MOST_LETTERS]) if not unicodedata.combining(c)]
    shown = "".join(c if c.isascii() else f" u{ord(c):x} " for c in letters)
    word = re.sub("[^A-Za-z0-9]+", "_", shown).strip("_")[:MOST_LETTERS].rstrip("_")
    if not word or word.lower() in reserved:
        return f"q_{word}".rstrip("_")
    return word if word[0].isalpha() else f"q{word}"
