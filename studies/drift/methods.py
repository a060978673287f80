"""Who is asked whether two tables differ: `fishernet.compare`, tests of marginals, and classifiers.

Each method takes two tables and returns a p-value; those that name a variable return the one they hold responsible.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom, chi2_contingency

import fishernet as fn
from fishernet.compare.corrections import holm
from studies import mmd_tests
from studies.study import Array

PERMUTATIONS = 999
OMNIBUS, CONDITIONALS, MARGINALS, PAIRS = "omnibus", "conditionals", "marginals", "pairs"
RARE = 10  # rows of both tables; states, or pairs of states, that occur less often are taken together
LOGISTIC, BOOSTING, EXPLAINED = "logistic", "boosting", "explain_change"
TUNED, FUSE, AGGREGATED = "tuned boosting", "MMD-FUSE", "MMDAgg"
FUSE_PERMUTATIONS, AGGREGATED_DRAWS = 199, 400
SETTINGS = {"learning_rate": [0.03, 0.1], "max_leaf_nodes": [4, 8, 31], "max_iter": [50, 200]}  # to tune among


class Said(NamedTuple):
    """What a method says of two tables."""

    p_value: float
    named: tuple[str, ...] = ()
    """The variables it holds responsible, the first the most; of a test of marginals the one with the smallest p."""


def codes(*tables: fn.Table) -> Array:
    """Return the states' numbers of several tables, one after the other."""
    return np.concatenate([np.stack(table.codes, axis=1) for table in tables]).astype(np.int64)


def ours(X: fn.Table, Y: fn.Table, seed: int) -> dict[str, Said]:
    """Return the omnibus test, which names the largest share, and the surest of the tests of conditionals."""
    found = fn.compare.two_sample_test(X, Y, permutations=PERMUTATIONS, seed=seed)
    shares = found.by_variable.values()
    largest = max(shares, key=lambda share: share.statistic)
    surest = min(shares, key=lambda share: (share.p_corrected, share.p_value, -share.statistic))
    return {
        OMNIBUS: Said(found.p_value, (largest.variable,)),
        CONDITIONALS: Said(surest.p_corrected, (surest.variable,)),
    }


def chi_squared(one: Array, other: Array, n_states: int) -> float:
    """Return the p-value of the chi-squared test that two columns come from one distribution."""
    counts = np.array([np.bincount(column, minlength=n_states) for column in (one, other)])
    often = counts.sum(axis=0) >= RARE
    counts = np.column_stack([counts[:, often], counts[:, ~often].sum(axis=1)])
    seen = counts[:, counts.sum(axis=0) > 0]
    return float(chi2_contingency(seen, correction=False).pvalue) if seen.shape[1] > 1 else 1.0


def marginals(X: fn.Table, Y: fn.Table) -> Said:
    """Return the smallest p-value of chi-squared tests of all columns, corrected by Holm's method."""
    states = [variable.cardinality for variable in X.variables]
    p_values = [chi_squared(*of) for of in zip(codes(X).T, codes(Y).T, states, strict=True)]
    return Said(float(holm(np.array(p_values)).min()), (X.names[int(np.argmin(p_values))],))


def pairs(X: fn.Table, Y: fn.Table) -> Said:
    """Return the smallest p-value of chi-squared tests of all pairs of columns, corrected by Holm's method."""
    states, first, second = [variable.cardinality for variable in X.variables], codes(X).T, codes(Y).T
    both = list(combinations(range(len(states)), 2))
    joined = (((of[u] * states[v] + of[v] for of in (first, second)), states[u] * states[v]) for u, v in both)
    p_values = [chi_squared(one, other, n_states) for (one, other), n_states in joined]
    return Said(float(holm(np.array(p_values)).min()), tuple(X.names[v] for v in both[int(np.argmin(p_values))]))


def classifier(X: fn.Table, Y: fn.Table, seed: int, make: Callable[[fn.Table], Any]) -> Said:
    """Return the p-value of the accuracy on half of the rows of a classifier that learned from the other half.

    Under the null hypothesis the number of right answers is binomial with one half; tables are of one size.
    """
    rows, labels = codes(X, Y), np.repeat([0, 1], [X.n_rows, Y.n_rows])
    order = np.random.default_rng(seed).permutation(len(rows))
    training, test = order[: len(rows) // 2], order[len(rows) // 2 :]
    with importlib.import_module("threadpoolctl").threadpool_limits(1):  # threads that wait for each other take longer
        right = int((make(X).fit(rows[training], labels[training]).predict(rows[test]) == labels[test]).sum())
    return Said(float(binom.sf(right - 1, len(test), 0.5)))


def logistic(X: fn.Table) -> Any:
    """Return a logistic regression on a column per state."""
    states = [range(variable.cardinality) for variable in X.variables]
    one_hot = importlib.import_module("sklearn.preprocessing").OneHotEncoder(categories=list(map(list, states)))
    regression = importlib.import_module("sklearn.linear_model").LogisticRegression(max_iter=500)
    return importlib.import_module("sklearn.pipeline").make_pipeline(one_hot, regression)


def boosting(X: fn.Table) -> Any:
    """Return gradient boosting of trees that know the columns as categories, with scikit-learn's settings."""
    kind = importlib.import_module("sklearn.ensemble").HistGradientBoostingClassifier
    return kind(categorical_features=[True] * len(X.names), random_state=0)


def tuned(X: fn.Table) -> Any:
    """Return gradient boosting whose settings the log loss of three folds chooses."""
    search = importlib.import_module("sklearn.model_selection").GridSearchCV
    return search(boosting(X), SETTINGS, cv=3, scoring="neg_log_loss")


def by_kernels(X: fn.Table, Y: fn.Table, seed: int, level: float) -> dict[str, Said]:
    """Return what MMD-FUSE and MMDAgg say of a column per state; of MMDAgg, which has no p-value, 0 or 1."""
    states, rows = [variable.cardinality for variable in X.variables], codes(X, Y)
    columns = np.concatenate([np.eye(n)[of] for n, of in zip(states, rows.T, strict=True)], axis=1)
    one, other, random = columns[: X.n_rows], columns[X.n_rows :], np.random.default_rng(seed)
    rejects = mmd_tests.aggregated(one, other, level, AGGREGATED_DRAWS, random)
    return {
        FUSE: Said(mmd_tests.fuse(one, other, FUSE_PERMUTATIONS, random)),
        AGGREGATED: Said(0.0 if rejects else 1.0),
    }


def explained(X: fn.Table, Y: fn.Table, net: fn.Dag | None = None) -> Said:
    """Return what `explain_change` says: the smallest corrected p-value, and what it says changed."""
    found = fn.compare.explain_change(X, Y, net, permutations=PERMUTATIONS, resamples=2)
    return Said(min(change.p_corrected for change in found.by_variable.values()), found.changed())


Asked = Mapping[str, Callable[[fn.Table, fn.Table, int], dict[str, Said]]]
METHODS: Asked = {
    "ours": ours,
    MARGINALS: lambda X, Y, _: {MARGINALS: marginals(X, Y)},
    PAIRS: lambda X, Y, _: {PAIRS: pairs(X, Y)},
    LOGISTIC: lambda X, Y, seed: {LOGISTIC: classifier(X, Y, seed, logistic)},
    BOOSTING: lambda X, Y, seed: {BOOSTING: classifier(X, Y, seed, boosting)},
    EXPLAINED: lambda X, Y, _: {EXPLAINED: explained(X, Y)},
}
