"""Rules for equal scores: the search against the library's, and what a rule takes where columns say nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fishernet as fn
from studies import qnml_ties
from tests.networks import random_network


@pytest.mark.parametrize("criterion", ["BDeu", "BIC", "fNML", "qNML"])
def test_the_search_finds_the_librarys_best_score(criterion: str) -> None:
    rows = random_network(5, [2, 3, 2, 2, 3]).sample(200, seed=1)
    options: dict[str, Any] = {"ess": 1.0} if criterion == "BDeu" else {}
    score = fn.scores.named_score(criterion.lower(), **options)
    found = qnml_ties.best(qnml_ties.scores_of(rows, criterion), rows.names)
    expected = fn.learn.dag(rows, score=score, search="exact")
    assert fn.score(found, rows, score) == pytest.approx(fn.score(expected, rows, score), abs=1e-8)


def test_rules_differ_where_a_parent_is_constant() -> None:
    """fNML pays nothing for a parent that has one state in the data."""
    variables = [fn.Variable(name, [0, 1]) for name in "ab"]
    rows = fn.Table.from_codes([[0, 0], [0, 1], [0, 1], [0, 0]], variables)
    scores = qnml_ties.scores_of(rows, "fNML")
    added = qnml_ties.bonuses(2, np.random.default_rng(0))
    assert qnml_ties.best(scores + added["fewer"], rows.names).n_edges == 0
    assert qnml_ties.best(scores + added["more"], rows.names).n_edges == 1
