"""Paths that are no files' names, and names that are no text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import fishernet as fn

LONG = "x" * 300


@pytest.mark.parametrize("ending", [".csv", ".parquet", "/a.csv"])
def test_a_name_that_is_too_long_is_one_sentence(tmp_path: Path, ending: str) -> None:
    path = str(tmp_path / LONG) + ending
    frame = {"a": ["x", "y"]}
    for read in (fn.read_table, fn.scan):
        with pytest.raises(fn.FishernetError, match="too long"):
            read(path)
    with pytest.raises(fn.FishernetError, match="too long"):
        fn.scan(frame, cache=path)


@pytest.mark.parametrize("read", [fn.read_table, fn.scan])
def test_a_column_whose_name_is_no_unicode_is_refused(tmp_path: Path, read: Any) -> None:
    path = tmp_path / "t.arrow"
    table = pa.table({"a name": ["x", "y"]})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    path.write_bytes(path.read_bytes().replace(b"a name", b"a\xffname"))
    with pytest.raises(fn.FileFormatError, match=r"t\.arrow"):
        read(path)
