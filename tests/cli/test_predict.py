from __future__ import annotations

import csv as csv_module
import io
import math
from pathlib import Path

import numpy as np
import pytest

import fishernet as fn
from fishernet.compare import Quality
from tests.cli.running import good, refused


def test_csv_holds_the_library_s_probabilities(model: Path, csv: Path) -> None:
    net, table = fn.load(model), fn.read_table(csv)
    ended = good("predict", model, csv, "--target", "cough")
    header, *rows = csv_module.reader(io.StringIO(ended.out))
    probabilities = net.predict_proba(table, "cough")
    assert header == ["predicted", "P(no)", "P(yes)"]
    assert [[float(cell) for cell in row[1:]] for row in rows] == probabilities.tolist()
    assert [row[0] for row in rows] == [("no", "yes")[k] for k in probabilities.argmax(axis=1)]
    truth = table.column("cough")
    loss = -np.log(probabilities[np.arange(100), truth]).mean()
    accuracy = (probabilities.argmax(axis=1) == truth).mean()
    assert ended.err == f"accuracy {accuracy:.4f}, log-loss {loss:.4f} nats per row, on 100 rows whose state is known\n"


def test_json_says_the_same(model: Path, csv: Path) -> None:
    ended = good("predict", model, csv, "--target", "cough", "--json")
    net, table = fn.load(model), fn.read_table(csv)
    probabilities, truth = net.predict_proba(table, "cough"), table.column("cough")
    assert ended.err == ""
    assert ended.facts["states"] == ["no", "yes"]
    assert ended.facts["probabilities"] == probabilities.tolist()
    assert ended.facts["known_rows"] == 100
    assert ended.facts["accuracy"] == (probabilities.argmax(axis=1) == truth).mean()
    assert ended.facts["log_loss"] == pytest.approx(-np.log(probabilities[np.arange(100), truth]).mean(), rel=1e-12)


def test_the_target_may_be_absent_or_unknown(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "new.csv"
    path.write_text("smoke,age\nyes,old\nno,young\n", encoding="utf-8")
    ended = good("predict", model, path, "--target", "cough")
    assert ended.err == ""
    assert len(ended.out.splitlines()) == 3
    assert good("predict", model, path, "--target", "cough", "--json").facts["accuracy"] is None
    path.write_text("smoke,age,cough\nyes,old,\nno,young,no\n", encoding="utf-8")
    some = good("predict", model, path, "--target", "cough")
    assert some.out == ended.out
    assert "on 1 rows" in some.err
    path.write_text("smoke,age,cough\nyes,old,\nno,young,?\n", encoding="utf-8")
    assert good("predict", model, path, "--target", "cough").err == ""


def test_a_state_of_probability_zero_is_an_infinite_loss() -> None:
    quality = Quality.of(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([1, 0], dtype=np.uint8), None)
    assert quality is not None
    assert (quality.known_rows, quality.accuracy, quality.log_loss) == (2, 0.5, math.inf)


def test_weights_and_unknown_states_in_the_quality() -> None:
    probabilities = np.array([[0.8, 0.2], [0.3, 0.7], [0.5, 0.5], [0.1, 0.9]])
    truth, weights = np.array([0, 0, 2, 1], dtype=np.uint8), np.array([3, 1, 5, 0])
    quality = Quality.of(probabilities, truth, weights)
    assert quality is not None
    assert quality.known_rows == 4
    assert quality.accuracy == 0.75
    assert quality.log_loss == pytest.approx(-(3 * math.log(0.8) + math.log(0.3)) / 4)


def test_o_writes_a_file(model: Path, csv: Path, tmp_path: Path) -> None:
    out = good("predict", model, csv, "--target", "cough").out
    ended = good("predict", model, csv, "--target", "cough", "-o", tmp_path / "p.csv")
    assert ended.out == ""
    assert ended.err.startswith("accuracy")
    assert (tmp_path / "p.csv").read_text(encoding="utf-8") == out


def test_hostile_labels(tmp_path: Path) -> None:
    states = ["a,b", 'q"uo', "new\nline", "car\rriage", " sp", "\U0001f600"]
    x, y = fn.Variable("x", states), fn.Variable("é;y", states)
    copies = 0.95 * np.eye(6) + 0.05 / 6
    net = fn.BayesianNetwork.from_tables([x, y], {"é;y": ["x"]}, {"x": [1 / 6] * 6, "é;y": copies})
    fn.save(net, tmp_path / "m.json")
    fn.write_table(fn.Table.from_frame({"x": states}, schema=[x]), tmp_path / "t.csv")
    out = good("predict", tmp_path / "m.json", tmp_path / "t.csv", "--target", "é;y", "-o", tmp_path / "p.csv")
    with (tmp_path / "p.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv_module.reader(file)
    assert header == ["predicted", *(f"P({state})" for state in states)]
    assert [row[0] for row in rows] == states
    assert out.err == ""


def test_bad_input_is_one_sentence(model: Path, csv: Path, tmp_path: Path) -> None:
    assert "'nope'" in refused("predict", model, csv, "--target", "nope")
    path = tmp_path / "new.csv"
    path.write_text("smoke,cough\nyes,no\n", encoding="utf-8")
    assert "'age', which is needed" in refused("predict", model, path, "--target", "cough")
    path.write_text("age,smoke,cough\nold,yes,perhaps\n", encoding="utf-8")
    assert "'perhaps'" in refused("predict", model, path, "--target", "cough")
    path.write_text("age,smoke,cough\n,yes,no\n", encoding="utf-8")
    assert "'age' (1)" in refused("predict", model, path, "--target", "cough", "-o", tmp_path / "p.csv")
    assert not (tmp_path / "p.csv").exists()


def test_missing_cells_are_states_of_their_own_where_the_model_has_them(model: Path, csv: Path) -> None:
    csv.write_text(csv.read_text(encoding="utf-8").replace("young,yes,yes", ",,"), encoding="utf-8")
    good("learn", csv, "--missing", "state", "-o", model)
    assert "(10)" in refused("predict", model, csv, "--target", "age")
    facts = good("predict", model, csv, "--target", "smoke", "--missing", "state", "--json").facts
    assert facts["states"] == ["no", "yes", "missing"]
    assert facts["known_rows"] == 100
    assert facts["predicted"].count("missing") == 10


def test_missing_cells_and_unknown_labels_are_summed_out_when_asked(model: Path, csv: Path) -> None:
    net, table = fn.load(model), fn.read_table(csv)
    csv.write_text(csv.read_text(encoding="utf-8").replace("old", "ancient"), encoding="utf-8")
    options = ("--missing", "keep", "--unknown", "missing", "--json")
    facts = good("predict", model, csv, "--target", "cough", *options).facts
    codes = np.stack(table.codes, axis=1).astype(int)
    age = table.names.index("age")
    codes[codes[:, age] == table.variables[age].states.index("old"), age] = 2  # a missing cell's code
    expected = fn.infer.predict_proba(net, fn.Table.from_codes(codes, table.variables), "cough")
    np.testing.assert_allclose(facts["probabilities"], expected, rtol=1e-12)
    assert "'ancient'" in refused("predict", model, csv, "--target", "cough", "--missing", "keep")


def test_a_row_that_the_model_deems_impossible_is_one_sentence(tmp_path: Path) -> None:
    a, b = fn.Variable("a", ["x", "y"]), fn.Variable("b", ["x", "y"])
    rows = np.array([[1, 0], [0.5, 0.5]])
    net = fn.BayesianNetwork.from_tables([a, b], {"b": ["a"]}, {"a": [1, 0], "b": rows})
    fn.save(net, tmp_path / "m.json")
    (tmp_path / "t.csv").write_text("b\ny\n", encoding="utf-8")
    message = refused("predict", tmp_path / "m.json", tmp_path / "t.csv", "--target", "a")
    assert "row 0 has probability 0" in message
    assert "smoothing above 0" in message
