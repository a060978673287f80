"""Names and labels as they are written into pictures: short, different from each other, and in letters that are there.

A font of many scripts stands in for letters that matplotlib's own lacks, where one is installed; a letter that none
has is written as its number in Unicode, so that names stay different.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fishernet.plot.shapes import Points

if TYPE_CHECKING:
    from matplotlib.axis import Axis

FONT = "DejaVu Sans"  # comes with matplotlib, so it is the same everywhere
POINTS = 72.0  # an inch
LONGEST_LABEL = 32  # characters
WIDER, HIGHER = 1.02, 1.1  # than text is measured, and than the size of its letters: lines have room
ROUNDED = 0.17  # of the size of letters: by which tall ones, with an accent and a tail, are higher in whole pixels
SCRIPTS = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Noto Sans JP", "Noto Sans KR", "Noto Sans"),
    *("WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Droid Sans Fallback", "PingFang SC", "Hiragino Sans"),
    *("Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "Arial Unicode MS", "Nirmala UI", "Segoe UI Symbol"),
)


@functools.cache
def fonts() -> tuple[tuple[str, frozenset[int]], ...]:
    """Return the families to write with, and the letters that each has."""
    from matplotlib.font_manager import findfont, fontManager, get_font

    installed = set(fontManager.get_font_names())
    families = (FONT, *(family for family in SCRIPTS if family in installed))
    return tuple((family, frozenset(get_font(findfont(family)).get_charmap())) for family in families)


def family_of(text: str) -> list[str]:
    """Return the families that a text needs, matplotlib's own first."""
    (own, letters), *others = fonts()
    missing = {ord(letter) for letter in text} - letters
    return [own, *(family for family, known in others if missing & known)]


def as_written(text: str) -> str:
    """Return a text in one line of letters that there are."""
    plain = text if text.isprintable() and text.strip() else repr(text)[1:-1] or "''"
    if plain.isascii():
        return plain
    return "".join(letter if any(ord(letter) in known for _, known in fonts()) else _number(letter) for letter in plain)


def _number(letter: str) -> str:
    return f"\\u{ord(letter):04x}"


def label(text: object, most: int = LONGEST_LABEL) -> str:
    """Return one label, cut at its end where it is long."""
    plain = as_written(str(text)[: 4 * most])
    return plain if len(plain) <= most and len(str(text)) <= 4 * most else f"{plain[: most - 1]}…"


def labels(texts: Iterable[object], most: int = LONGEST_LABEL) -> list[str]:
    """Return labels of different texts: cut at their ends, or where that makes them equal, in the middle."""
    whole = [str(text) for text in texts]
    found = [label(text, most) for text in whole]
    shared = Counter(found)
    again = [_cut_inside(text, most) if shared[short] > 1 else short for text, short in zip(whole, found, strict=True)]
    shared = Counter(again)
    numbers: Counter[str] = Counter()
    for place, short in enumerate(again):
        if shared[short] > 1:
            numbers[short] += 1
            again[place] = f"{short[: most - 5]}…({numbers[short]})"
    return again


def states_of(states: Mapping[str, object]) -> str:
    """Return the states of some variables: ``smoke = yes, asia = no``."""
    return ", ".join(f"{name} = {state}" for name, state in states.items())


def under(what: str, states: Mapping[str, object]) -> str:
    """Return what is said of something where some variables have these states: ``lung | smoke = yes``."""
    return f"{what} | {states_of(states)}" if states else what


def name_ticks(axis: Axis, places: Sequence[float] | npt.NDArray[Any], called: Sequence[str]) -> None:
    """Put labels of any letters beside an axis, as plain text."""
    axis.set_ticks(places, called, fontfamily=family_of("".join(called)), parse_math=False)


def _cut_inside(text: str, most: int) -> str:
    plain = as_written(text)
    left = (most - 1) // 2
    return plain if len(plain) <= most else f"{plain[:left]}…{plain[left + 1 - most :]}"


def text_sizes(texts: Sequence[str], font_size: float) -> Points:
    """Return the width and the height of each text in inches, (n, 2): those of a line, higher where its letters are."""
    return np.array([_size(text) for text in texts]).reshape(-1, 2) * font_size / POINTS


@functools.lru_cache(maxsize=4096)
def _size(text: str) -> tuple[float, float]:
    """Return the width and the height of a text in units of the font's size."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font: Any = FontProperties(family=family_of(text), size=20)
    width, height, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return WIDER * float(width) / 20, max(HIGHER, float(height) / 20 + ROUNDED)
