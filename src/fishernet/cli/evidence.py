"""What is known, likely or set, as it is typed: ``NAME=STATE``, ``NAME>65``, ``NAME=STATE:NUMBER,STATE:NUMBER``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import click
import numpy as np

from fishernet.base.errors import FishernetError, SchemaError, UnknownStateError
from fishernet.base.names import listed
from fishernet.data import Continuous, State
from fishernet.data.given import number_given, value_given
from fishernet.data.variable import Column

States = dict[str, State]
Known = dict[str, Any]  # as net.given takes it

given_option = click.option(
    "--given",
    multiple=True,
    metavar="NAME=STATE",
    help="What is known: NAME=STATE, NAME=STATE,STATE for one of them, 'NAME>65', 'NAME<=80'. May be repeated.",
)


def known_values(texts: Sequence[str], option: str, variables: Sequence[Column]) -> Known:
    """Return what texts say of variables, as ``net.given`` takes it: states, numbers, lists of states and ranges.

    NAME=STATE, NAME=STATE,STATE and NAME>65 (also >=, < and <=); of a range the two ends may be said apart.
    """
    by_name = {variable.name: variable for variable in variables}
    found: Known = {}
    for text in texts:
        variable, sign, said = _split(text, option, by_name)
        value = _one_of(variable, said) if sign == "=" else _range(variable, sign, said)
        before = found.setdefault(variable.name, value)
        if isinstance(before, tuple) and isinstance(value, tuple):
            low, high = ([end for end in ends if end is not None] for ends in zip(before, value, strict=True))
            found[variable.name] = max(low, default=None), min(high, default=None)
        elif before != value:
            raise FishernetError(f"{option} names {variable.name!r} twice, with {before!r} and {value!r}; say it once")
    return found


def states_alone(known: Known, option: str, why: str) -> States:
    """Return what is known where one state each is all that can be; FishernetError where there is more."""
    for name, value in known.items():
        if isinstance(value, list | tuple | dict):
            raise FishernetError(f"{option} names more than one state of {name!r}; {why}")
    return known


def weighted_states(texts: Sequence[str], option: str, variables: Sequence[Column]) -> dict[str, dict[State, float]]:
    """Return what texts NAME=STATE:NUMBER,STATE:NUMBER say: a number for each state that is named."""
    by_name = {variable.name: variable for variable in variables}
    found: dict[str, dict[State, float]] = {}
    for text in texts:
        variable, sign, said = _split(text, option, by_name)
        numbers = _numbered(variable, said) if sign == "=" else None
        if numbers is None:
            raise FishernetError(
                f"{option} takes NAME=STATE:NUMBER,STATE:NUMBER with states of the model, not {text!r}"
            )
        if variable.name in found:
            raise FishernetError(f"{option} names {variable.name!r} twice; say it once, with all states")
        found[variable.name] = numbers
    return found


def values_to_set(texts: Sequence[str], option: str, variables: Sequence[Column]) -> Known:
    """Return what texts set: a state or number each, or the probabilities of states as `weighted_states` reads them."""
    by_name = {variable.name: variable for variable in variables}
    soft = []
    for text in texts:
        variable, _, said = _split(text, option, by_name)
        if _state(variable, said) is None and _numbered(variable, said) is not None:
            soft.append(text)
    certain = known_values([text for text in texts if text not in soft], option, variables)
    states_alone(certain, option, f"say how probable each is: {option} NAME=STATE:NUMBER,STATE:NUMBER")
    return {**certain, **weighted_states(soft, option, variables)}


def _split(text: str, option: str, by_name: Mapping[str, Column]) -> tuple[Column, str, str]:
    """Divide a text at the first sign (``=``, ``>``, ``>=``, ``<``, ``<=``) that has a variable's name before it."""
    for place, character in enumerate(text):
        if character in "=<>":
            sign = text[place : place + 2] if character != "=" and text[place + 1 : place + 2] == "=" else character
            for name in (text[:place], text[:place].rstrip()):  # names may hold signs
                if name in by_name:
                    return by_name[name], sign, text[place + len(sign) :]
    name, equals, _ = text.partition("=")
    if not equals:
        raise SchemaError(f"{option} takes NAME=STATE, not {text!r}")
    raise SchemaError(f"{option}: no variable {name!r}; there are {listed(by_name)}")


def _state(variable: Column, text: str) -> State | None:
    try:
        return value_given(variable, text)
    except UnknownStateError:
        return None


def _one_of(variable: Column, text: str) -> State | list[State]:
    """Return the state or number that a text means, or the states that it lists with commas between them."""
    if not variable.is_continuous and _state(variable, text) is None:
        parts = [_state(variable, part) for part in text.split(",")]
        if len(parts) > 1 and all(part is not None for part in parts):
            return [part for part in parts if part is not None]
    return value_given(variable, text)


def _range(variable: Column, sign: str, text: str) -> tuple[float | None, float | None]:
    """Return the numbers on one side of a limit, which is one of them where the sign says so."""
    limit = number_given(Continuous(variable.name, variable.unit), text.strip())
    away = math.inf if sign[0] == ">" else -math.inf
    if len(sign) == 1:
        unit = variable.resolution if variable.is_continuous else None  # a rounded number is the interval around it
        limit = limit + math.copysign(unit, away) if unit else float(np.nextafter(limit, away))
    return (limit, None) if away > 0 else (None, limit)


def _numbered(variable: Column, text: str) -> dict[State, float] | None:
    """Return the numbers that a text STATE:NUMBER,STATE:NUMBER has for states; None where it is no such text."""
    if variable.is_continuous:
        return None
    found: dict[State, float] = {}
    begin = 0
    for end in [place for place, character in enumerate(text) if character == ","] + [len(text)]:
        label, colon, said = text[begin:end].rpartition(":")  # a label may hold commas and colons
        state, value = _state(variable, label) if colon else None, _as_number(said)
        if state is not None and value is not None:
            found[state] = value
            begin = end + 1
    return found if found and begin > len(text) else None


def _as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
