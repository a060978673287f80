"""Progress is called at most ten times a second, and once at the end."""

from __future__ import annotations

import pytest

from fishernet.base.progress import Reporter


def test_calls_are_a_tenth_of_a_second_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("fishernet.base.progress.time.monotonic", lambda: clock[0])
    calls: list[tuple[str, int, int | None]] = []
    reporter = Reporter(lambda *call: calls.append(call), "work")
    for done in range(1001):
        clock[0] = done / 1000  # a second in all
        reporter.step(done, 1001)
    reporter.finish(1001)
    assert 9 <= len(calls) - 1 <= 11
    assert calls[0] == ("work", 0, 1001)
    assert calls[-1] == ("work", 1001, 1001)


def test_without_a_function_nothing_happens() -> None:
    reporter = Reporter(None, "work")
    reporter.step(1)
    reporter.finish(1)
