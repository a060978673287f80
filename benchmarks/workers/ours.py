"""The worker that runs a job with fishernet."""

from __future__ import annotations

import numpy as np

import fishernet as fn
from benchmarks.workers.job import Job, Result, column_digest, digest, main, write_codes
from benchmarks.workers.timing import measure


def graph(job: Job) -> fn.Dag:
    return fn.Dag(job.names, [tuple(row) for row in job.parents])


def hill_climb(job: Job) -> Result:
    codes = job.read_codes()
    timing = measure(
        lambda: fn.Table.from_codes(codes), lambda table: fn.learn.dag(table, score="bic"), repeats=job.repeats
    )
    parents = [list(positions) for positions in timing.answer.parents]
    return timing.as_result() | {"parents": parents, "digest": digest([i for row in parents for i in (len(row), *row)])}


def fit(job: Job) -> Result:
    codes, dag = job.read_codes(), graph(job)
    timing = measure(
        lambda: fn.Table.from_codes(codes),
        lambda table: fn.learn.parameters(dag, table, smoothing=job.smoothing),
        repeats=job.repeats,
    )
    tables = [conditional.table().ravel() for conditional in timing.answer.conditionals]
    return timing.as_result() | {
        "tables": [table.tolist() for table in tables],
        "digest": digest(np.concatenate(tables)),
    }


def log_prob(job: Job) -> Result:
    codes, dag = job.read_codes(), graph(job)
    net = fn.learn.parameters(dag, fn.Table.from_codes(codes), smoothing=job.smoothing)
    timing = measure(lambda: fn.Table.from_codes(codes), net.log_prob, repeats=job.repeats)
    return timing.as_result() | {"log_prob": timing.answer.tolist(), "digest": digest(timing.answer)}


def sample(job: Job) -> Result:
    variables = [fn.Variable(name, range(r)) for name, r in zip(job.names, job.cardinalities, strict=True)]
    parents = {job.names[child]: [job.names[i] for i in row] for child, row in enumerate(job.parents)}
    tables = {name: job.table(child) for child, name in enumerate(job.names)}
    net = fn.BayesianNetwork.from_tables(variables, parents, tables)
    timing = measure(lambda: net, lambda net: net.sample(job.n_rows, seed=job.seed), repeats=job.repeats)
    columns = timing.answer.codes
    write_codes(job.codes, np.stack(columns, axis=1))
    return timing.as_result() | {"digest": column_digest(columns)}


def read(job: Job) -> Result:
    timing = measure(lambda: job.csv, fn.read_table, repeats=job.repeats)
    table = timing.answer
    columns = []
    for variable, column, labels in zip(table.variables, table.codes, job.labels, strict=True):
        columns.append(np.array([labels.index(str(state).lower()) for state in variable.states])[column])
    return timing.as_result() | {"digest": column_digest(columns)}


if __name__ == "__main__":
    main({"hill_climb": hill_climb, "fit": fit, "log_prob": log_prob, "sample": sample, "read": read}, fn.set_threads)
