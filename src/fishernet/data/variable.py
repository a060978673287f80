"""A categorical variable: a name and the states it can take.

A *state* is a label: a string, a number or a truth value. Its *code* is its position among the variable's states,
counted from 0. The code of a missing cell is the number of states, so a column needs no mask beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError, UnknownStateError
from fishernet.base.names import listed

State = str | int | float | bool

MISSING = "missing"  # the state for missing cells, with as many underscores behind it as make it unique


def _plain(state: Any, name: str) -> State:
    """Return the label as a plain Python value (NumPy's scalars and members of an enum lose their wrapping)."""
    value = state.item() if isinstance(state, np.generic) else state
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if not isinstance(value, float):
        raise SchemaError(
            f"variable {name!r}: a state must be a str, int, float or bool, not {type(state).__name__} ({state!r})"
        )
    if not math.isfinite(value):
        raise SchemaError(f"variable {name!r}: {value!r} cannot be a state; missing cells are no state of their own")
    return float(value)


@dataclass(frozen=True, slots=True)
class Variable:
    """A categorical variable.

    Parameters
    ----------
    name : str
        Its name, as in the table's header.
    states : sequence of str, int, float or bool
        Its labels, each once, in the order of their codes. States that never occur in a table stay.
    cuts : sequence of float, optional
        For a numeric column that was cut into bins: the ascending inner borders, one fewer than there are bins. Bin k
        holds ``cuts[k - 1] < x <= cuts[k]``. Every state is a bin, but for a last one that stands for missing cells
        (`missing_state`).

    Raises
    ------
    SchemaError
        When there is no state, a state appears twice (``1``, ``1.0`` and ``True`` are the same), has another type, or
        the cuts do not fit.

    Examples
    --------
    >>> import fishernet as fn
    >>> smoke = fn.Variable("smoke", ["yes", "no"])
    >>> smoke.cardinality
    2
    >>> smoke.code("no")
    1
    """

    name: str
    states: tuple[State, ...]
    cuts: tuple[float, ...] | None = None
    _codes: dict[State, int] = field(init=False, repr=False, compare=False, hash=False)

    def __init__(self, name: str, states: Iterable[State], cuts: Iterable[float] | None = None) -> None:
        if not isinstance(name, str):
            raise SchemaError(f"a variable's name must be a str, not {type(name).__name__} ({name!r})")
        if isinstance(states, str):
            raise SchemaError(f"variable {name!r}: states must be a sequence of labels, not one str ({states!r})")
        labels = tuple(_plain(state, name) for state in states)
        if not labels:
            raise SchemaError(f"variable {name!r} has no states; it needs at least one")
        codes = {label: code for code, label in enumerate(labels)}
        if len(codes) < len(labels):
            twice = next(label for code, label in enumerate(labels) if codes[label] != code)
            raise SchemaError(f"variable {name!r}: the state {twice!r} appears more than once")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "states", labels)
        object.__setattr__(self, "cuts", None if cuts is None else _checked_cuts(name, cuts, labels))
        object.__setattr__(self, "_codes", codes)

    @property
    def cardinality(self) -> int:
        """The number of states; also the code of a missing cell."""
        return len(self.states)

    @property
    def missing_state(self) -> str | None:
        """The state that stands for missing cells (``missing="state"``), None where the variable has none.

        It is ``"missing"``, or the one with most underscores where there are also ``"missing_"`` and so on.
        """
        if self.cuts is not None and len(self.states) == len(self.cuts) + 1:
            return None
        return max(_missing_states(self.states), key=len, default=None)

    def code(self, state: State) -> int | None:
        """Return the code of a state, None where the variable does not have it."""
        return self._codes.get(state)

    def bin(self, values: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the codes of numbers, by the cut points; NaN gives the code of a missing cell.

        Parameters
        ----------
        values : (n,) array of float

        Raises
        ------
        SchemaError
            When the variable has no cut points.
        """
        if self.cuts is None:
            raise SchemaError(f"variable {self.name!r} has no cut points; it is not a numeric column cut into bins")
        numbers = np.asarray(values, dtype=np.float64)
        codes = np.searchsorted(np.asarray(self.cuts), numbers, side="left").astype(np.int64)
        codes[np.isnan(numbers)] = self.cardinality
        return codes

    def __reduce__(self) -> tuple[type[Variable], tuple[Any, ...]]:
        return Variable, (self.name, self.states, self.cuts)


def _checked_cuts(name: str, cuts: Iterable[float], states: tuple[State, ...]) -> tuple[float, ...]:
    borders = tuple(float(cut) for cut in cuts)
    n_bins = len(states) - (len(borders) == len(states) - 2 and bool(_missing_states(states[-1:])))
    if len(borders) != n_bins - 1:
        raise SchemaError(f"variable {name!r}: {n_bins} bins need {n_bins - 1} cuts, got {len(borders)}")
    if any(not a < b for a, b in pairwise(borders)) or not all(map(math.isfinite, borders)):
        raise SchemaError(f"variable {name!r}: cuts must be finite and ascending, got {list(borders)}")
    return borders


def _missing_states(states: Iterable[State]) -> list[str]:
    return [state for state in states if isinstance(state, str) and state.rstrip("_") == MISSING]


def fresh_missing_state(states: Iterable[State]) -> str:
    """Return a label for missing cells that is not among the states, and that `Variable.missing_state` finds."""
    taken = _missing_states(states)
    return max(taken, key=len) + "_" if taken else MISSING


def code_dtype(cardinality: int) -> np.dtype[Any]:
    """Return the smallest unsigned type that holds every code and the missing cell's."""
    return np.dtype(np.min_scalar_type(cardinality))


def code_of(variable: Variable, state: object) -> int:
    """Return the code of a state.

    Raises
    ------
    UnknownStateError
        When the variable does not have it.
    """
    try:
        code = variable.code(cast(State, state))
    except TypeError:  # not hashable, so no state
        code = None
    if code is None:
        raise UnknownStateError(
            f"variable {variable.name!r} has no state {state!r}; it has {listed(variable.states)}",
            variable=variable.name,
            label=state,
        )
    return code
