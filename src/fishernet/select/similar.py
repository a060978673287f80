"""The rows most like a given one, and the variables that make them so."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base import check
from fishernet.base.display import Framed, brief
from fishernet.base.errors import FishernetError
from fishernet.base.names import several, shown
from fishernet.data import Table
from fishernet.data.frames.rows import arrow_rows, held, taken
from fishernet.data.matching import Data, as_data, is_frame, is_table
from fishernet.infer.factors import Asked
from fishernet.kernels import Kernel, Normalized
from fishernet.kernels.agreement import kernel_of
from fishernet.kernels.kernel import BaseKernel
from fishernet.kernels.rows import Rows

BLOCK = 4096


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Similar(Framed):
    """The rows most like a given one, the most like first."""

    indices: npt.NDArray[np.int64]
    """(n,) positions in the table."""
    cosines: npt.NDArray[np.float64]
    """(n,) cosines of the angles between their features and those of the given row, descending, from -1 to 1."""
    by_variable: npt.NDArray[np.float64]
    """(n, n_variables) what each variable adds to the cosine, in the order of `names`; a row sums to its cosine.

    (n, 0) under a kernel that is no sum over variables.
    """
    names: tuple[str, ...]
    """The names of the network's variables."""
    data: Data = field(repr=False)
    """What was looked through, as it was given: a table, a frame, a list of strings or an array."""

    def __repr__(self) -> str:
        return f"Similar({several(len(self.indices), 'row')}: {brief(self.indices)}, cosines {brief(self.cosines)})"

    @property
    def rows(self) -> Data:
        """The rows, in the kind of data they were looked for in; a pandas frame's with its index."""
        return taken(self.data, self.indices)

    @property
    def table(self) -> Table:
        """The table looked through; a frame is read as one. SchemaError of what is neither."""
        return as_data(self.data, "a table of similar rows")

    def to_frame(self) -> pa.Table:
        """Return the rows as a pyarrow Table: positions and cosines, then their columns (or the items of a list)."""
        return arrow_rows(self.data, self.indices, {"cosine": self.cosines})


def similar(kernel: Kernel | Asked, table: Data, row: Any, *, n: int = 10) -> Similar:
    """Find the rows of a table that are most like a given one.

    Likeness is the cosine ``K(x, y) / sqrt(K(x, x) K(y, y))``. The kernel itself would not do: it grows with the
    rarity of what two rows share and ignores how much else they have, so that a row that shares one rare state comes
    before one that is alike in everything but a rare state of its own.

    Parameters
    ----------
    kernel : Kernel, BayesianNetwork or MarkovNetwork
        A network stands for its `AgreementKernel`, whose neighbours are of one class most often. Under that one, and
        under the Fisher kernel of a network of tables, it is also said what each variable adds.
    table : Table, data frame, or what else the kernel takes, as a list of strings
    row : int, or table or frame of one row, or one string
        A position in the table (negative ones count from its end), or a row of its own.
    n : int
        How many rows to return; all, when there are fewer.

    Returns
    -------
    Similar
        Ties go to the lowest position. A row of the table that was given by position is among the results.

    Raises
    ------
    FishernetError
        When the position is not in the table, n is not positive, or the kernel is none.
    SchemaError
        When a table does not fit the kernel's model.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> table = asia.sample(500, seed=1)
    >>> found = fn.select.similar(asia, table, 7, n=3)
    >>> found.cosines.round(6)
    array([1., 1., 1.])
    """
    known = kernel_of(kernel, "similar")
    n = check.integer(n, "n", least=1)
    data = held(table)
    rows = known.rows(data)
    given = _given_row(known, rows, row)
    cosine = Normalized(known)
    cosine.diag(rows)  # refuses an impossible row by its place among all of them
    cosines = np.zeros(len(rows))
    for first in range(0, len(rows), BLOCK):
        part = slice(first, first + BLOCK)
        cosines[part] = cosine(rows[part], given)[:, 0]
    cosines = np.clip(cosines, -1, 1)
    # rounding must not decide between rows that are equally alike, nor push a row behind itself
    order = np.argsort(-cosines.round(12), kind="stable")[:n].astype(np.int64)
    names, by_variable = _shares(known, rows[order], given)
    return Similar(indices=order, cosines=cosines[order], by_variable=by_variable, names=names, data=data)


def _shares(kernel: BaseKernel, rows: Rows, given: Rows) -> tuple[tuple[str, ...], npt.NDArray[np.float64]]:
    """Return the variables over which a kernel is a sum, and what each adds to the cosines; none of other kernels."""
    if not kernel.term_names:
        return (), np.zeros((len(rows), 0))
    terms = kernel.terms(rows, given)[:, :, 0].T
    scale = np.sqrt(kernel.diag(rows) * kernel.diag(given))[:, None]
    return kernel.term_names, np.divide(terms, scale, out=np.zeros_like(terms), where=scale > 0)


def _given_row(kernel: BaseKernel, rows: Rows, row: Any) -> Rows:
    """Return the given row as the kernel takes it: one of the rows, or one of its own."""
    if isinstance(row, int | np.integer) and not isinstance(row, bool):
        if not -len(rows) <= row < len(rows):
            raise FishernetError(f"row {row} is not in the table, which has {several(len(rows), 'row')}")
        return rows[np.array([int(row) % len(rows)])]
    is_string = isinstance(row, str | list | tuple) or (isinstance(row, np.ndarray) and row.ndim == 1)
    if not is_string and not is_table(row) and not is_frame(row):
        raise FishernetError(f"row must be a position in the table or a table of one row, got {shown(row)}")
    given = kernel.rows([row] if is_string else row)
    if len(given) != 1:
        raise FishernetError(f"the given row must be a table of one row, got {several(len(given), 'row')}")
    return given
