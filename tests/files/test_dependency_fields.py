"""Dependency networks in the model file."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import fishernet as fn
from fishernet import DependencyNetwork, FileFormatError, SchemaError, Variable, ZeroProbabilityError
from fishernet.base.fields import Fields
from fishernet.files import load, save
from fishernet.files.networks import dependency_fields, read_dependency
from fishernet.models import FullTable, MergedTable, ProductConditional
from tests.files.hostile import exact, hostile_dependency_networks
from tests.files.test_network_fields import place

A, B, C = Variable("a", ["x", "y"]), Variable("b", [2.5, True], cuts=[0.5]), Variable("c", ["x", "y", "z"])
NET = DependencyNetwork(
    [A, B, C],
    [
        FullTable(0, (1,), [B, A], [[0.25, 0.75], [0.5, 0.5]]),
        MergedTable(1, (0,), [A, B], [0, 0], [[0.5, 0.5]]),
        ProductConditional(2, (0, 1), [A, B, C], [((2, 0), [[1, 2], [3, 4], [5, 6]]), ((2, 1), np.full((3, 2), 0.1))]),
    ],
    n_rows=7,
)

# A file of version 1, kept as it was: every later version must read it.
VERSION_1 = """{
"format": "fishernet",
"version": 1,
"kind": "DependencyNetwork",
"n_rows": 12,
"allow_zeros": true,
"variables": [
  {"name": "rain, \\"heavy\\"", "states": ["n\u00e9", 1], "cuts": null},
  {"name": "wet", "states": ["low", "high"], "cuts": [0.1]}
],
"conditionals": [
  {"kind": "FullTable", "child": "rain, \\"heavy\\"", "parents": ["wet"], "probabilities": [[0.1, 0.9], [1.0, 0.0]]},
  {"kind": "ProductConditional", "child": "wet", "parents": ["rain, \\"heavy\\""], "factors": [
    {"variables": ["wet"], "values": [0.5, 1e-300]},
    {"variables": ["wet", "rain, \\"heavy\\""], "values": [1, 2.0, 3.0, 0]}
  ]}
]
}
"""


def fields(described: dict[str, Any]) -> Fields:
    return Fields("net.json", "", described)


@given(hostile_dependency_networks())
def test_a_network_comes_back_to_the_last_bit(net: DependencyNetwork) -> None:
    with tempfile.TemporaryDirectory() as folder:
        save(net, Path(folder, "a.json"))
        assert exact(load(Path(folder, "a.json"))) == exact(net)


@given(hostile_dependency_networks())
def test_fields_hold_everything_and_nothing_else(net: DependencyNetwork) -> None:
    described = fields(dependency_fields(net))
    assert exact(read_dependency(described)) == exact(net)
    described.end()


def test_fields_are_plain_values_in_a_known_layout() -> None:
    assert json.loads(json.dumps(dependency_fields(NET))) == {
        "n_rows": 7,
        "allow_zeros": False,
        "variables": [
            {"name": "a", "states": ["x", "y"], "cuts": None},
            {"name": "b", "states": [2.5, True], "cuts": [0.5]},
            {"name": "c", "states": ["x", "y", "z"], "cuts": None},
        ],
        "conditionals": [
            {"kind": "FullTable", "child": "a", "parents": ["b"], "probabilities": [[0.25, 0.75], [0.5, 0.5]]},
            {"kind": "MergedTable", "child": "b", "parents": ["a"], "group_of": [0, 0], "probabilities": [[0.5, 0.5]]},
            {
                "kind": "ProductConditional",
                "child": "c",
                "parents": ["a", "b"],
                "factors": [
                    {"variables": ["c", "a"], "values": [1, 2, 3, 4, 5, 6]},
                    {"variables": ["c", "b"], "values": [0.1] * 6},
                ],
            },
        ],
    }


def test_files_of_version_1_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(VERSION_1, encoding="utf-8")
    net = load(tmp_path / "a.json")
    assert isinstance(net, DependencyNetwork)
    assert (net.n_rows, net.allow_zeros) == (12, True)
    assert net.names == ('rain, "heavy"', "wet")
    assert net.inputs == ((1,), (0,))
    assert net.conditionals[0].table().tolist() == [[0.1, 0.9], [1.0, 0.0]]
    product = net.conditionals[1]
    assert isinstance(product, ProductConditional)
    assert [(axes, values.tolist()) for axes, values in product.factors] == [
        ((1,), [0.5, 1e-300]),
        ((1, 0), [[1.0, 2.0], [3.0, 0.0]]),
    ]


def test_a_network_read_again_draws_the_same_rows(tmp_path: Path) -> None:
    save(NET, tmp_path / "a.json")
    assert load(tmp_path / "a.json").sample(200, seed=1) == NET.sample(200, seed=1)


def test_a_learned_network_and_full_conditionals_are_kept(tmp_path: Path) -> None:
    asia = fn.datasets.load("asia")
    rows = asia.sample(2000, seed=1)
    for net in (
        fn.learn.dependency_network(rows),
        fn.learn.dependency_network(rows, smoothing=0, max_inputs=1),
        DependencyNetwork.from_joint(asia, allow_zeros=True),
    ):
        save(net, tmp_path / "a.json.gz")
        assert exact(load(tmp_path / "a.json.gz")) == exact(net)


class OwnNetwork(DependencyNetwork):
    """A network that would come back as another class."""


def test_a_class_of_its_own_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="a OwnNetwork cannot be saved"):
        save(OwnNetwork(NET.variables, NET.conditionals), tmp_path / "a.json")
    assert list(tmp_path.iterdir()) == []


def test_labels_without_characters_are_refused_before_writing(tmp_path: Path) -> None:
    odd = Variable("a", ["\ud83d", "x"])
    with pytest.raises(SchemaError, match="surrogate"):
        save(DependencyNetwork([odd], [FullTable(0, (), [odd], [[0.5, 0.5]])]), tmp_path / "a.json")
    assert list(tmp_path.iterdir()) == []


Edit = Callable[[dict[str, Any]], Any]
FACTOR = ("conditionals", 2, "factors", 0)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda d: d.pop("allow_zeros"), r"net\.json: the field 'allow_zeros' is missing"),
        (place("allow_zeros", value=1), r"allow_zeros: expected true or false, got 1"),
        (place("allow_zeros", value=None), r"allow_zeros: expected true or false, got null"),
        (place("n_rows", value=-1), r"n_rows: expected a number from 0, got -1"),
        (lambda d: d["conditionals"].pop(), r"conditionals: 2 conditionals for 3 variables"),
        (place("variables", 0, "name", value="b"), r"'b' appears more than once|expected 'b'"),
        (place("conditionals", 0, "parents", value=["a"]), r"conditionals\[0\]\.parents: 'a' is among its own inputs"),
        (place("conditionals", 0, "parents", value=["b", "b"]), r"conditionals\[0\]\.parents\[1\]: 'b' appears more"),
        (place("conditionals", 2, "parents", value=["a", "c"]), r"factors\[1\]\.variables\[1\]: 'b' is no variable"),
        (place("conditionals", 2, "parents", value=["a", "b", "b"]), r"conditionals\[2\]\.parents\[2\]: 'b' appears"),
        (lambda d: d["conditionals"][2].pop("factors"), r"conditionals\[2\]: the field 'factors' is missing"),
        (place("conditionals", 2, "factors", value=[]), r"conditionals\[2\]\.factors: there are no factors"),
        (place("conditionals", 2, "factors", value="a"), r"conditionals\[2\]\.factors: expected a list, got 'a'"),
        (place("conditionals", 2, "probabilities", value=[]), r"conditionals\[2\]: .*unknown field 'probabilities'"),
        (place(*FACTOR, value=3), r"conditionals\[2\]\.factors\[0\]: expected an object with fields, got 3"),
        (place(*FACTOR, "more", value=3), r"conditionals\[2\]\.factors\[0\]: there is the unknown field 'more'"),
        (place(*FACTOR, "variables", value=["c", "c"]), r"factors\[0\]\.variables\[1\]: 'c' appears more than once"),
        (place(*FACTOR, "variables", 1, value="d"), r"factors\[0\]\.variables\[1\]: 'd' is no variable; there are"),
        (place(*FACTOR, "variables", 1, value=0), r"factors\[0\]\.variables\[1\]: 0 is no variable"),
        (
            place(*FACTOR, value={"variables": ["a"], "values": [1, 2]}),
            r"conditionals\[2\]\.factors\[0\]\.variables: the factor is not over the child 'c'",
        ),
        (place(*FACTOR, "values", value=[1.0]), r"factors\[0\]\.values: 1 values for 6 configurations"),
        (place(*FACTOR, "values", 2, value="1"), r"factors\[0\]\.values: expected numbers, got '1'"),
        (place(*FACTOR, "values", 2, value=True), r"factors\[0\]\.values: expected numbers, got True"),
        (place(*FACTOR, "values", 2, value=10**400), r"factors\[0\]\.values: a number is too large"),
        (place(*FACTOR, "values", 2, value=-1), r"factors\[0\]\.values: a value is negative or not finite"),
        (place(*FACTOR, "values", 2, value=float("inf")), r"factors\[0\]\.values: a value is negative or not finite"),
        (place(*FACTOR, "values", 2, value=float("nan")), r"factors\[0\]\.values: a value is negative or not finite"),
        (place(*FACTOR, "values", 2, value=0), r"a factor of 'c' has a zero"),
        (
            place("conditionals", 0, "probabilities", 0, value=[0, 1]),
            r"'a' has state 'x' with probability 0 given b = 2",
        ),
    ],
)
def test_every_field_is_checked(edit: Edit, message: str) -> None:
    described: dict[str, Any] = json.loads(json.dumps(dependency_fields(NET)))
    edit(described)
    top = fields(described)
    with pytest.raises(FileFormatError, match=message), top.checking():
        read_dependency(top)


def test_zeros_that_are_not_allowed_are_a_damaged_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(VERSION_1.replace("true", "false"), encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"a\.json: .*probability 0") as caught:
        load(tmp_path / "a.json")
    assert isinstance(caught.value.__cause__, ZeroProbabilityError)


def test_a_file_cut_anywhere_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for length in range(len(VERSION_1.rstrip())):
        path.write_text(VERSION_1[:length], encoding="utf-8")
        with pytest.raises(FileFormatError):
            load(path)
