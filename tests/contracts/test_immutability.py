"""What was made of the caller's arrays and lists does not change with them, nor with what it hands out."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.models.conditionals import FullTable, MergedTable, ProductConditional, Split, TreeConditional

# ------------------------------------------------------------------- what is made, of what, and what it then says
# One entry a class: how it is made of what the caller holds, what the caller holds, and what an object says of itself.

X = fn.Variable("x", ["a", "b"])
Y = fn.Variable("y", ["a", "b", "c"])
ROWS = np.array([[0, 0], [1, 1], [1, 2], [0, 1]])
FLIP = [[0.9, 0.1], [0.2, 0.8]]
SIX = np.arange(1, 7).reshape(2, 3) / np.array([[6.0], [15.0]])
STRINGS = ["ab", "b", "aab"]
TABLE = fn.Table.from_codes(ROWS, [X, Y])


def array(*values: Any, dtype: Any = None) -> np.ndarray:
    return np.array(values, dtype=dtype)


def read(of: Any) -> list[Any]:
    """The columns, weights and some answers of a table."""
    return [of.variables, list(of.codes), of.weights, of.missing_counts(), fn.score(fn.Dag(of.names, [(), ()]), of)]


def conditional(of: Any) -> list[Any]:
    return [of.variables, of.parents, of.probabilities, of.table(), of.groups(TABLE)]


def string_model(of: Any) -> list[Any]:
    return [of.alphabet, of.log_prob(STRINGS), of.fisher_scores(STRINGS)]


def codes() -> list[np.ndarray]:
    return [array(0, 1, 1, 0, dtype=np.uint8), array(0, 1, 2, 1, dtype=np.uint8)]


Case = tuple[Callable[..., Any], Callable[[], list[Any]], Callable[[Any], Any]]
CASES: dict[str, Case] = {
    "Variable": (
        lambda states, cuts: fn.Variable("x", states, cuts),
        lambda: [["<= 1", "<= 2", "> 2"], [1.0, 2.0]],
        lambda of: [of.states, of.cuts, of.bin(array(0.0, 1.5, 7.0))],
    ),
    "Table": (
        lambda variables, columns, weights: fn.Table(variables, columns, weights=weights),
        lambda: [[X, Y], codes(), array(1, 2, 1, 1)],
        read,
    ),
    "Table of read-only views": (
        lambda columns: fn.Table([X, Y], [_locked(column) for column in columns]),
        lambda: [codes()],
        read,
    ),
    "Table.from_codes": (
        lambda rows, weights: fn.Table.from_codes(rows, [X, Y], weights=weights),
        lambda: [ROWS.astype(np.uint8), array(1, 2, 1, 1)],
        read,
    ),
    "Table.from_codes of one column": (
        lambda rows: fn.Table.from_codes(rows),
        lambda: [np.asfortranarray(ROWS, dtype=np.uint8)],
        read,
    ),
    "Table.from_frame": (
        lambda frame: fn.Table.from_frame(frame, weights="w"),
        lambda: [{"x": array(0, 1, 1, 0), "y": array("a", "b", "c", "b", dtype=object), "w": array(1, 2, 1, 1)}],
        read,
    ),
    "Statistic": (
        lambda values: fn.data.Statistic((0, 1), (2, 3), values, None),
        lambda: [np.arange(6).reshape(2, 3)],
        lambda of: [of.counts, of.total, of.marginal((0,)).counts],
    ),
    "Statistic of the cells that occur": (
        lambda values, states: fn.data.Statistic((0, 1), (2, 3), values, states),
        lambda: [array(4, 1), array([0, 1], [1, 1], dtype=np.uint32)],
        lambda of: [of.counts, of.states, of.table()],
    ),
    "Scatter": (
        fn.data.Scatter,
        lambda: [5, array(0.0, 1.0), array([2.0, 0.5], [0.5, 3.0]), ["a", "b"]],
        lambda of: [of.names, of.mean, of.S, of.uncentred],
    ),
    "Dag": (fn.Dag, lambda: [["a", "b"], [[], [0]]], lambda of: [of.names, of.parents, of.edges]),
    "Cpdag": (fn.Cpdag, lambda: [["a", "b"], [], [["a", "b"]]], lambda of: [of.names, of.directed, of.undirected]),
    "UndirectedGraph": (fn.UndirectedGraph, lambda: [["a", "b"], [[1], [0]]], lambda of: [of.names, of.edges]),
    "FullTable": (lambda *of: FullTable(1, *of), lambda: [[0], [X, Y], SIX.copy()], conditional),
    "MergedTable": (
        lambda *of: MergedTable(1, *of),
        lambda: [[0], [X, Y], array(1, 0, dtype=np.int32), SIX.copy()],
        conditional,
    ),
    "TreeConditional": (
        lambda parents, variables, branches, children, rows: TreeConditional(
            1, parents, variables, Split(0, branches, children), rows
        ),
        lambda: [[0], [X, Y], [1, 0], [0, 1], SIX.copy()],
        conditional,
    ),
    "ProductConditional": (
        lambda *of: ProductConditional(1, *of),
        lambda: [[0], [X, Y], [[[0, 1], SIX.copy()], [[1], array(0.2, 0.3, 0.5)]]],
        lambda of: [of.variables, of.parents, of.probabilities],
    ),
    "BayesianNetwork": (
        fn.BayesianNetwork,
        lambda: [[X, Y], [FullTable(0, (), [X], [[0.4, 0.6]]), FullTable(1, (0,), [X, Y], SIX)]],
        lambda of: [of.variables, of.log_prob(TABLE)],
    ),
    "BayesianNetwork.from_tables": (
        fn.BayesianNetwork.from_tables,
        lambda: [[X, Y], {"x": [], "y": ["x"]}, {"x": array(0.4, 0.6), "y": SIX.copy()}],
        lambda of: [of.variables, of.log_prob(TABLE), of.dag],
    ),
    "DependencyNetwork": (
        fn.DependencyNetwork,
        lambda: [[X, Y], [FullTable(0, (1,), [Y, X], [[0.4, 0.6]] * 3), FullTable(1, (0,), [X, Y], SIX)]],
        lambda of: [of.variables, of.inputs, of.sample(20, seed=1)],
    ),
    "MarkovNetwork": (
        fn.MarkovNetwork,
        lambda: [[X, Y], [[["x", "y"], SIX.copy()], [["x"], array(1.0, 2.0)]]],
        lambda of: [of.variables, list(of.potentials)],
    ),
    "GaussianMixture": (
        fn.GaussianMixture,
        lambda: [array(0.5, 0.5), array(-1.0, 1.0), 1.0],
        lambda of: [of.weights, of.means, of.log_prob([0.3])],
    ),
    "GaussianBayesianNetwork": (
        lambda *of: fn.BayesianNetwork.from_regressions(fn.Dag(["a", "b"], [(), (0,)]), *of),
        lambda: [array(0.0, 1.0), [array(dtype=float), array(2.0)], array(1.0, 0.5)],
        lambda of: [[c.as_regression() for c in of.conditionals], of.log_prob([[1.0, 3.0]]), of.covariance],
    ),
    "GaussianMarkovNetwork": (
        fn.GaussianMarkovNetwork,
        lambda: [["a", "b"], array(0.0, 1.0), array([2.0, -1.0], [-1.0, 2.0])],
        lambda of: [of.names, of.mean, of.precision, of.covariance, of.log_prob([[1.0, 3.0]])],
    ),
    "Alphabet": (fn.models.Alphabet, lambda: [["a", "b"]], lambda of: [of.symbols, of.encode(STRINGS).codes]),
    "HiddenMarkovModel": (
        lambda initial, transition, emission, alphabet, final: fn.HiddenMarkovModel(
            initial, transition, emission, alphabet=alphabet, final=final
        ),
        lambda: [array(0.5, 0.3), np.array(FLIP) * 0.8, np.array(FLIP), ["a", "b"], array(0.2, 0.2)],
        string_model,
    ),
    "NumericHiddenMarkovModel": (
        lambda initial, transition, mean, sd: fn.NumericHiddenMarkovModel(
            initial, transition, fn.models.GaussianEmission(mean, sd)
        ),
        lambda: [array(0.5, 0.5), np.array(FLIP), array(0.0, 1.0), array(1.0, 2.0)],
        lambda of: [of.initial, of.transition, of.emission.intercept, of.emission.sd, of.log_prob([[0.5]])],
    ),
    "MarkovChain": (
        lambda alphabet, transition, start: fn.MarkovChain(alphabet, 1, transition, start=start),
        lambda: [["a", "b"], np.array(FLIP), array(0.3, 0.7)],
        lambda of: [*string_model(of), of.start],
    ),
    "HiddenTree": (
        lambda tree, root, transition, emission, alphabet, arity, tables: fn.HiddenTree(
            tree, root, transition, emission, alphabet=alphabet, arity=arity, branch_tables=tables
        ),
        lambda: [
            [[0], [1]],
            array(0.4, 0.6),
            np.array([FLIP, FLIP[::-1]]),
            np.array(FLIP),
            ["a", "b"],
            array(2, 1),
            array(0, 1, 0, 1),
        ],
        lambda of: [of.root, of.transition, of.emission, of.alphabet, of.log_prob(["ab", "bb"])],
    ),
    "Alignment": (
        fn.models.Alignment,
        lambda: [["one", "two"], ["AC-T", "A-GT"], {"RF": "x.xx"}, {"SS": {"one": "HHHH"}}],
        lambda of: [of.names, of.rows, of.columns, of.residues],
    ),
    "HiddenBinomialKernel": (
        lambda *of: fn.kernels.HiddenBinomialKernel(*of, alphabet="ab"),
        lambda: [array(0.5, 0.5), np.array(FLIP)],
        lambda of: of(["ab", "bb"]),
    ),
    "MarginalizationKernel": (
        fn.kernels.MarginalizationKernel,
        lambda: [[fn.Gaussian(0, 1), fn.Gaussian(2, 1)], array(0.25, 0.75)],
        lambda of: of(array(0.0, 1.5)),
    ),
    "HiddenTreeKernel": (
        fn.kernels.HiddenTreeKernel,
        lambda: [[_tree(0.1), _tree(0.3)], array(0.25, 0.75)],
        lambda of: of(["ab", "bb"]),
    ),
    "FisherKernel with given probabilities": (
        lambda groups: fn.kernels.FisherKernel(_network(), group_probabilities=groups),
        lambda: [[array(1.0), array(0.4, 0.6)]],
        lambda of: of(TABLE),
    ),
    "FisherKernel with rows as reference": (
        lambda rows: fn.kernels.FisherKernel(_network(), metric="empirical", reference=rows),
        lambda: [ROWS.copy()],
        lambda of: of(TABLE),
    ),
    "FisherKernel with numbers as reference": (
        lambda rows: fn.kernels.FisherKernel(fn.Gaussian(0, 1), metric="empirical", reference=rows),
        lambda: [array(-1.0, 0.5, 2.0)],
        lambda of: of(array(0.0, 1.5)),
    ),
    "FisherKernel with strings as reference": (
        lambda rows: fn.kernels.FisherKernel(fn.MarkovChain("ab", 1, FLIP), metric="empirical", reference=rows),
        lambda: [["ab", "ba", "aab", "bba"]],
        lambda of: of(STRINGS),
    ),
}


def _locked(column: np.ndarray) -> np.ndarray:
    view = column.view()
    view.flags.writeable = False
    return view


def _tree(p: float) -> fn.HiddenTree:
    return fn.HiddenTree([[0], [1]], [0.5, 0.5], [[1 - p, p], [p, 1 - p]], FLIP, alphabet="ab")


def _network() -> fn.BayesianNetwork:
    return fn.BayesianNetwork.from_tables([X, Y], {"x": [], "y": ["x"]}, {"x": [0.4, 0.6], "y": SIX})


# ------------------------------------------------------------------------------------------------------- the laws


def spoil(thing: Any) -> None:
    """Overwrite every array and every list that can be reached."""
    if isinstance(thing, np.ndarray) and thing.dtype != object:
        thing[...] = 255 if thing.dtype.kind in "iu" else 0.123
    elif isinstance(thing, list | dict | np.ndarray):
        parts = list(thing.values()) if isinstance(thing, dict) else list(thing)
        for part in parts:
            spoil(part)
        if isinstance(thing, np.ndarray):
            thing[...] = None
        else:
            thing.clear()


def same(a: Any, b: Any) -> bool:
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    return bool(a == b)


@pytest.mark.parametrize("name", CASES)
def test_what_the_caller_overwrites_afterwards_does_not_matter(name: str) -> None:
    make, given, says = CASES[name]
    expected = copy.deepcopy(says(make(*given())))  # never spoilt
    held = given()
    made = make(*held)
    spoil(held)
    assert same(says(made), expected)


@pytest.mark.parametrize("name", CASES)
def test_what_it_hands_out_cannot_change_it(name: str) -> None:
    make, given, says = CASES[name]
    made = make(*given())
    expected = copy.deepcopy(says(made))
    for array in _arrays(made):
        if array.flags.writeable:  # then it must be a copy
            spoil(array)
    assert same(says(made), expected)


def _arrays(of: Any) -> list[np.ndarray]:
    """The arrays among its public attributes."""
    names = [name for name in dir(of) if not name.startswith("_") and not callable(getattr(type(of), name, None))]
    found: list[np.ndarray] = []
    for name in names:
        with suppress(fn.FishernetError):  # what only some of a class have
            value = getattr(of, name)
            parts = value if isinstance(value, tuple | list) else [value]
            found += [part for part in parts if isinstance(part, np.ndarray)]
    return found
