"""Parquet and Arrow files: those of others, and broken ones."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fishernet import FileFormatError, FishernetError, FishernetWarning, SchemaError, Table, Variable, read_table
from tests.data.hostile import labels

FRAME = pa.table(
    {
        "t": pa.array(["b", None, "a", "?"]),
        "d": pa.DictionaryArray.from_arrays(pa.array([1, 0, 0, None]), pa.array(["z", "y", "x"])),
        "i": pa.array([3, 1, 3, 2]),
        "when": pa.array([b"\xf1", b"\xf2", b"\xf3", b"\xf4"]),
        "a.b": pa.array([True, False, True, True]),
    }
)


def _stream(frame: pa.Table, path: Path) -> None:
    with pa.ipc.new_stream(path, frame.schema) as writer:
        writer.write_table(frame, max_chunksize=2)


def _file(frame: pa.Table, path: Path) -> None:
    with pa.ipc.new_file(path, frame.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(frame)


WRITERS: dict[str, tuple[str, Callable[[pa.Table, Path], Any]]] = {
    "parquet": ("file.parquet", lambda frame, path: pq.write_table(frame, path, row_group_size=2)),
    "arrow file": ("file.arrow", _file),
    "arrow stream": ("file.arrow", _stream),
    "feather": (
        "file.feather",
        lambda frame, path: pyarrow.feather.write_feather(frame, path, compression="uncompressed"),
    ),
}


@pytest.fixture(params=sorted(WRITERS))
def write(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[pa.Table], Path]:
    name, writer = WRITERS[request.param]

    def written(frame: pa.Table) -> Path:
        path = tmp_path / name
        writer(frame, path)
        return path

    return written


def test_labels_and_declared_states(write: Callable[[pa.Table], Path]) -> None:
    table = read_table(write(FRAME.drop_columns("when")), missing="keep", categorical=["i"])
    assert [v.states for v in table.variables] == [("a", "b"), ("z", "y", "x"), (1, 2, 3), (False, True)]
    assert labels(table) == {
        "t": ["b", None, "a", None],
        "d": ["y", "z", "z", None],
        "i": [3, 1, 3, 2],
        "a.b": [True, False, True, True],
    }


def test_a_schema_takes_its_columns_only(write: Callable[[pa.Table], Path]) -> None:
    path = write(FRAME)
    with pytest.warns(FishernetWarning, match="column 'when' holds bytes, and is left out"):
        assert "when" not in read_table(path, missing="keep").names
    table = read_table(path, schema=[Variable("a.b", [False, True]), Variable("i", [3, 2, 1])])
    assert labels(table) == {"a.b": [True, False, True, True], "i": [3, 1, 3, 2]}


def test_a_name_that_begins_another(write: Callable[[pa.Table], Path]) -> None:
    """Parquet's reader takes a column's name for the beginning of a path."""
    path = write(pa.table({"a": [1, 2], "a.b": pa.array([b"1", b"2"])}))
    assert read_table(path, schema=[Variable("a", [1, 2])]).names == ("a",)


def test_no_rows(write: Callable[[pa.Table], Path]) -> None:
    with pytest.raises(SchemaError, match="there is no row below the names"):
        read_table(write(FRAME.drop_columns("when")[:0]))
    assert read_table(write(FRAME[:0]), schema=[Variable("t", ["a"])]).n_rows == 0


@pytest.mark.parametrize("name", ["file.parquet", "file.arrow", "file.feather"])
@pytest.mark.parametrize("content", [b"a,b\n1,2\n", b"PAR1", b"ARROW1\0\0", b"\xff" * 100, b"ARROW1" + b"\0" * 100])
def test_what_is_no_such_file(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"is no (Parquet|Arrow) file, or a broken one") as e:
        read_table(path)
    assert "\n" not in str(e.value)


def test_a_file_cut_off(write: Callable[[pa.Table], Path]) -> None:
    path = write(FRAME.drop_columns("when"))
    content = path.read_bytes()
    for size in (len(content) // 3, len(content) - 40):
        path.write_bytes(content[:size])
        with pytest.raises(FileFormatError, match="or a broken one"):
            read_table(path, missing="keep")


@pytest.mark.parametrize(
    "damaged",
    [b"{", b"\xff", b"[]", b"3", b'{"index_columns": 3}', b'{"a":' * 100_000],
    ids=lambda text: str(text[:20]),
)
def test_damaged_metadata_of_pandas(write: Callable[[pa.Table], Path], damaged: bytes) -> None:
    path = write(FRAME.select(["t", "i"]).replace_schema_metadata({b"pandas": damaged}))
    with pytest.raises(FileFormatError, match="the metadata that pandas wrote, under 'pandas', are damaged") as e:
        read_table(path)
    assert e.value.path == str(path)
    with pytest.raises(SchemaError, match="the metadata that pandas wrote"):
        Table.from_frame(FRAME.select(["t", "i"]).replace_schema_metadata({b"pandas": damaged}), missing="keep")


def test_a_name_that_is_no_utf8(write: Callable[[pa.Table], Path]) -> None:
    path = write(FRAME.select(["t"]).rename_columns(["name"]))
    path.write_bytes(path.read_bytes().replace(b"name", b"n\xe4me"))
    with pytest.raises(FileFormatError, match="or a broken one .*UTF-?8"):
        read_table(path, missing="keep")


PANDAS = pa.Table.from_pandas(
    pd.DataFrame(
        {"t": ["a", "b", "a"], "c": pd.Categorical(["x", "y", "x"])}, index=pd.Index(["p", "q", "r"], name="i")
    )
)
OURS = Table.from_frame({"age": [21, 35, 62], "cough": ["no", "yes", "nö"]}, bins=2).to_frame()


@pytest.mark.parametrize("frame", [PANDAS, OURS], ids=["of pandas", "of ours"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=4))
def test_bytes_that_changed(
    write: Callable[[pa.Table], Path], frame: pa.Table, changes: list[tuple[float, int]]
) -> None:
    path = write(frame)
    data = bytearray(path.read_bytes())
    for place, byte in changes:
        data[int(place * len(data))] = byte
    path.write_bytes(data)
    with suppress(FishernetError):
        read_table(path, missing="keep")


def test_codes_outside_their_dictionary(tmp_path: Path) -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([0, 9], pa.int8()), pa.array(["a"]), safe=False)
    path = tmp_path / "file.arrow"
    with pa.ipc.new_file(path, pa.schema([("x", array.type)])) as writer:
        writer.write_table(pa.table({"x": array}))
    with pytest.raises(FileFormatError, match="or a broken one"):
        read_table(path)


def test_files_of_pandas_and_polars(tmp_path: Path) -> None:
    path = tmp_path / "file.parquet"
    frame = pd.DataFrame(
        {"x": pd.Categorical(["b", "a"], categories=["c", "b", "a"])}, index=pd.Index(["r", "s"], name="n")
    )
    frame.to_parquet(path)
    assert [v.states for v in read_table(path).variables] == [("c", "b", "a")]
    polars = pl.DataFrame({"x": pl.Series(["b", "a"], dtype=pl.Enum(["c", "b", "a"])), "y": ["u", None]})
    polars.write_parquet(path)
    assert labels(read_table(path, missing="keep")) == {"x": ["b", "a"], "y": ["u", None]}
    polars.write_ipc(tmp_path / "file.arrow")
    assert [v.states for v in read_table(tmp_path / "file.arrow", missing="keep").variables] == [
        ("c", "b", "a"),
        ("u",),
    ]
