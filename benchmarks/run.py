"""The driver: ``python -m benchmarks.run [TOPIC ...]``.

Every contender runs every race in a process of its own, and its answer is checked. A whole run writes `RESULTS.json`,
and its tables above those of earlier runs in `RESULTS.md`; a run of a part only prints. It ends with status 1 when an
answer is wrong or when one and two threads give different bits; a target that is missed is in the report and fails
nothing. With ``--against`` only ours runs, in turns with another checkout, and nothing is checked.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from benchmarks.calls import Data
from benchmarks.race import Race, Run
from benchmarks.report import as_json, report
from benchmarks.runner import Settings, against, run_race, wrong
from benchmarks.sources import NotThereError, scratch

HERE = Path(__file__).parent
ENOUGH = 1.05  # times as long as before: such rows are told again at the end
TOPICS = ["startup", "reading", "climbing", "searches", "parameters", "sampling", "inference", "kernels"]
TOPICS += ["dependency_networks", "classifiers", "sequences", "gaussian", "neighbours", "missing", "comparison"]
TOPICS += ["prototypes", "streams"]


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__.split("\n\n")[1])
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=f"one or more of {', '.join(TOPICS)}; default: all")
    parser.add_argument("--quick", action="store_true", help="no more than 100 000 rows, few repetitions")
    parser.add_argument("--full", action="store_true", help="also what takes many minutes")
    parser.add_argument("--no-peers", action="store_true", help="ours alone")
    parser.add_argument(
        "--against", type=Path, metavar="DIR", help="a src folder with its extension built: ours, now and there"
    )
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
    found: list[tuple[ModuleType, Race, Data, list[Run]]] = []
    left_out: list[str] = []
    slower: list[str] = []
    for name in chosen.topics or TOPICS:
        topic = importlib.import_module(f"benchmarks.topics.{name}")
        for place, race, data in races_of(topic, chosen, left_out):
            if not chosen.against:
                runs = run_race(topic, place, data, settings, not chosen.no_peers, chosen.full)
                found.append((topic, race, data, runs))
                continue
            for text, ratio in against(topic, place, data, settings, chosen.against.resolve()):
                print(f"{name}: {race.heading(data)}: {text}", flush=True)
                slower += [f"{name}: {race.heading(data)}: {text}"] if ratio > ENOUGH else []
    if chosen.against:
        print("\n".join([f"\nNow slower by more than 5 %: {len(slower)} rows.", *slower]))
        return 0
    bad = [f"{race.heading(data)}: {text}" for _, race, data, runs in found for text in wrong(runs)]
    text = "\n".join(report(found, left_out, bad))
    print(text)
    if not (chosen.topics or chosen.quick or chosen.no_peers):
        (HERE / "RESULTS.json").write_text(json.dumps(as_json(found), indent=1) + "\n")
        head, _, earlier = (HERE / "RESULTS.md").read_text().partition("\n## ")
        (HERE / "RESULTS.md").write_text(f"{head}\n{text}\n\n## {earlier}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
