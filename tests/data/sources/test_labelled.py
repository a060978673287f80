"""Files of Stata, SPSS and SAS."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fishernet as fn
from fishernet.base.errors import FileFormatError, FishernetWarning

pyreadstat = pytest.importorskip("pyreadstat")

FRAME = pd.DataFrame(
    {
        "pain": [2, 1, 2, 3, 2, 1, 1, 3],
        "age": [61.5, 35.0, 48.25, 70.0, 29.0, 51.0, 33.5, 66.0],
        "ward": ["north", "south", "", "north", "south", "south", "north", "north"],
        "seen": pd.to_datetime(["2020-01-02", "2021-03-04"] * 4),
        "score": [1, 2, 3, 99, 4, 5, 2, 1],
    }
)
LABELS = {"pain": {1: "none", 2: "some", 3: "much"}, "score": {99: "refused"}}


@pytest.mark.parametrize("ending", [".sav", ".zsav", ".dta", ".por"])
def test_labels_declare_states_in_the_order_of_their_values(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t{ending}"
    if ending == ".dta":
        pyreadstat.write_dta(FRAME, str(path), variable_value_labels=LABELS)
    elif ending == ".por":
        pyreadstat.write_por(FRAME.rename(columns=str.upper), str(path))
        table = fn.read_table(path, categorical=["PAIN"])
        assert table.variables[0].states == (1, 2, 3)
        return
    else:
        pyreadstat.write_sav(FRAME, str(path), variable_value_labels=LABELS, compress=ending == ".zsav")
    with pytest.warns(FishernetWarning, match="some values of 'score' have labels and others none"):
        table = fn.read_table(path)
    assert table.variables[0].states == ("none", "some", "much")
    assert [table.variables[0].states[c] for c in table.column("pain")][:4] == ["some", "none", "some", "much"]
    assert table.numbers[0].tolist() == FRAME["age"].tolist()
    assert np.count_nonzero(table.column("ward") == 2) == 1
    assert table.variables[3].unit is not None
    with pytest.warns(FishernetWarning):
        assert fn.scan(path) == table


def test_what_is_no_such_file(tmp_path: Path) -> None:
    for ending, kind in ((".dta", "Stata"), (".sav", "SPSS"), (".sas7bdat", "SAS")):
        path = tmp_path / f"t{ending}"
        path.write_bytes(b"junk")
        with pytest.raises(FileFormatError, match=f"is no {kind} file, or a broken one"):
            fn.read_table(path)


def test_dates_that_no_calendar_has_are_numbers_and_others_stay_dates(tmp_path: Path) -> None:
    day = 86_400.0
    frame = pd.DataFrame({"born": 13_630_723_200 + day * np.arange(6.0), "seen": 13_630_723_200 + day * np.arange(6.0)})
    frame.loc[3, "seen"] = 6_306_150_067_200  # of a year above 200,000
    path = tmp_path / "t.sav"
    pyreadstat.write_sav(frame, str(path), variable_format={"born": "DATE11", "seen": "DATETIME20"})
    with pytest.warns(FishernetWarning, match="the dates of 'seen' go beyond the year 9999, so SPSS's numbers"):
        table = fn.read_table(path, continuous=["seen"])
    assert table.variables[0].unit is not None
    assert table.numbers[0].tolist() == (np.arange(6.0) + 16_335).tolist()  # days since 1970
    assert table.numbers[1].tolist() == frame["seen"].tolist()


@pytest.mark.parametrize("whole", [True, False])
def test_reasons_for_missing_numbers_are_missing_cells(tmp_path: Path, whole: bool) -> None:
    """Stata's .a to .z may have labels of their own."""
    values: list[float | str] = [1, 2, 1, 2, "a", "z"] if whole else [1.5, 2.5, 3.25, 0.75, "a", "z"]
    path = tmp_path / "t.dta"
    pyreadstat.write_dta(
        pd.DataFrame({"x": pd.Series(values, dtype=object)}),
        str(path),
        missing_user_values={"x": ["a", "z"]},
        variable_value_labels={"x": {"a": "refused", "z": "unknown"}},
    )
    table = fn.read_table(path, continuous=["x"])
    assert table.numbers[0][:4].tolist() == values[:4]
    assert np.isnan(table.numbers[0][4:]).all()
