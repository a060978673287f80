"""Structural EM of labels and numbers: rows whose missing cells are drawn, and graphs learned from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.base.errors import FishernetError
from fishernet.base.vocabulary import IncompleteName
from fishernet.learn.missing.mixed_em import completions


def drawn_network(seed: int, n: int) -> fn.BayesianNetwork:
    """Return n labels and n numbers in random order of dependence, each below at most one label and two numbers."""
    rng = np.random.default_rng(seed)
    labels: list[Any] = [fn.Variable(f"k{v}", ["a", "b", "c"]) for v in range(n)]
    variables = labels + [fn.Continuous(f"x{v}") for v in range(n)]
    parents: dict[str, list[str]] = {}
    tables: dict[str, Any] = {}
    for v in range(n):
        parents[f"k{v}"] = [f"k{p}" for p in rng.permutation(v)[:1]]
        tables[f"k{v}"] = rng.dirichlet(np.full(3, 0.5), size=(3,) * len(parents[f"k{v}"]))
    for v in range(n):
        numbers = [f"x{p}" for p in rng.permutation(v)[:2]]
        parents[f"x{v}"] = [f"k{rng.integers(n)}", *numbers]
        slopes = rng.normal(0, 0.7, (3, len(numbers)))
        sd = np.exp(rng.normal(0, 0.3, 3))
        tables[f"x{v}"] = {"intercept": rng.normal(size=3), "coefficients": slopes, "sd": sd}
    return fn.BayesianNetwork.from_tables(variables, parents, tables)


def lacking(table: fn.Table, share: float, seed: int, weights: Any = None) -> fn.Table:
    rng = np.random.default_rng(seed)
    columns = [
        np.where(rng.random(table.n_rows) < share, variable.missing_column(table.n_rows), column)
        for variable, column in zip(table.variables, table.codes, strict=True)
    ]
    return fn.Table.adopt(table.variables, columns, weights=weights)


def test_cells_are_drawn_from_what_is_known_of_their_row() -> None:
    """A label whose number is known, and a number whose label is known, as often and where Bayes' rule has them."""
    variables: list[Any] = [fn.Variable("k", ["a", "b"]), fn.Continuous("x")]
    tables: dict[str, Any] = {"k": [0.3, 0.7], "x": {"intercept": [0, 2], "coefficients": [[], []], "sd": [1, 0.5]}}
    net = fn.BayesianNetwork.from_tables(variables, {"x": ["k"]}, tables)
    n, copies = 4000, 4
    k, x = np.full(n, 2, dtype=variables[0].dtype), np.full(n, 1.0)
    k[n // 2 :], x[n // 2 :] = 1, np.nan
    rows = fn.Table.adopt(net.variables, [k, x], weights=np.arange(n) % 3 + 1)
    drawn = completions(net, rows, copies)
    assert drawn.n_rows == copies * n
    assert not drawn.has_missing
    assert float(drawn.total) == float(rows.total)
    labels, numbers = (column.reshape(copies, n) for column in drawn.codes)
    assert (numbers[:, : n // 2] == 1.0).all()
    assert (labels[:, n // 2 :] == 1).all()
    densities = np.array([0.3 * np.exp(-0.5), 0.7 / 0.5 * np.exp(-2.0)])
    share = densities[1] / densities.sum()
    assert labels[:, : n // 2].mean() == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / (copies * n / 2)))
    some = numbers[:, n // 2 :]
    assert some.mean() == pytest.approx(2.0, abs=5 * 0.5 / np.sqrt(some.size))
    assert some.std() == pytest.approx(0.5, rel=5 / np.sqrt(2 * some.size))


def test_graphs_are_nearer_to_the_true_one_than_those_of_complete_families() -> None:
    distances: dict[IncompleteName, int] = {"em": 0, "node-average": 0}
    for seed in range(6):
        net = drawn_network(seed, 8)
        table = lacking(net.sample(600, seed=seed), 0.25, seed)
        for missing in distances:
            distances[missing] += fn.shd(fn.learn.dag(table, missing=missing), net.dag)
    assert distances["em"] < 0.8 * distances["node-average"]


def test_with_four_cells_in_ten_missing_dependences_are_still_found() -> None:
    """By the full price of few rows the first graph lacks them, and what is expected under it confirms that."""
    net = fn.datasets.load("alarm")
    table, test = net.sample(2000, seed=2), net.sample(2000, seed=102)
    found = fn.learn.bayesian_network(lacking(table, 0.4, 2), missing="em")
    assert (fn.learn.bayesian_network(table).log_prob(test) - found.log_prob(test)).mean() < 0.35


def test_labels_that_know_little_of_one_another_are_not_joined() -> None:
    arcs = []
    for holes in (0.3, 0.6, 0.8):
        arcs.append(0)
        for seed in range(5):
            random = np.random.default_rng(seed)
            columns = random.choice(["a", "b", "c"], (8, 400)).astype(object)
            columns[random.random(columns.shape) < holes] = None
            arcs[-1] += fn.learn.dag({f"c{v}": c.tolist() for v, c in enumerate(columns)}, missing="em").n_edges
    assert max(arcs) <= 4


def test_the_same_call_finds_the_same_and_the_score_is_of_as_many_rows_as_there_are() -> None:
    net = drawn_network(1, 4)
    whole = net.sample(500, seed=1)
    table = lacking(whole, 0.1, 1)
    found, again = fn.learn.structure(table), fn.learn.structure(table)
    assert (found.dag, found.score, found.finished) == (again.dag, again.score, True)
    assert found.score == pytest.approx(fn.score(found.dag, whole, "bic"), rel=0.1)


def test_weights_count_rows_as_often_as_they_say() -> None:
    net = drawn_network(2, 4)
    weights = np.random.default_rng(1).integers(1, 4, 300)
    table = lacking(net.sample(300, seed=2), 0.1, 2, weights)
    repeated = table[np.repeat(np.arange(300), weights)]
    unweighted = fn.Table.adopt(repeated.variables, repeated.codes)
    assert fn.shd(fn.learn.dag(table), fn.learn.dag(unweighted)) <= 2  # other cells are drawn


@pytest.mark.parametrize("learn", [fn.learn.chow_liu, lambda table, **how: fn.learn.tan(table, "k0", **how)])
def test_trees_are_as_likely_as_those_of_complete_pairs(learn: Any) -> None:
    for seed in range(4):
        net = drawn_network(seed, 3)
        table = lacking(net.sample(400, seed=seed), 0.3, seed)
        known = [
            fn.learn.parameters(learn(table, missing=missing), table).log_prob(table).sum()
            for missing in ("em", "node-average")
        ]
        assert known[0] >= known[1] - 0.01 * table.n_rows  # the rounds are fitted roughly


def test_no_time_leaves_the_graph_of_the_available_cases() -> None:
    table = lacking(drawn_network(3, 5).sample(400, seed=3), 0.2, 3)
    found = fn.learn.structure(table, missing="em", max_seconds=1e-9)
    assert not found.finished
    assert np.isnan(found.score)


def test_numbers_alone_are_learned_by_their_own_score_or_by_node_average() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=300)
    y = np.where(rng.random(300) < 0.2, np.nan, x + rng.normal(size=300))
    table = fn.Table.from_frame({"x": x, "y": y})
    with pytest.raises(FishernetError, match=r"score='fractional'.*missing='node-average'") as caught:
        fn.learn.dag(table, score="bic", missing="em")
    assert caught.value.parameter == "missing"
    assert fn.learn.dag(table, score="fractional", missing="em").n_edges == 1
    assert fn.learn.dag(table, score="bic", missing="node-average").n_edges == 1


def test_numbers_that_no_row_knows_together_are_fitted() -> None:
    """Two dates, each known in other rows, are parts of a third: no row tells of them together."""
    rng = np.random.default_rng(1)
    when, noise = rng.normal(size=200), rng.normal(0, 0.1, 200)
    first = np.arange(200) % 2 == 0
    frame: dict[str, Any] = {"k": ["ab"[k % 2] for k in rng.integers(2, size=200)], "when": when}
    frame |= {"left": np.where(first, when + noise, np.nan), "died": np.where(first, np.nan, when - noise)}
    table = fn.Table.from_frame(frame)
    dag = fn.Dag.from_edges(table.names, [("when", "left"), ("left", "died")])
    net = fn.learn.parameters(dag, table)
    assert np.isfinite(net.log_prob(table)).all()
    independent = fn.learn.parameters(fn.Dag.from_edges(table.names, [("when", "left")]), table)
    assert net.log_prob(table).sum() > independent.log_prob(table).sum()
    assert np.isfinite(fn.learn.bayesian_network(table, missing="em").log_prob(table)).all()


def test_a_graph_whose_regressions_cannot_be_fitted_is_that_of_the_available_cases() -> None:
    frame: dict[str, Any] = {"k": list("aabbab"), "x": np.arange(6) ** 2.0, "y": [1.0, *[None] * 5]}
    table = fn.Table.from_frame(frame, continuous=["x", "y"])
    found = fn.learn.structure(table, missing="em")
    assert found.dag == fn.learn.dag(table, missing="node-average")
    assert np.isnan(found.score)
