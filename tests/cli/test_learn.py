from __future__ import annotations

import math
import os
import pty
import select
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pytest

import fishernet as fn
from fishernet.compare import hold_out
from tests.cli.running import COMMAND, ENVIRONMENT, good, process, refused, run
from tests.tables import random_table


def test_json_says_what_the_library_says(csv: Path) -> None:
    facts = good("learn", csv, "--json", "--seed", 3, "--holdout", 0.3, "--score", "aic").facts
    table = fn.read_table(csv)
    training, held_out = hold_out(table, 0.3, 3)
    found = fn.learn.structure(training, score="aic")
    net = fn.learn.parameters(found.dag, training)
    assert (facts["rows"], facts["training_rows"], facts["held_out_rows"]) == (100, 70, 30)
    assert facts["variables"] == list(table.names)
    assert [tuple(arc) for arc in facts["arcs"]] == list(found.dag.edges)
    assert len(facts["arcs"]) > 0
    assert facts["score_value"] == found.score
    assert facts["local_scores"] == found.n_scores
    assert facts["steps"] == len(found.steps)
    assert facts["parameters"] == net.n_parameters
    assert facts["finished"] is True
    assert facts["held_out_log_likelihood_per_row"] == net.log_prob(held_out).mean()
    assert list(facts["seconds"]) == ["read", "learn", "fit", "score"]
    assert all(seconds >= 0 for seconds in facts["seconds"].values())


def test_text_says_the_same_facts(csv: Path) -> None:
    facts = good("learn", csv, "--json").facts
    text = good("learn", csv).out
    for parent, child in facts["arcs"]:
        assert f"{parent} -> {child}\n" in text
    assert "100 (80 to learn from, 20 held out)" in text
    assert f"{facts['score_value']:,.4f}" in text
    assert f"{facts['held_out_log_likelihood_per_row']:,.4f} per row" in text
    assert f"{facts['local_scores']} distinct local scores" in text


def test_the_same_command_prints_the_same_numbers_and_another_seed_others(csv: Path) -> None:
    def number(*words: object) -> float:
        return float(good("learn", csv, "--json", *words).facts["held_out_log_likelihood_per_row"])

    assert number() == number()
    assert number() != number("--seed", 1)


@pytest.mark.parametrize(("name", "read"), [("m.json", fn.load), ("m.json.gz", fn.load), ("m.bif", fn.read_bif)])
def test_the_saved_network_has_the_same_arcs_and_is_fitted_on_all_rows(csv: Path, name: str, read: object) -> None:
    path = csv.with_name(name)
    facts = good("learn", csv, "-o", path, "--json", "--smoothing", "0.5").facts
    net = read(path)  # type: ignore[operator]
    assert facts["model"] == str(path)
    assert [tuple(arc) for arc in facts["arcs"]] == list(net.dag.edges)
    assert net == fn.learn.parameters(net.dag, fn.read_table(csv), smoothing=0.5)
    assert net.n_rows == 100
    assert "parameters fitted again on all 100 rows" in good("learn", csv, "-o", path).out


def test_without_holdout_everything_is_learned_from_all_rows(csv: Path) -> None:
    facts = good("learn", csv, "--json", "--holdout", 0).facts
    assert facts["score_value"] == fn.learn.structure(fn.read_table(csv)).score
    assert facts["held_out_log_likelihood_per_row"] is None
    assert "no rows were held out" in good("learn", csv, "--holdout", 0).out


@pytest.mark.parametrize("smoothing", [["--smoothing", "snml"], ["--ess", "2.5"], ["--smoothing", "0.25"]])
def test_parameters_are_fitted_as_asked(csv: Path, model: Path, smoothing: list[str]) -> None:
    good("learn", csv, "-o", model, *smoothing)
    net = fn.load(model)
    word, value = smoothing
    fit: Any = {"ess": 2.5} if word == "--ess" else {"smoothing": "snml" if value == "snml" else 0.25}
    assert net == fn.learn.parameters(net.dag, fn.read_table(csv), **fit)


def test_rules_reach_the_search(csv: Path) -> None:
    def arcs(*words: str) -> list[list[str]]:
        return list(good("learn", csv, "--json", *words).facts["arcs"])

    assert ["age", "smoke"] in arcs("--require", "age,smoke")
    assert ["smoke", "age"] in arcs("--require", "smoke,age", "--require", "age,cough")
    assert arcs("--max-parents", "0") == []
    every = [f"{a},{b}" for a in ("age", "smoke", "cough") for b in ("age", "smoke", "cough") if a != b]
    assert arcs(*[word for arc in every for word in ("--forbid", arc)]) == []
    turned = arcs("--tiers", "cough;smoke,age")
    assert ["smoke", "cough"] not in turned
    assert ["cough", "smoke"] in turned


def test_searches_get_their_options(tmp_path: Path) -> None:
    table = fn.datasets.load("asia").sample(500, seed=1)
    path = tmp_path / "asia.csv"
    pyarrow.csv.write_csv(table.to_frame(), path)
    cases: list[tuple[list[str], dict[str, Any]]] = [
        (["--search", "order", "--restarts", "2", "--perturb", "3"], {"search": "order", "restarts": 2, "perturb": 3}),
        (["--search", "tabu", "--tenure", "3", "--patience", "9"], {"search": "tabu", "tenure": 3, "patience": 9}),
        (["--restarts", "3", "--candidates", "2"], {"restarts": 3, "candidates": 2}),
    ]
    for words, options in cases:
        facts = good("learn", path, "--json", "--holdout", "0", "--seed", "4", *words).facts
        found = fn.learn.structure(fn.read_table(path), seed=4, **options)
        assert [tuple(arc) for arc in facts["arcs"]] == list(found.dag.edges)
        assert facts["local_scores"] == found.n_scores


def test_exact_search_takes_no_more_memory_than_allowed(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    fn.write_table(random_table(3, 40, [2] * 22), path)
    message = refused("learn", path, "--search", "exact", "--score", "loglik", "--max-memory", 0.001)
    assert "an exact search over 22 variables" in message
    assert "allow fewer parents or forbid arcs" in message
    assert "max_memory" not in message
    assert "max_memory must be a number above 0, got 0" in refused("learn", path, "--max-memory", 0)
    assert "takes no max_memory" in refused("learn", path, "--max-memory", 1)


def test_numbers_need_bins(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("x,y\n" + "".join(f"{i},{i // 150}\n" for i in range(300)), encoding="utf-8")
    assert "'x' is continuous: cut it into bins to get states (option --bins)" in refused("learn", path)
    facts = good("learn", path, "--bins", "x=4", "-o", tmp_path / "m.json", "--json").facts
    assert len(facts["arcs"]) == 1
    schema = fn.load(tmp_path / "m.json").variables
    assert schema == fn.read_table(path, bins={"x": 4}).variables
    good("learn", path, "--bins", "3", "--binning", "equal-width", "-o", tmp_path / "m.json")
    schema = fn.load(tmp_path / "m.json").variables
    assert schema == fn.read_table(path, bins=3, binning="equal-width").variables


def test_missing_cells_are_refused_dropped_or_made_a_state(csv: Path) -> None:
    csv.write_text(csv.read_text(encoding="utf-8").replace("young,yes,yes", "young,,yes"), encoding="utf-8")
    message = refused("learn", csv)
    assert "'smoke' (10)" in message
    assert "(option --missing: error, drop, state)" in message
    assert good("learn", csv, "--missing", "drop", "--json").facts["rows"] == 90
    good("learn", csv, "--missing", "state", "-o", csv.with_name("m.json"))
    assert fn.load(csv.with_name("m.json")).variables[1].states == ("no", "yes", "missing")


def test_a_row_of_weight_n_is_n_rows(csv: Path) -> None:
    table = fn.read_table(csv)
    lines, counts = np.unique(np.stack(table.codes, axis=1), axis=0, return_counts=True)
    weighted = csv.with_name("weighted.parquet")
    fn.write_table(fn.Table.from_codes(lines, table.variables, weights=counts), weighted, weights="n")
    facts = good("learn", weighted, "--weights", "n", "--json", "--holdout", 0).facts
    plain = good("learn", csv, "--json", "--holdout", 0).facts
    assert facts["rows"] == 100
    assert facts["arcs"] == plain["arcs"]
    assert facts["score_value"] == pytest.approx(plain["score_value"], rel=1e-12)
    shared = good("learn", weighted, "--weights", "n", "--json").facts
    assert (shared["training_rows"], shared["held_out_rows"]) == (80, 20)
    assert math.isfinite(shared["held_out_log_likelihood_per_row"])


def test_a_constant_column_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "constant.csv"
    path.write_text("a,b\nx,1\nx,2\nx,1\nx,2\n", encoding="utf-8")
    facts = good("learn", path, "--json", "-o", tmp_path / "m.json").facts
    assert facts["variables"] == ["a", "b"]
    assert fn.load(tmp_path / "m.json").variables[0].states == ("x",)


def test_impossible_held_out_rows_are_said(tmp_path: Path) -> None:
    path = tmp_path / "once.csv"
    path.write_text("a\n" + "".join(f"s{i}\n" for i in range(10)), encoding="utf-8")  # every state occurs once
    ended = good("learn", path, "--smoothing", 0, "--json")
    assert ended.facts["held_out_log_likelihood_per_row"] is None  # -inf
    assert ended.facts["impossible_rows"] == 2
    assert "-inf per row (2 rows have probability 0" in good("learn", path, "--smoothing", 0).out


BAD_TABLES = {
    "missing": (None, "no such file"),
    "empty": ("", "empty"),
    "header": ("a,b\n", "no row"),
    "ragged": ("a,b\n1,2\n1\n", "line 3"),
    "doubled": ("a,a\n1,2\n", "'a'"),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_a_bad_table_is_one_sentence(tmp_path: Path, name: str) -> None:
    text, said = BAD_TABLES[name]
    path = tmp_path / f"{name}.csv"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    assert said in refused("learn", path, "-o", tmp_path / "model.json")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--score", "nope"], "'bic'"),
        (["--search", "nope"], "'hill-climb'"),
        (["--restarts", "-1"], "restarts must be"),
        (["--candidates", "0"], "candidates must be"),
        (["--search", "tabu", "--tenure", "0"], "tenure must be"),
        (["--patience", "3"], "search 'order' takes no patience; searches that do: 'tabu'"),
        (["--search", "hill-climb", "--perturb", "3"], "perturb is how much a restart changes"),
        (["--binning", "nope"], "'equal-width'"),
        (["--smoothing", "nope"], "snml"),
        (["--smoothing", "-1"], "from 0 on"),
        (["--smoothing", "nan"], "from 0 on"),
        (["--ess", "0"], "ess must be"),
        (["--max-parents", "-1"], "max_parents must be"),
        (["--max-seconds", "-1"], "max_seconds must"),
        (["--seed", "-1"], "seed must not"),
        (["--holdout", "1"], "below 1"),
        (["--holdout", "nan"], "below 1"),
        (["--holdout", "0.999"], "no rows to learn from"),
        (["--require", "age"], "PARENT,CHILD"),
        (["--require", "age,nope"], "'nope'"),
        (["--require", "age,smoke", "--require", "smoke,age"], "age -> smoke -> age"),
        (["--require", "age,smoke", "--forbid", "age,smoke"], "both required and forbidden"),
        (["--tiers", "nope.txt"], "'nope.txt'"),
        (["--bins", "x"], "--bins takes"),
        (["--bins", "nope=3"], "as bins asks"),
        (["--weights", "nope"], "as weights asks"),
        (["--weights", "age"], "weight must be a number"),
        (["-o", "model.txt"], ".json or .bif"),
        (["-o", "nowhere/model.json"], "no directory"),
        (["-o", "."], ".json or .bif"),
    ],
)
def test_a_bad_value_is_one_sentence(csv: Path, words: list[str], said: str) -> None:
    assert said in refused("learn", csv, *words)


def test_what_was_there_stays_when_learning_fails(csv: Path, model: Path) -> None:
    before = model.read_bytes()
    refused("learn", csv, "-o", model, "--score", "nope")
    assert model.read_bytes() == before


def test_an_output_that_cannot_be_is_said_before_any_work(csv: Path) -> None:
    assert ".json or .bif" in refused("learn", csv.with_name("nope.csv"), "-o", "model.txt")
    assert "no directory" in refused("learn", csv.with_name("nope.csv"), "-o", "nowhere/model.json")


def test_the_time_limit_is_said(csv: Path) -> None:
    ended = good("learn", csv, "--max-seconds", 0, "--json")
    assert ended.facts["finished"] is False
    assert ended.facts["arcs"] == []
    assert ended.facts["score_value"] is None
    assert "stopped by --max-seconds" in good("learn", csv, "--max-seconds", 0).out


def test_hostile_names_and_labels_go_through(tmp_path: Path) -> None:
    names = ['na"me, x', "é;y"]
    labels = ["a,b", 'q"uo', "new\nline", " sp", "\U0001f600", "\x1b[31m"]
    table = fn.Table.from_frame({names[0]: labels * 20, names[1]: [label[::-1] for label in labels * 20]})
    path, model = tmp_path / "hostile.csv", tmp_path / "hostile.json"
    fn.write_table(table, path)
    ended = good("learn", path, "-o", model, "--forbid", '"na""me, x",é;y', "--json")
    assert ended.facts["arcs"] == [[names[1], names[0]]]
    assert [set(variable.states) for variable in fn.load(model).variables] == [
        set(labels),
        {label[::-1] for label in labels},
    ]
    assert '\n                         é;y -> na"me, x\n' in good("learn", path, "--forbid", '"na""me, x",é;y').out
    assert "\x1b" not in good("score", model, path, "--terms").out
    assert good("score", model, path, "--json").facts["log_likelihood"] == fn.load(model).log_prob(table).sum()
    foreign = process("score", model, path, "--terms", PYTHONIOENCODING="ascii", LC_ALL="C")
    assert "\U0001f600" in foreign.out


# ------------------------------------------------------------------------------------------- Ctrl-C and terminals


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Return a table that takes some seconds to learn."""
    path = tmp_path / "large.parquet"
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (8000, 1200))
    codes[:, 1:] = np.where(rng.random((8000, 1199)) < 0.3, codes[:, 1:], codes[:, :-1])
    fn.write_table(fn.Table.from_codes(codes), path)
    return path


def interrupted(table: Path, model: Path) -> tuple[int, bytes, bytes]:
    """Press Ctrl-C once the progress bar says that learning goes on: status, stdout, terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "learn", str(table), "-o", str(model)], stdout=subprocess.PIPE, stderr=theirs, env=ENVIRONMENT
    ) as running:
        os.close(theirs)
        seen = b""
        while b"learning the structure" not in seen:
            assert select.select([ours], [], [], 60)[0], "no progress bar"
            seen += os.read(ours, 65536)
        running.send_signal(signal.SIGINT)
        try:
            while piece := os.read(ours, 65536):
                seen += piece
        except OSError:  # the terminal is gone with the process
            pass
        status = running.wait(60)
        assert running.stdout is not None
        out = running.stdout.read()
    os.close(ours)
    return status, out, seen


def test_ctrl_c_ends_it_and_writes_nothing(large: Path) -> None:
    model = large.with_name("never.json")
    status, out, terminal = interrupted(large, model)
    assert (status, out) == (130, b"")
    last = terminal.rpartition(b"fishernet: ")[2]
    assert last.startswith(b"interrupted while learning, with ")
    assert b"Traceback" not in terminal
    assert list(large.parent.iterdir()) == [large]


def test_no_progress_bar_when_nobody_looks(csv: Path) -> None:
    ended = process("learn", csv)
    assert (ended.status, ended.err) == (0, "")
    assert "\x1b" not in ended.out


def test_any_number_of_threads_gives_the_same(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    fn.write_table(random_table(5, 400, [3, 2, 4, 2, 3]), path)
    facts = []
    for threads, hashes in (("1", "1"), ("3", "2")):
        one = process("learn", path, "--json", FISHERNET_THREADS=threads, PYTHONHASHSEED=hashes).facts
        del one["seconds"]
        facts.append(one)
    assert facts[0] == facts[1]


def test_a_status_of_its_own_for_every_end(csv: Path) -> None:
    assert process("learn", csv).status == 0
    assert process("learn", csv.with_name("nope.csv")).status == 1
    assert process("learn").status == 2
    assert run("learn", csv, "--missing", "nope").status == 2
