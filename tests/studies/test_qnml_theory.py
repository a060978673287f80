"""Limits of the gap between qNML and exact NML: closed forms, classes of graphs, and sums over all data sets."""

from __future__ import annotations

import numpy as np
import pytest

from studies import qnml, qnml_theory
from studies.study import Run


def test_classes_are_as_many_as_unlabelled_essential_graphs() -> None:
    """1, 2, 5 and 20 (Gillispie and Perlman, Artificial Intelligence 141, 2002, count 1, 2, 11 and 185 with labels)."""
    assert [len(qnml_theory.classes(n)) for n in (1, 2, 3, 4)] == [1, 2, 5, 20]


@pytest.mark.parametrize(
    ("parents", "expected"),
    [
        (((), (0,), (0,)), np.log(8 / np.pi**2)),
        (((), (), (0, 1)), np.log(32 / (3 * np.pi**2))),
        (((), (0,), (0, 1)), 0.0),
        (((), (0,), ()), 0.0),
    ],
)
def test_limits_of_binary_graphs_of_three_variables_are_their_closed_forms(
    parents: qnml_theory.Parents, expected: float
) -> None:
    value, error = qnml_theory.limit(parents, 2, draws=10_000)
    assert value == pytest.approx(expected, abs=1e-10)
    assert error < 1e-12


def test_equivalent_graphs_have_one_limit() -> None:
    star = qnml_theory.limit(((), (0,), (0,)), 3, draws=10_000)
    chain = qnml_theory.limit(((), (0,), (1,)), 3, draws=100_000)
    assert abs(star[0] - chain[0]) < 6 * chain[1] + 1e-9


@pytest.mark.parametrize(("of", "parents"), [(qnml.of_star, ((), (0,), (0,))), (qnml.of_collider, ((), (), (0, 1)))])
def test_gaps_of_more_rows_come_nearer_to_the_limit(of: object, parents: qnml_theory.Parents) -> None:
    aim, _ = qnml_theory.limit(parents, 2, draws=10_000)
    gaps = [(at := of(n)).qnml - at.exact - aim for n in (32, 64, 128)]  # type: ignore[operator]
    assert abs(gaps[2]) < abs(gaps[1]) < abs(gaps[0])
    assert abs(gaps[2]) < 0.02


def test_unions_of_tournaments_are_known() -> None:
    unions = [qnml_theory.union_of_tournaments(of) for of in qnml_theory.classes(4)]
    assert sum(unions) == 5  # the partitions of four
    for parents in qnml_theory.classes(3):
        assert qnml_theory.union_of_tournaments(parents) == qnml.is_union_of_tournaments(qnml_theory.dag(parents))


def test_the_table_has_a_limit_for_every_class() -> None:
    (table,) = qnml_theory.limits(Run("quick"))
    assert len(table.rows) == 5
