"""What blocks of rows are worth: held beside fits to every set of blocks."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import fishernet as fn
from fishernet.base.errors import MissingValueError, SchemaError
from tests.tables import random_table

DAG = fn.Dag.from_edges(["v0", "v1", "v2"], [("v0", "v1"), ("v1", "v2")])


def test_they_are_the_means_over_all_orders() -> None:
    table, other = (random_table(seed, 90, [2, 3, 2], dependence=0.7) for seed in (1, 2))
    blocks = np.repeat(["a", "b", "c"], 30)
    net = fn.learn.parameters(DAG, table)

    def worth(chosen: tuple[str, ...]) -> float:
        if not chosen:
            return -math.log(2 * 3 * 2)
        part = table[np.flatnonzero(np.isin(blocks, chosen))]
        return float(fn.learn.parameters(DAG, part).log_prob(other).mean())

    expected = dict.fromkeys("abc", 0.0)
    for order in itertools.permutations("abc"):
        for place, label in enumerate(order):
            expected[label] += (worth(order[: place + 1]) - worth(order[:place])) / 6
    found = fn.explain.value_of(net, table, blocks.tolist(), for_=other)
    assert [block.value for block in found] == sorted((block.value for block in found), reverse=True)
    for block in found:
        assert block.value == pytest.approx(expected[block.label], rel=1e-9)
        rest = tuple(other for other in "abc" if other != block.label)
        assert block.lost == pytest.approx(worth(("a", "b", "c")) - worth(rest), rel=1e-7, abs=1e-12)
        assert (block.n_rows, block.standard_error) == (30, 0.0)


def test_they_add_up_to_what_all_rows_are_worth_where_orders_are_drawn() -> None:
    table, other = fn.datasets.load("nursery").split(0.3, seed=1)
    net = fn.learn.bayesian_network(table)
    blocks = (np.arange(table.n_rows) % 12).tolist()
    found = fn.explain.value_of(net, table, blocks, for_=other, permutations=20, seed=1)
    none = -math.log(math.prod(variable.cardinality for variable in table.variables))
    assert sum(block.value for block in found) == pytest.approx(float(net.log_prob(other).mean()) - none, rel=1e-9)
    assert min(block.standard_error for block in found) > 0


def test_what_cannot_be_valued_is_told() -> None:
    table = random_table(1, 30, [2, 2, 2])
    net = fn.learn.parameters(DAG, table)
    with pytest.raises(SchemaError, match="no such column"):
        fn.explain.value_of(net, table, "clinic", for_=table)
    with pytest.raises(SchemaError, match="Bayesian network of labels"):
        fn.explain.value_of(fn.learn.dependency_network(table), table, "v0", for_=table)
    holes = [np.array(column) for column in table.codes]
    holes[0][0] = 2
    with pytest.raises(MissingValueError):
        fn.explain.value_of(net, table, "v1", for_=fn.Table(table.variables, holes))
