"""Rows that stand for a table, and rows that are like a given one.

`greedy_mmd` chooses the k rows whose mean feature under a kernel is nearest to that of the whole table (Leppä-aho et
al., 2020, Algorithm 1); `greedy_chi_square` runs the same search on the fit of each column alone, and `random_subset`
is the baseline of both. `mmd_critic` adds row after row, `protodash` weighs them too, `coreset` chooses rows and
weights from which a model loses least, and `kernel_thinning` halves the table until k rows are left;
`distance_by_k` says how many rows at random are worth as much, and `criticisms` are rows
that the chosen ones do not explain. `similar` finds the rows most like a given one, with the variables that make them
so; `nearest` finds the strings, or whatever else has a kernel, most like each.
"""

from fishernet.select.coresets import coreset
from fishernet.select.distance_by_k import DistanceByK, distance_by_k
from fishernet.select.greedy import chi_square_criterion, greedy_chi_square, greedy_mmd
from fishernet.select.nearest import Nearest, nearest
from fishernet.select.prototypes import criticisms, mmd_critic, protodash
from fishernet.select.selection import Selection, random_subset
from fishernet.select.similar import Similar, similar
from fishernet.select.thinning import kernel_thinning

__all__ = [
    "DistanceByK",
    "Nearest",
    "Selection",
    "Similar",
    "chi_square_criterion",
    "coreset",
    "criticisms",
    "distance_by_k",
    "greedy_chi_square",
    "greedy_mmd",
    "kernel_thinning",
    "mmd_critic",
    "nearest",
    "protodash",
    "random_subset",
    "similar",
]


def __dir__() -> list[str]:
    return __all__
