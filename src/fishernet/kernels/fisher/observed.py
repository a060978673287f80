"""Metrics of the likelihood of what is observed, where a network has hidden variables or rows lack cells.

By Fisher's identity the score of what a row knows is the expected score of the completed row, so in place of scores
stand the expected features ``E[phi | x]``. In these the information of a completed row is a projection, and the
information of the observed,

    J = sum_x P(x) E[phi | x] E[phi | x]',

says which share of it is left in every direction: eigenvalues from 0 to 1. It has blocks: a family of which every
member is observed keeps all of it, and is uncorrelated with all others; hidden variables that share families make a
block of the families that they are in, which depends only on the observed variables among them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError, StateSpaceError
from fishernet.base.random import Seed, generator
from fishernet.data import Table
from fishernet.infer import marginal
from fishernet.infer.completion import expected_indicators
from fishernet.kernels.features import Features, Matrix
from fishernet.kernels.fisher.expected_features import ExpectedFeatures, hidden_names, kernel_features, kernel_scores
from fishernet.kernels.fisher.metrics import (
    N_SAMPLES,
    Asked,
    Metric,
    check_information_size,
    checked_cutoff,
    second_moments,
)
from fishernet.kernels.kernel import FeatureMade
from fishernet.kernels.rows import Rows
from fishernet.models import BayesianNetwork, MarkovNetwork

MOST_STATES = 2**20  # of the observed variables of one block, while its information is a sum over them
ROWS_AT_ONCE = 2**14

Groups = Callable[[], Sequence[Matrix]]  # the probabilities of the groups, found when they are needed


class Observed(FeatureMade, Metric):
    """The kernel of expected scores, or of expected features whose cells were whitened."""

    def __init__(self, name: str, expected: ExpectedFeatures) -> None:
        self.name = name  # hidden variables mix those around them: it has no terms, and no parts of features
        self.hidden: tuple[str, ...] = expected.hidden
        self._expected = expected

    def rows(self, X: Any) -> Table:
        """Return data as a table of the network's variables, in which the hidden ones are missing."""
        return self._expected.rows(X)

    @property
    def dimension(self) -> int:
        """The number of features: of parameters, or the rank of the matrix between the scores."""
        return self._expected.dimension

    def features(self, X: Table) -> Features:
        """Return the whitened expected features, (n, dimension)."""
        return self._expected(X)

    def mean_features(self, X: Table) -> Matrix:
        """Return their mean, (dimension,)."""
        return self._expected.mean(X)

    def terms(self, X: Any, Y: Any = None) -> Matrix:  # noqa: ARG002
        """Raise: the variables are mixed."""
        raise SchemaError(
            "hidden variables mix those around them, and leave the kernel of the likelihood of the observed no terms; "
            "HiddenVariableKernel has"
        )


def observed_metric(net: BayesianNetwork, asked: Asked, hidden: str | Iterable[str], groups: Groups) -> Observed:
    """Return the metric of a name for the likelihood of the observed."""
    names, least = hidden_names(net, hidden), checked_cutoff(asked.cutoff)
    drawn = N_SAMPLES if asked.n_samples is None else check.integer(asked.n_samples, "n_samples", least=1)
    if asked.metric == "practical":
        of_cells = kernel_scores(net)
    elif asked.metric == "empirical":
        of_cells = _by_reference(net, names, groups(), asked.reference, least)
    else:
        of_cells = _by_information(net, names, groups(), drawn, least, asked.seed)
    return Observed(asked.metric, ExpectedFeatures(net, names, of_cells))


def _by_reference(
    net: BayesianNetwork, hidden: tuple[str, ...], groups: Sequence[Matrix], reference: Rows, cutoff: float
) -> Matrix:
    """Return the features of cells, whitened by the second moments of the expected ones of reference rows."""
    expected = ExpectedFeatures(net, hidden, kernel_features(net, groups, range(len(net.names))))
    rows = expected.rows(reference)
    whitened: Matrix = expected.of_cells @ _whitening(second_moments(expected(rows), rows.weights), cutoff)
    return whitened


def _by_information(
    net: BayesianNetwork, hidden: tuple[str, ...], groups: Sequence[Matrix], n_samples: int, cutoff: float, seed: Seed
) -> Features:
    """Return the features of cells, whitened by the information of the observed: block by block."""
    import scipy.sparse as sp  # slow to import, and needed by few calls

    random = generator(seed)  # a bad seed is refused, whether it is used or not
    joined = joined_families(net.scopes, [net.names.index(name) for name in hidden])
    touched = {child for children in joined for child in children}
    alone = [[v] for v in range(len(net.names)) if v not in touched]
    parts, order = [], []
    tables = [math.prod(net.variables[v].cardinality for v in scope) for scope in net.scopes]
    first_cells = [0, *np.cumsum(tables).tolist()]
    for children in [*alone, *joined]:
        of_cells = kernel_features(net, groups, children)
        if children[0] in touched:  # elsewhere the features are white already
            information = _block_information(net, hidden, children, of_cells, n_samples, random)
            of_cells = of_cells @ _whitening(information, cutoff)
        parts.append(of_cells)
        order += [at for v in children for at in range(first_cells[v], first_cells[v + 1])]
    return sp.csr_array(sp.block_diag(parts, format="csr"))[np.argsort(order)]


def joined_families(scopes: Sequence[Sequence[int]], hidden: Sequence[int]) -> list[list[int]]:
    """Return the children whose families have hidden members, those joined by a hidden variable together."""
    blocks: list[tuple[set[int], list[int]]] = []  # hidden variables, and the families that they are in
    for child, scope in enumerate(scopes):
        members, families = set(scope) & set(hidden), [child]
        if not members:
            continue
        for block in [block for block in blocks if block[0] & members]:
            blocks.remove(block)
            members |= block[0]
            families += block[1]
        blocks.append((members, sorted(families)))
    return sorted(families for _, families in blocks)


def _block_information(
    net: BayesianNetwork,
    hidden: tuple[str, ...],
    children: list[int],
    of_cells: Features,
    n_samples: int,
    random: np.random.Generator,
) -> Matrix:
    """Return E[E[phi | x] E[phi | x]'] of the families of some variables, by enumeration or from drawn rows."""
    check_information_size(of_cells.shape[1])
    members = sorted({v for child in children for v in net.scopes[child]})
    seen = [v for v in members if net.names[v] not in hidden]
    families = _subnetwork(net, members, children)
    information = np.zeros((of_cells.shape[1], of_cells.shape[1]))
    for states, shares in _observed_states(net, seen, n_samples, random):
        codes = dict(zip(seen, states, strict=True))
        columns = [codes[v] if v in codes else net.variables[v].missing_column(len(shares)) for v in members]
        known = Table.adopt(families.variables, columns, n_rows=len(shares))
        features = expected_indicators(families, known) @ of_cells
        information += (features.T @ features.multiply(shares[:, None])).toarray()
    return information


def _subnetwork(net: BayesianNetwork, members: list[int], children: list[int]) -> MarkovNetwork:
    """Return the families of some variables alone: given the observed among them, the hidden have this product."""
    factors = []
    for child in children:
        conditional = net.conditionals[child]
        factors.append(([net.names[v] for v in (*conditional.parents, child)], conditional.table()))
    return MarkovNetwork([net.variables[v] for v in members], factors)


def _observed_states(
    net: BayesianNetwork, seen: list[int], n_samples: int, random: np.random.Generator
) -> Iterator[tuple[list[npt.NDArray[Any]], Matrix]]:
    """Yield joint states of variables, an array each, with their probabilities: all, or those of drawn rows."""
    found = _all_states(net, seen)
    of_states, shares = found if found is not None else _drawn_states(net, seen, n_samples, random)
    types = [net.variables[v].dtype for v in seen]
    for first in range(0, len(shares), ROWS_AT_ONCE):
        block = slice(first, first + ROWS_AT_ONCE)
        yield [codes[block].astype(dtype) for dtype, codes in zip(types, of_states, strict=True)], shares[block]


def _all_states(net: BayesianNetwork, seen: list[int]) -> tuple[npt.NDArray[Any], Matrix] | None:
    """Return all possible joint states, (variables, states), and their probabilities; None for too many."""
    shape = [net.variables[v].cardinality for v in seen]
    if math.prod(shape) > MOST_STATES:
        return None
    if not seen:
        return np.empty((0, 1), dtype=np.int64), np.ones(1)
    try:
        shares = np.asarray(marginal(net, [net.names[v] for v in seen])).ravel()
    except StateSpaceError:
        return None  # too wide to sum over: rows that it draws tell as much as they can
    possible = np.flatnonzero(shares > 0)
    return np.array(np.unravel_index(possible, shape)), shares[possible]


def _drawn_states(
    net: BayesianNetwork, seen: list[int], n_samples: int, random: np.random.Generator
) -> tuple[npt.NDArray[Any], Matrix]:
    """Return the distinct joint states of rows that the network draws, with their shares."""
    rows = net.sample(n_samples, seed=random)
    drawn = np.stack([rows.codes[v].astype(np.int64) for v in seen], axis=1)
    distinct, counts = np.unique(drawn, axis=0, return_counts=True)
    return distinct.T, counts / n_samples


def _whitening(moments: Matrix, cutoff: float) -> Matrix:
    """Return W with ``W W'`` the pseudo-inverse of a positive semidefinite matrix, (n, rank).

    Eigenvalues up to `cutoff` count as 0: expected features are scaled by the information of completed rows, so that 1
    is all that a row can tell, whatever the states are called.
    """
    eigenvalues, vectors = np.linalg.eigh((moments + moments.T) / 2)
    kept = eigenvalues > cutoff
    whiten: Matrix = vectors[:, kept] / np.sqrt(eigenvalues[kept])
    return whiten
