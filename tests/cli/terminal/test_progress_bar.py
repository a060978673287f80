from __future__ import annotations

import io

import pytest

from fishernet.cli.terminal import progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_is_shown_when_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = io.StringIO()
    monkeypatch.setattr("sys.stderr", stderr)
    with progress_bar() as progress:
        progress("learning", 3, 10)
    assert stderr.getvalue() == ""
    monkeypatch.setattr("sys.stderr", None)
    with progress_bar() as progress:
        progress("learning", 3, 10)


def test_a_terminal_sees_what_is_done_and_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stderr = Terminal()
    monkeypatch.setattr("sys.stderr", stderr)
    with progress_bar() as progress:
        progress("reading [bold]", 0, None)
        progress("learning [bold]", 3, 10)
    assert "learning [bold]" in stderr.getvalue()
    assert "3/10" in stderr.getvalue()
    assert stderr.getvalue().endswith("\x1b[2K")  # the line is wiped


def test_the_bar_is_wiped_when_the_work_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stderr = Terminal()
    monkeypatch.setattr("sys.stderr", stderr)
    with pytest.raises(KeyboardInterrupt), progress_bar() as progress:
        progress("learning", 3, None)
        raise KeyboardInterrupt
    assert stderr.getvalue().endswith("\x1b[2K")
