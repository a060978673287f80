"""Checks of what a hidden tree is made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fishernet.errors import SchemaError
from fishernet.models.sequences.checks import Numbers, checked_numbers, checked_rows
from fishernet.models.trees.shape import TreeShape


def checked_tables(values: npt.ArrayLike, what: str, shape: tuple[int | None, ...]) -> Numbers:
    """Return a table, or several along a first axis; rows sum to 1."""
    if np.ndim(values) == 3:
        shape = (None, *shape)
    return checked_rows(values, what, shape)


def checked_arity(arity: Sequence[int] | npt.NDArray[np.integer] | None, n_states: int) -> npt.NDArray[np.int64] | None:
    """Return the number of children in each state, or None."""
    if arity is None:
        return None
    numbers = checked_numbers(arity, "arity", (n_states,))
    if (numbers != np.floor(numbers)).any() or (numbers > 2**31).any():
        raise SchemaError(f"arity must hold numbers of children, got {list(arity)!r}")
    whole: npt.NDArray[np.int64] = numbers.astype(np.int64)
    whole.flags.writeable = False
    return whole


def checked_branches(
    tables: Sequence[int] | npt.NDArray[np.integer] | None, shape: TreeShape, transition: Numbers, emission: Numbers
) -> npt.NDArray[np.int32]:
    """Return the table of every branch."""
    sizes = {part.shape[0] for part in (transition, emission) if part.ndim == 3}
    if len(sizes) > 1:
        raise SchemaError(f"transition has {transition.shape[0]} tables and emission {emission.shape[0]}")
    if not sizes:
        if tables is not None:
            raise SchemaError("branch_tables needs transition or emission with a first axis of tables")
        return np.zeros(shape.n_branches, np.int32)
    (n_tables,) = sizes
    if tables is None:
        most = int(shape.n_children.max())
        if most > n_tables:
            raise SchemaError(f"a node has {most} children, and there are tables for {n_tables} positions")
        return shape.positions
    numbers = checked_numbers(tables, "branch_tables", (shape.n_branches,))
    if (numbers != np.floor(numbers)).any() or (numbers >= n_tables).any():
        raise SchemaError(f"branch_tables must hold numbers of tables from 0 to {n_tables - 1}")
    whole: npt.NDArray[np.int32] = numbers.astype(np.int32)
    whole.flags.writeable = False
    return whole
