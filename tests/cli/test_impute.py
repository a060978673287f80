from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fishernet as fn
from tests.cli.running import HOSTILE, Run, facts_of, good, hostile, refused, saved, written

HOLES = 'id,smoke,cough,age,dose\n007,no,,old,01.50\n"p,2",yes,,,\n,?,NA,young,2\n1,no,no,old,\n'


@pytest.fixture
def holes(tmp_path: Path) -> Path:
    """Return four rows with holes, an id and a number, in another order of columns."""
    return written(tmp_path / "holes.csv", HOLES)


def best(net: fn.BayesianNetwork, **known: str) -> dict[str, str]:
    """Return the most probable complete row of those that have some states, by going through all of them."""
    states = [[known[v.name]] if v.name in known else v.states for v in net.variables]
    every = pd.DataFrame(list(itertools.product(*states)), columns=list(net.names))
    row = every.iloc[int(np.argmax(net.log_prob(every)))]
    return {str(name): str(state) for name, state in row.items()}


def test_missing_cells_get_the_states_that_are_most_probable_together(holes: Path, model: Path) -> None:
    net = fn.load(model)
    _, first, second, third, fourth = good("impute", model, holes).cells
    assert first == ["007", "no", best(net, smoke="no", age="old")["cough"], "old", "01.50"]
    likeliest = best(net, smoke="yes")
    assert second == ["p,2", "yes", likeliest["cough"], likeliest["age"], ""]
    likeliest = best(net, age="young")
    assert third == ["", likeliest["smoke"], likeliest["cough"], "young", "2"]
    assert fourth == ["1", "no", "no", "old", ""]


def test_json_and_stderr_say_how_many_cells_were_filled(holes: Path, model: Path) -> None:
    ended, facts = good("impute", model, holes), facts_of("impute", model, holes)
    assert ended.err == "filled 5 cells: age (1), smoke (1), cough (3)\n"
    assert facts["filled"] == {"age": 1, "smoke": 1, "cough": 3}
    assert (facts["filled_cells"], facts["rows"], facts["how"], facts["seed"]) == (5, 4, "most-probable", None)


def test_labels_that_the_model_lacks_stay_and_say_nothing_of_the_rest(tmp_path: Path, model: Path) -> None:
    strange = written(tmp_path / "strange.csv", "smoke,cough,age\n,,ancient\npipe,?,old\n")
    bare = written(tmp_path / "bare.csv", "smoke,cough,age\n,,\n,,old\n")
    assert "type --unknown missing to take such cells as missing" in refused("impute", model, strange)
    ended = good("impute", model, strange, "--unknown", "missing")
    [_, first, second], [_, *filled] = ended.cells, good("impute", model, bare).cells
    assert first == [*filled[0][:2], "ancient"]
    assert second == ["pipe", *filled[1][1:]]
    assert "filled 3 cells: smoke (1), cough (2)" in ended.err


def test_a_table_without_holes_comes_back_as_it_is(csv: Path, model: Path) -> None:
    ended = good("impute", model, csv, "--how", "draw", "--seed", 3)
    assert (ended.out.splitlines(), ended.err) == (csv.read_text().splitlines(), "filled 0 cells, seed 3\n")


def test_draws_have_the_shares_of_the_model_and_repeat_with_their_seed(tmp_path: Path, model: Path) -> None:
    net = fn.load(model)
    path = written(tmp_path / "many.csv", "age,smoke,cough\n" + "old,,\n" * 4000)
    words = ["impute", model, path, "--how", "draw"]
    _, *rows = good(*words, "--seed", 5).cells
    joint = net.query(["smoke", "cough"], given={"age": "old"})
    for smoke, cough in itertools.product(("no", "yes"), repeat=2):
        share = joint[smoke, cough]
        drawn = np.mean([row == ["old", smoke, cough] for row in rows])
        assert abs(drawn - share) < 5 * np.sqrt(share * (1 - share) / 4000)
    assert good(*words, "--seed", 5).cells[1:] == rows
    assert good(*words, "--seed", 6).cells[1:] != rows
    first = good(*words)
    again = good(*words, "--seed", first.err.rpartition(" ")[2].strip())
    assert again.out == first.out


def test_the_same_cells_are_filled_as_by_the_library(holes: Path, model: Path) -> None:
    net = fn.load(model)
    written_rows = holes.with_name("complete.csv")
    good("impute", model, holes, "--how", "draw", "--seed", 11, "-o", written_rows)
    holed = fn.read_table(holes, schema=net.variables)
    expected = fn.infer.impute(net, holed, how="draw", seed=11)
    assert fn.read_table(written_rows, schema=net.variables, missing="error") == expected


# ------------------------------------------------------------------------------------------------- kinds of columns


@pytest.fixture
def binned(tmp_path: Path) -> Path:
    """Return a network in which heat is cut in two bins, and told by the kind."""
    heat = fn.Table.from_frame({"heat": np.arange(10.0)}, bins={"heat": (5,)}).variables[0]
    kind = fn.Variable("kind", ["cold", "hot"])
    tables: dict[str, Any] = {"kind": [0.5, 0.5], "heat": [[0.9, 0.1], [0.2, 0.8]]}
    return saved(fn.BayesianNetwork.from_tables([kind, heat], {"heat": ["kind"]}, tables), tmp_path / "binned.json")


def test_a_bin_is_filled_in_by_its_middle_among_numbers_and_by_its_label_among_labels(
    tmp_path: Path, binned: Path
) -> None:
    low, high = fn.load(binned).variables[1].states
    path = written(tmp_path / "heat.csv", "kind,heat\ncold,\nhot,\n,9.50\n")
    assert good("impute", binned, path).cells[1:] == [["cold", "3"], ["hot", "8"], ["hot", "9.50"]]
    drawn = [good("impute", binned, path, "--how", "draw", "--seed", seed).cells[1][1] for seed in range(20)]
    assert {"0", "1", "2", "3", "4", "5"} >= set(drawn) - {"6", "7", "8", "9"}
    assert len(set(drawn)) > 3
    path = written(tmp_path / "heat.csv", f"kind,heat\ncold,\nhot,\n,{high}\n")
    assert good("impute", binned, path).cells[1:] == [["cold", low], ["hot", high], ["hot", high]]


def test_small_numbers_are_not_rounded_away(tmp_path: Path) -> None:
    dose = np.linspace(1e-9, 8e-9, 40)
    net = fn.learn.bayesian_network(fn.Table.from_frame({"dose": dose, "ill": ["n"] * 20 + ["y"] * 20}, bins=2))
    path = written(tmp_path / "dose.csv", "dose,ill\n1.5e-09,n\n,n\n,y\n")
    low, high = (float(row[0]) for row in good("impute", saved(net, tmp_path), path).cells[2:])
    assert 1e-9 < low < dose[19]
    assert dose[19] < high < 8e-9


@pytest.mark.parametrize("gap", [np.nan, None])
def test_a_column_of_numbers_stays_one_where_the_model_has_bins(
    tmp_path: Path, binned: Path, gap: float | None
) -> None:
    frame = pd.DataFrame({"kind": ["cold", None], "heat": [gap, 9.5]}).astype({"heat": float})
    frame["kind"] = frame["kind"].astype("category")
    frame.to_parquet(tmp_path / "heat.parquet", index=False)
    good("impute", binned, tmp_path / "heat.parquet", "-o", tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").to_pydict() == {"kind": ["cold", "hot"], "heat": [3.0, 9.5]}
    frame.iloc[1:].to_parquet(tmp_path / "heat.parquet", index=False)
    good("impute", binned, tmp_path / "heat.parquet", "-o", tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").to_pydict() == {"kind": ["hot"], "heat": [9.5]}


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow", ".tsv.gz"])
def test_whole_numbers_truth_values_and_dates_stay_what_they_are(tmp_path: Path, ending: str) -> None:
    a, b = fn.Variable("a", [1, 2]), fn.Variable("b", [False, True])
    net = fn.BayesianNetwork.from_tables([a, b], {"b": ["a"]}, {"a": [0.3, 0.7], "b": [[0.9, 0.1], [0.2, 0.8]]})
    frame = pd.DataFrame({"a": pd.array([1, None, None], "Int64"), "b": pd.array([None, False, True], "boolean")})
    frame["when"] = pd.to_datetime(["2020-01-01", None, "2020-01-03"])
    table, out = tmp_path / "t.parquet", tmp_path / f"out{ending}"
    frame.to_parquet(table, index=False)
    good("impute", saved(net, tmp_path), table, "-o", out)
    assert fn.read_table(out, schema=net.variables)["a"].tolist() == [1, 1, 2]
    assert fn.read_table(out, schema=net.variables)["b"].tolist() == [False, False, True]
    if ending == ".parquet":
        assert [str(field.type) for field in pq.read_schema(out)][:2] == ["int64", "bool"]
        assert pq.read_table(out)["when"].null_count == 1


def test_dates_stay_dates_where_the_model_has_bins_and_a_column_of_nothing_is_filled(tmp_path: Path) -> None:
    days = pd.date_range("2020-01-01", periods=40)
    frame = pd.DataFrame({"when": days, "late": ["n"] * 20 + ["y"] * 20})
    net = fn.learn.bayesian_network(fn.Table.from_frame(frame, bins=2))
    table, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    pd.DataFrame({"when": [pd.NaT, pd.NaT, days[30]], "late": ["n", "y", None]}).to_parquet(table, index=False)
    good("impute", saved(net, tmp_path), table, "-o", out)
    filled = pq.read_table(out).to_pydict()
    assert filled["when"][0] < days[19] < filled["when"][1] < days[39]
    assert filled["when"][2] == days[30]
    assert filled["late"] == ["n", "y", "y"]
    pq.write_table(pa.table({"when": pa.nulls(2), "late": pa.array(["y", "n"])}), table)
    good("impute", tmp_path / "m.json", table, "-o", out)
    assert pq.read_table(out)["late"].to_pylist() == ["y", "n"]
    assert pq.read_table(out)["when"].null_count == 0


def test_hostile_labels(tmp_path: Path) -> None:
    net = hostile()
    x, y = net.names
    table = fn.Table.from_frame({x: HOSTILE, y: [None] * len(HOSTILE)}, schema=net.variables)
    fn.write_table(table, tmp_path / "t.parquet")
    good("impute", saved(net, tmp_path), tmp_path / "t.parquet", "-o", tmp_path / "out.csv")
    _, *rows = Run(0, (tmp_path / "out.csv").read_bytes().decode(), "").cells
    assert rows == [[label, label] for label in HOSTILE]


# --------------------------------------------------------------------------------------------------- what is refused


def test_a_state_for_missing_cells_is_no_guess_at_them(csv: Path, model: Path, holes: Path) -> None:
    written(csv, csv.read_text(encoding="utf-8").replace("young,yes,yes", "young,,yes"))
    good("learn", csv, "--missing", "state", "-o", model)
    said = refused("impute", model, holes)
    assert "missing cells of 'smoke' are a state of their own in the model" in said
    assert "fishernet learn --missing em" in said
    known = written(holes, "age,smoke,cough\nold,yes,\n")
    assert good("impute", model, known).cells[1][:2] == ["old", "yes"]
