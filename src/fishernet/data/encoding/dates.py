"""Dates and times as numbers: days or seconds since the beginning of 1970, kept so and shown as dates.

A column of dates counts days, one of dates with times seconds (of those with a zone, in UTC). A column of times of the
day counts seconds since midnight. How they are written in text is said in `fishernet.data.encoding.forms`; ISO 8601 is
read here: ``2021-03-28`` or ``2021-03-28 14:05:00``.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Unit = Literal["days", "seconds", "time"]

DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?")
STORED = {"days": pa.date32(), "seconds": pa.timestamp("us"), "time": pa.time64("us")}
PER_SECOND = 1_000_000
SECONDS_A_DAY = 86_400.0
MICROS_A_DAY = 86_400 * PER_SECOND


def unit_of(kind: pa.DataType) -> Unit | None:
    """Return what the numbers of an Arrow type count; None for one that holds no dates."""
    if pa.types.is_date(kind):
        return "days"
    if pa.types.is_time(kind):
        return "time"
    return "seconds" if pa.types.is_timestamp(kind) else None


def counted(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return an Arrow column of dates as days, or of times as seconds, float64; null stays null."""
    if unit_of(column.type) == "days":
        return column.cast(pa.date32()).cast(pa.int32()).cast(pa.float64())
    fine_type = STORED["time"] if unit_of(column.type) == "time" else pa.timestamp("us", tz=column.type.tz)
    fine = column.cast(fine_type, safe=False).cast(pa.int64())
    return pc.divide(fine.cast(pa.float64(), safe=False), float(PER_SECOND))


def parsed(texts: Sequence[str]) -> tuple[npt.NDArray[np.float64], Unit] | None:
    """Return texts as numbers where all of them are dates, or all of them dates or times; None otherwise."""
    plain = all(map(DATE.fullmatch, texts))
    if not plain and not all(DATE.fullmatch(text) or TIME.fullmatch(text) for text in texts):
        return None
    try:
        if plain:
            return np.array(texts, dtype="datetime64[D]").astype(np.float64), "days"
        return np.array(texts, dtype="datetime64[us]").astype(np.int64) / PER_SECOND, "seconds"
    except ValueError:  # as the 30th of February
        return None


def as_dates(numbers: npt.NDArray[np.float64], unit: str) -> npt.NDArray[Any]:
    """Return days as datetime64[D], seconds as datetime64[us], and times of the day as datetime.time; NaN is NaT."""
    if unit == "time":
        return np.array([_time_of_day(number) for number in numbers.tolist()] + [None], dtype=object)[:-1]
    days = unit == "days"
    known = np.where(np.isnan(numbers), 0, numbers if days else numbers * PER_SECOND)
    dates: npt.NDArray[Any] = np.rint(known).astype(np.int64).astype("datetime64[D]" if days else "datetime64[us]")
    dates[np.isnan(numbers)] = np.datetime64("NaT")
    return dates


def _time_of_day(seconds: float) -> datetime.time | None:
    """Return the time that is so many seconds after midnight, to the microsecond; the last one for a whole day."""
    if np.isnan(seconds):
        return None
    micros = min(max(round(seconds * PER_SECOND), 0), MICROS_A_DAY - 1)
    return (datetime.datetime.min + datetime.timedelta(microseconds=micros)).time()


def in_arrow(numbers: npt.NDArray[np.float64], unit: str | None) -> pa.Array:
    """Return numbers as an Arrow array, with a unit of dates or times; NaN is null."""
    if unit is None:
        return pa.array(numbers, from_pandas=True)
    return pa.array(as_dates(numbers, unit), type=STORED[unit], from_pandas=True)


def date_texts(numbers: Sequence[float], unit: str) -> list[str]:
    """Return numbers as they are shown: dates, or times to the second (or minute) where they are whole."""
    dates = as_dates(np.asarray(numbers, dtype=np.float64), unit)
    if unit == "time":
        fitting = [word for word, n in (("minutes", 60), ("seconds", 1)) if not any(number % n for number in numbers)]
        spec = fitting[0] if fitting else "microseconds"
        return [time.isoformat(spec) for time in dates.tolist()]
    whole = unit == "days" or all(float(number).is_integer() for number in numbers)
    kind: Literal["D", "s", "us"] = "D" if unit == "days" else "s" if whole else "us"
    return [text.replace("T", " ") for text in np.datetime_as_string(dates, unit=kind).tolist()]
