"""goodpoints: kernel thinning by its compiled functions on the kernel's matrix, and Compress++ under a Gaussian kernel.

Rows are halved, so that 100 come of 6 400 drawn at random; then they are exchanged for any of all rows, as ours are.
Compress++ takes every few rows so that a power of four is left, and gives the square root of their number.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from goodpoints import compress, kt  # type: ignore[import-untyped, import-not-found, unused-ignore]

from benchmarks.calls import Array, Call, Data

SEED = 1


@functools.cache
def matrix_of(data: Data) -> Array:
    features, sigma = data.options["features"], data.options["sigma"]
    gram = features @ features.T
    if not sigma:
        return np.asarray(gram)
    lengths = np.diag(gram)
    return np.asarray(np.exp((2 * gram - lengths[:, None] - lengths) / (2 * sigma**2)))


def thin(gram: Array, k: int) -> Any:
    """Return k rows, each once."""
    rounds = (len(gram) // k).bit_length() - 1
    drawn = np.random.default_rng(SEED).permutation(len(gram))[: k << rounds]
    parts = kt.split_K(np.ascontiguousarray(gram[np.ix_(drawn, drawn)]), rounds, seed=SEED)
    return kt.swap_K(gram, drawn[parts], unique=True)


def compressed(data: Data, oversampling: int) -> Any:
    width = np.array([2 * data.options["sigma"] ** 2])
    return compress.compresspp_kt(data.options["features"], b"gaussian", width, g=oversampling, seed=SEED)


def tell(rows: Any, data: Data) -> Any:
    return np.asarray(rows, dtype=np.int64), np.full(data.options["k"], 1 / data.options["k"])


CALLS = {
    "thin": Call(lambda data: data, lambda data: thin(matrix_of.__wrapped__(data), data.options["k"]), tell),
    "from_matrix": Call(
        lambda data: (matrix_of(data), data.options["k"]), lambda h: thin(*h), tell, note="matrix beforehand"
    ),
    "compress_0": Call(lambda data: data, lambda data: compressed(data, 0), tell),
    "compress_4": Call(lambda data: data, lambda data: compressed(data, 4), tell),
}
