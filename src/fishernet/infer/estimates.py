"""Marginals of dependency networks, by pseudo-Gibbs sampling, with their Monte Carlo error."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fishernet.errors import FishernetError, FishernetWarning, SchemaError
from fishernet.models import DependencyNetwork
from fishernet.models.factors import check_held
from fishernet.models.pseudo_gibbs import Scan, Weights, clamped_codes
from fishernet.random import Seed, checked_count, fixed_seed
from fishernet.table import Table
from fishernet.table.variable import State, check_names, positions

Array = npt.NDArray[np.float64]

BATCHES = 20  # a chain, from whose means the error is taken
MOST_CELLS = 2**22
RARE = 10  # fewer rows than these of the model's own agree with the evidence


@dataclass(frozen=True, eq=False, slots=True)
class Estimate:
    """Probabilities by Monte Carlo."""

    probabilities: Array
    """One axis a name; sums to 1."""
    standard_errors: Array
    """Of the same shape: the Monte Carlo error of each, from the means of batches of the chains."""
    n_rows: int
    """The number of rows of all chains."""
    seed: int
    """The seed that gives the same numbers again."""


def estimate(
    dn: DependencyNetwork,
    names: Iterable[str],
    *,
    given: Mapping[str, State] | None = None,
    n: int = 100_000,
    chains: int = 8,
    scan: str = "random",
    weights: Weights = None,
    burn_in: int | None = None,
    thin: int | None = None,
    seed: Seed = None,
) -> Estimate:
    """Estimate the joint probabilities of some variables of a dependency network, given what is known.

    What is given is clamped (P2, Algorithm 2). The result is the stationary distribution of the clamped chain, for
    which the free network's conditional distribution may differ (P2, 2.4.1).

    Parameters
    ----------
    dn : DependencyNetwork
    names : iterable of str
        The variables, each once.
    given : mapping from name to state, optional
    n : int
        Rows of all chains together.
    chains, scan, weights, burn_in, thin, seed
        As for `fishernet.DependencyNetwork.sample`.

    Returns
    -------
    Estimate

    Warns
    -----
    FishernetWarning
        When hardly any of as many free rows agree with what is given: for rare evidence the conditionals were learned
        from few rows, and the answer may be far off (P2, section 5).

    Examples
    --------
    >>> import fishernet as fn
    >>> dn = fn.learn.dependency_network(fn.datasets.load("nursery"))
    >>> found = fn.infer.estimate(dn, ["class"], given={"health": "not_recom"}, n=8000, seed=1)
    >>> found.probabilities.round(1)
    array([1., 0., 0., 0., 0.])
    """
    if not isinstance(dn, DependencyNetwork):
        raise SchemaError(f"estimates are of a DependencyNetwork, not of {type(dn).__name__}; use fn.infer.marginal")
    asked = list(names)
    check_names(asked)
    where = positions(dn.names, asked)
    shape = tuple(dn.variables[v].cardinality for v in where)
    check_held(float(np.prod([float(r) for r in shape])), MOST_CELLS, "the joint table")
    n_chains = checked_count(chains, "chains", 1, 2**20)
    per_chain = checked_count(n, "the number of rows", 1) // n_chains
    if per_chain < BATCHES:
        raise FishernetError(f"{n} rows of {n_chains} chains are too few; at least {BATCHES} a chain are needed")
    Scan.of(dn.variables, scan, given, weights)  # what is wrong is said before anything is drawn
    number = fixed_seed(seed)
    per_chain -= per_chain % BATCHES
    options = {"scan": scan, "weights": weights, "chains": n_chains, "burn_in": burn_in, "thin": thin}
    rows = dn.sample(per_chain * n_chains, given=given, seed=number, **options)  # type: ignore[arg-type]
    if given:
        _warn_of_rare(dn, given, dn.sample(per_chain * n_chains, seed=number, **options))  # type: ignore[arg-type]
    batches = _batch_shares(rows, where, shape, n_chains * BATCHES)
    errors = batches.std(axis=0, ddof=1) / np.sqrt(len(batches))
    return Estimate(batches.mean(axis=0).reshape(shape), errors.reshape(shape), rows.n_rows, number)


def _batch_shares(rows: Table, where: tuple[int, ...], shape: tuple[int, ...], n_batches: int) -> Array:
    """Return the share of every cell in every batch of rows, (n_batches, cells)."""
    cells = np.zeros(rows.n_rows, dtype=np.int64)
    for v, r in zip(where, shape, strict=True):
        cells = cells * r + rows.codes[v]
    n_cells = int(np.prod(shape))
    batch = np.arange(rows.n_rows) // (rows.n_rows // n_batches)
    if n_cells * n_batches > MOST_CELLS:  # the errors of a large table cost more than it does: by fewer batches
        batch, n_batches = batch % 2, 2
    counts = np.bincount(batch * n_cells + cells, minlength=n_batches * n_cells).reshape(n_batches, n_cells)
    shares: Array = counts / counts.sum(axis=1, keepdims=True)
    return shares


def _warn_of_rare(dn: DependencyNetwork, given: Mapping[str, State], free_rows: Table) -> None:
    agrees = np.ones(free_rows.n_rows, dtype=bool)
    for v, code in clamped_codes(dn.variables, given).items():
        agrees &= free_rows.codes[v] == code
    if agrees.sum() < RARE:
        warnings.warn(
            f"what is given is rare: {int(agrees.sum())} of {free_rows.n_rows:,} rows of the model's own agree with "
            "it; the conditionals may have been learned from few such rows",
            FishernetWarning,
            stacklevel=3,
        )
