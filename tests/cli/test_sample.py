from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import fishernet as fn
from tests.cli.running import HOSTILE, coin, facts_of, good, labels_of, saved, written


@pytest.fixture
def markov(tmp_path: Path) -> Path:
    """Return a Markov network."""
    a, b = fn.Variable("a", ["x", "y"]), fn.Variable("b", ["x", "y"])
    return saved(fn.MarkovNetwork([a, b], [(("a", "b"), [[2.0, 1.0], [1.0, 3.0]])]), tmp_path / "markov.json")


@pytest.mark.parametrize("kind", ["model", "dependency", "markov"])
def test_the_rows_are_the_library_s_sample_wherever_they_go(kind: str, request: pytest.FixtureRequest) -> None:
    path: Path = request.getfixturevalue(kind)
    net, words = fn.load(path), ("sample", path, "-n", 50, "--seed", 4)
    drawn = net.sample(50, seed=4)
    assert good(*words).cells == [list(net.names), *labels_of(drawn)]
    facts = facts_of(*words)
    assert (facts["rows"], facts["seed"], facts["given"]) == (50, 4, {})
    assert [list(row) for row in zip(*facts["columns"].values(), strict=True)] == labels_of(drawn)
    for name in ("s.csv", "s.tsv.gz", "s.parquet", "s.arrow"):
        good(*words, "-o", path.with_name(name))
        assert fn.read_table(path.with_name(name), schema=net.variables) == drawn


def test_without_a_seed_the_rows_are_others_and_no_rows_are_a_header(model: Path) -> None:
    assert good("sample", model, "-n", 200).out != good("sample", model, "-n", 200).out
    assert good("sample", model, "-n", 0).out == "age,smoke,cough\n"


def test_labels_survive(tmp_path: Path) -> None:
    net = coin('n"ame, x', [*HOSTILE, "1", "NA"])
    path = written(tmp_path / "s.csv", good("sample", saved(net, tmp_path), "-n", 60, "--seed", 0).out)
    assert fn.read_table(path, schema=net.variables) == net.sample(60, seed=0)


# -------------------------------------------------------------------------------------- given what is known, in chains


@pytest.mark.parametrize(("kind", "given"), [("model", {"cough": "yes", "age": "young"}), ("markov", {"a": "x"})])
def test_given_what_is_known_the_rows_are_exact(
    kind: str, given: dict[str, str], request: pytest.FixtureRequest
) -> None:
    path: Path = request.getfixturevalue(kind)
    net, words = fn.load(path), [word for item in given.items() for word in ("--given", "=".join(item))]
    facts = facts_of("sample", path, "-n", 40, "--seed", 4, *words)
    assert facts["given"] == given
    assert [list(row) for row in zip(*facts["columns"].values(), strict=True)] == labels_of(
        fn.infer.sample(net, 40, given=given, seed=4)
    )
    if kind == "model":
        rows = good("sample", path, "-n", 20_000, "--seed", 5, *words).cells[1:]
        exact = fn.infer.marginal(net, ["smoke"], given=given)[1]
        share = np.mean([row[1] == "yes" for row in rows])
        assert {(row[0], row[2]) for row in rows} == {("young", "yes")}
        assert abs(share - exact) < 5 * np.sqrt(exact * (1 - exact) / len(rows))


def test_chains_get_their_options(dependency: Path) -> None:
    words = ["--chains", 3, "--burn-in", 7, "--thin", 2, "--scan", "ordered", "--given", "smoke=yes"]
    rows = good("sample", dependency, "-n", 50, "--seed", 4, *words).cells[1:]
    options = {"chains": 3, "burn_in": 7, "thin": 2, "scan": "ordered", "given": {"smoke": "yes"}}
    assert rows == labels_of(fn.load(dependency).sample(50, seed=4, **options))
    assert {row[1] for row in rows} == {"yes"}


def test_raw_output_changes_one_variable_at_a_time(dependency: Path) -> None:
    words = ["--burn-in", 0, "--thin", 1, "--given", "age=old"]
    rows = good("sample", dependency, "-n", 100, "--seed", 2, *words).cells[1:]
    changes = [sum(a != b for a, b in zip(*pair, strict=True)) for pair in itertools.pairwise(rows)]
    assert max(changes) == 1
    assert {row[0] for row in rows} == {"old"}


# -------------------------------------------------------------------------------------------------- numbers for bins


def test_numbers_are_drawn_within_bins(tmp_path: Path) -> None:
    rows = "".join(f"{i % 71},2021-{1 + i % 12:02}-01,{i / 8},{'ny'[i % 2]}\n" for i in range(300))
    path = written(tmp_path / "t.csv", "age,day,dose,sick\n" + rows)
    good("learn", path, "--bins", 3, "-o", tmp_path / "m.json")
    words = ("sample", tmp_path / "m.json", "-n", 80, "--seed", 4)
    drawn = fn.load(tmp_path / "m.json").sample(80, seed=4)
    good(*words, "-o", tmp_path / "s.csv")
    assert fn.read_table(tmp_path / "s.csv", schema=drawn.variables) == drawn  # the bins of the same seed
    header, *lines = good(*words).cells
    assert header == ["age", "day", "dose", "sick"]
    assert all(0 <= int(line[0]) <= 70 and 0 <= float(line[2]) <= 37.5 for line in lines)
    assert all("2021-01-01" <= line[1] <= "2021-12-01" and len(line[1]) == 10 for line in lines)
    facts = facts_of(*words)
    assert facts["columns"]["day"] == [line[1] for line in lines]
    assert facts["columns"]["age"] == [int(line[0]) for line in lines]
    assert good(*words, "--bins").cells[1][0] in drawn.variables[0].states


def test_rows_lie_within_the_range_that_is_given(tmp_path: Path) -> None:
    rows = "".join(f"{i % 71},{'ny'[i % 71 // 40]},{(i * 7 % 71) / 2}\n" for i in range(700))
    path = written(tmp_path / "t.csv", "age,sick,dose\n" + rows)
    for words in (["--bins", 3], []):
        good("learn", path, *words, "-o", tmp_path / "m.json")
        lines = good("sample", tmp_path / "m.json", "-n", 200, "--seed", 1, "--given", "age>50", "--given", "sick=n,y")
        ages = [float(line[0]) for line in lines.cells[1:]]
        assert min(ages) >= 51
        assert len(set(ages)) > 10
