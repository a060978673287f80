"""What a hidden state gives at each step, if it is not a symbol: numbers, counts, and labels beside them.

An emission knows some columns of the observations. It says how probable a row is in each state (what is missing is
summed out), and from how much each row belongs to each state it makes statistics that add, from which its scores and
its maximum-likelihood estimates follow. Observations are a (n, d) array of float64 here: numbers, counts, or codes of
labels; NaN is missing.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.fields import Fields
from fishernet.base.names import check_names, several
from fishernet.base.value import Value
from fishernet.data.variable import Column
from fishernet.models.gaussian import Numbers

Offsets = npt.NDArray[np.int64]
Statistic = tuple[Numbers, ...]
"""Arrays whose first axis is a sequence; those of several sequences add."""

Clusters = Callable[[Numbers, int], npt.NDArray[np.int64]]
"""Makes so many clusters of rows, and returns that of each."""

UNUSED = 1e-60  # expected rows of a state: with fewer its parameters stay as they are
OWN = 0.9  # how much of a row belongs to its cluster where a fit begins


@dataclass(frozen=True)
class Limits:
    """What an estimate must keep."""

    smoothing: float = 0.0
    """Added to the expected count of each label, and of each component of a mixture."""
    least: Numbers = field(default_factory=lambda: np.zeros(0))
    """(d,) the least variance of a number given what comes before it, and the least rate of a count."""
    fixed: frozenset[str] = frozenset()
    """What stays as it is: "mean", "covariance", "weights"."""


class Emission(Value):
    """What each hidden state gives in some columns; immutable."""

    __slots__ = ()

    words: ClassVar[tuple[str, ...]] = ()
    """The names of its parameters that a fit can hold fixed."""

    @property
    @abstractmethod
    def variables(self) -> tuple[Column, ...]:
        """The columns."""

    @property
    @abstractmethod
    def n_states(self) -> int:
        """The number of hidden states."""

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """The number of columns of the scores."""

    @abstractmethod
    def log_prob(self, X: Numbers) -> Numbers:
        """Return the log-probability of each row in each state, (n, n_states); missing cells are summed out."""

    @abstractmethod
    def statistic(self, X: Numbers, shares: Numbers, offsets: Offsets) -> Statistic:
        """Return the statistics of sequences, whose rows belong to the states with `shares`, (n, n_states)."""

    @abstractmethod
    def scores(self, statistic: Statistic) -> Numbers:
        """Return the derivatives of the log-probability of each sequence by the parameters, (n, n_parameters)."""

    @abstractmethod
    def maximized(self, statistic: Statistic, limits: Limits) -> Self:
        """Return the emission that maximizes the expected log-likelihood of the first sequence's statistic."""

    def started(self, X: Numbers, shares: Numbers, limits: Limits, clusters: Clusters) -> Self:  # noqa: ARG002
        """Return the emission with which a fit begins: of rows that belong to the states with `shares`."""
        return self.maximized(self.statistic(X, shares, np.array([0, len(X)])), limits)

    @abstractmethod
    def draw(self, states: npt.NDArray[np.int64], random: np.random.Generator) -> Numbers:
        """Draw a row for each state, (n, d)."""

    @property
    def probabilities(self) -> tuple[Numbers, ...]:
        """The parameters that `Limits.smoothing` adds to."""
        return ()

    def check(self, X: Numbers, where: Where) -> None:
        """Raise SchemaError when a number cannot stand in a column."""

    @abstractmethod
    def to_fields(self) -> dict[str, object]:
        """Return its parameters as what `json` writes."""

    @classmethod
    @abstractmethod
    def from_fields(cls, fields: Fields) -> Self:
        """Return the emission of which a file holds these fields."""


class Where:
    """Where a row stands, for messages."""

    def __init__(self, offsets: Offsets) -> None:
        self.offsets = offsets

    def of(self, row: int) -> str:
        """Return the sequence and the position of a row."""
        sequence = int(np.searchsorted(self.offsets, row, side="right")) - 1
        return f"sequence {sequence}, position {row - int(self.offsets[sequence])}"


def summed(values: Numbers, offsets: Offsets) -> Numbers:
    """Return the sums of the rows of each sequence, (n_sequences, ...)."""
    if len(offsets) == 2:
        return np.asarray(values.sum(axis=0, keepdims=True))
    found = np.zeros((len(offsets) - 1, *values.shape[1:]))
    there = np.flatnonzero(np.diff(offsets))
    if len(there):
        found[there] = np.add.reduceat(values, offsets[:-1][there], axis=0)
    return found


# -------------------------------------------------------------------------------------------- checks, draws, files


def read_names(fields: Fields) -> list[str]:
    """Return the names of columns among the fields of a file."""
    names = fields.items("names")
    for position, name in enumerate(names):
        if not isinstance(name, str):
            raise fields.wrong("expected a name", f"names[{position}]")
    return names


def read_numbers(fields: Fields, name: str) -> list[Any]:
    """Return lists of lists of numbers among the fields of a file."""
    values = fields.items(name)
    flat = values
    while any(isinstance(item, list) for item in flat):
        flat = [number for item in flat for number in (item if isinstance(item, list) else [item])]
    fields.numbers(flat, name)
    return values


def normalized(counts: Numbers, otherwise: Numbers) -> Numbers:
    """Return rows that sum to 1; those without counts stay as they were."""
    sums = counts.sum(axis=-1, keepdims=True)
    found: Numbers = np.divide(counts, sums, out=otherwise.copy(), where=sums > UNUSED)
    return found


def drawn(rows: Numbers, of: npt.NDArray[np.int64], random: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw a column of one of the rows for each of `of`."""
    sums = rows.cumsum(axis=1)
    below = (sums / sums[:, -1:])[:, :-1]  # the last possible column ends at 1 exactly
    return np.asarray((below[of] <= random.random(len(of))[:, None]).sum(axis=1))


def checked_finite(values: npt.ArrayLike, what: str) -> Numbers:
    """Return finite numbers, read-only."""
    array = check.numbers(values, what)
    if not np.isfinite(array).all():
        raise SchemaError(f"{what} must hold finite numbers")
    array.flags.writeable = False
    return array


def columns_last(values: npt.ArrayLike, what: str, axes: int) -> Numbers:
    """Return an array of so many axes and one for the columns, which may lack where there is one column."""
    array = checked_finite(values, what)
    if array.ndim == axes:
        array = array[..., None]
    if array.ndim != axes + 1 or not array.size:
        wanted = "(n_states, d)" if axes == 1 else "(n_states, n_components, d)"
        raise SchemaError(f"{what} must have shape {wanted}, got {array.shape}")
    array.flags.writeable = False
    return array


def column_names(names: Iterable[str] | None, d: int) -> tuple[str, ...]:
    """Return the names of d columns: "x", or "x1", "x2", ... where none are given."""
    if names is None:
        return ("x",) if d == 1 else tuple(f"x{j}" for j in range(1, d + 1))
    found = check.items(names, "names")
    check_names(found)
    if len(found) != d:
        raise SchemaError(f"{several(len(found), 'name')} for {several(d, 'column')}", parameter="names")
    return found
