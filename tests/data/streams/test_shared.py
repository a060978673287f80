"""Streams that share a store: with other streams, threads, processes and copies, each answers for its own rows."""

from __future__ import annotations

import copy
import errno
import gc
import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.data.streams import packing
from tests.data.streams.sharing import rounds

N = 4000
NET = fn.datasets.load("asia")


@pytest.fixture(autouse=True)
def packed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let short tables be packed into files, as long ones are."""
    monkeypatch.setattr(packing, "LEAST_ROWS", 1)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder for temporary files of one's own."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path / "temporary"


def related(seed: int = 1) -> fn.Table:
    return NET.sample(N, seed=seed)


def unrelated(seed: int = 2) -> fn.Table:
    """Return rows of the same shape and marginals without any dependence."""
    rng, table = np.random.default_rng(seed), related()
    return fn.Table(table.variables, [rng.permutation(column) for column in table.codes])


def written(table: fn.Table, path: Path) -> Path:
    fn.write_table(table, path)
    return path


def bic(data: Any) -> float:
    return fn.score(NET.dag, data, "bic")


# ------------------------------------------------------------------------------------------------------ side by side


def test_threads_that_make_one_cache_all_score_right(tmp_path: Path) -> None:
    table = related()
    source, found, start = written(table, tmp_path / "x.parquet"), [], threading.Barrier(4)

    def work() -> None:
        start.wait()
        found.append(bic(fn.scan(source, cache=tmp_path / "c")))

    for _ in range(5):
        shutil.rmtree(tmp_path / "c", ignore_errors=True)
        running = [threading.Thread(target=work) for _ in range(4)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    assert found == [bic(table)] * 20


def test_threads_that_share_one_stream_score_right(tmp_path: Path) -> None:
    table, found = related(), []
    for cache in (tmp_path / "c", None):
        stream = fn.scan(written(table, tmp_path / "x.parquet"), cache=cache)
        running = [threading.Thread(target=lambda s=stream: found.append(bic(s))) for _ in range(8)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    assert found == [bic(table)] * 16


@pytest.mark.slow
def test_processes_that_share_a_stream_while_some_are_killed(tmp_path: Path) -> None:
    """One round finds the store that is there, the other makes it; the full size is a command (`sharing`)."""
    found = rounds(tmp_path, 2, 20_000, processes=3, threads=3, seed=3)
    assert found["ended"] + found["killed"] == 6
    assert found["ended"] > 0


def _scored(stream: fn.Stream) -> float:
    return bic(stream)


@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_a_pool_learns_from_a_temporary_stream(tmp_path: Path, how: str) -> None:
    table = related()
    stream = fn.scan(written(table, tmp_path / "x.parquet"))
    with multiprocessing.get_context(how).Pool(2) as pool:
        assert pool.map(_scored, [stream] * 4) == [bic(table)] * 4
    assert stream.folder is not None
    assert stream.folder.is_dir()


# -------------------------------------------------------------------------------------------- whose the files are


def test_the_packed_form_of_another_table_is_never_taken(tmp_path: Path) -> None:
    first = fn.scan(written(related(), tmp_path / "x.parquet"), cache=tmp_path / "c")
    written(unrelated(), tmp_path / "x.parquet")
    with pytest.warns(fn.FishernetWarning, match="stale"):
        second = fn.scan(tmp_path / "x.parquet", cache=tmp_path / "c")
    assert bic(second) == bic(unrelated())
    assert bic(first) == bic(related())  # that of its own rows, which it still has
    second.verify()
    with pytest.raises(fn.FileFormatError, match="made anew and holds other rows"):
        first.verify()


def test_a_damaged_packed_form_is_refused(tmp_path: Path) -> None:
    source = written(related(), tmp_path / "x.parquet")
    stream = fn.scan(source, cache=tmp_path / "c")
    for name in packing.NAMES:
        [path] = (tmp_path / "c").glob(f"*/{name}")
        whole = path.read_bytes()
        inverted = whole[:-100] + bytes(255 - byte for byte in whole[-100:])
        for broken in (inverted, whole[:-8], b"", bytes(len(whole))):
            path.write_bytes(broken)
            for call in (stream.verify, lambda: fn.scan(source, cache=tmp_path / "c")):
                with pytest.raises(fn.FileFormatError, match=name):
                    call()
        path.write_bytes(whole)
        stream.verify()
    shutil.rmtree(tmp_path / "c")  # as the sentence says
    assert bic(fn.scan(source, cache=tmp_path / "c")) == bic(related())


def test_a_pickled_stream_of_a_cache_that_was_made_anew_says_so(tmp_path: Path) -> None:
    stream = fn.scan(written(related(), tmp_path / "x.parquet"), cache=tmp_path / "c")
    pickled = pickle.dumps(stream)
    assert pickle.loads(pickled) == related()
    with pytest.warns(fn.FishernetWarning, match="stale"):
        fn.scan(written(unrelated(), tmp_path / "x.parquet"), cache=tmp_path / "c")
    with pytest.raises(fn.FileFormatError, match="holds other rows than the stream"):
        pickle.loads(pickled)
    assert stream == related()
    assert stream.cache(tmp_path / "kept") == related()
    with pytest.warns(fn.FishernetWarning, match="stale"):
        fn.scan(written(related(), tmp_path / "x.parquet"), cache=tmp_path / "c")
    assert pickle.loads(pickled) == related()  # the same rows again


def test_a_pickled_stream_whose_store_is_gone_says_so() -> None:
    pickled = pickle.dumps(fn.scan(related().to_frame()))
    gc.collect()
    with pytest.raises(fn.FileFormatError, match="holds no encoded store"):
        pickle.loads(pickled)


COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda stream: pickle.loads(pickle.dumps(stream)),
}


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_a_copy_outlives_its_original(copied: Callable[[Any], Any]) -> None:
    stream = fn.scan(related().to_frame())
    other, folder = copied(stream), stream.folder
    assert folder is not None
    del stream
    gc.collect()
    other.verify()
    assert bic(other) == bic(related())
    assert pickle.loads(pickle.dumps(other)) == related()
    del other
    gc.collect()
    assert not folder.exists()


def _dropped(stream: fn.Stream) -> int:
    return stream.n_rows  # and its reference goes with the process


def test_a_forked_child_leaves_its_parents_store() -> None:
    stream = fn.scan(related().to_frame())
    folder = stream.folder
    assert folder is not None
    child = os.fork()
    if child == 0:
        try:
            del stream
            gc.collect()
            fn.scan(unrelated().to_frame())  # its own, which goes with it
        finally:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert folder.is_dir()
    for context in (multiprocessing.get_context("fork"), multiprocessing.get_context("spawn")):
        process = context.Process(target=_dropped, args=(stream,))
        process.start()
        process.join()
        assert process.exitcode == 0
        stream.verify()
    script = "import fishernet as fn, os, sys\ns = fn.scan(fn.datasets.load('asia').sample(9, seed=1).to_frame())\n"
    script += "if not os.fork():\n    sys.exit(0)\nos.wait()\ns.verify()\n"
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True)


def test_a_forked_child_answers_for_its_own_rows() -> None:
    stream = fn.scan(related().to_frame())
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(_scored, (stream,)) == bic(related())
    assert bic(stream) == bic(related())


# -------------------------------------------------------------------------------------------- where files cannot lie


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[tuple[Path, Callable[[str], subprocess.CompletedProcess[str]]]]:
    """Return a folder in which what is run cannot write, as by a user who may not."""
    base = Path(tempfile.mkdtemp(prefix="read-only-"))  # pytest's own folders cannot be entered by others
    base.chmod(0o755)

    def run(script: str) -> subprocess.CompletedProcess[str]:
        for path in [base, *base.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        if not os.geteuid():
            script = "import os\n" + script.replace("#go", "os.setgid(65534); os.setuid(65534)")
        command = [sys.executable, "-c", script, str(base)]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")

    yield base, run
    for path in [base, *base.rglob("*")]:
        path.chmod(0o755)
    shutil.rmtree(base)


LEARN = """
import fishernet as fn, sys
from fishernet.data.streams import packing
packing.LEAST_ROWS = 1
warm = fn.scan(sys.argv[1] + "/x.parquet")  # who the script becomes may not read the library
fn.learn.structure(warm, search="hill-climb")
del warm
#go
s = fn.scan(sys.argv[1] + "/x.parquet", cache=sys.argv[1] + "/c")
print(fn.learn.structure(s, search="hill-climb").score)
try:
    fn.scan(sys.argv[1] + "/x.parquet", cache=sys.argv[1] + "/c", columns=["lung"])
except fn.FishernetError as error:
    print(error)
"""


@pytest.mark.parametrize("is_packed", [True, False])
def test_a_read_only_cache_is_learned_from(read_only: Any, is_packed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    base, run = read_only
    expected = fn.learn.structure(related(), search="hill-climb").score
    if not is_packed:
        monkeypatch.setattr(packing, "LEAST_ROWS", 2**22)
    fn.scan(written(related(), base / "x.parquet"), cache=base / "c")
    found = run(LEARN)
    assert found.returncode == 0, found.stderr
    score, told = found.stdout.splitlines()
    assert float(score) == expected
    assert f"the folder '{base}/c' cannot be written (Permission denied)" in told


def link(tmp_path: Path) -> Path:
    (tmp_path / "target").mkdir()
    (tmp_path / "c").symlink_to(tmp_path / "target")
    return tmp_path / "c"


def dangling(tmp_path: Path) -> Path:
    (tmp_path / "c").symlink_to(tmp_path / "nowhere" / "target")
    return tmp_path / "c"


def here(tmp_path: Path) -> Path:
    (tmp_path / "here").mkdir()
    os.chdir(tmp_path / "here")
    return Path()


@pytest.mark.parametrize("made", [link, dangling, here])
def test_a_cache_may_be_a_folder_of_any_kind(
    made: Callable[[Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source, cache = written(related(), tmp_path / "x.parquet"), made(tmp_path)
    assert fn.scan(source, cache=cache) == related()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bic(fn.scan(source, cache=cache)) == bic(related())
    with pytest.warns(fn.FishernetWarning, match="stale"):
        stream = fn.scan(source, cache=cache, columns=["lung", "smoke"])
    monkeypatch.chdir("/")
    assert stream.names == ("smoke", "lung")
    assert bic_of_two(stream) == bic_of_two(related().select(["smoke", "lung"]))
    stream.verify()


def bic_of_two(data: Any) -> float:
    return fn.score(fn.Dag.from_edges(["smoke", "lung"], [("smoke", "lung")]), data, "bic")


def test_a_cache_may_be_a_mount_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that can be neither renamed nor removed, and whose parent takes no files."""
    (tmp_path / "volume").mkdir()
    for name in ("rename", "replace", "rmdir"):
        kept = getattr(os, name)

        def busy(path: Any, *more: Any, kept: Any = kept, **how: Any) -> Any:
            if str(tmp_path / "volume") in (str(path), *map(str, more)):
                raise OSError(errno.EBUSY, "Device or resource busy")
            return kept(path, *more, **how)

        monkeypatch.setattr(os, name, busy)
    source = written(related(), tmp_path / "x.parquet")
    for columns in (None, ["lung", "smoke"]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fn.FishernetWarning)
            fn.scan(source, cache=tmp_path / "volume", columns=columns)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["volume", "x.parquet"]


def test_other_things_beside_a_store_stay(tmp_path: Path) -> None:
    source = written(related(), tmp_path / "x.parquet")
    fn.scan(source, cache=tmp_path / "c")
    (tmp_path / "c" / "notes.txt").write_text("mine")
    with pytest.warns(fn.FishernetWarning, match="stale"):
        fn.scan(source, cache=tmp_path / "c", columns=["lung"])
    assert (tmp_path / "c" / "notes.txt").read_text() == "mine"


def test_a_folder_that_cannot_be_written_is_told_before_the_source_is_read(tmp_path: Path) -> None:
    def read(*_: Any) -> None:
        raise AssertionError

    (tmp_path / "file").write_text("")
    with pytest.raises(fn.FishernetError, match="cannot be written") as told:
        fn.scan(written(related(), tmp_path / "x.parquet"), cache=tmp_path / "file" / "c", progress=read)
    assert told.value.parameter == "cache"


# -------------------------------------------------------------------------------------------- full disks, and killed


def test_a_full_disk_while_packing_is_no_harm(temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = written(related(), tmp_path / "x.parquet")
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=100))
    stream = fn.scan(source, cache=tmp_path / "c")
    assert bic(stream) == bic(related())
    assert not [path for name in packing.NAMES for path in (tmp_path / "c").rglob(name)]
    assert not list(temporary.iterdir())


def test_a_disk_that_fills_up_while_packing_is_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fills_up(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(packing, "_write_beside", fills_up)
    stream = fn.scan(written(related(), tmp_path / "x.parquet"), cache=tmp_path / "c")
    assert bic(stream) == bic(related())
    assert not [path for name in packing.NAMES for path in (tmp_path / "c").rglob(name)]


KEPT = """
import fishernet as fn, time
s = fn.scan(fn.datasets.load("asia").sample(90, seed=1).to_frame())
print(s.folder, flush=True)
time.sleep(60)
"""


def test_what_killed_processes_left_behind_is_removed(temporary: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", KEPT], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        fn.scan(related().to_frame())
        assert folder.is_dir()  # it is in use
        process.kill()
    (temporary / "fishernet-projects").mkdir()  # somebody's own
    assert folder.is_dir()
    fn.scan(related().to_frame())
    assert not folder.exists()
    gc.collect()
    assert [path.name for path in temporary.iterdir()] == ["fishernet-projects"]


KILLED = """
import sys, fishernet as fn
def told(what, done, total):
    print('reading', flush=True); import time; time.sleep(60)
fn.scan(sys.argv[1], cache=sys.argv[2], progress=told)
"""


def test_what_a_killed_scan_left_in_a_cache_is_removed(tmp_path: Path) -> None:
    source = written(related(), tmp_path / "x.parquet")
    command = [sys.executable, "-c", KILLED, str(source), str(tmp_path / "c")]
    for _ in range(2):
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            process.kill()
    assert [path.name[:4] for path in (tmp_path / "c").iterdir()] == ["new-"]
    assert fn.scan(source, cache=tmp_path / "c") == related()
    assert sorted(path.name[:5] for path in (tmp_path / "c").iterdir()) == ["rows-", "store"]
