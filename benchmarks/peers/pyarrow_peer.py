"""pyarrow: a CSV file as plain text columns, the yardstick of reading."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv

from benchmarks.calls import Call, Data, digest


def set_threads(n: int) -> None:
    pa.set_cpu_count(n)
    pa.set_io_thread_count(n)


def cells(table: pa.Table, data: Data) -> str:
    columns = []
    for column, labels in zip(table.columns, data.options["labels"], strict=True):
        encoded = column.cast(pa.string()).combine_chunks().dictionary_encode()
        places = np.array([labels.index(label.lower()) for label in encoded.dictionary.to_pylist()])
        columns.append(places[encoded.indices.to_numpy()])
    return digest(np.stack(columns, axis=1).astype(np.uint8))


CALLS = {"read": Call(lambda data: data.options["csv"], pa.csv.read_csv, cells)}
