"""Files that the workers of a cluster read: what is learned is what one table of all of them teaches."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pa_ds
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import fishernet as fn
from fishernet.data import Blocks, Table
from fishernet.data.options import Options
from fishernet.data.streams import pieces as own
from fishernet.data.streams.batches import dataset_of, file_stamp

distributed: Any = pytest.importorskip("dask.distributed")

pytestmark = pytest.mark.filterwarnings("ignore:::distributed", "ignore:::dask")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    workers: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with (
        distributed.LocalCluster(**workers, dashboard_address=None) as started,
        distributed.Client(started, set_as_default=False) as connected,
    ):
        connected.wait_for_workers(2)  # one may be late where much else runs
        yield connected


@pytest.fixture(scope="module")
def table() -> Table:
    return fn.datasets.load("nursery")


@pytest.fixture
def folder(table: Table, tmp_path: Path) -> Path:
    for i in range(5):
        fn.write_table(table[i * 3000 : (i + 1) * 3000], tmp_path / f"part-{i}.parquet")
    return tmp_path


def read(source: Any, client: Any, **keywords: Any) -> Blocks:
    found: Any = fn.scan(source, client=client, **keywords)
    assert isinstance(found, Blocks)
    return found


def test_files_teach_what_one_table_does(folder: Path, client: Any, table: Table) -> None:
    source = read(folder, client)
    assert (source.variables, source.n_rows, source.n_parts) == (table.variables, table.n_rows, 3)
    sets = [(0,), (1, 2), (0, 3, 4)]
    for one, other in zip(source.statistics(sets), table.statistics(sets), strict=True):
        np.testing.assert_array_equal(one.counts, other.counts)
    found, expected = fn.learn.structure(source), fn.learn.structure(table)
    assert (found.dag, found.score) == (expected.dag, expected.score)
    net = fn.learn.parameters(expected.dag, source)
    np.testing.assert_array_equal(np.concatenate(list(source.each(net.log_prob))), net.log_prob(table))


def test_a_worker_that_dies_has_its_files_read_again(folder: Path, client: Any, table: Table) -> None:
    source = read(folder, client)
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    found, expected = fn.learn.structure(source), fn.learn.structure(table)
    assert (found.dag, found.score) == (expected.dag, expected.score)


N = 1200
SPELLED = np.random.default_rng(5)
PLAIN = pa.table(
    {
        "text": pa.array(SPELLED.choice(np.array(["a", "b", "NA", "c d", None], dtype=object), N), pa.string()),
        "late": pa.array(["x"] * (N - 10) + ["only in the last file"] * 10),
        "name": pa.array([f"row {i}" for i in range(N)]),
        "whole": pa.array(SPELLED.integers(-3, 9, N)),
        "many": pa.array([None, *range(N - 1)]),
        "real": pa.array(np.where(SPELLED.random(N) < 0.02, np.nan, SPELLED.normal(size=N))),
        "truth": pa.array([bool(i % 3) for i in range(N)]),
        "when": pa.array(np.datetime64("2024-01-01") + np.arange(N) % 90),
        "mark": pa.array(SPELLED.choice(np.array(["p", "q", "r"]), N)).dictionary_encode(),
        "w": pa.array(SPELLED.integers(0, 4, N)),
        "v": pa.array(SPELLED.random(N)),
    }
)
KEYWORDS: dict[str, dict[str, Any]] = {
    "as it is": {"exclude": ["w", "v"]},
    "bins": {"bins": 3, "missing": "drop", "exclude": ["v", "w"]},
    "whole weights": {"weights": "w", "missing": "state", "bins": 4, "exclude": ["v", "name"]},
    "weights": {"weights": "v", "bins": {"real": 5, "many": 3}, "exclude": ["w"]},
    "some": {"columns": ["whole", "text", "mark"], "categorical": ["text"], "na_values": ["c d"]},
    "a filter": {"columns": ["mark", "late"], "filter": pa_ds.field("whole") > 3},
}


@pytest.mark.filterwarnings("ignore::fishernet.FishernetWarning")
@pytest.mark.parametrize("keywords", KEYWORDS.values(), ids=KEYWORDS)
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_columns_are_what_a_stream_makes_of_them(client: Any, tmp_path: Path, ending: str, keywords: Any) -> None:
    for i in range(4):
        piece, path = PLAIN.slice(i * 300, 300), tmp_path / f"part-{i}.{ending}"
        if ending == "parquet":
            pq.write_table(piece, path, row_group_size=128)
        else:
            feather.write_feather(piece, path)
    found, expected = read(tmp_path, client, **keywords), fn.scan(tmp_path, **keywords)
    assert found.variables == expected.variables
    assert found.n_rows == expected.n_rows
    assert found.total == pytest.approx(expected.total, rel=1e-12)
    sets = list(itertools.combinations(range(len(found.variables)), 2))
    for one, other in zip(found.statistics(sets), expected.statistics(sets), strict=True):
        np.testing.assert_allclose(one.counts, other.counts, rtol=1e-12)
        assert one.left_out == pytest.approx(other.left_out, rel=1e-12)


def test_partitions_of_a_folder_are_columns(client: Any, tmp_path: Path) -> None:
    for year in (2023, 2024):
        (tmp_path / f"year={year}").mkdir()
        pq.write_table(pa.table({"a": ["x", "y", "y"][: year - 2021]}), tmp_path / f"year={year}" / "part.parquet")
    found, expected = read(tmp_path, client), fn.scan(tmp_path)
    assert found.variables == expected.variables
    assert "year" in found.names
    np.testing.assert_array_equal(found.statistics([(0, 1)])[0].counts, expected.statistics([(0, 1)])[0].counts)


def test_a_piece_that_is_read_after_its_file_has_changed_says_so(tmp_path: Path) -> None:
    """A worker may read a piece much later, or again in place of one that died."""
    path = tmp_path / "a.parquet"
    fn.write_table(fn.datasets.load("asia").sample(50, seed=1), path)
    options = Options.checked()
    dataset, undeclared = dataset_of([path], "parquet", None)
    piece = own.Piece(str(path), dataset, ("lung",), None, undeclared, ((str(path), *file_stamp(path)[:2]),))
    assert piece.read(options).n_rows == 50
    os.utime(path, (1, 1))
    with pytest.raises(fn.FileFormatError, match=r"a\.parquet: has changed since it was scanned"):
        piece.read(options)


def test_one_file_is_read_by_all_workers(client: Any, tmp_path: Path, table: Table) -> None:
    path = tmp_path / "one.parquet"
    pq.write_table(table.to_frame(), path, row_group_size=2000)
    source = read(str(path), client)
    assert (source.n_parts, source.n_rows) == (2, table.n_rows)
    assert np.concatenate(list(source.each(_codes))).tolist() == table.codes[3].tolist()


def _codes(part: Table) -> Any:
    return np.array(part.codes[3])


def test_long_files_are_cut(client: Any, tmp_path: Path, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own, "MOST_BYTES", 9 * 1000)
    asked: list[int] = []
    monkeypatch.setattr(own, "blocks_of", lambda _, readers, *__, **___: asked.append(len(readers)))
    pq.write_table(table.to_frame(), tmp_path / "one.parquet", row_group_size=500)
    pq.write_table(table.to_frame()[:10], tmp_path / "two.parquet")
    own.of_files(tmp_path, client, Options.checked(), None)
    assert asked[0] > 12  # each of at most a thousand rows


def test_an_error_names_the_file(client: Any, tmp_path: Path) -> None:
    rows = pa.table({"a": np.random.default_rng(0).random(5000)})
    for i in range(4):
        pq.write_table(rows, tmp_path / f"part-{i}.parquet", compression="zstd", use_dictionary=False)
    path = tmp_path / "part-2.parquet"
    held = bytearray(path.read_bytes())
    held[100:30000] = bytes(29900)  # the end of the file, which is read first, is as it was
    path.write_bytes(held)
    with pytest.raises(fn.FishernetError, match=r"^partition 1 .*part-2\.parquet: is broken \(") as caught:
        read(tmp_path, client)
    assert "\n" not in str(caught.value)
    with pytest.raises(fn.FishernetError, match=r"^partition 0 \(.*part-2\.parquet\): "):
        read(path, client)
    pq.write_table(rows.rename_columns(["b"]), path)
    with pytest.raises(fn.FileFormatError, match=r"part-2\.parquet: has other columns than part-0\.parquet"):
        read(tmp_path, client)
    with pytest.raises(fn.FileFormatError, match="there is no such file or folder"):
        read(tmp_path / "nowhere", client)


def test_labels_that_a_schema_does_not_have_are_named(client: Any, folder: Path, table: Table) -> None:
    assert read(folder, client, schema=table.variables[2:4]).variables == table.variables[2:4]
    smaller = fn.Variable(table.names[2], table.variables[2].states[:1])
    with pytest.raises(fn.UnknownStateError, match=r"^partition \d .*: column .* is not among the states") as caught:
        read(folder, client, schema=[smaller])
    assert caught.value.variable == smaller.name


def test_what_a_cluster_does_not_read_is_refused(client: Any, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\nx\n")
    with pytest.raises(fn.SchemaError, match=r"a\.csv'; read text files with dask\.dataframe\.read_csv"):
        read(tmp_path / "a.csv", client)
    with pytest.raises(fn.SchemaError, match="cache is for files that this process reads"):
        fn.scan(folder, client=client, cache="memory")
    with pytest.raises(fn.SchemaError, match="client must be a Dask client, an executor .*, not an int"):
        fn.scan(folder / "part-0.parquet", client=5)
    pq.write_table(pa.table({"a": [[1], [2]]}), tmp_path / "lists.parquet")
    with pytest.raises(fn.SchemaError, match="column 'a' holds lists"):
        read(tmp_path / "lists.parquet", client)
