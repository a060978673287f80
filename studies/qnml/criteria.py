"""The four scores that are compared, and the parameters that go with each."""

from __future__ import annotations

import fishernet as fn

CRITERIA = ("BDeu", "BIC", "fNML", "qNML")
"""In the order of the published tables."""
SEARCH = "exact"


def learn(rows: fn.Table, criterion: str, *, ess: float = 1.0) -> fn.Dag:
    """Return the best network by one of the criteria; the equivalent sample size is BDeu's alone."""
    if criterion == "BDeu":
        return fn.learn.dag(rows, score="bdeu", search=SEARCH, ess=ess)
    return fn.learn.dag(rows, score=criterion.lower(), search=SEARCH)


def fit(dag: fn.Dag, rows: fn.Table, criterion: str) -> fn.BayesianNetwork:
    """Return the network with its predictive parameters: BDeu's own, or sequential NML for the others."""
    if criterion == "BDeu":
        return fn.learn.parameters(dag, rows, ess=1.0)
    return fn.learn.parameters(dag, rows, smoothing="snml")
