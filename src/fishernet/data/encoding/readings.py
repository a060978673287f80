"""Which form the numbers and dates of a column have, and which of its labels mean missing cells.

`reading_of` takes the first form of `fishernet.data.encoding.forms` that all labels of a column fit. Three kinds of
labels may stand beside the others: words for a missing cell (`ABSENT`), limits, as ``<0.5``, which are taken for the
number at the limit, and slips, as ``12..5``, where they are very few. `witnesses` are the labels by which it decides as
by all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from fishernet.base.names import listed, several
from fishernet.data.encoding.dates import Unit
from fishernet.data.encoding.forms import DATES, NUMERALS, Form, forms_for
from fishernet.data.encoding.labels import DECIMAL, INFINITE, MOST_STATES
from fishernet.data.options import TextFormat

Numbers = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]
MOST_WORDS = 5  # without a digit, beside numbers, which may mean missing cells
MOST_OF_WORDS = 0.2  # of the cells
MOST_SLIPS = 5  # labels that fit no form, in a column whose other labels fit one
MOST_OF_SLIPS = 0.01  # of the cells
ZEROS_FIRST = re.compile("0[0-9]+")  # codes, by which the others are codes, too
PARTS = re.compile(r"\s*(?P<first>\d{1,2})\D(?P<second>\d{1,2})\D(?P<year>\d+)")  # of a date
FEWEST_MONTHS = 3
HEAD = 1024  # labels that are looked at before all others

ABSENT = frozenset(
    (
        *("", "-", "--", ":", "\u2013", "\u2014", ".", "null", "none", "missing", "unknown"),
        *("na", "nan", "n/a", "n.a.", "n/d", "not available", "no data"),
        *("0000-00-00", "0000-00-00 00:00:00", "00/00/0000", "00.00.0000"),
        *("#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!"),
    )
)  # words that in any case mean a missing cell beside numbers or dates, and may mean something else beside text


@dataclass(frozen=True)
class Reading:
    """How the labels of a column are read as numbers.

    Attributes
    ----------
    form : Form
    absent : tuple of str
        Labels that mean a missing cell, the slips among them.
    is_plain : bool
        Whether the other labels are numbers as Python writes them.
    told : str
        What there is to say of it; empty of plain numbers and dates.
    other : str
        The other order in which all dates could be read, too; empty if one date rules it out.
    example : str
        A label that shows the form.
    slips : tuple of str
        Labels that fit no form, and were meant to be numbers or dates as the others are.
    """

    form: Form
    absent: tuple[str, ...] = ()
    is_plain: bool = False
    told: str = ""
    other: str = ""
    example: str = ""
    slips: tuple[str, ...] = ()

    @property
    def unit(self) -> Unit | None:
        """What the numbers count."""
        return self.form.unit

    def numbers(self, texts: Sequence[str]) -> Numbers:
        """Return the number that each text is, (n,); NaN for a missing cell, and for one that is written otherwise."""
        return self.form.numbers(texts)

    def are_absent(self, texts: Sequence[str]) -> Mask:
        """Return which texts mean a missing cell."""
        return np.array([text in self.absent for text in texts], dtype=bool)


def are_absent(texts: Sequence[str]) -> Mask:
    """Return which texts mean a missing cell, where they stand beside numbers or dates."""
    return np.array([text.casefold() in ABSENT or not text.strip() for text in texts], dtype=bool)


def are_infinite(texts: Sequence[str]) -> Mask:
    """Return which texts are infinite numbers, where they stand beside numbers."""
    return _match(texts, f"^(?:{INFINITE.pattern})$")


def _are_words(texts: Sequence[str]) -> Mask:
    """Return which texts have no digit."""
    return ~_match(texts, "[0-9]")


def reading_of(
    texts: Sequence[str], times: Counts, text: TextFormat | None, n_cells: int | None = None
) -> Reading | None:
    """Return how the labels of a column are read as numbers; None where they are other text.

    Parameters
    ----------
    texts : sequence of str
        The distinct labels, or those that stand for all.
    times : (n,) int64
        The cells that hold each.
    text : TextFormat or None
        How the numbers of a file are written; None of text that is no file's, whose plain numbers are text.
    n_cells : int, optional
        How many cells there are, where labels stand for others; the sum of `times` without it.

    Words without a digit are missing cells beside many different numbers: up to five words, in a fifth of the cells.
    Those that mean nothing else (`ABSENT`) are so in less than half of the cells, and in more beside many numbers.
    Slips are missing cells beside many numbers or dates: up to five, in a hundredth of the cells.
    """
    total = int(times.sum()) if n_cells is None else n_cells
    absent = are_absent(texts)
    found = _reading(texts, times, text, total, absent)
    if found is not None or len(texts) <= MOST_STATES:
        return found
    slips = _slips(texts, text)
    if not slips or times[slips].sum() > MOST_OF_SLIPS * total:
        return None
    absent[slips] = True
    found = _reading(texts, times, text, total, absent)
    return found and replace(found, slips=tuple([texts[place] for place in slips]))


def _reading(texts: Sequence[str], times: Counts, text: TextFormat | None, total: int, absent: Mask) -> Reading | None:
    """Return how the labels of so many cells are read where some of them are missing cells in any case."""
    words = _are_words(texts) & ~absent
    written = ~absent & ~words
    others = [label for label, flag in zip(texts, written.tolist(), strict=True) if flag]
    forms = _by_months(_all_fit(others, forms_for(others[0], text)), others) if others else []
    if not forms:
        return None
    form, held, many = forms[0], times[written], len(others) > MOST_STATES
    if form.kind == "number":
        words &= ~are_infinite(texts)
    if words.any():
        if not many or np.count_nonzero(words) > MOST_WORDS or times[words].sum() > MOST_OF_WORDS * total:
            return None
        absent = absent | words
    if 2 * times[absent].sum() >= total and not many:
        return None
    limits = _are_limits(others) if form.kind == "number" else np.zeros(len(others), dtype=bool)
    odd = [] if form.kind != "number" else np.flatnonzero(np.isnan(_python_numbers(others))).tolist()
    if 2 * held[limits].sum() >= total - times[absent].sum() or (text is None and form.kind == "number" and not odd):
        return None
    two = form.order and next((other.order for other in forms if other.order and other.order != form.order), "")
    missing = tuple(sorted(label for label, flag in zip(texts, absent.tolist(), strict=True) if flag))
    unusual = [i for i in odd if not limits[i]]
    example = others[unusual[0] if unusual else 0]
    found = Reading(form, missing, form.kind == "number" and not odd, other=two or "", example=example)
    is_usual = form in DATES[:2] if form.kind != "number" else not unusual
    told = ["" if is_usual else f"written as {example!r}" + (f", in {form.counts}" if form.counts else "")]
    if limits.any():
        n, first = int(held[limits].sum()), others[int(np.argmax(limits))]
        are = "written as a limit, as {0!r}, is" if n == 1 else "written as limits, as {0!r}, are"
        told.append(f"{several(n, 'cell')} {are.format(first)} taken for the limit")
    if missing:
        n = int(times[absent].sum())
        told.append(f"{several(n, 'cell')} with {listed(missing)} {'is' if n == 1 else 'are'} missing")
    return replace(found, told="; ".join(filter(None, told)))


def _by_months(forms: list[Form], texts: Sequence[str]) -> list[Form]:
    """Return forms in the order in which they are taken: the day first where that is the first of some months.

    A month that stays the same for years, in which the days run from 1 to 12, is none.
    """
    if not forms or forms[0].order != "month-first":
        return forms
    parts = [PARTS.match(text) for text in texts]
    firsts, seconds, years = (
        {int(found[at]) for found in parts if found is not None} for at in ("first", "second", "year")
    )
    if firsts != {1} or len(seconds) < FEWEST_MONTHS or len(years) < 2:
        return forms
    return sorted(forms, key=lambda form: form.order != "day-first")


def _slips(texts: Sequence[str], text: TextFormat | None) -> list[int]:
    """Return the places of the few labels that fit no form where many others fit one; none where they say more.

    A number in another form may be an amount among part numbers, and a zero before others makes codes of all.
    """
    form, places = spoiling(texts, text)
    labels = [texts[place] for place in places[: MOST_SLIPS + 1]]
    if form is None or len(labels) > MOST_SLIPS or len(texts) - len(labels) <= MOST_STATES:
        return []
    return [] if any(ZEROS_FIRST.match(label) or forms_for(label, None) for label in labels) else places


def spoiling(texts: Sequence[str], text: TextFormat | None) -> tuple[Form | None, list[int]]:
    """Return the form that most of some labels fit, with the places of those that do not, words for none left out.

    It is one of the forms of the first two labels; None where these have none.
    """
    absent = are_absent(texts)
    forms = [form for place in np.flatnonzero(~absent)[:2].tolist() for form in forms_for(texts[place], text)]
    misfits = [(form, np.flatnonzero(np.isnan(form.numbers(texts)) & ~absent).tolist()) for form in forms]
    return min(misfits, key=lambda one: len(one[1]), default=(None, []))


def _all_fit(texts: Sequence[str], forms: Sequence[Form]) -> list[Form]:
    return [form for form in forms if _proof(form, texts) is not None and not np.isnan(form.numbers(texts)).any()]


def _proof(form: Form, texts: Sequence[str]) -> list[int] | None:
    """Return the place of a label without which the form would not be taken, if there need be one; None without it."""
    if not form.unless:
        return []
    return _first(texts, lambda some: ~_match(some, form.unless)) or None


def _are_limits(texts: Sequence[str]) -> Mask:
    return _match(texts, "^ *[<>≤≥]|[0-9kKmMbB]\\+ *$")


def form_of(text: str) -> Form | None:
    """Return how one label is read, without the others of its column; None where that cannot be told."""
    forms = forms_for(text, None)
    return forms[0] if forms and len({form.order for form in forms if form.order}) < 2 else None


def _python_numbers(texts: Sequence[str]) -> Numbers:
    """Return the numbers as Python writes them; NaN for other texts, a bracket or a limit among them."""
    return np.where(_match(texts, f"^ *(?:{DECIMAL.pattern}) *$"), 0.0, np.nan)


def _refuted(form: Form, texts: Sequence[str]) -> Mask:
    return np.asarray(np.isnan(form.numbers(texts)))


def _match(texts: Sequence[str] | pa.Array, pattern: str) -> Mask:
    found = pc.match_substring_regex(_in_arrow(texts), pattern)
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=bool)


def plain_witnesses(texts: Sequence[str] | pa.Array) -> list[int]:
    """Return the places of numbers as Python writes them by which `reading_of` decides as it would by all: see there.

    Where others follow in another part of the column, a fraction refutes the decimal comma, one that is not of three
    digits the thousands by points, and so on.
    """
    points = rf"^ *[+-]?(?:{NUMERALS[3][0]}) *$"
    texts = _in_arrow(texts)
    found = [0, *_first(texts, lambda some: ~_match(some, points))]
    for pattern in (r"\.", "[eE]", r"^[ +-]*\.|\. *$"):
        found += _first(texts, partial(_match, pattern=pattern))
    return found


def _in_arrow(texts: Sequence[str] | pa.Array) -> pa.Array:
    return texts if isinstance(texts, pa.Array) else pa.array(texts, pa.large_string())


def _first(texts: Any, are_such: Callable[[Any], Mask], n: int = 1) -> list[int]:
    """Return the places of the first such texts, so many at most; mostly they are near the beginning."""
    found: list[int] = []
    for some in (texts[:HEAD], texts):
        if len(found) < n:
            found = np.flatnonzero(are_such(some))[:n].tolist()
    return found


def witnesses(texts: Sequence[str], text: TextFormat | None) -> tuple[list[int], Mask]:
    """Return the places of labels by which `reading_of` decides as it would by all, and which labels are limits.

    They are the words for missing cells and some other words, the first other label and the first limit, and for each
    form that the first label fits some that do not, more than can be slips: what the first label does not fit, it
    refutes itself.
    """
    absent = are_absent(texts)
    words = _are_words(texts) & ~absent
    places = np.flatnonzero(~absent & ~words)
    none = np.zeros(len(texts), dtype=bool)
    infinite = words & are_infinite(texts)
    found = {*np.flatnonzero(absent | infinite).tolist(), *np.flatnonzero(words & ~infinite)[: MOST_WORDS + 1].tolist()}
    if not len(places):
        return sorted(found), none
    found.add(int(places[0]))
    forms = forms_for(texts[int(places[0])], text)
    if not forms:
        return sorted(found), none
    others = [texts[i] for i in places.tolist()]
    limits = none.copy()
    limits[places] = _are_limits(others)
    first = _first(others, lambda some: np.isnan(_python_numbers(some)) & ~_are_limits(some))
    for form in forms:
        proof = _proof(form, others)
        if proof is not None:
            first += proof + _first(others, partial(_refuted, form), MOST_SLIPS + 1)
    found.update(places[first].tolist())
    found.update(np.flatnonzero(limits)[:1].tolist())
    return sorted(found), limits
