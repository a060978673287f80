"""Kernel thinning: what its halves keep, and how near they come."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.kernels.kernel import FeatureMade
from tests.networks import random_network, with_holes

Floats = npt.NDArray[np.float64]
NET = random_network(3, [3, 2, 4, 2])
FISHER = fn.kernels.FisherKernel(NET)
KERNELS = {
    "cells": FISHER,
    "features": FISHER + fn.kernels.FisherKernel(NET, metric="practical"),
    "matrix": fn.kernels.Rbf(FISHER, 5.0),
}


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.integers(1, 5), st.integers(0, 2**32))
def test_pairs_go_to_different_halves(rounds: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = k << rounds
    table = NET.sample(n + 3, seed=seed)
    order = rng.permutation(n + 3)[:n].astype(np.int64)
    for kernel in KERNELS.values():
        sums = kernel.row_sums(kernel.rows(table))
        found = sums.halves(order, rounds=rounds, delta=0.5, key=seed)
        assert sorted(found.tolist()) == sorted(order.tolist())
        first = sums.halves(order, rounds=1, delta=0.5, key=seed)
        half = n // 2
        where = {int(row): place for place, row in enumerate(first)}
        for x, y in order.reshape(-1, 2).tolist():
            assert (where[x] < half) != (where[y] < half)


def test_halves_are_nearer_to_the_whole_than_halves_at_random() -> None:
    net = random_network(5, [2, 2, 2], sharp=5.0)  # few features: what halving can balance
    kernel, n = fn.kernels.FisherKernel(net), 2048
    table = net.sample(n, seed=1)
    gram = kernel(table)
    rng = np.random.default_rng(0)

    def apart(order: np.ndarray) -> float:
        signs = np.where(np.isin(np.arange(n), order[: n // 2]), 1.0, -1.0) / n
        return float(signs @ gram @ signs)

    orders = [rng.permutation(n).astype(np.int64) for _ in range(8)]
    at_random = np.mean([apart(order) for order in orders])
    ways = (kernel.row_sums(table), fn.kernels.FeatureSums(kernel, table), fn.kernels.MatrixSums(kernel, table))
    for sums in ways:
        halves = [sums.halves(order, rounds=1, delta=0.5, key=i) for i, order in enumerate(orders)]
        assert np.mean([apart(order) for order in halves]) < 0.4 * at_random


@pytest.mark.parametrize("kernel", [FISHER, fn.kernels.Normalized(FISHER)])
@pytest.mark.parametrize("k", [1, 7, 20, 200])
def test_the_choice_is_one_of_rows_and_no_worse_than_its_start(kernel: fn.kernels.FisherKernel, k: int) -> None:
    table = NET.sample(200, seed=1)
    found = fn.select.kernel_thinning(kernel, table, k, seed=3)
    assert len(set(found.indices.tolist())) == k
    assert found.distance <= found.trace[0]
    assert found.distance == pytest.approx(fn.compare.mmd(kernel, found.rows, table), abs=1e-9)
    again = fn.select.kernel_thinning(kernel, table, k, seed=3)
    assert again.indices.tolist() == found.indices.tolist()


def test_weights_holes_strings_and_duplicates() -> None:
    table = NET.sample(100, seed=1)
    weighted = fn.Table(table.variables, table.codes, weights=np.where(np.arange(100) < 60, 1, 0))
    assert (fn.select.kernel_thinning(FISHER, weighted, 5, seed=1).indices >= 0).all()
    lacking = with_holes(NET, 60, 1, 0.2)
    assert len(fn.select.kernel_thinning(fn.kernels.HiddenVariableKernel(NET), lacking, 5, seed=1).indices) == 5
    strings = ["abab", "abba", "bbbb", "baba"] * 5
    assert len(set(fn.select.kernel_thinning(fn.kernels.SpectrumKernel(2), strings, 5, seed=1).indices.tolist())) == 5


# ------------------------------------------------------------------------------------------------- Compress


def literally_halved(gram: Floats, draws: Floats, delta: float) -> tuple[list[int], list[int]]:
    """Kernel halving (Dwivedi and Mackey, 2021, Algorithm 1a) of the rows of a matrix, in their order."""
    first: list[int] = []
    second: list[int] = []
    variance = 0.0
    for x, draw in zip(range(0, len(gram), 2), draws, strict=True):
        y = x + 1
        squared = gram[x, x] + gram[y, y] - 2 * gram[x, y]
        threshold = max(np.sqrt(squared * variance * 2 * np.log(2 / delta)), squared)
        to_first = 0.5
        if threshold > 0:
            along = sum(gram[x, i] - gram[y, i] for i in first) - sum(gram[x, i] - gram[y, i] for i in second)
            to_first = 0.5 * (1 - along / threshold)
            variance += max(squared * (1 + (squared - 2 * threshold) * variance / threshold**2), 0.0)
        kept, other = (x, y) if draw < to_first else (y, x)
        first.append(kept)
        second.append(other)
    return first, second


def literally_exchanged(gram: Floats, half: list[int]) -> list[int]:
    """Replace each row of a half, one after the other, by the one that brings its mean nearest to that of all."""

    def distance(rows: list[int]) -> float:
        return float(gram[np.ix_(rows, rows)].mean() - 2 * gram[rows].mean())

    for place, old in enumerate(half):
        others = [old, *(row for row in range(len(gram)) if row not in half)]
        values = [distance([*half[:place], row, *half[place + 1 :]]) for row in others]
        half[place] = others[int(np.argmin(values))]
    return half


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["matrix", "given matrix", "Gaussian", "features"])
def test_halves_of_sets_are_those_of_the_literal_algorithm(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(40, 3))
    gaussian = fn.kernels.GaussianKernel(1.5)
    kernel, rows = {
        "matrix": (fn.kernels.Rbf(Linear(), 1.5), points),
        "given matrix": (fn.kernels.Precomputed(gaussian(points)), np.arange(40)),
        "Gaussian": (gaussian, points),
        "features": (Linear(), points),
    }[kind]
    matrix = kernel(rows)
    sets = rng.permutation(40)[:36].reshape(3, 12).astype(np.int64)
    found = kernel.row_sums(rows).halves_of_sets(sets, key=seed, delta=0.4)
    draws = np.random.default_rng(seed).random(18 + 3)  # a number for each pair, then one for each set
    for number, members in enumerate(sets):
        gram = matrix[np.ix_(members, members)]
        first, _ = literally_halved(gram, draws[6 * number : 6 * number + 6], 2 * 0.4 / 36)
        half = literally_exchanged(gram, first)
        if draws[18 + number] < 0.5:
            half = [row for row in range(12) if row not in half]
        assert sorted(found[number].tolist()) == sorted(members[half].tolist())


class Linear(FeatureMade):
    """The inner product of rows of numbers."""

    def features(self, X: Floats) -> Floats:
        return np.asarray(X)


@pytest.mark.parametrize("share", [0.1, 0.5])  # below and above the share from which sparse features are made dense
@pytest.mark.parametrize("way", fn.select.thinning.METHODS)
@pytest.mark.parametrize("at_once", [1, 2**12, 2**22])
def test_sparse_features_choose_what_dense_ones_do(
    share: float, way: Any, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fishernet.kernels.row_sums.MOST_OF_SETS", at_once)
    random = np.random.default_rng(7)
    dense = random.normal(size=(600, 150)) * (random.random((600, 150)) < share)
    sets = random.permutation(600).reshape(50, 12).astype(np.int64)
    sums = [kernel.row_sums(dense) for kernel in (Sparse(), Linear())]
    halves = [one.halves_of_sets(sets, key=3, delta=0.5).tolist() for one in sums]
    assert halves[0] == halves[1]
    of_sparse, of_dense = (
        fn.select.kernel_thinning(kernel, dense, 8, method=way, seed=2) for kernel in (Sparse(), Linear())
    )
    assert of_sparse.indices.tolist() == of_dense.indices.tolist()
    np.testing.assert_allclose(of_sparse.trace, of_dense.trace, rtol=1e-12)


class Sparse(Linear):
    """The same, of rows of which most entries are 0."""

    def features(self, X: Floats) -> Any:
        return sp.csr_array(X)


@pytest.mark.parametrize("name", [*KERNELS, "given matrix", "Gaussian"])
@pytest.mark.parametrize(("n", "k", "oversampling"), [(300, 7, 2), (256, 16, 0), (500, 10, 3), (12, 5, 4), (9, 9, 1)])
def test_compress_chooses_rows_once_and_nearer_than_at_random(name: str, n: int, k: int, oversampling: int) -> None:
    points = np.random.default_rng(1).normal(size=(n, 2))
    gaussian = fn.kernels.GaussianKernel(1.0)
    others: dict[str, tuple[Any, Any]] = {
        "given matrix": (fn.kernels.Precomputed(gaussian(points)), np.arange(n)),
        "Gaussian": (gaussian, points),
    }
    kernel, rows = others[name] if name in others else (KERNELS[name], NET.sample(n, seed=1))
    how: dict[str, Any] = {"method": "compress", "oversampling": oversampling}
    reached = []
    for seed in range(5):
        found = fn.select.kernel_thinning(kernel, rows, k, seed=seed, **how)
        assert len(set(found.indices.tolist())) == k
        assert found.indices.tolist() == fn.select.kernel_thinning(kernel, rows, k, seed=seed, **how).indices.tolist()
        reached.append(fn.compare.mmd(kernel, rows[found.indices], rows))
        if name in ("cells", "features"):
            assert found.distance == pytest.approx(reached[-1], rel=1e-6, abs=1e-12)
        else:
            assert np.isnan(found.distance)
    drawn = [np.random.default_rng(seed).permutation(n)[:k] for seed in range(50)]
    assert (
        np.mean(reached)
        <= (0.8 if oversampling else 0.95) * np.mean([fn.compare.mmd(kernel, rows[part], rows) for part in drawn])
        + 1e-12
    )


def test_more_oversampling_comes_nearer() -> None:
    points = np.random.default_rng(1).normal(size=(4096, 2))
    kernel = fn.kernels.GaussianKernel(1.0)

    def reached(oversampling: int) -> float:
        chosen = [
            fn.select.kernel_thinning(kernel, points, 32, method="compress", oversampling=oversampling, seed=seed).rows
            for seed in range(3)  # each of them at a seventh of its distance
        ]
        return float(np.mean([fn.compare.mmd(kernel, rows, points) for rows in chosen]))

    assert reached(3) < reached(0)


def test_compress_draws_by_weights() -> None:
    table = NET.sample(400, seed=1)
    weights = np.where(np.arange(400) < 300, 1, 0)
    weighted = fn.Table(table.variables, table.codes, weights=weights)
    found = fn.select.kernel_thinning(FISHER, weighted, 10, method="compress", oversampling=1, seed=1)
    assert found.indices.max() < 300


def test_what_is_refused() -> None:
    table = NET.sample(10, seed=1)
    with pytest.raises(FishernetError, match="k must be"):
        fn.select.kernel_thinning(FISHER, table, 11)
    with pytest.raises(FishernetError, match="parts= is for method='split'"):
        fn.select.kernel_thinning(FISHER, table, 2, method="compress", parts=2)
    with pytest.raises(FishernetError, match="oversampling must be"):
        fn.select.kernel_thinning(FISHER, table, 2, method="compress", oversampling=-1)
    with pytest.raises(FishernetError, match="unknown method 'press'; there are 'split', 'compress'"):
        fn.select.kernel_thinning(FISHER, table, 2, method="press")  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="needs a kernel"):
        fn.select.kernel_thinning(None, table, 2)  # type: ignore[arg-type]


def test_compress_keeps_the_weights_of_kernels_without_features() -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=(1000, 2))
    table = fn.Table.from_frame({"a": x[:, 0], "b": x[:, 1], "w": np.exp(x[:, 0])}, weights="w")
    kernel = fn.kernels.GaussianKernel(1.0)
    chosen = [fn.select.kernel_thinning(kernel, table, 20, method="compress", seed=s) for s in range(10)]
    assert all(len(set(one.indices.tolist())) == 20 for one in chosen)
    at_random = [fn.select.random_subset(table, 20, seed=s) for s in range(50)]
    mean, of_random = (
        [fn.compare.mmd(kernel, one.as_table(weights="equal"), table) for one in many] for many in (chosen, at_random)
    )
    assert np.mean(mean) < 0.3 * np.mean(of_random)
