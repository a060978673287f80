"""The laws of `Conditional`, for every kind. A new kind joins `conditionals`."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fishernet import Table, Variable
from fishernet.models import Conditional, FullTable, MergedTable, ProductConditional, Split, TreeConditional

A, B, C = Variable("a", ["x", "y"]), Variable("b", [0, 1, 2]), Variable("c", ["u", "v"])
ROWS = Table.from_codes(list(itertools.product(range(2), range(3), range(2))), [A, B, C])

ASKS_B_THEN_A = Split(1, (0, 1, 0), (2, Split(0, (1, 0), (0, 1))))
ASKS_B_TWICE = Split(0, (0, 1), (Split(1, (0, 0, 1), (Split(1, (0, 1, 1), (3, 0)), 2)), 1))


def conditionals() -> list[Conditional]:
    rng = np.random.default_rng(0)
    return [
        FullTable(2, (), [C], [[0.25, 0.75]]),
        FullTable(2, (1,), [B, C], rng.dirichlet([1, 1], size=3)),
        FullTable(2, (1, 0), [B, A, C], rng.dirichlet([1, 1], size=6)),
        MergedTable(2, (0, 1), [A, B, C], [[0, 1, 1], [2, 0, 1]], rng.dirichlet([1, 1], size=3)),
        MergedTable(2, (1,), [B, C], [0, 0, 0], [[0.5, 0.5]]),
        TreeConditional(2, (), [C], 0, [[0.25, 0.75]]),
        TreeConditional(2, (1, 0), [B, A, C], ASKS_B_THEN_A, rng.dirichlet([1, 1], size=3)),
        TreeConditional(2, (0, 1), [A, B, C], ASKS_B_TWICE, rng.dirichlet([1, 1], size=4)),
        ProductConditional(2, (), [C], [((2,), [1.0, 3.0])]),
        ProductConditional(2, (0, 1), [A, B, C], [((2, 0), rng.random((2, 2))), ((1, 0, 2), rng.random((3, 2, 2)))]),
    ]


EVERY = pytest.mark.parametrize("conditional", conditionals(), ids=repr)


@EVERY
def test_it_follows_the_protocol(conditional: Conditional) -> None:
    assert isinstance(conditional, Conditional)
    assert [v.name for v in conditional.variables] == [ROWS.names[v] for v in (*conditional.parents, conditional.child)]


@EVERY
def test_every_row_has_a_group_and_the_groups_row_is_the_tables(conditional: Conditional) -> None:
    groups = conditional.groups(ROWS)
    assert groups.dtype == np.int64
    states = ROWS.codes[conditional.child]
    cells = (*(ROWS.codes[p] for p in conditional.parents), states)
    np.testing.assert_array_equal(conditional.probabilities[groups, states], conditional.table()[cells])


@EVERY
def test_contexts_are_disjoint_boxes_whose_union_is_the_group(conditional: Conditional) -> None:
    groups = conditional.groups(ROWS)
    for group in range(conditional.probabilities.shape[0]):
        times = np.zeros(ROWS.n_rows, dtype=int)
        for box in conditional.contexts(group):
            inside = np.ones(ROWS.n_rows, dtype=bool)
            for parent, states in box.items():
                assert parent in conditional.parents
                inside &= np.isin(ROWS.codes[parent], states)
            times += inside
        np.testing.assert_array_equal(times, groups == group)


@EVERY
def test_the_flat_form_is_the_same_map(conditional: Conditional) -> None:
    parents, group_of = conditional.parents, conditional.group_map()
    assert parents == conditional.parents
    shape = [v.cardinality for v in conditional.variables[:-1]]
    codes = [ROWS.codes[p].astype(int) for p in conditional.parents]
    configuration = np.ravel_multi_index(codes, shape) if shape else np.zeros(ROWS.n_rows, dtype=int)
    groups = configuration if group_of is None else group_of[configuration]
    np.testing.assert_array_equal(groups, conditional.groups(ROWS))


@EVERY
def test_probabilities_are_read_only_rows_that_sum_to_one(conditional: Conditional) -> None:
    np.testing.assert_allclose(conditional.probabilities.sum(axis=1), 1, rtol=1e-12)
    assert not conditional.probabilities.flags.writeable


@EVERY
def test_the_frame_has_a_row_for_every_cell(conditional: Conditional) -> None:
    frame = conditional.to_frame()
    assert frame.num_rows == conditional.table().size
    assert frame["probability"].to_pylist() == conditional.table().ravel().tolist()
