"""How numbers and dates are written in text: which form a column has, and what its labels mean."""

from __future__ import annotations

import datetime
import pickle
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet import Continuous, FishernetWarning, SchemaError, Table, Variable, read_table
from fishernet.data.arrow import cells_of
from fishernet.data.column_summary import ColumnSummary, summary_of
from fishernet.data.decide import decide
from fishernet.data.encoding.cells import Cells
from fishernet.data.encoding.readings import Reading, reading_of
from fishernet.data.given import value_given
from fishernet.data.options import PLAIN, Options, TextFormat

NAN = float("nan")
NOON = 1683203400.0  # 2023-05-04 12:30:00 in UTC


def read(texts: list[str], form: TextFormat | None = PLAIN) -> Reading | None:
    return reading_of(texts, np.ones(len(texts), dtype=np.int64), form)


def days(*texts: str) -> list[float]:
    return [float(day) for day in np.array(texts, dtype="datetime64[D]").astype(float)]


NUMBERS: list[tuple[list[str], list[float]]] = [
    (["$34,993.97", "$5"], [34993.97, 5]),
    (["€ 12", "€ 12,5"], [12, 12.5]),
    (["12,50 €", "3 €"], [12.5, 3]),
    (["USD 5", "USD 7.5"], [5, 7.5]),
    (["-$5", "$-6", "($7)", "$8"], [-5, -6, -7, 8]),
    (["(12.50)", "3", "4"], [-12.5, 3, 4]),
    (["1.234.567", "12"], [1234567, 12]),
    (["1.234,50", "3"], [1234.5, 3]),
    (["1 234 567", "5"], [1234567, 5]),
    (["1\u00a0234,5", "7"], [1234.5, 7]),
    (["1\u202f234.5", "7"], [1234.5, 7]),
    (["1'234", "12.5"], [1234, 12.5]),
    (["1,234", "2,345"], [1234, 2345]),
    (["1,234", "12,5"], [1.234, 12.5]),
    (["1,234", "1,2345"], [1.234, 1.2345]),
    (["1.234", "12,5"], [1234, 12.5]),
    (["12 %", "5 %"], [12, 5]),
    (["12.5%", "-3%"], [12.5, -3]),
    (["12 cm", "5 cm"], [12, 5]),
    (["3.5kg", "4kg"], [3.5, 4]),
    (["12 m", "3 m"], [12, 3]),
    (["20 km/h", "30 km/h"], [20, 30]),
    (["20°", "-3°"], [20, -3]),
    (["20 °C", "21 °C"], [20, 21]),
    (["5 µg", "7 µg"], [5, 7]),
    (["1", "2", "-"], [1, 2, NAN]),
    (["#DIV/0!", "$1", "$2", "$3", "unknown"], [NAN, 1, 2, 3, NAN]),
    (["<0.5", "1", "2.25"], [0.5, 1, 2.25]),
    (["≤3", "> 100", "50", "60", "70"], [3, 100, 50, 60, 70]),
    (["$(1,234.50)", "$5.00", "($2)"], [-1234.5, 5, -2]),
    (["12.50-", "3", "-4"], [-12.5, 3, -4]),
    ([*map(str, range(1, 22)), "ND", "to be done"], [*range(1, 22), NAN, NAN]),
    ([*map(str, range(1, 22)), *["."] * 60], [*range(1, 22), *[NAN] * 60]),
    (["201k", "2.5M", "19 M", "1B"], [201000, 2.5e6, 19e6, 1e9]),
    (["500", "1.2k", "-3K"], [500, 1200, -3000]),
    (["12.5k", "3k", "201k"], [12500, 3000, 201000]),
    (["1,23,456", "12,34,567.5", "5,00,00,000", "99,999", "500"], [123456, 1234567.5, 5e7, 99999, 500]),
    (["€110.5M", "€565K", "€0"], [110.5e6, 565e3, 0]),
    (["$2M", "$3 bn", "($4t)"], [2e6, 3e9, -4e12]),
    (["5", "60", "5,000+"], [5, 60, 5000]),
    (["36:15:00", "1:00:00.5", "-0:01:00"], [130500, 3600.5, -60]),
    (["0 days 00:05:00", "1 day, 2:00:00"], [300, 93600]),
    (["5'11\"", "6' 0\"", "6'"], [71, 72, 72]),
    (["5 ft 11 in", "6ft 0.5in", "6 feet"], [71, 72.5, 72]),
]
MOMENTS: list[tuple[list[str], list[float], str, str]] = [
    (["14:30", "2:05"], [52200, 7500], "time", ""),
    (["14:30:05", "00:00:00.25"], [52205, 0.25], "time", ""),
    (["2:30 PM", "12:00 AM", "12:00 pm"], [52200, 0, 43200], "time", ""),
    (["2023-05-04", "-", "2023-05-05"], [*days("2023-05-04"), NAN, *days("2023-05-05")], "days", ""),
    (["2023-05-04", "0000-00-00", "2023-05-05"], [*days("2023-05-04"), NAN, *days("2023-05-05")], "days", ""),
    (["2023-05-04T12:30:00Z", "2023-05-04T14:30:00+02:00"], [NOON, NOON], "seconds", ""),
    (["2023-05-04 12:30:00.5+00:00"], [NOON + 0.5], "seconds", ""),
    (["17.05.2023", "1.2.2023"], days("2023-05-17", "2023-02-01"), "days", ""),
    (["17/05/2023", "1/2/2023"], days("2023-05-17", "2023-02-01"), "days", ""),
    (["05/17/2023", "1/2/2023"], days("2023-05-17", "2023-01-02"), "days", ""),
    (["1/2/2023", "3/4/2023"], days("2023-01-02", "2023-03-04"), "days", "day-first"),
    (["01/01/2000", "01/02/2000", "01/03/2001"], days("2000-01-01", "2000-02-01", "2001-03-01"), "days", "month-first"),
    (["01/01/2000", "01/02/2000", "01/03/2000"], days("2000-01-01", "2000-01-02", "2000-01-03"), "days", "day-first"),
    (["1.2.2023", "3.4.2023"], days("2023-02-01", "2023-04-03"), "days", "month-first"),
    (["1-2-2023", "3-4-2023"], days("2023-02-01", "2023-04-03"), "days", "month-first"),
    (["17-08-1984", "01-02-2000"], days("1984-08-17", "2000-02-01"), "days", ""),
    (["2012/01/01", "2012/2/29"], days("2012-01-01", "2012-02-29"), "days", ""),
    (["Jan 1 2000", "February 29, 2000"], days("2000-01-01", "2000-02-29"), "days", ""),
    (["1 January 2000", "3 May 2001"], days("2000-01-01", "2001-05-03"), "days", ""),
    (["01-Jan-2000", "29-FEB-2000"], days("2000-01-01", "2000-02-29"), "days", ""),
    (["Thursday, May 4, 2023", "Fri May 5 2023"], days("2023-05-04", "2023-05-05"), "days", ""),
    (["2023-May-04", "2023-Dec-31"], days("2023-05-04", "2023-12-31"), "days", ""),
    (["5/14/23", "1/2/68", "1/2/69"], days("2023-05-14", "2068-01-02", "1969-01-02"), "days", ""),
    (["1/2/23", "3/4/23"], days("2023-01-02", "2023-03-04"), "days", "day-first"),
    (["14.05.23", "01.02.99"], days("2023-05-14", "1999-02-01"), "days", ""),
    (["14-May-23", "1 Feb 99"], days("2023-05-14", "1999-02-01"), "days", ""),
    (["2023-05", "2024-12"], days("2023-05-01", "2024-12-01"), "days", ""),
    (["2005-06", "2006-07", "2006-08"], days("2005-06-01", "2006-07-01", "2006-08-01"), "days", ""),
    (["2024M01", "2024M12"], days("2024-01-01", "2024-12-01"), "days", ""),
    (["5/2023", "12/2024"], days("2023-05-01", "2024-12-01"), "days", ""),
    (["May 2023", "Sept, 2024"], days("2023-05-01", "2024-09-01"), "days", ""),
    (["May-23", "Dec-99"], days("2023-05-01", "1999-12-01"), "days", ""),
    (["2023-May", "2024-Dec"], days("2023-05-01", "2024-12-01"), "days", ""),
    (["2023Q2", "2024-Q4"], days("2023-04-01", "2024-10-01"), "days", ""),
    (["Q2 2023", "Q4/2024"], days("2023-04-01", "2024-10-01"), "days", ""),
    (["2021-W01", "2020W53", "2024-W01"], days("2021-01-04", "2020-12-28", "2024-01-01"), "days", ""),
    (["5/4/2023 12:30", "5/14/2023"], [NOON, *(86400 * day for day in days("2023-05-14"))], "seconds", ""),
    (["05/04/2023 12:30 PM", "5/14/2023 1:30:00 am"], [NOON, NOON + 10 * 86400 - 11 * 3600], "seconds", ""),
]
TEXTS = [
    ["10023", "$10024", "10025"],
    ["$5", "€5"],
    ["1-2", "3-4-2020"],
    ["1-2", "3-1"],
    ["3-4-2020", "3/4/2020"],
    ["007", "012", "123"],
    ["01234 567", "02345 678"],
    ["1.2.3", "1.2.4"],
    ["978-3-16-148410-0", "978-0-306-40615-7"],
    ["E10", "E11"],
    ["1e5", "A12"],
    ["192.168.1.1", "10.0.0.1"],
    ["M", "L", "XL"],
    ["12M", "18M", "24M"],
    ["14K", "18K"],
    ["2", "2B", "3B"],
    ["12k", "13x"],
    ["2005-06", "2011-12"],
    ["2010-13", "2011-12"],
    ["2023Q5", "2023Q1"],
    ["2021-W53", "2021-W01"],
    ["2021-W00", "2021-W01"],
    ["1,23,45", "1,23,456"],
    ["12,345,67", "1,23,456"],
    ["5+", "10+"],
    ["36:15", "40:20"],
    ["5'12\"", "5'11\""],
    ["5-11", "6-0"],
    ["12a", "13b"],
    ["12A", "13A"],
    ["1st", "1st"],
    ["AB 12", "AB 13"],
    ["<5", "5-10", ">10"],
    ["<5", ">10"],
    ["<18", "18", ">65"],
    ["2023-02-30", "2023-02-28"],
    ["30-Feb-2000", "01-Feb-2000"],
    ["1/2/3", "3/4/5"],
    ["1.2.10", "10.20.30"],
    ["13/13/2023", "1/1/2023"],
    ["17/05/2023", "05/17/2023"],
    ["25:00", "1:00"],
    ["13:00 PM", "1:00 PM"],
    ["2:1", "3:0"],
    ["(5", "6"],
    ["1,2,3", "1,2"],
    ["12,34.5", "1"],
    ["1", "-", "unknown"],
    ["-", "unknown"],
    ["a1", "2"],
    ["٣", "٤"],
    [],
]


@pytest.mark.parametrize(("texts", "numbers"), NUMBERS, ids=str)
def test_numbers_as_people_write_them(texts: list[str], numbers: list[float]) -> None:
    found = read(texts)
    assert found is not None
    assert found.unit is None
    np.testing.assert_array_equal(found.numbers(texts), numbers)
    assert pickle.loads(pickle.dumps(found)) == found


@pytest.mark.parametrize(("texts", "numbers", "unit", "other"), MOMENTS, ids=str)
def test_dates_and_times_as_people_write_them(texts: list[str], numbers: list[float], unit: str, other: str) -> None:
    found = read(texts, None)
    assert found is not None
    assert (found.unit, found.other) == (unit, other)
    np.testing.assert_array_equal(found.numbers(texts), numbers)


@pytest.mark.parametrize("texts", TEXTS, ids=str)
def test_what_stays_text(texts: list[str]) -> None:
    assert read(texts) is None


def test_numbers_are_read_as_a_caller_says() -> None:
    german = TextFormat(decimal=",", thousands=".")
    assert read(["1.234", "2.345 €"], german) is None
    found = read(["1.234 €", "2,5 €"], german)
    assert found is not None
    assert found.numbers(["1.234 €", "2,5 €"]).tolist() == [1234, 2.5]
    assert read(["1,234.5 €"], german) is None


@given(st.lists(st.floats(-1e9, 1e9).map(lambda x: round(x, 2)), min_size=1), st.sampled_from(["$", "", "€ "]))
def test_what_python_groups_is_found_again(numbers: list[float], sign: str) -> None:
    texts = [f"{'-' if x < 0 else ''}{sign}{abs(x):,.2f}" for x in numbers]
    found = read(texts)
    if not sign and not any("," in text for text in texts):
        assert found is None or found.is_plain
    assert found is not None
    np.testing.assert_array_equal(found.numbers(texts), np.array(numbers) + 0.0)


@given(
    st.lists(st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2999, 1, 1)), min_size=1),
    st.sampled_from(["%d.%m.%Y", "%B %d, %Y"]),
)
def test_what_the_calendar_writes_is_found_again(moments: list[datetime.datetime], how: str) -> None:
    texts = [moment.strftime(how) for moment in moments]
    found = read([*texts, datetime.datetime(2000, 1, 31).strftime(how)])
    assert found is not None
    assert found.numbers(texts).tolist() == days(*(moment.date().isoformat() for moment in moments))


# ------------------------------------------------------------------------------------------------- parts and the whole

SOME = [text for texts, *_ in (*NUMBERS, *MOMENTS) for text in texts] + [text for texts in TEXTS for text in texts]


def cells(texts: list[str]) -> Cells:
    array = pa.chunked_array([pa.array(texts, pa.large_string())]).dictionary_encode()
    found = cells_of("x", array, frozenset([""]), text=True)
    assert isinstance(found, Cells)
    return found


def facts(summary: ColumnSummary) -> Any:
    read = summary.as_read()
    decision = decide(read, OPTIONS)
    variable = decision.variable
    return decision, decision.reading, variable, read.n_known, read.n_missing, variable is not None and variable.states


OPTIONS = Options.checked()
KINDS: list[Any] = [
    lambda i: str(i),
    lambda i: f"{i / 8}",
    lambda i: f"{i:,}",
    lambda i: f"{i // 10},{i % 10}",
    lambda i: f"1.{i % 900 + 100}",
    lambda i: f"1.{i % 900 + 100}.{i % 800 + 100}",
    lambda i: f"${i:,}.5",
    lambda i: f"{i} %",
    lambda i: f"{i} cm",
    lambda i: f"<{i}",
    lambda i: str(np.datetime64("2000-01-01") + i),
    lambda i: f"{i % 28 + 1}/{i % 12 + 1}/{1900 + i % 300}",
    lambda i: f"{i % 12 + 1}/{i % 28 + 1}/{1900 + i % 300}",
    lambda i: f"{i % 12 + 1}/{i % 11 + 1}/{1900 + i % 300}",
    lambda i: f"{i}k",
    lambda i: f"{i / 8}M",
    lambda i: f"{1900 + i % 200}-{i % 12 + 1:02}",
    lambda i: f"20{i % 12:02}-{i % 12 + 1:02}",
    lambda i: f"{i}:{i % 60:02}:{i % 60:02}",
    lambda i: f"p{i}",
]


@settings(max_examples=10, deadline=None)  # of up to 10,000 cells
@example(kinds=[1, 3], few=["-"], sizes=[5000, 5000], cuts=[5000])
@example(kinds=[4, 3], few=[], sizes=[5000, 5000], cuts=[5000])
@example(kinds=[0], few=["<5", "-"], sizes=[9000], cuts=[4999, 8000])
@given(
    kinds=st.lists(st.integers(0, len(KINDS) - 1), min_size=1, max_size=2),
    few=st.lists(st.sampled_from(SOME), max_size=2),
    sizes=st.lists(st.sampled_from([3, 40, 300, 5000]), min_size=2, max_size=2),
    cuts=st.lists(st.integers(0, 10000), max_size=3),
)
def test_parts_add_to_the_whole(kinds: list[int], few: list[str], sizes: list[int], cuts: list[int]) -> None:
    texts = [KINDS[kind](i) for kind, n in zip(kinds, sizes, strict=False) for i in range(n)]
    texts = [*texts[: len(texts) // 2], *few, *texts[len(texts) // 2 :]]
    whole = summary_of(cells(texts), OPTIONS)
    borders = sorted({0, len(texts), *(cut % len(texts) for cut in cuts)})
    first, *rest = [summary_of(cells(texts[a:b]), OPTIONS) for a, b in pairwise(borders)]
    total = sum(rest, first)
    assert facts(total) == facts(whole)
    everything = Options.checked(categorical=["x"])
    complete = summary_of(cells(texts), everything)
    of_all = reading_of(complete.labels.tolist(), complete.times, PLAIN)
    if not complete.are_numbers:
        assert whole.as_read().reading == of_all


# -------------------------------------------------------------------------------------------------------- end to end


def written(folder: Path, **columns: list[str]) -> Path:
    folder.mkdir(exist_ok=True)
    pd.DataFrame(columns).to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


N = 120
TABLE = {
    "price": [f"${1000 * i + 7:,}.50" for i in range(N)],
    "share": [f"{(0, 5, 10, 20)[i % 4]}%" for i in range(N)],
    "at": [f"{i % 24}:{i % 60:02}" for i in range(N)],
    "day": [f"{i % 28 + 1}.{i % 12 + 1}.2023" for i in range(N)],
    "utc": [f"2023-05-{i % 28 + 1:02}T12:30:00+02:00" for i in range(N)],
    "level": [f"{i}.25" if i % 9 else "<0.5" for i in range(N)],
    "dose": [f"{i * 3 % 97} mg" if i % 7 else "-" for i in range(N)],
    "age": [str(20 + i * 3 % 70) if i % 10 else "unknown" for i in range(N)],
    "state": [("None", "a")[i % 2] for i in range(N)],
}


@pytest.mark.parametrize("how", [{}, {"missing": "drop"}, {"bins": 3, "missing": "state"}], ids=str)
def test_a_file_is_the_same_table_however_it_is_read(how: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "one", **TABLE)
    for begin, end in ((0, 50), (50, N)):
        part = {name: column[begin:end] for name, column in TABLE.items()}
        written(tmp_path / "parts", **part).rename(tmp_path / "parts" / f"{begin}.csv")
    table = read_table(path, **how)
    for other in (fn.scan(path, **how), fn.scan(tmp_path / "parts", **how)):
        assert (other.variables, other.rows_digest()) == (table.variables, table.rows_digest())
        assert str(other.describe()) == str(table.describe())


@pytest.mark.parametrize("how", [{}, {"missing": "drop"}, {"bins": 3, "missing": "state"}], ids=str)
def test_text_of_frames_is_the_same_table_wherever_it_lies(how: Any, tmp_path: Path) -> None:
    frame = pa.table({name: column for name, column in TABLE.items() if name not in ("age", "level")})
    table = Table.from_frame(frame, **how)
    (tmp_path / "parts").mkdir()
    for begin in (0, 50):
        pa.parquet.write_table(frame[begin : begin + 50 + begin], tmp_path / "parts" / f"{begin}.parquet")
    with ThreadPoolExecutor(2) as threads:
        blocks = fn.scan(tmp_path / "parts", client=threads, **how)
        for other in (blocks, fn.scan(tmp_path / "parts", **how), fn.scan(iter(frame.to_batches(31)), **how)):
            assert (other.variables, other.rows_digest()) == (table.variables, table.rows_digest())
            assert str(other.describe()) == str(table.describe())
    whole = read_table(written(tmp_path, **TABLE), exclude=["age", "level"], **how)
    assert (whole.variables, whole.rows_digest()) == (table.variables, table.rows_digest())


def test_what_is_told_of_forms(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, **TABLE))
    why = {column.name: (column.holds, column.missing, column.why) for column in table.describe().columns}
    assert why == {
        "price": ("7.5 to 119008", 0, "numbers, written as '$7.50'"),
        "share": ("'0%', '5%', '10%', '20%'", 0, "4 whole numbers, written as '0%'"),
        "at": ("00:00 to 23:59", 0, "times, in seconds since midnight, written as '0:00'"),
        "day": ("2023-01-01 to 2023-12-28", 0, "dates, in days since 1970, written as '1.1.2023'"),
        "utc": (
            "2023-05-01 10:30:00 to 2023-05-28 10:30:00",
            0,
            "dates, in seconds since 1970, written as '2023-05-01T12:30:00+02:00'",
        ),
        "level": ("0.5 to 119.25", 0, "numbers, 14 cells written as limits, as '<0.5', are taken for the limit"),
        "dose": ("0 to 96", 18, "numbers, written as '3 mg'; 18 cells with '-' are missing"),
        "age": ("21 to 89", 12, "numbers, 12 cells with 'unknown' are missing"),
        "state": ("'None', 'a'", 0, "text"),
    }


def test_text_is_kept_where_that_is_asked(tmp_path: Path) -> None:
    path = written(tmp_path, **TABLE)
    table = read_table(path, categorical=list(TABLE))
    assert {name: table[name].tolist() for name in table.names} == TABLE


def test_a_model_reads_its_columns_as_others_write_them(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, **TABLE))
    new = {
        "price": ["12,50 €", "3 €", "unknown"],
        "share": ["5%", "0%", "-"],
        "at": ["2:30 PM", "14:30", "0:00"],
        "day": ["2023-05-17", "2023-01-01", "2023-01-02"],
        "utc": ["17.05.2023 14:30", "1.1.2023 0:00", "-"],
        "level": ["< 3", "1", "2"],
        "dose": ["3", "4", "5"],
        "age": ["-", "3", "4"],
        "state": ["None", "a", "a"],
    }
    path = written(tmp_path / "new", **new)
    found = read_table(path, schema=table.variables)
    assert found.column("price").tolist()[:2] == [12.5, 3]
    assert found.missing_counts() == {"price": 1, "share": 1, "utc": 1, "age": 1}
    assert found["share"].tolist() == ["5%", "0%", None]
    assert found["at"].tolist() == [datetime.time(14, 30), datetime.time(14, 30), datetime.time(0)]
    assert found.column("day")[0] == days("2023-05-17")[0]
    assert found.column("level").tolist() == [3, 1, 2]
    assert fn.scan(path, schema=table.variables).rows_digest() == found.rows_digest()


def test_day_and_month_that_cannot_be_told_apart_are_told(tmp_path: Path) -> None:
    path = written(tmp_path, day=[f"{i % 12 + 1}/{i % 11 + 1}/2023" for i in range(100)])
    with pytest.warns(FishernetWarning, match=r"as '1/1/2023', in which .* read month-first") as warned:
        table = read_table(path)
    assert str(table["day"][1]) == "2023-02-02"
    otherwise, silence = cast(Any, warned[0].message).remedies
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_table(path, **silence.arguments) == table
        assert str(read_table(path, **otherwise.arguments)["day"][12]) == "2023-02-01"
        assert not read_table(path, categorical=["day"]).variables[0].is_continuous


# -------------------------------------------------------------------------------------------------- times of the day


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_times_are_written_and_read(tmp_path: Path, ending: str) -> None:
    table = read_table(written(tmp_path, at=[*TABLE["at"], "23:59:59.5", "NA"]))
    assert table.variables == (Continuous("at", "time"),)
    fn.write_table(table, tmp_path / f"again.{ending}")
    assert read_table(tmp_path / f"again.{ending}") == table


def test_times_of_frames() -> None:
    times = [datetime.time(14, 30), None, datetime.time(0, 0, 5)]
    for kind in (pa.time32("s"), pa.time64("us"), pa.time64("ns")):
        table = Table.from_frame(pa.table({"at": pa.array(times, kind)}))
        assert table.variables == (Continuous("at", "time"),)
        assert table["at"].tolist() == times
        assert Table.from_frame(table.to_frame()) == table
        assert Table.from_frame(table.to_polars()) == table
        assert table.to_pandas()["at"].tolist() == times


def test_times_are_cut_and_given(tmp_path: Path) -> None:
    frame = {"at": [f"{i // 60}:{i % 60:02}" for i in range(1440)], "half": ["am"] * 720 + ["pm"] * 720}
    table = Table.from_frame(frame, bins=2)
    assert table.variables[0].states == ("<= 11:59", "> 11:59")
    net = fn.learn.bayesian_network(table)
    assert value_given(table.variables[0], "2:30 PM") == "> 11:59"
    assert value_given(Continuous("at", "time"), datetime.time(14, 30)) == 52200.0
    fn.save(net, tmp_path / "m.json")
    assert fn.load(tmp_path / "m.json") == net


# ---------------------------------------------------------------------------------------------- words for missing cells


def test_words_for_missing_cells_of_one_column(tmp_path: Path) -> None:
    columns = {"children": ["0", "9", "9.0", "2", ""] * 8, "n": ["9", "8", "7", "?", "6"] * 8, "t": ["9", "a"] * 20}
    path = written(tmp_path, **columns)
    for na_values in ({"children": ["9"]}, {"children": ["9.0"], None: ["", "?"]}):
        table = read_table(path, na_values=na_values)
        assert table.missing_counts() == {"children": 24, "n": 8}
        assert fn.scan(path, na_values=na_values) == table
    assert read_table(path, na_values={"t": ["9"]}).missing_counts()["t"] == 20
    for values in ([0, 9, 2, 9] * 9, [0.0, 9.0, 2.0, 9.0] * 9, ["0", "9", "2", "9"] * 9):
        assert Table.from_frame({"x": values}, na_values={"x": ["9"]}).missing_counts() == {"x": 18}
    coded = pd.Series(["a", "b", "c"] * 5, dtype="category")
    table = Table.from_frame({"x": coded}, na_values={"x": ["c"]})
    assert (table.variables, table.missing_counts()) == ((Variable("x", ["a", "b"]),), {"x": 5})


@pytest.mark.parametrize("na_values", [{"y": ["9"]}, {"x": "9"}, {"x": [9]}, {3: ["9"]}])
def test_what_are_no_words_of_a_column(na_values: Any) -> None:
    with pytest.raises(SchemaError) as refused:
        Table.from_frame({"x": [1, 2]}, na_values=na_values)
    assert refused.value.parameter in ("na_values", None)


@pytest.mark.parametrize("word", ["#N/A", "<NA>", "n/a", "-nan", "1.#QNAN", "#NA"])
def test_words_of_other_programs_are_missing(tmp_path: Path, word: str) -> None:
    assert read_table(written(tmp_path, x=["a", "b", word] * 5)).missing_counts() == {"x": 5}


@pytest.mark.parametrize("code", [-99, 9999, -2e9])
def test_a_code_for_missing_cells_is_pointed_out(tmp_path: Path, code: float) -> None:
    x = [float(i % 50) for i in range(400)]
    x[::20] = [code] * 20
    path = written(tmp_path, x=list(map(str, x)), y=list(map(str, x)))
    sources: list[Callable[[Any], Table]] = [
        lambda how: read_table(path, **how),
        lambda how: Table.from_frame({"x": x, "y": x}, **how),
    ]
    for source in sources:
        said = f"'x' holds {int(code)} in 20 cells, far from all its other numbers .'y' has such a number, too.: "
        with pytest.warns(FishernetWarning, match=said) as told:
            source({})
        assert f"na_values={{'x': ['{int(code)}'], 'y': ['{int(code)}']}}" in str(told[0].message)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            table = source({"na_values": {"x": [str(int(code))], "y": [str(int(code))]}})
        assert table.missing_counts()["x"] == 20


def test_skewed_columns_hold_no_codes() -> None:
    rng = np.random.default_rng(1)
    frame = {
        "income": np.round(rng.lognormal(10, 1.5, 5000)),
        "gain": np.where(rng.random(5000) < 0.9, 0, rng.integers(5000, 9000, 5000)),
        "count": rng.geometric(0.05, 5000),
        "normal": np.round(rng.normal(size=5000), 1),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Table.from_frame(frame)


@pytest.mark.parametrize("words", [["later"], ["-"], ["ND", "n.a.", "Info"]], ids=str)
@pytest.mark.parametrize("write", ["{:.2f}", "${:,.2f}"])
def test_words_among_many_different_numbers_are_missing(tmp_path: Path, words: list[str], write: str) -> None:
    """Also where labels stand for others: of so many, the words would be most of those that are kept."""
    n = 12_000
    x = np.arange(n) * 1.5
    cells = [words[i % len(words)] if i % 10 == 0 else write.format(v) for i, v in enumerate(x)]
    path = written(tmp_path, x=cells, y=[str(i % 3) for i in range(n)])
    table = read_table(path)
    np.testing.assert_allclose(table.column("x"), np.where(np.arange(n) % 10 == 0, np.nan, x), rtol=1e-12)
    assert f"1,200 cells with {', '.join(map(repr, sorted(words)))} are missing" in str(table.describe())
    assert fn.scan(path) == table
    assert not read_table(path, categorical=["x"]).variables[0].is_continuous


@pytest.mark.parametrize("word", ["NuLL", "NONE", "Nan", "N.a.", "UNKNOWN", "n/A"])
def test_words_for_missing_cells_are_so_in_any_case(tmp_path: Path, word: str) -> None:
    path = written(tmp_path, x=[str(i) if i % 5 < 3 else word for i in range(100)], y=[word, "here"] * 50)
    table = read_table(path)
    assert table.missing_counts()["x"] == 40
    assert word in table.variables[1].states or table.missing_counts()["y"] == 50


def test_words_among_few_numbers_or_in_many_cells_are_states(tmp_path: Path) -> None:
    few = written(tmp_path, x=[*"123" * 40, "other"])
    assert read_table(few).variables[0].states == ("1", "2", "3", "other")
    many = written(tmp_path, x=[*map(str, range(40)), *["other"] * 20])
    with pytest.warns(FishernetWarning, match=r"na_values=\{'x': \['other'\]\} to read it as missing"):
        assert read_table(many).variables[0].states[-1] == "other"
    assert read_table(many, na_values={"x": ["other"]}).missing_counts() == {"x": 20}


@pytest.mark.parametrize("cells", [["<1", "<2"] * 80, ["$7"]])
def test_what_says_a_number_is_not_advised_as_missing(cells: list[str], tmp_path: Path) -> None:
    path = written(tmp_path, x=[*(str(i * 3 % 40) for i in range(120)), *cells])
    with pytest.warns(FishernetWarning, match=r"it holds numbers, and '") as told:
        assert not read_table(path).variables[0].is_continuous
    assert "na_values" not in str(told[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_table(path, categorical=["x"])


def test_several_codes_beside_one_another_are_pointed_out(tmp_path: Path) -> None:
    years = [*range(22)] * 20 + [77, 88, 99] * 8
    with pytest.warns(FishernetWarning, match="'years' holds 77 in 8 cells") as warned:
        table = read_table(written(tmp_path, years=years))
    [remedy] = cast(Any, warned[0].message).remedies
    assert remedy.arguments == {"na_values": {"years": ["77", "88", "99"]}}
    with warnings.catch_warnings(action="error"):
        again = read_table(written(tmp_path, years=years), **remedy.arguments)
    assert again.missing_counts() == {"years": 24}
    assert table.n_rows == again.n_rows
