"""The study of intervals: that its networks have effects, its tables independent columns, and its shares are shares."""

from __future__ import annotations

import numpy as np

from studies import intervals as study
from studies.study import Run


def test_the_quick_form_has_all_tables_of_shares() -> None:
    tables = {table.name: table for table in study.compute(Run("quick"))}
    assert set(tables) == {"effects", "numbers", "tests", "changes", "regressions", "strata", "weights"}
    shares = [row[: None if name != "regressions" else -1] for name, table in tables.items() for row in table.rows]
    cells = [cell for row in shares for cell in row if isinstance(cell, dict)]
    assert all(0 <= cell["mean"] <= 100 for cell in cells)


def test_pairs_without_an_effect_are_left_out_and_others_have_a_share() -> None:
    found = [study.covered(200, 1.0, 0.0, repetition) for repetition in range(12)]
    held = [one for one in found if one is not None]
    assert 0 < len(held) < 12
    assert np.mean(held) > 0.7


def test_columns_that_are_independent_given_others_are_rarely_rejected_with_many_rows() -> None:
    rejected = np.array([study.rejected(4_000, 2, 1, 1.0, repetition) for repetition in range(30)])
    assert (rejected.mean(axis=0) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 30)).all()


def test_changes_are_told_of_both_kinds_of_conditionals() -> None:
    changed, same, _ = study.told(400, 400, 1.0, 0.5, 1)
    assert len(changed) == 2
    assert len(same) == 3
    nets = [study.network(1.0, np.random.default_rng(seed)) for seed in (1, 2)]
    mixed = study.altered(nets[0], [2], 0.5, 1.0, np.random.default_rng(3))
    apart = [
        np.abs(a.table() - b.table()).max() > 0 for a, b in zip(nets[0].conditionals, mixed.conditionals, strict=True)
    ]
    assert apart == [False, False, True, False, False]


def test_a_number_that_changed_much_is_found_and_its_nats_are_near_what_is_true() -> None:
    held, found, too_many = study.told_of_number(2_000, 3, 0.5, 1)
    assert held
    assert found
    assert abs(too_many) < 0.05
