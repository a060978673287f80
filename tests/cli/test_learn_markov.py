"""Graphs by tests of independence on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import fishernet as fn
from tests.cli.running import good, refused
from tests.cli.test_learn_gaussian import chain


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    path = tmp_path / "numbers.csv"
    chain(120).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["--test", "fisher-z"], {"test": "fisher-z"}),
        (
            ["--test", "fisher-z", "--alpha", "0.2", "--rule", "or", "--search", "inter-iamb"],
            {"test": "fisher-z", "alpha": 0.2, "rule": "or", "search": "inter-iamb"},
        ),
        (
            ["--k", "3", "--permutations", "40", "--scheme", "local", "--seed", "5"],
            {"k": 3, "permutations": 40, "scheme": "local", "seed": 5},
        ),
    ],
)
def test_json_says_what_the_library_says_of_numbers(numbers: Path, words: list[str], options: dict[str, Any]) -> None:
    facts = good("learn", numbers, "--model", "markov", "--json", *words).facts
    graph = fn.learn.markov_graph(chain(120), **{"seed": 0} | options)
    assert [tuple(edge) for edge in facts["edges"]] == list(graph.edges)
    assert len(graph.edges) > 0
    assert (facts["kind"], facts["rows"], facts["held_out_rows"]) == ("markov", 120, 0)
    for name, usual in (("test", "knn-mi"), ("alpha", 0.05), ("rule", "and"), ("search", "iamb")):
        assert facts[name] == options.get(name, usual)
    found = fn.learn.markov_blankets(chain(120), **{"seed": 0} | {n: v for n, v in options.items() if n != "rule"})
    assert facts["tests"] == found.n_tests


@pytest.mark.parametrize("test", ["g-squared", "chi-squared"])
def test_tests_on_counts_take_tables_of_states(csv: Path, test: str) -> None:
    facts = good("learn", csv, "--model", "markov", "--test", test, "--json").facts
    graph = fn.learn.markov_graph(fn.read_table(csv), test=test)
    assert [tuple(edge) for edge in facts["edges"]] == list(graph.edges)


def test_tests_on_counts_take_numbers_in_bins_and_weights(numbers: Path, csv: Path) -> None:
    facts = good("learn", numbers, "--model", "markov", "--test", "g-squared", "--bins", "3", "--json").facts
    graph = fn.learn.markov_graph(fn.read_table(numbers, bins=3), test="g-squared")
    assert [tuple(edge) for edge in facts["edges"]] == list(graph.edges)
    rows = pd.read_csv(csv)
    counted = rows.value_counts().rename("n").reset_index()
    counted.to_csv(csv, index=False)
    words = ["learn", csv, "--model", "markov", "--test", "g-squared", "--json"]
    graph = fn.learn.markov_graph(fn.Table.from_frame(rows), test="g-squared")
    assert good(*words, "--weights", "n").facts["rows"] == 100
    assert [tuple(edge) for edge in good(*words, "--weights", "n").facts["edges"]] == list(graph.edges)


def test_the_graph_is_saved_and_loaded(numbers: Path) -> None:
    path = numbers.with_name("g.json")
    words = ["learn", numbers, "--model", "markov", "--test", "fisher-z", "-o", path]
    text = good(*words).out
    graph = fn.load(path)
    assert graph == fn.learn.markov_graph(chain(120), test="fisher-z")
    assert all(f"{a} - {b}\n" in text for a, b in graph.edges)
    assert f"{path}: these edges\n" in text
    assert "fitted" not in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--test", "fisher"], "unknown test 'fisher'; there are 'knn-mi', 'fisher-z', 'g-squared', 'chi-squared'"),
        (["--rule", "hc"], "unknown rule 'hc'; there are 'and', 'or'"),
        (["--search", "tabu"], "unknown search 'tabu'; there are 'iamb', 'inter-iamb'"),
        (["--alpha", "0", "--test", "fisher-z"], "alpha must be strictly between 0 and 1"),
        (["--alpha", "1"], "alpha must be strictly between 0 and 1"),
        (["--k", "0"], "k must be an integer of at least 1"),
        (["--k", "119"], "120 rows are too few"),
        (["--permutations", "0"], "permutations must be a positive integer"),
        (["--scheme", "x"], "unknown scheme 'x'"),
        (["--k", "3", "--test", "fisher-z"], "--k is for --test knn-mi; it does not go with --test fisher-z"),
        (["--scheme", "local", "--test", "g-squared"], "--scheme is for --test knn-mi"),
        (["--bins", "3"], "--bins makes states of numbers; --test knn-mi takes them as they are"),
        (["--holdout", "0.1"], "--holdout is for a Bayesian network"),
        (["--no-prior"], "--no-prior is for a Gaussian Markov network"),
        (["-o", "g.bif"], "use .json"),
    ],
)
def test_what_makes_no_sense_is_refused(numbers: Path, words: list[str], message: str) -> None:
    assert message in refused("learn", numbers, "--model", "markov", *words)


def test_discrete_columns_are_not_for_nearest_neighbours(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    pd.DataFrame({"a": [0, 1] * 20, "b": range(40)}).to_csv(path, index=False)
    message = refused("learn", path, "--model", "markov")
    assert "'a' is discrete" in message
    assert "'g-squared'" in message
