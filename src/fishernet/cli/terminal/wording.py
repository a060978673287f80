"""The library's messages in the words of the command line: ``missing="drop"`` is ``--missing drop`` here."""

from __future__ import annotations

import re

import click

WORDS = [
    (re.compile(pattern), ours)
    for pattern, ours in (
        (r"\(columns=\[\.\.\.\] names those to read\)", "(--columns names those to read)"),
        (r"\bprior=True\b", "--prior"),
        (r", as columns asks", ", as --columns asks"),
        (r"^columns names", "--columns names"),
        (r"^unknown (rule|scheme|test)\b", r"unknown --\1"),
        (r"\bset max_parents\b", "set --max-parents"),
        (r"\btakes no max_memory\b", "takes no --max-memory"),
        (r'; unknown="missing" takes such cells for missing', ""),
        (r"(; | or )give a schema\b", ""),
        (r"pass bins, as in bins=5 or bins=\{column: 5\}", "pass --bins 5 or --bins COLUMN=5"),
        (r", as schema asks", ", which the model needs"),
        (r", as (bins|weights) asks", r", as --\1 asks"),
        (r"\bvariables of the schema\b", "variables of the model"),
        (r"\badd it to na_values\b", "write NA"),
        (r"\bwith smoothing > 0", "with --smoothing above 0"),
        (r"\buse smoothing > 0 or ess\b", "use --smoothing above 0 or --ess"),
        (r"\bfishernet\.read_bif reads", "the ending .bif stands for"),
        (r"^unknown scan\b", "unknown --scan"),
        (r"raise max_table \(8 bytes a cell\), give more evidence, or sample", "give more evidence"),
        (r"\bmax_memory allows (\S+ GB)", r"\1 are allowed"),
        (r"; max_memory counts \d+ bytes for each", ""),
        (r"\bread without schema=table\.variables\b", "read without the model"),
    )
]
MISSING = 'missing="drop", "state" or "keep"'
OPTION = re.compile(r"\b(missing|smoothing|binning|bins|ess|max_parents)=\"?([\w.]+)\"?")
KEYWORD = re.compile(
    r"^(bins|binning|smoothing|ess|seed|max_parents|max_inputs|max_seconds|chains|burn_in|thin|candidates|restarts"
    r"|perturb|tenure|patience|alpha|permutations|k)(?= must| and| is how)"
)


def option_words(message: str) -> str:
    """Return a message with the options of the command line in place of Python's keywords."""
    message = message.replace(MISSING, _policies_for_missing())
    for python, ours in WORDS:
        message = python.sub(ours, message)
    message = KEYWORD.sub(lambda match: _option(match[1]), message)
    return OPTION.sub(lambda match: f"{_option(match[1])} {match[2]}", message)


def _policies_for_missing() -> str:
    """Return what ``--missing`` offers in the command that runs."""
    context = click.get_current_context(silent=True)
    command = None if context is None else context.command
    if context is not None and isinstance(command, click.Group) and context.invoked_subcommand:
        command = command.get_command(context, context.invoked_subcommand)
    known = {option.name: option.type for option in command.params}.get("missing") if command else None
    words = [word for word in known.choices if word != "error"] if isinstance(known, click.Choice) else ["drop"]
    return " or ".join(f"--missing {word}" for word in words)


def _option(keyword: str) -> str:
    return f"--{keyword.replace('_', '-')}"


def on_one_line(text: str) -> str:
    """Return text on one line, with escapes for what a terminal would obey."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def shown(label: object) -> str:
    """Return a label as a line of text shows it: as it is where it is plain, otherwise in quotes with escapes."""
    text = str(label)
    return text if text.isprintable() and text and text == text.strip() else repr(text)
