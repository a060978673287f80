"""How probable edges are, held to sums over all graphs of few variables, and to graphs that data were drawn from."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.data import as_source
from fishernet.learn import edge_probabilities
from fishernet.learn.numbers.preparing import prepared_for
from tests.learn.test_best_graphs import acyclic, rows

Array = np.ndarray[Any, np.dtype[np.float64]]
CLOSE: dict[str, Any] = {"accuracy": 0.005, "max_sweeps": 20_000, "seed": 1}


def prior(n: int, size: int) -> float:
    p = min(1 / 2, 1 / max(1, n - 1))
    return size * math.log(p / (1 - p))


def by_all_graphs(table: Any, score: Any, *, max_parents: int = 9, with_prior: bool = True, **rules: Any) -> Array:
    """Return the probability of each arc, by the scores of all graphs that keep the rules."""
    names = as_source(table).names
    n = len(names)
    required, forbidden = set(rules.get("required", ())), set(rules.get("forbidden", ()))
    sets = []
    for child in range(n):
        others = [v for v in range(n) if v != child and (names[v], names[child]) not in forbidden]
        every = [s for size in range(len(others) + 1) for s in itertools.combinations(others, size)]
        wanted = {v for v in range(n) if (names[v], names[child]) in required}
        sets.append([s for s in every if wanted <= set(s) and len(s) <= max_parents])
    families = [(child, s) for child in range(n) for s in sets[child]]
    pairs = fn.scores.Families.from_pairs(families)
    of = fn.scores.LocalScores(as_source(table), score)(pairs)
    local = {family: x + prior(n, len(family[1])) * with_prior for family, x in zip(families, of.tolist(), strict=True)}
    graphs = [chosen for chosen in itertools.product(*sets) if acyclic(chosen)]
    scores = np.array([sum(local[v, s] for v, s in enumerate(chosen)) for chosen in graphs])
    shares = np.exp(scores - scores.max())
    arcs = np.zeros((n, n))
    for chosen, share in zip(graphs, shares / shares.sum(), strict=True):
        for child, parents in enumerate(chosen):
            for parent in parents:
                arcs[parent, child] += share
    return arcs


def assert_close(found: fn.learn.EdgeStrengths, arcs: Array) -> None:
    assert found.error is not None
    # what is left out has less than a hundredth of its subset's probability, of each of few sets
    room = 0.01 + 6 * found.error
    np.testing.assert_allclose(found.strength, arcs + arcs.T, atol=room)
    np.testing.assert_allclose(found.strength * found.direction, arcs, atol=room)


@pytest.mark.parametrize("score", ["bdeu", "bic", "qnml", "k2"])
@pytest.mark.parametrize(("seed", "n", "d"), [(1, 60, 4), (2, 1000, 4), (3, 7, 3), (4, 4, 4), (5, 200, 2)])
def test_probabilities_are_those_of_all_graphs(score: Any, seed: int, n: int, d: int) -> None:
    table = rows(seed, n, d)
    wanted = by_all_graphs(table, fn.scores.named_score(score))
    assert_close(edge_probabilities(table, score=score, **CLOSE), wanted)


def test_rules_leave_out_graphs() -> None:
    table = rows(6, 80, 4)
    bdeu = fn.scores.named_score("bdeu", ess=4.0)
    arcs: dict[str, Any] = {"required": [("v0", "v3")], "forbidden": [("v1", "v2"), ("v2", "v0")]}
    found = edge_probabilities(table, **arcs, **CLOSE)
    assert_close(found, by_all_graphs(table, bdeu, **arcs))
    assert found.strength[0, 3] == pytest.approx(1)
    assert found.direction[0, 3] == pytest.approx(1)
    assert_close(edge_probabilities(table, max_parents=1, **CLOSE), by_all_graphs(table, bdeu, max_parents=1))
    assert not edge_probabilities(table, max_parents=0, **CLOSE).strength.any()
    tiers = [["v2"], ["v0", "v3"], ["v1"]]
    against = [("v0", "v2"), ("v3", "v2"), ("v1", "v2"), ("v1", "v0"), ("v1", "v3")]
    assert_close(edge_probabilities(table, tiers=tiers, **CLOSE), by_all_graphs(table, bdeu, forbidden=against))


def test_numbers_keep_the_prior_of_their_score() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 40))
    table = fn.Table.from_frame({"a": a, "b": b, "c": a + b + 2 * rng.normal(size=40), "d": rng.normal(size=40)})
    usual = fn.scores.named_score("fractional", prior=True)
    assert_close(edge_probabilities(table, score="fractional", **CLOSE), by_all_graphs(table, usual, with_prior=False))
    mixed = fn.Table.from_frame({"a": a, "l": np.where(b > 0, "high", "low"), "c": a + b + rng.normal(size=40)})
    found = edge_probabilities(mixed, **CLOSE)
    mixed = prepared_for(mixed)
    numbers = [("a", "l"), ("c", "l")]
    bic = fn.scores.named_score("bic", prior=True)
    assert_close(found, by_all_graphs(mixed, bic, with_prior=False, forbidden=numbers))


def test_missing_cells_are_averaged_over() -> None:
    table = rows(8, 100, 4)
    rng = np.random.default_rng(1)
    lacking = fn.Table.from_frame(
        {
            name: [None if rng.random() < 0.2 else str(label) for label in column]
            for name, column in zip(table.names, table.codes, strict=True)
        }
    )
    found = edge_probabilities(lacking, **CLOSE)
    average = fn.learn.structures.question_of(lacking, None, missing="node-average", options={}).score
    assert_close(found, by_all_graphs(lacking, average))
    with pytest.raises(FishernetError, match="drop_missing") as caught:
        edge_probabilities(lacking, score="bdeu")
    assert caught.value.parameter == "score"
    assert edge_probabilities(lacking.drop_missing(), score="bdeu", max_sweeps=9).n == 72


def test_data_drawn_from_networks_find_edges_as_often_as_they_are_sure() -> None:
    """Graphs from the prior, probabilities from that of BDeu, rows from these: what is sure by 0.7 is there in 0.7."""
    rng = np.random.default_rng(1)
    n, cards = 4, (2, 3, 2, 2)
    sets = [[s for k in range(n) for s in itertools.combinations([u for u in range(n) if u != v], k)] for v in range(n)]
    graphs = [chosen for chosen in itertools.product(*sets) if acyclic(chosen)]
    weights = np.exp([sum(prior(n, len(s)) for s in chosen) for chosen in graphs])
    sure, there = [], []
    names = [f"v{v}" for v in range(n)]
    for number in range(60):
        chosen = graphs[rng.choice(len(graphs), p=weights / weights.sum())]
        cells: list[Any] = [None] * n
        for v in fn.Dag(names, chosen).order:
            parents = chosen[v]
            groups = np.zeros(30, dtype=int)
            for p in parents:
                groups = groups * cards[p] + cells[p]
            q = math.prod(cards[p] for p in parents)
            tables = rng.dirichlet(np.full(cards[v], 4 / (q * cards[v])), size=q)
            cells[v] = np.array([rng.choice(cards[v], p=tables[group]) for group in groups])
        variables = [fn.Variable(name, range(card)) for name, card in zip(names, cards, strict=True)]
        table = fn.Table(variables, [column.astype(np.uint8) for column in cells])
        found = edge_probabilities(table, max_sweeps=400, seed=number)
        for a, b in itertools.combinations(range(n), 2):
            sure.append(found.strength[a, b])
            there.append(a in chosen[b] or b in chosen[a])
    told, true = np.array(sure), np.array(there)
    for least, most in ((0.0, 0.3), (0.3, 0.8), (0.8, 1.1), (0.0, 1.1)):
        part = np.flatnonzero((told >= least) & (told < most))
        spread = math.sqrt(float(np.sum(told[part] * (1 - told[part])))) + 0.02 * len(part)
        assert len(part) > 20
        assert abs(np.sum(true[part]) - np.sum(told[part])) < 4.5 * spread


def test_a_seed_gives_the_same_however_many_threads_there_are() -> None:
    table = rows(9, 50, 5)
    first = edge_probabilities(table, seed=3, max_sweeps=60)
    with fn.threads(1):
        again = edge_probabilities(table, seed=3, max_sweeps=60)
    np.testing.assert_array_equal(first.strength, again.strength)
    assert not np.array_equal(first.strength, edge_probabilities(table, seed=4, max_sweeps=60).strength)


def test_columns_that_say_nothing_have_no_edges() -> None:
    rng = np.random.default_rng(2)
    copied = rng.integers(0, 3, 200)
    table = fn.Table.from_frame(
        {"a": copied, "same": copied, "constant": ["x"] * 200, "b": rng.integers(0, 2, 200)},
        categorical=["a", "same", "constant", "b"],
    )
    found = edge_probabilities(table, **CLOSE)
    assert not found.strength[found.names.index("constant")].any()
    assert found.strength[0, 1] == pytest.approx(1)
    assert found.direction[0, 1] == pytest.approx(0.5, abs=0.05)
    assert not edge_probabilities(rows(4, 1, 4)).strength.any()  # a row has one label of each
    alone = edge_probabilities(table.select(["a"]))
    assert alone.strength.shape == (1, 1)
    assert alone.averaged().n_edges == 0


def test_more_than_63_columns_have_probabilities() -> None:
    rng = np.random.default_rng(3)
    cells = rng.integers(0, 2, (300, 70))
    cells[:, 69] = np.where(rng.random(300) < 0.9, cells[:, 0], cells[:, 69])
    names = [f"v{v}" for v in range(70)]
    table = fn.Table.from_frame(dict(zip(names, cells.T, strict=True)), categorical=names)
    found = edge_probabilities(table, seed=1, max_sweeps=30)
    assert found.strength[0, 69] > 0.99
    assert found.strength.sum() / 2 < 30  # of 2,415 pairs that say nothing


def test_time_is_kept_and_told() -> None:
    table = rows(1, 500, 12)
    told: list[tuple[Any, ...]] = []
    found = edge_probabilities(table, max_seconds=1.0, accuracy=1e-9, progress=lambda *step: told.append(step))
    assert found.error is not None
    assert found.n >= 8
    assert told
    assert told[0][0] == "walking over networks"
    with pytest.raises(FishernetError) as caught:
        edge_probabilities(table, max_seconds=1e-6)
    assert caught.value.parameter == "max_seconds"


def test_options_out_of_range_are_refused() -> None:
    table = rows(1, 20, 3)
    every: list[dict[str, Any]] = [{"accuracy": 0.0}, {"max_sweeps": 0}, {"max_seconds": -1.0}]
    for wrong in every:
        with pytest.raises(FishernetError) as caught:
            edge_probabilities(table, **wrong)
        assert caught.value.parameter == next(iter(wrong))
    with pytest.raises(SchemaError):
        edge_probabilities(table, required=[("v0", "nowhere")])
