from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from tests.cli.running import ASIA, HOSTILE, ROWS, coin, facts_of, good, saved, written
from tests.networks import with_holes


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A network whose terms are known: of (0, 0, 0) and (0, 1, 0) with themselves 3, 4, 9, of both -4 for b."""
    a, b, c = (fn.Variable(name, ["0", "1"]) for name in "abc")
    tables: dict[str, Any] = {"a": [0.25, 0.75], "b": [[0.5, 0.5], [0.2, 0.8]], "c": [0.1, 0.9]}
    fn.save(fn.BayesianNetwork.from_tables([a, b, c], {"b": ["a"]}, tables), tmp_path / "small.json")
    (tmp_path / "small.csv").write_text("a,b,c\n0,0,0\n0,1,0\n", encoding="utf-8")
    return tmp_path / "small.json"


# ------------------------------------------------------------------------------------------------------------ numbers


@pytest.mark.parametrize("by", ["agreement", "fisher"])
def test_json_says_what_the_library_says(asia: Path, rows: Path, by: str) -> None:
    facts = facts_of("similar", asia, rows, "--row", 9, "-n", 25, *(["--by", by] if by == "fisher" else []))
    found = fn.select.similar(ASIA if by == "agreement" else fn.kernels.FisherKernel(ASIA), ROWS, 9, n=25)
    assert (facts["rows"], facts["row"]) == (200, 9)
    assert [one["row"] for one in facts["similar"]] == found.indices.tolist()
    assert [one["cosine"] for one in facts["similar"]] == found.cosines.tolist()
    assert [[*one["terms"]] for one in facts["similar"]] == [list(ASIA.names)] * 25
    assert [[*one["terms"].values()] for one in facts["similar"]] == found.by_variable.tolist()


def test_states_are_those_of_the_rows(asia: Path, rows: Path) -> None:
    facts = facts_of("similar", asia, rows, "--row", 3, "-n", 40)
    lines = [line.split(",") for line in rows.read_text(encoding="utf-8").splitlines()]
    for one in (facts, *facts["similar"]):
        assert [*one["states"]] == lines[0]
        assert [*one["states"].values()] == lines[one["row"] + 1]


# --------------------------------------------------------------------------------------------------------------- text


def test_text_names_what_adds_most(small: Path) -> None:
    path = small.with_suffix(".csv")
    assert good("similar", small, path, "--row", 0, "--by", "fisher").out.splitlines() == [
        "row  cosine  adds most to the cosine",
        "0    1.0000  c = 0 (+0.56), b = 0 (+0.25), a = 0 (+0.19)",
        "1    0.5000  c = 0 (+0.56), a = 0 (+0.19), b = 1 (-0.25)",
    ]
    assert good("similar", small, path, "--row", 0, "--top", 1, "-n", 1, "--by", "fisher").out.splitlines() == [
        "row  cosine  adds most to the cosine",
        "0    1.0000  c = 0 (+0.56)",
    ]


def test_equal_terms_come_in_the_order_of_the_variables_and_nothing_has_no_sign(tmp_path: Path) -> None:
    names = ["z", "y", "x"]
    net = fn.BayesianNetwork.from_tables(
        [fn.Variable(name, ["0", "1"]) for name in names] + [fn.Variable("w", ["only"])],
        {},
        {name: [0.5, 0.5] for name in names} | {"w": [1.0]},
    )
    fn.save(net, tmp_path / "m.json")
    (tmp_path / "t.csv").write_text("x,y,z,w\n0,1,0,only\n", encoding="utf-8")
    out = good("similar", tmp_path / "m.json", tmp_path / "t.csv", "--row", 0, "--top", 4).out
    assert out.splitlines()[1] == "0    1.0000  z = 0 (+0.33), y = 1 (+0.33), x = 0 (+0.33), w = only (+0.00)"


def test_a_term_too_small_to_show_has_no_minus(tmp_path: Path) -> None:
    """Of rows that share c = 0 and differ in a, a takes away 1 of 999 + 1."""
    a, c = fn.Variable("a", ["0", "1"]), fn.Variable("c", ["0", "1"])
    fn.save(fn.BayesianNetwork.from_tables([a, c], {}, {"a": [0.5, 0.5], "c": [0.001, 0.999]}), tmp_path / "m.json")
    (tmp_path / "t.csv").write_text("a,c\n0,0\n1,0\n", encoding="utf-8")
    out = good("similar", tmp_path / "m.json", tmp_path / "t.csv", "--row", 0, "--by", "fisher").out
    assert out.splitlines()[2] == "1    0.9980  c = 0 (+1.00), a = 1 (+0.00)"


# --------------------------------------------------------------------------------------------------- rows and columns


def test_ten_rows_unless_told_and_all_when_there_are_fewer(asia: Path, rows: Path, small: Path) -> None:
    assert len(facts_of("similar", asia, rows, "--row", 0)["similar"]) == 10
    assert len(facts_of("similar", small, small.with_suffix(".csv"), "--row", 1)["similar"]) == 2


def test_the_last_row_can_be_given(asia: Path, rows: Path) -> None:
    facts = facts_of("similar", asia, rows, "--row", 199, "-n", 200)
    assert facts["similar"][0]["cosine"] == pytest.approx(1, rel=1e-12)
    assert next(one for one in facts["similar"] if one["row"] == 199)["cosine"] == pytest.approx(1, rel=1e-12)


def test_missing_cells_are_states_of_their_own(csv: Path, model: Path) -> None:
    written(csv, csv.read_text(encoding="utf-8").replace("young,yes,yes", "young,,yes"))
    good("learn", csv, "--missing", "state", "-o", model)
    facts = facts_of("similar", model, csv, "--row", 30, "--missing", "state")
    assert facts["states"]["smoke"] == "missing"
    assert [one["row"] for one in facts["similar"]] == list(range(30, 40))


def test_hostile_labels(tmp_path: Path) -> None:
    net = coin("p = q, r\n", HOSTILE)
    fn.write_table(fn.Table.from_frame({"p = q, r\n": HOSTILE}, schema=net.variables), tmp_path / "t.csv")
    for row, state in enumerate(HOSTILE):
        words = ("similar", saved(net, tmp_path), tmp_path / "t.csv", "--row", row)
        facts = facts_of(*words)
        assert facts["states"] == facts["similar"][0]["states"] == {"p = q, r\n": state}
        assert len(good(*words).out.splitlines()) == 1 + 8  # no label breaks a line


def test_cells_are_shown_as_they_are_in_the_file(tmp_path: Path) -> None:
    """Numbers that the model has in bins, and columns that it does not know."""
    path = written(tmp_path / "t.csv", "id,age,sick\n" + "".join(f"p{i},{20 + i}.50,{i % 2}\n" for i in range(40)))
    good("learn", path, "--bins", 3, "--exclude", "id", "-o", tmp_path / "m.json")
    words = ("similar", tmp_path / "m.json", path, "--row", 7, "-n", 3)
    facts = facts_of(*words)
    for one in (facts, *facts["similar"]):
        row = one["row"]
        assert one["cells"] == {"id": f"p{row}", "age": f"{20 + row}.50", "sick": str(row % 2)}
    assert all(f"age = {20 + one['row']}.50" in good(*words).out for one in facts["similar"])
    assert facts["states"]["age"] == "<= 33.5"


def test_what_stands_for_a_missing_cell_is_shown(csv: Path, model: Path) -> None:
    written(csv, csv.read_text(encoding="utf-8").replace("young,yes,yes", "young,,yes"))
    good("learn", csv, "--missing", "state", "-o", model)
    words = ("similar", model, csv, "--row", 30, "--missing", "state")
    assert facts_of(*words)["cells"] == {"age": "young", "smoke": None, "cough": "yes"}
    assert "smoke = missing" in good(*words).out


def test_rows_with_missing_cells_are_compared_by_what_is_known(asia: Path, tmp_path: Path) -> None:
    holes = with_holes(ASIA, 100, 6, 0.2)
    path = tmp_path / "holes.csv"
    fn.write_table(holes, path)
    row = int(np.argmax(holes.column("dysp") == 2))  # one that lacks it
    words = ("similar", asia, path, "--row", row, "--missing", "keep", "--by", "fisher")
    facts = facts_of(*words, "-n", 100)
    found = fn.select.similar(fn.kernels.HiddenVariableKernel(ASIA), holes, row, n=100)
    assert [one["row"] for one in facts["similar"]] == found.indices.tolist()
    assert [one["cosine"] for one in facts["similar"]] == pytest.approx(found.cosines.tolist(), abs=1e-12)
    assert facts["states"]["dysp"] is None
    assert facts["cells"]["dysp"] is None
    first = good(*words, "-n", 1, "--top", 8).out.splitlines()[1]
    assert first.startswith(f"{found.indices[0]}")
    assert ("dysp = ? (" in first) == (holes.column("dysp")[found.indices[0]] == 2)


def test_without_holes_keeping_them_changes_nothing(asia: Path, rows: Path) -> None:
    plain, kept = (facts_of("similar", asia, rows, "--row", 9, *words) for words in ([], ["--missing", "keep"]))
    assert [one["row"] for one in kept["similar"]] == [one["row"] for one in plain["similar"]]
    for one, other in zip(kept["similar"], plain["similar"], strict=True):
        assert one["terms"] == pytest.approx(other["terms"], abs=1e-12)
