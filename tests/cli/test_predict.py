from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from tests.cli.running import COMMAND, HOSTILE, Run, facts_of, good, hostile, refused, saved, written


def test_csv_json_and_stderr_say_what_the_library_says(model: Path, csv: Path) -> None:
    net, table = fn.load(model), fn.read_table(csv)
    words = ["predict", model, csv, "--target", "cough", "--bare"]
    ended, told = good(*words), good(*words, "--json")
    (header, *rows), facts = ended.cells, told.facts
    probabilities, truth = net.predict_proba(table, "cough"), table.column("cough")
    loss = -np.log(probabilities[np.arange(100), truth]).mean()
    accuracy = (probabilities.argmax(axis=1) == truth).mean()
    assert header == ["predicted", "P(no)", "P(yes)"]
    assert [[float(cell) for cell in row[1:]] for row in rows] == facts["probabilities"] == probabilities.tolist()
    assert [row[0] for row in rows] == facts["predicted"] == [("no", "yes")[k] for k in probabilities.argmax(axis=1)]
    assert ended.err.startswith(
        f"accuracy {accuracy:.4f}, log-loss {loss:.4f} nats per row, on 100 rows whose state is known"
    )
    assert (told.err, facts["states"]) == ("", ["no", "yes"])
    assert (facts["known_rows"], facts["accuracy"]) == (100, accuracy)
    assert facts["log_loss"] == pytest.approx(loss, rel=1e-12)


def test_the_target_may_be_absent_or_unknown(model: Path, tmp_path: Path) -> None:
    path = written(tmp_path / "new.csv", "smoke,age\nyes,old\nno,young\n")
    words = ["predict", model, path, "--target", "cough", "--bare"]
    ended = good(*words)
    assert (ended.err, len(ended.out.splitlines())) == ("", 3)
    assert facts_of(*words)["accuracy"] is None
    written(path, "smoke,age,cough\nyes,old,\nno,young,no\n")
    some = good(*words)
    assert some.out == ended.out
    assert "on 1 row" in some.err
    written(path, "smoke,age,cough\nyes,old,\nno,young,?\n")
    assert good(*words).err == ""


def test_hostile_labels(tmp_path: Path) -> None:
    net = hostile()
    x, y = net.names
    fn.write_table(fn.Table.from_frame({x: HOSTILE}, schema=net.variables[:1]), tmp_path / "t.csv")
    good("predict", saved(net, tmp_path), tmp_path / "t.csv", "--target", y, "--bare", "-o", tmp_path / "p.csv")
    header, *rows = Run(0, (tmp_path / "p.csv").read_bytes().decode(), "").cells
    assert header == ["predicted", *(f"P({state})" for state in HOSTILE)]
    assert [row[0] for row in rows] == HOSTILE


def test_missing_cells_are_states_of_their_own_where_the_model_has_them(model: Path, csv: Path) -> None:
    written(csv, csv.read_text(encoding="utf-8").replace("young,yes,yes", ",,"))
    good("learn", csv, "--missing", "state", "-o", model)
    facts = facts_of("predict", model, csv, "--target", "smoke", "--missing", "state")
    assert facts["states"] == ["no", "yes", "missing"]
    assert facts["known_rows"] == 100
    assert facts["predicted"].count("missing") == 10


def test_missing_cells_and_unknown_labels_are_summed_out_when_asked(model: Path, csv: Path) -> None:
    net, table = fn.load(model), fn.read_table(csv)
    written(csv, csv.read_text(encoding="utf-8").replace("old", "ancient"))
    words = ["predict", model, csv, "--target", "cough", "--missing", "keep"]
    facts: dict[str, Any] = facts_of(*words, "--unknown", "missing")
    codes = np.stack(table.codes, axis=1).astype(int)
    age = table.names.index("age")
    codes[codes[:, age] == table.variables[age].states.index("old"), age] = 2  # a missing cell's code
    expected = fn.infer.predict_proba(net, fn.Table.from_codes(codes, table.variables), "cough")
    np.testing.assert_allclose(facts["probabilities"], expected, rtol=1e-12)
    assert "'ancient'" in refused(*words)


def test_labels_of_the_target_that_the_model_lacks_are_predicted_and_count_as_wrong(model: Path, csv: Path) -> None:
    rows = fn.read_table(csv)[:4].to_frame().to_pylist()
    rows[2]["cough"] = "violent"
    new = written(csv, "\n".join(["smoke,age,cough", *(f"{r['smoke']},{r['age']},{r['cough']}" for r in rows)]) + "\n")
    words = ["predict", model, new, "--target", "cough", "--unknown", "missing"]
    facts = facts_of(*words)
    right = sum(row["cough"] == said for row, said in zip(rows, facts["predicted"], strict=True))
    assert (facts["known_rows"], facts["accuracy"], facts["log_loss"]) == (4, right / 4, None)
    said = good(*words).err
    assert "log-loss inf nats per row, on 4 rows" in said
    assert "1 of them with labels that the model does not have" in said


# ---------------------------------------------------------------------------------------------------- the rows' columns

NEW = 'id,smoke,cough,age,dose\np1,no,yes,old,01.50\n"p,2",yes,,young,\n'


@pytest.fixture
def new(tmp_path: Path) -> Path:
    """Return two rows with an id and a number, in another order of columns, one without its target."""
    return written(tmp_path / "new.csv", NEW)


def test_predictions_stand_behind_the_columns_of_the_rows_as_they_are(new: Path, model: Path) -> None:
    words = ["predict", model, new, "--target", "cough"]
    bare, header_and_rows = good(*words, "--bare").cells, good(*words).cells
    held = Run(0, NEW, "").cells
    assert header_and_rows == [one + other for one, other in zip(held, bare, strict=True)]
    assert bare[0] == ["predicted", "P(no)", "P(yes)"]


def test_only_some_columns_are_kept_when_asked(new: Path, model: Path) -> None:
    words = ["predict", model, new, "--target", "cough", "--id", "dose,id"]
    rows = good(*words).cells
    assert [row[:2] for row in rows] == [["dose", "id"], ["01.50", "p1"], ["", "p,2"]]
    assert rows[0][2:] == ["predicted", "P(no)", "P(yes)"]
    facts = facts_of(*words)
    assert facts["columns"] == {"dose": ["01.50", None], "id": ["p1", "p,2"]}
    assert "columns" not in facts_of(*words[:-2])
    assert "no column 'ID'" in refused(*words[:-1], "ID")
    assert "--bare leaves out all" in refused(*words, "--bare")


@pytest.mark.parametrize("name", ["p.tsv", "p.csv.gz", "p.parquet", "p.arrow"])
def test_predictions_go_to_files_of_tables(new: Path, model: Path, name: str) -> None:
    words = ["predict", model, new, "--target", "cough"]
    path = new.with_name(name)
    assert good(*words, "-o", path).out == ""
    table = fn.read_table(path, continuous=["P(no)", "P(yes)"], categorical=["id"])
    assert table.names == ("id", "smoke", "cough", "age", "dose", "predicted", "P(no)", "P(yes)")
    assert table["P(yes)"].tolist() == [row[1] for row in facts_of(*words)["probabilities"]]
    assert table["predicted"].tolist() == facts_of(*words)["predicted"]
    assert "a table is written to .csv" in refused(*words, "-o", path.with_suffix(".txt"))


def test_names_that_are_taken_get_an_underscore(csv: Path, model: Path) -> None:
    path = written(csv, csv.read_text(encoding="utf-8").replace("cough", "predicted", 1))
    assert good("predict", model, path, "--target", "cough").cells[0][2:4] == ["predicted", "predicted_"]


def test_a_pipe_is_read_once_target_and_all(model: Path) -> None:
    words = ["predict", model, "-", "--target", "cough"]
    ended = subprocess.run([*COMMAND, *map(str, words)], input=NEW, capture_output=True, text=True, check=True)
    assert ended.stdout.startswith("id,smoke,cough,age,dose,predicted,P(no),P(yes)\np1,no,yes,old,01.50,")
    assert "on 1 row whose state is known" in ended.stderr


def test_accuracy_on_the_rows_learned_from_is_called_that(csv: Path, tmp_path: Path) -> None:
    model = tmp_path / "learned.json"
    good("learn", csv, "-o", model)
    said = "this is the accuracy on the rows it was learned from"
    assert said in good("predict", model, csv, "--target", "cough").err
    fewer = written(tmp_path / "fewer.csv", "\n".join(csv.read_text().splitlines()[:50]))
    assert said not in good("predict", model, fewer, "--target", "cough").err


def test_the_rows_behind_each_prediction(tmp_path: Path) -> None:
    asia = fn.datasets.load("asia")
    rows = asia.sample(300, seed=1)
    net = fn.learn.bayesian_network(rows)
    for name, table in (("learned", rows), ("new", rows[:6])):
        fn.write_table(table, tmp_path / f"{name}.csv")
    words = ["predict", saved(net, tmp_path), tmp_path / "new.csv", "--target", "bronc"]
    facts = facts_of(*words, "--explain", tmp_path / "learned.csv")
    for row, (behind, state) in enumerate(zip(facts["rows_behind"], facts["predicted"], strict=True)):
        given = {name: rows[name][row] for name in rows.names if name != "bronc"}
        values = fn.explain.rows(net, rows, query="bronc", state=state, given=given).values
        assert len(behind) == 3
        assert values[behind].tolist() == pytest.approx(sorted(values, reverse=True)[:3])
    header, *lines = good(*words, "--bare", "--explain", tmp_path / "learned.csv").cells
    assert header[-1] == "rows behind"
    assert lines[0][-1] == " ".join(map(str, facts["rows_behind"][0]))
