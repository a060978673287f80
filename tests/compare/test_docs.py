"""What docs/comparing-tables.md shows is what happens."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import fishernet as fn

PAGE = Path(__file__).parents[2] / "docs" / "comparing-tables.md"


def test_the_examples_print_what_the_page_says() -> None:
    """One after the other, each with what those before it made."""
    examples = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) == 2
    names: dict[str, object] = {}
    for code, output in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        assert printed.getvalue() == output


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
