"""Statistics: what structures and parameters are learned from, a set of variables at a time.

The statistic of a set is the joint counts of its categorical variables and, in every cell, the mean and the centred
scatter of its continuous ones. Statistics of two parts of the data add up to that of the whole, wherever the parts lie.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from fishernet.base.display import Brief
from fishernet.base.errors import MissingValueError, SchemaError, StateSpaceError
from fishernet.base.names import listed, several
from fishernet.data.variable import Column

Numbers = npt.NDArray[np.int64] | npt.NDArray[np.float64]
Floats = npt.NDArray[np.float64]
States = npt.NDArray[np.uint32]

DENSE_CELLS_PER_ROW = 8  # a table with more cells than this for every row holds only the cells that occur
MOST_CELLS = 2**31


@dataclass(frozen=True, eq=False, repr=False)
class Statistic(Brief):
    """What a source says of a set of variables; immutable: it takes copies of its arrays.

    Counts alone and a scatter alone are the simple cases: of a set without continuous, or without categorical
    variables. The latter has a single cell and no axis for it.

    Attributes
    ----------
    variables : tuple of int
        Positions of the categorical variables, ascending.
    cardinalities : tuple of int
        Their numbers of states.
    counts : ndarray of int64 (float64 for expected counts and for weights that are not whole)
        Dense: one axis a variable. Otherwise (n_cells,): the cells that occur.
    states : (n_cells, n_variables) ndarray of uint32, or None
        The states of the cells that occur, in lexicographic order; None when dense.
    left_out : int or float
        The weight of the rows with a missing cell in the set; they are not counted.
    continuous : tuple of int
        Positions of the continuous variables, ascending; d of them.
    mean : (..., d) ndarray of float64
        Their means in every cell of `counts`; 0 where no row is.
    scatter : (..., d, d) ndarray of float64
        Their centred sums of products in every cell.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.Table.from_frame({"sex": ["f", "m", "f"], "height": [1.6, 1.9, 1.7]})
    >>> [statistic] = table.statistics([(0, 1)])
    >>> statistic.counts.tolist(), statistic.mean.round(2).tolist(), statistic.scatter.round(4).tolist()
    ([2, 1], [[1.65], [1.9]], [[[0.005]], [[0.0]]])
    """

    variables: tuple[int, ...]
    cardinalities: tuple[int, ...]
    counts: Numbers
    states: States | None = None
    left_out: int | float = 0
    continuous: tuple[int, ...] = ()
    mean: Floats = None  # type: ignore[assignment]
    scatter: Floats = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        arrays = {name: getattr(self, name) for name in ("counts", "states", "mean", "scatter")}
        self._keep(**{name: None if array is None else np.array(array) for name, array in arrays.items()})

    def _keep(self, counts: Any, states: Any, mean: Any, scatter: Any) -> None:
        if mean is None:
            mean = np.zeros((*counts.shape, 0))
            scatter = np.zeros((*counts.shape, 0, 0))
        for name, array in (("counts", counts), ("states", states), ("mean", mean), ("scatter", scatter)):
            if array is not None:
                array.flags.writeable = False
            object.__setattr__(self, name, array)

    @classmethod
    def adopt(
        cls,
        variables: tuple[int, ...],
        cardinalities: tuple[int, ...],
        counts: Numbers,
        states: States | None = None,
        left_out: int | float = 0,
        continuous: tuple[int, ...] = (),
        mean: Floats | None = None,
        scatter: Floats | None = None,
    ) -> Self:
        """Make a statistic that keeps the given arrays without a copy; for arrays that nobody else writes to."""
        made = cls.__new__(cls)
        sets = (("variables", variables), ("cardinalities", cardinalities), ("continuous", continuous))
        for name, value in (*sets, ("left_out", left_out)):
            object.__setattr__(made, name, value)
        made._keep(counts, states, mean, scatter)
        return made

    @property
    def is_dense(self) -> bool:
        """Whether all cells are held, not only those that occur."""
        return self.states is None

    @property
    def total(self) -> int | float:
        """The weight of the rows counted."""
        total: int | float = self.counts.sum().item()
        return total

    def require_complete(self, variables: Sequence[Column] | Mapping[int, Column], purpose: str) -> None:
        """Raise MissingValueError, naming the set, when rows were left out; `variables` by position."""
        if not self.left_out:
            return
        names = [variables[v].name for v in sorted(self.variables + self.continuous)]
        raise MissingValueError(
            f"{purpose} needs complete rows; {several(self.left_out, 'row has', 'rows have')} a missing cell among "
            f"{listed(names)}; "
            "read the table with missing 'drop'" + ("" if self.continuous else " or 'state'"),
            counts={},
            parameter="missing",
        )

    def table(self) -> Numbers:
        """Return the counts of all cells, one axis a categorical variable.

        Raises
        ------
        StateSpaceError
            When there are more than 2**31.
        """
        if self.states is None:
            return self.counts
        cells = math.prod(self.cardinalities)
        if cells > MOST_CELLS:
            raise StateSpaceError(
                f"the counts of {several(len(self.variables), 'variable')}",
                cells=cells,
                limit=MOST_CELLS,
                remedy="use fewer variables or merge states",
            )
        return self._spread(self.counts)

    def _spread(self, held: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return what is held of the cells that occur, (n_cells, ...), for all cells, one axis a variable."""
        assert self.states is not None
        full = np.zeros((math.prod(self.cardinalities), *held.shape[1:]), dtype=held.dtype)
        places = np.ravel_multi_index(tuple(self.states.T), self.cardinalities) if self.variables else slice(None)
        full[places] = held if len(held) else 0
        return full.reshape(self.cardinalities + held.shape[1:])

    def held(self, most_dense: int) -> Statistic:
        """Return the statistic with all cells where these are at most so many, otherwise with those that occur."""
        dense = math.prod(self.cardinalities) <= most_dense
        cells: tuple[Any, ...] = self.counts, self.states, self.mean, self.scatter
        if dense and self.states is not None:
            cells = (self._spread(self.counts), None, self._spread(self.mean), self._spread(self.scatter))
        elif not dense and self.states is None:
            states, counts = occurring(self)
            cells = (counts, states, _of_cells(self, self.mean), _of_cells(self, self.scatter))
        counts, states, mean, scatter = cells
        sets = self.variables, self.cardinalities
        return Statistic.adopt(*sets, counts, states, self.left_out, self.continuous, mean, scatter)

    def marginal(self, variables: Sequence[int]) -> Statistic:
        """Return the statistic of some of the variables, given by their positions."""
        chosen = set(variables)
        axes = [axis for axis, v in enumerate(self.variables) if v in chosen]
        at = [place for place, v in enumerate(self.continuous) if v in chosen]
        if len(axes) + len(at) < len(chosen):
            raise SchemaError(f"the statistic of {self.variables + self.continuous} has not all of {tuple(variables)}")
        kept = tuple(self.variables[axis] for axis in axes), tuple(self.cardinalities[axis] for axis in axes)
        numbers = tuple(self.continuous[place] for place in at)
        mean, scatter = self.mean[..., at], self.scatter[..., at, :][..., at]
        if len(axes) == len(self.variables):
            return Statistic.adopt(*kept, self.counts, self.states, self.left_out, numbers, mean, scatter)
        if self.states is None and not at:
            others = tuple(axis for axis in range(len(self.variables)) if axis not in axes)
            return Statistic.adopt(*kept, np.asarray(self.counts.sum(axis=others)), None, self.left_out)
        states, counts = occurring(self)
        cells: Any = (states[:, axes], counts, _of_cells(self, mean), _of_cells(self, scatter))
        return _pooled(*kept, *cells, left_out=self.left_out, continuous=numbers)

    def moved(self, to: Mapping[int, int]) -> Statistic:
        """Return the same statistic of variables at other positions, in the same order."""
        variables, numbers = (tuple(to[v] for v in of) for of in (self.variables, self.continuous))
        cells = (self.counts, self.states, self.left_out, numbers, self.mean, self.scatter)
        return Statistic.adopt(variables, self.cardinalities, *cells)

    def __add__(self, other: Statistic) -> Statistic:
        sets = (self.variables, self.cardinalities, self.continuous)
        if sets != (other.variables, other.cardinalities, other.continuous):
            raise SchemaError(
                f"statistics of {self.variables} with cardinalities {self.cardinalities} and of {other.variables} "
                f"with {other.cardinalities} (continuous: {self.continuous} and {other.continuous}) do not add"
            )
        left_out = self.left_out + other.left_out
        if self.states is None and other.states is None and not self.continuous:
            counts = np.asarray(self.counts + other.counts)  # of no variables it is a scalar
            return Statistic.adopt(self.variables, self.cardinalities, counts, None, left_out)
        parts: list[Any] = [
            (*occurring(one), _of_cells(one, one.mean), _of_cells(one, one.scatter)) for one in (self, other)
        ]
        cells = [np.concatenate(pair) for pair in zip(*parts, strict=True)]
        return _pooled(self.variables, self.cardinalities, *cells, left_out=left_out, continuous=self.continuous)


def occurring(statistic: Statistic) -> tuple[States, Numbers]:
    """Return the states of the cells that occur, (n_cells, n_variables) in lexicographic order, and their counts."""
    if statistic.states is not None:
        return statistic.states, statistic.counts
    flat = statistic.counts.reshape(-1)
    cells = np.flatnonzero(flat)
    states = np.zeros((len(cells), len(statistic.variables)), dtype=np.uint32)
    if statistic.variables:
        states[:] = np.stack(np.unravel_index(cells, statistic.cardinalities), axis=1)
    return states, flat[cells]


def _of_cells(statistic: Statistic, part: Floats) -> Floats:
    """Return a part of the moments, (..., d) or (..., d, d), of the cells that occur."""
    if statistic.states is not None:
        return part
    flat: Floats = part.reshape(statistic.counts.size, *part.shape[statistic.counts.ndim :])
    return flat[np.flatnonzero(statistic.counts.reshape(-1))]


def _pooled(
    variables: tuple[int, ...],
    cardinalities: tuple[int, ...],
    states: npt.NDArray[Any],
    counts: Any,
    mean: Floats,
    scatter: Floats,
    *,
    left_out: int | float,
    continuous: tuple[int, ...],
) -> Statistic:
    """Return the statistic of cells in any order, equal ones taken together: all cells while these are few."""
    states, counts, mean, scatter = _merged(states, counts, mean, scatter)
    found = Statistic.adopt(variables, cardinalities, counts, states, left_out, continuous, mean, scatter)
    return found.held(most_dense_cells(found.total + left_out))


def _merged(
    states: npt.NDArray[Any], counts: Numbers, mean: Floats, scatter: Floats
) -> tuple[States, Numbers, Floats, Floats]:
    """Return cells in lexicographic order, those with equal states taken together."""
    if len(counts) == 0:
        return states.astype(np.uint32), counts, mean, scatter
    order = np.lexsort(states.T[::-1]) if states.shape[1] else np.arange(len(counts))
    ordered = states[order]
    first = np.ones(len(counts), dtype=bool)
    first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    begins, group = np.flatnonzero(first), np.cumsum(first) - 1
    together = np.add.reduceat(counts[order], begins)
    if not mean.shape[1]:
        return ordered[first].astype(np.uint32), together, mean[begins], scatter[begins]
    weights = (counts[order] / together[group])[:, None]
    origin = mean[order][begins]  # means are taken from that of the first, so that equal ones stay equal to the bit
    apart = mean[order] - origin[group]
    centre = np.add.reduceat(weights * apart, begins)
    apart -= centre[group]
    between = counts[order][:, None, None] * apart[:, :, None] * apart[:, None, :]
    within = np.add.reduceat(scatter[order] + between, begins)
    return ordered[first].astype(np.uint32), together, origin + centre, within


def most_dense_cells(n_rows: int | float) -> int:
    """Return the number of cells up to which the counts of so many rows hold all cells."""
    return max(1, math.floor(DENSE_CELLS_PER_ROW * n_rows))
