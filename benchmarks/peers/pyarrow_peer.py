"""The worker that reads a CSV file with pyarrow, as plain text columns: the yardstick of reading."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv

from benchmarks.workers.job import Job, Result, column_digest, main
from benchmarks.workers.timing import measure


def set_threads(n: int) -> None:
    pa.set_cpu_count(n)
    pa.set_io_thread_count(n)


def read(job: Job) -> Result:
    timing = measure(lambda: job.csv, pa.csv.read_csv, repeats=job.repeats)
    columns = []
    for column, labels in zip(timing.answer.columns, job.labels, strict=True):
        encoded = column.cast(pa.string()).combine_chunks().dictionary_encode()
        places = np.array([labels.index(label.lower()) for label in encoded.dictionary.to_pylist()])
        columns.append(places[encoded.indices.to_numpy()])
    return timing.as_result() | {"digest": column_digest(columns)}


if __name__ == "__main__":
    main({"read": read}, set_threads)
