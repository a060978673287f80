"""How a number is spread among later rows, beside how it would be if its regression had not changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fishernet.base.names import cut
from fishernet.data import Column
from fishernet.data.encoding.dates import Unit, date_texts

Array = npt.NDArray[np.float64]

QUANTILES = (0.1, 0.5, 0.9)


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

    def texts(self, written: Callable[[float], str]) -> tuple[list[str], list[str]]:
        """Return both sides as text: as dates of a column of dates, else as numbers are to be written."""
        before, after = (
            list(map(written, side)) if self.unit is None else date_texts(np.rint(side).tolist(), self.unit)
            for side in (self.before, self.after)
        )
        return before, after

    def __repr__(self) -> str:
        was, now = (" | ".join(side) for side in self.texts("{:.4g}".format))
        return f"NumberChange({cut(self.variable, 80)}: {was} -> {now})"


def spread_of(variable: Column, expected: Array, residuals: Array, after: Array) -> NumberChange:
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
    """
    drawn = np.quantile(residuals, (np.arange(len(expected)) + 0.5) / len(expected))
    mixed = expected + np.random.default_rng(0).permutation(drawn)  # what is left does not depend on what is expected
    (a, b, c), (x, y, z) = (np.quantile(variable.unscaled(side), QUANTILES).tolist() for side in (mixed, after))
    return NumberChange(variable.name, (a, b, c), (x, y, z), variable.unit)
