"""Whether other shares of cells are missing in one table than in another: a finding of its own, apart from values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fishernet.base.names import cut
from fishernet.compare.corrections import holm
from fishernet.data import Source
from fishernet.data.pooling import missing_counts


@dataclass(frozen=True, slots=True, repr=False)
class MissingChange:
    """How the share of missing cells of a column changed."""

    variable: str
    """Its name."""
    before: float
    """The share of rows that lacked it before, from 0 to 1."""
    after: float
    """That of the later rows."""
    p_corrected: float
    """Of Fisher's exact test that the shares are the same, corrected for all columns (Holm, 1979)."""

    def __repr__(self) -> str:
        shares = f"{100 * self.before:.3g} % -> {100 * self.after:.3g} %"
        return f"MissingChange({cut(self.variable, 80)}: {shares}, p = {self.p_corrected:.3g})"


def missing_changes(before: Source, after: Source, level: float) -> tuple[MissingChange, ...]:
    """Return the columns whose share of missing cells changed, those that changed most first."""
    sizes = round(before.total), round(after.total)
    lacking = [missing_counts(source) for source in (before, after)]
    counts = [(lacking[0].get(name, 0), lacking[1].get(name, 0)) for name in before.names]
    corrected = holm(np.array([_p_value(pair, sizes) for pair in counts]))
    found = [
        MissingChange(name, pair[0] / sizes[0], pair[1] / sizes[1], float(p))
        for name, pair, p in zip(before.names, counts, corrected, strict=True)
        if p <= level
    ]
    return tuple(sorted(found, key=lambda change: (-abs(change.after - change.before), change.variable)))


def _p_value(missing: tuple[int, int], sizes: tuple[int, int]) -> float:
    """Return the p-value of Fisher's exact test, with both tails doubled."""
    if sum(missing) in (0, sum(sizes)):
        return 1.0
    from scipy.stats import hypergeom  # slow to import, and needed by few calls

    chance = hypergeom(sum(sizes), sum(missing), sizes[0])
    return float(min(1.0, 2 * min(chance.cdf(missing[0]), chance.sf(missing[0] - 1))))
