from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.cli.options import known_states, state_of
from tests.cli.running import good, process, refused, run
from tests.networks import random_network
from tests.reference import inference

ASIA = fn.datasets.load("asia")


@pytest.fixture
def asia(tmp_path: Path) -> Path:
    path = tmp_path / "asia.json"
    fn.save(ASIA, path)
    return path


def saved(net: fn.BayesianNetwork, folder: Path) -> Path:
    fn.save(net, folder / "m.json")
    return folder / "m.json"


def table_of(lines: list[str]) -> list[list[str]]:
    """The cells of the table below the facts; a name stands once for all its states."""
    return [line.split() for line in lines[lines.index("") + 2 :]]


# ---------------------------------------------------------------------------------------------------------- marginals


@pytest.mark.parametrize("words", [[], ["--given", "dysp=yes"], ["--given", "xray=yes", "--given", "asia=no"]])
def test_without_a_name_all_unknown_variables_have_the_probabilities_of_an_enumeration(
    asia: Path, words: list[str]
) -> None:
    given = dict(word.split("=") for word in words if "=" in word)
    facts = good("query", asia, *words, "--json").facts
    assert facts["given"] == given
    assert list(facts["marginals"]) == [name for name in ASIA.names if name not in given]
    for name, found in facts["marginals"].items():
        assert found["states"] == ["yes", "no"]
        expected = inference.marginal(ASIA, [name], given)
        np.testing.assert_allclose(found["probabilities"], expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("n", [1, 4, 5, 8])
def test_the_number_of_names_changes_how_they_are_found_but_not_what(asia: Path, n: int) -> None:
    names = [*reversed(ASIA.names)][:n]
    facts = good("query", asia, *names, "--given", "xray=yes", "--json").facts
    assert list(facts["marginals"]) == names
    for name in names:
        expected = inference.marginal(ASIA, [name], {"xray": "yes"})
        np.testing.assert_allclose(facts["marginals"][name]["probabilities"], expected, rtol=1e-12, atol=1e-13)


def test_one_plan_answers_for_all_variables(asia: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = good("query", asia).out
    monkeypatch.delattr("fishernet.cli.query.marginal")
    assert good("query", asia).out == out
    assert good("query", asia, *ASIA.names).out == out


@pytest.mark.parametrize("seed", range(6))
def test_random_networks_with_unequal_states(tmp_path: Path, seed: int) -> None:
    net = random_network(seed, [3, 1, 2, 4, 2], sharp=2.0)
    facts = good("query", saved(net, tmp_path), "--given", "v3=s2", "--json").facts
    for name, found in facts["marginals"].items():
        expected = inference.marginal(net, [name], {"v3": "s2"})
        np.testing.assert_allclose(found["probabilities"], expected, rtol=1e-12, atol=1e-13)


def test_text_has_a_line_a_state(asia: Path) -> None:
    lines = good("query", asia, "lung", "either", "--given", "smoke=yes").out.splitlines()
    assert lines[:2] == ["given                        smoke = yes", "probability of the evidence  0.5 (log -0.6931)"]
    either = 1 - 0.9 * (1 - 0.0104)
    cells = table_of(lines)
    assert [row[:-1] for row in cells] == [["lung", "yes"], ["no"], ["either", "yes"], ["no"]]
    assert [float(row[-1]) for row in cells] == pytest.approx([0.1, 0.9, either, 1 - either], rel=1e-5)


def test_a_name_that_is_given_has_all_mass_at_its_state(asia: Path) -> None:
    facts = good("query", asia, "smoke", "--given", "smoke=no", "--json").facts
    assert facts["marginals"] == {"smoke": {"states": ["yes", "no"], "probabilities": [0.0, 1.0]}}


def test_where_all_is_given_there_is_the_evidence_alone(tmp_path: Path) -> None:
    net = fn.BayesianNetwork.from_tables([fn.Variable("a", ["x", "y"])], {}, {"a": [0.25, 0.75]})
    path = saved(net, tmp_path)
    assert good("query", path, "--given", "a=x").out.splitlines() == [
        "given                        a = x",
        "probability of the evidence  0.25 (log -1.3863)",
    ]
    assert good("query", path, "--given", "a=x", "--json").facts["marginals"] == {}


def test_a_model_without_variables_has_nothing_to_say(tmp_path: Path) -> None:
    path = saved(fn.BayesianNetwork.from_tables([], {}, {}), tmp_path)
    assert good("query", path, "--json").facts["marginals"] == {}


# ----------------------------------------------------------------------------------------------------------- evidence


def test_the_probability_of_the_evidence_is_that_of_all_that_is_given(asia: Path) -> None:
    facts = good("query", asia, "--given", "smoke=yes", "--given", "bronc=no", "--json").facts
    assert facts["probability_of_evidence"] == pytest.approx(0.5 * 0.4, rel=1e-12)
    assert facts["log_probability_of_evidence"] == pytest.approx(math.log(0.2), rel=1e-12)
    facts = good("query", asia, "--json").facts
    assert (facts["probability_of_evidence"], facts["log_probability_of_evidence"]) == (1, 0)


def test_evidence_too_improbable_for_a_number_has_a_logarithm(tmp_path: Path) -> None:
    names = [f"v{i}" for i in range(400)]
    net = fn.BayesianNetwork.from_tables(
        [fn.Variable(n, ["x", "y"]) for n in names], {}, {n: [0.01, 0.99] for n in names}
    )
    words = [word for name in names[1:] for word in ("--given", f"{name}=x")]
    facts = good("query", saved(net, tmp_path), *words, "--json").facts
    assert facts["probability_of_evidence"] == 0
    assert facts["log_probability_of_evidence"] == pytest.approx(399 * math.log(0.01), rel=1e-12)
    assert facts["marginals"]["v0"]["probabilities"] == pytest.approx([0.01, 0.99], rel=1e-12)


def test_the_same_said_twice_is_said_once(asia: Path) -> None:
    twice = good("query", asia, "lung", "--given", "smoke=yes", "--given", "smoke=yes", "--json").facts
    assert twice == good("query", asia, "lung", "--given", "smoke=yes", "--json").facts


# --------------------------------------------------------------------------------------------------- what is set (do)


def test_what_is_seen_tells_of_its_causes_and_what_is_set_does_not(asia: Path) -> None:
    seen = good("query", asia, "smoke", "--given", "bronc=yes", "--json").facts
    done = good("query", asia, "smoke", "--do", "bronc=yes", "--json").facts
    both = 0.5 * 0.6 + 0.5 * 0.3
    assert seen["marginals"]["smoke"]["probabilities"] == pytest.approx([0.5 * 0.6 / both, 0.5 * 0.3 / both], rel=1e-12)
    assert done["marginals"]["smoke"]["probabilities"] == pytest.approx([0.5, 0.5], rel=1e-12)
    assert (seen["given"], seen["do"]) == ({"bronc": "yes"}, {})
    assert (done["given"], done["do"]) == ({}, {"bronc": "yes"})


def test_what_is_given_is_seen_after_what_was_set(asia: Path) -> None:
    facts = good("query", asia, "--do", "either=yes", "--given", "dysp=yes", "--json").facts
    joint = inference.intervene(ASIA, {"either": "yes"}).take([0], axis=ASIA.names.index("dysp"))
    assert facts["probability_of_evidence"] == pytest.approx(joint.sum(), rel=1e-12)
    assert sorted(facts["marginals"]) == sorted(set(ASIA.names) - {"either", "dysp"})
    for name, found in facts["marginals"].items():
        others = tuple(v for v in range(8) if v != ASIA.names.index(name))
        expected = joint.sum(axis=others) / joint.sum()
        np.testing.assert_allclose(found["probabilities"], expected, rtol=1e-12, atol=1e-13)
    text = good("query", asia, "--do", "either=yes", "--given", "dysp=yes").out
    assert "\nset                          either = yes\n" in text


# -------------------------------------------------------------------------------------------------------------- joint


def test_the_joint_table_is_that_of_an_enumeration_in_the_order_of_the_names(asia: Path) -> None:
    names = ["xray", "smoke", "lung"]
    facts = good("query", asia, *names, "--joint", "--given", "dysp=no", "--json").facts
    assert facts["joint"]["names"] == names
    assert facts["joint"]["states"] == [["yes", "no"]] * 3
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


# ------------------------------------------------------------------------------------------- the most probable states


@pytest.mark.parametrize("given", [{}, {"dysp": "yes"}, {"xray": "yes", "smoke": "no"}])
def test_the_most_probable_states_are_those_of_an_enumeration(asia: Path, given: dict[str, str]) -> None:
    words = [word for item in given.items() for word in ("--given", "=".join(item))]
    facts = good("query", asia, "--most-probable", *words, "--json").facts
    table = inference.weights(ASIA, given)
    best = np.unravel_index(int(np.argmax(table)), table.shape)
    assert facts["most_probable"] == {v.name: v.states[k] for v, k in zip(ASIA.variables, best, strict=True)}
    assert facts["probability"] == pytest.approx(table.max() / table.sum(), rel=1e-12)
    assert facts["log_probability"] == pytest.approx(math.log(table.max() / table.sum()), rel=1e-12)
    lines = good("query", asia, "--most-probable", *words).out.splitlines()
    assert dict(table_of(lines)) == facts["most_probable"]
    assert f"{table.max() / table.sum():.6g} (log" in lines[lines.index("") - 1]


def test_what_was_set_is_among_the_most_probable_states(asia: Path) -> None:
    facts = good("query", asia, "--most-probable", "--do", "lung=yes", "--json").facts
    table = inference.intervene(ASIA, {"lung": "yes"})
    best = np.unravel_index(int(np.argmax(table)), table.shape)
    assert facts["most_probable"] == {v.name: v.states[k] for v, k in zip(ASIA.variables, best, strict=True)}
    assert facts["probability"] == pytest.approx(table.max(), rel=1e-12)


# ------------------------------------------------------------------------------------------------- labels and numbers


HOSTILE = ["a,b", 'q"uo', "x=y", "=", "new\nline", " sp", "é \U0001f600", ""]


def hostile() -> fn.BayesianNetwork:
    x, y = fn.Variable("p = q, r", HOSTILE), fn.Variable("é;y", HOSTILE)
    copies = 0.92 * np.eye(8) + 0.01
    return fn.BayesianNetwork.from_tables([x, y], {"é;y": ["p = q, r"]}, {"p = q, r": [1 / 8] * 8, "é;y": copies})


@pytest.mark.parametrize("state", HOSTILE)
def test_hostile_labels(tmp_path: Path, state: str) -> None:
    path = saved(hostile(), tmp_path)
    facts = good("query", path, "é;y", "--given", f"p = q, r={state}", "--json").facts
    assert facts["given"] == {"p = q, r": state}
    assert facts["marginals"]["é;y"]["states"] == HOSTILE
    expected = [0.93 if other == state else 0.01 for other in HOSTILE]
    assert facts["marginals"]["é;y"]["probabilities"] == pytest.approx(expected, rel=1e-12)
    lines = good("query", path, "é;y", "--given", f"p = q, r={state}").out.splitlines()
    assert len(lines) == 2 + 2 + 8  # no label breaks a line


def test_names_reach_a_process_as_they_are(tmp_path: Path) -> None:
    ended = process("query", saved(hostile(), tmp_path), "é;y", "--given", "p = q, r=x=y", "--json")
    assert (ended.status, ended.err) == (0, "")
    assert ended.facts["given"] == {"p = q, r": "x=y"}


def test_the_first_equals_sign_behind_a_name_divides() -> None:
    a, longer = fn.Variable("a", ["b=c", "c"]), fn.Variable("x=y", ["a", "=a"])
    assert known_states(["a=b=c"], "--given", [a, fn.Variable("a=b", ["c"])]) == {"a": "b=c"}
    assert known_states(["x=y==a", "a=c"], "--given", [a, longer]) == {"x=y": "=a", "a": "c"}


@pytest.mark.parametrize(
    ("states", "text", "state"),
    [
        ([1, 2, 3], "3", 3),
        ([1, 2, 3], "3.0", 3),
        ([0.5, 2.0], "2", 2.0),
        ([False, True], "true", True),
        ([False, True], "False", False),
        ([1, "1"], "1", "1"),
        (["NA", "?"], "NA", "NA"),
        (["01", 1], "01", "01"),
    ],
)
def test_a_state_is_looked_up_as_a_cell_of_a_text_file_is(states: list[Any], text: str, state: Any) -> None:
    found = state_of(fn.Variable("v", states), text)
    assert (found, type(found)) == (state, type(state))


@pytest.mark.parametrize(
    ("text", "state"), [("17", "<= 18"), ("18", "<= 18"), ("18.5", "> 18"), ("> 18", "> 18"), ("missing", "missing")]
)
def test_a_number_is_that_of_its_bin(tmp_path: Path, text: str, state: str) -> None:
    age = fn.Variable("age", ["<= 18", "> 18", "missing"], cuts=[18])
    net = fn.BayesianNetwork.from_tables([age], {}, {"age": [0.25, 0.5, 0.25]})
    assert good("query", saved(net, tmp_path), "--given", f"age={text}", "--json").facts["given"] == {"age": state}


def test_numbers_and_truth_values_stay_what_they_are_in_json(tmp_path: Path) -> None:
    net = fn.BayesianNetwork.from_tables(
        [fn.Variable("n", [1, 2]), fn.Variable("b", [False, True])], {}, {"n": [0.25, 0.75], "b": [0.5, 0.5]}
    )
    facts = good("query", saved(net, tmp_path), "--given", "n=2", "--do", "b=true", "--json").facts
    assert facts["given"] == {"n": 2}
    assert facts["do"]["b"] is True


# ------------------------------------------------------------------------------------------------- files and refusals


def test_what_fails_leaves_the_old_file(asia: Path) -> None:
    path = asia.with_name("answer.txt")
    path.write_text("old", encoding="utf-8")
    refused("query", asia, "--given", "either=no", "--given", "lung=yes", "-o", path)
    assert path.read_text(encoding="utf-8") == "old"
    assert sorted(p.name for p in asia.parent.iterdir()) == ["answer.txt", "asia.json"]


def test_what_is_interrupted_half_way_leaves_the_old_file(asia: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = asia.with_name("answer.txt")
    path.write_text("old", encoding="utf-8")

    def interrupted(value: float) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("fishernet.cli.query._probability", interrupted)
    assert run("query", asia, "-o", path).status == 130
    assert path.read_text(encoding="utf-8") == "old"
    assert sorted(p.name for p in asia.parent.iterdir()) == ["answer.txt", "asia.json"]


@pytest.mark.parametrize("words", [[], ["smoke"], ["smoke", "bronc", "--joint"], ["--most-probable"]])
def test_impossible_evidence_is_one_sentence(asia: Path, words: list[str]) -> None:
    message = refused("query", asia, *words, "--given", "either=no", "--given", "lung=yes")
    assert "probability 0" in message
    assert "either = 'no', lung = 'yes'" in message
    assert "smoothing above 0" in message


def test_impossible_evidence_is_refused_where_nothing_else_is_asked(tmp_path: Path) -> None:
    net = fn.BayesianNetwork.from_tables([fn.Variable("a", ["x", "y"])], {}, {"a": [0.0, 1.0]})
    assert "probability 0" in refused("query", saved(net, tmp_path), "--given", "a=x")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nope"], "no variable 'nope'; there are 'asia', 'tub'"),
        (["lung", "lung"], "'lung' appears more than once"),
        (["--given", "smoke"], "--given takes NAME=STATE, not 'smoke'"),
        (["--do", ""], "--do takes NAME=STATE, not ''"),
        (["--given", "smok=yes"], "--given: no variable 'smok'; there are 'asia', 'tub'"),
        (["--do", "=yes"], "--do: no variable ''; there are 'asia', 'tub'"),
        (["--given", "smoke=perhaps"], "'smoke' has no state 'perhaps'; it has 'yes', 'no'"),
        (["--do", "smoke= yes"], "'smoke' has no state ' yes'; it has 'yes', 'no'"),
        (["--given", "smoke="], "'smoke' has no state ''"),
        (["--given", "lung=yes", "--given", "lung=no"], "--given names 'lung' twice, with the states 'yes' and 'no'"),
        (["--do", "lung=no", "--do", "lung=yes"], "--do names 'lung' twice, with the states 'no' and 'yes'"),
        (["--given", "lung=yes", "--do", "lung=yes"], "'lung' is in both --given and --do"),
        (["--joint"], "--joint needs the NAMEs"),
        (["lung", "--most-probable"], "--most-probable is about all variables"),
        (["--joint", "--most-probable"], "--most-probable is about all variables"),
    ],
)
def test_bad_words_are_one_sentence(asia: Path, words: list[str], said: str) -> None:
    assert said in refused("query", asia, *words)


def test_a_table_that_would_be_too_large_is_one_sentence(tmp_path: Path) -> None:
    net = inference.married(100)
    roots = [f"x{i}" for i in range(5)]
    path = saved(net, tmp_path)
    assert "10,000,000,000 cells is too large; " in refused("query", path, *roots, "--joint")
    assert "name fewer" in refused("query", path, *roots[:4], "--joint")  # 100^4: too many lines
    children = [word for pair in itertools.combinations(roots, 2) for word in ("--given", f"{''.join(pair)}=1")]
    assert "10,000,000,000 cells" in refused("query", path, "x0", *children)


def test_a_joint_table_of_many_certain_variables_is_one_sentence(tmp_path: Path) -> None:
    names = [f"v{i}" for i in range(70)]
    net = fn.BayesianNetwork.from_tables([fn.Variable(n, ["x"]) for n in names], {}, {n: [1.0] for n in names})
    assert "70 variables" in refused("query", saved(net, tmp_path), *names, "--joint")
