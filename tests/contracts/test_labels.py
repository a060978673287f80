"""The same labels give the same bits, whatever the order of the columns and whatever type they are kept in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn

VARIABLES = (
    fn.Variable("whole", [3, -1, 10]),
    fn.Variable("truth", [True, False]),
    fn.Variable("text", ["no", "yes", "10"]),
    fn.Variable("half", [0.5, 1.0]),
    fn.Variable("bit", [0, 1]),
    fn.Variable("cut", ["<= 1.5", "> 1.5"], [1.5]),
)
NAMES = [variable.name for variable in VARIABLES]
CUT = (0.25, 7.0)  # numbers in the bins


def example(seed: int, n_rows: int) -> tuple[fn.Table, dict[str, list[Any]]]:
    """A table of codes, and its labels as lists; the bins hold numbers."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 2, n_rows)
    codes = [(first + (rng.random(n_rows) < 0.3)) % variable.cardinality for variable in VARIABLES]
    table = fn.Table.from_codes(np.stack(codes, axis=1), VARIABLES)
    labels = {name: table[name].tolist() for name in NAMES}
    labels["cut"] = [CUT[code] for code in codes[-1]]
    return table, labels


def categories(values: list[Any], seed: int) -> list[Any]:
    """The labels that occur, in any order, and one more."""
    found = list(dict.fromkeys(values))
    if len({type(value) for value in found}) == 1 and isinstance(found[0], str):
        found.append("not there")
    return [found[place] for place in np.random.default_rng(seed).permutation(len(found))]


Make = Callable[[dict[str, list[Any]], int, Path], Any]


def pandas_categories(labels: dict[str, list[Any]], seed: int, _: Path) -> Any:
    columns = {n: pd.Categorical(c, categories=categories(c, seed)) for n, c in labels.items() if n != "cut"}
    return pd.DataFrame(columns | {"cut": labels["cut"]})[list(labels)]


def polars_enums(labels: dict[str, list[Any]], seed: int, _: Path) -> Any:
    kinds: dict[str, Any] = {
        "text": pl.Enum(categories(labels["text"], seed)),
        "whole": pl.Int8,
        "bit": pl.UInt16,
        "half": pl.Float32,
    }
    return pl.DataFrame(labels).with_columns(*[pl.col(name).cast(kind) for name, kind in kinds.items()])


def csv_file(labels: dict[str, list[Any]], _: int, folder: Path) -> Any:
    pa.csv.write_csv(pa.table(labels), folder / "labels.csv")
    return folder / "labels.csv"


def parquet_file(labels: dict[str, list[Any]], _: int, folder: Path) -> Any:
    pa.parquet.write_table(pa.table(labels), folder / "labels.parquet")
    return folder / "labels.parquet"


MAKERS: dict[str, Make] = {
    "pandas": lambda labels, *_: pd.DataFrame(labels),
    "pandas objects": lambda labels, *_: pd.DataFrame(labels, dtype=object),
    "pandas nullable": lambda labels, *_: pd.DataFrame(labels).convert_dtypes(),
    "pandas Arrow": lambda labels, *_: pd.DataFrame(labels).convert_dtypes(dtype_backend="pyarrow"),
    "pandas text": lambda labels, *_: pd.DataFrame(labels).astype(str),
    "pandas Categorical": pandas_categories,
    "polars": lambda labels, *_: pl.DataFrame(labels),
    "polars Enum": polars_enums,
    "polars Categorical": lambda labels, *_: pl.DataFrame(labels).with_columns(pl.col("text").cast(pl.Categorical)),
    "pyarrow": lambda labels, *_: pa.table(labels),
    "pyarrow dictionaries": lambda labels, *_: pa.table(
        {n: c if n == "cut" else pa.array(c).dictionary_encode() for n, c in labels.items()}
    ),
    "pyarrow chunks": lambda labels, *_: pa.concat_tables([pa.table(labels)[:2], pa.table(labels)[2:]]),
    "mapping of lists": lambda labels, *_: labels,
    "mapping of arrays": lambda labels, *_: {name: np.array(column) for name, column in labels.items()},
    "mapping of floats": lambda labels, *_: labels | {"whole": np.array(labels["whole"], np.float32)},
    "CSV": csv_file,
    "Parquet": parquet_file,
}


def as_table(data: Any) -> fn.Table:
    """A file or a frame as a table of the variables."""
    read = fn.read_table if isinstance(data, Path) else fn.Table.from_frame
    return read(data, schema=VARIABLES)


TRAINING = example(0, 300)[0]
NET = fn.learn.bayesian_network(TRAINING, seed=1)
KERNEL = fn.kernels.FisherKernel(NET)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("labels")


@pytest.mark.parametrize("kind", MAKERS)
@settings(max_examples=6, deadline=None)
@given(st.permutations(NAMES), st.integers(0, 2**32), st.integers(4, 40))
def test_the_same_labels_give_the_same_bits(kind: str, folder: Path, order: list[str], seed: int, n_rows: int) -> None:
    table, labels = example(seed, n_rows)
    data = MAKERS[kind]({name: labels[name] for name in order}, seed, folder)
    read = as_table(data)
    assert read == table
    assert [column.tobytes() for column in read.codes] == [column.tobytes() for column in table.codes]
    rows = read if isinstance(data, Path) else data
    assert NET.log_prob(rows).tobytes() == NET.log_prob(table).tobytes()
    assert np.asarray(NET.predict_proba(rows, "whole")).tobytes() == NET.predict_proba(table, "whole").tobytes()
    assert KERNEL(rows).tobytes() == KERNEL(table).tobytes()
    ours, theirs = (fn.select.greedy_mmd(KERNEL, some, 3, n_starts=5, seed=seed) for some in (rows, table))
    assert (ours.indices.tolist(), ours.trace.tobytes()) == (theirs.indices.tolist(), theirs.trace.tobytes())
    dag = fn.learn.dag(read, seed=1)
    assert dag == fn.learn.dag(table, seed=1)
    fitted = fn.learn.parameters(dag, read)
    assert fitted.log_prob(table).tobytes() == fn.learn.parameters(dag, table).log_prob(table).tobytes()
