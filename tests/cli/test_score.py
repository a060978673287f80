from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.cli.score import least_likely
from tests.cli.running import ASIA, coin, facts_of, good, refused, run, saved, written
from tests.networks import random_network, with_holes
from tests.reference.inference import log_evidence


@pytest.mark.parametrize("kind", ["model", "dependency"])
def test_json_text_and_rows_say_what_the_library_says(request: pytest.FixtureRequest, csv: Path, kind: str) -> None:
    path: Path = request.getfixturevalue(kind)
    net, table, pseudo = fn.load(path), fn.read_table(csv), "pseudo_" * (kind == "dependency")
    logs = net.pseudo_log_likelihood(table) if pseudo else net.log_prob(table)
    facts, text = facts_of("score", path, csv, "--rows"), good("score", path, csv).out
    assert (facts["rows"], facts["impossible_rows"]) == (100, 0)
    assert facts[f"{pseudo}log_likelihood"] == math.fsum(logs)
    assert facts[f"{pseudo}log_likelihood_per_row"] == math.fsum(logs) / len(logs)
    assert facts[f"row_{pseudo}log_likelihoods"] == logs.tolist()
    assert sum("likelihood" in fact for fact in facts) == 3
    word = f"{pseudo}log-likelihood".replace("_", "-")
    assert [line.split() for line in text.splitlines()[1:]] == [
        [word, f"{logs.sum():,.4f}"],
        [word, "per", "row", f"{logs.mean():,.4f}"],
    ]
    assert [float(line) for line in good("score", path, csv, "--rows").out.splitlines()] == logs.tolist()


def test_the_score_of_the_graph(model: Path, csv: Path) -> None:
    facts, value = (
        facts_of("score", model, csv, "--score", "aic"),
        fn.score(fn.load(model).dag, fn.read_table(csv), "aic"),
    )
    assert (facts["score"], facts["score_value"]) == ("aic", value)
    assert f"aic score of the graph  {value:,.4f}\n" in good("score", model, csv, "--score", "aic").out


@pytest.mark.parametrize("top", [1, 5, 7, 60, 1000])
@pytest.mark.parametrize("kind", ["bayesian", "dependency"])
def test_the_least_likely_cells_are_those_of_a_full_sort(monkeypatch: pytest.MonkeyPatch, top: int, kind: str) -> None:
    joint = random_network(3, [3, 2, 4, 2])
    net: Any = fn.DependencyNetwork.from_joint(joint) if kind == "dependency" else joint
    table = joint.sample(50, seed=1)
    terms = net.log_prob_terms(table)
    wanted = sorted((terms[row, v], row, v) for row in range(50) for v in range(4))[:top]
    for at_once in (2**22, 28, 1):  # in one block, in several, row by row
        monkeypatch.setattr("fishernet.cli.score.CELLS_AT_ONCE", at_once)
        found = least_likely(net, table, top)
        assert [(one["log_probability"], one["row"], net.names.index(one["variable"])) for one in found] == wanted
    for one in found:
        v = net.names.index(one["variable"])
        assert one["state"] == net.variables[v].states[table.codes[v][one["row"]]]
        assert list(one["given"]) == [net.names[p] for p in sorted(net.conditionals[v].parents)]
        for name, state in one["given"].items():
            p = net.names.index(name)
            assert state == net.variables[p].states[table.codes[p][one["row"]]]


def test_terms_tell_why_a_row_is_odd(tmp_path: Path) -> None:
    rain, wet = fn.Variable("rain", ["no", "yes"]), fn.Variable("wet", ["no", "yes"])
    copies: Any = {"rain": [0.8, 0.2], "wet": np.array([[0.999, 0.001], [0.1, 0.9]])}
    net = fn.BayesianNetwork.from_tables([rain, wet], {"wet": ["rain"]}, copies)
    table = written(tmp_path / "t.csv", "rain,wet\nno,no\nno,yes\nyes,yes\n")
    words = ["score", saved(net, tmp_path), table, "--terms", "--top", 1]
    cell = good(*words).out.splitlines()[2]
    assert cell.split() == ["1", f"{np.log(0.001):.4f}", *["wet", "=", "yes", "rain", "=", "no"]]
    assert facts_of(*words)["terms"] == [
        {"row": 1, "log_probability": np.log(0.001), "variable": "wet", "state": "yes", "given": {"rain": "no"}}
    ]


def test_impossible_rows_are_counted_and_null_in_json(tmp_path: Path) -> None:
    model, table = saved(coin(probabilities=[1.0, 0.0]), tmp_path), written(tmp_path / "t.csv", "a\nx\ny\nx\n")
    facts = facts_of("score", model, table, "--rows")
    assert (facts["log_likelihood"], facts["impossible_rows"]) == (None, 1)
    assert facts["row_log_likelihoods"] == [0.0, None, 0.0]
    out = good("score", model, table).out
    assert "impossible rows         1" in out
    assert "-inf" in out


@pytest.mark.parametrize("kind", ["model", "dependency"])
def test_weights_count_rows(request: pytest.FixtureRequest, csv: Path, kind: str) -> None:
    path: Path = request.getfixturevalue(kind)
    table = written(csv.with_name("w.csv"), "age,smoke,cough,n\nold,no,no,3\nold,yes,no,0\nyoung,no,no,2\n")
    net = fn.load(path)
    log_prob = net.log_prob if kind == "model" else net.pseudo_log_likelihood
    a, _, b = log_prob(fn.read_table(table, schema=net.variables))
    facts = facts_of("score", path, table, "--weights", "n")
    assert facts["rows"] == 5
    assert facts["pseudo_" * (kind == "dependency") + "log_likelihood"] == pytest.approx(3 * a + 2 * b, rel=1e-12)


def test_rows_with_missing_cells_can_be_left_out(model: Path, csv: Path) -> None:
    written(csv, csv.read_text(encoding="utf-8").replace("old,yes,no", "old,yes,"))
    assert facts_of("score", model, csv, "--missing", "drop")["rows"] == 95


KNOWN: list[dict[str, str]] = [
    {"age": "old", "smoke": "yes"},
    {},
    {"smoke": "no", "cough": "yes"},
    {"age": "young", "smoke": "no", "cough": "no"},
]


@pytest.fixture
def gaps(tmp_path: Path) -> Path:
    """Return a table of what is known of four rows."""
    lines = (",".join(row.get(name, "") for name in ("age", "smoke", "cough")) for row in KNOWN)
    return written(tmp_path / "gaps.csv", "age,smoke,cough\n" + "".join(f"{line}\n" for line in lines))


def test_of_rows_with_missing_cells_what_is_known_is_scored(model: Path, gaps: Path) -> None:
    net = fn.load(model)
    facts = facts_of("score", model, gaps, "--missing", "keep", "--rows")
    expected = [log_evidence(net, row) for row in KNOWN]
    assert facts["row_log_likelihoods"] == pytest.approx(expected, abs=1e-12)
    assert facts["log_likelihood"] == pytest.approx(sum(expected), rel=1e-12)
    assert facts["rows"] == 4


def test_odd_cells_of_rows_with_missing_cells_are_known_ones_given_known_ones(model: Path, gaps: Path) -> None:
    net = fn.load(model)
    terms = facts_of("score", model, gaps, "--missing", "keep", "--terms", "--top", 99)["terms"]
    assert sorted((term["row"], term["variable"]) for term in terms) == sorted(
        (place, name) for place, row in enumerate(KNOWN) for name in row
    )
    for term in terms:
        known, given = KNOWN[term["row"]], term["given"]
        assert term["state"] == known[term["variable"]]
        assert given.items() <= known.items()
        seen = log_evidence(net, given | {term["variable"]: term["state"]}) - log_evidence(net, given)
        assert term["log_probability"] == pytest.approx(seen, abs=1e-12)


@pytest.mark.parametrize("missing", ["em", "node-average"])
def test_folds_are_learned_from_rows_with_missing_cells(tmp_path: Path, missing: Any) -> None:
    rows = with_holes(ASIA, 300, 4, 0.1)
    fn.write_table(rows, tmp_path / "holes.csv")
    facts = facts_of("score", tmp_path / "holes.csv", "--folds", 3, "--missing", missing, "--rows")
    found = fn.learn.cross_validate(rows, folds=3, missing=missing, seed=0)
    assert facts["score"] == ("bic" if missing == "em" else "node-average")
    assert facts["row_log_likelihoods"] == pytest.approx(found.log_prob.tolist(), rel=1e-12)
    assert facts["held_out_log_likelihood_per_row"] == pytest.approx(found.mean, rel=1e-12)


CYCLE = """network u { }
variable a { type discrete [ 2 ] { x, y }; }
variable b { type discrete [ 2 ] { x, y }; }
probability ( a | b ) { (x) 0.5, 0.5; (y) 0.5, 0.5; }
probability ( b | a ) { (x) 0.5, 0.5; (y) 0.5, 0.5; }
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("NUMBER", "NaN", "NaN"),
        ("NUMBER", "0.9999", "sum"),
        ('"version": 2', '"version": 2000', "newer"),
        (None, '{"a": 1}', "no model file"),
        (None, CYCLE, "cycle: a -> b -> a"),
        (None, CYCLE[:100], "bad.bif"),
    ],
)
def test_a_damaged_model_is_one_sentence(model: Path, csv: Path, old: str | None, new: str, said: str) -> None:
    text = model.read_text(encoding="utf-8")
    number = repr(float(fn.load(model).conditionals[0].probabilities.flat[0]))
    bad = new if old is None else text.replace(old.replace("NUMBER", number), new, 1)
    assert bad != text
    path = written(model.with_name("bad.bif" if new.startswith("network") else "bad.json"), bad)
    message = refused("score", path, csv)
    assert path.name in message
    assert said in message


# ----------------------------------------------------------------------------------------------------------- in folds


@pytest.mark.parametrize(
    ("line", "options"),
    [
        (
            "--score aic --max-parents 1 --smoothing snml --seed 3 --forbid age,cough",
            {"score": "aic", "max_parents": 1, "smoothing": "snml", "seed": 3, "forbidden": [("age", "cough")]},
        ),
        (
            "--search tabu --tenure 2 --patience 4 --restarts 2 --perturb 3",
            {"search": "tabu", "tenure": 2, "patience": 4, "restarts": 2, "perturb": 3},
        ),
        ("--candidates 1 --ess 2", {"candidates": 1, "ess": 2}),
        ("--max-cells 4", {"max_cells": 4}),
        ("--search exact --max-memory 0.5", {"search": "exact", "max_memory": 5e8}),
        ("", {}),
    ],
)
def test_folds_are_those_of_the_library(csv: Path, line: str, options: dict[str, Any]) -> None:
    words = ["score", csv, "--folds", 4, *line.split()]
    facts, text = facts_of(*words, "--rows"), [row.split() for row in good(*words).out.splitlines()]
    found = fn.learn.cross_validate(fn.read_table(csv), **{"folds": 4, "seed": 0} | options)
    assert (facts["rows"], facts["seed"]) == (100, options.get("seed", 0))
    assert (facts["score"], facts["search"]) == (options.get("score", "bic"), options.get("search", "order"))
    assert facts["held_out_log_likelihood_per_row"] == found.mean
    assert facts["standard_error"] == found.standard_error
    assert facts["row_log_likelihoods"] == found.log_prob.tolist()
    assert facts["row_folds"] == found.fold.tolist()
    assert [float(row) for row in good(*words, "--rows").out.splitlines()] == found.log_prob.tolist()
    assert text[-3:] == [
        [],
        ["rows", "100"],
        [
            "held-out",
            "log-likelihood",
            f"{found.mean:.4f}",
            "per",
            "row,",
            "standard",
            "error",
            f"{found.standard_error:.4f}",
        ],
    ]
    for number, (fold, row) in enumerate(zip(facts["folds"], text[1:-3], strict=True)):
        assert (fold["fold"], fold["rows"], fold["arcs"]) == (number, 25, found.dags[number].n_edges)
        assert fold["held_out_log_likelihood_per_row"] == found.held_out[number]
        assert fold["score_value"] == found.scores[number]
        assert row[:4] == [str(number), "25", f"{found.held_out[number]:.4f}", str(found.dags[number].n_edges)]


def test_the_same_command_prints_the_same_folds_and_another_seed_others(csv: Path) -> None:
    one, same, other = (facts_of("score", csv, "--folds", 4, "--rows", "--seed", s)["row_folds"] for s in (0, 0, 1))
    assert one == same != other


def test_tables_are_read_as_learn_reads_them(tmp_path: Path) -> None:
    rows = "".join(f"{3 * i},{i % 3 or ''},{1 + i % 2}\n" for i in range(40))
    path = written(tmp_path / "numbers.csv", "size,kind,times\n" + rows)
    assert "'kind'" in refused("score", path, "--folds", 2, "--missing", "error")
    facts = facts_of("score", path, "--folds", 2, "--bins", "size=4", "--missing", "state", "--weights", "times")
    table = fn.read_table(path, bins={"size": 4}, missing="state", weights="times")
    assert facts["rows"] == 60
    assert facts["held_out_log_likelihood_per_row"] == fn.learn.cross_validate(table, folds=2, seed=0).mean


def test_impossible_rows_are_said(tmp_path: Path) -> None:
    path = written(tmp_path / "rare.csv", "a\n" + "x\n" * 9 + "rare\n")
    words = ["score", path, "--folds", 5, "--smoothing", 0]
    ended, facts = good(*words), facts_of(*words)
    assert "note: 1 of the held-out rows have probability 0" in ended.err
    assert "smoothing above 0 (option --smoothing)" in ended.err
    assert "impossible rows          1\n" in ended.out
    assert "-inf per row, standard error -" in ended.out
    assert (facts["held_out_log_likelihood_per_row"], facts["standard_error"]) == (None, None)
    assert sum(fold["held_out_log_likelihood_per_row"] is None for fold in facts["folds"]) == 1


def test_a_better_way_to_learn_scores_better(csv: Path) -> None:
    """The cough of these patients depends on their smoking, which networks without arcs cannot tell."""
    with_arcs, without = (facts_of("score", csv, "--folds", 5, "--max-parents", most) for most in (2, 0))
    assert all(fold["arcs"] == 0 for fold in without["folds"])
    assert with_arcs["held_out_log_likelihood_per_row"] - without["held_out_log_likelihood_per_row"] > 0.1
    assert math.isfinite(with_arcs["standard_error"])


@pytest.mark.parametrize(("n_files", "words"), [(1, []), (3, []), (0, ["--folds", 3]), (2, ["--folds", 3])])
def test_the_number_of_files_is_said(csv: Path, n_files: int, words: list[object]) -> None:
    assert "TABLE alone" in run("score", *[csv] * n_files, *words).err


BINS = ["(columns with bins: 'age'; compare only models with the same bins)", "columns with bins"]


def binned(tmp_path: Path) -> Path:
    """Forty ages, and a symptom of the older ones."""
    lines = ["age,cough", *(f"{20 + 1.5 * i},{'yes' if i % 7 > 3 or i > 30 else 'no'}" for i in range(40))]
    return written(tmp_path / "ages.csv", "\n".join(lines))


def test_likelihoods_of_binned_columns_are_called_that(tmp_path: Path) -> None:
    """With more bins every row is less probable: the numbers of two runs must not be compared."""
    path, model = binned(tmp_path), tmp_path / "m.json"
    shown = good("learn", path, "--bins", 4, "-o", model).out
    line = next(line for line in shown.splitlines() if line.startswith("held-out log-likelihood"))
    assert line.endswith(f" per row {BINS[0]}")
    assert f" per row {BINS[0]}" not in good("score", model, path, "--rows").out
    assert next(x for x in good("score", model, path).out.splitlines() if "per row" in x).endswith(BINS[0])
    assert f" {BINS[0]}" in good("score", path, "--folds", 4, "--bins", 3).out


def test_likelihoods_of_states_and_numbers_are_not(tmp_path: Path, model: Path, csv: Path) -> None:
    for words in (("learn", csv), ("score", model, csv), ("score", csv, "--folds", 3)):
        assert BINS[1] not in good(*words).out
    path = tmp_path / "numbers.csv"
    x = np.random.default_rng(1).normal(size=60)
    fn.write_table(fn.Table.from_frame({"a": x, "b": 2 * x + np.random.default_rng(2).normal(size=60)}), path)
    facts = facts_of("score", path, "--folds", 3)
    assert facts["score"] == "fractional"
    found = fn.learn.cross_validate(fn.read_table(path), folds=3, seed=0)
    assert facts["held_out_log_likelihood_per_row"] == pytest.approx(found.mean, rel=1e-12)
    assert BINS[1] not in good("score", path, "--folds", 3).out


def test_numbers_have_weights_too(tmp_path: Path) -> None:
    """Survey weights of a table of numbers are learned with and scored with."""
    random = np.random.default_rng(1)
    x = random.normal(size=80)
    path, learned = tmp_path / "numbers.csv", tmp_path / "m.json"
    fn.write_table(
        fn.Table.from_frame({"x": x, "y": x + random.normal(size=80), "w": random.gamma(2.0, size=80)}), path
    )
    good("learn", path, "--weights", "w", "-o", learned)
    net, rows = fn.load(learned), fn.read_table(path, weights="w")
    assert net.n_rows == pytest.approx(rows.total)
    per_row = facts_of("score", learned, path, "--weights", "w")["log_likelihood_per_row"]
    assert per_row == pytest.approx(np.average(net.log_prob(rows), weights=rows.weights))
    assert per_row != facts_of("score", learned, path)["log_likelihood_per_row"]
