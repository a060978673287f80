"""Undirected graphs of Gaussian variables by their fractional marginal pseudo-likelihood (P4, 3.1)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.counts import as_scatter
from fishernet.counts.correlations import rank, refuse_collinear, require_independent, scaled_products
from fishernet.counts.scatter import Floats
from fishernet.errors import FishernetWarning, SchemaError
from fishernet.graphs import UndirectedGraph
from fishernet.learn.markov.combine import Edge, check_rule, combined, edges_between, joined
from fishernet.learn.markov.prior import Prior, log_prior
from fishernet.progress import Progress, Reporter
from fishernet.scores.fractional import blanket_sizes, weight
from fishernet.table.variable import listed

AT_ONCE = 256  # blankets between two reports of progress

Blanket = list[int]


def gaussian_graph(
    X: Any,
    *,
    rule: str = "hc",
    prior: Prior = True,
    center: bool = True,
    names: Iterable[str] | None = None,
    progress: Progress | None = None,
) -> UndirectedGraph:
    """Learn the graph of a Gaussian Markov network by its fractional marginal pseudo-likelihood (FMPL).

    The score of a graph is the sum of `scores.fmpl` over the columns, each given its neighbours. It has no tuning
    parameter, and finds the graph of the generating distribution as the rows become many [1]_.

    Parameters
    ----------
    X : (n, d) array, pandas, polars or pyarrow frame, mapping from names to columns, or Scatter
        Columns of numbers.
    rule : {"hc", "and", "or"}
        "and", "or": join columns that are in each other's blankets, or one in the other's. "hc": hill climbing among
        the edges of "or" from the empty graph, by single additions and removals.
    prior : bool or (a, b, m)
        Whether a blanket of p members also gets ``log B(a + p, b + m - p) / B(a, b)``, for edges that are present with
        a probability of unknown size; True is (1/2, 1/2, d - 1). Needed where there are fewer rows than columns.
    center : bool
        Whether the columns' means are taken off. Either way n is the number of rows.
    names : sequence of str, optional
        Of the columns of an array; of a frame, those that are taken, in this order.
    progress : callable, optional
        ``progress(what, done, total)``, in columns.

    Returns
    -------
    UndirectedGraph

    Warns
    -----
    FishernetWarning
        When blankets ended for want of rows: the score saturates, and their edges mean nothing. When there are fewer
        rows than columns and no prior.

    Raises
    ------
    SchemaError
        When a value is not finite (its column and row are said), columns are constant or made of others, or there are
        fewer than three rows.
    FishernetError
        When the rule is unknown or the prior out of range.

    Notes
    -----
    A blanket takes the column that raises its score most, and then loses members, the best first, while that raises
    the score; the first addition that does not raise it ends the search. It holds at most n - 2 columns (n - 1 when
    not centred). Time O(d^2 p^2) for blankets of p columns, and O(n d^2) for the scatter; memory O(d^2 + n d).

    References
    ----------
    .. [1] P4, 3.1.3 to 3.1.5, Eq. 3.6 and Theorem 3.1; Leppä-aho, Pensar, Roos and Corander, "Learning Gaussian
       graphical models with fractional marginal pseudo-likelihood", International Journal of Approximate Reasoning 83,
       2017.

    Examples
    --------
    >>> import numpy as np
    >>> import fishernet as fn
    >>> noise = np.random.default_rng(2).normal(size=(500, 4))
    >>> X = noise.cumsum(axis=1)  # a random walk: every column depends on the one before
    >>> fn.learn.gaussian_graph(X).edges
    (('v0', 'v1'), ('v1', 'v2'), ('v2', 'v3'))
    """
    check_rule(rule, ("hc", "and", "or"))
    scatter = as_scatter(X, names)
    d = len(scatter.names)
    if scatter.n < 3:
        raise SchemaError(f"a graph of Gaussian variables needs at least 3 rows, got {scatter.n}")
    of_prior = log_prior(prior, d)
    scaled = scaled_products(scatter, center=center)
    full = rank(scatter, center=center)
    require_independent(scatter.names, scaled, full)
    most = min(d - 1, full - 1)
    of_size = blanket_sizes(scatter.n, most) + of_prior[: most + 1]
    search = _Search(scatter.names, scaled, full, of_size, weight(scatter.n))

    blankets = search.blankets(Reporter(progress, "finding Markov blankets"))
    _warn_of_few_rows(search.saturated, few=prior is False and full < d)
    if rule != "hc":
        return combined(scatter.names, blankets, rule)
    return search.climb(edges_between(blankets, "or"))


class _Search:
    """The two steps of FMPL, in the core, on products scaled to 1 on the diagonal."""

    def __init__(self, names: tuple[str, ...], scaled: Floats, full_rank: int, of_size: Floats, weight: float) -> None:
        self._names, self._scaled = names, scaled
        self._score = (scaled, full_rank, of_size, weight)
        self.saturated: list[str] = []

    def blankets(self, reporter: Reporter) -> list[Blanket]:
        d = len(self._names)
        found: list[Blanket] = []
        for first in range(0, d, AT_ONCE):
            last = min(d, first + AT_ONCE)
            offsets, members, saturated, collinear = _core.find_blankets(*self._score, first, last)
            self._refuse(collinear)
            found.extend(part.tolist() for part in np.split(members, offsets[1:-1]))
            self.saturated.extend(self._names[first + v] for v in np.flatnonzero(saturated).tolist())
            reporter.step(last, d)
        reporter.finish(d)
        return found

    def climb(self, candidates: list[Edge]) -> UndirectedGraph:
        flat = np.array(candidates, dtype=np.int32).reshape(-1, 2)
        chosen, collinear = _core.climb_edges(*self._score, flat)
        self._refuse(collinear)
        return joined(self._names, flat[chosen.astype(bool)].tolist())

    def _refuse(self, collinear: npt.NDArray[np.int32]) -> None:
        if len(collinear):
            refuse_collinear(self._names, self._scaled, collinear)


def _warn_of_few_rows(saturated: list[str], *, few: bool) -> None:
    what = []
    if saturated:
        what.append(f"the Markov blankets of {listed(saturated)} ended for want of rows, and their edges mean nothing")
    if few:
        what.append("there are fewer rows than columns, and without the prior pure noise gets edges")
    if what:
        remedy = "; take prior=True, or more rows" if few else "; take more rows"
        warnings.warn(" and ".join(what) + remedy, FishernetWarning, stacklevel=3)
