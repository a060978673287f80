"""Remedies for what an error or a warning is about: keywords in the library, options on the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Remedy:
    """Arguments that would mend what a message is about."""

    arguments: Mapping[str, str | int | list[str] | dict[str, list[str]]]
    """What to pass, by the names of the function that was called: a word, columns or texts, or texts by column."""
    purpose: str
    """What that does, to follow "to"."""

    def __str__(self) -> str:
        words = " with ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{words} to {self.purpose}"


def advice(verb: str, remedies: Sequence[str]) -> str:
    """Return what to do as the end of a message: ``; pass a, b, or c``; nothing without remedies."""
    if not remedies:
        return ""
    *first, last = remedies
    return f"; {verb} {', '.join(first)}{', or ' if first else ''}{last}"
