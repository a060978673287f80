"""causal-learn: its PC algorithm, which is PC-stable, with the likelihood-ratio test."""

from __future__ import annotations

from typing import Any

import numpy as np
from causallearn.search.ConstraintBased.PC import pc  # type: ignore[import-untyped, import-not-found, unused-ignore]

from benchmarks.calls import Call, Data


def hand(data: Data) -> tuple[Any, ...]:
    """Return the codes as it wants them."""
    return data.rows.astype(np.int64), data.options["alpha"]


def edges(found: Any, _: Data) -> list[list[int]]:
    """Return the pairs that are joined, ascending."""
    joined = found.G.graph != 0
    return [[int(a), int(b)] for a, b in np.argwhere(np.triu(joined | joined.T, 1))]


CALLS = {
    "pc": Call(hand, lambda h: pc(h[0], h[1], "gsq", True, 1, -1, show_progress=False), edges),
}
