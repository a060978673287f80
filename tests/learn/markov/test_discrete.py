from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaln, gammaln

import fishernet as fn

learn = fn.learn.discrete_markov_graph


def loop(n: int, seed: int) -> fn.Table:
    """A ring of five binary variables that pull each other the same way, drawn exactly."""
    states = np.array(list(itertools.product([0, 1], repeat=5)))
    pull = sum((states[:, v] == states[:, (v + 1) % 5]).astype(float) for v in range(5))
    p = np.exp(1.0 * pull)
    rows = np.random.default_rng(seed).choice(32, size=n, p=p / p.sum())
    return fn.Table.from_codes(states[rows])


RING = fn.UndirectedGraph.from_edges([f"v{v}" for v in range(5)], [(f"v{v}", f"v{(v + 1) % 5}") for v in range(5)])


def marginal_pseudo_likelihood(table: fn.Table, neighbors: list[tuple[int, ...]]) -> float:
    """Dirichlet marginal likelihoods of every variable given its neighbours, cell by cell."""
    codes = np.stack([column.astype(int) for column in table.codes], axis=1)
    total = 0.0
    for v, of in enumerate(neighbors):
        r = table.cardinalities[v]
        q = math.prod(table.cardinalities[u] for u in of)
        a = 1.0 / (r * q)
        for configuration in itertools.product(*(range(table.cardinalities[u]) for u in of)):
            part = codes[(codes[:, list(of)] == configuration).all(axis=1), v]
            counts = np.bincount(part, minlength=r)
            total += gammaln(r * a) - gammaln(r * a + counts.sum())
            total += sum(gammaln(a + n) - gammaln(a) for n in counts)
    return float(total)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32))
def test_the_score_of_an_undirected_graph_is_its_marginal_pseudo_likelihood(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = fn.Table.from_codes(rng.integers(0, [2, 3, 2, 4], size=(50, 4)))
    pairs = [pair for pair in itertools.combinations(table.names, 2) if rng.random() < 0.5]
    graph = fn.UndirectedGraph.from_edges(table.names, pairs)
    expected = marginal_pseudo_likelihood(table, list(graph.adjacency))
    assert fn.score(graph, table, "bdeu") == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("rule", ["hc", "and", "or"])
def test_a_ring_is_found(rule: Any) -> None:
    assert learn(loop(5000, 1), rule=rule) == RING


def all_graphs(names: tuple[str, ...]) -> list[fn.UndirectedGraph]:
    pairs = list(itertools.combinations(names, 2))
    return [
        fn.UndirectedGraph.from_edges(names, chosen)
        for size in range(len(pairs) + 1)
        for chosen in itertools.combinations(pairs, size)
    ]


@pytest.mark.parametrize("score", ["bdeu", "bic"])
def test_hill_climbing_finds_the_best_of_all_graphs_of_a_ring(score: Any) -> None:
    table = loop(3000, 2).select(["v0", "v1", "v2", "v3"])
    best = max(all_graphs(table.names), key=lambda graph: fn.score(graph, table, score))
    assert fn.score(learn(table, score=score), table, score) == pytest.approx(fn.score(best, table, score), rel=1e-12)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32))
def test_no_single_change_within_the_candidates_betters_what_climbing_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, size=(80, 5))
    codes[:, 1:] = np.where(rng.random((80, 4)) < 0.5, codes[:, :-1], codes[:, 1:])
    table = fn.Table.from_codes(codes)
    graph = learn(table)
    found = fn.score(graph, table, "bdeu")
    allowed = set(learn(table, rule="or").edges)
    assert set(graph.edges) <= allowed
    for pair in allowed:
        changed = fn.UndirectedGraph.from_edges(table.names, set(graph.edges) ^ {pair})
        assert fn.score(changed, table, "bdeu") <= found + 1e-6


def greedy(table: fn.Table, child: str) -> set[str]:
    """The blanket search in words: add the best, delete while it helps, stop at the first addition in vain."""

    def score(of: set[str]) -> float:
        return fn.local_score(table, child, sorted(of), "bdeu")

    blanket: set[str] = set()
    while True:
        others = [name for name in table.names if name != child and name not in blanket]
        if not others:
            return blanket
        best = max(others, key=lambda name: score({*blanket, name}))
        if score({*blanket, best}) <= score(blanket) + 1e-9:
            return blanket
        blanket.add(best)
        while len(blanket) > 1:
            worst = max(sorted(blanket), key=lambda name: score(blanket - {name}))
            if score(blanket - {worst}) <= score(blanket) + 1e-9:
                break
            blanket.remove(worst)


@pytest.mark.parametrize("seed", range(5))
def test_blankets_are_those_of_the_search_in_words(seed: int) -> None:
    table = fn.datasets.load("asia").sample(500, seed=seed)
    blankets = {name: greedy(table, name) for name in table.names}
    pairs = itertools.combinations(table.names, 2)
    both = [(u, v) for u, v in pairs if v in blankets[u] and u in blankets[v]]
    assert learn(table, rule="and") == fn.UndirectedGraph.from_edges(table.names, both)


def test_the_prior_makes_graphs_sparser() -> None:
    table = fn.Table.from_codes(np.random.default_rng(3).integers(0, 2, size=(60, 12)))
    assert learn(table, prior=True).n_edges <= learn(table).n_edges
    assert learn(table, prior=(0.1, 1e6, 11)).n_edges == 0


def test_the_prior_is_a_beta_binomial() -> None:
    """With one pair of variables the edge is worth twice the difference of two blanket sizes."""
    table = fn.Table.from_codes([[0, 0]] * 12 + [[1, 1]] * 8 + [[0, 1]] * 4 + [[1, 0]] * 4)
    edge = fn.UndirectedGraph.from_edges(table.names, [("v0", "v1")])
    none = fn.UndirectedGraph.from_edges(table.names, [])
    gain = fn.score(edge, table, "bdeu") - fn.score(none, table, "bdeu")
    assert gain > 0
    for b in (0.5, 2.0, 5.0, 20.0, 100.0):
        price = 2 * (betaln(0.5 + 0, b + 1) - betaln(0.5 + 1, b))
        assert learn(table, prior=(0.5, b, 1)).n_edges == int(gain > price)


def test_the_limit_on_blankets_holds() -> None:
    table = fn.datasets.load("asia").sample(2000, seed=1)
    for rule in ("hc", "and"):
        assert max(map(len, learn(table, max_blanket=1, rule=rule).adjacency)) <= 1
    assert learn(table, max_blanket=0).n_edges == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "xor"}, "unknown rule"),
        ({"score": "best"}, "unknown score"),
        ({"prior": (0.0, 1.0, 4.0)}, "prior"),
        ({"prior": (0.5, 0.5, 2.0)}, "m at least 4"),
        ({"max_blanket": -1}, "max_blanket"),
        ({"max_blanket": "a"}, "max_blanket"),
        ({"ess": -1.0}, "ess must be a number above 0"),
    ],
)
def test_options_out_of_range(options: dict[str, Any], message: str) -> None:
    with pytest.raises(fn.FishernetError, match=message):
        learn(loop(50, 1), **options)


def test_data_that_do_not_fit() -> None:
    with pytest.raises(fn.SchemaError):
        learn(np.zeros((3, 2)))
    x = ["x", "y"] * 50
    assert learn(fn.Table.from_frame({"a": x, "b": [None, *x[1:]]})).edges == (("a", "b"),)
