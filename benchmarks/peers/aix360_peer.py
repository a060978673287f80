"""AIX360: ProtoDash under a linear or a Gaussian kernel; its weights are free, as in the paper."""

from __future__ import annotations

from typing import Any

import numpy as np
from aix360.algorithms.protodash import (  # type: ignore[import-untyped, import-not-found, unused-ignore]
    ProtodashExplainer,
)

from benchmarks.calls import Call, Data


def explain(data: Data, optimizer: str) -> Any:
    """Return weights, rows, and the values on the way."""
    features, sigma = data.options["features"], data.options["sigma"]
    how = {"kernelType": "Gaussian", "sigma": sigma} if sigma else {"kernelType": "other"}
    return ProtodashExplainer().explain(features, features, data.options["k"], optimizer=optimizer, **how)


def tell(found: Any, _: Data) -> Any:
    weights, rows, _ = found
    return np.asarray(rows, dtype=np.int64), np.asarray(weights, dtype=np.float64)


CALLS = {
    "cvxpy": Call(lambda data: data, lambda data: explain(data, "cvxpy"), tell),
    "osqp": Call(lambda data: data, lambda data: explain(data, "osqp"), tell),
}
