"""Where parts of the data are, and who asks them: this process, whatever maps, or the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Protocol

from fishernet.base.errors import FishernetError
from fishernet.base.threads import available_threads

FAN = 8  # answers that are added at once


class Places(Protocol):
    """Where parts of the data are worked on."""

    @property
    def n_threads(self) -> int:
        """How many parts can be worked on at once."""
        ...

    def placed(self, tables: Sequence[Any]) -> Sequence[Any]:
        """Return handles of tables that are in this process."""
        ...

    def tasks(self, readers: Sequence[Any], *, keep: bool) -> Sequence[Any]:
        """Return what reads parts, as `hold` takes it; `keep` says that what was read is kept to be read again."""
        ...

    def hold(self, parts: Sequence[Any], function: Callable[[Any], Any]) -> list[Any]:
        """Return handles of a function's answers for parts that are not read yet; the answers stay where they are."""
        ...

    def each_own(self, held: Sequence[Any], functions: Sequence[Callable[[Any], Any]]) -> list[Any]:
        """Return handles of the answers of a function of its own for each that is held; they stay where they are."""
        ...

    def together(self, held: Sequence[Any], groups: Sequence[slice], function: Callable[..., Any]) -> list[Any]:
        """Return handles of a function's answers for neighbours, each of which is an argument; they stay there, too."""
        ...

    def sum(self, held: Sequence[Any], function: Callable[[Any], Any], *, any_order: bool = False) -> Any:
        """Return the sum of a function's answers for what is held, added in an order that depends on nothing else.

        `any_order` says that the sum is the same, to the last bit, in whatever order they are added.
        """
        ...

    def each(self, held: Sequence[Any], function: Callable[[Any], Any]) -> Iterator[Any]:
        """Return a function's answers for what is held, in its order."""
        ...


class Mapped:
    """Parts that are asked by whatever maps a function over them: this process, threads, an executor, a pool.

    Parameters
    ----------
    over : callable or object, optional
        ``map(function, items)``, as Python's own, or what has such a method: answers in the order of the items.
    """

    def __init__(self, over: Any = map) -> None:
        self._map: Callable[..., Iterable[Any]] = getattr(over, "map", over)
        self.n_threads: int = 1 if over is map else available_threads()

    def placed(self, tables: Sequence[Any]) -> Sequence[Any]:
        """Return the tables."""
        return tables

    def tasks(self, readers: Sequence[Any], *, keep: bool) -> Sequence[Any]:  # noqa: ARG002
        """Return functions that read parts, as they are."""
        return readers

    def hold(self, parts: Sequence[Callable[[], Any]], function: Callable[[Any], Any]) -> list[Any]:
        """Return a function's answers for parts, each of which is read by calling it."""
        return list(self.each(parts, _Read(function)))

    def each_own(self, held: Sequence[Any], functions: Sequence[Callable[[Any], Any]]) -> list[Any]:
        """Return the answer of each part's own function."""
        return list(self.each(list(zip(functions, held, strict=True)), _answered))

    def together(self, held: Sequence[Any], groups: Sequence[slice], function: Callable[..., Any]) -> list[Any]:
        """Return a function's answers for neighbours."""
        return [function(*held[group]) for group in groups]

    def sum(self, held: Sequence[Any], function: Callable[[Any], Any], *, any_order: bool = False) -> Any:  # noqa: ARG002
        """Return the sum of a function's answers, added by eights in the order of the parts."""
        return summed(self.each(held, function))

    def each(self, held: Sequence[Any], function: Callable[[Any], Any]) -> Iterator[Any]:
        """Yield a function's answers, in the order of the parts."""
        try:
            yield from self._map(function, held)
        except BrokenExecutor as error:
            raise FishernetError(
                f"a process that worked on a part died ({error}); it may lack memory: make the parts smaller",
                parameter="map",
            ) from None


@dataclass(frozen=True)
class _Read:
    """A function of what a part reads; it travels to other processes."""

    function: Callable[[Any], Any]

    def __call__(self, part: Callable[[], Any]) -> Any:
        return self.function(part())


def _answered(pair: tuple[Callable[[Any], Any], Any]) -> Any:
    function, one = pair
    return function(one)


def summed(answers: Iterable[Any]) -> Any:
    """Return the sum of answers: eight at a time, then eight of these sums, and so on."""
    levels: list[list[Any]] = []
    for answer in answers:
        _push(levels, 0, answer)
    total: list[Any] = []
    for level in levels:
        level.extend(total)
        total = [reduce(add, level)] if level else []
    return total[0]


def _push(levels: list[list[Any]], at: int, answer: Any) -> None:
    if at == len(levels):
        levels.append([])
    levels[at].append(answer)
    if len(levels[at]) == FAN:
        full, levels[at] = levels[at], []
        _push(levels, at + 1, reduce(add, full))
