"""What variables and configurations of a network tell two tables apart, each tested given the parents.

The shares of a squared discrepancy say how much each adds. Whether it adds more than chance would is asked of its own
conditional (`conditionals.families`): the shares themselves are moved by changes upstream, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fishernet.compare.conditionals.families import Effort, Family
from fishernet.compare.conditionals.mixed_families import families_between
from fishernet.compare.conditionals.state_families import cells
from fishernet.compare.conditionals.state_tests import conditional_test, largest_deviations, numbers_of_draws
from fishernet.compare.corrections import Outcome, benjamini_hochberg, holm_sidak, permutation_p_values
from fishernet.data import Table
from fishernet.learn.missing.incomplete import AvailableCases
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
    of = _families(network)
    families = families_between(pair, Effort(permutations, 2, LEVEL, seed))
    families.prepare(of)
    tests = [families.tested(family) for family in of]
    by_configuration = None
    if has_tables(network):
        counted = [families.counts(family) for family in of]
        by_configuration = _of_configurations([counts for counts in counted if counts is not None], permutations, seed)
    return ShareTests(_corrected(tests), by_configuration)


def fit_tests(
    network: BayesianNetwork, fitted: Sequence[Array], table: Table, permutations: int, seed: int
) -> ShareTests:
    """Test whether a table has the conditionals of a network, given the configurations of the parents that it has.

    Parameters
    ----------
    network : BayesianNetwork
        Of tables.
    fitted : sequence of (configurations, states)
        How many rows each conditional was fitted to; very many where its probabilities were known beforehand.
    table : Table
        Of the network's variables.
    """
    of = _families(network)
    source = AvailableCases(table.select(network.names))
    sets = sorted({tuple(sorted(family)) for family in of})
    counted = dict(zip(sets, source.statistics(sets), strict=True))
    pairs = [np.stack([f, cells(counted[tuple(sorted(family))], family)]) for f, family in zip(fitted, of, strict=True)]
    draws = numbers_of_draws(permutations, len(of), LEVEL)
    tests = [
        conditional_test(
            pair, np.random.default_rng([seed, 3, v]), *draws, (False, network.variables[family[-1]].is_ordered)
        )
        for v, (family, pair) in enumerate(zip(of, pairs, strict=True))
    ]
    return ShareTests(_corrected(tests), _of_configurations(pairs, permutations, seed))


def _families(network: BayesianNetwork) -> list[Family]:
    return [(*conditional.parents, conditional.child) for conditional in network.conditionals]


def _corrected(tests: Sequence[Outcome]) -> PValues:
    """Return p-values of conditionals, corrected; 1 where nothing can be told."""
    alone = np.array([test.p_value for test in tests])
    known = ~np.isnan(alone)
    false_share = np.ones(len(alone))
    false_share[known] = benjamini_hochberg(alone[known])
    return np.nan_to_num(alone, nan=1.0), np.nan_to_num(holm_sidak(tests), nan=1.0), false_share


def has_tables(network: BayesianNetwork) -> bool:
    """Return whether each configuration has parameters of its own, and they are not too many."""
    if any(variable.is_continuous for variable in network.variables):
        return False
    sizes = [math.prod(v.cardinality for v in conditional.variables[:-1]) for conditional in network.conditionals]
    own = all(c.n_groups == size for c, size in zip(network.conditionals, sizes, strict=True))
    return own and sum(sizes) <= MOST_CONFIGURATIONS


def _of_configurations(pairs: Sequence[Array], permutations: int, seed: int) -> PValues:
    """Return p-values of configurations; corrected by the largest deviation of each draw (Westfall and Young, 1993)."""
    drawn, places, first = [], [], 0
    for v, counts in enumerate(pairs):
        told, deviations = largest_deviations(counts, np.random.default_rng([seed, 2, v]), permutations)
        drawn.append(deviations)
        places.append(first + told)
        first += counts.shape[1]
    alone, corrected, false_share = np.ones((3, first))
    every = np.concatenate(drawn, axis=1) if drawn else np.empty((1, 0))
    if every.shape[1]:
        at = np.concatenate(places)
        alone[at] = permutation_p_values(every)
        largest = every.max(axis=1)
        corrected[at] = (np.round(largest[:, None], 9) >= np.round(every[0], 9)).mean(axis=0)
        false_share[at] = benjamini_hochberg(alone[at])
    return alone, corrected, false_share
