"""Tables that are hard to store: labels with delimiters, quotes and line ends, or that look like something else."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from fishernet import Continuous, Table, Variable

NASTY = [
    *("", " ", "NA", "?", "null", "nan", "missing", "missing_", "1", "1.0", "-0", "007", "1e3", "true", "False"),
    *("a,b", 'a"b', '"', '""', '"quoted"', "a\nb", "a\r\nb", "\n", "\r", "\t", "a\tb", " padded ", "'", "\\", "\\n"),
    *(
        "é",
        "日本",
        "\N{BYTE ORDER MARK}x",
        "\u2028",
        "\x85",
        "\x00",
        "\x1f",
        "🂡",
        "a;b",
        "#",
        "%",
        "{x}",
        "=1+1",
        "<= 2",
    ),
]

texts = st.sampled_from(NASTY) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
integers = st.integers(-(2**62), 2**62) | st.integers(-3, 3)
floats = st.floats(allow_nan=False, allow_infinity=False)
names = texts.filter(bool)

state_lists = st.one_of(
    st.lists(texts, min_size=1, max_size=6, unique=True),
    st.lists(integers, min_size=1, max_size=6, unique=True),
    st.lists(floats, min_size=1, max_size=6, unique=True),
    st.permutations([True, False]),
    st.just([True]),
)


@st.composite
def variables(draw: st.DrawFn, name: str) -> Variable:
    """A variable of hostile labels, or of bins."""
    if draw(st.integers(0, 4)):
        return Variable(name, draw(state_lists))
    cuts = sorted(draw(st.lists(st.integers(-9, 9), max_size=3, unique=True)))
    labels = [f"bin {k}" for k in range(len(cuts) + 1)]
    return Variable(name, [*labels, "missing"] if draw(st.booleans()) else labels, cuts)


@st.composite
def hostile_tables(draw: st.DrawFn, *, missing: bool = True, numbers: bool = False) -> Table:
    """A small table of hostile names and labels: unobserved states, perhaps weights and missing cells, or no rows.

    With numbers, columns may be continuous: numbers of any size, whole or not.
    """
    chosen = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    found = [draw(variables(name)) for name in chosen]
    n_rows = draw(st.integers(0, 7))
    columns = [
        draw(st.lists(st.integers(0, v.cardinality - (not missing)), min_size=n_rows, max_size=n_rows)) for v in found
    ]
    weights = draw(st.none() | st.lists(st.integers(0, 5), min_size=n_rows, max_size=n_rows))
    codes = np.array(columns, dtype=np.int64).reshape(len(found), n_rows).T
    table = Table.from_codes(codes, found, weights=weights)
    if not numbers:
        return table
    cells = floats.map(lambda x: x + 0.0) | integers.map(float) | (st.just(np.nan) if missing else floats)
    for position, name in enumerate(table.names):
        if draw(st.booleans()):
            column = np.array(draw(st.lists(cells, min_size=n_rows, max_size=n_rows)), dtype=np.float64)
            table = Table(
                [*table.variables[:position], Continuous(name), *table.variables[position + 1 :]],
                [*table.codes[:position], column, *table.codes[position + 1 :]],
                weights=table.weights,
                n_rows=n_rows,
            )
    return table


def exact(table: Table) -> tuple[Any, ...]:
    """What must be the same in two equal tables, types of states included (``1 == True`` in Python)."""
    codes = [(column.dtype, column.tobytes()) for column in table.codes]
    weights = None if table.weights is None else table.weights.tolist()
    return repr(table.variables), codes, weights, table.n_rows


def labels(table: Table) -> dict[str, list[Any]]:
    """The label of every cell, by column; None in a missing cell."""
    return {name: [None if label != label else label for label in table[name].tolist()] for name in table.names}
