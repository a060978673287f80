"""Streams: the same tables as `read_table` makes of the same rows, whatever they come from and however they are cut."""

from __future__ import annotations

import gc
import pickle
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pa_ds
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.data import column_summary
from tests.tables import random_table

RNG = np.random.default_rng(1)
N = 1200
ROWS: dict[str, Any] = {
    "sex": [("f", "m", None)[i] for i in RNG.choice(3, N, p=[0.5, 0.4, 0.1])],
    "age": RNG.integers(0, 90, N).tolist(),
    "children": RNG.integers(0, 5, N).tolist(),
    "weight": [None if x < 50 else x for x in RNG.normal(70, 9, N).round(2).tolist()],
    "smokes": (RNG.random(N) < 0.3).tolist(),
    "seen": [f"20{y:02}-0{m}-11" for y, m in zip(RNG.integers(10, 30, N), RNG.integers(1, 10, N), strict=True)],
    "name": [f"person {i}" for i in range(N)],
}
FRAME = pa.table(ROWS)


def batches(frame: pa.Table, n: int) -> Iterator[pa.RecordBatch]:
    size = -(-frame.num_rows // n)
    return iter([b for i in range(n) for b in frame.slice(i * size, size).combine_chunks().to_batches()])


def quietly(make: Any, *args: Any, **keywords: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fn.FishernetWarning)
        return make(*args, **keywords)


def assert_same(found: fn.Table, expected: fn.Table) -> None:
    assert found == expected
    assert found.variables == expected.variables
    assert [column.dtype for column in found.codes] == [column.dtype for column in expected.codes]
    assert str(found.describe()) == str(expected.describe())
    assert [v.bounds for v in found.variables if not v.is_continuous] == [
        v.bounds for v in expected.variables if not v.is_continuous
    ]


def assert_same_outcome(found: Callable[[], fn.Table], expected: Callable[[], fn.Table]) -> None:
    """Assert that two calls make the same table, or refuse with the same words."""
    outcomes: list[Any] = []
    for call in (found, expected):
        try:
            outcomes.append(call())
        except fn.FishernetError as error:
            outcomes.append((type(error), str(error)))
    if isinstance(outcomes[1], fn.Table):
        assert_same(*outcomes)
    else:
        assert outcomes[0] == outcomes[1]


KEYWORDS: list[dict[str, Any]] = [
    {},
    {"bins": 4},
    {"bins": {"weight": [60, 75], None: 3}, "binning": "equal-width"},
    {"columns": ["weight", "sex", "age"]},
    {"exclude": ["name"], "categorical": ["age"]},
    {"categorical": ["name"], "continuous": ["children"]},
    {"missing": "drop"},
    {"missing": "state", "bins": 2},
    {"weights": "children"},
]


@pytest.mark.parametrize("keywords", KEYWORDS, ids=str)
@pytest.mark.parametrize("n", [1, 7, 1000])
@pytest.mark.parametrize("cache", [None, "memory"])
def test_batches_make_the_table_of_their_rows(keywords: dict[str, Any], n: int, cache: Any) -> None:
    frame = FRAME[:200] if n == 1000 else FRAME  # batches of one row each
    expected = quietly(fn.Table.from_frame, frame, **keywords)
    assert_same(quietly(fn.scan, batches(frame, n), cache=cache, **keywords), expected)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".parquet", ".arrow"])
@pytest.mark.parametrize(
    "keywords", [{}, {"bins": 3}, {"missing": "drop"}, {"exclude": ["name", "sex"], "categorical": ["age"]}], ids=str
)
def test_a_file_makes_the_table_that_is_read_from_it(tmp_path: Path, ending: str, keywords: dict[str, Any]) -> None:
    path = tmp_path / f"people{ending}"
    quietly(fn.write_table, quietly(fn.Table.from_frame, FRAME, categorical=["name"]), path)
    assert_same(quietly(fn.scan, path, **keywords), quietly(fn.read_table, path, **keywords))


TEXTS = {
    "quotes": 'a,b\n"x, y",1\n"NA",2\nNA,3\n"two\nlines",4\n',
    "thousands": "a;b\n1.200,5;x\n17,25;y\n1.000.000;x\n",
    "spaces": "a, b\n 1, x\n 2, NA\n 3, y\n",
    "an index": ",a,b\n0,u,1.5\n1,v,2.5\n",
    "numbers with plus": "a,b\n+1.5,x\n-.5,y\n1e3,x\n",
    "a header alone": "a,b\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_text_is_read_as_a_table_of_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    more: dict[str, Any] = {"delimiter": ";", "decimal": ",", "thousands": "."} if ";" in text else {}
    assert_same_outcome(lambda: quietly(fn.scan, path, **more), lambda: quietly(fn.read_table, path, **more))


cells = st.none() | st.sampled_from(["a", "b", "NA", "1", "2.5", "x y", "é"])
columns = st.fixed_dictionaries(
    {
        "text": st.lists(cells, min_size=0, max_size=30),
        "whole": st.lists(st.none() | st.integers(-3, 40), min_size=30, max_size=30),
        "real": st.lists(st.none() | st.floats(-5, 5, width=16), min_size=30, max_size=30),
    }
)


@settings(deadline=None)
@given(columns, st.integers(1, 12), st.sampled_from(["keep", "drop", "state"]), st.none() | st.integers(1, 4))
def test_any_cut_of_any_rows(found: dict[str, list[Any]], n: int, missing: Any, bins: int | None) -> None:
    n_rows = len(found["text"])
    frame = pa.table(
        {
            "text": pa.array(found["text"], pa.string()),
            "whole": pa.array(found["whole"][:n_rows], pa.int64()),
            "real": pa.array(found["real"][:n_rows], pa.float64()),
        }
    )
    assert_same_outcome(
        lambda: quietly(fn.scan, batches(frame, n) if n_rows else frame, missing=missing, bins=bins, cache="memory"),
        lambda: quietly(fn.Table.from_frame, frame, missing=missing, bins=bins),
    )


def test_text_of_many_numbers_becomes_numbers_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_summary, "MOST_LABELS", 100)
    values = RNG.normal(size=5000).round(6)
    path = tmp_path / "numbers.csv"
    path.write_text("x,y\n" + "".join(f"{x!r},{'uv'[i % 2]}\n" for i, x in enumerate(values.tolist())))
    assert_same(fn.scan(path), fn.read_table(path))
    path.write_text("x,y\n" + "".join(f"{2 * i},{'uv'[i % 2]}\n" for i in range(3000)))
    assert_same(fn.scan(path), fn.read_table(path))


def test_numbers_spoiled_late_are_text_that_identifies_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_summary, "MOST_LABELS", 300)
    frames = [{"x": [f"{i}.5" for i in range(500)], "y": ["u", "v"] * 250}, {"x": ["oops", "1.5"], "y": ["u", "v"]}]
    parts = [pa.table(frame) for frame in frames]
    with pytest.warns(fn.FishernetWarning, match="'oops' in 1 of its cells"), pytest.warns(match="identifier"):
        stream = fn.scan(iter(parts))
    assert stream.names == ("y",)
    with pytest.raises(fn.SchemaError, match=r"column 'x', row 500: .* 'oops' is none"):
        fn.scan(iter(parts), continuous=["x"])


def test_texts_that_nobody_asked_for_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_summary, "MOST_LABELS", 300)
    ids = pa.table({"id": [f"row {i}" for i in range(2000)], "y": ["u", "v"] * 1000})
    with pytest.warns(fn.FishernetWarning, match="identifier"):
        assert fn.scan(batches(ids, 9)).names == ("y",)
    assert_same(fn.scan(batches(ids, 9), categorical=["id"]), fn.Table.from_frame(ids, categorical=["id"]))


def test_declared_states_and_variables_stay(tmp_path: Path) -> None:
    table = random_table(3, 400, [2, 3, 30, 300])
    for i in range(4):
        fn.write_table(table[i * 100 : (i + 1) * 100], tmp_path / f"part-{i}.parquet")
    assert fn.scan(tmp_path) == table
    encoded = pa.table({"a": pa.array(["u", None, "v"]).dictionary_encode(), "b": [1.5, 2.5, None]})
    assert_same(fn.scan(encoded), fn.Table.from_frame(encoded))


def test_a_folder_with_partitions_has_their_columns(tmp_path: Path) -> None:
    pa_ds.write_dataset(
        pa.table({"year": [2023, 2024] * 50, "x": ["u", "v", "v", "u"] * 25}),
        tmp_path / "data",
        format="parquet",
        partitioning=pa_ds.partitioning(pa.schema([("year", pa.int32())]), flavor="hive"),
    )
    stream = fn.scan(tmp_path / "data")
    assert sorted(stream.names) == ["x", "year"]
    assert stream["year"].tolist() == [2023] * 50 + [2024] * 50
    pattern = fn.scan(str(tmp_path / "data" / "*" / "*.parquet"))
    assert pattern.names == ("x",)
    assert pattern.n_rows == 100


def test_columns_and_rows_are_chosen_while_reading(tmp_path: Path) -> None:
    fn.write_table(quietly(fn.Table.from_frame, FRAME), tmp_path / "people.parquet")
    old = fn.scan(tmp_path / "people.parquet", columns=["age", "sex"], filter=pa_ds.field("age") > 60)
    assert old.names == ("sex", "age")
    assert sorted(old["age"].tolist()) == sorted(age for age in ROWS["age"] if age > 60)


def test_datasets_streams_frames_and_relations() -> None:
    expected = quietly(fn.Table.from_frame, FRAME)
    reader = pa.RecordBatchReader.from_batches(FRAME.schema, FRAME.to_batches(100))
    parts = (FRAME.slice(i, 300).to_pandas() for i in range(0, N, 300))
    sources = [pa_ds.dataset(FRAME), reader, FRAME, FRAME.to_pandas(), parts, [FRAME.slice(0, 5), FRAME.slice(5)]]
    for source in sources:
        assert_same(quietly(fn.scan, source), expected)
    duckdb = pytest.importorskip("duckdb")
    people = FRAME  # noqa: F841 seen by its name in the query
    assert_same(quietly(fn.scan, duckdb.sql("select * from people")), expected)


def test_what_is_learned_and_asked_is_the_tables_to_the_last_bit(tmp_path: Path) -> None:
    table = fn.datasets.load("alarm").sample(3000, seed=1)
    fn.write_table(table, tmp_path / "alarm.parquet")
    stream = fn.scan(tmp_path / "alarm.parquet")
    ours, theirs = (fn.learn.structure(data, search="hill-climb") for data in (stream, table))
    assert (ours.dag, ours.score) == (theirs.dag, theirs.score)
    net = fn.learn.parameters(ours.dag, stream)
    assert net == fn.learn.parameters(theirs.dag, table)
    assert (net.log_prob(stream) == net.log_prob(table)).all()
    assert (np.concatenate(list(stream.each(net.log_prob, 700))) == net.log_prob(table)).all()


def test_the_form_that_is_counted_fastest_is_kept_in_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fishernet.data.streams.packing.LEAST_ROWS", 1)
    table = random_table(3, 3001, [2, 3, 4, 5, 2, 2])
    fn.write_table(table, tmp_path / "table.parquet")
    expected = fn.learn.structure(table, search="hill-climb")
    for _ in range(2):  # made, and found again
        stream = fn.scan(tmp_path / "table.parquet", cache=tmp_path / "store")
        found = fn.learn.structure(stream, search="hill-climb")
        assert (found.dag, found.score) == (expected.dag, expected.score)
        assert list((tmp_path / "store").rglob("planes.npy"))


def test_parts_of_a_stream_are_tables() -> None:
    stream = fn.scan(FRAME, exclude=["name"])
    table = fn.Table.from_frame(FRAME, exclude=["name"])
    for part in (
        stream[3:9],
        stream.select(["age"]),
        stream.head(),
        stream.drop_missing(),
        stream.split(0.5, seed=1)[0],
    ):
        assert type(part) is fn.Table
    assert stream[3:9] == table[3:9]
    assert [len(block) for block in stream.blocks(500)] == [500, 500, 200]
    assert repr(stream) == "Stream(1,200 rows, 6 variables)"
    assert pickle.loads(pickle.dumps(stream)) == table


def test_a_temporary_store_goes_with_its_stream_and_not_with_its_parts() -> None:
    stream = fn.scan(FRAME, exclude=["name"])
    folder, part = stream.folder, stream[:5]
    assert folder is not None
    assert folder.is_dir()
    del stream
    gc.collect()
    assert not folder.exists()
    assert part == fn.Table.from_frame(FRAME, exclude=["name"])[:5]
