"""Exact inference over numbers: a joint normal distribution, given some of them.

With mean m and precision K, what is hidden (h) given what is known (k) is normal again, with the covariance
``K_hh^-1`` and the mean ``m_h - K_hh^-1 K_hk (x_k - m_k)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeGuard

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError
from fishernet.base.names import Positions, check_names, positions
from fishernet.base.random import Seed, draw_count, generator
from fishernet.data import Continuous, Table
from fishernet.data.given import number_given
from fishernet.infer.distribution import NormalDistribution
from fishernet.infer.evidence import Given, Likelihood, as_mapping
from fishernet.infer.factors import inference_of

Array = npt.NDArray[np.float64]
Places = Sequence[int] | npt.NDArray[np.intp]


class Normal(Protocol):
    """A model in which numbers have a joint normal distribution: a Gaussian Bayesian or Markov network."""

    @property
    def variables(self) -> Sequence[Continuous]:
        """The variables."""

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""

    @property
    def mean(self) -> Array:
        """(d,)."""

    @property
    def covariance(self) -> Array:
        """(d, d)."""

    @property
    def precision(self) -> Array:
        """(d, d) the inverse of the covariance."""


def is_normal(model: object) -> TypeGuard[Normal]:
    """Whether a model's variables are numbers with a joint normal distribution."""
    return inference_of(model) == "normal"


def pull(precision: Array, hidden: Places, known: Places) -> Array:
    """Return ``K_hh^-1 K_hk``: minus this is how what is hidden moves with what is known, (n_hidden, n_known)."""
    K, scales = _scaled(precision, hidden)
    between = precision[np.ix_(np.asarray(hidden, dtype=np.intp), np.asarray(known, dtype=np.intp))]
    solved = np.linalg.solve(K, between * scales[:, None])
    return np.asarray(solved * scales[:, None])


def covariance_given(precision: Array, hidden: Places) -> Array:
    """Return the covariance of some variables given all others, ``K_hh^-1``, exactly symmetric."""
    K, scales = _scaled(precision, hidden)
    found = np.linalg.inv(K) * scales[:, None] * scales
    return np.asarray((found + found.T) / 2)


def _scaled(precision: Array, at: Places) -> tuple[Array, Array]:
    """Return a block of a precision scaled to a diagonal of ones, and the scales: units must not cost digits."""
    places = np.asarray(at, dtype=np.intp)
    block = precision[np.ix_(places, places)]
    scales = 1 / np.sqrt(np.diagonal(block))
    return block * scales[:, None] * scales, scales


@dataclass(frozen=True)
class Gap:
    """The rows that lack the same numbers: their positions, and those of the variables that are known and missing."""

    rows: npt.NDArray[np.intp]
    known: npt.NDArray[np.intp]
    missing: npt.NDArray[np.intp]

    def given(self, model: Normal, columns: Array) -> tuple[Array, Array]:
        """Return the means of the missing numbers given the known ones of each row, and their covariance.

        (n_missing, n_rows), and (n_missing, n_missing), which is that of every row.
        """
        off = columns[np.ix_(self.known, self.rows)] - model.mean[self.known, None]
        means = model.mean[self.missing, None] - pull(model.precision, self.missing, self.known) @ off
        return means, covariance_given(model.precision, self.missing)

    def spread(self, precision: Array) -> Array:
        """Return the covariance of all numbers in such a row, (d, d): 0 where one is known."""
        found = np.zeros_like(precision)
        found[np.ix_(self.missing, self.missing)] = covariance_given(precision, self.missing)
        return found


def gaps_of(columns: Array) -> Iterator[Gap]:
    """Yield the rows of columns, (d, n), that lack the same numbers, NaN, and those that lack none."""
    absent = np.isnan(columns)
    if not absent.any():  # most often, and a million rows need no sorting
        yield Gap(np.arange(columns.shape[1]), np.arange(len(columns)), np.arange(0))
        return
    patterns, which = np.unique(absent, axis=1, return_inverse=True)
    for number, lacking in enumerate(patterns.T):
        yield Gap(np.flatnonzero(which.ravel() == number), np.flatnonzero(~lacking), np.flatnonzero(lacking))


def completed(model: Normal, columns: Array, *, noise: Callable[[int, int], Array] | None = None) -> Array:
    """Return columns, (d, n), in which missing numbers are their means given the known ones of each row.

    With `noise`, which gives so many rows and columns of standard normal numbers, they are drawn instead.
    """
    found = np.array(columns)
    for gap in gaps_of(columns):
        if not len(gap.missing):
            continue
        means, covariance = gap.given(model, columns)
        if noise is not None:
            sd = np.sqrt(np.diagonal(covariance))
            factor = np.linalg.cholesky(covariance / sd[:, None] / sd) * sd[:, None]
            means = means + factor @ noise(*means.shape)
        found[np.ix_(gap.missing, gap.rows)] = means
    return found


def asked_for(every: Sequence[str], names: str | Iterable[str] | None, given: Collection[str]) -> Positions:
    """Return the positions of the variables that are asked for: without names, of all that are not given."""
    asked = [names] if isinstance(names, str) else names
    if asked is None:
        asked = [name for name in every if name not in given]
        if not asked:
            raise SchemaError("there is no variable to ask for: every one is given")
    found = positions(every, asked)
    check_names([every[v] for v in found])
    return found


def query_numbers(
    model: Normal, names: str | Iterable[str] | None, given: Given, likelihood: Likelihood
) -> NormalDistribution:
    """Return the distribution of some numbers given others; by default of all that are not given."""
    known = known_numbers(model, given, likelihood)
    said = {model.names[v]: number for v, number in known.items()}
    wanted = list(asked_for(model.names, names, said))
    mean, covariance = _moments(model, known, [v for v in range(len(model.names)) if v not in known])
    variables = tuple(model.variables[v] for v in wanted)
    return NormalDistribution(variables, mean[wanted], covariance[np.ix_(wanted, wanted)], said)


def most_probable_numbers(model: Normal, given: Given, likelihood: Likelihood) -> dict[str, float]:
    """Return the most probable numbers of all variables together: their conditional means."""
    known = known_numbers(model, given, likelihood)
    mean, _ = _moments(model, known, [v for v in range(len(model.names)) if v not in known])
    return dict(zip(model.names, mean.tolist(), strict=True))


def log_density(model: Normal, given: Given, likelihood: Likelihood) -> float:
    """Return the logarithm of the density of what is given, all else integrated out."""
    known = known_numbers(model, given, likelihood)
    at = list(known)
    off = np.array(list(known.values())) - model.mean[at]
    W = model.covariance[np.ix_(at, at)]
    sd = np.sqrt(np.diagonal(W))
    L = np.linalg.cholesky(W / sd[:, None] / sd)
    z = np.linalg.solve(L, off / sd)
    log_det = float(np.log(np.diagonal(L)).sum() + np.log(sd).sum())
    return float(-0.5 * (z @ z) - log_det - 0.5 * len(at) * math.log(2 * math.pi)) + 0.0  # no -0.0


def sample_numbers(model: Normal, n: int, given: Given, likelihood: Likelihood, seed: Seed) -> Table:
    """Draw independent rows given some numbers."""
    rows = draw_count(n)
    known = known_numbers(model, given, likelihood)
    hidden = [v for v in range(len(model.names)) if v not in known]
    mean, covariance = _moments(model, known, hidden)
    noise = generator(seed).standard_normal((rows, len(hidden)))
    values = np.tile(mean, (rows, 1))
    if hidden:
        of = covariance[np.ix_(hidden, hidden)]
        sd = np.sqrt(np.diagonal(of))
        values[:, hidden] += noise @ np.linalg.cholesky(of / sd[:, None] / sd).T * sd
    return Table.adopt(model.variables, list(np.ascontiguousarray(values.T)), n_rows=rows)


def known_numbers(model: Normal, given: Given, likelihood: Likelihood) -> dict[int, float]:
    """Return the numbers that are given, by position; SchemaError or UnknownStateError where they do not fit."""
    if likelihood is not None:
        raise SchemaError("likelihoods are of states; of numbers, what is known is given", parameter="likelihood")
    said: Mapping[str, object] = as_mapping(given, "given")
    at = positions(model.names, said)
    return {v: number_given(model.variables[v], x, parameter="given") for v, x in zip(at, said.values(), strict=True)}


def _moments(model: Normal, known: Mapping[int, float], hidden: Sequence[int]) -> tuple[Array, Array]:
    """Return the mean and the covariance of all variables, given some."""
    mean = np.array(model.mean)
    if not known:
        return mean, np.array(model.covariance)
    at = list(known)
    values = np.array(list(known.values()))
    covariance: Array = np.zeros((len(mean), len(mean)))
    if hidden:
        mean[list(hidden)] -= pull(model.precision, hidden, at) @ (values - mean[at])
        covariance[np.ix_(hidden, hidden)] = covariance_given(model.precision, hidden)
    mean[at] = values
    return mean, covariance
