"""The regret: against all samples, in fractions, by another recurrence, and where numbers are large."""

from __future__ import annotations

import decimal
import itertools
import math
from collections import Counter
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError
from tests.reference.scoring import naive_regret


@pytest.mark.parametrize("r", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_it_is_the_log_of_the_sum_over_all_samples(n: int, r: int) -> None:
    total = math.fsum(
        math.prod((k / n) ** k for k in Counter(sample).values()) for sample in itertools.product(range(r), repeat=n)
    )
    assert fn.regret(n, r) == pytest.approx(math.log(total), rel=1e-13, abs=1e-13)


@given(st.integers(0, 250), st.one_of(st.integers(1, 600), st.integers(1, 10**30)))
def test_it_is_the_sum_in_fractions(n: int, r: int) -> None:
    assert fn.regret(n, r) == pytest.approx(naive_regret(n, r), rel=1e-10, abs=1e-13)


@given(st.integers(1, 10**6), st.integers(1, 10**5))
def test_neighbouring_numbers_of_states_are_tied_by_a_recurrence(n: int, r: int) -> None:
    """C(r + 2, n) = C(r + 1, n) + n C(r, n) / r (Kontkanen and Myllymaki 2007)."""
    a, b, c = (fn.regret(n, r + k) for k in range(3))
    assert c == pytest.approx(np.logaddexp(b, math.log(n / r) + a), rel=1e-10)


@pytest.mark.parametrize("n", [100, 127, 128, 129, 1000, 65_535, 1_000_000])
def test_two_states_are_the_sum_of_binomials(n: int) -> None:
    """C(2, n) = sum_k binom(n, k) (k/n)^k ((n-k)/n)^(n-k), in extended precision."""
    k = np.arange(1, n, dtype=np.longdouble)
    logs = np.concatenate([[0], np.cumsum(np.log(np.arange(1, n + 1, dtype=np.longdouble)))])
    terms = logs[n] - logs[1:n] - logs[n - 1 : 0 : -1] + k * np.log(k / n) + (n - k) * np.log((n - k) / n)
    assert fn.regret(n, 2) == pytest.approx(float(np.log(2 + np.exp(terms).sum())), rel=1e-10)


@pytest.mark.parametrize("r", [3, 256, 257, 258, 10**4, 10**6, 10**9])
def test_a_million_rows(r: int) -> None:
    """The sum of DESIGN's formula in extended precision, term after term."""
    n = 1_000_000
    k = np.arange(n, dtype=np.longdouble)
    steps = np.log((n - k) / (k + 1)) + np.log((r - 1 + k) / n)
    logs = np.concatenate([[np.longdouble(0)], np.cumsum(steps)])
    top = logs.max()
    assert fn.regret(n, r) == pytest.approx(float(top + np.log(np.exp(logs - top).sum())), rel=1e-10)


@pytest.mark.parametrize("n", [10**14, 10**15, 2**53])
@pytest.mark.parametrize("r", [257, 1000, 2000])
def test_many_rows_of_some_hundred_states(n: int, r: int) -> None:
    """Kontkanen and Myllymaki's recurrence with 50 digits, from two states, whose error of 1e-10 is all there is."""
    with decimal.localcontext(prec=50):
        before, last = Decimal(1), Decimal(fn.regret(n, 2)).exp()
        for k in range(3, r + 1):
            before, last = last, last + Decimal(n) / (k - 2) * before
        assert fn.regret(n, r) == pytest.approx(float(last.ln()), rel=1e-11)


def log_factorial(k: int) -> Decimal:
    """Stirling's formula; its remainder lies between 1 / (12 k + 1) and 1 / (12 k) (Robbins 1955)."""
    x, two_pi = Decimal(k), Decimal(2 * math.pi)
    return (x + Decimal("0.5")) * x.ln() - x + two_pi.ln() / 2 + 1 / (12 * x)


@pytest.mark.parametrize("n", [10**9, 10**12, 2**53])
@pytest.mark.parametrize("r", [10**6, 10**12, 10**16, 10**17, 2 * 10**17, 10**19, 10**24])
def test_very_many_states_and_rows(n: int, r: int) -> None:
    """The sum of n + 1 terms lies between the largest and n + 1 times it: closer than 1e-10 where it is large."""
    with decimal.localcontext(prec=60):
        b = Decimal(r - 1)
        k = int(2 * n * Decimal(r - 2) / (b + (b * b + 4 * Decimal(n) * (r - 2)).sqrt()))  # the largest term's
        differ = log_factorial(n) - log_factorial(max(n - k, 1)) - k * Decimal(n).ln()
        largest = differ + log_factorial(r - 2 + k) - log_factorial(r - 2) - log_factorial(k)
        low, high = float(largest), float(largest + Decimal(n + 1).ln())
    assert low * (1 - 1e-11) - 1 <= fn.regret(n, r) <= high * (1 + 1e-11) + 1


@pytest.mark.parametrize(
    ("n", "r", "expected"),
    [
        *[(50, 10, 13.24), (50, 100, 60.00), (50, 1000, 153.28), (50, 10000, 265.28)],
        *[(500, 10, 22.67), (500, 100, 144.03), (500, 1000, 603.93), (500, 10000, 1533.38)],
        *[(5000, 10, 32.74), (5000, 100, 247.97), (5000, 1000, 1451.78), (5000, 10000, 6043.16)],
    ],
)
def test_printed_values(n: int, r: int, expected: float) -> None:
    """The table of exact values in the qNML paper's supplement."""
    assert fn.regret(n, r) == pytest.approx(expected, abs=0.0051)


def test_no_draw_and_one_state_cost_nothing() -> None:
    assert fn.regret(0, 10**40) == 0
    assert fn.regret(10**9, 1) == 0


@pytest.mark.parametrize("n", [1, 7, 1000])
def test_more_states_than_a_double_counts(n: int) -> None:
    """Nearly all samples have no state twice: C is r^n / n^n."""
    assert fn.regret(n, 10**400) == pytest.approx(n * (400 * math.log(10) - math.log(n)), rel=1e-13)
    assert fn.regret(n, 10**17) == pytest.approx(fn.regret(n, 10**17 + 10**3), rel=1e-12)


@given(st.integers(0, 10**12), st.integers(1, 10**12))
def test_it_rises_with_draws_and_with_states(n: int, r: int) -> None:
    here = fn.regret(n, r)
    assert here >= 0
    assert fn.regret(n, r + 1) >= here * (1 - 1e-10)
    assert fn.regret(n + 1, r) >= here * (1 - 1e-10)


@pytest.mark.parametrize(("n", "r"), [(-1, 2), (3, 0), (3, -2), (2**53 + 1, 2), (1.5, 2), (3, 2.0), ("3", 2)])
def test_what_is_no_number_of_draws_or_states_is_refused(n: int, r: int) -> None:
    with pytest.raises(FishernetError, match=r"n|r"):
        fn.regret(n, r)
