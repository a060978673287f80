"""What variables and configurations of a network tell two tables apart, each tested given the parents.

The shares of a squared discrepancy say how much each adds. Whether it adds more than chance would is asked of its own
conditional (`families`): the shares themselves are moved by changes upstream, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fishernet.compare.conditional_tests import largest_deviations
from fishernet.compare.corrections import benjamini_hochberg, holm_sidak, permutation_p_values
from fishernet.compare.families import Family
from fishernet.compare.number_families import NumberFamilies
from fishernet.compare.state_families import StateFamilies
from fishernet.data import Table
from fishernet.models import BayesianNetwork

Array = npt.NDArray[np.float64]
PValues = tuple[Array, Array, Array]  # of each alone, corrected for all, and for the share of false ones

LEVEL = 0.05  # that draws shall be enough for
MOST_CONFIGURATIONS = 20_000  # of a network, whose draws are kept


@dataclass(frozen=True)
class ShareTests:
    """p-values of a network's conditionals.

    Attributes
    ----------
    by_variable : tuple of (n_variables,) arrays
    by_configuration : tuple of (configurations,) arrays, or None
        In the order of the variables and the configurations of their tables; None where there are none or too many.
    """

    by_variable: PValues
    by_configuration: PValues | None

    @property
    def whole(self) -> float:
        """The p-value of "no conditional changed", whatever shares of the cells are missing."""
        return float(self.by_variable[1].min(initial=1.0))


def share_tests(network: BayesianNetwork, tables: Sequence[Table], permutations: int, seed: int) -> ShareTests:
    """Test whether the conditionals of a network are the same in two tables of its variables."""
    pair = tables[0].select(network.names), tables[1].select(network.names)
    of = [(*conditional.parents, conditional.child) for conditional in network.conditionals]
    numbers = any(variable.is_continuous for variable in network.variables)
    families = (NumberFamilies if numbers else StateFamilies)(pair, permutations, 2, LEVEL, seed)
    families.prepare(of)
    alone = np.array([families.p_value(family) for family in of])
    known = ~np.isnan(alone)
    false_share = np.ones(len(of))
    false_share[known] = benjamini_hochberg(alone[known])
    by_variable = np.nan_to_num(alone, nan=1.0), np.nan_to_num(holm_sidak(alone), nan=1.0), false_share
    by_configuration = None
    if isinstance(families, StateFamilies) and _has_tables(network):
        by_configuration = _of_configurations(families, of, permutations, seed)
    return ShareTests(by_variable, by_configuration)


def _has_tables(network: BayesianNetwork) -> bool:
    """Return whether each configuration has parameters of its own, and they are not too many."""
    sizes = [math.prod(v.cardinality for v in conditional.variables[:-1]) for conditional in network.conditionals]
    own = all(c.n_groups == size for c, size in zip(network.conditionals, sizes, strict=True))
    return own and sum(sizes) <= MOST_CONFIGURATIONS


def _of_configurations(families: StateFamilies, of: Sequence[Family], permutations: int, seed: int) -> PValues:
    """Return p-values of configurations; corrected by the largest deviation of each draw (Westfall and Young, 1993)."""
    drawn, places, first = [], [], 0
    for family in of:
        counts = np.stack(families.cells(family))
        told, deviations = largest_deviations(counts, np.random.default_rng([seed, 2, *family]), permutations)
        drawn.append(deviations)
        places.append(first + told)
        first += counts.shape[1]
    alone, corrected, false_share = np.ones((3, first))
    every = np.concatenate(drawn, axis=1)
    if every.shape[1]:
        at = np.concatenate(places)
        alone[at] = permutation_p_values(every)
        largest = every.max(axis=1)
        corrected[at] = (np.round(largest[:, None], 9) >= np.round(every[0], 9)).mean(axis=0)
        false_share[at] = benjamini_hochberg(alone[at])
    return alone, corrected, false_share
