from __future__ import annotations

import csv as csv_module
import io
from pathlib import Path

import pytest

import fishernet as fn
from tests.cli.running import good, refused


def test_csv_on_stdout_is_the_library_s_sample(model: Path) -> None:
    net = fn.load(model)
    rows = list(csv_module.reader(io.StringIO(good("sample", model, "-n", 50, "--seed", 4).out)))
    drawn = net.sample(50, seed=4)
    assert rows[0] == list(net.names)
    for v, variable in enumerate(net.variables):
        assert [row[v] for row in rows[1:]] == [variable.states[code] for code in drawn.codes[v]]


@pytest.mark.parametrize("name", ["s.csv", "s.tsv.gz", "s.parquet", "s.arrow"])
def test_files_hold_the_same_rows(model: Path, name: str) -> None:
    net, path = fn.load(model), model.with_name(name)
    assert good("sample", model, "-n", 20, "--seed", 4, "-o", path).out == ""
    assert fn.read_table(path, schema=net.variables) == net.sample(20, seed=4)


def test_json(model: Path) -> None:
    facts = good("sample", model, "-n", 20, "--seed", 4, "--json").facts
    frame = fn.load(model).sample(20, seed=4).to_frame()
    assert (facts["rows"], facts["seed"]) == (20, 4)
    assert facts["columns"] == {name: frame[name].to_pylist() for name in frame.column_names}


def test_without_a_seed_the_rows_are_others(model: Path) -> None:
    assert good("sample", model, "-n", 200).out != good("sample", model, "-n", 200).out


def test_labels_survive(tmp_path: Path) -> None:
    states = ["a,b", 'q"uo', "new\nline", " sp", "1", "NA", "\U0001f600"]
    net = fn.BayesianNetwork.from_tables([fn.Variable('n"ame, x', states)], {}, {'n"ame, x': [1 / 7] * 7})
    fn.save(net, tmp_path / "m.json")
    out = good("sample", tmp_path / "m.json", "-n", 60, "--seed", 0).out
    (tmp_path / "s.csv").write_text(out, encoding="utf-8", newline="")
    assert fn.read_table(tmp_path / "s.csv", schema=net.variables) == net.sample(60, seed=0)


def test_no_rows_are_a_header(model: Path) -> None:
    assert good("sample", model, "-n", 0).out == "age,smoke,cough\n"


def test_a_bad_value_is_one_sentence(model: Path) -> None:
    assert "from 0" in refused("sample", model, "-n", -1)
    assert "seed must not be negative" in refused("sample", model, "-n", 1, "--seed", -1)
    assert "by the path's ending" in refused("sample", model, "-n", 1, "-o", model.with_name("s.foo"))
    assert "no directory" in refused("sample", model, "-n", 1, "-o", model.parent / "nowhere" / "s.csv")
    assert "memory" in refused("sample", model, "-n", 2**40)
    assert not model.with_name("s.foo").exists()
