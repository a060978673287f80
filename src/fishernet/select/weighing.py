"""Weights of chosen rows, none below zero, by which their weighted mean is nearest to that of a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FishernetError, SchemaError
from fishernet.kernels import RowSums

Array = npt.NDArray[np.float64]

TIED = 1e-12  # values this near to the largest, as a share of it, are ties: the lowest row is taken
JITTER = 1e-10  # of a row's kernel with itself: less than this is left of it, and it is a combination of the others


def spread(sums: RowSums) -> float:
    """Return the mean squared distance of a row to the mean of all: what one random row reaches."""
    found, diagonal = sums.mean_diagonal - sums.between, sums.mean_diagonal
    return found if found > TIED * abs(diagonal) else 0.0


def nothing_to_weigh(is_indefinite: bool) -> FishernetError:
    """Return the error for a kernel by which no row gets a weight."""
    if is_indefinite:
        return SchemaError("the kernel is not positive semidefinite: no row can be weighed by it", parameter="kernel")
    message = (
        "no row with a weight above 0 is nearer to the table than none at all; with sum_to_one=True there are rows"
    )
    return FishernetError(message, parameter="sum_to_one")


class Weighing:
    """Non-negative weights of chosen rows that maximize ``w'mu - w'Kw / 2`` (Lawson and Hanson, 1974).

    The Cholesky factor of the rows of positive weight grows by a row with every choice. Where the weights add up to 1,
    a constant added to the kernel changes nothing but which rows are combinations of others: with it, those that are
    so with factors that add up to 1.
    """

    def __init__(self, sums: RowSums, sum_to_one: bool) -> None:
        self._sums = sums
        self._sum_to_one = sum_to_one
        self._constant = spread(sums) + abs(sums.between) or 1.0 if sum_to_one else 0.0
        self._level = 0.0  # the gradient along rows of positive weight
        self.rows: list[int] = []
        self._positive: list[int] = []  # places among the rows
        self._factor = np.empty((0, 0))
        self._matrix = np.empty((0, 0))
        self.n_refused: int = 0
        self.weights: npt.NDArray[np.float64] = np.empty(0)

    @property
    def gains(self) -> Array:
        """What each row promises, (n_rows,): its gradient, or how much a step towards it improves; not above 0: none.

        Where weights add up to 1, a step goes from the weighted mean m to the row. With g what the gradient along it is
        above that along m, and d its squared distance from m, the best step improves by g^2 / d, or as the row itself.
        """
        mean = self._sums.mean
        if not self.rows:
            return 2 * mean - self._sums.diagonal if self._sum_to_one else mean.copy()
        to_rows = self._sums.along(np.array(self.rows), self.weights)
        gradient = mean - to_rows
        tied = TIED * np.maximum(abs(self._sums.between), self._sums.diagonal)
        if not self._sum_to_one:
            return np.where(gradient > tied, gradient, 0.0)
        ahead = gradient - self._level
        far = np.maximum(self._sums.diagonal - 2 * to_rows + self._within, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            improved = np.where(ahead < far, ahead**2 / far, 2 * ahead - far)
        return np.where(ahead > tied, improved, 0.0)

    def add(self, row: int) -> bool:
        """Add a row and weigh all anew; False where it is a combination of the others already."""
        new = self._sums.matrix(np.array([row]), np.array([*self.rows, row]))[0] + self._constant
        own = float(new[-1])
        left = self._below(new[:-1][self._positive])
        rest = own - float(left @ left)
        if rest <= JITTER * abs(own):
            self.n_refused += rest < -JITTER * abs(own)
            return False
        n = len(self.rows)
        matrix = np.empty((n + 1, n + 1))
        matrix[:n, :n], matrix[n], matrix[:, n] = self._matrix, new, new
        self._matrix = matrix
        self.rows.append(row)
        self._grow(left, math.sqrt(rest))
        self._positive.append(n)
        self._weigh(np.append(self.weights, 0.0))
        return True

    def _below(self, values: Array) -> Array:
        from scipy.linalg import solve_triangular  # slow to import, and needed by few calls

        if not len(values):
            return np.empty(0)
        return np.asarray(solve_triangular(self._factor, values, lower=True, check_finite=False))

    def _grow(self, left: Array, corner: float) -> None:
        p = len(left)
        factor = np.zeros((p + 1, p + 1))
        factor[:p, :p], factor[p, :p], factor[p, p] = self._factor, left, corner
        self._factor = factor

    def _weigh(self, weights: Array) -> None:
        """Find the weights, from those before; rows that would fall below 0 get 0."""
        from scipy.linalg import cho_solve  # slow to import, and needed by few calls

        while True:
            at = np.array(self._positive, dtype=np.int64)
            towards = self._sums.mean[np.array(self.rows)[at]] + self._constant
            best = np.asarray(cho_solve((self._factor, True), towards, check_finite=False))
            if self._sum_to_one:
                of_ones = np.asarray(cho_solve((self._factor, True), np.ones(len(at)), check_finite=False))
                self._level = (float(best.sum()) - 1) / float(of_ones.sum())
                best = best - self._level * of_ones
            falling = best <= 0
            if not falling.any():
                weights[:] = 0.0
                weights[at] = best
                break
            now = weights[at]
            step = float(np.min(now[falling] / np.maximum(now[falling] - best[falling], 1e-300)))
            weights[at] = now + step * (best - now)
            gone = falling & (weights[at] <= 1e-14 * np.abs(weights).max(initial=0.0))
            if not gone.any():
                gone = falling & (now == now[falling].min())
            weights[at[gone]] = 0.0
            self._positive = at[~gone].tolist()
            kept = self._matrix[np.ix_(self._positive, self._positive)]
            self._factor = np.asarray(np.linalg.cholesky(kept)) if len(kept) else np.empty((0, 0))
            if not self._positive:
                break
        self.weights = weights

    @property
    def n_rows(self) -> int:
        """How many rows there are to be chosen from."""
        return self._sums.n_rows

    @property
    def matrix(self) -> Array:
        """The kernel between the chosen rows, (k, k)."""
        return self._matrix - self._constant

    @property
    def needed(self) -> Array:
        """By how much the squared distance would rise without each chosen row, all others weighed anew, (k,)."""
        from scipy.linalg import cho_solve  # slow to import, and needed by few calls

        found = np.zeros(len(self.rows))
        at = np.array(self._positive, dtype=np.int64)
        inverse = np.diagonal(cho_solve((self._factor, True), np.eye(len(at)), check_finite=False))
        found[at] = self.weights[at] ** 2 / inverse
        return found

    def only(self, places: Sequence[int], weights: Array | None) -> Weighing:
        """Return some of the chosen rows alone, with given weights, or with the best ones."""
        found = Weighing(self._sums, self._sum_to_one)
        found.n_refused = self.n_refused
        found.rows = [self.rows[place] for place in places]
        found._matrix = self._matrix[np.ix_(places, places)]
        found._positive = list(range(len(places)))
        if weights is not None:
            found.weights = weights
        else:
            found._factor = np.asarray(np.linalg.cholesky(found._matrix))
            before = np.maximum(self.weights[places], 0.0)
            found._weigh(before / before.sum())
        return found

    @property
    def _within(self) -> float:
        """The squared length of the weighted sum."""
        return float(self.weights @ self._matrix @ self.weights) - self._constant * float(self.weights.sum()) ** 2

    @property
    def distance(self) -> float:
        """The squared distance of the weighted sum to the mean of the table."""
        towards = float(self.weights @ self._sums.mean[np.array(self.rows)])
        return self._sums.squared(self._within - 2 * towards + self._sums.between)
