"""Marginals of dependency networks, by pseudo-Gibbs sampling, with their Monte Carlo error.

Whether pseudo-Gibbs chains have mixed: split R-hat, effective sample size and standard errors.

A categorical variable is judged by the indicators of its states: the worst of them counts. R-hat compares the variance
between the halves of all chains with that within them [1]_; the effective sample size divides the number of rows by
the autocorrelations' sum, cut off by Geyer's initial monotone sequence [2]_.

References
----------
.. [1] A. Gelman et al., "Bayesian Data Analysis", 3rd ed. (2013), section 11.4.
.. [2] C. J. Geyer, "Practical Markov chain Monte Carlo", Statistical Science 7 (1992).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base import check
from fishernet.base.display import Brief, Framed
from fishernet.base.errors import FishernetError, warn
from fishernet.base.names import check_names, listed, positions, several
from fishernet.base.random import Seed, draw_count, fixed_seed
from fishernet.base.vocabulary import ScanName
from fishernet.data import Table
from fishernet.data.variable import State
from fishernet.infer.factors import Array, Network, check_held, network_of
from fishernet.infer.pseudo_gibbs import Sampled, Scan, Weights, clamped_codes, is_sampled, sampled_of
from fishernet.infer.weighting import cells_of_rows, weighted_shares


class ChainKeywords(TypedDict, total=False):
    """How chains are drawn, as `estimate` takes it."""

    n: int
    chains: int
    scan: ScanName
    weights: Weights
    burn_in: int | None
    thin: int | None
    seed: Seed


MIXED = 1.01  # the largest R-hat without a warning


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Diagnosis(Framed):
    """How well chains have mixed, by variable."""

    names: tuple[str, ...]
    """The variables that were not given."""
    r_hat: Array
    """(n,) the largest split R-hat of a variable's states; near 1 when the chains agree."""
    effective_sample_size: Array
    """(n,) the smallest of a variable's states: so many independent rows would tell as much."""
    standard_errors: tuple[Array, ...]
    """The standard error of each state's probability, one (r,) array per variable."""
    probabilities: tuple[Array, ...]
    """The states' shares of all rows, one (r,) array per variable."""
    n_rows: int
    """The number of rows of all chains."""
    chains: int
    """How many chains there are, of equal length."""
    seed: int
    """The seed that gives the same chains again."""
    rows: Table = field(repr=False)
    """The rows, chain after chain."""

    @property
    def mixed(self) -> bool:
        """Whether every R-hat is at most 1.01."""
        return bool((self.r_hat <= MIXED).all())

    def to_frame(self) -> pa.Table:
        """Return one row per variable as a pyarrow Table."""
        return pa.table(
            {
                "variable": list(self.names),
                "r_hat": self.r_hat,
                "effective_sample_size": self.effective_sample_size,
                "largest_standard_error": [float(errors.max()) for errors in self.standard_errors],
            }
        )


def diagnose(
    dn: Sampled,
    *,
    chains: int = 4,
    n: int = 4000,
    scan: ScanName = "random",
    given: Mapping[str, State] | None = None,
    weights: Weights = None,
    burn_in: int | None = None,
    thin: int | None = None,
    seed: Seed = None,
) -> Diagnosis:
    """Run chains of pseudo-Gibbs sampling from random states, and say whether they agree.

    Parameters
    ----------
    dn : DependencyNetwork
    chains : int
        At least 2.
    n : int
        Rows of all chains together; at least 8 a chain.
    scan, given, weights, burn_in, thin, seed
        As for `fishernet.DependencyNetwork.sample`.

    Returns
    -------
    Diagnosis

    Warns
    -----
    FishernetWarning
        When an R-hat is above 1.01: the chains have not mixed. More updates between rows, or a longer burn-in, help.

    Examples
    --------
    >>> import fishernet as fn
    >>> dn = fn.learn.dependency_network(fn.datasets.load("nursery"))
    >>> found = fn.infer.diagnose(dn, n=8000, thin=2000, seed=1)
    >>> found.mixed
    True
    """
    dn = sampled_of(dn, "chains are those")
    n_chains = draw_count(chains, "chains", least=2, most=2**20)
    per_chain = draw_count(n, least=1) // n_chains
    if per_chain < 8:
        raise FishernetError(
            f"{n} rows of {n_chains} chains are too few to compare them; at least 8 a chain are needed"
        )
    number = fixed_seed(seed)
    options = {"scan": scan, "weights": weights, "chains": n_chains, "burn_in": burn_in, "thin": thin, "seed": number}
    rows = dn.sample(per_chain * n_chains, given=given, **options)
    free = [v for v, name in enumerate(dn.names) if name not in (given or {})]
    judged = [_judge(rows.codes[v].reshape(n_chains, per_chain), dn.variables[v].cardinality) for v in free]
    found = Diagnosis(
        names=tuple(dn.names[v] for v in free),
        r_hat=np.array([r_hat for r_hat, _, _, _ in judged]),
        effective_sample_size=np.array([size for _, size, _, _ in judged]),
        standard_errors=tuple(errors for _, _, errors, _ in judged),
        probabilities=tuple(shares for _, _, _, shares in judged),
        n_rows=rows.n_rows,
        chains=n_chains,
        seed=number,
        rows=rows,
    )
    if not found.mixed:
        bad = [name for name, value in zip(found.names, found.r_hat, strict=True) if value > MIXED]
        warn(
            f"the chains have not mixed: R-hat is up to {found.r_hat.max():.3f} (1.01 is wanted), above it for "
            f"{listed(bad)}; use a larger thin, burn_in or n"
        )
    return found


def _judge(codes: npt.NDArray[np.unsignedinteger], states: int) -> tuple[float, float, Array, Array]:
    """Return the largest R-hat, the smallest effective size, the standard errors and shares of a variable's states."""
    r_hats, sizes, errors, shares = [1.0], [float(codes.size)], np.zeros(states), np.zeros(states)
    for state in range(states):
        indicator = (codes == state).astype(np.float64)
        share = indicator.mean()
        shares[state] = share
        if not 0 < share < 1:
            continue  # what never or always occurs tells nothing of the mixing
        r_hats.append(split_r_hat(indicator))
        size = effective_size(indicator)
        sizes.append(size)
        errors[state] = np.sqrt(share * (1 - share) / size)
    return max(r_hats), min(sizes), errors, shares


def split_r_hat(values: Array) -> float:
    """Return split R-hat of chains of numbers, (chains, rows)."""
    half = values.shape[1] // 2
    halves = np.concatenate([values[:, :half], values[:, -half:]])
    within = halves.var(axis=1, ddof=1).mean()
    between = halves.mean(axis=1).var(ddof=1)
    if within == 0:
        return 1.0 if between == 0 else float("inf")
    return float(np.sqrt((half - 1) / half + between / within))


def effective_size(values: Array) -> float:
    """Return the effective number of independent numbers in chains, (chains, rows)."""
    chains, rows = values.shape
    centred = values - values.mean(axis=1, keepdims=True)
    size = 2 ** int(np.ceil(np.log2(2 * rows)))
    spectrum = np.fft.rfft(centred, n=size, axis=1)
    covariances = np.fft.irfft(spectrum * spectrum.conj(), n=size, axis=1)[:, :rows] / rows
    within = covariances[:, 0].mean() * rows / (rows - 1)
    total = within * (rows - 1) / rows + (values.mean(axis=1).var(ddof=1) if chains > 1 else 0.0)
    if total == 0:
        return float(values.size)
    correlations = 1 - (within - covariances.mean(axis=0)) / total
    correlations[0] = 1
    pairs = correlations[: rows // 2 * 2].reshape(-1, 2).sum(axis=1)
    end = int(np.argmax(pairs < 0)) if (pairs < 0).any() else len(pairs)
    kept = np.minimum.accumulate(pairs[:end])  # Geyer: positive, and falling
    spread = max(-1 + 2 * float(kept.sum()), 1 / np.log10(max(values.size, 10)))
    return float(values.size / spread)


BATCHES = 20  # a chain, from whose means the error is taken
MOST_CELLS = 2**22
CHAINS = 8
SCAN: ScanName = "random"
LEAST_WORTH = 100.0  # rows of equal weights, below which errors of weighted rows are not to be trusted
BY_CHANCE = 1e-6  # how often chains that are as they should be are warned of
RARE = 10  # fewer rows than these of the model's own agree with the evidence


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Estimate(Brief):
    """Probabilities by Monte Carlo."""

    probabilities: Array
    """One axis per name; sums to 1."""
    standard_errors: Array
    """Of the same shape: the Monte Carlo error of each. Of chains the larger of what the batches within them and what
    the differences between them say."""
    n_rows: int
    """The number of rows (of all chains)."""
    seed: int
    """The seed that gives the same numbers again."""
    degrees_of_freedom: int
    """Of the standard errors: an interval reaches so many of them to either side as Student's t distribution with these
    degrees of freedom says (7 for 8 chains: 2.36 standard errors for 95 %)."""
    n_effective: float | None = None
    """Of weighted rows: how many rows of equal weights would be as sure; None of chains."""


def estimate(
    dn: Sampled | Network,
    names: Iterable[str],
    *,
    given: Mapping[str, State] | None = None,
    n: int = 100_000,
    chains: int = CHAINS,
    scan: ScanName = SCAN,
    weights: Weights = None,
    burn_in: int | None = None,
    thin: int | None = None,
    seed: Seed = None,
) -> Estimate:
    """Estimate the joint probabilities of some variables from rows that are drawn, given what is known.

    Of a dependency network what is given is clamped. The result is the stationary distribution of the clamped chain,
    from which the free network's conditional distribution may differ [1]_. Of a Bayesian network of labels whose tables
    are too large for `query`, rows count by how probable they make what is given (likelihood weighting [2]_).

    Parameters
    ----------
    dn : DependencyNetwork or BayesianNetwork
    names : iterable of str
        The variables, each once.
    given : mapping from name to state, optional
    n : int
        Rows of all chains together.
    chains, scan, weights, burn_in, thin
        As for `fishernet.DependencyNetwork.sample`; a Bayesian network has no chains.
    seed : None, int or numpy.random.Generator

    Returns
    -------
    Estimate

    Warns
    -----
    FishernetWarning
        When hardly any of as many free rows agree with what is given: for rare evidence the conditionals were learned
        from few rows, and the answer may be far off ([1]_, section 5). And when the chains differ from one another by
        more than the batches within them explain: they move slowly, and more rows or a larger `thin` are needed. When
        weighted rows are worth less than 100: what is given is rare, and their errors may be far too small.

    References
    ----------
    .. [1] K. Takabatake and S. Akaho, "Reconsidering dependency networks from an information geometry perspective",
       2021, Algorithm 2 and section 2.4.1.
    .. [2] R. Fung and K.-C. Chang, "Weighing and integrating evidence for stochastic simulation in Bayesian networks",
       1990.

    Examples
    --------
    >>> import fishernet as fn
    >>> dn = fn.learn.dependency_network(fn.datasets.load("nursery"))
    >>> found = fn.infer.estimate(dn, ["class"], given={"health": "not_recom"}, n=8000, seed=1)
    >>> found.probabilities.round(1)
    array([1., 0., 0., 0., 0.])
    """
    is_exact = not is_sampled(dn)
    net: Any = network_of(dn) if is_exact else dn
    asked = [names] if isinstance(names, str) else list(check.items(names, "names"))
    check_names(asked)
    where = positions(net.names, asked)
    shape = tuple(net.variables[v].cardinality for v in where)
    check_held(float(np.prod([float(r) for r in shape])), MOST_CELLS, "the joint table")
    if is_exact:
        given_of_chains = any(of is not None for of in (weights, burn_in, thin))
        if given_of_chains or chains != CHAINS or scan != SCAN:
            message = (
                "chains, scan, weights, burn_in and thin are for dependency networks; a Bayesian one has no chains"
            )
            raise FishernetError(message, parameter="chains")
        return _by_weights(net, where, shape, given, draw_count(n, least=2), fixed_seed(seed))
    n_chains = draw_count(chains, "chains", least=1, most=2**20)
    per_chain = draw_count(n, least=1) // n_chains
    if per_chain < BATCHES:
        raise FishernetError(
            f"{several(n, 'row is', 'rows are')} too few for {several(n_chains, 'chain')}; at least {BATCHES} a chain "
            "are needed"
        )
    Scan.of(net.variables, scan, given, weights)  # what is wrong is said before anything is drawn
    number = fixed_seed(seed)
    per_chain -= per_chain % BATCHES
    options = {"scan": scan, "weights": weights, "chains": n_chains, "burn_in": burn_in, "thin": thin, "seed": number}
    rows = net.sample(per_chain * n_chains, given=given, **options)
    if given:
        _warn_of_rare(net, given, net.sample(per_chain * n_chains, **options))
    groups = _grouped_shares(rows, where, shape, n_chains)
    errors, freedom = _standard_errors(groups)
    return Estimate(
        groups.mean(axis=(0, 1)).reshape(shape), errors.reshape(shape), rows.n_rows, number, degrees_of_freedom=freedom
    )


def _by_weights(
    net: Any, where: Sequence[int], shape: tuple[int, ...], given: Mapping[str, State] | None, n: int, seed: int
) -> Estimate:
    """Return estimates by likelihood weighting."""
    found, errors, worth = weighted_shares(net, where, given, n, seed)
    if worth < LEAST_WORTH:
        warn(
            f"{several(n, 'weighted row')} are worth {worth:.0f}: what is given is rare, and the errors may be far too "
            "small; ask for more (n=)",
            parameter="n",
        )
    freedom = max(1, int(worth) - 1)
    return Estimate(found.reshape(shape), errors.reshape(shape), n, seed, freedom, worth)


def _grouped_shares(rows: Table, where: tuple[int, ...], shape: tuple[int, ...], n_chains: int) -> Array:
    """Return the share of every cell, (chains, batches of each, cells).

    The errors of a large table cost more than it does: they are taken from whole chains, or from two groups of rows.
    """
    cells = cells_of_rows(rows, where, shape)
    n_cells = int(np.prod(shape))
    n_groups = n_chains * BATCHES
    group = np.arange(rows.n_rows) // (rows.n_rows // n_groups)
    if n_cells * n_groups > MOST_CELLS:
        n_groups = n_chains if 1 < n_chains <= MOST_CELLS // n_cells else 2
        group = group // BATCHES if n_groups == n_chains else group % 2
    counts = np.bincount(group * n_cells + cells, minlength=n_groups * n_cells).reshape(n_groups, n_cells)
    shares: Array = counts / counts.sum(axis=1, keepdims=True)
    return shares.reshape(n_chains if n_groups == n_chains * BATCHES else n_groups, -1, n_cells)


def _standard_errors(groups: Array) -> tuple[Array, int]:
    """Return the standard error of every cell's mean and its degrees of freedom; warn when the two estimates differ.

    Chains are independent, batches of a slow chain are not: the spread between chains is right where that within them
    is too small, and the noisier of the two.
    """
    from scipy.special import fdtri  # slow to import, and needed by few calls

    n_chains, n_batches, _ = groups.shape
    freedom = n_chains - 1, n_chains * (n_batches - 1)
    within = groups.var(axis=1, ddof=1).mean(axis=0) / (n_chains * n_batches) if n_batches > 1 else np.zeros(1)
    if n_chains == 1:
        return np.sqrt(within), freedom[1]
    between = groups.mean(axis=1).var(axis=0, ddof=1) / n_chains
    if n_batches > 1 and between.sum() > within.sum() * fdtri(*freedom, 1 - BY_CHANCE):
        warn(
            f"the chains differ more than they should: their spread says a standard error of "
            f"{np.sqrt(between.max()):.2g}, that within them {np.sqrt(within.max()):.2g}; they move slowly: draw more "
            "rows (n) or leave out more between them (thin)"
        )
    return np.sqrt(np.maximum(within, between)), freedom[0]


def _warn_of_rare(dn: Sampled, given: Mapping[str, State], free_rows: Table) -> None:
    agrees = np.ones(free_rows.n_rows, dtype=bool)
    for v, code in clamped_codes(dn.variables, given).items():
        agrees &= free_rows.codes[v] == code
    if agrees.sum() < RARE:
        warn(
            f"what is given is rare: {int(agrees.sum())} of {free_rows.n_rows} rows of the model's own agree with "
            "it; the conditionals may have been learned from few such rows"
        )
