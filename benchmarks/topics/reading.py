"""Reading a CSV file of labels to a table in memory; pyarrow, which makes plain text columns, is the yardstick.

Every cell is compared. pyAgrum and R keep what they read to themselves, and their rows and columns are counted.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv

import fishernet as fn
from benchmarks.calls import Call, Data, digest
from benchmarks.race import Race, Told, Verdict, calls_of, faster, same
from benchmarks.sources import alarm_rows, scratch, spaced

TITLE = "Reading a CSV file"
PEERS = same("read", "pyAgrum", "pgmpy", "bnlearn", "pyarrow")


def csv(n_rows: int) -> Data:
    """Write rows of alarm, of labels."""
    codes, variables = alarm_rows()[:n_rows], fn.datasets.load("alarm").variables
    labels = [[str(state) for state in variable.states] for variable in variables]
    columns = [pa.array(row).take(pa.array(column)) for row, column in zip(labels, codes.T, strict=True)]
    path, names = scratch() / f"alarm-{n_rows}.csv", [variable.name for variable in variables]
    pa.csv.write_csv(pa.table(columns, names=names), path, pa.csv.WriteOptions(quoting_style="needed"))
    lower = [[label.lower() for label in row] for row in labels]
    options = {"csv": str(path), "labels": lower, "cells": digest(codes.astype(np.uint8)), "shape": list(codes.shape)}
    return Data(f"alarm, {spaced(n_rows)} x {codes.shape[1]}", options=options)


def tell(table: fn.Table, data: Data) -> str:
    """Return the digest of a table's cells, each as the code of its label."""
    columns = []
    for variable, column, labels in zip(table.variables, table.codes, data.options["labels"], strict=True):
        columns.append(np.array([labels.index(str(state).lower()) for state in variable.states])[column])
    return digest(np.stack(columns, axis=1).astype(np.uint8))


def check(told: Told) -> Verdict:
    if isinstance(told.answer, str):
        return told.answer == told.data.options["cells"], "every cell compared"
    return told.answer == told.data.options["shape"], "rows and columns counted"


READ = Call(lambda data: data.options["csv"], fn.read_table, tell)
RACES = (
    Race(lambda: csv(1_000), READ, check),
    Race(lambda: csv(100_000), READ, check, PEERS),
    Race(lambda: csv(1_000_000), READ, check, PEERS, [faster(0.5, "pyarrow")], needs=""),
)
CALLS = calls_of(RACES)
