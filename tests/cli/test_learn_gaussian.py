"""Gaussian networks on the command line, from columns of numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fishernet as fn
from fishernet.compare import hold_out
from tests.cli.running import good, refused, run


def chain(n: int = 300) -> pd.DataFrame:
    """Return numbers of which each depends on the one before, and one that depends on nothing."""
    noise = np.random.default_rng(1).normal(size=(n, 4))
    walk = noise[:, :3].cumsum(axis=1)
    return pd.DataFrame({"a": walk[:, 0], "b": walk[:, 1], "c, d": 10 * walk[:, 2] + 3, "e": noise[:, 3]})


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    path = tmp_path / "numbers.csv"
    chain().to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], {}),
        (["--rule", "and"], {"rule": "and"}),
        (["--rule", "or", "--no-prior"], {"rule": "or", "prior": False}),
        (["--prior"], {"prior": True}),
    ],
)
def test_json_says_what_the_library_says(numbers: Path, words: list[str], options: dict[str, Any]) -> None:
    facts = good("learn", numbers, "--model", "gaussian", "--json", "--seed", 3, "--holdout", 0.3, *words).facts
    training, held_out = hold_out(fn.read_table(numbers), 0.3, 3)
    graph = fn.learn.gaussian_graph(training, **options)
    net = fn.learn.gaussian_network(training, graph)
    assert facts["kind"] == "gaussian"
    assert (facts["rows"], facts["training_rows"], facts["held_out_rows"]) == (300, 210, 90)
    assert [tuple(edge) for edge in facts["edges"]] == list(graph.edges)
    assert {("a", "b"), ("b", "c, d")} <= set(graph.edges)
    known = net.partial_correlations
    at = [(graph.names.index(a), graph.names.index(b)) for a, b in graph.edges]
    assert facts["partial_correlations"] == [known[place] for place in at]
    assert facts["parameters"] == net.n_parameters
    assert (facts["rule"], facts["prior"]) == (options.get("rule", "hc"), options.get("prior", True))
    assert facts["held_out_log_likelihood_per_row"] == net.log_prob(held_out).mean()


def test_text_says_the_same_facts(numbers: Path) -> None:
    facts, text = (good("learn", numbers, "--model", "gaussian", *more) for more in (["--json"], []))
    for (a, b), r in zip(facts.facts["edges"], facts.facts["partial_correlations"], strict=True):
        assert any(
            line.split() == [*f"{a} - {b} partial correlation {r:.4f}".split()] for line in text.out.splitlines()
        )
    assert "300 (240 to learn from, 60 held out)" in text.out
    assert f"{facts.facts['held_out_log_likelihood_per_row']:,.4f} per row" in text.out


def test_the_saved_network_has_the_same_edges_and_is_fitted_on_all_rows(numbers: Path) -> None:
    path = numbers.with_name("m.json")
    facts = good("learn", numbers, "--model", "gaussian", "-o", path, "--json").facts
    net = fn.load(path)
    assert isinstance(net, fn.GaussianMarkovNetwork)
    assert [tuple(edge) for edge in facts["edges"]] == list(net.graph.edges)
    assert net == fn.learn.gaussian_network(chain(), net.graph)
    assert (
        "these edges, parameters fitted again on all 300 rows"
        in good("learn", numbers, "--model", "gaussian", "-o", path).out
    )


@pytest.mark.parametrize("ending", ["csv.gz", "tsv", "parquet", "arrow", "arff"])
def test_every_format_gives_the_same_network(numbers: Path, ending: str) -> None:
    path = numbers.with_name(f"other.{ending}")
    frame = chain()
    if ending == "parquet":
        frame.to_parquet(path)
    elif ending == "arrow":
        frame.to_feather(path)
    elif ending == "arff":
        names = "".join(f"@attribute '{name}' numeric\n" for name in frame.columns)
        rows = "".join(",".join(map(repr, row)) + "\n" for row in frame.to_numpy().tolist())
        path.write_text(f"@relation r\n{names}@data\n{rows}", encoding="utf-8")
    else:
        frame.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    ours, theirs = (good("learn", p, "--model", "gaussian", "--json").facts for p in (path, numbers))
    for name in ("edges", "partial_correlations", "held_out_log_likelihood_per_row"):
        assert ours[name] == theirs[name]


def test_some_columns_can_be_chosen(numbers: Path) -> None:
    frame = chain()
    frame["name"] = "x"
    frame.to_csv(numbers, index=False)
    message = refused("learn", numbers, "--model", "gaussian")
    assert message == (
        "column 'name', row 0: numbers are needed, and the label 'x' is none; leave the column out (--columns names "
        "those to read)"
    )
    facts = good("learn", numbers, "--model", "gaussian", "--json", "--columns", '"c, d",b').facts
    assert facts["variables"] == ["b", "c, d"]
    assert "no column 'z', as columns asks" in refused("learn", numbers, "--model", "gaussian", "--columns", "a,z")


def test_columns_can_be_chosen_for_tables_too(csv: Path) -> None:
    assert good("learn", csv, "--columns", "cough,smoke", "--json").facts["variables"] == ["smoke", "cough"]


def test_missing_cells_are_refused_or_their_rows_left_out(numbers: Path) -> None:
    frame = chain()
    frame.loc[[4, 7], "b"] = np.nan
    frame.to_csv(numbers, index=False)
    message = refused("learn", numbers, "--model", "gaussian")
    assert message == (
        "a Gaussian Markov network needs a table without missing cells; missing in 'b' (2); read the table with "
        "missing 'drop' (option --missing: error, drop, state)"
    )
    assert good("learn", numbers, "--model", "gaussian", "--missing", "drop", "--json").facts["rows"] == 298
    assert "takes --missing drop" in refused("learn", numbers, "--model", "gaussian", "--missing", "state")


def test_bad_columns_are_named(numbers: Path) -> None:
    frame = chain()
    frame["k"] = 2
    frame.to_csv(numbers, index=False)
    assert "'k' is constant" in refused("learn", numbers, "--model", "gaussian")
    frame["k"] = frame["a"] - 2 * frame["e"]
    frame.to_csv(numbers, index=False)
    assert "'k' is a linear combination of 'a', 'e'" in refused("learn", numbers, "--model", "gaussian")
    frame[:2].to_csv(numbers, index=False)
    assert "at least 3 rows" in refused("learn", numbers, "--model", "gaussian")
    frame[:0].to_csv(numbers, index=False)
    assert "there is no row" in refused("learn", numbers, "--model", "gaussian")


def test_fewer_rows_than_columns_without_the_prior_is_a_note(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    pd.DataFrame(np.random.default_rng(2).normal(size=(9, 12))).add_prefix("v").to_csv(path, index=False)
    ended = run("learn", path, "--model", "gaussian", "--no-prior", "--rule", "and", "--holdout", 0)
    assert ended.status == 0
    assert "note: " in ended.err
    assert "take the prior, or more rows (option --prior)" in ended.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--rule", "maybe"], "unknown rule 'maybe'; there are 'hc', 'and', 'or'"),
        (["--bins", "4"], "--bins makes states of numbers"),
        (["--weights", "a"], "--weights is for tables of states"),
        (["--score", "bic"], "--score is for a Bayesian network (--model bn); it does not go with a Gaussian"),
        (["--test", "fisher-z"], "--test is for a graph found by tests (--model markov)"),
        (["--max-memory", "1"], "--max-memory is for a Bayesian network"),
        (["-o", "x.bif"], "only a Bayesian network is written to .bif; use .json"),
        (["--holdout", "1"], "holdout must be from 0 to below 1"),
    ],
)
def test_what_makes_no_sense_is_refused(numbers: Path, words: list[str], message: str) -> None:
    assert message in refused("learn", numbers, "--model", "gaussian", *words)


def test_options_of_gaussian_graphs_go_with_no_other_kind(csv: Path) -> None:
    assert "--rule is for a Gaussian Markov network (--model gaussian)" in refused("learn", csv, "--rule", "and")
    assert "--no-prior is for a Gaussian Markov network" in refused("learn", csv, "--no-prior")
    assert "--prior is for a Gaussian Markov network" in refused("learn", csv, "--prior", "--model", "dn")


# ------------------------------------------------------------------------------- Bayesian networks of numbers


def test_a_bayesian_network_of_numbers_is_that_of_the_library(numbers: Path) -> None:
    path = numbers.with_name("m.json")
    words = ["--score", "fractional", "--search", "tabu", "--forbid", "a,b", "--json", "-o", path]
    facts = good("learn", numbers, *words).facts
    training, held_out = hold_out(fn.read_table(numbers), 0.2, 0)
    found = fn.learn.structure(training, score="fractional", search="tabu", forbidden=[("a", "b")])
    net = fn.learn.parameters(found.dag, training)
    assert facts["kind"] == "bn"
    assert [tuple(arc) for arc in facts["arcs"]] == list(found.dag.edges)
    assert ("b", "a") in found.dag.edges
    assert facts["score_value"] == found.score
    assert facts["held_out_log_likelihood_per_row"] == pytest.approx(net.log_prob(held_out).mean(), rel=1e-12)
    saved = fn.load(path)
    assert isinstance(saved, fn.BayesianNetwork)
    assert saved == fn.learn.parameters(found.dag, fn.read_table(numbers))


def test_its_text_says_the_same(numbers: Path) -> None:
    facts, text = (good("learn", numbers, "--score", "fractional", *more) for more in (["--json"], []))
    assert f"{facts.facts['score_value']:,.4f} on the rows to learn from" in text.out
    assert all(f"{parent} -> {child}\n" in text.out for parent, child in facts.facts["arcs"])


def test_the_fractional_score_is_for_bayesian_networks_of_numbers_alone(numbers: Path, csv: Path) -> None:
    words = ["learn", numbers, "--score", "fractional"]
    assert "--smoothing is for a Bayesian network (--model bn)" in refused(*words, "--smoothing", "1")
    assert "--score fractional is for a Bayesian network" in refused(*words, "--model", "dn")
    assert "numbers are needed, and the label 'young' is none" in refused("learn", csv, "--score", "fractional")
    assert "'fractional' is for continuous columns" in refused("score", csv, "--folds", "2", "--score", "fractional")
