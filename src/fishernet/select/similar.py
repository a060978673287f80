"""The rows most like a given one, and the variables that make them so."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base import check
from fishernet.base.display import Framed, brief
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import several
from fishernet.data import Table
from fishernet.data.matching import as_data
from fishernet.kernels import FisherKernel
from fishernet.select.selection import chosen_frame

BLOCK = 4096


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Similar(Framed):
    """The rows most like a given one, the most like first."""

    indices: npt.NDArray[np.int64]
    """(n,) positions in the table."""
    cosines: npt.NDArray[np.float64]
    """(n,) cosines of the angles between their features and those of the given row, descending, from -1 to 1."""
    by_variable: npt.NDArray[np.float64]
    """(n, n_variables) what each variable adds to the cosine, in the order of `names`; a row sums to its cosine."""
    names: tuple[str, ...]
    """The names of the network's variables."""
    table: Table = field(repr=False)
    """The table looked through."""

    def __repr__(self) -> str:
        return f"Similar({several(len(self.indices), 'row')}: {brief(self.indices)}, cosines {brief(self.cosines)})"

    def to_frame(self) -> pa.Table:
        """Return the rows as a pyarrow Table: their positions and cosines, then the columns of the table."""
        return chosen_frame(self.table, self.indices, {"cosine": self.cosines})


def similar(kernel: FisherKernel, table: Table, row: int | Table, *, n: int = 10) -> Similar:
    """Find the rows of a table that are most like a given one.

    Likeness is the cosine ``K(x, y) / sqrt(K(x, x) K(y, y))``. The kernel itself would not do: it grows with the
    rarity of what two rows share and ignores how much else they have, so that a row that shares one rare state comes
    before one that is alike in everything but a rare state of its own.

    Parameters
    ----------
    kernel : FisherKernel
    table : Table
    row : int or Table
        A position in the table (negative ones count from its end), or a table of one row.
    n : int
        How many rows to return; all, when there are fewer.

    Returns
    -------
    Similar
        Ties go to the lowest position. A row of the table that was given by position is among the results.

    Raises
    ------
    FishernetError
        When the position is not in the table or n is not positive.
    SchemaError
        When the kernel is no Fisher kernel, or a table does not fit its network.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> table = asia.sample(500, seed=1)
    >>> found = fn.select.similar(fn.kernels.FisherKernel(asia), table, 7, n=3)
    >>> found.cosines.round(6)
    array([1., 1., 1.])
    """
    if not hasattr(kernel, "terms"):
        raise SchemaError(f"similar needs a FisherKernel, whose terms are the variables', not {type(kernel).__name__}")
    n = check.integer(n, "n", least=1)
    table = as_data(table, "similar")
    given = _given_row(table, row)
    lengths = np.sqrt(kernel.diag(table) * kernel.diag(given))
    cosines = np.zeros(table.n_rows)
    for first in range(0, table.n_rows, BLOCK):
        part = slice(first, first + BLOCK)
        values = kernel(table[part], given)[:, 0]
        np.divide(values, lengths[part], out=cosines[part], where=lengths[part] > 0)
    cosines = np.clip(cosines, -1, 1)
    # rounding must not decide between rows that are equally alike, nor push a row behind itself
    order = np.argsort(-cosines.round(12), kind="stable")[:n].astype(np.int64)
    terms = kernel.terms(table[order], given)[:, :, 0].T
    scale = lengths[order, None]
    return Similar(
        indices=order,
        cosines=cosines[order],
        by_variable=np.divide(terms, scale, out=np.zeros_like(terms), where=scale > 0),
        names=kernel.model.names,
        table=table,
    )


def _given_row(table: Table, row: Any) -> Table:
    if hasattr(row, "n_rows"):
        if row.n_rows != 1:
            raise FishernetError(f"the given row must be a table of one row, got {several(row.n_rows, 'row')}")
        given: Table = row
        return given
    if isinstance(row, bool) or not isinstance(row, int | np.integer):
        raise FishernetError(f"row must be a position in the table or a table of one row, got {row!r}")
    if not -table.n_rows <= row < table.n_rows:
        raise FishernetError(f"row {row} is not in the table, which has {several(table.n_rows, 'row')}")
    return table[[int(row)]]
