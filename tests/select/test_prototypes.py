"""Prototypes and criticisms against what their definitions say, step by step, on the whole kernel matrix."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

import fishernet as fn
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.kernels import row_sums
from tests.matrices import Precomputed
from tests.networks import random_network, with_holes

Floats = np.ndarray[Any, np.dtype[np.float64]]


def shares_of(table: fn.Table) -> Floats:
    weights = np.ones(len(table)) if table.weights is None else np.asarray(table.weights, dtype=np.float64)
    return np.asarray(weights / weights.sum())


def squared_distance(gram: Floats, shares: Floats, rows: list[int], weights: Floats) -> float:
    """|sum of w_i phi_i - mean phi|^2."""
    at = np.zeros(len(gram))
    at[rows] = weights
    return float((at - shares) @ gram @ (at - shares))


def cases() -> dict[str, tuple[Any, fn.Table]]:
    net = random_network(3, [3, 2, 4, 2])
    table = net.sample(40, seed=1)
    weighted = fn.Table(table.variables, table.codes, weights=np.arange(40) % 4)
    fisher = fn.kernels.FisherKernel(net)
    return {
        "cells": (fisher, table),
        "weights": (fisher, weighted),
        "features": (fn.kernels.HiddenVariableKernel(net), with_holes(net, 40, 2, 0.3)),
        "rows": (fn.kernels.Normalized(fisher), table),
    }


CASES = cases()


@pytest.mark.parametrize("name", CASES)
def test_mmd_critic_adds_the_row_that_brings_the_mean_nearest(name: str) -> None:
    kernel, table = CASES[name]
    gram, shares = kernel(table), shares_of(table)
    found = fn.select.mmd_critic(kernel, table, 8)
    chosen: list[int] = []
    for step in range(8):
        values = {
            row: squared_distance(gram, shares, [*chosen, row], np.full(step + 1, 1 / (step + 1)))
            for row in range(len(table))
            if row not in chosen
        }
        least = min(values.values())
        assert values[int(found.indices[step])] == pytest.approx(least, abs=1e-9)
        assert found.trace[step] == pytest.approx(least, abs=1e-9)
        chosen.append(int(found.indices[step]))
    assert len(set(chosen)) == 8
    assert found.distance == found.trace[-1]


@pytest.mark.parametrize("whole", [False, True], ids=["free", "sum to one"])
@pytest.mark.parametrize("name", CASES)
def test_protodash_weighs_by_non_negative_least_squares(name: str, whole: bool) -> None:
    kernel, table = CASES[name]
    gram, shares = kernel(table), shares_of(table)
    found = fn.select.protodash(kernel, table, 8, sum_to_one=whole)
    mean = gram @ shares
    scale = 1e-8 * max(1.0, np.abs(gram).max())
    for n in range(1, len(found.indices) + 1):
        part = fn.select.protodash(kernel, table, n, sum_to_one=whole)
        assert part.indices.tolist() == found.indices[:n].tolist()
        assert part.weights is not None
        rows = part.indices.tolist()
        assert (part.weights >= 0).all()
        assert not whole or part.weights.sum() == pytest.approx(1)
        gradient = mean - gram[:, rows] @ part.weights  # the conditions of Karush, Kuhn and Tucker
        level = float(part.weights @ gradient[rows]) if whole else 0.0
        assert (np.abs(gradient[rows] - level) <= scale)[part.weights > 0].all()
        assert (gradient[rows] <= level + scale).all()
        assert part.distance == pytest.approx(squared_distance(gram, shares, rows, part.weights), abs=scale)
        if n < len(found.indices):
            promise = improvements(gram, shares, rows, part.weights) if whole else gradient
            assert promise[found.indices[n]] >= np.delete(promise, rows).max() - scale
    assert (np.diff(found.trace) <= 1e-9).all()


def improvements(gram: Floats, shares: Floats, rows: list[int], weights: Floats) -> Floats:
    """By how much the best step from the weighted mean towards each row lowers the distance, by many steps tried."""
    steps = np.linspace(0, 1, 20_001)
    now = np.zeros(len(gram))
    now[rows] = weights
    found = []
    for row in range(len(gram)):
        towards = (np.arange(len(gram)) == row) - now
        linear, square = 2 * towards @ gram @ (now - shares), towards @ gram @ towards
        found.append(-(linear * steps + square * steps**2).min())
    return np.array(found)


def test_weights_are_those_of_an_independent_solver() -> None:
    kernel, table = CASES["cells"]
    features = kernel.features(table).toarray()
    found = fn.select.protodash(kernel, table, 6, sum_to_one=False)
    assert found.weights is not None
    wanted, _ = nnls(features[found.indices].T, features.mean(axis=0))
    np.testing.assert_allclose(found.weights, wanted, atol=1e-7)
    found = fn.select.protodash(kernel, table, 6)
    assert found.weights is not None
    heavy = 1e5  # of a last equation, which says that the weights add up to 1
    with_ones = np.concatenate([features, np.full((len(features), 1), heavy)], axis=1)
    wanted, _ = nnls(with_ones[found.indices].T, with_ones.mean(axis=0))
    np.testing.assert_allclose(found.weights, wanted, atol=1e-6)


def test_weights_that_add_up_to_one_do_not_vanish_where_the_mean_does() -> None:
    net = fn.datasets.load("asia")
    table = net.sample(2000, seed=1)
    kernel = fn.kernels.FisherKernel(fn.learn.parameters(net.dag, table))
    free = fn.select.protodash(kernel, table, 5, sum_to_one=False)
    assert free.weights is not None
    assert free.weights.sum() < 0.1
    whole, critic = fn.select.protodash(kernel, table, 5), fn.select.mmd_critic(kernel, table, 5)
    assert whole.distance <= critic.distance


@pytest.mark.parametrize("name", CASES)
def test_criticisms_have_the_largest_witness_and_determinant(name: str) -> None:
    kernel, table = CASES[name]
    gram, shares = kernel(table), shares_of(table)
    prototypes = fn.select.mmd_critic(kernel, table, 4)
    found = fn.select.criticisms(kernel, table, prototypes, 3)
    witness = np.abs(gram @ shares - gram[:, prototypes.indices].mean(axis=1))
    chosen: list[int] = []

    def value(rows: list[int]) -> float:
        sign, log = np.linalg.slogdet(gram[np.ix_(rows, rows)])
        return float(witness[rows].sum() + log) if sign > 0 else -np.inf

    for step, row in enumerate(found.indices.tolist()):
        assert row not in prototypes.indices
        others = [r for r in range(len(table)) if r not in chosen and r not in prototypes.indices]
        best = max(value([*chosen, r]) for r in others)
        chosen.append(row)
        if np.isfinite(best):
            assert value(chosen) == pytest.approx(best, abs=1e-6)
            assert found.trace[step] == pytest.approx(best, abs=1e-6)
    weighed = fn.select.criticisms(kernel, table, fn.select.protodash(kernel, table, 4), 2)
    assert len(set(weighed.indices.tolist())) == 2


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 12), st.integers(1, 5), st.integers(0, 2**32))
def test_random_matrices_one_row_many_rows_and_duplicates(n: int, rank: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, rank))[rng.integers(0, n, size=n)]
    kernel, rows = Precomputed(features @ features.T), np.arange(n)
    k = int(rng.integers(1, n + 1))
    for choose in (fn.select.mmd_critic, fn.select.protodash):
        found = choose(kernel, rows, k)
        assert len(set(found.indices.tolist())) == len(found.indices) <= k
        assert np.isfinite(found.trace).all()
    critic = fn.select.mmd_critic(kernel, rows, k)
    assert len(critic.indices) == k
    brute = min(squared_distance(kernel.matrix, np.full(n, 1 / n), [row], np.ones(1)) for row in range(n))
    assert critic.trace[0] == pytest.approx(brute, abs=1e-9)


def test_all_rows_have_no_distance_and_gains_are_what_the_trace_says() -> None:
    kernel, table = CASES["cells"]
    everything = fn.select.mmd_critic(kernel, table, len(table))
    assert everything.distance == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(everything.gains, -np.diff(everything.trace))


def test_tolerance_ends_the_choice() -> None:
    kernel, table = CASES["cells"]
    gram, shares = kernel(table), shares_of(table)
    spread = float(shares @ np.diag(gram) - shares @ gram @ shares)
    for choose in (fn.select.mmd_critic, fn.select.protodash):
        found = choose(kernel, table, tolerance=0.05)
        assert found.trace[-1] <= 0.05 * spread
        assert (found.trace[:-1] > 0.05 * spread).all()
        assert len(choose(kernel, table, 2, tolerance=1e-9).indices) == 2


def test_any_rows_with_a_kernel() -> None:
    strings = ["abab", "abba", "bbbb", "baba", "aaaa"]
    numbers = np.random.default_rng(1).normal(size=30)
    gaussian = fn.kernels.FisherKernel(fn.Gaussian(0.0, 1.0))
    for kernel, rows in ((fn.kernels.SpectrumKernel(2), strings), (gaussian, numbers), (gaussian * gaussian, numbers)):
        for choose in (fn.select.mmd_critic, fn.select.protodash):
            assert 1 <= len(choose(kernel, rows, 2).indices) <= 2
        assert len(fn.select.criticisms(kernel, rows, [0], 2).indices) == 2


def test_what_is_refused() -> None:
    kernel, table = CASES["cells"]
    for choose in (fn.select.mmd_critic, fn.select.protodash):
        with pytest.raises(FishernetError, match="k must be"):
            choose(kernel, table, len(table) + 1)
        with pytest.raises(FishernetError, match="how many rows"):
            choose(kernel, table)
        with pytest.raises(FishernetError, match="tolerance"):
            choose(kernel, table, tolerance=-1.0)
        with pytest.raises(SchemaError, match="needs a kernel"):
            choose("fisher", table, 2)  # type: ignore[arg-type]
        with pytest.raises(SchemaError, match="weight 0"):
            choose(kernel, fn.Table(table.variables, table.codes, weights=np.zeros(40, dtype=int)), 2)
        with pytest.raises(FishernetError, match="a row to choose from"):
            choose(kernel, table[:0], 1)
    with pytest.raises(FishernetError, match="m must be"):
        fn.select.criticisms(kernel, table, [0, 1], 39)
    with pytest.raises(FishernetError, match="more than once"):
        fn.select.criticisms(kernel, table, [0, 0], 1)
    with pytest.raises(FishernetError, match="has no prototypes"):
        fn.select.criticisms(kernel, table, np.empty(0, dtype=int), 1)


def test_little_room_for_rows_of_the_matrix_changes_nothing() -> None:
    kernel, table = CASES["rows"]
    with mock.patch.object(row_sums, "MOST_KEPT", 3 * len(table)):
        few = [
            fn.select.greedy_mmd(kernel, table, 3, seed=1),  # all of them fit, and others make room
            fn.select.greedy_mmd(kernel, table, 6, seed=1),
            fn.select.protodash(kernel, table, 6),
        ]
    many = [
        fn.select.greedy_mmd(kernel, table, 3, seed=1),
        fn.select.greedy_mmd(kernel, table, 6, seed=1),
        fn.select.protodash(kernel, table, 6),
    ]
    for one, other in zip(few, many, strict=True):
        assert one.indices.tolist() == other.indices.tolist()
        assert one.distance == pytest.approx(other.distance, rel=1e-9)
