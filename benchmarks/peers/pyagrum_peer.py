"""The worker that runs a job with pyAgrum.

The learner is given a pandas frame of codes (it writes a CSV file of it and reads that back: "handing over"), no prior,
and no bound on the number of parents, which is its default as it is ours. Only the call that does the work is timed.
The ``use...`` calls are not chained: what they return does not keep a learner alive.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyagrum as gum

from benchmarks.workers.job import Job, Result, main, write_codes
from benchmarks.workers.timing import measure


def learner(job: Job, frame: pd.DataFrame | str) -> gum.BNLearner:
    made = gum.BNLearner(frame)
    if job.threads:
        made.setNumberOfThreads(job.threads)
    return made


def climber(job: Job, frame: pd.DataFrame) -> gum.BNLearner:
    made = learner(job, frame)
    made.useGreedyHillClimbing()
    made.useScoreBIC()
    made.useNoPrior()
    return made


def hill_climb(job: Job) -> Result:
    frame = pd.DataFrame(job.read_codes(), columns=job.names)
    timing = measure(lambda: climber(job, frame), lambda made: (made, made.learnDAG()), repeats=job.repeats)
    made, dag = timing.answer
    position = {node: job.names.index(made.nameFromId(node)) for node in dag.nodes()}
    parents: list[list[int]] = [[] for _ in job.names]
    for tail, head in dag.arcs():
        parents[position[head]].append(position[tail])
    return timing.as_result() | {"parents": [sorted(row) for row in parents]}


def smoother(job: Job, frame: pd.DataFrame) -> gum.BNLearner:
    made = learner(job, frame)
    made.useSmoothingPrior(job.smoothing)
    return made


def fitted(job: Job, made: gum.BNLearner) -> gum.BayesNet:
    dag = gum.DAG()
    for child in range(len(job.names)):
        dag.addNodeWithId(child)
    for tail, head in job.arcs:
        dag.addArc(tail, head)
    return made.learnParameters(dag, False)


def as_array(tensor: gum.Tensor, names: list[str]) -> np.ndarray:
    """Return a tensor with its axes in a given order; its own array has them in the reverse of its names' order."""
    axes = list(reversed(tensor.names))
    return np.asarray(tensor.toarray()).transpose([axes.index(name) for name in names])


def conditional(job: Job, net: gum.BayesNet, child: int) -> np.ndarray:
    """Return P(child | parents) with axes [parents ..., state], parents ascending and states in the order of codes."""
    values = as_array(net.cpt(job.names[child]), [job.names[i] for i in job.family(child)])
    for axis, i in enumerate(job.family(child)):
        labels = [int(label) for label in net.variable(job.names[i]).labels()]
        values = np.take(values, np.argsort(labels), axis=axis)
    return values


def fit(job: Job) -> Result:
    frame = pd.DataFrame(job.read_codes(), columns=job.names)
    timing = measure(lambda: smoother(job, frame), lambda made: fitted(job, made), repeats=job.repeats)
    tables = [conditional(job, timing.answer, child).ravel().tolist() for child in range(len(job.names))]
    return timing.as_result() | {"tables": tables}


def log_prob(job: Job) -> Result:
    codes = job.read_codes()
    net = fitted(job, smoother(job, pd.DataFrame(codes, columns=job.names)))
    variables = [net.variable(name) for name in job.names]
    sizes = job.cardinalities
    places = [[variable.index(str(code)) for code in range(r)] for variable, r in zip(variables, sizes, strict=True)]
    rows = [[place[code] for place, code in zip(places, row, strict=True)] for row in codes.tolist()]
    instantiation = net.completeInstantiation()
    where = [instantiation.pos(variable) for variable in variables]

    def every_row(rows: list[list[int]]) -> list[float]:
        values = []
        for row in rows:
            for i, code in zip(where, row, strict=True):
                instantiation.chgVal(i, code)
            values.append(net.log2JointProbability(instantiation))
        return values

    timing = measure(lambda: rows, every_row, repeats=job.repeats)
    note = "no call for a table: log2JointProbability row by row"
    return timing.as_result() | {"log_prob": [value * math.log(2) for value in timing.answer], "note": note}


def network(job: Job) -> gum.BayesNet:
    net = gum.BayesNet()
    for name, r in zip(job.names, job.cardinalities, strict=True):
        net.add(gum.LabelizedVariable(name, name, r))
    for tail, head in job.arcs:
        net.addArc(job.names[tail], job.names[head])
    for child, name in enumerate(job.names):
        ours = [job.names[i] for i in (*job.parents[child], child)]
        theirs = list(reversed(net.cpt(name).names))
        net.cpt(name)[:] = np.ascontiguousarray(job.table(child).transpose([ours.index(axis) for axis in theirs]))
    return net


def sample(job: Job) -> Result:
    gum.initRandom(job.seed)
    net = network(job)

    def draw(net: gum.BayesNet) -> gum.BNDatabaseGenerator:
        generator = gum.BNDatabaseGenerator(net)
        generator.drawSamples(job.n_rows)
        return generator

    timing = measure(lambda: net, draw, repeats=job.repeats)
    frame = timing.answer.to_pandas(with_labels=False)
    write_codes(job.codes, frame[job.names].to_numpy(dtype=np.uint8))
    return timing.as_result() | {"note": "drawSamples alone; making a frame of them comes on top"}


def read(job: Job) -> Result:
    timing = measure(lambda: job.csv, lambda path: learner(job, path), repeats=job.repeats)
    made = timing.answer
    return timing.as_result() | {"shape": [made.nbRows(), made.nbCols()]}


# Each way returns the posteriors of the targets, and what must live as long as they.
Given = dict[str, int]
Way = Callable[[gum.BayesNet, Given, list[set[str]]], tuple[list[gum.Tensor], Any]]


def by_one_tree(net: gum.BayesNet, given: Given, targets: list[set[str]]) -> tuple[list[gum.Tensor], Any]:
    engine = gum.LazyPropagation(net)
    engine.setEvidence(given)
    for target in targets:
        engine.addJointTarget(target)
    engine.makeInference()
    return [engine.jointPosterior(target) for target in targets], engine


def by_queries(net: gum.BayesNet, given: Given, targets: list[set[str]]) -> tuple[list[gum.Tensor], Any]:
    """Ask one engine for one target after another."""
    engine, posteriors = gum.VariableElimination(net), []
    engine.setEvidence(given)
    for target in targets:
        engine.eraseAllTargets()
        engine.addJointTarget(target)
        engine.makeInference()
        posteriors.append(gum.Tensor(engine.jointPosterior(target)))  # a copy: the engine forgets it
    return posteriors, None


def by_fragments(net: gum.BayesNet, given: Given, targets: list[set[str]]) -> tuple[list[gum.Tensor], Any]:
    """Ask for each target an engine that knows only the ancestors of it and of what is given."""
    posteriors = []
    for target in targets:
        fragment = gum.BayesNetFragment(net)
        for name in (*target, *given):
            fragment.installAscendants(name)
        engine = gum.VariableElimination(fragment)
        engine.setEvidence(given)
        engine.addJointTarget(target)
        engine.makeInference()
        posteriors.append(gum.Tensor(engine.jointPosterior(target)))
    return posteriors, None


WAYS: dict[str, Way] = {
    "one tree": by_one_tree,
    "a query a family": by_queries,
    "a query a fragment": by_fragments,
}


def families(job: Job) -> Result:
    net, given, way = network(job), {job.names[v]: code for v, code in job.given}, WAYS[job.form]
    asked = {child: [job.names[v] for v in job.free(child)] for child in range(len(job.names)) if job.free(child)}
    targets = [set(names) for names in asked.values()]
    timing = measure(lambda: net, lambda net: way(net, given, targets), repeats=job.repeats)
    found = dict(zip(asked, timing.answer[0], strict=True))
    marginals = [
        as_array(found[child], asked[child]) if child in asked else np.array(1.0) for child in range(len(job.names))
    ]
    job.write_marginals([job.with_given(child, table) for child, table in enumerate(marginals)])
    return timing.as_result()


def gibbs(job: Job) -> Result:
    """Let its Gibbs sampler draw as many variables; an iteration of its draws one."""
    gum.initRandom(job.seed)
    net = network(job)
    firings = job.n_rows * len(job.names)

    def engine() -> gum.GibbsSampling:
        made = gum.GibbsSampling(net)
        made.setNbrDrawnVar(1)
        made.setBurnIn(0)
        made.setMaxIter(firings)
        made.setMaxTime(600)
        made.setEpsilon(1e-12)  # none of its reasons to stop but the number of iterations
        made.setMinEpsilonRate(1e-12)
        made.setPeriodSize(firings)
        return made

    def draw(made: gum.GibbsSampling) -> gum.GibbsSampling:
        made.makeInference()
        return made

    timing = measure(engine, draw, repeats=job.repeats)
    rate = timing.answer.nbrIterations() / float(np.median(timing.seconds)) / 1e6
    return timing.as_result() | {
        "shares": [float(timing.answer.posterior(name)[0]) for name in job.names],
        "note": f"{timing.answer.nbrIterations():,} iterations, {rate:.2f} million a second",
    }


def tan(job: Job) -> Result:
    """Fit its classifier, which makes a file of the table, counts the pairs in Python and learns the parameters too."""
    import pyagrum.skbn as skbn  # not above: it brings scikit-learn
    from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor

    frame = pd.DataFrame(job.read_codes(), columns=job.names)
    target = job.names[job.target]
    processor = DiscreteTypeProcessor(defaultDiscretizationMethod="NoDiscretization", defaultNumberOfBins=None)

    def classifier() -> Any:
        return skbn.BNClassifier(
            type_processor=processor, learningMethod="TAN", prior="Smoothing", priorWeight=job.smoothing
        )

    features, classes = frame.drop(columns=target), frame[target]
    timing = measure(classifier, lambda made: made.fit(features, classes).bn_, repeats=job.repeats)
    net = timing.answer
    parents = [sorted(job.names.index(net.variable(i).name()) for i in net.parents(name)) for name in job.names]
    note = "BNClassifier.fit: a file and the parameters included; pairs are counted with its prior"
    return timing.as_result() | {"parents": parents, "approximate": True, "note": note}


TASKS = {
    "hill_climb": hill_climb,
    "order": hill_climb,  # which order search is held against
    "tan": tan,
    "fit": fit,
    "log_prob": log_prob,
    "sample": sample,
    "read": read,
    "families": families,
    "gibbs": gibbs,
}

if __name__ == "__main__":
    main(TASKS, gum.setNumberOfThreads)
