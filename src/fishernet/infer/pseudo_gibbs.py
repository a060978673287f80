"""Pseudo-Gibbs sampling (Heckerman et al., 2000): what is updated, in which order, from where."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeGuard

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import positions, several
from fishernet.base.random import Seed, draw_count, generator, stream_key
from fishernet.base.vocabulary import word
from fishernet.data import Table, Variable
from fishernet.data.variable import State
from fishernet.infer.evidence import Evidence
from fishernet.infer.factors import GroupedConditional, inference_of

SCANS = ("random", "ordered")

Weights = Mapping[str, float] | npt.ArrayLike | None
Start = Table | Mapping[str, State] | None


@dataclass(frozen=True, slots=True)
class Scan:
    """Which variables are updated, and how the next one is chosen."""

    free: npt.NDArray[np.int32]
    """Positions of the variables that are not clamped."""
    clamped: dict[int, int]
    """Positions and codes of those that are."""
    ordered: bool
    """One after the other, in the order of the variables; else at random."""
    weights: npt.NDArray[np.float64] | None
    """(n_free,) how probable each free variable is to be updated; None: equally."""

    @classmethod
    def of(cls, variables: Sequence[Variable], scan: str, given: Mapping[str, State] | None, weights: Weights) -> Scan:
        """Check what a user asks for."""
        scan = word(scan, "scan", SCANS)
        if not variables:
            raise SchemaError("the network has no variables, so there is nothing to sample")
        clamped = clamped_codes(variables, given)
        free = np.array([v for v in range(len(variables)) if v not in clamped], dtype=np.int32)
        if not len(free):
            raise FishernetError("every variable is given a state, so there is nothing to sample; leave some out")
        if weights is None:
            return cls(free, clamped, scan == "ordered", None)
        if scan == "ordered":
            raise FishernetError("an ordered scan updates every variable once a sweep; it takes no weights")
        chosen = _checked_weights(variables, weights)[free]
        if not chosen.sum() > 0:
            raise FishernetError("the variables that are not given all have weight 0, so none would ever be updated")
        return cls(free, clamped, False, chosen / chosen.sum())

    @property
    def probabilities(self) -> npt.NDArray[np.float64]:
        """(n_free,) how probable each free variable is to be updated."""
        return np.full(len(self.free), 1 / len(self.free)) if self.weights is None else self.weights


def clamped_codes(variables: Sequence[Variable], given: Mapping[str, State] | None) -> dict[int, int]:
    """Return the positions and codes of what is given."""
    evidence = Evidence.of(variables, given, None)
    return {v: int(evidence.states[v]) for v in evidence.observed}


class Sampled(Protocol):
    """A model known by its conditionals alone, which pseudo-Gibbs sampling draws from: a dependency network."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables."""

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""

    @property
    def conditionals(self) -> Sequence[GroupedConditional]:
        """One per variable."""

    @property
    def inputs(self) -> tuple[tuple[int, ...], ...]:
        """The positions on which each conditional depends."""

    @property
    def sample(self) -> Callable[..., Table]:
        """Draws rows by pseudo-Gibbs sampling; see `fishernet.DependencyNetwork.sample`."""


def is_sampled(model: object) -> TypeGuard[Sampled]:
    """Whether a model is known by its conditionals alone."""
    return inference_of(model) == "samples"


def sampled_of(model: object, what: str, *, instead: str = "") -> Sampled:
    """Return a model that is known by its conditionals alone; otherwise SchemaError, which begins with `what`."""
    if not is_sampled(model):
        raise SchemaError(f"{what} of a DependencyNetwork, not of {type(model).__name__}{instead}")
    return model


def native_sampler(variables: Sequence[Variable], conditionals: Sequence[GroupedConditional]) -> _core.GibbsSampler:
    """Return conditionals as the core updates variables by them."""
    sampler = _core.GibbsSampler(np.array([variable.cardinality for variable in variables], dtype=np.int64))
    for conditional in conditionals:
        conditional.add_to_sampler(sampler)
    return sampler


def draw_rows(
    variables: Sequence[Variable],
    sampler: _core.GibbsSampler,
    n: int,
    plan: Scan,
    *,
    chains: int = 1,
    burn_in: int | None = None,
    thin: int | None = None,
    start: Start = None,
    seed: Seed = None,
) -> Table:
    """Draw rows by pseudo-Gibbs sampling; see `fishernet.DependencyNetwork.sample`."""
    n_chains = draw_count(chains, "chains", least=1, most=2**31 - 1)
    usual = len(variables)
    burn = draw_count((usual if n_chains == 1 else 100 * usual) if burn_in is None else burn_in, "burn_in")
    step = draw_count(usual if thin is None else thin, "thin", least=1)
    random = generator(seed)
    key = stream_key(random)
    states = starting_states(variables, plan, start, n_chains, random)
    chosen = np.zeros(0) if plan.weights is None else plan.weights
    columns = sampler.sample(plan.free, plan.ordered, chosen, states, n, burn, step, key)
    return Table.adopt(variables, columns, n_rows=n)


def starting_states(
    variables: Sequence[Variable], scan: Scan, start: Start, chains: int, random: np.random.Generator
) -> npt.NDArray[np.int32]:
    """Return a code of every variable for each chain, (chains, n_variables): random ones where none are said."""
    # chain after chain, so that a chain's start does not depend on how many there are
    cardinalities = np.array([v.cardinality for v in variables])
    states = random.integers(0, cardinalities, size=(chains, len(variables)), dtype=np.int32)
    if isinstance(start, Mapping):
        for v, code in clamped_codes(variables, start).items():
            states[:, v] = code
    elif start is not None:
        rows = start.conform(variables)
        rows.require_complete("a start")
        if rows.n_rows not in (1, chains):
            raise FishernetError(
                f"the start must have one row, or one for each of {several(chains, 'chain')}, not {rows.n_rows}"
            )
        states[:] = np.stack([codes.astype(np.int32) for codes in rows.codes], axis=1)
    for v, code in scan.clamped.items():
        states[:, v] = code
    return np.ascontiguousarray(states)


def _checked_weights(variables: Sequence[Variable], weights: Weights) -> npt.NDArray[np.float64]:
    if isinstance(weights, Mapping):
        names = [variable.name for variable in variables]
        array = np.zeros(len(names))
        given = check.numbers(list(weights.values()), "weights")
        if given.ndim != 1:
            raise SchemaError("weights must be one number per variable, not arrays", parameter="weights")
        array[list(positions(names, weights))] = given
    else:
        array = check.numbers([] if weights is None else weights, "weights")
    if array.shape != (len(variables),):
        raise FishernetError(f"weights must be one number per variable, ({len(variables)},), got shape {array.shape}")
    if not np.isfinite(array).all() or (array < 0).any():
        raise FishernetError("weights must be finite and not negative")
    if abs(array.sum() - 1) > 1e-9:
        raise FishernetError(f"weights must sum to 1, not to {array.sum():.12g}")
    return array
