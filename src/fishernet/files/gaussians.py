"""Gaussian networks, normal distributions and mixtures of these as fields of the model file, and back.

::

    "names": ["a", "b"], "mean": [0.0, 1.0],                           of a Gaussian Markov network
    "precision": [2.0, 2.0],                                           its diagonal,
    "edges": [[0, 1, -1.0]],                                           and what is not 0 beside it: i < j, entry
    "n_rows": 1000                                                     the rows it was fitted on, if any
    "n_complete": 700                                                  those that know both ends of an edge, of the edge
                                                                       of which fewest do, where these are less

    "variables": [                                                     of a "GaussianBayesianNetwork" of older files
      {"name": "a", "parents": [], "intercept": 0.0, "coefficients": [], "sd": 1.0},
      {"name": "b", "parents": [0], "intercept": 1.0, "coefficients": [2.0], "sd": 0.5}
    ]

    "mean": 0.0, "sd": 1.0                                             of a Gaussian
    "weights": [0.5, 0.5], "means": [-1.0, 1.0], "sd": 1.0             of a mixture
"""

from __future__ import annotations

import numpy as np

from fishernet.base.fields import Fields
from fishernet.base.names import several
from fishernet.files.networks import check_names_storable, read_edges, read_n_rows, read_names
from fishernet.graphs import Dag
from fishernet.models import BayesianNetwork, Gaussian, GaussianMarkovNetwork, GaussianMixture
from fishernet.models.model import fitted_rows


def gaussian_fields(model: Gaussian) -> dict[str, object]:
    """Return a normal distribution as what `json` writes."""
    return {"mean": model.mean, "sd": model.sd}


def read_gaussian(fields: Fields) -> Gaussian:
    """Return the normal distribution that the fields describe."""
    return Gaussian(fields.number("mean"), fields.number("sd"))


def mixture_fields(model: GaussianMixture) -> dict[str, object]:
    """Return a mixture as what `json` writes."""
    return {"weights": model.weights.tolist(), "means": model.means.tolist(), "sd": model.sd}


def read_mixture(fields: Fields) -> GaussianMixture:
    """Return the mixture that the fields describe."""
    weights = fields.numbers(fields.items("weights"), "weights")
    means = fields.numbers(fields.items("means"), "means")
    return GaussianMixture(weights, means, fields.number("sd"))


def undirected_fields(net: GaussianMarkovNetwork) -> dict[str, object]:
    """Return a Gaussian Markov network as what `json` writes."""
    check_names_storable(net.names)
    K = net.precision
    rows, columns = np.nonzero(np.triu(K, 1))
    edges = [[i, j, K[i, j].item()] for i, j in zip(rows.tolist(), columns.tolist(), strict=True)]
    return {
        "names": list(net.names),
        "mean": net.mean.tolist(),
        "precision": np.diagonal(K).tolist(),
        "edges": edges,
        **({} if net.n_rows is None else fitted_rows(net.n_rows, net.n_complete)),  # older files do not say
    }


def read_undirected(fields: Fields) -> GaussianMarkovNetwork:
    """Return the Gaussian Markov network that the fields describe."""
    names = read_names(fields)
    n_rows = read_n_rows(fields) if fields.has("n_rows") else None
    n_complete = fields.amount("n_complete") if fields.has("n_complete") else None
    mean = fields.numbers(fields.items("mean"), "mean")
    own = fields.numbers(fields.items("precision"), "precision")
    if len(own) != len(names):
        raise fields.wrong(f"{several(len(own), 'number')} for {several(len(names), 'variable')}", "precision")
    precision = np.diag(own)
    for place, (i, j, entry) in read_edges(fields, len(names), "number"):
        if precision[i, j] != 0:
            raise fields.wrong(f"the edge between the variables {i} and {j} appears twice", place)
        value = fields.numbers([entry], place)[0]
        if value == 0:
            raise fields.wrong("an edge has an entry that is not 0", place)
        precision[i, j] = precision[j, i] = value
    with fields.checking():
        return GaussianMarkovNetwork(names, mean, precision, n_rows=n_rows, n_complete=n_complete)


def read_directed(fields: Fields) -> BayesianNetwork:
    """Return the network of regressions that the fields of an older file describe."""
    names, parents, intercepts, coefficients, sds = [], [], [], [], []
    for item in fields.objects("variables"):
        names.append(item.text("name"))
        parents.append(item.items("parents"))
        intercepts.append(item.number("intercept"))
        slopes = item.numbers(item.items("coefficients"), "coefficients")
        order = parents[-1]
        if any(type(v) is not int for v in order) or order != sorted(order):
            raise item.wrong("expected ascending positions of variables", "parents")
        coefficients.append(slopes)
        sds.append(item.number("sd"))
        item.end()
    with fields.checking():
        return BayesianNetwork.from_regressions(Dag(names, parents), intercepts, coefficients, sds)
