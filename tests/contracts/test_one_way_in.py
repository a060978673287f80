"""However a table comes in, it is the same table: variables, decisions, digest and statistics, to the bit."""

from __future__ import annotations

import io
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fishernet as fn

Facts = tuple[Any, ...]


def facts(source: Any) -> Facts:
    """Return all that is to be the same."""
    n = len(source.variables)
    sets = [(v,) for v in range(n)] + [(v, v + 1) for v in range(min(n, 9) - 1)]
    found = [
        (np.asarray(s.counts).tolist(), None if s.states is None else np.asarray(s.states).tolist(), s.left_out)
        for s in source.statistics(sets)
    ]
    variables = [(v.name, v if v.is_continuous else (v.states, v.cuts)) for v in source.variables]
    return variables, str(source.describe()), source.rows_digest(), source.n_rows, found


def pieces(table: pa.Table, n: int = 3) -> list[pa.Table]:
    step = -(-table.num_rows // n)
    return [table.slice(at, step) for at in range(0, table.num_rows, step)]


def ways_of_frames(table: pa.Table, **how: Any) -> dict[str, Facts]:
    """Return what is known of a table that comes in as frames and batches."""
    pandas = table.to_pandas(types_mapper=pd.ArrowDtype)
    sources: dict[str, Any] = {
        "pyarrow": fn.Table.from_frame(table, **how),
        "pandas": fn.Table.from_frame(pandas, **how),
        "polars": fn.Table.from_frame(pl.from_arrow(table), **how),
        "scan pyarrow": fn.scan(table, **how),
        "scan pandas": fn.scan(pandas, **how),
        "scan batches": fn.scan(iter([b for piece in pieces(table) for b in piece.to_batches()]), **how),
        "scan in memory": fn.scan(iter(table.to_batches(7)), cache="memory", **how),
    }
    return {name: facts(source) for name, source in sources.items()}


def ways_of_files(table: pa.Table, **how: Any) -> dict[str, Facts]:
    """Return what is known of a table that comes in as Parquet and Arrow files, also read by threads."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as threads:
        whole, parts = Path(folder) / "whole.parquet", Path(folder) / "parts"
        pq.write_table(table, whole, row_group_size=max(1, table.num_rows // 2))
        parts.mkdir()
        for i, piece in enumerate(pieces(table)):
            pq.write_table(piece, parts / f"{i}.parquet")
        with pa.OSFile(str(whole.with_suffix(".arrow")), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
        sources = {
            "read Parquet": fn.read_table(whole, **how),
            "read Arrow": fn.read_table(whole.with_suffix(".arrow"), **how),
            "scan Parquet": fn.scan(whole, **how),
            "scan Arrow": fn.scan(whole.with_suffix(".arrow"), **how),
            "scan a folder": fn.scan(parts, **how),
            "blocks of threads": fn.scan(parts, client=threads, **how),
        }
        return {name: facts(source) for name, source in sources.items()}


def require_equal(found: dict[str, Facts]) -> None:
    first, *rest = found.items()
    for name, one in rest:
        for ours, theirs in zip(one, first[1], strict=True):
            assert ours == theirs, f"{name} is not {first[0]}"


def column(n: int) -> st.SearchStrategy[list[Any]]:
    """Return what a column may hold: labels, words for numbers, whole numbers, numbers, truth values; some missing."""
    cells = st.sampled_from(
        [
            st.sampled_from(["a", "b", "NA", ""]),
            st.text("abc", min_size=1, max_size=3),
            st.sampled_from(["1", "2", "01"]),
            st.integers(-3, 3),
            st.integers(-(2**40), 2**40),
            st.sampled_from([0.0, 0.5, 1.0, 2.0]),
            st.floats(-1e6, 1e6, width=32),
            st.booleans(),
        ]
    )
    return cells.flatmap(lambda cell: st.lists(st.none() | cell, min_size=n, max_size=n))


def tables() -> st.SearchStrategy[pa.Table]:
    sizes = st.integers(1, 60)
    columns = sizes.flatmap(lambda n: st.lists(column(n), min_size=1, max_size=4))
    return columns.map(lambda every: pa.table({f"c{i}": pa.array(one) for i, one in enumerate(every)}))


@pytest.mark.parametrize(
    "odd",
    [
        pa.array([[1], [2, 3]] * 20),
        pa.array([{"a": 1}, {"a": 2}] * 20),
        pa.array([[("k", 1)]] * 40, pa.map_(pa.string(), pa.int64())),
        pa.array([b"\xff", b"a"] * 20),
        pa.array([b"one", b"two"] * 20),
        pa.array([b"ab", b"cd"] * 20, pa.binary(2)),
        pa.array([None] * 40, pa.dictionary(pa.int32(), pa.string())),
    ],
    ids=lambda odd: str(odd.type),
)
@pytest.mark.filterwarnings("ignore::fishernet.FishernetWarning")
def test_a_column_of_no_labels_is_left_out_however_it_comes(odd: pa.Array) -> None:
    table = pa.table({"y": ["a", "b", "b", "a"] * 10, "odd": odd})
    require_equal(ways_of_frames(table) | ways_of_files(table))


OPTIONS: list[dict[str, Any]] = [{}, {"bins": "auto"}, {"bins": 3, "missing": "state"}, {"missing": "drop"}]


@settings(max_examples=15)
@example(table=pa.table({"c0": [2.5, -0.0, 1.0, 0.0, 1.5, 1.0]}), how={})
@given(table=tables(), how=st.sampled_from(OPTIONS))
def test_any_table_is_the_same_however_it_comes(table: pa.Table, how: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fn.FishernetWarning)
        try:
            expected = fn.Table.from_frame(table, **how)
        except fn.FishernetError as error:
            for way in (ways_of_frames, ways_of_files):
                with pytest.raises(type(error)):
                    way(table, **how)
            return
        found = {"a frame": facts(expected)}
        require_equal(found | ways_of_frames(table, **how) | ways_of_files(table, **how))


REAL = ["nursery", "letter", "iris", "wine", "breast_cancer", "diabetes"]


def real(name: str) -> pd.DataFrame:
    """Return some rows of a table that comes with this library, or with scikit-learn, with missing cells."""
    if name in ("nursery", "letter"):
        rows: Any = fn.datasets.load(name)
        frame = rows.to_frame().to_pandas()[:1500]
    else:
        datasets = pytest.importorskip("sklearn.datasets")
        frame = getattr(datasets, f"load_{name}")(as_frame=True).frame.iloc[:, -14:]  # of breast_cancer's 31 like ones
    rng = np.random.default_rng(1)
    return frame.convert_dtypes().mask(rng.random(frame.shape) < 0.05)


@pytest.mark.parametrize("how", [{}, {"bins": 3, "missing": "state"}], ids=str)
@pytest.mark.parametrize("name", REAL)
def test_real_tables_are_the_same_however_they_come(name: str, how: dict[str, Any], tmp_path: Path) -> None:
    dask = pytest.importorskip("dask.dataframe")
    frame = real(name)
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = pa.Table.from_pandas(pd.read_csv(io.StringIO((tmp_path / "t.csv").read_text())), preserve_index=False)
    texts = {
        "read CSV": facts(fn.read_table(tmp_path / "t.csv", **how)),
        "scan CSV": facts(fn.scan(tmp_path / "t.csv", **how)),
    }
    parts = {"Dask": facts(fn.scan(dask.from_pandas(table.to_pandas(), npartitions=3), **how))}
    frames = ways_of_frames(table, **how) | ways_of_files(table, **how) | parts
    require_equal(frames)
    require_equal(texts)
    for text, of_frame in zip(texts["read CSV"], frames["pyarrow"], strict=True):
        if not isinstance(text, str):  # which shows the labels 1.0 of a frame as they are
            assert text == of_frame
