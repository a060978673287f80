"""EM of the parameters beside that of other libraries, where they are installed: pyAgrum and pgmpy."""

from __future__ import annotations

import importlib
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

import fishernet as fn
from studies import comparators
from studies.missing.holes import lacking, with_holes
from studies.study import Array, Run, Seeds, Table, mean

SEEDS = Seeds({"peers": 5103})
RATE = 1e-6  # of the log-likelihood, by which a step of pyAgrum's EM must gain
SHARE, TEST = 20, 5_000
SIZES = {"asia": (1_000, 10), "alarm": (200, 3)}  # rows, and how many tables
NAN = float("nan")
Tables = Mapping[str, Array]
"""Of each variable P(variable | parents), axes as in ``Conditional.table()``."""


def ours(dag: fn.Dag, holes: fn.Table) -> fn.BayesianNetwork:
    return fn.learn.em_fit(dag, holes).model


def labels(holes: fn.Table, missing: object) -> dict[str, npt.NDArray[Any]]:
    """Return the columns as texts of codes, with something else where a cell is missing."""
    columns = {}
    for name, codes, none in zip(holes.names, holes.codes, lacking(holes), strict=True):
        texts = codes.astype(str).astype(object)
        texts[none] = missing
        columns[name] = texts
    return columns


def pyagrum(dag: fn.Dag, holes: fn.Table) -> fn.BayesianNetwork:
    """Return pyAgrum's fit, with one added to every count as in ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of SWIG's types, at import
        gum, pandas = importlib.import_module("pyagrum"), importlib.import_module("pandas")
    states = gum.BayesNet()
    for name, r in zip(holes.names, holes.cardinalities, strict=True):
        states.add(gum.LabelizedVariable(name, name, r))
    learner = gum.BNLearner(pandas.DataFrame(labels(holes, "?")), states, ["?"])
    learner.useEM(RATE)
    learner.useSmoothingPrior(1.0)
    graph = gum.DAG()
    for child in range(len(dag.names)):
        graph.addNodeWithId(child)
    for child, parents in enumerate(dag.parents):
        for parent in parents:
            graph.addArc(parent, child)
    net = learner.learnParameters(graph, False)
    tables = {}
    for child, (name, parents) in enumerate(zip(dag.names, dag.parents, strict=True)):
        tensor = net.cpt(name)
        axes = list(reversed(tensor.names))
        values = np.array(tensor.toarray()).transpose([axes.index(dag.names[v]) for v in (*parents, child)])
        for axis, v in enumerate((*parents, child)):
            order = np.argsort([int(label) for label in net.variable(dag.names[v]).labels()])
            values = values.take(order, axis=axis)
        tables[name] = values
    return of_tables(dag, holes, tables)


def pgmpy(dag: fn.Dag, holes: fn.Table) -> fn.BayesianNetwork | None:
    """Return pgmpy's EM, which leaves out the rows that lack a cell; None where none is left."""
    if not holes.drop_missing().n_rows:
        return None
    pandas = importlib.import_module("pandas")
    models, estimators = (importlib.import_module(f"pgmpy.{part}") for part in ("models", "parameter_estimator"))
    model = models.DiscreteBayesianNetwork(dag.edges)
    model.add_nodes_from(dag.names)
    states = {name: [str(k) for k in range(r)] for name, r in zip(holes.names, holes.cardinalities, strict=True)}
    frame = pandas.DataFrame(labels(holes, None))
    step = estimators.DiscreteBayesianEstimator(prior_type="K2")  # one added to every count
    learner = estimators.DiscreteEM(state_names=states, m_step_estimator=step, show_progress=False)
    fitted = learner.fit(model, frame)
    tables = {}
    for cpd in fitted.parameters_:
        child = dag.names.index(cpd.variable)
        factor = cpd.to_factor()
        wanted = [dag.names[v] for v in (*dag.parents[child], child)]
        tables[cpd.variable] = factor.values.transpose([factor.variables.index(name) for name in wanted])
    return of_tables(dag, holes, tables)


def of_tables(dag: fn.Dag, holes: fn.Table, tables: Tables) -> fn.BayesianNetwork:
    parents = {name: [dag.names[v] for v in of] for name, of in zip(dag.names, dag.parents, strict=True)}
    normal = {name: np.clip(of, 1e-300, None) / of.sum(axis=-1, keepdims=True) for name, of in tables.items()}
    return fn.BayesianNetwork.from_tables(holes.variables, parents, normal)


PEERS: dict[str, Callable[[fn.Dag, fn.Table], fn.BayesianNetwork | None]] = {
    "fishernet": ours,
    "pyAgrum": pyagrum,
    "pgmpy": pgmpy,
}
NEEDS = {"pyAgrum": "pyagrum", "pgmpy": "pgmpy"}


def fits(name: str, n: int, repetition: int, libraries: tuple[str, ...]) -> list[list[float]]:
    """Return by library: log-likelihood of what is known and of other, complete rows, per row, and seconds."""
    rng = np.random.default_rng([SEEDS["peers"], n, repetition])
    truth = fn.datasets.load(name)
    assert isinstance(truth, fn.BayesianNetwork)
    table, test = truth.sample(n, seed=rng), truth.sample(TEST, seed=rng)
    holes = with_holes(table, "MCAR", SHARE / 100, rng)
    found = []
    for library in libraries:
        began = time.perf_counter()
        net = PEERS[library](truth.dag, holes)
        seconds = time.perf_counter() - began
        found.append([NAN] * 3 if net is None else [*(float(net.log_prob(of).mean()) for of in (holes, test)), seconds])
    return found


def compute(run: Run) -> Iterator[Table]:
    """Fit the same tables by every library that is installed."""
    libraries = tuple(name for name in PEERS if name not in NEEDS or not comparators.missing(NEEDS[name]))
    run.settings["libraries"] = {name: version(NEEDS[name]) for name in libraries if name in NEEDS}
    rows = []
    for name, (n, usual) in SIZES.items():
        if run.form == "quick" and name != "asia":
            continue
        repetitions = run.choose(1, usual)
        found = np.array(list(run.map(fits, [(name, n, r, libraries) for r in range(repetitions)])))
        for k, library in enumerate(libraries):
            rows.append([name, n, library, *(mean(column, usual=repetitions) for column in found[:, k].T)])
    heads = ["network", "rows", "library", "log P of known cells", "log P of complete rows", "seconds"]
    yield Table("peers", heads, rows, [".4f", ".4f", ".4f", ".4f", ".4f", ".2g"])
