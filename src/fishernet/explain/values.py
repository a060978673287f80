"""What blocks of rows are worth for another table: their Shapley values, by what networks of some of them say of it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base import check
from fishernet.base.display import Framed
from fishernet.base.errors import SchemaError
from fishernet.base.names import a
from fishernet.base.random import Seed, generator
from fishernet.data.matching import as_data
from fishernet.explain.influence import labels_of
from fishernet.explain.responses import OfTables, complete_counts
from fishernet.models.model import is_directed

Numbers = npt.NDArray[np.float64]

MOST_EXACT = 6  # blocks of which all orders are looked at
PERMUTATIONS = 200


@dataclass(frozen=True, repr=False)
class BlockValue(Framed):
    """What one block of rows is worth for another table; made by `fishernet.explain.value_of`.

    Examples
    --------
    >>> import fishernet as fn
    >>> table, other = fn.datasets.load("nursery").split(0.5, seed=1)
    >>> values = fn.explain.value_of(fn.learn.bayesian_network(table), table, "health", for_=other)
    >>> len(values), values[0].value > 0
    (3, True)
    """

    label: Any
    """The block's label."""
    n_rows: int
    """How many rows it has."""
    value: float
    """Its Shapley value: nats a row of the other table, averaged over what other blocks are there already."""
    standard_error: float
    """Of the value, over the orders that were drawn; 0 where all orders were looked at."""
    lost: float
    """What the other table loses, in nats a row, without this block alone."""

    def to_frame(self) -> pa.Table:
        """Return the block as a pyarrow Table of one row."""
        return pa.table({name: [value] for name, value in self.to_dict().items()})


def value_of(
    net: Any, table: Any, blocks: Any, *, for_: Any, permutations: int = PERMUTATIONS, seed: Seed = 0
) -> tuple[BlockValue, ...]:
    """Return what blocks of rows are worth for another table, the most valuable first.

    A block adds to the mean log-probability of the other table's rows under the network fitted to it and the blocks
    before it; its Shapley value is the mean of that over the orders of the blocks [1]_. The values add up to what all
    blocks add to no row at all. The graph is held.

    Parameters
    ----------
    net : BayesianNetwork
        Of labels, learned from the table.
    table : Table or data frame
        Without missing cells.
    blocks : str or sequence
        A column of the table with labels, or a label of each row.
    for_ : Table or data frame
        The rows that are to be predicted, without missing cells.
    permutations : int
        How many orders are drawn; of up to six blocks all orders are looked at.
    seed : None, int or numpy.random.Generator

    Returns
    -------
    tuple of BlockValue

    Raises
    ------
    SchemaError
        When the network has numbers or is no Bayesian network, or there is no such column.
    MissingValueError
        When cells are missing.

    References
    ----------
    .. [1] A. Ghorbani and J. Zou, "Data Shapley: equitable valuation of data for machine learning", ICML 2019.

    Examples
    --------
    >>> import fishernet as fn
    >>> table, other = fn.datasets.load("nursery").split(0.5, seed=1)
    >>> net = fn.learn.bayesian_network(table)
    >>> days = ["monday"] * 3000 + ["tuesday"] * (table.n_rows - 3000)
    >>> [(block.label, round(block.value, 3)) for block in fn.explain.value_of(net, table, days, for_=other)]
    [('monday', 0.726), ('tuesday', 0.627)]
    """
    if not is_directed(net) or net.values != "states":
        raise SchemaError(f"blocks are valued by a Bayesian network of labels, not by {a(type(net).__name__)}")
    data, most = as_data(table, "explain.value_of"), check.integer(permutations, "permutations", least=2)
    rows, asked = net.rows(data), net.rows(for_)
    for one in (rows, asked):
        one.require_complete("the value of blocks of rows")
    labels, at = labels_of(data, blocks)
    there = [place for place in range(len(labels)) if (at == place).any()]
    response = OfTables(net, data, None)
    shares = [counts / asked.total for counts in complete_counts(net, asked, None)]
    weights = np.ones(rows.n_rows) if rows.weights is None else np.asarray(rows.weights, dtype=np.float64)
    parts = [complete_counts(net, rows, np.where(at == place, weights, 0.0)) for place in there]

    def worth(chosen: Iterator[int] | list[int]) -> float:
        total = [np.zeros_like(of) for of in shares]
        for block in chosen:
            for sums, counts in zip(total, parts[block], strict=True):
                sums += counts
        said = zip(shares, response.ways, total, strict=True)
        return sum(_expected_log(of, smoothing.probabilities(counts)) for of, smoothing, counts in said)

    gains = np.array(list(_gains(len(there), worth, most, generator(seed))))
    whole = worth(list(range(len(there))))
    exact = len(there) <= MOST_EXACT
    errors = np.zeros(len(there)) if exact else gains.std(axis=0, ddof=1) / math.sqrt(len(gains))
    found = [
        BlockValue(
            labels[place],
            int((at == place).sum()),
            float(gains[:, k].mean()),
            float(errors[k]),
            whole - worth([other for other in range(len(there)) if other != k]),
        )
        for k, place in enumerate(there)
    ]
    return tuple(sorted(found, key=lambda block: -block.value))


def _expected_log(shares: Numbers, probabilities: Numbers) -> float:
    with np.errstate(divide="ignore"):
        return float(np.where(shares > 0, shares * np.log(probabilities), 0.0).sum())


def _gains(n: int, worth: Any, most: int, random: np.random.Generator) -> Iterator[Numbers]:
    """Yield what each block adds, in each order of the blocks."""
    orders: Any = itertools.permutations(range(n))
    if n > MOST_EXACT:
        orders = (random.permutation(n).tolist() for _ in range(most))
    none, known = worth([]), {}
    for order in orders:
        gains, before = np.zeros(n), none
        for place in range(n):
            chosen = frozenset(order[: place + 1])
            if chosen not in known:
                known[chosen] = worth(list(chosen))
            gains[order[place]] = known[chosen] - before
            before = known[chosen]
        yield gains
