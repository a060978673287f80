"""Rows kept aside, and how well a model predicts rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.cli.inputs.tables import Rows
from fishernet.errors import FishernetError
from fishernet.models import BayesianNetwork
from fishernet.random import generator
from fishernet.table import Table
from fishernet.table.numbers import NamedColumns

MOST_WEIGHED = 10**9  # NumPy's hypergeometric draws go no further


@dataclass(frozen=True)
class Likelihood:
    """The log-likelihood of a table under a model.

    Attributes
    ----------
    total : float
        In nats; -inf when a row is impossible.
    n_rows : int
        How many rows there are, each as often as its weight says.
    impossible : int
        How many of them the model gives probability 0.
    """

    total: float
    n_rows: int
    impossible: int

    @property
    def per_row(self) -> float:
        """The total divided by the number of rows; NaN when there are none."""
        return self.total / self.n_rows if self.n_rows else math.nan

    @classmethod
    def of(cls, model: BayesianNetwork, table: Table) -> Likelihood:
        """Return the log-likelihood of a table; rows of weight 0 count for nothing."""
        return cls.of_rows(model.log_prob(table), table.weights)

    @classmethod
    def of_rows(cls, logs: npt.NDArray[np.float64], weights: npt.NDArray[np.int64] | None) -> Likelihood:
        """Return the log-likelihood of rows whose log-probabilities are known, (n_rows,)."""
        if weights is None:
            return cls(float(logs.sum()), len(logs), int(np.isneginf(logs).sum()))
        logs, weights = logs[weights > 0], weights[weights > 0]
        return cls(float((logs * weights).sum()), int(weights.sum()), int(weights[np.isneginf(logs)].sum()))


def count_rows(table: Table | NamedColumns) -> int:
    """Return the number of rows, each as often as its weight says."""
    if isinstance(table, NamedColumns):
        return table.n_rows
    return table.n_rows if table.weights is None else int(table.weights.sum())


def hold_out(table: Rows, share: float, seed: int) -> tuple[Rows, Rows]:
    """Divide a table at random in rows to learn from and rows held out.

    Parameters
    ----------
    table : Table or NamedColumns
        With weights, a row that counts n times is n rows, of which some may be held out.
    share : float
        The share of the rows held out, from 0 to below 1, rounded to whole rows.
    seed : int

    Returns
    -------
    two of the same kind
        Rows to learn from, rows held out.

    Raises
    ------
    FishernetError
        When the share is out of range or leaves no row to learn from.
    """
    if not 0 <= share < 1:
        raise FishernetError(f"--holdout must be from 0 to below 1, not {share}")
    training, held_out = _divided(table, share, seed)
    if not count_rows(training):
        raise FishernetError(f"there are no rows to learn from: {count_rows(table)} in all, --holdout {share}")
    return training, held_out


def _divided(table: Any, share: float, seed: int) -> tuple[Any, Any]:
    if isinstance(table, Table) and table.weights is not None:
        return _hold_out_counts(table, table.weights, share, seed)
    held_out, training = table.split(share, seed)
    return training, held_out


def _hold_out_counts(table: Table, weights: npt.NDArray[np.int64], share: float, seed: int) -> tuple[Table, Table]:
    total = int(weights.sum())
    size = math.floor(share * total + 0.5)
    if not size:
        return table, table[:0]
    if total > MOST_WEIGHED:
        raise FishernetError(f"the weights add up to {total:,} rows, too many to hold some out; use --holdout 0")
    taken = generator(seed).multivariate_hypergeometric(weights, size, method="marginals")
    return _weighted(table, weights - taken), _weighted(table, taken)


def _weighted(table: Table, weights: npt.NDArray[np.int64]) -> Table:
    return Table(table.variables, table.codes, weights=weights, n_rows=table.n_rows)
