"""Labels that a model does not have: every command says what to type, and what it says works."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import fishernet as fn
from tests.cli.running import facts_of, good, refused, run, written


@pytest.fixture
def strange(model: Path, csv: Path) -> Path:
    """Return rows of which ten have an age that the model, which is there by now, does not know."""
    assert model.exists()
    return written(csv, csv.read_text(encoding="utf-8").replace("young,yes,yes", "ancient,yes,yes"))


@pytest.mark.parametrize(
    "command",
    [
        "score M T",
        "predict M T --target cough",
        "impute M T",
        "select M T -k 3",
        "similar M T --row 0",
        "report T --model M",
    ],
)
def test_the_remedy_works_as_printed_and_is_told(command: str, strange: Path, model: Path, tmp_path: Path) -> None:
    words = [{"M": str(model), "T": str(strange)}.get(word, word) for word in command.split()]
    words += ["-o", str(tmp_path / "out.html" if words[0] == "report" else tmp_path / "out.csv")]
    said = refused(*words)
    assert "'ancient' is not among the states" in said
    remedy = re.search(r"type (.*) to take such cells as missing", said)
    assert remedy, said
    assert "taken as missing: 'age' (10)" in good(*words, *shlex.split(remedy[1])).err


def test_rows_with_such_labels_score_as_rows_that_lack_them(strange: Path, model: Path, tmp_path: Path) -> None:
    bare = written(tmp_path / "bare.csv", strange.read_text(encoding="utf-8").replace("ancient", ""))
    facts = facts_of("score", model, strange, "--unknown", "missing")
    assert facts["log_likelihood"] == facts_of("score", model, bare)["log_likelihood"]


@pytest.mark.parametrize("command", ["score T --folds 2", "report T"])
def test_without_a_model_no_label_is_unknown(command: str, csv: Path) -> None:
    words = [str(csv) if word == "T" else word for word in command.split()]
    assert "without a model, leave it out" in run(*words, "--unknown", "missing").err


def test_numbers_that_are_states_are_told_apart_from_labels(tmp_path: Path) -> None:
    few = written(tmp_path / "few.csv", "n,x\n" + "1,a\n2,b\n3,a\n" * 10)
    more = written(tmp_path / "more.csv", "n,x\n7,a\n")
    good("learn", few, "-o", tmp_path / "m.json")
    assert "a model learned with the column as continuous takes any number" in refused(
        "score", tmp_path / "m.json", more
    )
    good("learn", few, "-o", tmp_path / "m.json", "--continuous", "n")
    good("score", tmp_path / "m.json", more)


def test_python_says_how_a_table_is_read_where_a_function_has_no_such_argument(model: Path, strange: Path) -> None:
    net = fn.load(model)
    frame = fn.read_table(strange).to_frame()
    with pytest.raises(fn.UnknownStateError, match="Table.from_frame") as caught:
        net.log_prob(frame)
    assert caught.value.label == "ancient"
    read = fn.Table.from_frame(frame, schema=net.variables, unknown="missing")
    with pytest.raises(fn.UnknownStateError, match="data.conform"):
        net.log_prob(fn.read_table(strange))
    again = fn.read_table(strange).conform(net.variables, unknown="missing")
    assert net.log_prob(read).tolist() == net.log_prob(again).tolist()


def test_a_number_is_predicted_where_a_label_is_unknown(tmp_path: Path) -> None:
    few = written(tmp_path / "few.csv", "x,town\n" + "".join(f"{i % 7 + i / 100},{'ab'[i % 2]}\n" for i in range(60)))
    more = written(tmp_path / "more.csv", "x,town\n1.5,c\n2.5,a\n")
    good("learn", few, "-o", tmp_path / "m.json")
    words = ["predict", tmp_path / "m.json", more, "--target", "x"]
    assert "type --unknown missing" in refused(*words)
    bare = written(tmp_path / "bare.csv", "x,town\n1.5,\n2.5,a\n")
    told, as_missing = (
        good(*words, "--unknown", "missing", "--bare"),
        good(words[0], words[1], bare, *words[3:], "--bare"),
    )
    assert "taken as missing: 'town' (1)" in told.err
    assert told.out == as_missing.out
