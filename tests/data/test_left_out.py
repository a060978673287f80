"""Columns that were left out are named with the reason, and with what keeps them."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import fishernet as fn

FRAME = {"a": ["x", "y"] * 50, "row": list(range(100)), "none": [None] * 100, "name": [f"p{i}" for i in range(100)]}
KINDS: dict[str, Any] = {
    "frame": lambda: FRAME,
    "table": lambda: fn.Table.from_frame(FRAME),
    "stream": lambda: fn.scan(iter([pd.DataFrame(FRAME)])),
    "blocks": lambda: fn.data.Blocks([fn.Table.from_frame(FRAME)]),
}


@pytest.mark.filterwarnings("ignore::fishernet.FishernetWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "why", "keyword"),
    [("row", "whole numbers that count the rows", "continuous"), ("name", "100 different texts", "categorical")],
)
def test_of_a_column_that_was_left_out_it_is_said_why(kind: str, name: str, why: str, keyword: str) -> None:
    for asked in (fn.learn.tan, fn.learn.naive_bayes):
        with pytest.raises(fn.SchemaError, match=f"column '{name}' was left out: {why}") as told:
            asked(KINDS[kind](), name)
        [remedy] = told.value.remedies
        assert remedy.arguments == {keyword: [name]}
    with pytest.raises(fn.SchemaError, match="column 'none' was left out: only missing cells"):
        fn.learn.tan(KINDS[kind](), "none")
    with pytest.raises(fn.SchemaError, match="no column 'nix'; there are 'a'"):
        fn.learn.tan(KINDS[kind](), "nix")
