"""Networks of labels and numbers: searches, also of rows that lack cells, the Fisher kernel, a posterior, and EM.

Half of the columns are labels of three states and half are numbers with regressions on labels and numbers, drawn from a
random graph. A graph's BIC must be that of the true one at least, but for a thousandth. No peer takes such tables and
answers these questions exactly.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import fishernet as fn
from benchmarks.calls import Call, Data
from benchmarks.race import Race, Told, Verdict, agrees, below, calls_of
from benchmarks.sources import spaced

TITLE = "Labels and numbers"
STATES = 3


def network(n: int) -> fn.BayesianNetwork:
    """Return n labels, each below at most one other, and n numbers, each below a label and at most two numbers."""
    rng = np.random.default_rng(43)
    variables: list[Any] = [fn.Variable(f"v{v}", range(STATES)) for v in range(n)]
    variables += [fn.Continuous(f"v{v}") for v in range(n, 2 * n)]
    parents: dict[str, list[str]] = {}
    tables: dict[str, Any] = {}
    for v in range(2 * n):
        labels = rng.permutation(min(v, n))[:1].tolist()
        numbers = (n + rng.permutation(max(v - n, 0))[:2]).tolist()
        parents[f"v{v}"] = [f"v{p}" for p in (*labels, *numbers)]
        shape = (STATES,) * len(labels)
        if v < n:
            tables[f"v{v}"] = rng.dirichlet(np.full(STATES, 0.5), size=shape)
        else:
            sd = np.exp(rng.normal(0, 0.3, shape))
            slopes = rng.normal(0, 0.7, (*shape, len(numbers)))
            tables[f"v{v}"] = {"intercept": rng.normal(size=shape), "coefficients": slopes, "sd": sd}
    return fn.BayesianNetwork.from_tables(variables, parents, tables)


def rows_of(n_rows: int, n: int, share: float = 0.0) -> Data:
    """Return rows of n labels and n numbers, of which a share of the cells lacks."""
    net = network(n)
    drawn = net.sample(n_rows, seed=1)
    rows = np.stack([column.astype(np.float64) for column in drawn.codes], axis=1)
    rows[np.random.default_rng(2).random(rows.shape) < share] = np.nan
    holes = f", {share:.0%} missing" if share else ""
    return Data(f"{spaced(n_rows)} x {n} labels and {n} numbers{holes}", rows, parents=net.dag.parents)


def table_of(data: Data) -> fn.Table:
    """Return rows as a table; no column has a scale."""
    net = network(data.rows.shape[1] // 2)
    columns = []
    for variable, column in zip(net.variables, data.rows.T, strict=True):
        absent = variable.cardinality if not variable.is_continuous else np.nan
        columns.append(np.where(np.isnan(column), absent, column).astype(variable.dtype))
    return fn.Table.adopt(net.variables, columns)


def search(name: Any) -> Call:
    return Call(
        table_of,
        lambda table: fn.learn.structure(table, search=name, score="bic"),
        lambda found, _: (found.dag.parents, found.score),
    )


def is_as_good_as_the_truth(told: Told) -> Verdict:
    parents, said = told.answer
    truth = fn.score(fn.Dag(told.data.names, told.data.parents), table_of(told.data), "bic")
    arcs = {(p, c) for c, of in enumerate(parents) for p in of}
    true = {(p, c) for c, of in enumerate(told.data.parents) for p in of}
    text = f"{len(arcs)} arcs, {len(arcs ^ true)} of them and of the true {len(true)} differ; {said - truth:+.1f} nats"
    return bool(said >= truth - 1e-3 * abs(truth)), text


def is_near_the_truth(told: Told) -> Verdict:
    parents, _ = told.answer
    true = fn.Dag(told.data.names, told.data.parents)
    wrong = fn.shd(fn.Dag(told.data.names, parents), true)
    return wrong <= 0.1 * true.n_edges, f"{wrong} arcs of {true.n_edges} are wrong"


GRAM = Call(
    lambda data: (fn.kernels.FisherKernel(network(data.rows.shape[1] // 2)), table_of(data)),
    lambda handed: handed[0](handed[1]),
    lambda matrix, _: matrix[:50, :50],
)
POSTERIOR = Call(
    lambda data: (network(data.rows.shape[1] // 2), table_of(data)),
    lambda handed: handed[0].predict_proba(handed[1], "v0"),
    lambda found, _: found[:50],
    note="each row knows all but one label",
)
EM = Call(
    lambda data: (network(data.rows.shape[1] // 2).dag, table_of(data)),
    lambda handed: fn.learn.parameters(*handed),
    lambda net, data: net.log_prob(table_of(data)).sum(),
    note="to convergence",
)


def is_above_the_truth(told: Told) -> Verdict:
    """Hold the likelihood of what is known to that of the network that the rows are of."""
    gain = float(told.answer - network(told.data.rows.shape[1] // 2).log_prob(table_of(told.data)).sum())
    return gain > 0, f"the log-likelihood is {gain:.1f} above that of the true network"


def features(told: Told) -> Any:
    """Return a Gram matrix by the features of its rows."""
    kernel = fn.kernels.FisherKernel(network(told.data.rows.shape[1] // 2))
    found = kernel.features(table_of(told.data)[:50])
    return (found @ found.T).toarray()


def shares(told: Told) -> Any:
    """Return the posterior of the first label by the probabilities of the rows with each of its states."""
    net, rows = network(told.data.rows.shape[1] // 2), table_of(told.data)[:50]
    logs = [
        net.log_prob(fn.Table.adopt(net.variables, [np.full_like(rows.codes[0], state), *rows.codes[1:]]))
        for state in range(STATES)
    ]
    weights = np.exp(np.array(logs) - np.max(logs, axis=0))
    return (weights / weights.sum(axis=0)).T


LARGE, SMALL, LACKING = partial(rows_of, 100_000, 20), partial(rows_of, 10_000, 20), partial(rows_of, 10_000, 20, 0.1)
RACES = (
    Race(LARGE, search("hill-climb"), is_as_good_as_the_truth, targets=[below(1)], title="hill climbing"),
    Race(LARGE, search("order"), is_as_good_as_the_truth, targets=[below(10)], title="search over orders", needs=""),
    Race(SMALL, GRAM, agrees(features, 1e-8), title="Gram matrix"),
    Race(SMALL, POSTERIOR, agrees(shares), title="posterior of a label"),
    Race(LACKING, EM, is_above_the_truth, title="EM"),
    Race(LACKING, search("order"), is_near_the_truth, title="search, structural EM"),
)
CALLS = calls_of(RACES)
