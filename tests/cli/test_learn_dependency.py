"""``fishernet learn --model dn``."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import fishernet as fn
from fishernet.learn import hold_out
from tests.cli.running import HOSTILE, facts_of, good, hostile, refused, written


def entropy(columns: list[np.ndarray]) -> float:
    """The entropy of some columns together, by counting."""
    _, counts = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def test_json_and_text_say_what_the_library_says(csv: Path) -> None:
    words = ["learn", csv, "--model", "dn", "--seed", 3, "--holdout", 0.3, "--score", "aic", "--search", "tabu"]
    words += ["--max-inputs", 1, "--smoothing", "snml"]
    facts, lines = facts_of(*words), good(*words).out.splitlines()
    table, text = fn.read_table(csv), "\n".join(lines)
    training, held_out = hold_out(table, 0.3, seed=3)
    search = {"score": "aic", "search": "tabu", "max_inputs": 1}
    found = fn.learn.local_structure(training, **search)  # type: ignore[arg-type]
    net = fn.learn.dependency_network(training, smoothing="snml", **search)  # type: ignore[arg-type]
    logs = net.pseudo_log_likelihood(held_out)
    mean = math.fsum(logs) / len(logs)
    names = list(table.names)
    assert (facts["kind"], facts["rows"], facts["training_rows"], facts["held_out_rows"]) == ("dn", 100, 70, 30)
    assert facts["variables"] == list(facts["inputs"]) == names
    assert list(facts["inputs"].values()) == [[names[v] for v in inputs] for inputs in found.inputs]
    assert sum(map(len, found.inputs)) > 0
    assert (facts["score_value"], facts["parameters"]) == (found.scores.sum(), net.n_parameters)
    assert (facts["candidates"], facts["local_scores"]) == (found.n_candidates, found.n_scores)
    assert (facts["steps"], facts["held_out_pseudo_log_likelihood_per_row"]) == (found.steps, mean)
    assert list(facts["seconds"]) == ["read", "learn", "fit", "score", "check"]
    assert "100 (70 to learn from, 30 held out)" in text
    assert f"{found.scores.sum():,.4f} on the rows" in text
    assert f"{found.n_candidates} candidates looked at, {found.n_scores} distinct local scores" in text
    assert f"{mean:,.4f} per row" in text
    for line, (name, inputs) in zip(lines[2:5], facts["inputs"].items(), strict=True):
        numbers = [f"{facts[fact][name]:.4f}" for fact in ("entropies", "conditional_entropies")]
        assert line.split(maxsplit=3) == [name, *numbers, ", ".join(inputs)]


def test_entropies_are_those_of_the_training_rows(csv: Path) -> None:
    facts = facts_of("learn", csv, "--model", "dn", "--seed", 5)
    training, _ = hold_out(fn.read_table(csv), 0.2, seed=5)
    for name, inputs in facts["inputs"].items():
        own, of = training.column(name), [training.column(other) for other in inputs]
        given = entropy([own, *of]) - (entropy(of) if of else 0.0)
        assert facts["entropies"][name] == pytest.approx(entropy([own]), rel=1e-12)
        assert facts["conditional_entropies"][name] == pytest.approx(given, rel=1e-12)


def test_the_entropy_of_a_copy_given_the_original_is_zero(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "a,b\n" + "x,u\ny,v\n" * 40)
    facts = facts_of("learn", path, "--model", "dn", "--holdout", 0)
    assert facts["inputs"] == {"a": ["b"], "b": ["a"]}
    assert facts["entropies"] == {"a": pytest.approx(np.log(2)), "b": pytest.approx(np.log(2))}
    assert facts["conditional_entropies"] == {"a": 0.0, "b": 0.0}


@pytest.mark.parametrize(("word", "smoothing"), [(None, "zeros"), ("zeros", "zeros"), ("snml", "snml"), ("0.5", 0.5)])
def test_without_holdout_what_is_saved_is_the_library_s_network(
    csv: Path, word: str | None, smoothing: str | float
) -> None:
    path = csv.with_name("m.json.gz")
    good("learn", csv, "--model", "dn", "--holdout", 0, "-o", path, *(["--smoothing", word] if word else []))
    net = fn.load(path)
    assert net == fn.learn.dependency_network(fn.read_table(csv), smoothing=smoothing)
    assert (net.n_rows, net.allow_zeros) == (100, False)
    assert "no rows were held out" in good("learn", csv, "--model", "dn", "--holdout", 0).out


def test_the_saved_network_has_the_same_inputs_and_is_fitted_on_all_rows(csv: Path) -> None:
    path, plot = csv.with_name("m.json"), csv.with_name("g.svg")
    words = ["learn", csv, "--model", "dn", "--max-inputs", 1, "-o", path, "--plot", plot]
    facts = facts_of(*words)
    net, table = fn.load(path), fn.read_table(csv)
    assert net.n_rows == 100
    for conditional, (name, inputs) in zip(net.conditionals, facts["inputs"].items(), strict=True):
        assert [variable.name for variable in conditional.variables] == [*inputs, name]
        counts = np.zeros([variable.cardinality for variable in conditional.variables])
        np.add.at(counts, tuple(table.column(variable.name) for variable in conditional.variables), 1)
        counts[counts == 0] = 1  # Takabatake, 2020, Algorithm 5
        np.testing.assert_allclose(conditional.table(), counts / counts.sum(axis=-1, keepdims=True), rtol=1e-13)
    assert "these inputs, parameters fitted again on all 100 rows" in good(*words).out
    assert plot.stat().st_size > 1000


def test_plain_frequencies_may_have_zeros(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "a,b\n" + "x,u\ny,v\n" * 40)
    good("learn", path, "--model", "dn", "--smoothing", 0, "-o", tmp_path / "m.json")
    net = fn.load(tmp_path / "m.json")
    assert net.allow_zeros
    assert net.conditional("a").table().tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_a_configuration_without_rows_is_one_sentence_about_smoothing(tmp_path: Path) -> None:
    fn.write_table(fn.datasets.load("asia").sample(2000, seed=1), tmp_path / "t.csv")
    said = refused("learn", tmp_path / "t.csv", "--model", "dn", "--smoothing", 0, "--holdout", 0)
    assert "cannot be fitted without smoothing" in said
    assert said.endswith("; use smoothing above 0 (option --smoothing)")
    assert "ess" not in said


@pytest.mark.parametrize("kind", ["bn", "dn"])
def test_hostile_names_and_labels_go_through(tmp_path: Path, kind: str) -> None:
    net = hostile()
    fn.write_table(net.sample(400, seed=1), tmp_path / "t.csv")
    words = ["learn", tmp_path / "t.csv", "--model", kind, "-o", tmp_path / "m.json"]
    words += ["--forbid", '"p = q, r","é;""y"'] if kind == "bn" else []
    facts, out = facts_of(*words), good(*words).out
    x, y = net.names
    assert facts.get("arcs", [[y, x]]) == [[y, x]]
    assert facts.get("inputs", {x: [y], y: [x]}) == {x: [y], y: [x]}
    for variable in fn.load(tmp_path / "m.json").variables:
        assert set(variable.states) == set(HOSTILE)
    assert "\x1b" not in out
    assert (f"  {y} -> {x}\n" if kind == "bn" else f"{y}  ") in out
