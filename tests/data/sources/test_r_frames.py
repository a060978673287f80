"""Data frames that R saved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fishernet as fn
from fishernet.base.errors import FileFormatError, FishernetWarning

pyreadr = pytest.importorskip("pyreadr")

FRAME = pd.DataFrame(
    {
        "pain": pd.Categorical(["some", "none", None, "much"] * 5, categories=["none", "some", "much", "unbearable"]),
        "age": [np.nan, *np.linspace(18.25, 77.5, 19)],
        "ward": ["north", "south", "", "north"] * 5,
    }
)


@pytest.mark.parametrize("ending", [".rds", ".rda", ".RData"])
def test_factors_declare_their_levels(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t{ending}"
    (pyreadr.write_rds if ending == ".rds" else pyreadr.write_rdata)(str(path), FRAME)
    table = fn.read_table(path)
    assert table.names == ("pain", "age", "ward")
    assert table.variables[0].states == ("none", "some", "much", "unbearable")
    assert table.column("pain")[:4].tolist() == [1, 0, 4, 2]
    np.testing.assert_array_equal(table.numbers[0], FRAME["age"])
    assert np.count_nonzero(table.column("ward") == 2) == 5
    assert fn.scan(path) == table


def test_one_of_several_data_frames_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.rda"
    path.write_bytes(b"any")
    monkeypatch.setattr(pyreadr, "read_r", lambda _: {"first": FRAME, "second": FRAME[["ward"]]})
    with pytest.warns(FishernetWarning, match=r"1 other data frame \('second'\)"):
        assert fn.read_table(path).names == ("pain", "age", "ward")
    assert fn.read_table(path, sheet="second").names == ("ward",)
    with pytest.raises(FileFormatError, match="has no data frame 'third'"):
        fn.read_table(path, sheet="third")
    monkeypatch.setattr(pyreadr, "read_r", lambda _: {})
    with pytest.raises(FileFormatError, match="no data frame that can be read"):
        fn.read_table(path)


def test_what_is_no_such_file(tmp_path: Path) -> None:
    path = tmp_path / "t.rds"
    path.write_bytes(b"junk")
    with pytest.raises(FileFormatError, match="is no file of R, a broken one, or holds more"):
        fn.read_table(path)
    with pytest.raises(fn.SchemaError, match="delimiter is for text files"):
        fn.read_table(path, delimiter=";")
