"""Classifiers and trees on the command line."""

from __future__ import annotations

import csv as csv_module
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import fishernet as fn
from fishernet.compare import hold_out
from tests.cli.running import good, refused
from tests.tables import random_table

LEARN: dict[str, Callable[[fn.Table], fn.Dag]] = {
    "naive-bayes": lambda table: fn.learn.naive_bayes(table, "v3"),
    "tan": lambda table: fn.learn.tan(table, "v3"),
    "kdb": lambda table: fn.learn.kdb(table, "v3", 2),
    "chow-liu": fn.learn.chow_liu,
}
WORDS: dict[str, list[object]] = {
    "naive-bayes": ["--target", "v3"],
    "tan": ["--target", "v3"],
    "kdb": ["--target", "v3", "--k", 2],
    "chow-liu": [],
}
EVERY = pytest.mark.parametrize("kind", LEARN)


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    """Return a table of five variables."""
    path = tmp_path / "wide.csv"
    fn.write_table(random_table(5, 300, [2, 3, 2, 3, 4]), path)
    return path


@EVERY
def test_json_says_what_the_library_says(kind: str, wide: Path) -> None:
    facts = good("learn", wide, "--model", kind, *WORDS[kind], "--json", "--seed", 3).facts
    training, held_out = hold_out(fn.read_table(wide), 0.2, 3)
    dag = LEARN[kind](training)
    net = fn.learn.parameters(dag, training)
    assert facts["kind"] == kind
    assert (facts["rows"], facts["training_rows"], facts["held_out_rows"]) == (300, 240, 60)
    assert [tuple(arc) for arc in facts["arcs"]] == list(dag.edges)
    assert facts["parameters"] == net.n_parameters
    assert facts["held_out_log_likelihood_per_row"] == net.log_prob(held_out).mean()
    if kind == "chow-liu":
        assert "target" not in facts
        return
    assert facts["target"] == "v3"
    probabilities, truth = net.predict_proba(held_out, "v3"), held_out.column("v3")
    assert facts["held_out_accuracy"] == (probabilities.argmax(axis=1) == truth).mean()
    loss = -np.log(probabilities[np.arange(60), truth]).mean()
    assert facts["held_out_log_loss"] == pytest.approx(loss, rel=1e-12)


@EVERY
def test_text_says_the_same_facts(kind: str, wide: Path) -> None:
    words = ["learn", wide, "--model", kind, *WORDS[kind]]
    facts, text = good(*words, "--json").facts, good(*words).out
    for parent, child in facts["arcs"]:
        assert f"{parent} -> {child}\n" in text
    assert f"{facts['held_out_log_likelihood_per_row']:,.4f} per row" in text
    if kind != "chow-liu":
        assert f"accuracy {facts['held_out_accuracy']:.4f}" in text


@EVERY
@pytest.mark.parametrize(("name", "read"), [("m.json", fn.load), ("m.bif", fn.read_bif)])
def test_the_saved_network_is_fitted_on_all_rows(
    kind: str, name: str, read: Callable[[Path], fn.BayesianNetwork], wide: Path
) -> None:
    path = wide.with_name(name)
    words = ["--smoothing", "0.5", "--holdout", 0, "-o", path, "--json"]
    facts = good("learn", wide, "--model", kind, *WORDS[kind], *words).facts
    table = fn.read_table(wide)
    assert read(path) == fn.learn.parameters(LEARN[kind](table), table, smoothing=0.5)
    assert facts["held_out_log_likelihood_per_row"] is None
    assert facts.get("held_out_accuracy") is None


def test_kdb_takes_three_when_not_said(wide: Path) -> None:
    facts = good("learn", wide, "--model", "kdb", "--target", "v3", "--holdout", 0, "--json").facts
    assert [tuple(arc) for arc in facts["arcs"]] == list(fn.learn.kdb(fn.read_table(wide), "v3", 3).edges)


def test_a_learned_classifier_predicts_its_class(wide: Path) -> None:
    model = wide.with_name("m.json")
    good("learn", wide, "--model", "tan", "--target", "v3", "-o", model)
    ended = good("predict", model, wide, "--target", "v3")
    _, *rows = csv_module.reader(io.StringIO(ended.out))
    expected = fn.load(model).predict_proba(fn.read_table(wide), "v3")
    assert [[float(cell) for cell in row[1:]] for row in rows] == expected.tolist()


def test_impossible_rows_have_no_accuracy(tmp_path: Path) -> None:
    """Held out or not, the one row with a = z has a configuration that the other rows lack."""
    path = tmp_path / "once.csv"
    path.write_text("a,b,c\n" + "x,p,0\ny,q,1\n" * 40 + "z,p,0\n", encoding="utf-8")
    for seed in range(30):
        words = ["--model", "naive-bayes", "--target", "c", "--smoothing", 0, "--seed", seed, "--json"]
        facts = good("learn", path, *words).facts
        if facts["impossible_rows"]:
            assert facts["held_out_accuracy"] is None
            assert "accuracy" not in good("learn", path, *words[:-1]).out
            return
    pytest.fail("the row was never held out")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--model", "tan"], "--model tan needs --target COLUMN"),
        (["--model", "kdb", "--k", "2"], "--model kdb needs --target COLUMN"),
        (["--model", "tan", "--target", "nope"], "no column 'nope'"),
        (["--model", "kdb", "--target", "v3", "--k", "-1"], "k must be an integer of at least 0, got -1"),
        (["--model", "tan", "--target", "v3", "--k", "2"], "--k is for a k-dependence classifier (--model kdb)"),
        (["--model", "chow-liu", "--target", "v3"], "--target is for a naive Bayes classifier"),
        (["--target", "v3"], "it does not go with a Bayesian network (--model bn)"),
        (["--model", "tan", "--target", "v3", "--score", "aic"], "--score is for a Bayesian network (--model bn)"),
        (["--model", "tan", "--target", "v3", "--search", "hill-climb"], "--search is for a Bayesian network"),
        (["--model", "naive-bayes", "--target", "v3", "--require", "v3,v1"], "--require is for a Bayesian network"),
        (["--model", "tan", "--target", "v3", "--max-inputs", "2"], "--max-inputs is for a dependency network"),
    ],
)
def test_what_does_not_go_together_is_one_sentence(words: list[str], message: str, wide: Path) -> None:
    assert message in refused("learn", wide, *words)


def test_missing_cells_are_refused_or_a_state(wide: Path) -> None:
    wide.write_text(wide.read_text(encoding="utf-8") + "s0,,s0,s0,s0\n", encoding="utf-8")
    assert "'v1' (1)" in refused("learn", wide, "--model", "tan", "--target", "v3")
    assert good("learn", wide, "--model", "tan", "--target", "v3", "--missing", "state", "--json").facts["rows"] == 301
