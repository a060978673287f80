"""Races from a file to a network: importing, reading, learning, and what a network says of rows."""

from __future__ import annotations

from pathlib import Path

from benchmarks.contenders import OURS, Contender
from benchmarks.data import CsvFile, Data, Tables, learned_parents, spaced
from benchmarks.networks import Network
from benchmarks.races.race import Race, Target
from benchmarks.workers.job import Job

MILLION_LIMIT = 300e6
"""Bytes that hill climbing on a million rows may take beyond the table."""

GIBBS_ROWS = 20_000

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


def of_network(topic: str, task: str, letter: Data, repeats: int) -> Race:
    """Fit or evaluate the network whose graph hill climbing finds on the letter half."""
    job = Job(task, repeats=repeats, parents=learned_parents(letter), **letter.fields)
    return Race(topic, letter.title, job, LEARNERS, (Target(seconds=1e-3),))


def sampling(network: Network, n_rows: int, repeats: int, folder: Path) -> Race:
    job = Job("sample", repeats=repeats, n_rows=n_rows, codes=str(folder / "sampled.codes"), seed=1, **network.fields)
    title = f"{network.title}, {spaced(n_rows)} rows"
    return Race("sample", title, job, LEARNERS, (Target(ratio=3),))


def gibbs(network: Network, repeats: int) -> Race:
    """Fire every variable as often, in one chain, from the full conditionals of a network."""
    job = Job("gibbs", repeats=repeats, n_rows=GIBBS_ROWS, seed=1, **network.fields)
    title = f"{network.title}, {spaced(GIBBS_ROWS * len(network.cardinalities))} firings"
    return Race("gibbs", title, job, (OURS, "pyAgrum"), (Target(ratio=200, against=("pyAgrum",)),))


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
