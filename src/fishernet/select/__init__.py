"""Rows that stand for a table, and rows that are like a given one.

`greedy_mmd` chooses the k rows whose mean feature under a kernel is nearest to that of the whole table (Leppä-aho et
al., 2020, Algorithm 1); `greedy_chi_square` runs the same search on the fit of each column alone, and `random_subset`
is the baseline of both. `similar` finds the rows most like a given one, with the variables that make them so;
`nearest` finds the strings, or whatever else has a kernel, most like each.
"""

from fishernet.select.greedy import chi_square_criterion, greedy_chi_square, greedy_mmd
from fishernet.select.nearest import Nearest, nearest
from fishernet.select.prototypes import criticisms, mmd_critic, protodash
from fishernet.select.selection import Selection, random_subset
from fishernet.select.similar import Similar, similar
from fishernet.select.thinning import kernel_thinning

__all__ = [
    "Nearest",
    "Selection",
    "Similar",
    "chi_square_criterion",
    "criticisms",
    "greedy_chi_square",
    "greedy_mmd",
    "kernel_thinning",
    "mmd_critic",
    "nearest",
    "protodash",
    "random_subset",
    "similar",
]
