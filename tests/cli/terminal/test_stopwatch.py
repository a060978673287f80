from __future__ import annotations

import time

import pytest

from fishernet.cli.terminal import Stopwatch


def test_parts_are_measured_in_their_order() -> None:
    watch = Stopwatch()
    with watch.time("second"):
        time.sleep(0.02)
    with watch.time("first"):
        pass
    assert list(watch.seconds) == ["second", "first"]
    assert watch.seconds["second"] >= 0.02 > watch.seconds["first"] >= 0


def test_a_part_that_fails_is_measured_too() -> None:
    watch = Stopwatch()
    with pytest.raises(ValueError, match="x"), watch.time("part"):
        time.sleep(0.01)
        raise ValueError("x")
    assert watch.seconds["part"] >= 0.01
