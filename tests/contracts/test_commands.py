"""What every command keeps to, over the list of commands; what a command says is tested in its own file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

import fishernet as fn
from fishernet.cli import main
from fishernet.cli.main import fishernet
from tests.cli.running import (
    COMMAND,
    ENVIRONMENT,
    HOSTILE,
    facts_of,
    good,
    hostile,
    patients,
    process,
    processes,
    refused,
    run,
    saved,
    written,
)

WORDS = {  # MODEL and TABLE stand for files
    "describe": "describe TABLE",
    "learn": "learn TABLE",
    "learn-dn": "learn TABLE --model dn",
    "learn-chow-liu": "learn TABLE --model chow-liu",
    "score": "score MODEL TABLE",
    "score-rows": "score MODEL TABLE --rows",
    "score-terms": "score MODEL TABLE --terms",
    "score-folds": "score TABLE --folds 2",
    "sample": "sample MODEL -n 5 --seed 1",
    "predict": "predict MODEL TABLE --target cough",
    "impute": "impute MODEL TABLE",
    "impute-draw": "impute MODEL TABLE --how draw --seed 1",
    "query": "query MODEL cough --given smoke=yes",
    "query-joint": "query MODEL cough smoke --joint",
    "select": "select MODEL TABLE -k 3 --seed 1",
    "select-chi-square": "select MODEL TABLE -k 3 --seed 1 --by chi-square",
    "select-prototypes": "select MODEL TABLE -k 3 --by protodash --criticisms 2 --seed 1",
    "similar": "similar MODEL TABLE --row 0",
    "cluster": "cluster TABLE -k 2 --restarts 2",
    "compare": "compare TABLE TABLE --permutations 19",
    "compare-model": "compare TABLE TABLE --model MODEL --permutations 19",
    "monitor": "monitor TABLE TABLE --permutations 19",
    "compare-graphs": "compare-graphs MODEL MODEL",
    "report": "report TABLE -o -",
    "report-model": "report TABLE --model MODEL --target cough --title Patients -o -",
    "convert": "convert TABLE OUT",
    "strings-gram": "strings gram TABLE --column smoke",
    "strings-nearest": "strings nearest TABLE --column smoke -n 2",
}
TO_A_FILE = [name for name in WORDS if name.partition("-")[0] not in ("learn", "convert")]  # of -o; else a model's
OF_A_MODEL = [name for name, words in WORDS.items() if "MODEL" in words]
OF_A_TABLE = [name for name, words in WORDS.items() if "TABLE" in words]
OF_BOTH = [name for name in OF_A_TABLE if name in OF_A_MODEL]
COMPLETE = [name for name in OF_BOTH if not name.startswith(("impute", "compare", "report"))]  # of complete tables
TIMED = ("score-folds",)  # which print how long they took
COMMANDS = [
    "describe",
    "learn",
    "score",
    "sample",
    "predict",
    "impute",
    "query",
    "select",
    "similar",
    "cluster",
    "compare",
    "monitor",
    "compare-graphs",
    "report",
    "convert",
    "strings",
]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return patients(tmp_path)


@pytest.fixture
def model(table: Path) -> Path:
    return saved(fn.learn.bayesian_network(fn.read_table(table)), table.with_name("model.json"))


def words(name: str, model: Path, table: Path) -> list[object]:
    files: dict[str, object] = {"MODEL": model, "TABLE": table, "OUT": table.with_name("out.parquet")}
    return [files.get(word, word) for word in WORDS[name].split()]


def test_the_list_is_complete() -> None:
    listed = fishernet.list_commands(click.Context(fishernet))
    assert {words.split()[0] for words in WORDS.values()} == set(listed) - {"completion", "demo"} == set(COMMANDS)


def test_what_is_said_of_a_command_before_it_is_imported_is_what_it_says() -> None:
    context = click.Context(fishernet)
    for name in fishernet.list_commands(context):
        command = fishernet.get_command(context, name)
        assert command is not None
        assert command.name == name
        assert command.hidden or command.short_help == main.COMMANDS[name][1]


def test_help_imports_no_command() -> None:
    script = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from fishernet.cli.main import fishernet\n"
        "assert CliRunner().invoke(fishernet, ['--help']).exit_code == 0\n"
        "print('fishernet.learn' in sys.modules, 'fishernet.cli.describe' in sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert run.stdout.split() == ["False", "False"]


# ------------------------------------------------------------------------------------------------------- the help


def test_help_lists_the_commands_in_the_order_of_their_use_and_has_an_example() -> None:
    text = good("--help").out
    listed = text.partition("Commands:")[2].split("\n")
    assert [line.split()[0] for line in listed if line] == [*COMMANDS, "completion"]
    assert "\n    fishernet learn patients.csv -o model.json\n" in text


@pytest.mark.parametrize("command", [*COMMANDS, "completion"])
def test_help_of_each_command_has_an_example(command: str) -> None:
    text = good(command, "--help").out
    assert f"\n    fishernet {command} " in text  # on a line of its own, not wrapped into the text
    assert text == good(command, "-h").out


@pytest.mark.parametrize(
    "line",
    [
        *("", "nope", "learn", "learn a.csv --nope", "learn a.csv --max-parents x", "learn a.csv --missing nope"),
        *("select m.json t.csv -k 5 --by nope", "select m.json t.csv -k 5 --missing em", "select m.json t.csv"),
        *("similar m.json t.csv", "score", "score a", "score a b c", "score --folds 3", "score a b --folds 3"),
    ],
)
def test_a_command_line_that_makes_no_sense_is_status_2(line: str) -> None:
    ended = run(*line.split())
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("Usage: fishernet")


# ----------------------------------------------------------------------------------------------------- the output


@pytest.mark.parametrize("name", WORDS)
def test_json_is_one_object(model: Path, table: Path, name: str) -> None:
    assert facts_of(*words(name, model, table))


@pytest.mark.parametrize("name", TO_A_FILE)
def test_o_writes_what_stdout_had_and_nothing_else(model: Path, table: Path, name: str) -> None:
    path = table.with_name("answer.csv")
    before = {*table.parent.iterdir()}
    out = good(*words(name, model, table)).out
    assert good(*words(name, model, table), "-o", path).out == ""
    if name not in TIMED:
        assert path.read_text(encoding="utf-8") == out
    assert good(*words(name, model, table), "--json", "-o", path).out == ""
    assert json.loads(path.read_text(encoding="utf-8"))
    assert {*table.parent.iterdir()} == {*before, path}


@pytest.mark.parametrize("name", [name for name in WORDS if name != "convert"])
def test_an_output_that_cannot_be_is_said_before_any_work(tmp_path: Path, name: str) -> None:
    absent = words(name, tmp_path / "absent.json", tmp_path / "absent.csv")
    assert "no directory" in refused(*absent, "-o", tmp_path / "nowhere" / "x.json")
    (tmp_path / "folder.json").mkdir()
    assert "it is a directory" in refused(*absent, "-o", tmp_path / "folder.json")


@pytest.mark.parametrize(
    "name", ["sample", "predict", "impute", "select", "select-chi-square", "select-prototypes", "cluster"]
)
@pytest.mark.parametrize("ending", ["s.foo", "s.parquet.gz", "s"])
def test_an_ending_that_no_table_has_is_refused_before_any_work(tmp_path: Path, name: str, ending: str) -> None:
    absent = words(name, tmp_path / "absent.json", tmp_path / "absent.csv")
    assert "by the path's ending" in refused(*absent, "-o", tmp_path / ending)


@pytest.mark.parametrize("name", TO_A_FILE)
def test_what_fails_leaves_the_old_file(model: Path, table: Path, name: str) -> None:
    path = written(table.with_name("answer.csv"), "old")
    written(table, "age,smoke,cough\nold,yes\n")
    written(model, "{")
    before = sorted(table.parent.iterdir())
    refused(*words(name, model, table), "-o", path)
    assert path.read_text(encoding="utf-8") == "old"
    assert sorted(table.parent.iterdir()) == before


@pytest.mark.parametrize("name", TO_A_FILE)
def test_what_is_interrupted_half_way_leaves_the_old_file(
    model: Path, table: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(table.with_name("answer.csv"), "old")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupted)
    monkeypatch.setattr("pathlib.Path.replace", interrupted)
    assert run(*words(name, model, table), "-o", path).status == 130
    assert path.read_text(encoding="utf-8") == "old"
    assert {*table.parent.iterdir()} == {model, table, path}


def test_processes_print_the_same_and_no_progress_bar(model: Path, table: Path, tmp_path: Path) -> None:
    left = ("convert", *TIMED, *OF_A_MODEL[1::2])  # all of a model run as processes below, and answer in JSON
    names = [name for name in WORDS if name not in left and "learn" not in name]
    lines = [words(name, model, table) for name in names]
    for name, line, ended in zip(names, lines, processes(lines, tmp_path / "printed"), strict=True):
        here = good(*line)
        assert (name, ended.status, ended.out) == (name, 0, here.out)
        assert "\x1b" not in ended.err
        assert ended.err.count("\n") == here.err.count("\n"), name


def test_a_process_that_loads_the_library_itself_prints_the_same(model: Path, table: Path) -> None:
    line = words("predict", model, table)
    assert process(*line) == good(*line)


@pytest.mark.parametrize("name", ["learn", "learn-dn"])
def test_any_number_of_threads_gives_the_same(table: Path, name: str) -> None:
    facts = []
    for threads, hashes in (("1", "1"), ("3", "2")):
        ended = process(*words(name, table, table), "--json", FISHERNET_THREADS=threads, PYTHONHASHSEED=hashes)
        assert (ended.status, ended.err) == (0, "")
        facts.append({fact: value for fact, value in ended.facts.items() if fact != "seconds"})
    assert facts[0] == facts[1]


@pytest.mark.parametrize("name", ["sample", "score-rows"])
def test_head_is_silent(model: Path, table: Path, name: str) -> None:
    written(table, table.read_text(encoding="utf-8") + "old,yes,no\n" * 20000)
    line = [*map(str, words(name, model, table)), *(["-n", "300000"] if name == "sample" else [])]
    with subprocess.Popen(
        [*COMMAND, *line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait() == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a Linux device")
@pytest.mark.parametrize("line", ["sample MODEL -n 10", "demo", "--help", "learn --help", "--version"])
def test_a_full_disk_is_one_sentence(line: str, model: Path) -> None:
    command = [*COMMAND, *(str(model) if word == "MODEL" else word for word in line.split())]
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, encoding="utf-8", check=False, env=ENVIRONMENT
        )
    assert ended.returncode == 1
    assert ended.stderr == f"fishernet: reading or writing failed: {os.strerror(28)}\n"  # ENOSPC


# ------------------------------------------------------------------------------------------------------ the input


@pytest.mark.parametrize("name", OF_A_MODEL)
def test_a_model_that_cannot_be_read_is_named(model: Path, table: Path, name: str) -> None:
    absent = model.with_name("absent.json")
    message = refused(*words(name, absent, table))
    assert str(absent) in message
    assert "no such file" in message
    assert ".json, .bif, .xdsl, .net, " in refused(*words(name, model.with_name("model.txt"), table))
    written(model, model.read_text(encoding="utf-8")[:60])
    assert str(model) in refused(*words(name, model, table))


@pytest.mark.parametrize("name", OF_A_TABLE)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "no such file"),
        ("", "empty"),
        ("age,smoke,cough\n", "no row"),
        ("age,smoke,cough\nold,yes,no\nold,yes\n", "line 3"),
    ],
)
def test_a_table_that_cannot_be_read_is_one_sentence(
    model: Path, tmp_path: Path, name: str, text: str | None, said: str
) -> None:
    if (name, text) == ("convert", "age,smoke,cough\n"):
        return  # a table without rows is a table
    path = tmp_path / "new.csv"
    if text is not None:
        written(path, text)
    before = sorted(tmp_path.iterdir())
    assert said in refused(*words(name, model, path))
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", OF_BOTH)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("smoke,cough\nyes,no\n", "'age', which is needed"),
        ("age,smoke,cough\nold,yes,no\nmiddle,yes,no\n", "column 'age', row 1: the label 'middle'"),
    ],
)
def test_a_table_that_does_not_fit_its_model_is_one_sentence(
    model: Path, tmp_path: Path, name: str, text: str, said: str
) -> None:
    assert said in refused(*words(name, model, written(tmp_path / "new.csv", text)))


@pytest.mark.parametrize("name", COMPLETE)
def test_missing_cells_are_refused_where_one_says_so(model: Path, tmp_path: Path, name: str) -> None:
    path = written(tmp_path / "new.csv", "age,smoke,cough\n,yes,no\n")
    message = refused(*words(name, model, path), "--missing", "error")
    assert "there are missing cells in 'age' (1)" in message
    assert "; type --missing " in message


@pytest.mark.parametrize("name", OF_BOTH)
def test_columns_in_another_order_and_unknown_ones_change_nothing(model: Path, table: Path, name: str) -> None:
    lines = [line.split(",") for line in table.read_text(encoding="utf-8").splitlines()]
    turned = written(
        table.with_name("turned.csv"), "".join(",".join(["extra", *reversed(line)]) + "\n" for line in lines)
    )
    asked, of_turned = words(name, model, table), words(name, model, turned)
    if name.startswith(("select", "impute")):  # which write the rows as they stand in the file
        fact = "indices" if name.startswith("select") else "filled"
        assert facts_of(*of_turned)[fact] == facts_of(*asked)[fact]
        return
    bare = ["--bare"] if name == "predict" else []
    assert good(*of_turned, *bare).out == good(*asked, *bare).out


@pytest.mark.parametrize("name", COMPLETE)
def test_missing_cells_are_states_of_their_own_where_the_model_has_them(model: Path, table: Path, name: str) -> None:
    written(table, table.read_text(encoding="utf-8").replace("young,yes,yes", "young,,yes"))
    assert "no state for them" in refused(*words(name, model, table), "--missing", "state")
    good("learn", table, "--missing", "state", "-o", model)
    good(*words(name, model, table), "--missing", "state")
    good(*words(name, model, table))


@pytest.mark.parametrize("name", ["select", "select-chi-square", "select-prototypes", "similar", "sample"])
def test_a_model_without_variables_is_one_sentence(table: Path, tmp_path: Path, name: str) -> None:
    empty = saved(fn.BayesianNetwork.from_tables([], {}, {}), tmp_path)
    assert "no variables" in refused(*words(name, empty, table))


def test_hostile_names_and_labels_break_no_line(tmp_path: Path) -> None:
    net = hostile()
    model, table = saved(net, tmp_path), tmp_path / "t.csv"
    fn.write_table(net.sample(60, seed=0), table)
    renamed = {"cough": 'é;"y', "smoke": "p = q, r", "smoke=yes": f"p = q, r={HOSTILE[4]}"}
    lines = [[renamed.get(str(word), word) for word in words(name, model, table)] for name in OF_A_MODEL]
    in_json = [[*line, "--json"] for line in lines]
    there = processes(in_json, tmp_path / "printed", PYTHONIOENCODING="ascii", LC_ALL="C")
    for name, line, foreign in zip(OF_A_MODEL, lines, there, strict=True):
        assert (name, facts_of(*line) | {"seconds": 0}) == (name, foreign.facts | {"seconds": 0})
        if name.partition("-")[0] in ("sample", "predict", "impute", "select"):
            continue  # tables, where a quoted label may hold a line
        out = good(*line).out
        assert all(text.isprintable() for text in out.splitlines()), name
        assert "\x1b" not in out


@pytest.mark.parametrize(("name", "fact"), [("query", "given"), ("similar", "states"), ("sample", "columns")])
def test_numbers_and_truth_values_stay_what_they_are_in_json(tmp_path: Path, name: str, fact: str) -> None:
    variables = [fn.Variable("cough", [1, 2]), fn.Variable("smoke", [False, True])]
    net = fn.BayesianNetwork.from_tables(variables, {}, {"cough": [0, 1], "smoke": [0, 1]})
    model, table = saved(net, tmp_path), written(tmp_path / "t.csv", "cough,smoke\n2,true\n")
    line = [{"smoke=yes": "smoke=true"}.get(str(word), word) for word in words(name, model, table)]
    found = facts_of(*line, *(["--given", "cough=2"] if name == "query" else []))[fact]
    many = 5 if name == "sample" else 1
    values = [value if isinstance(value, list) else [value] for value in (found["cough"], found["smoke"])]
    assert repr(values) == repr([[2] * many, [True] * many])
