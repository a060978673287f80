"""What the studies share: the command line, repetitions in several processes, and results as JSON.

A study is a function that is handed a `Run` and yields tables of numbers. `main` writes them as
``FOLDER/results/NAME.json``, below a header that says what computed them, and has the figures drawn from them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student_t

import fishernet as fn

Array = npt.NDArray[np.float64]
T = TypeVar("T")

DOCS, QUICK = Path("docs/studies"), Path("build/studies")


@dataclass(frozen=True)
class Table:
    """Rows of numbers; a cell is a number, a text, a list of them, what `mean` returns, or None: not computed."""

    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    format: str | Sequence[str] = ".2f"
    """Of numbers that are not whole, for `format` (or "short"): one for all columns, or one per column."""
    best: bool = False
    """Whether the smallest mean in each row is printed bold."""
    only: Sequence[Any] = ()
    """Which values of the second column are printed, where not all are."""

    def select(self, **where: Any) -> list[dict[str, Any]]:
        """Return the rows that have these cells, as mappings from the columns' names."""
        rows = (dict(zip(self.columns, row, strict=True)) for row in self.rows)
        return [row for row in rows if all(row[name] == value for name, value in where.items())]


def mean(values: npt.ArrayLike, *, usual: int | None = None, published: float | None = None) -> dict[str, Any] | None:
    """Return a cell with the mean of the values that are not NaN; None where there are none.

    It has the standard error of the mean where there are two values or more, how many there are where that is not the
    usual number, and the published value where there is one.
    """
    there = np.asarray(values, dtype=np.float64)
    there = there[~np.isnan(there)]
    if not there.size:
        return None
    cell: dict[str, Any] = {"mean": float(there.mean())}
    if there.size > 1:
        cell["error"] = float(there.std(ddof=1) / np.sqrt(there.size))
    if usual is not None and there.size != usual:
        cell["n"] = int(there.size)
    if published is not None and not np.isnan(published):
        cell["published"] = float(published)
    return cell


OTHER_SEEDS = "FISHERNET_STUDY_SEED"  # which other seeds all processes of a study use
STEP = 1_000_003  # between the seeds of one and the next


def moved(seed: int) -> int:
    """Return a seed of the study, or another one where ``--seed`` asks for others."""
    return seed + STEP * int(os.environ.get(OTHER_SEEDS, "0"))


class Seeds(dict[str, int]):
    """The seeds of a study by what they are for; what is looked up is moved as `moved` does."""

    def __getitem__(self, name: str) -> int:
        return moved(super().__getitem__(name))


def errors_apart(n: int) -> float:
    """Return how many standard errors a mean of n values must be from 0 to be beyond chance at the 5 % level.

    It is Student's quantile: 12.7 for two values, 4.3 for three, 2.8 for five, and 2.0 for many.
    """
    return float(student_t.ppf(0.975, n - 1))


@dataclass(frozen=True)
class Run:
    """What was asked for."""

    form: str = "usual"
    """"quick", "usual" or "full"."""
    data: Path | None = None
    """The folder of real data and published figures; what it lacks is left out."""
    asked_repetitions: int | None = None
    workers: Executor | None = None
    keep: Path | None = None
    """The file that results of `map` are kept in, so that a run that was ended goes on where it was."""
    settings: dict[str, Any] = field(default_factory=dict)
    """What goes into the header beside the command line."""
    earlier: list[float] = field(default_factory=list)
    """The processor's seconds of the results that were kept before this run, and are used in it."""

    def choose(self, quick: T, usual: T, full: T | None = None) -> T:
        """Return what the form says; the full form is the usual one where there is no other."""
        return quick if self.form == "quick" else full if self.form == "full" and full is not None else usual

    def repetitions(self, quick: int, usual: int, full: int | None = None) -> int:
        """Return what was asked for, or what the form says."""
        self.settings["repetitions"] = self.asked_repetitions or self.choose(quick, usual, full)
        return int(self.settings["repetitions"])

    def file(self, *parts: str) -> Path | None:
        """Return a file of the data, None where it is not there."""
        path = None if self.data is None else self.data.joinpath(*parts)
        return path if path is not None and path.exists() else None

    def map(self, work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        """Yield ``work(*task)`` of every task, in their order whatever the number of processes.

        What is kept is looked up by the task. It must be what JSON can hold, and the file must go after a change of
        the work. With each result the file has the processor's seconds that it took, and `earlier` gets those of what
        is used again; lines without them count nothing.
        """
        lines = self.keep.read_text().splitlines() if self.keep is not None and self.keep.exists() else []
        known: dict[str, Any] = {name: result for name, result, *_ in map(json.loads, lines)}
        others = f" {moved(0)}" if moved(0) else ""
        spent = {name: sum(seconds) for name, _, *seconds in map(json.loads, lines)}
        names = [f"{work.__name__}{task!r}{others}" for task in tasks]
        fresh = [task for task, name in zip(tasks, names, strict=True) if name not in known]
        each = partial(timed, work)
        results = (map if self.workers is None else self.workers.map)(each, *zip(*fresh, strict=True)) if fresh else ()
        made = iter(results)
        self.earlier.extend(spent[name] for name in dict.fromkeys(names) if name in known)
        for name in names:
            if name not in known:
                known[name], seconds = next(made)
                if self.keep is not None:
                    with self.keep.open("a") as file:
                        file.write(json.dumps([name, known[name], round(seconds, 3)]) + "\n")
            yield known[name]


def timed(work: Callable[..., T], *task: Any) -> tuple[T, float]:
    """Return what the work returns, and the processor's seconds."""
    began = time.process_time()
    return work(*task), time.process_time() - began


def processor_seconds() -> float:
    """Return the processor's seconds of this process, and of those that it started and waited for."""
    return sum(os.times()[:4])


def asked_of(
    name: str, about: str, takes: str, arguments: Sequence[str] | None, parts: Sequence[str] = ()
) -> argparse.Namespace:
    line = argparse.ArgumentParser(
        prog=f"python -m studies.{name}", description=about.partition("\n")[0], epilog=f"How long: {takes}."
    )
    form = line.add_mutually_exclusive_group()
    form.add_argument("--quick", action="store_true", help="small sizes, few repetitions")
    form.add_argument("--full", action="store_true", help="everything, where the usual form leaves out what takes days")
    line.add_argument("--data", type=Path, metavar="DIR", help="real data and published figures; left out without it")
    line.add_argument("--repetitions", type=int, metavar="N", help="data sets of each size")
    line.add_argument("--seed", type=int, metavar="N", default=0, help="use other seeds; then --output is to be given")
    line.add_argument("--processes", type=int, metavar="N", default=1, help="default: one, with all threads")
    line.add_argument("--keep", type=Path, metavar="FILE", help="keep results as they come; a later run goes on")
    if parts:
        line.add_argument(
            "--part", choices=parts, help="compute this alone, and put it into the results that are there"
        )
    line.add_argument(
        "--draw", action="store_true", help="only draw the figures again, from the results that are there"
    )
    line.add_argument("--output", type=Path, metavar="DIR", help=f"default: {DOCS}; with --quick {QUICK}")
    asked = line.parse_args(arguments)
    if asked.processes < 1 or (asked.repetitions is not None and asked.repetitions < 1):
        line.error("--repetitions and --processes are at least 1")
    if asked.seed < 0 or (asked.seed and asked.output is None and not asked.quick):
        line.error("--seed is at least 0, and results of other seeds want an --output of their own")
    return asked


def main(
    name: str,
    compute: Callable[[Run], Iterator[Table]],
    draw: Callable[[Mapping[str, Table], Callable[[str], Path]], None] | None = None,
    *,
    seeds: Mapping[str, Any],
    takes: str,
    about: str = "",
    parts: Mapping[str, Callable[[Run], Iterator[Table]]] = {},
    arguments: Sequence[str] | None = None,
) -> Path:
    """Run a study from the command line, write results and figures, and return the file of the results.

    `takes` says in --help how long the quick and the usual form take, as measured.

    A part is computed alone where it is asked for, and put into the results that are there, which say so.
    """
    asked = asked_of(name, about, takes, arguments, tuple(parts))
    os.environ[OTHER_SEEDS] = str(asked.seed)
    form = "quick" if asked.quick else "full" if asked.full else "usual"
    output = asked.output or (QUICK if asked.quick else DOCS)
    called = name.replace("_", "-")  # as the report is
    path = output / "results" / f"{called}.json"

    def figure(of: str) -> Path:
        return output / "figures" / f"{called}-{of}.svg"

    if asked.draw and draw is not None:
        draw({table.name: table for table in read(path)[1]}, figure)
        return path
    began, used, tables = time.perf_counter(), processor_seconds(), {}
    with workers(asked.processes) as pool:
        run = Run(form, asked.data, asked.repetitions, pool, asked.keep)
        part = getattr(asked, "part", None)
        for table in (parts[part] if part else compute)(run):
            tables[table.name] = table
            print(f"{name}: {table.name}, {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    header = {
        "study": name,
        "fishernet": fn.__version__,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "processor": processor(),
        "seconds": round(time.perf_counter() - began, 1),
        "processor_seconds": round(processor_seconds() - used + sum(run.earlier), 1),
        "processes": asked.processes,
        "threads": 1 if asked.processes > 1 else fn.set_threads(),
        "form": form,
        "with_data": asked.data is not None,
        "seeds": seeds,
        "seed": asked.seed,
        "settings": run.settings,
    }
    alone = bool(part) and not path.exists()  # there is nothing to draw yet
    if part and not alone:
        header, tables = joined(path, part, header, tables)
    write(path, header, list(tables.values()))
    if draw is not None and not alone:
        draw(tables, figure)
    print(f"written: {path}", file=sys.stderr)
    return path


TOLD = ("fishernet", "date", "processor", "seconds", "processor_seconds", "processes", "threads", "form")
"""What the header says of every computation."""


def joined(
    path: Path, part: str, header: Mapping[str, Any], tables: Mapping[str, Table]
) -> tuple[dict[str, Any], dict[str, Table]]:
    """Return results with the tables of a part, and below "parts" what computed them.

    The head of the results is of the tables that are in no part; where there are none, it goes.
    """
    whole, there = read(path)
    told: dict[str, Any] = {key: header[key] for key in TOLD}
    whole["seeds"] = whole.get("seeds", {}) | header["seeds"]
    known = {table.name: table for table in there} | dict(tables)
    # what is computed again is of this part alone, and a part of which nothing is left goes
    kept = {name: [one for one in held["tables"] if one not in tables] for name, held in whole.get("parts", {}).items()}
    parts = {name: held | {"tables": kept[name]} for name, held in whole.get("parts", {}).items() if kept[name]}
    whole["parts"] = parts | {part: told | {"settings": header["settings"], "tables": list(tables)}}
    if {name for held in whole["parts"].values() for name in held["tables"]} >= set(known):
        whole = {key: value for key, value in whole.items() if key in ("study", "seeds", "parts")}
    return whole, known


def workers(processes: int) -> AbstractContextManager[Executor | None]:
    """Start so many processes of one thread each; with one there is only this process, its threads as they are."""
    if processes == 1:
        return nullcontext()
    return ProcessPoolExecutor(processes, get_context("spawn"), initializer=fn.set_threads, initargs=(1,))


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def write(path: Path, header: Mapping[str, Any], tables: Sequence[Table]) -> None:
    """Write results, a line per row of a table, with eight digits of every number and null for NaN."""

    def text(held: Any) -> str:
        once = json.dumps(held, default=np.generic.item)
        known = json.loads(once, parse_float=lambda x: float(f"{float(x):.8g}"), parse_constant=lambda _: None)
        return json.dumps(known, ensure_ascii=False)

    parts = []
    for table in tables:
        held = {key: value for key, value in asdict(table).items() if value}
        rows = ",\n   ".join(map(text, held.pop("rows")))
        parts.append(f'  {text(held)[:-1]}, "rows": [\n   {rows}\n  ]}}')
    head = ",\n ".join(f"{text(key)}: {text(value)}" for key, value in header.items())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{{{head},\n "tables": [\n' + ",\n".join(parts) + "\n ]}\n", encoding="utf-8")


def read(path: Path) -> tuple[dict[str, Any], list[Table]]:
    """Return the header and the tables of results."""
    held = json.loads(path.read_text(encoding="utf-8"))
    return held, [Table(**table) for table in held.pop("tables")]
