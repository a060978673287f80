"""What is odd about a table, told before anything is learned."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

import fishernet as fn
from fishernet.data.alerts import alerts_of
from tests.tables import tables


def told(frame: Any, **how: Any) -> str:
    return "\n".join(fn.Table.from_frame(frame, **how).alerts())


def test_copies_of_rows_are_counted_as_pandas_counts_them() -> None:
    rng = np.random.default_rng(0)
    frame = {"a": rng.integers(0, 4, 200), "b": rng.integers(0, 3, 200), "x": rng.integers(0, 9, 200) / 7}
    n = int(pd.DataFrame(frame).duplicated().sum())
    assert f"{n} rows are copies of another row ({n / 200:.2g} of all)" in told(frame, continuous=["x"])
    assert "cop" not in told({"x": [0.5, 1.25, 3.5], "y": ["a", "b", "a"]}, continuous=["x"])


def test_columns_that_are_empty_constant_or_nearly_so_are_named() -> None:
    frame = {
        "half": [None] * 60 + [0.1 * i for i in range(40)],
        "one": ["x"] * 100,
        "rare": ["no"] * 97 + ["yes"] * 3,
        "zero": [0.0] * 40 + [i / 9 for i in range(60)],
    }
    said = told(frame, continuous=["half", "zero"])
    assert "'half' lacks 60% of its cells" in said
    assert "'one' is the same in all rows" in said
    assert "'rare' is 'no' in 97.0% of the rows that know it" in said
    assert "'zero' is 0 in 41% of the rows that know it" in said
    empty = fn.Table.from_codes([[1], [1]], [fn.Variable("void", ["a"])])
    assert empty.alerts()[-1] == "'void' is empty"


def test_a_mark_or_nothing_is_told_with_what_makes_states_of_both(tmp_path: Path) -> None:
    """Forms export what was ticked, and nothing where it was not."""
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n" + "yes,x,u\n,x,v\nyes,,u\n,x,v\n" * 5)
    said = "\n".join(fn.read_table(path).alerts())
    assert "'a', 'b' hold one value or nothing" in said
    assert "the same" not in said
    found = fn.read_table(path, missing=eval(said.partition("missing=")[2].partition(",")[0]))  # as printed
    assert [variable.cardinality for variable in found.variables] == [2, 2, 2]


def test_a_number_that_is_far_from_all_others_is_perhaps_a_word_for_missing(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    age = np.concatenate([rng.uniform(18, 90, 300).round(1), [999.0] * 4])
    said = told({"age": age})
    assert "'age' is 999 in 4 rows, far from the others" in said
    remedy = said.partition("na_values=")[2].partition(", --na-values")[0]
    path = tmp_path / "t.csv"
    path.write_text("age\n" + "\n".join(map(str, age)) + "\n")
    found = fn.read_table(path, na_values=eval(remedy))  # it works as printed
    assert np.nanmax(found.column("age")) < 91
    assert "far" not in told({"age": rng.lognormal(3, 1, 500)})


def test_columns_that_say_the_same_or_follow_are_named_once() -> None:
    rng = np.random.default_rng(2)
    zip_code = rng.integers(0, 12, 400)
    metres = rng.normal(1.7, 0.1, 400)
    frame = {
        "zip": [f"z{z}" for z in zip_code],
        "city": [f"c{z // 4}" for z in zip_code],
        "code": [z + 100 for z in zip_code],
        "metres": metres,
        "feet": metres / 0.3048 + 1,
        "other": rng.normal(size=400),
    }
    said = told(frame, categorical=["code"]).splitlines()
    assert "'code' is 'zip' in other words" in said
    assert "'city' follows from 'zip'" in said
    assert "'feet' is 'metres' in other units" in said
    assert not any("other'" in line for line in said)


@pytest.mark.parametrize("frame", [{"x": []}, {"x": [1.5]}, {"x": [None]}, {"x": [1.5, None, 1.5]}])
def test_few_rows_are_no_trouble(frame: Any) -> None:
    fn.Table.from_frame(frame, continuous=["x"]).alerts()


@given(tables())
@settings(max_examples=50, deadline=None)
def test_what_is_said_to_follow_does(table: fn.Table) -> None:
    for line in table.alerts():
        if " follows from " in line:
            other, one = (name.strip("'") for name in line.split(" follows from "))
            a, b = (table.codes[table.names.index(name)] for name in (one, other))
            known = (a < table.variables[table.names.index(one)].cardinality) & (
                b < table.variables[table.names.index(other)].cardinality
            )
            assert len(set(zip(a[known].tolist(), b[known].tolist(), strict=True))) == len(set(a[known].tolist()))


def test_of_many_columns_one_sentence_is_said() -> None:
    rng = np.random.default_rng(7)
    frame = {f"v{v}": np.where(rng.permutation(400) < 8, "yes", "no") for v in range(40)}
    said = [line for line in fn.Table.from_frame(frame).alerts() if "95%" in line]
    assert len(said) == 1
    assert said[0].startswith("40 columns are the same in more than 95% of the rows that know them: 'v0', 'v1'")
    assert len(said[0]) < 300


def test_of_very_many_rows_some_are_looked_at() -> None:
    frame = {"a": ["x", "y", "z", "z"] * 250, "b": ["u", "v", "v", "v"] * 250}
    table = fn.Table.from_frame(frame)
    said = alerts_of(table.variables, table.codes, table.n_rows, most_rows=300)
    assert said[0] == "of 1,000 rows 250 were looked at for what is odd"
    assert any("copies" in line for line in said[1:])
    assert not any("same in all" in line for line in said)  # the rows come again after every four
    assert "of 1,000" not in "".join(table.alerts())
