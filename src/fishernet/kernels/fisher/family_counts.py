"""Counts of families as a network's conditionals have their cells: all that a mean of Fisher features needs of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fishernet.data import Source
from fishernet.data.statistics.statistic import most_dense_cells
from fishernet.kernels.features import Matrix


def are_few(conditionals: Sequence[Any], n_rows: int) -> bool:
    """Return whether the families have so few cells that so many rows are told by their counts."""
    most = most_dense_cells(n_rows) if n_rows else 0
    return all(math.prod(v.cardinality for v in conditional.variables) <= most for conditional in conditionals)


def family_counts(conditionals: Sequence[Any], source: Source, where: Sequence[int]) -> list[Matrix]:
    """Return the weight in each cell of every conditional, (groups, states) each.

    Parameters
    ----------
    conditionals : sequence of conditionals with groups
    source : Source
        Rows, or what else has statistics.
    where : sequence of int
        The position in the source of each variable of the network.

    Raises
    ------
    MissingValueError
        When a family lacks cells.
    """
    families = [tuple(where[v] for v in (*c.parents, c.child)) for c in conditionals]
    counts = []
    statistics = source.statistics([tuple(sorted(family)) for family in families])
    for conditional, family, statistic in zip(conditionals, families, statistics, strict=True):
        statistic.require_complete(source.variables, "a Fisher kernel")
        axes = [statistic.variables.index(v) for v in family]
        cells = statistic.table().transpose(axes).reshape(-1, conditional.variables[-1].cardinality)
        counts.append(np.stack([conditional.sum_by_group(c) for c in cells.astype(np.float64).T], axis=1))
    return counts
