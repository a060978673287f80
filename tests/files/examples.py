"""An example or more of every kind of model that can be stored."""

from __future__ import annotations

from typing import Any

import numpy as np

import fishernet as fn
from fishernet.models import Alphabet, FullTable, MergedTable, ProductConditional
from tests.models.test_tree_conditional import bayesian, dependency

MOVE = [[0.7, 0.3], [0.1, 0.9]]
A, B, C = fn.Variable("a", ["x", "y"]), fn.Variable("b", [2.5, True], cuts=[0.5]), fn.Variable("c", ["x", "y", "z"])
PRODUCT = ProductConditional(2, (0, 1), [A, B, C], [((2, 0), [[1, 2], [3, 4], [5, 6]]), ((2, 1), np.full((3, 2), 0.1))])
OF_A, OF_B = FullTable(0, (1,), [B, A], [[0.25, 0.75], [0.5, 0.5]]), MergedTable(1, (0,), [A, B], [0, 0], [[0.5, 0.5]])
DAG = fn.Dag.from_edges(["a", "b", "c"], [("c", "a"), ("b", "a"), ("b", "c")])
EXAMPLES: dict[str, Any] = {
    "asia": fn.datasets.load("asia"),
    "alarm": fn.datasets.load("alarm"),
    "merged": fn.BayesianNetwork([A, B], [FullTable(0, (), [A], [[0.25, 0.75]]), OF_B], n_rows=7),
    "decision trees": bayesian("tree"),
    "regressions": fn.BayesianNetwork.from_regressions(
        DAG, [0.1, 2, 5e-324], [[1 / 3, -2], [], [0.0]], [1, 1e-300, 0.2]
    ),
    "dependency network": fn.DependencyNetwork([A, B, C], [OF_A, OF_B, PRODUCT], n_rows=7),
    "dependency network of trees": dependency("tree"),
    "learned": fn.learn.dependency_network(fn.datasets.load("asia").sample(500, seed=1), smoothing=0, max_inputs=1),
    "Markov network": fn.MarkovNetwork(
        [A, fn.Variable("b", [2.5, True, "z"])], [(("b", "a"), [[1, 2], [3, 4], [5, 6]]), (("a",), [0.1, 5e-324])]
    ),
    "Gaussian Markov network": fn.GaussianMarkovNetwork(
        ["a", 'up, "or" dön', "c"], [0.1, -1e-300, 3e200], [[2, 0, -0.1], [0, 5e-300, 0], [-0.1, 0, 1 / 3]]
    ),
    "fitted to numbers": fn.GaussianMarkovNetwork(["a", "b"], [0, 1], [[2, 1], [1, 2]], n_rows=37.5),
    "minus zero": fn.GaussianMarkovNetwork(["a", "b"], [0, 0], [[1, -0.0], [-0.0, 1]]),
    "normal": fn.Gaussian(-0.0, 5e-324),
    "mixture": fn.GaussianMixture([0.1, 0.9], [-1e300, 1 / 3], 0.5),
    "hidden Markov": fn.HiddenMarkovModel(
        [0.5, 0.25], [[0.5, 0.25], [0.0, 0.5]], [[1.0, 0.0], [0.5, 0.5]], alphabet="ab", final=[0.25, 0.5]
    ),
    "hidden Markov, odd symbols": fn.HiddenMarkovModel(
        [1], [[1]], [[0.25] * 4], alphabet=Alphabet(["1", 1, 2.5, -(2**63)], unknown=1)
    ),
    "hidden Markov of numbers": fn.NumericHiddenMarkovModel(
        [0.5, 0.5],
        [[0.75, 0.25], [0.0, 1.0]],
        [
            fn.models.GaussianEmission(
                [[[0.1, -1e300]], [[1 / 3, 2.0]]],
                [[[5e-300, 1.0]], [[0.5, 3e200]]],
                coefficients=[[[[0.0, 0.0], [-0.1, 0.0]]], [[[0.0, 0.0], [1 / 3, 0.0]]]],
                weights=[[1.0], [1.0]],
                names=["a", 'up, "or" dön'],
            ),
            fn.models.PoissonEmission([[1 / 3], [1e-300]], names=["n"]),
            fn.models.LabelEmission([[0.25, 0.75], [1.0, 0.0]], ["x", 2.5], "road"),
        ],
    ),
    "chain": fn.MarkovChain("ab", 1, [[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]], end=True),
    "hidden tree": fn.HiddenTree(
        [[0, 1], 2],
        [0.4, 0.6],
        np.array([MOVE, [[0.5, 0.5], [0.25, 0.75]]]),
        MOVE,
        alphabet=Alphabet([True, "né"], unknown="né"),
        branch_tables=[1, 0, 1, 0],
    ),
    "hidden tree with arities": fn.HiddenTree(
        [[1, 0], 2],
        [0.25, 0.75],
        [[0.9, 0.1], [0.5, 0.5]],
        [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]],
        alphabet=Alphabet(["A", 1, 2.5], unknown="A"),
        missing="?",
        arity=[2, 1],
    ),
    "graph": fn.UndirectedGraph.from_edges(["a", "b, c", "\n"], [("\n", "a"), ("b, c", "\n")]),
}
