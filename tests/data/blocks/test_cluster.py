"""Data frames of Dask, with and without a cluster: what is learned is what one table teaches."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.data import Blocks, Table
from fishernet.data.blocks import of_dask
from fishernet.data.blocks import workers as own
from fishernet.data.options import Options

distributed: Any = pytest.importorskip("dask.distributed")
dd: Any = pytest.importorskip("dask.dataframe")
pd: Any = pytest.importorskip("pandas")

pytestmark = pytest.mark.filterwarnings("ignore:::distributed", "ignore:::dask", "ignore:Sending large graph")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as started:
        yield started


@pytest.fixture(scope="module")
def client(cluster: Any) -> Iterator[Any]:
    with distributed.Client(cluster, set_as_default=False) as connected:
        yield connected


@pytest.fixture(scope="module")
def table() -> Table:
    return fn.datasets.load("nursery")


@pytest.fixture(scope="module")
def frame(table: Table) -> Any:
    return dd.from_pandas(table.to_frame().to_pandas(), npartitions=7)


@pytest.fixture(scope="module")
def source(frame: Any, client: Any) -> Blocks:
    return of_dask(frame, client)


def scanned(frame: Any, client: Any = None, **keywords: Any) -> Blocks:
    return of_dask(frame, client, Options.checked(**keywords))


def test_a_cluster_answers_what_one_table_does(source: Blocks, table: Table) -> None:
    assert source.variables == table.variables
    assert (source.n_rows, source.total) == (table.n_rows, table.total)
    sets = [(), (0,), (1, 2), (0, 3, 4), tuple(range(9))]
    for found, expected in zip(source.statistics(sets), table.statistics(sets), strict=True):
        assert found.is_dense == expected.is_dense
        np.testing.assert_array_equal(found.table(), expected.table())


def test_a_cluster_learns_what_one_table_teaches(source: Blocks, table: Table) -> None:
    found, expected = fn.learn.structure(source, search="hill-climb"), fn.learn.structure(table, search="hill-climb")
    assert found.dag == expected.dag
    assert found.score == expected.score
    assert fn.score(found.dag, source) == fn.score(found.dag, table)
    assert fn.learn.chow_liu(source) == fn.learn.chow_liu(table)
    net = fn.learn.parameters(found.dag, source)
    assert net == fn.learn.parameters(expected.dag, table)
    np.testing.assert_array_equal(np.concatenate(list(source.each(net.log_prob))), net.log_prob(table))


def test_a_worker_that_dies_changes_nothing(source: Blocks, table: Table, client: Any) -> None:
    victims = list(client.run(os.getpid).values())[:1]
    seen = []

    def kill_once(*_: Any) -> None:
        seen.append(1)
        if victims:
            os.kill(victims.pop(), signal.SIGKILL)

    found = fn.learn.structure(source, search="hill-climb", progress=kill_once)
    assert len(seen) > 1  # the search went on
    assert found.dag == fn.learn.structure(table, search="hill-climb").dag
    assert found.score == fn.learn.structure(table, search="hill-climb").score
    assert source.sum(_n_rows) == table.n_rows


def _n_rows(part: Table) -> int:
    return part.n_rows


def test_rows_are_let_go_with_their_source(client: Any, frame: Any) -> None:
    before = set(client.futures)
    source = of_dask(frame, client)
    assert set(client.futures) - before
    del source
    gc.collect()
    assert not set(client.futures) - before


KEYWORDS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "bins": {"bins": 3, "missing": "drop"},
    "weighted": {"weights": "w", "missing": "state", "bins": 4},
}


@pytest.mark.parametrize("keywords", KEYWORDS.values(), ids=KEYWORDS)
@pytest.mark.parametrize("with_client", [True, False])
def test_columns_are_what_one_table_makes_of_them(keywords: Any, with_client: bool, client: Any) -> None:
    rng = np.random.default_rng(0)
    n = 1000
    data = pd.DataFrame(
        {
            "number": rng.normal(size=n),
            "text": rng.choice(np.array(["a", "b", None]), n),
            "when": pd.date_range("2020-01-01", periods=n, freq="h").strftime("%Y-%m-%d"),
            "w": rng.random(n),
        }
    )
    lazy = dd.from_pandas(data, npartitions=5)
    found = scanned(lazy, client if with_client else None, **keywords)
    expected = Table.from_frame(lazy.compute(), **keywords)
    assert found.variables == expected.variables
    assert (found.n_rows, found.total) == (expected.n_rows, expected.total)
    [one], [other] = found.statistics([(0, 1)]), expected.statistics([(0, 1)])
    np.testing.assert_array_equal(one.table(), other.table())


def test_a_schema_is_kept_to(frame: Any, client: Any, table: Table) -> None:
    source = scanned(frame, client, schema=table.variables[2:4])
    assert source.variables == table.variables[2:4]
    smaller = fn.Variable(table.names[2], table.variables[2].states[:1])
    with pytest.raises(fn.UnknownStateError, match=r"^partition \d: column .* is not among the states") as caught:
        scanned(frame, client, schema=[smaller])
    assert caught.value.variable == smaller.name


@pytest.mark.parametrize("with_client", [True, False])
def test_an_error_names_partition_and_file(with_client: bool, client: Any, tmp_path: Path) -> None:
    for i in range(3):
        pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}).to_parquet(tmp_path / f"part{i}.parquet")
    lazy = dd.read_parquet([str(tmp_path / f"part{i}.parquet") for i in range(3)])
    assert scanned(lazy, client if with_client else None).n_rows == 6
    (tmp_path / "part1.parquet").write_bytes(b"nothing")
    with pytest.raises(fn.FishernetError, match=r"^partition 1 \(.*part1\.parquet\): ") as caught:
        scanned(lazy, client if with_client else None)
    assert "\n" not in str(caught.value)


def test_what_a_question_raises_is_told_with_its_partitions(source: Blocks) -> None:
    with pytest.raises(fn.FishernetError, match=r"^partitions? \d.*: ZeroDivisionError: "):
        source.sum(_divide)
    with pytest.raises(fn.FishernetError, match=r"^partitions? 0.*: ZeroDivisionError: "):
        list(source.each(_divide))


def _divide(part: Table) -> float:
    return part.n_rows / 0


def test_another_version_on_the_workers_is_refused(frame: Any, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    here = fn.__version__
    monkeypatch.setattr(fn, "__version__", "99.1")
    with pytest.raises(fn.FishernetError, match=rf"has fishernet {here}, and here it is 99\.1"):
        of_dask(frame, client)
    monkeypatch.undo()
    monkeypatch.setattr("platform.python_version", lambda: "2.7.1")
    with pytest.raises(fn.FishernetError, match=r"runs Python .*, and here it is 2\.7\.1"):
        of_dask(frame, client)
    monkeypatch.undo()
    monkeypatch.setattr(own, "PACKAGE", "no_such_package")
    with pytest.raises(fn.FishernetError, match="cannot import no_such_package"):
        of_dask(frame, client)


@pytest.mark.parametrize("error", [ConnectionResetError(104, "reset"), TimeoutError(), OSError("closed")])
def test_a_worker_that_dies_while_versions_are_asked_is_told(
    error: Exception, frame: Any, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(client), "run", lambda *_, **__: {"tcp://127.0.0.1:1": error})
    with pytest.raises(fn.FishernetError, match="worker tcp://127.0.0.1:1 stopped answering .* call again") as caught:
        of_dask(frame, client)
    assert caught.value.parameter == "client"


def test_a_scheduler_that_is_gone_is_told(table: Table) -> None:
    lazy = dd.from_pandas(table.to_frame().to_pandas(), npartitions=2)
    started = distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None)
    with started, distributed.Client(started, set_as_default=False) as connected:
        source = of_dask(lazy, connected)
        assert source.n_rows == table.n_rows
    with pytest.raises(fn.FishernetError, match="cannot be reached"):
        source.statistics([(0, 1)])
    with pytest.raises(fn.FishernetError, match="cannot be reached"):
        next(source.each(_n_rows))
    with pytest.raises(fn.FishernetError, match="cannot be reached"):
        of_dask(lazy, connected)


def test_the_current_client_is_taken(cluster: Any, frame: Any, table: Table) -> None:
    with distributed.Client(cluster) as current:
        source = of_dask(frame)
        assert current.futures
    assert source.n_rows == table.n_rows


def test_scan_takes_frames_of_dask(frame: Any, client: Any, table: Table) -> None:
    source: Any = fn.scan(frame, client=client, columns=table.names[:3])
    assert source.variables == table.variables[:3]
    with pytest.raises(fn.SchemaError, match="does not go with a data frame of Dask"):
        fn.scan(frame, client=client, cache="memory")
    with pytest.raises(fn.SchemaError, match="client= takes Dask frames"):
        fn.scan(table.to_frame(), client=client)


def test_other_things_than_frames_of_dask_are_refused() -> None:
    with pytest.raises(fn.SchemaError, match="a data frame of Dask is needed, not dict"):
        of_dask({"a": [1]})
    with pytest.raises(fn.SchemaError, match="there is no column 'c'"):
        scanned(dd.from_pandas(pd.DataFrame({"a": [1]}), npartitions=1), columns=["c"])


def test_tables_of_this_process_are_held_by_the_workers(client: Any, table: Table) -> None:
    blocks = Blocks([table[:700], table[700:701], table[701:]], map=client)
    assert blocks.rows_digest() == table.rows_digest()
    ours, theirs = (fn.learn.structure(data, search="hill-climb") for data in (blocks, table))
    assert (ours.dag, ours.score) == (theirs.dag, theirs.score)
    assert np.concatenate(list(blocks.each(_codes))).tolist() == table.codes[3].tolist()


def _codes(part: Table) -> Any:
    return np.array(part.codes[3])
