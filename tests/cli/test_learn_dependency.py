"""``fishernet learn --model dn``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fishernet as fn
from fishernet.compare import hold_out
from tests.cli.running import good, process, refused
from tests.tables import random_table


def learned(csv: Path, *words: object) -> dict[str, object]:
    return good("learn", csv, "--model", "dn", "--json", *words).facts


def entropy(columns: list[np.ndarray]) -> float:
    """The entropy of some columns together, by counting."""
    _, counts = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def test_json_says_what_the_library_says(csv: Path) -> None:
    facts = good(
        *("learn", csv, "--model", "dn", "--json", "--seed", 3, "--holdout", 0.3),
        *("--score", "aic", "--search", "tabu", "--max-inputs", 1, "--smoothing", "snml"),
    ).facts
    table = fn.read_table(csv)
    training, held_out = hold_out(table, 0.3, 3)
    search = {"score": "aic", "search": "tabu", "max_inputs": 1}
    found = fn.learn.local_structure(training, **search)  # type: ignore[arg-type]
    net = fn.learn.dependency_network(training, smoothing="snml", **search)  # type: ignore[arg-type]
    assert facts["kind"] == "dn"
    assert (facts["rows"], facts["training_rows"], facts["held_out_rows"]) == (100, 70, 30)
    names = list(table.names)
    assert facts["variables"] == list(facts["inputs"]) == names
    assert list(facts["inputs"].values()) == [[names[v] for v in inputs] for inputs in found.inputs]
    assert sum(map(len, found.inputs)) > 0
    assert facts["score_value"] == found.scores.sum()
    assert facts["candidates"] == found.n_candidates
    assert facts["local_scores"] == found.n_scores
    assert facts["steps"] == found.steps
    assert facts["parameters"] == net.n_parameters
    assert facts["held_out_pseudo_log_likelihood_per_row"] == net.pseudo_log_likelihood(held_out).mean()
    assert list(facts["seconds"]) == ["read", "learn", "fit", "score"]


def test_entropies_are_those_of_the_training_rows(csv: Path) -> None:
    facts = good("learn", csv, "--model", "dn", "--json", "--seed", 5).facts
    training, _ = hold_out(fn.read_table(csv), 0.2, 5)
    for name, inputs in facts["inputs"].items():
        own, of = training.column(name), [training.column(other) for other in inputs]
        given = entropy([own, *of]) - (entropy(of) if of else 0.0)
        assert facts["entropies"][name] == pytest.approx(entropy([own]), rel=1e-12)
        assert facts["conditional_entropies"][name] == pytest.approx(given, rel=1e-12)


def test_the_entropy_of_a_copy_given_the_original_is_zero(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "x,u\ny,v\n" * 40, encoding="utf-8")
    facts = good("learn", tmp_path / "t.csv", "--model", "dn", "--json", "--holdout", 0).facts
    assert facts["inputs"] == {"a": ["b"], "b": ["a"]}
    assert facts["entropies"] == {"a": pytest.approx(np.log(2)), "b": pytest.approx(np.log(2))}
    assert facts["conditional_entropies"] == {"a": 0.0, "b": 0.0}


def test_text_says_the_same_facts(csv: Path) -> None:
    facts = good("learn", csv, "--model", "dn", "--json").facts
    lines = good("learn", csv, "--model", "dn").out.splitlines()
    text = "\n".join(lines)
    assert "100 (80 to learn from, 20 held out)" in text
    assert f"{facts['score_value']:,.4f} on the rows" in text
    assert f"{facts['candidates']} candidates looked at, {facts['local_scores']} distinct local scores" in text
    assert f"{facts['held_out_pseudo_log_likelihood_per_row']:,.4f} per row" in text
    for line, (name, inputs) in zip(lines[-3:], facts["inputs"].items(), strict=True):
        numbers = [f"{facts[fact][name]:.4f}" for fact in ("entropies", "conditional_entropies")]
        assert line.split(maxsplit=3) == [name, *numbers, ", ".join(inputs)]


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
    path = csv.with_name("m.json")
    facts = good("learn", csv, "--model", "dn", "--max-inputs", 1, "-o", path, "--json").facts
    net, table = fn.load(path), fn.read_table(csv)
    assert net.n_rows == 100
    for conditional, (name, inputs) in zip(net.conditionals, facts["inputs"].items(), strict=True):
        assert [variable.name for variable in conditional.variables] == [*inputs, name]
        counts = np.zeros([variable.cardinality for variable in conditional.variables])
        np.add.at(counts, tuple(table.column(variable.name) for variable in conditional.variables), 1)
        counts[counts == 0] = 1  # P2, Algorithm 5
        np.testing.assert_allclose(conditional.table(), counts / counts.sum(axis=-1, keepdims=True), rtol=1e-13)
    assert (
        "these inputs, parameters fitted again on all 100 rows"
        in good(*("learn", csv, "--model", "dn", "-o", path)).out
    )


def test_plain_frequencies_may_have_zeros(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "x,u\ny,v\n" * 40, encoding="utf-8")
    good("learn", tmp_path / "t.csv", "--model", "dn", "--smoothing", 0, "-o", tmp_path / "m.json")
    net = fn.load(tmp_path / "m.json")
    assert net.allow_zeros
    assert net.conditional("a").table().tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_a_configuration_without_rows_is_one_sentence_about_smoothing(tmp_path: Path) -> None:
    fn.write_table(fn.datasets.load("asia").sample(2000, seed=1), tmp_path / "t.csv")
    said = refused("learn", tmp_path / "t.csv", "--model", "dn", "--smoothing", 0, "--holdout", 0)
    assert "cannot be fitted without smoothing" in said
    assert said.endswith("; use smoothing above 0 (option --smoothing)")
    assert "ess" not in said


def test_impossible_held_out_rows_are_said(tmp_path: Path) -> None:
    path = tmp_path / "once.csv"
    path.write_text("a\n" + "".join(f"s{i}\n" for i in range(10)), encoding="utf-8")  # every state occurs once
    facts = learned(path, "--smoothing", 0)
    assert facts["held_out_pseudo_log_likelihood_per_row"] is None  # -inf
    assert facts["impossible_rows"] == 2


def test_a_row_of_weight_n_is_n_rows(csv: Path) -> None:
    table = fn.read_table(csv)
    lines, counts = np.unique(np.stack(table.codes, axis=1), axis=0, return_counts=True)
    weighted = csv.with_name("weighted.parquet")
    fn.write_table(fn.Table.from_codes(lines, table.variables, weights=counts), weighted, weights="n")
    facts, plain = learned(weighted, "--weights", "n", "--holdout", 0), learned(csv, "--holdout", 0)
    assert facts["rows"] == 100
    assert facts["inputs"] == plain["inputs"]
    assert facts["conditional_entropies"] == pytest.approx(plain["conditional_entropies"], rel=1e-12)
    shared = learned(weighted, "--weights", "n")
    assert (shared["training_rows"], shared["held_out_rows"]) == (80, 20)


def test_missing_cells_and_bins_as_for_a_bayesian_network(csv: Path, tmp_path: Path) -> None:
    csv.write_text(csv.read_text(encoding="utf-8").replace("young,yes,yes", "young,,yes"), encoding="utf-8")
    assert "(option --missing: error, drop, state)" in refused("learn", csv, "--model", "dn")
    assert learned(csv, "--missing", "drop")["rows"] == 90
    path = tmp_path / "numbers.csv"
    path.write_text("x,y\n" + "".join(f"{i},{i // 150}\n" for i in range(300)), encoding="utf-8")
    good("learn", path, "--model", "dn", "--bins", "x=4", "-o", tmp_path / "m.json")
    assert fn.load(tmp_path / "m.json").variables == fn.read_table(path, bins={"x": 4}).variables


def test_hostile_names_and_labels_go_through(tmp_path: Path) -> None:
    labels = ["a,b", 'q"uo', "new\nline", " sp", "\U0001f600", "\x1b[31m"]
    table = fn.Table.from_frame({'na"me, x': labels * 20, "é;y": [label[::-1] for label in labels * 20]})
    fn.write_table(table, tmp_path / "t.csv")
    words = ("learn", tmp_path / "t.csv", "--model", "dn", "-o", tmp_path / "m.json")
    assert good(*words, "--json").facts["inputs"] == {'na"me, x': ["é;y"], "é;y": ['na"me, x']}
    assert set(fn.load(tmp_path / "m.json").variables[0].states) == set(labels)
    assert "\x1b" not in good(*words).out


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["--max-parents", "2"], "--max-parents"),
        (["--ess", "2"], "--ess"),
        (["--max-seconds", "2"], "--max-seconds"),
        (["--require", "age,smoke"], "--require"),
        (["--forbid", "age,smoke"], "--forbid"),
        (["--tiers", "age;smoke"], "--tiers"),
    ],
)
def test_options_of_the_other_kind_are_refused(csv: Path, words: list[str], option: str) -> None:
    said = refused("learn", csv, "--model", "dn", *words)
    assert said.startswith(f"{option} is for a Bayesian network (--model bn)")


def test_max_inputs_is_refused_for_a_bayesian_network(csv: Path) -> None:
    for words in ([], ["--model", "bn"]):
        said = refused("learn", csv, *words, "--max-inputs", 0)
        assert said.startswith("--max-inputs is for a dependency network (--model dn)")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--score", "nope"], "'bic'"),
        (["--search", "nope"], "'greedy', 'tabu'"),
        (["--search", "hill-climb"], "'greedy', 'tabu'"),
        (["--smoothing", "nope"], "'zeros', got 'nope' (option --smoothing)"),
        (["--smoothing", "-1"], "from 0 on"),
        (["--max-inputs", "-1"], "max_inputs must be"),
        (["--seed", "-1"], "seed must not"),
        (["--holdout", "1"], "below 1"),
        (["-o", "model.txt"], ".json or .bif"),
        (["-o", "nowhere/model.json"], "no directory"),
    ],
)
def test_a_bad_value_is_one_sentence(csv: Path, words: list[str], said: str) -> None:
    assert said in refused("learn", csv, "--model", "dn", *words)


def test_a_bif_file_is_refused_before_any_work(csv: Path) -> None:
    path = csv.with_name("m.bif.gz")
    said = refused("learn", csv.with_name("nope.csv"), "--model", "dn", "-o", path)
    assert "only a Bayesian network is written to .bif; use .json" in said
    assert not path.exists()


def test_any_number_of_threads_gives_the_same(tmp_path: Path) -> None:
    fn.write_table(random_table(5, 400, [3, 2, 4, 2, 3]), tmp_path / "t.csv")
    facts = []
    for threads, hashes in (("1", "1"), ("3", "2")):
        ended = process(
            *("learn", tmp_path / "t.csv", "--model", "dn", "--json"), FISHERNET_THREADS=threads, PYTHONHASHSEED=hashes
        )
        facts.append({name: value for name, value in ended.facts.items() if name != "seconds"})
    assert facts[0] == facts[1]
