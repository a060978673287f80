"""Networks that are hard to store: labels of mixed types and any characters, extreme numbers, merged tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from fishernet import BayesianNetwork, Variable
from fishernet.models import Conditional, FullTable, MergedTable

NASTY = [
    *(
        "",
        " ",
        "a b",
        "a,b",
        '"',
        '""',
        "\\",
        "\\n",
        "\n",
        "\r\n",
        "\t",
        "}",
        "{",
        ";",
        "|",
        "(",
        ")",
        "a) 0.5",
        "=",
        "#",
    ),
    *("//", "a//b", "/*", "*/", "http://x", "//é", "é", "日本", "\U0001f600", "\u2028", "\ufeff", "\x7f", "\x85", "\0"),
    *("1", "1.0", "True", "1_", "nan", "NA", "?", "default", "table", "property", "variable", "network", "probability"),
    *("str", "int 1", '", int 1', "fishernet_states", "12+", "0-3_days", ">=7.5", "Asy/Patch", "-", "null"),
]
ROWS = [
    [1.0],
    [1.0, 0.0],
    [1.0, -0.0],
    [1 - 2**-53, 2**-53],
    [1.0, 5e-324],
    [1e-300, 1.0],
    [2.2250738585072014e-308, 1.0],
    [1 / 3, 2 / 3],
    [0.1, 0.7, 0.2],
    [1 / 3, 1 / 3, 1 / 3],
    [5e-324, 1 - 2**-53, 1e-300],
    [0.1 + 5e-10, 0.2, 0.3, 0.4],
]


def texts() -> st.SearchStrategy[str]:
    return st.sampled_from(NASTY) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


def states() -> st.SearchStrategy[list[str | int | float | bool]]:
    floats = st.floats(allow_nan=False, allow_infinity=False)
    labels = st.one_of(texts(), st.integers(), st.sampled_from([10**400, -(2**63), 2**64]), floats, st.booleans())
    return st.lists(labels, min_size=1, max_size=4, unique=True)


@st.composite
def variables(draw: st.DrawFn, name: str) -> Variable:
    labels = draw(states())
    cut = st.lists(
        st.floats(allow_nan=False, allow_infinity=False),
        min_size=len(labels) - 1,
        max_size=len(labels) - 1,
        unique=True,
    )
    return Variable(name, labels, sorted(draw(cut)) if draw(st.booleans()) else None)


@st.composite
def rows(draw: st.DrawFn, states: int) -> list[float]:
    extreme = [row for row in ROWS if len(row) == states]
    if draw(st.booleans()) and extreme:
        return draw(st.permutations(draw(st.sampled_from(extreme))))
    weights = np.array(draw(st.lists(st.floats(0, 1), min_size=states, max_size=states)))
    total = weights.sum()
    return (weights / total if total > 1e-300 else np.full(states, 1 / states)).tolist()


@st.composite
def conditionals(draw: st.DrawFn, child: int, every: Sequence[Variable], merged: bool) -> Conditional:
    """The conditional of a variable whose parents are among the earlier ones, in any order."""
    earlier = st.lists(st.integers(0, child - 1), unique=True, max_size=3) if child else st.just([])
    parents = draw(earlier)
    family = [every[v] for v in (*parents, child)]
    states = family[-1].cardinality
    shape = [variable.cardinality for variable in family[:-1]]
    configurations = math.prod(shape)
    if not merged or draw(st.booleans()):
        return FullTable(child, parents, family, [draw(rows(states)) for _ in range(configurations)])
    chosen = draw(st.lists(st.integers(0, 2), min_size=configurations, max_size=configurations))
    _, groups = np.unique(chosen, return_inverse=True)
    table = [draw(rows(states)) for _ in range(int(groups.max()) + 1)]
    return MergedTable(child, parents, family, groups.reshape(shape), table)


@st.composite
def hostile_networks(draw: st.DrawFn, *, merged: bool = True) -> BayesianNetwork:
    names = draw(st.lists(texts(), max_size=6, unique=True))
    every = [draw(variables(name)) for name in names]
    order = draw(st.permutations(range(len(names))))
    every = [every[v] for v in order]
    own = [draw(conditionals(child, every, merged)) for child in range(len(every))]
    return BayesianNetwork(every, own, n_rows=draw(st.none() | st.integers(0, 2**60)))


def exact(net: BayesianNetwork) -> list[object]:
    """Everything a network consists of, down to the bits and the types."""
    labels = [[(type(state), repr(state)) for state in variable.states] for variable in net.variables]
    cuts = [None if v.cuts is None else [cut.hex() for cut in v.cuts] for v in net.variables]
    own = [
        (type(c), c.child, c.parents, c.probabilities.shape, c.probabilities.tobytes(), _groups(c))
        for c in net.conditionals
    ]
    return [net.names, labels, cuts, own, net.n_rows]


def _groups(conditional: Conditional) -> object:
    return conditional.group_of.tolist() if isinstance(conditional, MergedTable) else None


def in_full(net: BayesianNetwork) -> BayesianNetwork:
    """The same network with every table in full."""
    full = [
        FullTable(c.child, c.parents, c.variables, c.table().reshape(-1, c.variables[-1].cardinality))
        for c in net.conditionals
    ]
    return BayesianNetwork(net.variables, full, n_rows=net.n_rows)
