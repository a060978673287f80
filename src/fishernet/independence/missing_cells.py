"""What `fishernet.independence.missingness` answers, and how it says so."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import pyarrow as pa

from fishernet.base.display import LEAST_P_SAID, Brief, Framed
from fishernet.base.names import cut, several
from fishernet.data import State

On = Literal["values", "missing"]

LONGEST = 40  # characters of a name or a label in words
MOST_SAID = 5  # columns
UNSEEN = "No table can tell whether cells are missing because of their own values (not at random)."


@dataclass(frozen=True, slots=True, repr=False)
class MissingnessTest(Brief):
    """How the missing cells of one column depend on another column; ``print`` says it in words."""

    column: str
    """The column whose cells are missing or known."""
    other: str
    """The column with which that is compared."""
    on: On
    """With which of it: its values, in the rows where they are known, or whether it is missing too."""
    p_value: float
    """How probable so large a difference is if they are independent."""
    p_adjusted: float
    """The same, corrected for the number of tests on values, or on missing cells (Holm)."""
    mutual_information: float
    """In nats, as the counts have it; independence itself gives about (states - 1) / (2 rows)."""
    state: State | None
    """The state, or the bin of numbers, that tells most; None where `on` is "missing"."""
    share: float
    """The share of rows in which the column is missing where the other is in that state, or missing."""
    share_elsewhere: float
    """The share in all other rows in which the other is known; in which it is known."""
    binned: bool = field(default=False, repr=False)
    """Whether the state is a bin of numbers."""

    def __str__(self) -> str:
        return f"{_quoted(self.column)} is missing {self.where()}"

    def where(self) -> str:
        """Return in which rows the column is missing more often, or less."""
        more = "more" if self.share >= self.share_elsewhere else "less"
        shares = " against ".join(_percentages(self.share, self.share_elsewhere))
        return f"{more} often where {_quoted(self.other)} is {self._place()} ({shares}, {_p(self.p_adjusted)})"

    def _place(self) -> str:
        if self.on == "missing":
            return "missing too" if self.share >= self.share_elsewhere else "missing"
        text = str(self.state) if self.binned else repr(self.state)
        return cut(f"in {text}" if self.binned and text.startswith("(") else text, LONGEST)


@dataclass(frozen=True, slots=True, repr=False)
class ColumnMissingness(Framed):
    """The missing cells of one column, and what they depend on."""

    name: str
    """The column."""
    missing: float
    """How many of its cells are missing, by the rows' weights."""
    share: float
    """Of all rows."""
    depends_on: int
    """On the values of how many columns its missing cells depend, at the level alpha of all tests together."""
    strongest: MissingnessTest | None
    """The test on values with the least p-value; None where there is nothing to compare with."""
    together_with: int
    """With the missing cells of how many columns its own go together, or exclude each other."""
    together: MissingnessTest | None
    """The test on missing cells with the least p-value; None where no other column has some."""
    untested: int
    """How many other columns could not be compared: constant, or never known where this one is missing, or is not."""

    def to_frame(self) -> pa.Table:
        """Return the tests that are named here as a pyarrow Table."""
        return frame_of([test for test in (self.strongest, self.together) if test is not None])

    def __str__(self) -> str:
        where = "everywhere" if self.share == 1 else f"in {_percentages(self.share)[0]} of rows"
        said = f"{_quoted(self.name)} is missing {where}"
        if not self.depends_on or self.strongest is None:
            return said
        more = self.depends_on - 1
        also = f"; {several(more, 'more column')} {'tells' if more == 1 else 'tell'} of it" if more else ""
        return f"{said}, {self.strongest.where()}{also}"


@dataclass(frozen=True, slots=True, repr=False)
class MissingnessResult(Framed):
    """What the known cells of a table say of the missing ones; ``print`` says it in words.

    Examples
    --------
    >>> import fishernet as fn
    >>> rows = {"ward": ["A", "B"] * 40, "lab": ["low", None, "high", "low"] * 20}
    >>> found = fn.independence.missingness(rows)
    >>> found
    MissingnessResult(80 rows, 1 of 2 columns with missing cells, 1 test on values, not completely at random)
    >>> print(found.columns[0])
    `lab` is missing in 25 % of rows, more often where `ward` is 'B' (50 % against 0 %, p = 8e-08)
    """

    total: float
    """How many rows there are, by their weights."""
    n_columns: int
    """How many columns."""
    alpha: float
    """The level: the probability, if cells are missing completely at random, of `against` being True is at most so."""
    columns: tuple[ColumnMissingness, ...]
    """Those with missing cells, in the order of the table."""
    tests: pa.Table
    """One row a test, with the fields of a `MissingnessTest`; states are text."""
    n_values: int
    """How many different tests there are on values: columns that are missing in the same rows share theirs."""
    state_for_missing: str | None = None
    """A column that has a state "missing", as ``missing="state"`` makes it, which is a state like others here."""

    def to_frame(self) -> pa.Table:
        """Return one row a test as a pyarrow Table."""
        return self.tests

    @property
    def against(self) -> bool:
        """Whether there is evidence against missing completely at random: a column depends on another's values."""
        return any(column.depends_on for column in self.columns)

    @property
    def verdict(self) -> str:
        """What the tests say of all columns together, in a sentence."""
        if not self.columns:
            note = f", but {_quoted(self.state_for_missing)} has a state for that" if self.state_for_missing else ""
            return f"No cell is missing{note}."
        tested = [column.strongest for column in self.columns if column.strongest is not None]
        if not tested:
            return "There is nothing with which the missing cells could be compared."
        first = min(tested, key=lambda test: (test.p_value, -test.mutual_information))
        if self.against:
            return f"Not completely at random: {first}."
        return (
            f"No evidence against missing completely at random ({several(self.n_values, 'test')} on values; the "
            f"smallest p-value, corrected for the number of tests, is {first.p_adjusted:.2g})."
        )

    def __repr__(self) -> str:
        said = "no cell is missing"
        if self.columns:
            said = "not completely at random" if self.against else "no evidence against completely at random"
            said = f"{several(self.n_values, 'test')} on values, {said if self.n_values else 'nothing to compare'}"
            holes = f"{len(self.columns)} of {several(self.n_columns, 'column')} with missing cells"
            said = f"{holes}, {said}"
        return f"MissingnessResult({several(self.total, 'row')}, {said})"

    def __str__(self) -> str:
        return self.text()

    def text(self, most: int = MOST_SAID) -> str:
        """Return what was found, at most so many columns by name, and what no table can tell."""
        head = [self._headline()] if self.against else [self.verdict]
        return "\n".join([*head, *self._said_of_columns(most), *self._said_of_pairs(), *self._advice()])

    def _headline(self) -> str:
        n = sum(1 for column in self.columns if column.depends_on)
        several_of = f"{n} of {several(len(self.columns), 'column')}" if len(self.columns) > 1 else "the column"
        return (
            f"Missing cells: not completely at random. In {several_of} with missing cells they depend on known values "
            f"(p-values are corrected for {several(self.n_values, 'test')}):"
        )

    def _said_of_columns(self, most: int) -> list[str]:
        depending = [column for column in self.columns if column.depends_on]
        depending.sort(key=lambda column: (_least(column.strongest), -column.share))
        lines = [f"- {column}" for column in depending[:most]]
        if len(depending) > most:
            lines.append(f"- and {several(len(depending) - most, 'more column')}")
        others = [column for column in self.columns if not column.depends_on]
        everywhere = [column for column in others if column.share == 1]
        alone = [column for column in others if column.strongest is None and column.share < 1]
        tested = [column for column in others if column.strongest is not None]
        kinds = [
            ("missing everywhere", everywhere),
            ("nothing to compare with", alone),
            ("no dependence found", tested),
        ]
        shown = kinds if self.against else kinds[: 2 if tested else 1]
        return lines + [f"- {what}: {_names(columns, most)}" for what, columns in shown if columns]

    def _said_of_pairs(self) -> list[str]:
        found = [column.together for column in self.columns if column.together_with and column.together is not None]
        if not found:
            return []
        first = min(found, key=lambda test: (test.p_value, -test.mutual_information))
        n = sum(column.together_with for column in self.columns) // 2
        more = f"; {several(n, 'such pair')} in all" if n > 1 else ""
        return [f"Among missing cells: {first}{more}. By itself that is no sign against completely at random."]

    def _advice(self) -> list[str]:
        if not self.columns:
            return []
        if self.against:
            return [
                "Rows without missing cells are not like the others, so what is learned from them alone may be biased. "
                f"EM is right if known columns decide what is missing (missing at random). {UNSEEN}"
            ]
        return [f"That no dependence was found does not prove that there is none. {UNSEEN}"]


def frame_of(tests: list[MissingnessTest]) -> pa.Table:
    """Return tests as a pyarrow Table with the fields of `MissingnessResult.tests`."""
    rows = [
        {name: getattr(test, name) for name in FIELDS} | {"state": None if test.state is None else str(test.state)}
        for test in tests
    ]
    return pa.Table.from_pylist(rows, schema=pa.schema(list(FIELDS.items())))


FIELDS = {
    "column": pa.string(),
    "other": pa.string(),
    "on": pa.string(),
    "p_value": pa.float64(),
    "p_adjusted": pa.float64(),
    "mutual_information": pa.float64(),
    "state": pa.string(),
    "share": pa.float64(),
    "share_elsewhere": pa.float64(),
}


def _least(test: MissingnessTest | None) -> float:
    return 1.0 if test is None else test.p_value


def _names(columns: list[ColumnMissingness], most: int) -> str:
    more = f" and {len(columns) - most} more" if len(columns) > most else ""
    return ", ".join(_quoted(column.name) for column in columns[:most]) + more


def _quoted(name: str) -> str:
    return f"`{cut(' '.join(name.split()), LONGEST)}`"


def _p(value: float) -> str:
    if value < LEAST_P_SAID:
        return f"p < {LEAST_P_SAID:.0e}"
    return f"p = {value:.2g}" if value >= 0.001 else f"p = {value:.0e}"


def _percentages(*shares: float) -> list[str]:
    """Return shares in per cent, with as many digits as tell them apart, and from 0 and 1."""
    for digits in range(4):
        texts = [f"{100 * share:.{digits}f}" for share in shares]
        whole = [text for text, share in zip(texts, shares, strict=True) if float(text) in (0, 100) and 0 < share < 1]
        if not whole and (len(set(texts)) == len(set(shares))):
            break
    return [f"{text} %" for text in texts]
