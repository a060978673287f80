"""The structures of TAN and KDB(3) for the letters; naive Bayes through scikit-learn's interface, fit and predict.

Only the time of our TAN is the structure's alone: pyAgrum's `BNClassifier` makes a CSV file, counts pairs with its
prior and learns parameters as well, pgmpy's `TreeSearch` is pandas. A tree tells as much as SciPy's best spanning
tree; pyAgrum's may fall short of it by 2 %. A KDB is built anew from the information of all pairs. bnlearn's
`tree.bayes` was measured elsewhere at 7.5 ms on such a table, hence the target of a third of that.
"""

from __future__ import annotations

import importlib

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree

import fishernet as fn
from benchmarks.calls import Array, Call, Data
from benchmarks.race import Race, Told, Verdict, agrees, below, calls_of, same
from benchmarks.sources import letter_half, table_of

TITLE = "Classifiers"


def hand(data: Data) -> tuple[fn.Table, str]:
    return fn.Table.from_codes(data.rows), data.names[-1]


def classifier(data: Data) -> tuple[object, ...]:
    """Return naive Bayes as scikit-learn's users see it, the features and the classes."""
    module = importlib.import_module("fishernet.sklearn")  # only here is scikit-learn wanted
    return (module.BayesianNetworkClassifier("nb", smoothing=1.0, bins=None), *data.split())


TAN = Call(hand, lambda handed: fn.learn.tan(*handed), lambda dag, _: dag.parents)
KDB = Call(hand, lambda handed: fn.learn.kdb(handed[0], handed[1], 3), lambda dag, _: dag.parents)
NAIVE_BAYES = Call(classifier, lambda handed: handed[0].fit(*handed[1:]).predict_proba(handed[1]))


def information(data: Data) -> tuple[Array, Array]:
    """Return N times the information of two features given the class, and of a feature and the class."""
    table, (*features, target) = table_of(data), data.names

    def log_likelihood(child: str, *parents: str) -> float:
        return fn.local_score(table, child, parents, "loglik")

    given = np.array([log_likelihood(v, target) for v in features])
    pairs = np.array([[log_likelihood(v, u, target) if u < v else 0 for u in features] for v in features])
    pairs = np.where(pairs != 0, pairs - given[:, None], 0)
    return pairs + pairs.T, given - [log_likelihood(v) for v in features]


def is_tan(told: Told) -> Verdict:
    """Hold a tree of features to the best spanning tree."""
    (pairs, _), n = information(told.data), len(told.data.cardinalities) - 1
    classed = not told.answer[n] and all(n in told.answer[v] and len(told.answer[v]) <= 2 for v in range(n))
    lengths = pairs.max() + 1 - pairs
    np.fill_diagonal(lengths, 0)  # no edge, to SciPy
    tree = minimum_spanning_tree(lengths).tocoo()
    most = float(pairs[tree.row, tree.col].sum())
    short = 1 - sum(pairs[p, v] for v in range(n) for p in told.answer[v] if p != n) / most  # below 0: a cycle
    right = classed and -1e-9 <= short <= (0.02 if told.label == "pyAgrum" else 1e-9)
    return right, f"information {short:.2%} below the most, {most:.3f}"


def is_kdb(told: Told) -> Verdict:
    """Build the structure anew."""
    pairs, own = information(told.data)
    order, n = np.argsort(-own, kind="stable").tolist(), len(own)
    near = {v: sorted(order[:place], key=(-pairs[v]).tolist().__getitem__)[:3] for place, v in enumerate(order)}
    expected = [sorted([n, *near[v]]) for v in range(n)] + [[]]
    return [sorted(row) for row in told.answer] == expected, f"{sum(map(len, expected))} arcs, built anew"


def probabilities(told: Told) -> Array:
    """Compute the probability of every class in every row; scikit-learn takes the classes' shares as counted."""
    features, target = told.data.split()
    classes = np.arange(told.data.cardinalities[-1])
    logs = np.log((target == classes[:, None]).sum(axis=1) + (told.label == "fishernet")) + np.zeros((len(target), 1))
    for column in features.T:
        n = np.histogram2d(target, column, (len(classes), column.max() + 1))[0] + 1.0
        logs += np.log(n / n.sum(axis=1, keepdims=True))[:, column].T
    p: Array = np.exp(logs - logs.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return p


RACES = (
    Race(letter_half, TAN, is_tan, same("tan", "pyAgrum", "pgmpy"), [below(2.5e-3)], title="TAN"),
    Race(letter_half, KDB, is_kdb, targets=[below(2.5e-3)], title="KDB(3)"),
    Race(letter_half, NAIVE_BAYES, agrees(probabilities), same("naive_bayes", "scikit-learn"), title="naive Bayes"),
)
CALLS = calls_of(RACES)
