"""Counts that follow a Poisson distribution in each hidden state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError
from fishernet.base.fields import Fields
from fishernet.base.names import several
from fishernet.data import Continuous
from fishernet.data.variable import Column
from fishernet.models.emissions.base import (
    UNUSED,
    Emission,
    Limits,
    Offsets,
    Statistic,
    Where,
    column_names,
    columns_last,
    read_names,
    read_numbers,
    summed,
)
from fishernet.models.gaussian import Numbers


class PoissonEmission(Emission):
    """Counts that follow a Poisson distribution in each state; immutable.

    Several columns are independent in each state.

    Parameters
    ----------
    rate : (n_states,) or (n_states, d) array
        The expected count in each state, positive.
    names : sequence of str, optional
        Of the columns; "x", or "x1", "x2", ... without it.

    Raises
    ------
    SchemaError
        When a rate is not finite or not positive, or names do not fit.

    Examples
    --------
    >>> import fishernet as fn
    >>> emission = fn.models.PoissonEmission([1.0, 20.0])
    >>> hmm = fn.NumericHiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], emission)
    >>> hmm.decode([[0, 2, 19, None, 23]])[0]
    array([0, 0, 1, 1, 1], dtype=int32)
    """

    __slots__ = ("names", "rate")

    words: ClassVar[tuple[str, ...]] = ("mean",)

    rate: Numbers
    """(n_states, d)."""
    names: tuple[str, ...]
    """Of the columns."""

    def __init__(self, rate: npt.ArrayLike, *, names: Iterable[str] | None = None) -> None:
        found = columns_last(rate, "rate", 1)
        if not (found > 0).all():
            raise SchemaError(f"rates must be positive, got {found.min():.6g}")
        self._set(rate=found, names=column_names(names, found.shape[1]))

    @property
    def variables(self) -> tuple[Column, ...]:
        """The columns."""
        return tuple(map(Continuous, self.names))

    @property
    def n_states(self) -> int:
        """The number of hidden states."""
        return len(self.rate)

    @property
    def n_parameters(self) -> int:
        """A rate for each column and state."""
        return self.rate.size

    def log_prob(self, X: Numbers) -> Numbers:
        """Return the log-probability of each row in each state, (n, n_states); missing cells are summed out."""
        from scipy.special import gammaln  # slow to import, and needed by few calls

        found = np.zeros((len(X), self.n_states))
        for column, rates in zip(X.T, self.rate.T, strict=True):
            there = ~np.isnan(column)
            x = column[there, None]
            found[there] += x * np.log(rates) - rates - gammaln(x + 1)
        return found

    def statistic(self, X: Numbers, shares: Numbers, offsets: Offsets) -> Statistic:
        """Return the expected rows and sums of each state and column, (n_sequences, n_states, d, 2)."""
        there = ~np.isnan(X)
        values = np.stack([there, np.where(there, X, 0.0)], axis=2)
        if len(offsets) == 2:
            return (np.tensordot(shares, values, (0, 0))[None],)
        return (np.stack([summed(share[:, None, None] * values, offsets) for share in shares.T], axis=1),)

    def scores(self, statistic: Statistic) -> Numbers:
        """Return the scores: column by column the rate of each state."""
        n, sums = statistic[0][..., 0], statistic[0][..., 1]
        return (sums / self.rate - n).transpose(0, 2, 1).reshape(len(n), self.rate.size)

    def maximized(self, statistic: Statistic, limits: Limits) -> Self:
        """Return the emission that maximizes the expected log-likelihood."""
        n, sums = statistic[0][0, ..., 0], statistic[0][0, ..., 1]
        if "mean" in limits.fixed:
            return self
        rate = np.divide(sums, n, out=self.rate.copy(), where=n > UNUSED)
        return type(self)(np.maximum(rate, limits.least), names=self.names)

    def draw(self, states: npt.NDArray[np.int64], random: np.random.Generator) -> Numbers:
        """Draw a row for each state, (n, d)."""
        return random.poisson(self.rate[states]).astype(np.float64)

    def check(self, X: Numbers, where: Where) -> None:
        """Raise SchemaError when a number is no count."""
        bad = (X < 0) | (np.rint(X) != X) & ~np.isnan(X)
        if bad.any():
            row, column = map(int, np.argwhere(bad)[0])
            raise SchemaError(
                f"{where.of(row)}: {X[row, column]:g} in column {self.names[column]!r} is no count; counts are 0, 1, "
                "2, ...; of other numbers make a Gaussian emission"
            )

    def to_fields(self) -> dict[str, object]:
        """Return its parameters as what `json` writes."""
        return {"names": list(self.names), "rate": self.rate.tolist()}

    @classmethod
    def from_fields(cls, fields: Fields) -> Self:
        """Return the emission of which a file holds these fields."""
        return cls(read_numbers(fields, "rate"), names=read_names(fields))

    def _parts(self) -> tuple[Any, ...]:
        return (self.rate,)

    def _options(self) -> dict[str, Any]:
        return {"names": self.names}

    def __repr__(self) -> str:
        return f"PoissonEmission({several(self.n_states, 'state')}, {several(len(self.names), 'column')})"
