"""Which conditionals of labels and numbers changed: the level holds whatever changed upstream, and changes are seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from tests.rates import assert_at_most

VARIABLES: list[Any] = [
    fn.Variable("a", [0, 1]),
    fn.Variable("b", [0, 1, 2]),
    fn.Continuous("x"),
    fn.Continuous("y"),
    fn.Continuous("z"),
]
PARENTS = {"b": ["a"], "x": ["a"], "y": ["b", "x"], "z": ["y"]}


def network(*, share: float = 0.3, shift: float = 0.0, slope: float = 1.0) -> fn.BayesianNetwork:
    """Two labels and three numbers; the arguments change the conditionals of a, x and y."""
    tables: dict[str, Any] = {
        "a": [1 - share, share],
        "b": [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]],
        "x": {"intercept": [shift, 1 + shift], "coefficients": np.zeros((2, 0)), "sd": [1, 2]},
        "y": {"intercept": [0, 1, 3], "coefficients": [[1.0], [-0.5], [slope]], "sd": [1, 0.5, 2]},
        "z": {"intercept": 0, "coefficients": [0.7], "sd": 1},
    }
    return fn.BayesianNetwork.from_tables(VARIABLES, PARENTS, tables)


def named(later: fn.BayesianNetwork, sizes: tuple[int, int], seed: int) -> set[str]:
    """Return what a test under the kernel of the earlier network names at 5 %."""
    first, second = network().sample(sizes[0], seed=seed), later.sample(sizes[1], seed=10_000 + seed)
    found = fn.compare.two_sample_test(first, second, fn.kernels.FisherKernel(network()), permutations=99, seed=seed)
    return set(found.changed())


@pytest.mark.parametrize("upstream", ["nothing", "a", "x"])
@pytest.mark.parametrize("sizes", [(200, 200), (600, 80)])
def test_a_change_upstream_accuses_no_other(upstream: str, sizes: tuple[int, int]) -> None:
    later = {"nothing": network(), "a": network(share=0.8), "x": network(shift=0.8)}[upstream]

    def wrong() -> Iterator[bool]:
        for seed in range(100):
            yield bool(named(later, sizes, seed) - {upstream})

    assert_at_most(wrong(), 0.06, what=f"after a change of {upstream}")


def test_a_change_of_one_regression_in_one_configuration_is_named() -> None:
    """The slope of y on x where b is 2; the larger sample leaves no doubt."""
    for seed in range(3):
        assert named(network(slope=2.5), (3000, 600), seed) == {"y"}
