"""Options that several commands share: how a table is read, and rules and tuning of a search."""

from __future__ import annotations

import csv
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, get_args

import click
import numpy as np

from fishernet.base import check
from fishernet.base.errors import FileFormatError, FishernetError, SchemaError, UnknownStateError
from fishernet.base.io import read_text
from fishernet.base.names import several
from fishernet.base.progress import Call
from fishernet.base.vocabulary import UnknownName
from fishernet.cli.tables.sources import cache_option, opening, read, say_of_text, scan_option
from fishernet.cli.terminal import FILE, Command, complain, csv_line
from fishernet.data import Continuous, Table, Variable
from fishernet.data.options import AUTO, Pieces
from fishernet.data.source import told_of_cuts, told_of_unknown
from fishernet.data.streams.originals import Kept
from fishernet.data.variable import Column, mixes_numbers
from fishernet.learn.missing.ways import MISSING
from fishernet.learn.numbers.preparing import prepared

Number = TypeVar("Number", int, float)
Bins = int | Literal["auto"] | dict[str | None, Pieces]
Decorator = Callable[[Command], Command]

NODE_AVERAGE = "node-average"  # a way to learn from missing cells with a score of its own
QUANTILE = "quantile"  # how numbers are cut unless something else is said
NO_BINS = "none"  # numbers stay numbers
LEARNED = MISSING  # words of --missing for ways to learn from missing cells
count = partial(click.option, type=int, metavar="N")
amount = partial(click.option, type=float, metavar="X")
model_argument = click.argument("model", type=FILE)
table_argument = click.argument("table", type=FILE)
seed_option = count("--seed", help="The same seed gives the same rows.  [default: other rows each time]")


def option_of(name: str) -> str:
    """Return the option that sets an argument of the library."""
    return {"required": "--require", "forbidden": "--forbid"}.get(name, f"--{name.replace('_', '-')}")


def all_of(*options: Decorator) -> Decorator:
    """Return several options as one, in their order in the help."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def parsed_option(*names: str, parse: Callable[[Any], Any], **details: Any) -> Decorator:
    """Return an option of whose text the library's argument is made, where the option is given."""

    def callback(_context: click.Context, _option: click.Parameter, value: Any) -> Any:
        return None if value is None else parse(value)

    return click.option(*names, callback=callback, **details)


def taken(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given."""
    return {name: value for name, value in options.items() if value is not None and value != []}


def number_or_word(text: str) -> float | str:
    """Return the number that a text is, or the text."""
    try:
        return float(text)
    except ValueError:
        return text


# ----------------------------------------------------------------------------------------------- how a table is read


def read_known_rows(path: Path, file: Any, variables: Sequence[Variable], **options: Any) -> Kept:
    """Return the columns of a model's variables, whose states are known, and where the rows stand in the file."""
    found: Kept = file.rows(schema=variables, **options)
    _tell_of_unknown(found.table)
    refuse_empty(path, found.table)
    return found


def _tell_of_unknown(table: Table) -> None:
    if told := told_of_unknown(table):
        complain(f"note: {told}")


def with_states_of_model(table: Table) -> Table:
    """Return a table in which missing cells are the state that a model has for them, where it has one."""
    columns = []
    for variable, column in zip(table.variables, table.codes, strict=True):
        if variable.missing_state is not None and (absent := variable.missing(column)).any():
            assert not variable.is_continuous
            column = np.where(absent, variable.states.index(variable.missing_state), column).astype(variable.dtype)
        columns.append(column)
    return table.adopt(table.variables, columns, weights=table.weights, n_rows=table.n_rows)


def _text_option(name: str, help: str, parse: Callable[[str], Any] = str) -> Decorator:  # noqa: A002
    def keep(context: click.Context, _option: click.Parameter, value: str | None) -> None:
        if value is not None:
            say_of_text(context, name, parse(value))

    return click.option(option_of(name), callback=keep, expose_value=False, metavar="X", help=help)


@dataclass(frozen=True)
class Reading:
    """How a table without a model is read; the keywords of `fishernet.read_table`."""

    bins: Bins | None = None
    binning: str = QUANTILE
    missing: str = "keep"
    weights: str | None = None
    weight_kind: str | None = None
    columns: list[str] | None = None
    exclude: Sequence[str] = ()
    categorical: Sequence[str] = ()
    continuous: Sequence[str] = ()
    order: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unknown: UnknownName = "error"

    @classmethod
    def out_of(cls, options: dict[str, Any]) -> Self:
        """Take what is about reading out of a command's options."""
        return cls(**taken({field.name: options.pop(field.name, None) for field in fields(cls)}))

    @property
    def way(self) -> str | None:
        """How one learns from missing cells, which are kept for that; None where they are dealt with in reading."""
        return self.missing if self.missing in LEARNED else None

    @property
    def uncut(self) -> dict[str | None, Pieces] | None:
        """What is left to cut in a table that was read: nothing, where --bins said what; None where nobody said."""
        return None if self.bins is None else {}

    def read(self, path: Path, progress: Call | None = None) -> Table:
        """Read a table as it is: its numbers uncut but for --bins, its missing cells kept where they may stay."""
        if self.unknown != "error":
            raise FishernetError("--unknown is for labels that a model does not have; without a model, leave it out")
        there = ("state",) if opening().scheduler is not None else ()  # where the rows are, numbers are cut first, too
        way = self.missing if self.missing in ("error", "drop", *there) else "keep"
        return read(path, progress, **{**vars(self), "missing": way})

    def read_ready(self, path: Path, progress: Call | None = None) -> Table:
        """Read a table as a network is learned from it."""
        return self.ready(refuse_empty(path, self.read(path, progress)))

    def read_rows(self, file: Any) -> Kept:
        """Return the rows of a file that is read already, in states alone, and where they stand in it."""
        way = self.missing if self.missing in ("error", "drop") else "keep"
        found: Kept = file.rows(**{**vars(self), "missing": way})
        return replace(found, table=self.in_states(found.table))

    def ready(self, table: Table) -> Table:
        """Return a table as a network is learned from it: with numbers beside states on scales, if rows are here."""
        if opening().scheduler is not None or (self.missing == "state" and table.has_missing):
            return self.in_states(table)
        return prepared(table, self.uncut)

    def in_states(self, table: Table) -> Table:
        """Return a table with its numbers cut where there are states beside them, and then states of missing cells."""
        as_states = self.missing == "state" and table.has_missing
        if as_states or mixes_numbers(table.variables):
            table = table.discretize(AUTO)
        return table.with_missing_states() if as_states else table

    def read_known(self, path: Path, variables: Sequence[Variable], progress: Call | None = None) -> Table:
        """Read the columns of a model's variables, whose states are known; others are ignored."""
        if self.bins is not None or self.binning != QUANTILE:
            option = "--bins" if self.bins is not None else "--binning"
            raise FishernetError(f"{option} is for tables without a model; a model knows where to cut")
        table = read(path, progress, schema=variables, missing=self.missing, **self._of_rows)
        if opening().scheduler is not None:
            return table
        _tell_of_unknown(table)
        return with_states_of_model(refuse_empty(path, table))

    @property
    def _of_rows(self) -> dict[str, Any]:
        """What is said of the rows of a table, whatever its columns are."""
        return {"weights": self.weights, "weight_kind": self.weight_kind, "unknown": self.unknown}

    def read_numbers(
        self, path: Path, what: str, variables: Sequence[Column] | None = None, progress: Call | None = None
    ) -> Table:
        """Read columns of numbers without gaps: those of a model, or all (of ``--columns``); `what` takes them."""
        opening().here_only(what)
        if self.bins is not None:
            raise FishernetError(f"--bins makes states of numbers; {what} takes them as they are")
        if self.missing == "state":
            raise FishernetError(f"--missing {self.missing} is for tables of states; {what} takes --missing drop")
        kept = "drop" if self.missing == "drop" else "keep"
        try:
            if variables is None:
                table = replace(self, missing=kept).read(path, progress)
                table = table.conform([v if v.is_continuous else Continuous(v.name) for v in table.variables])
            else:
                table = read(path, progress, schema=variables, missing=kept, **self._of_rows)
                _tell_of_unknown(table)
        except UnknownStateError as error:
            if variables is not None:
                raise
            where = f" (row {error.row}: {error.label!r})" if error.row is not None else ""
            out = shlex.quote(csv_line([error.variable]))
            raise SchemaError(
                f"{what} needs columns of numbers; {error.variable!r} holds text{where}; name the columns of numbers "
                f"with --columns, or leave this one out with --exclude {out}"
            ) from None
        if self.missing == "error":
            table.require_complete(what)
        return table


MOST_LACKING = 3  # columns by name
HOW = {
    "em": "learned by EM (--missing says otherwise)",
    "node-average": "learned from the rows complete in each family, then by EM (--missing says otherwise)",
    None: "each sum uses the rows that have what it needs (--missing says otherwise)",
}


def scales_of(table: Table) -> dict[str, str]:
    """Return the scales on which regressions of numbers are, in words, by column."""
    return {variable.name: str(variable.scale) for variable in table.variables if variable.scale is not None}


def plan_lines(before: Table, after: Table, missing: Mapping[str, int], way: str | None) -> list[str]:
    """Return what a verb does about numbers and missing cells of a table, and with what it ends, in words."""
    cuts = told_of_cuts(before, after)
    lines = [f"{cuts} (--bins says otherwise)"] if cuts else []
    if missing:
        most = sorted(missing, key=lambda name: -missing[name])[:MOST_LACKING]
        told = ", ".join(f"{several(missing[name], 'row lacks', 'rows lack')} {name!r}" for name in most)
        more = f", and {several(len(missing) - len(most), 'more column')}" if len(missing) > len(most) else ""
        numbers = all(variable.is_continuous for variable in after.variables)  # of which there is one way
        lines.append(f"{told}{more}: {HOW['em' if numbers and way is None else way]}")
    return lines


def refuse_empty(path: Path, table: Table) -> Table:
    """Return the table; raise SchemaError when there are no rows."""
    if not table.n_rows:
        raise SchemaError(f"{path}: there are no rows")
    return table


def names_of(text: str, option: str) -> list[str]:
    """Return the names of ``a,b,c``; one with a comma in it stands in double quotes, as in a CSV file."""
    return [name for line in _split_names([text], option) for name in line]


def _split_names(lines: Iterable[str], where: object) -> Iterable[list[str]]:
    """Yield the names of each line that has some."""
    for number, line in enumerate(lines, start=1):
        try:
            rows = list(csv.reader([line], skipinitialspace=True, strict=True))
        except csv.Error as error:
            raise FileFormatError(where, f"the names {line!r} cannot be told apart ({error})", line=number) from None
        if rows and any(rows[0]):
            yield rows[0]


def _keep_words(context: click.Context, _option: click.Parameter, texts: Sequence[str]) -> None:
    if texts:
        say_of_text(context, "na_values", parse_words(texts))


def parse_words(texts: Sequence[str]) -> dict[str | None, list[str]]:
    """Return what ``--na-values`` says: the words that mean a missing cell, by column; None for all columns."""
    found: dict[str | None, list[str]] = {}
    for text in texts:
        words = names_of(text, "--na-values")
        name, equals, first = words[0].rpartition("=") if words else ("", "", "")
        if name and equals:
            words = [first, *words[1:]]
        found.setdefault(name if name and equals else None, []).extend(words)
    return found


def parse_order(texts: Sequence[str]) -> dict[str, list[str]] | None:
    """Return what ``--order`` says: the states of columns in their order."""
    found: dict[str, list[str]] = {}
    for text in texts:
        words = names_of(text, "--order")
        name, equals, first = words[0].partition("=") if words else ("", "", "")
        if not (name and equals):
            raise FishernetError(f"--order takes COLUMN=STATE,STATE,... (as in size=S,M,L), not {text!r}")
        found[name] = [first, *words[1:]]
    return found or None


def parse_bins(texts: Sequence[str]) -> Bins | None:
    """Return what ``--bins`` says: None, a number of bins, or numbers and cut points by column; none for "none"."""
    if not texts:
        return None
    if len(texts) == 1 and "=" not in texts[0]:
        if texts[0] == NO_BINS:
            return {}
        return AUTO if texts[0] == AUTO else _bin_number(int, texts[0], texts[0])
    bins: dict[str | None, Pieces] = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        column = name if equals else None
        if column in bins:
            wrong = f"names the column {column!r}" if equals else "says how many bins all other columns have"
            raise FishernetError(f"--bins {wrong} twice; it takes N once, and COLUMN=N once for each column")
        if value == AUTO:
            bins[column] = AUTO
        elif "," in value or "." in value:
            bins[column] = tuple(_bin_number(float, cut, text) for cut in value.split(",") if cut.strip())
        else:
            bins[column] = _bin_number(int, value, text)
    return bins


def _bin_number(kind: type[Number], value: str, text: str) -> Number:
    try:
        return kind(value)
    except ValueError:
        usage = "N, COLUMN=N or COLUMN=CUT,CUT,... (as in 4, age=4 or age=18,65)"
        raise FishernetError(f"--bins takes {usage}, not {text!r}") from None


def missing_option(*words: str) -> Decorator:
    """Return the option ``--missing`` with these words, the first of them the default."""
    explained = {
        "error": "refuse them",
        "drop": "leave out their rows",
        "state": "treat missing as a state",
        "keep": "use all that is known of each row",
        "em": "learn from the known cells by EM",
        "node-average": "score each family on the rows that are complete in it, then fit parameters by EM",
    }
    said = ", ".join(f"{explained[word]} ({word})" for word in words)
    return click.option(
        "--missing",
        type=click.Choice(words, case_sensitive=False),
        default=words[0],
        show_default=True,
        help=f"What to do with missing cells (empty, NA or ?): {said}.",
    )


unknown_option = click.option(
    "--unknown",
    type=click.Choice(get_args(UnknownName)),
    default="error",
    show_default=True,
    help="Labels that the model does not have: refuse them (error), or take such cells as missing (missing).",
)
weights_option = all_of(
    click.option("--weights", metavar="COLUMN", help="The column with the weights of the rows."),
    click.option(
        "--weight-kind",
        type=click.Choice(["counts", "survey"]),
        help="Weights say how many rows each stands for (counts), or are scaled to Kish's effective number of rows "
        "(survey).  [default: counts where all are whole]",
    ),
)


def _columns_option(name: str, help: str) -> Decorator:  # noqa: A002
    option = option_of(name)
    return parsed_option(option, parse=partial(names_of, option=option), metavar="A,B,...", help=help)


columns_option = _columns_option("columns", "Read these columns only. A name with a comma stands in double quotes.")
text_options = all_of(
    _text_option(
        "delimiter",
        "Character between the cells of a text file, or tab.  [default: by the name and the first rows]",
    ),
    _text_option("decimal", "Decimal separator of numbers, . or ,  [default: .]"),
    _text_option("thousands", "Thousands separator of numbers, for example the comma in 18,000."),
    _text_option("dates", "Order of dates as 3/4/2023: day-first or month-first.  [default: as the column shows]"),
    _text_option("encoding", "Encoding of a text file, for example latin-1.  [default: utf-8, else what it may be]"),
    _text_option("skip_rows", "Lines of a text file above its header.  [default: found, and told]"),
    _text_option("sheet", "Sheet of a file of sheets, or data frame of one of R.  [default: the first with cells]"),
    _text_option("header_rows", "Rows of a text file that are its header; 0 for none.  [default: found, and told]"),
    click.option(
        "--na-values",
        callback=_keep_words,
        expose_value=False,
        multiple=True,
        metavar="A,B,...|COLUMN=A,B,...",
        help="Text that means a missing cell, in all columns or in one. May be repeated.  [default: empty, NA, N/A, "
        "NaN, null, ? and what other programs write; beside numbers also -, None, unknown, #DIV/0! and such]",
    ),
)


scan_options = all_of(scan_option, cache_option)


def reading_options(*missing: str) -> Decorator:
    """Return the options of a `Reading`, with these words for ``--missing``."""
    return all_of(
        columns_option,
        _columns_option("exclude", "Leave out these columns, for example identifiers."),
        _columns_option("categorical", "Read these columns as states, even if they hold numbers or identifiers."),
        _columns_option("continuous", "Read these columns as numbers, even if few of them differ."),
        parsed_option(
            "--order",
            parse=parse_order,
            multiple=True,
            metavar="COLUMN=STATE,STATE,...",
            help="The states of a column in their order, all of them. May be repeated.  [default: sizes, scales, "
            "months, ranges and numbers in names in their own order, others by letters]",
        ),
        text_options,
        parsed_option(
            "--bins",
            parse=parse_bins,
            multiple=True,
            metavar="N|auto|none|COLUMN=N|COLUMN=CUT,...",
            help="Cut columns of numbers into at most N bins, or at the given points; columns that are states are cut "
            "where they are named. May be repeated for columns. Without it only columns are cut in which rows heap up "
            "at one number, and with none not these either.",
        ),
        click.option("--binning", metavar="quantile|equal-width", help="How to place N bins.  [default: quantile]"),
        missing_option(*missing),
        weights_option,
    )


# ----------------------------------------------------------------------------------------------- how it is learned


def arcs(texts: Sequence[str], option: str) -> list[tuple[str, str]]:
    """Return the arcs that ``A,B`` means, said once or more often."""
    found = []
    for text in texts:
        names = names_of(text, option)
        if len(names) != 2:
            raise FishernetError(
                f"{option} takes an arc as PARENT,CHILD, not {text!r}; "
                "a name with a comma stands in quotes: '\"a,b\",c'"
            )
        found.append((names[0], names[1]))
    return found


def read_tiers(text: str) -> list[list[str]]:
    """Return the tiers of ``a,b;c,d``, or of a file with one per line, which a name with a semicolon needs."""
    path = Path(text)
    if path.is_file():
        return list(_split_names(read_text(path).splitlines(), path))
    if ";" not in text:
        raise FishernetError(f'--tiers takes a file, or tiers as "a,b;c,d"; {text!r} is neither')
    return list(_split_names(text.split(";"), "--tiers"))


def _arc_option(option: str, name: str, which: str) -> Decorator:
    says = f"The arc A -> B {which} be there. May be repeated."
    return parsed_option(option, name, parse=partial(arcs, option=option), multiple=True, metavar="A,B", help=says)


rule_options = all_of(
    _arc_option("--require", "required", "must"),
    _arc_option("--forbid", "forbidden", "must not"),
    parsed_option(
        "--tiers",
        parse=read_tiers,
        metavar='FILE|"A,B;C,D"',
        help="No arc runs from a later tier to an earlier one. In a file, a line is a tier.",
    ),
)
RULES = frozenset({"required", "forbidden", "tiers"})


def in_bytes(gigabytes: float) -> float:
    """Return a number of gigabytes in bytes."""
    return 1e9 * check.number(gigabytes, "max_memory", above=0)


TUNING = {  # option -> (type, what stands for its value, what it says)
    "candidates": (int, "N", "arcs only to the N variables that depend most."),
    "restarts": (int, "N", "continue N times from the best graph after random changes."),
    "perturb": (int, "N", "number of random changes per restart."),
    "tenure": (int, "N", "tabu: a changed arc is tabu for N steps."),
    "patience": (int, "N", "tabu: stop after N steps without improvement."),
    "max_cells": (float, "N", "at most N cells in the table of a conditional.  [default: 2**24]"),
    "max_memory": (float, "GB", "exact: use at most this much memory.  [default: 8.6]"),
}


def tuning_options(begin: str) -> Decorator:
    """Return the options that tune a search; the help of each begins with what it is for."""
    return all_of(
        *(
            parsed_option(
                option_of(name),
                parse=in_bytes if metavar == "GB" else kind,
                type=kind,
                metavar=metavar,
                help=f"{begin}: {says}",
            )
            for name, (kind, metavar, says) in TUNING.items()
        )
    )
