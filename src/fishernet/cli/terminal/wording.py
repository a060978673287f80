"""The library's messages in the words of the command line: ``missing="drop"`` is ``--missing drop`` here."""

from __future__ import annotations

import re

WORDS = [
    ('missing="drop", "state" or "keep"', "--missing drop or --missing state"),
    ('; unknown="missing" takes such cells for missing', ""),
    ("pass bins, as in bins=5 or bins={column: 5}, to cut them", "pass --bins 5 or --bins COLUMN=5 to cut them"),
    (" to find its states in; give a schema", ""),
    (", as schema asks;", ", which the model needs;"),
    (", as weights asks;", ", as --weights asks;"),
    (", as bins asks;", ", as --bins asks;"),
    ("these variables of the schema have no state for them", "the model has no state for them there"),
    ("; leave it out or give a schema", "; leave the column out"),
    ("use smoothing > 0 or ess", "use --smoothing above 0 or --ess"),
    ("fit the network with smoothing > 0", "learn it with --smoothing above 0"),
    ("fishernet.read_bif reads", "is told by the ending .bif"),
    ("read without schema=table.variables, the labels", "read without the model, the labels"),
]
OPTION = re.compile(r"\b(missing|smoothing|binning|bins|ess|max_parents)=\"?([\w.]+)\"?")
KEYWORD = re.compile(r"^(bins|binning|smoothing|ess|seed|max_parents|max_seconds)(?= must| and)")


def option_words(message: str) -> str:
    """Return a message with the options of the command line in place of Python's keywords."""
    for python, ours in WORDS:
        message = message.replace(python, ours)
    message = KEYWORD.sub(lambda match: _option(match[1]), message)
    return OPTION.sub(lambda match: f"{_option(match[1])} {match[2]}", message)


def _option(keyword: str) -> str:
    return f"--{keyword.replace('_', '-')}"


def on_one_line(text: str) -> str:
    """Return text on one line, with escapes for what a terminal would obey."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def shown(label: object) -> str:
    """Return a label as a line of text shows it: as it is where it is plain, otherwise in quotes with escapes."""
    text = str(label)
    return text if text.isprintable() and text and text == text.strip() else repr(text)
