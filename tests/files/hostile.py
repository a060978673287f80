"""Models that are hard to store: labels of mixed types and any characters, extreme numbers, every conditional."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fishernet import (
    BayesianNetwork,
    DependencyNetwork,
    GaussianMixture,
    MarkovChain,
    MarkovNetwork,
    NumericHiddenMarkovModel,
    UndirectedGraph,
    Variable,
)
from fishernet.models import (
    Alphabet,
    Conditional,
    FullTable,
    GaussianEmission,
    MergedTable,
    PoissonEmission,
    ProductConditional,
)

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
def values(draw: st.DrawFn, shape: Sequence[int]) -> np.ndarray:
    """Numbers from 0 to the largest there is."""
    cells = math.prod(shape)
    numbers = st.floats(0, allow_infinity=False) | st.sampled_from([5e-324, 1e-300, 1 / 3, 1e308])
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
        factors.append((axes, draw(values([every[v].cardinality for v in axes]))))
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
        factors.append(([every[v].name for v in axes], draw(values(shape))))
    return MarkovNetwork(every, factors)


@st.composite
def graphs(draw: st.DrawFn) -> UndirectedGraph:
    names = draw(st.lists(texts(), max_size=6, unique=True))
    pairs = [(a, b) for i, a in enumerate(names) for b in names[:i]]
    return UndirectedGraph.from_edges(names, draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])


@st.composite
def hostile_chains(draw: st.DrawFn) -> MarkovChain:
    symbols = [s for s in draw(states()) if not isinstance(s, int) or abs(s) < 2**63]
    alphabet = Alphabet(symbols or ["a"], unknown=(symbols or ["a"])[-1] if draw(st.booleans()) else None)
    order, end, m = draw(st.integers(0, 2)), draw(st.booleans()), len(alphabet)
    table = np.array([draw(rows(m + end)) for _ in range(m**order)]).reshape((m,) * order + (m + end,))
    start = np.array(draw(rows(m**order))).reshape((m,) * order)
    return MarkovChain(alphabet, order, table, end=end, start=start)


@st.composite
def mixtures(draw: st.DrawFn) -> GaussianMixture:
    weights = draw(st.integers(1, 4).flatmap(rows))
    finite = st.floats(allow_nan=False, allow_infinity=False)
    means = draw(st.lists(finite, min_size=len(weights), max_size=len(weights)))
    return GaussianMixture(weights, means, draw(st.floats(0, exclude_min=True, allow_infinity=False)))


@st.composite
def numeric_hmms(draw: st.DrawFn) -> NumericHiddenMarkovModel:
    k = draw(st.integers(1, 3))
    shares = np.array(draw(st.lists(st.integers(1, 9), min_size=k * (k + 1), max_size=k * (k + 1)))).reshape(k + 1, k)
    initial, *rows = shares / shares.sum(axis=1, keepdims=True)
    finite = st.floats(allow_nan=False, allow_infinity=False)
    positive = st.floats(0, exclude_min=True, allow_infinity=False)
    level, sd = ([draw(of) for _ in range(k)] for of in (finite, positive))
    counts = PoissonEmission([draw(positive) for _ in range(k)], names=["n"])
    return NumericHiddenMarkovModel(initial, rows, [GaussianEmission(level, sd), counts])


PARTS: dict[str, str] = {
    "Alphabet": "symbols unknown",
    "BayesianNetwork": "variables conditionals n_rows",
    "Continuous": "name",
    "DependencyNetwork": "variables conditionals n_rows allow_zeros",
    "FullTable": "child parents variables probabilities",
    "Gaussian": "mean sd",
    "GaussianMarkovNetwork": "names mean precision",
    "GaussianMixture": "weights means sd",
    "HiddenMarkovModel": "alphabet initial transition emission empty final",
    "NumericHiddenMarkovModel": "initial transition emissions",
    "GaussianEmission": "intercept sd coefficients weights names",
    "PoissonEmission": "rate names",
    "LabelEmission": "probabilities_of_labels variable",
    "HiddenTree": "shape alphabet missing arity branch_tables root transition emission",
    "ConditionalGaussian": "child parents variables intercept coefficients sd",
    "MarkovChain": "alphabet order end start transition",
    "MarkovNetwork": "variables potentials",
    "MergedTable": "child parents variables group_of probabilities",
    "ProductConditional": "child parents variables factors",
    "Split": "variable branches children",
    "TreeConditional": "child parents variables tree probabilities",
    "TreeShape": "first child",
    "UndirectedGraph": "names edges",
    "Variable": "name states cuts",
}
"""What each thing consists of."""


def exact(thing: Any) -> Any:
    """Everything a model consists of, down to the bits and the types."""
    if isinstance(thing, np.ndarray):
        return thing.shape, thing.tobytes()
    if isinstance(thing, str | int | float | None):
        return type(thing), thing.hex() if isinstance(thing, float) else thing
    if isinstance(thing, list | tuple):
        return [exact(part) for part in thing]
    return type(thing), [exact(getattr(thing, name)) for name in PARTS[type(thing).__name__].split()]


def in_full(net: BayesianNetwork) -> BayesianNetwork:
    """The same network with every table in full."""
    full = [
        FullTable(c.child, c.parents, c.variables, c.table().reshape(-1, c.variables[-1].cardinality))
        for c in net.conditionals
    ]
    return BayesianNetwork(net.variables, full, n_rows=net.n_rows)
