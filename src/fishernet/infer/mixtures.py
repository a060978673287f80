"""Answers about numbers in networks of labels and numbers: mixtures of normal distributions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base import check
from fishernet.base.display import Framed, brief
from fishernet.base.errors import SchemaError
from fishernet.base.names import positions
from fishernet.data import Continuous, Variable
from fishernet.data.variable import Column, State
from fishernet.infer.beside import lines_of, title
from fishernet.infer.distribution import Distribution
from fishernet.infer.factors import Array

HALVINGS = 200  # of the interval in which a quantile lies: to the last digit


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class NumberDistribution(Framed):
    """The distribution of a number, given what is known; made by ``net.query``.

    It is a mixture of normal distributions, one for each configuration of the labels on which the number depends and
    which are not known.

    Examples
    --------
    >>> import fishernet as fn
    >>> sex, height = fn.Variable("sex", ["f", "m"]), fn.Continuous("height")
    >>> net = fn.BayesianNetwork.from_tables(
    ...     [sex, height],
    ...     {"height": ["sex"]},
    ...     {"sex": [0.5, 0.5], "height": {"intercept": [166, 180], "coefficients": [[], []], "sd": [6, 7]}},
    ... )
    >>> d = net.query("height")
    >>> d.mean, round(d.sd, 3), round(d.median, 3)
    (173.0, 9.566, 172.462)
    >>> print(d)
    P(height)
    mean  sd       median   95 % from  to
    173   9.56556  172.462  156.112    191.515
    >>> round(net.query("sex", given={"height": 185})["m"], 2)
    0.99
    """

    variable: Continuous
    """The number."""
    weights: Array
    """(K,) the probabilities of the components; they sum to 1."""
    means: Array
    """(K,) their means; of a number with a scale, on it."""
    sds: Array
    """(K,) their standard deviations, likewise."""
    given: Mapping[str, State] = field(default_factory=dict)
    """What was given, by name."""

    def __post_init__(self) -> None:
        for array in (self.weights, self.means, self.sds):
            array.flags.writeable = False

    @property
    def components(self) -> tuple[Array, Array, Array]:
        """The weights of the normal components, (K,), their means, (K, 1), and covariances, (K, 1, 1)."""
        return self.weights, self.means[:, None], self.sds[:, None, None] ** 2

    @property
    def variables(self) -> tuple[Continuous]:
        """The number, as of distributions of several variables."""
        return (self.variable,)

    @property
    def mean(self) -> float:
        """Its mean."""
        return float(self.weights @ moments_on_scale(self.variable, self.means, self.sds)[0])

    @property
    def sd(self) -> float:
        """Its standard deviation."""
        centres, spreads = moments_on_scale(self.variable, self.means, self.sds)
        return float(np.sqrt(self.weights @ (spreads**2 + (centres - self.mean) ** 2)))

    @property
    def median(self) -> float:
        """The number that it is above as often as below."""
        return self.quantile(0.5)

    def density(self, x: float) -> float:
        """Return the density at a number, per unit of the column."""
        at = np.array([check.number(x, "x")])
        z = (self.variable.scaled(at) - self.means) / self.sds
        with np.errstate(over="ignore"):  # so far away that the density is 0
            log = -0.5 * z**2 - np.log(self.sds) - 0.5 * math.log(2 * math.pi) + self.variable.log_slope(at)
        return float(self.weights @ np.exp(log))

    def probability(self, low: float, high: float) -> float:
        """Return the probability that it is above one number and at most another; either may be infinite."""
        from scipy.special import ndtr  # slow to import, and needed by few calls

        below, above = ((self._on_scale(float(x)) - self.means) / self.sds for x in (low, high))
        far = below > 0  # the smaller tails, which keep their digits
        parts = np.where(far, ndtr(-below) - ndtr(-above), ndtr(above) - ndtr(below))
        return float(max(0.0, self.weights @ parts))

    def quantile(self, q: float) -> float:
        """Return the number that it is at most with probability q, above 0 and below 1."""
        share = check.number(q, "q")
        if not 0 < share < 1:
            raise SchemaError(f"a quantile is of a probability above 0 and below 1, got {share:g}", parameter="q")
        return float(quantiles(self.variable, self.weights[None], self.means[None], self.sds[None], share)[0])

    def _on_scale(self, x: float) -> float:
        """Return a number, which may be infinite, on the scale."""
        return float(self.variable.scaled(np.array([x]))[0]) if math.isfinite(x) else x

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return two numbers between which it is with probability `level`, as often below as above."""
        low, high = tails(level)
        return self.quantile(low), self.quantile(high)

    @property
    def most_probable(self) -> float:
        """The mean, which is nearest on average (in squares)."""
        return self.mean

    def to_dict(self) -> dict[str, float]:
        """Return mean, sd, median and the ends of the 95 % interval, by name."""
        low, high = self.interval()
        return {"mean": self.mean, "sd": self.sd, "median": self.median, "low": low, "high": high}

    def to_frame(self) -> pa.Table:
        """Return one row: ``name``, ``mean``, ``sd``, ``median`` and the ends of the 95 % interval."""
        return pa.table({"name": [self.variable.name], **{name: [x] for name, x in self.to_dict().items()}})

    def __repr__(self) -> str:
        of = title([self.variable.name], self.given)
        return f"NumberDistribution({of}: {brief(self.mean)} +- {brief(self.sd)})"

    def __str__(self) -> str:
        found = self.to_dict()
        header = ["mean", "sd", "median", "95 % from", "to"]
        rows = iter([[f"{x:.6g}" if word == "sd" else self.variable.shown(x) for word, x in found.items()]])
        return lines_of(f"P({title([self.variable.name], self.given)})", header, rows, 1)


def tails(level: float) -> tuple[float, float]:
    """Return the two probabilities between which there is a level, as much below as above."""
    inside = check.number(level, "level")
    if not 0 < inside < 1:
        raise SchemaError(f"a level is a probability above 0 and below 1, got {inside:g}", parameter="level")
    return (1 - inside) / 2, (1 + inside) / 2


def quantiles(variable: Column, weights: Array, means: Array, sds: Array, q: float) -> Array:
    """Return the numbers that mixtures of normals on a variable's scale are at most with probability q, (n,).

    Weights, means and standard deviations are (n, K) or, the same in all, (1, K).
    """
    from scipy.special import ndtr, ndtri  # slow to import, and needed by few calls

    side = 1.0 if q <= 0.5 else -1.0  # the smaller tail, which keeps its digits
    ends = means + sds * ndtri(q)  # between those of the components
    held = np.broadcast_to(weights > 0, ends.shape)
    low = np.where(held, ends, np.inf).min(axis=1)
    high = np.where(held, ends, -np.inf).max(axis=1)
    for _ in range(HALVINGS):
        middle = low + (high - low) / 2
        if not ((low < middle) & (middle < high)).any():
            break
        tail = (weights * ndtr(side * (middle[:, None] - means) / sds)).sum(axis=1)
        below = (tail < min(q, 1 - q)) == (side > 0)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(variable.unscaled(low + (high - low) / 2))


def moments_on_scale(variable: Column, means: Array, sds: Array) -> tuple[Array, Array]:
    """Return the means and standard deviations, in the variable's unit, of numbers that are normal on its scale."""
    return (means, sds) if variable.scale is None else variable.scale.moments(means, sds)


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class MixedDistribution(Framed):
    """The joint distribution of several numbers, or of labels and numbers, given what is known; made by ``net.query``.

    It is a mixture of normal distributions, whose components have labels.

    Examples
    --------
    >>> import fishernet as fn
    >>> sex, height = fn.Variable("sex", ["f", "m"]), fn.Continuous("height")
    >>> net = fn.BayesianNetwork.from_tables(
    ...     [sex, height],
    ...     {"height": ["sex"]},
    ...     {"sex": [0.5, 0.5], "height": {"intercept": [166, 180], "coefficients": [[], []], "sd": [6, 7]}},
    ... )
    >>> d = net.query(["sex", "height"])
    >>> d["height"].mean, d["sex"]["f"], d.means.tolist()
    (173.0, 0.5, [[166.0], [180.0]])
    """

    variables: tuple[Column, ...]
    """What was asked for, in that order."""
    weights: Array
    """(K,) the probabilities of the components; they sum to 1."""
    codes: npt.NDArray[np.int64]
    """(K, l) the codes of the labels of each component, of those variables that have labels."""
    means: Array
    """(K, d) the means of the numbers; of those with a scale, on it."""
    covariances: Array
    """(K, d, d) their covariances, likewise."""
    given: Mapping[str, State] = field(default_factory=dict)
    """What was given, by name."""

    def __post_init__(self) -> None:
        for array in (self.weights, self.codes, self.means, self.covariances):
            array.flags.writeable = False

    @property
    def components(self) -> tuple[Array, Array, Array]:
        """The weights of the normal components, (K,), their means, (K, d), and covariances, (K, d, d)."""
        return self.weights, self.means, self.covariances

    @property
    def names(self) -> tuple[str, ...]:
        """The variables' names."""
        return tuple(variable.name for variable in self.variables)

    @property
    def labels(self) -> tuple[Variable, ...]:
        """Those that have labels."""
        return tuple(variable for variable in self.variables if not variable.is_continuous)

    @property
    def numbers(self) -> tuple[Continuous, ...]:
        """Those that are numbers."""
        return tuple(variable for variable in self.variables if variable.is_continuous)

    @property
    def mean(self) -> Array:
        """(d,) the means of the numbers."""
        pairs = zip(self.numbers, self.means.T, self._sds.T, strict=True)
        return np.array([self.weights @ moments_on_scale(variable, means, sds)[0] for variable, means, sds in pairs])

    @property
    def _sds(self) -> Array:
        return np.sqrt(np.diagonal(self.covariances, axis1=1, axis2=2))

    @property
    def covariance(self) -> Array:
        """(d, d) their covariance; of numbers with a scale, on it."""
        apart = self.means - self.weights @ self.means
        within = np.tensordot(self.weights, self.covariances, axes=1)
        return np.asarray(within + (self.weights * apart.T) @ apart)

    @property
    def sd(self) -> Array:
        """(d,) their standard deviations."""
        return np.array([self[variable.name].sd for variable in self.numbers])  # type: ignore[union-attr]

    def __getitem__(self, name: str) -> Distribution | NumberDistribution:
        """Return the distribution of one of the variables."""
        variable: Any = self.variables[positions(self.names, [name])[0]]
        if variable.is_continuous:
            at = [one.name for one in self.numbers].index(name)
            sds = np.sqrt(self.covariances[:, at, at])
            return NumberDistribution(variable, np.array(self.weights), np.array(self.means[:, at]), sds, self.given)
        at = [one.name for one in self.labels].index(name)
        shares: Any = np.bincount(self.codes[:, at], weights=self.weights, minlength=variable.cardinality)
        return Distribution((variable,), shares, self.given)

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(self.names)

    def __len__(self) -> int:
        """Return the number of variables."""
        return len(self.variables)

    def to_dict(self) -> dict[str, Any]:
        """Return the probabilities of labels and the mean of numbers, by name."""
        found: Any = {name: self[name] for name in self.names}
        pairs = zip(self.variables, found.values(), strict=True)
        return {v.name: of.mean if v.is_continuous else of.to_dict() for v, of in pairs}

    def to_frame(self) -> pa.Table:
        """Return one row per component: its labels, ``probability``, and mean and sd of every number."""
        found: dict[str, Any] = {}
        for variable, codes in zip(self.labels, self.codes.T, strict=True):
            found[variable.name] = [variable.states[code] for code in codes.tolist()]
        found["probability"] = self.weights
        for at, number in enumerate(self.numbers):
            centres, spreads = moments_on_scale(number, self.means[:, at], self._sds[:, at])
            found |= {f"{number.name} mean": centres, f"{number.name} sd": spreads}
        return pa.table(found)

    def __repr__(self) -> str:
        return f"MixedDistribution({title(self.names, self.given)}: {len(self.weights)} components)"

    def __str__(self) -> str:
        frame = self.to_frame()
        columns: Sequence[Sequence[Any]] = [column.to_pylist() for column in frame.columns]
        rows = ([x if isinstance(x, str) else f"{x:.6g}" for x in row] for row in zip(*columns, strict=True))
        return lines_of(f"P({title(self.names, self.given)})", frame.column_names, rows, frame.num_rows)
