"""Keywords are checked, and the known words listed."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fishernet import SchemaError, Table, Variable, read_table, scan
from fishernet.data.options import DEFAULTS, FrameKeywords, Options

COLUMNS = {"x": [1, 2], "y": ["a", "b"], "n": [3, 4]}


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"missing": "ignore"}, "missing must be one of 'error', 'drop', 'state', 'keep', not 'ignore'"),
        ({"unknown": "drop"}, "unknown must be one of 'error', 'missing', not 'drop'"),
        ({"binning": "width"}, "binning must be one of 'quantile', 'equal-width', not 'width'"),
        ({"missing": None}, "missing must be one of"),
        ({"na_values": "NA"}, "na_values must be a sequence of str"),
        ({"na_values": [0]}, "na_values must be a sequence of str"),
        ({"weights": 3}, "weights must be the name of a column, not int"),
        ({"weights": "w"}, "there is no column 'w', as weights asks; there are 'x', 'y', 'n'"),
        ({"bins": 0}, "bins must be at least 1, not 0"),
        ({"bins": True}, "bins must be a number of bins, 'auto' or a sequence of cut points, not True"),
        ({"bins": 2.5}, "bins must be a number of bins"),
        ({"bins": "x"}, "bins must be a number of bins"),
        ({"bins": [1.0, 2.0]}, "bins must be an int, 'auto', or a mapping"),
        ({"bins": {"z": 2}}, "there is no column 'z', as bins asks"),
        ({"bins": {"x": -1}}, r"bins\['x'\] must be at least 1, not -1"),
        ({"bins": {"x": [2, 1]}}, r"bins\['x'\] must be finite and ascending"),
        ({"bins": {"x": [1, np.nan]}}, r"bins\['x'\] must be finite and ascending"),
        ({"bins": {"x": ["a"]}}, r"bins\['x'\] must hold numbers"),
        ({"bins": {"n": 2}, "weights": "n"}, "the column 'n' cannot be both the weights and a variable"),
        ({"bins": {"x": 2, None: 0}}, r"bins\[None\] must be at least 1, not 0"),
        ({"schema": [Variable("x", [1])], "columns": ["x"]}, "give schema or columns, not both; a schema says which"),
        ({"schema": [Variable("x", [1])], "continuous": ["x"]}, "give schema or continuous, not both"),
        ({"categorical": ["x"], "continuous": ["x"]}, "the column 'x' cannot be both categorical and continuous"),
        ({"categorical": ["x"], "bins": {"x": 2}}, "the column 'x' cannot be both categorical and cut into bins"),
        ({"exclude": ["x"], "bins": {"x": 2}}, "the column 'x' cannot be both left out and asked for"),
        ({"exclude": ["x"], "columns": ["x", "y"]}, "the column 'x' cannot be both left out and asked for"),
        ({"exclude": ["z"]}, "there is no column 'z', as exclude asks"),
        ({"exclude": "x"}, "exclude must be a sequence of str, not the str 'x'"),
        ({"continuous": ["z"]}, "there is no column 'z', as continuous asks"),
        ({"columns": []}, "columns names no column"),
        ({"schema": [Variable("x", [1])], "bins": 2}, "give schema or bins, not both"),
        ({"schema": Table.from_frame(COLUMNS)}, "schema must be a sequence of Variable and Continuous .*, not a Table"),
        ({"schema": [Variable("x", [1]), Variable("x", [2])]}, "the name 'x' appears more than once"),
        ({"schema": [Variable("q", [1])]}, "there is no column 'q', which is needed"),
        ({"schema": [Variable("n", [1])], "weights": "n"}, "cannot be both the weights and a variable"),
    ],
)
def test_what_is_refused(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Table.from_frame(COLUMNS, **keywords)


def test_numpy_integers_are_integers() -> None:
    bins: Any = np.int64(2)
    assert Table.from_frame({"x": [1, 2, 3]}, bins=bins).cardinalities == (2,)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", ""], r"column 2 has no name \(an index\?|column 2 has no name"),
        (["a", 3], "a column's name must be a str, not int"),
        (["a", "b", "a"], "the name 'a' appears more than once"),
    ],
)
def test_names_of_columns(names: list[Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Options.checked().choose(names)


def test_only_what_is_needed_is_read_in_the_order_of_the_file() -> None:
    options = Options.checked(schema=[Variable("c", [1]), Variable("a", [1])], weights="n")
    assert options.choose(["a", "n", "b", "c"]) == ["a", "n", "c"]
    assert Options.checked().choose(["b", "a"]) == ["b", "a"]


@pytest.mark.parametrize(
    ("keywords", "parameter"),
    [
        ({"binning": "equal-width"}, "binning"),
        ({"unknown": "missing"}, "unknown"),
        ({"weights": 3}, "weights"),
        ({"exclude": ["x"], "columns": ["x", "y"]}, "exclude"),
        ({"schema": [Variable("x", [1])], "bins": 2}, "bins"),
    ],
)
def test_what_would_have_no_effect_is_refused_by_its_name(keywords: dict[str, Any], parameter: str) -> None:
    with pytest.raises(SchemaError) as refused:
        Table.from_frame(COLUMNS, **keywords)
    assert refused.value.parameter == parameter


@pytest.mark.parametrize("keyword", ["delimiter", "decimal", "thousands", "encoding"])
def test_how_text_is_written_is_refused_where_there_is_no_text(keyword: str, tmp_path: Path) -> None:
    given: Any = {"delimiter": ";", "decimal": ",", "thousands": "'", "encoding": "latin-1"}
    frame = pa.table(COLUMNS)
    pq.write_table(frame, tmp_path / "x.parquet")
    for read, source in ((read_table, tmp_path / "x.parquet"), (scan, tmp_path / "x.parquet"), (scan, frame)):
        with pytest.raises(SchemaError, match=f"{keyword} is for text files") as refused:
            read(source, **{keyword: given[keyword]})
        assert refused.value.parameter == keyword
    with pytest.raises(TypeError, match=keyword):
        Table.from_frame(frame, **{keyword: given[keyword]})


def test_signatures_list_every_keyword_with_its_default() -> None:
    """What is shown is what is done: each default given by hand changes nothing, and no other name is taken."""
    shown = {f: inspect.signature(f).parameters for f in (Table.from_frame, read_table, scan)}
    assert list(shown[Table.from_frame])[1:] == list(get_type_hints(FrameKeywords))
    assert list(shown[read_table])[1:] == list(DEFAULTS) == list(shown[scan])[1 : len(DEFAULTS) + 1]
    for parameters in shown.values():
        of_keywords = {name: p.default for name, p in parameters.items() if name in DEFAULTS}
        assert of_keywords == {name: DEFAULTS[name] for name in of_keywords}  # type: ignore[literal-required]
        assert Options.checked(**of_keywords) == Options.checked()
    with pytest.raises(TypeError, match="nrows"):
        read_table("x.csv", nrows=3)  # type: ignore[call-arg]
