"""The parameters of a linear-Gaussian Bayesian network by maximum likelihood: a regression for each variable."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fishernet.counts import Scatter
from fishernet.counts.correlations import require_varying
from fishernet.errors import SchemaError
from fishernet.graphs import Dag
from fishernet.models import GaussianBayesianNetwork
from fishernet.models.continuous.regression import COLLINEAR, regression
from fishernet.table.variable import listed, positions


def linear_gaussian(dag: Dag, scatter: Scatter) -> GaussianBayesianNetwork:
    """Return the most likely linear-Gaussian network with a structure.

    Raises
    ------
    SchemaError
        When a variable is absent or constant, parents are collinear, or a variable is a linear combination of its
        parents, as it is with too few rows; it is named.
    """
    where = positions(scatter.names, dag.names, "column")
    data = scatter.marginal(where)
    require_spread(data)
    sizes = np.sqrt(np.diagonal(data.S))
    R = data.S / sizes[:, None] / sizes
    intercepts, sds = np.empty(len(dag.names)), np.empty(len(dag.names))
    coefficients = []
    for child, parents in enumerate(dag.parents):
        _require_freedom(R, [*parents, child], dag.names, data.n)
        slopes, rest = regression(R, child, parents)
        slopes = slopes * sizes[child] / sizes[list(parents)]
        coefficients.append(slopes)
        intercepts[child] = data.mean[child] - slopes @ data.mean[list(parents)]
        sds[child] = sizes[child] * math.sqrt(rest / data.n)
    return GaussianBayesianNetwork(dag, intercepts, coefficients, sds)


def require_spread(scatter: Scatter) -> None:
    """Raise SchemaError when there are too few rows for any variance, or columns are constant, naming them."""
    if scatter.n < 2:
        raise SchemaError(f"variances need two rows at least; there {'is' if scatter.n == 1 else 'are'} {scatter.n}")
    require_varying(scatter)


def _require_freedom(R: npt.NDArray[np.float64], family: Sequence[int], names: Sequence[str], n: int) -> None:
    """Raise SchemaError when one of a child's parents, or the child, is a linear combination of those before it."""
    for k, variable in enumerate(family):
        _, rest = regression(R, variable, family[:k])
        if rest >= COLLINEAR:
            continue
        before = [names[v] for v in family[:k]]
        if k < len(family) - 1:
            raise SchemaError(
                f"the parents of {names[family[-1]]!r} are collinear in {n} rows: {names[variable]!r} is a linear "
                f"combination of {listed(before)}; leave one of them out, or take more rows"
            )
        raise SchemaError(
            f"the standard deviation of {names[variable]!r} would be 0: in {n} rows it is a linear combination of its "
            f"parents, {listed(before)}; leave one of them out, or take more rows"
        )
