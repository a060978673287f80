"""tigramite: its permutation test by nearest neighbours (`CMIknn`), on the columns as they are.

Where something is given it permutes locally. Asked for as many neighbours as there are rows it permutes blocks of one
row, which is the simple scheme.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tigramite.independence_tests.cmiknn import CMIknn  # type: ignore[import-untyped, import-not-found, unused-ignore]

from benchmarks.calls import Call, Data, threads


def hand(data: Data) -> tuple[Any, ...]:
    """Return the test, and its three spaces."""
    near = data.options["near"] if data.options["scheme"] == "local" else len(data.rows)
    test = CMIknn(
        knn=data.options["k"],
        shuffle_neighbors=near,
        sig_samples=data.options["permutations"],
        sig_blocklength=1,
        transform=False,
        workers=threads(),
        seed=data.options["seed"],
    )
    return test, data.rows[:, :1].copy(), data.rows[:, 1:2].copy(), data.rows[:, 2:].copy()


CALLS = {
    "knn_test": Call(
        hand, lambda h: h[0].run_test_raw(*h[1:]), lambda found, _: [float(np.squeeze(part)) for part in found[:2]]
    )
}
