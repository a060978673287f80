from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fishernet as fn
from tests.cli.running import ASIA, COMMAND, HOSTILE, ROWS, Run, coin, facts_of, good, refused, saved, written
from tests.networks import with_holes

KINDS = pytest.mark.parametrize("kind", ["mmd", "chi-square", "random"])


def chosen_by(kind: str, k: int, *, n_starts: int = 1000, seed: int) -> fn.select.Selection:
    """What the library chooses of the rows."""
    if kind == "mmd":
        return fn.select.greedy_mmd(fn.kernels.FisherKernel(ASIA), ROWS, k, n_starts=n_starts, seed=seed)
    if kind == "chi-square":
        return fn.select.greedy_chi_square(ROWS, k, n_starts=n_starts, seed=seed)
    return fn.select.random_subset(ROWS, k, seed=seed)


def cells_of(path: Path) -> list[list[str]]:
    return Run(0, path.read_text(encoding="utf-8"), "").cells


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


@KINDS
def test_csv_on_stdout_is_the_library_s_choice(asia: Path, rows: Path, kind: str) -> None:
    header, *lines = good("select", asia, rows, "-k", 12, "--by", kind, "--seed", 4).cells
    found, in_file = chosen_by(kind, 12, seed=4), cells_of(rows)[1:]
    weights = found.as_table().weights
    assert weights is not None
    assert header == ["row", *ASIA.names, "stands_for"]
    assert [int(line[0]) for line in lines] == found.indices.tolist()
    assert [int(line[-1]) for line in lines] == weights.tolist()
    assert weights.sum() == 200
    assert all(line[1:-1] == in_file[int(line[0])] for line in lines)


@pytest.mark.parametrize("name", ["s.csv", "s.tsv.gz", "s.parquet", "s.arrow"])
def test_files_hold_the_same_rows(asia: Path, rows: Path, name: str) -> None:
    path = asia.with_name(name)
    ended = good("select", asia, rows, "-k", 7, "--seed", 4, "-o", path)
    assert ended.out == ""
    assert told(ended.err)["criterion"] == "mmd"
    found = chosen_by("mmd", 7, seed=4)
    assert fn.read_table(path, schema=ASIA.variables, weights="stands_for") == found.as_table()
    row = fn.Variable("row", range(200))
    assert fn.read_table(path, schema=[row]).column("row").tolist() == found.indices.tolist()
    assert facts_of("score", asia, path, "--weights", "stands_for")["rows"] == 200


def test_names_that_are_taken_get_an_underscore(tmp_path: Path) -> None:
    names = ["row", "stands_for", "row_"]
    net = fn.BayesianNetwork.from_tables(
        [fn.Variable(name, ["x", "y"]) for name in names], {}, {name: [0.5, 0.5] for name in names}
    )
    fn.write_table(net.sample(20, seed=1), tmp_path / "t.csv")
    for name in ("s.csv", "s.parquet"):
        good("select", saved(net, tmp_path), tmp_path / "t.csv", "-k", 3, "-o", tmp_path / name)
    assert cells_of(tmp_path / "s.csv")[0] == ["row__", "row", "stands_for", "row_", "stands_for_"]
    weighted = fn.read_table(tmp_path / "s.parquet", weights="stands_for_")
    assert weighted.names == ("row__", "row", "stands_for", "row_")
    assert weighted.weights is not None
    assert weighted.weights.sum() == 20


def test_hostile_labels(tmp_path: Path) -> None:
    net = coin('n"ame, =x', [*HOSTILE, "1", "NA"])
    table = net.sample(60, seed=0)
    fn.write_table(table, tmp_path / "t.csv")
    words = ["select", saved(net, tmp_path), tmp_path / "t.csv", "-k", 60, "--seed", 1]
    path = written(tmp_path / "s.csv", good(*words).out)
    back = fn.read_table(path, schema=net.variables)
    assert back.codes[0].tolist() == table.codes[0][facts_of(*words)["indices"]].tolist()


# ------------------------------------------------------------------------------------------------------ what is reached


@KINDS
def test_json_and_stderr_say_what_the_library_says(asia: Path, rows: Path, kind: str) -> None:
    words = ("select", asia, rows, "-k", 12, "--by", kind, "--starts", 1, "--seed", 4)
    ended, err, found = good(*words, "--json"), good(*words).err, chosen_by(kind, 12, n_starts=1, seed=4)
    facts, weights = ended.facts, found.as_table().weights
    assert ended.err == ""
    assert (facts["criterion"], facts["k"], facts["rows"], facts["seed"]) == (kind, 12, 200, 4)
    assert facts["indices"] == found.indices.tolist()
    assert weights is not None
    assert facts["stands_for"] == weights.tolist()
    assert facts["sweeps"] == found.sweeps
    assert list(facts["seconds"]) == ["read", "select", "count"]
    if kind == "random":
        assert (facts["distance_at_start"], facts["distance"], facts["replacements"]) == (None, None, 0)
        assert err.startswith("random nothing was measured, seconds: read ")
        assert err.endswith(", seed 4\n")
        return
    assert (facts["distance_at_start"], facts["distance"]) == (found.trace[0], found.distance)
    assert facts["replacements"] == len(found.trace) - 1 > 0
    assert facts["distance"] < facts["distance_at_start"]
    line = told(err)
    assert (line["criterion"], line["seed"]) == (kind, "4")
    assert (line["start"], line["end"]) == (f"{found.trace[0]:.6g}", f"{found.distance:.6g}")
    assert (int(line["sweeps"]), int(line["replacements"])) == (facts["sweeps"], facts["replacements"])


@KINDS
def test_without_a_seed_the_rows_are_others_and_the_seed_that_was_drawn_gives_them_again(
    asia: Path, rows: Path, kind: str
) -> None:
    words = ("select", asia, rows, "-k", 20, "--by", kind, "--starts", 1)
    first, second = facts_of(*words), facts_of(*words)
    assert first["seed"] != second["seed"]
    assert first["indices"] != second["indices"]
    assert facts_of(*words, "--seed", first["seed"])["indices"] == first["indices"]


# ------------------------------------------------------------------------------------------- weights and missing cells


@KINDS
def test_rows_count_by_their_weights(asia: Path, rows: Path, kind: str) -> None:
    weights = np.random.default_rng(1).integers(0, 5, size=200)
    weighted = fn.Table(ROWS.variables, ROWS.codes, weights=weights)
    fn.write_table(weighted, rows, weights="n")
    facts = facts_of("select", asia, rows, "-k", 6, "--by", kind, "--weights", "n", "--seed", 1)
    assert facts["rows"] == weights.sum() == sum(facts["stands_for"])
    if kind == "mmd":
        found = fn.select.greedy_mmd(fn.kernels.FisherKernel(ASIA), weighted, 6, seed=1)
        assert facts["indices"] == found.indices.tolist()
        assert facts["distance"] == found.distance


def with_gaps(rows: Path, gaps: dict[int, str]) -> list[list[str]]:
    """Put other first cells into some rows of the file, and return all its rows."""
    header, *lines = cells_of(rows)
    for row, cells in gaps.items():
        first = cells.split(",")
        lines[row] = [*first, *lines[row][len(first) :]]
    written(rows, "".join(",".join(line) + "\n" for line in (header, *lines)))
    return lines


@KINDS
def test_rows_that_were_left_out_count_in_positions(asia: Path, rows: Path, kind: str) -> None:
    gaps = {0: "", 1: "?", 57: "no,NA", 58: "nonsense,"}  # an unknown label in a row that is left out is no matter
    lines = with_gaps(rows, gaps)
    words = ("select", asia, rows, "-k", 196, "--by", kind)
    assert "missing cells" in refused(*words, "--missing", "error")
    facts = facts_of(*words, "--missing", "drop")
    assert facts["rows"] == 196
    assert sorted(facts["indices"]) == sorted(set(range(200)) - set(gaps))
    _, *chosen = good("select", asia, rows, "-k", 10, "--by", kind, "--missing", "drop").cells
    assert all(line[1:-1] == lines[int(line[0])] for line in chosen)


def test_left_out_rows_do_not_hide_unknown_labels(asia: Path, rows: Path) -> None:
    with_gaps(rows, {3: "", 8: "nonsense"})
    assert "row 8: the label 'nonsense'" in refused("select", asia, rows, "-k", 5, "--missing", "drop")


def test_missing_cells_are_states_of_their_own(csv: Path, model: Path) -> None:
    written(csv, csv.read_text(encoding="utf-8").replace("young,yes,yes", "young,,yes"))
    good("learn", csv, "--missing", "state", "-o", model)
    _, *lines = good("select", model, csv, "-k", 100, "--missing", "state").cells
    assert sum(line[2] == "" for line in lines) == 10  # as in the file


def test_rows_with_missing_cells_are_chosen_from_by_what_is_known(asia: Path, tmp_path: Path) -> None:
    holes = with_holes(ASIA, 120, 3, 0.15)
    path = tmp_path / "holes.csv"
    fn.write_table(holes, path)
    words = ("select", asia, path, "-k", 9, "--missing", "keep", "--seed", 4)
    header, *lines = good(*words).cells
    found = fn.select.greedy_mmd(fn.kernels.HiddenVariableKernel(ASIA), holes, 9, seed=4)
    assert [int(line[0]) for line in lines] == found.indices.tolist()
    assert [int(line[-1]) for line in lines] == found.stands_for().tolist()
    in_file = cells_of(path)
    assert header[1:-1] == in_file[0]
    assert all(line[1:-1] == in_file[int(line[0]) + 1] for line in lines)
    assert any("" in line for line in lines)
    assert facts_of(*words)["distance"] == pytest.approx(found.distance, rel=1e-9)
    drawn = fn.select.random_subset(holes, 9, seed=4)
    assert facts_of(*words, "--by", "random")["indices"] == drawn.indices.tolist()
    by_columns = fn.select.greedy_chi_square(holes, 9, seed=4)
    assert facts_of(*words, "--by", "chi-square")["indices"] == by_columns.indices.tolist()


def test_without_holes_keeping_them_changes_nothing(asia: Path, rows: Path) -> None:
    words = ("select", asia, rows, "-k", 12, "--seed", 4)
    assert good(*words, "--missing", "keep").out == good(*words).out


def test_a_row_that_the_model_deems_impossible_is_a_matter_of_mmd_alone(asia: Path, rows: Path) -> None:
    written(rows, rows.read_text(encoding="utf-8") + "no,no,no,no,no,yes,no,no\n")
    for kind in ("chi-square", "random"):
        assert facts_of("select", asia, rows, "-k", 5, "--by", kind)["rows"] == 201


# -------------------------------------------------------------------------------------------- the rows as they are

PEOPLE = "id,age,zip,height,note,smoke\n" + "".join(
    f'p{i},{20 + i},{"00"[: 1 + i % 2]}{i % 7},1.{i % 3}0,"said ""{i}"", twice",{"" if i % 9 == 4 else "ny"[i % 2]}\n'
    for i in range(120)
)


def by_row(text: str) -> dict[int, list[str]]:
    """The rows of a selection, without what it added, by their position in the file."""
    header, *lines = Run(0, text, "").cells
    assert (header[0], header[-1]) == ("row", "stands_for")
    return {int(line[0]): line[1:-1] for line in lines}


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Return a table with ids, codes with leading zeros, numbers, quoted text and holes."""
    return written(tmp_path / "people.csv", PEOPLE)


@pytest.fixture
def people_model(people: Path) -> Path:
    """Return a network of some of its columns, the ages in bins."""
    path = people.with_name("people.json")
    good("learn", people, "--columns", "age,zip,smoke", "--bins", 3, "--missing", "drop", "-o", path)
    return path


def test_rows_are_written_as_they_are_with_all_columns(people: Path, people_model: Path) -> None:
    ended = good("select", people_model, people, "-k", 20, "--missing", "drop", "--seed", 1)
    header, *lines = cells_of(people)
    assert ended.cells[0] == ["row", *header, "stands_for"]
    chosen = by_row(ended.out)
    assert len(chosen) == 20
    assert chosen == {row: lines[row] for row in chosen}
    assert all(lines[row][-1] for row in chosen)  # none of those that were left out
    assert sum(int(line[-1]) for line in ended.cells[1:]) == sum(bool(line[-1]) for line in lines)


@pytest.mark.parametrize("ending", [".tsv", ".txt", ".parquet", ".arff"])
def test_rows_of_other_formats_and_pipes(ending: str, people: Path, people_model: Path) -> None:
    frame = pd.read_csv(people, dtype=str)
    path = people.with_name(f"people{ending}")
    if ending == ".parquet":
        frame.to_parquet(path)
    elif ending == ".arff":
        header = "".join(f"@attribute {name} string\n" for name in frame.columns)
        lines = [",".join("?" if pd.isna(cell) else f"'{cell}'" for cell in row) for row in frame.to_numpy()]
        written(path, "\n".join([f"@relation r\n{header}@data", *lines]))
    else:
        frame.to_csv(path, sep="\t" if ending == ".tsv" else ";", index=False)
    words = ("select", people_model, path, "-k", 20, "--missing", "drop", "--seed", 1)
    held = cells_of(people)[1:]
    chosen = by_row(good(*words).out)
    assert chosen == {row: held[row] for row in chosen}
    assert facts_of(*words)["indices"] == list(chosen)


def test_a_table_that_comes_through_standard_input(people: Path, people_model: Path) -> None:
    words = ["select", people_model, "-", "-k", 5, "--missing", "drop", "--seed", 1]
    ended = subprocess.run([*COMMAND, *map(str, words)], input=PEOPLE, capture_output=True, text=True, check=True)
    words[2] = people
    assert ended.stdout == good(*words).out


def test_binary_files_hold_numbers_truth_values_and_dates(tmp_path: Path) -> None:
    rows = "".join(
        f"{i},{i / 2},{'true' if i % 2 else 'false'},2021-03-{1 + i:02},0{i},{'xy'[i % 2]}\n" for i in range(9)
    )
    path = written(tmp_path / "t.csv", "n,half,odd,day,code,kind\n" + rows)
    good("learn", path, "--columns", "kind", "-o", tmp_path / "m.json")
    good("select", tmp_path / "m.json", path, "-k", 9, "-o", tmp_path / "s.parquet")
    frame = pd.read_parquet(tmp_path / "s.parquet").sort_values("row")
    assert frame["n"].tolist() == list(range(9))
    assert frame["half"].tolist() == [i / 2 for i in range(9)]
    assert frame["odd"].tolist() == [i % 2 == 1 for i in range(9)]
    assert [str(day) for day in frame["day"]] == [f"2021-03-{1 + i:02}" for i in range(9)]
    assert frame["code"].tolist() == [f"0{i}" for i in range(9)]


def test_an_index_without_a_name_is_kept(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", ",kind\n" + "".join(f"{i * 10},{'xy'[i % 2]}\n" for i in range(6)))
    good("learn", path, "--holdout", 0, "-o", tmp_path / "m.json")
    ended = good("select", tmp_path / "m.json", path, "-k", 6)
    assert ended.cells[0] == ["row", "index", "kind", "stands_for"]
    assert all(int(line[1]) == 10 * int(line[0]) for line in ended.cells[1:])


def test_lists_stay_lists_in_binary_files_and_are_json_in_text(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pd.DataFrame({"kind": ["x", "y"] * 4, "words": [["a", "b"]] * 8}).to_parquet(path)
    fn.save(coin("kind"), tmp_path / "m.json")
    assert [row[2] for row in good("select", tmp_path / "m.json", path, "-k", 2).cells[1:]] == ['["a", "b"]'] * 2
    good("select", tmp_path / "m.json", path, "-k", 2, "-o", tmp_path / "s.parquet")
    assert pd.read_parquet(tmp_path / "s.parquet")["words"].map(list).tolist() == [["a", "b"]] * 2


# ------------------------------------------------------------------------------------------ prototypes and criticisms

K = fn.kernels.FisherKernel(ASIA)
PROTOTYPES = {
    "mmd-critic": lambda k: fn.select.mmd_critic(K, ROWS, k),
    "protodash": lambda k: fn.select.protodash(K, ROWS, k),
    "kernel-thinning": lambda k: fn.select.kernel_thinning(K, ROWS, k, seed=4),
}


@pytest.mark.parametrize("by", PROTOTYPES)
def test_prototypes_are_the_library_s(asia: Path, rows: Path, by: str) -> None:
    words = ("select", asia, rows, "-k", 12, "--by", by, "--seed", 4)
    found, ended, facts = PROTOTYPES[by](12), good(*words), facts_of(*words)
    header, *lines = ended.cells
    in_file = cells_of(rows)[1:]
    assert header == ["row", *ASIA.names, *(["weight"] if by == "protodash" else []), "stands_for"]
    assert [int(line[0]) for line in lines] == found.indices.tolist() == facts["indices"]
    assert [int(line[-1]) for line in lines] == found.stands_for().tolist() == facts["stands_for"]
    assert all(line[1 : 1 + len(ASIA.names)] == in_file[int(line[0])] for line in lines)
    assert (facts["criterion"], facts["distance"], facts["seed"]) == (by, found.distance, 4)
    assert (facts["trace"], facts["gains"]) == (found.trace.tolist(), found.gains.tolist())
    assert ended.err.startswith(f"{by} ")
    assert ended.err.endswith(", seed 4\n")
    if by == "kernel-thinning":
        assert facts["distance_at_start"] == found.trace[0]
        assert facts["replacements"] == len(found.trace) - 1
        return
    assert (facts["distance_at_start"], facts["sweeps"], facts["replacements"]) == (None, 0, 0)
    assert f"12 rows, distance {found.distance:.6g}, seconds" in ended.err


def test_protodash_writes_its_weights(asia: Path, rows: Path) -> None:
    words = ("select", asia, rows, "-k", 9, "--by", "protodash")
    weights = fn.select.protodash(K, ROWS, 9).weights
    assert weights is not None
    assert [float(line[-2]) for line in good(*words).cells[1:]] == weights.tolist()
    assert facts_of(*words)["weights"] == weights.tolist()
    assert facts_of(*words[:-1], "mmd-critic")["weights"] is None


@pytest.mark.parametrize("by", ["mmd-critic", "protodash"])
def test_as_few_rows_as_are_near_enough(asia: Path, rows: Path, by: str) -> None:
    words = ("select", asia, rows, "--by", by)
    facts = facts_of(*words, "--tolerance", 0.02)
    trace = PROTOTYPES[by](40).trace
    gram = K(ROWS)
    near = trace <= 0.02 * (np.trace(gram) / 200 - gram.mean())
    assert facts["k"] == 1 + int(np.argmax(near))
    assert facts["trace"] == trace[: facts["k"]].tolist()
    assert facts_of(*words, "--tolerance", 0.02, "-k", 3)["k"] == 3


@pytest.mark.parametrize("by", ["mmd", "protodash", "random"])
def test_criticisms_come_after_the_chosen_rows(asia: Path, rows: Path, by: str) -> None:
    words = ("select", asia, rows, "-k", 6, "--by", by, "--seed", 4, "--criticisms", 3)
    header, *lines = good(*words).cells
    found = PROTOTYPES[by](6) if by in PROTOTYPES else chosen_by(by, 6, seed=4)
    odd = fn.select.criticisms(K, ROWS, found, 3)
    after = ["role", *(["weight"] if by == "protodash" else []), "stands_for"]
    assert header == ["row", *ASIA.names, *after]
    assert [int(line[0]) for line in lines] == [*found.indices.tolist(), *odd.indices.tolist()]
    assert [line[-len(after)] for line in lines] == ["prototype"] * 6 + ["criticism"] * 3
    assert [line[-1] for line in lines[6:]] == ["0"] * 3
    facts = facts_of(*words)
    assert (facts["k"], facts["criticisms"]) == (6, odd.indices.tolist())
    assert facts_of(*words[:-2])["criticisms"] is None


def test_prototypes_of_rows_with_missing_cells_and_weights(asia: Path, tmp_path: Path) -> None:
    holes = with_holes(ASIA, 120, 3, 0.15)
    path = tmp_path / "holes.csv"
    fn.write_table(holes, path)
    expected: fn.kernels.Kernel = fn.kernels.HiddenVariableKernel(ASIA)
    facts = facts_of("select", asia, path, "-k", 9, "--missing", "keep", "--by", "mmd-critic", "--criticisms", 2)
    found = fn.select.mmd_critic(expected, holes, 9)
    assert facts["indices"] == found.indices.tolist()
    assert facts["criticisms"] == fn.select.criticisms(expected, holes, found, 2).indices.tolist()
    weighted = fn.Table(ROWS.variables, ROWS.codes, weights=np.arange(200) % 3)
    fn.write_table(weighted, path, weights="n")
    facts = facts_of("select", asia, path, "-k", 5, "--weights", "n", "--by", "protodash")
    assert facts["distance"] == fn.select.protodash(K, weighted, 5).distance
    assert sum(facts["stands_for"]) == facts["rows"] == weighted.total


# --------------------------------------------------------------------------------- from which there is little to choose

ALL_KINDS = pytest.mark.parametrize("by", ["mmd", "chi-square", "random", "mmd-critic", "protodash", "kernel-thinning"])


@pytest.fixture
def twelve(tmp_path: Path) -> Path:
    path = tmp_path / "twelve.csv"
    fn.write_table(ROWS[:12], path)
    return path


@ALL_KINDS
@pytest.mark.parametrize("k", [0, -1, 13])
def test_a_number_that_the_table_has_not(asia: Path, twelve: Path, by: str, k: int) -> None:
    said = refused("select", asia, twelve, "-k", k, "--by", by)
    assert f"k must be an integer from 1 to 12 (the rows of the table), got {k} (option -k)" in said


@ALL_KINDS
@pytest.mark.parametrize("m", [0, 9, 13])
def test_a_number_of_criticisms_that_are_not_left(asia: Path, twelve: Path, by: str, m: int) -> None:
    said = refused("select", asia, twelve, "-k", 4, "--by", by, "--criticisms", m)
    assert f"criticisms must be an integer from 1 to 8 (the rows not chosen), got {m} (option --criticisms)" in said


@ALL_KINDS
def test_one_row_stands_for_itself(asia: Path, tmp_path: Path, by: str) -> None:
    fn.write_table(ROWS[:1], tmp_path / "one.csv")
    facts = facts_of("select", asia, tmp_path / "one.csv", "-k", 1, "--by", by)
    assert (facts["indices"], facts["stands_for"]) == ([0], [1])
    assert "from 1 to 1" in refused("select", asia, tmp_path / "one.csv", "-k", 2, "--by", by)
    said = refused("select", asia, tmp_path / "one.csv", "-k", 1, "--by", by, "--criticisms", 1)
    assert "all rows are chosen, so there is none to criticize them" in said


@ALL_KINDS
def test_equal_rows_and_a_model_that_tells_none_apart(asia: Path, tmp_path: Path, by: str) -> None:
    fn.write_table(ROWS[np.zeros(12, dtype=int)], tmp_path / "same.csv")
    (tmp_path / "one_state.csv").write_text("c\n" + "x\n" * 12)
    for words in ((asia, tmp_path / "same.csv"), (saved(coin("c", ["x"]), tmp_path), tmp_path / "one_state.csv")):
        ended = good("select", *words, "-k", 11, "--by", by)
        rows = [int(line[0]) for line in ended.cells[1:]]
        if by == "protodash":
            assert rows == [0]
            assert ended.err.startswith("protodash 1 row of 11 (no other row brings them nearer), distance 0, ")
        else:
            assert len(set(rows)) == 11


@ALL_KINDS
@pytest.mark.parametrize(
    ("weight", "words"),
    [
        ("0", "all rows have weight 0, so there is nothing to stand for"),
        ("", "a weight must be a number, 0 or more; this one is missing"),
        ("nan", "a weight must be a number, 0 or more"),
        ("-1", "a weight must be a number, 0 or more; this one is '-1'"),
    ],
)
def test_weights_that_are_none(asia: Path, twelve: Path, by: str, weight: str, words: str) -> None:
    header, *lines = twelve.read_text(encoding="utf-8").splitlines()
    twelve.write_text("\n".join([f"{header},w", *(f"{line},{weight}" for line in lines)]) + "\n", encoding="utf-8")
    assert words in refused("select", asia, twelve, "-k", 2, "--by", by, "--weights", "w")
