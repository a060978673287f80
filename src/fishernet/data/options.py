"""What a caller may ask of reading: the keywords of `read_table`, `scan` and `Table.from_frame`, and their checks.

They are listed once, in `FrameKeywords` and `FileKeywords`, with their defaults in `DEFAULTS`. A function that takes
them says ``**keywords: Unpack[FileKeywords]``, which editors and type checkers understand, and is decorated with
`shows_keywords`, so that `help` and the documentation list them one by one.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, ForwardRef, Literal, TypedDict, TypeVar, Unpack, get_args

import numpy as np

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import check_names, listed, require_str, shown
from fishernet.base.vocabulary import BinningName, MissingName, UnknownName, spelled
from fishernet.data.encoding.alike import columns_alike, several_say
from fishernet.data.variable import Column, checked_variables

Function = TypeVar("Function", bound=Callable[..., Any])

AUTO: Final = "auto"  # as many bins as the numbers tell
Cut = int | Literal["auto"] | Sequence[float]
Bins = int | Literal["auto"] | Mapping[str | None, Cut] | Mapping[str, Cut]
Pieces = int | Literal["auto"] | tuple[float, ...]

DEFAULT_NA = (
    *("", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "null", "NULL", "<NA>", "?", "\\N"),
    *("#N/A", "#N/A N/A", "#NA", "1.#QNAN", "-1.#QNAN", "1.#IND", "-1.#IND"),
)
NamedWords = Mapping[str | None, Iterable[str]] | Mapping[str, Iterable[str]]


class FrameKeywords(TypedDict, total=False):
    """The keywords of `Table.from_frame`, which describes them."""

    columns: Iterable[str] | None
    exclude: Iterable[str]
    categorical: Iterable[str]
    continuous: Iterable[str]
    order: Mapping[str, Iterable[str]]
    bins: Bins | None
    binning: BinningName
    schema: Iterable[Column] | None
    missing: MissingName
    unknown: UnknownName
    weights: str | None
    weight_kind: Literal["counts", "survey"] | None
    na_values: Iterable[str] | NamedWords


class FileKeywords(FrameKeywords, total=False):
    """The keywords of `read_table` and `scan`: also how text files are written."""

    delimiter: str | None
    decimal: str
    thousands: str | None
    dates: Literal["day-first", "month-first"] | None
    encoding: str
    skip_rows: int | None
    header_rows: int | None
    sheet: str | None


DEFAULTS: FileKeywords = {
    "columns": None,
    "exclude": (),
    "categorical": (),
    "continuous": (),
    "order": {},
    "bins": None,
    "binning": "quantile",
    "schema": None,
    "missing": "keep",
    "unknown": "error",
    "weights": None,
    "weight_kind": None,
    "na_values": DEFAULT_NA,
    "delimiter": None,
    "decimal": ".",
    "thousands": None,
    "dates": None,
    "encoding": "utf-8",
    "skip_rows": None,
    "header_rows": None,
    "sheet": None,
}
OF_FRAMES = frozenset(FrameKeywords.__annotations__)


def shows_keywords(keywords: type) -> Callable[[Function], Function]:
    """List the keywords one by one in the signature of a function that takes them as ``**keywords``."""

    def show(function: Function) -> Function:
        own = inspect.signature(function)
        before = [p for p in own.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        after = [p for p in own.parameters.values() if p.kind is p.KEYWORD_ONLY]
        listed = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value, annotation=_annotation(kind))
            for (name, value), kind in zip(DEFAULTS.items(), FileKeywords.__annotations__.values(), strict=True)
            if name in keywords.__annotations__
        ]
        function.__signature__ = own.replace(parameters=[*before, *listed, *after])  # type: ignore[attr-defined]
        return function

    return show


def _annotation(kind: Any) -> Any:
    return kind.__forward_arg__ if isinstance(kind, ForwardRef) else kind


@dataclass(frozen=True)
class TextFormat:
    """How a text file is written: what stands between cells and within numbers, and its encoding."""

    delimiter: str | None = None
    decimal: str = "."
    thousands: str | None = None
    dates: str | None = None
    encoding: str = "utf-8"
    skip_rows: int | None = None
    header_rows: int | None = None
    sheet: str | None = None
    is_plain: bool = field(init=False)
    """Whether numbers are written as in Python."""

    @classmethod
    def checked(cls, given: FileKeywords) -> TextFormat:
        """Check the keywords as a caller gave them."""
        delimiter, decimal, thousands = given["delimiter"], given["decimal"], given["thousands"]
        delimiter = "\t" if isinstance(delimiter, str) and delimiter in ("tab", "\\t") else delimiter
        if delimiter is not None and not (isinstance(delimiter, str) and delimiter and not {*delimiter} & {*'"\r\n'}):
            fact = f"delimiter must be text without quotes and line ends, or 'tab', not {shown(delimiter)}"
            raise SchemaError(fact, parameter="delimiter")
        if not isinstance(decimal, str) or decimal not in (".", ","):
            raise SchemaError(f"decimal must be '.' or ',', not {shown(decimal)}", parameter="decimal")
        if thousands is not None and not (_is_character(thousands) and not thousands.isalnum()):
            raise SchemaError(
                f"thousands must be one character, no letter or digit, not {shown(thousands)}", parameter="thousands"
            )
        if thousands == decimal:
            raise SchemaError(f"decimal and thousands cannot both be {decimal!r}", parameter="thousands")
        known = check.encoding(given["encoding"])
        skipped, headers = (_checked_rows(name, given[name]) for name in ("skip_rows", "header_rows"))
        order = given["dates"]
        dates = None if order is None else _word("dates", order, ("day-first", "month-first"))
        return cls(delimiter, decimal, thousands, dates, known, skipped, headers, given["sheet"])

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_plain", self.decimal == "." and self.thousands is None)

    def refuse(self, source: object, *taken: str) -> None:
        """Raise SchemaError for what says how text is written, but for what is taken, of a source that is no text."""
        for name in ("delimiter", "decimal", "thousands", "dates", "encoding", "skip_rows", "header_rows", "sheet"):
            if name not in taken and getattr(self, name) != getattr(PLAIN, name):
                raise SchemaError(f"{name} is for text files, which {source} is not; leave it out", parameter=name)


def _checked_rows(name: str, value: object) -> int | None:
    """Return a number of rows at the beginning of a file, however it came: a remedy is text."""
    if value is None:
        return None
    text = str(value)
    if isinstance(value, bool) or not text.isdecimal():
        raise SchemaError(f"{name} must be a number of rows, 0 or more, not {shown(value)}", parameter=name)
    return int(text)


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
    bins: int | Literal["auto"] | dict[str | None, Pieces] | None
    binning: str
    missing: str
    unknown: str
    weights: str | None
    na_values: frozenset[str]
    weight_kind: str | None = None
    columns: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    continuous: tuple[str, ...] = ()
    order: dict[str, tuple[str, ...]] = field(default_factory=dict)
    text: TextFormat = PLAIN
    named_na: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Further words that mean a missing cell, by the column in which they do."""
    besides: frozenset[str] = frozenset()
    """Names of a model's other variables: what is a column of theirs stands for none of the schema."""

    @classmethod
    def checked(cls, **keywords: Unpack[FileKeywords]) -> Options:
        """Check the keywords as a caller gave them."""
        for name in keywords.keys() - DEFAULTS.keys():
            raise TypeError(f"there is no option {name!r} of reading; there are {', '.join(DEFAULTS)}")
        given: FileKeywords = {**DEFAULTS, **keywords}
        weights, kind = given["weights"], given["weight_kind"]
        if weights is not None and not isinstance(weights, str):
            wrong = f"weights must be the name of a column, not {type(weights).__name__}"
            raise SchemaError(wrong, parameter="weights")
        everywhere, named = _checked_na_values(given["na_values"])
        options = cls(
            schema=None if given["schema"] is None else checked_variables(given["schema"], "schema"),
            bins=_checked_bins(given["bins"]),
            binning=_word("binning", given["binning"], get_args(BinningName)),
            missing=_word("missing", given["missing"], get_args(MissingName)),
            unknown=_word("unknown", given["unknown"], get_args(UnknownName)),
            weights=weights,
            na_values=frozenset(everywhere),
            named_na=tuple(sorted((name, tuple(sorted(words))) for name, words in named.items())),
            weight_kind=kind if kind is None else _word("weight_kind", kind, ("counts", "survey")),
            columns=None if given["columns"] is None else _checked_columns(given["columns"]),
            exclude=_checked_names("exclude", given["exclude"]),
            categorical=_checked_names("categorical", given["categorical"]),
            continuous=_checked_names("continuous", given["continuous"]),
            order=_checked_order(given["order"]),
            text=TextFormat.checked(given),
        )
        options._check_together()
        return options

    @classmethod
    def of_frame(cls, **keywords: Unpack[FrameKeywords]) -> Options:
        """Check the keywords of `Table.from_frame` as a caller gave them; no frame has a delimiter."""
        for name in keywords.keys() - OF_FRAMES:
            raise TypeError(f"Table.from_frame() got an unexpected keyword argument {name!r}")
        return cls.checked(**keywords)

    def _check_together(self) -> None:
        """Raise SchemaError when keywords contradict each other."""
        if self.schema is not None:
            for keyword in ("columns", "categorical", "continuous", "order", "bins"):
                if getattr(self, keyword):
                    message = f"give schema or {keyword}, not both; {SAID_BY_SCHEMA[keyword]}"
                    raise SchemaError(message, parameter=keyword)
        elif self.unknown != "error":
            raise SchemaError("unknown is for labels that a schema does not have; give schema too", parameter="unknown")
        if self.binning != "quantile" and self.bins is None:
            raise SchemaError("binning says how a number of bins is cut; give bins too, as bins=4", parameter="binning")
        named = set() if not isinstance(self.bins, dict) else set(self.bins)
        schema = {variable.name for variable in self.schema or ()}
        kinds, asked = {*self.categorical, *self.continuous, *self.order}, self.columns or ()
        roles = (
            ("weights", {self.weights}, "the weights", {*schema, *kinds, *named}, "a variable of the table"),
            ("exclude", self.exclude, "left out", {*asked, *schema, *kinds, *named, self.weights}, "asked for"),
            ("categorical", self.categorical, "categorical", {*self.continuous}, "continuous"),
            ("categorical", self.categorical, "categorical", named, "cut into bins"),
            ("order", self.order, "a column of ordered states", {*self.continuous, *named}, "one of numbers"),
        )
        for keyword, names, one, others, other in roles:
            for name in sorted((set(names) & others) - {None}):  # type: ignore[type-var]
                raise SchemaError(f"the column {name!r} cannot be both {one} and {other}", parameter=keyword)

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
        self._require(names, self.order, "order")
        if isinstance(self.bins, dict):
            self._require(names, [name for name in self.bins if name is not None], "bins")
        self._require(names, [name for name, _ in self.named_na], "na_values")
        if self.schema is None:
            return names
        alike = self.columns_alike(names)
        unseen = {variable.name for variable in self.schema if variable.hidden}.difference(names)
        wanted = [v.name for v in self.schema if v.name not in alike.values() and v.name not in unseen]
        self._require(names, wanted, "schema")
        chosen = {*wanted, *alike, self.weights}
        return [name for name in names if name in chosen]

    def columns_alike(self, names: Iterable[str]) -> dict[str, str]:
        """Return which columns stand for a variable of the schema that bears their name in other signs, by name."""
        left_out = {self.weights, *self.exclude}
        wanted = [variable.name for variable in self.schema or ()]
        alike = columns_alike([name for name in names if name not in left_out], [*wanted, *self.besides])
        return {name: other for name, other in alike.items() if other not in self.besides}

    @property
    def said_of(self) -> frozenset[str]:
        """The columns of which a caller says by name what they are."""
        cut = self.bins if isinstance(self.bins, dict) else {}
        return frozenset({*self.categorical, *self.continuous, *self.order, *cut} - {None})  # type: ignore[arg-type]

    def missing_words(self, name: str) -> frozenset[str]:
        """Return the words that mean a missing cell in this column and not in all."""
        return frozenset(dict(self.named_na).get(name, ()))

    def are_states(self, name: str) -> bool:
        """Return whether a caller says by name that a column holds states."""
        return name in self.categorical or name in self.order

    def is_state(self, name: str, label: str) -> bool:
        """Return whether a caller says by name that a column may hold a label as a state."""
        known = next((variable for variable in self.schema or () if variable.name == name), None)
        return self.are_states(name) or (known is not None and not known.is_continuous and label in known.states)

    def cut(self, name: str) -> Pieces | None:
        """Return how a column of numbers is cut into bins: at most how many, "auto", or where; None for not at all."""
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
    def _require(names: Sequence[str], wanted: Collection[str], keyword: str) -> None:
        known = set(names)
        absent = [name for name in wanted if name not in known]
        if absent:
            asked = "which is needed" if keyword == "schema" else f"as {keyword} asks"
            more = several_say(names, wanted, absent[0]) if keyword == "schema" else ""
            raise SchemaError(
                f"there is no column {listed(absent)}, {asked}; there are {listed(names)}{more}", parameter=keyword
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
    "order": "a schema says what each column is",
    "bins": "the variables of a schema hold their own cuts",
}


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


def _checked_order(given: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    """Return the states of columns in the order asked for, as text."""
    found = {}
    for name, words in given.items():
        states = () if isinstance(words, str) else tuple([str(word) for word in check.items(words, "order")])
        if len(states) < 2 or len(set(states)) < len(states):
            fact = f"order[{name!r}] must name two states or more, each once, not {shown(words)}"
            raise SchemaError(fact, parameter="order")
        found[name] = states
    return found


def _checked_na_values(na_values: Iterable[str] | NamedWords) -> tuple[frozenset[str], dict[str, frozenset[str]]]:
    """Return the words that mean a missing cell in all columns, and those that do in some, by column."""
    if not isinstance(na_values, Mapping):
        return _checked_words("na_values", na_values), {}
    named = {name: _checked_words(f"na_values[{name!r}]", words) for name, words in na_values.items()}
    everywhere = named.pop(None, frozenset(DEFAULT_NA))
    require_str(named)
    return everywhere, named  # type: ignore[return-value]


def _checked_words(where: str, given: Iterable[str]) -> frozenset[str]:
    words = [given] if isinstance(given, str) else list(check.items(given, where, "str"))
    if isinstance(given, str) or not all(isinstance(word, str) for word in words):
        message = f'{where} must be a sequence of str, as in ("", "NA"), not {shown(given)}'
        raise SchemaError(message, parameter="na_values")
    return frozenset(words)


def _checked_bins(bins: Bins | None) -> int | Literal["auto"] | dict[str | None, Pieces] | None:
    if bins is None:
        return None
    if isinstance(bins, Mapping):
        return {name: _checked_cut(f"bins[{name!r}]", cut) for name, cut in bins.items()}
    checked = _checked_cut("bins", bins)
    if not isinstance(checked, tuple):
        return checked
    raise SchemaError(
        "bins must be an int, 'auto', or a mapping from columns to these or cut points; cut points need a column",
        parameter="bins",
    )


def _checked_cut(where: str, cut: Any) -> Pieces:
    if isinstance(cut, str) and cut == AUTO:
        return AUTO
    if isinstance(cut, np.ndarray) and cut.ndim == 0:
        cut = cut.item()
    if isinstance(cut, str) or not (hasattr(cut, "__index__") or hasattr(cut, "__iter__")) or isinstance(cut, bool):
        raise SchemaError(
            f"{where} must be a number of bins, 'auto' or a sequence of cut points, not {shown(cut)}", parameter="bins"
        )
    if not hasattr(cut, "__iter__"):
        n_bins = int(cut.__index__())
        if n_bins < 1:
            raise SchemaError(f"{where} must be at least 1, not {n_bins}", parameter="bins")
        return n_bins
    try:
        cuts = tuple(float(point) for point in cut)
    except (TypeError, ValueError):
        raise SchemaError(f"{where} must hold numbers, not {shown(list(cut))}", parameter="bins") from None
    ascending = all(low < high for low, high in pairwise(cuts))
    if not ascending or not all(map(math.isfinite, cuts)):
        raise SchemaError(f"{where} must be finite and ascending, not {list(cuts)}", parameter="bins")
    return cuts
