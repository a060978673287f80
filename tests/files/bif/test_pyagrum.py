"""Files that we write, read by pyAgrum: the same arcs, states and probabilities."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import fishernet as fn
from fishernet.files.bif_words import name_words, state_words
from tests.files.hostile import exact, hostile_networks, in_full
from tests.files.twenty import TWENTY

pyagrum: Any = pytest.importorskip("pyagrum")

CLOSE = 1e-5  # pyAgrum reads the numbers of BIF files in single precision


def written(net: fn.BayesianNetwork, path: Path) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fn.FishernetWarning)
        fn.write_bif(net, path)
    return path


@pytest.mark.parametrize("kind", list(TWENTY))
def test_networks_of_every_kind_of_table_have_the_same_marginals(kind: str, tmp_path: Path) -> None:
    net = TWENTY[kind]()
    path = written(net, tmp_path / "a.bif")
    assert exact(fn.read_bif(path)) == exact(in_full(net))
    theirs = pyagrum.loadBN(str(path))
    words = dict(zip(net.names, name_words(net.names), strict=True))
    assert {(theirs.variable(a).name(), theirs.variable(b).name()) for a, b in theirs.arcs()} == {
        (words[a], words[b]) for a, b in net.dag.edges
    }
    known = net.variables[-1]
    for given_states in ({}, {known.name: known.states[0]}):
        inference = pyagrum.LazyPropagation(theirs)
        inference.setEvidence({words[name]: state_words(known.states)[0] for name in given_states})
        for variable in net.variables:
            word = words[variable.name]
            assert list(theirs.variable(word).labels()) == state_words(variable.states)
            found = inference.posterior(word).toarray()
            expected = fn.infer.marginal(net, [variable.name], given=given_states)
            np.testing.assert_allclose(found[: len(expected)], expected, rtol=0, atol=CLOSE)
            assert not found[len(expected) :].any()


@given(hostile_networks())
@settings(max_examples=60)
def test_networks_with_any_labels_are_read(net: fn.BayesianNetwork) -> None:
    with tempfile.TemporaryDirectory() as folder:
        theirs = pyagrum.loadBN(str(written(net, Path(folder, "a.bif"))))
    for variable, conditional, word in zip(net.variables, net.conditionals, name_words(net.names), strict=True):
        assert list(theirs.variable(word).labels()) == state_words(variable.states)
        if not conditional.parents:
            found = theirs.cpt(word).toarray()[: variable.cardinality]
            np.testing.assert_allclose(found, conditional.table(), rtol=0, atol=CLOSE)
