"""Tables larger than memory: the first pass over Parquet files, a climb on the encoded copy, and on a cluster.

The rows are alarm's, drawn in pieces of a million, each a Parquet file: up to 10^6, with ``--full`` also 10^7 and 10^8,
which want some 20 GB of disk. A climb is of the encoded copy, which is there already, or the form says otherwise:
*memory* is the same rows as a table in memory, *Dask* a cluster of two processes here, of one thread each, which read
the files and hold the rows. Every answer is the graph and its score, and all must have the same bits.

*All pairs* are the counts of all sets that the first step of a climb asks for: every variable, and every pair.
DuckDB and Polars are given the codes as columns of one byte in memory, which suits them best, and group by each set.
pyAgrum and pgmpy are given a million rows, as a data frame, which is what they can hold.
"""

from __future__ import annotations

import atexit
import dataclasses
import functools
import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import fishernet as fn
from benchmarks.calls import Call, Data
from benchmarks.environment import OURS
from benchmarks.race import Race, Run, Target, Told, Verdict, agrees, below, calls_of, faster, rate, seconds, within
from benchmarks.sources import SAMPLE_SEED, alarm, scratch, spaced
from benchmarks.topics.climbing import PEERS, is_top

TITLE = "Streams"
PIECE = 1_000_000  # rows of a file
IN_MEMORY, DASK = f"{OURS} (memory)", f"{OURS} (Dask, 2 workers)"


@functools.cache
def alarm_files(n_rows: int) -> Data:
    """Write rows of alarm to a folder of Parquet files."""
    folder, net = folder_for(n_rows), fn.datasets.load("alarm")
    if not folder.exists():
        new = folder.with_suffix(".new")
        new.mkdir(parents=True, exist_ok=True)
        for i in range(-(-n_rows // PIECE)):
            rows = net.sample(min(PIECE, n_rows - i * PIECE), seed=SAMPLE_SEED + i)
            fn.write_table(rows, new / f"part-{i:04}.parquet")
        new.rename(folder)
    n = len(net.variables)
    sets = [(v,) for v in range(n)] + list(itertools.combinations(range(n), 2))
    options = {"files": str(folder), "store": str(folder.with_suffix(".store")), "sets": sets}
    return Data(f"alarm, {spaced(n_rows)} x {n}", options=options)


def folder_for(n_rows: int) -> Path:
    """Return where such files are kept: BENCHMARK_FILES for all runs, otherwise until this process ends."""
    kept = os.environ.get("BENCHMARK_FILES")
    return (Path(kept) if kept else scratch()) / f"alarm-{n_rows}"


def stored(data: Data) -> fn.Stream:
    """Return the stream of the encoded copy, which is made where it lacks."""
    stream = fn.scan(data.options["files"], cache=data.options["store"])
    _ = stream.native
    return stream


def in_memory(data: Data) -> fn.Table:
    columns = [np.array(column) for column in stored(data).codes]
    return fn.Table.from_codes(columns, stored(data).variables)


@functools.cache
def cluster() -> Any:
    """Return a client of a cluster of two processes, which end with this one."""
    from dask.distributed import Client, LocalCluster

    makers: tuple[Any, Any] = LocalCluster, Client
    started = makers[0](n_workers=2, threads_per_worker=1, dashboard_address=None)
    client = makers[1](started)
    atexit.register(started.close)
    atexit.register(client.close)
    return client


@functools.cache
def on_workers(files: str) -> Any:
    return fn.scan(files, client=cluster())


def scan_on_workers(files: str) -> Any:
    on_workers.cache_clear()
    return on_workers(files)


def searched(hand: Callable[[Data], Any]) -> Call:
    """Return a climb from the empty graph; its answer is the graph, its score, and how many steps it took."""
    return Call(
        hand,
        lambda source: fn.learn.structure(source, search="hill-climb"),
        lambda found, _: (found.dag.parents, found.score, len(found.steps)),
    )


def counted(statistics: Any, _: Data) -> list[Any]:
    """Return the counts of every set that are not 0, ascending."""
    return [np.sort(one.counts[one.counts > 0].ravel()) for one in statistics]


def is_same(told: Told) -> Verdict:
    """Hold graph and score to those of the other forms, bit by bit."""
    others = [answer for label, answer in told.answers.items() if label != told.label]
    arcs = sum(map(len, told.answer[0]))
    return all(told.answer[:2] == other[:2] for other in others), f"{arcs} arcs, the bits of {len(others)} other forms"


def held_rows() -> Data:
    """Return the files of a million rows with the rows themselves, for those who read no files."""
    return dataclasses.replace(alarm(PIECE), options=alarm_files(PIECE).options)


def knows_rows(told: Told) -> Verdict:
    wanted = [int(told.data.title.split(",")[1].split("x")[0].replace(" ", "")), 37]
    return list(told.answer) == wanted, f"{told.answer[0]:,} rows"


def a_step(most: float) -> Target:
    """So many seconds a step of a climb more than the stream needs."""

    def value(runs: Sequence[Run]) -> float:
        steps = [run.result["answer"][2] for run in runs if run.result and run.label == DASK]
        return (seconds(runs, DASK) - seconds(runs, OURS)) / (steps[0] if steps else np.nan)

    return Target(
        f"below {most * 1e3:g} ms more a step",
        value,
        lambda x: x < most,
        lambda x: f"{x * 1e3:.2g} ms",
    )


SCAN = Call(lambda data: data.options["files"], fn.scan, lambda stream, _: (stream.n_rows, len(stream.variables)))
SCAN_ON_WORKERS = Call(
    lambda data: (cluster(), data.options["files"])[1],
    scan_on_workers,
    lambda parts, _: (parts.n_rows, len(parts.variables)),
)
CLIMB = searched(stored)
FORMS = {OURS: CLIMB, DASK: searched(lambda data: on_workers(data.options["files"]))}
THREE_FORMS = FORMS | {IN_MEMORY: searched(in_memory)}
PAIRS = Call(lambda data: (stored(data), data.options["sets"]), lambda asked: asked[0].statistics(asked[1]), counted)
GROUPED = {"DuckDB (a query a set)": "one_by_one", "DuckDB (grouping sets)": "grouping_sets"}
GROUPED |= {"Polars (a query a set)": "one_by_one", "Polars (all at once)": "at_once"}


def first_pass(n_rows: int, **more: Any) -> Race:
    target = rate(n_rows, 3e6)
    return Race(lambda: alarm_files(n_rows), {OURS: SCAN}, knows_rows, targets=[target], title="first pass", **more)


def first_pass_on_cluster(n_rows: int, **more: Any) -> Race:
    forms = {OURS: SCAN, DASK: SCAN_ON_WORKERS}
    return Race(lambda: alarm_files(n_rows), forms, knows_rows, title="first pass on a cluster", **more)


def all_pairs(n_rows: int, **more: Any) -> Race:
    target = faster(5, "DuckDB", "Polars")
    return Race(lambda: alarm_files(n_rows), PAIRS, agrees(), GROUPED, [target], title="all pairs", **more)


def climb(n_rows: int, forms: Mapping[str, Call], *targets: Target, **more: Any) -> Race:
    return Race(lambda: alarm_files(n_rows), forms, is_same, targets=targets, title="climb", **more)


RACES = (
    first_pass(1_000_000),
    first_pass(10_000_000, needs="--full"),
    first_pass(100_000_000, needs="--full"),
    climb(100_000, FORMS, a_step(0.015)),
    climb(1_000_000, THREE_FORMS, needs=""),
    climb(10_000_000, THREE_FORMS, within(2, OURS, IN_MEMORY), within(1.3, DASK, OURS), needs="--full"),
    climb(100_000_000, {OURS: CLIMB}, below(28), needs="--full"),
    Race(
        held_rows,
        Call(stored, lambda stream: fn.learn.dag(stream, search="hill-climb"), lambda dag, _: dag.parents),
        is_top,
        PEERS,
        [faster(20, "pyAgrum", "pgmpy")],
        title="climb beside others",
        needs="",
        skipped={"pgmpy": "skipped (minutes; --full runs it)"},
    ),
    first_pass_on_cluster(1_000_000, needs=""),
    first_pass_on_cluster(10_000_000, needs="--full"),
    all_pairs(1_000_000),
    all_pairs(10_000_000, needs="--full"),
)
CALLS = calls_of(RACES)
