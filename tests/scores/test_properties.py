"""What is proved of the scores, or shown by example (Leppä-aho, 2020, sections 4.1 and 4.2)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.scores.local import LocalScores, family_positions
from fishernet.scores.node_average import NodeAverage
from tests.tables import random_table, tables

Edges = Sequence[tuple[str, str]]


def maximized(dag: fn.Dag, rows: Sequence[Sequence[int]], cardinalities: Sequence[int]) -> float:
    """The maximized likelihood of a table under a structure."""
    table = fn.Table.from_codes(np.array(rows), [fn.Variable(f"v{i}", range(r)) for i, r in enumerate(cardinalities)])
    return math.exp(fn.score(dag, table, "loglik"))


def exact_nml(dag: fn.Dag, table: fn.Table) -> float:
    """Leppä-aho (2020), Eq. 4.3, by summing over every table of this size."""
    states = list(itertools.product(*[range(r) for r in table.cardinalities]))
    total = math.fsum(
        maximized(dag, rows, table.cardinalities) for rows in itertools.product(states, repeat=table.n_rows)
    )
    return fn.score(dag, table, "loglik") - math.log(total)


@pytest.mark.parametrize(
    ("cardinalities", "edges"),
    [
        ([2, 3], []),
        ([2, 3], [("v0", "v1")]),
        ([2, 3], [("v1", "v0")]),
        ([2, 2, 2], []),
        ([2, 2, 2], [("v0", "v1"), ("v0", "v2"), ("v1", "v2")]),
        ([2, 2, 2], [("v2", "v1")]),
    ],
)
@pytest.mark.parametrize("n_rows", [1, 2, 4])
def test_qnml_is_nml_of_separate_fully_connected_parts(cardinalities: list[int], edges: Edges, n_rows: int) -> None:
    table = random_table(n_rows, n_rows, cardinalities)
    dag = fn.Dag.from_edges(table.names, edges)
    assert fn.score(dag, table, "qnml") == pytest.approx(exact_nml(dag, table), rel=1e-12)


def test_qnml_is_not_nml_of_other_structures() -> None:
    table = random_table(3, 4, [2, 2, 2])
    dag = fn.Dag.from_edges(table.names, [("v0", "v1"), ("v0", "v2")])
    assert abs(fn.score(dag, table, "qnml") - exact_nml(dag, table)) > 1e-3


def test_fnml_is_nml_of_the_empty_structure_alone() -> None:
    table = random_table(3, 4, [2, 2])
    empty, arc = (fn.Dag.from_edges(table.names, edges) for edges in ([], [("v0", "v1")]))
    assert fn.score(empty, table, "fnml") == pytest.approx(exact_nml(empty, table), rel=1e-12)
    assert abs(fn.score(arc, table, "fnml") - exact_nml(arc, table)) > 1e-3


# ---------------------------------------------------------------------------------------------------------- regularity


@given(tables(most_variables=4), st.sampled_from(["qnml", "bic", "aic", "hqc", "fnml"]))
def test_a_larger_set_that_fits_no_better_is_never_preferred(table: fn.Table, name: Any) -> None:
    """Regularity (Theorem 4.3); of fNML because the regret is subadditive."""
    n = len(table.variables)
    for child, size in itertools.product(range(n), range(n - 1)):
        for small in itertools.combinations([v for v in range(n) if v != child], size):
            for more in range(n):
                if more == child or more in small:
                    continue
                names = table.names
                fits, scores = [], []
                for parents in (small, (*small, more)):
                    named = [names[p] for p in parents]
                    fits.append(fn.local_score(table, names[child], named, "loglik"))
                    scores.append(fn.local_score(table, names[child], named, name))
                if fits[1] <= fits[0] + 1e-12:
                    assert scores[1] <= scores[0] + 1e-9


def test_bdeu_prefers_a_larger_set_that_fits_no_better() -> None:
    """Suzuki's example: x and z are functions of y, so that y alone tells all that both do."""
    variables = [fn.Variable(name, (0, 1)) for name in "xyz"]
    copies = fn.Table.from_codes(np.array([[0, 0, 0]] * 10 + [[1, 1, 1]] * 10), variables)
    assert fn.local_score(copies, "x", ["y"], "loglik") == fn.local_score(copies, "x", ["y", "z"], "loglik") == 0
    assert fn.local_score(copies, "x", ["y", "z"], "bdeu") > fn.local_score(copies, "x", ["y"], "bdeu")
    for regular in ("qnml", "bic", "fnml"):
        assert fn.local_score(copies, "x", ["y", "z"], regular) <= fn.local_score(copies, "x", ["y"], regular)


# -------------------------------------------------------------------------------------------- sensitivity, consistency


def test_bdeu_goes_from_sparse_to_dense_with_its_sample_size() -> None:
    """Leppä-aho (2020), section 4.1.1: the graph that is best depends on ess."""
    table = fn.datasets.load("asia").sample(500, seed=2)
    edges = [len(fn.learn.dag(table, score="bdeu", ess=ess).edges) for ess in (1e-3, 1.0, 100.0, 1e4)]
    assert edges[0] < edges[1] < edges[2] <= edges[3]
    assert edges[3] >= 20  # of 28 that there can be


@pytest.mark.parametrize("name", ["bic", "bdeu", "k2", "fnml", "qnml", "hqc"])
def test_the_truth_beats_poorer_and_richer_graphs_in_the_long_run(name: Any) -> None:
    """Consistency (Theorem 4.1): with a hundred thousand rows of alarm."""
    net = fn.datasets.load("alarm")
    table = net.sample(100_000, seed=1)
    truth = fn.score(net.dag, table, name)
    edges = list(net.dag.edges)
    fewer = [fn.Dag.from_edges(net.dag.names, [e for e in edges if e != left_out]) for left_out in edges[::8]]
    order = [net.dag.names[v] for v in net.dag.order]
    absent = [(a, b) for a, b in itertools.combinations(order, 2) if (a, b) not in edges][::60]
    more = [fn.Dag.from_edges(net.dag.names, [*edges, new]) for new in absent]
    gains = [truth - fn.score(dag, table, name) for dag in [*fewer, *more]]
    assert np.mean(np.array(gains) > 0) > 0.9


@pytest.mark.parametrize("bad", [0, -1.0, float("nan"), float("inf"), "one"])
@pytest.mark.parametrize(("name", "option"), [("bdeu", "ess"), ("bdq", "alpha")])
def test_a_prior_must_be_positive(name: Any, option: str, bad: Any) -> None:
    table = random_table(0, 10, [2, 2])
    with pytest.raises(fn.FishernetError, match=f"{option} must be a number above 0"):
        fn.local_score(table, "v0", ["v1"], name, **{option: bad})


def test_a_name_may_carry_its_number() -> None:
    table = random_table(0, 50, [2, 2])
    assert fn.local_score(table, "v0", ["v1"], "bdeu:10") == fn.local_score(table, "v0", ["v1"], "bdeu", ess=10)  # type: ignore[arg-type]
    assert fn.local_score(table, "v0", ["v1"], "bdq:0.5") == fn.local_score(table, "v0", ["v1"], "bdq", alpha=0.5)  # type: ignore[arg-type]
    for bad, said in (
        ("bic:2", "takes no number"),
        ("bdeu:", "takes a number"),
        ("bdeu:-1", "must be a number above 0"),
    ):
        with pytest.raises(fn.FishernetError, match=said):
            fn.local_score(table, "v0", ["v1"], bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_a_constant_column_makes_no_arc_dearer(missing: float) -> None:
    random = np.random.default_rng(7)
    label = random.choice(["u", "v"], 120)
    numbers = random.normal(size=(3, 120)) + (label == "u")
    numbers[random.random((3, 120)) < missing] = np.nan
    frame = {"label": label, **dict(zip("abc", numbers, strict=True))}
    dag = fn.Dag.from_edges(list(frame), [("label", "a"), ("a", "b"), ("b", "c")])
    with_constant = fn.Dag.from_edges([*frame, "always"], dag.edges)
    constant = {**frame, "always": ["x"] * 120}
    how: Any = NodeAverage(prior=True) if missing else fn.scores.Bic(prior=True)
    scores = []
    for graph, rows in ((dag, frame), (with_constant, constant)):
        table = fn.Table.from_frame(rows)
        scores.append(sum(LocalScores(table, how)(family_positions(table, graph))))
    assert scores[1] == pytest.approx(scores[0], rel=1e-12)
