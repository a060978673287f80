"""Rules for a search on the command line: arcs that must or must not be there, and tiers."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any, TypedDict

import click

from fishernet.errors import FileFormatError, FishernetError
from fishernet.files.reading import read_text


class Rules(TypedDict):
    """The rules, by the names that `fishernet.learn.structure` gives them."""

    required: list[tuple[str, str]]
    forbidden: list[tuple[str, str]]
    tiers: list[list[str]] | None


def rule_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``--require``, ``--forbid`` and ``--tiers``; it gets them as one keyword ``rules``."""

    @click.option("--require", multiple=True, metavar="A,B", help="The arc A -> B must be there. May be repeated.")
    @click.option("--forbid", multiple=True, metavar="A,B", help="The arc A -> B must not be there. May be repeated.")
    @click.option(
        "--tiers",
        metavar='FILE|"A,B;C,D"',
        help="No arc runs from a later tier to an earlier one. In a file, a line is a tier.",
    )
    @wraps(command)
    def with_rules(
        *args: Any, require: tuple[str, ...], forbid: tuple[str, ...], tiers: str | None, **rest: Any
    ) -> Any:
        rules = Rules(
            required=[arc(text, "--require") for text in require],
            forbidden=[arc(text, "--forbid") for text in forbid],
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
    return [name for line in _split([text], option) for name in line]


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
        return list(_split(read_text(path).splitlines(), path))
    if ";" not in text:
        raise FishernetError(f'--tiers takes a file, or tiers as "a,b;c,d"; {text!r} is neither')
    return list(_split(text.split(";"), "--tiers"))


def _split(lines: Iterable[str], where: object) -> Iterable[list[str]]:
    """Yield the names of each line that has some."""
    for number, line in enumerate(lines, start=1):
        try:
            rows = list(csv.reader([line], skipinitialspace=True, strict=True))
        except csv.Error as error:
            raise FileFormatError(where, f"the names {line!r} cannot be told apart ({error})", line=number) from None
        if rows and any(rows[0]):
            yield rows[0]
