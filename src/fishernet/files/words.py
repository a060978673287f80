"""Names and labels as words that every program reads, and in full as text that none trips over.

The formats of other programs know identifiers only. What is none is written as one that says the same, as far as
letters can, and differs from all others::

    <= 0.35          le_0_35
    (3, 4]           gt_3_le_4
    1st class        q1st_class
    naïve            naive
    日本             u65e5_u672c
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence

import numpy as np

from fishernet.base.errors import warn
from fishernet.base.spoken import spoken
from fishernet.models.conditionals.base import Probabilities

_IN_XML = {ord(sign): f"&#{ord(sign)};" for sign in '&<>"\t\n\r'}
_TROUBLE = r"[;={}()|/*']"  # separators, braces, comments


def safe_words(labels: Sequence[str], plain: re.Pattern[str], reserved: Collection[str], *, folds: bool) -> list[str]:
    """Return a word for each label, all different: the label itself where it is plain and not reserved.

    With `folds`, words that differ in capitals only count as equal.
    """
    words: list[str | None] = [None] * len(labels)
    taken = set()
    for position, label in enumerate(labels):
        key = label.lower() if folds else label
        if plain.fullmatch(label) and label.lower() not in reserved and key not in taken:
            words[position] = str.__str__(label)
            taken.add(key)
    numbers: dict[str, int] = {}
    for position, label in enumerate(labels):
        if words[position] is None:
            words[position] = _new_word(spoken(label, reserved), taken, numbers, folds)
    return [word for word in words if word is not None]


def _new_word(word: str, taken: set[str], numbers: dict[str, int], folds: bool) -> str:
    """Return a word, with a number behind it where it is taken, and take it."""
    found = word
    while (key := found.lower() if folds else found) in taken:
        numbers[word] = numbers.get(word, 1) + 1
        found = f"{word}_{numbers[word]}"
    taken.add(key)
    return found


def quoted(label: str) -> str:
    r"""Return a label in the quotes of JSON, without the signs that mean something to readers of text formats.

    Only ASCII; quotes, semicolons, braces, bars, slashes and the like as ``\u0022``. No two blanks in a row.
    """
    inside = json.dumps(label)[1:-1].replace('\\"', "\\u0022").replace("  ", " \\u0020")
    return f'"{re.sub(_TROUBLE, lambda sign: f"{chr(92)}u{ord(sign[0]):04x}", inside)}"'


def escaped(text: str) -> str:
    """Return a text as it stands between tags or double quotes of XML."""
    return text.translate(_IN_XML)


def noted(note: str) -> None:
    """Warn of what a file cannot hold."""
    if note:
        warn(note)


def with_never(table: Probabilities) -> Probabilities:
    """Return a table in which every variable of one state has a second one that never occurs."""
    for axis in range(table.ndim - 1):
        if table.shape[axis] == 1:
            table = np.repeat(table, 2, axis=axis)  # what is given never occurs: any row will do
    return table if table.shape[-1] > 1 else np.concatenate([table, np.zeros_like(table)], axis=-1)


def without_never(rows: Probabilities, shape: Sequence[int], kept: Sequence[int]) -> Probabilities:
    """Return rows without these states; `shape` is the family's with them, `kept` without. ValueError if one occurs."""
    if list(shape) == list(kept):
        return rows
    possible = rows.reshape(shape)[tuple(slice(r) for r in kept[:-1])]
    if possible[..., kept[-1] :].any():
        raise ValueError("the state that stands for none has a probability above 0")
    return np.ascontiguousarray(possible[..., : kept[-1]]).reshape(-1, kept[-1])
