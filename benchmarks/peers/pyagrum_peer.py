"""pyAgrum.

The learner is given a pandas frame of codes (it writes a CSV file of it and reads that back: "handing over"), no
prior, and no bound on the number of parents, which is its default as it is ours. The ``use...`` calls are not
chained: what they return does not keep a learner alive.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyagrum as gum

from benchmarks.calls import Call, Data, importing, threads

set_threads = gum.setNumberOfThreads
EM_RATE = 1e-6  # of the log-likelihood, by which a step of EM must gain


def frame(data: Data) -> pd.DataFrame:
    return pd.DataFrame(data.rows, columns=data.names)


def learner(source: pd.DataFrame | str) -> gum.BNLearner:
    made = gum.BNLearner(source)
    if threads():
        made.setNumberOfThreads(threads())
    return made


def climber(data: Data) -> gum.BNLearner:
    made = learner(frame(data))
    made.useGreedyHillClimbing()
    made.useScoreBIC()
    made.useNoPrior()
    return made


def parents(found: tuple[gum.BNLearner, Any], data: Data) -> list[list[int]]:
    made, dag = found
    place = {node: data.names.index(made.nameFromId(node)) for node in dag.nodes()}
    rows: list[list[int]] = [[] for _ in data.names]
    for tail, head in dag.arcs():
        rows[place[head]].append(place[tail])
    return [sorted(row) for row in rows]


def smoother(data: Data) -> tuple[gum.BNLearner, gum.DAG]:
    return with_graph(learner(frame(data)), data)


def with_graph(made: gum.BNLearner, data: Data) -> tuple[gum.BNLearner, gum.DAG]:
    """Return a learner with pseudo-count one, and the graph whose parameters it is to learn."""
    made.useSmoothingPrior(1.0)
    dag = gum.DAG()
    for child in range(len(data.names)):
        dag.addNodeWithId(child)
    for child, of in enumerate(data.parents):
        for parent in of:
            dag.addArc(parent, child)
    return made, dag


def fit(handed: tuple[gum.BNLearner, gum.DAG]) -> gum.BayesNet:
    return handed[0].learnParameters(handed[1], False)


def incomplete(data: Data) -> tuple[gum.BNLearner, gum.DAG]:
    """Return a learner of rows in which codes as large as the number of states are missing cells."""
    codes = frame(data).astype(str).mask(data.rows == np.array(data.cardinalities), "?")
    states = gum.BayesNet()
    for name, r in zip(data.names, data.cardinalities, strict=True):
        states.add(gum.LabelizedVariable(name, name, r))
    made = gum.BNLearner(codes, states, ["?"])
    if threads():
        made.setNumberOfThreads(threads())
    made.useEM(EM_RATE)
    return with_graph(made, data)


def as_array(tensor: gum.Tensor, names: Sequence[str]) -> np.ndarray:
    """Return a tensor with its axes in a given order; its own array has them in the reverse of its names' order."""
    axes = list(reversed(tensor.names))
    return np.array(tensor.toarray()).transpose([axes.index(name) for name in names])


def tables(net: gum.BayesNet, data: Data) -> list[np.ndarray]:
    """Return P(child | parents) with axes [parents ..., state], parents ascending and states in the order of codes."""
    found = []
    for child, name in enumerate(data.names):
        names = [data.names[i] for i in data.family(child)]
        values = as_array(net.cpt(name), names)
        for axis, other in enumerate(names):
            values = np.take(values, np.argsort([int(label) for label in net.variable(other).labels()]), axis=axis)
        found.append(values)
    return found


def rows_to_ask(data: Data) -> tuple[gum.BayesNet, gum.Instantiation, list[int], list[list[int]]]:
    """Return a fitted network, an assignment, the variables' places in it, and the rows by its labels' places."""
    net = fit(smoother(data))
    variables, assigned = [net.variable(name) for name in data.names], net.completeInstantiation()
    places = [[v.index(str(code)) for code in range(r)] for v, r in zip(variables, data.cardinalities, strict=True)]
    rows = [[place[code] for place, code in zip(places, row, strict=True)] for row in data.rows.tolist()]
    return net, assigned, [assigned.pos(variable) for variable in variables], rows


def every_row(handed: tuple[gum.BayesNet, gum.Instantiation, list[int], list[list[int]]]) -> list[float]:
    (net, assigned, where, rows), values = handed, []
    for row in rows:
        for i, code in zip(where, row, strict=True):
            assigned.chgVal(i, code)
        values.append(net.log2JointProbability(assigned))
    return values


def network(data: Data) -> gum.BayesNet:
    gum.initRandom(1)
    net = gum.BayesNet()
    for name, r in zip(data.names, data.cardinalities, strict=True):
        net.add(gum.LabelizedVariable(name, name, r))
    for tail, head in data.arcs:
        net.addArc(tail, head)
    for child, name in enumerate(data.names):
        ours, theirs = [data.names[i] for i in data.family(child)], list(reversed(net.cpt(name).names))
        net.cpt(name)[:] = np.ascontiguousarray(data.tables[child].transpose([ours.index(axis) for axis in theirs]))
    return net


def draw(handed: tuple[gum.BayesNet, int]) -> gum.BNDatabaseGenerator:
    generator = gum.BNDatabaseGenerator(handed[0])
    generator.drawSamples(handed[1])
    return generator


# Each way returns the posteriors of the targets, and what must live as long as they.


def by_one_tree(net: gum.BayesNet, data: Data) -> tuple[list[gum.Tensor], Any]:
    engine, targets = gum.LazyPropagation(net), [set(names) for names in data.asked()]
    engine.setEvidence(data.known)
    for target in targets:
        engine.addJointTarget(target)
    engine.makeInference()
    return [engine.jointPosterior(target) for target in targets], (engine, net)


def by_queries(net: Any, data: Data, asked: Sequence[Sequence[str]] = ()) -> tuple[list[gum.Tensor], Any]:
    """Ask one engine for one target after another."""
    engine, posteriors = gum.VariableElimination(net), []
    engine.setEvidence(data.known)
    for names in asked or data.asked():
        engine.eraseAllTargets()
        engine.addJointTarget(set(names))
        engine.makeInference()
        posteriors.append(gum.Tensor(engine.jointPosterior(set(names))))  # a copy: the engine forgets it
    return posteriors, net


def by_fragments(net: gum.BayesNet, data: Data) -> tuple[list[gum.Tensor], Any]:
    """Ask for each target an engine that knows only the ancestors of it and of what is given."""
    posteriors = []
    for names in data.asked():
        fragment = gum.BayesNetFragment(net)
        for name in (*names, *data.known):
            fragment.installAscendants(name)
        posteriors += by_queries(fragment, data, [names])[0]
    return posteriors, net


def families(way: Any) -> Call:
    def tell(found: tuple[list[gum.Tensor], Any], data: Data) -> list[np.ndarray]:
        return [as_array(tensor, names) for tensor, names in zip(found[0], data.asked(), strict=True)]

    return Call(lambda data: (network(data), data), lambda handed: way(*handed), tell)


def gibbs_engine(data: Data) -> tuple[gum.GibbsSampling, gum.BayesNet]:
    """Return its sampler, which draws one variable an iteration, and the network, which it does not keep alive."""
    net, firings = network(data), data.options["n_rows"] * len(data.names)
    made = gum.GibbsSampling(net)
    made.setNbrDrawnVar(1)
    made.setBurnIn(0)
    made.setMaxIter(firings)
    made.setMaxTime(600)
    made.setEpsilon(1e-12)  # none of its reasons to stop but the number of iterations
    made.setMinEpsilonRate(1e-12)
    made.setPeriodSize(firings)
    return made, net


def fire(handed: tuple[gum.GibbsSampling, gum.BayesNet]) -> tuple[gum.GibbsSampling, gum.BayesNet]:
    handed[0].makeInference()
    return handed


def classifier(data: Data) -> tuple[Any, ...]:
    """Return its classifier, which makes a file of the table, counts the pairs in Python and learns parameters too."""
    import pyagrum.skbn as skbn  # not above: it brings scikit-learn
    from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor

    processor = DiscreteTypeProcessor(defaultDiscretizationMethod="NoDiscretization", defaultNumberOfBins=None)
    made = skbn.BNClassifier(type_processor=processor, learningMethod="TAN", prior="Smoothing", priorWeight=1.0)
    table = frame(data)
    return made, table.drop(columns=data.names[-1]), table[data.names[-1]]


def tan_parents(net: gum.BayesNet, data: Data) -> list[list[int]]:
    return [sorted(data.names.index(net.variable(i).name()) for i in net.parents(name)) for name in data.names]


CALLS = {
    "import": importing("pyagrum"),
    "hill_climb": Call(climber, lambda made: (made, made.learnDAG()), parents),
    "fit": Call(smoother, fit, tables),
    "em": Call(incomplete, fit, tables, note=f"useEM({EM_RATE:g})"),
    "log_prob": Call(
        rows_to_ask,
        every_row,
        lambda found, _: np.array(found) * math.log(2),
        note="no call for a table: log2JointProbability row by row",
    ),
    "sample": Call(
        lambda data: (network(data), data.options["n_rows"]),
        draw,
        lambda drawn, data: drawn.to_pandas(with_labels=False)[data.names].to_numpy(dtype=np.uint8),
        note="drawSamples alone; making a frame of them comes on top",
    ),
    "read": Call(lambda data: data.options["csv"], learner, lambda made, _: [made.nbRows(), made.nbCols()]),
    "one_tree": families(by_one_tree),
    "queries": families(by_queries),
    "fragments": families(by_fragments),
    "gibbs": Call(gibbs_engine, fire, lambda found, data: [float(found[0].posterior(name)[0]) for name in data.names]),
    "tan": Call(
        classifier,
        lambda handed: handed[0].fit(*handed[1:]).bn_,
        tan_parents,
        note="BNClassifier.fit: a file and the parameters included; pairs are counted with its prior",
    ),
}
