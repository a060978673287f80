"""Directed graphs of Gaussian variables: every search of the library on the scatter."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.vocabulary import SearchName
from fishernet.data import Scatter
from fishernet.scores.gaussian import FractionalTerms
from tests.reference.exact import best_by_subsets, best_of_all

SEARCHES: list[SearchName] = ["hill-climb", "tabu", "order", "exact"]


def numbers(n: int, d: int, seed: int) -> Any:
    random = np.random.default_rng(seed)
    mixing = np.eye(d) + np.tril(random.normal(0, 0.7, size=(d, d)) * (random.random((d, d)) < 0.5), -1)
    return random.normal(size=(n, d)) @ mixing.T + random.normal(size=d)


def scorer(X: Any) -> Any:
    names = [f"v{v}" for v in range(X.shape[1])]
    how = fn.scores.Fractional(prior=True)  # as learners have it
    return lambda child, parents: fn.local_score(X, names[child], [names[p] for p in parents], how)


@given(st.integers(6, 60), st.integers(0, 99))
def test_exact_search_is_the_best_of_543_graphs(n: int, seed: int) -> None:
    X = numbers(n, 4, seed)
    found = fn.learn.structure(X, score="fractional", search="exact")
    assert found.score == pytest.approx(best_of_all(4, scorer(X)), abs=1e-8)
    assert fn.score(found.dag, X, "fractional", prior=True) == pytest.approx(found.score, abs=1e-8)
    price = 1.5 * found.dag.n_edges * np.log(4)
    assert fn.score(found.dag, X, "fractional") - price == pytest.approx(found.score, abs=1e-8)


def test_no_search_beats_the_exact_one() -> None:
    for seed in range(3):
        X = numbers(80, 8, seed)
        scores = {search: fn.learn.structure(X, score="fractional", search=search).score for search in SEARCHES}
        assert scores["exact"] == pytest.approx(best_by_subsets(8, scorer(X)), abs=1e-7)
        assert max(scores.values()) <= scores["exact"] + 1e-7
        assert scores["hill-climb"] <= scores["tabu"] + 1e-7
        assert scores["tabu"] <= scores["order"] + 1e-7


def test_the_class_of_the_generating_graph_is_found() -> None:
    random = np.random.default_rng(2)
    a, b, e, f = random.normal(size=(4, 20_000))
    c = 0.8 * a - 0.6 * b + random.normal(size=20_000)
    d = 0.7 * c + random.normal(size=20_000)
    frame = pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "e": e, "f": 0.5 * d + 0.5 * e + f})
    truth = fn.Dag.from_edges(list("abcdef"), [("a", "c"), ("b", "c"), ("c", "d"), ("d", "f"), ("e", "f")])
    for search in SEARCHES:
        assert fn.learn.dag(frame, score="fractional", search=search).is_equivalent(truth)


def test_few_rows_allow_few_parents() -> None:
    X = numbers(4, 6, 1)
    for search in SEARCHES:
        with pytest.warns(fn.FishernetWarning, match="4 rows for 6 columns"):
            found = fn.learn.dag(X, score="fractional", search=search)
        assert max(map(len, found.parents)) <= 2
    one = fn.learn.dag(X, score="fractional", max_parents=1)
    assert max(map(len, one.parents)) <= 1


def test_counts_of_few_rows_are_learned_from() -> None:
    """As many parents as the rows allow leave no residuals, and a chance of them passes for a linear combination."""
    for seed in range(12):
        random = np.random.default_rng(seed)
        frame = pd.DataFrame({f"c{k}": random.permutation(60)[:6] * 1.5 for k in range(14)})
        with pytest.warns(fn.FishernetWarning, match="each gets at most 1 parent"):
            found = fn.learn.bayesian_network(frame)
        assert max(map(len, found.dag.parents)) <= 1


def test_all_sets_in_one_walk_are_the_sets_one_by_one() -> None:
    X = numbers(40, 7, 6)
    scatter = Scatter.from_data(X)
    terms = FractionalTerms(scatter, center=True)
    subsets = terms.subsets(5)
    rule = fn.scores.Fractional()
    for size in range(6):
        for chosen in itertools.combinations(range(7), size):
            mask = sum(1 << v for v in chosen)
            assert subsets[mask] == pytest.approx(rule.joint(scatter.statistics([chosen])[0]), abs=1e-9)


@pytest.mark.parametrize(
    ("X", "score", "message"),
    [
        (numbers(30, 3, 1), "bic", "a source of statistics"),
        (Scatter.from_data(numbers(30, 3, 1)), "bdeu", "take score='fractional'"),
        (np.ones((9, 2)), "fractional", "constant"),
    ],
)
def test_bad_input(X: Any, score: Any, message: str) -> None:
    with pytest.raises(fn.FishernetError, match=message):
        fn.learn.dag(X, score=score)


def test_structure_and_parameters_in_one() -> None:
    X = numbers(80, 4, 7)
    frame = pd.DataFrame(X, columns=list("abcd"))
    for data in (X, Scatter.from_data(frame)):
        found = fn.learn.bayesian_network(data, score="fractional", search="exact")
        assert isinstance(found, fn.BayesianNetwork)
        assert found.dag == fn.learn.dag(data, score="fractional", search="exact")
        assert found == fn.learn.parameters(found.dag, data)
        assert fn.learn.bayesian_network(data, search="exact") == found  # the score for numbers is the default
    found = fn.learn.bayesian_network(frame, score="fractional", search="exact")
    table = fn.Table.from_frame(frame).conform(found.variables)  # on the scales that were chosen
    assert found == fn.learn.parameters(fn.learn.dag(table, score="fractional", search="exact"), table)
    with pytest.raises(fn.FishernetError, match="take score='fractional'"):
        fn.learn.bayesian_network(X, score="bdeu")


def test_columns_of_dates_are_numbers_of_a_gaussian_network() -> None:
    rng = np.random.default_rng(1)
    days = np.datetime64("2021-01-01") + np.arange(200)
    x = np.arange(200) / 50 + rng.normal(size=200)
    table = fn.Table.from_frame({"day": days, "x": x, "y": x + rng.normal(size=200)})
    net = fn.learn.bayesian_network(table)
    assert net.names == table.names
    assert all(variable.is_continuous for variable in net.variables)
    assert np.isfinite(net.log_prob(table)).all()


@pytest.mark.parametrize(("n", "d"), [(60, 30), (100, 40), (100, 90)])
def test_noise_gets_next_to_no_arcs_where_columns_are_not_far_fewer_than_rows(n: int, d: int) -> None:
    """Without the prior on graphs dozens: the rows held out are then less likely than under independence."""
    random = np.random.default_rng(1)
    X, held_out = random.normal(size=(n, d)), random.normal(size=(500, d))
    dag = fn.learn.dag(X, search="hill-climb")
    assert dag.n_edges <= 2
    empty = fn.learn.parameters(fn.Dag.from_edges(dag.names, []), X)
    assert fn.learn.parameters(dag, X).log_prob(held_out).mean() > empty.log_prob(held_out).mean() - 0.1
    assert fn.learn.dag(X, score="fractional", prior=False, search="hill-climb").n_edges > 10


def test_numbers_alone_are_put_on_scales_as_beside_labels() -> None:
    """A skewed column takes its logarithm, and one of two humps lines through its quantiles."""
    rng = np.random.default_rng(3)
    size = rng.normal(size=600)
    wait = np.where(rng.random(600) < 0.4, 55, 80) + rng.normal(0, 3, 600)
    frame = {"money": np.exp(size + rng.normal(0, 0.3, 600)), "wait": wait, "size": size}
    net = fn.learn.bayesian_network(frame)
    kinds = {v.name: str(v.scale).partition(" ")[0] for v in net.variables if v.is_continuous}
    assert kinds == {"wait": "lines", "money": "log(x)", "size": "None"}
    assert {frozenset(arc) for arc in net.dag.edges} == {frozenset({"money", "size"})}
    ways: list[Any] = [{"search": "exact"}, {"score": "fractional"}, {"required": [("size", "wait")]}, {"bins": {}}]
    for asked in ways:
        assert all(v.is_continuous for v in fn.learn.bayesian_network(frame, **asked).variables), asked
    assert fn.learn.cross_validate(fn.Table.from_frame(frame), folds=3, seed=1, score="fractional").held_out.shape == (
        3,
    )
