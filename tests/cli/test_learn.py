"""What ``fishernet learn`` finds, for every kind but dependency networks, and when it is interrupted."""

from __future__ import annotations

import importlib.util
import math
import os
import pty
import re
import select
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fishernet as fn
from fishernet.learn import hold_out
from tests.cli.running import ASIA, COMMAND, ENVIRONMENT, chain, facts_of, good, refused, run, written
from tests.files.hostile import in_full
from tests.networks import with_holes
from tests.tables import random_table

Found = tuple[Any, dict[str, Any]]  # a graph, and what is known of it


def structure(**options: Any) -> Callable[[fn.Table], Found]:
    def find(table: fn.Table) -> Found:
        found = fn.learn.structure(table, **options)
        said = {"score": options["score"], "score_value": found.score, "local_scores": found.n_scores}
        return found.dag, said | {"steps": len(found.steps), "finished": found.finished}

    return find


def gaussian(**options: Any) -> Callable[[fn.Table], Found]:
    return lambda table: (fn.learn.gaussian_graph(table, **options), {"rule": "hc", "prior": True, **options})


def tree(learn: Callable[[fn.Table], fn.Dag], **facts: Any) -> Callable[[fn.Table], Found]:
    return lambda table: (learn(table), facts)


@dataclass(frozen=True)
class Kind:
    """How a kind of network is asked for, and what the library says of it."""

    words: str
    find: Callable[[fn.Table], Found]
    table: str = "wide"
    fit: Callable[..., Any] = fn.learn.parameters
    options: dict[str, Any] = field(default_factory=dict)


def by_gaussian(graph: Any, table: fn.Table) -> Any:
    return fn.learn.gaussian_network(table, graph)


KINDS = {
    "bn": Kind("--score aic", structure(score="aic")),
    "bn-snml": Kind(
        "--max-parents 1 --smoothing snml", structure(score="bic", max_parents=1), options={"smoothing": "snml"}
    ),
    "bn-ess": Kind("--score bdeu:3 --ess 2.5", structure(score="bdeu:3"), options={"ess": 2.5}),
    "bn-trees": Kind(
        "--score aic --conditionals tree",
        structure(score="aic"),
        options={"conditionals": "tree", "score": "aic"},
    ),
    "bn-merged": Kind(
        "--score bdeu:3 --conditionals Merged --ess 2",
        structure(score="bdeu:3"),
        options={"conditionals": "merged", "score": "bdeu:3", "ess": 2.0},
    ),
    "tan-merged": Kind(
        "--target v3 --conditionals merged",
        tree(lambda table: fn.learn.tan(table, "v3"), target="v3"),
        options={"conditionals": "merged"},
    ),
    "bn-cells": Kind("--max-cells 12", structure(score="bic", max_cells=12)),
    "bn-tabu": Kind(
        "--search tabu --tenure 3 --patience 9", structure(score="bic", search="tabu", tenure=3, patience=9)
    ),
    "bn-order": Kind("--restarts 2 --perturb 3", structure(score="bic", restarts=2, perturb=3, seed=3)),
    "bn-candidates": Kind("--restarts 3 --candidates 2", structure(score="bic", restarts=3, candidates=2, seed=3)),
    "naive-bayes": Kind("--target v3", tree(lambda table: fn.learn.naive_bayes(table, "v3"), target="v3")),
    "tan": Kind("--target v3", tree(lambda table: fn.learn.tan(table, "v3"), target="v3")),
    "kdb": Kind("--target v3", tree(lambda table: fn.learn.kdb(table, "v3", 3), target="v3")),
    "kdb-2": Kind("--target v3 --k 2", tree(lambda table: fn.learn.kdb(table, "v3", 2), target="v3")),
    "chow-liu": Kind("--smoothing 0.25", tree(fn.learn.chow_liu), options={"smoothing": 0.25}),
    "gaussian": Kind("", gaussian(), "numbers", by_gaussian),
    "gaussian-and": Kind("--rule and", gaussian(rule="and"), "numbers", by_gaussian),
    "gaussian-or": Kind("--rule or --no-prior", gaussian(rule="or", prior=False), "numbers", by_gaussian),
    "bn-fractional": Kind(
        "--score fractional --search tabu --forbid a,b",
        structure(score="fractional", search="tabu", forbidden=[("a", "b")]),
        "numbers",
    ),
}


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    """Return a table of five variables."""
    fn.write_table(random_table(5, 300, [2, 3, 2, 3, 4]), tmp_path / "wide.csv")
    return tmp_path / "wide.csv"


def words_of(name: str, request: pytest.FixtureRequest) -> tuple[Path, list[object]]:
    table: Path = request.getfixturevalue(KINDS[name].table)
    kind = name if name in ("naive-bayes", "chow-liu") else name.partition("-")[0]
    return table, ["learn", table, "--model", kind, *KINDS[name].words.split()]


@pytest.mark.parametrize("name", KINDS)
def test_json_and_text_say_what_the_library_says(name: str, request: pytest.FixtureRequest) -> None:
    kind, (path, words) = KINDS[name], words_of(name, request)
    words += ["--seed", 3, "--holdout", 0.3]
    facts, text = facts_of(*words), good(*words).out
    training, held_out = hold_out(fn.read_table(path), 0.3, seed=3)
    graph, said = kind.find(training)
    network = kind.fit(graph, training, **kind.options)
    assert (facts["rows"], facts["training_rows"], facts["held_out_rows"], facts["seed"]) == (300, 210, 90, 3)
    assert facts["variables"] == list(graph.names)
    assert [tuple(edge) for edge in facts["edges" if "edges" in facts else "arcs"]] == list(graph.edges)
    assert facts | said == facts
    assert facts["parameters"] == network.n_parameters
    held_out_mean = network.log_prob(held_out).mean()
    assert facts["held_out_log_likelihood_per_row"] == pytest.approx(held_out_mean, rel=1e-12)
    assert list(facts["seconds"]) == ["read", "learn", "fit", "score", "check"]
    assert all(seconds >= 0 for seconds in facts["seconds"].values())
    assert "300 (210 to learn from, 90 held out)" in text
    assert f"{held_out_mean:,.4f} per row" in text
    for one, other in graph.edges:
        assert f" {one} {'-' if 'edges' in facts else '->'} {other}" in text
    if "score_value" in said:
        assert f"{said['score_value']:,.4f} on the rows to learn from" in text
        assert f"{said['local_scores']} distinct local scores" in text
    if "target" in said:
        probabilities, truth = network.predict_proba(held_out, "v3"), held_out.column("v3")
        assert facts["held_out_accuracy"] == (probabilities.argmax(axis=1) == truth).mean()
        assert facts["held_out_log_loss"] == pytest.approx(
            -np.log(probabilities[np.arange(90), truth]).mean(), rel=1e-12
        )
        assert f"accuracy {facts['held_out_accuracy']:.4f}" in text
    if name.startswith("gaussian"):
        at = [(graph.names.index(a), graph.names.index(b)) for a, b in graph.edges]
        assert facts["partial_correlations"] == [network.partial_correlations[place] for place in at]
        assert all(f"partial correlation {r:.4f}" in text for r in facts["partial_correlations"])


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("ending", ["m.json", "m.json.gz", "m.bif"])
def test_the_saved_network_has_the_same_edges_and_is_fitted_on_all_rows(
    name: str, ending: str, request: pytest.FixtureRequest
) -> None:
    kind, (path, words) = KINDS[name], words_of(name, request)
    if kind.table == "numbers" and ending == "m.bif":
        return
    model = path.with_name(ending)
    facts, table = facts_of(*words, "-o", model), fn.read_table(path)
    network = (fn.read_bif if ending == "m.bif" else fn.load)(model)
    graph = getattr(network, "graph", None) or network.dag
    assert facts["model"] == str(model)
    assert [tuple(edge) for edge in facts["edges" if "edges" in facts else "arcs"]] == list(graph.edges)
    expected = kind.fit(graph, table, **kind.options)
    assert network == (in_full(expected) if ending == "m.bif" else expected)  # where rows cannot be shared
    assert "parameters fitted again on all 300 rows" in good(*words, "-o", model).out


@pytest.mark.parametrize("name", KINDS)
def test_without_holdout_everything_is_learned_from_all_rows(name: str, request: pytest.FixtureRequest) -> None:
    kind, (path, words) = KINDS[name], words_of(name, request)
    facts = facts_of(*words, "--holdout", 0, "--seed", 3)
    assert [tuple(edge) for edge in facts["edges" if "edges" in facts else "arcs"]] == list(
        kind.find(fn.read_table(path))[0].edges
    )
    assert facts["held_out_log_likelihood_per_row"] is None
    assert facts.get("held_out_accuracy") is None
    assert "no rows were held out" in good(*words, "--holdout", 0).out


@pytest.mark.parametrize(
    ("name", "ending"),
    [("bn", "png"), ("bn", "svg"), ("bn", "pdf"), ("tan", "png"), ("chow-liu", "pdf"), ("gaussian", "svg")],
)
def test_the_graph_that_was_learned_is_drawn(name: str, ending: str, request: pytest.FixtureRequest) -> None:
    path, words = words_of(name, request)
    plot, again, model = (path.with_name(file) for file in (f"graph.{ending}", f"again.{ending}", "m.json"))
    facts = facts_of(*words, "--plot", plot, "-o", model)
    assert facts["plot"] == str(plot)
    assert "plot" in facts["seconds"]
    fn.plot.write_graph(fn.load(model), again)
    assert plot.read_bytes() == again.read_bytes()
    assert f"drawn                    {plot}\n" in good(*words, "--plot", plot).out


def test_without_matplotlib_a_sentence_says_how_to_get_it(csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "matplotlib" else find(name))
    message = refused("learn", csv, "--plot", csv.with_name("graph.svg"))
    assert message == 'drawing needs matplotlib; pip install "fishernet[plot]" installs it'
    good("learn", csv)


def test_the_same_command_prints_the_same_numbers_and_another_seed_others(csv: Path) -> None:
    def number(*words: object) -> float:
        return float(facts_of("learn", csv, *words)["held_out_log_likelihood_per_row"])

    assert number() == number()
    assert number() != number("--seed", 1)


def test_rules_reach_the_search(csv: Path) -> None:
    def arcs(*words: str) -> list[list[str]]:
        return list(facts_of("learn", csv, *words)["arcs"])

    assert ["age", "smoke"] in arcs("--require", "age,smoke")
    assert ["smoke", "age"] in arcs("--require", "smoke,age", "--require", "age,cough")
    assert arcs("--max-parents", "0") == []
    every = [f"{a},{b}" for a in ("age", "smoke", "cough") for b in ("age", "smoke", "cough") if a != b]
    assert arcs(*[word for arc in every for word in ("--forbid", arc)]) == []
    turned = arcs("--tiers", "cough;smoke,age")
    assert ["smoke", "cough"] not in turned
    assert ["cough", "smoke"] in turned


def test_a_family_may_have_2_to_24_cells_unless_told(tmp_path: Path) -> None:
    """Three copies of a column of 300 states: a family of two has 90,000 cells, one of three 27,000,000."""
    copies = np.arange(600) % 300
    table = fn.Table.from_codes(np.stack([copies] * 3, axis=1))
    fn.write_table(table, tmp_path / "t.parquet")
    words = ["learn", tmp_path / "t.parquet", "--score", "loglik", "--holdout", 0, "--require"]
    for most, n_arcs in ((1e9, 2), (1e5, 1), (300, 0)):
        rules = ["--max-cells", f"{most:g}", "--max-parents", 2, "--tiers", "v0,v1;v2"]
        found = fn.learn.structure(table, score="loglik", max_cells=most, max_parents=2, tiers=[["v0", "v1"], ["v2"]])
        facts = facts_of(*words[:-1], *rules)
        assert [tuple(arc) for arc in facts["arcs"]] == list(found.dag.edges)
        assert max(len(parents) for parents in found.dag.parents) <= n_arcs
    both = ["v0,v2", "--require", "v1,v2"]
    assert "more than max_cells = 16777216" in refused(*words, *both)
    assert "(option --max-cells)" in refused(*words, *both)


def test_numbers_are_cut_into_bins(tmp_path: Path) -> None:
    path = written(tmp_path / "numbers.csv", "x,y\n" + "".join(f"{i},{i // 150}\n" for i in range(300)))
    for words, options in (
        (["x=4"], {"bins": {"x": 4}}),
        (["3", "--binning", "equal-width"], {"bins": 3, "binning": "equal-width"}),
    ):
        facts = facts_of("learn", path, "--bins", *words, "--continuous", "x", "-o", tmp_path / "m.json")
        assert len(facts["arcs"]) == 1
        assert fn.load(tmp_path / "m.json").variables == fn.read_table(path, continuous=["x"], **options).variables
    facts_of("learn", path, "--continuous", "x", "-o", tmp_path / "m.json")
    assert fn.load(tmp_path / "m.json").variables[0].is_continuous
    auto = fn.read_table(path, bins="auto", continuous=["x"]).variables[0]
    for of_states in (["--bins", "auto"], ["--score", "bdeu"], ["--search", "exact"]):
        facts_of("learn", path, "--continuous", "x", *of_states, "-o", tmp_path / "m.json")
        assert fn.load(tmp_path / "m.json").variables[0].cuts == auto.cuts
    good("learn", path, "--continuous", "x", "-o", tmp_path / "m.bif")  # a file of networks of states
    assert [variable.cardinality for variable in fn.load(tmp_path / "m.bif").variables] == [4, 2]


def test_missing_cells_are_dropped_or_made_a_state(csv: Path) -> None:
    written(csv, csv.read_text(encoding="utf-8").replace("young,yes,yes", "young,,yes"))
    assert facts_of("learn", csv, "--missing", "drop")["rows"] == 90
    good("learn", csv, "--missing", "state", "-o", csv.with_name("m.json"))
    assert fn.load(csv.with_name("m.json")).variables[1].states == ("no", "yes", "missing")


@pytest.fixture
def holes(tmp_path: Path) -> Path:
    """Return 400 rows of asia, of which a tenth of the cells is missing."""
    path = tmp_path / "holes.csv"
    fn.write_table(with_holes(ASIA, 400, 2, 0.1), path)
    return path


@pytest.mark.parametrize("missing", ["em", "node-average"])
def test_rows_with_missing_cells_are_learned_from(holes: Path, missing: Any) -> None:
    path = holes.with_name("m.json")
    words = ("learn", holes, "--missing", missing, "-o", path)
    ended, facts = good(*words), facts_of(*words)
    rows = fn.read_table(holes)
    training, held_out = fn.learn.hold_out(rows, 0.2, seed=0)
    found = fn.learn.structure(training, missing=missing, seed=0)
    net = fn.learn.parameters(found.dag, training)
    assert [tuple(arc) for arc in facts["arcs"]] == list(found.dag.edges)
    assert facts["score"] == ("bic" if missing == "em" else "node-average")
    assert (facts["missing"], facts["score_value"]) == (missing, pytest.approx(found.score, rel=1e-12))
    assert facts["missing_cells"] == rows.missing_counts()
    assert facts["held_out_log_likelihood_per_row"] == pytest.approx(net.log_prob(held_out).mean(), rel=1e-12)
    assert " per row, missing cells summed out\n" in ended.out
    saved = fn.load(path)
    again = fn.learn.parameters(found.dag, rows)
    assert saved.names == again.names
    np.testing.assert_allclose(saved.log_prob(rows), again.log_prob(rows), rtol=1e-12)
    assert {state for v in saved.variables for state in v.states} == {"no", "yes"}


@pytest.mark.parametrize("missing", ["em", "node-average"])
@pytest.mark.parametrize("model", ["chow-liu", "naive-bayes", "tan", "kdb"])
def test_trees_and_classifiers_are_learned_from_rows_with_missing_cells(holes: Path, model: Any, missing: Any) -> None:
    target = () if model == "chow-liu" else ("--target", "lung")
    path = holes.with_name("m.json")
    facts = facts_of("learn", holes, "--model", model, *target, "--missing", missing, "-o", path)
    rows = fn.read_table(holes)
    training, held_out = fn.learn.hold_out(rows, 0.2, seed=0)
    learn: Any = getattr(fn.learn, model.replace("-", "_"))
    dag = learn(training, *target[1:], missing=missing)
    assert [tuple(arc) for arc in facts["arcs"]] == list(dag.edges)
    assert facts["missing"] == missing
    net = fn.learn.parameters(dag, training)
    per_row = net.log_prob(held_out).mean()
    assert facts["held_out_log_likelihood_per_row"] == pytest.approx(per_row, rel=1e-9)
    assert fn.load(path) == fn.learn.parameters(dag, rows)
    if target:
        known = held_out.column("lung") < 2
        right = net.predict_proba(held_out, "lung").argmax(axis=1)[known] == held_out.column("lung")[known]
        assert facts["held_out_accuracy"] == pytest.approx(right.mean())


@pytest.mark.parametrize("missing", ["em", "node-average"])
def test_dependency_networks_are_learned_from_rows_with_missing_cells(holes: Path, missing: Any) -> None:
    path = holes.with_name("m.json")
    words = ("learn", holes, "--model", "dn", "--missing", missing, "-o", path)
    facts = facts_of(*words)
    rows = fn.read_table(holes)
    training, held_out = fn.learn.hold_out(rows, 0.2, seed=0)
    found = fn.learn.local_structure(training, missing=missing)
    assert list(facts["inputs"].values()) == [[rows.names[v] for v in of] for of in found.inputs]
    assert facts["score"] == ("bic" if missing == "em" else "node-average")
    complete = held_out.drop_missing()
    assert facts["held_out_complete_rows"] == complete.n_rows < held_out.n_rows
    dn = fn.learn.dependency_network(training, missing=missing)
    per_row = dn.pseudo_log_likelihood(complete).mean()
    assert facts["held_out_pseudo_log_likelihood_per_row"] == pytest.approx(per_row, rel=1e-9)
    assert f"of the {complete.n_rows} complete rows" in good(*words).out
    if missing == "node-average":
        for name, entropy in facts["entropies"].items():
            column = training.column(name)
            known = column[column < training.variables[training.names.index(name)].cardinality]
            shares = np.bincount(known) / len(known)
            assert entropy == pytest.approx(-(shares * np.log(shares)).sum(), rel=1e-9)


def test_a_way_to_learn_from_missing_cells_changes_nothing_where_none_are(csv: Path) -> None:
    plain = facts_of("learn", csv)
    for missing in ("em", "node-average"):
        facts = facts_of("learn", csv, "--missing", missing)
        assert facts | {"seconds": 0, "missing": None} == plain | {"seconds": 0}
        assert "summed out" not in good("learn", csv, "--missing", missing).out


def test_missing_cells_of_columns_that_are_cut_stay_missing(tmp_path: Path) -> None:
    dose = ["", *(str(k + 0.5) for k in range(59))]
    path = written(tmp_path / "t.csv", "dose,sick\n" + "".join(f"{d},{'ny'[k > 30]}\n" for k, d in enumerate(dose)))
    good("learn", path, "--bins", 2, "--missing", "em", "--holdout", 0, "-o", tmp_path / "m.json")
    net = fn.load(tmp_path / "m.json")
    assert (len(net.variables[0].states), net.edges) == (2, (("dose", "sick"),))


@pytest.mark.parametrize("kind", ["bn", "dn"])
def test_a_row_of_weight_n_is_n_rows(csv: Path, kind: str) -> None:
    table = fn.read_table(csv)
    lines, counts = np.unique(np.stack(table.codes, axis=1), axis=0, return_counts=True)
    weighted = csv.with_name("weighted.parquet")
    fn.write_table(fn.Table.from_codes(lines, table.variables, weights=counts), weighted, weights="n")
    words = ["learn", weighted, "--model", kind, "--weights", "n"]
    facts, plain = facts_of(*words, "--holdout", 0), facts_of("learn", csv, "--model", kind, "--holdout", 0)
    assert facts["rows"] == 100
    for fact in ("arcs", "inputs"):
        assert facts.get(fact) == plain.get(fact)
    for fact in {"score_value", "conditional_entropies"} & set(facts):
        assert facts[fact] == pytest.approx(plain[fact], rel=1e-12)
    shared = facts_of(*words)
    assert (shared["training_rows"], shared["held_out_rows"]) == (80, 20)
    assert any(fact.endswith("likelihood_per_row") and math.isfinite(value) for fact, value in shared.items() if value)


@pytest.mark.parametrize("kind", ["bn", "dn"])
def test_impossible_held_out_rows_are_said(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path / "once.csv", "a\n" + "".join(f"s{i}\n" for i in range(10)))  # every state occurs once
    words = ["learn", path, "--model", kind, "--smoothing", 0]
    facts = facts_of(*words)
    assert (
        facts["held_out_log_likelihood_per_row" if kind == "bn" else "held_out_pseudo_log_likelihood_per_row"] is None
    )
    assert facts["impossible_rows"] == 2
    assert "-inf per row (2 rows have probability 0" in good(*words).out


def test_impossible_rows_have_no_accuracy(tmp_path: Path) -> None:
    """Held out or not, the one row with a = z has a configuration that the other rows lack."""
    path = written(tmp_path / "once.csv", "a,b,c\n" + "x,p,0\ny,q,1\n" * 40 + "z,p,0\n")
    for seed in range(30):
        words = ["learn", path, "--model", "naive-bayes", "--target", "c", "--smoothing", 0, "--seed", seed]
        facts = facts_of(*words)
        if facts["impossible_rows"]:
            assert facts["held_out_accuracy"] is None
            assert "accuracy" not in good(*words).out
            return
    pytest.fail("the row was never held out")


def test_the_time_limit_is_said(csv: Path) -> None:
    facts = facts_of("learn", csv, "--max-seconds", 0)
    assert (facts["finished"], facts["arcs"], facts["score_value"]) == (False, [], None)
    assert "stopped by --max-seconds" in good("learn", csv, "--max-seconds", 0).out


# -------------------------------------------------------------------------------------- columns of numbers, and tests


def test_some_columns_can_be_chosen(numbers: Path, csv: Path) -> None:
    chain().assign(name="x").to_csv(numbers, index=False)
    words = ["learn", numbers, "--model", "gaussian"]
    assert refused(*words) == (
        "--model gaussian needs columns of numbers; 'name' holds text (row 0: 'x'); name the columns of numbers with "
        "--columns, or leave this one out with --exclude name"
    )
    assert facts_of(*words, "--columns", '"c, d",b')["variables"] == ["b", "c, d"]
    assert facts_of("learn", csv, "--columns", "cough,smoke")["variables"] == ["smoke", "cough"]


def test_rows_with_missing_numbers_teach_what_they_hold(numbers: Path) -> None:
    frame = chain()
    frame.loc[[4, 7], "b"] = np.nan
    frame.to_csv(numbers, index=False)
    assert refused("learn", numbers, "--model", "gaussian", "--missing", "error") == (
        "--model gaussian needs a table without missing cells; missing in 'b' (2); type --missing drop to leave out "
        "these rows when the table is read"
    )
    assert facts_of("learn", numbers, "--model", "gaussian")["rows"] == 300
    assert facts_of("learn", numbers)["score"] == "fractional"
    assert facts_of("learn", numbers, "--model", "gaussian", "--missing", "drop")["rows"] == 298


def test_fewer_rows_than_columns_without_the_prior_is_a_note(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    pd.DataFrame(np.random.default_rng(2).normal(size=(9, 12))).add_prefix("v").to_csv(path, index=False)
    ended = run("learn", path, "--model", "gaussian", "--no-prior", "--rule", "and", "--holdout", 0)
    assert ended.status == 0
    assert "note: " in ended.err
    assert "take the prior, or more rows (option --prior)" in ended.err


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("--test fisher-z", {"test": "fisher-z"}),
        (
            "--test fisher-z --alpha 0.2 --rule or --search inter-iamb",
            {"test": "fisher-z", "alpha": 0.2, "rule": "or", "search": "inter-iamb"},
        ),
        (
            "--k 3 --permutations 40 --scheme local --seed 5",
            {"k": 3, "permutations": 40, "scheme": "local", "seed": 5},
        ),
    ],
)
def test_graphs_by_tests_are_those_of_the_library(numbers: Path, line: str, options: dict[str, Any]) -> None:
    chain(120).to_csv(numbers, index=False)
    path = numbers.with_name("g.json")
    words = ["learn", numbers, "--model", "markov", *line.split(), "-o", path, "--plot", path.with_name("g.svg")]
    facts, text = facts_of(*words), good(*words).out
    found = fn.learn.markov_blankets(chain(120), **{"seed": 0} | {n: v for n, v in options.items() if n != "rule"})
    graph = found.graph(options.get("rule", "and"))
    assert [tuple(edge) for edge in facts["edges"]] == list(graph.edges)
    assert len(graph.edges) > 0
    assert (facts["kind"], facts["rows"], facts["held_out_rows"]) == ("markov", 120, 0)
    for name, usual in (("test", "knn-mi"), ("alpha", 0.05), ("rule", "and"), ("search", "iamb")):
        assert facts[name] == options.get(name, usual)
    assert facts["tests"] == found.n_tests
    assert fn.load(path) == graph == fn.learn.markov_graph(chain(120), **{"seed": 0} | options)
    assert path.with_name("g.svg").stat().st_size > 1000
    assert all(f"{a} - {b}\n" in text for a, b in graph.edges)
    assert f"{path}: these edges\n" in text
    assert "fitted" not in text


def test_a_graph_by_tests_is_limited_in_rows_and_in_time(numbers: Path) -> None:
    chain(120).to_csv(numbers, index=False)
    words = ["learn", numbers, "--model", "markov", "--test", "fisher-z"]
    some = fn.learn.markov_graph(chain(120), test="fisher-z", max_rows=30, seed=4)
    assert [tuple(edge) for edge in facts_of(*words, "--max-rows", 30, "--seed", 4)["edges"]] == list(some.edges)
    ended = good(*words, "--max-seconds", 0, "--json")
    assert ended.facts["unfinished"] == ended.facts["variables"]
    assert ended.facts["edges"] == []
    assert "not done" in ended.err
    assert "(option --max-seconds)" in ended.err
    assert "unfinished" not in facts_of(*words)


@pytest.mark.parametrize("test", ["g-squared", "chi-squared"])
def test_tests_on_counts_take_tables_of_states_weights_and_bins(csv: Path, numbers: Path, test: Any) -> None:
    def edges(path: Path, *words: object) -> list[tuple[str, ...]]:
        return [tuple(edge) for edge in facts_of("learn", path, "--model", "markov", "--test", test, *words)["edges"]]

    graph = fn.learn.markov_graph(fn.read_table(csv), test=test)
    assert edges(csv) == list(graph.edges)
    pd.read_csv(csv).value_counts().rename("n").reset_index().to_csv(csv, index=False)
    assert edges(csv, "--weights", "n") == list(graph.edges)
    binned = fn.learn.markov_graph(fn.read_table(numbers, bins=3), test=test)
    assert edges(numbers, "--bins", 3) == list(binned.edges)


# ------------------------------------------------------------------------------------------------------------- Ctrl-C


def interrupted(table: Path, model: Path) -> tuple[int, bytes, bytes]:
    """Press Ctrl-C once the progress bar says that learning goes on: status, stdout, terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "learn", str(table), "-o", str(model)], stdout=subprocess.PIPE, stderr=theirs, env=ENVIRONMENT
    ) as running:
        os.close(theirs)
        seen = b""
        while b"learning the structure" not in seen:
            assert select.select([ours], [], [], 600)[0], "no progress bar"
            seen += os.read(ours, 65536)
        running.send_signal(signal.SIGINT)
        try:
            while piece := os.read(ours, 65536):
                seen += piece
        except OSError:  # the terminal is gone with the process
            pass
        status = running.wait()
        assert running.stdout is not None
        out = running.stdout.read()
    os.close(ours)
    return status, out, seen


def test_ctrl_c_ends_it_and_writes_nothing(tmp_path: Path) -> None:
    large, rng = tmp_path / "large.parquet", np.random.default_rng(0)
    codes = rng.integers(0, 3, (8000, 1200))
    codes[:, 1:] = np.where(rng.random((8000, 1199)) < 0.3, codes[:, 1:], codes[:, :-1])
    fn.write_table(fn.Table.from_codes(codes), large)  # takes some seconds to learn
    status, out, terminal = interrupted(large, tmp_path / "never.json")
    assert (status, out) == (130, b"")
    assert terminal.rpartition(b"fishernet: ")[2].startswith(b"interrupted while learning, with ")
    assert b"Traceback" not in terminal
    assert list(tmp_path.iterdir()) == [large]


@pytest.mark.parametrize(
    ("typed", "here"),
    [
        ("--model NB --target cough", "--model naive-bayes --target cough"),
        ("--model Naive_Bayes --target cough", "--model naive-bayes --target cough"),
        ("--score BIC --search Hill_Climb", "--score bic --search hill-climb"),
        ("--score BDeu:10", "--score bdeu:10"),
        ("--model DN --search TABU", "--model dn --search tabu"),
        ("--model markov --test G_Squared --rule OR", "--model markov --test g-squared --rule or"),
    ],
)
def test_the_same_words_as_in_python_however_they_are_spelled(csv: Path, typed: str, here: str) -> None:
    one, other = (facts_of("learn", csv, *words.split()) for words in (typed, here))
    assert {**one, "seconds": None} == {**other, "seconds": None}


def test_scores_and_searches_of_others_are_answered_with_the_option(csv: Path) -> None:
    assert "the score is 'fractional' (option --score)" in refused("learn", csv, "--score", "bge")
    assert "fn.learn.markov_graph" in refused("learn", csv, "--search", "pc")


# ------------------------------------------------------------------------------------ what was decided about columns


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Return a table with an id, ages, holes, and more columns of one kind than a line names."""
    wards = "".join(f",w{i}" for i in range(9))
    rows = [f"p{i},{i % 71},{'' if i % 10 == 0 else i % 2},{i / 7:.2f}" + f",{'ab'[i % 2]}" * 9 for i in range(200)]
    return written(tmp_path / "people.csv", "\n".join([f"id,age,sick,dose{wards}", *rows]) + "\n")


def test_what_was_decided_about_the_columns_is_said_in_short(people: Path) -> None:
    words = ("learn", people, "--bins", "age=3", "--exclude", "dose", "--missing", "state", "--holdout", 0)
    lines = [" ".join(line.split()) for line in good(*words).out.splitlines()]
    start = lines.index(f"variables 11 (fishernet describe {people} shows each column)")
    names = [f"w{i}" for i in range(9)]
    assert lines[start + 1 : start + 4] == [
        f"categorical 10: sick, {', '.join(names[:5])}, ... 4 more",
        "binned 1: age",
        "left out 1: id",
    ]
    facts = facts_of(*words)
    assert facts["columns"] == {"categorical": ["sick", *names], "binned": ["age"], "left out": ["id"]}
    assert facts["missing_cells"] == {}


def test_a_graph_of_numbers_says_so_too(people: Path) -> None:
    words = ("learn", people, "--model", "gaussian", "--columns", "age,dose")
    assert facts_of(*words)["columns"] == {"continuous": ["age", "dose"]}
    assert "  continuous             2: age, dose" in good(*words).out.splitlines()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--model", "pc"], "by tests of independence"),
        (["--model", "MMHC"], "candidates=10"),
        (["--model", "hc"], "it is called 'hill-climb'"),
        (["--search", "k2search"], "the nearest is 'order'"),
        (["--search", "nb"], "naive_bayes"),
        (["--score", "bge"], "'fractional'"),
        (["--score", "bic-g"], "'fractional'"),
    ],
)
def test_words_of_other_libraries_are_answered(csv: Path, words: list[str], said: str) -> None:
    ended = run("learn", csv, *words)
    assert ended.status in (1, 2)
    assert said in " ".join(ended.err.split())


def test_words_may_be_in_capitals(csv: Path) -> None:
    assert facts_of("learn", csv, "--model", "Naive_Bayes", "--target", "cough", "--missing", "DROP")["arcs"]


def test_answers_on_a_scale_that_depend_beyond_the_arcs_are_named_with_what_to_type(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    first, second = (np.clip(np.rint(random.normal(3, 1, 300)), 1, 5) for _ in range(2))
    answer = np.clip(np.rint(0.6 * first + 0.5 * second + random.normal(0, 0.8, 300)), 1, 5)
    weight = np.where(random.random(300) < 0.5, 0.6, 1.4)
    frame = pd.DataFrame({"first": first, "second": second, "answer": answer}).astype(int).assign(weight=weight)
    frame.to_csv(tmp_path / "answers.csv", index=False)
    words = ["learn", tmp_path / "answers.csv", "--weights", "weight", "--seed", 1]
    out = good(*words).out
    assert re.search(r"rows +\d+\.\d{1,3} \(\d+\.\d{1,3} to learn from", out)
    remedy = re.search(r"depend on one another: .*; (--continuous \S+) takes these as numbers", out)
    assert remedy, out
    later = good(*words, *remedy[1].split()).out
    assert "takes these as numbers" not in later
    assert {"first", "second"} <= set(re.findall(r"(\w+) -> answer", later) + re.findall(r"answer -> (\w+)", later))
