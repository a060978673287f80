"""Scales of numbers: monotone maps on which a skewed column is more nearly normal, and their choice by likelihood.

A regression on a scale is one of ``scale(x)``; densities stay per unit of the column: what a number has on the scale,
times the scale's slope. Every scale runs over all numbers in both directions, so that no number is impossible and every
drawn one has a value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import listed
from fishernet.data.encoding.histogram import description_length_cuts

Floats = npt.NDArray[np.float64]

QUANTILES = "quantiles"  # the scale of any shape
MOST_LOOKED_AT = 2000  # quantiles of a column, by which its scale is chosen
POWERS = np.linspace(0.0, 2.0, 21)  # of Yeo and Johnson, between which both tails run on without end
FEW_POWERS = np.array([0.0, 0.5, 1.5, 2.0])  # of these, where scales are chosen by families
UNROUNDED = 1e-6  # of the spread of numbers, which is the unit of those that nobody rounded
OF_SMALL = 1e-3  # of the numbers that are smaller than all but a hundredth, above which that unit does not go
HEAPED = 0.3  # the share of rows at one number, from which on it is told apart from its neighbours
FIRST = 1000  # numbers, which tell mostly that others are not rounded
FEWEST = 20  # distinct numbers, below which a column stays as it is
PIECES = (4, 8)  # of equally many rows, between whose ends a scale of quantiles has lines
CANDIDATES, MOST_STEPS = 64, 16  # pieces, of which the bins of a histogram are made, and such bins
FEWEST_BELOW = 10  # rows beyond the outermost of these ends
RAREST = 1e-3  # share of the rows there
MOST = 1e308  # to which the numbers of a line go on
FAR, LEAST_SD = 40.0, 1e-150  # standard deviations beyond which nothing is; and that of a number that is known
POINTS = 64  # of a sum that stands for an integral over a normal density


class Map(NamedTuple):
    """A monotone map, its inverse and the logarithm of its slope, each of numbers and parameters.

    `moments` are the mean and the variance of a number that is normal on the scale, of its mean and standard deviation
    there and the parameters; without them they are found by Gauss and Hermite's rule, which needs a smooth map.
    """

    parameters: tuple[str, ...]
    forward: Callable[..., Floats]
    inverse: Callable[..., Floats]
    log_slope: Callable[..., Floats]
    text: str
    moments: Callable[..., tuple[Floats, Floats]] | None = None


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


def _lines(x: Floats, *knots: float) -> Floats:
    at, to, slopes = _knots(knots)
    with np.errstate(over="ignore"):
        below, above = (np.log1p(np.minimum(out, MOST)) for out in _beyond(x, at, slopes))
    return np.asarray(np.interp(x, at, to) + above - below)


def _unlines(y: Floats, *knots: float) -> Floats:
    at, to, slopes = _knots(knots)
    with np.errstate(over="ignore"):
        below, above = np.expm1(np.maximum(to[0] - y, 0.0)), np.expm1(np.maximum(y - to[-1], 0.0))
    return np.asarray(np.interp(y, to, at) + above / slopes[-1] - below / slopes[0])


def _log_slope_of_lines(x: Floats, *knots: float) -> Floats:
    at, _, slopes = _knots(knots)
    piece = np.clip(np.searchsorted(at, x, side="right") - 1, 0, len(slopes) - 1)
    with np.errstate(over="ignore"):
        below, above = (np.log1p(np.minimum(out, MOST)) for out in _beyond(x, at, slopes))
    return np.asarray(np.log(slopes)[piece] - below - above)


def _moments_of_lines(means: Floats, sds: Floats, *knots: float) -> tuple[Floats, Floats]:
    """Return the mean and the variance, summed over the pieces, in each of which a truncated normal number is known."""
    from scipy.special import log_ndtr, ndtr  # slow to import, and needed by few calls

    at, to, slopes = _knots(knots)
    sds = np.maximum(sds, LEAST_SD)
    centre = at[len(at) // 2]
    z = np.clip((to - means[..., None]) / sds[..., None], -FAR, FAR)
    density = np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi)
    mass, of_z = np.diff(ndtr(z)), -np.diff(density)
    starts, widths = at[:-1] - centre + (means[..., None] - to[:-1]) / slopes, sds[..., None] / slopes
    first = (starts * mass + widths * of_z).sum(axis=-1)
    second = starts**2 * mass + 2 * starts * widths * of_z + widths**2 * (mass - np.diff(z * density))
    square = second.sum(axis=-1)
    for sign, end, slope in ((-1.0, 0, slopes[0]), (1.0, -1, slopes[-1])):
        away, start = sign * (means - to[end]), sign * (at[end] - centre) - 1 / slope
        beyond = ndtr(away / sds)
        with np.errstate(over="ignore"):
            once = np.exp(away + sds**2 / 2 + log_ndtr(away / sds + sds)) / slope
            twice = np.exp(2 * away + 2 * sds**2 + log_ndtr(away / sds + 2 * sds)) / slope**2
            first = first + sign * (start * beyond + once)
            square = square + start**2 * beyond + 2 * start * once + twice
    with np.errstate(invalid="ignore"):
        return centre + first, np.where(np.isfinite(square), np.maximum(square - first**2, 0.0), np.inf)


def _knots(knots: Sequence[float]) -> tuple[Floats, Floats, Floats]:
    """Return the numbers of some knots, where they are on the scale, and the slopes of the lines between them."""
    at, to = np.asarray(knots).reshape(2, -1)
    return at, to, np.diff(to) / np.diff(at)


def _beyond(x: Floats, at: Floats, slopes: Floats) -> tuple[Floats, Floats]:
    """Return how far numbers are below the first knot and above the last, by the slopes there."""
    return slopes[0] * np.maximum(at[0] - x, 0.0), slopes[-1] * np.maximum(x - at[-1], 0.0)


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
    QUANTILES: Map((), _lines, _unlines, _log_slope_of_lines, "lines through {n} quantiles", _moments_of_lines),
}


@dataclass(frozen=True, slots=True)
class Scale:
    """A monotone map of the numbers of a column, on which its regressions are.

    Parameters
    ----------
    kind : {"log", "power", "arcsinh", "quantiles"}
        "log": ``log(x + shift)``, straight on below ``x + shift = least``; "power": Yeo and Johnson's [1]_ of
        ``(x - centre) / width``, with a power from 0 to 2; "arcsinh": ``arcsinh((x - centre) / width)``; "quantiles":
        straight lines between quantiles of the column and those of a standard normal distribution, and logarithms
        beyond the outermost, so that a column of any shape is nearly normal [2]_.
    parameters : tuple of float
        ``(shift, least)``, ``(power, centre, width)`` or ``(centre, width)``; of "quantiles" the ascending quantiles,
        two or more, and then as many numbers to which they are mapped, ascending as well.

    Raises
    ------
    SchemaError
        When the kind is unknown, or the parameters make no such map.

    References
    ----------
    .. [1] I.-K. Yeo and R. A. Johnson, "A new family of power transformations to improve normality or symmetry",
       Biometrika 87, 2000.
    .. [2] H. Liu, J. Lafferty and L. Wasserman, "The nonparanormal: semiparametric estimation of high dimensional
       undirected graphs", Journal of Machine Learning Research 10, 2009.

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
        values = tuple(float(check.number(value, "a scale's parameter")) for value in self.parameters)
        if self.kind == QUANTILES:
            _check_knots(values)
        else:
            _check_named(self.kind, values)
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

    def moments(self, means: Floats, sds: Floats) -> tuple[Floats, Floats]:
        """Return the means and standard deviations of numbers that are normal on the scale, shaped as `means`."""
        of = MAPS[self.kind].moments
        if of is not None:
            mean, variance = of(means, sds, *self.parameters)
            return mean, np.sqrt(variance)
        points, weights = np.polynomial.hermite_e.hermegauss(POINTS)
        pairs = list(zip(points.tolist(), (weights / weights.sum()).tolist(), strict=True))
        centres = np.zeros_like(means)
        for point, weight in pairs:
            centres += weight * self.inverse(means + point * sds)
        squares = np.zeros_like(means)
        with np.errstate(over="ignore", invalid="ignore"):  # wider than numbers reach
            for point, weight in pairs:
                squares += weight * (self.inverse(means + point * sds) - centres) ** 2
            return centres, np.sqrt(squares)

    @property
    def n_fitted(self) -> int:
        """How many of its parameters a column chose: of a logarithm without a shift, or with 1, the least number."""
        return 1 if self.kind == "log" and self.parameters[0] in (0, 1) else len(self.parameters)

    def __str__(self) -> str:
        text = MAPS[self.kind].text.format(*self.parameters, n=len(self.parameters) // 2)
        return text.replace("x + 0)", "x)")


def _check_named(kind: str, values: Sequence[float]) -> None:
    """Raise SchemaError where numbers are not the parameters that a map names."""
    names = MAPS[kind].parameters
    if len(values) != len(names) or not all(map(math.isfinite, values)):
        raise SchemaError(f"the scale {kind!r} has {listed(names)}, got {values}", parameter="scales")
    of = dict(zip(names, values, strict=True))
    if not (of.get("width", 1) > 0 and of.get("least", 1) > 0 and 0 <= of.get("power", 1) <= 2):
        wrong = "widths and least are positive, and a power is from 0 to 2"
        raise SchemaError(f"the scale {kind!r} cannot have {values}: {wrong}", parameter="scales")


def _check_knots(values: Sequence[float]) -> None:
    """Raise SchemaError where numbers are no knots of a monotone map."""
    fitting = len(values) >= 4 and len(values) % 2 == 0 and all(map(math.isfinite, values))
    if fitting:
        with np.errstate(all="ignore"):
            at, to, slopes = _knots(values)
        rises = np.concatenate([np.diff(at), np.diff(to), slopes])
        fitting = bool(((rises > 0) & (rises < math.inf)).all())
    if not fitting:
        told = "two quantiles or more, ascending, and as many numbers to which they are mapped, ascending"
        raise SchemaError(f"the scale {QUANTILES!r} has {told}; got {len(values)} numbers", parameter="scales")


def chosen_scale(column: Floats, kind: str = "auto") -> Scale | None:
    """Return the scale on which a column is most nearly normal; None for the numbers as they are.

    Each scale's likelihood of 2,000 quantiles, of the smallest and of the largest number stands for that of the column,
    and each parameter has BIC's price. A column with fewer than 20 distinct numbers stays as it is.

    Parameters
    ----------
    column : (n,) float64 array
        NaN where a number is missing.
    kind : str
        "auto", or the scale to be fitted: "log", "power", "arcsinh", "quantiles", or "identity". "auto" is none of
        quantiles, on which a column alone is always nearly normal.

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
    x = np.quantile(known_cells, (np.arange(min(n, MOST_LOOKED_AT)) + 0.5) / min(n, MOST_LOOKED_AT))
    if kind == "auto" and len(np.unique(x)) < FEWEST:
        return None
    shares = np.full(len(x), 1 / len(x))
    if n > len(x):  # a scale on which one number is very far out is a bad one
        x = np.concatenate([[known_cells.min()], x, [known_cells.max()]])
        shares = np.concatenate([[1 / n], shares * (1 - 2 / n), [1 / n]])
    price = 0.5 * math.log(n) / n  # likelihoods are means
    best, most = None, _mean_log_likelihood(x, np.zeros_like(x), shares) if kind == "auto" else -math.inf
    for scale in _candidates(x, kind):
        with np.errstate(over="ignore", invalid="ignore"):
            found = _mean_log_likelihood(scale.forward(x), scale.log_slope(x), shares) - scale.n_fitted * price
        if found > most:
            best, most = scale, found
    if best is None and kind != "auto":
        raise SchemaError(f"no scale {kind!r} fits these numbers; take another", parameter="scales")
    return best


def _mean_log_likelihood(y: Floats, log_slope: Floats, shares: Floats) -> float:
    """Return the mean log-density of numbers that are normal on a scale, per unit of the column, but for constants."""
    off = y - shares @ y
    variance = float(shares @ off**2)
    return -0.5 * math.log(variance) + float(shares @ log_slope) if variance > 0 else -math.inf


def candidate_scales(column: Floats, own: Scale | None) -> list[Scale]:
    """Return some scales that may suit a column, its own among them; none with fewer than 20 distinct numbers."""
    x = np.unique(column[np.isfinite(column)])
    if len(x) < FEWEST:
        return []
    known = np.sort(column[np.isfinite(column)])
    others = [*_candidates(known, "auto", FEW_POWERS), *_candidates(known, QUANTILES)]
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
    if kind == QUANTILES:
        values, times = np.unique(x, return_counts=True)
        for pieces, steps in ((PIECES[0], False), (PIECES[1], False), (PIECES[0], True)):
            found = _through_quantiles(values, times, pieces, steps=steps)
            if found is not None:
                yield found


def _through_quantiles(values: Floats, times: npt.NDArray[np.int64], pieces: int, *, steps: bool) -> Scale | None:
    """Return a scale of ascending numbers by pieces of equally many rows, and ever fewer at the ends; None without any.

    With `steps` there are knots at the cuts of the histogram of least description length, too, as about a gap between
    two humps. Knots lie between numbers, so that those that many rows have are not torn. The lines at the ends go on to
    half a step beyond the last number, and are as steep as is likeliest where the rows there are spread evenly.
    """
    from scipy.special import ndtri  # slow to import, and needed by few calls

    n = times.sum()
    shares = np.arange(1, pieces) / pieces
    half = 0.5 / pieces
    while half * n >= FEWEST_BELOW and half > RAREST:
        shares = np.concatenate([[half], shares, [1 - half]])
        half /= 2
    below = np.cumsum(times)[:-1] / n
    places = [int(np.argmin(np.abs(below - share))) for share in shares]
    if steps:
        ends = np.unique([*np.searchsorted(below, np.arange(1, CANDIDATES) / CANDIDATES), len(below)])
        counts = np.diff(np.cumsum(times)[ends], prepend=0).astype(np.float64)
        cuts = description_length_cuts(float(values[0]), values[ends], counts, 1, min(MOST_STEPS, len(ends)))
        places += np.searchsorted(values, cuts).tolist()
    places = sorted(set(places))
    gaps = np.diff(values)
    at, to = values[places] + gaps[places] / 2, ndtri(below[places])
    first, last = (to[0] - math.sqrt(9 * to[0] ** 2 + 48)) / 4, (to[-1] + math.sqrt(9 * to[-1] ** 2 + 48)) / 4
    knots = (values[0] - gaps[0] / 2, *at, values[-1] + gaps[-1] / 2, first, *to, last)
    try:
        return Scale(QUANTILES, tuple(map(float, knots)))
    except SchemaError:  # numbers so near to each other that lines between them rise without end
        return None


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

    It has three tenths of the known rows at least, and three times as many as either of its neighbours.
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
