"""The worker of tigramite: its permutation test by nearest neighbours (`CMIknn`), on the columns as they are.

Where something is given it permutes locally. Asked for as many neighbours as there are rows it permutes blocks of one
row, which is the simple scheme.
"""

from __future__ import annotations

import numpy as np
from tigramite.independence_tests.cmiknn import CMIknn  # type: ignore[import-untyped, import-not-found, unused-ignore]

from benchmarks.workers.job import Job, Result, main
from benchmarks.workers.timing import measure

NEAR = 5


def knn_test(job: Job) -> Result:
    numbers = job.read_numbers()
    x, y, z = numbers[:, :1].copy(), numbers[:, 1:2].copy(), numbers[:, 2:].copy()

    def make() -> CMIknn:
        return CMIknn(
            knn=job.k,
            shuffle_neighbors=NEAR if job.scheme == "local" else job.n_rows,
            sig_samples=job.permutations,
            sig_blocklength=1,
            transform=False,
            workers=job.threads,
            seed=job.seed,
        )

    timing = measure(make, lambda test: test.run_test_raw(x, y, z), repeats=job.repeats)
    statistic, p_value = (float(np.squeeze(part)) for part in timing.answer[:2])
    return timing.as_result() | {"statistic": statistic, "p_value": p_value}


if __name__ == "__main__":
    main({"knn_test": knn_test})
