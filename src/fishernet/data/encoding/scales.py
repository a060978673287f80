"""Scales of numbers: monotone maps on which a skewed column is more nearly normal, and their choice by likelihood.

A regression on a scale is one of ``scale(x)``; densities stay per unit of the column: what a number has on the scale,
times the scale's slope. Every scale runs over all numbers in both directions, so that no number is impossible and every
drawn one has a value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import listed

Floats = npt.NDArray[np.float64]

QUANTILES = 2000  # of a column, by which its scale is chosen
POWERS = np.linspace(0.0, 2.0, 21)  # of Yeo and Johnson, between which both tails run on without end
FEW_POWERS = np.array([0.0, 0.5, 1.5, 2.0])  # of these, where scales are chosen by families
UNROUNDED = 1e-6  # of the spread of numbers, which is the unit of those that nobody rounded
OF_SMALL = 1e-3  # of the numbers that are smaller than all but a hundredth, above which that unit does not go
HEAPED = 0.1  # the share of rows at one number, from which on it is told apart from its neighbours
FIRST = 1000  # numbers, which tell mostly that others are not rounded
FEWEST = 20  # distinct numbers, below which a column stays as it is


class Map(NamedTuple):
    """A monotone map, its inverse and the logarithm of its slope, each of numbers and parameters."""

    parameters: tuple[str, ...]
    forward: Callable[..., Floats]
    inverse: Callable[..., Floats]
    log_slope: Callable[..., Floats]
    text: str


def _log(x: Floats, shift: float, least: float) -> Floats:
    t = x + shift
    below = t < least  # goes on straight, so that any number has a place
    return np.where(below, math.log(least) + (t - least) / least, np.log(np.where(below, least, t)))


def _exp(y: Floats, shift: float, least: float) -> Floats:
    with np.errstate(over="ignore"):
        t = np.where(y < math.log(least), least * (1 + y - math.log(least)), np.exp(y))
    return t - shift


def _log_slope_of_log(x: Floats, shift: float, least: float) -> Floats:
    return -np.log(np.maximum(x + shift, least))


def _power(x: Floats, power: float, centre: float, width: float) -> Floats:
    u = (x - centre) / width
    right, left = np.maximum(u, 0.0), np.maximum(-u, 0.0)
    return _boxcox(right, power) - _boxcox(left, 2.0 - power)


def _boxcox(u: Floats, power: float) -> Floats:
    """Return ``((1 + u)^power - 1) / power``, or ``log(1 + u)``, of numbers from 0 on."""
    return np.asarray(np.expm1(power * np.log1p(u)) / power if power else np.log1p(u))


def _unpower(y: Floats, power: float, centre: float, width: float) -> Floats:
    right, left = np.maximum(y, 0.0), np.maximum(-y, 0.0)
    return centre + width * (_unboxcox(right, power) - _unboxcox(left, 2.0 - power))


def _unboxcox(v: Floats, power: float) -> Floats:
    with np.errstate(over="ignore"):
        return np.asarray(np.expm1(np.log1p(power * v) / power) if power else np.expm1(v))


def _log_slope_of_power(x: Floats, power: float, centre: float, width: float) -> Floats:
    u = (x - centre) / width
    return np.where(u >= 0, power - 1.0, 1.0 - power) * np.log1p(np.abs(u)) - math.log(width)


def _arcsinh(x: Floats, centre: float, width: float) -> Floats:
    return np.arcsinh((x - centre) / width)


def _sinh(y: Floats, centre: float, width: float) -> Floats:
    with np.errstate(over="ignore"):
        return centre + width * np.sinh(y)


def _log_slope_of_arcsinh(x: Floats, centre: float, width: float) -> Floats:
    return -np.log(np.hypot(width, x - centre))


MAPS: dict[str, Map] = {
    "log": Map(("shift", "least"), _log, _exp, _log_slope_of_log, "log(x + {0:.4g})"),
    "power": Map(
        ("power", "centre", "width"),
        _power,
        _unpower,
        _log_slope_of_power,
        "Yeo-Johnson's power {0:.3g} of (x - {1:.4g}) / {2:.4g}",
    ),
    "arcsinh": Map(("centre", "width"), _arcsinh, _sinh, _log_slope_of_arcsinh, "arcsinh((x - {0:.4g}) / {1:.4g})"),
}


@dataclass(frozen=True, slots=True)
class Scale:
    """A monotone map of the numbers of a column, on which its regressions are.

    Parameters
    ----------
    kind : {"log", "power", "arcsinh"}
        "log": ``log(x + shift)``, straight on below ``x + shift = least``; "power": Yeo and Johnson's [1]_ of
        ``(x - centre) / width``, with a power from 0 to 2; "arcsinh": ``arcsinh((x - centre) / width)``.
    parameters : tuple of float
        ``(shift, least)``, ``(power, centre, width)`` or ``(centre, width)``.

    Raises
    ------
    SchemaError
        When the kind is unknown, or the parameters make no such map.

    References
    ----------
    .. [1] I.-K. Yeo and R. A. Johnson, "A new family of power transformations to improve normality or symmetry",
       Biometrika 87, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from fishernet.data.encoding.scales import Scale
    >>> scale = Scale("log", (1.0, 0.5))
    >>> scale.forward(np.array([0.0, 9.0])).round(3)
    array([0.   , 2.303])
    >>> scale.inverse(scale.forward(np.array([0.0, 9.0])))
    array([0., 9.])
    """

    kind: str
    parameters: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.kind not in MAPS:
            raise SchemaError(f"unknown scale {self.kind!r}; there are {listed(MAPS)}", parameter="scales")
        names = MAPS[self.kind].parameters
        values = tuple(float(check.number(value, "a scale's parameter")) for value in self.parameters)
        if len(values) != len(names) or not all(map(math.isfinite, values)):
            raise SchemaError(f"the scale {self.kind!r} has {listed(names)}, got {values}", parameter="scales")
        of = dict(zip(names, values, strict=True))
        if not (of.get("width", 1) > 0 and of.get("least", 1) > 0 and 0 <= of.get("power", 1) <= 2):
            wrong = "widths and least are positive, and a power is from 0 to 2"
            raise SchemaError(f"the scale {self.kind!r} cannot have {values}: {wrong}", parameter="scales")
        object.__setattr__(self, "parameters", values)

    def forward(self, x: Floats) -> Floats:
        """Return numbers on the scale; NaN stays."""
        return np.asarray(MAPS[self.kind].forward(x, *self.parameters))

    def inverse(self, y: Floats) -> Floats:
        """Return the numbers that are there on the scale."""
        return np.asarray(MAPS[self.kind].inverse(y, *self.parameters))

    def log_slope(self, x: Floats) -> Floats:
        """Return the logarithm of the scale's slope at numbers."""
        return np.asarray(MAPS[self.kind].log_slope(x, *self.parameters))

    @property
    def n_fitted(self) -> int:
        """How many of its parameters a column chose: of a logarithm without a shift, or with 1, the least number."""
        return 1 if self.kind == "log" and self.parameters[0] in (0, 1) else len(self.parameters)

    def __str__(self) -> str:
        return MAPS[self.kind].text.format(*self.parameters).replace("x + 0)", "x)")


def chosen_scale(column: Floats, kind: str = "auto") -> Scale | None:
    """Return the scale on which a column is most nearly normal; None for the numbers as they are.

    Each scale's likelihood of 2,000 quantiles stands for that of the column, and each parameter has BIC's price. A
    column with fewer than 20 distinct numbers stays as it is.

    Parameters
    ----------
    column : (n,) float64 array
        NaN where a number is missing.
    kind : str
        "auto", or the scale to be fitted: "log", "power", "arcsinh", or "identity".

    Raises
    ------
    SchemaError
        When the kind is unknown.
    """
    if kind not in ("auto", "identity", *MAPS):
        known = listed(["auto", "identity", *MAPS])
        raise SchemaError(f"unknown scale {kind!r}; there are {known}", parameter="scales")
    known_cells = column[np.isfinite(column)]
    if kind == "identity" or len(np.unique(known_cells[: 10 * FEWEST])) < 2:
        return None
    n = len(known_cells)
    x = np.quantile(known_cells, (np.arange(min(n, QUANTILES)) + 0.5) / min(n, QUANTILES))
    if kind == "auto" and len(np.unique(x)) < FEWEST:
        return None
    price = 0.5 * math.log(n) / n  # a quantile stands for n / QUANTILES rows; likelihoods are means
    best, most = None, _mean_log_likelihood(x, np.zeros_like(x)) if kind == "auto" else -math.inf
    for scale in _candidates(x, kind):
        with np.errstate(over="ignore", invalid="ignore"):
            found = _mean_log_likelihood(scale.forward(x), scale.log_slope(x)) - scale.n_fitted * price
        if found > most:
            best, most = scale, found
    if best is None and kind != "auto":
        raise SchemaError(f"no scale {kind!r} fits these numbers; take another", parameter="scales")
    return best


def _mean_log_likelihood(y: Floats, log_slope: Floats) -> float:
    """Return the mean log-density of numbers that are normal on a scale, per unit of the column, but for constants."""
    variance = float(np.var(y))
    return -0.5 * math.log(variance) + float(log_slope.mean()) if variance > 0 else -math.inf


def candidate_scales(column: Floats, own: Scale | None) -> list[Scale]:
    """Return some scales that may suit a column, its own among them; none with fewer than 20 distinct numbers."""
    x = np.unique(column[np.isfinite(column)])
    if len(x) < FEWEST:
        return []
    others = _candidates(np.sort(column[np.isfinite(column)]), "auto", FEW_POWERS)
    return list(dict.fromkeys([*([] if own is None else [own]), *others]))


def _candidates(x: Floats, kind: str, powers: Floats = POWERS) -> Iterator[Scale]:
    """Yield scales of sorted numbers."""
    low, middle = float(x[0]), float(np.median(x))
    quarter, three = np.quantile(x, (0.25, 0.75)).tolist()
    width = (three - quarter) / 1.349 or float(np.std(x))
    if kind in ("auto", "log"):
        shifts = (
            [0.0] if low > 0 else [1.0, max(middle, width)] if low == 0 else [] if kind == "auto" else [width - low]
        )
        for shift in shifts:
            yield Scale("log", (shift, (low + shift) / 2))
    if kind in ("auto", "power"):
        for power in powers.tolist():
            yield Scale("power", (power, middle, width))
    if kind in ("auto", "arcsinh"):
        for share in (0.1, 0.3, 1.0, 3.0):
            yield Scale("arcsinh", (middle, share * width))


def rounding_unit(column: Floats) -> float | None:
    """Return the largest unit of which all numbers of a column are multiples, as 1, 0.05 or 1000.

    Numbers with more than nine decimals, or more than 2^53 units, count as not rounded: their unit is a millionth of
    their spread, or a thousandth of the small ones where these are far smaller yet. None where all are equal.
    """
    x = np.unique(column[np.isfinite(column)])
    if len(x) < 2:
        return None
    for decimals in range(10):
        if max(abs(x[0]), abs(x[-1])) * 10.0**decimals > 2.0**53:
            break
        if _are_multiples(x[:FIRST], decimals) and _are_multiples(x, decimals):
            common = int(np.gcd.reduce(np.rint(x * 10.0**decimals).astype(np.int64)))
            return common / 10.0**decimals
    small = float(np.quantile(np.abs(x[x != 0]), 0.01))
    return min(UNROUNDED * float(np.std(column[np.isfinite(column)])), OF_SMALL * small)


def _are_multiples(x: Floats, decimals: int) -> bool:
    """Whether ascending numbers have no more decimals, and differ in these."""
    units = x * 10.0**decimals
    whole = np.rint(units)
    return bool(np.allclose(units, whole, rtol=1e-12, atol=1e-6) and (np.diff(whole) > 0).all())


def heaped_at(column: Floats) -> float | None:
    """Return the number at which rows of a column heap up, as those with no hours or no income do; None without one.

    It has a tenth of the known rows at least, and three times as many as either of its neighbours.
    """
    known = column[np.isfinite(column)]
    if not len(known):
        return None
    apart = max(1, int(HEAPED * len(known)))  # so many equal numbers are met at one of these places of the sorted ones
    met = np.unique(np.partition(known, np.arange(0, len(known), apart))[::apart])
    if max(np.count_nonzero(known == number) for number in met.tolist()) < HEAPED * len(known):
        return None
    values, times = np.unique(known, return_counts=True)
    at = int(times.argmax())
    beside = max(np.delete(times[max(0, at - 1) : at + 2], min(at, 1)).tolist(), default=0)
    heavy = len(values) > 1 and times[at] >= HEAPED * times.sum() and times[at] >= 3 * max(beside, 1)
    return float(values[at]) if heavy else None
