"""Every error of the library survives a pickle and a copy, and so the way out of a worker process."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import pytest

import fishernet as fn
from fishernet.base import errors

# The arguments of each, as the library gives them.
ARGUMENTS: dict[str, Callable[..., Exception]] = {
    "FishernetError": partial(errors.FishernetError, "k must be at least 1, got 0"),
    "SchemaError": partial(errors.SchemaError, "there is no column 'age'"),
    "UnknownStateError": partial(
        errors.UnknownStateError, "column 'x', row 3: no state 'z'", variable="x", label="z", row=3
    ),
    "MissingValueError": partial(errors.MissingValueError, "cells are missing", counts={"age": 2, "sex": 1}),
    "CycleError": partial(errors.CycleError, ["a", "b", "a"]),
    "ZeroProbabilityError": partial(
        errors.ZeroProbabilityError, "P(x = 1 | y = 0) is zero", variable="x", configuration={"y": 0}, state=1
    ),
    "StateSpaceError": partial(
        errors.StateSpaceError, "a table of x", cells=10**12, limit=10**9, remedy="merge states"
    ),
    "FileFormatError": partial(errors.FileFormatError, "a.csv", "has no columns", line=7),
    "ConvergenceError": partial(errors.ConvergenceError, "did not arrive", steps=100, residual=0.25),
    "FishernetWarning": partial(errors.FishernetWarning, "the score saturates"),
}


def state(error: BaseException) -> tuple[object, ...]:
    return type(error), str(error), error.args, vars(error)


def copies(error: Exception) -> list[Exception]:
    pickled = [pickle.loads(pickle.dumps(error, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    return [*pickled, copy.copy(error), copy.deepcopy(error)]


def test_every_class_is_listed() -> None:
    named = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)}
    assert named == set(ARGUMENTS)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_copy_says_the_same(name: str) -> None:
    error = ARGUMENTS[name]()
    error.add_note("in fold 3")
    for other in copies(error):
        assert state(other) == state(error)
        assert other is not error


@pytest.mark.parametrize("name", [name for name in ARGUMENTS if name != "FishernetWarning"])
def test_the_parameter_is_kept(name: str) -> None:
    assert vars(ARGUMENTS[name]())["parameter"] is None
    error = ARGUMENTS[name](parameter="max_parents")
    assert [vars(other)["parameter"] for other in copies(error)] == ["max_parents"] * len(copies(error))


def test_a_class_made_outside_is_kept_too() -> None:
    assert state(pickle.loads(pickle.dumps(Outside(3)))) == state(Outside(3))


class Outside(errors.SchemaError):
    def __init__(self, n: int) -> None:
        super().__init__(f"{n} columns too many")
        self.n = n


# ------------------------------------------------------------------------------------------- pools of processes

# Function, argument, and what must arrive. A pool would wait for ever; the limit is only there to let the test fail.
WAIT = 120
FAILING: list[tuple[Callable[[Any], Any], Any, type[Exception]]] = [
    (fn.read_table, "there is no such file.csv", fn.FileFormatError),
    (partial(fn.Table.from_frame, missing="error"), {"a": ["x", None]}, fn.MissingValueError),
    (partial(fn.Dag.from_edges, ("a", "b")), [("a", "b"), ("b", "a")], fn.CycleError),
]


def test_a_pool_passes_errors_on() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        for function, argument, kind in FAILING:
            with pytest.raises(kind) as here:
                function(argument)
            with pytest.raises(kind) as there:
                pool.map_async(function, [argument]).get(WAIT)
            assert str(there.value) == str(here.value)
            assert vars(there.value).items() >= vars(here.value).items()  # the pool adds where it happened


def test_an_executor_passes_errors_on() -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        with pytest.raises(fn.FileFormatError, match="no such file"):
            pool.submit(fn.read_table, "there is no such file.csv").result(WAIT)
        assert pool.submit(len, "ok").result(WAIT) == 2
