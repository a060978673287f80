"""Models that are hard to store: labels of mixed types and any characters, extreme numbers, every conditional."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from fishernet import BayesianNetwork, DependencyNetwork, MarkovNetwork, Variable
from fishernet.models import Conditional, FullTable, MergedTable, ProductConditional

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
def conditionals(
    draw: st.DrawFn, child: int, every: Sequence[Variable], merged: bool, others: Sequence[int]
) -> Conditional:
    """The conditional of a variable whose parents are among some others, in any order."""
    parents = draw(st.lists(st.sampled_from(others), unique=True, max_size=3) if others else st.just([]))
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
def values(draw: st.DrawFn, shape: Sequence[int], *, positive: bool) -> np.ndarray:
    """Numbers from 0 to the largest there is; without 0 when they must be positive."""
    cells = math.prod(shape)
    numbers = st.floats(0, exclude_min=positive, allow_infinity=False) | st.sampled_from([5e-324, 1e-300, 1 / 3, 1e308])
    drawn = draw(st.lists(numbers, min_size=cells, max_size=cells))
    return np.array(drawn).reshape(shape)


@st.composite
def products(draw: st.DrawFn, child: int, every: Sequence[Variable]) -> Conditional:
    """A product of factors over the child and some others, their axes in any order."""
    others = [v for v in range(len(every)) if v != child]
    subsets = st.lists(st.sampled_from(others), unique=True, max_size=2) if others else st.just([])
    factors = []
    for of in draw(st.lists(subsets, min_size=1, max_size=3)):
        axes = draw(st.permutations([*of, child]))
        factors.append((axes, draw(values([every[v].cardinality for v in axes], positive=False))))
    parents = sorted({v for axes, _ in factors for v in axes} - {child})
    return ProductConditional(child, parents, [every[v] for v in (*parents, child)], factors)


@st.composite
def hostile_variables(draw: st.DrawFn) -> list[Variable]:
    names = draw(st.lists(texts(), max_size=6, unique=True))
    return draw(st.permutations([draw(variables(name)) for name in names]))


@st.composite
def hostile_networks(draw: st.DrawFn, *, merged: bool = True) -> BayesianNetwork:
    every = draw(hostile_variables())
    own = [draw(conditionals(child, every, merged, range(child))) for child in range(len(every))]
    return BayesianNetwork(every, own, n_rows=draw(st.none() | st.integers(0, 2**60)))


@st.composite
def hostile_dependency_networks(draw: st.DrawFn) -> DependencyNetwork:
    """Any inputs, cycles among them; full tables, merged tables and products side by side."""
    every = draw(hostile_variables())
    own = []
    for child in range(len(every)):
        others = [v for v in range(len(every)) if v != child]
        own.append(draw(conditionals(child, every, True, others) | products(child, every)))
    zeros = any(
        (numbers == 0).any()
        for c in own
        for numbers in ([f for _, f in c.factors] if isinstance(c, ProductConditional) else [c.probabilities])
    )
    n_rows = draw(st.none() | st.integers(0, 2**60))
    return DependencyNetwork(every, own, n_rows=n_rows, allow_zeros=zeros or draw(st.booleans()))


@st.composite
def hostile_markov_networks(draw: st.DrawFn) -> MarkovNetwork:
    """Factors over up to three variables in any order; some over none, some over the same ones."""
    every = draw(hostile_variables())
    scopes = st.lists(st.sampled_from(range(len(every))), unique=True, max_size=3) if every else st.just([])
    factors = []
    for axes in draw(st.lists(scopes, max_size=4)):
        shape = [every[v].cardinality for v in axes]
        factors.append(([every[v].name for v in axes], draw(values(shape, positive=True))))
    return MarkovNetwork(every, factors)


def exact(net: BayesianNetwork | DependencyNetwork) -> list[object]:
    """Everything a network consists of, down to the bits and the types."""
    zeros = net.allow_zeros if isinstance(net, DependencyNetwork) else None
    own = [(type(c), c.child, c.parents, *_numbers(c)) for c in net.conditionals]
    return [type(net), *exact_variables(net.variables), own, net.n_rows, zeros]


def exact_markov(net: MarkovNetwork) -> list[object]:
    """Everything a Markov network consists of, down to the bits and the types."""
    factors = [(names, array.shape, array.tobytes()) for names, array in net.potentials]
    return [type(net), *exact_variables(net.variables), factors]


def exact_variables(variables: Sequence[Variable]) -> list[object]:
    names = [variable.name for variable in variables]
    labels = [[(type(state), repr(state)) for state in variable.states] for variable in variables]
    return [names, labels, [None if v.cuts is None else [cut.hex() for cut in v.cuts] for v in variables]]


def _numbers(conditional: Conditional) -> tuple[object, ...]:
    if isinstance(conditional, ProductConditional):
        return tuple((axes, array.shape, array.tobytes()) for axes, array in conditional.factors)
    groups = conditional.group_of.tolist() if isinstance(conditional, MergedTable) else None
    return conditional.probabilities.shape, conditional.probabilities.tobytes(), groups


def in_full(net: BayesianNetwork) -> BayesianNetwork:
    """The same network with every table in full."""
    full = [
        FullTable(c.child, c.parents, c.variables, c.table().reshape(-1, c.variables[-1].cardinality))
        for c in net.conditionals
    ]
    return BayesianNetwork(net.variables, full, n_rows=net.n_rows)
