"""Gaussian networks in the model file."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import fishernet as fn
from fishernet.base.fields import Fields
from fishernet.files import load, save
from fishernet.files.gaussians import read_directed, read_undirected, undirected_fields
from fishernet.files.networks import network_fields
from tests.files.test_dependency_fields import Edit
from tests.files.test_network_fields import place
from tests.reference.gaussians import bayesian_networks, markov_networks, regressions

MARKOV = fn.GaussianMarkovNetwork(
    ["a", 'up, "or" dön', "c"], [0.1, -1e-300, 3e200], [[2, 0, -0.1], [0, 5e-300, 0], [-0.1, 0, 1 / 3]]
)
DAG = fn.Dag.from_edges(["a", "b", "c"], [("c", "a"), ("b", "a"), ("b", "c")])
BAYES = fn.BayesianNetwork.from_regressions(DAG, [0.1, 2, 5e-324], [[1 / 3, -2], [], [0.0]], [1, 1e-300, 0.2])

# Files of version 1, kept as they were: every later version must read them.
MARKOV_1 = """{
"format": "fishernet",
"version": 1,
"kind": "GaussianMarkovNetwork",
"names": [
  "a",
  "b"
],
"mean": [
  0.0,
  1
],
"precision": [
  2.0,
  2
],
"edges": [
  [0, 1, -0.1]
]
}
"""
BAYES_1 = """{
"format": "fishernet",
"version": 1,
"kind": "GaussianBayesianNetwork",
"variables": [
  {"name": "a", "parents": [1], "intercept": 0, "coefficients": [0.5], "sd": 1},
  {"name": "b", "parents": [], "intercept": 0.1, "coefficients": [], "sd": 2.5}
]
}
"""


def exact(model: Any) -> Any:
    """Return everything a model holds, numbers as their bits."""
    if isinstance(model, fn.GaussianMarkovNetwork):
        return model.names, model.mean.tobytes(), model.precision.tobytes()
    intercepts, slopes, sds = regressions(model)
    return model.dag, intercepts.tobytes(), [values.tobytes() for values in slopes], sds.tobytes()


def returned(model: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder, "a.json.gz"))
        return load(Path(folder, "a.json.gz"))


@given(markov_networks)
def test_a_markov_network_comes_back_to_the_last_bit(net: fn.GaussianMarkovNetwork) -> None:
    assert exact(returned(net)) == exact(net)


@given(bayesian_networks)
def test_a_bayesian_network_comes_back_to_the_last_bit(net: fn.BayesianNetwork) -> None:
    assert exact(returned(net)) == exact(net)


@pytest.mark.parametrize("net", [MARKOV, BAYES], ids=repr)
def test_strange_names_and_numbers_come_back(net: Any) -> None:
    assert exact(returned(net)) == exact(net)


def test_fields_are_plain_values_in_a_known_layout() -> None:
    assert json.loads(json.dumps(undirected_fields(MARKOV))) == {
        "names": ["a", 'up, "or" dön', "c"],
        "mean": [0.1, -1e-300, 3e200],
        "precision": [2, 5e-300, 1 / 3],
        "edges": [[0, 2, -0.1]],
    }
    kind = "LinearGaussian"
    assert json.loads(json.dumps(network_fields(BAYES))) == {
        "n_rows": None,
        "variables": [{"name": name, "continuous": True} for name in "abc"],
        "conditionals": [
            {"kind": kind, "child": "a", "parents": ["b", "c"], "intercept": 0.1, "coefficients": [1 / 3, -2], "sd": 1},
            {"kind": kind, "child": "b", "parents": [], "intercept": 2, "coefficients": [], "sd": 1e-300},
            {"kind": kind, "child": "c", "parents": ["b"], "intercept": 5e-324, "coefficients": [0], "sd": 0.2},
        ],
    }


def test_files_of_version_1_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(MARKOV_1, encoding="utf-8")
    assert load(tmp_path / "a.json") == fn.GaussianMarkovNetwork(["a", "b"], [0, 1], [[2, -0.1], [-0.1, 2]])
    (tmp_path / "b.json").write_text(BAYES_1, encoding="utf-8")
    dag = fn.Dag.from_edges(["a", "b"], [("b", "a")])
    assert load(tmp_path / "b.json") == fn.BayesianNetwork.from_regressions(dag, [0, 0.1], [[0.5], []], [1, 2.5])


def test_names_without_characters_are_refused_before_writing(tmp_path: Path) -> None:
    dag = fn.Dag.from_edges(["\ud83d"], [])
    for net in (
        fn.GaussianMarkovNetwork(dag.names, [0], [[1]]),
        fn.BayesianNetwork.from_regressions(dag, [0], [[]], [1]),
    ):
        with pytest.raises(fn.SchemaError, match="surrogate"):
            save(net, tmp_path / "a.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda d: d.pop("edges"), "the field 'edges' is missing"),
        (place("names", 1, value="a"), "'a' appears more than once"),
        (place("names", 1, value=3), r"names\[1\]: expected a text, got 3"),
        (place("names", 1, value="\ud800"), r"names\[1\]: .* surrogate"),
        (place("mean", value=[1]), r"the mean must have shape \(3,\)"),
        (place("mean", 0, value=True), "mean: expected numbers, got True"),
        (place("precision", value=[1]), "precision: 1 numbers for 3 variables"),
        (place("precision", 1, value=0), "must be positive"),
        (place("edges", 0, value=[0, 2]), r"edges\[0\]: expected \[position, position, number\], got a list of 2"),
        (place("edges", 0, value=[0, True, 1]), r"edges\[0\]: expected \[position"),
        (place("edges", 0, value=[2, 0, 1]), r"edges\[0\]: the positions must be ascending and below 3"),
        (place("edges", 0, value=[0, 3, 1]), r"edges\[0\]: the positions must be ascending and below 3"),
        (place("edges", 0, 2, value="x"), r"edges\[0\]: expected numbers, got 'x'"),
        (place("edges", 0, 2, value=0), r"edges\[0\]: an edge has an entry that is not 0"),
        (place("edges", 0, 2, value=50), "must be positive definite"),
        (lambda d: d["edges"].append([0, 2, 1]), r"edges\[1\]: the edge .* appears twice"),
    ],
)
def test_every_field_of_a_markov_network_is_checked(edit: Edit, message: str) -> None:
    described: dict[str, Any] = json.loads(json.dumps(undirected_fields(MARKOV)))
    edit(described)
    top = Fields("net.json", "", described)
    with pytest.raises(fn.FileFormatError, match=message), top.checking():
        read_undirected(top)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda d: d.pop("variables"), "the field 'variables' is missing"),
        (place("variables", 0, value=3), r"variables\[0\]: expected an object"),
        (place("variables", 0, "more", value=3), r"variables\[0\]: there is the unknown field 'more'"),
        (place("variables", 0, "name", value="b"), "'b' appears more than once"),
        (place("variables", 0, "parents", value=[2, 1]), r"variables\[0\]\.parents: expected ascending positions"),
        (place("variables", 0, "parents", value=[1, "c"]), r"variables\[0\]\.parents: expected ascending positions"),
        (place("variables", 0, "parents", value=[1, 3]), "the position 3 is not from 0 to 2"),
        (place("variables", 1, "parents", value=[0]), "the edges close a cycle"),
        (place("variables", 0, "coefficients", value=[1]), r"coefficients of 'a' must have shape \(2,\)"),
        (place("variables", 0, "coefficients", value=["x", 1]), r"variables\[0\]\.coefficients: expected numbers"),
        (place("variables", 0, "intercept", value=None), r"variables\[0\]\.intercept: expected numbers, got null"),
        (place("variables", 2, "sd", value=0), "standard deviation of 'c' must be positive"),
    ],
)
def test_every_field_of_a_bayesian_network_is_checked(edit: Edit, message: str) -> None:
    described: dict[str, Any] = {
        "variables": [
            {"name": "a", "parents": [1, 2], "intercept": 0.1, "coefficients": [1 / 3, -2], "sd": 1},
            {"name": "b", "parents": [], "intercept": 2, "coefficients": [], "sd": 1e-300},
            {"name": "c", "parents": [1], "intercept": 5e-324, "coefficients": [0], "sd": 0.2},
        ]
    }
    edit(described)
    top = Fields("net.json", "", described)
    with pytest.raises(fn.FileFormatError, match=message), top.checking():
        read_directed(top)


@pytest.mark.parametrize("text", [MARKOV_1, BAYES_1])
def test_a_file_cut_anywhere_is_an_error(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for length in range(len(text.rstrip())):
        path.write_text(text[:length], encoding="utf-8")
        with pytest.raises(fn.FileFormatError):
            load(path)


def test_minus_zero_is_zero_in_a_precision() -> None:
    net = fn.GaussianMarkovNetwork(["a", "b"], [0, 0], [[1, -0.0], [-0.0, 1]])
    assert not np.signbit(net.precision).any()
    assert exact(returned(net)) == exact(net)
