"""How a number is spread among later rows, beside how it would be if its regression had not changed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fishernet.base.names import cut, shown
from fishernet.data import Column, State, Variable
from fishernet.data.arrays import Codes
from fishernet.data.encoding.dates import Unit, date_texts

Array = npt.NDArray[np.float64]

QUANTILES = (0.1, 0.5, 0.9)
VARIANCE = 1e-12  # of residuals, at least


@dataclass(frozen=True, slots=True, repr=False)
class NumberChange:
    """What a changed conditional of a number makes of it, in the column's own unit."""

    variable: str
    """Its name."""
    before: tuple[float, float, float]
    """Below what 10, 50 and 90 % of the later rows would be by the earlier regression, given their own parents."""
    after: tuple[float, float, float]
    """Below what they are."""
    unit: Unit | None = None
    """Of a column of dates or times: what it counts since 1970, or midnight."""
    given: tuple[str, State] | None = None
    """A label among the parents and its state, where it is told of the rows with that alone."""
    most: NumberChange | None = None
    """The same of the rows of one state of a label among the parents: that of which most of the change comes."""

    def told(self) -> list[NumberChange]:
        """Return the change, and the same under the label of which most of it comes, where there is one."""
        return [self] if self.most is None else [self, self.most]

    def texts(self, written: Callable[[float], str]) -> tuple[list[str], list[str]]:
        """Return both sides as text: as dates of a column of dates, else as numbers are to be written."""
        before, after = (
            list(map(written, side)) if self.unit is None else date_texts(np.rint(side).tolist(), self.unit)
            for side in (self.before, self.after)
        )
        return before, after

    def __repr__(self) -> str:
        was, now = (" | ".join(side) for side in self.texts("{:.4g}".format))
        where = "" if self.given is None else f" given {cut(self.given[0], 80)} = {shown(self.given[1])}"
        return f"NumberChange({cut(self.variable, 80)}{where}: {was} -> {now})"


def spread_of(
    variable: Column, expected: Array, residuals: Array, after: Array, labels: Sequence[tuple[Variable, Codes]] = ()
) -> NumberChange:
    """Return the change of a number.

    Parameters
    ----------
    variable : Continuous
    expected : (n,)
        What the earlier regression expects of the later rows.
    residuals : (m,)
        What it leaves of the earlier rows.
    after : (n,)
        The later rows; all on the scale of the variable.
    labels : sequence of Variable and (n,) codes
        Its parents with labels.
    """
    found = _spread(variable, expected, residuals, after)
    apart = (after - expected) / max(float(residuals.std()), np.finfo(float).tiny)
    groups = [
        (label, state, codes == code)
        for label, codes in labels
        for code, state in enumerate(label.states)
        if 0 < np.count_nonzero(codes == code) < len(codes)
    ]
    if not groups:
        return found
    label, state, rows = max(groups, key=lambda group: _nats(apart[group[2]]))
    most = _spread(variable, expected[rows], residuals, after[rows])
    return replace(found, most=replace(most, given=(label.name, state)))


def _nats(apart: Array) -> float:
    """Return by how many nats standardized residuals are another normal distribution, times how many they are."""
    variance = max(float(apart.var()), VARIANCE)
    return len(apart) * (float(apart.mean()) ** 2 + variance - 1 - math.log(variance)) / 2


def _spread(variable: Column, expected: Array, residuals: Array, after: Array) -> NumberChange:
    drawn = np.quantile(residuals, (np.arange(len(expected)) + 0.5) / len(expected))
    mixed = expected + np.random.default_rng(0).permutation(drawn)  # what is left does not depend on what is expected
    (a, b, c), (x, y, z) = (np.quantile(variable.unscaled(side), QUANTILES).tolist() for side in (mixed, after))
    return NumberChange(variable.name, (a, b, c), (x, y, z), variable.unit)
