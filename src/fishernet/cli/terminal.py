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

A message of the library about an argument ends with the option that sets it.

A progress bar on stderr, when a person is looking.

How long the parts of a command took.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from fishernet.base.errors import FishernetError, FishernetWarning
from fishernet.base.progress import Progress


def with_option(text: str, parameter: str | None, command: click.Command | None) -> str:
    """Return a message that ends with the option of a command that sets what it is about, if there is such an option.

    Parameters
    ----------
    text : str
        What an error or a warning says.
    parameter : str or None
        Its argument, by the name that it has in the library.
    command : click.Command or None
        What is running.
    """
    for option in command.params if command else ():
        if isinstance(option, click.Option) and parameter in (option.name, *map(_plain_name, option.opts)):
            choices = f": {', '.join(option.type.choices)}" if isinstance(option.type, click.Choice) else ""
            return f"{text} (option {max(option.opts, key=len)}{choices})"
    return text


def _plain_name(option: str) -> str:
    return option.lstrip("-").replace("-", "_")


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
        with _told(None):
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _told(ctx), _notes(ctx):
            answer = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
            return answer


def _running(context: click.Context | None) -> click.Command | None:
    """Return the command of a group that runs."""
    if context is None or context.invoked_subcommand is None or not isinstance(context.command, click.Group):
        return None
    return context.command.get_command(context, context.invoked_subcommand)


@contextmanager
def _told(context: click.Context | None) -> Iterator[None]:
    """Turn a failure into one sentence and an exit status."""
    try:
        yield
    except (click.ClickException, click.Abort, click.exceptions.Exit):
        raise
    except (Exception, KeyboardInterrupt) as error:
        if TRACEBACK in os.environ:
            raise
        sentence, status = outcome(error, _running(context))
        _forget_stdout(error)
        complain(sentence)
        raise click.exceptions.Exit(status) from None


def outcome(error: BaseException, command: click.Command | None = None) -> tuple[str, int]:
    """Return what is to be said about an error of a command, and the exit status."""
    match error:
        case KeyboardInterrupt():
            return _interrupted(error), 130
        case BrokenPipeError():
            return "", 141
        case FishernetError():
            return with_option(str(error), error.parameter, command), 1
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
def _notes(context: click.Context) -> Iterator[None]:
    """Turn the library's warnings into notes on stderr."""

    def note(message: Warning | str, *_: object, **__: object) -> None:
        complain(f"note: {with_option(str(message), getattr(message, 'parameter', None), _running(context))}")

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
