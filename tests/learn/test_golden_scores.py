"""Best scores that another program of exact search published, on the iris data in three bins of equal width.

The figures are those of the expected results in bene's tests (T. Silander), to three decimals.
"""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.datasets import load_iris

import fishernet as fn

PUBLISHED = {
    "bdeu:0.5": -457.880,
    "bdeu:1": -452.214,
    "bdeu:2": -449.710,
    "bdq:1": -464.491,
    "aic": -425.685,
    "bic": -465.435,
    "hqc": -442.197,
    "fnml": -450.901,
    "qnml": -448.697,
}


def iris() -> fn.Table:
    data = load_iris()
    columns = {f"a{i}": data.data[:, i] for i in range(4)}
    return fn.Table.from_frame({**columns, "class": data.target.astype(str)}, bins=3, binning="equal-width")


@pytest.mark.parametrize(("score", "expected"), PUBLISHED.items())
def test_exact_search_finds_the_published_best_score(score: Any, expected: float) -> None:
    found = fn.learn.structure(iris(), score=score, search="exact")
    assert found.score == pytest.approx(expected, abs=6e-4)
    assert fn.score(found.dag, iris(), score) == pytest.approx(found.score, rel=1e-12)
