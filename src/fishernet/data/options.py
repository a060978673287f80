"""What a caller may ask of encoding: the keywords that `read_table` and `Table.from_frame` share, checked once.

Cutting numbers into bins.

Bins are closed on the right: with cuts ``c_1 < ... < c_m`` bin k holds ``c_k < x <= c_(k+1)``, the first one all that
is at most ``c_1``, the last one all above ``c_m``. So equal numbers never part.

*Quantile* cuts for k bins are the 1/k, ..., (k-1)/k quantiles of the data: the smallest value that at least that share
of the (weighted) rows does not exceed; where that is the largest value of all, the one before it. Cuts that coincide
are merged. So no bin is empty, and with k > 1 there are at least two.

*Equal-width* cuts divide the range from the smallest to the largest number; bins between may be empty.
"""

from __future__ import annotations

import codecs
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import check_names, listed, require_str, shown
from fishernet.base.vocabulary import spelled
from fishernet.data.variable import Column

Numbers = npt.NDArray[np.float64]


def quantile_cuts(values: Numbers, counts: npt.NDArray[np.int64], n_bins: int) -> list[float]:
    """Return the cuts that put about equally many rows into each bin.

    Parameters
    ----------
    values : (n_values,) ascending distinct float64
    counts : (n_values,) positive int64
        The rows (or the sum of their weights) at each value.
    n_bins : int
        At most so many bins; at least 1, and fewer than there are values.

    Returns
    -------
    list of float
        At most ``n_bins - 1`` of the values, ascending.
    """
    below = np.cumsum(counts)
    found = np.searchsorted(below, cut_ranks(int(below[-1]), n_bins), side="left")
    cuts: list[float] = values[np.unique(np.minimum(found, len(values) - 2))].tolist()
    return cuts


def cut_ranks(total: int, n_bins: int) -> npt.NDArray[np.int64]:
    """Return how many rows lie at or below each cut at least: j / n_bins of them, rounded up."""
    return np.array([-(-j * total // n_bins) for j in range(1, n_bins)], dtype=np.int64)


def equal_width_cuts(values: Numbers, counts: npt.NDArray[np.int64], n_bins: int) -> list[float]:  # noqa: ARG001
    """Return at most ``n_bins - 1`` cuts that divide the range of ascending values into bins of equal width."""
    lowest, highest = float(values[0]), float(values[-1])
    shares = np.arange(1, n_bins) / n_bins
    cuts = np.unique(lowest * (1 - shares) + highest * shares)
    kept: list[float] = cuts[(cuts >= lowest) & (cuts < highest)].tolist()
    return kept


BINNINGS = {"quantile": quantile_cuts, "equal-width": equal_width_cuts}


def interval_labels(cuts: Sequence[float], texts: Sequence[str] | None = None) -> list[str]:
    """Return one readable label a bin, with digits enough to tell the cuts apart, or with these texts for the cuts.

    Examples
    --------
    >>> interval_labels([2.5, 4.0, 7.0])
    ['<= 2.5', '(2.5, 4]', '(4, 7]', '> 7']
    """
    if not cuts:
        return ["any"]
    texts = _distinct_texts(cuts) if texts is None else texts
    inner = [f"({low}, {high}]" for low, high in pairwise(texts)]
    return [f"<= {texts[0]}", *inner, f"> {texts[-1]}"]


def _distinct_texts(cuts: Sequence[float]) -> list[str]:
    """Write ascending numbers with six digits, or as many more as keep them ascending and finite."""
    for digits in range(6, 17):
        texts = [_text(cut, digits) for cut in cuts]
        read = [float(text) for text in texts]
        # rounded up, the largest of all numbers would read as infinity
        if np.isfinite(read).all() and all(low < high for low, high in pairwise(read)):
            return texts
    return [_text(cut, 17) for cut in cuts]


def _text(cut: float, digits: int) -> str:
    return str(int(cut)) if cut.is_integer() and abs(cut) < 1e15 else f"{cut:.{digits}g}"


Cut = int | Sequence[float]
Bins = int | Mapping[str | None, Cut] | Mapping[str, Cut]

MISSING_POLICIES = ("error", "drop", "state", "keep")
UNKNOWN_POLICIES = ("error", "missing")
DEFAULT_NA = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "?")


@dataclass(frozen=True)
class TextFormat:
    """How a text file is written: what stands between cells and within numbers, and its encoding."""

    delimiter: str | None = None
    decimal: str = "."
    thousands: str | None = None
    encoding: str = "utf-8"

    @classmethod
    def checked(cls, delimiter: Any, decimal: Any, thousands: Any, encoding: Any) -> TextFormat:
        """Check the keywords as a caller gave them."""
        delimiter = "\t" if isinstance(delimiter, str) and delimiter in ("tab", "\\t") else delimiter
        if delimiter is not None and not (_is_character(delimiter) and delimiter not in '"\r\n'):
            raise SchemaError(
                f"delimiter must be one character or 'tab', not {shown(delimiter)}", parameter="delimiter"
            )
        if not isinstance(decimal, str) or decimal not in (".", ","):
            raise SchemaError(f"decimal must be '.' or ',', not {shown(decimal)}", parameter="decimal")
        if thousands is not None and not (_is_character(thousands) and not thousands.isalnum()):
            raise SchemaError(
                f"thousands must be one character, no letter or digit, not {shown(thousands)}", parameter="thousands"
            )
        if thousands == decimal:
            raise SchemaError(f"decimal and thousands cannot both be {decimal!r}", parameter="thousands")
        try:
            known = codecs.lookup(encoding).name
        except (LookupError, TypeError):
            message = f"encoding must be one that Python knows, as 'latin-1' or 'utf-16', not {shown(encoding)}"
            raise SchemaError(message, parameter="encoding") from None
        return cls(delimiter, decimal, thousands, known)

    @property
    def is_plain(self) -> bool:
        """Whether numbers are written as in Python."""
        return self.decimal == "." and self.thousands is None


def _is_character(value: object) -> bool:
    return isinstance(value, str) and len(value) == 1


PLAIN = TextFormat()


@dataclass(frozen=True)
class Options:
    """The keywords of `read_table` and `Table.from_frame`; they are described there.

    Raises
    ------
    SchemaError
        When a word is unknown (the known ones are listed), or a value has another type or does not go with the others.
    """

    schema: tuple[Column, ...] | None
    bins: int | dict[str | None, int | tuple[float, ...]] | None
    binning: str
    missing: str
    unknown: str
    weights: str | None
    na_values: frozenset[str]
    columns: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    continuous: tuple[str, ...] = ()
    text: TextFormat = PLAIN

    @classmethod
    def checked(
        cls,
        *,
        columns: Iterable[str] | None = None,
        exclude: Iterable[str] = (),
        categorical: Iterable[str] = (),
        continuous: Iterable[str] = (),
        bins: Bins | None = None,
        binning: str = "quantile",
        schema: Iterable[Column] | None = None,
        missing: str = "keep",
        unknown: str = "error",
        weights: str | None = None,
        na_values: Iterable[str] = DEFAULT_NA,
        delimiter: str | None = None,
        decimal: str = ".",
        thousands: str | None = None,
        encoding: str = "utf-8",
    ) -> Options:
        """Check the keywords as a caller gave them."""
        binning = _word("binning", binning, tuple(BINNINGS))
        missing = _word("missing", missing, MISSING_POLICIES)
        unknown = _word("unknown", unknown, UNKNOWN_POLICIES)
        if weights is not None and not isinstance(weights, str):
            raise SchemaError(f"weights must be the name of a column, not {type(weights).__name__}")
        wanted = None if columns is None else _checked_columns(columns)
        options = cls(
            None if schema is None else _checked_schema(schema),
            _checked_bins(bins),
            binning,
            missing,
            unknown,
            weights,
            _checked_na_values(na_values),
            wanted,
            _checked_names("exclude", exclude),
            _checked_names("categorical", categorical),
            _checked_names("continuous", continuous),
            TextFormat.checked(delimiter, decimal, thousands, encoding),
        )
        options._check_together()
        return options

    def _check_together(self) -> None:
        """Raise SchemaError when keywords contradict each other."""
        if self.schema is not None:
            for keyword in ("columns", "categorical", "continuous", "bins"):
                if getattr(self, keyword):
                    raise SchemaError(f"give schema or {keyword}, not both; {SAID_BY_SCHEMA[keyword]}")
        named = set() if not isinstance(self.bins, dict) else set(self.bins)
        schema = {variable.name for variable in self.schema or ()}
        kinds = {*self.categorical, *self.continuous}
        roles = (
            ({self.weights}, "the weights", {*schema, *kinds, *named}, "a variable of the table"),
            (
                set(self.exclude),
                "left out",
                {*(self.columns or ()), *schema, *kinds, *named, self.weights},
                "asked for",
            ),
            (set(self.categorical), "categorical", {*self.continuous}, "continuous"),
            (set(self.categorical), "categorical", named, "cut into bins"),
        )
        for names, one, others, other in roles:
            for name in sorted((names & others) - {None}):  # type: ignore[type-var]
                raise SchemaError(f"the column {name!r} cannot be both {one} and {other}")

    def choose(self, names: Sequence[Any]) -> list[str]:
        """Return which of a source's columns are needed, in its order."""
        require_str(names)
        for position, name in enumerate(names):
            if not name:
                raise SchemaError(
                    f"column {position + 1} has no name (the index of a data frame?); name it or leave it"
                )
        check_names(names)
        self._require(names, [] if self.weights is None else [self.weights], "weights")
        self._require(names, self.exclude, "exclude")
        if self.columns is not None:
            self._require(names, self.columns, "columns")
        chosen = set(names if self.columns is None else [*self.columns, self.weights]) - set(self.exclude)
        names = [name for name in names if name in chosen]
        self._require(names, self.categorical, "categorical")
        self._require(names, self.continuous, "continuous")
        if isinstance(self.bins, dict):
            self._require(names, [name for name in self.bins if name is not None], "bins")
        if self.schema is None:
            return names
        wanted = {variable.name for variable in self.schema}
        self._require(names, [variable.name for variable in self.schema], "schema")
        return [name for name in names if name in wanted or name == self.weights]

    def cut(self, name: str) -> int | tuple[float, ...] | None:
        """Return how a column of numbers is cut into bins: at most how many, or where; None for not at all."""
        if not isinstance(self.bins, dict):
            return self.bins
        return self.bins.get(name, self.bins.get(None))

    def cuts_by_name(self, name: str) -> bool:
        """Return whether `bins` names a column."""
        return isinstance(self.bins, dict) and name in self.bins

    def takes_marked_weights(self, name: str) -> bool:
        """Return whether a column that its source marks as weights is to be taken as such."""
        return self.weights is None and name not in {variable.name for variable in self.schema or ()}

    @staticmethod
    def _require(names: Sequence[str], wanted: Iterable[str], keyword: str) -> None:
        known = set(names)
        absent = [name for name in wanted if name not in known]
        if absent:
            asked = "which is needed" if keyword == "schema" else f"as {keyword} asks"
            raise SchemaError(
                f"there is no column {listed(absent)}, {asked}; there are {listed(names)}", parameter=keyword
            )


def _word(keyword: str, value: object, known: tuple[str, ...]) -> str:
    """Return a word that a keyword knows, however it was spelled."""
    if isinstance(value, str) and spelled(value) in known:
        return spelled(value)
    raise SchemaError(f"{keyword} must be one of {', '.join(map(repr, known))}, not {shown(value)}", parameter=keyword)


SAID_BY_SCHEMA = {
    "columns": "a schema says which columns are read",
    "categorical": "a schema says what each column is",
    "continuous": "a schema says what each column is",
    "bins": "the variables of a schema hold their own cuts",
}


def _checked_schema(schema: Iterable[Column]) -> tuple[Column, ...]:
    if hasattr(schema, "variables"):
        raise SchemaError(f"schema must be a sequence of Variable; pass the variables of the {type(schema).__name__}")
    variables = check.items(schema, "schema", "Variable and Continuous")
    for variable in variables:
        if not hasattr(variable, "is_continuous"):
            raise SchemaError(
                f"schema must be a sequence of Variable (schema=table.variables); it holds {type(variable).__name__}"
            )
    check_names([variable.name for variable in variables])
    return variables


def _checked_columns(columns: Iterable[str]) -> tuple[str, ...]:
    names = _checked_names("columns", columns)
    if not names:
        raise SchemaError("columns names no column", parameter="columns")
    return names


def _checked_names(keyword: str, given: Iterable[str]) -> tuple[str, ...]:
    if isinstance(given, str):
        raise SchemaError(f"{keyword} must be a sequence of str, not the str {given!r}", parameter=keyword)
    names = check.items(given, keyword)
    require_str(names)
    check_names(names)
    return names


def _checked_na_values(na_values: Iterable[str]) -> frozenset[str]:
    words = [na_values] if isinstance(na_values, str) else list(check.items(na_values, "na_values", "str"))
    if isinstance(na_values, str) or not all(isinstance(word, str) for word in words):
        raise SchemaError(
            f'na_values must be a sequence of str, as in ("", "NA"), not {shown(na_values)}', parameter="na_values"
        )
    return frozenset(words)


def _checked_bins(bins: Bins | None) -> int | dict[str | None, int | tuple[float, ...]] | None:
    if bins is None:
        return None
    if isinstance(bins, Mapping):
        return {name: _checked_cut(f"bins[{name!r}]", cut) for name, cut in bins.items()}
    checked = _checked_cut("bins", bins)
    if isinstance(checked, int):
        return checked
    raise SchemaError(
        "bins must be an int, or a mapping from columns to an int or cut points; cut points need a column",
        parameter="bins",
    )


def _checked_cut(where: str, cut: Any) -> int | tuple[float, ...]:
    if isinstance(cut, np.ndarray) and cut.ndim == 0:
        cut = cut.item()
    if isinstance(cut, str) or not (hasattr(cut, "__index__") or hasattr(cut, "__iter__")) or isinstance(cut, bool):
        raise SchemaError(
            f"{where} must be a number of bins or a sequence of cut points, not {shown(cut)}", parameter="bins"
        )
    if not hasattr(cut, "__iter__"):
        n_bins = int(cut.__index__())
        if n_bins < 1:
            raise SchemaError(f"{where} must be at least 1, not {n_bins}", parameter="bins")
        return n_bins
    try:
        cuts = tuple(float(point) for point in cut)
    except (TypeError, ValueError):
        raise SchemaError(f"{where} must hold numbers, not {list(cut)!r}", parameter="bins") from None
    ascending = all(low < high for low, high in pairwise(cuts))
    if not ascending or not all(map(math.isfinite, cuts)):
        raise SchemaError(f"{where} must be finite and ascending, not {list(cuts)}", parameter="bins")
    return cuts
