"""A progress bar on stderr, when a person is looking."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from fishernet.progress import Progress


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
