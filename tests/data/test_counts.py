"""Counts of the core against the naive twin, and the laws of `Statistic`."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet import _core
from fishernet.base.errors import SchemaError, StateSpaceError
from fishernet.data import Statistic, as_source
from fishernet.data.statistics import most_dense_cells, occurring
from tests.processes import printed
from tests.reference.counting import joint_counts
from tests.tables import random_table, tables


def as_dict(counts: Statistic) -> dict[tuple[int, ...], int]:
    states, values = occurring(counts)
    return {tuple(cell.tolist()): int(n) for cell, n in zip(states, values, strict=True) if n}


def all_sets(n: int) -> list[tuple[int, ...]]:
    return [s for size in range(n + 1) for s in itertools.combinations(range(n), size)]


@given(tables(most_variables=4, missing=True))
def test_counts_equal_the_naive_twin(table: fn.Table) -> None:
    sets = all_sets(len(table.variables))
    for chosen, counts in zip(sets, table.statistics(sets), strict=True):
        cells, left_out = joint_counts(table, chosen)
        assert as_dict(counts) == cells
        assert counts.left_out == left_out
        assert counts.is_dense == (math.prod(counts.cardinalities) <= most_dense_cells(table.total))


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 4096, 4097, 8192, 300_001])
@pytest.mark.parametrize("cardinalities", [[2, 2, 2], [1, 7, 3], [2, 33, 5]])
def test_counts_at_the_borders_of_blocks(n_rows: int, cardinalities: list[int]) -> None:
    table = random_table(n_rows, n_rows, cardinalities)
    sets = all_sets(3)
    for chosen, counts in zip(sets, table.statistics(sets), strict=True):
        shape = tuple(cardinalities[v] for v in chosen)
        flat = (
            np.ravel_multi_index([table.codes[v].astype(int) for v in chosen], shape)
            if chosen
            else np.zeros(n_rows, int)
        )
        np.testing.assert_array_equal(counts.table().ravel(), np.bincount(flat, minlength=math.prod(shape)))


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.data())
def test_sets_that_share_a_base_equal_numpy(seed: int, data: st.DataObject) -> None:
    """Bases with every other variable, in any order, of columns narrow and wide, complete and not."""
    cardinalities = data.draw(st.lists(st.sampled_from([1, 2, 3, 4, 5, 7, 31, 32, 33]), min_size=4, max_size=16))
    n = len(cardinalities)
    n_rows = data.draw(st.sampled_from([0, 1, 63, 500, 3000, 57_344, 57_345]))
    table = random_table(seed, n_rows, cardinalities)
    codes = [np.asarray(column).astype(np.int64) for column in table.codes]
    lacking = data.draw(st.sets(st.integers(0, n - 1), max_size=2))
    for v in lacking:
        codes[v][::5] = cardinalities[v]
    table = fn.Table.from_codes(np.stack(codes, axis=1), table.variables)
    bases = data.draw(st.lists(st.sets(st.integers(0, n - 1), max_size=3), min_size=1, max_size=4))
    sets = [tuple(sorted({*base, v})) for base in bases for v in range(n)]
    sets = data.draw(st.permutations(sets))
    for chosen, found in zip(sets, table.statistics(sets), strict=True):
        shape = tuple(cardinalities[v] for v in chosen)
        kept = np.logical_and.reduce([codes[v] < cardinalities[v] for v in chosen])
        flat = np.ravel_multi_index([codes[v][kept] for v in chosen], shape)
        expected = np.bincount(flat, minlength=math.prod(shape))
        assert found.left_out == n_rows - kept.sum()
        if found.states is None:
            np.testing.assert_array_equal(found.counts.ravel(), expected)
        else:
            places = np.ravel_multi_index(tuple(found.states.T), shape)
            np.testing.assert_array_equal(places, np.flatnonzero(expected))
            np.testing.assert_array_equal(found.counts, expected[places])


def test_wide_columns_of_two_and_four_bytes() -> None:
    rng = np.random.default_rng(1)
    codes = np.stack([rng.integers(0, 70_000, 5000), rng.integers(0, 300, 5000)], axis=1)
    variables = [fn.Variable("a", range(70_000)), fn.Variable("b", range(300))]
    table = fn.Table.from_codes(codes, variables)
    assert [column.dtype for column in table.codes] == [np.uint32, np.uint16]
    (both,) = table.statistics([(0, 1)])
    assert not both.is_dense
    cells, n = np.unique(codes, axis=0, return_counts=True)
    np.testing.assert_array_equal(both.states, cells)
    np.testing.assert_array_equal(both.counts, n)


def test_only_tables_and_sources_are_sources() -> None:
    with pytest.raises(SchemaError, match="not list"):
        as_source([1, 2])


def test_a_table_of_all_cells_that_would_not_fit_is_refused() -> None:
    table = random_table(0, 20, [40] * 8)
    (counts,) = table.statistics([tuple(range(8))])
    with pytest.raises(StateSpaceError, match="6,553,600,000,000 cells"):
        counts.table()


def test_one_and_two_threads_give_the_same_counts() -> None:
    table = random_table(3, 700_000, [3, 4, 40])
    sets = all_sets(3)
    before = fn.set_threads(1)
    try:
        one = table.statistics(sets)
        fn.set_threads(2)
        two = table.statistics(sets)
    finally:
        fn.set_threads(before)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.counts, b.counts)


@pytest.mark.parametrize("isa", ["portable", "avx2"])
def test_every_instruction_set_counts_and_scores_the_same(isa: str) -> None:
    script = (
        "import numpy as np, hashlib, fishernet as fn\n"
        "from tests.tables import random_table\n"
        "from fishernet.data import as_source\n"
        "t = random_table(5, 70_001, [2, 3, 26, 4, 2, 5])\n"
        "sets = [(0,), (0, 1), (0, 1, 3), (2, 3), (0, 1, 2, 3, 4, 5)]\n"
        "h = hashlib.sha256()\n"
        "for c in t.statistics(sets): h.update(c.counts.tobytes())\n"
        "found = fn.learn.structure(t)\n"
        "net = fn.learn.parameters(found.dag, t)\n"
        "h.update(repr((found.steps, found.score)).encode())\n"
        "for column in net.sample(10_000, seed=3).codes: h.update(column.tobytes())\n"
        "print(h.hexdigest())\n"
    )
    assert len(printed(script, {}, {"FISHERNET_ISA": isa})) == 1


# Of memory that nobody wrote to, the system holds a single page of zeros: so many rows take little, and little time.
MANY = 2**31 + 2**13 + 70


@pytest.mark.slow
def test_more_than_two_to_the_31_rows() -> None:
    codes = np.zeros(MANY, dtype=np.uint8)
    codes[[5, -2, -1]] = [3, 2, 1]  # a missing cell, so that rows are counted one after the other
    table = fn.Table.adopt([fn.Variable("x", range(3))], [codes])
    (counts,) = table.statistics([(0,)])
    assert counts.counts.tolist() == [MANY - 3, 1, 1]
    assert counts.left_out == 1


@pytest.mark.slow
def test_more_than_two_to_the_31_rows_in_packed_form() -> None:
    """The core packs the last stretch, which begins beyond the limit, and counts the planes of all rows."""
    codes = np.zeros(MANY, dtype=np.uint8)
    codes[[-2, -1]] = [2, 1]
    columns = _core.Columns([codes], np.array([3]), MANY)
    lanes, words, groups = columns.packed_shape
    begin = MANY // 8192 * 8192
    assert begin > 2**31
    last = np.empty((lanes, words - begin // 64), dtype=np.uint64)
    columns.pack_rows(begin, last, np.empty((groups, MANY - begin), dtype=np.uint32))
    planes = np.zeros((lanes, words), dtype=np.uint64)
    planes[[0, -1]] = 2**64 - 1  # of the first state, and of all rows
    planes[:, begin // 64 :] = last
    columns.take_packed(planes.ravel(), np.zeros(groups * MANY, dtype=np.uint32))
    ((counts, _, left_out),) = _core.count(columns, np.array([0, 1]), np.array([0], dtype=np.int32), 10)
    assert counts.tolist() == [MANY - 2, 1, 1]
    assert left_out == 0


def test_counts_that_memory_does_not_hold_are_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise MemoryError

    table = fn.datasets.load("nursery")
    monkeypatch.setattr(_core, "count", full)
    with pytest.raises(fn.FishernetError, match=r"no memory .* 2 sets, .* is .*'children'.*12,960 cells"):
        table.statistics([(0, 1), (0, 1, 3)])
