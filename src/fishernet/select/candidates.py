"""Rows to choose from under a kernel, and what is said of a kernel that is none."""

from __future__ import annotations

from fishernet.base.errors import FishernetError, SchemaError, warn
from fishernet.base.names import several
from fishernet.data.frames.rows import weights_of
from fishernet.data.matching import Data
from fishernet.kernels import Kernel, RowSums
from fishernet.kernels.kernel import adapted


def row_sums_of(kernel: Kernel, data: Data, name: str) -> RowSums:
    """Return a kernel on the rows of data, of which there are some, with a weight; `name` is for messages."""
    known = adapted(kernel, name)
    rows = known.rows(data)
    check_some(len(rows), name)
    weights = weights_of(data)
    if weights is not None and not weights.sum():
        raise SchemaError("all rows have weight 0, so there is nothing to stand for")
    return known.row_sums(rows)


def check_some(n_rows: int, name: str) -> None:
    """Refuse a table without rows."""
    if n_rows == 0:
        raise FishernetError(f"{name} needs a row to choose from, and there is none")


def warn_if_indefinite(sums: RowSums, n_refused: int = 0) -> None:
    """Warn of a kernel that is not positive semidefinite, where that was seen, or for which rows were passed over."""
    if not sums.is_indefinite and not n_refused:
        return
    refused = f"{several(n_refused, 'row')} passed over, with which the weights have no best values"
    below = "squared distances may be below 0, where 0 is told, and chosen rows need not be near the table"
    message = f"the kernel is not positive semidefinite: {refused if n_refused else below}"
    warn(message, parameter="kernel")
