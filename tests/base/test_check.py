"""The vocabulary of argument checks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from fishernet.base import check
from fishernet.base.errors import FishernetError
from fishernet.base.vocabulary import word


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3)])
def test_an_integer_comes_back_as_an_int(value: Any) -> None:
    assert type(check.integer(value, "k", least=3, most=3)) is int


@pytest.mark.parametrize("value", [True, np.True_, 3.0, "3", None, math.nan])
def test_what_is_no_integer_is_refused_by_name(value: Any) -> None:
    with pytest.raises(FishernetError, match="^k must be an integer of at least 1, got") as caught:
        check.integer(value, "k", least=1)
    assert caught.value.parameter == "k"


def test_limits_of_integers_are_said() -> None:
    with pytest.raises(
        FishernetError, match=r"^folds must be an integer from 2 to 1,000 \(the rows that count\), got 1$"
    ):
        check.integer(1, "folds", least=2, most=1000, note="the rows that count")
    with pytest.raises(FishernetError, match="of at most 5, got 6"):
        check.integer(6, "k", most=5)
    assert check.optional_integer(None, "k", least=1) is None
    with pytest.raises(FishernetError, match="of at least 1, got 0"):
        check.optional_integer(0, "k", least=1)


@pytest.mark.parametrize("value", [0.5, 1, np.float32(0.5), np.int8(1)])
def test_a_number_comes_back_as_a_float(value: Any) -> None:
    assert type(check.number(value, "ess", above=0)) is float


@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, True, "1", None])
def test_what_is_no_positive_number_is_refused(value: Any) -> None:
    with pytest.raises(FishernetError, match="^ess must be a number above 0, got") as caught:
        check.number(value, "ess", above=0)
    assert caught.value.parameter == "ess"


def test_limits_of_numbers_are_said() -> None:
    with pytest.raises(FishernetError, match="^threshold must be a number above 0 of at most 1, got 2$"):
        check.number(2, "threshold", above=0, most=1)
    with pytest.raises(FishernetError, match="from 0 to 0.5"):
        check.number(1, "x", least=0, most=0.5)
    assert check.number(0, "x", least=0, most=0.5) == 0


@pytest.mark.parametrize("value", [0, 1, 1.5, math.nan, True, "0.5"])
def test_a_share_lies_strictly_between_0_and_1(value: Any) -> None:
    with pytest.raises(FishernetError, match="^alpha must be strictly between 0 and 1"):
        check.share(value, "alpha")
    assert check.share(np.float64(0.05), "alpha") == 0.05


def test_an_unknown_word_is_told_the_known_ones() -> None:
    assert word("ordered", "scan", ("random", "ordered")) == "ordered"
    for wrong in ("Orderly", None, ["ordered"]):
        with pytest.raises(FishernetError, match="unknown scan .*; there are 'random', 'ordered'") as caught:
            word(wrong, "scan", ("random", "ordered"))
        assert caught.value.parameter == "scan"
