"""What the studies compare with: formulas, invariances, and graphs that are plain to see."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from studies import comparators
from studies.comparators import graphical_lasso, lasso_neighbourhoods, nonparanormal

NAMES = ("v0", "v1", "v2", "v3")


def chain(n: int = 2_000, seed: int = 1) -> np.ndarray[Any, Any]:
    """v0 - v1 - v2, and v3 alone."""
    a, b, c, d = np.random.default_rng(seed).normal(size=(4, n))
    b = 0.7 * a + b
    return np.column_stack([a, b, 0.7 * b + c, d])


CHAIN = (("v0", "v1"), ("v1", "v2"))


@pytest.mark.parametrize("make", [graphical_lasso, lasso_neighbourhoods])
def test_a_chain_is_found(make: Any) -> None:
    pytest.importorskip("sklearn")
    found = make(chain())
    assert found.names == NAMES
    assert set(CHAIN) <= set(found.edges)
    assert "v3" not in {name for edge in found.edges for name in edge}


@pytest.mark.parametrize("make", [graphical_lasso, lasso_neighbourhoods])
def test_scales_and_places_of_columns_do_not_matter(make: Any) -> None:
    pytest.importorskip("sklearn")
    X = chain(300)
    assert make(X * [1, 100, 0.01, 5] + [3, -50, 0, 1e3]) == make(X)


def test_the_extended_bic_of_an_example() -> None:
    assert comparators.ebic(-5.0, 3, 100, 10, 0.5) == pytest.approx(
        10 + 3 * math.log(100) + 6 * math.log(10), rel=1e-12
    )
    assert comparators.ebic(-5.0, 3, 100, 10, 0.0) == pytest.approx(10 + 3 * math.log(100), rel=1e-12)


def test_the_log_likelihood_is_the_normal_density_without_its_constant() -> None:
    X = chain(50)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    covariance = np.array([[1, 0.5, 0, 0], [0.5, 1, 0.2, 0], [0, 0.2, 1, 0], [0, 0, 0, 1]])
    expected = stats.multivariate_normal(np.zeros(4), covariance).logpdf(X).sum()
    found = comparators.log_likelihood(np.linalg.inv(covariance), X.T @ X / 50, 50)
    assert found - 50 * 4 / 2 * math.log(2 * math.pi) == pytest.approx(expected, rel=1e-10)


def test_the_largest_penalty_leaves_no_edge_and_a_smaller_one_does() -> None:
    pytest.importorskip("sklearn")
    counts = [np.count_nonzero(np.triu(one, 1)) for one in comparators.lasso_path(np.corrcoef(chain(300).T), 5)]
    assert counts[0] == 0 < counts[-1]


def test_the_chosen_graph_has_the_smallest_extended_bic_of_the_path() -> None:
    pytest.importorskip("sklearn")
    X = chain(80)
    correlations = np.corrcoef(X.T)
    off = ~np.eye(4, dtype=bool)
    best = min(
        comparators.lasso_path(correlations),
        key=lambda p: comparators.ebic(
            40 * (np.linalg.slogdet(p)[1] - np.trace(p @ correlations)), (p[off] != 0).sum() // 2, 80, 4
        ),
    )
    found = graphical_lasso(X)
    assert {(f"v{i}", f"v{j}") for i, j in np.argwhere(np.triu(best, 1) != 0)} == set(found.edges)


def test_the_penalty_is_the_normal_quantile_over_the_root_of_n() -> None:
    at = comparators.lasso_penalty(400, 10, 0.05)
    assert stats.norm.cdf(at * 20) == pytest.approx(1 - 0.05 / 200, abs=1e-12)


def test_a_neighbour_needs_a_correlation_above_the_penalty() -> None:
    """Of two columns the lasso's coefficient is the correlation less the penalty, where that is positive."""
    pytest.importorskip("sklearn")
    n = 100
    at = comparators.lasso_penalty(n, 2)
    x, y = np.linalg.qr(np.column_stack([np.ones(n), np.random.default_rng(1).normal(size=(n, 2))]))[0][:, 1:].T
    for r, edges in ((at + 1e-3, 1), (at - 1e-3, 0)):
        found = lasso_neighbourhoods(np.column_stack([x, r * x + math.sqrt(1 - r**2) * y]))
        assert found.n_edges == edges


def test_and_is_within_or() -> None:
    pytest.importorskip("sklearn")
    graphs = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 12)) @ rng.normal(size=(12, 12))
        graphs.append([set(lasso_neighbourhoods(X, rule=rule).edges) for rule in ("and", "or")])
    assert all(both <= one for both, one in graphs)
    assert any(both < one for both, one in graphs)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32), st.sampled_from([np.exp, np.cbrt, np.arctan, lambda x: x**3]))
def test_increasing_functions_change_nothing(seed: int, increasing: Any) -> None:
    X = np.random.default_rng(seed).normal(size=(40, 3))
    np.testing.assert_array_equal(nonparanormal(increasing(X)), nonparanormal(X))


def test_normal_quantiles_are_recovered() -> None:
    X = np.exp(np.random.default_rng(5).normal(size=(5_000, 1)))
    found = nonparanormal(X)[:, 0]
    assert np.abs(found - np.log(X[:, 0]))[np.abs(found) < 2].max() < 0.2
    assert np.quantile(found, [0.1, 0.5, 0.9]) == pytest.approx(stats.norm.ppf([0.1, 0.5, 0.9]), abs=0.02)


def test_equal_values_stay_equal_and_columns_get_the_same_scale() -> None:
    X = np.array([[1.0, 4.0], [1.0, 3.0], [2.0, 3.0], [5.0, 1.0], [9.0, 0.0]])
    found = nonparanormal(X)
    assert found[0, 0] == found[1, 0] < found[2, 0] < found[3, 0] < found[4, 0]
    assert found[1, 1] == found[2, 1]
    np.testing.assert_allclose(found.std(axis=0), 1, rtol=1e-12)


@pytest.mark.parametrize("make", [graphical_lasso, lasso_neighbourhoods, nonparanormal])
def test_data_that_do_not_fit_are_refused(make: Any) -> None:
    X = chain(20)
    for wrong in (np.nan, 2.0):
        X[3 if wrong != wrong else slice(None), 1] = wrong
        with pytest.raises(ValueError, match="finite numbers that vary"):
            make(X)


def test_what_is_not_installed_is_named() -> None:
    assert comparators.missing("no_such_module") == "no_such_module is not installed"
    assert comparators.missing("numpy") == ""


def test_kernel_tests_are_made_once_and_ordered_by_p_value_and_then_by_statistic() -> None:
    told = {(0, 1): (-1e-17, 3.0), (0, 2): (0.4, 900.0), (0, 3): (0.0, 5.0)}
    made = []

    def compute(x: Any, y: Any, z: Any, key: Any) -> tuple[float, float]:
        made.append(key)
        return told[key[:2]]

    test = comparators.KernelTest(chain(20), compute)
    assert test.association(0, 3, ()) > test.association(1, 0, ()) > test.association(0, 2, ())
    assert test(1, 0, ()).p_value == 0.0
    assert test(0, 1, (2,)) == test(1, 0, (2,))
    assert made == [(0, 3), (0, 1), (0, 2), (0, 1, 2)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [comparators.kcit, comparators.rcit])
def test_kernel_tests_see_what_is_not_linear(make: Any) -> None:
    pytest.importorskip("causallearn")
    z, x, y = np.random.default_rng(6).normal(size=(3, 200))
    test = make(np.column_stack([np.cos(2 * z) + x / 3, z**2 + y / 3, z]))
    assert test(0, 2, ()).p_value < 0.01
    assert test(0, 1, ()).p_value < 0.01
    assert test(0, 1, (2,)).p_value > 0.01


@pytest.mark.filterwarnings("ignore")
def test_random_features_are_a_function_of_the_seed() -> None:
    pytest.importorskip("causallearn")
    before = np.random.get_state()[1].tolist()  # type: ignore[index]  # noqa: NPY002
    X = chain(100)
    once, again, other = (comparators.rcit(X, seed)(0, 2, (1,)) for seed in (1, 1, 2))
    assert once == again != other
    assert np.random.get_state()[1].tolist() == before  # type: ignore[index]  # noqa: NPY002


def test_blas_has_one_thread_and_then_as_many_as_before() -> None:
    control = pytest.importorskip("threadpoolctl")

    def threads() -> list[int]:
        return [held["num_threads"] for held in control.threadpool_info() if held["user_api"] == "blas"]

    with control.threadpool_limits(2):
        before = threads()
        with comparators.one_blas_thread():
            assert threads() == [1] * len(before)
        assert threads() == before


def test_without_its_control_blas_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparators, "find_spec", lambda _: None)
    with comparators.one_blas_thread() as held:
        assert held is None


FAKE = """import sys
if sys.argv[1] == "-e":
    sys.exit({status})
rows = open(sys.argv[2]).read().split()
assert len(rows) == 50 and len(rows[0].split(",")) == 3, rows
assert abs(float(sys.argv[4]) - {penalty}) < 1e-9, sys.argv
open(sys.argv[3], "w").write("1,1,0\\n1,1,0\\n0,0,1\\n")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a script with #! stands in for R")
@pytest.mark.parametrize("status", [0, 1])
def test_space_hands_columns_over_and_reads_the_graph(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, status: int
) -> None:
    """A program in the place of R, which tells that only the first two columns are joined."""
    program = tmp_path / "Rscript"
    penalty = math.sqrt(50) * stats.norm.ppf(1 - 0.1 / 18)
    script = tmp_path / "fake.py"
    script.write_text(FAKE.format(status=status, penalty=penalty))
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}" "$@"\n')  # #! takes no path with spaces
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    if status:
        assert comparators.missing("space") == "R's package space is not installed"
        monkeypatch.setenv("PATH", "")
        assert comparators.missing("space") == "R is not installed"
    else:
        assert not comparators.missing("space")
        assert comparators.space(chain(50)[:, :3]).edges == (("v0", "v1"),)
