"""Joint counts by going through the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from fishernet import Table


def joint_counts(table: Table, chosen: Sequence[int]) -> tuple[dict[tuple[int, ...], int], int]:
    """Cell -> number of rows for every cell that occurs, and the number of rows with a missing cell."""
    counts: Counter[tuple[int, ...]] = Counter()
    left_out = 0
    cardinalities = table.cardinalities
    for row in range(table.n_rows):
        weight = 1 if table.weights is None else int(table.weights[row])
        cell = tuple(int(table.codes[v][row]) for v in chosen)
        if any(code == cardinalities[v] for code, v in zip(cell, chosen, strict=True)):
            left_out += weight
        elif weight:
            counts[cell] += weight
    return dict(counts), left_out


def group_counts(codes: Any, cardinality: int, weights: Any, groups: Sequence[Any]) -> Any:
    """How often each code occurs in groups of rows, that of missing cells last: (groups, cardinality + 1)."""
    counts = np.zeros((len(groups), cardinality + 1), dtype=np.int64)
    for g, rows in enumerate(groups):
        for row in rows:
            counts[g, codes[row]] += 1 if weights is None else weights[row]
    return counts
