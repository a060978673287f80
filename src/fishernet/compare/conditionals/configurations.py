"""How a variable's distribution changed in each configuration of its parents."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fishernet.base.names import cut
from fishernet.compare.mechanisms import divergences, nats_by_configuration, rows_of_table
from fishernet.data import State
from fishernet.data.variable import Variable
from fishernet.infer.factors import parent_marginals
from fishernet.models import BayesianNetwork
from fishernet.models.conditionals.base import shown_states

Array = npt.NDArray[np.float64]

LEVEL = 0.95  # of the intervals of a variable's configurations, together


@dataclass(frozen=True, slots=True, repr=False)
class ConfigurationChange:
    """How the distribution of a variable changed in one configuration of its parents."""

    variable: str
    """Its name."""
    configuration: Mapping[str, State]
    """The states of its parents."""
    nats: float
    """What it carries of KL(after || before)."""
    probability: float
    """Of the configuration, after."""
    before: Mapping[State, float]
    """The probability of each state."""
    after: Mapping[State, float]
    rows: tuple[int, int] | None = None
    """How many rows there are of the configuration, before and after; None for networks."""
    low: float = math.nan
    """The 95 % interval of the change in the probability of `state` (Newcombe, 1998), so wide that the intervals of all
    configurations and states of the variable hold together (Bonferroni): the first ones listed, too; NaN for networks.
    """
    high: float = math.nan

    def __repr__(self) -> str:
        given = f" given {cut(shown_states(dict(self.configuration)), 200)}" if self.configuration else ""
        state, name = self.state, cut(self.variable, 80)
        change = f"{self.before[state]:.3g} -> {self.after[state]:.3g}, {self.nats:.4g} nats"
        return f"ConfigurationChange({name} = {cut(str(state), 80)}{given}: {change})"

    @property
    def state(self) -> State:
        """The state whose probability changed most, the first of those that changed alike."""
        return max(self.after, key=lambda state: round(abs(self.after[state] - self.before[state]), 12))


def of_networks(before: BayesianNetwork, after: BayesianNetwork) -> tuple[ConfigurationChange, ...]:
    """Return how each configuration changed between networks of tables over one graph, the largest first."""
    found: list[ConfigurationChange] = []
    shares, parts = parent_marginals(after), nats_by_configuration(after, before)
    for v, (one, other) in enumerate(zip(before.conditionals, after.conditionals, strict=True)):
        p, q = rows_of_table(one), rows_of_table(other)
        places = np.flatnonzero(parts[v] > 0)
        for j, configuration in _configurations(other.variables[:-1], places):
            distributions = _by_state(after.variables[v], p[j], q[j])
            found.append(
                ConfigurationChange(
                    after.names[v], configuration, float(parts[v][j]), float(shares[v][j]), *distributions
                )
            )
    return largest_first(found)


def of_counts(
    family: Sequence[Variable], before: Array, after: Array, smoothing: float
) -> Iterator[ConfigurationChange]:
    """Yield how each configuration changed that both tables have.

    Parameters
    ----------
    family : sequence of Variable
        The parents, and the child as the last.
    before, after : (configurations, states)
        Counts.
    smoothing : float
        The pseudo-count of each state.
    """
    *parents, child = family
    rows = before.sum(axis=1), after.sum(axis=1)
    p, q = ((c + smoothing) / (c + smoothing).sum(axis=1, keepdims=True) for c in (before, after))
    shares = rows[1] / max(rows[1].sum(), 1)
    nats = shares * divergences(q, p)
    both = (rows[0] > 0) & (rows[1] > 0)
    n_changes = int(both.sum()) * (child.cardinality if child.cardinality > 2 else 1)
    for j, configuration in _configurations(parents, np.flatnonzero((nats > 0) & both)):
        sizes = round(float(rows[0][j])), round(float(rows[1][j]))
        distributions = _by_state(child, p[j], q[j])
        change = ConfigurationChange(child.name, configuration, float(nats[j]), float(shares[j]), *distributions, sizes)
        moved = child.states.index(change.state)
        low, high = _newcombe(float(before[j, moved]), sizes[0], float(after[j, moved]), sizes[1], n_changes)
        yield replace(change, low=low, high=high)


def largest_first(found: Iterable[ConfigurationChange]) -> tuple[ConfigurationChange, ...]:
    """Return changes by what they carry."""
    return tuple(sorted(found, key=lambda change: (-change.nats, change.variable)))


def _configurations(
    parents: Sequence[Variable], places: npt.NDArray[np.intp]
) -> Iterator[tuple[int, Mapping[str, State]]]:
    """Yield places in a table of configurations with the states of the parents there."""
    for j in places.tolist():
        at = np.unravel_index(j, [parent.cardinality for parent in parents]) if parents else ()
        yield j, {parent.name: parent.states[int(k)] for parent, k in zip(parents, at, strict=True)}


def _by_state(variable: Variable, p: Array, q: Array) -> tuple[Mapping[State, float], Mapping[State, float]]:
    return dict(zip(variable.states, p.tolist(), strict=True)), dict(zip(variable.states, q.tolist(), strict=True))


def _newcombe(hits: float, n: int, later_hits: float, later_n: int, n_changes: int) -> tuple[float, float]:
    """Return the interval of a difference of shares, by Wilson's intervals of both (Newcombe, 1998, method 10)."""
    from scipy.special import ndtri  # slow to import, and needed by few calls

    z = float(ndtri(1 - (1 - LEVEL) / (2 * n_changes)))
    share, later = hits / n, later_hits / later_n
    (low, high), (later_low, later_high) = _wilson(share, n, z), _wilson(later, later_n, z)
    down, up = math.hypot(later - later_low, high - share), math.hypot(later_high - later, share - low)
    return later - share - down, later - share + up


def _wilson(share: float, n: int, z: float) -> tuple[float, float]:
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return middle - reach, middle + reach
