"""How near the ways to choose prototypes come, and what each takes: ``python -m benchmarks.prototype_ways``.

Prints a table: the squared distance that 10, 100 and 1 000 rows of three tables reach, beside that of as many rows at
random, and the processor's time on one thread, the least of two where it is below a second.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import fishernet as fn
from benchmarks.race import duration
from benchmarks.sources import alarm, fitted, letter_training, nursery_half, table_of, with_graph

WAYS: dict[str, Callable[..., fn.select.Selection]] = {
    "greedy_mmd": partial(fn.select.greedy_mmd, seed=1),
    "mmd_critic": fn.select.mmd_critic,
    "kernel_thinning": partial(fn.select.kernel_thinning, seed=1),
    "protodash": fn.select.protodash,
}
SIZES = (10, 100, 1000)
PATIENCE = 100  # rows that protodash is asked for at most


def worked(way: str, net: fn.BayesianNetwork, table: fn.Table, k: int) -> tuple[fn.select.Selection, float]:
    """Return what a way chooses with a new kernel, and the processor's time."""
    began = time.process_time()
    found = WAYS[way](fn.kernels.FisherKernel(net), table, k)
    return found, time.process_time() - began


def cell(way: str, net: fn.BayesianNetwork, table: fn.Table, k: int) -> str:
    if way == "protodash" and k > PATIENCE:
        return "-"
    found, seconds = worked(way, net, table, k)
    if seconds < 1:
        seconds = min(seconds, worked(way, net, table, k)[1])
    fewer = f" ({len(found.indices)} rows)" if len(found.indices) < k else ""
    return f"{found.distance:.3g}{fewer}, {duration(seconds)}"


def at_random(net: fn.BayesianNetwork, table: fn.Table, k: int) -> float:
    """Return the mean squared distance of so many rows at random."""
    kernel: Any = fn.kernels.FisherKernel(net)
    mean = kernel.mean_features(table)
    spread = float(kernel.diag(table).mean() - mean @ mean)
    return (1 / k - 1 / table.n_rows) * table.n_rows / (table.n_rows - 1) * spread


def lines() -> Iterator[str]:
    yield from ("| | k | at random | " + " | ".join(WAYS) + " |", "| --- " * (3 + len(WAYS)) + "|")
    for data in (letter_training(), with_graph(nursery_half()), with_graph(alarm(100_000))):
        net, table = fitted(data), table_of(data)
        for k in SIZES:
            found = " | ".join(cell(way, net, table, k) for way in WAYS)
            yield f"| {data.title} | {k:,} | {at_random(net, table, k):.3g} | {found} |"


def main() -> None:
    fn.set_threads(1)
    for line in lines():
        print(line, flush=True)


if __name__ == "__main__":
    main()
