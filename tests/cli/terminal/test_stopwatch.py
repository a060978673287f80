from __future__ import annotations

import pytest

from fishernet.cli.terminal import Stopwatch


class Clock:
    """A clock that goes on when it is told."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr("fishernet.cli.terminal.time.perf_counter", found)
    return found


def test_parts_are_measured_in_their_order(clock: Clock) -> None:
    watch = Stopwatch()
    with watch.time("second"):
        clock.now += 2.0
    with watch.time("first"):
        clock.now += 0.5
    assert list(watch.seconds) == ["second", "first"]
    assert watch.seconds == {"second": 2.0, "first": 0.5}


def test_a_part_that_fails_is_measured_too(clock: Clock) -> None:
    watch = Stopwatch()
    with pytest.raises(ValueError, match="x"), watch.time("part"):
        clock.now += 1.5
        raise ValueError("x")
    assert watch.seconds["part"] == 1.5
