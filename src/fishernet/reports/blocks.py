"""The numbers of a network as a page holds them: in blocks, each with the labels on which it depends.

Numbers that arcs join, directly or through other numbers, are a *block*, and all labels that are parents of one of
them its *scope*. Given the labels of its scope a block is jointly normal and independent of everything else.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.data.encoding.scales import POINTS

Fields = dict[str, Any]


@dataclass(frozen=True)
class Block:
    """Numbers that arcs join."""

    numbers: tuple[int, ...]
    """Their positions, parents before their children."""
    regressions: tuple[Any, ...]
    """Their conditionals, in that order."""
    scope: tuple[int, ...]
    """The positions of the labels on which they depend, ascending."""
    shape: tuple[int, ...]
    """How many states these have."""

    @property
    def n_parameters(self) -> int:
        """How many numbers its regressions have."""
        return sum(c.n_parameters for c in self.regressions)

    @property
    def configurations(self) -> int:
        """How many joint states the labels of the scope have."""
        return math.prod(self.shape)

    @property
    def components(self) -> int:
        """How many normal distributions its numbers may have, all of them together."""
        return self.configurations * len(self.numbers)

    @property
    def work(self) -> int:
        """How much there is to do for a question, in multiplications about."""
        return self.configurations * (len(self.numbers) + 1) ** 3

    def fields(self, home: int) -> Fields:
        """Return what is written into the page as JSON; home is a clique that holds the scope, -1 for none."""
        return {"scope": self.scope, "home": home, "numbers": [_regression(c) for c in self.regressions]}


def _regression(of: Any) -> Fields:
    """Return a regression: in every configuration of the labels the intercept, the coefficients and the sd."""
    intercept, coefficients, sd = of.by_group()
    table = np.concatenate([intercept[:, None], coefficients, sd[:, None]], axis=1)
    return {"v": of.child, "labels": of.label_parents, "parents": of.number_parents, "table": base64_of(table)}


def blocks_of(model: Any) -> Iterator[Block]:
    """Yield the blocks of a network."""
    for members in _joined(model):
        numbers = tuple(v for v in model.dag.order if v in members)
        regressions = tuple(model.conditionals[v] for v in numbers)
        scope = tuple(sorted({label for c in regressions for label in c.label_parents}))
        yield Block(numbers, regressions, scope, tuple(model.variables[v].cardinality for v in scope))


def _joined(model: Any) -> list[set[int]]:
    """Return the sets of numbers that arcs join."""
    found: list[set[int]] = []
    for v in model.dag.order:
        if model.variables[v].is_continuous:
            around = {v, *model.conditionals[v].number_parents}
            touched = [members for members in found if members & around]
            found = [members for members in found if not members & around] + [around.union(*touched)]
    return found


def fields_of_numbers(variables: Sequence[Any]) -> Fields:
    """Return the scales and the units of variables, and the rule by which means are taken on scales."""
    points, weights = np.polynomial.hermite_e.hermegauss(POINTS)
    return {
        "scales": [None if v.scale is None else (v.scale.kind, *v.scale.parameters) for v in variables],
        "resolutions": [v.resolution for v in variables],
        "units": [v.unit for v in variables],
        "hermite": {"points": base64_of(points), "weights": base64_of(weights / weights.sum())},
    }


def base64_of(numbers: npt.NDArray[np.float64]) -> str:
    """Return numbers as text, eight bytes each, so that the page has all their digits."""
    return base64.b64encode(np.ascontiguousarray(numbers, dtype="<f8").tobytes()).decode("ascii")
