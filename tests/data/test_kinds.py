"""What columns are taken for, and what is said of it."""

from __future__ import annotations

import contextlib
import datetime
import warnings
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

import fishernet as fn
from fishernet import Continuous, FileFormatError, FishernetWarning, SchemaError, Table, Variable, read_table

N = 300
PEOPLE: dict[str, Any] = {
    "id": [f"p{i:04}" for i in range(N)],
    "title": [f"A title of {i % 260}" for i in range(N)],
    "ward": [f"w{i % 9}" for i in range(N)],
    "age": [18 + i % 70 for i in range(N)],
    "children": [i % 4 for i in range(N)],
    "one": ["same"] * N,
    "day": [datetime.date(2021, 1, 1) + datetime.timedelta(days=i % 90) for i in range(N)],
}


def written(folder: Path, text: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    "make", [dict, pd.DataFrame, pl.DataFrame, pa.table], ids=["dict", "pandas", "polars", "arrow"]
)
def test_each_column_is_taken_for_what_it_is(make: Any) -> None:
    with pytest.warns(FishernetWarning, match="'id', 'title' are identifiers and are left out: 'id' holds 300"):
        table = Table.from_frame(make(PEOPLE))
    kinds = {v.name: "numbers" if v.is_continuous else v.cardinality for v in table.variables}
    assert kinds == {"ward": 9, "age": "numbers", "children": 4, "one": 1, "day": "numbers"}
    assert table.variables[-1] == Continuous("day", "days")
    assert table["day"][1] == np.datetime64("2021-01-02")


def test_identifiers_are_kept_where_that_is_asked() -> None:
    kept = Table.from_frame(PEOPLE, categorical=["id", "title"])
    assert kept.cardinalities[:2] == (300, 260)
    assert Table.from_frame(PEOPLE, exclude=["id", "title"]).names[0] == "ward"
    declared = Table.from_frame({"id": pd.Series(PEOPLE["id"], dtype="category")})
    assert declared.cardinalities == (300,)
    assert Table.from_frame({"id": PEOPLE["id"]}, schema=declared.variables) == declared


@pytest.mark.parametrize(
    ("n_rows", "n_texts", "left_out"),
    [
        (19, 19, False),
        (20, 20, True),
        (99, 98, False),
        (100, 50, False),
        (100, 51, True),
        (9000, 256, False),
        (9000, 257, True),
    ],
)
def test_where_identifiers_begin(n_rows: int, n_texts: int, left_out: bool) -> None:
    frame = {"x": [f"t{i % n_texts}" for i in range(n_rows)], "y": [0, 1] * (n_rows // 2) + [0] * (n_rows % 2)}
    if left_out:
        with pytest.warns(
            FishernetWarning,
            match=f"'x' is an identifier and is left out: {n_texts} different texts in {n_rows:,} rows",
        ):
            assert Table.from_frame(frame).names == ("y",)
    else:
        assert Table.from_frame(frame).names == ("x", "y")


def test_missing_cells_of_an_identifier_drop_no_row() -> None:
    frame = {"id": [None, *PEOPLE["id"][1:]], "ward": PEOPLE["ward"]}
    with pytest.warns(FishernetWarning, match="'id' is an identifier and is left out"):
        assert Table.from_frame(frame, missing="drop").n_rows == N


def test_a_description_says_what_was_decided_why_and_how_to_overrule() -> None:
    with pytest.warns(FishernetWarning):
        found = Table.from_frame(PEOPLE).describe()
    rows = {row["name"]: row for row in found.to_frame().to_pylist()}
    assert rows["id"] == {
        "name": "id", "kind": "left out", "holds": "", "missing": 0,
        "why": "300 different texts in 300 rows: an identifier", "overrule": "categorical=['id']",
        "binned": False, "typical": "",
    }  # fmt: skip
    assert rows["age"]["holds"] == "18 to 87"
    age = next(column for column in found.columns if column.name == "age")
    assert sum(age.counts) == N
    assert age.typical == f"mean {np.mean(PEOPLE['age']):.4g}"
    assert len(age.shape) == 12
    assert (rows["children"]["why"], rows["children"]["overrule"]) == ("4 whole numbers", "continuous=['children']")
    assert (rows["one"]["kind"], rows["one"]["holds"]) == ("categorical", "'same'")
    assert rows["day"]["holds"] == "2021-01-01 to 2021-03-31"
    assert str(found).startswith("300 rows, 5 columns\ncolumn")
    assert len(str(found).splitlines()) == 9
    assert repr(found) == "Description(300 rows, 7 columns)"


def test_a_description_of_any_table() -> None:
    table = Table.from_codes([[0, 1], [1, 2]])
    assert [column.holds for column in table.describe().columns] == ["0, 1", "0, 1, 2"]
    assert Table.from_frame({"x": [None, 0.5]}).describe().columns[0].missing == 1
    assert Table.from_frame({"x": []}, continuous=["x"]).describe().columns[0].holds == "nothing"


# --------------------------------------------------------------------------------------------------------- numbers


def test_numbers_spoiled_by_a_few_cells_are_told() -> None:
    ages = [str(age) for age in PEOPLE["age"]]
    ages[5] = ages[9] = "unknown"
    with pytest.warns(FishernetWarning, match="'age' is taken for text; it holds numbers, and 'unknown' in 2 of"):
        Table.from_frame({"age": ages})
    table = Table.from_frame({"age": ages}, na_values=["unknown"], continuous=["age"])
    assert table.missing_counts() == {"age": 2}
    assert Table.from_frame({"age": ages}, categorical=["age"]).cardinalities == (71,)


def test_dates_spoiled_by_a_few_cells_are_told(tmp_path: Path) -> None:
    days = [f"2023-{1 + i % 12:02d}-{1 + i % 28:02d} {i % 24:02d}:{i % 60:02d}:{i % 50:02d}" for i in range(6000)]
    days[::70] = ["2023-02-31 00:00:00"] * len(days[::70])
    for n in (2000, 6000):  # labels that are held, and that others stand for
        path = tmp_path / f"{n}.csv"
        path.write_text("".join(f"{day}\n" for day in ["when", *days[:n]]))
        for read in (read_table, fn.scan):
            with pytest.warns(FishernetWarning) as warned:  # of an identifier, too
                read(path)
            told = " ".join(str(warning.message) for warning in warned)
            assert f"holds dates, and '2023-02-31 00:00:00' in {-(-n // 70)} of its cells" in told
            assert read(path, na_values={"when": ["2023-02-31 00:00:00"]}).variables[0].is_continuous


@pytest.mark.parametrize("n", [500, 12_000], ids=["labels held", "labels that others stand for"])
@pytest.mark.parametrize(
    ("write", "slips"),
    [
        (lambda i: f"{i * 0.37:.2f}", ["12..5", "45 est.", "see note 3", "12O.4", "1,,2"]),
        (lambda i: f"${i * 3.7:,.2f}", ["$12.5.0"]),
        (lambda i: f"{1 + i % 28:02d}.{1 + i % 12:02d}.{1950 + i % 70}", ["31.02.2020", "never"]),
    ],
    ids=["numbers", "money", "dates"],
)
def test_slips_among_numbers_and_dates_are_missing(tmp_path: Path, n: int, write: Any, slips: list[str]) -> None:
    cells = [write(i) for i in range(n)]
    places = [7 + 90 * i for i in range(len(slips))]
    for place, slip in zip(places, slips, strict=True):
        cells[place] = slip
    path = written(tmp_path, "x,y\n" + "".join(f'"{cell}",{i % 3}\n' for i, cell in enumerate(cells)))
    told = "is none and is" if len(slips) == 1 else "are none and are"
    with pytest.warns(FishernetWarning, match=f"{told} taken for missing") as warned:
        table = read_table(path)
    assert np.flatnonzero(np.isnan(table.column("x"))).tolist() == places
    to_text, to_silence = cast(Any, warned[0].message).remedies
    with warnings.catch_warnings(action="error"):
        assert read_table(path, **to_silence.arguments) == table
        assert not read_table(path, **to_text.arguments).variables[0].is_continuous
    with pytest.warns(FishernetWarning, match=f"{told} taken for missing"):
        assert fn.scan(path) == table


@pytest.mark.parametrize(
    "slips",
    [["12..5"] * 6, ["a1", "a2", "a3", "a4", "a5", "a6"], ["007"], ["$12"], ["2020-01-31"]],
    ids=["too many cells", "too many labels", "zeros first", "money", "a date"],
)
def test_what_may_be_no_slip_leaves_a_column_text(tmp_path: Path, slips: list[str]) -> None:
    cells = [f"{i * 0.37:.2f}" for i in range(600 if len(set(slips)) > 1 else 400)]
    path = written(tmp_path, "x,y\n" + "".join(f"{cell},{i % 3}\n" for i, cell in enumerate([*cells, *slips])))
    with pytest.warns(FishernetWarning):
        assert read_table(path).names == ("y",)


@pytest.mark.parametrize(
    ("cells", "options", "first"),
    [
        ([f'"{1000 + 7 * i:,}"' for i in range(60)], {"thousands": ","}, 1000),
        ([f'"{i},5"' for i in range(60)], {"decimal": ","}, 0.5),
        ([f'"1.{100 + i},5"' for i in range(60)], {"decimal": ",", "thousands": "."}, 1100.5),
        ([f"{i}%" for i in range(60)], {"continuous": ["x"]}, 0),
    ],
)
def test_numbers_in_other_writings(tmp_path: Path, cells: list[str], options: Any, first: float) -> None:
    path = written(tmp_path, "\n".join(["x", *cells]) + "\n")
    without: dict[str, Any] = {}
    for how in (options, without):
        table = read_table(path, **how)
        assert table.variables == (Continuous("x"),)
        assert table.column("x")[0] == first


# ---------------------------------------------------------------------------------------------------------- text files


@pytest.mark.parametrize(
    ("name", "mark"),
    [("t.txt", ";"), ("t.txt", "\t"), ("t.txt", ","), ("t.csv", ";"), ("t.csv", "tab"), ("t.tsv", "|")],
)
def test_delimiters(tmp_path: Path, name: str, mark: str) -> None:
    path = written(tmp_path, "a;b\nx;1\ny;2\n".replace(";", "\t" if mark == "tab" else mark), name)
    options = {} if name == "t.txt" else {"delimiter": mark}
    assert read_table(path, **options).names == ("a", "b")  # type: ignore[arg-type]


def test_encodings(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for encoding in ("latin-1", "cp1252", "utf-16"):
        path.write_bytes("näme,b\nGöteborg,1\nÅbo,2\n".encode(encoding))
        table = read_table(path, encoding=encoding)
        assert table.names == ("näme", "b")
        assert table["näme"].tolist() == ["Göteborg", "Åbo"]
        with pytest.warns(FishernetWarning, match="is not UTF-8 text .*and is read as"):
            assert read_table(path) == table
    path.write_bytes(("a,b\n" + "x,1\ny,2\n" * 5000 + "é,3\n").encode("latin-1"))  # far below rows that are whole
    with pytest.warns(FishernetWarning, match="is not UTF-8 text .*and is read as"):
        assert read_table(path)["a"].tolist()[-1] == "é"
    path.write_bytes(b"a\n\xff\xfe\xff")
    with pytest.raises(FileFormatError, match="is not utf-16-be text"):
        read_table(path, encoding="utf-16-be")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delimiter": ';"'}, "delimiter must be text without quotes"),
        ({"decimal": ";"}, "decimal must be"),
        ({"thousands": "x"}, "thousands must be one character"),
        ({"thousands": ".", "decimal": "."}, "cannot both be"),
        ({"encoding": "klingon"}, "encoding must be one that Python knows"),
        ({"encoding": "\ud83d"}, "encoding must be one that Python knows"),
        ({"encoding": "utf-8\0"}, "encoding must be one that Python knows"),
    ],
)
def test_what_is_no_way_to_write_text(tmp_path: Path, options: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message) as refused:
        read_table(written(tmp_path, "a,b\nx,1\n"), **options)
    assert refused.value.parameter in options


# --------------------------------------------------------------------------------------------------------------- dates


def test_dates_and_times_are_numbers_that_are_shown_as_dates(tmp_path: Path) -> None:
    path = written(tmp_path, "day,at\n2021-03-28,2021-03-28 14:05:00\n1969-12-31,NA\n,1970-01-01T00:00:00.5\n")
    table = read_table(path)
    assert table.variables == (Continuous("day", "days"), Continuous("at", "seconds"))
    np.testing.assert_array_equal(table.column("day"), [18714, -1, np.nan])
    np.testing.assert_array_equal(table.column("at"), [1616940300, np.nan, 0.5])
    assert read_table(path, categorical=["day"]).variables[0].states == ("1969-12-31", "2021-03-28")
    for ending in ("csv", "parquet", "arrow"):
        fn.write_table(table, tmp_path / f"again.{ending}")
        again = read_table(tmp_path / f"again.{ending}")
        assert again == table


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_dates_of_frames(make: Any) -> None:
    times = [datetime.datetime(2021, 3, 28, 14, 5), None, datetime.datetime(1970, 1, 1)]
    table = Table.from_frame(make({"at": times}))
    assert table.variables == (Continuous("at", "seconds"),)
    np.testing.assert_array_equal(table.column("at"), [1616940300, np.nan, 0])


DAYS = ["2021-03-28", "1970-01-02", None, "2021-03-29"] * 2
TEXT_DATES: dict[str, Any] = {
    "mapping": lambda texts: {"day": texts},
    "pandas": lambda texts: pd.DataFrame({"day": texts}),
    "pandas objects": lambda texts: pd.DataFrame({"day": pd.Series(texts, dtype=object)}),
    "polars": lambda texts: pl.DataFrame({"day": texts}),
    "polars Categorical": lambda texts: pl.DataFrame({"day": pl.Series(texts, dtype=pl.Categorical)}),
    "pyarrow": lambda texts: pa.table({"day": texts}),
}


@pytest.mark.parametrize("kind", TEXT_DATES)
def test_dates_that_are_text_are_dates_as_in_a_file(kind: str, tmp_path: Path) -> None:
    make = TEXT_DATES[kind]
    path = tmp_path / "days.csv"
    path.write_text("day\n" + "\n".join(day or "NA" for day in DAYS) + "\n")
    table = Table.from_frame(make(DAYS))
    assert table == fn.read_table(path)
    assert table.variables == (Continuous("day", "days"),)
    assert table.column("day")[:2].tolist() == [18714, 1]  # days since 1970
    seconds = Table.from_frame(make([*DAYS, "1970-01-01 00:01:30"]))
    assert seconds.variables == (Continuous("day", "seconds"),)
    assert seconds.column("day")[-1] == 90.0
    for keyword in ({"categorical": ["day"]}, {"schema": [Variable("day", sorted({day for day in DAYS if day}))]}):
        assert Table.from_frame(make(DAYS), **keyword)["day"].tolist() == DAYS
    assert not Table.from_frame(make([*DAYS, "2021-02-30"])).variables[0].is_continuous
    cut = Table.from_frame(make(DAYS), bins={"day": [18713.5]})
    assert Table.from_frame(make(DAYS), schema=cut.variables) == cut
    assert cut["day"].tolist()[:3] == [cut.variables[0].states[1], cut.variables[0].states[0], None]


def test_declared_dates_stay_states() -> None:
    days = ["2021-03-28", "2021-03-29"]
    for column in (pd.Categorical(days), pa.array(days).dictionary_encode(), pl.Series(days, dtype=pl.Enum(days))):
        assert Table.from_frame({"day": column}).variables == (Variable("day", days),)


def test_dates_are_cut_at_dates() -> None:
    table = Table.from_frame({"day": PEOPLE["day"]}, bins=2)
    assert table.variables[0].states == ("<= 2021-02-09", "> 2021-02-09")
    new = Table.from_frame({"day": [datetime.date(2021, 2, 9), datetime.date(2021, 2, 10)]}, schema=table.variables)
    assert new.column("day").tolist() == [0, 1]
    few = Table.from_frame({"day": PEOPLE["day"][:3]}, bins=4)
    assert few.variables[0].states == ("<= 2021-01-01", "(2021-01-01, 2021-01-02]", "> 2021-01-02")


def test_what_is_no_date_stays_text(tmp_path: Path) -> None:
    path = written(tmp_path, "day,b\n2021-02-30,1\n2021-02-28,2\n")
    assert read_table(path).variables[0].states == ("2021-02-28", "2021-02-30")


def test_a_model_of_dates_is_saved_with_them(tmp_path: Path) -> None:
    net = fn.learn.bayesian_network({"day": PEOPLE["day"], "age": [age + 0.5 for age in PEOPLE["age"]]})
    fn.save(net, tmp_path / "m.json")
    assert fn.load(tmp_path / "m.json") == net


# -------------------------------------------------------------------------------------------------------------- frames


def test_columns_may_be_named_by_integers() -> None:
    for frame in (pd.DataFrame({0: [1, 2], 1: ["x", "y"]}), {0: [1, 2], np.int64(1): ["x", "y"]}):
        table = Table.from_frame(frame)
        assert table.names == ("0", "1")
        net = fn.learn.bayesian_network(frame)
        np.testing.assert_array_equal(net.log_prob(frame), net.log_prob(table))


def test_names_that_are_the_same_as_text_are_refused() -> None:
    with pytest.raises(SchemaError, match="'0' appears more than once"):
        Table.from_frame({0: [1], "0": [2]})
    with pytest.warns(FishernetWarning, match=r"the same name; the later ones are called '0\.1'"):
        assert Table.from_frame(pd.DataFrame([[1, 2]], columns=[0, "0"])).names == ("0", "0.1")


def test_intervals_are_states_in_their_order() -> None:
    cut = pd.cut(pd.Series([1, 5, 20, 7]), [0, 4, 10, 30])
    table = Table.from_frame(pd.DataFrame({"x": cut}))
    assert table.variables[0].states == ("(0, 4]", "(4, 10]", "(10, 30]")
    assert table.column("x").tolist() == [0, 1, 2, 1]


def test_whatever_speaks_arrow_comes_in_and_gets_out(tmp_path: Path) -> None:
    plain = pa.table({"a": ["x", "y", "x"], "b": [0.5, 1.5, 2.5]})
    table = Table.from_frame(plain)
    pa.parquet.write_table(plain, tmp_path / "part.parquet")
    for source in (plain.to_reader(), pa.dataset.dataset(tmp_path / "part.parquet"), plain.to_batches()[0]):
        assert Table.from_frame(source) == table
    assert pa.table(table) == table.to_frame()
    assert pl.DataFrame(table).shape == (3, 2)
    assert Table.from_frame(table) == table


def test_numbers_that_count_the_rows_are_told() -> None:
    rng = np.random.default_rng(1)
    frame = {"id": rng.permutation(200) + 1000, "n": rng.integers(0, 200, 200), "half": np.arange(200) / 2}
    with pytest.warns(FishernetWarning, match=r"'id' is an identifier .*continuous=\['id'\] to keep it"):
        found = Table.from_frame(frame).describe()
    why = {column.name: column.why for column in found.columns}
    assert why == {"id": "whole numbers that count the rows: an identifier", "n": "numbers", "half": "numbers"}
    assert Table.from_frame(frame, continuous=["id"]).names == ("id", "n", "half")
    assert Table.from_frame({"id": frame["id"]}).variables == (Continuous("id"),)  # something is better than nothing


@pytest.mark.parametrize("name", ["year", "Year", "birth_year", "saleYear", "day", "t_time", "Model Year"])
def test_years_that_count_the_rows_are_no_identifier(name: str) -> None:
    frame = {name: np.arange(1880, 2020), "x": np.arange(140) % 7 / 3}
    assert Table.from_frame(frame).names == (name, "x")
    with pytest.warns(FishernetWarning, match="is an identifier"):
        assert Table.from_frame({f"{name}book": frame[name], "x": frame["x"]}).names == ("x",)


def test_each_identifier_is_kept_in_its_own_way() -> None:
    frame = {"n": np.arange(200), "key": [f"k{i}" for i in range(200)], "x": np.arange(200) % 3, "m": range(200)}
    with pytest.warns(FishernetWarning, match=r"pass continuous=\['n', 'm'\] with categorical=\['key'\] to keep them"):
        assert Table.from_frame(frame).names == ("x",)
    assert Table.from_frame(frame, continuous=["n", "m"], categorical=["key"]).names == ("n", "key", "x", "m")


@pytest.mark.parametrize("name", ["id", "ID", "patient_id", "Unnamed: 0", "index", "customerId", "row number"])
def test_a_name_makes_an_identifier_of_different_numbers(name: str) -> None:
    frame = {name: [3, 17, 4, 99, 52], "x": ["a", "b", "a", "b", "a"]}
    with pytest.warns(FishernetWarning, match="identifier"):
        assert Table.from_frame(frame).names == ("x",)
    assert Table.from_frame({**frame, name: [3, 17, 3, 17, 3]}).names == (name, "x")


@pytest.mark.parametrize(
    ("name", "is_left_out"), [("ID", True), ("patient_id", True), ("index", False), ("obs", False)]
)
def test_ids_that_come_again_are_numbers_for_no_one(name: str, is_left_out: bool) -> None:
    """Of 30 patients three visits each; an index may count something, and 20 ids are states."""
    frame = {name: np.repeat(np.arange(30), 3), "x": np.arange(90) % 7 / 3}
    expected = contextlib.nullcontext() if not is_left_out else pytest.warns(FishernetWarning, match="identifier")
    with expected:
        assert Table.from_frame(frame).names == (("x",) if is_left_out else (name, "x"))
    assert Table.from_frame(frame, continuous=[name]).names == (name, "x")
    assert not Table.from_frame({name: np.repeat(np.arange(20), 3)}).variables[0].is_continuous


@pytest.mark.parametrize(
    ("numbers", "are_states"),
    [
        ([0, 0.5, 1] * 2, True),
        ([1.0, 2.0] * 5, True),
        ([0.5, 0.5, 1.5], False),  # one of them in one row alone
        ([x / 4 for x in range(10)] * 2, True),
        ([x / 4 for x in range(11)] * 2, False),
        (list(range(20)) * 2, True),
        (list(range(21)) * 2, False),
        ([*range(12), *[0] * 12], True),  # twice on average: a count with a tail
        ([7, 19, 3, 21], False),
        ([0, 1, 1], True),
    ],
)
def test_few_numbers_in_several_rows_each_are_states(numbers: list[float], are_states: bool) -> None:
    table = Table.from_frame({"x": numbers, "y": ["u", *"v" * (len(numbers) - 1)]})
    assert table.variables[0].is_continuous is not are_states


def test_whole_numbers_weigh_as_often_as_they_say_and_fractions_as_kish_s_effective_number() -> None:
    frame = {"x": ["a", "b", "b", "a"], "w": [1.5, 0.5, 2.0, 4.0], "n": [1, 5, 2, 4]}
    counts = Table.from_frame(frame, weights="n", exclude=["w"])
    assert counts.total == 12
    survey = Table.from_frame(frame, weights="w", exclude=["n"])
    assert survey.total == pytest.approx(8.0**2 / (1.5**2 + 0.5**2 + 2.0**2 + 4.0**2))
    assert survey.weights == pytest.approx(np.array([1.5, 0.5, 2, 4]) * survey.total / 8)
    population = {**frame, "w": [7000.3 * w for w in (1.5, 0.5, 2.0, 4.0)]}
    assert Table.from_frame(population, weights="w", exclude=["n"]).total == pytest.approx(survey.total)
    assert Table.from_frame(frame, weights="n", weight_kind="survey", exclude=["w"]).total == pytest.approx(144 / 46)
    assert Table.from_frame(frame, weights="w", weight_kind="counts", exclude=["n"]).total == 8


def test_long_states_are_cut_short_in_a_description() -> None:
    table = Table.from_frame({"x": ["a" * 60, "b"] * 5})
    assert table.describe().columns[0].holds == f"'{'a' * 20}..., 'b'"
