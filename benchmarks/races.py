"""What is raced: a list of jobs, who runs each, and what is hoped for."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import fishernet as fn
from benchmarks.contenders import OURS, Contender
from benchmarks.data import CsvFile, Data, Network, Tables, spaced
from benchmarks.workers.job import Job

MILLION_LIMIT = 300e6
"""Bytes that hill climbing on a million rows may take beyond the table."""


@dataclass(frozen=True)
class Target:
    """What a race is to show."""

    ratio: float | None = None
    """How many times faster than `against` we want to be, each at its best setting."""
    against: tuple[str, ...] = ("pyAgrum", "pgmpy", "bnlearn")
    seconds: float | None = None
    """What we want to stay below."""
    extra_bytes: float | None = None
    """Peak memory beyond the table that we want to stay below."""
    slowdown: float | None = None
    """How many times slower than on the idle machine we may be."""


@dataclass(frozen=True)
class Race:
    """One job that several contenders run."""

    topic: str
    title: str
    job: Job
    entrants: tuple[str, ...]
    targets: tuple[Target, ...] = ()
    busy: bool = False
    """Whether a core is kept busy meanwhile."""
    skipped: dict[str, str] = field(default_factory=dict)
    """Entrants that do not start, and why."""
    csv: CsvFile | None = None


TOPICS = {
    "import": "Importing",
    "read": "Reading a CSV file",
    "hill-climb": "Hill climbing",
    "fit": "Parameter fit",
    "log-prob": "Log-likelihood of every row",
    "sample": "Forward sampling",
    "busy": "Hill climbing beside a process that holds a core",
}
"""The names that ``--only`` takes, and their headings."""

LEARNERS = (OURS, "pyAgrum", "pgmpy", "bnlearn")


def hill_climbs(tables: Tables, repeats: int, full: bool) -> list[Race]:
    """Race on every table; twenty times faster is wanted where there is much to count."""
    wanted = [(tables.letter, Target(ratio=5)), (tables.nursery, None), (tables.alarm[0], Target(ratio=5))]
    wanted += [(data, Target(ratio=20)) for data in (*tables.alarm[1:], tables.binary)]
    races = []
    for data, target in wanted:
        large = data.n_rows >= 1_000_000
        targets: tuple[Target, ...] = () if target is None else (target,)
        targets += (Target(extra_bytes=MILLION_LIMIT),) if large else ()
        skipped = {"pgmpy": "skipped (minutes; `--full` runs it)"} if large and not full else {}
        job = Job("hill_climb", repeats=repeats, **data.fields)
        races.append(Race("hill-climb", data.title, job, LEARNERS, targets, skipped=skipped))
    return races


def model_races(letter: Data, repeats: int) -> list[Race]:
    """Fit and evaluate the network whose graph hill climbing finds on the letter half."""
    codes = Job("fit", **letter.fields).read_codes()
    parents = fn.learn.dag(fn.Table.from_codes(codes), score="bic").parents
    fields = letter.fields | {"parents": parents, "repeats": repeats}
    target = (Target(seconds=1e-3),)
    return [
        Race("fit", letter.title, Job("fit", **fields), LEARNERS, target),
        Race("log-prob", letter.title, Job("log_prob", **fields), LEARNERS, target),
    ]


def sampling(network: Network, n_rows: int, repeats: int, folder: Path) -> Race:
    job = Job(
        "sample",
        repeats=repeats,
        n_rows=n_rows,
        cardinalities=network.cardinalities,
        codes=str(folder / "sampled.codes"),
        parents=network.parents,
        tables=network.tables,
        seed=1,
    )
    title = f"{network.title}, {spaced(n_rows)} rows"
    return Race("sample", title, job, LEARNERS, (Target(ratio=3),))


def reading(csv: CsvFile, repeats: int) -> Race:
    job = Job("read", repeats=repeats, csv=csv.path, labels=csv.labels)
    target = Target(ratio=0.5, against=("pyarrow",))
    return Race("read", csv.title, job, (*LEARNERS, "pyarrow"), (target,), csv=csv)


def imports(contenders: dict[str, Contender], repeats: int) -> list[Race]:
    found = [contender for contender in contenders.values() if contender.module]
    return [
        Race(
            "import",
            f"import {contender.module}",
            Job("import", repeats=repeats, module=contender.module),
            (contender.name,),
            (Target(seconds=0.4),) if contender.name == OURS else (),
        )
        for contender in found
    ]


def beside_busy(data: Data, repeats: int) -> list[Race]:
    """Race the same job on the idle machine and beside an endless loop."""
    job, entrants = Job("hill_climb", repeats=repeats, **data.fields), (OURS, "pyAgrum")
    idle = Race("busy", f"{data.title}, idle", job, entrants)
    return [idle, Race("busy", f"{data.title}, one core held", job, entrants, (Target(slowdown=2),), busy=True)]


def all_races(
    tables: Tables, contenders: dict[str, Contender], folder: Path, *, quick: bool = False, full: bool = False
) -> list[Race]:
    """Return every race, in the order they are run."""
    repeats = 3 if quick else 5
    return [
        *imports(contenders, repeats),
        reading(tables.csv, repeats),
        *hill_climbs(tables, repeats, full),
        *model_races(tables.letter, repeats),
        sampling(tables.network, tables.alarm[-1].n_rows, repeats, folder),
        *beside_busy(tables.alarm[1], repeats),
    ]
