"""The ways in which numbers and dates are written in text, and which of them a column has.

A text file may hold ``$34,993.97``, ``(12.50)``, ``1 234,5``, ``12 %``, ``3.5 kg``, ``14:30`` or ``17.05.2023``. Each
way is a `Form`: a pattern, and what the parts of a label that fits it mean. `forms_for` lists the forms that come into
question, in the order in which they are tried, and `reading_of` takes the first that all labels of a column fit. So
a column of ``1,234`` alone holds thousands, and one ``12,5`` among them makes the comma a decimal separator.

Two kinds of labels may stand beside the others, in less than half of the cells: words for a missing cell (`ABSENT`),
and limits, as ``<0.5``, which are taken for the number at the limit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from fishernet.base.names import listed, several
from fishernet.data.encoding.dates import MICROS_A_DAY, PER_SECOND, Unit
from fishernet.data.encoding.labels import DECIMAL, MOST_STATES
from fishernet.data.options import PLAIN, TextFormat

Numbers = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]
MOST_WORDS = 5  # without a digit, beside numbers, which may mean missing cells
MOST_OF_WORDS = 0.2  # of the cells
HEAD = 1024  # labels that are looked at before all others

ABSENT = frozenset(
    (
        *("", "-", "--", ":", "\u2013", "\u2014", ".", "None", "missing", "Missing", "unknown", "Unknown"),
        *("n.a.", "N.A.", "n/d", "N/D", "not available", "Not available", "no data", "No data"),
        *("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!"),
    )
)  # words that mean a missing cell beside numbers or dates, and may mean something else beside text
CURRENCIES = (
    *("US$", "C$", "A$", "R$", "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₪", "₴", "฿", "zł", "Kč", "kr", "Fr."),
    *("USD", "EUR", "GBP", "JPY", "CHF", "CNY", "INR", "AUD", "CAD", "NZD", "BRL", "MXN", "ZAR", "RUB", "TRY", "KRW"),
    *("SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "RON", "BGN", "ISK", "ILS", "THB", "SGD", "HKD", "AED", "SAR"),
)
LETTER = "[A-Za-zµμΩÅ°²³]"
UNIT = re.compile(f"{LETTER}{{2,}}(?:/{LETTER}+)?|{LETTER}/{LETTER}+|°")
SHORT_UNITS = frozenset("mglshdyKVWANJCF")  # units where a blank stands before them; ``12A`` may be a code
NO_UNITS = frozenset(("st", "nd", "rd", "th", "am", "pm", "AM", "PM"))
LIMIT = "(?P<limit>[<>]=?|[≤≥])"
MINUS, QUOTE = "\u2212", "\u2019"  # the signs of typesetters
BLANK = "[ \u00a0\u2009\u202f]"
FIRST_SHORT = 69  # stands for 1969, and 68 for 2068
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH_NAME = (
    "(?P<name>(?i:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?)"
)


@dataclass(frozen=True)
class Form:
    """A way to write numbers or dates.

    Attributes
    ----------
    kind : str
        Which of `READERS` makes numbers of the parts of a label.
    pattern : str
        What a label looks like; its named groups are the parts. Python and Arrow read it alike.
    unit : {"days", "seconds", "time"} or None
        What the numbers count.
    decimal : str
        The decimal separator.
    order : {"day-first", "month-first", ""}
        Which of day and month comes first, where both are numbers.
    """

    kind: str
    pattern: str
    unit: Unit | None = None
    decimal: str = "."
    order: str = ""

    def fits(self, text: str) -> bool:
        """Return whether one text is written so."""
        return re.fullmatch(self.pattern, text) is not None and not np.isnan(self.numbers([text]))[0]

    def numbers(self, texts: Sequence[str]) -> Numbers:
        """Return the number that each text is, (n,); NaN for one that is not written so."""
        parts = pc.extract_regex(pa.array(texts, pa.large_string()), f"^(?:{self.pattern})$")
        known = parts.is_valid()
        found = np.full(len(texts), np.nan)
        if pc.any(known).as_py():
            of = parts.filter(known)
            groups = {of.type.field(i).name: of.field(i) for i in range(of.type.num_fields)}
            found[known.to_numpy(zero_copy_only=False)] = READERS[self.kind](groups, self)
        return found


# ------------------------------------------------------------------------------------------- which forms there are

WHOLE = "(?:0|[1-9][0-9]*)"
NUMERALS = (  # how digits are grouped, and the decimal separator; the first that all labels fit is taken
    (rf"{WHOLE}(?:\.[0-9]*)?|\.[0-9]+", "."),
    (rf"[1-9][0-9]{{0,2}}(?:,[0-9]{{3}})+(?:\.[0-9]*)?|{WHOLE}(?:\.[0-9]*)?|\.[0-9]+", "."),
    (rf"{WHOLE}(?:,[0-9]+)?|,[0-9]+", ","),
    (rf"[1-9][0-9]{{0,2}}(?:\.[0-9]{{3}})+(?:,[0-9]+)?|{WHOLE}(?:,[0-9]+)?", ","),
    (rf"[1-9][0-9]{{0,2}}(?:{BLANK}[0-9]{{3}})+(?:\.[0-9]+)?|{WHOLE}(?:\.[0-9]+)?", "."),
    (rf"[1-9][0-9]{{0,2}}(?:{BLANK}[0-9]{{3}})+(?:,[0-9]+)?|{WHOLE}(?:,[0-9]+)?", ","),
    (rf"[1-9][0-9]{{0,2}}(?:['{QUOTE}][0-9]{{3}})+(?:\.[0-9]+)?|{WHOLE}(?:\.[0-9]+)?", "."),
)
SHORT_YEAR = "(?P<short>[0-9]{2})"
WEEKDAY = "(?i:(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?,? )?"
YEAR, MONTH, DAY = "(?P<year>[12][0-9]{3})", "(?P<month>[0-9]{1,2})", "(?P<day>[0-9]{1,2})"
CLOCK = (
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-5][0-9])(?::(?P<second>[0-5][0-9])(?P<fraction>\.[0-9]{1,9})?)?"
    "(?: ?(?P<half>[AaPp][.]?[Mm][.]?))?"
)
ISO = "(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
ISO_CLOCK = r"[ T](?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?P<fraction>\.[0-9]{1,9})?)?"
ZONE = "(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})"


def _days_and_seconds(pattern: str, order: str = "") -> tuple[Form, Form]:
    """Return a form of dates, and one of dates of which some have a time behind them."""
    return (
        Form("date", pattern, "days", order=order),
        Form("date", f"{pattern}(?:,? {CLOCK})?", "seconds", order=order),
    )


def _by_order(mark: str) -> tuple[Form, ...]:
    """Return the forms of dates of three numbers with a mark between them; the usual order first."""
    day_first = _days_and_seconds(f"{DAY}{mark}{MONTH}{mark}{YEAR}", "day-first")
    month_first = _days_and_seconds(f"{MONTH}{mark}{DAY}{mark}{YEAR}", "month-first")
    pairs = zip(month_first, day_first, strict=True) if mark == "/" else zip(day_first, month_first, strict=True)
    return tuple([form for pair in pairs for form in pair])


DATES = (
    Form("date", ISO, "days"),
    Form("date", f"{ISO}(?:{ISO_CLOCK})?", "seconds"),
    Form("date", f"{ISO}{ISO_CLOCK} ?{ZONE}", "seconds"),
    Form("time", CLOCK, "time"),
    *_days_and_seconds(f"{YEAR}/{MONTH}/{DAY}"),
    *_days_and_seconds(rf"{YEAR}\.{MONTH}\.{DAY}"),
    *_by_order(r"\."),
    *_by_order("/"),
    *_by_order("-"),
    *_days_and_seconds(f"{WEEKDAY}{MONTH_NAME} {DAY},? {YEAR}"),
    *_days_and_seconds(f"{WEEKDAY}{DAY}[ -]{MONTH_NAME}[ -]{YEAR}"),
    *_days_and_seconds(f"{YEAR}[ -]{MONTH_NAME}[ -]{DAY}"),
    *_days_and_seconds(f"{DAY}[ -]{MONTH_NAME}[ -]{SHORT_YEAR}"),
    *_days_and_seconds(f"{MONTH}/{DAY}/{SHORT_YEAR}", "month-first"),
    *_days_and_seconds(f"{DAY}/{MONTH}/{SHORT_YEAR}", "day-first"),
    *_days_and_seconds(r"(?P<day>[0-9]{2})\.(?P<month>[0-9]{2})\.(?P<short>[0-9]{2})"),
)
SIGN = f"[+{MINUS}-]?"
AFFIXED = re.compile(
    rf"(?:{LIMIT}{BLANK}*)?\(?{SIGN}(?P<before>[^0-9.,()<>≤≥'{QUOTE}\s+{MINUS}-][^0-9(]*?)?{BLANK}?\(?{SIGN}"
    rf"(?P<core>[0-9.,](?:[0-9.,'{QUOTE}]|{BLANK})*?)(?P<after>{BLANK}?[^0-9.,)\s'{QUOTE}-][^0-9)]*)?\)?-?"
)


def forms_for(first: str, text: TextFormat | None) -> list[Form]:
    """Return the forms that one label fits, in the order in which they are tried; another label may refute them."""
    if not any(character.isdigit() for character in first):
        return []
    order = "" if text is None or text.dates is None else text.dates
    dates = [form for form in DATES if order in ("", form.order) or not form.order]
    return [form for form in (*_number_forms(first.strip(), text), *dates) if form.fits(first)]


def _number_forms(first: str, text: TextFormat | None) -> list[Form]:
    """Return the forms of numbers with what stands around the first one: nothing, a currency, %, or a unit."""
    parts = AFFIXED.fullmatch(first)
    if parts is None:
        return [_plain_with_exponents()] if text is None or text.is_plain else []
    before, after = (parts["before"] or "").strip(), parts["after"] or ""
    unit = after.strip()
    if before and (before not in CURRENCIES or unit):
        return []
    is_short = unit in SHORT_UNITS and unit != after
    known = unit in CURRENCIES or unit == "%" or is_short or (UNIT.fullmatch(unit) and unit not in NO_UNITS)
    if unit and not known:
        return [_plain_with_exponents()] if text is None or text.is_plain else []
    around = (before, f" {unit}" if is_short else unit)
    forms = [_number_form(numeral, decimal, *around) for numeral, decimal in _numerals(text or PLAIN)]
    if not before and not unit and (text is None or text.is_plain):
        forms.insert(1, _plain_with_exponents())
    return forms


@cache
def _plain_with_exponents() -> Form:
    return _number_form(rf"(?:{NUMERALS[0][0]})(?:[eE][+-]?[0-9]+)?", ".")


def _numerals(text: TextFormat) -> Sequence[tuple[str, str]]:
    """Return how digits may be grouped: in one way where a caller says how."""
    if text.is_plain:
        return NUMERALS
    fraction = f"(?:{re.escape(text.decimal)}[0-9]*)?"
    plain = f"{WHOLE}{fraction}|{re.escape(text.decimal)}[0-9]+"
    if text.thousands is None:
        return ((plain, text.decimal),)
    return ((f"[1-9][0-9]{{0,2}}(?:{re.escape(text.thousands)}[0-9]{{3}})+{fraction}|{plain}", text.decimal),)


@cache
def _number_form(numeral: str, decimal: str, before: str = "", after: str = "") -> Form:
    ahead = f"{re.escape(before)}{BLANK}?" if before else ""
    behind = f"{BLANK}{re.escape(after[1:])}" if after[:1] == " " else f"{BLANK}?{re.escape(after)}" if after else ""
    pattern = (
        rf"{BLANK}*(?:{LIMIT}{BLANK}*)?(?P<open>\(?)(?P<sign>{SIGN}){ahead}(?P<within>\(?)(?P<inner>{SIGN})"
        rf"(?P<core>{numeral}){behind}(?P<close>\)?)(?P<last>-?){BLANK}*"
    )
    return Form("number", pattern, decimal=decimal)


# ------------------------------------------------------------------------------------- what the parts of a label mean

Parts = dict[str, Any]


def _read_numbers(parts: Parts, form: Form) -> Numbers:
    """Return numbers; those in brackets are negative."""
    digits = pc.replace_substring_regex(parts["core"], f"[^0-9eE+{re.escape(form.decimal)}-]", "")
    if form.decimal != ".":
        digits = pc.replace_substring(digits, form.decimal, ".")
    numbers: Numbers = pc.cast(digits, pa.float64()).to_numpy(zero_copy_only=False).copy()
    opened = _equal(parts["open"], "(").astype(int) + _equal(parts["within"], "(")
    closed = _equal(parts["close"], ")").astype(int)
    signs = [_texts(parts[name]) for name in ("sign", "inner", "last")]
    negative = np.logical_or.reduce([np.isin(sign, ["-", MINUS]) for sign in signs])
    signed = sum((sign != "").astype(int) for sign in signs) + opened
    numbers[negative | (opened > 0)] *= -1
    numbers[(opened != closed) | (signed > 1) | ~np.isfinite(numbers)] = np.nan
    return numbers + 0.0  # -0.0 becomes 0.0


def _read_dates(parts: Parts, form: Form) -> Numbers:
    """Return days, or seconds in UTC; NaN for what the calendar does not have."""
    day = _whole(parts["day"])
    year = _whole(parts["year"]) if "year" in parts else _whole(parts["short"])
    if "short" in parts:  # as POSIX has it
        year = np.where(year < FIRST_SHORT, 2000 + year, 1900 + year)
    if "name" in parts:
        names = pc.utf8_slice_codeunits(pc.utf8_lower(parts["name"]), 0, 3)
        month = pc.index_in(names, pa.array(MONTHS, names.type)).to_numpy(zero_copy_only=False).astype(np.int64) + 1
    else:
        month = _whole(parts["month"])
    known = (month >= 1) & (month <= 12)
    months = (year - 1970) * 12 + np.where(known, month, 1) - 1
    begin, end = (at.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) for at in (months, months + 1))
    known &= (day >= 1) & (day <= end - begin)
    days = begin + day - 1
    if form.unit == "days":
        return np.where(known, days, np.nan)
    micros, shown = _clock(parts)
    return np.where(known & shown, (days * MICROS_A_DAY + micros) / PER_SECOND, np.nan)


def _read_times(parts: Parts, form: Form) -> Numbers:  # noqa: ARG001
    micros, shown = _clock(parts)
    return np.where(shown, micros / PER_SECOND, np.nan)


def _clock(parts: Parts) -> tuple[npt.NDArray[np.int64], Mask]:
    """Return the microseconds since midnight, less the zone, and which times a clock shows."""
    hour, minute, second = (_whole(parts[name]) for name in ("hour", "minute", "second"))
    half = _texts(parts["half"]) if "half" in parts else np.full(len(hour), "", dtype=object)
    twelve = np.array([text[:1].lower() for text in half.tolist()], dtype=object)
    wrong = np.where(twelve != "", (hour < 1) | (hour > 12), hour > 23) | (minute > 59) | (second > 59)
    hour = np.where(twelve != "", hour % 12 + 12 * (twelve == "p"), hour)
    micros = pc.utf8_slice_codeunits(pc.utf8_rpad(pc.utf8_slice_codeunits(parts["fraction"], 1, 7), 6, "0"), 0, 6)
    total = ((hour * 60 + minute) * 60 + second) * PER_SECOND + _whole(micros)
    if "zone" in parts:
        ahead = [_minutes(zone) for zone in parts["zone"].to_pylist()]
        total -= np.array(ahead, dtype=np.int64) * 60 * PER_SECOND
    return total, ~wrong


def _minutes(zone: str) -> int:
    """Return how many minutes a zone is ahead of UTC."""
    return 0 if zone == "Z" else int(f"{zone[0]}1") * (int(zone[1:3]) * 60 + int(zone[-2:]))


def _whole(texts: Any) -> npt.NDArray[np.int64]:
    """Return whole numbers of which there is text; 0 of none."""
    filled = pc.if_else(pc.equal(pc.fill_null(texts, ""), ""), "0", texts)
    return np.asarray(pc.cast(filled, pa.int64()).to_numpy(zero_copy_only=False))


def _texts(parts: Any) -> npt.NDArray[Any]:
    return np.asarray(pc.fill_null(parts, "").to_numpy(zero_copy_only=False))


def _equal(parts: Any, text: str) -> Mask:
    return np.asarray(_texts(parts) == text, dtype=bool)


READERS: dict[str, Callable[[Parts, Form], Numbers]] = {
    "number": _read_numbers,
    "date": _read_dates,
    "time": _read_times,
}


# ------------------------------------------------------------------------------------------ the form that a column has


@dataclass(frozen=True)
class Reading:
    """How the labels of a column are read as numbers.

    Attributes
    ----------
    form : Form
    absent : tuple of str
        Labels that mean a missing cell.
    is_plain : bool
        Whether the other labels are numbers as Python writes them.
    told : str
        What there is to say of it; empty of plain numbers and dates.
    other : str
        The other order in which all dates could be read, too; empty if one date rules it out.
    example : str
        A label that shows the form.
    """

    form: Form
    absent: tuple[str, ...] = ()
    is_plain: bool = False
    told: str = ""
    other: str = ""
    example: str = ""

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
    return np.array([text in ABSENT or not text.strip() for text in texts], dtype=bool)


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
    """
    total = int(times.sum()) if n_cells is None else n_cells
    absent = are_absent(texts)
    words = _are_words(texts) & ~absent
    if words.any():
        many = len(texts) - np.count_nonzero(absent | words) > MOST_STATES
        if not many or np.count_nonzero(words) > MOST_WORDS or times[words].sum() > MOST_OF_WORDS * total:
            return None
        absent |= words
    others = [label for label, flag in zip(texts, absent.tolist(), strict=True) if not flag]
    if not others or 2 * times[absent].sum() >= total:
        return None
    forms = _all_fit(others, forms_for(others[0], text))
    if not forms:
        return None
    form, held = forms[0], times[~absent]
    limits = _are_limits(others) if form.kind == "number" else np.zeros(len(others), dtype=bool)
    odd = [] if form.kind != "number" else np.flatnonzero(np.isnan(_python_numbers(others))).tolist()
    if 2 * held[limits].sum() >= total - times[absent].sum() or (text is None and form.kind == "number" and not odd):
        return None
    two = form.order and next((other.order for other in forms if other.order and other.order != form.order), "")
    missing = tuple(sorted(label for label, flag in zip(texts, absent.tolist(), strict=True) if flag))
    written = [i for i in odd if not limits[i]]
    example = others[written[0] if written else 0]
    found = Reading(form, missing, form.kind == "number" and not odd, other=two or "", example=example)
    is_usual = form in DATES[:2] if form.kind != "number" else not written
    told = ["" if is_usual else f"written as {example!r}"]
    if limits.any():
        n, first = int(held[limits].sum()), others[int(np.argmax(limits))]
        are = "written as a limit, as {0!r}, is" if n == 1 else "written as limits, as {0!r}, are"
        told.append(f"{several(n, 'cell')} {are.format(first)} taken for the limit")
    if missing:
        n = int(times[absent].sum())
        told.append(f"{several(n, 'cell')} with {listed(missing)} {'is' if n == 1 else 'are'} missing")
    return replace(found, told="; ".join(filter(None, told)))


def _all_fit(texts: Sequence[str], forms: Sequence[Form]) -> list[Form]:
    return [form for form in forms if not np.isnan(form.numbers(texts)).any()]


def _are_limits(texts: Sequence[str]) -> Mask:
    return np.array([text.lstrip()[:1] in "<>≤≥" for text in texts], dtype=bool)


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


def _first(texts: Any, are_such: Callable[[Any], Mask]) -> list[int]:
    """Return the place of the first such text, in a list; mostly it is near the beginning."""
    for some in (texts[:HEAD], texts):
        if (such := are_such(some)).any():
            return [int(np.argmax(such))]
    return []


def witnesses(texts: Sequence[str], text: TextFormat | None) -> tuple[list[int], Mask]:
    """Return the places of labels by which `reading_of` decides as it would by all, and which labels are limits.

    They are the words for missing cells and some other words, the first other label and the first limit, and for each
    form that the first label fits a label that does not: what the first label does not fit, it refutes itself.
    """
    absent = are_absent(texts)
    words = _are_words(texts) & ~absent
    places = np.flatnonzero(~absent & ~words)
    none = np.zeros(len(texts), dtype=bool)
    found = {*np.flatnonzero(absent).tolist(), *np.flatnonzero(words)[: MOST_WORDS + 1].tolist()}
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
        first += _first(others, partial(_refuted, form))
    found.update(places[first].tolist())
    found.update(np.flatnonzero(limits)[:1].tolist())
    return sorted(found), limits
