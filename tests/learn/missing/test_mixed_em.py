"""EM of labels and numbers: what becomes of a fit that leaves what is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.base.errors import SchemaError
from fishernet.learn.missing.mixed_em import strayed
from fishernet.learn.numbers.preparing import prepared


def network(sd: float) -> fn.BayesianNetwork:
    variables: list[Any] = [fn.Variable("g", ["a", "b"]), fn.Continuous("x"), fn.Continuous("y")]
    tables: dict[str, Any] = {
        "g": [0.5, 0.5],
        "x": {"intercept": [0, 1], "coefficients": [[], []], "sd": [sd, sd]},
        "y": {"intercept": 0, "coefficients": [1], "sd": 1},
    }
    return fn.BayesianNetwork.from_tables(variables, {"x": ["g"], "y": ["x"]}, tables)


def test_a_network_that_draws_far_from_what_is_known_has_strayed() -> None:
    rows = network(1.0).sample(200, seed=1)
    columns = [column.copy() for column in rows.codes]
    columns[1][:150] = np.nan
    lacking = fn.Table.adopt(rows.variables, columns)
    assert strayed(network(2.0), lacking) == []
    assert strayed(network(1e5), lacking) == ["x", "y"]
    assert strayed(network(1e200), lacking) == ["x", "y"]  # whose squares are infinite
    assert strayed(fn.learn.parameters(network(1.0).dag, lacking), lacking) == []


def chain(n: int, lacking: int, size: int = 12) -> tuple[fn.Dag, fn.Table]:
    """Return rows of some numbers, each of which depends on a label and on the one before.

    The last rows know the last number alone.
    """
    rng = np.random.default_rng(7)
    labels = rng.integers(4, size=(size, n))
    numbers = (labels + rng.normal(size=(size, n))).cumsum(axis=0)
    of_labels = [np.array(list("abcd"))[column].astype(object) for column in labels]
    for column in of_labels:
        column[n - lacking :] = None
    numbers[:-1, n - lacking :] = np.nan
    edges = [(f"k{i}", f"x{i}") for i in range(size)] + [(f"x{i}", f"x{i + 1}") for i in range(size - 1)]
    columns: dict[str, Any] = {f"k{i}": column for i, column in enumerate(of_labels)}
    table = fn.Table.from_frame(columns | {f"x{i}": column for i, column in enumerate(numbers)})
    return fn.Dag.from_edges(table.names, edges), table


def test_rows_that_lack_more_labels_than_can_be_summed_out_count_where_they_know_a_family() -> None:
    """Here they know none, and the fit is that of the others."""
    dag, table = chain(400, 5)
    with pytest.warns(fn.FishernetWarning, match="5 rows of 400 lack more labels"):
        found = fn.learn.parameters(dag, table)
    others = fn.learn.parameters(dag, table[:395])
    rows = table[:50]
    np.testing.assert_allclose(found.log_prob(rows), others.log_prob(rows), rtol=1e-9)
    with pytest.raises(fn.StateSpaceError, match="row 395 lacks so much"):
        found.log_prob(table)


def test_expected_statistics_have_the_same_bits_on_any_number_of_threads() -> None:
    dag, table = chain(300, 0, 3)
    random = np.random.default_rng(3)
    columns = [column.copy() for column in table.codes]
    for variable, column in zip(table.variables, columns, strict=True):
        column[random.random(300) < 0.2] = variable.missing_column(1)[0]
    rows = fn.Table.adopt(table.variables, columns)
    found = []
    for threads in (1, 3):
        before = fn.set_threads(threads)
        found.append(fn.learn.parameters(dag, rows).log_prob(table))
        fn.set_threads(before)
    assert found[0].tobytes() == found[1].tobytes()


def test_more_joint_states_than_an_integer_counts_are_passed_over_like_others() -> None:
    dag, table = chain(200, 3, 33)
    with pytest.warns(fn.FishernetWarning, match="3 rows of 200 lack more labels"):
        fn.learn.parameters(dag, table)
    with pytest.warns(fn.FishernetWarning, match="rows lack more labels and numbers together"):
        assert not any(v.is_continuous for v in prepared(table).variables)


def test_numbers_are_cut_where_rows_lack_more_than_can_be_summed_out() -> None:
    _, table = chain(400, 5)
    with pytest.warns(fn.FishernetWarning, match="rows lack more labels and numbers together"):
        found = prepared(table)
    assert not any(v.is_continuous for v in found.variables)
    assert sum(v.is_continuous for v in prepared(table, {}).variables) == 12
    _, fewer = chain(400, 0)
    holes = [
        np.where(np.arange(400) % 50 == at, v.missing_column(400), column)
        for at, (v, column) in enumerate(zip(fewer.variables, fewer.codes, strict=True))
    ]
    kept = prepared(fn.Table.adopt(fewer.variables, holes))
    assert sum(v.is_continuous for v in kept.variables) == 12


def test_what_rounds_draw_stays_within_reach_of_what_is_known() -> None:
    """Known where x is near 0 alone, y grows there by e^300 for each step of x, which goes to 100."""
    random = np.random.default_rng(1)
    n = 300
    known = random.random(n) < 0.3
    x = np.where(known, random.uniform(0, 0.05, n), random.uniform(0, 100, n))
    y = np.where(known, np.exp(300 * np.where(known, x, 0) + 0.1 * random.normal(size=n)), np.nan)
    label, z = random.choice(["a", "b"], n), x / 2 + random.normal(size=n)
    table = fn.Table.from_frame({"x": x, "y": y, "label": label, "z": z})
    with np.errstate(over="raise", invalid="raise"):
        net = fn.learn.bayesian_network(table, seed=1)
    assert {("x", "y"), ("x", "z")} <= {*net.edges, *((b, a) for a, b in net.edges)}


def test_rows_that_lie_close_together_tell_nothing_of_those_far_away() -> None:
    """Who has a position has nearly one x, by which y and z go steeply; of the others z is unknown."""
    random = np.random.default_rng(1)
    x = np.concatenate([random.normal(0, 1e-3, 400), random.normal(5, 2, 400)])
    position = np.array([*random.choice(list("abcd"), 400), *[None] * 400], dtype=object)
    y = np.concatenate([300 * x[:400], random.normal(size=400)]) + random.normal(0, 0.1, 800)
    z = np.where(np.arange(800) < 60, 2000 * x + 0.1 * random.normal(size=800), np.nan)
    rows = fn.Table.from_frame({"x": x, "position": position, "y": y, "z": z})
    arcs = [(parent, child) for child in "yz" for parent in ("x", "position")]
    log_prob = fn.learn.parameters(fn.Dag.from_edges(rows.names, arcs), rows).log_prob(rows)
    assert log_prob.min() > -30


def test_em_goes_on_from_a_network() -> None:
    """A second fit begins where the first ended, and comes nearer to where many steps lead."""
    dag, table = chain(300, 100, 3)

    def fitted(steps: int, **start: Any) -> fn.BayesianNetwork:
        return fn.learn.parameters(dag, table, max_steps=steps, tolerance=0, **start)

    likelihoods = [net.log_prob(table).mean() for net in (fitted(1), fitted(1, start=fitted(4)), fitted(60))]
    assert abs(likelihoods[1] - likelihoods[2]) < 0.5 * abs(likelihoods[0] - likelihoods[2])
    other = fn.Dag.from_edges(table.names, [])
    with pytest.raises(SchemaError, match="the start must have"):
        fn.learn.parameters(other, table, start=fitted(1))
