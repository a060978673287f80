"""pgmpy. Its hill climbing keeps a tabu list of the last 100 changes by default; otherwise it is left as it comes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from pgmpy.causal_discovery import HillClimbSearch
from pgmpy.estimators import TreeSearch
from pgmpy.factors.discrete import TabularCPD
from pgmpy.inference import VariableElimination
from pgmpy.models import DiscreteBayesianNetwork
from pgmpy.parameter_estimator import DiscreteBayesianEstimator

from benchmarks.calls import Call, Data, digest, importing

N_ROWS = 200
"""Rows whose probability is asked for; the time is scaled to all."""


def frame(data: Data) -> pd.DataFrame:
    return pd.DataFrame(data.rows, columns=data.names)


def parents(arcs: Iterable[tuple[str, str]], data: Data) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in data.names]
    for tail, head in arcs:
        found[data.names.index(head)].append(data.names.index(tail))
    return [sorted(row) for row in found]


def climb(frame: pd.DataFrame) -> HillClimbSearch:
    return HillClimbSearch(scoring_method="bic-d", return_type="dag", show_progress=False).fit(frame)


def tree(frame: pd.DataFrame) -> DiscreteBayesianNetwork:
    names = list(frame.columns)  # the class is the last
    search = TreeSearch(frame, root_node=names[0], n_jobs=1)
    return search.estimate(estimator_type="tan", class_node=names[-1], show_progress=False)


def graph(data: Data) -> DiscreteBayesianNetwork:
    net = DiscreteBayesianNetwork(data.arcs)
    net.add_nodes_from(data.names)
    return net


def fit(handed: tuple[DiscreteBayesianNetwork, pd.DataFrame]) -> DiscreteBayesianNetwork:
    net, frame = handed
    return net.fit(frame, estimator=DiscreteBayesianEstimator(prior_type="dirichlet", pseudo_counts=1.0))


def tables(net: DiscreteBayesianNetwork, data: Data) -> list[np.ndarray]:
    """Return P(child | parents) with axes [parents ..., state], parents ascending and states in the order of codes."""
    found = []
    for child, name in enumerate(data.names):
        cpd, ours = net.get_cpds(name), [data.names[i] for i in data.family(child)]
        values = np.asarray(cpd.values).transpose([cpd.variables.index(other) for other in ours])
        for axis, other in enumerate(ours):
            values = np.take(values, np.argsort(cpd.state_names[other]), axis=axis)
        found.append(values)
    return found


def network(data: Data) -> DiscreteBayesianNetwork:
    net = graph(data)
    for name, of, table in zip(data.names, data.parents, data.tables, strict=True):
        names, sizes = [data.names[i] for i in of], [data.cardinalities[i] for i in of]
        net.add_cpds(
            TabularCPD(name, table.shape[-1], table.reshape(-1, table.shape[-1]).T, names or None, sizes or None)
        )
    return net


def rows_to_ask(data: Data) -> tuple[DiscreteBayesianNetwork, list[dict[str, int]], float]:
    return fit((graph(data), frame(data))), frame(data).head(N_ROWS).to_dict("records"), len(data.rows) / N_ROWS


def every_row(handed: tuple[DiscreteBayesianNetwork, list[dict[str, int]], float]) -> tuple[list[float], float]:
    net, rows, scale = handed
    return [net.get_state_probability(row) for row in rows], scale


def marginals(handed: tuple[DiscreteBayesianNetwork, Data]) -> list[Any]:
    net, data = handed
    engine = VariableElimination(net)
    return [engine.query(names, evidence=data.known, show_progress=False) for names in data.asked()]


def arrays(found: list[Any], data: Data) -> list[np.ndarray]:
    pairs = zip(found, data.asked(), strict=True)
    return [np.asarray(f.values).transpose([f.variables.index(name) for name in names]) for f, names in pairs]


def cells(frame: pd.DataFrame, data: Data) -> str:
    columns = [
        pd.Categorical(frame[name].astype(str).str.lower(), categories=list(labels)).codes
        for name, labels in zip(frame.columns, data.options["labels"], strict=True)
    ]
    return digest(np.stack(columns, axis=1).astype(np.uint8))


CALLS = {
    "import": importing("pgmpy"),
    "hill_climb": Call(frame, climb, lambda search, data: parents(search.causal_graph_.edges(), data)),
    "tan": Call(frame, tree, lambda net, data: parents(net.edges(), data), note="TreeSearch, one job"),
    "fit": Call(lambda data: (graph(data), frame(data)), fit, tables),
    "log_prob": Call(
        rows_to_ask,
        every_row,
        lambda found, _: np.log(found[0]),
        note=f"no call for a table: get_state_probability row by row, timed on {N_ROWS} rows and scaled",
        clock=lambda found, seconds: seconds * found[1],
    ),
    "sample": Call(
        lambda data: (network(data), data.options),
        lambda h: h[0].simulate(h[1]["n_rows"], seed=h[1]["seed"], show_progress=False),
        lambda frame, data: frame[data.names].to_numpy(dtype=np.uint8),
    ),
    "read": Call(lambda data: data.options["csv"], pd.read_csv, cells, note="pandas.read_csv"),
    "families": Call(lambda data: (network(data), data), marginals, arrays, note="VariableElimination"),
}
