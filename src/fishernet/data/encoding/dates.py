"""Dates and times as numbers: days or seconds since the beginning of 1970, kept so and shown as dates.

A column of dates counts days, one of times seconds (of times with a zone, in UTC). Text, of a file or of a frame, is a
date where all labels of a column are written as in ISO 8601: ``2021-03-28`` or ``2021-03-28 14:05:00``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Unit = Literal["days", "seconds"]

DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?")
STORED = {"days": pa.date32(), "seconds": pa.timestamp("us")}
PER_SECOND = 1_000_000
SECONDS_A_DAY = 86_400.0


def unit_of(kind: pa.DataType) -> Unit | None:
    """Return what the numbers of an Arrow type count; None for one that holds no dates."""
    if pa.types.is_date(kind):
        return "days"
    return "seconds" if pa.types.is_timestamp(kind) else None


def counted(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return an Arrow column of dates as days, or of times as seconds, float64; null stays null."""
    if unit_of(column.type) == "days":
        return column.cast(pa.date32()).cast(pa.int32()).cast(pa.float64())
    fine = column.cast(pa.timestamp("us", tz=column.type.tz), safe=False).cast(pa.int64())
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
    """Return days as datetime64[D], or seconds as datetime64[us]; NaN is NaT."""
    days = unit == "days"
    known = np.where(np.isnan(numbers), 0, numbers if days else numbers * PER_SECOND)
    dates: npt.NDArray[Any] = np.rint(known).astype(np.int64).astype("datetime64[D]" if days else "datetime64[us]")
    dates[np.isnan(numbers)] = np.datetime64("NaT")
    return dates


def in_arrow(numbers: npt.NDArray[np.float64], unit: str | None) -> pa.Array:
    """Return numbers as an Arrow array, with a unit of dates or times; NaN is null."""
    if unit is None:
        return pa.array(numbers, from_pandas=True)
    return pa.array(as_dates(numbers, unit), type=STORED[unit], from_pandas=True)


def date_texts(numbers: Sequence[float], unit: str) -> list[str]:
    """Return numbers as they are shown: dates, or times to the second where they are whole."""
    dates = as_dates(np.asarray(numbers, dtype=np.float64), unit)
    whole = unit == "days" or all(float(number).is_integer() for number in numbers)
    kind: Literal["D", "s", "us"] = "D" if unit == "days" else "s" if whole else "us"
    return [text.replace("T", " ") for text in np.datetime_as_string(dates, unit=kind).tolist()]
