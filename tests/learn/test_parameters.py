"""Parameters against their formulas."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError, MissingValueError, SchemaError, StateSpaceError, ZeroProbabilityError
from tests.reference.counting import joint_counts
from tests.sources import halves
from tests.tables import random_table, tables


def chain(names: tuple[str, ...]) -> fn.Dag:
    return fn.Dag.from_edges(
        names, list(itertools.pairwise(names)) + ([(names[0], names[2])] if len(names) > 2 else [])
    )


def weights(n: int, q: int, r: int, smoothing: float | str | None, ess: float | None) -> float:
    if ess is not None:
        return n + ess / (q * r)
    if smoothing == "snml":
        return 1.0 if n == 0 else ((n + 1) / n) ** n * (n + 1)
    assert isinstance(smoothing, float)
    return n + smoothing


@given(
    tables(most_variables=4),
    st.sampled_from([{"smoothing": 1.0}, {"smoothing": 0.25}, {"smoothing": "snml"}, {"ess": 1.0}, {"ess": 12.5}]),
)
def test_every_cell_is_what_the_formula_says(table: fn.Table, options: dict[str, Any]) -> None:
    dag = chain(table.names)
    net = fn.learn.parameters(dag, table, **options)
    assert net.dag == dag
    for child, parents in enumerate(dag.parents):
        r = table.cardinalities[child]
        q = int(np.prod([table.cardinalities[p] for p in parents], dtype=int))
        counts, _ = joint_counts(table, (*parents, child))
        values = net.conditionals[child].table()
        for cell in itertools.product(*(range(table.cardinalities[v]) for v in (*parents, child))):
            row = [
                weights(counts.get((*cell[:-1], k), 0), q, r, options.get("smoothing"), options.get("ess"))
                for k in range(r)
            ]
            assert values[cell] == pytest.approx(row[cell[-1]] / sum(row), rel=1e-13)


def test_snml_of_the_recipe() -> None:
    """theta is proportional to e(N)(N + 1), e(0) = 1, e(1) = 2, e(2) = 9/4."""
    table = fn.Table.from_codes([[0], [1], [1]], [fn.Variable("x", ["a", "b", "c"])])
    net = fn.learn.parameters(fn.Dag.from_edges(["x"], []), table, smoothing="snml")
    expected = np.array([2 * 2, 9 / 4 * 3, 1])
    np.testing.assert_allclose(net.conditionals[0].probabilities[0], expected / expected.sum(), rtol=1e-13)


@pytest.mark.parametrize("seed", range(5))
def test_ess_gives_equivalent_structures_the_same_distribution(seed: int) -> None:
    table = random_table(seed, 60, [2, 3, 4])
    one = fn.Dag.from_edges(table.names, [("v0", "v1"), ("v1", "v2"), ("v0", "v2")])
    two = fn.Dag.from_edges(table.names, [("v2", "v1"), ("v1", "v0"), ("v2", "v0")])
    assert one.is_equivalent(two)
    rows = fn.Table.from_codes(list(itertools.product(range(2), range(3), range(4))), table.variables)
    a, b = (fn.learn.parameters(dag, table, ess=3.0).log_prob(rows) for dag in (one, two))
    np.testing.assert_allclose(a, b, rtol=1e-12)
    c, d = (fn.learn.parameters(dag, table, smoothing=1.0).log_prob(rows) for dag in (one, two))
    assert not np.allclose(c, d)  # a pseudo-count a cell has no such law


def test_plain_frequencies_and_what_never_occurs() -> None:
    table = fn.Table.from_codes([[0, 0], [0, 1]], [fn.Variable("a", ["x", "y"]), fn.Variable("b", ["u", "v"])])
    dag = fn.Dag.from_edges(["a", "b"], [("a", "b")])
    with pytest.raises(ZeroProbabilityError, match="'b' cannot be fitted without smoothing.*a = 'y'") as refused:
        fn.learn.parameters(dag, table, smoothing=0)
    assert refused.value.configuration == {"a": "y"}
    net = fn.learn.parameters(fn.Dag.from_edges(["a", "b"], []), table, smoothing=0)
    assert net.conditionals[0].probabilities.tolist() == [[1, 0]]


def test_variables_are_matched_by_name_and_come_in_the_graphs_order() -> None:
    table = random_table(0, 100, [2, 3, 4])
    dag = fn.Dag.from_edges(["v2", "v0"], [("v0", "v2")])
    net = fn.learn.parameters(dag, table)
    assert net.names == ("v2", "v0")
    assert net.n_rows == 100
    np.testing.assert_array_equal(net.log_prob(table), net.log_prob(table.select(["v0", "v1", "v2"])))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"smoothing": -1}, "smoothing"),
        ({"smoothing": "laplace"}, "snml"),
        ({"smoothing": float("nan")}, "smoothing"),
        ({"ess": 0}, "ess"),
        ({"ess": 1, "smoothing": "snml"}, "exclude"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    table = random_table(0, 10, [2, 2])
    with pytest.raises(FishernetError, match=message):
        fn.learn.bayesian_network(table, **options)


def test_bad_data() -> None:
    dag = fn.Dag.from_edges(["v0", "v1"], [("v0", "v1")])
    with pytest.raises(MissingValueError, match="'v0' needs complete rows"):
        fn.learn.parameters(dag, halves(random_table(0, 100, [2, 2], missing=0.3)))
    with pytest.raises(SchemaError, match="no column 'v1'"):
        fn.learn.parameters(dag, random_table(0, 100, [2]))


def test_a_conditional_that_would_not_fit_is_refused_before_it_is_made() -> None:
    table = random_table(0, 50, [30] * 8)
    dag = fn.Dag.from_edges(table.names, [(f"v{i}", "v7") for i in range(7)])
    with pytest.raises(StateSpaceError, match="656,100,000,000 cells"):
        fn.learn.parameters(dag, table)
