"""mmd-critic: prototypes from the whole kernel matrix. A kernel is an object to be called, or its own Gaussian one."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from mmd_critic import MMDCritic  # type: ignore[import-untyped, import-not-found, unused-ignore]
from mmd_critic.kernels import RBFKernel  # type: ignore[import-untyped, import-not-found, unused-ignore]

from benchmarks.calls import Call, Data


def kernel_of(data: Data) -> Any:
    return RBFKernel(data.options["sigma"]) if data.options["sigma"] else lambda X: X @ X.T


@functools.cache
def matrix_of(data: Data) -> np.ndarray:
    return np.asarray(kernel_of(data)(data.options["features"]))


def prototypes(data: Data, kernel: Any) -> Any:
    """Return the labels of the chosen rows, which are their positions."""
    features = data.options["features"]
    return MMDCritic(features, kernel, labels=np.arange(len(features))).select_prototypes(data.options["k"])[1]


def tell(rows: Any, data: Data) -> Any:
    return np.asarray(rows, dtype=np.int64), np.full(data.options["k"], 1 / data.options["k"])


CALLS = {
    "prototypes": Call(lambda data: data, lambda data: prototypes(data, kernel_of(data)), tell),
    "from_matrix": Call(
        lambda data: (data, matrix_of(data)), lambda h: prototypes(h[0], lambda _: h[1]), tell, note="matrix beforehand"
    ),
}
