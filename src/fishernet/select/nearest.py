"""The items most alike under a kernel: strings, trees, rows of numbers, whatever the kernel takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base import check
from fishernet.base.display import Framed
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import several
from fishernet.base.progress import Progress, Reporter
from fishernet.infer.factors import Asked
from fishernet.kernels import Kernel, Normalized, has_features
from fishernet.kernels.agreement import kernel_of
from fishernet.kernels.rows import plain_rows

BLOCK = 64

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Nearest(Framed):
    """For each of some items the others that are most like it, the most like first."""

    of: npt.NDArray[np.int64]
    """(m,) positions of the items that others were compared with."""
    indices: npt.NDArray[np.int64]
    """(m, n) positions of the others."""
    cosines: Matrix
    """(m, n) cosines of the angles between their features, descending, from -1 to 1."""

    def __repr__(self) -> str:
        m, n = self.indices.shape
        return f"Nearest({several(m, 'item')}, {several(n, 'other')} each)"

    def to_frame(self) -> pa.Table:
        """Return a row for each pair as a pyarrow Table: the item, the other, and their cosine."""
        of = np.repeat(self.of, self.indices.shape[1])
        return pa.table({"item": of, "other": self.indices.ravel(), "cosine": self.cosines.ravel()})


def nearest(
    kernel: Kernel | Asked,
    X: Any,
    *,
    of: Iterable[int] | None = None,
    n: int = 10,
    progress: Progress | None = None,
) -> Nearest:
    """Find for each of some strings, or other items, those that are most like it.

    Likeness is the cosine ``k(x, y) / sqrt(k(x, x) k(y, y))``, 0 where an item's kernel with itself is. `similar` does
    this for the rows of a table, and says which variables make them alike.

    Parameters
    ----------
    kernel : Kernel, BayesianNetwork or MarkovNetwork
        A network stands for its `AgreementKernel`.
    X : list of strings, or what else the kernel takes that has parts
    of : iterable of int, optional
        Positions of the items that others are compared with; all without it.
    n : int
        How many others; all, when there are fewer. An item is not among its own.
    progress : callable or True, optional
        True for a bar, or ``progress(what, done, total)``, in items.

    Returns
    -------
    Nearest
        Ties go to the lowest position.

    Raises
    ------
    SchemaError
        When it is no kernel, or an item does not fit it.
    FishernetError
        When a position is none, or n is not positive.

    Examples
    --------
    >>> import fishernet as fn
    >>> found = fn.select.nearest(fn.kernels.SpectrumKernel(2), ["abab", "bbbb", "baba"], n=1)
    >>> found.indices.ravel()
    array([2, 0, 0])
    """
    cosine = Normalized(kernel_of(kernel, "nearest"))
    if isinstance(X, str | bytes):
        raise SchemaError("a list of strings is needed, not one string; write [string]")
    items = plain_rows(X)
    size = len(items)
    chosen = _positions(of, size)
    n = min(check.integer(n, "n", least=1), max(size - 1, 0))
    cosines = _cosines(cosine, items)
    indices, values = np.zeros((len(chosen), n), np.int64), np.zeros((len(chosen), n))
    reporter = Reporter(progress, "comparing items")
    for first in range(0, len(chosen), BLOCK):
        reporter.step(first, len(chosen))
        part = chosen[first : first + BLOCK]
        block = np.clip(cosines(part), -1.0, 1.0)
        # rounding must not decide between items that are equally alike
        keys = -block.round(12)
        keys[np.arange(len(part)), part] = np.inf
        order = np.argsort(keys, axis=1, kind="stable")[:, :n]
        indices[first : first + BLOCK] = order
        values[first : first + BLOCK] = np.take_along_axis(block, order, axis=1)
    reporter.finish(len(chosen))
    return Nearest(chosen, indices, values)


def _cosines(kernel: Normalized, items: Any) -> Callable[[npt.NDArray[np.int64]], Matrix]:
    """Return what gives the cosines of some items, by their positions, with all: features are found once."""
    if not has_features(kernel):

        def of_pairs(part: npt.NDArray[np.int64]) -> Matrix:
            return np.asarray(kernel(items[part], items), np.float64)

        return of_pairs
    features = kernel.features(items)

    def of_features(part: npt.NDArray[np.int64]) -> Matrix:
        found = features[part] @ features.T
        return found.toarray() if hasattr(found, "toarray") else np.asarray(found)

    return of_features


def _positions(of: Iterable[int] | None, size: int) -> npt.NDArray[np.int64]:
    if of is None:
        return np.arange(size)
    if not size:
        raise FishernetError("there are no items", parameter="of")
    return np.array(
        [check.integer(place, "of", least=0, most=size - 1) for place in check.items(of, "of", "positions")], np.int64
    )
