"""How a command ends: an exit status, and one plain sentence on stderr when something went wrong.

======  =========================================================================
status  when
======  =========================================================================
0       all went well
1       bad input, a file that cannot be read or written, too little memory
2       a command line that makes no sense (click's own)
130     Ctrl-C
141     whoever read our output has gone away, as ``head`` does; nothing is said
======  =========================================================================

The library's messages in the words of the command line: ``missing="drop"`` is ``--missing drop`` here.

A progress bar on stderr, when a person is looking.

How long the parts of a command took.
"""

from __future__ import annotations

import os
import re
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from fishernet.base.errors import FishernetError, FishernetWarning
from fishernet.base.progress import Progress

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


TRACEBACK = "FISHERNET_TRACEBACK"  # an environment variable: when it is set, errors show where they happened


class Commands(click.Group):
    """A group of commands whose failures become an exit status and one sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the commands' names as they were listed, which is the order in which they are used."""
        return list(self.commands)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Parse the command line; ``--help`` and ``--version`` print here."""
        with _told():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _told(), _notes():
            answer = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
            return answer


@contextmanager
def _told() -> Iterator[None]:
    """Turn a failure into one sentence and an exit status."""
    try:
        yield
    except (click.ClickException, click.Abort, click.exceptions.Exit):
        raise
    except (Exception, KeyboardInterrupt) as error:
        if TRACEBACK in os.environ:
            raise
        sentence, status = outcome(error)
        _forget_stdout(error)
        complain(sentence)
        raise click.exceptions.Exit(status) from None


def outcome(error: BaseException) -> tuple[str, int]:
    """Return what is to be said about an error, and the exit status."""
    match error:
        case KeyboardInterrupt():
            return _interrupted(error), 130
        case BrokenPipeError():
            return "", 141
        case FishernetError():
            return option_words(str(error)), 1
        case OSError(filename=None):
            return f"reading or writing failed: {error.strerror or error}", 1
        case OSError():
            return f"{os.fsdecode(error.filename)}: {error.strerror}", 1
        case MemoryError():
            return f"there is not enough memory; {error or 'try fewer rows or variables'}", 1
    return (
        f"a mistake of fishernet itself, please report it: {type(error).__name__}: {error} "
        f"({TRACEBACK}=1 shows where it happened)"
    ), 1


def complain(sentence: str) -> None:
    """Write one line to stderr; an empty sentence is not said."""
    if not sentence:
        return
    with suppress(OSError):
        click.echo(f"fishernet: {on_one_line(sentence)}", err=True)


def _interrupted(interrupt: KeyboardInterrupt) -> str:
    if interrupt.args:
        return f"{interrupt}; nothing was written"
    best = getattr(interrupt, "best", None)
    if best is None:
        return "interrupted"
    return (
        f"interrupted while learning, with {best.n_edges} arcs so far; nothing was written "
        "(--max-seconds stops in time and keeps the best)"
    )


@contextmanager
def _notes() -> Iterator[None]:
    """Turn the library's warnings into notes on stderr."""

    def note(message: Warning | str, *_: object, **__: object) -> None:
        complain(f"note: {option_words(str(message))}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", FishernetWarning)
        warnings.showwarning = note
        yield


def _forget_stdout(error: BaseException) -> None:
    """Let what stdout did not take go nowhere, so that the interpreter's last flush does not fail again."""
    if isinstance(error, OSError) and error.filename is None:
        with suppress(OSError, ValueError, AttributeError):  # no stdout, or none with a file behind it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Show a progress bar while the work inside goes on; it is wiped away at the end.

    Yields
    ------
    callable
        ``progress(what, done, total)``; does nothing when stderr is no terminal.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield _silent
        return
    from rich.console import Console  # loading rich takes longer than many a command
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    looks = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(SpinnerColumn(), *looks, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def show(what: str, done: int, total: int | None) -> None:
            if total is None:
                bar.reset(task)  # a total once said would stay
            bar.update(task, description=what, completed=done, total=total)

        yield show


def _silent(what: str, done: int, total: int | None) -> None:
    """Show nothing."""


class Stopwatch:
    """Measures the parts of a piece of work.

    Attributes
    ----------
    seconds : dict from str to float
        How long each part took, in the order in which they began.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def time(self, part: str) -> Iterator[None]:
        """Measure what happens inside as one part."""
        self.seconds[part] = 0.0
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[part] = time.perf_counter() - began
