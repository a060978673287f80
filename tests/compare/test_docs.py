"""What docs/comparing-tables.md says, apart from its examples, which tests/test_pages.py runs."""

from __future__ import annotations

import fishernet as fn


def test_what_the_page_says_of_kernels_learned_from_one_table() -> None:
    """They cry wolf: four of ten tests of equal sources are below 0.05 (chance allows 20 % where it is 40 %)."""
    net = fn.datasets.load("alarm")
    wrong = 0
    for seed in range(40):
        X, Y = net.sample(300, seed=2 * seed), net.sample(300, seed=2 * seed + 1)
        kernel = fn.kernels.FisherKernel(fn.learn.bayesian_network(X, search="hill-climb", seed=0))
        wrong += fn.compare.two_sample_test(X, Y, kernel, permutations=19, seed=seed).p_value <= 0.05
    assert wrong >= 8


def test_what_the_page_says_of_values_of_the_kernel() -> None:
    """Below 0, and up to about the inverse of the smallest probability of a state with its parents' states."""
    net = fn.datasets.load("asia")
    rows = net.sample(2000, seed=1)
    matrix = fn.kernels.FisherKernel(net)(rows)
    assert matrix.min() < 0
    assert matrix.max() > 50
