"""Kernel thinning: what its halves keep, and how near they come."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError, SchemaError
from tests.networks import random_network, with_holes

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


def test_what_is_refused() -> None:
    table = NET.sample(10, seed=1)
    with pytest.raises(FishernetError, match="k must be"):
        fn.select.kernel_thinning(FISHER, table, 11)
    with pytest.raises(SchemaError, match="needs a kernel"):
        fn.select.kernel_thinning(None, table, 2)  # type: ignore[arg-type]
