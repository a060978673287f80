"""The core checks what it is given, whoever calls it: positions, offsets and sizes out of range are refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fishernet import _core

NONE = np.zeros(0, dtype=np.int32)
SQUARE = np.zeros((2, 2), dtype=bool)


def i32(*values: int) -> Any:
    return np.array(values, dtype=np.int32)


def i64(*values: int) -> Any:
    return np.array(values, dtype=np.int64)


def columns(*cardinalities: int, n_rows: int = 3) -> Any:
    return _core.Columns([np.zeros(n_rows, np.uint32) for _ in cardinalities], i64(*cardinalities), n_rows)


def conditionals(n_groups: int) -> Any:
    made = _core.Conditionals(i64(4, 2))
    made.add(0, i32(1), n_groups, i32(0, 1))
    return made


def loop() -> Any:
    """Two variables that are each other's parent."""
    made = _core.Factors(i64(2, 2))
    made.add(i32(0, 1), np.full(4, 0.5), True)
    made.add(i32(1, 0), np.full(4, 0.5), True)
    return made


def stationary(inputs: Any, strides: Any) -> Any:
    return _core.Stationary(i64(2, 2), [inputs, NONE], [strides, i64()], [np.ones(8), np.ones(8)], np.zeros(0), 4)


TWO = np.full(2, 2.0)


def moments(**changed: Any) -> Any:
    """Two configurations of one label, with two numbers."""
    arguments: dict[str, Any] = {"labels": i32(0), "numbers": i32(1, 2), "cardinalities": np.array([2], np.uint32)}
    arguments |= {"states": np.array([[0], [1]], np.uint32), "weights": TWO, "means": np.zeros((2, 2))}
    return _core.LabelMoments(**(arguments | {"products": np.zeros((2, 3))} | changed))


def whole() -> Any:
    """One configuration of no label, with the same numbers."""
    none = {"labels": i32(), "cardinalities": np.array([], np.uint32), "states": np.zeros((1, 0), np.uint32)}
    return moments(**none, weights=np.full(1, 4.0), means=np.zeros((1, 2)), products=np.ones((1, 3)))


def store(counted: Any = (), **changed: Any) -> Any:
    """Moments of two numbers beside a label, which a function counts."""
    arguments = {"cardinalities": i64(2, 1, 1), "numbers": i32(1, 2), "total": 4.0, "source": lambda asked: counted}
    return _core.MomentStore(**(arguments | changed))


def of_store(made: Any, child: int = 1, floors: int = 3, parent: int = 0) -> Any:
    columns = _core.MixedColumns(i64(2, 1, 1), i32(1, 2), 4.0, False)
    return _core.MixedScores(columns, made, np.zeros(floors), 1.0, 0.0, None).of_numbers(
        i32(child), i64(0, 1), i32(parent), True
    )


def mixed_scores(labels: Any = None, price: float = 1.0, **changed: Any) -> Any:
    arguments = {"cardinalities": i64(2, 1, 1), "numbers": i32(1, 2), "total": 4.0, "corrected": False}
    columns = _core.MixedColumns(**(arguments | changed))
    return _core.MixedScores(columns, store([whole()]), np.zeros(3), price, 0.0, labels)


def of_labels(n: int) -> Any:
    return _core.SetTerms(columns(*[2] * n), "likelihood", 0.0)


def likelihoods(child: int = 1, of_family: int = 0, floors: int = 3) -> Any:
    return _core.mixed_family_likelihoods([moments()], i32(of_family), np.zeros(floors), i32(child), i64(0, 1), i32(2))


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "offsets beyond the members": (lambda: _core.count(columns(2), i64(0, 10**9, 1), i32(0), 9), "must not fall"),
    "offsets that begin late": (lambda: _core.count(columns(2), i64(1, 1), i32(0), 9), "do not fit"),
    "a member out of range": (lambda: _core.count(columns(2), i64(0, 1), i32(1), 9), "in range"),
    "a member below 0": (lambda: _core.count(columns(2), i64(0, 1), i32(-1), 9), "in range"),
    "states beyond 32 bits": (lambda: columns(2**32 - 1), "a cardinality is out of range"),
    "cells beyond 64 bits": (lambda: conditionals(2**62).cells(columns(4, 2)), "too many cells"),
    "no group": (lambda: conditionals(0), "there must be a group"),
    "a cycle of conditionals": (lambda: _core.FamilyPlan(loop(), [], [], "auto", 1e9), "have a cycle"),
    "a stride beyond theta": (lambda: stationary(i32(1), i64(8)), "theta is too small"),
    "strides beyond 64 bits": (lambda: stationary(i32(*[1] * 9), i64(*[2**31 - 1] * 9)), "theta is too large"),
    "fewer than no parents": (
        lambda: _core.ExactSearch(columns(2, 2), "bdeu", 1.0, -1, SQUARE, SQUARE, TWO, 1e6),
        "number of parents is negative",
    ),
    "a price below 0": (
        lambda: _core.ExactSearch(
            np.zeros(4), np.zeros((1, 4)), i32(0, 0), np.array([0.0, -1.0]), 1, SQUARE, SQUARE, TWO, 1e6
        ),
        "a price for each child",
    ),
    "a price for one child": (
        lambda: _core.ExactSearch(np.zeros(4), np.zeros((1, 4)), i32(0, 0), np.zeros(1), 1, SQUARE, SQUARE, TWO, 1e6),
        "a price for each child",
    ),
    "numbers that fall": (lambda: moments(numbers=i32(2, 1)), "must be ascending"),
    "a state that no label has": (lambda: moments(states=np.array([[0], [2]], np.uint32)), "a state is out of range"),
    "configurations without states": (lambda: moments(states=np.zeros((1, 1), np.uint32)), "needs its states"),
    "a label without cardinality": (lambda: moments(cardinalities=np.zeros(0, np.uint32)), "needs its cardinality"),
    "means of other numbers": (lambda: moments(means=np.zeros((2, 3))), "needs a mean"),
    "products of other numbers": (lambda: moments(products=np.zeros((2, 4))), "the product of each number"),
    "a store without numbers": (lambda: store(numbers=i32()), "no numbers"),
    "a store of a number beyond the columns": (lambda: store(numbers=i32(3)), "out of range"),
    "a store of a column without states": (lambda: store(cardinalities=i64(0, 1, 1)), "no state"),
    "a store that nothing counts for": (lambda: store(source=3), "a function that counts"),
    "a child that is a label": (lambda: of_store(store(), child=0, parent=1), "must be a number"),
    "a store's floor that is lacking": (lambda: of_store(store(), floors=2), "needs a floor"),
    "scores of a number beyond the columns": (lambda: mixed_scores(numbers=i32(3)), "out of range"),
    "scores of a column without states": (lambda: mixed_scores(cardinalities=i64(0, 1, 1)), "no state"),
    "scores of fewer than no rows": (lambda: mixed_scores(total=-1.0), "weights' sum is out of range"),
    "scores of other columns than the moments": (lambda: mixed_scores(numbers=i32(2)), "of other columns"),
    "scores at a price that is no number": (lambda: mixed_scores(price=np.nan), "price must be finite"),
    "scores without those of the labels": (
        lambda: mixed_scores().family_scores(i32(0), i64(0, 0), i32()),
        "labels' scores are lacking",
    ),
    "scores of other labels": (lambda: mixed_scores(labels=of_labels(2)), "labels are others"),
    "a label below a number": (
        lambda: mixed_scores(labels=of_labels(1)).family_scores(i32(0), i64(0, 1), i32(1)),
        "a label has a number among its parents",
    ),
    "moments that were not counted": (lambda: of_store(store()), "lacking"),
    "moments of another set": (lambda: of_store(store([moments()])), "another set"),
    "moments of too many sets": (lambda: of_store(store([whole(), moments()])), "more sets"),
    "a family beyond its moments": (lambda: likelihoods(child=0), "not among the numbers"),
    "a family without moments": (lambda: likelihoods(of_family=1), "not there"),
    "a number without a floor": (lambda: likelihoods(floors=2), "out of range|needs a floor|in range"),
    "its own required parent": (
        lambda: _core.ExactSearch(
            columns(2, 2), "bdeu", 1.0, 1, SQUARE, np.eye(2, dtype=bool), np.full(2, 2.0), 2.0**24
        ),
        "its own required parent",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_out_of_range_is_refused(what: str) -> None:
    call, message = REFUSED[what]
    with pytest.raises(ValueError, match=message):
        call()


def test_blocks_of_strings_are_of_any_size() -> None:
    moves = np.array([[0.9, 0.1], [0.2, 0.8]])
    hmm = _core.HiddenMarkov(np.array([0.5, 0.5]), moves, moves.copy(), None, None, 1.0)
    rows, _ = hmm.derivatives(i32(0, 1), i64(0, 1, 2), 2**63 - 1, True)
    np.testing.assert_array_equal(rows, hmm.derivatives(i32(0, 1), i64(0, 1, 2), 2, True)[0])
    assert rows.shape[0] == 1


@pytest.mark.parametrize("n_states", [2**31 - 1, 2**32 - 2])
def test_few_rows_of_many_states_take_little_memory(n_states: int) -> None:
    """Three rows were counted through a place for each of two thousand million states."""
    script = f"""
import resource, numpy as np
from fishernet import _core
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
codes = np.array([{n_states} - 1, 5, {n_states}, {n_states} - 1, 7], np.uint32)
table = _core.Columns([codes, codes], np.array([{n_states}] * 2, np.int64), 5)
counts, states, left_out = _core.count(table, np.array([0, 2], np.int64), np.array([0, 1], np.int32), 40)[0]
print(counts.tolist(), states.tolist(), left_out)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    last = n_states - 1
    assert run.stdout.strip() == f"[1, 1, 2] [[5, 5], [7, 7], [{last}, {last}]] 1", run.stderr
