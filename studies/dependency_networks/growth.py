"""How learning time grows with the number of variables: n^2 candidates for every input that is found."""

from __future__ import annotations

import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import fishernet as fn
from studies.markdown import table

NETWORK_SEED, ROW_SEED = 7, 701
ROWS = 10_000
REACH, PARENTS = 20, 2
QUICK_SIZES = (50, 100, 200)
FULL_SIZES = (*QUICK_SIZES, 500, 1_000, 2_000, 5_000)
REPEATS = 3
SLOW = 10.0  # seconds from which a call is timed once
ASYMPTOTIC = 200  # variables from which what a call costs by itself no longer matters


@dataclass(frozen=True)
class Cost:
    """What learning took on one table."""

    n: int
    inputs: float
    """Inputs a variable, on average."""
    candidates: int | None
    """Families that were looked at; None where counting them would take as long again."""
    seconds: float
    """The fastest of three calls, or the only one."""
    peak_bytes: int | None
    """The process at its largest, table and library included; None where the system does not tell."""

    @property
    def unit(self) -> float:
        """Seconds by n^2 times the inputs of a variable."""
        return self.seconds / (self.n**2 * self.inputs)


def random_network(n: int, seed: int = NETWORK_SEED) -> fn.BayesianNetwork:
    """Return a network of n binary variables, each with two random parents among the twenty before it."""
    rng = np.random.default_rng(seed)
    names = [f"X{i}" for i in range(n)]
    parents, tables = {}, {}
    for i, name in enumerate(names):
        near = np.arange(max(0, i - REACH), i)
        chosen = np.sort(rng.choice(near, size=min(PARENTS, i), replace=False))
        ones = rng.uniform(0.05, 0.95, size=(2,) * len(chosen))
        parents[name] = [names[p] for p in chosen]
        tables[name] = np.stack([1 - ones, ones], axis=-1)
    return fn.BayesianNetwork.from_tables([fn.Variable(name, [0, 1]) for name in names], parents, tables)


def cost(n: int, n_rows: int = ROWS) -> Cost:
    """Learn from rows of a random network and watch the clock and the memory of this process."""
    rows = random_network(n).sample(n_rows, seed=ROW_SEED)
    seconds: list[float] = []
    while not seconds or (len(seconds) < REPEATS and seconds[-1] < SLOW):
        began = time.perf_counter()
        dn = fn.learn.dependency_network(rows)
        seconds.append(time.perf_counter() - began)
    counted = fn.learn.local_structure(rows).n_candidates if seconds[-1] < SLOW else None
    return Cost(n, float(np.mean([len(of) for of in dn.inputs])), counted, min(seconds), status("VmHWM"))


def costs(sizes: tuple[int, ...], n_rows: int = ROWS) -> tuple[list[Cost], list[int]]:
    """Return what learning takes at each size, and the sizes for which there is not the memory.

    Each runs in a new process, so that nothing but its own memory is measured.
    """
    found: list[Cost] = []
    left_out = []
    for n in sizes:
        if found and not fits(found[-1], n):
            left_out.append(n)
            continue
        with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as process:
            found.append(process.submit(cost, n, n_rows).result())
    return found, left_out


def fits(before: Cost, n: int) -> bool:
    """Whether memory that grows as n^2 is there for n variables, where that can be told."""
    room = available_bytes()
    return room is None or before.peak_bytes is None or before.peak_bytes * (n / before.n) ** 2 < room


def available_bytes() -> int | None:
    """Return the memory that can be had without swapping."""
    return _kilobytes(Path("/proc/meminfo"), "MemAvailable")


def status(field: str) -> int | None:
    """Return a field of this process's status, in bytes.

    `resource.getrusage` would begin with the peak of the process that started this one.
    """
    return _kilobytes(Path("/proc/self/status"), field)


def _kilobytes(path: Path, field: str) -> int | None:
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(field + ":")), None)


def exponent(found: list[Cost]) -> float:
    """Return e of seconds ~ n^e, by least squares of the logarithms."""
    judged = asymptotic(found)
    return float(np.polyfit(np.log([at.n for at in judged]), np.log([at.seconds for at in judged]), 1)[0])


def unit(found: list[Cost]) -> float:
    """Return c of seconds ~ c n^2 inputs, the geometric mean."""
    return float(np.exp(np.mean(np.log([at.unit for at in asymptotic(found)]))))


def asymptotic(found: list[Cost]) -> list[Cost]:
    """Return the larger sizes; all, where there are not two of them."""
    large = [at for at in found if at.n >= ASYMPTOTIC]
    return large if len(large) > 1 else found


def growth_table(found: list[Cost]) -> str:
    """Return the measurements as a table."""
    heads = ["variables", "inputs a variable", "candidates", "seconds", "us / (n^2 inputs)", "memory, MB"]
    rows = []
    for at in found:
        candidates = "-" if at.candidates is None else f"{at.candidates:,}"
        memory = "-" if at.peak_bytes is None else f"{at.peak_bytes / 1e6:,.0f}"
        rows.append([f"{at.n:,}", f"{at.inputs:.2f}", candidates, f"{at.seconds:.3g}", f"{1e6 * at.unit:.2f}", memory])
    return table(heads, rows)


def growth_figure(found: list[Cost], path: Path) -> None:
    """Draw the measured times and c n^2 inputs."""
    from studies.figures import figure, name_line  # matplotlib is wanted for this alone

    c, n = unit(found), [at.n for at in found]
    with figure(path, x="variables", y="seconds", title=f"Learning from {ROWS:,} rows", log="xy") as axes:
        (expected,) = axes.plot(n, [c * at.n**2 * at.inputs for at in found], color="#777777", linestyle="--")
        (measured,) = axes.plot(n, [at.seconds for at in found], marker="o", linestyle="none")
        name_line(measured, "measured", up=7)
        name_line(expected, "c n² inputs", up=-7)
