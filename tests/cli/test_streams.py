"""Folders, patterns and long files: what a command says of them is what it says of one file with their rows."""

from __future__ import annotations

import errno
import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fishernet as fn
from fishernet.base.machine import memory_limit
from fishernet.cli.tables import sources
from fishernet.cli.tables.sources import in_words, pace, paced
from fishernet.cli.terminal import duration
from fishernet.data.streams.spool import FileRoom
from tests.cli.running import Run, facts_of, good, refused, run, saved, written

N = 900
RNG = np.random.default_rng(1)
SMOKES, AGES = RNG.random(N) < 0.4, RNG.integers(18, 90, N)
COUGHS = RNG.random(N) < np.where(SMOKES, 0.7, 0.2)
PEOPLE: dict[str, list[Any]] = {
    "ward": [f"w{i}" for i in RNG.integers(0, 3, N)],
    "smokes": np.where(SMOKES, "yes", "no").tolist(),
    "cough": np.where(COUGHS, "yes", "no").tolist(),
    "age": AGES.tolist(),
    "weight": np.where(SMOKES, RNG.normal(65, 8, N), RNG.normal(72, 8, N)).round(1).tolist(),
}
ENDINGS = [".csv", ".csv.gz", ".parquet", ".arrow"]
BINNED = ["--bins", "3"]


def write(frame: pa.Table, path: Path) -> None:
    """Write a frame as it is."""
    if path.suffix == ".parquet":
        pq.write_table(frame, path)
    elif path.suffix == ".arrow":
        with pa.ipc.new_file(path, frame.schema) as file:
            file.write_table(frame)
    else:
        frame.to_pandas().to_csv(path, index=False)


@pytest.fixture(params=ENDINGS)
def files(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    """Return a file, and a folder with its rows in three files."""
    frame, folder = pa.table(PEOPLE), tmp_path / "many"
    folder.mkdir()
    write(frame, tmp_path / f"one{request.param}")
    for i, (begin, end) in enumerate([(0, 250), (250, 260), (260, N)]):
        write(frame.slice(begin, end - begin), folder / f"part-{i}{request.param}")
    return tmp_path / f"one{request.param}", folder


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """Return a folder of Parquet files."""
    folder = tmp_path / "parts"
    folder.mkdir()
    for i in range(3):
        pq.write_table(pa.table(PEOPLE).slice(i * 300, 300), folder / f"part-{i}.parquet")
    return folder


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """Return a network of the people's states."""
    table = fn.Table.from_frame(PEOPLE, bins=3)
    return saved(fn.learn.bayesian_network(table), tmp_path / "people.json")


def as_one(said: Run, source: Path, one: Path) -> Run:
    """Return a run with another table's name, without the times."""
    lines = [line for line in said.out.splitlines() if '"seconds"' not in line and not line.startswith("seconds")]
    return Run(said.status, "\n".join(lines).replace(str(source), str(one)), said.err)


def same_for_many(one: Path, folder: Path, words: Callable[[Path], list[object]], output: Path | None = None) -> None:
    """Assert that a command says and writes of a folder, a pattern and a stream what it does of one file."""
    runs = []
    for source, more in ((one, []), (folder, []), (folder / "part-*", []), (one, ["--scan"])):
        said = as_one(good(*words(source), *more), source, one)
        runs.append((said.out, output and output.read_bytes().replace(str(source).encode(), str(one).encode())))
    assert runs[1:] == runs[:1] * 3


def test_learn(files: tuple[Path, Path], tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    for more in (BINNED, [*BINNED, "--model", "dn"], [*BINNED, "--holdout", "0", "--score", "qnml", "--json"]):
        same_for_many(*files, lambda path, more=more: ["learn", path, *more, "-o", model], model)  # type: ignore[misc]


def test_describe_and_compare(files: tuple[Path, Path]) -> None:
    same_for_many(*files, lambda path: ["describe", path])
    same_for_many(*files, lambda path: ["describe", path, "--json", "--bins", "age=4", "--exclude", "ward"])
    same_for_many(*files, lambda path: ["compare", path, files[0], *BINNED, "--permutations", "19"])


def test_score(files: tuple[Path, Path], network: Path, tmp_path: Path) -> None:
    out = tmp_path / "scores"
    for more in (["--rows"], ["--json", "--rows", "--score", "bic"], ["--terms"]):
        same_for_many(*files, lambda path, more=more: ["score", network, path, *more, "-o", out], out)  # type: ignore[misc]
    same_for_many(*files, lambda path: ["score", network, path])
    net = fn.load(network)
    logs = net.log_prob(fn.Table.from_frame(PEOPLE, schema=net.variables))
    good("score", network, files[1], "--rows", "-o", out)
    assert [float(line) for line in out.read_text().splitlines()] == logs.tolist()


def test_select_writes_the_rows_as_they_are_in_the_files(files: tuple[Path, Path], network: Path) -> None:
    out = files[0].with_name("chosen.csv")
    words = ["-k", "7", "--seed", "1", "--starts", "2", "-o", out]
    same_for_many(*files, lambda path: ["select", network, path, *words], out)
    assert out.read_text().splitlines()[0] == f"row,{','.join(PEOPLE)},stands_for"


def test_select_counts_rows_that_lack_cells(tmp_path: Path, network: Path) -> None:
    frame = pa.table({**PEOPLE, "cough": [None if i % 7 == 0 else cell for i, cell in enumerate(PEOPLE["cough"])]})
    (tmp_path / "gaps").mkdir()
    write(frame, tmp_path / "one.parquet")
    for i in range(3):
        write(frame.slice(300 * i, 300), tmp_path / "gaps" / f"part-{i}.parquet")
    out = tmp_path / "chosen.parquet"
    for missing in ("drop", "keep"):
        words = ["-k", 5, "--seed", 1, "--starts", 2, "--missing", missing, "-o", out]
        same_for_many(
            tmp_path / "one.parquet",
            tmp_path / "gaps",
            lambda path, words=words: ["select", network, path, *words],  # type: ignore[misc]
            out,
        )
        chosen = pq.read_table(out)
        assert chosen["weight"].to_pylist() == [PEOPLE["weight"][row] for row in chosen["row"].to_pylist()]


def test_partitions_are_columns(tmp_path: Path) -> None:
    import pyarrow.dataset as ds

    ds.write_dataset(
        pa.table(PEOPLE), tmp_path / "hive", format="parquet", partitioning=["ward"], partitioning_flavor="hive"
    )
    whole = tmp_path / "whole.csv"
    write(pa.table(PEOPLE), whole)
    found, expected = (facts_of("learn", path, *BINNED, "--holdout", 0) for path in (tmp_path / "hive", whole))
    assert sorted(found["variables"]) == sorted(PEOPLE)
    assert found["score_value"] == pytest.approx(expected["score_value"], rel=1e-12)


def test_partitions_of_text_files_are_no_columns_and_that_is_said(tmp_path: Path) -> None:
    for ward in ("w0", "w1"):
        (tmp_path / "hive" / f"ward={ward}").mkdir(parents=True)
        written(tmp_path / "hive" / f"ward={ward}" / "part.csv", "a,b\nx,1\ny,2\n")
    said = good("describe", tmp_path / "hive")
    assert said.out.startswith("4 rows, 2 columns")
    assert "note: partitions ('ward') of text files are no columns of the table; those of Parquet files are" in said.err


def test_a_cache_is_read_in_place_of_the_files(parts: Path, tmp_path: Path) -> None:
    words = ["learn", parts, *BINNED, "--cache", tmp_path / "cache", "--json"]
    first = facts_of(*words)
    assert (tmp_path / "cache" / "store.json").is_file()
    before = sorted(p.stat().st_mtime_ns for p in (tmp_path / "cache").iterdir())
    again = facts_of(*words)
    assert {**again, "seconds": 0} == {**first, "seconds": 0}
    assert sorted(p.stat().st_mtime_ns for p in (tmp_path / "cache").iterdir()) == before
    os.utime(parts / "part-1.parquet", (1, 1))
    assert "is stale (the source has changed); it is made anew (option --cache)" in good(*words).err


def test_a_command_that_is_asked_to_end_leaves_no_store(parts: Path, tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    script = (
        "import fishernet.learn, sys, time\n"
        "from fishernet.cli.main import main\n"
        "from fishernet.data.streams import scanning\n"
        "kept = scanning.Stream.of_stored\n"
        "def told(stored):\n"
        "    stream = kept(stored)\n"
        "    print('scanned', flush=True)\n"
        "    time.sleep(60)\n"
        "scanning.Stream.of_stored = told\n"
        "main()\n"
    )
    command = [sys.executable, "-c", script, "learn", str(parts), *map(str, BINNED)]
    environment = os.environ | {"TMPDIR": str(tmp_path / "temporary")}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"scanned\n"
        assert list((tmp_path / "temporary").iterdir())
        process.terminate()
        assert process.wait(30) == 143
    assert not list((tmp_path / "temporary").iterdir())


# ------------------------------------------------------------------------------------------- which files are long


def test_one_long_file_is_read_as_a_stream_and_that_is_said(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _ = files
    whole = good("describe", one)
    assert whole.err == ""
    monkeypatch.setattr(sources, "ALWAYS_SHORT", 0)
    monkeypatch.setattr(sources, "memory_limit", lambda: 10_000)
    said = good("describe", one)
    assert said.out == whole.out
    assert said.err.startswith(f"fishernet: note: {one}: about 0.0 MB of cells, more than a quarter of the memory")
    assert said.err.endswith("so it is read as a stream; --no-scan reads it whole\n")
    for words in (["--scan"], ["--no-scan"]):
        assert good("describe", one, *words) == whole
    monkeypatch.setattr(sources, "memory_limit", lambda: 10**9)
    assert good("describe", one).err == ""


def test_packed_files_are_longer_than_they_look(tmp_path: Path) -> None:
    from fishernet.data.streams.sizes import decoded_bytes, guessed_rows

    frame = pa.table({"a": ["a long label of many letters"] * 5000})
    for name in ("a.parquet", "a.csv", "a.csv.gz"):
        write(frame, tmp_path / name)
    text = (tmp_path / "a.csv").stat().st_size
    assert decoded_bytes(tmp_path / "a.csv") == text
    assert (tmp_path / "a.csv.gz").stat().st_size < decoded_bytes(tmp_path / "a.csv.gz") < text
    assert decoded_bytes(tmp_path / "a.parquet") >= (tmp_path / "a.parquet").stat().st_size
    assert guessed_rows([tmp_path / "a.csv"] * 3) == pytest.approx(15003, rel=0.01)
    assert guessed_rows([tmp_path / "a.csv.gz"]) == pytest.approx(5001, rel=0.5)
    assert guessed_rows([tmp_path / "absent.csv"]) is None


def test_the_memory_is_that_of_the_machine_or_less() -> None:
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 2**20 < memory_limit() <= machine


# ------------------------------------------------------------------------------------------------------ bad input


REFUSED = [
    ("EMPTY", "EMPTY: the folder holds no Parquet, Arrow or text files"),
    ("PARTS/*.csv", "*.csv: no file matches this pattern"),
    ("ABSENT", "ABSENT: there is no such file"),
    ("COLUMNS", "two.parquet: has other columns than one.parquet: only one of them has 'b', 'c'"),
    ("TYPES", "two.parquet: column 'b' is of type string here and of int64 in one.parquet"),
    ("TEXTS", "two.csv: "),
    ("TEXTS", "'c'"),
    ("CUT", "two.parquet: is no Parquet file, or a broken one"),
    ("KINDS", "the files are of several kinds"),
    ("PARTS --no-scan", "PARTS: a folder is always read as a stream; leave --no-scan out"),
    ("PARTS/*.parquet --no-scan", "a pattern of files is always read as a stream; leave --no-scan out"),
    ("TEXTS/one.csv --no-scan --cache STORE", "--cache keeps what a stream has encoded; it does not go with --no-scan"),
    ("PARTS --cache TEXTS", "holds other things; name a new or empty folder as cache (option --cache)"),
    ("PARTS --cache TEXTS/one.csv", "cache must be a folder"),
    ("- --scan", "-: a pipe is read whole; write it to a file to read that as a stream"),
]


@pytest.fixture
def bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder with those that the words above stand for, which is the current one."""
    one, other, third = (pa.table({"a": ["x"], name: [cell]}) for name, cell in (("b", 1), ("c", 1), ("b", "1")))
    for name, second in (("PARTS", one), ("COLUMNS", other), ("TYPES", third), ("CUT", one), ("KINDS", one)):
        (tmp_path / name).mkdir()
        pq.write_table(one, tmp_path / name / "one.parquet")
        pq.write_table(second, tmp_path / name / "two.parquet")
    (tmp_path / "EMPTY").mkdir()
    (tmp_path / "TEXTS").mkdir()
    written(tmp_path / "TEXTS" / "one.csv", "a,b\nx,1\n")
    written(tmp_path / "TEXTS" / "two.csv", "a,c\nx,1\n")
    written(tmp_path / "KINDS" / "three.csv", "a,b\nx,1\n")
    cut = tmp_path / "CUT" / "two.parquet"
    cut.write_bytes(cut.read_bytes()[:-20])
    saved(fn.learn.bayesian_network(fn.Table.from_frame({"a": ["x", "y"], "b": [1, 2]})), tmp_path / "model.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", ["learn", "describe", "score model.json", "select model.json -k 1"])
@pytest.mark.parametrize(("words", "said"), REFUSED)
def test_bad_sources_are_one_sentence(bad: Path, command: str, words: str, said: str) -> None:
    before = sorted(bad.rglob("*"))
    assert said in refused(*command.split(), *words.split())
    assert sorted(bad.rglob("*")) == before


def test_states_that_a_model_does_not_have_are_named(parts: Path, network: Path) -> None:
    frame = pa.table({**PEOPLE, "ward": ["w9" if i == 500 else ward for i, ward in enumerate(PEOPLE["ward"])]})
    pq.write_table(frame.slice(300, 300), parts / "part-1.parquet")
    for words in (["score", network, parts], ["compare", parts, parts, "--model", network]):
        assert "column 'ward', row 500: the label 'w9' is not among the states" in refused(*words)


def test_files_without_rows_are_no_table(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    written(tmp_path / "none" / "a.csv", "a,b\n")
    told = refused("learn", tmp_path / "none")
    assert told == refused("learn", tmp_path / "none" / "a.csv")
    assert told.startswith("there is no row")


@pytest.mark.parametrize("command", ["learn", "describe"])
def test_a_full_disk_is_one_sentence(
    parts: Path, monkeypatch: pytest.MonkeyPatch, command: str, tmp_path: Path
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(FileRoom, "add", full)
    message = refused(command, parts, "--cache", tmp_path / "cache")
    assert message.startswith(f"the disk of '{tmp_path}")
    assert message.endswith("is full; set cache= or TMPDIR to a folder on another disk (option --cache)")
    assert not (tmp_path / "cache").exists()


def test_a_file_that_changes_while_it_is_read_is_named(parts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add = FileRoom.add

    def touching(room: FileRoom, name: str, array: Any) -> None:
        os.utime(parts / "part-1.parquet", (1, 1))
        add(room, name, array)

    monkeypatch.setattr(FileRoom, "add", touching)
    assert refused("learn", parts, *BINNED).endswith(
        "part-1.parquet: changed while it was read; read it again when nobody writes to it"
    )


def test_a_packed_file_that_is_cut_off_is_named(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    written(tmp_path / "parts" / "a.csv", "a,b\nx,u\n")
    packed = gzip.compress("".join(["a,b\n", *(f"x{i % 7},u{i * i % 5}\n" for i in range(5000))]).encode())
    cut = tmp_path / "parts" / "b.csv.gz"
    for data in (packed[: len(packed) // 2], b"no gzip"):
        cut.write_bytes(data)
        for words in ([cut], [cut, "--scan"], [tmp_path / "parts"]):
            assert refused("describe", *words).startswith(f"{cut}: cannot be read (")


def test_a_file_that_goes_away_while_it_is_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add = FileRoom.add
    table = written(tmp_path / "t.csv", "a,b\nx,u\ny,v\n")

    def removing(room: FileRoom, name: str, array: Any) -> None:
        table.unlink(missing_ok=True)
        add(room, name, array)

    monkeypatch.setattr(FileRoom, "add", removing)
    assert refused("learn", table, "--scan").endswith(
        "t.csv: changed while it was read; read it again when nobody writes to it"
    )


def test_a_file_that_changes_before_rows_are_taken_from_it_is_named(
    parts: Path, network: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fishernet.select import Selection

    stands_for = Selection.stands_for

    def touching(chosen: Selection) -> Any:
        os.utime(parts / "part-2.parquet", (1, 1))
        return stands_for(chosen)

    monkeypatch.setattr(Selection, "stands_for", touching)
    message = refused("select", network, parts, "-k", 3, "--starts", 1, "--seed", 1)
    assert "part-2.parquet: changed while it was read" in message


def test_an_interrupted_score_leaves_the_old_file(
    parts: Path, network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = written(tmp_path / "rows.txt", "of yesterday\n")
    monkeypatch.setattr(sources, "BLOCK_ROWS", 100)
    log_prob, calls = fn.BayesianNetwork.log_prob, []

    def stopping(net: fn.BayesianNetwork, rows: Any) -> Any:
        calls.append(len(rows))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return log_prob(net, rows)

    monkeypatch.setattr(fn.BayesianNetwork, "log_prob", stopping)
    before = sorted(tmp_path.iterdir())
    ended = run("score", network, parts, "--rows", "-o", out)
    assert (ended.status, ended.err) == (130, "fishernet: interrupted\n")
    assert calls == [100] * 3
    assert out.read_text() == "of yesterday\n"
    assert sorted(tmp_path.iterdir()) == before


# ------------------------------------------------------------------------------------------------------- how fast


def test_the_pace_of_reading_is_told() -> None:
    assert pace(200, None, 10**6, 4.0) == "50 rows/s"
    assert pace(500_000, 2_000_000, 10**8, 2.0) == "250,000 rows/s, 12.5 MB/s, 0:06 left"
    assert pace(2_000_001, 2_000_000, 10**8, 4.0) == "500,000 rows/s, 25.0 MB/s, 0:00 left"
    assert [duration(s) for s in (0, 59.6, 3599, 3600, 90061)] == ["0:00", "1:00", "59:59", "1:00:00", "25:01:01"]
    assert [in_words(n) for n in (0, 12_345_678, 6.1e9)] == ["0.0 MB", "12.3 MB", "6.1 GB"]


def test_progress_knows_the_pace_and_other_work_has_none(parts: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    step = paced(lambda *words: told.append(words), parts)
    assert step is not None
    step("reading", 300, 900)
    step("encoding", 1, 5)
    (first, *rows), second = told
    assert first.startswith("reading: ")
    assert first.endswith(" left; rows")
    assert rows == [300, 900]
    assert second == ("encoding", 1, 5)
    assert paced(None, parts) is None
