"""Whose each feature is, where a kernel is a sum over the variables of a network, or over their configurations too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fishernet.data import State
from fishernet.kernels.features import Features, Matrix, check_cells, inner, is_sparse
from fishernet.models.conditionals.base import Conditional

Positions = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FeatureParts:
    """Features in blocks: those of one variable follow one another, and within it those of one configuration."""

    names: tuple[str, ...]
    """The variables."""
    variable_of: Positions
    """(dimension,): the position of each feature's variable."""
    group_of: Positions | None
    """(dimension,): the number of each feature's configuration (or class of configurations), counted over all
    variables; None where there are none."""
    variable_of_group: Positions
    """(groups,): the position of each configuration's variable."""
    describe: Callable[[int], Mapping[str, State]]
    """What the states of the parents are in a configuration, by its number."""
    counting: npt.NDArray[np.bool_] | None = None
    """(dimension,): which features can be other than 0; None: all."""
    free: Positions | None = None
    """(groups,): how many parameters each configuration has, where its features are not states of one variable."""

    @property
    def degrees_of_freedom(self) -> Positions:
        """How many parameters each configuration has, or where there are none each variable."""
        if self.group_of is None:
            return np.bincount(self.variable_of, minlength=len(self.names))
        if self.free is not None:
            return self.free
        states = np.bincount(self.group_of, weights=self.counting, minlength=len(self.variable_of_group))
        return np.maximum(states.astype(np.int64) - 1, 0)


def parts_of_tables(
    names: Sequence[str], conditionals: Sequence[Conditional], counting: npt.NDArray[np.bool_] | None = None
) -> FeatureParts:
    """Return the parts of features that lie by variable, group and state."""
    sizes = np.array([conditional.n_groups for conditional in conditionals], dtype=np.int64)
    states = np.array([conditional.variables[-1].cardinality for conditional in conditionals], dtype=np.int64)
    firsts = np.concatenate([[0], np.cumsum(sizes)])
    variable_of_group = np.repeat(np.arange(len(sizes)), sizes)

    def describe(group: int) -> Mapping[str, State]:
        v = int(variable_of_group[group])
        return conditionals[v].describe_group(group - int(firsts[v]))

    group_of = np.repeat(np.arange(firsts[-1]), states[variable_of_group])
    return FeatureParts(tuple(names), variable_of_group[group_of], group_of, variable_of_group, describe, counting)


def parts_of_regressions(names: Sequence[str], widths: Sequence[int]) -> FeatureParts:
    """Return the parts of features that are ordered by variable; `widths` has the number of each variable's."""
    variable_of = np.repeat(np.arange(len(widths)), widths)
    return FeatureParts(tuple(names), variable_of, None, np.empty(0, dtype=np.int64), lambda _group: {})


def terms_by_variable(x: Features, y: Features | None, parts: FeatureParts) -> Matrix:
    """Return what each variable's features add to the inner products of rows, (n_variables, n, m); y None is x."""
    check_cells(len(parts.names) * x.shape[0] * (x if y is None else y).shape[0], "the terms of the matrix")
    x, y = (of.tocsc() if of is not None and is_sparse(of) else of for of in (x, y))
    own = [np.flatnonzero(parts.variable_of == v) for v in range(len(parts.names))]
    return np.stack([inner(x[:, at], None if y is None else y[:, at]) for at in own])
