"""Fitting the conditionals of a network to the statistics of their families."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from fishernet.data import Source, Statistic
from fishernet.data.variable import Column
from fishernet.models import ConditionalGaussian, FullTable
from fishernet.models.conditionals import Conditional
from fishernet.models.conditionals.base import check_cells
from fishernet.scores.mixed import label_below_numbers


class Fit(Protocol):
    """Who makes a conditional of counts: a `FullTable`, or what lets configurations share rows."""

    def fit(
        self,
        statistic: Statistic,
        family: Sequence[int],
        variables: Sequence[Any],
        *,
        smoothing: float | str,
        ess: float | None,
        positions: Sequence[int] | None,
    ) -> Conditional:
        """Return the conditional of the last of a family, given the others; see `FullTable.fit`."""


def fit_conditionals(
    source: Source,
    families: Sequence[tuple[int, ...]],
    places: Sequence[tuple[int, ...]] | None = None,
    *,
    kind: Fit | None = None,
    every: Sequence[Column] | None = None,
    statistics: Sequence[Statistic] | None = None,
    **how: Any,
) -> list[Conditional]:
    """Fit the conditional of the last of each family's positions, given the others in their order.

    `places` are the families' positions in the network, where they are others; `how` is smoothing and ess, for counts,
    and random, which draws conditionals from their posterior distributions. Counts make full tables, or what `kind`
    makes of them. `every` are the variables where they say more than the source's do, as units of dates; `statistics`
    are the families', where they were asked already.
    """
    every = source.variables if every is None else every
    of = [[every[v] for v in family] for family in families]
    for *above, child in of:
        numbers = [variable.name for variable in above if variable.is_continuous]
        if numbers and not child.is_continuous:
            raise label_below_numbers(child.name, numbers)
    if kind is None:
        for variables in of:
            check_cells(variables, f"the conditional of {variables[-1].name!r}")
    if statistics is None:
        statistics = source.statistics([tuple(sorted(family)) for family in families])
    kinds: Any = {True: ConditionalGaussian, False: kind or FullTable}
    return [
        kinds[variables[-1].is_continuous].fit(found, family, variables, positions=at, **how)
        for found, family, variables, at in zip(statistics, families, of, places or families, strict=True)
    ]
