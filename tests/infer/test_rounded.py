"""Numbers that were rounded stand for the interval of their resolution: probabilities of rows, posteriors, evidence."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_ndtr, logsumexp
from scipy.stats import norm

import fishernet as fn
from fishernet.data.encoding.scales import Scale

LOG = Scale("log", (1.0, 0.5))


def one(resolution: float | None, *, mean: float = 3.0, sd: float = 2.0, scale: Scale | None = None) -> Any:
    """Return a network of one number."""
    x = fn.Continuous("x", resolution=resolution, scale=scale)
    tables: dict[str, Any] = {"x": {"intercept": mean, "coefficients": [], "sd": sd}}
    return fn.BayesianNetwork.from_tables([x], {}, tables)


def family(resolution: float = 1.0) -> Any:
    """Return a label a, a number x, and a rounded number y on a logarithmic scale that depends on both."""
    variables: list[Any] = [
        fn.Variable("a", ["p", "q"]),
        fn.Continuous("x"),
        fn.Continuous("y", resolution=resolution, scale=LOG),
    ]
    tables: dict[str, Any] = {
        "a": [0.3, 0.7],
        "x": {"intercept": [0.0, 1.5], "coefficients": [[], []], "sd": [1.0, 0.5]},
        "y": {"intercept": [1.0, 0.5], "coefficients": [[0.5], [-0.3]], "sd": [0.4, 0.8]},
    }
    return fn.BayesianNetwork.from_tables(variables, {"x": ["a"], "y": ["a", "x"]}, tables)


@pytest.mark.parametrize("unit", [0.5, 3.0, 5.0])
def test_a_number_has_the_mass_of_its_interval_per_unit(unit: float) -> None:
    x = 3 + unit * np.arange(-1, 2)
    expected = np.log(norm.cdf(x + unit / 2, 3, 2) - norm.cdf(x - unit / 2, 3, 2)) - math.log(unit)
    np.testing.assert_allclose(one(unit).log_prob(x[:, None]), expected, rtol=1e-9)


@pytest.mark.parametrize("scale", [None, LOG, Scale("power", (0.3, 2.0, 1.5)), Scale("arcsinh", (1.0, 0.3))])
@pytest.mark.parametrize("sd", [0.01, 0.3, 2.0])
def test_masses_add_up_to_that_of_the_whole_range(scale: Scale | None, sd: float) -> None:
    x = np.arange(-40_000, 40_000) * 0.5
    found = one(0.5, mean=1.2, sd=sd, scale=scale).log_prob(x[:, None])
    ends = np.array([x[0] - 0.25, x[-1] + 0.25])
    low, high = norm.cdf(ends if scale is None else scale.forward(ends), 1.2, sd)
    assert 0.5 * np.exp(found).sum() == pytest.approx(high - low, abs=1e-9)


@pytest.mark.parametrize("middle", [0.0, -1.7, 4.99, 5.01, 38.0, -3e4, 1e12])
@pytest.mark.parametrize("unit", [1e-9, 1e-3, 0.049, 0.051, 2.0, 50.0])
def test_masses_of_any_width_keep_their_digits_however_far_out(middle: float, unit: float) -> None:
    found = float(one(unit, mean=0.0, sd=1.0).log_prob([[middle]])[0]) + math.log(unit)
    low, high = abs(middle) - unit / 2, abs(middle) + unit / 2
    if unit * max(abs(middle), 1) < 0.01:  # a density that bends; tails would cancel
        expected = norm.logpdf(middle) + math.log(unit) + math.log1p((middle**2 - 1) * unit**2 / 24)
    elif middle == 1e12:  # the tail above the interval is nothing beside the one that begins with it
        expected = -(low**2) / 2
    else:  # of the two tails that are smaller
        upper, lower = log_ndtr(-low), log_ndtr(-high)
        expected = upper + math.log(-math.expm1(lower - upper))
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-8)


def test_a_resolution_far_below_the_spread_gives_the_density() -> None:
    fine, plain = family(1e-9), family()
    rows = plain.sample(50, seed=1)
    table = fn.Table.adopt(fine.variables, rows.codes)
    y, density = rows["y"], []
    for row in range(50):
        a, x = rows.codes[0][row], rows.codes[1][row]
        of_x = norm.logpdf(x, [0.0, 1.5][a], [1.0, 0.5][a])
        of_y = norm.logpdf(LOG.forward(y[row]), [1.0, 0.5][a] + [0.5, -0.3][a] * x, [0.4, 0.8][a])
        density.append(math.log([0.3, 0.7][a]) + of_x + of_y + float(LOG.log_slope(np.array(y[row]))))
    np.testing.assert_allclose(fine.log_prob(table), density, rtol=1e-9, atol=1e-9)


def test_missing_labels_are_summed_out_of_masses_and_posteriors_are_shares_of_them() -> None:
    net = family()
    y = [0.0, 1.0, 2.0, 7.0, 40.0]
    rows = {"x": [0.3, -1.0, 2.0, 0.0, 1.0], "y": y}
    by_label = np.array([net.log_prob(rows | {"a": [a] * 5}) for a in "pq"])
    np.testing.assert_allclose(net.log_prob(rows | {"a": [None] * 5}), logsumexp(by_label, axis=0), rtol=1e-12)
    posterior = np.exp(by_label - logsumexp(by_label, axis=0))
    np.testing.assert_allclose(net.predict_proba(rows, "a"), posterior.T, rtol=1e-10)
    for row in range(5):
        given = {"x": rows["x"][row], "y": y[row]}
        np.testing.assert_allclose(net.query("a", given=given).array, posterior[:, row], rtol=1e-10)
        assert fn.infer.log_evidence(net, given) == pytest.approx(logsumexp(by_label[:, row]), rel=1e-10)


@pytest.mark.parametrize(("a", "y"), list(itertools.product(["p", "q", None], [0.0, 3.0, 200.0])))
def test_missing_numbers_are_integrated_out_of_masses(a: str | None, y: float) -> None:
    net = family(2.0)

    def mass(x: float) -> float:
        return math.exp(net.log_prob({"a": [a], "x": [x], "y": [y]})[0])

    expected = quad(mass, -12, 12, epsabs=0, epsrel=1e-10, limit=400)[0]
    found = net.log_prob({"a": [a], "x": [None], "y": [y]})[0]
    assert found == pytest.approx(math.log(expected), abs=1e-7)
    terms = net.log_prob_terms({"a": [a], "x": [None], "y": [y]})
    assert terms.sum() == pytest.approx(found, abs=1e-10)


def test_networks_of_numbers_alone_have_masses_with_cells_missing_or_not() -> None:
    variables = [fn.Continuous("x"), fn.Continuous("y", resolution=1.0)]
    regressions: dict[str, Any] = {
        "x": {"intercept": 1.0, "coefficients": [], "sd": 0.6},
        "y": {"intercept": 0.0, "coefficients": [1.0], "sd": 0.8},
    }
    net = fn.BayesianNetwork.from_tables(variables, {"y": ["x"]}, regressions)
    expected = math.log(norm.cdf(2.5, 1, 1) - norm.cdf(1.5, 1, 1))
    assert net.log_prob({"x": [None], "y": [2.0]})[0] == pytest.approx(expected, rel=1e-12)
    assert fn.infer.log_evidence(net, {"y": 2.0}) == pytest.approx(expected, rel=1e-12)
