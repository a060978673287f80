"""Changes told by statistics alone are those that the rows tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.base.errors import MissingValueError, SchemaError
from fishernet.data import Blocks

ASIA = fn.datasets.load("asia")
NAMES = sorted(ASIA.names)
BEFORE = ASIA.sample(900, seed=1).select(NAMES)
AFTER = fn.infer.intervene(ASIA, {"smoke": "yes"}).sample(700, seed=2).select(NAMES)
FAST: Any = {"permutations": 99, "resamples": 20}


def parts(table: fn.Table) -> Blocks:
    return Blocks([table[:300], table[300:]])


def holes(table: fn.Table) -> fn.Table:
    frame = table.to_pandas()
    return fn.Table.from_frame(frame.mask(np.random.default_rng(0).random(frame.shape) < 0.2), schema=table.variables)


def assert_same(found: fn.compare.ChangeResult, expected: fn.compare.ChangeResult) -> None:
    assert found.by_variable == expected.by_variable
    assert found.by_configuration == expected.by_configuration
    assert (found.missing, found.new_labels, found.n_rows) == (expected.missing, expected.new_labels, expected.n_rows)
    assert [dag for dag, _ in found.graphs] == [dag for dag, _ in expected.graphs]


@pytest.mark.parametrize("net", [None, ASIA.dag], ids=["learned", "given"])
def test_parts_tell_what_their_rows_tell(net: Any) -> None:
    expected = fn.compare.explain_change(BEFORE, AFTER, net, **FAST)
    assert "smoke" in expected.changed()
    assert_same(fn.compare.explain_change(parts(BEFORE), parts(AFTER), net, **FAST), expected)
    assert_same(fn.compare.explain_change(BEFORE.to_frame(), parts(AFTER), net, **FAST), expected)


def test_cells_may_be_missing_under_a_given_graph() -> None:
    one, other = BEFORE, holes(AFTER)
    expected = fn.compare.explain_change(one, other, ASIA.dag, **FAST)
    assert len(expected.missing) == len(NAMES)
    assert_same(fn.compare.explain_change(parts(one), parts(other), ASIA.dag, **FAST), expected)
    with pytest.raises(MissingValueError, match="a score needs complete rows"):
        fn.compare.explain_change(parts(one), parts(other), **FAST)


def test_streams_are_tables(tmp_path: Path) -> None:
    tables = []
    for name, table in (("before", BEFORE), ("after", AFTER)):
        table.to_frame().to_pandas().to_csv(tmp_path / f"{name}.csv", index=False)
        tables.append(fn.scan(tmp_path / f"{name}.csv", schema=table.variables))
    before, after = tables
    assert_same(fn.compare.explain_change(before, after, **FAST), fn.compare.explain_change(BEFORE, AFTER, **FAST))


def test_what_cannot_be_counted_is_refused() -> None:
    numbers = Blocks([fn.Table.from_frame({"x": np.random.default_rng(0).standard_normal(9)})])
    halves = Blocks([fn.Table(BEFORE.variables, BEFORE.codes, weights=np.full(900, 0.3))])
    for before, after, told in (
        (parts(BEFORE), parts(AFTER.select(NAMES[::-1])), "sources of the same columns with the same states"),
        (numbers, numbers, "categorical"),
        (parts(BEFORE), halves, "after must have rows, and weights that are whole; they add up to 270"),
        (Blocks([BEFORE[:0]]), parts(AFTER), "before must have rows"),
    ):
        with pytest.raises(SchemaError, match=told):
            fn.compare.explain_change(before, after, **FAST)
