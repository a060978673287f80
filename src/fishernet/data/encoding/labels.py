"""The types of labels, their order, and how they are written.

A text file says nothing of types, so the distinct labels of a column are looked at together:

- all of them integers as Python would write them (``007`` is not, so codes with leading zeros stay text): int;
- otherwise all decimal numbers, as in ``2.50``, ``.5`` or ``1e-3``, or infinite ones beside them: float;
- otherwise ``true`` and ``false``, or ``True`` and ``False``: bool (``TRUE`` and ``FALSE``, the labels of many
  networks, stay text);
- otherwise str.

States are sorted, numbers by value, text by code point, truth values before numbers before text where a column mixes
them. So they depend neither on the order of the rows nor on how a file was cut into blocks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from fishernet.data.options import TextFormat
from fishernet.data.variable import State, label_array

MOST_STATES = 20  # distinct numbers, all whole, that are taken for states without being asked
Labels = npt.NDArray[Any]  # distinct labels: integers, float64, bool, or objects (str, large integers, a mixture)

FEW = 16  # labels that are looked at before all others
INTEGER = re.compile(r"0|-?[1-9][0-9]{0,999}")
DECIMAL = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
INFINITE = re.compile("[+-]?(?i:inf|infinity)")  # numbers where others are
TRUTH_PAIRS = (("true", "false"), ("True", "False"))  # taken for truth values without being asked
TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


def typed(texts: Sequence[str]) -> Labels:
    """Return text labels in the type that all of them have."""
    if all(map(INTEGER.fullmatch, texts)):
        return label_array([int(text) for text in texts])
    numbers = _decimals(texts)
    if numbers is not None:
        return numbers
    if texts and any(all(text in pair for text in texts) for pair in TRUTH_PAIRS):
        return np.array([TRUTH[text] for text in texts], dtype=bool)
    return label_array(texts)


def _decimals(texts: Sequence[str]) -> npt.NDArray[np.float64] | None:
    """Return texts as numbers where all are decimal or infinite ones; None otherwise, as the first mostly tell."""
    if not all(DECIMAL.fullmatch(text) or INFINITE.fullmatch(text) for text in texts[:FEW]):
        return None
    array = pa.array(texts, pa.large_string())
    strange = array.filter(pc.invert(pc.match_substring_regex(array, f"^(?:{DECIMAL.pattern})$"))).to_pylist()
    if not all(map(INFINITE.fullmatch, strange)) or (strange and len(strange) == len(texts)):
        return None
    numbers: npt.NDArray[np.float64] = pc.cast(pc.utf8_ltrim(array, "+"), pa.float64()).to_numpy(zero_copy_only=False)
    return numbers + 0.0 if np.isinf(numbers).sum() == len(strange) else None  # -0.0 becomes 0.0


def plain_number(text: str, form: TextFormat) -> str | None:
    """Return a number as Python writes it; None where the text is none."""
    number = text.strip(" ")
    if form.thousands is not None and form.thousands in number:
        whole, mark, fraction = number.partition(form.decimal)
        first, *groups = whole.split(form.thousands)
        if form.thousands in fraction or not all(len(group) == 3 and group.isdigit() for group in groups):
            return None
        number = first + "".join(groups) + mark + fraction
    if form.decimal != ".":
        if "." in number:
            return None
        number = number.replace(form.decimal, ".")
    return number if DECIMAL.fullmatch(number) or INFINITE.fullmatch(number) else None


def in_plain(texts: Sequence[str], form: TextFormat) -> list[str] | None:
    """Return texts with numbers as Python writes them where all are numbers; None where nothing changes."""
    if not texts or (form.is_plain and " " not in "".join(texts)):
        return None
    found = [plain_number(text, form) for text in texts]
    plain = [text for text in found if text is not None]
    return plain if len(plain) == len(texts) and plain != texts else None


def read_numbers(texts: Sequence[str], form: TextFormat) -> npt.NDArray[np.float64] | None:
    """Return texts as numbers where all are some, however many; None otherwise."""
    return _decimals(in_plain(texts, form) or texts)


def value_of(text: str) -> State | None:
    """Return the number or truth value that one text stands for, None where it is neither."""
    if INTEGER.fullmatch(text):
        return int(text)
    if DECIMAL.fullmatch(text):
        number = float(text) + 0.0
        return number if math.isfinite(number) else None
    return float(text) if INFINITE.fullmatch(text) else TRUTH.get(text)


def as_text(state: State) -> str:
    """Return a state as a text file holds it; numbers keep every digit."""
    if isinstance(state, bool):
        return "true" if state else "false"
    return state if isinstance(state, str) else repr(state)


def is_numeric(labels: Labels) -> bool:
    """Return whether all labels are numbers (truth values are not)."""
    if labels.dtype.kind == "O":
        return all(isinstance(label, int | float) and not isinstance(label, bool) for label in labels)
    return labels.dtype.kind in "iuf"


def numbers_of(labels: Labels) -> npt.NDArray[np.float64]:
    """Return the labels as numbers; NaN for one that is none (a truth value, or text); ``18%`` is 18."""
    if labels.dtype.kind in "iuf":
        return labels.astype(np.float64)
    return np.array([_number(label) for label in labels.tolist()], dtype=np.float64)


def _number(label: State) -> float:
    value = value_of(label.strip().removesuffix("%")) if isinstance(label, str) else label
    if value is None or isinstance(value, bool | str):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def sorted_states(labels: Labels) -> tuple[list[State], npt.NDArray[np.int64]]:
    """Return the distinct labels in their order, and each label's position among them."""
    if labels.dtype.kind == "O" and len(set(map(type, labels))) > 1:
        plain: list[State] = labels.tolist()
        order = sorted(range(len(plain)), key=lambda i: _rank(plain[i]))
        codes = np.empty(len(labels), dtype=np.int64)
        codes[order] = np.arange(len(labels))
        return [plain[i] for i in order], codes
    states, codes = np.unique(labels, return_inverse=True)
    if states.dtype.kind == "f":
        states = states + 0.0  # -0.0 becomes 0.0
    return states.tolist(), codes.astype(np.int64)


def _rank(label: State) -> tuple[int, State]:
    return (0 if isinstance(label, bool) else 1 if isinstance(label, int | float) else 2, label)
