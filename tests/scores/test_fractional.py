"""The fractional score of Gaussian families against Eq. 3.6 and its derivation."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import multigammaln

import fishernet as fn
from fishernet.data import Scatter
from fishernet.scores import Fractional


def numbers(n: int, d: int, seed: int = 0) -> Any:
    random = np.random.default_rng(seed)
    return random.normal(size=(n, d)) @ random.normal(size=(d, d)) + random.normal(0, 3, size=d)


def eq_3_6(X: Any, child: int, blanket: list[int], *, center: bool) -> float:
    """The logarithm of one factor, as printed."""
    n, p = len(X), len(blanket)
    Y = X - X.mean(axis=0) if center else X
    S = Y.T @ Y

    def log_determinant(of: list[int]) -> float:
        return float(np.linalg.slogdet(S[np.ix_(of, of)])[1]) if of else 0.0

    ratio = log_determinant([*blanket, child]) - log_determinant(blanket)
    gammas = math.lgamma((n + p) / 2) - math.lgamma((p + 1) / 2)
    return -(n - 1) / 2 * math.log(math.pi) + gammas - (2 * p + 1) / 2 * math.log(n) - (n - 1) / 2 * ratio


@given(st.integers(2, 60), st.integers(1, 7), st.booleans(), st.integers(0, 999))
def test_fmpl_is_the_printed_formula(n: int, d: int, center: bool, seed: int) -> None:
    X = numbers(n, d, seed)
    random = np.random.default_rng(seed)
    most = min(d, n - center)
    child, *blanket = random.permutation(d)[: random.integers(1, most + 1)].tolist()
    expected = eq_3_6(X, child, blanket, center=center)
    assert fn.scores.fmpl(X, child, blanket, center=center) == pytest.approx(expected, rel=1e-6)


@given(st.integers(3, 40), st.integers(1, 5), st.integers(0, 99))
def test_sets_have_their_fractional_marginal_likelihood(n: int, q: int, seed: int) -> None:
    """The integral over |Omega|^-1 and the likelihood, divided by the same with the likelihood to the power 1/n."""
    if q > n - 1:
        return
    scatter = Scatter.from_data(numbers(n, q, seed))

    def log_integral(t: float) -> float:
        a = q - 1 + t * n
        log_determinant = float(np.linalg.slogdet(t * scatter.S)[1])
        size = -t * n * q / 2 * math.log(2 * math.pi) + a * q / 2 * math.log(2)
        return size + float(multigammaln(a / 2, q)) - a / 2 * log_determinant

    expected = log_integral(1.0) - log_integral(1.0 / n)
    [statistic] = scatter.statistics([tuple(range(q))])
    rounding = n * q * np.finfo(float).eps * float(np.linalg.cond(scatter.S))  # of n / 2 logarithms of determinants
    assert Fractional().joint(statistic) == pytest.approx(expected, rel=1e-8, abs=rounding)


def test_both_routes_agree() -> None:
    """The core's families against f and g of the sets, asked one by one."""
    X = numbers(30, 6, 3)
    scatter, rule = Scatter.from_data(X), Fractional()
    for child in range(6):
        others = [v for v in range(6) if v != child]
        for size in range(6):
            for parents in itertools.combinations(others, size):
                joint, marginal = scatter.statistics([tuple(sorted((child, *parents))), parents])
                names = [f"v{p}" for p in parents]
                expected = rule.joint(joint) - rule.marginal(marginal, 1)
                assert fn.local_score(X, f"v{child}", names, "fractional") == pytest.approx(expected, abs=1e-9)


def test_equivalent_graphs_score_alike() -> None:
    X = numbers(25, 4, 1)
    names = [f"v{v}" for v in range(4)]
    by_class: dict[fn.Cpdag, float] = {}
    pairs = list(itertools.combinations(range(4), 2))
    n_equivalent = 0
    for kinds in itertools.product(range(3), repeat=len(pairs)):
        edges = [(a, b) if kind == 1 else (b, a) for (a, b), kind in zip(pairs, kinds, strict=True) if kind]
        try:
            dag = fn.Dag.from_edges(names, [(names[a], names[b]) for a, b in edges])
        except fn.CycleError:
            continue
        score = fn.score(dag, X, "fractional")
        known = by_class.setdefault(fn.graphs.cpdag(dag), score)
        n_equivalent += known != score
        assert score == pytest.approx(known, abs=1e-9)
    assert len(by_class) == 185  # classes of directed acyclic graphs on four variables
    assert n_equivalent > 0  # to rounding, so classes were compared and not graphs with themselves


def test_units_and_origins_do_not_matter_to_comparisons() -> None:
    X = numbers(40, 3, 2)
    Y = X * np.array([1e-3, 7.0, 1e6]) + np.array([5.0, -1e3, 0.0])
    gain = fn.scores.fmpl(X, 0, [1, 2]) - fn.scores.fmpl(X, 0, [])
    assert fn.scores.fmpl(Y, 0, [1, 2]) - fn.scores.fmpl(Y, 0, []) == pytest.approx(gain, abs=1e-8)


def test_frames_and_scatters_are_taken() -> None:
    X = numbers(20, 3)
    expected = fn.scores.fmpl(X, 2, [0])
    assert fn.scores.fmpl(pd.DataFrame(X, columns=list("abc")), 2, [0]) == expected
    assert fn.scores.fmpl(Scatter.from_data(X), 2, [0]) == expected


@pytest.mark.parametrize(
    ("child", "blanket", "message"),
    [
        (3, [0], "position from 0 to 2"),
        (0, [-1], "position from 0 to 2"),
        (True, [0], "position from 0 to 2"),
        (0, [0], "must be distinct"),
        (0, [1, 1], "must be distinct"),
        (0, [1, 2], "need at least 4 rows, got 3"),
    ],
)
def test_what_is_no_family(child: Any, blanket: list[int], message: str) -> None:
    with pytest.raises(fn.SchemaError, match=message):
        fn.scores.fmpl(numbers(3, 3), child, blanket)


def test_a_blanket_may_use_all_rows() -> None:
    X = numbers(3, 3)
    assert math.isfinite(fn.scores.fmpl(X, 0, [1]))
    assert math.isfinite(fn.scores.fmpl(X, 0, [1, 2], center=False))
    assert math.isfinite(fn.scores.fmpl(numbers(2, 1), 0, []))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (np.nan, r"missing in 'v1' \(1\)"),
        (np.inf, "column 'v1', row 4: inf"),
    ],
)
def test_values_that_are_no_numbers(change: float, message: str) -> None:
    X = numbers(9, 3)
    X[4, 1] = change
    with pytest.raises(fn.FishernetError, match=message):
        fn.scores.fmpl(X, 0, [1])


def test_columns_that_carry_nothing_of_their_own() -> None:
    X = numbers(9, 3)
    X[:, 2] = X[:, 0] + X[:, 1]
    with pytest.raises(fn.SchemaError, match="linear combination"):
        fn.scores.fmpl(X, 0, [1, 2])
    X[:, 2] = 1.0
    with pytest.raises(fn.SchemaError, match="'v2' is constant"):
        fn.scores.fmpl(X, 0, [2])
    assert math.isfinite(fn.scores.fmpl(X, 0, [1]))  # what is not asked for may be anything
