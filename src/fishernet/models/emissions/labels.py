"""Labels of one column in each hidden state, beside numbers in others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError, ZeroProbabilityError
from fishernet.base.fields import Fields
from fishernet.base.names import several
from fishernet.data import Variable
from fishernet.data.variable import Column
from fishernet.models.emissions.base import (
    Emission,
    Limits,
    Offsets,
    Statistic,
    Where,
    drawn,
    normalized,
    read_numbers,
    summed,
)
from fishernet.models.gaussian import Numbers
from fishernet.models.sequences.alphabet import checked_rows


class LabelEmission(Emission):
    """Labels of one column, beside numbers in others; immutable.

    Parameters
    ----------
    probabilities : (n_states, r) array
        P(label | state).
    labels : sequence of labels
        In the order of the axis.
    name : str
        Of the column.

    Raises
    ------
    SchemaError
        When a row does not sum to 1, or labels do not fit.

    Examples
    --------
    >>> import fishernet as fn
    >>> speed = fn.models.GaussianEmission([5.0, 50.0], [1.0, 9.0], names=["speed"])
    >>> road = fn.models.LabelEmission([[0.9, 0.1], [0.2, 0.8]], ["path", "street"], "road")
    >>> hmm = fn.NumericHiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [speed, road])
    >>> hmm.decode([{"speed": [4.4, None, 44.0], "road": ["path", "path", "street"]}])[0]
    array([0, 0, 1], dtype=int32)
    """

    __slots__ = ("probabilities_of_labels", "variable")

    words: ClassVar[tuple[str, ...]] = ()

    probabilities_of_labels: Numbers
    """(n_states, r)."""
    variable: Variable
    """The column."""

    def __init__(self, probabilities: npt.ArrayLike, labels: Iterable[Any], name: str) -> None:
        rows = checked_rows(probabilities, "probabilities", (None, None))
        variable = Variable(name, tuple(check.items(labels, "labels", "labels")))
        if len(variable.states) != rows.shape[1]:
            raise SchemaError(f"{several(len(variable.states), 'label')} for {several(rows.shape[1], 'column')}")
        self._set(probabilities_of_labels=rows, variable=variable)

    @property
    def variables(self) -> tuple[Column, ...]:
        """The column."""
        return (self.variable,)

    @property
    def n_states(self) -> int:
        """The number of hidden states."""
        return len(self.probabilities_of_labels)

    @property
    def n_parameters(self) -> int:
        """A probability for each state and label."""
        return self.probabilities_of_labels.size

    @property
    def probabilities(self) -> tuple[Numbers, ...]:
        """The probabilities of the labels."""
        return (self.probabilities_of_labels,)

    def log_prob(self, X: Numbers) -> Numbers:
        """Return the log-probability of each row in each state, (n, n_states); missing cells are summed out."""
        with np.errstate(divide="ignore"):
            logs = np.log(np.column_stack([self.probabilities_of_labels, np.ones(self.n_states)]))
        codes = np.where(np.isnan(X[:, 0]), self.variable.cardinality, X[:, 0]).astype(np.int64)
        return np.ascontiguousarray(logs.T)[codes]

    def statistic(self, X: Numbers, shares: Numbers, offsets: Offsets) -> Statistic:
        """Return the expected count of each label in each state, (n_sequences, n_states, r)."""
        counts = [summed(np.where((code == X), shares, 0.0), offsets) for code in range(self.variable.cardinality)]
        return (np.stack(counts, axis=2),)

    def scores(self, statistic: Statistic) -> Numbers:
        """Return the scores: of each state each label, "unconstrained, then normalized"."""
        p = self.probabilities_of_labels
        if not (p > 0).all():
            state, code = map(int, np.argwhere(p == 0)[0])
            raise ZeroProbabilityError(
                f"scores need positive probabilities: state {state} never gives {self.variable.states[code]!r} in "
                f"column {self.variable.name!r}; fit the model with smoothing above 0",
                variable=self.variable.name,
                configuration={"state": state},
                parameter="smoothing",
            )
        counts = statistic[0]
        return np.asarray((counts / p - counts.sum(axis=2, keepdims=True)).reshape(len(counts), p.size))

    def maximized(self, statistic: Statistic, limits: Limits) -> Self:
        """Return the emission that maximizes the expected log-likelihood, with the prior."""
        p = self.probabilities_of_labels
        counts = statistic[0][0] + np.where(p > 0, limits.smoothing, 0.0)
        return type(self)(normalized(counts, p), self.variable.states, self.variable.name)

    def draw(self, states: npt.NDArray[np.int64], random: np.random.Generator) -> Numbers:
        """Draw a row for each state, (n, 1)."""
        return drawn(self.probabilities_of_labels, states, random).astype(np.float64)[:, None]

    def check(self, X: Numbers, where: Where) -> None:
        """Raise SchemaError when a number is no code."""
        codes = X[:, 0]
        bad = ((codes < 0) | (codes >= self.variable.cardinality) | (codes != np.rint(codes))) & ~np.isnan(codes)
        if bad.any():
            row = int(np.argmax(bad))
            raise SchemaError(
                f"{where.of(row)}: {codes[row]:g} is no code of a label of {self.variable.name!r}; give a table with "
                f"its labels, or codes from 0 to {self.variable.cardinality - 1}"
            )

    def to_fields(self) -> dict[str, object]:
        """Return its parameters as what `json` writes."""
        return {
            "name": self.variable.name,
            "labels": list(self.variable.states),
            "probabilities": self.probabilities_of_labels.tolist(),
        }

    @classmethod
    def from_fields(cls, fields: Fields) -> Self:
        """Return the emission of which a file holds these fields."""
        return cls(read_numbers(fields, "probabilities"), fields.items("labels"), fields.text("name"))

    def _parts(self) -> tuple[Any, ...]:
        return self.probabilities_of_labels, self.variable.states, self.variable.name

    def __repr__(self) -> str:
        return f"LabelEmission({several(self.n_states, 'state')}, {several(self.variable.cardinality, 'label')})"
