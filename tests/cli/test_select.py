from __future__ import annotations

import csv as csv_module
import io
import re
from pathlib import Path

import numpy as np
import pytest

import fishernet as fn
from tests.cli.running import good, process, refused, run

ASIA = fn.datasets.load("asia")
TABLE = ASIA.sample(200, seed=1)
KINDS = ["mmd", "chi-square", "random"]


@pytest.fixture
def asia(tmp_path: Path) -> Path:
    path = tmp_path / "asia.json"
    fn.save(ASIA, path)
    return path


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    fn.write_table(TABLE, path)
    return path


def chosen_by(kind: str, k: int, *, n_starts: int = 1000, seed: int) -> fn.select.Selection:
    """What the library chooses of the rows."""
    if kind == "mmd":
        return fn.select.greedy_mmd(fn.kernels.FisherKernel(ASIA), TABLE, k, n_starts=n_starts, seed=seed)
    if kind == "chi-square":
        return fn.select.greedy_chi_square(TABLE, k, n_starts=n_starts, seed=seed)
    return fn.select.random_subset(TABLE, k, seed)


def cells_of(text: str) -> list[list[str]]:
    return list(csv_module.reader(io.StringIO(text)))


def told(ended_err: str) -> dict[str, str]:
    """The parts of the line on stderr."""
    line = re.fullmatch(
        r"(?P<criterion>\S+) (?P<start>\S+) -> (?P<end>\S+), sweeps (?P<sweeps>\d+), "
        r"replacements (?P<replacements>\d+), "
        r"seconds: read \d+\.\d{3}, select \d+\.\d{3}, count \d+\.\d{3}, seed (?P<seed>\d+)\n",
        ended_err,
    )
    assert line is not None, ended_err
    return line.groupdict()


# ---------------------------------------------------------------------------------------------------- rows as a table


@pytest.mark.parametrize("kind", KINDS)
def test_csv_on_stdout_is_the_library_s_choice(asia: Path, rows: Path, kind: str) -> None:
    header, *lines = cells_of(good("select", asia, rows, "-k", 12, "--by", kind, "--seed", 4).out)
    found = chosen_by(kind, 12, seed=4)
    weights = found.as_table().weights
    assert weights is not None
    assert header == ["row", *ASIA.names, "stands_for"]
    assert [int(line[0]) for line in lines] == found.indices.tolist()
    assert [int(line[-1]) for line in lines] == weights.tolist()
    assert sum(int(line[-1]) for line in lines) == 200


@pytest.mark.parametrize("kind", KINDS)
def test_the_rows_are_those_at_their_positions_in_the_file(asia: Path, rows: Path, kind: str) -> None:
    _, *lines = cells_of(good("select", asia, rows, "-k", 12, "--by", kind).out)
    in_file = cells_of(rows.read_text(encoding="utf-8"))[1:]
    assert len({line[0] for line in lines}) == 12
    for line in lines:
        assert line[1:-1] == in_file[int(line[0])]


@pytest.mark.parametrize("name", ["s.csv", "s.tsv.gz", "s.parquet", "s.arrow"])
def test_files_hold_the_same_rows(asia: Path, rows: Path, name: str) -> None:
    path = asia.with_name(name)
    ended = good("select", asia, rows, "-k", 7, "--seed", 4, "-o", path)
    assert ended.out == ""
    assert told(ended.err)["criterion"] == "mmd"
    assert sorted(p.name for p in asia.parent.iterdir()) == sorted(["asia.json", "rows.csv", name])
    found = chosen_by("mmd", 7, seed=4)
    assert fn.read_table(path, schema=ASIA.variables, weights="stands_for") == found.as_table()
    row = fn.Variable("row", range(200))
    assert fn.read_table(path, schema=[row]).column("row").tolist() == found.indices.tolist()


def test_the_choice_stands_in_for_the_table_in_other_commands(asia: Path, rows: Path) -> None:
    path = asia.with_name("chosen.csv")
    good("select", asia, rows, "-k", 7, "-o", path)
    assert good("score", asia, path, "--weights", "stands_for", "--json").facts["rows"] == 200


def test_columns_come_in_the_order_of_the_model_without_those_it_does_not_know(asia: Path, rows: Path) -> None:
    turned = rows.with_name("turned.csv")
    lines = cells_of(rows.read_text(encoding="utf-8"))
    turned.write_text("".join(",".join(["extra", *reversed(line)]) + "\n" for line in lines), encoding="utf-8")
    straight = good("select", asia, rows, "-k", 5, "--seed", 2).out
    assert good("select", asia, turned, "-k", 5, "--seed", 2).out == straight


def test_names_that_are_taken_get_an_underscore(tmp_path: Path) -> None:
    names = ["row", "stands_for", "row_"]
    net = fn.BayesianNetwork.from_tables(
        [fn.Variable(name, ["x", "y"]) for name in names], {}, {name: [0.5, 0.5] for name in names}
    )
    fn.save(net, tmp_path / "m.json")
    fn.write_table(net.sample(20, seed=1), tmp_path / "t.csv")
    for name in ("s.csv", "s.parquet"):
        good("select", tmp_path / "m.json", tmp_path / "t.csv", "-k", 3, "-o", tmp_path / name)
    header = cells_of((tmp_path / "s.csv").read_text(encoding="utf-8"))[0]
    assert header == ["row__", "row", "stands_for", "row_", "stands_for_"]
    weighted = fn.read_table(tmp_path / "s.parquet", weights="stands_for_")
    assert weighted.names == ("row__", "row", "stands_for", "row_")
    assert weighted.weights is not None
    assert weighted.weights.sum() == 20


def test_hostile_labels(tmp_path: Path) -> None:
    states = ["a,b", 'q"uo', "x=y", "new\nline", " sp", "1", "NA", "\U0001f600"]
    net = fn.BayesianNetwork.from_tables([fn.Variable('n"ame, =x', states)], {}, {'n"ame, =x': [1 / 8] * 8})
    fn.save(net, tmp_path / "m.json")
    table = net.sample(60, seed=0)
    fn.write_table(table, tmp_path / "t.csv")
    out = good("select", tmp_path / "m.json", tmp_path / "t.csv", "-k", 60, "--seed", 1).out
    (tmp_path / "s.csv").write_text(out, encoding="utf-8", newline="")
    facts = good("select", tmp_path / "m.json", tmp_path / "t.csv", "-k", 60, "--seed", 1, "--json").facts
    back = fn.read_table(tmp_path / "s.csv", schema=net.variables)
    assert back.codes[0].tolist() == table.codes[0][facts["indices"]].tolist()


def test_a_process_writes_the_same_bytes(asia: Path, rows: Path) -> None:
    words = ("select", asia, rows, "-k", 9, "--seed", 3)
    ended = process(*words)
    assert (ended.status, ended.out) == (0, good(*words).out)
    assert told(ended.err)["seed"] == "3"  # and nothing of a progress bar, where nobody looks


# ------------------------------------------------------------------------------------------------------ what is reached


@pytest.mark.parametrize("kind", KINDS)
def test_json_says_what_the_library_says(asia: Path, rows: Path, kind: str) -> None:
    ended = good("select", asia, rows, "-k", 12, "--by", kind, "--starts", 1, "--seed", 4, "--json")
    facts, found = ended.facts, chosen_by(kind, 12, n_starts=1, seed=4)
    weights = found.as_table().weights
    assert ended.err == ""
    assert (facts["criterion"], facts["k"], facts["rows"], facts["seed"]) == (kind, 12, 200, 4)
    assert facts["indices"] == found.indices.tolist()
    assert weights is not None
    assert facts["stands_for"] == weights.tolist()
    assert facts["sweeps"] == found.sweeps
    assert list(facts["seconds"]) == ["read", "select", "count"]
    if kind == "random":
        assert (facts["distance_at_start"], facts["distance"], facts["replacements"]) == (None, None, 0)
    else:
        assert (facts["distance_at_start"], facts["distance"]) == (found.trace[0], found.distance)
        assert facts["replacements"] == len(found.trace) - 1 > 0
        assert facts["distance"] < facts["distance_at_start"]


def test_the_distance_is_the_criterion_of_the_chosen_rows(asia: Path, rows: Path) -> None:
    facts = good("select", asia, rows, "-k", 12, "--json").facts
    kernel = fn.kernels.FisherKernel(ASIA)
    assert facts["distance"] == pytest.approx(fn.compare.mmd(kernel, TABLE[facts["indices"]], TABLE), rel=1e-9)
    facts = good("select", asia, rows, "-k", 12, "--by", "chi-square", "--json").facts
    assert facts["distance"] == pytest.approx(fn.select.chi_square_criterion(TABLE, facts["indices"]), rel=1e-9)


def test_what_was_reached_is_said_on_stderr(asia: Path, rows: Path) -> None:
    for kind in ("mmd", "chi-square"):
        words = ("select", asia, rows, "-k", 12, "--by", kind, "--starts", 1, "--seed", 4)
        facts, line = good(*words, "--json").facts, told(good(*words).err)
        assert (line["criterion"], line["seed"]) == (kind, "4")
        assert (line["start"], line["end"]) == (f"{facts['distance_at_start']:.6g}", f"{facts['distance']:.6g}")
        assert (int(line["sweeps"]), int(line["replacements"])) == (facts["sweeps"], facts["replacements"])
    err = good("select", asia, rows, "-k", 12, "--by", "random", "--seed", 4).err
    assert err.startswith("random nothing was measured, seconds: read ")
    assert err.endswith(", seed 4\n")


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_seed_the_rows_are_others_and_the_seed_that_was_drawn_gives_them_again(
    asia: Path, rows: Path, kind: str
) -> None:
    words = ("select", asia, rows, "-k", 20, "--by", kind, "--starts", 1, "--json")
    first, second = good(*words).facts, good(*words).facts
    assert first["seed"] != second["seed"]
    assert first["indices"] != second["indices"]
    assert good(*words, "--seed", first["seed"]).facts["indices"] == first["indices"]


def test_k_may_be_one_or_all(asia: Path, rows: Path) -> None:
    facts = good("select", asia, rows, "-k", 1, "--json").facts
    assert facts["stands_for"] == [200]
    facts = good("select", asia, rows, "-k", 200, "--json").facts
    assert sorted(facts["indices"]) == list(range(200))
    assert facts["distance"] == pytest.approx(0, abs=1e-12)


# ------------------------------------------------------------------------------------------- weights and missing cells


@pytest.mark.parametrize("kind", KINDS)
def test_rows_count_by_their_weights(asia: Path, rows: Path, kind: str) -> None:
    weights = np.random.default_rng(1).integers(0, 5, size=200)
    weighted = fn.Table(TABLE.variables, TABLE.codes, weights=weights)
    fn.write_table(weighted, rows, weights="n")
    facts = good("select", asia, rows, "-k", 6, "--by", kind, "--weights", "n", "--seed", 1, "--json").facts
    assert facts["rows"] == weights.sum() == sum(facts["stands_for"])
    if kind == "mmd":
        found = fn.select.greedy_mmd(fn.kernels.FisherKernel(ASIA), weighted, 6, seed=1)
        assert facts["indices"] == found.indices.tolist()
        assert facts["distance"] == found.distance


def with_gaps(rows: Path, gaps: dict[int, str]) -> list[list[str]]:
    """Put other first cells into some rows of the file, and return all its rows."""
    header, *lines = cells_of(rows.read_text(encoding="utf-8"))
    for row, cells in gaps.items():
        first = cells.split(",")
        lines[row] = [*first, *lines[row][len(first) :]]
    rows.write_text("".join(",".join(line) + "\n" for line in (header, *lines)), encoding="utf-8")
    return lines


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_were_left_out_count_in_positions(asia: Path, rows: Path, kind: str) -> None:
    gaps = {0: "", 1: "?", 57: "no,NA", 58: "nonsense,"}  # an unknown label in a row that is left out is no matter
    lines = with_gaps(rows, gaps)
    words = ("select", asia, rows, "-k", 196, "--by", kind)
    assert "missing cells" in refused(*words)
    facts = good(*words, "--missing", "drop", "--json").facts
    assert facts["rows"] == 196
    assert sorted(facts["indices"]) == sorted(set(range(200)) - set(gaps))
    _, *chosen = cells_of(good("select", asia, rows, "-k", 10, "--by", kind, "--missing", "drop").out)
    for line in chosen:
        assert line[1:-1] == lines[int(line[0])]


def test_left_out_rows_do_not_hide_unknown_labels(asia: Path, rows: Path) -> None:
    with_gaps(rows, {3: "", 8: "nonsense"})
    assert "row 8: the label 'nonsense'" in refused("select", asia, rows, "-k", 5, "--missing", "drop")


def test_missing_cells_are_states_of_their_own_where_the_model_has_them(csv: Path, model: Path) -> None:
    csv.write_text(csv.read_text(encoding="utf-8").replace("young,yes,yes", "young,,yes"), encoding="utf-8")
    assert "'smoke' (10)" in refused("select", model, csv, "-k", 5)
    assert "no state for them" in refused("select", model, csv, "-k", 5, "--missing", "state")
    good("learn", csv, "--missing", "state", "-o", model)
    _, *lines = cells_of(good("select", model, csv, "-k", 100, "--missing", "state").out)
    assert sum("missing" in line for line in lines) == 10


# --------------------------------------------------------------------------------------------------- files, refusals


def test_what_fails_leaves_the_old_file(tmp_path: Path) -> None:
    net = fn.BayesianNetwork.from_tables([fn.Variable("a", [1, "1", 2])], {}, {"a": [0.25, 0.25, 0.5]})
    fn.save(net, tmp_path / "m.json")
    (tmp_path / "t.csv").write_text("a\n2\n2\n2\n", encoding="utf-8")
    path = tmp_path / "s.csv"
    path.write_text("old", encoding="utf-8")
    message = refused("select", tmp_path / "m.json", tmp_path / "t.csv", "-k", 1, "-o", path)
    assert "could not be told from others in a text file" in message
    assert path.read_text(encoding="utf-8") == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.json", "s.csv", "t.csv"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [0, -1, 201])
def test_k_out_of_range_is_one_sentence(asia: Path, rows: Path, kind: str, k: int) -> None:
    message = refused("select", asia, rows, "-k", k, "--by", kind)
    assert message == f"k must be an integer from 1 to 200 (the rows of the table), got {k} (option -k)"


@pytest.mark.parametrize("starts", [0, -1, 2**31])
def test_starts_out_of_range_are_one_sentence(asia: Path, rows: Path, starts: int) -> None:
    assert f"starts must be an integer from 1 to 2,147,483,647, got {starts}" in refused(
        "select", asia, rows, "-k", 5, "--starts", starts
    )


def test_a_bad_value_is_one_sentence(asia: Path, rows: Path) -> None:
    words = ("select", asia, rows, "-k", 5)
    assert "seed must not be negative" in refused(*words, "--seed", -1)
    assert "'n', as weights asks" in refused(*words, "--weights", "n")
    assert "no directory" in refused(*words, "-o", asia.parent / "nowhere" / "s.csv")
    assert "no such file" in refused("select", asia.with_name("nope.json"), rows, "-k", 5)
    assert "no such file" in refused("select", asia, rows.with_name("nope.csv"), "-k", 5)


@pytest.mark.parametrize("name", ["s.foo", "s.parquet.gz", "s"])
def test_an_ending_that_no_table_has_is_refused_before_any_work(asia: Path, name: str) -> None:
    message = refused("select", asia, asia.with_name("nope.csv"), "-k", 5, "-o", asia.with_name(name))
    assert "by the path's ending" in message
    assert not asia.with_name(name).exists()


@pytest.mark.parametrize("words", [["--by", "nope"], ["--missing", "keep"], []])
def test_a_command_line_that_makes_no_sense_is_status_2(asia: Path, rows: Path, words: list[str]) -> None:
    k = ["-k", "5"] if words else []
    assert run("select", asia, rows, *k, *words).status == 2


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_that_weighs_nothing_is_one_sentence(model: Path, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "w.csv"
    path.write_text("age,smoke,cough,n\nold,no,no,0\nold,yes,no,0\n", encoding="utf-8")
    assert "all rows have weight 0" in refused("select", model, path, "-k", 1, "--by", kind, "--weights", "n")


def test_a_row_that_the_model_deems_impossible_is_a_matter_of_mmd_alone(asia: Path, rows: Path) -> None:
    text = rows.read_text(encoding="utf-8")
    rows.write_text(text + "no,no,no,no,no,yes,no,no\n", encoding="utf-8")
    message = refused("select", asia, rows, "-k", 5)
    assert "row 200 has either = 'yes' given lung = 'no', tub = 'no'" in message
    assert "smoothing above 0" in message
    for kind in ("chi-square", "random"):
        assert good("select", asia, rows, "-k", 5, "--by", kind, "--json").facts["rows"] == 201
