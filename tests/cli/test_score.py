from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fishernet as fn
from fishernet.cli.score import least_likely
from tests.cli.running import good, refused
from tests.networks import random_network


def test_json_says_what_the_library_says(model: Path, csv: Path) -> None:
    net, table = fn.load(model), fn.read_table(csv)
    facts = good("score", model, csv, "--json", "--score", "aic", "--rows").facts
    logs = net.log_prob(table)
    assert facts["rows"] == 100
    assert facts["log_likelihood"] == logs.sum()
    assert facts["log_likelihood_per_row"] == logs.mean()
    assert facts["row_log_likelihoods"] == logs.tolist()
    assert facts["impossible_rows"] == 0
    assert (facts["score"], facts["score_value"]) == ("aic", fn.score(net.dag, table, "aic"))
    text = good("score", model, csv, "--score", "aic").out
    for value in (logs.sum(), logs.mean(), facts["score_value"]):
        assert f"{value:,.4f}" in text


def test_rows_are_one_number_a_line_and_nothing_else(model: Path, csv: Path, tmp_path: Path) -> None:
    logs = fn.load(model).log_prob(fn.read_table(csv))
    out = good("score", model, csv, "--rows").out
    assert [float(line) for line in out.splitlines()] == logs.tolist()
    assert good("score", model, csv, "--rows", "-o", tmp_path / "rows.txt").out == ""
    assert (tmp_path / "rows.txt").read_text(encoding="utf-8") == out


def test_columns_and_states_in_another_order_give_the_same_numbers(model: Path, csv: Path) -> None:
    lines = [line.split(",") for line in csv.read_text(encoding="utf-8").splitlines()]
    turned = csv.with_name("turned.csv")
    turned.write_text("".join(f"{c},extra,{a},{b}\n" for a, b, c in [lines[0], *reversed(lines[1:])]), encoding="utf-8")
    straight = good("score", model, csv, "--json", "--rows").facts
    backward = good("score", model, turned, "--json", "--rows").facts
    assert backward["row_log_likelihoods"] == straight["row_log_likelihoods"][::-1]


@pytest.mark.parametrize("top", [1, 5, 7, 60, 1000])
def test_the_least_likely_cells_are_those_of_a_full_sort(monkeypatch: pytest.MonkeyPatch, top: int) -> None:
    net = random_network(3, [3, 2, 4, 2])
    table = net.sample(50, seed=1)
    terms = net.log_prob_terms(table)
    wanted = sorted((terms[row, v], row, v) for row in range(50) for v in range(4))[:top]
    for at_once in (2**22, 28, 1):  # in one block, in several, row by row
        monkeypatch.setattr("fishernet.cli.score.CELLS_AT_ONCE", at_once)
        found = least_likely(net, table, top)
        assert [(one["log_probability"], one["row"], net.names.index(one["variable"])) for one in found] == wanted
    for one in found:
        v = net.names.index(one["variable"])
        assert one["state"] == net.variables[v].states[table.codes[v][one["row"]]]
        assert list(one["given"]) == [net.names[p] for p in net.dag.parents[v]]
        for name, state in one["given"].items():
            p = net.names.index(name)
            assert state == net.variables[p].states[table.codes[p][one["row"]]]


def test_terms_tell_why_a_row_is_odd(tmp_path: Path) -> None:
    rain, wet = fn.Variable("rain", ["no", "yes"]), fn.Variable("wet", ["no", "yes"])
    copies = np.array([[0.999, 0.001], [0.1, 0.9]])
    net = fn.BayesianNetwork.from_tables([rain, wet], {"wet": ["rain"]}, {"rain": [0.8, 0.2], "wet": copies})
    fn.save(net, tmp_path / "m.json")
    (tmp_path / "t.csv").write_text("rain,wet\nno,no\nno,yes\nyes,yes\n", encoding="utf-8")
    out = good("score", tmp_path / "m.json", tmp_path / "t.csv", "--terms", "--top", 1).out
    assert out.splitlines()[-1].split() == ["1", f"{np.log(0.001):.4f}", *["wet", "=", "yes", "rain", "=", "no"]]
    facts = good("score", tmp_path / "m.json", tmp_path / "t.csv", "--terms", "--top", 1, "--json").facts
    assert facts["terms"] == [
        {"row": 1, "log_probability": np.log(0.001), "variable": "wet", "state": "yes", "given": {"rain": "no"}}
    ]


def test_impossible_rows_are_counted_and_null_in_json(tmp_path: Path) -> None:
    net = fn.BayesianNetwork.from_tables([fn.Variable("a", ["x", "y"])], {}, {"a": [1.0, 0.0]})
    fn.save(net, tmp_path / "m.json")
    (tmp_path / "t.csv").write_text("a\nx\ny\nx\n", encoding="utf-8")
    facts = good("score", tmp_path / "m.json", tmp_path / "t.csv", "--json", "--rows").facts
    assert facts["log_likelihood"] is None
    assert facts["impossible_rows"] == 1
    assert facts["row_log_likelihoods"] == [0.0, None, 0.0]
    out = good("score", tmp_path / "m.json", tmp_path / "t.csv").out
    assert "impossible rows         1" in out
    assert "-inf" in out


def test_weights_count_rows(model: Path, csv: Path) -> None:
    (csv.parent / "w.csv").write_text("age,smoke,cough,n\nold,no,no,3\nold,yes,no,0\nyoung,no,no,2\n", encoding="utf-8")
    facts = good("score", model, csv.parent / "w.csv", "--weights", "n", "--json").facts
    a, _, b = fn.load(model).log_prob(fn.read_table(csv.parent / "w.csv", schema=fn.load(model).variables))
    assert facts["rows"] == 5
    assert facts["log_likelihood"] == pytest.approx(3 * a + 2 * b, rel=1e-12)


def test_missing_cells(model: Path, csv: Path) -> None:
    text = csv.read_text(encoding="utf-8")
    csv.write_text(text.replace("old,yes,no", "old,yes,"), encoding="utf-8")
    assert "'cough' (5)" in refused("score", model, csv)
    assert good("score", model, csv, "--missing", "drop", "--json").facts["rows"] == 95
    assert "no state for them" in refused("score", model, csv, "--missing", "state")
    good("learn", csv, "--missing", "state", "-o", model)
    assert good("score", model, csv, "--missing", "state", "--json").facts["rows"] == 100


CYCLE = """network u { }
variable a { type discrete [ 2 ] { x, y }; }
variable b { type discrete [ 2 ] { x, y }; }
probability ( a | b ) { (x) 0.5, 0.5; (y) 0.5, 0.5; }
probability ( b | a ) { (x) 0.5, 0.5; (y) 0.5, 0.5; }
"""


def edited(model: Path, kind: str) -> tuple[str, str]:
    """Return a damaged model file's name and text."""
    text = model.read_text(encoding="utf-8")
    number = repr(float(fn.load(model).conditionals[0].probabilities.flat[0]))
    match kind:
        case "nan":
            return "bad.json", text.replace(number, "NaN", 1)
        case "sum":
            return "bad.json", text.replace(number, "0.9999", 1)
        case "truncated":
            return "bad.json", text[: len(text) // 2]
        case "newer":
            return "bad.json", text.replace('"version": 1', '"version": 1000')
        case "other":
            return "bad.json", '{"a": 1}'
        case "cycle":
            return "bad.bif", CYCLE
        case "half":
            return "bad.bif", CYCLE[:100]
        case _:
            return "bad.txt", text


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("nan", "NaN"),
        ("sum", "sum"),
        ("truncated", "ends early"),
        ("newer", "newer"),
        ("other", "no model file"),
        ("cycle", "cycle: a -> b -> a"),
        ("half", "bad.bif"),
        ("ending", ".json or .bif"),
    ],
)
def test_a_damaged_model_is_one_sentence(model: Path, csv: Path, kind: str, said: str) -> None:
    name, text = edited(model, kind)
    assert text != model.read_text(encoding="utf-8") or kind == "ending"
    path = model.with_name(name)
    path.write_text(text, encoding="utf-8")
    message = refused("score", path, csv)
    assert name in message
    assert said in message


def test_a_bad_value_is_one_sentence(model: Path, csv: Path) -> None:
    assert "'bic'" in refused("score", model, csv, "--score", "nope")
    assert "top must be an integer of at least 1" in refused("score", model, csv, "--terms", "--top", 0)
    assert "no such file" in refused("score", model.with_name("nope.json"), csv)
    assert "no directory" in refused("score", model, csv, "-o", csv.parent / "nowhere" / "x.txt")
