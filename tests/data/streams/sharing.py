"""Processes and threads that make and share one packed store while some of them are killed at random.

The tests run a few short rounds. The full size is ``python -m tests.data.streams.sharing --rounds 100 --rows 8388608``:
4 processes and 4 threads in each round.
"""

from __future__ import annotations

import argparse
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import fishernet as fn
from fishernet.data.streams import packing

# What a process does: its threads open the stream, by its cache or by its pickle while the store is there, and score a
# graph all at once.
WORKER = """
import pickle, sys, threading
import fishernet as fn
from fishernet.data.streams import packing

source, cache, saved, threads, packed_from = sys.argv[1:]
packing.LEAST_ROWS = int(packed_from)
with open(saved, "rb") as file:
    pickled, dag, known = pickle.load(file)
scores = []
start = threading.Barrier(int(threads))

def work(i):
    start.wait()
    try:
        stream = fn.scan(source, cache=cache) if i % 2 else pickle.loads(pickled)
    except fn.FileFormatError:
        assert not i % 2
        stream = fn.scan(source, cache=cache)
    scores.append((fn.score(dag, stream, "bic"), stream.n_rows))

running = [threading.Thread(target=work, args=(i,)) for i in range(int(threads))]
for thread in running:
    thread.start()
for thread in running:
    thread.join()
assert scores == [known] * int(threads), (scores, known)
print("right")
"""


def rounds(
    folder: Path, n_rounds: int, n_rows: int, *, processes: int = 4, threads: int = 4, seed: int = 0, told: bool = False
) -> dict[str, int]:
    """Return how many processes ended by themselves and how many were killed; fail when one ended in any other way."""
    rng = np.random.default_rng(seed)
    net = fn.datasets.load("asia")
    table = net.sample(n_rows, seed=seed)
    source, cache, saved = folder / "rows.parquet", folder / "cache", folder / "saved"
    fn.write_table(table, source)
    known = fn.score(net.dag, table, "bic"), n_rows
    stream = fn.scan(source, cache=cache, schema=None)
    saved.write_bytes(pickle.dumps((pickle.dumps(stream), net.dag, known)))
    command = [sys.executable, "-W", "error", "-c", WORKER, *map(str, (source, cache, saved, threads))]
    command += [str(min(n_rows, packing.LEAST_ROWS))]
    found = {"ended": 0, "killed": 0}
    longest = 2.0
    for i in range(n_rounds):
        if i % 4:  # the others find what is there already
            shutil.rmtree(cache, ignore_errors=True)
        begin = time.monotonic()
        running = [
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(processes)
        ]
        doomed = rng.permutation(processes)[: rng.integers(0, processes)]
        for moment, at in sorted(zip(rng.uniform(0.2 * longest, longest, len(doomed)), doomed, strict=True)):
            time.sleep(max(0.0, begin + moment - time.monotonic()))
            running[at].kill()
        for at, process in enumerate(running):
            out, told_why = process.communicate(timeout=600)
            if process.returncode == -signal.SIGKILL and at in doomed:
                found["killed"] += 1
                continue
            assert (process.returncode, out) == (0, "right\n"), (i, at, process.returncode, told_why)
            found["ended"] += 1
        longest = 0.5 * longest + 0.5 * (time.monotonic() - begin)
        if told:
            print(i, found, f"{time.monotonic() - begin:.1f} s", flush=True)
    fn.scan(source, cache=cache).verify()
    left = sorted(path.name for path in cache.iterdir() if path.name.startswith(("new-", "rows-")))
    assert len(left) == 1 or found["killed"], left
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--rows", type=int, default=2**23)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as where:
        print(rounds(Path(where), asked.rounds, asked.rows, seed=asked.seed, told=True))
