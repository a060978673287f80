"""Answers beside a table's own rows: shares by counting, marks by the binomial distribution."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, binom, binomtest

import fishernet as fn
from fishernet import SchemaError
from fishernet.infer.beside import ALPHA, _differ

ASIA = fn.datasets.load("asia")
ROWS = ASIA.sample(800, seed=3)


def holed(table: fn.Table, seed: int) -> fn.Table:
    random = np.random.default_rng(seed)
    columns = [
        np.where(random.random(table.n_rows) < 0.1, v.cardinality, column).astype(v.dtype)
        for v, column in zip(table.variables, table.codes, strict=True)
    ]
    return fn.Table(table.variables, columns, weights=random.integers(0, 4, table.n_rows))


@pytest.mark.parametrize("names", ["lung", ["bronc", "smoke"]])
@pytest.mark.parametrize("given", [{}, {"dysp": "yes"}, {"dysp": "no", "xray": "no"}])
def test_shares_are_those_of_the_rows_that_are_as_given(names: Any, given: dict[str, str]) -> None:
    table = holed(ROWS, 5)
    found = ASIA.query(names, given=given).beside(table)
    asked = [names] if isinstance(names, str) else names
    rows = list(
        zip(*[table[name].tolist() for name in [*asked, *given]], np.asarray(table.weights).tolist(), strict=True)
    )
    states, n_asked = list(given.values()), len(asked)
    as_given = [row for row in rows if list(row[n_asked:-1]) == states and None not in row]
    total = sum(row[-1] for row in as_given)
    expected = [
        sum(row[-1] for row in as_given if row[:n_asked] == labels) / total
        for labels in itertools.product(*[ASIA.variables[ASIA.names.index(name)].states for name in asked])
    ]
    np.testing.assert_allclose(found.shares.ravel(), expected, rtol=1e-12)
    np.testing.assert_array_equal(found.probabilities, ASIA.query(names, given=given).array)
    open_rows = [row for row in rows if all(a in (None, b) for a, b in zip(row[n_asked:-1], states, strict=True))]
    assert (found.n_rows, found.n_effective, found.n_all) == (len(as_given), total, 800)
    assert found.n_missing == len(open_rows) - len(as_given) == sum(None in row for row in open_rows) > 0
    assert f"; {found.n_missing} more left out for a missing cell" in str(found)
    frame = found.to_frame().to_pydict()
    assert frame["share"] == found.shares.ravel().tolist()
    assert frame["differs"] == found.differs.ravel().tolist()


def test_marks_are_those_of_the_exact_binomial_test() -> None:
    for n in (1, 7, 400):
        hits = np.unique(np.linspace(0, n, 21).astype(int))
        for p in (0.0, 1e-5, 0.02, 0.5, 0.9, 1.0):
            found = _differ(np.full(len(hits), p), hits / n, n)
            tails = np.minimum(binom.cdf(hits, n, p), binom.sf(hits - 1, n, p))
            np.testing.assert_array_equal(found, tails < ALPHA / 2)
            for k, differs in zip(hits.tolist(), found.tolist(), strict=True):
                low, high = binomtest(k, n).proportion_ci(1 - ALPHA, "exact")
                assert differs == (not low <= p <= high)


def test_right_models_are_marked_as_often_as_is_said() -> None:
    """Of 20,000 shares of right probabilities at most one in 1,000 is marked, by the test's own level."""
    random = np.random.default_rng(7)
    p = random.random(20_000)
    differs = _differ(p, random.binomial(200, p) / 200, 200)
    assert binom.sf(np.count_nonzero(differs) - 1, len(p), ALPHA) > 1e-6


def test_fractions_count_as_so_many_rows_as_tell_as_much() -> None:
    """By Kish: with all weights equal the rows themselves, and never more."""
    data = {"smoke": ["yes"] * 70 + ["no"] * 30}
    answer = ASIA.query("smoke")
    plain = answer.beside(fn.Table.from_frame(data))
    weights = [0.5] * 100
    even = fn.Table(*_parts(data), weights=weights)
    assert answer.beside(even).n_effective == pytest.approx(100)
    np.testing.assert_array_equal(answer.beside(even).differs, plain.differs)
    assert plain.differs.all()
    random = np.random.default_rng(1)
    weights = (random.random(100) ** 8).tolist()
    found = answer.beside(fn.Table(*_parts(data), weights=weights))
    n = sum(weights) ** 2 / sum(w * w for w in weights)
    assert found.n_effective == pytest.approx(n)
    hits = sum(weights[:70]) / sum(weights) * n
    low, high = beta.ppf([ALPHA / 2, 1 - ALPHA / 2], [hits, hits + 1], [n - hits + 1, n - hits])
    assert found.differs.tolist() == [not low <= 0.5 <= high] * 2
    assert f"by weight {n:.6g}" in str(found)


def _parts(data: dict[str, list[str]]) -> tuple[Any, Any]:
    table = fn.Table.from_frame(data, schema=[ASIA.variables[ASIA.names.index("smoke")]])
    return table.variables, table.codes


def test_frames_labels_bins_and_rows_that_are_not_there() -> None:
    table = fn.Table.from_frame(
        {"age": [21, 35, 62, 48] * 25, "cough": ["no", "yes", "yes", "yes"] * 25}, bins={"age": [40]}
    )
    net = fn.learn.bayesian_network(table)
    frame = {"age": [20.0, 30.0, 70.0, None], "cough": ["yes", "no", "maybe", "yes"]}
    found = net.query("cough", given={"age": 22}).beside(frame)
    assert (found.n_rows, found.n_missing, found.shares.tolist()) == (2, 1, [0.5, 0.5])
    none = net.query("cough", given={"age": 70}).beside({"age": [20], "cough": ["no"]})
    assert none.n_rows == 0
    assert np.isnan(none.shares).all()
    assert not none.differs.any()
    assert "no rows" in str(none)


def test_what_no_row_shows_is_refused() -> None:
    with pytest.raises(SchemaError, match="soft evidence of 'xray'"):
        ASIA.query("lung", likelihood={"xray": [0.9, 0.1]}).beside(ROWS)
    with pytest.raises(SchemaError, match="'dysp'"):
        ASIA.query("lung", given={"dysp": "yes"}).beside({"lung": ["yes"]})
    with pytest.raises(SchemaError, match="an answer beside its rows needs a Table or a data frame"):
        ASIA.query("lung").beside(np.zeros((3, 1), dtype=int))
