"""Scores of tables with missing cells: what is complete decides, and one line says so."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.data import Blocks
from fishernet.scores import named_score
from fishernet.scores.available import AvailableScore
from fishernet.scores.node_average import NodeAverage
from tests.reference.mixed import random_network
from tests.reference.scoring import OTHERS, PENALIZED, family_score
from tests.tables import random_table

NAMES = [name for name in (*PENALIZED, *OTHERS) if name not in ("bic", "mdl")]


def told(function: Any, *of: Any, **options: Any) -> Any:
    """Return what a function returns that says, in one line, that cells are missing."""
    with pytest.warns(fn.FishernetWarning, match="are missing: ") as lines:
        found = function(*of, **options)
    assert len(lines) == 1
    return found


def complete_in(table: fn.Table, positions: tuple[int, ...]) -> fn.Table:
    known = [table.codes[v] < table.variables[v].cardinality for v in positions]
    rows: fn.Table = table[np.flatnonzero(np.all(known, axis=0))]
    return rows


@given(st.integers(0, 2**32), st.sampled_from([0.1, 0.5, 0.95]), st.booleans(), st.sampled_from(NAMES))
def test_parents_tell_what_the_complete_rows_tell(seed: int, missing: float, weighted: bool, name: Any) -> None:
    """Against the definition, from tables of these rows alone."""
    table = random_table(seed, 40, [2, 3, 4], missing=missing, weighted=weighted)
    if not table.has_missing:
        return
    sums = 0.0
    for child, parents in ((0, ()), (1, (0,)), (2, (0, 1))):
        rows, alone = complete_in(table, (child, *parents)), complete_in(table, (child,))
        expected = family_score(rows, child, parents, name) - family_score(rows, child, (), name)
        expected += family_score(alone, child, (), name)
        names = [f"v{v}" for v in parents]
        found = told(fn.local_score, table, f"v{child}", names, name)
        assert found == pytest.approx(expected, rel=1e-10, abs=1e-9)
        sums += found
    dag = fn.Dag(table.names, [(), (0,), (0, 1)])
    assert told(fn.score, dag, table, name) == pytest.approx(sums, rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("name", [*NAMES, "bic"])
def test_a_complete_family_of_an_incomplete_table_has_its_score(name: Any) -> None:
    table = random_table(4, 300, [2, 3, 2])
    columns = [*table.codes, np.where(np.arange(300) % 3, 2, 0).astype(np.uint8)]
    wide = fn.Table([*table.variables, fn.Variable("hole", ["a", "b"])], columns)
    for child, parents in (("v0", []), ("v1", ["v0"]), ("v2", ["v0", "v1"])):
        before, after = fn.local_score(table, child, parents, name), told(fn.local_score, wide, child, parents, name)
        if name == "bic":  # the node-average likelihood has a higher price
            free = (table.cardinalities[table.names.index(child)] - 1) * np.prod([2, 3][: len(parents)])
            before -= 300**0.6 / 2 * (wide.missing_counts()["hole"] / (4 * 300)) * free
        assert after == pytest.approx(before, rel=1e-12)


@given(st.integers(0, 2**32), st.booleans())
def test_bic_becomes_what_learners_maximize(seed: int, weighted: bool) -> None:
    table = random_table(seed, 60, [2, 3, 2], missing=0.2, weighted=weighted)
    found = fn.learn.structure(table, missing="node-average")
    for data in (table, Blocks([table[:20], table[20:]])):
        assert told(fn.score, found.dag, data) == pytest.approx(found.score, rel=1e-9, abs=1e-9)
        assert told(fn.score, found.dag, data, "mdl") == pytest.approx(found.score, rel=1e-9, abs=1e-9)
    names = table.names
    some = (fn.Dag(names, of) for of in itertools.product([(), (1,), (2,)], [()], [(), (1,)]))
    assert max(told(fn.score, dag, table) for dag in some) <= found.score + 1e-8


def test_numbers_are_scored_on_the_complete_rows() -> None:
    x, y = np.random.default_rng(1).normal(size=(2, 50))
    x[3], y[[3, 7]] = np.nan, np.nan
    table = fn.Table.from_frame({"x": x, "y": y}, continuous=["x", "y"])
    dag = fn.Dag.from_edges(["x", "y"], [("x", "y")])
    complete = table.drop_missing()
    assert told(fn.score, dag, table, "fractional") == fn.score(dag, complete, "fractional")
    frame = table.to_frame()
    assert told(fn.score, dag, frame, "fractional") == fn.score(dag, complete, "fractional")
    assert told(fn.score, dag, frame.to_reader(), "fractional") == fn.score(dag, complete, "fractional")
    found = told(fn.local_score, table, "y", ["x"], "fractional")
    assert found == fn.local_score(complete, "y", ["x"], "fractional")


def test_complete_tables_are_scored_in_silence() -> None:
    table = random_table(1, 50, [2, 3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fn.score(fn.Dag.from_edges(table.names, []), table)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("score", [NodeAverage(), NodeAverage(prior=True)])
def test_numbers_that_lack_cells_score_alike_by_rows_and_by_statistics(score: NodeAverage, weighted: bool) -> None:
    net = random_network(4, labels=3, numbers=4)
    rows, rng = net.sample(900, seed=1), np.random.default_rng(2)
    gone = rng.random((7, 900)) < np.array([0.2, 0.03, 0.0, 0.2, 0.03, 0.3, 0.05])[:, None]
    columns = [
        np.where(of, v.missing_column(900), column)
        for v, column, of in zip(rows.variables, rows.codes, gone, strict=True)
    ]
    table = fn.Table(rows.variables, columns, weights=rng.integers(1, 4, 900) if weighted else None)
    numbers = [v for v, variable in enumerate(table.variables) if variable.is_continuous]
    pairs = [
        (v, sorted(rng.choice([u for u in range(7) if u != v], k, replace=False))) for v in numbers for k in range(4)
    ]
    pairs += [  # as where a search looks for one more parent, or for one more of another variable's parents
        (child, sorted({v, *of, more} - {child}))
        for v, of in pairs
        if len(of) > 1
        for more in range(7)
        if more not in {v, *of}
        for child in {v, of[-1]}.intersection(numbers)
    ]
    families = fn.scores.Families.from_pairs(pairs)
    by_rows, by_statistics = (fn.scores.LocalScores(source, score)(families) for source in (table, Blocks([table])))
    np.testing.assert_allclose(by_rows, by_statistics, rtol=1e-10)
    # the moments of all numbers over rows that many families have are kept, and the rows of others gone through
    one_by_one = [fn.scores.LocalScores(table, score)(families[at : at + 1])[0] for at in range(len(families))]
    np.testing.assert_allclose(by_rows, one_by_one, rtol=1e-10)


@pytest.mark.parametrize("n_rows", [30, 60, 900])
def test_families_that_share_parents_score_as_each_by_itself(n_rows: int) -> None:
    """Few rows leave configurations without a regression of their own, and families too many parents."""
    table = random_network(5, labels=3, numbers=5).sample(n_rows, seed=2)
    numbers = [v for v, variable in enumerate(table.variables) if variable.is_continuous]
    pairs = [
        (child, parents)
        for child in numbers
        for k in range(5)
        for parents in itertools.combinations([v for v in range(8) if v != child], k)
    ]
    families = fn.scores.Families.from_pairs(pairs)
    score = named_score("bic")
    together = fn.scores.LocalScores(table, score)(families)
    apart = [fn.scores.LocalScores(table, score)(families[at : at + 1])[0] for at in range(len(families))]
    np.testing.assert_allclose(together, apart, rtol=1e-9)


@pytest.mark.parametrize("n_far", [20, 500])
def test_rows_that_lack_another_column_may_be_far_from_the_others(n_far: int) -> None:
    """Those that know both are near one another; no digits are lost to the others."""
    rng, n, far = np.random.default_rng(5), 600, np.arange(600) < n_far
    x, g = np.where(far, 1e9 + rng.normal(size=n) * 1e6, rng.normal(size=n)), rng.integers(0, 2, n)
    y = np.where(far, np.nan, 0.5 * x + g + rng.normal(size=n))
    others = {f"z{k}": np.where(far, np.nan, y + rng.normal(size=n)) for k in range(4)}
    frame = {"g": g.astype(str), "x": x, "y": y, **others}
    table = fn.Table(*made(frame))
    alone = fn.Table(*made({name: column[n_far:] for name, column in frame.items()}))
    score = AvailableScore(named_score("loglik"))
    for labels in ([], [0]):  # alone, and with one more
        families = fn.scores.Families.from_pairs([(1, labels), *((1, [*labels, v]) for v in range(2, 7))])
        known, found = (fn.scores.LocalScores(of, score)(families) for of in (alone, table))
        np.testing.assert_allclose(found[2:] - found[1], known[2:] - known[1], rtol=1e-6)
    for parents in ([1], [0, 1]):
        families = fn.scores.Families.from_pairs([(2, parents), *((2, [*parents, v]) for v in range(3, 7))])
        known, found = (fn.scores.LocalScores(of, score)(families) for of in (alone, table))
        np.testing.assert_allclose(found[1:] - found[0], known[1:] - known[0], rtol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_complete_family_of_numbers_has_its_score_beside_a_column_that_lacks_cells(weighted: bool) -> None:
    """Of few and many numbers, in few configurations and in more than rows tell of."""
    rng, n = np.random.default_rng(3), 400
    frame: dict[str, Any] = {f"L{k}": rng.integers(0, k, n).astype(str) for k in (1, 2, 5, 30)}
    x = rng.normal(size=(6, n)).cumsum(axis=0) + 1e4
    frame |= {f"x{i}": column for i, column in enumerate(x)}
    weights = rng.integers(1, 4, n) if weighted else None
    alone = fn.Table(*made(frame), weights=weights)
    wide = fn.Table(*made(frame | {"hole": np.where(np.arange(n) % 3, np.nan, x[0])}), weights=weights)
    labels = [(), ("L1",), ("L2", "L5"), ("L30",), ("L2", "L5", "L30")]
    for child, of in itertools.product(range(6), labels):
        parents = [*of, *(f"x{i}" for i in range(child))]
        found = told(fn.local_score, wide, f"x{child}", parents, "aic")
        assert found == pytest.approx(fn.local_score(alone, f"x{child}", parents, "aic"), rel=1e-9)


def made(frame: dict[str, Any]) -> tuple[Any, Any]:
    table = fn.Table.from_frame(frame)
    return table.variables, table.codes
