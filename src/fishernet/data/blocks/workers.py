"""The workers of a Dask cluster, who hold tables and are asked of them.

What travels are questions and counts. A worker that dies takes tables with it; Dask makes them again from what they
were read from, and the answers are the same.
"""

from __future__ import annotations

import itertools
import platform
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

from fishernet.base.errors import FishernetError, SchemaError, warn
from fishernet.base.names import a
from fishernet.data.blocks.places import FAN, Mapped, Places
from fishernet.data.table import Table

PACKAGE = "fishernet"
RETRIES = 2  # of a task that failed, as one that reads from a network may
DEEPEST = 8  # arguments in arguments
PATH = re.compile(r".*[/\\][^/\\]*\.\w{1,8}")


def is_client(given: Any) -> bool:
    """Whether something is the client of a cluster."""
    return hasattr(given, "nthreads") and hasattr(given, "who_has")


def places_of(given: Any, parameter: str) -> Places:
    """Return who asks the parts: a cluster, or whatever maps."""
    if is_client(given):
        return Workers(given)
    if not callable(getattr(given, "map", given)):
        raise SchemaError(
            f"{parameter} must be a Dask client, an executor or a function as map, not {a(type(given).__name__)}",
            parameter=parameter,
        )
    return Mapped(given)


class Workers:
    """The workers of a cluster, who hold the tables of partitions and are asked of them.

    Parameters
    ----------
    client : dask.distributed.Client
        Of the cluster.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._readers: Sequence[Any] = ()
        self._labels: dict[str, str] = {}
        self._at: tuple[tuple[str, ...], dict[str, list[str]]] = (), {}  # what was asked of last, and who holds it
        with self._reached():
            self._check_versions()

    @property
    def n_threads(self) -> int:
        """How many parts the workers can work on at once."""
        with self._reached():
            return max(1, int(sum(self._client.nthreads().values())))

    # ------------------------------------------------------------------------------------------------ what is asked

    def hold(self, parts: Sequence[Any], function: Callable[[Any], Any]) -> list[Any]:
        """Return futures of a function's answers for partitions; they are made again where a worker dies."""
        from dask.delayed import delayed

        with self._reached():
            lazy = [delayed(function, pure=False)(part) for part in parts]
            futures = self._client.compute(lazy, retries=RETRIES)
            self._labels.update({future.key: f"partition {i}" for i, future in enumerate(futures)})
            self._wait(futures, self._readers)
        return list(futures)

    def each_own(self, held: Sequence[Any], functions: Sequence[Callable[[Any], Any]]) -> list[Any]:
        """Return futures of the answer of each part's own function."""
        with self._reached():
            futures = [self._submit(function, one) for function, one in zip(functions, held, strict=True)]
            self._labels.update({f.key: self._labels.get(h.key, "a part") for f, h in zip(futures, held, strict=True)})
            self._wait(futures, [None] * len(futures))
        return futures

    def tasks(self, readers: Sequence[Any], *, keep: bool) -> Sequence[Any]:
        """Return tasks that read parts, or what the workers keep of them once they are read."""
        from dask.delayed import delayed

        self._readers = [one if hasattr(one, "dask") else delayed(one, pure=False)() for one in readers]
        if not keep:
            return self._readers
        with self._reached():
            return list(self._client.persist(self._readers, retries=RETRIES))

    def sum(self, held: Sequence[Any], function: Callable[[Any], Any], *, any_order: bool = False) -> Any:
        """Return the sum of a function's answers, added by the workers, by eights in the order of the parts.

        Where any order gives the same sum, the workers are asked as they are, without the scheduler's tasks.
        """
        with self._reached():
            if any_order and (answers := self._asked_directly(held, function)) is not None:
                return reduce(add, answers)
            first = answers = self._client.map(function, list(held), pure=False, retries=RETRIES)
            while len(answers) > 1:
                eights = [answers[i : i + FAN] for i in range(0, len(answers), FAN)]
                answers = [eight[0] if len(eight) == 1 else self._submit(_added, *eight) for eight in eights]
            return self._result(answers[0], first, held)

    def _asked_directly(self, held: Sequence[Any], function: Callable[[Any], Any]) -> list[Any] | None:
        """Return each worker's sum over what it holds; None where one is gone, fails, or holds no longer what it did.

        A round of tasks takes the scheduler tens of milliseconds, and a search asks at every step.
        """
        keys = tuple([future.key for future in held])
        if keys != self._at[0]:
            self._at = keys, _assigned(self._client.who_has(list(held)))
        where = self._at[1]
        if sum(map(len, where.values())) == len(keys):
            try:
                found = self._client.run(_sum_here, where, function, workers=list(where), on_error="return")
            except Exception:  # whatever it was, tasks come to know it, too, and can make anew what is lost
                found = {}
            answers = [found.get(worker) for worker in where]
            if not any(answer is None or isinstance(answer, BaseException) for answer in answers):
                return answers
        self._at = (), {}
        return None

    def each(self, held: Sequence[Any], function: Callable[[Any], Any]) -> Iterator[Any]:
        """Yield a function's answers in the order of the parts; no more are under way than workers can work on."""
        ahead = 2 * self.n_threads
        rest, waiting = iter(held), deque[tuple[Any, Any]]()
        while True:
            with self._reached():
                for table in itertools.islice(rest, ahead - len(waiting)):
                    waiting.append((self._submit(function, table), table))
                if not waiting:
                    return
                future, table = waiting.popleft()
                answer = self._result(future, [future], [table])
            del future
            yield answer

    def placed(self, tables: Sequence[Table]) -> Sequence[Any]:
        """Have the workers hold tables of this process."""
        with self._reached():
            return list(self._client.scatter(list(tables), hash=False))

    def together(self, held: Sequence[Any], groups: Sequence[slice], function: Callable[..., Any]) -> list[Any]:
        """Return futures of a function's answers for neighbours."""
        with self._reached():
            futures = [self._submit(function, *held[group]) for group in groups]
            for future, group in zip(futures, groups, strict=True):
                last = group.stop - 1
                several = f"partitions {group.start} to {last}"
                self._labels[future.key] = f"partition {last}" if group.start == last else several
            self._wait(futures, [None] * len(futures))
        return futures

    def _submit(self, function: Callable[..., Any], *held: Any) -> Any:
        return self._client.submit(function, *held, pure=False, retries=RETRIES)

    # -------------------------------------------------------------------------------------------- what may go wrong

    def _wait(self, futures: Sequence[Any], parts: Sequence[Any]) -> None:
        """Wait until all are done; raise the first error, naming the partition."""
        from distributed import as_completed

        done: Any = as_completed
        for future in done(futures, loop=self._client.loop):
            if future.status == "error":
                at = next(i for i, one in enumerate(futures) if one.status == "error")
                where = self._labels.get(futures[at].key, f"partition {at}")
                raise told_of(futures[at].exception(), where + file_of(parts[at]))
            if future.status != "finished":
                raise ConnectionError(future.status)

    def _result(self, future: Any, answers: Sequence[Any], held: Sequence[Any]) -> Any:
        """Return a future's result; an error names the partition of which it came."""
        try:
            return self._client.gather(future)
        except Exception:
            for answer, table in zip(answers, held, strict=True):
                for one in (table, answer):
                    if one.status == "error":
                        raise told_of(one.exception(), self._labels.get(table.key, "a partition")) from None
            raise

    def _reached(self) -> _Reached:
        return _Reached(self._client)

    def _check_versions(self) -> None:
        """Raise FishernetError unless the workers have this library, in this version, and this Python."""
        question = f"(__import__({PACKAGE!r}).__version__, __import__('platform').python_version())"
        if not self._client.nthreads():
            message = "the cluster has no workers yet; waiting for one"
            warn(message, parameter="client")
            self._client.submit(str, pure=False).result()  # a cluster that adapts itself starts one for that
        here = sys.modules[PACKAGE.partition(".")[0]].__version__ if PACKAGE in sys.modules else ""
        python = platform.python_version()
        for worker, found in self._client.run(eval, question, on_error="return").items():
            if isinstance(found, OSError | TimeoutError):  # of the connection, not of the worker's Python
                raise FishernetError(
                    f"the worker {worker} stopped answering before the work began ({type(found).__name__}); see its "
                    "log (too little memory is the usual cause), then call again: the workers that are left go on",
                    parameter="client",
                )
            if isinstance(found, BaseException):
                raise FishernetError(
                    f"the worker {worker} cannot import {PACKAGE} ({found}); install it where the workers run",
                    parameter="client",
                )
            if found[0] != here:
                raise FishernetError(
                    f"the worker {worker} has {PACKAGE} {found[0]}, and here it is {here}; install one version"
                    " everywhere",
                    parameter="client",
                )
            if found[1].split(".")[:2] != python.split(".")[:2]:
                raise FishernetError(
                    f"the worker {worker} runs Python {found[1]}, and here it is {python}; use one version everywhere",
                    parameter="client",
                )


class _Reached:
    """Where a scheduler that is gone is told in a plain sentence."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __enter__(self) -> None:
        if self._client.status != "running":
            raise self._gone()

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if hasattr(error, "parameter") or not isinstance(error, Exception):  # ours already, Ctrl-C, or none
            return
        name = type(error).__name__
        lost = isinstance(error, OSError | TimeoutError) or "Cancelled" in name or "CommClosed" in name
        if lost or self._client.status != "running":
            raise self._gone() from error

    def _gone(self) -> FishernetError:
        scheduler = getattr(self._client, "scheduler", None)
        address = getattr(scheduler, "address", None) or getattr(self._client, "_start_arg", None) or "of the client"
        return FishernetError(
            f"the Dask scheduler {address} cannot be reached: it has ended, or the client is closed; connect a new "
            "client and scan the frame again",
            parameter="client",
        )


def told_of(error: Any, where: str) -> Any:
    """Return an error of a task as one that says of which partition it came."""
    text = " ".join(str(error).split())
    if hasattr(error, "parameter"):  # of our own: its kind and attributes stay
        if not text.startswith(where):
            error.args, error.fact = (f"{where}: {text}", *error.args[1:]), f"{where}: {error.fact}"
        return error
    if type(error).__name__ == "KilledWorker":
        text = "the workers that worked on it died, each time; they may lack memory: make partitions smaller"
        return FishernetError(f"{where}: {text}")
    return FishernetError(f"{where}: {type(error).__name__}: {text}")


def file_of(lazy: Any) -> str:
    """Return of which file a partition is, where its task tells that; to be added to its number."""
    if lazy is None:
        return ""
    path = next(_paths(dict(lazy.dask)[lazy.key], DEEPEST), None)
    return "" if path is None else f" ({path})"


def _paths(task: Any, depth: int) -> Iterator[str]:
    """Yield what look like paths among the arguments of a task of Dask, however they are nested."""
    if isinstance(task, str):
        if PATH.fullmatch(task):
            yield task
        return
    inner: list[Any] = []
    if isinstance(task, dict):
        inner.extend(task.values())
    elif isinstance(task, list | tuple):
        inner.extend(task)
    else:
        inner.extend(getattr(task, name, None) for name in ("path", "func", "args", "kwargs"))
    if depth:
        for one in inner:
            yield from _paths(one, depth - 1)


# ------------------------------------------------------------------------------------------------ what workers do


def _added(*answers: Any) -> Any:
    return reduce(add, answers)


def _assigned(holders: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return for every worker what it is asked of, each held thing at one of its holders."""
    where: dict[str, list[str]] = {}
    for key, workers in holders.items():
        if workers:
            where.setdefault(workers[0], []).append(key)
    return where


async def _sum_here(where: dict[str, list[str]], function: Callable[[Any], Any], dask_worker: Any) -> Any:
    """Return the sum of a function's answers for what this worker is said to hold; None where it does not."""
    import asyncio  # slow to import, and needed by workers alone

    keys = where[dask_worker.address]
    if any(key not in dask_worker.data for key in keys):
        return None
    ask = asyncio.get_running_loop().run_in_executor
    answers = [ask(dask_worker.executor, function, dask_worker.data[key]) for key in keys]
    return reduce(add, await asyncio.gather(*answers))
