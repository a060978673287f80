from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import fishernet as fn
from tests.cli.running import good, refused, run


def test_json_says_what_the_library_says(csv: Path) -> None:
    words = [
        "--folds",
        4,
        "--score",
        "aic",
        "--max-parents",
        1,
        "--smoothing",
        "snml",
        "--seed",
        3,
        "--forbid",
        "age,cough",
    ]
    facts = good("score", csv, *words, "--json", "--rows").facts
    found = fn.compare.cross_validate(
        fn.read_table(csv),
        folds=4,
        score="aic",
        max_parents=1,
        smoothing="snml",
        seed=3,
        forbidden=[("age", "cough")],
    )
    assert facts["rows"] == 100
    assert (facts["score"], facts["search"], facts["seed"]) == ("aic", "order", 3)
    assert facts["held_out_log_likelihood_per_row"] == found.mean
    assert facts["standard_error"] == found.standard_error
    assert facts["row_log_likelihoods"] == found.log_prob.tolist()
    assert facts["row_folds"] == found.fold.tolist()
    for number, fold in enumerate(facts["folds"]):
        assert (fold["fold"], fold["rows"], fold["arcs"]) == (number, 25, found.dags[number].n_edges)
        assert fold["held_out_log_likelihood_per_row"] == found.held_out[number]
        assert fold["score_value"] == found.scores[number]


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (
            ["--search", "tabu", "--tenure", 2, "--patience", 4, "--restarts", 2, "--perturb", 3],
            {"search": "tabu", "tenure": 2, "patience": 4, "restarts": 2, "perturb": 3},
        ),
        (["--candidates", 1], {"candidates": 1}),
        (["--search", "exact", "--max-memory", 0.5], {"search": "exact", "max_memory": 5e8}),
    ],
)
def test_searches_get_their_options(csv: Path, words: list[object], options: dict[str, Any]) -> None:
    facts = good("score", csv, "--folds", 3, *words, "--json").facts
    found = fn.compare.cross_validate(fn.read_table(csv), folds=3, seed=0, **options)
    assert facts["held_out_log_likelihood_per_row"] == found.mean
    assert [fold["arcs"] for fold in facts["folds"]] == [dag.n_edges for dag in found.dags]


def test_text_says_the_same(csv: Path) -> None:
    found = fn.compare.cross_validate(fn.read_table(csv), folds=4, seed=0)
    lines = [line.split() for line in good("score", csv, "--folds", 4).out.splitlines()]
    assert lines[0] == ["rows", "100"]
    assert lines[1][2:] == [f"{found.mean:.4f}", "per", "row,", "standard", "error", f"{found.standard_error:.4f}"]
    assert lines[2] == []
    assert [line[:4] for line in lines[4:]] == [
        [str(part), "25", f"{found.held_out[part]:.4f}", str(found.dags[part].n_edges)] for part in range(4)
    ]


def test_rows_are_one_number_a_line_and_nothing_else(csv: Path, tmp_path: Path) -> None:
    found = fn.compare.cross_validate(fn.read_table(csv), folds=4, seed=0)
    out = good("score", csv, "--folds", 4, "--rows").out
    assert [float(line) for line in out.splitlines()] == found.log_prob.tolist()
    assert good("score", csv, "--folds", 4, "--rows", "-o", tmp_path / "rows.txt").out == ""
    assert (tmp_path / "rows.txt").read_text(encoding="utf-8") == out


def test_the_same_command_prints_the_same_folds_and_another_seed_others(csv: Path) -> None:
    one, same, other = (
        good("score", csv, "--folds", 4, "--json", "--rows", "--seed", s).facts["row_folds"] for s in (0, 0, 1)
    )
    assert one == same == good("score", csv, "--folds", 4, "--json", "--rows").facts["row_folds"]
    assert other != one


def test_tables_are_read_as_learn_reads_them(csv: Path) -> None:
    path = csv.with_name("numbers.csv")
    rows = "".join(f"{i},{i % 3 or ''},{1 + i % 2}\n" for i in range(40))
    path.write_text("size,kind,times\n" + rows, encoding="utf-8")
    assert "'kind'" in refused("score", path, "--folds", 2)
    words = ["--bins", "size=4", "--missing", "state", "--weights", "times", "--json"]
    facts = good("score", path, "--folds", 2, *words).facts
    table = fn.read_table(path, bins={"size": 4}, missing="state", weights="times")
    assert facts["rows"] == 60
    assert facts["held_out_log_likelihood_per_row"] == fn.compare.cross_validate(table, folds=2, seed=0).mean


def test_impossible_rows_are_said(csv: Path) -> None:
    path = csv.with_name("rare.csv")
    path.write_text("a\n" + "x\n" * 9 + "rare\n", encoding="utf-8")
    ended = run("score", path, "--folds", 5, "--smoothing", 0)
    assert ended.status == 0
    assert "note: 1 of the held-out rows have probability 0" in ended.err
    assert "smoothing above 0 (option --smoothing)" in ended.err
    assert "impossible rows          1\n" in ended.out
    assert "-inf per row, standard error -" in ended.out
    facts = run("score", path, "--folds", 5, "--smoothing", 0, "--json").facts
    assert facts["held_out_log_likelihood_per_row"] is None
    assert facts["standard_error"] is None
    assert sum(fold["held_out_log_likelihood_per_row"] is None for fold in facts["folds"]) == 1


def test_a_better_way_to_learn_scores_better(csv: Path) -> None:
    """The cough of these patients depends on their smoking, which networks without arcs cannot tell."""
    with_arcs, without = (good("score", csv, "--folds", 5, "--max-parents", most, "--json").facts for most in (2, 0))
    assert all(fold["arcs"] == 0 for fold in without["folds"])
    gain = with_arcs["held_out_log_likelihood_per_row"] - without["held_out_log_likelihood_per_row"]
    assert gain > 0.1
    assert math.isfinite(with_arcs["standard_error"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--folds", 1], "from 2 to 100"),
        (["--folds", 101], "from 2 to 100"),
        (["--folds", 3, "--score", "nope"], "unknown score 'nope'"),
        (["--folds", 3, "--search", "nope"], "unknown search 'nope'"),
        (["--folds", 3, "--smoothing", "-1"], "smoothing must be a number"),
        (["--folds", 3, "--ess", "-1"], "ess must be a positive number"),
        (["--folds", 3, "--seed", "-1"], "seed must not be negative"),
        (["--folds", 3, "--patience", 2], "takes no patience"),
        (["--folds", 3, "--max-memory", 0], "max_memory must be a number above 0"),
        (["--folds", 3, "--terms"], "--terms is about one model"),
        (["--folds", 3, "--require", "age,age"], "to itself"),
        (["--folds", 3, "-o", "nowhere/x.txt"], "no directory"),
    ],
)
def test_a_bad_value_is_one_sentence(csv: Path, words: list[object], said: str) -> None:
    assert said in refused("score", csv, *words)


@pytest.mark.parametrize(
    "words",
    [
        ["--seed", 0],
        ["--search", "hill-climb"],
        ["--max-parents", 0],
        ["--smoothing", 1],
        ["--ess", 1],
        ["--max-seconds", 1],
        ["--candidates", 2],
        ["--restarts", 1],
        ["--perturb", 1],
        ["--tenure", 1],
        ["--patience", 1],
        ["--max-memory", 1],
        ["--require", "age,cough"],
        ["--forbid", "age,cough"],
        ["--tiers", "age;cough"],
        ["--bins", 3],
    ],
)
def test_what_is_for_learning_needs_folds(model: Path, csv: Path, words: list[object]) -> None:
    assert refused("score", model, csv, *words).startswith(f"{words[0]} goes with --folds; without it")


@pytest.mark.parametrize(("n_files", "words"), [(0, []), (1, []), (3, []), (0, ["--folds", 3]), (2, ["--folds", 3])])
def test_files_that_make_no_sense_are_status_2(csv: Path, n_files: int, words: list[object]) -> None:
    ended = run("score", *[csv] * n_files, *words)
    assert (ended.status, ended.out) == (2, "")
    assert "TABLE alone" in ended.err
