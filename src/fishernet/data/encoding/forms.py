"""The ways in which numbers, dates and times are written in text.

A text file may hold ``$34,993.97``, ``(12.50)``, ``1 234,5``, ``12 %``, ``3.5 kg``, ``14:30`` or ``17.05.2023``. Each
way is a `Form`: a pattern, and what the parts of a label that fits it mean. `forms_for` lists the forms that come into
question, in the order in which they are tried; `fishernet.data.encoding.readings` takes the first that all labels of a
column fit. So a column of ``1,234`` alone holds thousands, and one ``12,5`` among them makes the comma a decimal
separator.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from fishernet.data.encoding.dates import MICROS_A_DAY, PER_SECOND, Unit
from fishernet.data.encoding.labels import INFINITE
from fishernet.data.options import PLAIN, TextFormat

Numbers = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Whole = npt.NDArray[np.int64]
CURRENCIES = (
    *("US$", "C$", "A$", "R$", "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₪", "₴", "฿", "zł", "Kč", "kr", "Fr."),
    *("USD", "EUR", "GBP", "JPY", "CHF", "CNY", "INR", "AUD", "CAD", "NZD", "BRL", "MXN", "ZAR", "RUB", "TRY", "KRW"),
    *("SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "RON", "BGN", "ISK", "ILS", "THB", "SGD", "HKD", "AED", "SAR"),
)
LETTER = "[A-Za-zµμΩÅ°²³]"
UNIT = re.compile(f"{LETTER}{{2,}}(?:/{LETTER}+)?|{LETTER}/{LETTER}+|°")
SHORT_UNITS = frozenset("mglshdyKVWANJCF")  # units where a blank stands before them; ``12A`` may be a code
NO_UNITS = frozenset(("st", "nd", "rd", "th", "am", "pm", "AM", "PM"))
SIGN = "[+\u2212-]?"
LIMIT = "(?P<limit>[<>]=?|[≤≥])"
POWERS = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12, "mn": 1e6, "mio": 1e6, "bn": 1e9}  # the letters behind ``2.5M``
POWER = "(?P<power>[kKM])"
POWER_OF_MONEY = "(?P<power>[kKmMbBtT]|[mM]n|[mM]io[.]?|[bB]n)"
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
    kind : {"number", "date", "time", "duration", "feet"}
        Which of `READERS` makes numbers of the parts of a label.
    pattern : str
        What a label looks like; its named groups are the parts. Python and Arrow read it alike.
    unit : {"days", "seconds", "time"} or None
        What the numbers count.
    decimal : str
        The decimal separator.
    order : {"day-first", "month-first", ""}
        Which of day and month comes first, where both are numbers.
    unless : str
        What some label must not look like; empty where that does not matter.
    counts : str
        What the numbers count, where the text does not show it.
    """

    kind: str
    pattern: str
    unit: Unit | None = None
    decimal: str = "."
    order: str = ""
    unless: str = ""
    counts: str = ""

    @property
    def holds(self) -> str:
        """What a column of this form holds, as "numbers" or "dates"."""
        return "lengths" if self.kind == "feet" else f"{self.kind}s"

    def fits(self, text: str) -> bool:
        """Return whether one text is written so."""
        return re.fullmatch(self.pattern, text) is not None and not np.isnan(self.numbers([text]))[0]

    def numbers(self, texts: Sequence[str]) -> Numbers:
        """Return the number that each text is, (n,); NaN for one that is written otherwise; infinite ones fit."""
        array = pa.array(texts, pa.large_string())
        parts = pc.extract_regex(array, f"^(?:{self.pattern})$")
        known = parts.is_valid()
        found = np.full(len(texts), np.nan)
        if pc.any(known).as_py():
            of = parts.filter(known)
            groups = {of.type.field(i).name: of.field(i) for i in range(of.type.num_fields)}
            found[known.to_numpy(zero_copy_only=False)] = READERS[self.kind](groups, self)
        if self.kind == "number" and known.false_count:
            infinite = pc.match_substring_regex(array, f"^(?:{INFINITE.pattern})$")
            found[infinite.to_numpy(zero_copy_only=False)] = [
                float(text) for text in array.filter(infinite).to_pylist()
            ]
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
    (rf"[1-9][0-9]?(?:,[0-9]{{2}})*,[0-9]{{3}}(?:\.[0-9]*)?|{WHOLE}(?:\.[0-9]*)?|\.[0-9]+", "."),  # in lakhs
)
SHORT_YEAR = "(?P<short>[0-9]{2})"
WEEKDAY = "(?i:(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?,? )?"
SEASON = "[0-9]{2}(?:" + "|".join(f"{year:02}-{year + 1:02}" for year in range(12)) + ")"
YEAR, MONTH, DAY = "(?P<year>[12][0-9]{3})", "(?P<month>[0-9]{1,2})", "(?P<day>[0-9]{1,2})"
CLOCK = (
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-5][0-9])(?::(?P<second>[0-5][0-9])(?P<fraction>\.[0-9]{1,9})?)?"
    "(?: ?(?P<half>[AaPp][.]?[Mm][.]?))?"
)
ISO = "(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
ISO_CLOCK = r"[ T](?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?P<fraction>\.[0-9]{1,9})?)?"
ZONE = "(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})"
QUARTER = "Q(?P<quarter>[1-4])"
LENGTH = r"(?P<hour>[0-9]{1,5}):(?P<minute>[0-5][0-9]):(?P<second>[0-5][0-9])(?P<fraction>\.[0-9]{1,9})?"
FEET = "(?P<feet>[0-9]{1,2}) ?(?:['\u2018\u2019\u2032]|ft[.]?|feet),? ?"
INCHES = "(?P<inches>1[01]|[0-9])(?P<fraction>[.][0-9]+)? ?(?:[\"\u201c\u201d\u2033]|''|in[.]?|inches)"


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
MONTHLY = (  # their numbers are the first days
    Form("date", f"{YEAR}[-M/](?P<month>[0-9]{{2}})", "days", unless=SEASON),
    Form("date", f"(?P<month>[0-9]{{1,2}})[/-]{YEAR}", "days"),
    Form("date", f"{MONTH_NAME}[ ,-]{{1,2}}{YEAR}", "days"),
    Form("date", f"{YEAR}[ -]{MONTH_NAME}", "days"),
    Form("date", f"{MONTH_NAME}[-'{QUOTE}]{SHORT_YEAR}", "days"),
    Form("date", f"{YEAR}[ -]?{QUARTER}", "days"),
    Form("date", f"{QUARTER}[ /-]?{YEAR}", "days"),
    Form("date", f"{YEAR}-?W(?P<week>[0-9]{{2}})", "days"),
)
LENGTHS = (
    Form("duration", f"(?P<sign>{SIGN})(?:(?P<days>[0-9]{{1,6}}) days?,? )?{LENGTH}", counts="seconds"),
    Form("feet", f"{FEET}(?:{INCHES})?", counts="inches"),
)
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
    others = (*dates, *MONTHLY, *LENGTHS)
    return [form for form in (*_number_forms(first.strip(), text), *others) if form.fits(first)]


def _number_forms(first: str, text: TextFormat | None) -> list[Form]:
    """Return the forms of numbers with what stands around the first one: nothing, a currency, %, a unit or a power."""
    parts = AFFIXED.fullmatch(first)
    before, after = ((parts["before"] or "").strip(), parts["after"] or "") if parts else ("", "?")
    unit = after.strip().removesuffix("+")
    is_plain = text is None or text.is_plain
    numerals = _numerals(text or PLAIN)
    if before and (before not in CURRENCIES or (unit and not re.fullmatch(POWER_OF_MONEY, unit))):
        return []
    if before:
        forms = [] if unit else [_number_form(*numeral, before) for numeral in numerals]
        return forms + [_number_form(*numeral, before, power=POWER_OF_MONEY) for numeral in numerals]
    if not unit or re.fullmatch(POWER, unit) or unit == "B":
        among = "(?P<power>[kKMB])" if unit else POWER
        alike = f"^[^.,]*{unit} *$" if unit else "[0-9.,B] *$"  # ``12k`` may be a code, ``12.5k`` is none
        forms = [] if unit else [_number_form(*numeral) for numeral in numerals]
        if not unit and is_plain:
            forms.insert(1, _plain_with_exponents())
        return forms + [_number_form(*numeral, power=among, unless=alike) for numeral in numerals]
    is_short = unit in SHORT_UNITS and unit != after
    if unit in CURRENCIES or unit == "%" or is_short or (UNIT.fullmatch(unit) and unit not in NO_UNITS):
        return [_number_form(*numeral, "", f" {unit}" if is_short else unit) for numeral in numerals]
    return [_plain_with_exponents()] if is_plain else []


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
def _number_form(
    numeral: str, decimal: str, before: str = "", after: str = "", power: str = "", unless: str = ""
) -> Form:
    ahead = f"{re.escape(before)}{BLANK}?" if before else ""
    behind = f"{BLANK}{re.escape(after[1:])}" if after[:1] == " " else f"{BLANK}?{re.escape(after)}" if after else ""
    scaled = f"(?:{BLANK}?{power})?" if power else ""
    pattern = (
        rf"{BLANK}*(?:{LIMIT}{BLANK}*)?(?P<open>\(?)(?P<sign>{SIGN}){ahead}(?P<within>\(?)(?P<inner>{SIGN})"
        rf"(?P<core>{numeral}){scaled}{behind}(?P<close>\)?)(?P<last>[+-]?){BLANK}*"
    )
    return Form("number", pattern, decimal=decimal, unless=unless)


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
    if "power" in parts:
        numbers *= [POWERS.get(power.lower().rstrip("."), 1.0) for power in _texts(parts["power"]).tolist()]
    numbers[(opened != closed) | (signed > 1) | ~np.isfinite(numbers)] = np.nan
    return numbers + 0.0  # -0.0 becomes 0.0


def _read_dates(parts: Parts, form: Form) -> Numbers:
    """Return days, or seconds in UTC; NaN for what the calendar does not have."""
    year = _whole(parts["year"]) if "year" in parts else _whole(parts["short"])
    if "short" in parts:  # as POSIX has it
        year = np.where(year < FIRST_SHORT, 2000 + year, 1900 + year)
    if "week" in parts:
        week = _whole(parts["week"])
        monday = _first_monday(year) + 7 * (week - 1)
        return np.where((week >= 1) & (monday < _first_monday(year + 1)), monday, np.nan)
    if "name" in parts:
        names = pc.utf8_slice_codeunits(pc.utf8_lower(parts["name"]), 0, 3)
        month = pc.index_in(names, pa.array(MONTHS, names.type)).to_numpy(zero_copy_only=False).astype(np.int64) + 1
    elif "quarter" in parts:
        month = 3 * _whole(parts["quarter"]) - 2
    else:
        month = _whole(parts["month"])
    day = _whole(parts["day"]) if "day" in parts else np.ones(len(year), dtype=np.int64)
    known = (month >= 1) & (month <= 12)
    months = (year - 1970) * 12 + np.where(known, month, 1) - 1
    begin, end = (at.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) for at in (months, months + 1))
    known &= (day >= 1) & (day <= end - begin)
    days = begin + day - 1
    if form.unit == "days":
        return np.where(known, days, np.nan)
    micros, shown = _clock(parts)
    return np.where(known & shown, (days * MICROS_A_DAY + micros) / PER_SECOND, np.nan)


def _first_monday(year: Whole) -> Whole:
    """Return the day on which the first week of a year begins (ISO 8601): that of the fourth of January."""
    fourth = (year - 1970).astype("datetime64[Y]").astype("datetime64[D]").astype(np.int64) + 3
    return np.asarray(fourth - (fourth + 3) % 7)  # 1970 began on a Thursday


def _read_times(parts: Parts, form: Form) -> Numbers:  # noqa: ARG001
    micros, shown = _clock(parts)
    return np.where(shown, micros / PER_SECOND, np.nan)


def _read_durations(parts: Parts, form: Form) -> Numbers:  # noqa: ARG001
    hour, minute, second = (_whole(parts[name]) for name in ("hour", "minute", "second"))
    micros = _micros(hour, minute, second, parts["fraction"])
    seconds = (_whole(parts["days"]) * MICROS_A_DAY + micros) / PER_SECOND
    return np.where(np.isin(_texts(parts["sign"]), ["-", MINUS]), -seconds, seconds)


def _read_feet(parts: Parts, form: Form) -> Numbers:  # noqa: ARG001
    fractions = [float(f"0{fraction or ''}") for fraction in _texts(parts["fraction"]).tolist()]
    return np.asarray(12.0 * _whole(parts["feet"]) + _whole(parts["inches"]) + fractions)


def _clock(parts: Parts) -> tuple[Whole, Mask]:
    """Return the microseconds since midnight, less the zone, and which times a clock shows."""
    hour, minute, second = (_whole(parts[name]) for name in ("hour", "minute", "second"))
    half = _texts(parts["half"]) if "half" in parts else np.full(len(hour), "", dtype=object)
    twelve = np.array([text[:1].lower() for text in half.tolist()], dtype=object)
    wrong = np.where(twelve != "", (hour < 1) | (hour > 12), hour > 23) | (minute > 59) | (second > 59)
    hour = np.where(twelve != "", hour % 12 + 12 * (twelve == "p"), hour)
    total = _micros(hour, minute, second, parts["fraction"])
    if "zone" in parts:
        ahead = [_minutes(zone) for zone in parts["zone"].to_pylist()]
        total -= np.array(ahead, dtype=np.int64) * 60 * PER_SECOND
    return total, ~wrong


def _micros(hour: Whole, minute: Whole, second: Whole, fraction: Any) -> Whole:
    micros = pc.utf8_slice_codeunits(pc.utf8_rpad(pc.utf8_slice_codeunits(fraction, 1, 7), 6, "0"), 0, 6)
    return ((hour * 60 + minute) * 60 + second) * PER_SECOND + _whole(micros)


def _minutes(zone: str) -> int:
    """Return how many minutes a zone is ahead of UTC."""
    return 0 if zone == "Z" else int(f"{zone[0]}1") * (int(zone[1:3]) * 60 + int(zone[-2:]))


def _whole(texts: Any) -> Whole:
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
    "duration": _read_durations,
    "feet": _read_feet,
}
