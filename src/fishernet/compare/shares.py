"""What variables and configurations add to a statistic that is a sum over them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base.display import Framed
from fishernet.base.errors import FishernetError
from fishernet.base.names import cut
from fishernet.base.vocabulary import word
from fishernet.data import State
from fishernet.kernels.parts import FeatureParts
from fishernet.models.conditionals.base import shown_states

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Share:
    """What one variable adds to a statistic, or one configuration of its parents."""

    variable: str
    """The variable whose conditional is looked at."""
    configuration: Mapping[str, State]
    """The states of its parents; empty for the variable as a whole, and where it has none."""
    statistic: float
    """What it adds."""
    share: float
    """That divided by the whole statistic; 0 where this is 0."""
    p_value: float
    """Of this one alone."""
    p_corrected: float
    """Corrected for all of them: the chance that any is false is at most the level."""
    p_fdr: float
    """Corrected by Benjamini and Hochberg (1995): the expected share of false ones is at most the level."""


class InShares(Framed):
    """A result whose statistic is a sum over variables and configurations."""

    __slots__ = ()

    by_variable: Mapping[str, Share]
    by_configuration: tuple[Share, ...]

    def _found(self, level: float) -> tuple[str, ...]:
        """Return the variables whose family-wise p-value is at most a level, those that add most first."""
        found = [share for share in self.by_variable.values() if share.p_corrected <= level]
        return tuple(share.variable for share in sorted(found, key=lambda share: -share.statistic))

    def to_frame(self, by: Literal["variable", "configuration"] = "variable") -> pa.Table:
        """Return what each variable, or each configuration, adds: one row each."""
        named = word(by, "by", ("variable", "configuration"), error=FishernetError)
        return shares_frame(self.by_configuration if named == "configuration" else self.by_variable.values())


def first_names(names: Collection[str], most: int = 8) -> str:
    """Return names as a repr shows them: the first few, and long ones cut."""
    return ", ".join([*(cut(name, 40) for name in list(names)[:most]), *(["..."] if len(names) > most else [])])


def shares_of_variables(
    parts: FeatureParts, statistics: Array, alone: Array, any_false: Array, false_share: Array
) -> Mapping[str, Share]:
    """Return what each variable adds."""
    whole = float(statistics.sum())
    return {
        name: Share(
            name,
            {},
            float(statistics[v]),
            float(statistics[v]) / whole if whole > 0 else 0.0,
            float(alone[v]),
            float(any_false[v]),
            float(false_share[v]),
        )
        for v, name in enumerate(parts.names)
    }


def shares_of_configurations(
    parts: FeatureParts, statistics: Array, alone: Array, any_false: Array, false_share: Array
) -> tuple[Share, ...]:
    """Return what each configuration adds that is above 0, the largest first."""
    whole = float(statistics.sum())
    order = np.argsort(-statistics, kind="stable")
    return tuple(
        Share(
            parts.names[parts.variable_of_group[g]],
            parts.describe(int(g)),
            float(statistics[g]),
            float(statistics[g]) / whole,
            float(alone[g]),
            float(any_false[g]),
            float(false_share[g]),
        )
        for g in order[: int(np.count_nonzero(statistics > 0))]
    )


def shares_frame(shares: Iterable[Share]) -> pa.Table:
    """Return shares as a frame, one row each; a configuration is text."""
    rows = list(shares)
    columns: dict[str, list[object]] = {"variable": [row.variable for row in rows]}
    if any(row.configuration for row in rows):
        columns["configuration"] = [shown_states(dict(row.configuration)) for row in rows]
    for name in ("statistic", "share", "p_value", "p_corrected", "p_fdr"):
        columns[name] = [getattr(row, name) for row in rows]
    return pa.table(columns)
