"""A column of numbers that others determine is left out of what is learned, and said first."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fishernet as fn

Columns = dict[str, np.ndarray]
LEARNERS: dict[str, Callable[[Any], Any]] = {
    "dag": fn.learn.dag,
    "gaussian_graph": fn.learn.gaussian_graph,
    "fisher-z": lambda data: fn.learn.markov_graph(data, test="fisher-z"),
    "bayesian_network": fn.learn.bayesian_network,
    "edge_strengths": lambda data: fn.learn.edge_strengths(data, 3, seed=1),
}


def chain(n: int = 300, seed: int = 1) -> Columns:
    a, b, c = np.random.default_rng(seed).normal(size=(3, n))
    return {"a": a, "b": a + b, "c": a + b + c}


def names_of(found: Any) -> tuple[str, ...]:
    return tuple(found.names)


@pytest.mark.parametrize("learn", LEARNERS.values(), ids=LEARNERS)
@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9])
def test_a_sum_is_left_out_and_the_rest_is_learned_as_without_it(learn: Callable[[Any], Any], scale: float) -> None:
    data = {name: scale * column for name, column in chain().items()}
    whole = fn.Table.from_frame({"a": data["a"], "b": data["b"], "sum": data["a"] + data["b"] + 3, "c": data["c"]})
    with pytest.warns(fn.FishernetWarning, match="the column 'sum' is a linear combination of 'a', 'b' ") as told:
        found = learn(whole)
    assert len(told) == 1
    alone = learn(whole.select(["a", "b", "c"]))
    assert names_of(found) == ("a", "b", "c")
    for graph in ("edges", "blankets"):
        if hasattr(found, graph):
            assert getattr(found, graph) == getattr(alone, graph)


@pytest.mark.parametrize("learn", LEARNERS.values(), ids=LEARNERS)
def test_of_a_column_in_two_units_the_first_is_kept(learn: Callable[[Any], Any]) -> None:
    data = chain()
    with pytest.warns(fn.FishernetWarning, match="'inches' is a linear combination of 'b' .*leave out 'b' instead"):
        found = learn(fn.Table.from_frame({**data, "inches": data["b"] / 2.54}))
    assert names_of(found) == ("a", "b", "c")


@pytest.mark.parametrize("learn", LEARNERS.values(), ids=LEARNERS)
def test_what_is_left_out_instead_keeps_the_column(learn: Callable[[Any], Any]) -> None:
    data = chain()
    found = learn(fn.Table.from_frame({"b": data["b"], "sum": data["a"] + data["b"], "c": data["c"]}))
    assert names_of(found) == ("b", "sum", "c")


@pytest.mark.parametrize("seed", [10, 20])
def test_columns_that_rounding_tells_apart_stop_no_learner(seed: int) -> None:
    """Prices in other currencies, less one and rounded to five digits; two rows lack another column."""
    random = np.random.default_rng(seed)
    price, income = random.gamma(6, 0.8, 54).round(2), random.normal(size=54)
    income[:2] = np.nan
    data = {"price": price}
    data |= {f"v{rate}": (price / rate - 1).round(5) for rate in (5.15, 4.77, 4.44, 2.8, 3.56)}
    data |= {f"a{rate}": ((price - income * 0.5) / rate - 1).round(5) for rate in (4.3, 4.2, 4.4)}
    with pytest.warns(fn.FishernetWarning, match="is a linear combination of 'price'"):
        net = fn.learn.bayesian_network({**data, "income": income})
    assert {"price", "a4.3"} <= set(net.names)


def test_each_of_two_groups_is_told() -> None:
    data = chain() | {f"{name}2": column for name, column in chain(seed=2).items()}
    data |= {"one": data["a"] - 2 * data["b"], "two": data["a2"] + data["c2"]}
    with pytest.warns(fn.FishernetWarning) as told:
        found = fn.learn.dag(data)
    message = str(told[0].message)
    assert found.names == ("a", "b", "c", "a2", "b2", "c2")
    assert "'one' is a linear combination of 'a', 'b' " in message
    assert "'two' is a linear combination of 'a2', 'c2' " in message


@pytest.mark.parametrize("learn", LEARNERS.values(), ids=LEARNERS)
def test_with_missing_cells(learn: Callable[[Any], Any]) -> None:
    data = chain()
    data["sum"] = data["a"] + data["b"]
    random = np.random.default_rng(3)
    holes = {name: np.where(random.random(300) < 0.1, np.nan, column) for name, column in data.items()}
    with pytest.warns(fn.FishernetWarning, match="'sum' is a linear combination of 'a', 'b' "):
        found = learn(fn.Table.from_frame(holes))
    assert names_of(found) == ("a", "b", "c")


def test_what_a_few_complete_rows_say_is_held_against_all_rows() -> None:
    data = chain(200)
    other = data["a"].copy()
    other[20:] = np.random.default_rng(4).normal(size=180)
    hole = np.arange(200) >= 20
    found = fn.learn.dag({"a": data["a"], "other": other, "c": np.where(hole, np.nan, data["c"])})
    assert found.names == ("a", "other", "c")


def test_a_column_that_arcs_ask_for_is_kept_in_place_of_another() -> None:
    data = chain()
    with pytest.warns(fn.FishernetWarning, match="'b' is a linear combination of 'a', 'sum' "):
        found = fn.learn.dag({**data, "sum": data["a"] + data["b"]}, required=[("a", "sum")])
    assert found.names == ("a", "c", "sum")


def test_columns_that_arcs_or_a_start_ask_for_are_refused() -> None:
    data = chain()
    data["sum"] = data["a"] + data["b"]
    with pytest.raises(fn.SchemaError, match="'sum' is a linear combination of 'a', 'b' .*leave one of them out"):
        fn.learn.dag(data, required=[("a", "sum"), ("b", "sum")])
    with pytest.raises(fn.SchemaError, match="linear combination"):
        fn.learn.dag(data, start=fn.Dag.from_edges(list(data), []))


def test_tiers_and_forbidden_arcs_ask_for_no_column() -> None:
    data = chain()
    data["sum"] = data["a"] + data["b"]
    with pytest.warns(fn.FishernetWarning, match="'sum' is a linear combination"):
        found = fn.learn.dag(data, tiers=[["c"], ["a", "b", "sum"]], forbidden=[("sum", "a"), ("b", "a")])
    assert found.names == ("a", "b", "c")
    assert found.parents[2] == ()
    with pytest.warns(fn.FishernetWarning), pytest.raises(fn.SchemaError, match="'summ'"):
        fn.learn.dag(data, forbidden=[("summ", "a")])


def test_more_columns_than_rows_are_not_made_of_one_another_for_that() -> None:
    X = np.random.default_rng(1).normal(size=(12, 20))
    assert len(fn.learn.gaussian_graph(X).names) == 20
    with pytest.warns(fn.FishernetWarning, match="'v20' is a linear combination of 'v15' "):
        assert len(fn.learn.gaussian_graph(np.column_stack([X, -X[:, 15]])).names) == 20


def test_folds_and_comparisons_go_without_the_column() -> None:
    data = chain()
    table = fn.Table.from_frame({**data, "sum": data["a"] + data["b"]})
    rest = table.select(["a", "b", "c"])
    with pytest.warns(fn.FishernetWarning, match="'sum' is a linear combination") as told:
        found = fn.learn.cross_validate(table, folds=3, seed=1)
    assert len(told) == 1
    assert found.mean == fn.learn.cross_validate(rest, folds=3, seed=1).mean
    some, others = np.arange(150), np.arange(150, 300)
    options: dict[str, Any] = {"permutations": 19, "seed": 1}
    with pytest.warns(fn.FishernetWarning, match="'sum' is a linear combination"):
        change = fn.compare.explain_change(table[some], table[others], **options)
    assert set(change.by_variable) == {"a", "b", "c"}
    with pytest.warns(fn.FishernetWarning, match="'sum' is a linear combination"):
        test = fn.compare.two_sample_test(table[some], table[others], **options)
    assert test.p_value == fn.compare.two_sample_test(rest[some], rest[others], **options).p_value


def test_a_column_that_others_determine_in_one_of_two_tables_is_compared() -> None:
    before, after = chain(), chain(seed=2)
    noise = np.random.default_rng(5).normal(size=300)
    first = {**before, "sum": before["a"] + before["b"]}
    second = {**after, "sum": after["a"] + after["b"] + noise}
    options: dict[str, Any] = {"permutations": 19, "seed": 1}
    assert "sum" in fn.compare.two_sample_test(first, second, **options).by_variable
    with pytest.warns(fn.FishernetWarning, match="'sum' is a linear combination of 'a', 'b' "):
        change = fn.compare.explain_change(first, second, **options)
    assert set(change.by_variable) == {"a", "b", "c"}


def test_a_report_goes_without_the_column_unless_it_is_the_target() -> None:
    data = chain(60)
    data["sum"] = data["a"] + data["b"]
    with pytest.warns(fn.FishernetWarning, match="'sum' is a linear combination of 'a', 'b' "):
        made = fn.report(data)
    assert tuple(made.model.names) == ("a", "b", "c")
    with pytest.warns(fn.FishernetWarning, match="'b' is a linear combination of 'sum', 'a' "):
        made = fn.report(data, target="sum")
    assert tuple(made.model.names) == ("a", "c", "sum")


def test_a_network_is_fitted_to_the_graph_that_lacks_the_column() -> None:
    data = chain()
    data["sum"] = data["a"] + data["b"]
    with pytest.warns(fn.FishernetWarning, match="'sum'"):
        graph = fn.learn.gaussian_graph(data)
    assert fn.learn.gaussian_network(data, graph).names == ("a", "b", "c")


def test_a_sum_is_found_where_few_rows_are_complete() -> None:
    """Columns that know all rows are looked at in all of them, whatever others lack."""
    data = chain(60)
    cells: Columns = {
        **data,
        "sum": data["a"] + data["c"],
        "rare": np.where(np.arange(60) < 56, np.nan, data["b"] ** 3),
    }
    table = fn.Table.adopt([fn.Continuous(name) for name in cells], list(cells.values()))
    with pytest.warns(fn.FishernetWarning, match="the column 'sum' is a linear combination of 'a', 'c' "):
        found = fn.learn.structure(table)
    assert "sum" not in found.dag.names


def test_what_is_determined_on_scales_is_told_so() -> None:
    """A ratio is a difference of logarithms, and no linear combination of the columns as they are."""
    random = np.random.default_rng(7)
    width, length = np.exp(random.normal(0, 0.5, (2, 300)))
    with pytest.warns(fn.FishernetWarning, match="'ratio' is a linear combination of .* on the scales that they"):
        fn.learn.bayesian_network({"width": width, "length": length, "ratio": length / width})
