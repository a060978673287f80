"""Sums of products scaled to 1 on the diagonal: correlations, when they are centred."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
import numpy.typing as npt

from fishernet.counts.scatter import Floats, Scatter
from fishernet.errors import SchemaError
from fishernet.table.numbers import are
from fishernet.table.variable import listed

NO_REST = 1e-10  # a column of which others leave no more than this unexplained is made of them; as in the core
ROUNDING = 1e-14  # of a constant column's mean, what is left of it when the mean is taken off


def products(scatter: Scatter, *, center: bool) -> Floats:
    """Return the sums of products, (d, d): centred, or of the columns as they are."""
    return scatter.S if center else scatter.uncentred


def scaled_products(scatter: Scatter, *, center: bool) -> Floats:
    """Return the sums of products scaled to 1 on the diagonal, (d, d).

    Raises
    ------
    SchemaError
        When columns are constant (or, as they are, 0), naming them.
    """
    require_varying(scatter, center=center)
    sums = products(scatter, center=center)
    scales = 1 / np.sqrt(np.diag(sums))
    scaled = np.clip(sums * scales[:, None] * scales, -1.0, 1.0)
    np.fill_diagonal(scaled, 1.0)
    return np.ascontiguousarray(scaled)


def require_varying(scatter: Scatter, *, center: bool = True) -> None:
    """Raise SchemaError, naming them, when columns are constant (or, as they are, 0)."""
    least = scatter.n * (ROUNDING * scatter.mean) ** 2 if center else 0.0
    still = np.diag(products(scatter, center=center)) <= least
    constant = [name for name, flag in zip(scatter.names, still, strict=True) if flag]
    if constant:
        raise SchemaError(f"{are(constant, 'column')} {'constant' if center else '0'}; leave out what does not vary")


def rank(scatter: Scatter, *, center: bool) -> int:
    """Return the rank of the products of so many rows, were there columns enough."""
    return max(0, scatter.n - 1) if center else scatter.n


def require_independent(names: tuple[str, ...], scaled: Floats, most: int) -> None:
    """Raise SchemaError, naming the columns, when one of up to `most` columns is made of the others."""
    d = len(names)
    if d > most:
        return  # dependent anyhow; a search sees which sets it meets
    try:
        roots = np.diag(np.linalg.cholesky(scaled))
    except np.linalg.LinAlgError:
        roots = np.zeros(d)
    if roots.min(initial=1.0) ** 2 > NO_REST:
        return
    refuse_collinear(names, scaled, _first_dependent(scaled))


def _first_dependent(scaled: Floats) -> list[int]:
    """Return the first columns of which the last is made of the others: by bisection over how many."""
    low, high = 1, len(scaled)
    while low < high:
        middle = (low + high) // 2
        if _is_independent(scaled[:middle, :middle]):
            low = middle + 1
        else:
            high = middle
    return list(range(low))


def _is_independent(scaled: Floats) -> bool:
    try:
        return bool((np.diag(np.linalg.cholesky(scaled)) ** 2 > NO_REST).all())
    except np.linalg.LinAlgError:
        return False


def refuse_collinear(names: tuple[str, ...], scaled: Floats, columns: npt.ArrayLike) -> NoReturn:
    """Raise SchemaError: the last of some columns is made of the others, of which those that count are named."""
    *others, last = np.asarray(columns).tolist()
    weights, *_ = np.linalg.lstsq(scaled[np.ix_(others, others)], scaled[others, last], rcond=1e-9)
    taken = [names[v] for v, weight in zip(others, weights.tolist(), strict=True) if abs(weight) > 1e-4]
    raise SchemaError(
        f"the column {names[last]!r} is a linear combination of {listed(taken or [names[v] for v in others])} "
        "(collinear to ten digits); leave one of them out"
    )
