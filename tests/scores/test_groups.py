"""Scores of groups of configurations: those of the child with one parent, the group."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError
from fishernet.scores import SCORES, named_score
from fishernet.scores.groups import group_score
from tests.reference.merging import partition_score

NAMES = sorted(set(SCORES) - {"mdl"})


def score_of(rows: np.ndarray, labels: np.ndarray, name: str) -> float:
    how = group_score(named_score(name), float(rows.sum()), rows.shape[1])
    n_groups = int(labels.max()) + 1
    pooled = np.zeros((n_groups, rows.shape[1]))
    np.add.at(pooled, labels, rows)
    shares = np.bincount(labels) / len(labels)
    return float(how.terms(pooled, shares).sum() + how.whole(n_groups))


def drawn(seed: int, q: int, r: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = rng.poisson(rng.choice([0, 1, 6], size=(q, 1)), size=(q, r)).astype(float)
    _, labels = np.unique(rng.integers(0, q, size=q), return_inverse=True)
    return rows, labels


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 4))
def test_the_terms_and_the_whole_are_the_definition(name: str, seed: int, q: int, r: int) -> None:
    rows, labels = drawn(seed, q, r)
    groups = [np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1)]
    expected = partition_score(rows.astype(int).tolist(), groups, name)
    assert score_of(rows, labels, name) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 4))
def test_it_is_the_local_score_with_the_configuration_or_the_group_as_parent(
    name: str, seed: int, q: int, r: int
) -> None:
    """Of each configuration alone, for every score; of groups for all but BDeu, whose groups weigh by their sizes."""
    rows, labels = drawn(seed, q, r)
    cells = [(j, labels[j], k) for j in range(q) for k in range(r) for _ in range(int(rows[j, k]))]
    variables = [fn.Variable("j", range(q)), fn.Variable("g", range(labels.max() + 1)), fn.Variable("x", range(r))]
    table = fn.Table.from_codes(np.array(cells, dtype=int).reshape(-1, 3), variables)
    alone = fn.scores.local_score(table, "x", ["j"], named_score(name))
    assert score_of(rows, np.arange(q), name) == pytest.approx(alone, rel=1e-9, abs=1e-8)
    if name != "bdeu":
        grouped = fn.scores.local_score(table, "x", ["g"], named_score(name))
        assert score_of(rows, labels, name) == pytest.approx(grouped, rel=1e-9, abs=1e-8)


def test_a_score_without_groups_is_refused() -> None:
    class Mine(fn.scores.Score):
        def joint(self, statistic: object) -> float:
            return 0.0

        def marginal(self, statistic: object, states: int) -> float:
            return 0.0

    with pytest.raises(FishernetError, match="says nothing of groups"):
        group_score(Mine(), 10.0, 2)
