"""Random tables for tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from fishernet import Table, Variable


def random_table(
    seed: int,
    n_rows: int,
    cardinalities: list[int],
    *,
    weighted: bool = False,
    missing: float = 0.0,
    dependence: float = 0.6,
) -> Table:
    """A table whose columns copy an earlier column now and then, so that there is something to learn."""
    rng = np.random.default_rng(seed)
    columns: list[np.ndarray] = []
    for v, r in enumerate(cardinalities):
        fresh = rng.choice(r, size=n_rows, p=rng.dirichlet(np.ones(r)))
        if v and rng.random() < 0.8:
            source = columns[rng.integers(v)] % r
            fresh = np.where(rng.random(n_rows) < dependence, source, fresh)
        columns.append(fresh)
    codes = np.stack(columns, axis=1) if columns else np.zeros((n_rows, 0), dtype=int)
    if missing:
        codes = np.where(rng.random(codes.shape) < missing, np.array(cardinalities), codes)
    weights = rng.integers(0, 4, size=n_rows) if weighted else None
    variables = [Variable(f"v{i}", [f"s{k}" for k in range(r)]) for i, r in enumerate(cardinalities)]
    return Table.from_codes(codes, variables, weights=weights)


@st.composite
def tables(
    draw: st.DrawFn, *, most_variables: int = 5, most_rows: int = 60, missing: bool = False, weights: bool = True
) -> Table:
    """Small tables: any number of rows from 0, one state, unobserved states, weights, perhaps missing cells."""
    cardinalities = draw(st.lists(st.integers(1, 5), min_size=1, max_size=most_variables))
    return random_table(
        draw(st.integers(0, 2**32)),
        draw(st.integers(0, most_rows)),
        cardinalities,
        weighted=weights and draw(st.booleans()),
        missing=draw(st.sampled_from([0.0, 0.2])) if missing else 0.0,
    )
