"""The terms of all sets of variables, for exact search over any source and under any score.

A family's score is ``f(S + child) - g(S, r)``, so a score is known when f and g are known for all sets. Sets are bit
masks: bit v of a mask says whether variable v is in the set.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fishernet.counts import CountSource, Scatter
from fishernet.scores.fractional import Fractional, FractionalTerms
from fishernet.scores.local import SETS_AT_ONCE, require_all_rows
from fishernet.scores.score import Score


@dataclass(frozen=True)
class SubsetTerms:
    """f and g of the sets of up to so many variables.

    Attributes
    ----------
    joint : (2 ** n,) float64
        f of every set; 0 where a set is too large.
    marginals : (n_kinds, 2 ** n) float64
        g of every set, for each number of states that a child may have.
    kind_of_child : (n,) int32
        Which row of the marginals is a variable's.
    """

    joint: npt.NDArray[np.float64]
    marginals: npt.NDArray[np.float64]
    kind_of_child: npt.NDArray[np.int32]


def subset_terms(
    source: CountSource, score: Score, *, most: int, after_part: Callable[[int], bool]
) -> SubsetTerms | None:
    """Return the terms of all sets of up to `most` variables; None when `after_part` said so.

    Parameters
    ----------
    source : CountSource
    score : Score
    most : int
        The size of the largest set.
    after_part : callable
        Called after each request to the source with the number of sets it was asked for; False ends the work.

    Raises
    ------
    MissingValueError
        When rows have missing cells.
    """
    if isinstance(source, Scatter) and isinstance(score, Fractional):
        return _scatter_terms(source, score, most, after_part)
    cardinalities = [variable.cardinality for variable in source.variables]
    states, kind_of_child = np.unique(cardinalities, return_inverse=True)
    n = len(cardinalities)
    joint = np.zeros(2**n)
    marginals = np.zeros((len(states), 2**n))
    sets = _sets(n, most)
    while part := list(itertools.islice(sets, SETS_AT_ONCE)):
        for chosen, counts in zip(part, source.counts(part), strict=True):
            require_all_rows(source, counts)
            mask = sum(1 << v for v in chosen)
            joint[mask] = score.joint(counts)
            for kind, r in enumerate(states.tolist()):
                marginals[kind, mask] = score.marginal(counts, r)
        if not after_part(len(part)):
            return None
    return SubsetTerms(joint, marginals, kind_of_child.astype(np.int32))


def _scatter_terms(
    source: Scatter, score: Fractional, most: int, after_part: Callable[[int], bool]
) -> SubsetTerms | None:
    d = len(source.names)
    joint = FractionalTerms(source, center=score.center).subsets(most)
    return SubsetTerms(joint, joint[None], np.zeros(d, np.int32)) if after_part(n_sets(d, most)) else None


def n_sets(n: int, most: int) -> int:
    """Return how many sets of up to so many of n variables there are."""
    return sum(math.comb(n, size) for size in range(min(n, most) + 1))


def _sets(n: int, most: int) -> Iterator[tuple[int, ...]]:
    for size in range(min(n, most) + 1):
        yield from itertools.combinations(range(n), size)
