"""The worker that runs a job with pgmpy.

Its hill climbing keeps a tabu list of the last 100 changes by default; with its other defaults it is left as it comes.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from pgmpy.causal_discovery import HillClimbSearch
from pgmpy.estimators import TreeSearch
from pgmpy.factors.discrete import DiscreteFactor, TabularCPD
from pgmpy.inference import VariableElimination
from pgmpy.models import DiscreteBayesianNetwork
from pgmpy.parameter_estimator import DiscreteBayesianEstimator

from benchmarks.workers.job import Job, Result, column_digest, main, write_codes
from benchmarks.workers.timing import measure

LOG_PROB_ROWS = 200


def frame_of(job: Job) -> pd.DataFrame:
    return pd.DataFrame(job.read_codes(), columns=job.names)


def hill_climb(job: Job) -> Result:
    def search(frame: pd.DataFrame) -> HillClimbSearch:
        return HillClimbSearch(scoring_method="bic-d", return_type="dag", show_progress=False).fit(frame)

    codes = job.read_codes()
    timing = measure(lambda: pd.DataFrame(codes, columns=job.names), search, repeats=job.repeats)
    parents: list[list[int]] = [[] for _ in job.names]
    for tail, head in timing.answer.causal_graph_.edges():
        parents[job.names.index(head)].append(job.names.index(tail))
    return timing.as_result() | {"parents": [sorted(row) for row in parents], "tabu": True}


def graph(job: Job) -> DiscreteBayesianNetwork:
    net = DiscreteBayesianNetwork([(job.names[tail], job.names[head]) for tail, head in job.arcs])
    net.add_nodes_from(job.names)
    return net


def fitted(job: Job, frame: pd.DataFrame) -> DiscreteBayesianNetwork:
    estimator = DiscreteBayesianEstimator(prior_type="dirichlet", pseudo_counts=job.smoothing)
    return graph(job).fit(frame, estimator=estimator)


def conditional(job: Job, net: DiscreteBayesianNetwork, child: int) -> np.ndarray:
    """Return P(child | parents) with axes [parents ..., state], parents ascending and states in the order of codes."""
    cpd = net.get_cpds(job.names[child])
    ours = [job.names[i] for i in (*job.parents[child], child)]
    values = np.asarray(cpd.values).transpose([cpd.variables.index(name) for name in ours])
    for axis, name in enumerate(ours):
        values = np.take(values, np.argsort(cpd.state_names[name]), axis=axis)
    return values


def fit(job: Job) -> Result:
    frame = frame_of(job)
    timing = measure(lambda: frame, lambda frame: fitted(job, frame), repeats=job.repeats)
    tables = [conditional(job, timing.answer, child).ravel().tolist() for child in range(len(job.names))]
    return timing.as_result() | {"tables": tables}


def log_prob(job: Job) -> Result:
    frame = frame_of(job)
    net = fitted(job, frame)
    rows = frame.head(LOG_PROB_ROWS).to_dict("records")
    timing = measure(lambda: rows, lambda rows: [net.get_state_probability(row) for row in rows], repeats=1)
    scale = job.n_rows / len(rows)
    result = timing.as_result() | {"log_prob": [math.log(value) for value in timing.answer]}
    note = f"no call for a table: get_state_probability row by row, timed on {len(rows)} rows and scaled"
    return result | {"seconds": [seconds * scale for seconds in timing.seconds], "note": note}


def network(job: Job) -> DiscreteBayesianNetwork:
    net = graph(job)
    for child, name in enumerate(job.names):
        parents = job.parents[child]
        values = job.table(child).reshape(-1, job.cardinalities[child]).T
        names, sizes = [job.names[i] for i in parents], [job.cardinalities[i] for i in parents]
        net.add_cpds(TabularCPD(name, job.cardinalities[child], values, names or None, sizes or None))
    return net


def sample(job: Job) -> Result:
    net = network(job)
    timing = measure(
        lambda: net,
        lambda net: net.simulate(job.n_rows, seed=job.seed, show_progress=False),
        repeats=job.repeats,
    )
    write_codes(job.codes, timing.answer[job.names].to_numpy(dtype=np.uint8))
    return timing.as_result()


def read(job: Job) -> Result:
    timing = measure(lambda: job.csv, pd.read_csv, repeats=job.repeats)
    frame = timing.answer
    columns = [
        pd.Categorical(frame[name].astype(str).str.lower(), categories=list(labels)).codes
        for name, labels in zip(frame.columns, job.labels, strict=True)
    ]
    return timing.as_result() | {"digest": column_digest(columns), "note": "pandas.read_csv, which its users read with"}


def families(job: Job) -> Result:
    """Marginals of all families, a query each with the order it chooses by default, which is its fastest."""
    net, given = network(job), {job.names[v]: code for v, code in job.given}
    asked = {child: [job.names[v] for v in job.free(child)] for child in range(len(job.names)) if job.free(child)}

    def query(net: DiscreteBayesianNetwork) -> list[DiscreteFactor]:
        engine = VariableElimination(net)
        return [engine.query(names, evidence=given, show_progress=False) for names in asked.values()]

    timing = measure(lambda: net, query, repeats=job.repeats)
    found = dict(zip(asked, timing.answer, strict=True))
    marginals = [
        as_array(found[child], asked[child]) if child in asked else np.array(1.0) for child in range(len(job.names))
    ]
    job.write_marginals([job.with_given(child, table) for child, table in enumerate(marginals)])
    return timing.as_result() | {"note": "VariableElimination, a query a family"}


def as_array(factor: DiscreteFactor, names: list[str]) -> np.ndarray:
    """Return a factor with its axes in a given order; the states of `network` are its codes."""
    return np.asarray(factor.values).transpose([factor.variables.index(name) for name in names])


def tan(job: Job) -> Result:
    frame, target, root = frame_of(job), job.names[job.target], job.names[job.features[0]]

    def tree(frame: pd.DataFrame) -> DiscreteBayesianNetwork:
        search = TreeSearch(frame, root_node=root, n_jobs=1)
        return search.estimate(estimator_type="tan", class_node=target, show_progress=False)

    timing = measure(lambda: frame, tree, repeats=job.repeats)
    parents: list[list[int]] = [[] for _ in job.names]
    for tail, head in timing.answer.edges():
        parents[job.names.index(head)].append(job.names.index(tail))
    return timing.as_result() | {"parents": [sorted(row) for row in parents], "note": "TreeSearch, one job"}


TASKS = {
    "hill_climb": hill_climb,
    "order": hill_climb,  # which order search is held against
    "tan": tan,
    "fit": fit,
    "log_prob": log_prob,
    "sample": sample,
    "read": read,
    "families": families,
}

if __name__ == "__main__":
    main(TASKS)
