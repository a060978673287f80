"""Real networks against pyAgrum's lazy propagation."""

from __future__ import annotations

import functools
import math
import operator
import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from tests.reference.inference import Array, family_names

with warnings.catch_warnings():
    # SWIG's own types, at import under Python 3.11 and later; as an error it would end the interpreter
    warnings.filterwarnings("ignore", r"builtin type \w+ has no __module__ attribute", DeprecationWarning)
    import pyagrum as gum

EVIDENCE: list[tuple[str, dict[str, Any], dict[str, list[float]]]] = [
    ("asia", {}, {}),
    ("asia", {"dysp": "yes"}, {}),
    ("asia", {"asia": "yes", "xray": "yes", "smoke": "no"}, {}),
    ("asia", {"dysp": "yes"}, {"xray": [0.7, 0.2], "either": [0.5, 2.0]}),
    ("alarm", {}, {}),
    ("alarm", {"HRBP": "HIGH"}, {}),
    ("alarm", {"CVP": "LOW", "BP": "HIGH", "EXPCO2": "ZERO", "PRESS": "NORMAL", "HISTORY": "TRUE"}, {}),
    ("alarm", {"BP": "LOW"}, {"CO": [0.2, 0.5, 1.0], "VENTLUNG": [1.0, 0.0, 3.0, 0.25]}),
]
CASES = pytest.mark.parametrize(
    ("name", "given", "likelihood"),
    EVIDENCE,
    ids=[f"{name}, {len(given)} given, {len(likelihood)} soft" for name, given, likelihood in EVIDENCE],
)


@cache
def pair(name: str) -> tuple[fn.BayesianNetwork, Any]:
    """Our network, and pyAgrum's made of our tables; states there go by our codes."""
    ours = fn.datasets.load(name)
    assert isinstance(ours, fn.BayesianNetwork)
    theirs = gum.BayesNet()
    for variable in ours.variables:
        theirs.add(gum.LabelizedVariable(variable.name, variable.name, variable.cardinality))
    for child, conditional in enumerate(ours.conditionals):
        for parent in conditional.parents:
            theirs.addArc(ours.names[parent], ours.names[child])
    for child, conditional in enumerate(ours.conditionals):
        cpt = theirs.cpt(ours.names[child])
        axes, wanted = family_names(ours, child), list(reversed(cpt.names))
        cpt[:] = np.ascontiguousarray(conditional.table().transpose([axes.index(axis) for axis in wanted]))
    return ours, theirs


def propagation(name: str, given: dict[str, Any], likelihood: dict[str, list[float]]) -> Any:
    ours, theirs = pair(name)
    codes = {v.name: v.states.index(given[v.name]) for v in ours.variables if v.name in given}
    engine = gum.LazyPropagation(theirs)
    engine.setEvidence({**codes, **likelihood})
    return engine


def as_array(tensor: Any, names: list[str]) -> Array:
    axes = list(reversed(tensor.names))
    return np.asarray(tensor.toarray()).transpose([axes.index(name) for name in names])


@CASES
def test_family_marginals(name: str, given: dict[str, Any], likelihood: dict[str, list[float]]) -> None:
    ours, _ = pair(name)
    engine = propagation(name, given, likelihood)
    families = [family_names(ours, child) for child in range(len(ours.names))]
    for family in families:
        engine.addJointTarget(set(family))
    engine.makeInference()
    got = fn.infer.family_marginals(ours, given=given, likelihood=likelihood)
    tree = fn.infer.JunctionTree(ours).family_marginals(given=given, likelihood=likelihood)
    for family, mine, trees in zip(families, got, tree, strict=True):
        free = [v for v in family if v not in given]
        expected = as_array(engine.jointPosterior(set(free)), free) if free else np.array(1.0)
        cell = tuple(
            ours.variables[ours.names.index(v)].states.index(given[v]) if v in given else slice(None) for v in family
        )
        np.testing.assert_allclose(mine[cell], expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(trees[cell], expected, rtol=1e-9, atol=1e-12)


@CASES
def test_marginals(name: str, given: dict[str, Any], likelihood: dict[str, list[float]]) -> None:
    ours, _ = pair(name)
    engine = propagation(name, given, likelihood)
    engine.makeInference()
    for v in ours.names:
        expected = as_array(engine.posterior(v), [v])
        got = fn.infer.marginal(ours, [v], given=given, likelihood=likelihood)
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


@CASES
def test_log_evidence(name: str, given: dict[str, Any], likelihood: dict[str, list[float]]) -> None:
    ours, _ = pair(name)
    expected = math.log(propagation(name, given, likelihood).evidenceProbability())
    assert fn.infer.log_evidence(ours, given, likelihood=likelihood) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def best_weight(name: str, given: dict[str, Any], likelihood: dict[str, list[float]]) -> float:
    """The largest P(states, given) times the likelihoods, by pyAgrum's tensors: every variable is maximized out.

    Its own `mpe` (3.3.1) ends in "Empty tensor" for both networks.
    """
    ours, theirs = pair(name)
    soft = dict(likelihood)
    for v in ours.variables:
        if v.name in given:
            soft[v.name] = [float(state == given[v.name]) for state in v.states]
    tensors = [theirs.cpt(v) for v in ours.names]
    tensors += [gum.Tensor().add(theirs.variable(v)).fillWith(values) for v, values in soft.items()]
    left, best = list(ours.names), 1.0
    while left:
        chosen = min(left, key=lambda v: len({u for tensor in tensors if v in tensor.names for u in tensor.names}))
        left.remove(chosen)
        product = functools.reduce(operator.mul, [tensor for tensor in tensors if chosen in tensor.names])
        tensors = [tensor for tensor in tensors if chosen not in tensor.names]
        if product.nbrDim() == 1:
            best *= product.max()
        else:
            tensors.append(product.maxOut([chosen]))
    return best


@CASES
def test_the_probability_of_the_most_probable_states(
    name: str, given: dict[str, Any], likelihood: dict[str, list[float]]
) -> None:
    ours, _ = pair(name)
    got = fn.infer.most_probable(ours, given=given, likelihood=likelihood)
    codes = [v.states.index(got[v.name]) for v in ours.variables]
    soft = math.prod(values[codes[ours.names.index(v)]] for v, values in likelihood.items())
    of_states = math.exp(ours.log_prob([codes])[0]) * soft
    assert {v: got[v] for v in given} == given
    assert of_states == pytest.approx(best_weight(name, given, likelihood), rel=1e-9)
