"""How time and memory grow with the rows of a stream: ``python -m benchmarks.growth [--full]``.

The same call on 10^5, 10^6 and 10^7 rows of alarm (``--full``: 10^8, which want some 20 GB of disk), each size in a
process of its own. What is measured is written to `docs/figures/rows.json` and drawn beside it. Memory is what the
process holds of its own: pages of mapped files, which the system takes back when it needs them, are not counted.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fishernet as fn
from benchmarks.calls import status
from benchmarks.environment import ROOT
from benchmarks.report import machine, today, versions
from benchmarks.topics.streams import alarm_files

FOLDER = ROOT / "docs" / "figures"
WORK = {
    "scan": "first pass over Parquet",
    "climb": "hill climbing",
    "fit": "parameters",
    "log_prob": "log-probabilities",
}
BEFORE = 0.01  # seconds between two looks at the memory


@contextlib.contextmanager
def watched() -> Iterator[dict[str, float]]:
    """Hand out a place for the seconds that the block took and the most bytes that the process held of its own."""
    told: dict[str, float] = {"bytes": 0}
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(BEFORE):
            told["bytes"] = max(told["bytes"], status("RssAnon") or 0)

    watcher = threading.Thread(target=look)
    watcher.start()
    started, worked = time.perf_counter(), time.process_time()
    try:
        yield told
    finally:
        told["seconds"], told["processor"] = time.perf_counter() - started, time.process_time() - worked
        ended.set()
        watcher.join()


def one(n_rows: int) -> dict[str, Any]:
    """Measure one size in this process."""
    fn.scan(fn.datasets.load("asia").sample(100, seed=1).to_frame())  # what is imported at the first call
    told: dict[str, Any] = {"rows": n_rows}
    files = alarm_files(n_rows).options["files"]
    with watched() as told["scan"]:
        stream = fn.scan(files)
    with watched() as told["climb"]:
        found = fn.learn.structure(stream, search="hill-climb")
    with watched() as told["fit"]:
        net = fn.learn.parameters(found.dag, stream, smoothing=1.0)
    with watched() as told["log_prob"]:
        total = sum(float(logs.sum()) for logs in stream.each(net.log_prob))
    return told | {"edges": found.dag.n_edges, "steps": len(found.steps), "mean": total / n_rows}


def draw(results: list[dict[str, Any]], path: Path) -> None:
    """Draw seconds of all work, and the most memory in any of it, against rows."""
    from studies.figures import COLOURS, MARKERS, STYLES, panels_of

    rows = [told["rows"] for told in results]
    with panels_of(path, ["Seconds", "Memory of its own, MB"], x="rows", y="", log="xy") as (times, memory):
        for i, (work, name) in enumerate(WORK.items()):
            look: Any = {"marker": MARKERS[i], "linestyle": STYLES[i], "color": COLOURS[i], "label": name}
            times.plot(rows, [told[work]["seconds"] for told in results], **look)
        most = [max(told[work]["bytes"] for work in WORK) / 1e6 for told in results]
        memory.plot(rows, most, marker=MARKERS[4], color=COLOURS[6], label="the most memory in any of them")
        memory.set_ylim(10, 10_000)
        for axes in (times, memory):
            axes.set_xticks(rows, [f"$10^{len(str(n)) - 1}$" for n in rows])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__.split("\n\n")[0])
    parser.add_argument("--full", action="store_true", help="also 10^8 rows")
    parser.add_argument("--rows", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.rows:
        print(json.dumps(one(chosen.rows)))
        return
    results = []
    for power in range(5, 8 + chosen.full):
        command = [sys.executable, "-m", "benchmarks.growth", "--rows", str(10**power)]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
        results.append(json.loads(done.stdout))
        print(done.stdout, end="", flush=True)
    FOLDER.mkdir(exist_ok=True)
    head = {"date": today()} | machine() | {"versions": versions()}
    (FOLDER / "rows.json").write_text(json.dumps(head | {"results": results}, indent=1) + "\n")
    draw(results, FOLDER / "rows.svg")


if __name__ == "__main__":
    main()
