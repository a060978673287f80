"""Tests of conditional independence, one file a test.

A *test* is anything that answers ``test(i, j, given)`` with a ``statistic`` and a ``p_value``: whether column i is
independent of column j given others, all of them positions. `KnnTest` sees any dependence between continuous columns,
`FisherZ` linear ones, `GSquared` and `ChiSquared` work on counts; a function of your own is one as well. A class that
names `IndependenceTest` as its base may also have ``association(i, j, given)``, a cheaper number by which candidates
are compared.

`knn_test`, `fisher_z_test`, `knn_mutual_information` and `entropy` take arrays.

`missingness` asks of a whole table whether cells are missing completely at random, as far as known cells can tell.
"""

from fishernet.independence.completely_at_random import missingness
from fishernet.independence.contingency import (
    ChiSquared,
    ContingencyResult,
    GSquared,
    IndependenceTest,
    PermutationResult,
    TestResult,
)
from fishernet.independence.fisher_z import FisherZ, fisher_z_test
from fishernet.independence.missing_cells import ColumnMissingness, MissingnessResult, MissingnessTest
from fishernet.independence.nearest_neighbours import KnnTest, entropy, knn_mutual_information, knn_test

__all__ = [
    "ChiSquared",
    "ColumnMissingness",
    "ContingencyResult",
    "FisherZ",
    "GSquared",
    "IndependenceTest",
    "KnnTest",
    "MissingnessResult",
    "MissingnessTest",
    "PermutationResult",
    "TestResult",
    "entropy",
    "fisher_z_test",
    "knn_mutual_information",
    "knn_test",
    "missingness",
]


def __dir__() -> list[str]:
    return __all__
