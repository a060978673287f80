"""The graph that tables are compared by: that of their rows together, learned once, and of many rows from some."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.compare import graph_of_tables as module
from fishernet.compare.graph_of_tables import graph_of_tables, network_of_both
from fishernet.data.pooling import stacked

ASIA = fn.datasets.load("asia")
X, Y = ASIA.sample(300, seed=1), ASIA.sample(171, seed=2)


def with_holes(table: fn.Table) -> fn.Table:
    frame = table.to_pandas()
    return fn.Table.from_frame(frame.mask(np.random.default_rng(0).random(frame.shape) < 0.1), schema=table.variables)


def numbers(n: int, seed: int) -> fn.Table:
    x = np.random.default_rng(seed).standard_normal((n, 3))
    return fn.Table.from_frame({f"v{i}": column for i, column in enumerate((x + x[:, :1]).T)})


TABLES = {
    "complete": (X, Y),
    "holes": (with_holes(X), with_holes(Y)),
    "numbers": (numbers(70, 1), numbers(130, 2)),
}


@pytest.mark.parametrize("kind", TABLES)
def test_the_network_of_both_tables_is_that_of_their_rows_together(kind: str) -> None:
    one, other = TABLES[kind]
    names = sorted(one.names)
    both = stacked([one.select(names), other.select(names)])
    expected = fn.learn.bayesian_network(both, seed=0)
    found = network_of_both(one, other)
    assert found.dag == expected.dag
    assert found == expected or kind == "numbers"  # whose sums hang on the order of the rows
    shuffled = one[np.random.default_rng(3).permutation(one.n_rows)]
    assert graph_of_tables([shuffled, other]) == graph_of_tables([one, other])


def test_a_graph_of_the_same_tables_is_learned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = ASIA.sample(200, seed=11), ASIA.sample(200, seed=12)
    learned: list[Any] = []

    def structure(rows: fn.Table, **how: Any) -> Any:
        learned.append(rows)
        return fn.learn.structure(rows, **how)

    monkeypatch.setattr(module, "structure", structure)
    fn.compare.two_sample_test(one, other, permutations=19, seed=1)
    fn.compare.explain_change(one, other, permutations=19, resamples=2)
    assert len(learned) == 1
    fn.compare.explain_change(one, ASIA.sample(200, seed=13), permutations=19, resamples=2)
    assert len(learned) == 2


def test_of_many_rows_the_graph_is_learned_from_some_and_all_are_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = ASIA.sample(3000, seed=1), fn.infer.intervene(ASIA, {"smoke": "yes"}).sample(1000, seed=2)
    whole = fn.compare.explain_change(one, other, permutations=99, resamples=20)
    assert whole.n_learned is None
    assert whole.told_of_rows() is None
    monkeypatch.setattr(module, "MOST_LEARNED", 1500)
    found = fn.compare.explain_change(one, other, permutations=99, resamples=20)
    assert found.n_learned == 1500
    assert str(found.told_of_rows()).startswith("the graph was learned from 1,500 of 4,000 rows, drawn at random; ")
    assert found.n_rows == (3000, 1000)
    assert found.by_variable["smoke"].marginal_p == whole.by_variable["smoke"].marginal_p
    assert "smoke" in found.changed()
    some = module._drawn([one, other])
    assert sum(table.n_rows for table in some) == 1500
    assert abs(some[0].n_rows - 1125) < 5 * np.sqrt(1500 * 0.75 * 0.25)  # drawn from all rows together
    kernel: Any = fn.compare.two_sample_test(one, other, permutations=19, seed=1).kernel
    assert kernel.model.n_rows == 4000
