"""A dependency network, and a Markov network, in the commands that use a model."""

from __future__ import annotations

import csv as csv_module
import io
import itertools
from pathlib import Path

import numpy as np
import pytest

import fishernet as fn
from tests.cli.running import good, refused


def labels(text: str) -> list[list[str]]:
    return list(csv_module.reader(io.StringIO(text)))


def written(table: fn.Table) -> list[list[object]]:
    """The rows of a table as lists of labels."""
    frame = table.to_frame()
    return [list(row) for row in zip(*(frame[name].to_pylist() for name in frame.column_names), strict=True)]


# ---------------------------------------------------------------------------------------------------------- sample


def test_rows_come_by_the_library_s_pseudo_gibbs_sampling(dependency: Path) -> None:
    net = fn.load(dependency)
    rows = labels(good("sample", dependency, "-n", 50, "--seed", 4).out)
    assert rows == [list(net.names), *written(net.sample(50, seed=4))]
    chain = ["--chains", 3, "--burn-in", 7, "--thin", 2, "--scan", "ordered", "--given", "smoke=yes"]
    rows = labels(good("sample", dependency, "-n", 50, "--seed", 4, *chain).out)
    drawn = net.sample(50, seed=4, chains=3, burn_in=7, thin=2, scan="ordered", given={"smoke": "yes"})
    assert rows[1:] == written(drawn)
    assert {row[1] for row in rows[1:]} == {"yes"}


def test_raw_output_changes_one_variable_at_a_time(dependency: Path) -> None:
    chain = ["--burn-in", 0, "--thin", 1, "--given", "age=old"]
    rows = labels(good("sample", dependency, "-n", 100, "--seed", 2, *chain).out)[1:]
    changes = [sum(a != b for a, b in zip(*pair, strict=True)) for pair in itertools.pairwise(rows)]
    assert max(changes) == 1
    assert {row[0] for row in rows} == {"old"}


def test_json_of_a_sample_says_what_was_given(dependency: Path) -> None:
    facts = good("sample", dependency, "-n", 5, "--seed", 4, "--given", "cough=no", "--json").facts
    assert facts["given"] == {"cough": "no"}
    assert facts["columns"]["cough"] == ["no"] * 5


def test_a_bayesian_network_is_sampled_exactly_given_what_is_known(model: Path) -> None:
    net = fn.load(model)
    words = ["--given", "cough=yes", "--given", "age=young"]
    rows = labels(good("sample", model, "-n", 40, "--seed", 4, *words).out)
    assert rows[1:] == written(fn.infer.sample(net, 40, given={"cough": "yes", "age": "young"}, seed=4))
    rows = labels(good("sample", model, "-n", 20_000, "--seed", 5, *words).out)[1:]
    exact = fn.infer.marginal(net, ["smoke"], given={"cough": "yes", "age": "young"})[1]
    share = np.mean([row[1] == "yes" for row in rows])
    assert {(row[0], row[2]) for row in rows} == {("young", "yes")}
    assert abs(share - exact) < 5 * np.sqrt(exact * (1 - exact) / len(rows))


def test_evidence_that_cannot_be_is_one_sentence(tmp_path: Path) -> None:
    net = fn.BayesianNetwork.from_tables([fn.Variable("a", ["x", "y"])], {}, {"a": [1.0, 0.0]})
    fn.save(net, tmp_path / "m.json")
    assert "probability 0" in refused("sample", tmp_path / "m.json", "-n", 1, "--given", "a=y")


@pytest.mark.parametrize("words", [["--chains", 2], ["--burn-in", 0], ["--thin", 1], ["--scan", "random"]])
def test_options_of_chains_are_refused_where_there_are_none(model: Path, words: list[object]) -> None:
    assert refused("sample", model, "-n", 1, *words).startswith(f"{words[0]} is for dependency networks")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--chains", 0], "chains must be an integer from 1"),
        (["--burn-in", -1], "burn_in must be an integer from 0"),
        (["--thin", 0], "thin must be an integer from 1"),
        (["--scan", "nope"], "unknown scan 'nope'; there are 'random', 'ordered'"),
        (["--given", "nope=1"], "--given: no variable 'nope'"),
        (["--given", "age"], "--given takes NAME=STATE"),
        (["--given", "age=nope"], "'nope'"),
        (["--given", "age=old", "--given", "age=young"], "--given names 'age' twice"),
        (["--given", "age=old", "--given", "smoke=no", "--given", "cough=no"], "nothing to sample"),
        (["-o", "s.foo"], "by the path's ending"),
    ],
)
def test_a_bad_value_is_one_sentence(dependency: Path, words: list[object], said: str) -> None:
    assert said in refused("sample", dependency, "-n", 1, *words)


def test_no_rows_and_no_variables(dependency: Path, tmp_path: Path) -> None:
    assert "from 1" in refused("sample", dependency, "-n", 0)
    fn.save(fn.DependencyNetwork([], []), tmp_path / "m.json")
    assert "no variables" in refused("sample", tmp_path / "m.json", "-n", 1, "--json")


# ----------------------------------------------------------------------------------------------------------- score


def test_score_is_the_pseudo_log_likelihood(dependency: Path, csv: Path, tmp_path: Path) -> None:
    net, table = fn.load(dependency), fn.read_table(csv)
    logs = net.pseudo_log_likelihood(table)
    facts = good("score", dependency, csv, "--json", "--rows").facts
    assert facts["pseudo_log_likelihood"] == logs.sum()
    assert facts["pseudo_log_likelihood_per_row"] == logs.mean()
    assert facts["row_pseudo_log_likelihoods"] == logs.tolist()
    assert facts["impossible_rows"] == 0
    assert "log_likelihood" not in facts
    text = good("score", dependency, csv).out
    assert f"pseudo-log-likelihood          {logs.sum():,.4f}\n" in text
    assert f"pseudo-log-likelihood per row  {logs.mean():,.4f}\n" in text
    assert good("score", dependency, csv, "--rows", "-o", tmp_path / "rows.txt").out == ""
    lines = (tmp_path / "rows.txt").read_text(encoding="utf-8").splitlines()
    assert [float(line) for line in lines] == logs.tolist()


def test_terms_are_the_cells_of_lowest_probability_given_their_inputs(dependency: Path, csv: Path) -> None:
    net, table = fn.load(dependency), fn.read_table(csv)
    terms = net.log_prob_terms(table)
    wanted = sorted((terms[row, v], row, v) for row in range(100) for v in range(3))[:7]
    found = good("score", dependency, csv, "--terms", "--top", 7, "--json").facts["terms"]
    assert [(one["log_probability"], one["row"], net.names.index(one["variable"])) for one in found] == wanted
    for one in found:
        assert list(one["given"]) == [net.names[v] for v in net.inputs[net.names.index(one["variable"])]]


def test_weights_count_rows(dependency: Path, csv: Path) -> None:
    path = csv.with_name("w.csv")
    path.write_text("age,smoke,cough,n\nold,no,no,3\nold,yes,no,0\nyoung,no,no,2\n", encoding="utf-8")
    a, _, b = fn.load(dependency).pseudo_log_likelihood(fn.read_table(path, schema=fn.load(dependency).variables))
    facts = good("score", dependency, path, "--weights", "n", "--json").facts
    assert facts["rows"] == 5
    assert facts["pseudo_log_likelihood"] == pytest.approx(3 * a + 2 * b, rel=1e-12)


def test_the_score_of_a_graph_is_refused(dependency: Path, csv: Path) -> None:
    assert refused("score", dependency, csv, "--score", "bic").startswith("--score is about a graph without cycles")


# ----------------------------------------------------------------------------------------------------------- query


def test_marginals_are_estimates_with_their_errors(dependency: Path) -> None:
    net = fn.load(dependency)
    facts = good("query", dependency, "cough", "age", "--given", "smoke=yes", "--json").facts
    for name in ("cough", "age"):
        found = fn.infer.estimate(net, [name], given={"smoke": "yes"}, seed=facts["seed"])
        assert facts["rows"] == found.n_rows
        assert facts["marginals"][name]["probabilities"] == found.probabilities.tolist()
        assert facts["marginals"][name]["standard_errors"] == found.standard_errors.tolist()
    text = good("query", dependency, "cough", "--given", "smoke=yes").out
    assert "Monte Carlo error" in text
    assert f"{facts['marginals']['cough']['probabilities'][0]:.6g}" in text
    assert f"{facts['marginals']['cough']['standard_errors'][0]:.2g}\n" in text


def test_all_marginals_are_near_the_stationary_distribution(dependency: Path) -> None:
    net = fn.load(dependency)
    joint = fn.infer.stationary(net)
    facts = good("query", dependency, "--json").facts
    assert list(facts["marginals"]) == list(net.names)
    for v, answer in enumerate(facts["marginals"].values()):
        exact = np.asarray(joint).reshape([2, 2, 2]).sum(axis=tuple(u for u in range(3) if u != v))
        assert (np.abs(np.array(answer["probabilities"]) - exact) < 6 * np.array(answer["standard_errors"])).all()


def test_a_joint_table_has_errors_too(dependency: Path) -> None:
    facts = good("query", dependency, "cough", "age", "--joint", "--json").facts
    found = fn.infer.estimate(fn.load(dependency), ["cough", "age"], seed=facts["seed"])
    assert facts["joint"]["names"] == ["cough", "age"]
    assert facts["joint"]["probabilities"] == found.probabilities.tolist()
    assert facts["joint"]["standard_errors"] == found.standard_errors.tolist()
    assert len(good("query", dependency, "cough", "age", "--joint").out.splitlines()) == 1 + 1 + 1 + 4


def test_rare_evidence_is_noted_once(tmp_path: Path) -> None:
    states, tiny = ["no", "yes"], 1e-9
    variables = [fn.Variable(name, states) for name in "abc"]
    rare = {name: [1 - tiny, tiny] for name in "a"} | {name: [0.5, 0.5] for name in "bc"}
    fn.save(fn.DependencyNetwork.from_tables(variables, {}, rare), tmp_path / "m.json")
    ended = good("query", tmp_path / "m.json", "b", "c", "--given", "a=yes")
    assert ended.err.count("what is given is rare") == 1


@pytest.mark.parametrize("words", [["--do", "smoke=yes"], ["--most-probable"]])
def test_what_cannot_be_sampled_is_refused_with_a_way_out(dependency: Path, words: list[str]) -> None:
    said = refused("query", dependency, *words)
    assert f"this is a dependency network; {words[0]} needs a Bayesian network" in said
    assert "fishernet sample --given" in said


# ----------------------------------------------------------------------------------------------------- other commands


@pytest.mark.parametrize(
    ("command", "words"), [("select", ["-k", 3]), ("similar", ["--row", 0]), ("predict", ["--target", "age"])]
)
def test_commands_that_need_a_bayesian_network_say_so(
    dependency: Path, csv: Path, command: str, words: list[object]
) -> None:
    said = refused(command, dependency, csv, *words)
    assert said.startswith(f"{dependency}: this is a dependency network; {command} needs a Bayesian network")


def test_convert_keeps_a_dependency_network_and_refuses_bif(dependency: Path) -> None:
    packed, bif = dependency.with_name("d.json.gz"), dependency.with_name("d.bif")
    facts = good("convert", dependency, packed, "--json").facts
    assert fn.load(packed) == fn.load(dependency)
    assert facts["arcs"] == sum(map(len, fn.load(dependency).inputs))
    assert "only a Bayesian network can be turned into .bif" in refused("convert", dependency, bif)
    assert not bif.exists()


@pytest.fixture
def markov(tmp_path: Path) -> Path:
    """Return a Markov network."""
    a, b = fn.Variable("a", ["x", "y"]), fn.Variable("b", ["x", "y"])
    fn.save(fn.MarkovNetwork([a, b], [(("a", "b"), [[2.0, 1.0], [1.0, 3.0]])]), tmp_path / "markov.json")
    return tmp_path / "markov.json"


def test_a_markov_network_is_sampled_and_converted(markov: Path) -> None:
    net = fn.load(markov)
    assert labels(good("sample", markov, "-n", 30, "--seed", 1).out)[1:] == written(net.sample(30, seed=1))
    drawn = fn.infer.sample(net, 30, given={"a": "x"}, seed=1)
    assert labels(good("sample", markov, "-n", 30, "--seed", 1, "--given", "a=x").out)[1:] == written(drawn)
    assert "is for dependency networks" in refused("sample", markov, "-n", 1, "--thin", 2)
    assert good("convert", markov, markov.with_name("m.json.gz"), "--json").facts["factors"] == 1
    assert fn.load(markov.with_name("m.json.gz")) == net


def test_other_commands_refuse_a_markov_network(markov: Path, csv: Path) -> None:
    kinds = "needs a Bayesian network or a dependency network"
    assert f"this is a Markov network; score {kinds}" in refused("score", markov, csv)
    assert f"this is a Markov network; query {kinds}" in refused("query", markov)
    assert "this is a Markov network; select needs a Bayesian network" in refused("select", markov, csv, "-k", 1)
