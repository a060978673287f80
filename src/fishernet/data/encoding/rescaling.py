"""Columns of numbers as tables hold them: the scales that some get, and numbers drawn for those that were cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError
from fishernet.base.names import positions
from fishernet.data.encoding.scales import Scale, chosen_scale, rounding_unit
from fishernet.data.variable import Column, Continuous

Scales = str | Mapping[str, str | Scale | None]


def on_scales(variables: Sequence[Column], columns: Sequence[npt.NDArray[Any]], scales: Scales) -> list[Column]:
    """Return the variables of columns with the scales that are asked for; see `Table.rescale`."""
    every = {v.name: scales for v in variables if v.is_continuous} if isinstance(scales, str) else scales
    at = positions([variable.name for variable in variables], every, "column")
    found = list(variables)
    for place, asked in zip(at, every.values(), strict=True):
        variable = found[place]
        if not variable.is_continuous:
            raise SchemaError(f"{variable.name!r} has states; scales are of numbers", parameter="scales")
        scale = chosen_scale(columns[place], asked) if isinstance(asked, str) else asked
        found[place] = replace(variable, scale=scale, resolution=rounding_unit(columns[place]))
    return found


def drawn_numbers(
    variables: Sequence[Column], columns: Sequence[npt.NDArray[Any]], random: np.random.Generator
) -> tuple[list[Column], list[npt.NDArray[Any]]]:
    """Return columns with a number for every cell of those that were cut into bins; see `Table.to_numbers`."""
    of, numbers = list(variables), list(columns)
    for place, variable in enumerate(variables):
        if not variable.is_continuous and variable.cuts is not None:
            of[place] = Continuous(variable.name, variable.unit)
            numbers[place] = variable.numbers(columns[place], random.random(len(columns[place])))
    return of, numbers
