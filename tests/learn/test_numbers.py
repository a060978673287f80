"""Scales of numbers that are chosen together with a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import fishernet as fn
from fishernet.learn.numbers.preparing import prepared


def scales(rows: Any) -> dict[str, str]:
    table = prepared(fn.Table.from_frame(rows))
    return {v.name: str(v.scale) for v in table.variables if v.is_continuous}


def bnlearn_s_example(n: int, seed: int) -> pd.DataFrame:
    """Return rows of a network like bnlearn's `clgaussian.test`: regressions by labels, whose margins are heaps."""
    rng = np.random.default_rng(seed)
    a, b, f = rng.integers(2, size=n), rng.integers(3, size=n), rng.integers(2, size=n)
    h = rng.normal(2.4, 0.05, n)
    d = np.where(a == 0, 6.5 + rng.normal(size=n) * 0.1, 12 + 0.5 * (h - 2.4) + rng.normal(size=n) * 0.3)
    e = np.choose(b, [4, 9, 14]) + np.choose(b, [0.9, 1.9, 0.5]) * d + rng.normal(size=n)
    g = 2 * d + 3 * e * f + 10 * (a == 0) + rng.normal(size=n)
    return pd.DataFrame({"A": a, "B": b, "D": d, "E": e, "F": f, "G": g, "H": h}).astype({"A": str, "B": str, "F": str})


@pytest.mark.parametrize("search", ["order", "hill-climb"])
def test_what_labels_make_of_a_margin_is_no_scale(search: Any) -> None:
    """Each margin has heaps, and a power suits it best; in its family each number is normal as it is."""
    frame = bnlearn_s_example(4000, 1)
    assert any(v.scale for v in fn.Table.from_frame(frame).rescale().variables)
    assert set(scales(frame).values()) == {"None"}
    net = fn.learn.bayesian_network(frame, search=search)
    assert {frozenset(edge) for edge in net.edges} == {
        frozenset(edge) for edge in ("AD", "BE", "DE", "AG", "DG", "EG", "FG")
    }


def test_sums_of_skewed_columns_stay_sums() -> None:
    rng = np.random.default_rng(2)
    food, rent = np.exp(rng.normal(5, 1, 600)), np.exp(rng.normal(6, 1, 600))
    frame = {
        "town": rng.choice(["a", "b"], 600),
        "food": food,
        "rent": rent,
        "all": food + rent + rng.normal(0, 5, 600),
    }
    net = fn.learn.bayesian_network(frame)
    new = {name: np.asarray(column)[:50] for name, column in frame.items() if name != "all"}
    np.testing.assert_allclose(net.predict(new, "all"), np.asarray(frame["all"])[:50], atol=30)


def test_a_skewed_column_that_depends_on_nothing_has_its_own_scale() -> None:
    rng = np.random.default_rng(3)
    frame = {
        "town": rng.choice(["a", "b"], 500),
        "income": np.exp(rng.normal(10, 1, 500)),
        "age": rng.normal(40, 9, 500),
    }
    assert scales(frame) == {"income": "log(x)", "age": "None"}


def test_units_change_nothing() -> None:
    frame = bnlearn_s_example(500, 4).assign(H=lambda f: np.exp(2 * f["H"] + f["D"] / 5))
    other = frame.assign(H=frame["H"] * 1e6, E=frame["E"] / 1e3)
    assert fn.learn.bayesian_network(frame).edges == fn.learn.bayesian_network(other).edges
    assert {name for name, scale in scales(frame).items() if scale != "None"} == {
        name for name, scale in scales(other).items() if scale != "None"
    }


def test_few_rows_missing_cells_and_weights() -> None:
    frame = bnlearn_s_example(2000, 5)
    frame["G"] = np.exp(frame["G"] / 20)
    of_all = scales(frame)
    assert of_all["G"].startswith("log")
    holes = frame.mask(np.random.default_rng(6).random(frame.shape) < 0.03)
    assert scales(holes) == of_all
    weighted = fn.Table.from_frame(frame.assign(w=2), weights="w")
    found = {v.name: str(v.scale) for v in prepared(weighted).variables if v.is_continuous}
    assert found == of_all
    assert set(scales(frame[:12])) == set(of_all)
    assert set(scales(frame.mask(np.random.default_rng(7).random(frame.shape) < 0.7))) == set(of_all)


def test_scales_that_are_given_stay() -> None:
    frame = bnlearn_s_example(300, 8)
    table = fn.Table.from_frame(frame).rescale({"G": "arcsinh", "D": "identity"})
    kept = {v.name: v.scale for v in prepared(table).variables if v.name in "GD"}
    assert kept["D"] is None
    assert kept["G"] == table.variables[5].scale


def humps(n: int, seed: int) -> pd.DataFrame:
    """Return a column with two humps that no other explains, and one that depends on it."""
    rng = np.random.default_rng(seed)
    wait = np.where(rng.random(n) < 0.4, rng.normal(54, 4, n), rng.normal(81, 4, n))
    return pd.DataFrame({"town": rng.choice(["a", "b"], n), "wait": wait, "long": 0.1 * wait + rng.normal(0, 2, n)})


def test_a_column_with_humps_that_nothing_explains_has_them_on_its_scale() -> None:
    """No bins are needed for a column of any shape: drawn rows have its humps, and nothing between them."""
    frame = humps(800, 9)
    net = fn.learn.bayesian_network(frame)
    kinds = {v.name: str(v.scale).partition(" ")[0] for v in net.variables if v.is_continuous}
    assert kinds == {"wait": "lines", "long": "None"}
    drawn = net.sample(4000, seed=1)["wait"]
    for low, high in ((0, 45), (45, 60), (62, 72), (75, 90), (90, 200)):
        share = ((frame["wait"] > low) & (frame["wait"] < high)).mean()
        assert np.mean((drawn > low) & (drawn < high)) == pytest.approx(share, abs=0.05)


def test_humps_that_labels_make_stay_numbers() -> None:
    frame = bnlearn_s_example(1500, 10)
    assert all(v.is_continuous == (v.name in "DEGH") for v in prepared(fn.Table.from_frame(frame)).variables)


def test_few_distinct_numbers_are_each_a_bin() -> None:
    rng = np.random.default_rng(11)
    share = rng.choice([0.0, 4.5, 14.5, 24.5], 400, p=[0.3, 0.4, 0.2, 0.1])
    share[0] = 34.5  # once, so that it is no column of states by itself
    table = fn.Table.from_frame({"town": rng.choice(["a", "b"], 400), "share": share, "age": rng.normal(40, 9, 400)})
    assert table.variables[1].is_continuous
    with pytest.warns(fn.FishernetWarning):
        found = prepared(table)
    assert found.variables[1].cardinality == 5
    assert found.variables[2].is_continuous


def test_normal_columns_are_seldom_cut() -> None:
    cut = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        frame = {"town": rng.choice(["a", "b"], 150), "x": rng.normal(size=150), "y": np.exp(rng.normal(size=150))}
        cut += sum(not v.is_continuous for v in prepared(fn.Table.from_frame(frame)).variables[1:])
    assert cut == 0


def test_a_number_below_zero_in_a_row_that_lacks_another_column_rules_out_a_logarithm() -> None:
    rng = np.random.default_rng(1)
    price, earned = np.exp(rng.normal(3, 1, 400)), np.exp(rng.normal(1, 1, 400))
    assert scales({"price": price, "earned": earned, "ratio": price / earned})["earned"] == "log(x)"
    earned[:60] *= -1
    found = scales({"price": price, "earned": earned, "ratio": np.where(earned > 0, price / earned, np.nan)})
    assert "log" not in found["earned"]


def skewed(n: int, seed: int, holes: float) -> fn.Table:
    """Return columns of numbers whose logarithms are normal, two of them dependent, some of whose cells are missing."""
    random = np.random.default_rng(seed)
    x, z = random.normal(size=(2, n))
    y = x + 0.5 * random.normal(size=n)
    cells = {name: np.exp(2 * column) for name, column in zip("xyz", (x, y, z), strict=True)}
    return fn.Table.from_frame(
        {name: np.where(random.random(n) < holes, np.nan, column) for name, column in cells.items()}
    )


def test_numbers_that_lack_cells_are_learned_on_their_scales() -> None:
    """A few holes change a network of skewed numbers little: its scales, its graph, and how probable rows are."""
    whole, lacking, others = skewed(1000, 1, 0.0), skewed(1000, 1, 0.05), skewed(1000, 2, 0.0)
    one, other = fn.learn.bayesian_network(whole), fn.learn.bayesian_network(lacking)
    assert [str(variable.scale) for net in (one, other) for variable in net.variables] == ["log(x)"] * 6
    assert other.dag.edges == one.dag.edges == (("x", "y"),)
    assert other.log_prob(others).mean() == pytest.approx(one.log_prob(others).mean(), abs=0.02)
    scored = [fn.learn.structure(rows.rescale()).score for rows in (whole, lacking)]
    assert scored[1] == pytest.approx(scored[0] * 0.95**2, rel=0.02)  # of the rows that know two columns


@pytest.mark.parametrize("kinds", ["numbers", "labels and numbers"])
@pytest.mark.parametrize("holes", [0.3, 0.6, 0.8])
def test_columns_that_know_little_of_one_another_are_not_joined(kinds: str, holes: float) -> None:
    """Independent columns whose cells are missing; a chain keeps its arcs where rows know enough."""
    arcs = 0
    for seed in range(3):
        random = np.random.default_rng(seed)
        columns = random.normal(size=(6, 400)).astype(object)
        if kinds != "numbers":
            columns[:3] = random.choice(["a", "b"], (3, 400))
        columns[random.random(columns.shape) < holes] = None
        arcs += fn.learn.dag({f"c{v}": column.tolist() for v, column in enumerate(columns)}).n_edges
    assert arcs <= 1
    x = random.normal(size=4000)
    y = x + random.normal(size=4000)
    chain = np.array([x, y, y + random.normal(size=4000)])
    chain[random.random(chain.shape) < holes] = np.nan
    assert fn.learn.dag(dict(zip("xyz", chain, strict=True))).skeleton().edges == (("x", "y"), ("y", "z"))


def test_scales_change_nothing_but_units_where_cells_are_missing() -> None:
    """Of columns on a scale EM finds what it finds of the columns that the scale makes."""
    lacking = skewed(300, 3, 0.2)
    scaled = lacking.rescale("log")
    logs = fn.Table.adopt(
        [fn.Continuous(name) for name in "xyz"],
        [variable.scaled(column) for variable, column in zip(scaled.variables, scaled.codes, strict=True)],
    )
    dag = fn.Dag.from_edges(["x", "y", "z"], [("x", "y"), ("y", "z")])
    one, other = fn.learn.parameters(dag, scaled), fn.learn.parameters(dag, logs)
    np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-6)
    inside = np.isfinite(lacking.numbers).all(axis=0)
    scales: list[Any] = [variable.scale for variable in scaled.variables]
    each = [scale.log_slope(x[inside]) for scale, x in zip(scales, lacking.numbers, strict=True)]
    slopes = np.sum(each, axis=0)
    np.testing.assert_allclose(one.log_prob(scaled)[inside], other.log_prob(logs)[inside] + slopes, rtol=1e-4)


def test_a_number_far_from_all_others_is_not_thrown_further_out_by_its_scale() -> None:
    """Quantiles do not see one row of ten thousand, and a power put it 35,000 spreads away."""
    column = np.random.default_rng(1).exponential(size=10_000)
    column[0] = -60.0
    [variable] = fn.Table.adopt([fn.Continuous("x")], [column]).rescale().variables
    assert np.abs(variable.scaled(column)).max() < 100
