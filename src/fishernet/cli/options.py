"""Table files on the command line: the options that say how one is read, and reading one for a model.

Rules for a search on the command line: arcs that must or must not be there, and tiers.

How a search for the arcs of a Bayesian network goes about it, on the command line.

What is known of variables, on the command line: NAME=STATE.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any, TypedDict

import click

from fishernet.base import check
from fishernet.base.errors import FileFormatError, FishernetError, SchemaError, UnknownStateError
from fishernet.base.io import read_text
from fishernet.base.names import listed
from fishernet.data import Continuous, State, Table, Variable, read_table
from fishernet.data.cells import Cells
from fishernet.data.encode import UNKNOWN, looked_up
from fishernet.data.variable import code_of, label_array
from fishernet.models import BayesianNetwork, DependencyNetwork

Bins = int | dict[str, int | tuple[float, ...]]

weights_option = click.option("--weights", metavar="COLUMN", help="The column that says how often each row counts.")


@dataclass(frozen=True)
class Reading:
    """How a table without a model is read; the keywords of `fishernet.read_table`."""

    bins: Bins | None
    binning: str
    missing: str
    weights: str | None
    columns: list[str] | None = None

    def read(self, path: Path) -> Table:
        """Read a table and find the states of its variables."""
        return read_table(
            path,
            bins=self.bins,
            binning=self.binning,
            missing=self.missing,
            weights=self.weights,
            columns=self.columns,
        )

    def read_numbers(self, path: Path, what: str, names: Sequence[str] | None = None) -> Table:
        """Read a table all of whose columns are numbers.

        Parameters
        ----------
        path : Path
        what : str
            What takes numbers, for messages.
        names : sequence of str, optional
            Of the columns; without them all, or those that ``--columns`` says.

        Raises
        ------
        FishernetError
            When an option was given that only tables of states have.
        SchemaError
            When a cell is no number.
        MissingValueError
            When cells are missing that must not be.
        """
        if self.bins is not None:
            raise FishernetError(f"--bins makes states of numbers; {what} takes them as they are")
        if self.weights is not None:
            raise FishernetError(f"--weights is for tables of states; for {what} every row counts once")
        if self.missing not in ("error", "drop"):
            raise FishernetError(f"--missing {self.missing} is for tables of states; {what} takes --missing drop")
        kept = "keep" if self.missing == "error" else self.missing
        try:
            if names is None:
                table = replace(self, missing=kept).read(path)
                table = table.conform([Continuous(name) for name in table.names])
            else:
                table = read_table(path, schema=[Continuous(name) for name in names], missing=kept)
        except UnknownStateError as error:
            advice = "" if names is not None else "; leave the column out (--columns names those to read)"
            raise SchemaError(f"{error}{advice}") from None
        table.require_complete(what)
        return table


columns_option = click.option(
    "--columns", metavar="A,B,...", help="Read these columns only. A name with a comma stands in double quotes."
)


def reading_options(*missing: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options that say how a table is read; it gets them as one keyword ``reading``.

    Parameters
    ----------
    *missing : str
        The words that ``--missing`` knows, the first of them the default.
    """

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        @click.option(
            "--bins",
            multiple=True,
            metavar="N|COLUMN=N|COLUMN=CUT,...",
            help="Cut numeric columns into at most N bins, or at the given points. May be repeated for columns.",
        )
        @click.option(
            "--binning",
            default="quantile",
            show_default=True,
            metavar="quantile|equal-width",
            help="How N bins are cut.",
        )
        @missing_option(*missing)
        @weights_option
        @wraps(command)
        def with_reading(
            *args: Any, bins: tuple[str, ...], binning: str, missing: str, weights: str | None, **rest: Any
        ) -> Any:
            reading = Reading(parse_bins(bins), binning, missing, weights)
            return command(*args, reading=reading, **rest)

        return with_reading

    return add


def missing_option(*words: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option ``--missing`` with these words, the first of them the default."""
    explained = {
        "error": "refuse them",
        "drop": "leave their rows out",
        "state": "make them a state of their own",
        "keep": "keep them",
    }
    return click.option(
        "--missing",
        type=click.Choice(words),
        default=words[0],
        show_default=True,
        help=f"Missing cells (empty, NA or ?): {', '.join(f'{explained[word]} ({word})' for word in words)}.",
    )


def parse_bins(texts: Sequence[str]) -> Bins | None:
    """Return what ``--bins`` says: None, a number of bins, or numbers and cut points by column.

    Raises
    ------
    FishernetError
        When one is no number, or a number for all columns comes with others.
    """
    if not texts:
        return None
    if len(texts) == 1 and "=" not in texts[0]:
        return _n_bins(texts[0], texts[0])
    bins: dict[str, int | tuple[float, ...]] = {}
    for text in texts:
        column, equals, value = text.rpartition("=")
        if not equals or column in bins:
            wrong = f"names the column {column!r} twice" if equals else "gives one number for all columns and others"
            raise FishernetError(f"--bins {wrong}; it takes N once, or COLUMN=N for different columns")
        bins[column] = _cuts(value, text) if "," in value or "." in value else _n_bins(value, text)
    return bins


def _n_bins(value: str, text: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise _no_bins(text) from None


def _cuts(value: str, text: str) -> tuple[float, ...]:
    try:
        return tuple(float(cut) for cut in value.split(",") if cut.strip())
    except ValueError:
        raise _no_bins(text) from None


def _no_bins(text: str) -> FishernetError:
    return FishernetError(f"--bins takes N, COLUMN=N or COLUMN=CUT,CUT,... (as in 4, age=4 or age=18,65), not {text!r}")


def read_for_model(
    path: Path, model: BayesianNetwork | DependencyNetwork, *, missing: str = "error", weights: str | None = None
) -> Table:
    """Read a table whose labels are looked up in a model's states; columns that it does not know are ignored."""
    return refuse_empty(path, read_table(path, schema=model.variables, missing=missing, weights=weights))


def read_columns(path: Path, variables: Sequence[Variable], missing: str, unknown: str = "error") -> Table:
    """Read some columns of a table, in their order, and every row."""
    return refuse_empty(path, read_table(path, schema=variables, missing=missing, unknown=unknown))


def refuse_empty(path: Path, table: Table) -> Table:
    """Return the table; raise SchemaError when there are no rows."""
    if not table.n_rows:
        raise SchemaError(f"{path}: there are no rows")
    return table


OPTION = {"required": "--require", "forbidden": "--forbid"}  # the others are called as they are


def option_of(name: str) -> str:
    """Return the option that sets an argument of the library."""
    return OPTION.get(name, f"--{name.replace('_', '-')}")


class Rules(TypedDict):
    """The rules, by the names that `fishernet.learn.structure` gives them."""

    required: list[tuple[str, str]]
    forbidden: list[tuple[str, str]]
    tiers: list[list[str]] | None


def rule_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``--require``, ``--forbid`` and ``--tiers``; it gets them as one keyword ``rules``."""

    @click.option(
        "--require", "required", multiple=True, metavar="A,B", help="The arc A -> B must be there. May be repeated."
    )
    @click.option(
        "--forbid", "forbidden", multiple=True, metavar="A,B", help="The arc A -> B must not be there. May be repeated."
    )
    @click.option(
        "--tiers",
        metavar='FILE|"A,B;C,D"',
        help="No arc runs from a later tier to an earlier one. In a file, a line is a tier.",
    )
    @wraps(command)
    def with_rules(
        *args: Any, required: tuple[str, ...], forbidden: tuple[str, ...], tiers: str | None, **rest: Any
    ) -> Any:
        rules = Rules(
            required=[arc(text, "--require") for text in required],
            forbidden=[arc(text, "--forbid") for text in forbidden],
            tiers=None if tiers is None else read_tiers(tiers),
        )
        return command(*args, rules=rules, **rest)

    return with_rules


def arc(text: str, option: str) -> tuple[str, str]:
    """Return the arc that ``A,B`` means; a name with a comma in it stands in double quotes, as in a CSV file."""
    names = names_of(text, option)
    if len(names) != 2:
        raise FishernetError(
            f"{option} takes an arc as PARENT,CHILD, not {text!r}; a name with a comma stands in quotes: '\"a,b\",c'"
        )
    return names[0], names[1]


def names_of(text: str, option: str) -> list[str]:
    """Return the names of ``a,b,c``; one with a comma in it stands in double quotes."""
    return [name for line in _split_rule([text], option) for name in line]


def read_tiers(text: str) -> list[list[str]]:
    """Return the tiers of ``a,b;c,d``, or those of a file that has one a line.

    Names that hold commas stand in double quotes; one that holds a semicolon needs a file.

    Raises
    ------
    FishernetError
        When the text names no file and has no semicolon either.
    """
    path = Path(text)
    if path.is_file():
        return list(_split_rule(read_text(path).splitlines(), path))
    if ";" not in text:
        raise FishernetError(f'--tiers takes a file, or tiers as "a,b;c,d"; {text!r} is neither')
    return list(_split_rule(text.split(";"), "--tiers"))


def _split_rule(lines: Iterable[str], where: object) -> Iterable[list[str]]:
    """Yield the names of each line that has some."""
    for number, line in enumerate(lines, start=1):
        try:
            rows = list(csv.reader([line], skipinitialspace=True, strict=True))
        except csv.Error as error:
            raise FileFormatError(where, f"the names {line!r} cannot be told apart ({error})", line=number) from None
        if rows and any(rows[0]):
            yield rows[0]


GB = 1e9
TUNING = {  # option -> (type, what stands for its value, what it says)
    "candidates": (int, "N", "arcs only to the N variables that depend most."),
    "restarts": (int, "N", "go on from the best graph N times, changed at random."),
    "perturb": (int, "N", "how many random changes a restart makes."),
    "tenure": (int, "N", "tabu; an arc that was changed stays as it is for N steps."),
    "patience": (int, "N", "tabu; end after N steps that better nothing."),
    "max_memory": (float, "GB", "exact; take so many GB at most.  [default: 8.6]"),
}


def tuning_options(begin: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options that tune a search; it gets them as one keyword ``tuning``, a dict.

    Parameters
    ----------
    begin : str
        How the help of each begins: what it is for.
    """

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_tuning(*args: Any, **options: Any) -> Any:
            tuning = {name: options.pop(name) for name in TUNING}
            if tuning["max_memory"] is not None:
                tuning["max_memory"] = GB * check.number(tuning["max_memory"], "max_memory", above=0)
            return command(*args, tuning=tuning, **options)

        for name, (kind, metavar, says) in reversed(TUNING.items()):
            option = f"--{name.replace('_', '-')}"
            with_tuning = click.option(option, type=kind, metavar=metavar, help=f"{begin}: {says}")(with_tuning)
        return with_tuning

    return add


States = dict[str, State]


def known_states(texts: Sequence[str], option: str, variables: Sequence[Variable]) -> States:
    """Return what NAME=STATE, said once or more often, says of the variables.

    Raises
    ------
    SchemaError
        When a text begins with no variable's name and an equals sign.
    UnknownStateError
        When a state is not one of its variable's.
    FishernetError
        When a variable is said to have two states.
    """
    by_name = {variable.name: variable for variable in variables}
    found: States = {}
    for text in texts:
        variable, label = _split(text, option, by_name)
        state = state_of(variable, label)
        before = found.setdefault(variable.name, state)
        if before != state:
            raise FishernetError(f"{option} names {variable.name!r} twice, with the states {before!r} and {state!r}")
    return found


def state_of(variable: Variable, label: str) -> State:
    """Return the state that a label means, looked up as a cell of a text file is."""
    code = int(looked_up(Cells(variable.name, label_array([label]), [], text=True), variable)[0])
    return variable.states[code_of(variable, label) if code == UNKNOWN else code]  # the former raises


def _split(text: str, option: str, by_name: Mapping[str, Variable]) -> tuple[Variable, str]:
    """Divide a text at the first equals sign that has a variable's name before it; names may hold some."""
    for place, character in enumerate(text):
        if character == "=" and text[:place] in by_name:
            return by_name[text[:place]], text[place + 1 :]
    name, equals, _ = text.partition("=")
    if not equals:
        raise SchemaError(f"{option} takes NAME=STATE, not {text!r}")
    raise SchemaError(f"{option}: no variable {name!r}; there are {listed(by_name)}")
