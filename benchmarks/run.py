"""The driver: ``python -m benchmarks.run [TOPIC ...]``.

Every contender runs every race in a process of its own, and its answer is checked. The run is written to `runs/`, and
the page `RESULTS.md` is made anew; quick runs and those without peers only print. It ends with status 1 when an answer
is wrong or when one and two threads give different bits; a target that is missed is on the page and fails nothing. With
``--against`` only ours runs, in turns with an earlier state of the library, and nothing is checked or written.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from benchmarks import report
from benchmarks.calls import Data
from benchmarks.earlier import tree_of
from benchmarks.race import Race, Run, duration
from benchmarks.report import TOPICS
from benchmarks.runner import Settings, against, run_race, wrong
from benchmarks.sources import NotThereError, scratch

ENOUGH = 1.05  # times as long as before: such rows are measured a second time, and told when they are so again


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__.split("\n\n")[1])
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=f"one or more of {', '.join(TOPICS)}; default: all")
    parser.add_argument("--quick", action="store_true", help="no more than 100 000 rows, few repetitions")
    parser.add_argument("--full", action="store_true", help="also what takes many minutes")
    parser.add_argument("--no-peers", action="store_true", help="ours alone")
    parser.add_argument(
        "--against",
        metavar="REV",
        help="ours, in turns with a revision of git, or with a src folder with its extension",
    )
    parser.add_argument("--name", help="what the file of the run is called (default: the topics, or all)")
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="networks and tables (default: ../shared/data, or FISHERNET_DATA)"
    )
    chosen = parser.parse_args()
    if unknown := set(chosen.topics) - set(TOPICS):
        parser.error(f"there is no topic {', '.join(sorted(unknown))}; there are {', '.join(TOPICS)}")
    return chosen


def races_of(topic: ModuleType, chosen: argparse.Namespace, left_out: list[str]) -> Iterator[tuple[int, Race, Data]]:
    """Yield the races of a topic that are to run, with their data; what is not there is noted."""
    for place, race in enumerate(topic.RACES):
        if (race.needs == "" and chosen.quick) or (race.needs == "--full" and not chosen.full):
            continue
        try:
            yield place, race, race.data()
        except NotThereError as error:
            left_out.append(str(error))
            print(f"Left out, because not in the folder of data: {error}", file=sys.stderr)


def main() -> int:
    chosen = options()
    if chosen.data:
        os.environ["FISHERNET_DATA"] = str(chosen.data.resolve())
    settings = Settings(scratch(), 3 if chosen.quick else 5, 0.3 if chosen.quick else 2.0)
    left_out: list[str] = []
    races = (
        (topic, place, race, data)
        for topic in (importlib.import_module(f"benchmarks.topics.{name}") for name in chosen.topics or TOPICS)
        for place, race, data in races_of(topic, chosen, left_out)
    )
    if chosen.against:
        compare(races, settings, tree_of(chosen.against))
        return 0
    before = os.getloadavg()[0]
    found = []
    for topic, place, race, data in races:
        runs = run_race(topic, place, data, settings, not chosen.no_peers, chosen.full)
        found.append((topic, race, data, runs))
        print(f"{race.heading(data)}:", *map(described, runs), sep="\n  ", flush=True)
    bad = [f"{race.heading(data)}: {text}" for _, race, data, runs in found for text in wrong(runs)]
    print(f"\nWrong or missing answers: {len(bad)}.", *bad, sep="\n  ")
    if not (chosen.quick or chosen.no_peers):
        remarks = [f"Wrong or missing: {text}" for text in bad] + [f"Left out, not in the data: {x}" for x in left_out]
        command = " ".join(["python -m benchmarks.run", *sys.argv[1:]])
        made = report.run_of(found, command, remarks, (before, os.getloadavg()[0]))
        path = report.write_run(made, chosen.name or "-".join(chosen.topics) or "all")
        print(f"written: {path.parent.name}/{path.name}")
        report.main()
    return 1 if bad else 0


def described(run: Run) -> str:
    """Return who ran, how long it took with all its threads, and what is known of the answer."""
    if run.result is None:
        return f"{run.title}: {run.reason}"
    worked = run.result.get("processor")
    verdict = f"; {run.verdict[1]}" if run.verdict else ""
    time = "WRONG" if run.seconds is None else duration(run.seconds)
    return f"{run.title}: {time}{f' (processor {duration(worked)})' if worked is not None else ''}{verdict}"


def compare(races: Iterator[tuple[ModuleType, int, Race, Data]], settings: Settings, before: Path) -> None:
    """Print every row of ours beside an earlier state; those that are slower are measured twice before it is said."""
    slower: list[str] = []
    for topic, place, race, data in races:
        label = f"{topic.__name__.rpartition('.')[2]}: {race.heading(data)}"
        suspects = set()
        for title, text, ratio in against(topic, place, data, settings, before):
            print(f"{label}: {title}: {text}", flush=True)
            suspects |= {title} if ratio > ENOUGH else set()
        if suspects:
            again = [one for one in against(topic, place, data, settings, before, suspects) if one[2] > ENOUGH]
            slower += [f"{label}: {title}: {text}" for title, text, _ in again]
    print(f"\nSlower by more than 5 %, twice: {len(slower)} rows.", *slower, sep="\n")


if __name__ == "__main__":
    sys.exit(main())
