from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import csv

import fishernet as fn
from tests.cli.running import ASIA, HOSTILE, coin, facts_of, good, hostile, processes, refused, saved
from tests.networks import random_network
from tests.reference import inference


def table_of(lines: list[str]) -> list[list[str]]:
    """The cells of the table below the facts; a name stands once for all its states."""
    return [line.split() for line in lines[lines.index("") + 2 :]]


def assert_enumerated(facts: dict[str, Any], net: fn.BayesianNetwork, given: dict[str, str]) -> None:
    for name, found in facts["marginals"].items():
        assert found["states"] == list(net.variables[net.names.index(name)].states)
        expected = inference.marginal(net, [name], given)
        np.testing.assert_allclose(found["probabilities"], expected, rtol=1e-12, atol=1e-13)


# ---------------------------------------------------------------------------------------------------------- marginals


@pytest.mark.parametrize("words", [[], ["--given", "dysp=yes"], ["--given", "xray=yes", "--given", "asia=no"]])
def test_without_a_name_all_unknown_variables_have_the_probabilities_of_an_enumeration(
    asia: Path, words: list[str]
) -> None:
    given = dict(word.split("=") for word in words if "=" in word)
    facts = facts_of("query", asia, *words)
    assert facts["given"] == given
    assert list(facts["marginals"]) == [name for name in ASIA.names if name not in given]
    assert_enumerated(facts, ASIA, given)


@pytest.mark.parametrize("n", [1, 4, 5, 8])
def test_the_number_of_names_changes_how_they_are_found_but_not_what(asia: Path, n: int) -> None:
    names = [*reversed(ASIA.names)][:n]
    facts = facts_of("query", asia, *names, "--given", "xray=yes")
    assert list(facts["marginals"]) == names
    assert_enumerated(facts, ASIA, {"xray": "yes"})


def test_one_plan_answers_for_all_variables(asia: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = good("query", asia).out
    monkeypatch.delattr("fishernet.infer.queries.query")
    assert good("query", asia).out == out
    assert good("query", asia, *ASIA.names).out == out


@pytest.mark.parametrize("seed", range(6))
def test_random_networks_with_unequal_states(tmp_path: Path, seed: int) -> None:
    net = random_network(seed, [3, 1, 2, 4, 2], sharp=2.0)
    assert_enumerated(facts_of("query", saved(net, tmp_path), "--given", "v3=s2"), net, {"v3": "s2"})


def test_text_has_a_line_a_state(asia: Path) -> None:
    lines = good("query", asia, "lung", "either", "--given", "smoke=yes").out.splitlines()
    assert lines[:2] == ["given                        smoke = yes", "probability of the evidence  0.5 (log -0.6931)"]
    either = 1 - 0.9 * (1 - 0.0104)
    cells = table_of(lines)
    assert [row[:-1] for row in cells] == [["lung", "yes"], ["no"], ["either", "yes"], ["no"]]
    assert [float(row[-1]) for row in cells] == pytest.approx([0.1, 0.9, either, 1 - either], rel=1e-5)


def test_a_name_that_is_given_has_all_mass_at_its_state(asia: Path) -> None:
    facts = facts_of("query", asia, "smoke", "--given", "smoke=no")
    assert facts["marginals"] == {"smoke": {"states": ["yes", "no"], "probabilities": [0.0, 1.0]}}


def test_where_all_is_given_there_is_the_evidence_alone(tmp_path: Path) -> None:
    path = saved(coin(probabilities=[0.25, 0.75]), tmp_path)
    assert good("query", path, "--given", "a=x").out.splitlines() == [
        "given                        a = x",
        "probability of the evidence  0.25 (log -1.3863)",
    ]
    assert facts_of("query", path, "--given", "a=x")["marginals"] == {}
    assert facts_of("query", saved(fn.BayesianNetwork.from_tables([], {}, {}), tmp_path))["marginals"] == {}


# ------------------------------------------------------------------------------------- evidence, and what is set (do)


def test_the_probability_of_the_evidence_is_that_of_all_that_is_given(asia: Path) -> None:
    words = ["query", asia, "--given", "smoke=yes", "--given", "bronc=no"]
    facts = facts_of(*words)
    assert facts["probability_of_evidence"] == pytest.approx(0.5 * 0.4, rel=1e-12)
    assert facts["log_probability_of_evidence"] == pytest.approx(math.log(0.2), rel=1e-12)
    assert facts_of(*words, "--given", "smoke=yes") == facts  # said twice is said once
    facts = facts_of("query", asia)
    assert (facts["probability_of_evidence"], facts["log_probability_of_evidence"]) == (1, 0)


def test_evidence_too_improbable_for_a_number_has_a_logarithm(tmp_path: Path) -> None:
    names = [f"v{i}" for i in range(400)]
    net = fn.BayesianNetwork.from_tables(
        [fn.Variable(n, ["x", "y"]) for n in names], {}, {n: [0.01, 0.99] for n in names}
    )
    words = [word for name in names[1:] for word in ("--given", f"{name}=x")]
    facts = facts_of("query", saved(net, tmp_path), *words)
    assert facts["probability_of_evidence"] == 0
    assert facts["log_probability_of_evidence"] == pytest.approx(399 * math.log(0.01), rel=1e-12)
    assert facts["marginals"]["v0"]["probabilities"] == pytest.approx([0.01, 0.99], rel=1e-12)


def test_what_is_seen_tells_of_its_causes_and_what_is_set_does_not(asia: Path) -> None:
    seen = facts_of("query", asia, "smoke", "--given", "bronc=yes")
    done = facts_of("query", asia, "smoke", "--do", "bronc=yes")
    both = 0.5 * 0.6 + 0.5 * 0.3
    assert seen["marginals"]["smoke"]["probabilities"] == pytest.approx([0.5 * 0.6 / both, 0.5 * 0.3 / both], rel=1e-12)
    assert done["marginals"]["smoke"]["probabilities"] == pytest.approx([0.5, 0.5], rel=1e-12)
    assert (seen["given"], seen["do"]) == ({"bronc": "yes"}, {})
    assert (done["given"], done["do"]) == ({}, {"bronc": "yes"})


KNOWN: list[tuple[list[str], dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    (["--given", "dose=1,5"], {"dose": [1, 5]}, {}, {}),
    (["--given", "dose>=2", "--given", "dose < 5"], {"dose": (2, 4)}, {}, {}),
    (["--given", "age>3"], {"age": (3, None)}, {}, {}),
    (["--given", "age<=4", "--given", "age<8", "--given", "age>1"], {"age": (1, 4)}, {}, {}),
    (["--likely", "a, b: c=x, y:.8,z:0:.1,w:1"], {}, {"a, b: c": {"x, y": 0.8, "z:0": 0.1, "w": 1}}, {}),
    (["--do", "sick=yes:.3,no:.7", "--given", "dose=2"], {"dose": 2}, {}, {"sick": {"yes": 0.3, "no": 0.7}}),
]


@pytest.mark.parametrize(("words", "known", "likelihood", "do"), KNOWN)
def test_what_is_said_is_what_the_library_is_given(
    words: list[str], known: dict[str, Any], likelihood: dict[str, Any], do: dict[str, Any], tmp_path: Path
) -> None:
    """Several states, ranges, soft evidence and soft interventions, also with labels that hold the signs."""
    bins = fn.Table.from_frame({"age": np.linspace(0, 10, 41)}, bins={"age": (2.0, 5.0)}).variables[0]
    last = fn.Variable("a, b: c", ["x, y", "z:0", "w"])
    variables = [fn.Variable("sick", ["no", "yes"]), fn.Variable("dose", [1, 2, 5]), bins, last]
    rng = np.random.default_rng(3)
    shapes = {"sick": (2,), "dose": (2, 3), "age": (2, 3), last.name: (3, 3, 3)}
    tables = {name: rng.dirichlet(np.ones(shape[-1]), shape[:-1]) for name, shape in shapes.items()}
    parents = {"dose": ["sick"], "age": ["sick"], last.name: ["dose", "age"]}
    net = fn.BayesianNetwork.from_tables(variables, parents, tables)
    case = net.given(known, likelihood=likelihood, do=do)
    facts = facts_of("query", saved(net, tmp_path), *words)
    assert facts["log_probability_of_evidence"] == pytest.approx(case.log_prob(), rel=1e-12)
    assert set(facts["marginals"]) == set(net.names) - set(known) - set(do)
    for name, one in facts["marginals"].items():
        np.testing.assert_allclose(one["probabilities"], case.query(name).array, rtol=1e-12)
    best = facts_of("query", saved(net, tmp_path), "--most-probable", *words)
    assert best["most_probable"] == case.explain()
    assert best["log_probability"] == pytest.approx(case.log_prob(case.explain()), rel=1e-12)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--given", "smoke>3"], "has labels, of which there is no range"),
        (["--given", "smoke=yes", "--given", "smoke=no"], "names 'smoke' twice"),
        (["--likely", "smoke=yes:.5"], "lacks 'no'"),
        (["--likely", "smoke=yes"], "takes NAME=STATE:NUMBER"),
        (["--do", "smoke=yes,no"], "say how probable each is"),
        (["--do", "smoke=yes:.5,no:.1"], "add up to 0.6, not 1"),
        (["--do", "smoke=yes:.5,no:.5", "--given", "smoke=no"], "both --given and --do"),
    ],
)
def test_what_cannot_be_known_is_told(words: list[str], sentence: str, asia: Path) -> None:
    assert sentence in refused("query", asia, *words)


def test_what_is_given_is_seen_after_what_was_set(asia: Path) -> None:
    words = ["query", asia, "--do", "either=yes", "--given", "dysp=yes"]
    facts = facts_of(*words)
    joint = inference.intervene(ASIA, {"either": "yes"}).take([0], axis=ASIA.names.index("dysp"))
    assert facts["probability_of_evidence"] == pytest.approx(joint.sum(), rel=1e-12)
    assert sorted(facts["marginals"]) == sorted(set(ASIA.names) - {"either", "dysp"})
    for name, found in facts["marginals"].items():
        others = tuple(v for v in range(8) if v != ASIA.names.index(name))
        expected = joint.sum(axis=others) / joint.sum()
        np.testing.assert_allclose(found["probabilities"], expected, rtol=1e-12, atol=1e-13)
    assert "\nset                          either = yes\n" in good(*words).out


# ---------------------------------------------------------------------------------- joint, and most probable states


def test_the_joint_table_is_that_of_an_enumeration_in_the_order_of_the_names(asia: Path) -> None:
    names = ["xray", "smoke", "lung"]
    facts = facts_of("query", asia, *names, "--joint", "--given", "dysp=no")
    assert (facts["joint"]["names"], facts["joint"]["states"]) == (names, [["yes", "no"]] * 3)
    expected = inference.marginal(ASIA, names, {"dysp": "no"})
    np.testing.assert_allclose(facts["joint"]["probabilities"], expected, rtol=1e-12, atol=1e-13)
    assert "marginals" not in facts


def test_the_joint_text_has_a_line_a_configuration(tmp_path: Path) -> None:
    net = random_network(2, [2, 3, 2], sharp=2.0)
    lines = good("query", saved(net, tmp_path), "v1", "v0", "--joint").out.splitlines()
    assert lines[2].split() == ["v1", "v0", "probability"]
    cells = table_of(lines)
    assert [tuple(row[:2]) for row in cells] == list(itertools.product(["s0", "s1", "s2"], ["s0", "s1"]))
    expected = inference.marginal(net, ["v1", "v0"]).ravel()
    assert [float(row[2]) for row in cells] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("given", [{}, {"dysp": "yes"}, {"xray": "yes", "smoke": "no"}])
def test_the_most_probable_states_are_those_of_an_enumeration(asia: Path, given: dict[str, str]) -> None:
    words = [word for item in given.items() for word in ("--given", "=".join(item))]
    facts = facts_of("query", asia, "--most-probable", *words)
    table = inference.weights(ASIA, given)
    best = np.unravel_index(int(np.argmax(table)), table.shape)
    assert facts["most_probable"] == {v.name: v.states[k] for v, k in zip(ASIA.variables, best, strict=True)}
    assert facts["probability"] == pytest.approx(table.max() / table.sum(), rel=1e-12)
    assert facts["log_probability"] == pytest.approx(math.log(table.max() / table.sum()), rel=1e-12)
    lines = good("query", asia, "--most-probable", *words).out.splitlines()
    assert dict(table_of(lines)) == facts["most_probable"]
    assert f"{table.max() / table.sum():.6g} (log" in lines[lines.index("") - 1]


def test_what_was_set_is_among_the_most_probable_states(asia: Path) -> None:
    facts = facts_of("query", asia, "--most-probable", "--do", "lung=yes")
    table = inference.intervene(ASIA, {"lung": "yes"})
    best = np.unravel_index(int(np.argmax(table)), table.shape)
    assert facts["most_probable"] == {v.name: v.states[k] for v, k in zip(ASIA.variables, best, strict=True)}
    assert facts["probability"] == pytest.approx(table.max(), rel=1e-12)


def test_a_table_that_would_be_too_large_is_one_sentence(tmp_path: Path) -> None:
    roots, path = [f"x{i}" for i in range(5)], saved(inference.married(100), tmp_path)
    assert "10,000,000,000 cells is too large; " in refused("query", path, *roots, "--joint")
    assert "name fewer" in refused("query", path, *roots[:4], "--joint")  # 100^4: too many lines
    children = [word for pair in itertools.combinations(roots, 2) for word in ("--given", f"{''.join(pair)}=1")]
    larger = saved(inference.married(200), tmp_path)  # of 100 states a case each is not too much
    assert "320,000,000,000 cells" in refused("query", larger, "x0", *children)
    names = [f"v{i}" for i in range(70)]
    net = fn.BayesianNetwork.from_tables([fn.Variable(n, ["x"]) for n in names], {}, {n: [1.0] for n in names})
    assert "70 variables" in refused("query", saved(net, tmp_path), *names, "--joint")


# ------------------------------------------------------------------------------------------------------------- labels


def test_hostile_labels(tmp_path: Path) -> None:
    net = hostile()
    x, y = net.names
    model = saved(net, tmp_path)
    lines: list[list[object]] = [["query", model, y, "--given", f"{x}={state}"] for state in HOSTILE]
    there = processes([[*line, "--json"] for line in lines], tmp_path / "printed")
    for state, words, ended in zip(HOSTILE, lines, there, strict=True):
        facts = facts_of(*words)
        assert facts["given"] == {x: state}
        assert facts["marginals"][y]["states"] == HOSTILE
        expected = [0.93 if other == state else 0.01 for other in HOSTILE]
        assert facts["marginals"][y]["probabilities"] == pytest.approx(expected, rel=1e-12)
        assert len(good(*words).out.splitlines()) == 2 + 2 + 8  # no label breaks a line
        assert ended.facts == facts


@pytest.mark.parametrize(
    ("text", "state"), [("17", "<= 18"), ("18", "<= 18"), ("18.5", "> 18"), ("> 18", "> 18"), ("missing", "missing")]
)
def test_a_number_is_that_of_its_bin(tmp_path: Path, text: str, state: str) -> None:
    age = fn.Variable("age", ["<= 18", "> 18", "missing"], cuts=[18])
    net = fn.BayesianNetwork.from_tables([age], {}, {"age": [0.25, 0.5, 0.25]})
    assert facts_of("query", saved(net, tmp_path), "--given", f"age={text}")["given"] == {"age": state}


# --------------------------------------------------------------------------------------------------------- dependency


def test_marginals_of_a_dependency_network_are_estimates_with_their_errors(dependency: Path) -> None:
    net = fn.load(dependency)
    facts = facts_of("query", dependency, "cough", "age", "--given", "smoke=yes")
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
    facts = facts_of("query", dependency)
    assert list(facts["marginals"]) == list(net.names)
    for v, answer in enumerate(facts["marginals"].values()):
        exact = np.asarray(joint).reshape([2, 2, 2]).sum(axis=tuple(u for u in range(3) if u != v))
        assert (np.abs(np.array(answer["probabilities"]) - exact) < 6 * np.array(answer["standard_errors"])).all()


def test_a_joint_table_has_errors_too(dependency: Path) -> None:
    facts = facts_of("query", dependency, "cough", "age", "--joint")
    found = fn.infer.estimate(fn.load(dependency), ["cough", "age"], seed=facts["seed"])
    assert facts["joint"]["names"] == ["cough", "age"]
    assert facts["joint"]["probabilities"] == found.probabilities.tolist()
    assert facts["joint"]["standard_errors"] == found.standard_errors.tolist()
    assert len(good("query", dependency, "cough", "age", "--joint").out.splitlines()) == 1 + 1 + 1 + 4


def test_rare_evidence_is_noted_once(tmp_path: Path) -> None:
    variables = [fn.Variable(name, ["no", "yes"]) for name in "abc"]
    rare = {"a": [1 - 1e-9, 1e-9], "b": [0.5, 0.5], "c": [0.5, 0.5]}
    path = saved(fn.DependencyNetwork.from_tables(variables, {}, rare), tmp_path)
    assert good("query", path, "b", "c", "--given", "a=yes").err.count("what is given is rare") == 1


# ---------------------------------------------------------------------------------------------- beside a table's rows


def test_shares_of_a_table_stand_beside_the_answers(asia: Path, tmp_path: Path) -> None:
    table = ASIA.sample(500, seed=2)
    fn.write_table(table, tmp_path / "a.csv")
    for words in (["smoke", "lung"], ["smoke", "lung", "--joint"]):
        facts = facts_of("query", asia, *words, "--given", "dysp=no", "--data", tmp_path / "a.csv")
        answers = [facts["joint"]] if "joint" in facts else facts["marginals"].values()
        asked = [["smoke", "lung"]] if "joint" in facts else ["smoke", "lung"]
        for names, answer in zip(asked, answers, strict=True):
            beside = ASIA.query(names, given={"dysp": "no"}).beside(table)
            assert answer["shares"] == beside.shares.tolist()
            assert answer["differs"] == beside.differs.tolist()
            assert (answer["rows"], answer["rows_left_out"]) == (beside.n_rows, 0)
    lines = good("query", asia, "smoke", "--given", "dysp=no", "--data", tmp_path / "a.csv").out.splitlines()
    assert lines[2] == "beside                       500 rows"
    assert table_of(lines)[0][0] == "smoke"
    assert table_of(lines)[0][-1] == str(ASIA.query("smoke", given={"dysp": "no"}).beside(table).n_rows)


def test_a_share_that_disagrees_is_marked(asia: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("smoke,n\nyes,90\nno,10\n,7\n")
    lines = good("query", asia, "smoke", "--data", tmp_path / "a.csv", "--weights", "n").out.splitlines()
    assert lines[1] == "beside                       3 rows, weighted; up to 1 left out for a missing cell"
    assert lines[-3].split() == ["smoke", "yes", "0.5", "0.9", "*", "2"]
    assert lines[-1].startswith("* the rows disagree")


def test_rows_are_beside_what_rows_can_show(asia: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("smoke\nyes\n")
    words = ("query", asia, "--data", tmp_path / "a.csv")
    assert "say nothing of --do" in refused(*words, "smoke", "--do", "lung=yes")
    assert "say nothing of --most-probable" in refused(*words, "--most-probable")
    assert "--weights is about the rows of --data" in refused("query", asia, "--weights", "n")
    assert "'lung'" in refused(*words, "lung")


def test_the_rows_behind_an_answer(tmp_path: Path) -> None:
    rows = ASIA.sample(400, seed=1)
    clinic = ["a" if i % 3 else "b" for i in range(400)]
    frame = rows.to_frame().append_column("clinic", [clinic])
    csv.write_csv(frame, tmp_path / "a.csv")
    net = fn.learn.bayesian_network(fn.read_table(tmp_path / "a.csv", exclude=["clinic"]))
    words = ["query", saved(net, tmp_path), "lung", "--given", "dysp=yes", "--why", tmp_path / "a.csv"]
    facts = facts_of(*words, "--by", "clinic")["why"]
    why = fn.explain.rows(net, rows, query="lung", given={"dysp": "yes"})
    assert facts["value"] == pytest.approx(why.answer, rel=1e-12)
    assert facts["ends"][0]["influence"] == pytest.approx(why.values.max(), rel=1e-9)
    assert facts["ends"][-1]["influence"] == pytest.approx(why.values.min(), rel=1e-9)
    groups = {group["label"]: group for group in facts["groups"]}
    for group in why.by(clinic):
        assert groups[group.label]["without"] == pytest.approx(group.without, rel=1e-9)
    lines = good(*words).out.splitlines()
    assert lines[-11].split()[:2] == ["row", "influence"]


@pytest.mark.parametrize(
    "words", [["lung", "tub"], ["lung", "--do", "smoke=yes"], ["lung", "--likely", "xray=yes:.5,no:.1"]]
)
def test_one_answer_is_explained(words: list[str], asia: Path, tmp_path: Path) -> None:
    assert "--why explains the answer for one NAME" in refused("query", asia, *words, "--why", tmp_path / "a.csv")


def test_dates_of_a_gaussian_network_are_dates(tmp_path: Path) -> None:
    """A linear network keeps what its columns are: learned, asked, scored and predicted with the words of the table."""
    rng = np.random.default_rng(0)
    days = np.datetime64("2020-01-01") + np.arange(200)
    a = np.arange(200) / 50 + rng.normal(size=200)
    table, model = tmp_path / "t.csv", tmp_path / "m.json"
    table.write_text("day,a\n" + "".join(f"{day},{x:.3f}\n" for day, x in zip(days, a, strict=True)))
    good("learn", table, "-o", model, "--score", "fractional")
    mean = facts_of("query", model, "day", "--given", "a=2")["normal"]["mean"][0]
    assert np.datetime64(mean, "D") in days
    assert "day = 2020-05-05" in good("query", model, "a", "--given", "day=2020-05-05").out
    assert facts_of("query", model, "--most-probable", "--given", "a=2")["most_probable"]["day"] == mean
    assert facts_of("score", model, table)["rows"] == 200
    predicted = facts_of("predict", model, table, "--target", "day")["predicted"]
    assert all(np.datetime64(day, "D") > np.datetime64("2019-01-01") for day in predicted)
