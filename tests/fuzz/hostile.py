"""Values that no function asked for, and valid ones with something wrong inside."""

from __future__ import annotations

import datetime
import decimal
import random
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import fishernet as fn

HUGE = (2**31, 2**32, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**30)


class Silent:
    """An object that can do nothing."""

    __slots__ = ()


def _deep() -> list[Any]:
    inner: list[Any] = []
    for _ in range(5000):
        inner = [inner]
    return inner


def _circle() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


VALUES: list[Callable[[], Any]] = [
    lambda: None,
    lambda: True,
    lambda: -1,
    lambda: 0,
    lambda: 1,
    *(lambda n=n: n for n in HUGE),
    lambda: 0.5,
    lambda: -1.5,
    lambda: float("inf"),
    lambda: -float("inf"),
    lambda: float("nan"),
    lambda: 1e308,
    lambda: 5e-324,
    lambda: 1j,
    lambda: decimal.Decimal("NaN"),
    lambda: np.float32("nan"),
    lambda: np.int64(-1),
    lambda: np.uint64(2**64 - 1),
    lambda: np.str_("asia"),
    lambda: np.array(3),
    lambda: "",
    lambda: "no such thing",
    lambda: "\ud83d",
    lambda: "a\x00b",
    lambda: "9" * 5000,
    lambda: b"asia",
    lambda: bytearray(b"asia"),
    list,
    tuple,
    dict,
    set,
    lambda: [[]],
    lambda: [None],
    lambda: ["asia", "asia"],
    lambda: ["asia", None],
    lambda: ["asia", 3],
    lambda: [2**63],
    lambda: [float("nan")],
    lambda: [[1, 2], [3]],
    lambda: [["asia"]],
    lambda: (0, "x"),
    lambda: {"asia": None},
    lambda: {"asia": "no such state"},
    lambda: {"asia": []},
    lambda: {"asia": 2**63},
    lambda: {None: None},
    lambda: {"no such variable": 1},
    lambda: {3: 4},
    lambda: {"asia", "smoke"},
    _deep,
    _circle,
    lambda: (name for name in ["asia", "smoke"]),
    lambda: iter([]),
    lambda: range(3),
    lambda: np.zeros(0),
    lambda: np.zeros((0, 0)),
    lambda: np.zeros((3, 0)),
    lambda: np.zeros((2, 2, 2)),
    lambda: np.full((4, 2), np.nan),
    lambda: np.full(3, np.inf),
    lambda: np.full((3, 8), 2**62),
    lambda: np.full((3, 8), -1),
    lambda: np.array(["asia", None], dtype=object),
    lambda: np.array([Silent(), Silent()]),
    lambda: np.array([1 + 2j]),
    lambda: np.array(["2001-01-01"], dtype="datetime64[D]"),
    lambda: np.zeros(3, dtype=[("a", "i4")]),
    lambda: np.ma.masked_array([1.0, 2.0], [True, False]),
    lambda: np.broadcast_to(np.zeros(1), (3, 8)),
    pd.DataFrame,
    lambda: pd.DataFrame({"asia": [1, 2], "smoke": ["x", None]}),
    lambda: pd.DataFrame({"a": [[1], [2]], "b": [Silent(), {}]}),
    lambda: pd.DataFrame(np.zeros((3, 2)), columns=["a", "a"]),
    lambda: pd.DataFrame(np.zeros((30, 40))),
    lambda: pd.Series([1, 2]),
    lambda: pd.NA,
    lambda: pd.Timestamp("2001-01-01"),
    lambda: datetime.date(2001, 1, 1),
    lambda: fn.datasets.load("asia"),
    lambda: fn.datasets.load("nursery")[:9],
    lambda: fn.Table.from_codes(np.zeros((0, 1), int), [fn.Variable("asia", ["no"])]),
    lambda: fn.Table.from_frame({"a": [0.1, None, 0.3], "b": ["x", None, "y"]}),
    lambda: fn.Variable("asia", ["no"]),
    lambda: fn.Continuous("asia"),
    lambda: fn.Dag.from_edges(["a"], []),
    lambda: fn.UndirectedGraph.from_edges(["a", "b"], [("a", "b")]),
    lambda: fn.Gaussian(0, 1),
    lambda: fn.MarkovNetwork([], []),
    lambda: fn.MarkovChain("ab", 0, [0.5, 0.5]),
    lambda: fn.FishernetError,
    lambda: fn.FishernetError("one"),
    lambda: fn.Table,
    lambda: print,
    lambda: lambda *_: None,
    lambda: ...,
    lambda: NotImplemented,
    lambda: type,
    lambda: random,
    Silent,
]


def value(draws: random.Random) -> Any:
    """Return something that is not what was asked for."""
    return draws.choice(VALUES)()


def damaged(valid: Any, draws: random.Random) -> Any:
    """Return a valid value with something wrong about it; anything at all where nothing can be."""
    if isinstance(valid, np.ndarray):
        return _array(valid, draws)
    if isinstance(valid, bool) or valid is None:
        return value(draws)
    if isinstance(valid, int | float):
        beyond = isinstance(valid, int) and abs(valid) >= 10**300  # no float, and no text of digits
        others = [] if beyond else [valid + 0.5, valid * 10**12, str(valid)]
        return draws.choice([valid + 1, -valid, float("nan"), [valid], *others])
    if isinstance(valid, str):
        raw = valid.encode("utf-8", "surrogatepass")
        return draws.choice([valid + "x", valid.upper(), valid * 3, valid[:1], [valid], raw, {valid: valid}])
    if isinstance(valid, list | tuple) and valid:
        return _sequence(valid, draws)
    if isinstance(valid, dict) and valid:
        return _mapping(valid, draws)
    return value(draws)


def _array(valid: np.ndarray[Any, Any], draws: random.Random) -> Any:
    ways: list[Callable[[], Any]] = [
        lambda: valid[:-1],
        lambda: np.concatenate([valid, valid]),
        lambda: valid[..., None],
        lambda: valid.T,
        lambda: valid[:0],
        lambda: valid.astype(object),
        lambda: valid.astype(str),
        lambda: valid.astype(np.int8, casting="unsafe"),
        lambda: valid.astype(np.float32),
        lambda: valid.tolist(),
        lambda: -valid.astype(float),
        lambda: valid.reshape(-1),
    ]
    if valid.dtype.kind in "iuf" and valid.size and draws.random() < 0.5:
        other = valid.astype(float) if valid.dtype.kind == "f" else valid.astype(np.int64)
        wrong = [np.nan, np.inf, -1.0, 1e308] if valid.dtype.kind == "f" else [-1, 2**62, int(valid.max()) + 1]
        other.flat[draws.randrange(valid.size)] = draws.choice(wrong)
        return other
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return draws.choice(ways)()
    except (TypeError, ValueError, OverflowError, IndexError):  # words and objects are no numbers; one has no rows
        return valid.tolist()


def _sequence(valid: list[Any] | tuple[Any, ...], draws: random.Random) -> Any:
    items = list(valid)
    at = draws.randrange(len(items))
    way = draws.randrange(6)
    if way == 0:
        del items[at]
    elif way == 1:
        items.insert(at, items[at])
    elif way == 2:
        items[at] = damaged(items[at], draws)
    elif way == 3:
        items[at] = value(draws)
    elif way == 4:
        return dict.fromkeys(map(shown, items))
    else:
        return (item for item in items)
    return type(valid)(items) if type(valid) in (list, tuple) else items


def _mapping(valid: dict[Any, Any], draws: random.Random) -> Any:
    items = dict(valid)
    key = draws.choice(list(items))
    way = draws.randrange(5)
    if way == 0:
        del items[key]
    elif way == 1:
        items[key] = damaged(items[key], draws)
    elif way == 2:
        items[key] = value(draws)
    elif way == 3:
        items[3] = items.pop(key)
    else:
        return list(items)
    return items


def shown(given: Any) -> str:
    """Return a value in a few letters."""
    try:
        text = " ".join(re.sub(" at 0x[0-9a-f]+", "", repr(given)).split())  # the same in every process
    except Exception as error:  # an error of the value itself
        text = f"<{type(given).__name__}: {type(error).__name__}>"
    return text if len(text) <= 60 else f"{type(given).__name__} {text[:50]}..."
