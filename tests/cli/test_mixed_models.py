"""Networks of labels and numbers through the commands: learned with --bins none, asked, and used on tables."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

import fishernet as fn
from tests.cli.running import facts_of, good, refused, written


@pytest.fixture(scope="module")
def rows() -> dict[str, list[str]]:
    rng = np.random.default_rng(1)
    sex = rng.integers(0, 2, 400)
    height = np.where(sex == 1, 180, 167) + rng.normal(0, 6, 400)
    weight = 0.9 * height - 80 + 5 * sex + rng.normal(0, 5, 400)
    income = np.exp(rng.normal(10, 0.8, 400))
    numbers = {"height": height.round(1), "weight": weight.round(1), "income": income.round(0)}
    return {"sex": np.array(["f", "m"])[sex].tolist()} | {name: list(map(str, of)) for name, of in numbers.items()}


def text(columns: dict[str, list[str]]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows([list(columns), *zip(*columns.values(), strict=True)])
    return out.getvalue()


@pytest.fixture
def people(tmp_path: Path, rows: dict[str, list[str]]) -> Path:
    return written(tmp_path / "people.csv", text(rows))


@pytest.fixture
def model(people: Path, tmp_path: Path) -> Path:
    path = tmp_path / "people.json"
    good("learn", people, "--holdout", "0", "-o", path)
    return path


def test_learning_keeps_numbers_and_tells_their_scales(people: Path, model: Path) -> None:
    net = fn.load(model)
    assert [variable.is_continuous for variable in net.variables] == [False, True, True, True]
    facts = facts_of("learn", people, "--holdout", 0, "--json")
    assert facts["columns"] == {"categorical": ["sex"], "continuous": ["height", "weight", "income"]}
    assert facts["scales"] == {"income": "log(x)"}
    pairs = (("sex", "height"), ("height", "weight"), ("sex", "weight"))
    assert {frozenset(arc) for arc in facts["arcs"]} == {frozenset(pair) for pair in pairs}
    assert "'income' is taken as log(x)" in good("describe", people).out


def test_questions_are_answered_with_probabilities_and_with_numbers(model: Path) -> None:
    net = fn.load(model)
    facts = facts_of("query", model, "--given", "weight=90", "--json")
    assert facts["marginals"]["sex"]["probabilities"] == pytest.approx(net.query("sex", given={"weight": 90}).array)
    of_height = net.query("height", given={"weight": 90})
    assert facts["numbers"]["height"] == pytest.approx(of_height.to_dict())
    assert f"{of_height.median:.6g}" in good("query", model, "height", "--given", "weight=90").out
    done = facts_of("query", model, "height", "--do", "sex=m", "--json")["numbers"]["height"]["mean"]
    assert done == pytest.approx(net.query("height", given={"sex": "m"}).mean)  # sex has no parents
    best = facts_of("query", model, "--most-probable", "--given", "weight=95", "--json")["most_probable"]
    assert best == fn.infer.most_probable(net, given={"weight": 95})


def test_rows_are_predicted_filled_scored_drawn_chosen_and_found(people: Path, model: Path, tmp_path: Path) -> None:
    net, table = fn.load(model), fn.read_table(people)
    predicted = facts_of("predict", model, people, "--target", "weight", "--json")
    assert predicted["predicted"] == pytest.approx(np.asarray(net.predict(table, "weight")))
    assert predicted["root_mean_square_error"] < 6
    assert facts_of("predict", model, people, "--target", "sex", "--json")["accuracy"] > 0.8
    scored = facts_of("score", model, people, "--score", "bic", "--json")
    assert scored["log_likelihood"] == pytest.approx(net.log_prob(table).sum())
    assert len(facts_of("sample", model, "-n", "7", "--seed", "1", "--given", "sex=f", "--json")["columns"]["sex"]) == 7
    assert len(good("select", model, people, "-k", "3").cells) == 4
    assert good("similar", model, people, "--row", "3").out.splitlines()[1].startswith("3 ")
    lines = people.read_text().splitlines()
    lines[1] = ",".join(["", *lines[1].split(",")[1:]])
    lines[2] = ",".join([*lines[2].split(",")[:2], "", lines[2].split(",")[3]])
    gaps = written(tmp_path / "gaps.csv", "\n".join(lines) + "\n")
    filled = good("impute", model, gaps).cells
    assert filled[1][0] in ("f", "m")
    assert abs(float(filled[2][2]) - float(people.read_text().splitlines()[2].split(",")[2])) < 25


def test_what_numbers_cannot_do_is_refused_with_a_reason(people: Path, model: Path, tmp_path: Path) -> None:
    assert "'height' has none" in refused("query", model, "height", "sex", "--joint")
    assert "'age'" in refused("query", model, "age")
    assert "--bins none" in refused("cluster", people, "-k", 2, "--bins", "none")


def test_drawn_numbers_are_rounded_as_those_of_the_table(model: Path) -> None:
    rows = facts_of("sample", model, "-n", 50, "--seed", 1, "--given", "weight=80.123", "--json")["columns"]
    assert set(rows["weight"]) == {80.123}
    assert all(height == round(height, 1) and len(str(height)) <= 5 for height in rows["height"])
    assert len(set(rows["height"])) > 20
    assert all(income == int(income) for income in rows["income"])


def test_a_naive_bayes_classifier_has_numbers_as_they_are(people: Path, tmp_path: Path) -> None:
    path = tmp_path / "bayes.json"
    facts = facts_of("learn", people, "--model", "naive-bayes", "--target", "sex", "--holdout", 0.3, "-o", path)
    assert facts["held_out_accuracy"] > 0.8
    assert fn.load(path).values == "mixed"
    facts_of("learn", people, "--model", "naive-bayes", "--target", "sex", "--missing", "em", "-o", path)
    assert fn.load(path).values == "mixed"


def test_the_remedy_for_a_column_that_was_cut_works_as_printed(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    hours = np.where(rng.random(300) < 0.4, 0.0, rng.normal(40, 5, 300).round(1))
    path = written(tmp_path / "hours.csv", "who,hours\n" + "".join(f"{'ab'[n % 2]},{x}\n" for n, x in enumerate(hours)))
    told = good("learn", path).err
    assert "'hours' (" in told
    assert "type --bins none to keep them as they are" in told
    assert "hours" in facts_of("learn", path, "--bins", "none")["columns"]["continuous"]
    assert "'hours'" not in good("learn", path, "--bins", "none").err


def test_a_number_is_set_by_intervention(model: Path) -> None:
    """To set a weight tells nothing of the height that it depends on, and to see it does."""
    assert "weight" in {child for parent, child in fn.load(model).edges if parent == "height"}
    before = facts_of("query", model, "height", "--json")["numbers"]["height"]["mean"]
    seen = facts_of("query", model, "height", "--given", "weight=110", "--json")["numbers"]["height"]["mean"]
    done = facts_of("query", model, "height", "--do", "weight=110", "--json")
    assert seen > before + 5
    assert done["do"] == {"weight": 110.0}
    assert done["numbers"]["height"]["mean"] == pytest.approx(before)


def test_a_held_out_row_that_outweighs_all_others_is_told(tmp_path: Path) -> None:
    """Totals are sums, to the rounding; of one row that is held out a digit is wrong."""
    random = np.random.default_rng(1)
    parts = random.normal(50, 10, (200, 2)).round(1)
    total = (parts.sum(axis=1) + random.normal(0, 0.01, 200)).round(2)
    rows = fn.Table.from_frame(
        {"a": parts[:, 0], "b": parts[:, 1], "total": total, "place": range(200)}, continuous=["place"]
    )
    last = int(fn.learn.hold_out(rows, 0.2, seed=0)[1]["place"][0])
    total[last] += 30
    path = written(
        tmp_path / "sums.csv",
        text({"a": list(map(str, parts[:, 0])), "b": list(map(str, parts[:, 1])), "total": list(map(str, total))}),
    )
    facts = facts_of("learn", path)
    mean, others = (facts[f"held_out_log_likelihood_per_row{end}"] for end in ("", "_of_others"))
    assert mean + 10 < others
    assert f"per row ({others:,.4f} without the one that is least probable)" in good("learn", path).out
