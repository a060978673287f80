"""A conditional that is a product of factors: the contract of every conditional, by enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt
import pytest

from fishernet import Table, Variable
from fishernet.base.errors import SchemaError, StateSpaceError, ZeroProbabilityError
from fishernet.models import ProductConditional

Factor = tuple[tuple[int, ...], npt.NDArray[np.float64]]

SIZES = (2, 3, 2, 4)
VARIABLES = [Variable(f"v{i}", [f"s{k}" for k in range(r)]) for i, r in enumerate(SIZES)]
ROWS = Table.from_codes(list(itertools.product(*map(range, SIZES))), VARIABLES)


def factor(seed: int, *axes: int) -> Factor:
    return axes, np.random.default_rng(seed).random([SIZES[v] for v in axes]) + 0.1


# the child is first, last and in the middle of the axes; factors overlap; one stands alone
CASES = {
    "alone": (2, (), [factor(0, 2)]),
    "one input": (2, (1,), [factor(1, 2, 1)]),
    "two factors over the same axes": (1, (0,), [factor(2, 0, 1), factor(3, 1, 0)]),
    "a blanket": (1, (0, 2, 3), [factor(4, 1), factor(5, 3, 1, 0), factor(6, 2, 1), factor(7, 1, 0)]),
    "four states": (3, (0, 1, 2), [factor(8, 3, 0), factor(9, 1, 3, 2)]),
}
EVERY = pytest.mark.parametrize(("child", "parents", "factors"), CASES.values(), ids=CASES)


def made(child: int, parents: tuple[int, ...], factors: list[Factor]) -> ProductConditional:
    return ProductConditional(child, parents, [VARIABLES[v] for v in (*parents, child)], factors)


def share(child: int, factors: list[Factor], row: tuple[int, ...]) -> float:
    """The product of the factors at a row, over its sum over the child's states."""

    def product(state: int) -> float:
        at = [*row[:child], state, *row[child + 1 :]]
        return math.prod(float(values[tuple(at[v] for v in axes)]) for axes, values in factors)

    return product(row[child]) / sum(product(k) for k in range(SIZES[child]))


@EVERY
def test_it_is_the_normalized_product(child: int, parents: tuple[int, ...], factors: list[Factor]) -> None:
    conditional = made(child, parents, factors)
    table = conditional.table()
    assert table.shape == tuple(SIZES[v] for v in (*parents, child))
    for row in itertools.product(*map(range, SIZES)):
        at = (*(row[p] for p in parents), row[child])
        assert table[at] == pytest.approx(share(child, factors, row), rel=1e-13)
    logs = conditional.log_probabilities(ROWS)  # without a table
    np.testing.assert_allclose(np.exp(logs), conditional.probabilities[conditional.groups(ROWS)], rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-170, 1e170])
def test_a_factors_scale_does_not_matter(scale: float) -> None:
    """Three of them are below, or beyond, every float; only their ratios count."""
    axes, values = factor(1, 0, 1)
    scaled = ProductConditional(1, (0,), VARIABLES[:2], [(axes, values * scale)] * 3)
    plain = ProductConditional(1, (0,), VARIABLES[:2], [(axes, values)] * 3)
    np.testing.assert_allclose(scaled.log_probabilities(ROWS), plain.log_probabilities(ROWS), rtol=1e-11)
    np.testing.assert_allclose(scaled.probabilities, plain.probabilities, rtol=1e-11)


def test_five_hundred_factors_do_not_vanish() -> None:
    """1e-3 to the 500th power is below every float; its logarithm is not."""
    x = Variable("x", ["u", "v"])
    many = ProductConditional(0, (), [x], [((0,), [1e-3, 1.01e-3])] * 500)
    logs = many.log_probabilities(Table.from_codes([[0]], [x]))[0]
    # 500 sums of up to 3 454, each rounded to 5e-13 at most
    assert logs[1] - logs[0] == pytest.approx(500 * math.log(1.01), abs=5e-10)


def test_a_configuration_that_leaves_no_state_is_named() -> None:
    factors = [((0, 1), np.array([[1.0, 0, 0], [1, 1, 1]])), ((1,), np.array([0.0, 1, 1]))]
    conditional = ProductConditional(1, (0,), VARIABLES[:2], factors)
    with pytest.raises(ZeroProbabilityError, match="'v1'.*v0 = 's0'") as refused:
        _ = conditional.probabilities
    assert refused.value.configuration == {"v0": "s0"}


def test_factors_that_do_not_fit_are_refused() -> None:
    of = VARIABLES[:2]
    for factors in ([((0,), [0.5, 0.5])], [((0, 1), np.ones((3, 2)))]):
        with pytest.raises(SchemaError, match="shape"):
            ProductConditional(1, (0,), of, factors)
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(SchemaError, match="finite and non-negative"):
            ProductConditional(1, (0,), of, [((1,), [1, bad, 1])])


def test_a_table_of_a_large_blanket_is_refused_before_it_is_made() -> None:
    variables = [Variable(f"x{i}", ["u", "v", "w"]) for i in range(61)]
    rng = np.random.default_rng(0)
    factors = [((i, 60), rng.random((3, 3)) + 0.1) for i in range(60)]
    conditional = ProductConditional(60, range(60), variables, factors)
    with pytest.raises(StateSpaceError) as refused:
        _ = conditional.probabilities
    assert refused.value.cells == 3**61
    row = Table.from_codes(np.zeros((1, 61), dtype=int), variables)
    assert np.exp(conditional.log_probabilities(row)).sum() == pytest.approx(1, rel=1e-12)
