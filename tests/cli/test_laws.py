"""What every command keeps to, over the list of commands; what a command says is tested in its own file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fishernet as fn
from fishernet.cli.main import fishernet
from tests.cli.running import good, refused

WORDS = {  # MODEL and TABLE stand for files
    "learn": ["learn", "TABLE"],
    "learn-dn": ["learn", "TABLE", "--model", "dn"],
    "learn-chow-liu": ["learn", "TABLE", "--model", "chow-liu"],
    "score": ["score", "MODEL", "TABLE"],
    "score-terms": ["score", "MODEL", "TABLE", "--terms"],
    "score-folds": ["score", "TABLE", "--folds", "2"],
    "sample": ["sample", "MODEL", "-n", "5", "--seed", "1"],
    "predict": ["predict", "MODEL", "TABLE", "--target", "cough"],
    "query": ["query", "MODEL", "cough", "--given", "smoke=yes"],
    "query-joint": ["query", "MODEL", "cough", "smoke", "--joint"],
    "select": ["select", "MODEL", "TABLE", "-k", "3", "--seed", "1"],
    "select-chi-square": ["select", "MODEL", "TABLE", "-k", "3", "--seed", "1", "--by", "chi-square"],
    "similar": ["similar", "MODEL", "TABLE", "--row", "0"],
    "compare-graphs": ["compare-graphs", "MODEL", "MODEL"],
    "convert": ["convert", "TABLE", "OUT"],
}
TO_A_FILE = [name for name, words in WORDS.items() if words[0] not in ("learn", "convert")]  # of -o; else a model's
OF_A_MODEL = [name for name, words in WORDS.items() if "MODEL" in words]
OF_A_TABLE = [name for name, words in WORDS.items() if "TABLE" in words]
TIMED = ("score-folds",)  # which print how long they took


def words(name: str, model: Path, table: Path) -> list[object]:
    files: dict[str, object] = {"MODEL": model, "TABLE": table, "OUT": table.with_name("out.parquet")}
    return [files.get(word, word) for word in WORDS[name]]


def test_the_list_is_complete() -> None:
    assert {command[0] for command in WORDS.values()} == set(fishernet.commands) - {"demo"}


@pytest.mark.parametrize("name", WORDS)
def test_json_is_one_object(model: Path, csv: Path, name: str) -> None:
    assert good(*words(name, model, csv), "--json").facts


@pytest.mark.parametrize("name", TO_A_FILE)
def test_o_writes_what_stdout_had_and_nothing_else(model: Path, csv: Path, name: str) -> None:
    path = csv.with_name("answer.csv")
    before = {*csv.parent.iterdir()}
    out = good(*words(name, model, csv)).out
    assert good(*words(name, model, csv), "-o", path).out == ""
    if name not in TIMED:
        assert path.read_text(encoding="utf-8") == out
    assert good(*words(name, model, csv), "--json", "-o", path).out == ""
    assert json.loads(path.read_text(encoding="utf-8"))
    assert {*csv.parent.iterdir()} == {*before, path}


@pytest.mark.parametrize("name", [name for name in WORDS if name != "convert"])
def test_an_output_that_cannot_be_is_said_before_any_work(tmp_path: Path, name: str) -> None:
    absent = words(name, tmp_path / "absent.json", tmp_path / "absent.csv")
    assert "no directory" in refused(*absent, "-o", tmp_path / "nowhere" / "x.json")
    (tmp_path / "folder.json").mkdir()
    assert "it is a directory" in refused(*absent, "-o", tmp_path / "folder.json")


@pytest.mark.parametrize("name", TO_A_FILE)
def test_what_fails_leaves_the_old_file(model: Path, csv: Path, name: str) -> None:
    path = csv.with_name("answer.csv")
    path.write_text("old", encoding="utf-8")
    csv.write_text("age,smoke,cough\nold,yes\n", encoding="utf-8")
    model.write_text("{", encoding="utf-8")
    before = sorted(csv.parent.iterdir())
    refused(*words(name, model, csv), "-o", path)
    assert path.read_text(encoding="utf-8") == "old"
    assert sorted(csv.parent.iterdir()) == before


@pytest.mark.parametrize("name", OF_A_MODEL)
def test_a_model_that_cannot_be_read_is_named(model: Path, csv: Path, name: str) -> None:
    absent = model.with_name("absent.json")
    message = refused(*words(name, absent, csv))
    assert str(absent) in message
    assert "no such file" in message
    assert ".json or .bif" in refused(*words(name, model.with_name("model.txt"), csv))
    model.write_text(model.read_text(encoding="utf-8")[:60], encoding="utf-8")
    assert str(model) in refused(*words(name, model, csv))


@pytest.mark.parametrize("name", OF_A_TABLE)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "no such file"),
        ("", "empty"),
        ("age,smoke,cough\nold,yes,no\nold,yes\n", "line 3"),
        ("age,smoke,cough,cough\nold,yes,no,no\n", "'cough'"),
    ],
)
def test_a_table_that_cannot_be_read_is_one_sentence(
    model: Path, tmp_path: Path, name: str, text: str | None, said: str
) -> None:
    path = tmp_path / "new.csv"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    assert said in refused(*words(name, model, path))
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", [name for name in OF_A_TABLE if name in OF_A_MODEL])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("age,smoke,cough\n", "no rows"),
        ("smoke,cough\nyes,no\n", "'age', which is needed"),
        ("age,smoke,cough\nold,yes,no\nmiddle,yes,no\n", "column 'age', row 1: the label 'middle'"),
    ],
)
def test_a_table_that_does_not_fit_its_model_is_one_sentence(
    model: Path, tmp_path: Path, name: str, text: str, said: str
) -> None:
    path = tmp_path / "new.csv"
    path.write_text(text, encoding="utf-8")
    assert said in refused(*words(name, model, path))


@pytest.mark.parametrize("name", ["select", "select-chi-square", "similar", "sample"])
def test_a_model_without_variables_is_one_sentence(csv: Path, tmp_path: Path, name: str) -> None:
    fn.save(fn.BayesianNetwork.from_tables([], {}, {}), tmp_path / "m.json")
    assert "no variables" in refused(*words(name, tmp_path / "m.json", csv))
