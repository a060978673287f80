from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import csv

import fishernet as fn
from fishernet.cli.comparisons import compare as command
from fishernet.compare import graph_of_tables
from tests.cli.running import ASIA, HOSTILE, facts_of, good, hostile, process, refused, run, saved, written

SMOKERS = fn.infer.intervene(ASIA, {"smoke": "yes"})
OPTIONS = ("--permutations", 99)


def table(path: Path, rows: fn.Table) -> Path:
    rows.to_frame().to_pandas().to_csv(path, index=False)
    return path


@pytest.fixture
def before(tmp_path: Path) -> Path:
    return table(tmp_path / "before.csv", ASIA.sample(500, seed=1))


@pytest.fixture
def after(tmp_path: Path) -> Path:
    return table(tmp_path / "after.csv", SMOKERS.sample(400, seed=2))


def both(before: Path, after: Path, net: Any = None, method: Any = "permutation", **how: Any) -> tuple[Any, Any]:
    """What the library says of two files."""
    first, second = (fn.read_table(path, schema=None if net is None else net.variables) for path in (before, after))
    kernel = None if net is None else fn.kernels.FisherKernel(net)
    test = fn.compare.two_sample_test(first, second, kernel, method=method, permutations=99, seed=0, **how)
    return test, fn.compare.explain_change(first, second, net, permutations=99, seed=0, **how)


def test_of_many_rows_conditionals_are_tested_and_some_are_learned_from(
    before: Path, after: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "MOST_EXCHANGED", 899)
    monkeypatch.setattr(graph_of_tables, "MOST_LEARNED", 600)
    test, change = both(before, after, method="conditionals")
    facts = facts_of("compare", before, after, *OPTIONS)
    assert_same(facts, test, change)
    assert (facts["rows_learned_from"], change.n_learned) == (600, 600)
    told = "The graph was learned from 600 of 900 rows, drawn at random; "
    assert good("compare", before, after, *OPTIONS).out.splitlines()[1].startswith(told)


def assert_same(facts: dict[str, Any], test: Any, change: Any, top: int = 5) -> None:
    assert (facts["p_value"], facts["nats"]) == (test.p_value, change.nats)
    assert facts["squared_mmd"] == pytest.approx(sum(share.statistic for share in test.by_variable.values()))
    assert (facts["rows"], facts["permutations"], facts["seed"]) == (list(test.n_rows), test.permutations, 0)
    assert facts["changed"] == list(change.changed())
    assert facts["inherited"] == {name: list(of) for name, of in change.inherited().items()}
    assert facts["in_doubt"] == {name: [list(arc) for arc in arcs] for name, arcs in change.in_doubt().items()}
    assert facts["graphs"] == len(change.graphs)
    for row, of in zip(facts["variables"], change.by_variable.values(), strict=True):
        assert row["inherited_from"] == list(of.inherited_from)
        for name in ("variable", "nats", "low", "high", "by_chance", "p_corrected", "support", "changed", "marginal_p"):
            assert row[name] == getattr(of, name)
        assert (row["statistic"], row["share"]) == (
            test.by_variable[of.variable].statistic,
            test.by_variable[of.variable].share,
        )
    assert len(facts["configurations"]) == min(top, len(change.by_configuration))
    for row, cell in zip(facts["configurations"], change.by_configuration, strict=False):
        assert (row["variable"], row["nats"], row["probability"]) == (cell.variable, cell.nats, cell.probability)
        assert row["configuration"] == dict(cell.configuration)
        assert row["before"] == {str(state): p for state, p in cell.before.items()}
        assert row["after"] == {str(state): p for state, p in cell.after.items()}


def test_json_says_what_the_library_says(before: Path, after: Path) -> None:
    facts = facts_of("compare", before, after, *OPTIONS)
    assert_same(facts, *both(before, after))
    assert (facts["before"], facts["after"]) == (str(before), str(after))
    assert facts["changed"][0] == "smoke"
    assert_same(facts_of("compare", before, after, *OPTIONS, "--top", 1), *both(before, after), top=1)


def test_numbers_beside_labels_are_the_librarys_too(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    tables = []
    for name, spread in (("before", 1.0), ("after", 0.3)):
        rows = [f"{x:.4f},{'u' if x > 0 else 'v'},{y:.4f}" for x, y in spread * random.normal(size=(200, 2))]
        tables.append(written(tmp_path / f"{name}.csv", "\n".join(["x,label,y", *rows])))
    facts = facts_of("compare", *tables, *OPTIONS)
    assert_same(facts, *both(*tables))
    assert facts["p_value"] == 0.01


def test_by_a_model(before: Path, after: Path, tmp_path: Path) -> None:
    model = saved(ASIA, tmp_path / "asia.json")
    facts = facts_of("compare", before, after, "--model", model, *OPTIONS)
    assert_same(facts, *both(before, after, ASIA))
    assert (facts["changed"], facts["graphs"], facts["in_doubt"]) == (["smoke"], 1, {})


def test_the_text_says_the_same(before: Path, after: Path, tmp_path: Path) -> None:
    model = saved(ASIA, tmp_path / "asia.json")
    test, change = both(before, after, ASIA)
    lines = good("compare", before, after, "--model", model, *OPTIONS).out.splitlines()
    of, cell = change.by_variable["smoke"], change.by_configuration[0]
    assert lines[0] == (
        f"500 rows before, 400 rows after, 8 variables: a change (p = {test.p_value:.4f}, 99 permutations; "
        f"{change.nats:.4f} nats)"
    )
    assert lines[2] == "Changed, given their parents:"
    assert lines[4].split() == [
        "smoke",
        f"{of.nats:.4f}",
        f"{of.low:.4f}",
        "to",
        f"{of.high:.4f}",
        f"{100 * test.by_variable['smoke'].share:.1f}",
        "%",
        f"{of.p_corrected:.4f}",
    ]
    assert lines[6] == "From what to what:"
    by = f"by {cell.low:+.3g} to {cell.high:+.3g}; {cell.nats:.4f} nats"
    shown = f"{cell.before[cell.state]:.3g} -> {cell.after[cell.state]:.3g} ({by})"
    assert lines[7] == f"  smoke = {cell.state}: {shown}"
    assert lines[9] == "Changed only because of others:"
    assert lines[10:] == [f"  {name}, from smoke" for name in change.inherited()]


def test_what_the_tables_leave_open_is_said(tmp_path: Path) -> None:
    """The dependence of two columns is gone, and their margins stay: it may be seen at either of them."""
    rows = {
        "before": ["y,y"] * 40 + ["y,n"] * 10 + ["n,y"] * 10 + ["n,n"] * 40,
        "after": ["y,y", "y,n", "n,y", "n,n"] * 25,
    }
    before, after = (written(tmp_path / f"{name}.csv", "\n".join(["a,b", *lines * 10])) for name, lines in rows.items())
    lines = good("compare", before, after, *OPTIONS).out.splitlines()
    assert lines[-2:] == [
        "Undecided by these tables (a network that you trust decides: --model):",
        "  a or b changed, by the direction of the arc between them",
    ]
    facts = facts_of("compare", before, after, *OPTIONS)
    assert (facts["undecided"], facts["changed"]) == ([lines[-1].strip()], [])
    arcs = fn.Dag.from_edges(["a", "b"], [("a", "b")])
    model = saved(fn.learn.parameters(arcs, fn.read_table(before)), tmp_path / "trusted.json")
    assert facts_of("compare", before, after, *OPTIONS, "--model", model)["changed"] == ["b"]


def test_other_shares_of_missing_cells_are_said(before: Path, tmp_path: Path) -> None:
    lines = before.read_text().splitlines()
    holes = [lines[0], *(line.partition(",")[2].join([",", ""]) if i % 4 else line for i, line in enumerate(lines[1:]))]
    after = written(tmp_path / "holes.csv", "\n".join(holes))
    name = lines[0].split(",")[0]
    said = good("compare", before, after, *OPTIONS).out.splitlines()
    assert said[2] == "The share of missing cells changed:"
    assert said[3].startswith(f"  {name}: 0 % -> 75 % (p = ")
    assert facts_of("compare", before, after, *OPTIONS)["missing"][0]["variable"] == name


def test_a_table_against_itself_has_not_changed(before: Path) -> None:
    ended = good("compare", before, before, *OPTIONS)
    rows = "500 rows before, 500 rows after, 8 variables"
    assert ended.out == f"{rows}: no evidence of a change (p = 1.0000, 99 permutations)\n"
    facts = facts_of("compare", before, before, *OPTIONS)
    assert (facts["p_value"], facts["nats"], facts["changed"], facts["configurations"]) == (1.0, 0.0, [], [])


def test_cells_may_be_missing(before: Path, after: Path, tmp_path: Path) -> None:
    lines = before.read_text().splitlines()
    holes = written(tmp_path / "holes.csv", "\n".join([lines[0], *(line.replace("yes", "", 1) for line in lines[1:])]))
    model = saved(ASIA, tmp_path / "asia.json")
    sometimes = written(tmp_path / "few.csv", "\n".join([*lines[:400], *holes.read_text().splitlines()[400:]]))
    assert facts_of("compare", sometimes, sometimes, *OPTIONS)["p_value"] == 1
    kept = facts_of("compare", sometimes, after, *OPTIONS, "--model", model)
    assert (kept["rows"], kept["changed"][0]) == ([500, 400], "smoke")
    dropped = facts_of("compare", sometimes, after, *OPTIONS, "--missing", "drop")
    assert dropped["rows"][0] < 500
    states = facts_of("compare", sometimes, after, *OPTIONS, "--missing", "state", "--top", 99)
    assert states["rows"] == [500, 400]
    assert any("(missing)" in cell["before"] or len(cell["before"]) == 3 for cell in states["configurations"])


def test_numbers_labels_and_bins(tmp_path: Path) -> None:
    lines = [f"{i % 50 * 0.37 + i % 7:.2f},{'xy'[i % 3 == 0]}" for i in range(200)]
    one = written(tmp_path / "one.csv", "n,s\n" + "\n".join(lines))
    other = written(tmp_path / "other.csv", "s,n\n" + "\n".join(",".join(line.split(",")[::-1]) for line in lines))
    assert facts_of("compare", one, other, *OPTIONS)["p_value"] == 1
    moved = written(
        tmp_path / "moved.csv",
        "n,s\n" + "\n".join(f"{float(x) + 9:.2f},{s}" for x, s in (line.split(",") for line in lines)),
    )
    found = facts_of("compare", one, moved, *OPTIONS, "--bins", 3)
    assert "n" in found["changed"]
    (cells,) = {len(cell["before"]) for cell in found["configurations"] if cell["variable"] == "n"}
    assert cells == 3


def test_names_that_break_what_is_careless(tmp_path: Path) -> None:
    net = hostile()
    model = saved(net, tmp_path / "model.json")
    one = table(tmp_path / "one.csv", net.sample(300, seed=1))
    flat = fn.learn.parameters(fn.Dag.from_edges(net.names, []), net.sample(300, seed=3))
    other = table(tmp_path / "other.csv", flat.sample(300, seed=2))
    assert facts_of("compare", one, other, "--model", model, *OPTIONS)["changed"] == ['é;"y']
    for words in ((), ("--model", model)):
        text = good("compare", one, other, *words, *OPTIONS).out
        assert "\x1b" not in text
        assert "new\nline" not in text
    assert len(HOSTILE) == 8


def test_few_permutations_are_noted_once(before: Path, after: Path) -> None:
    ended = good("compare", before, after, "--permutations", 5)
    assert ended.err.splitlines() == [
        "fishernet: note: with 5 permutations no p-value is below 0.167; take 19 or more for a level of 0.05, and 999 "
        "for one to rely on (option --permutations)"
    ]


def test_a_seed_repeats_it_in_another_process(before: Path, after: Path) -> None:
    words = ("compare", before, after, *OPTIONS, "--seed", 7, "--json")
    one, other = process(*words), process(*words)
    assert (one.status, one.out) == (0, other.out)
    assert one.facts["seed"] == 7


def test_what_is_refused(before: Path, after: Path, tmp_path: Path) -> None:
    other = written(tmp_path / "other.csv", "asia,x\nyes,u\nno,v\n")
    told = good("compare", before, other, "--permutations", 9).err
    assert "compare answers without some columns: 'tub', 'smoke', " in told
    assert "'x' is only in the second table" in told
    nothing = written(tmp_path / "nothing.csv", "u\nyes\nno\n")
    assert "none is fit for it" in refused("compare", before, nothing)
    assert "there is no row" in refused("compare", written(tmp_path / "empty.csv", "asia,tub\n"), before)
    assert "no such file" in refused("compare", before, tmp_path / "absent.csv")
    weights = written(tmp_path / "weights.csv", "a,w\n" + "x,0.5\ny,2\n" * 40)
    assert "of 80 rows are drawn in proportion" in good("compare", weights, weights, "--weights", "w", "--seed", 1).err
    assert "(option --permutations)" in refused("compare", before, after, "--permutations", 0)
    assert "(option --level)" in refused("compare", before, after, "--level", 2)
    assert "(option --top)" in refused("compare", before, after, "--top", -1)
    assert "a model is read from" in refused("compare", before, after, "--model", before)
    model = saved(SMOKERS, tmp_path / "smokers.json")
    assert "smoke = 'no', which has probability 0" in refused("compare", before, after, "--model", model)
    assert "--binning equal-width is not for compare" in refused("compare", before, after, "--binning", "equal-width")
    for words in (["--bins", 3], ["--binning", "equal-width"]):
        told = refused("compare", before, after, "--model", saved(ASIA, tmp_path / "asia.json"), *words)
        assert told == f"{words[0]} is for tables without a model; a model knows where to cut"
    assert run("compare", before).status == 2
    assert run("compare", before, after, "--nonsense").status == 2


def test_bins_are_no_new_labels_and_no_p_value_is_zero(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for name, shift, label in (("before", 0.0, "a"), ("after", 60.0, "new")):
        x = np.where(rng.random(400) < 0.5, 0.0, rng.normal(100 + shift, 1, 400).round(2))  # a heap, so it is cut
        rows = "".join(f"{number},{label if i % 5 == 0 else 'b'}\n" for i, number in enumerate(x.tolist()))
        (tmp_path / f"{name}.csv").write_text(f"x,kind\n{rows}")
    out = good("compare", tmp_path / "before.csv", tmp_path / "after.csv").out
    told = out.partition("Labels that only the later table has:\n")[2].partition("\n\n")[0]
    assert told.strip() == "kind: new (80 rows)"
    assert "p = 0.0000" not in out


def test_what_is_left_of_a_change_without_some_rows(tmp_path: Path) -> None:
    cured = fn.infer.intervene(ASIA, {"bronc": "no"})
    before = ASIA.sample(600, seed=1).to_frame().append_column("clinic", [["a", "b"] * 300])
    after = fn.data.pooling.stacked([ASIA.sample(300, seed=2), cured.sample(300, seed=3)]).to_frame()
    after = after.append_column("clinic", [["a"] * 300 + ["b"] * 300])
    paths = [tmp_path / "before.csv", tmp_path / "after.csv"]
    for frame, path in zip((before, after), paths, strict=True):
        csv.write_csv(frame, path)
    words = ["compare", *paths, "--model", saved(ASIA, tmp_path), "--by", "clinic"]
    facts = facts_of(*words)
    assert facts["by"] == "clinic"
    groups = {group["label"]: group for group in facts["behind"]["bronc"]}
    why = fn.explain.change(before, after, "bronc", ASIA)
    for group in why.by("clinic"):
        assert groups[group.label]["without"] == pytest.approx(group.without, rel=1e-9)
    assert groups["b"]["without"] < 0 < groups["b"]["answer"]
    lines = good(*words).out.splitlines()
    assert lines[-4].startswith("Evidence for the change of bronc, ")
    assert [line.split()[0] for line in lines[-3:]] == ["clinic", "b", "a"]
    assert "there is no column 'doctor'" in refused(*words[:-1], "doctor")
    assert "--by is for two tables" in refused("compare", *paths, paths[0], "--by", "clinic")
    assert "leave out --weights" in refused(*words, "--missing", "drop")
