"""Calls of the core's bound functions and classes, as the library makes them, with one value out of range.

The calls are written down while the library works (`_examples`). A case makes one of them again, with all that its
objects were told before, and changes one argument of one of these calls: an index, a size, an offset, a shape, a type.
What was changed may be refused with ValueError or TypeError (MemoryError where that much was asked for); it may never
be taken and then crash.
"""

from __future__ import annotations

import functools
import importlib.util
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

import fishernet as fn
from fishernet import _core
from tests.fuzz import hostile
from tests.fuzz.case import Case

LEFT_OUT = {"set_threads", "get_threads"}
LONG = ("sample", "draw", "run", "search", "OrderSearch", "step", "visit", "climb")
PER_KIND = 40  # calls of one function or method on the tape
MOST_CELLS = 4000  # of an array on it


class Made(NamedTuple):
    """What a call returned, by the call's place on the tape."""

    call: int


class Call(NamedTuple):
    """One call: of a function or class, or of a method of what an earlier call made."""

    name: str
    of: Made | None
    arguments: tuple[Any, ...]
    named: dict[str, Any]


class Tape:
    """The calls that were made, in their order."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._made: dict[int, Made] = {}
        self._kept: list[Any] = []
        self.seen: dict[str, int] = {}

    def write(self, name: str, of: Any, arguments: tuple[Any, ...], named: dict[str, Any], answer: Any) -> None:
        own = None if of is None else self._made.get(id(of), Made(-1))
        call = Call(name, own, self._copied(arguments), self._copied(named))
        if own == Made(-1) or self.seen.get(name, 0) >= PER_KIND or _lost(call):
            return
        self.seen[name] = self.seen.get(name, 0) + 1
        self.calls.append(call)
        if type(answer).__module__ == _core.__name__:
            self._made[id(answer)] = Made(len(self.calls) - 1)
            self._kept.append(answer)

    def _copied(self, value: Any) -> Any:
        if type(value).__module__ == _core.__name__:
            return self._made.get(id(value), Made(-1))
        if isinstance(value, np.ndarray):
            return value.copy() if value.size <= MOST_CELLS else Made(-1)
        if isinstance(value, list | tuple):
            return type(value)(self._copied(item) for item in value)
        if isinstance(value, dict):
            return {key: self._copied(item) for key, item in value.items()}
        return value

    def chain(self, last: int) -> list[int]:
        """Return the calls that one needs, and itself: all that made or told its objects something."""
        needed = {last}
        for at in range(last, -1, -1):
            call = self.calls[at]
            if at in needed or (call.of and call.of.call in needed and "." in call.name):
                needed |= {at, *(made.call for made in _objects((call.of, call.arguments, call.named)))}
        return sorted(needed)


def _objects(value: Any) -> Iterator[Made]:
    if isinstance(value, Made):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _objects(item)
    elif isinstance(value, dict):
        yield from _objects(list(value.values()))


def _lost(call: Call) -> bool:
    """Whether a call needs what is not on the tape."""
    return any(made.call < 0 for made in _objects((call.of, call.arguments, call.named)))


@contextmanager
def _written(tape: Tape) -> Iterator[None]:
    """Write the core's calls down while the library works."""
    names = [name for name in dir(_core) if callable(getattr(_core, name)) and name[0] != "_" and name not in LEFT_OUT]
    before = {name: getattr(_core, name) for name in names}
    methods = [(made, method) for made in before.values() if isinstance(made, type) for method in _public(made)]
    olds = [vars(made)[method] for made, method in methods]
    try:
        for (made, method), old in zip(methods, olds, strict=True):
            setattr(made, method, _method(tape, made.__name__, method, old))
        for name, old in before.items():
            setattr(_core, name, _function(tape, name, old))
        yield
    finally:
        for name, old in before.items():
            setattr(_core, name, old)
        for (made, method), old in zip(methods, olds, strict=True):
            setattr(made, method, old)


def _public(made: type) -> list[str]:
    return [name for name, value in vars(made).items() if name[0] != "_" and callable(value)]


def _function(tape: Tape, name: str, old: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        answer = old(*arguments, **named)
        tape.write(name, None, arguments, named, answer)
        return answer

    return call


def _method(tape: Tape, owner: str, name: str, old: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        answer = old(self, *arguments, **named)
        tape.write(f"{owner}.{name}", self, arguments, named, answer)
        return answer

    return call


def _examples() -> None:
    """Let the library work on small things: what it asks of the core is what is changed later."""
    spec = importlib.util.find_spec("tests.fuzz.public")
    assert spec is not None
    assert spec.loader is not None
    public = importlib.util.module_from_spec(spec)  # a fresh one: models that have answered keep what the core made
    spec.loader.exec_module(public)
    for name in (name for name in public.targets() if name not in ("graph", "write_graph", "plot.clusters")):
        try:
            public.called(name, public.parameters(name))
        except (fn.FishernetError, TypeError):  # what lacks a valid value
            continue
    table = public.SMALL
    for search in ("hill-climb", "tabu", "order", "exact"):
        for score in ("bic", "bdeu", "fnml", "qnml"):
            fn.learn.structure(table, score=score, search=search, seed=1)


@functools.cache
def tape() -> Tape:
    """The tape of the examples."""
    import warnings

    for name in fn.__all__:
        getattr(fn, name)  # what is imported at its first use takes the core as it is
    made = Tape()
    with _written(made), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _examples()
    return made


def changed(value: Any, draws: random.Random, *, long: bool = False) -> Any:
    """Return an argument with something out of range; of calls that may be `long`, no number of repetitions."""
    if isinstance(value, np.ndarray):
        return _array(value, draws)
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return draws.choice([None, "", "no such word", 1, -1, np.zeros(2), not value])
    if isinstance(value, int):
        large = [] if long else [2**31 - 1, 2**31, 2**62, 2**63 - 1]
        return draws.choice([value + 1, value - 1, -1, 0, -(2**63), 2**64, *large])
    if isinstance(value, float):
        return draws.choice([-value, 0.0, float("nan"), float("inf"), 1e308, -1.0, 1e18])
    if isinstance(value, list | tuple) and value:
        items = list(value)
        at = draws.randrange(len(items))
        way = draws.randrange(4)
        if way == 0:
            del items[at]
        elif way == 1:
            items.insert(at, items[at])
        else:
            items[at] = changed(items[at], draws)
        return items if isinstance(value, list) else tuple(items)
    return draws.choice([None, -1, [], [-1], [[-1]], [2**31], np.zeros(0), "x"])


def _array(value: np.ndarray[Any, Any], draws: random.Random) -> Any:
    if not value.size or draws.random() < 0.25:
        return hostile.damaged(value, draws)
    other = value.copy()
    if draws.random() < 0.15:
        return np.resize(other, draws.choice([0, 1, value.size - 1, value.size + 1, 2 * value.size])).astype(
            value.dtype
        )
    if value.dtype.kind == "f":
        choice: list[Any] = [np.nan, np.inf, -np.inf, -1.0, 0.0, 1e308, 5e-324, 2.0]
    elif value.dtype.kind == "b":
        choice = [True, False]
    else:
        most = np.iinfo(value.dtype)
        old = int(value.max())
        choice = [
            n for n in (-1, ~0, old + 1, old + 7, 0, most.max, most.min, most.max - 1) if most.min <= n <= most.max
        ]
    for _ in range(draws.choice((1, 1, 3))):
        other.flat[draws.randrange(value.size)] = draws.choice(choice)
    return other


def _again(value: Any, made: dict[int, Any]) -> Any:
    if isinstance(value, Made):
        return made[value.call]
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, list):
        return [_again(item, made) for item in value]
    if type(value) is tuple:
        return tuple(_again(item, made) for item in value)
    return value


def run(calls: dict[int, Call]) -> None:
    """Make the calls of a chain."""
    made: dict[int, Any] = {}
    for at, call in calls.items():
        arguments = [_again(value, made) for value in call.arguments]
        named = {key: _again(value, made) for key, value in call.named.items()}
        of = getattr(_core, call.name) if call.of is None else getattr(made[call.of.call], call.name.partition(".")[2])
        made[at] = of(*arguments, **named)


def case(seed: int) -> Case:
    """Return the case of a seed."""
    draws = random.Random(f"core {seed}")
    calls = tape().calls
    name = draws.choice(sorted({call.name for call in calls}))
    last = draws.choice([at for at, call in enumerate(calls) if call.name == name])
    chain = {at: calls[at] for at in tape().chain(last)}
    at = last if draws.random() < 0.5 else draws.choice(list(chain))
    call = chain[at]
    long = any(word in call.name for word in LONG)
    which = draws.randrange(max(1, len(call.arguments) + len(call.named)))
    arguments, named = list(call.arguments), dict(call.named)
    if which < len(arguments):
        arguments[which] = changed(arguments[which], draws, long=long)
        what = f"argument {which} = {hostile.shown(arguments[which])}"
    elif named:
        key = list(named)[which - len(arguments)]
        named[key] = changed(named[key], draws, long=long)
        what = f"{key} = {hostile.shown(named[key])}"
    else:
        what = "nothing"
    chain[at] = call._replace(arguments=tuple(arguments), named=named)
    return Case(f"{call.name} with {what}, then {name}", lambda: run(chain), (ValueError, TypeError, MemoryError))
