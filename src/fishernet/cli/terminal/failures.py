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
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from fishernet.cli.terminal.wording import on_one_line, option_words
from fishernet.errors import FishernetError, FishernetWarning

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
