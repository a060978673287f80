"""Polars: counts of sets of columns, by group_by, of codes of one byte in memory."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pyarrow.dataset as ds

from benchmarks.calls import Call, Data, threads

if threads():
    os.environ["POLARS_MAX_THREADS"] = str(threads())  # which it reads when it is imported
import polars as pl

Counts = list[Any]


def set_threads(_: int) -> None:
    """Leave its threads as they are: it has made them already."""


def frame(data: Data) -> tuple[pl.DataFrame, list[list[str]]]:
    read = ds.dataset(data.options["files"]).to_table()
    columns = {}
    for i, column in enumerate(read.columns):
        columns[f"v{i}"] = column.unify_dictionaries().combine_chunks().indices.cast("uint8").to_numpy()
    names = list(columns)
    return pl.DataFrame(columns), [[names[v] for v in chosen] for chosen in data.options["sets"]]


def one_by_one(handed: tuple[pl.DataFrame, list[list[str]]]) -> Counts:
    codes, sets = handed
    return [codes.group_by(chosen).len()["len"].to_numpy() for chosen in sets]


def at_once(handed: tuple[pl.DataFrame, list[list[str]]]) -> Counts:
    codes, sets = handed
    asked = codes.lazy()
    return [found["len"].to_numpy() for found in pl.collect_all([asked.group_by(chosen).len() for chosen in sets])]


def tell(found: Counts, _: Data) -> Counts:
    return [np.sort(np.asarray(counts, dtype=np.int64)) for counts in found]


CALLS = {"one_by_one": Call(frame, one_by_one, tell), "at_once": Call(frame, at_once, tell)}
