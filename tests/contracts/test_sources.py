"""The laws of sources: whatever answers the protocol can be learned from, and parts add up to the whole."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.data import Scatter, Source, Statistic, Table, as_source
from fishernet.scores.local import total_score
from fishernet.scores.node_average import NodeAverage
from tests.sources import Blocks, halves
from tests.tables import random_table

Make = Callable[[Table], Source]


def streamed(n: int) -> Make:
    """Return what makes a stream of a table: of its rows in so many batches, kept on the disk or in memory."""

    def make(table: Table) -> Source:
        frame = table.to_frame()
        size = max(1, -(-table.n_rows // n))
        parts = [frame.slice(begin, size) for begin in range(0, max(1, table.n_rows), size)]
        return fn.scan(iter(parts), schema=table.variables, cache="memory" if n == 7 else None, weights=_weights(table))

    return make


def _weights(table: Table) -> str | None:
    return None if table.weights is None else "weights"


SOURCES: dict[str, Make] = {
    "table": lambda table: table,
    "stream of 1 batch": streamed(1),
    "stream of 7 batches": streamed(7),
    "stream of 1000 batches": streamed(1000),
    "two parts": halves,
    "parts of 37 rows": lambda table: fn.data.Blocks(table[i : i + 37] for i in range(0, max(1, table.n_rows), 37)),
    "many parts": lambda table: Blocks(*(table[i : i + 50] for i in range(0, max(1, table.n_rows), 50))),
}
OF_NUMBERS: dict[str, Make] = SOURCES | {"scatter": Scatter.from_data}
EVERY = pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
EVERY_OF_NUMBERS = pytest.mark.parametrize("make", OF_NUMBERS.values(), ids=OF_NUMBERS)


def numbers(n_rows: int, seed: int = 0) -> Table:
    a, b, c, d = np.random.default_rng(seed).normal(size=(4, n_rows))
    return Table.from_frame({"a": a + 100, "b": a + b, "c": b - c, "d": d}, continuous=list("abcd"))


def mixed(n_rows: int, seed: int = 0, *, weighted: bool = False, holes: bool = True) -> Table:
    """Return a table of three categorical and two continuous columns by turns."""
    rng = np.random.default_rng(seed)
    states = random_table(seed, n_rows, [2, 3, 40], missing=0.1 if holes else 0.0)
    x, y = rng.normal(50, 2, size=(2, n_rows))
    if holes:
        x[rng.random(n_rows) < 0.1] = np.nan
    variables = (states.variables[0], fn.Continuous("x"), *states.variables[1:], fn.Continuous("y"))
    weights = rng.integers(0, 4, n_rows) if weighted else None
    return Table(variables, [states.codes[0], x, *states.codes[1:], y], weights=weights, n_rows=n_rows)


TABLE = random_table(5, 600, [2, 3, 4, 2, 30])
EVERY_SET = [s for size in range(6) for s in itertools.combinations(range(5), size)]


def cells_of(statistic: Statistic) -> dict[tuple[int, ...], tuple[float, Any, Any]]:
    """Return number, mean and scatter of each cell that occurs, by its states."""
    if statistic.states is not None:
        places: list[Any] = list(enumerate(map(tuple, statistic.states.tolist())))
    else:
        places = [(cell, cell) for cell in np.ndindex(statistic.counts.shape)]
    held = {tuple(cell): (statistic.counts[at], statistic.mean[at], statistic.scatter[at]) for at, cell in places}
    return {cell: found for cell, found in held.items() if found[0]}


def by_loop(table: Table, chosen: tuple[int, ...]) -> dict[tuple[int, ...], Any]:
    """Return the same, row by row."""
    states = [v for v in chosen if not table.variables[v].is_continuous]
    others = [v for v in chosen if table.variables[v].is_continuous]
    rows: dict[tuple[int, ...], list[Any]] = {}
    for row in range(table.n_rows):
        if any(table.variables[v].missing(table.codes[v][row : row + 1])[0] for v in chosen):
            continue
        times = 1 if table.weights is None else int(table.weights[row])
        cell = tuple(int(table.codes[v][row]) for v in states)
        rows.setdefault(cell, []).extend([[table.codes[v][row] for v in others]] * times)
    found = {}
    for cell, values in rows.items():
        if values:
            x = np.array(values).reshape(len(values), len(others))
            found[cell] = len(x), x.mean(axis=0), (x - x.mean(axis=0)).T @ (x - x.mean(axis=0))
    return found


def assert_same(found: Any, expected: Any) -> None:
    assert list(found) == sorted(expected)
    for cell, (n, mean, scatter) in expected.items():
        assert found[cell][0] == n
        np.testing.assert_allclose(found[cell][1], mean, rtol=1e-11)
        np.testing.assert_allclose(found[cell][2], scatter, rtol=1e-9, atol=1e-8)


@EVERY_OF_NUMBERS
def test_names_are_those_of_the_variables(make: Make) -> None:
    source = make(numbers(20))
    assert source.names == tuple(variable.name for variable in source.variables) == ("a", "b", "c", "d")


@EVERY_OF_NUMBERS
def test_it_follows_the_protocol(make: Make) -> None:
    source = make(numbers(300))
    assert isinstance(source, Source)
    assert as_source(source) is source
    assert source.total == 300
    assert [variable.name for variable in source.variables] == ["a", "b", "c", "d"]
    for wrong in ((1, 0), (0, 0), (0, 4), (-1,)):
        with pytest.raises(fn.SchemaError, match="ascending positions"):
            source.statistics([wrong])


@EVERY
def test_answers_come_in_the_order_of_the_questions(make: Make) -> None:
    sets = [(4,), (), (0, 1), (0,), (1, 2, 4), (0, 1, 2, 3, 4)]
    for chosen, found, expected in zip(sets, make(TABLE).statistics(sets), TABLE.statistics(sets), strict=True):
        assert found.variables == chosen
        assert found.is_dense == expected.is_dense
        np.testing.assert_array_equal(found.table(), expected.table())


@EVERY
@pytest.mark.parametrize("n_rows", [0, 1, 7, 400])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_cell_has_its_number_mean_and_scatter(make: Make, n_rows: int, weighted: bool) -> None:
    table = mixed(n_rows, 3, weighted=weighted)
    for chosen, found in zip(EVERY_SET, make(table).statistics(EVERY_SET), strict=True):
        expected = by_loop(table, chosen)
        assert_same(cells_of(found), expected)
        assert found.total + found.left_out == table.total
        assert found.total == sum(n for n, _, _ in expected.values())


@given(st.integers(0, 2**32), st.integers(0, 60), st.sampled_from(EVERY_SET))
def test_a_marginal_is_the_statistic_of_the_smaller_set(seed: int, n_rows: int, chosen: tuple[int, ...]) -> None:
    table = mixed(n_rows, seed, holes=False)
    whole, direct = table.statistics([tuple(range(5)), chosen])
    part = whole.marginal(chosen)
    assert (part.variables, part.continuous, part.is_dense) == (direct.variables, direct.continuous, direct.is_dense)
    assert_same(cells_of(part), cells_of(direct))


def test_rows_that_weigh_nothing_leave_nothing() -> None:
    table = Table.from_frame({"x": [1.5, 2.5], "y": [0.5, 9.0], "w": [0, 0]}, weights="w", continuous=["x", "y"])
    [found] = table.statistics([(0, 1)])
    assert (found.total, found.mean.tolist(), found.scatter.tolist()) == (0, [0, 0], [[0, 0], [0, 0]])


def test_a_statistic_refuses_what_it_does_not_hold() -> None:
    one, other = mixed(20).statistics([(0, 1), (0, 4)])
    with pytest.raises(fn.SchemaError, match="do not add"):
        one + other
    with pytest.raises(fn.SchemaError, match="has not all of"):
        one.marginal((0, 2))


@EVERY
@pytest.mark.parametrize("score", ["bic", "aic", "bdeu", "fnml"])
def test_a_network_learned_from_it_is_the_tables(make: Make, score: Any) -> None:
    source = make(TABLE)
    found, expected = fn.learn.structure(source, score=score), fn.learn.structure(TABLE, score=score)
    assert found.dag == expected.dag
    assert found.n_scores == expected.n_scores
    assert found.score == pytest.approx(expected.score, rel=1e-12)
    assert fn.learn.parameters(found.dag, source) == fn.learn.parameters(expected.dag, TABLE)
    assert fn.score(found.dag, source, score) == pytest.approx(fn.score(found.dag, TABLE, score), rel=1e-12)


@EVERY_OF_NUMBERS
def test_a_gaussian_network_learned_from_it_is_the_tables(make: Make) -> None:
    table = numbers(300)
    found, expected = fn.learn.bayesian_network(make(table)), fn.learn.bayesian_network(table, score="fractional")
    assert found.dag == expected.dag
    for one, other in zip(found.conditionals, expected.conditionals, strict=True):
        np.testing.assert_allclose(one.as_regression()[1], other.as_regression()[1], rtol=1e-9)
    assert fn.learn.gaussian_graph(make(table)) == fn.learn.gaussian_graph(table)


@EVERY_OF_NUMBERS
def test_a_score_of_states_cuts_numbers_or_refuses_them_by_name(make: Make) -> None:
    source, expected = make(numbers(50)), numbers(50).discretize("auto")
    if not isinstance(source, fn.Table | fn.data.Blocks):  # has no rows that could be cut
        with pytest.raises(fn.SchemaError, match="'a', 'b', 'c', 'd' are continuous: cut them"):
            fn.learn.structure(source, score="bdeu")
        return
    with pytest.warns(fn.FishernetWarning, match="cut into bins: 'a' .2., 'b' .2."):
        found = fn.learn.structure(source, score="bdeu")
    assert found.dag == fn.learn.dag(expected, score="bdeu")


@EVERY
def test_a_score_of_numbers_refuses_states_by_name(make: Make) -> None:
    with pytest.raises(fn.SchemaError, match="'v0', 'v1', .* are categorical"):
        fn.learn.structure(make(TABLE), score="fractional")


@EVERY
def test_missing_cells_are_told_by_name(make: Make) -> None:
    table = random_table(1, 200, [2, 3, 2], missing=0.1)
    dag = fn.Dag.from_edges(table.names, [("v0", "v1")])
    source = make(table)
    if source.has_missing:  # others do not know before they are asked
        with pytest.warns(fn.FishernetWarning, match="cells are missing"):
            assert fn.score(dag, source) == pytest.approx(total_score(table, dag, NodeAverage()), rel=1e-12)
        assert fn.learn.parameters(dag, source).n_rows == 200
        return
    for ask in (fn.score, fn.learn.parameters):
        with pytest.raises(fn.errors.MissingValueError, match="v0"):
            ask(dag, source)


class Slow(Blocks):
    """A source with a way of its own to scores."""

    def family_scores(self, families: Any, score: Any) -> Any:
        self.used = len(families)
        return self._tables[0].family_scores(families, score)


def test_a_source_s_own_way_to_scores_is_taken() -> None:
    source = Slow(TABLE)
    assert fn.learn.structure(source).score == pytest.approx(fn.learn.structure(TABLE).score, rel=1e-12)
    assert source.used
    assert not source.asked


def test_blocks_that_lack_cells_are_learned_from_by_node_average() -> None:
    table = random_table(8, 400, [2, 3, 2, 3], missing=0.1)
    blocks = fn.data.Blocks([table[:150], table[150:]])
    ours, theirs = (fn.learn.structure(data, missing="node-average", seed=1) for data in (blocks, table))
    assert ours.dag == theirs.dag
    assert ours.score == pytest.approx(theirs.score, rel=1e-12)
    assert fn.learn.dag(blocks, seed=1) == ours.dag
    assert fn.learn.parameters(ours.dag, blocks) == fn.learn.parameters(ours.dag, table, available_cases=True)
    refused: list[dict[str, Any]] = [{"missing": "em"}, {"score": "aic"}]
    for how in refused:
        with pytest.raises(fn.SchemaError, match="EM needs the rows"):
            fn.learn.dag(blocks, **how)


def test_blocks_of_labels_and_numbers_that_lack_cells_are_learned_from_by_every_score() -> None:
    rng = np.random.default_rng(1)
    x, k = rng.normal(size=300), rng.integers(2, size=300)
    y = np.where(rng.random(300) < 0.2, np.nan, x + 2 * k + rng.normal(size=300))
    table = fn.Table.from_frame({"k": np.array(["a", "b"])[k], "x": x, "y": y})
    for score in ("bic", "aic", None):
        found = fn.learn.structure(fn.data.Blocks([table[:100], table[100:]]), score=score)
        assert {("k", "y"), ("x", "y")} <= set(found.dag.edges)
