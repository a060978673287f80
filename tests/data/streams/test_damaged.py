"""Files of Arrow and Parquet with flipped bits are refused or read, and never end the process."""

from __future__ import annotations

import errno
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import fishernet as fn
from fishernet.data.streams.batches import broken
from fishernet.data.streams.folders import telling_need

FLIPS = """
import random, sys, warnings
from pathlib import Path
import pyarrow as pa
import pyarrow.dataset
import fishernet as fn
from fishernet.data.arrow import frame_columns
from fishernet.data.options import Options
from fishernet.data.streams.batches import common_kind, dataset_of
from fishernet.data.streams.pieces import Piece

warnings.simplefilter("ignore")
path, ways, places = Path(sys.argv[1]), sys.argv[2].split(), [int(place) for place in sys.argv[3:]]

def piece(path):  # what a worker of a cluster reads
    kind = common_kind([path], None)
    dataset, undeclared = dataset_of([path], kind, None)
    return Piece(str(path), dataset, tuple(dataset.schema.names), None, undeclared, ()).read(Options.checked())

def frames(path):  # what `select` shows of a stream's rows
    from fishernet.data.streams.batches import batches_of
    return [frame.to_pydict() for frame in batches_of(path, Options.checked(), None).frames()]

def opened(path):  # by somebody else
    try:
        reader = pa.ipc.open_file(pa.memory_map(str(path)))
        batches = [reader.get_batch(i) for i in range(reader.num_record_batches)]
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        return
    for batch in batches:
        frame_columns(batch, Options.checked())
        fn.Table.from_frame({name: batch.column(name) for name in batch.schema.names})
    fn.scan(iter(batches), cache="memory")

def filtered(path):
    return fn.scan(path, cache="memory", filter=pa.dataset.field("asia") == "yes")

WAYS = {"scan": lambda path: fn.scan(path, cache="memory"), "read_table": fn.read_table, "piece": piece,
        "frames": frames, "opened": opened, "filtered": filtered}
whole, rng = path.read_bytes(), random.Random(5)
places = places or [rng.randrange(8 * len(whole)) for _ in range(80)]
for way in ways:
    print(way, end=" ", flush=True)  # in which the process ends, if it does
    refused = 0
    for place in places:
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        try:
            WAYS[way](path)
        except (fn.FishernetError, pa.ArrowException, OSError) as error:
            assert way == "piece" or isinstance(error, fn.FishernetError), error
            refused += 1
    print(refused)
"""
WAYS = ("scan", "read_table", "piece", "frames", "opened", "filtered")


def run(path: Path, ways: Sequence[str], *places: int) -> dict[str, int]:
    """Read the file in these ways with a bit flipped at each place, all in one process; return how many are refused."""
    command = [sys.executable, "-c", FLIPS, str(path), " ".join(ways), *map(str, places)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert found.returncode == 0, f"{found.returncode}: {found.stdout} {found.stderr[-2000:]}"
    refused = {way: int(count) for way, count in map(str.split, found.stdout.splitlines())}
    assert tuple(refused) == tuple(ways)
    return refused


def test_an_index_beyond_the_labels_is_refused(tmp_path: Path) -> None:
    """The bit that ended the process: a label's position became one of no label."""
    path = tmp_path / "d.arrow"
    fn.write_table(fn.datasets.load("asia").sample(50, seed=1), path)
    assert min(run(path, WAYS, *range(8 * 1484, 8 * 1492)).values()) > 0


@pytest.mark.parametrize(
    ("ending", "ways"),
    [
        ("arrow", WAYS),
        # no Arrow batches to open; and of damaged statistics of Parquet, pyarrow itself ends the process
        ("parquet", [way for way in WAYS if way not in ("opened", "filtered")]),
    ],
    ids=["arrow", "parquet"],
)
def test_any_flipped_bit_is_refused_or_harmless(ending: str, ways: Sequence[str], tmp_path: Path) -> None:
    path = tmp_path / f"d.{ending}"
    fn.write_table(fn.datasets.load("asia").sample(50, seed=1), path)
    assert min(run(path, ways).values()) > 0


def test_the_damaged_file_of_several_is_named(tmp_path: Path) -> None:
    table = fn.datasets.load("asia").sample(50, seed=1)
    for i in range(3):
        fn.write_table(table, tmp_path / f"part-{i}.arrow")
    damaged = tmp_path / "part-1.arrow"
    content = bytearray(damaged.read_bytes())
    content[1488] ^= 8
    damaged.write_bytes(content)
    with pytest.raises(fn.errors.FileFormatError, match=r"part-1\.arrow: is broken"):
        fn.scan(tmp_path)


# ------------------------------------------------------------------------------------------------ memory that runs out


class Unread:
    """A dataset that must not be read again."""

    files = ("part-0.parquet",)

    def get_fragments(self) -> Any:
        raise AssertionError("reading everything again, with no memory, hangs")


@pytest.mark.parametrize(
    "error",
    [
        pa.ArrowMemoryError("malloc of size 31252672 failed"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        pa.ArrowException("Unknown error: Failed to launch worker thread: Resource temporarily unavailable"),
    ],
)
def test_memory_that_ran_out_is_told_at_once(error: Exception) -> None:
    told = str(broken(Unread(), error))
    assert told.startswith("memory ran out while the files were read (")
    assert "ulimit -v" in told
    assert "read fewer columns" in told


def test_memory_that_runs_out_during_a_scan_is_no_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        pytest.raises(fn.FishernetError, match="memory ran out while the encoded copy was written"),
        telling_need(tmp_path, lambda: 1),
    ):
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    def no_thread(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    table = fn.datasets.load("asia").sample(50, seed=1).to_frame()
    monkeypatch.setattr(threading.Thread, "start", no_thread)
    with pytest.raises(fn.FishernetError, match="memory ran out .*can't start new thread"):
        fn.scan(iter([table]))
