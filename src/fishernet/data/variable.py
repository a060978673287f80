"""What a column is: a categorical variable with its states, or a continuous one.

A *state* is a label: a string, a number or a truth value. Its *code* is its position among the variable's states,
counted from 0. The code of a missing cell is the number of states, so a column needs no mask beside it; in a
continuous column, whose cells are float64, a missing cell is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, Literal, cast

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.display import Brief, page, table_html
from fishernet.base.errors import SchemaError
from fishernet.base.names import check_names, listed, several, shown
from fishernet.data.encoding.dates import Unit, as_dates, date_texts
from fishernet.data.encoding.orders import own_order
from fishernet.data.encoding.scales import Scale

State = str | int | float | bool
Limits = tuple[float | None, float | None]  # of numbers; None is no limit

Bounds = tuple[int, int] | tuple[float, float]

MOST_ROWS = 2**36  # of a column that is made at once
NARROW = 1e-6  # of an interval beside its middle, below which a difference has too few digits
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
            f"variable {name!r}: a state must be a str, int, float or bool, not {type(state).__name__} ({shown(state)})"
        )
    if not math.isfinite(value):
        raise SchemaError(f"variable {name!r}: {value!r} cannot be a state; missing cells are no state of their own")
    return float(value)


def label_array(labels: Sequence[State]) -> npt.NDArray[Any]:
    """Return labels as an array: of numbers or truth values where all are of that type, else of objects."""
    kinds = set(map(type, labels))
    if kinds == {int} and min(labels) >= -(2**63) and max(labels) < 2**63:  # type: ignore[operator]
        return np.array(labels, dtype=np.int64)
    if kinds in ({float}, {bool}):
        return np.array(labels)
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


@dataclass(frozen=True, slots=True, repr=False)
class Variable(Brief):
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
    bounds : (number, number), optional
        The least and the largest number of the column that was cut; both int where it held whole numbers only. Two
        variables that differ in them alone are equal.
    unit : {"days", "seconds", "time"}, optional
        Of a column of dates or times that was cut: what its numbers count. It does not tell variables apart either.
    hidden : bool, optional
        Whether nobody observes it, as the class of a mixture: data that lack its column are data in which it is missing
        in every row. It does not tell variables apart either.

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
    bounds: Bounds | None = field(default=None, repr=False, compare=False)
    unit: Unit | None = field(default=None, repr=False, compare=False)
    hidden: bool = field(default=False, repr=False, compare=False)
    cardinality: int = field(init=False, repr=False, compare=False)
    """The number of states; also the code of a missing cell."""
    dtype: np.dtype[Any] = field(init=False, repr=False, compare=False)
    """The type in which a table stores a column: the smallest unsigned one that holds its codes."""
    _codes: dict[State, int] = field(init=False, repr=False, compare=False)

    is_continuous: ClassVar[Literal[False]] = False
    """Whether cells are numbers, not states."""
    scale: ClassVar[None] = None
    """None: scales are of numbers."""
    resolution: ClassVar[None] = None
    """None: labels are not rounded."""

    def __init__(
        self,
        name: str,
        states: Iterable[State],
        cuts: Iterable[float] | None = None,
        bounds: Iterable[float] | None = None,
        unit: Unit | None = None,
        hidden: bool = False,
    ) -> None:
        _check_name(name)
        if isinstance(states, str):
            raise SchemaError(f"variable {name!r}: states must be a sequence of labels, not one str ({states!r})")
        given = states if isinstance(states, list | tuple) else check.items(states, "states", "labels")
        labels = tuple([_plain(state, name) for state in given])
        if not labels:
            raise SchemaError(f"variable {name!r} has no states; it needs at least one")
        codes = {label: code for code, label in enumerate(labels)}
        if len(codes) < len(labels):
            twice = next(label for code, label in enumerate(labels) if codes[label] != code)
            raise SchemaError(f"variable {name!r}: the state {twice!r} appears more than once")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "states", labels)
        object.__setattr__(self, "cuts", None if cuts is None else _checked_cuts(name, cuts, labels))
        object.__setattr__(self, "bounds", None if bounds is None else _checked_bounds(name, bounds, self.cuts))
        object.__setattr__(self, "unit", _checked_unit(name, unit))
        object.__setattr__(self, "hidden", check.flag(hidden, "hidden"))
        object.__setattr__(self, "cardinality", len(labels))
        object.__setattr__(self, "dtype", code_dtype(len(labels)))
        object.__setattr__(self, "_codes", codes)

    def scaled(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return codes as conditionals take them, (n_rows,): as they are."""
        return column

    def unscaled(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return codes as a table holds them, (n_rows,): as they are."""
        return column

    def log_unit(self, column: npt.NDArray[Any]) -> float:  # noqa: ARG002
        """Return 0: a probability is one per state."""
        return 0.0

    def rounded_from(self, column: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """Return codes, and widths of 0: labels are not rounded."""
        return column, np.zeros(len(column))

    def log_slope(self, column: npt.NDArray[Any]) -> float:  # noqa: ARG002
        """Return 0: states have probabilities, not densities."""
        return 0.0

    def missing(self, column: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return which cells of a column of codes are missing, (n_rows,)."""
        absent: npt.NDArray[np.bool_] = column == len(self.states)
        return absent

    def missing_column(self, n_rows: int) -> npt.NDArray[Any]:
        """Return a column in which every cell is missing, (n_rows,)."""
        return np.full(check.integer(n_rows, "n_rows", least=0, most=MOST_ROWS), self.cardinality, dtype=self.dtype)

    def any_missing(self, column: npt.NDArray[Any]) -> bool:
        """Return whether a cell of a column of codes is missing."""
        return bool(column.size) and int(column.max()) == len(self.states)

    def check(self, column: npt.NDArray[Any]) -> None:
        """Raise SchemaError, naming the first row, when a code is neither a state's nor that of a missing cell."""
        if column.size and (column.min() < 0 or column.max() > self.cardinality):
            row = int(np.flatnonzero((column < 0) | (column > self.cardinality))[0])
            raise SchemaError(
                f"column {self.name!r}, row {row}: the code {column[row]} is not from 0 to {self.cardinality - 1} "
                f"({self.cardinality} would mean missing)"
            )

    def as_codes(self, column: npt.NDArray[Any]) -> npt.NDArray[np.unsignedinteger[Any]]:
        """Return a column as the core counts it: the codes as they are."""
        return column

    def labels(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the labels of a column of codes, (n_rows,); None, in an array of objects, where a cell is missing."""
        states = label_array(self.states)
        if self.any_missing(column):
            states = np.append(states.astype(object), [None])
        found: npt.NDArray[Any] = states[column]
        return found

    @property
    def missing_state(self) -> str | None:
        """The state that stands for missing cells (``missing="state"``), None where the variable has none.

        It is ``"missing"``, or the one with most underscores where there are also ``"missing_"`` and so on.
        """
        if self.cuts is not None and len(self.states) == len(self.cuts) + 1:
            return None
        return max(_missing_states(self.states), key=len, default=None)

    @property
    def are_numbers(self) -> bool:
        """Whether the states are numbers, but for that of missing cells."""
        states = [state for state in self.states if state != self.missing_state]
        return self.cuts is None and all(isinstance(s, int | float) and not isinstance(s, bool) for s in states)

    @property
    def is_ordered(self) -> bool:
        """Whether the states go from low to high: bins, numbers, or words of a scale, as "low", "medium", "high"."""
        if self.cuts is not None:
            return True
        states = [state for state in self.states if state != self.missing_state]
        words = [state for state in states if isinstance(state, str)]
        if words:
            return len(words) == len(states) and own_order(words) == words
        return all(a < b for a, b in pairwise(cast(list[float], states)))

    def code(self, state: State) -> int | None:
        """Return the code of a state, None where the variable does not have it."""
        try:
            return self._codes.get(state)
        except TypeError:  # a list, say, is no label
            return None

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

    def bin_limits(self) -> npt.NDArray[np.float64]:
        """Return where each bin begins and ends, (number of bins, 2), as far as numbers were seen in it (`bounds`).

        Without bounds, or where no number was seen in an outer bin, it is as wide as the bin beside it; with a single
        cut as the bounds go beyond it on the other side, or else 1.
        """
        if self.cuts is None:
            raise SchemaError(f"variable {self.name!r} has no cut points; it is not a numeric column cut into bins")
        low, high = self.bounds or (-math.inf, math.inf)
        borders = np.array([-math.inf, *self.cuts, math.inf])
        begin, end = borders[:-1], borders[1:]
        seen = (end >= low) & (begin < high)
        begin, end = np.where(seen, np.maximum(begin, low), begin), np.where(seen, np.minimum(end, high), end)
        first, last = (self.cuts[0], self.cuts[-1]) if self.cuts else (1.0, 0.0)
        inner = np.diff(self.cuts) if len(self.cuts) > 1 else np.array([high - first, last - low])
        begin[0] = begin[0] if math.isfinite(begin[0]) else first - _width(inner[0])
        end[-1] = end[-1] if math.isfinite(end[-1]) else last + _width(inner[-1])
        return np.column_stack([begin, end])

    def numbers(
        self, codes: npt.NDArray[Any], shares: npt.NDArray[np.float64], within: Limits | None = None
    ) -> npt.NDArray[np.float64]:
        """Return a number in each bin, NaN for a missing cell, (n_rows,).

        Parameters
        ----------
        codes : (n_rows,) array of codes
        shares : (n_rows,) float64 array
            How far below the end of its bin each number is: from 0 up to, but not, 1.
        within : (low, high), optional
            Limits of the numbers, None for none, for bins that have some within.

        Raises
        ------
        SchemaError
            When the variable has no cut points.
        """
        limits = self.bin_limits()
        if within is not None:
            limits = np.clip(limits, *within)
        known = codes < len(limits)  # others are missing, or the state for that
        places = np.where(known, codes, 0).astype(np.int64)
        low, high = limits[places].T
        begins = np.where(places == 0, low, np.nextafter(low, high))  # the first bin alone holds where it begins
        drawn = np.maximum(high - shares * (high - low), begins)
        if self.bounds is not None and isinstance(self.bounds[0], int):
            first, last = np.ceil(begins), np.floor(high)
            drawn = np.where(last >= first, first + np.floor(shares * (last - first + 1)), drawn)
        return np.where(known, drawn, np.nan)

    def _repr_html_(self) -> str:
        return page(
            f"{self.name}: {several(len(self.states), 'state')}",
            table_html(("state",), ((state,) for state in self.states), len(self.states)),
        )

    def __reduce__(self) -> tuple[type[Variable], tuple[Any, ...]]:
        return Variable, (self.name, self.states, self.cuts, self.bounds, self.unit, self.hidden)


@dataclass(frozen=True, slots=True)
class Continuous:
    """A column of numbers.

    A cell is a float64; a missing one is NaN.

    Parameters
    ----------
    name : str
        Its name, as in the table's header.
    unit : {"days", "seconds", "time"}, optional
        Of a column of dates or times: what its numbers count, from the beginning of 1970 on; of times of the day
        ("time"), the seconds since midnight.
    scale : Scale, optional
        A monotone map on which regressions of the column are (`Table.rescale` chooses some); what is given, answered,
        drawn and written stays in the column's own unit, and densities are per unit.
    resolution : float, optional
        The unit to which the numbers were rounded: no regression has less variance than that leaves, and a number is
        as probable as the interval of this width around it.

    Raises
    ------
    SchemaError
        When the name is no str, the unit is another, or the resolution is not positive.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.Table.from_frame({"height": [1.62, 1.80, 1.71], "smoke": ["yes", "no", "no"]})
    >>> table.variables
    (Continuous(name='height'), Variable(name='smoke', states=('no', 'yes')))
    """

    name: str
    unit: Unit | None = field(default=None, repr=False)
    scale: Scale | None = field(default=None, repr=False)
    resolution: float | None = field(default=None, repr=False)

    is_continuous: ClassVar[Literal[True]] = True
    """Whether cells are numbers, not states."""
    is_ordered: ClassVar[Literal[True]] = True
    """Whether cells come in an order that says something."""
    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.float64)
    """The type in which a table stores a column."""
    states: ClassVar[tuple[State, ...]] = ()
    """None: numbers are no states."""
    cuts: ClassVar[tuple[float, ...] | None] = None
    """None: it is not cut into bins."""
    hidden: ClassVar[Literal[False]] = False
    """False: a hidden variable has states."""
    cardinality: ClassVar[int] = 1
    """1: the number of cells that it adds to a joint table."""
    missing_state: ClassVar[None] = None
    """None: no state stands for missing cells."""

    def __post_init__(self) -> None:
        _check_name(self.name)
        _checked_unit(self.name, self.unit)
        if self.resolution is not None and not 0 < check.number(self.resolution, "resolution") < math.inf:
            raise SchemaError(f"the resolution of {self.name!r} must be positive, got {self.resolution:g}")

    def least_variance(self, mean: float) -> float:
        """Return the variance that rounding leaves about a mean, both on the scale; 0 without a resolution."""
        if self.resolution is None:
            return 0.0
        slope = np.exp(self.log_slope(self.unscaled(np.array([mean]))))
        return float(np.ravel((self.resolution * slope) ** 2 / 12)[0])

    def scaled(self, column: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return numbers as regressions take them, (n_rows,): on the scale, where there is one."""
        return column if self.scale is None else self.scale.forward(column)

    def unscaled(self, column: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the numbers that regressions speak of, in the column's unit, (n_rows,)."""
        return column if self.scale is None else self.scale.inverse(column)

    def log_slope(self, column: npt.NDArray[Any]) -> npt.NDArray[np.float64] | float:
        """Return what makes a log-density on the scale one per unit of the column, (n_rows,), or 0 without a scale."""
        return 0.0 if self.scale is None else self.scale.log_slope(column)

    def log_unit(self, column: npt.NDArray[Any]) -> npt.NDArray[np.float64] | float:
        """Return what makes what a regression says of numbers one per unit of the column, (n_rows,), in logarithms.

        That is the scale's slope for densities, and the resolution for masses.
        """
        return self.log_slope(column) if self.resolution is None else -math.log(self.resolution)

    def rounded_from(self, column: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return the middles and the widths, on the scale, of the intervals to which numbers were rounded, (n_rows,).

        Widths are 0 without a resolution.
        """
        if self.resolution is None:
            return self.scaled(column), np.zeros(len(column))
        if self.scale is None:
            return column, np.full(len(column), self.resolution)
        low, high = (self.scaled(column + side * self.resolution / 2) for side in (-1, 1))
        middles, widths = (low + high) / 2, high - low
        cancelled = widths < NARROW * np.abs(middles)
        return middles, np.where(cancelled, self.resolution * np.exp(self.log_slope(column)), widths)

    def missing(self, column: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return which numbers are missing, (n_rows,)."""
        absent: npt.NDArray[np.bool_] = np.isnan(column)
        return absent

    def missing_column(self, n_rows: int) -> npt.NDArray[Any]:
        """Return a column in which every number is missing, (n_rows,)."""
        return np.full(check.integer(n_rows, "n_rows", least=0, most=MOST_ROWS), np.nan)

    def any_missing(self, column: npt.NDArray[Any]) -> bool:
        """Return whether a number is missing."""
        return bool(column.size) and bool(np.isnan(column.min()))

    def check(self, column: npt.NDArray[Any]) -> None:
        """Raise nothing: every number may stand in a column."""

    def as_codes(self, column: npt.NDArray[Any]) -> npt.NDArray[np.unsignedinteger[Any]]:
        """Return a column as the core counts it: one state, 0, and 1 where a number is missing."""
        absent: npt.NDArray[np.uint8] = np.isnan(column).view(np.uint8)
        return absent

    def said(self, number: float) -> float | str:
        """Return a number as it is or, of a column of dates or times, the text of one."""
        return date_texts([round(number)], self.unit)[0] if self.unit and math.isfinite(number) else number

    def shown(self, number: float) -> str:
        """Return a number as people write it: to six digits, and of a column of dates or times as one of these."""
        said = self.said(number)
        return said if isinstance(said, str) else f"{said:.6g}"

    def labels(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the numbers, (n_rows,) float64; dates and times as datetime64."""
        return column if self.unit is None else as_dates(column, self.unit)


Column = Variable | Continuous


def checked_variables(
    variables: Iterable[Column], name: str = "variables", *, unique: bool = True
) -> tuple[Column, ...]:
    """Return variables as a tuple; raise SchemaError when there is something else among them, or a name twice."""
    every = check.items(variables, name, "Variable and Continuous (table.variables are some)")
    if unique:
        check_names([variable.name for variable in every])
    return every


def seen_among(variables: Iterable[Column]) -> list[str]:
    """Return the names of the variables that are not hidden."""
    return [variable.name for variable in variables if not variable.hidden]


def hidden_among(variables: Iterable[Column]) -> tuple[str, ...]:
    """Return the names of the hidden variables."""
    return tuple(variable.name for variable in variables if variable.hidden)


def any_missing(variables: Iterable[Column], columns: Iterable[npt.NDArray[Any]]) -> bool:
    """Return whether a cell of any column is missing."""
    return any(variable.any_missing(column) for variable, column in zip(variables, columns, strict=True))


def mixes_numbers(variables: Iterable[Column]) -> bool:
    """Whether columns of numbers stand beside columns of states: a network of states needs the numbers cut."""
    return len({variable.is_continuous for variable in variables}) > 1


def require_categorical(variables: Iterable[Column], purpose: str, remedy: str = "") -> tuple[Variable, ...]:
    """Return the variables; raise SchemaError, naming them, when some are continuous."""
    every = checked_variables(variables)
    numbers = [variable.name for variable in every if variable.is_continuous]
    if numbers:
        verb, them = ("is", "it") if len(numbers) == 1 else ("are", "them")
        raise SchemaError(
            f"{purpose} is for categorical columns, and {listed(numbers)} {verb} continuous: cut {them} into bins to "
            "get states" + (f", or {remedy}" if remedy else ""),
            parameter="bins",
        )
    return cast(tuple[Variable, ...], every)


def require_continuous(variables: Iterable[Column], purpose: str, remedy: str = "") -> None:
    """Raise SchemaError, naming them, when some variables are categorical; the message begins with the purpose."""
    states = [variable.name for variable in variables if not variable.is_continuous]
    if states:
        verb, them = ("is", "it") if len(states) == 1 else ("are", "them")
        raise SchemaError(
            f"{purpose} is for continuous columns, and {listed(states)} {verb} categorical: leave {them} out, or read "
            "numbers as continuous" + (f"; {remedy}" if remedy else ""),
            parameter="continuous",
        )


def _check_name(name: object) -> None:
    if not isinstance(name, str):
        raise SchemaError(f"a variable's name must be a str, not {type(name).__name__} ({shown(name)})")


def _checked_cuts(name: str, cuts: Iterable[float], states: tuple[State, ...]) -> tuple[float, ...]:
    borders = tuple(check.numbers(check.items(cuts, "cuts", "numbers"), "cuts").ravel().tolist())
    n_bins = len(states) - (len(borders) == len(states) - 2 and bool(_missing_states(states[-1:])))
    if len(borders) != n_bins - 1:
        raise SchemaError(f"variable {name!r}: {n_bins} bins need {n_bins - 1} cuts, got {len(borders)}")
    if any(not a < b for a, b in pairwise(borders)) or not all(map(math.isfinite, borders)):
        raise SchemaError(f"variable {name!r}: cuts must be finite and ascending, got {list(borders)}")
    return borders


def _checked_bounds(name: str, bounds: Iterable[float], cuts: tuple[float, ...] | None) -> Bounds:
    found = check.items(bounds, "bounds", "numbers")
    numbers = len(found) == 2 and all(isinstance(x, int | float) and math.isfinite(x) for x in found)
    if not numbers or found[0] > found[1]:
        raise SchemaError(f"variable {name!r}: bounds are two finite numbers, ascending, not {shown(list(found))}")
    if cuts is None:
        raise SchemaError(f"variable {name!r}: bounds are for numbers cut into bins, and there are no cuts")
    low, high = found
    return (low, high) if isinstance(low, int) and isinstance(high, int) else (float(low), float(high))


def _checked_unit(name: str, unit: Unit | None) -> Unit | None:
    if unit is not None and (not isinstance(unit, str) or unit not in ("days", "seconds", "time")):
        raise SchemaError(f"variable {name!r}: a unit is 'days', 'seconds', 'time' or None, not {shown(unit)}")
    return unit


def _width(seen: float) -> float:
    return seen if math.isfinite(seen) and seen > 0 else 1.0


def _missing_states(states: Iterable[State]) -> list[str]:
    return [state for state in states if isinstance(state, str) and state.rstrip("_") == MISSING]


def fresh_missing_state(states: Iterable[State]) -> str:
    """Return a label for missing cells that is not among the states, and that `Variable.missing_state` finds."""
    taken = _missing_states(states)
    return max(taken, key=len) + "_" if taken else MISSING


CODE_TYPES = tuple(np.dtype(kind) for kind in (np.uint8, np.uint16, np.uint32, np.uint64))


def code_dtype(cardinality: int) -> np.dtype[Any]:
    """Return the smallest unsigned type that holds every code and the missing cell's."""
    return CODE_TYPES[(cardinality > 0xFF) + (cardinality > 0xFFFF) + (cardinality > 0xFFFF_FFFF)]
