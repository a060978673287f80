"""The worker that runs a job with fishernet."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

import fishernet as fn
from benchmarks.workers import dependency_networks, gaussian, independence, sequences, structures
from benchmarks.workers.job import Job, Result, column_digest, digest, main, write_codes
from benchmarks.workers.structures import graph_result
from benchmarks.workers.timing import measure
from fishernet.kernels.fisher import Invariant
from fishernet.base.random import stream_key
from fishernet.select.greedy import CoreSwaps


def graph(job: Job) -> fn.Dag:
    return fn.Dag(job.names, [tuple(row) for row in job.parents])


def network(job: Job) -> fn.BayesianNetwork:
    variables = [fn.Variable(name, range(r)) for name, r in zip(job.names, job.cardinalities, strict=True)]
    parents = {job.names[child]: [job.names[i] for i in row] for child, row in enumerate(job.parents)}
    return fn.BayesianNetwork.from_tables(variables, parents, {v: job.table(i) for i, v in enumerate(job.names)})


def fitted(job: Job) -> fn.BayesianNetwork:
    return fn.learn.parameters(graph(job), fn.Table.from_codes(job.read_codes()), smoothing=job.smoothing)


def fresh(net: fn.BayesianNetwork) -> fn.BayesianNetwork:
    """Return a network that nothing has been computed from yet."""
    return fn.BayesianNetwork(net.variables, net.conditionals)


def hill_climb(job: Job) -> Result:
    codes = job.read_codes()
    timing = measure(
        lambda: fn.Table.from_codes(codes), lambda table: fn.learn.dag(table, score="bic"), repeats=job.repeats
    )
    return timing.as_result() | graph_result(timing.answer)


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
    codes, net = job.read_codes(), fitted(job)
    timing = measure(lambda: fn.Table.from_codes(codes), net.log_prob, repeats=job.repeats)
    return timing.as_result() | {"log_prob": timing.answer.tolist(), "digest": digest(timing.answer)}


def sample(job: Job) -> Result:
    net = network(job)
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


def families(job: Job) -> Result:
    net, given = network(job), {job.names[v]: code for v, code in job.given}
    timing = measure(lambda: fresh(net), lambda net: fn.infer.family_marginals(net, given=given), repeats=job.repeats)
    job.write_marginals(timing.answer)
    return timing.as_result() | {"digest": digest(np.concatenate([table.ravel() for table in timing.answer]))}


def gibbs(job: Job) -> Result:
    """Fire all variables `n_rows` times in random order; shares are those of the first state of each."""
    net = network(job)

    def handed() -> fn.DependencyNetwork:
        dn = fn.DependencyNetwork.from_joint(net, allow_zeros=True)
        assert dn.sampler is not None  # made once, as the peer makes its engine
        return dn

    timing = measure(handed, lambda dn: dn.sample(job.n_rows, burn_in=0, seed=job.seed), repeats=job.repeats)
    columns = timing.answer.codes
    return timing.as_result() | {
        "shares": [float((column == 0).mean()) for column in columns],
        "digest": column_digest(columns),
        "note": f"{job.n_rows * len(job.names) / np.median(timing.seconds) / 1e6:.2f} million firings a second",
    }


Handed = tuple[fn.BayesianNetwork, fn.Table]


def handing(job: Job) -> Callable[[], Handed]:
    """Return what hands over a network and a table of which nothing is known yet."""
    codes, net = job.read_codes(), fitted(job)
    return lambda: (fresh(net), fn.Table.from_codes(codes))


def gram(job: Job) -> Result:
    def matrix(handed: Handed) -> npt.NDArray[np.float64]:
        net, table = handed
        return fn.kernels.FisherKernel(net)(table)

    timing = measure(handing(job), matrix, repeats=job.repeats)
    entries = timing.answer[tuple(job.entries().T)]
    note = "the probabilities of the parents' states included"
    return timing.as_result() | {
        "kind": "fisher",
        "entries": entries.tolist(),
        "digest": digest(timing.answer),
        "note": note,
    }


def select(job: Job) -> Result:
    def choose(handed: Handed) -> fn.select.Selection:
        net, table = handed
        if job.criterion == "chi-square":
            return fn.select.greedy_chi_square(table, job.k, n_starts=job.n_starts, seed=job.seed)
        kernel = fn.kernels.FisherKernel(net)
        return fn.select.greedy_mmd(kernel, table, job.k, n_starts=job.n_starts, seed=job.seed)

    timing = measure(handing(job), choose, repeats=job.repeats)
    found = timing.answer
    note = f"{found.sweeps} sweeps, {len(found.trace) - 1} rows replaced; from {found.trace[0]:.4g}"
    return timing.as_result() | chosen(found.indices, found.distance) | {"note": note}


def starts(job: Job) -> Result:
    """Draw the random subsets alone, as `greedy_mmd` does; the kernel is there."""
    hand, key = handing(job), stream_key(job.seed)

    def kernel_and_table() -> tuple[Invariant, fn.Table]:
        net, table = hand()
        rule = fn.kernels.FisherKernel(net).rule
        assert isinstance(rule, Invariant)
        return rule, table

    def draw(handed: tuple[Invariant, fn.Table]) -> CoreSwaps:
        search = CoreSwaps.of_distance(*handed, job.k)
        search.draw_start(key, job.n_starts)
        return search

    timing = measure(kernel_and_table, draw, repeats=job.repeats)
    return timing.as_result() | chosen(timing.answer.rows, float(timing.answer.trace[-1]))


def chosen(rows: npt.NDArray[np.int64], distance: float) -> Result:
    return {"rows": rows.tolist(), "distance": distance, "digest": digest(np.append(rows.astype(float), distance))}


TASKS = {
    "hill_climb": hill_climb,
    "fit": fit,
    "log_prob": log_prob,
    "sample": sample,
    "read": read,
    "families": families,
    "gram": gram,
    "select": select,
    "starts": starts,
    "gibbs": gibbs,
    "dependency_network": dependency_networks.learn,
    "stationary": dependency_networks.stationary,
    "fire": dependency_networks.fire,
    **structures.TASKS,
    **sequences.TASKS,
    **gaussian.TASKS,
    **independence.TASKS,
}

if __name__ == "__main__":
    main(TASKS, fn.set_threads)
