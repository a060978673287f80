"""Distances by the number of chosen rows, and of random ones, against every subset, simulation and repeated rows."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.base.errors import FishernetError, SchemaError
from tests.networks import random_network, with_holes

NET = random_network(3, [3, 2, 4, 2])
TABLE = NET.sample(40, seed=1)
FISHER = fn.kernels.FisherKernel(NET)
WHOLE = np.array([3, 0, 1, 2, 1, 5, 1, 1])


def weighted(weights: Any) -> fn.Table:
    few = TABLE[: len(weights)]
    return fn.Table(few.variables, few.codes, weights=np.asarray(weights))


def cases() -> dict[str, tuple[Any, Any]]:
    return {
        "cells": (FISHER, TABLE),
        "features": (fn.kernels.HiddenVariableKernel(NET), with_holes(NET, 40, 2, 0.3)),
        "rows": (fn.kernels.Normalized(FISHER), TABLE),
        "strings": (fn.kernels.SpectrumKernel(2), ["ab", "ba", "aabb", "abab", "bbb", "aab"]),
    }


CASES = cases()


def of_subsets(gram: Any, k: int) -> float:
    """The mean squared distance of all subsets of k rows to all rows."""
    n = len(gram)
    found = []
    for rows in itertools.combinations(range(n), k):
        at = np.full(n, -1 / n)
        at[list(rows)] += 1 / k
        found.append(at @ gram @ at)
    return float(np.mean(found))


def test_the_level_of_random_rows_is_the_mean_over_all_subsets() -> None:
    few = TABLE[:7]
    found = fn.select.distance_by_k(FISHER, few, range(1, 8), n_random=1, seed=1)
    expected = [of_subsets(FISHER(few), k) for k in range(1, 8)]
    np.testing.assert_allclose(found.at_random, expected, rtol=1e-9, atol=1e-12)
    assert found.at_random[0] == pytest.approx(found.spread)
    assert found.drawn_from == 7


def test_whole_weights_are_repeated_rows() -> None:
    table = weighted(WHOLE)
    repeated = table[np.repeat(np.arange(8), WHOLE)]
    repeated = fn.Table(repeated.variables, repeated.codes)
    ks = [1, 2, 3, 5, 8]
    found = fn.select.distance_by_k(FISHER, table, ks, n_random=3, seed=1)
    plain = fn.select.distance_by_k(FISHER, repeated, ks, n_random=3, seed=1)
    np.testing.assert_allclose(found.at_random, plain.at_random, rtol=1e-9)
    np.testing.assert_allclose(found.low, plain.low, rtol=1e-9)  # the same draws, of rows in the same order
    assert found.drawn_from == plain.drawn_from == 14
    expected = [of_subsets(FISHER(repeated), k) for k in (2, 3)]
    np.testing.assert_allclose(found.at_random[1:3], expected, rtol=1e-9)


def test_other_weights_are_drawn_with_replacement() -> None:
    weights = np.array([0.5, 0.0, 2.25, 1.0, 0.25])
    table = weighted(weights)
    gram, shares = FISHER(table), weights / weights.sum()
    found = fn.select.distance_by_k(FISHER, table, [1, 3], n_random=1, seed=1)
    expected = 0.0
    for rows in itertools.product(range(5), repeat=3):
        at = np.bincount(rows, minlength=5) / 3 - shares
        expected += float(np.prod(shares[list(rows)])) * float(at @ gram @ at)
    assert found.at_random[1] == pytest.approx(expected)
    assert found.drawn_from == np.inf


@pytest.mark.parametrize("weights", [None, WHOLE, WHOLE * 0.75 + 2], ids=["none", "whole", "other"])
def test_sampled_subsets_have_the_mean_that_is_said(weights: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table = TABLE[:8] if weights is None else weighted(weights)
    monkeypatch.setattr(np, "quantile", lambda found, *_, axis: found.mean(axis=axis)[None].repeat(2, 0))
    found = fn.select.distance_by_k(FISHER, table, [1, 2, 4, 7], n_random=4000, seed=5)
    np.testing.assert_allclose(found.low, found.at_random, rtol=0.12)  # some five standard errors


@pytest.mark.parametrize("name", CASES)
def test_the_band_is_of_subsets_of_the_table(name: str) -> None:
    kernel, data = CASES[name]
    n = len(data)
    found = fn.select.distance_by_k(kernel, data, [1, 3, n], n_random=400, seed=2)
    gram = kernel(data)
    towards = gram.mean(axis=1)
    singles = np.diag(gram) - 2 * towards + towards.mean()
    assert singles.min() - 1e-9 <= found.low[0] <= np.median(singles) + 1e-9
    assert np.median(singles) - 1e-9 <= found.high[0] <= singles.max() + 1e-9
    assert found.at_random[0] == pytest.approx(singles.mean())
    assert (found.low[:2] <= found.high[:2]).all()
    assert found.at_random[-1] == found.low[-1] == found.high[-1] == 0


@pytest.mark.parametrize("method", ["mmd-critic", "protodash"])
@pytest.mark.parametrize("name", CASES)
def test_one_run_gives_what_a_run_for_each_number_does(name: str, method: Any) -> None:
    kernel, data = CASES[name]
    found = fn.select.distance_by_k(kernel, data, [4, 1, 6], method=method, n_random=1, seed=1)
    choose = {"mmd-critic": fn.select.mmd_critic, "protodash": fn.select.protodash}[method]
    assert found.k.tolist() == [1, 4, 6]
    np.testing.assert_allclose(found.distance, [choose(kernel, data, k).distance for k in (1, 4, 6)], atol=1e-12)


def test_methods_that_start_anew() -> None:
    method: Any
    ways: dict[str, Any] = {"mmd": fn.select.greedy_mmd, "kernel-thinning": fn.select.kernel_thinning}
    for method, choose in ways.items():
        found = fn.select.distance_by_k(FISHER, TABLE, [2, 5], method=method, n_random=1, seed=1)
        assert found.distance.tolist() == [choose(FISHER, TABLE, k, seed=1).distance for k in (2, 5)]


def test_a_method_that_ended_keeps_what_it_reached() -> None:
    alike = TABLE[np.array([0, 1] * 10)]
    found = fn.select.distance_by_k(FISHER, alike, [2, 20], method="protodash", n_random=1, seed=1)
    np.testing.assert_allclose(found.distance, 0, atol=1e-9)


def test_so_many_random_rows_come_as_near() -> None:
    found = fn.select.distance_by_k(FISHER, TABLE, [1, 5, 10, 40], n_random=1, seed=1)
    v, n = found.spread, 40
    for like, distance in zip(found.as_random.tolist(), found.distance.tolist(), strict=True):
        assert (1 / like - 1 / n) * n / (n - 1) * v == pytest.approx(distance, abs=1e-12)
    assert found.as_random[-1] == pytest.approx(40)
    assert found.verdict == "40 rows chosen stand for the table as all of them do"
    np.testing.assert_allclose(found.relative, found.distance / v)
    half = fn.select.distance_by_k(FISHER, TABLE, [10], n_random=1, seed=1)
    assert half.verdict == f"10 rows chosen stand for the table as {round(half.as_random[0])} drawn at random do"
    assert half.verdict in repr(half)


def test_tables_of_one_row_and_of_equal_rows() -> None:
    one = fn.select.distance_by_k(FISHER, TABLE[:1], n_random=2, seed=1)
    assert (one.k.tolist(), one.at_random.tolist(), one.high.tolist()) == ([1], [0.0], [0.0])
    assert one.as_random.tolist() == [1.0]
    equal = fn.select.distance_by_k(FISHER, TABLE[np.zeros(5, dtype=int)], [1, 3], n_random=2, seed=1)
    np.testing.assert_allclose([equal.distance, equal.at_random, equal.high], 0, atol=1e-9)
    assert "1 row chosen stands" not in repr(equal)
    heavy = weighted([7, 0, 0])
    found = fn.select.distance_by_k(FISHER, heavy, [1, 3], n_random=2, seed=1)
    assert found.at_random.tolist() == pytest.approx([0, 0], abs=1e-9)


def test_numbers_by_default_and_the_frame() -> None:
    found = fn.select.distance_by_k(FISHER, TABLE, n_random=2, seed=1)
    assert (found.k[0], found.k[-1]) == (1, 40)
    assert (np.diff(found.k) > 0).all()
    frame = found.to_frame()
    assert frame.column_names == ["k", "distance", "relative", "at_random", "low", "high", "as_random"]
    assert frame["distance"].to_pylist() == found.distance.tolist()


def test_the_same_seed_gives_the_same() -> None:
    before = np.random.get_state()[1].copy()  # type: ignore[index]  # noqa: NPY002
    first, second = (fn.select.distance_by_k(FISHER, TABLE, seed=4) for _ in range(2))
    assert first.low.tolist() == second.low.tolist()
    assert first.seed == 4
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # type: ignore[index]  # noqa: NPY002


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ks": [0]}, "ks must be"),
        ({"ks": [41]}, "ks must be"),
        ({"ks": []}, "ks has no number of rows"),
        ({"ks": 5}, "ks must be a sequence of numbers of rows"),
        ({"method": "protodesh"}, "unknown method 'protodesh'.*did you mean 'protodash'"),
        ({"n_random": 0}, "n_random must be"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(FishernetError, match=words):
        fn.select.distance_by_k(FISHER, TABLE, **options)


def test_nothing_to_choose_from_is_refused() -> None:
    with pytest.raises(FishernetError, match="needs a row to choose from"):
        fn.select.distance_by_k(FISHER, TABLE[:0])
    with pytest.raises(SchemaError, match="weight 0"):
        fn.select.distance_by_k(FISHER, weighted([0, 0]))
