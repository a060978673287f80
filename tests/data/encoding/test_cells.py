"""Columns in blocks with numberings of their own, against plain lists."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fishernet import Table, Variable
from fishernet.data.encoding.cells import Block, Cells
from fishernet.data.variable import label_array

LABELS = ["a", "b", "c", "d"]


@st.composite
def columns(draw: st.DrawFn) -> tuple[Cells, list[str | None]]:
    """Cells, and the labels they hold; None in a missing one."""
    blocks, held = [], []
    for _ in range(draw(st.integers(0, 3))):
        own = draw(st.lists(st.integers(0, len(LABELS)), max_size=4, unique=True))
        indices = draw(st.lists(st.integers(0, len(own)), max_size=6))
        positions = np.array([*own, len(LABELS)], dtype=np.int64)
        blocks.append(Block(np.array(indices, dtype=np.int32), positions, len(own) in indices))
        held += [[*LABELS, None][positions[index]] for index in indices]
    return Cells("x", label_array(LABELS), blocks, declared=draw(st.booleans())), held


def contents(cells: Cells) -> list[str | None]:
    return [[*cells.labels.tolist(), None][position] for position in cells.positions()]


@given(columns())
def test_cells_hold_labels(case: tuple[Cells, list[str | None]]) -> None:
    cells, held = case
    assert contents(cells) == held
    values = np.arange(5, dtype=np.uint8) * 7
    assert cells.spread(values).tolist() == [7 * [*LABELS, None].index(label) for label in held]
    assert cells.spread(values).dtype == np.uint8


@given(columns())
def test_missing_cells(case: tuple[Cells, list[str | None]]) -> None:
    cells, held = case
    mask = cells.missing()
    assert ([False] * len(held) if mask is None else mask.tolist()) == [label is None for label in held]


@given(columns(), st.lists(st.integers(0, 5), min_size=18, max_size=18))
def test_counts(case: tuple[Cells, list[str | None]], weights: list[int]) -> None:
    cells, held = case
    assert cells.counts().tolist() == [held.count(label) for label in LABELS]
    pairs = list(zip(held, weights, strict=False))
    expected = [sum(weight for own, weight in pairs if own == label) for label in LABELS]
    assert cells.counts(np.array(weights[: len(held)], dtype=np.int64)).tolist() == expected


@given(columns(), st.lists(st.booleans(), min_size=4, max_size=4))
def test_labels_become_missing_cells(case: tuple[Cells, list[str | None]], marked: list[bool]) -> None:
    cells, held = case
    gone = [label for label, mark in zip(LABELS, marked, strict=True) if mark]
    assert cells.marked(np.array(marked)).tolist() == [label in gone for label in held]
    left = cells.without(np.array(marked))
    assert left.labels.tolist() == [label for label in LABELS if label not in gone]
    assert contents(left) == [None if label in gone else label for label in held]


@given(columns(), st.data())
def test_kept_rows_are_as_if_the_others_had_never_been(
    case: tuple[Cells, list[str | None]], data: st.DataObject
) -> None:
    cells, held = case
    mask = data.draw(st.lists(st.booleans(), min_size=len(held), max_size=len(held)))
    rest = [label for label, keep in zip(held, mask, strict=True) if keep]
    left = cells.kept(np.array(mask, dtype=bool))
    assert contents(left) == rest
    assert left.labels.tolist() == [label for label in LABELS if cells.declared or label in rest]


@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
@given(st.data())
def test_integers_near_one_another_are_told_apart_as_others_are(kind: str, data: st.DataObject) -> None:
    limits = np.iinfo(kind)
    low = int(data.draw(st.sampled_from([limits.min, limits.max - 100, 0, 5])))
    span = min(int(limits.max) - low, data.draw(st.sampled_from([0, 19, 255, 4095, 4096])))
    values = data.draw(st.lists(st.integers(low, low + span), min_size=1, max_size=30))
    chunks = pa.chunked_array([pa.array(np.array(part, kind)) for part in (values[:9], values[9:])])
    table = Table.from_frame(pa.table({"v": chunks}), categorical=["v"])
    states, codes = np.unique(np.array(values, kind), return_inverse=True)
    assert table == Table.from_codes(codes[:, None], [Variable("v", states.tolist())])
