"""Seeds, generators and keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fishernet.base.errors import FishernetError
from fishernet.base.random import generator, stream_key


def test_an_int_always_gives_the_same_key() -> None:
    assert stream_key(7) == stream_key(np.int64(7))
    assert stream_key(7) != stream_key(8)
    assert 0 <= stream_key(0) < 2**64


def test_a_generator_moves_on() -> None:
    rng = np.random.default_rng(7)
    assert generator(rng) is rng
    assert stream_key(rng) == stream_key(7)
    assert stream_key(rng) != stream_key(7)


def test_none_is_fresh_entropy() -> None:
    assert stream_key(None) != stream_key(None)


@pytest.mark.parametrize("seed", ["7", 1.5, [1, 2], np.random.RandomState(1)])
def test_anything_else_is_refused(seed: Any) -> None:
    with pytest.raises(FishernetError, match="seed must be None, an int or a numpy.random.Generator, not"):
        generator(seed)


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(FishernetError, match="must not be negative, got -1"):
        generator(-1)
