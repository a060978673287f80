"""Lists of families as arrays: what is taken of them is what is taken of lists."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fishernet.scores.base import Families

PAIRS = st.lists(
    st.integers(0, 6).flatmap(
        lambda child: st.tuples(st.just(child), st.sets(st.integers(0, 6).filter(lambda v: v != child)))
    ),
    max_size=12,
)


@given(PAIRS)
def test_arrays_are_lists(pairs: list[tuple[int, set[int]]]) -> None:
    families, own = Families.from_pairs([(c, tuple(p)) for c, p in pairs]), [(c, tuple(sorted(p))) for c, p in pairs]
    assert list(families) == own
    order = np.random.default_rng(len(pairs)).permutation(len(pairs))[: len(pairs) // 2 + 1]
    assert list(families.take(order)) == [own[f] for f in order.tolist()]
    assert families.owners.tolist() == [f for f, (_, parents) in enumerate(own) for _ in parents]
    states = np.array([1.0, 2, 3, 4, 5, 6, 7])
    assert families.configurations(states).tolist() == [math.prod([v + 1 for v in parents]) for _, parents in own]
