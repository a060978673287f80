from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fishernet as fn
from fishernet.cli.options import parse_bins, read_known, refuse_empty


@pytest.mark.parametrize(
    ("texts", "bins"),
    [
        ([], None),
        (["4"], 4),
        (["age=4"], {"age": 4}),
        (["age=4", "x=y=2"], {"age": 4, "x=y": 2}),
        (["age=18,65"], {"age": (18.0, 65.0)}),
        (["age=18,"], {"age": (18.0,)}),
        (["age=-0.5"], {"age": (-0.5,)}),
        (["age=1e3,2e3"], {"age": (1000.0, 2000.0)}),
    ],
)
def test_bins(texts: list[str], bins: Any) -> None:
    assert parse_bins(texts) == bins


@pytest.mark.parametrize("texts", [["x"], ["age="], ["age=x"], ["age=1,x"], ["4.5"], [""]])
def test_what_is_no_number_is_refused(texts: list[str]) -> None:
    with pytest.raises(fn.FishernetError, match="--bins takes N, COLUMN=N or COLUMN=CUT"):
        parse_bins(texts)


def test_bins_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(fn.FishernetError, match="one number for all columns and others"):
        parse_bins(["4", "age=3"])
    with pytest.raises(fn.FishernetError, match="one number for all columns and others"):
        parse_bins(["4", "4"])
    with pytest.raises(fn.FishernetError, match="'age' twice"):
        parse_bins(["age=4", "age=3"])


def test_a_table_is_read_in_the_states_of_a_model(model: Path, csv: Path) -> None:
    net = fn.load(model)
    assert read_known(csv, net.variables).variables == net.variables


def test_no_rows_are_refused(csv: Path) -> None:
    table = fn.read_table(csv)
    assert refuse_empty(csv, table) is table
    with pytest.raises(fn.SchemaError, match="there are no rows"):
        refuse_empty(csv, table[:0])
