"""Which columns a test of independence takes: those of its kind, by name, and what it says to all others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fishernet as fn
from tests.sources import halves

COUNTS = {"g-squared": fn.independence.GSquared, "chi-squared": fn.independence.ChiSquared}
NUMBERS = {"fisher-z": fn.independence.FisherZ, "knn-mi": fn.independence.KnnTest}
Made = Callable[[Any], Any]


def made_by(name: str) -> list[Made]:
    """Return the ways to ask for a test: its class, and a learner by its name."""
    return [{**COUNTS, **NUMBERS}[name], lambda data: fn.learn.markov_graph(data, test=name)]  # type: ignore[arg-type]


def mixed() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    return {
        "age": rng.normal(40, 9, size=90),
        "sex": ["f", "m", "m"] * 30,
        "fare": rng.gamma(2.0, size=90),
        "port": ["C", "Q", "S", "S", "S"] * 18,
    }


FRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "dict": dict,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "Table": fn.Table.from_frame,
}


@pytest.mark.parametrize("frame", list(FRAMES))
@pytest.mark.parametrize("name", list(COUNTS))
def test_numbers_are_cut_by_tests_on_counts(name: str, frame: str) -> None:
    for make in made_by(name):
        with pytest.warns(fn.FishernetWarning, match="numbers are cut into bins: 'age' .*, 'fare'"):
            make(FRAMES[frame](mixed()))


@pytest.mark.parametrize("frame", list(FRAMES))
@pytest.mark.parametrize("name", list(NUMBERS))
def test_states_are_refused_by_tests_on_numbers(name: str, frame: str) -> None:
    says = rf"the test '{name}' is for c.*'sex', 'port' are .*leave them out.*'g-squared' and 'chi-squared'.*bins=4"
    for make in made_by(name):
        with pytest.raises(fn.SchemaError, match=says):
            make(FRAMES[frame](mixed()))


@pytest.mark.parametrize("name", list(NUMBERS))
def test_states_as_numbers_are_states_in_a_table(name: str) -> None:
    table = fn.Table.from_frame({"x": np.arange(90.0) ** 1.5, "class": [0, 1, 2] * 30})
    for make in made_by(name):
        with pytest.raises(fn.SchemaError, match=r"'class' is categorical: leave it out.*chi-squared"):
            make(table)


@pytest.mark.parametrize("name", list(COUNTS))
def test_an_array_of_fractions_holds_no_codes(name: str) -> None:
    array = np.column_stack([np.arange(60) % 3, np.arange(60) / 7])
    for make in made_by(name):
        with pytest.raises(fn.SchemaError, match=r"codes of states, and 'v1' hold other numbers: .*bins=4.*fisher-z"):
            make(array)


@pytest.mark.parametrize("name", list(COUNTS))
def test_bins_cut_what_a_test_on_counts_would_refuse(name: str) -> None:
    data = mixed()
    wanted = COUNTS[name](fn.Table.from_frame(data, bins=3))(0, 3, (1,))
    for frame in FRAMES:
        assert COUNTS[name](FRAMES[frame](data), bins=3)(0, 3, (1,)) == wanted, frame
    uneven: Any = {"age": (30.0, 50.0), None: 2}
    wanted = COUNTS[name](fn.Table.from_frame(data, bins=uneven))(0, 2, ())
    assert COUNTS[name](fn.Table.from_frame(data), bins=uneven)(0, 2, ()) == wanted
    graph = fn.learn.markov_graph(data, test=name, bins=3)  # type: ignore[arg-type]
    assert graph == fn.learn.markov_graph(fn.Table.from_frame(data, bins=3), test=name)  # type: ignore[arg-type]


def test_bins_cut_the_numbers_of_an_array() -> None:
    array = np.random.default_rng(2).normal(size=(80, 2))
    cut = fn.Table.from_frame({"a": array[:, 0], "b": array[:, 1]}, bins=3)
    test = fn.independence.GSquared(array, names=["a", "b"], bins=3)
    assert test.names == ("a", "b")
    assert test(0, 1, ()) == fn.independence.GSquared(cut)(0, 1, ())


def test_an_array_of_codes_may_be_named() -> None:
    codes = np.random.default_rng(3).integers(0, 3, size=(50, 2))
    assert fn.independence.GSquared(codes).names == ("v0", "v1")
    assert fn.independence.GSquared(codes, names=["a", "b"]).names == ("a", "b")
    wanted = fn.independence.GSquared(fn.Table.from_codes(codes))(0, 1, ())
    for made in (codes, codes.astype(float)):
        assert fn.independence.GSquared(made)(0, 1, ()) == wanted
    with pytest.raises(fn.SchemaError, match="not as many as the columns, 2"):
        fn.independence.GSquared(codes, names=["a"])


def test_columns_are_chosen_by_name() -> None:
    data = {"id": [f"row {i}" for i in range(60)], "b": ["u", "v"] * 30, "a": ["x", "y", "z"] * 20}
    for frame in (FRAMES["dict"], FRAMES["pandas"], lambda d: fn.Table.from_frame(d, exclude=["id"])):
        test = fn.independence.ChiSquared(frame(data), names=["a", "b"])
        assert test.names == ("a", "b")


@pytest.mark.parametrize("wrong", [None, 3, "table.csv", np.arange(4)])
@pytest.mark.parametrize("test", [*COUNTS.values(), *NUMBERS.values()])
def test_what_is_no_table_is_refused(test: Any, wrong: Any) -> None:
    with pytest.raises(fn.SchemaError, match="axes"):
        test(wrong)


def test_bins_are_no_option_of_a_test_on_numbers() -> None:
    with pytest.raises(fn.FishernetError, match="the test 'fisher-z' takes the option 'bins'"):
        fn.learn.markov_graph(mixed(), test="fisher-z", bins=3)


def test_a_source_has_names_and_no_rows() -> None:
    table = fn.Table.from_codes(np.random.default_rng(4).integers(0, 2, size=(30, 2)))
    source = halves(table)
    assert fn.independence.GSquared(source)(0, 1, ()) == fn.independence.GSquared(table)(0, 1, ())
    with pytest.raises(fn.SchemaError, match="names= chooses columns of a table"):
        fn.independence.GSquared(source, names=["v0"])
    with pytest.raises(fn.SchemaError, match="bins= needs the rows"):
        fn.independence.GSquared(source, bins=2)


@pytest.mark.parametrize("name", ["knn_test", "fisher_z_test", "knn_mutual_information"])
def test_text_in_arrays_is_sent_to_the_tests_on_counts(name: str) -> None:
    test = getattr(fn.independence, name)
    data = mixed()
    with pytest.raises(fn.SchemaError, match=r"'y' is not of numbers .*'g-squared' and 'chi-squared'"):
        test(data["age"], np.array(data["sex"]))
    with pytest.raises(fn.SchemaError, match=r"'z' is not of numbers .*'g-squared' and 'chi-squared'"):
        test(data["age"], data["fare"], np.array(data["sex"]))
