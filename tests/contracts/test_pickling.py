"""Results, models and graphs are pickled and copied, so that a pool of processes can hand them over."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fishernet as fn

NET = fn.datasets.load("asia")
TABLE = NET.sample(300, seed=1)
KERNEL = fn.kernels.FisherKernel(NET)

MADE: dict[str, Callable[[], Any]] = {
    "table": lambda: TABLE,
    "description": TABLE.describe,
    "network": lambda: NET,
    "dag": lambda: NET.dag,
    "cpdag": lambda: fn.graphs.cpdag(NET.dag),
    "moral graph": lambda: fn.graphs.moral(NET.dag),
    "junction tree": lambda: fn.infer.JunctionTree(NET),
    "distribution": lambda: fn.infer.query(NET, ["lung"]),
    "kernel": lambda: KERNEL,
    "structure": lambda: fn.learn.structure(TABLE),
    "selection": lambda: fn.select.greedy_mmd(KERNEL, TABLE, 3, n_starts=2, seed=1),
    "two-sample test": lambda: fn.compare.two_sample_test(TABLE[:150], TABLE[150:], permutations=19, seed=1),
    "score test": lambda: fn.compare.score_test(KERNEL, TABLE),
    "change": lambda: fn.compare.explain_change(TABLE[:150], TABLE[150:], NET.dag, permutations=19, resamples=2),
    "report": lambda: fn.report(TABLE, NET),
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_it_is_pickled_and_copied(make: Callable[[], Any]) -> None:
    made = make()
    for again in (pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made)):
        assert type(again) is type(made)
        assert repr(again) == repr(made)


def test_a_junction_tree_answers_as_before() -> None:
    tree = fn.infer.JunctionTree(NET, max_table=10_000)
    again = pickle.loads(pickle.dumps(tree))
    assert again.log_evidence({"smoke": "yes"}) == tree.log_evidence({"smoke": "yes"})
    assert (again.marginal(["lung"]) == tree.marginal(["lung"])).all()


def test_what_a_result_holds_stays_read_only() -> None:
    found = pickle.loads(pickle.dumps(MADE["two-sample test"]()))
    with pytest.raises(TypeError):
        found.by_variable["asia"] = 0


@pytest.mark.parametrize("kind", ["codes", "numbers", "read"])
def test_columns_cannot_be_made_writeable(kind: str) -> None:
    numbers = fn.Table.from_frame({"asia": [1.5, 2.25, 7.125], "b": [0.5, 1, 2]}, continuous=["asia", "b"])
    tables = {"codes": TABLE, "numbers": numbers, "read": fn.Table.from_frame({"asia": ["x", "y", "x"]})}
    column = np.asarray(tables[kind].column("asia"))
    for array in (column, column.view(), tables[kind][:2].column("asia")):
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)
