"""The encoded store: found again, told when stale, never half-written; and sources that are broken."""

from __future__ import annotations

import errno
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fishernet as fn
from fishernet.data.streams import store
from fishernet.data.streams.spool import FileRoom

TABLE = fn.datasets.load("asia").sample(2000, seed=1)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    fn.write_table(TABLE, tmp_path / "asia.parquet")
    return tmp_path / "asia.parquet"


def test_a_store_is_found_again_and_not_read_again(source: Path, tmp_path: Path) -> None:
    calls: list[str] = []

    def told(what: str, done: int, total: int | None) -> None:
        calls.append(what)

    first = fn.scan(source, cache=tmp_path / "store", progress=told)
    assert "reading" in calls
    calls.clear()
    second = fn.scan(source, cache=tmp_path / "store", progress=told)
    assert calls == []
    assert first == second == TABLE
    assert str(first.describe()) == str(second.describe())
    second.verify()


def test_a_stale_store_is_made_anew_with_a_warning(source: Path, tmp_path: Path) -> None:
    fn.scan(source, cache=tmp_path / "store")
    with pytest.warns(fn.FishernetWarning, match="made with other keywords"):
        assert fn.scan(source, cache=tmp_path / "store", columns=["lung", "smoke"]).names == ("smoke", "lung")
    fn.write_table(TABLE[:50], source)
    with pytest.warns(fn.FishernetWarning, match="the source has changed"):
        assert fn.scan(source, cache=tmp_path / "store", columns=["lung", "smoke"]).n_rows == 50
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fn.scan(source, cache=tmp_path / "store", columns=["lung", "smoke"]).n_rows == 50


def test_a_long_stream_is_divided_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fishernet.data.streams.stream.MOST_COPIED", 100)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    (tmp_path / "temporary").mkdir()
    frame = pa.table({"a": [f"state {i % 3}" for i in range(300)], "x": [i / 7 for i in range(300)]})
    for weights in ([1] * 300, [i % 5 for i in range(300)], [i / 3 for i in range(300)]):
        pq.write_table(frame.append_column("w", pa.array(weights)), tmp_path / "t.parquet")
        whole = fn.read_table(tmp_path / "t.parquet", weights="w")
        parts = fn.scan(tmp_path / "t.parquet", weights="w").split(0.3, seed=4)
        assert parts == whole.split(0.3, seed=4)
        assert all(part.folder is not None and part.folder.parent == tmp_path / "temporary" for part in parts)
        assert len(list((tmp_path / "temporary").iterdir())) == 2  # the stream that was divided is gone
        del parts
        gc.collect()
        assert not list((tmp_path / "temporary").iterdir())


def test_no_more_than_two_blocks_of_a_store_are_in_memory(tmp_path: Path) -> None:
    held: list[weakref.ref[Any]] = []

    def blocks() -> Iterator[Any]:
        for i in range(9):
            block = np.full(1000, i, dtype=np.uint8)
            held.append(weakref.ref(block))
            yield block
            del block
            assert sum(one() is not None for one in held) <= 2

    variable = fn.Variable("a", list(range(9)))
    with store.new_store(tmp_path / "store") as made:
        made.write([(variable, blocks())], None, 9000)
    assert made.opened.columns[0].tolist() == np.repeat(range(9), 1000).tolist()
    assert np.load(codes_of(tmp_path / "store")).shape == (1, 9000)


def test_a_stream_can_be_kept_later(source: Path, tmp_path: Path) -> None:
    kept = fn.scan(source).cache(tmp_path / "kept")
    assert kept == TABLE
    assert fn.scan(source, cache=tmp_path / "kept").folder == tmp_path / "kept"
    with pytest.raises(fn.FishernetError, match="is in memory"):
        fn.scan(source, cache="memory").cache(tmp_path / "other")


def test_a_folder_of_other_things_is_left_alone(source: Path, tmp_path: Path) -> None:
    with pytest.raises(fn.FishernetError, match="holds other things"):
        fn.scan(source, cache=tmp_path)
    with pytest.raises(fn.FishernetError, match="must be a folder"):
        fn.scan(source, cache=source)
    assert [path.name for path in tmp_path.iterdir()] == ["asia.parquet"]


def codes_of(folder: Path) -> Path:
    """Return the file of a store that holds its codes."""
    [path] = folder.glob("rows-*/codes-1.npy")
    return path


def damaged(folder: Path, how: str) -> None:
    if how == "cut":
        os.truncate(codes_of(folder), 100)
    elif how == "gone":
        codes_of(folder).unlink()
    elif how == "json":
        (folder / "store.json").write_text("{")
    elif how == "head":
        (folder / "store.json").write_text(json.dumps({"format": "fishernet store", "files": {}}))
    elif how == "version":
        head = json.loads((folder / "store.json").read_text())
        (folder / "store.json").write_text(json.dumps(head | {"version": 99}))


@pytest.mark.parametrize(
    ("how", "message"),
    [("cut", "cut off"), ("gone", "missing"), ("json", "damaged"), ("head", "damaged"), ("version", "version 99")],
)
def test_a_damaged_store_says_so(source: Path, tmp_path: Path, how: str, message: str) -> None:
    folder = tmp_path / "store"
    fn.scan(source, cache=folder)
    damaged(folder, how)
    with pytest.raises(fn.FileFormatError, match=message):
        fn.scan(source, cache=folder)


def test_a_changed_byte_is_found_by_its_checksum(source: Path, tmp_path: Path) -> None:
    stream = fn.scan(source, cache=tmp_path / "store")
    with codes_of(tmp_path / "store").open("r+b") as file:
        file.seek(1234)
        file.write(b"\x07")
    with pytest.raises(fn.FileFormatError, match="checksum"):
        stream.verify()
    codes_of(tmp_path / "store").unlink()
    with pytest.raises(fn.FileFormatError, match="cannot be read"):
        stream.verify()


PEOPLE = pa.table(
    {
        "sex": np.array(["f", "m", "x"])[np.random.default_rng(1).integers(0, 3, 700)],
        "ward": [f"w{i % 7}" for i in range(700)],
        "weight": np.random.default_rng(2).normal(70, 9, 700),
        "n": np.random.default_rng(3).integers(1, 4, 700),
    }
)


@pytest.mark.parametrize("weights", [None, "n"])
def test_every_flipped_bit_is_refused_or_harmless(
    weights: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand bits, over every file of a store."""
    monkeypatch.setattr("fishernet.data.streams.packing.LEAST_ROWS", 1)
    pq.write_table(PEOPLE, tmp_path / "people.parquet")
    table, folder = fn.read_table(tmp_path / "people.parquet", weights=weights), tmp_path / "store"

    def answers() -> tuple[fn.Stream, list[Any]]:
        stream = fn.scan(tmp_path / "people.parquet", cache=folder, weights=weights)
        return stream, [found.counts.tolist() for found in stream.statistics([(0,), (1,), (0, 1)])]

    expected = answers()
    assert expected[0] == table
    assert expected[1] == [found.counts.tolist() for found in table.statistics([(0,), (1,), (0, 1)])]
    whole = {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}
    assert {path.name for path in whole} >= {"codes-1.npy", "numbers.npy", "store.json"}
    assert ("weights.npy" if weights else "planes.npy") in {path.name for path in whole}
    rng, refused = np.random.default_rng(5), dict.fromkeys(whole, 0)
    for i in range(500):
        path = list(whole)[i % len(whole)]
        data = bytearray(whole[path])
        data[rng.integers(len(data))] ^= 1 << rng.integers(8)
        path.write_bytes(data)
        try:
            found = answers()
        except fn.FileFormatError:
            refused[path] += 1
        else:
            assert (found[0] == table, found[1]) == (True, expected[1])
        for other, held in whole.items():
            other.write_bytes(held)
    assert answers()[1] == expected[1]
    for path, n in refused.items():
        assert n == len(range(list(whole).index(path), 500, len(whole)))


def resigned(folder: Path, **changes: Any) -> None:
    """Change a head and give it the digest of what it says now."""
    head = json.loads((folder / "store.json").read_text()) | changes
    del head["digest"]
    (folder / "store.json").write_text(json.dumps({**head, "digest": store._digest(head)}))


def entry(n: Any = 0, **more: Any) -> dict[str, Any]:
    return {"bytes": n, "checksum": "0" * 64} | more


ODD: dict[str, list[Any]] = {
    "n_rows": ["2000", 1.5, None, 10**12, -1, True, [2000], 2001],
    "version": ["2", None, 2.0, [2]],
    "variables": [None, 3, [], [3], [{}], [{"name": "a"}], [{"name": "a", "states": "ab"}]],
    "decisions": [None, 3, [3], [["a"]]],
    "made_of": [None, 3, "", []],
    "rows": [None, 3, "", "..", "/etc", "rows-1", "rows-01234567-1-x/..", "rows-01234567-1-nowhere"],
    "files": [None, 3, [], {}, {"codes-1.npy": 3}, {"codes-1.npy": {}}],
}
WRONG_HEADS: list[dict[str, Any]] = [
    *({name: value} for name, values in ODD.items() for value in values),
    {"variables": [{"name": "a", "states": ["x"]}]},
    {"variables": [{"name": "a", "states": ["x", "y"]}] * 2},
    {"files": {"../asia.parquet": entry(16000)}},
    {"files": {"/etc/passwd": entry(16000)}},
    {"files": {"codes-1.npy": entry(16000), "../asia.parquet": entry()}},
    *({"files": {"codes-1.npy": entry(n)}} for n in ("16000", None, 1.5, 15999, -1, 16128)),
    {"files": {"codes-1.npy": entry(16128, type="<f8")}},
    {"files": {"codes-1.npy": entry(16128), "weights.npy": entry(16128)}},
]


@pytest.mark.parametrize("changes", WRONG_HEADS, ids=str)
@pytest.mark.parametrize("is_resigned", [True, False])
def test_a_head_that_cannot_be_is_refused(changes: Any, is_resigned: bool, source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    stream = fn.scan(source, cache=folder)
    if is_resigned:
        resigned(folder, **changes)
    else:
        head = json.loads((folder / "store.json").read_text())
        (folder / "store.json").write_text(json.dumps(head | changes))
    for call in (lambda: fn.scan(source, cache=folder), stream.verify):
        with pytest.raises(fn.FileFormatError, match="damaged|made anew|is missing|cut off"):
            call()


@pytest.mark.parametrize("text", ["", "{", "3", "null", "[" * 100_000, '{"format": ' * 50_000, "\x00", '{"format": 1}'])
def test_what_is_no_head_is_refused(text: str, source: Path, tmp_path: Path) -> None:
    fn.scan(source, cache=tmp_path / "store")
    (tmp_path / "store" / "store.json").write_text(text)
    with pytest.raises(fn.FileFormatError, match="damaged"):
        fn.scan(source, cache=tmp_path / "store")


def test_one_state_too_few_is_refused(source: Path, tmp_path: Path) -> None:
    fn.scan(source, cache=tmp_path / "store")
    head = json.loads((tmp_path / "store" / "store.json").read_text())
    del head["variables"][0]["states"][-1]
    (tmp_path / "store" / "store.json").write_text(json.dumps(head))
    with pytest.raises(fn.FileFormatError, match="damaged"):
        fn.scan(source, cache=tmp_path / "store")


def test_stores_of_long_filters_are_told_apart(tmp_path: Path) -> None:
    field = pa.dataset.field("i")
    pq.write_table(pa.table({"i": list(range(200)), "a": ["u", "v"] * 100}), tmp_path / "t.parquet")
    one = [*range(20), 30, *range(100, 119)]
    other = [*range(20), 31, *range(100, 119)]
    assert str(field.isin(one)) == str(field.isin(other))  # Arrow shortens it
    how: dict[str, Any] = {"cache": tmp_path / "store", "columns": ["i"], "categorical": ["i"]}
    first = fn.scan(tmp_path / "t.parquet", filter=field.isin(one), **how)
    assert 30 in first["i"]
    with pytest.warns(fn.FishernetWarning, match="other keywords"):
        second = fn.scan(tmp_path / "t.parquet", filter=field.isin(other), **how)
    assert 31 in second["i"]
    assert 30 not in second["i"]
    script = (
        "import sys, fishernet as fn, pyarrow.dataset as ds\n"
        "wanted = ds.field('i').isin([*range(20), 31, *range(100, 119)])\n"
        "fn.scan(sys.argv[1], filter=wanted, cache=sys.argv[2], columns=['i'], categorical=['i'])\n"
    )
    command = [sys.executable, "-W", "error", "-c", script, str(tmp_path / "t.parquet"), str(tmp_path / "store")]
    subprocess.run(command, check=True)  # which knows it again


def test_a_source_of_other_rights_or_a_copy_of_it_is_known_again(source: Path, tmp_path: Path) -> None:
    fn.scan(source, cache=tmp_path / "store")
    source.chmod(0o444)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fn.scan(source, cache=tmp_path / "store")
        shutil.copy2(source, tmp_path / "copy")
        (tmp_path / "copy").replace(source)
        assert fn.scan(source, cache=tmp_path / "store") == TABLE


@pytest.mark.parametrize("how", ["in place", "another file"])
def test_other_content_of_the_same_length_and_time_is_read_anew(how: str, tmp_path: Path) -> None:
    path, middle = tmp_path / "t.csv", 30_000
    text = "a,b\n" + "x,1\n" * (2 * middle)
    path.write_text(text)
    before = path.stat()
    assert fn.scan(path, cache=tmp_path / "store").variables[0].states == ("x",)
    time.sleep(0.02)  # file systems know the time to some ms
    if how == "in place":
        with path.open("r+b") as file:
            file.seek(4 + 4 * middle)
            file.write(b"y,2\n")
    else:
        (tmp_path / "new").write_text(text[: 4 + 4 * middle] + "y,2\n" + text[8 + 4 * middle :])
        os.utime(tmp_path / "new", ns=(before.st_atime_ns, before.st_mtime_ns))
        (tmp_path / "new").replace(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    with pytest.warns(fn.FishernetWarning, match="the source has changed"):
        found = fn.scan(path, cache=tmp_path / "store")
    assert found == fn.read_table(path)
    assert found.variables[0].states == ("x", "y")


def test_a_full_disk_says_what_is_needed_and_leaves_nothing(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = FileRoom.add
    calls = 0

    def full(self: FileRoom, name: str, array: Any) -> None:
        nonlocal calls
        calls += 1
        if calls > 5:
            raise OSError(errno.ENOSPC, "No space left on device")
        written(self, name, array)

    monkeypatch.setattr(FileRoom, "add", full)
    with pytest.raises(fn.FishernetError, match=r"the disk of .* is full"):
        fn.scan(source, cache=tmp_path / "store")
    assert [path.name for path in tmp_path.iterdir()] == ["asia.parquet"]


@pytest.mark.parametrize("seed", ["0", "1", "7"])
def test_another_process_knows_a_store_again(seed: str, source: Path, tmp_path: Path) -> None:
    states = [fn.Variable(v.name, v.states) for v in TABLE.variables]
    fn.scan(source, cache=tmp_path / "store", na_values=["a", "b", "c"], schema=states)
    script = (
        "import sys, fishernet as fn\n"
        "states = [fn.Variable(v.name, v.states) for v in fn.read_table(sys.argv[1]).variables]\n"
        "fn.scan(sys.argv[1], cache=sys.argv[2], na_values=['c', 'b', 'a'], schema=states)\n"
    )
    command = [sys.executable, "-W", "error", "-c", script, str(source), str(tmp_path / "store")]
    subprocess.run(command, check=True, env=os.environ | {"PYTHONHASHSEED": seed})


def test_states_far_down_a_schema_tell_stores_apart(tmp_path: Path) -> None:
    labels = [f"label {i}" for i in range(200)]
    fn.write_table(fn.Table.from_frame({"a": labels}, categorical=["a"]), tmp_path / "a.parquet")
    fn.scan(tmp_path / "a.parquet", cache=tmp_path / "store", schema=[fn.Variable("a", [*labels, "x"])])
    with pytest.warns(fn.FishernetWarning, match="other keywords"):
        fn.scan(tmp_path / "a.parquet", cache=tmp_path / "store", schema=[fn.Variable("a", [*labels, "y"])])


def test_a_killed_scan_leaves_no_store_that_seems_whole(source: Path, tmp_path: Path) -> None:
    script = (
        "import sys, fishernet as fn\n"
        "def told(what, done, total):\n"
        "    print('reading', flush=True); import time; time.sleep(60)\n"
        "fn.scan(sys.argv[1], cache=sys.argv[2], progress=told)\n"
    )
    command = [sys.executable, "-c", script, str(source), str(tmp_path / "store")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    assert store.made_of(tmp_path / "store") is None
    assert fn.scan(source, cache=tmp_path / "store") == TABLE


# ---------------------------------------------------------------------------------------------------- broken sources


def test_files_of_other_columns_or_types_are_named(tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({"a": ["x"], "b": [1]}), tmp_path / "one.parquet")
    pa.parquet.write_table(pa.table({"a": ["x"], "c": [1]}), tmp_path / "two.parquet")
    with pytest.raises(fn.FileFormatError, match=r"two\.parquet: has other columns than one\.parquet: .*'b', 'c'"):
        fn.scan(tmp_path)
    pa.parquet.write_table(pa.table({"a": ["x"], "b": ["1"]}), tmp_path / "two.parquet")
    with pytest.raises(fn.FileFormatError, match=r"two\.parquet: column 'b' is of type string here and of int64"):
        fn.scan(tmp_path)
    (tmp_path / "three.csv").write_text("a,b\nx,1\n")
    with pytest.raises(fn.FileFormatError, match="several kinds"):
        fn.scan(tmp_path)


def test_text_files_of_other_columns_are_named(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("a,b\nx,1\n")
    (tmp_path / "2.csv").write_text("a,c\nx,1\n")
    with pytest.raises(fn.FileFormatError, match=r"2\.csv: has other columns than 1\.csv"):
        fn.scan(tmp_path)


@pytest.mark.parametrize("keep", [10, 2000])
def test_a_truncated_file_is_named(source: Path, tmp_path: Path, keep: int) -> None:
    whole = source.read_bytes()
    (tmp_path / "part.parquet").write_bytes(whole[: min(keep, len(whole) - 20)])
    with pytest.raises(fn.FileFormatError, match=r"part\.parquet"):
        fn.scan(tmp_path)


def test_a_file_with_damaged_pages_is_named(tmp_path: Path) -> None:
    for name in ("a", "b"):
        pa.parquet.write_table(pa.table({"x": [f"label {i % 50}" for i in range(20000)]}), tmp_path / f"{name}.parquet")
    data = bytearray((tmp_path / "b.parquet").read_bytes())
    data[4:300] = bytes(296)
    (tmp_path / "b.parquet").write_bytes(bytes(data))
    with pytest.raises(fn.FileFormatError, match=r"b\.parquet"):
        fn.scan(tmp_path)


def test_a_file_that_changes_while_it_is_read(source: Path) -> None:
    def told(what: str, done: int, total: int | None) -> None:
        os.utime(source, (time.time() + 5, time.time() + 5))

    with pytest.raises(fn.FileFormatError, match="changed while it was read"):
        fn.scan(source, progress=told)


def test_an_empty_part_is_no_harm_and_a_late_state_is_told(tmp_path: Path) -> None:
    parts = [TABLE[:700], TABLE[:0], TABLE[700:]]
    for i, part in enumerate(parts):
        fn.write_table(part, tmp_path / f"part-{i}.parquet")
    assert fn.scan(tmp_path) == TABLE
    frames = [pa.table({"a": ["x", "y"]}), pa.table({"a": ["x", "z"]})]
    schema = [fn.Variable("a", ["x", "y"])]
    with pytest.raises(fn.UnknownStateError, match="row 3: the label 'z'"):
        fn.scan(iter(frames), schema=schema)
    assert fn.scan(iter(frames), schema=schema, unknown="missing")["a"].tolist() == ["x", "y", "x", None]
    assert fn.scan(iter(frames)).variables[0].states == ("x", "y", "z")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (3, "a stream is read from a path"),
        (iter([3]), "item 0: a record batch or a data frame"),
        ("nowhere.parquet", "no such file"),
        ("nowhere-*.parquet", "no file matches this pattern"),
        (iter([pa.table({"a": ["x"]}), pa.table({"b": ["x"]})]), "the columns are"),
        (iter([pa.table({"a": [1]}), pa.table({"a": [1.5]})]), "column 'a' has another type"),
    ],
)
def test_what_is_no_stream_is_refused_in_a_sentence(wrong: Any, message: str) -> None:
    with pytest.raises(fn.FishernetError, match=message):
        fn.scan(wrong)


def test_an_empty_folder_and_one_of_other_files(tmp_path: Path) -> None:
    with pytest.raises(fn.FileFormatError, match="holds no Parquet"):
        fn.scan(tmp_path)
    (tmp_path / "notes.md").write_text("x")
    with pytest.raises(fn.FileFormatError, match="holds no Parquet"):
        fn.scan(tmp_path)
    assert store.made_of(tmp_path) is None


def test_a_weighted_stream_without_rows_can_be_kept(tmp_path: Path) -> None:
    frame = pa.table({"a": pa.array([], pa.string()), "w": pa.array([], pa.float64())})
    stream = fn.scan(frame, schema=[fn.Variable("a", ["x", "y"])], weights="w")
    kept = stream.cache(tmp_path / "kept")
    assert (kept.n_rows, kept.total) == (0, stream.total)
