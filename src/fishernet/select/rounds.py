"""Choices from more rows than can be compared at once: in each part of them first, then among what was chosen there.

Each part is compared with the mean of the whole table, not with its own, so that what it gives stands for the whole
(two rounds, as in Mirzasoleiman et al., 2013 [1]_). Under the kernel of a network of tables the mean
is one of counts; under any other the rows are gone through twice, for the mean and part by part.

References
----------
.. [1] B. Mirzasoleiman, A. Karbasi, R. Sarkar and A. Krause, "Distributed submodular maximization: identifying
   representative elements in massive data", NIPS 2013.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.progress import Reporter
from fishernet.data.matching import Data, is_table
from fishernet.kernels import RowSums

Positions = npt.NDArray[np.int64]

MOST_AT_ONCE = 2**22  # rows of a stream, from which on they are chosen from in parts unless one says otherwise
PART_ROWS = 2**20
NO_ROWS = np.zeros(0, dtype=np.int64)


def n_parts(parts: int | None, data: Data, k: int | None, n_rows: int, *, can: bool = True) -> int:
    """Return in how many parts rows are chosen from; `can` says whether the criterion is one of features or counts."""
    if parts is None:
        if not can or not is_table(data) or not data.on_disk or n_rows <= MOST_AT_ONCE:
            return 1
        return max(1, min(-(-n_rows // PART_ROWS), n_rows // (k or 1)))
    most = max(n_rows // (k or 1), 1)
    found = check.integer(parts, "parts", least=1, most=most, note="with k rows or more in each")
    if found > 1 and not can:
        raise SchemaError("rows are chosen in parts under kernels with features only", parameter="parts")
    return found


def part_slices(n_rows: int, parts: int) -> list[slice]:
    """Return the rows of each part, in their order."""
    ends = [n_rows * part // parts for part in range(parts + 1)]
    return [slice(first, last) for first, last in pairwise(ends)]


@dataclass(frozen=True)
class Winners:
    """The rows that were chosen in all parts, ascending, and those that were in all of them.

    Attributes
    ----------
    rows : (n,) int64
        Their positions in the table.
    ranks : (n,) int64
        As how many-th each was chosen in its part, from 0 on; 0 of rows that were in all parts.
    sums : RowSums
        They alone, compared with the whole table.
    """

    rows: Positions
    ranks: Positions
    sums: RowSums


Choose = Callable[[RowSums, Positions], list[int]]


def winners(sums: RowSums, parts: int, choose: Choose, reporter: Reporter, always: Positions = NO_ROWS) -> Winners:
    """Return what is chosen in each part.

    Parameters
    ----------
    choose : callable
        ``choose(sums, where)`` gives the places of the rows that it takes, in their order; `where` says for each row of
        a part which row of the table it is.
    always : (n,) int64
        Rows that are in every part, and among the winners.
    """
    found, ranks = [always], [np.zeros(len(always), dtype=np.int64)]
    for part, at in enumerate(part_slices(sums.n_rows, parts)):
        reporter.step(part, parts)
        where = np.arange(at.start, at.stop)
        if len(always):
            where = np.union1d(always, where)
        some = sums.some(where if len(always) else at)
        some.check(where)
        chosen = np.array(choose(some, where), np.int64)
        found.append(where[chosen])
        ranks.append(np.arange(len(chosen)))
    every = np.concatenate(found)
    order = np.argsort(every)
    last = sums.some(every[order])
    last.check(every[order])
    return Winners(every[order], np.concatenate(ranks)[order], last)
