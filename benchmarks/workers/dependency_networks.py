"""Our tasks on dependency networks, in which there is no peer."""

from __future__ import annotations

import numpy as np

import fishernet as fn
from benchmarks.workers.job import Job, Result, column_digest, digest, write_codes
from benchmarks.workers.timing import measure


def dependency_network(job: Job) -> fn.DependencyNetwork:
    variables = [fn.Variable(name, range(r)) for name, r in zip(job.names, job.cardinalities, strict=True)]
    inputs = {job.names[v]: [job.names[i] for i in row] for v, row in enumerate(job.parents)}
    return fn.DependencyNetwork.from_tables(variables, inputs, {name: job.table(v) for v, name in enumerate(job.names)})


def learn(job: Job) -> Result:
    """Learn inputs and parameters."""
    codes = job.read_codes()
    timing = measure(lambda: fn.Table.from_codes(codes), fn.learn.dependency_network, repeats=job.repeats)
    tables = [conditional.table().ravel() for conditional in timing.answer.conditionals]
    return timing.as_result() | {
        "parents": [list(positions) for positions in timing.answer.inputs],
        "tables": [table.tolist() for table in tables],
        "digest": digest(np.concatenate(tables)),
    }


def stationary(job: Job) -> Result:
    """Find the stationary distribution of the random scan, to the tolerance that is the default."""
    timing = measure(lambda: dependency_network(job), fn.infer.stationary, repeats=job.repeats)
    np.ascontiguousarray(timing.answer).tofile(job.output)
    return timing.as_result() | {"digest": digest(timing.answer)}


def fire(job: Job) -> Result:
    """Fire all variables `n_rows` times in random order, in one chain; every n-th state is written down."""

    def handed() -> fn.DependencyNetwork:
        dn = dependency_network(job)
        assert dn.sampler is not None  # its tables are made once
        return dn

    timing = measure(handed, lambda dn: dn.sample(job.n_rows, burn_in=0, seed=job.seed), repeats=job.repeats)
    columns = timing.answer.codes
    write_codes(job.output, np.stack(columns, axis=1))
    count = job.n_rows * len(job.names)
    return timing.as_result() | {
        "count": count,
        "digest": column_digest(columns),
        "note": f"{count / np.median(timing.seconds) / 1e6:.0f} million firings a second",
    }
