"""Rows chosen in parts of a table first: one part is no part, and what is chosen stands for the whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.select import rounds

ASIA = fn.datasets.load("asia")
TABLE = ASIA.sample(1200, seed=3)
KERNEL = fn.kernels.FisherKernel(ASIA)

WAYS: dict[str, Callable[..., fn.select.Selection]] = {
    "greedy": lambda table, k, **how: fn.select.greedy_mmd(KERNEL, table, k, seed=1, n_starts=20, **how),
    "greedy by features": lambda table, k, **how: fn.select.greedy_mmd(
        2 * KERNEL, table, k, seed=1, n_starts=20, **how
    ),
    "chi-square": lambda table, k, **how: fn.select.greedy_chi_square(table, k, seed=1, n_starts=20, **how),
    "critic": lambda table, k, **how: fn.select.mmd_critic(KERNEL, table, k, **how),
    "critic by features": lambda table, k, **how: fn.select.mmd_critic(2 * KERNEL, table, k, **how),
    "protodash": lambda table, k, **how: fn.select.protodash(KERNEL, table, k, **how),
    "thinning": lambda table, k, **how: fn.select.kernel_thinning(KERNEL, table, k, seed=1, **how),
    "thinning by features": lambda table, k, **how: fn.select.kernel_thinning(2 * KERNEL, table, k, seed=1, **how),
}
EVERY = pytest.mark.parametrize("choose", WAYS.values(), ids=WAYS)


def weighted(table: fn.Table) -> fn.Table:
    weights = np.random.default_rng(5).integers(0, 4, table.n_rows)
    return fn.Table(table.variables, table.codes, weights=weights)


@EVERY
def test_one_part_is_the_whole_table(choose: Any) -> None:
    one, plain = choose(TABLE, 12, parts=1), choose(TABLE, 12)
    assert one.indices.tolist() == plain.indices.tolist()
    assert one.distance == plain.distance


@EVERY
@pytest.mark.parametrize("parts", [2, 7])
@pytest.mark.parametrize("table", [TABLE, weighted(TABLE)], ids=["once", "weighted"])
def test_no_row_twice_and_near_to_what_one_round_finds(choose: Any, parts: int, table: fn.Table) -> None:
    found, plain = choose(table, 12, parts=parts), choose(table, 12)
    assert len(set(found.indices.tolist())) == len(found.indices) == 12
    at_random = [choose_again(found, table, seed) for seed in range(5)]
    assert found.distance <= plain.distance + 0.2 * (np.mean(at_random) - plain.distance)


def choose_again(found: fn.select.Selection, table: fn.Table, seed: int) -> float:
    rows = fn.select.random_subset(table, len(found.indices), seed=seed).indices
    if found.kernel is None:
        return fn.select.chi_square_criterion(table, rows)
    return fn.compare.mmd(found.kernel, fn.Table(table.variables, table[rows].codes), table)


@EVERY
def test_the_distance_is_that_to_the_whole_table(choose: Any) -> None:
    table = weighted(TABLE)
    found = choose(table, 9, parts=4)
    if found.kernel is None:
        assert found.distance == pytest.approx(fn.select.chi_square_criterion(table, found.indices))
        return
    weights = np.ones(9) if found.weights is None else found.weights
    chosen = fn.Table(table.variables, table[found.indices].codes, weights=weights)
    assert found.distance == pytest.approx(fn.compare.mmd(found.kernel, chosen, table))


@pytest.mark.parametrize("way", ["critic", "critic by features", "protodash"])
@pytest.mark.parametrize("parts", [1, 3, 8])
def test_fewer_rows_are_the_first_of_more(way: str, parts: int) -> None:
    many, few = WAYS[way](TABLE, 20, parts=parts), WAYS[way](TABLE, 7, parts=parts)
    assert many.indices[:7].tolist() == few.indices.tolist()


@EVERY
def test_every_row_can_be_chosen(choose: Any) -> None:
    found = choose(TABLE[:10], 5, parts=2)
    assert len(set(found.indices.tolist())) == len(found.indices)
    assert len(found.indices) == 5 or found.criterion == "protodash"  # which ends when no row improves it


def test_a_tolerance_is_of_the_whole_table() -> None:
    found = fn.select.mmd_critic(KERNEL, TABLE, tolerance=0.01, parts=3)
    spread = KERNEL.diag(TABLE).mean() - fn.kernels.set_kernel(KERNEL, TABLE, TABLE)
    assert found.trace[-1] <= 0.01 * spread < found.trace[-2]


def test_a_given_start_is_kept_or_bettered() -> None:
    start = np.arange(12)
    found = fn.select.greedy_mmd(KERNEL, TABLE, 12, start=start, parts=3, n_starts=5)
    assert found.trace[0] == pytest.approx(fn.compare.mmd(KERNEL, TABLE[start], TABLE))
    assert found.distance < found.trace[0]


def test_long_streams_are_chosen_from_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "MOST_AT_ONCE", 1000)
    monkeypatch.setattr(rounds, "PART_ROWS", 300)
    stream = fn.scan(TABLE.to_frame(), schema=TABLE.variables)
    found = fn.select.mmd_critic(KERNEL, stream, 9)
    assert found.indices.tolist() == fn.select.mmd_critic(KERNEL, TABLE, 9, parts=4).indices.tolist()
    assert found.rows == TABLE[found.indices]
    assert (
        fn.select.mmd_critic(KERNEL, TABLE, 9).indices.tolist() == WAYS["critic"](stream, 9, parts=1).indices.tolist()
    )


def test_parts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(fn.FishernetError, match="parts"):
        fn.select.greedy_mmd(KERNEL, TABLE, 100, parts=13)
    with pytest.raises(fn.SchemaError, match="kernels with features"):
        fn.select.mmd_critic(KERNEL * KERNEL, TABLE, 3, parts=2)
    with pytest.raises(fn.SchemaError, match="kernels with features"):
        fn.select.kernel_thinning(KERNEL * KERNEL, TABLE, 3, parts=2)
    with pytest.raises(fn.SchemaError, match="kernels with features"):
        fn.select.criticisms(KERNEL * KERNEL, TABLE, [0], 3, parts=2)
    with pytest.raises(fn.FishernetError, match="parts"):
        fn.select.kernel_thinning(KERNEL, TABLE, 100, parts=13)
    with pytest.raises(fn.FishernetError, match="parts"):
        fn.select.criticisms(KERNEL, TABLE, [0], 100, parts=13)


def test_a_row_without_probability_is_told_by_its_place_in_the_table() -> None:
    codes = np.array([[0, 0]] * 50 + [[1, 1]])
    variables = [fn.Variable("a", list("xy")), fn.Variable("b", list("xy"))]
    tables: dict[str, Any] = {"a": [0.5, 0.5], "b": [[0.5, 0.5], [1.0, 0.0]]}
    net = fn.BayesianNetwork.from_tables(variables, {"b": ["a"]}, tables)
    with pytest.raises(fn.ZeroProbabilityError, match="row 50"):
        fn.select.greedy_mmd(fn.kernels.FisherKernel(net), fn.Table.from_codes(codes, variables), 3, parts=5)


# ------------------------------------------------------------------------------------------------------- criticisms


PROTOTYPES = [7, 900, 33, 512]  # in no order, and in some parts only
KERNELS = pytest.mark.parametrize("kernel", [KERNEL, 2 * KERNEL], ids=["cells", "features"])


def reached(kernel: Any, table: fn.Table, rows: Any, weights: Any) -> float:
    """What criticisms maximize: the sum of the witness's size, and the log-determinant of their kernel matrix."""
    of_rows = np.ones(table.n_rows) if table.weights is None else np.asarray(table.weights, dtype=np.float64)
    every = fn.Table(table.variables, table.codes)
    matrix = kernel(every[rows], every)
    witness = matrix @ (of_rows / of_rows.sum()) - matrix[:, PROTOTYPES] @ weights
    return float(np.abs(witness).sum() + np.linalg.slogdet(matrix[:, rows])[1])


@KERNELS
@pytest.mark.parametrize("parts", [1, 2, 7])
@pytest.mark.parametrize("table", [TABLE, weighted(TABLE)], ids=["once", "weighted"])
def test_criticisms_in_parts_are_measured_on_the_whole_table(kernel: Any, parts: int, table: fn.Table) -> None:
    found = fn.select.criticisms(kernel, table, PROTOTYPES, 5, parts=parts)
    assert len(set(found.indices.tolist())) == len(found.indices) == 5
    assert not set(found.indices.tolist()) & set(PROTOTYPES)
    values = [reached(kernel, table, found.indices[: j + 1], np.full(4, 1 / 4)) for j in range(5)]
    np.testing.assert_allclose(found.trace, values, rtol=1e-6)
    plain = fn.select.criticisms(kernel, table, PROTOTYPES, 5)
    at_random = reached(kernel, table, np.arange(100, 105), np.full(4, 1 / 4))
    assert found.trace[0] == pytest.approx(plain.trace[0])  # the first is the best of all: it wins in its part
    assert found.trace[-1] >= plain.trace[-1] - 0.2 * (plain.trace[-1] - at_random)


@KERNELS
@pytest.mark.parametrize("parts", [3, 8])
def test_fewer_criticisms_are_the_first_of_more(kernel: Any, parts: int) -> None:
    many = fn.select.criticisms(kernel, TABLE, PROTOTYPES, 12, parts=parts)
    few = fn.select.criticisms(kernel, TABLE, PROTOTYPES, 4, parts=parts)
    assert many.indices[:4].tolist() == few.indices.tolist()


def test_criticisms_take_the_weights_of_prototypes_into_every_part() -> None:
    chosen = fn.select.protodash(KERNEL, TABLE, 4, parts=3)
    found = fn.select.criticisms(KERNEL, TABLE, chosen, 1, parts=6)
    assert found.indices.tolist() == fn.select.criticisms(KERNEL, TABLE, chosen, 1).indices.tolist()


def test_a_part_of_prototypes_alone_has_no_criticism() -> None:
    found = fn.select.criticisms(KERNEL, TABLE[:12], np.arange(6), 4, parts=3)
    assert sorted(found.indices.tolist()) == sorted({*found.indices.tolist()} - {*range(6)})
    assert len(found.indices) == 4


def test_thinning_in_parts_repeats_with_its_seed() -> None:
    one, other = (fn.select.kernel_thinning(KERNEL, TABLE, 9, parts=4, seed=seed) for seed in (3, 3))
    assert one.indices.tolist() == other.indices.tolist()
    assert one.trace[0] >= one.distance
