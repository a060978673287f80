"""Markov networks in the model file."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from fishernet import FileFormatError, MarkovNetwork, SchemaError, Variable
from fishernet.base.fields import Fields
from fishernet.files import load, save
from fishernet.files.networks import markov_fields, read_markov
from tests.files.hostile import exact_markov, hostile_markov_networks
from tests.files.test_dependency_fields import Edit
from tests.files.test_network_fields import place

A, B = Variable("a", ["x", "y"]), Variable("b", [2.5, True, "z"])
NET = MarkovNetwork([A, B], [(("b", "a"), [[1, 2], [3, 4], [5, 6]]), (("a",), [0.1, 5e-324])])

# A file of version 1, kept as it was: every later version must read it.
VERSION_1 = """{
"format": "fishernet",
"version": 1,
"kind": "MarkovNetwork",
"variables": [
  {"name": "up, \\"or\\" down", "states": ["n\u00e9", 1], "cuts": null},
  {"name": "wet", "states": ["low", "high"], "cuts": [0.1]}
],
"potentials": [
  {"variables": ["wet", "up, \\"or\\" down"], "values": [0.1, 2, 3.0, 1e-300]}
]
}
"""


def fields(described: dict[str, Any]) -> Fields:
    return Fields("net.json", "", described)


@given(hostile_markov_networks())
def test_a_network_comes_back_to_the_last_bit(net: MarkovNetwork) -> None:
    with tempfile.TemporaryDirectory() as folder:
        save(net, Path(folder, "a.json"))
        assert exact_markov(load(Path(folder, "a.json"))) == exact_markov(net)


@given(hostile_markov_networks())
def test_fields_hold_everything_and_nothing_else(net: MarkovNetwork) -> None:
    described = fields(markov_fields(net))
    assert exact_markov(read_markov(described)) == exact_markov(net)
    described.end()


def test_fields_are_plain_values_in_a_known_layout() -> None:
    assert json.loads(json.dumps(markov_fields(NET))) == {
        "variables": [
            {"name": "a", "states": ["x", "y"], "cuts": None},
            {"name": "b", "states": [2.5, True, "z"], "cuts": None},
        ],
        "potentials": [
            {"variables": ["b", "a"], "values": [1, 2, 3, 4, 5, 6]},
            {"variables": ["a"], "values": [0.1, 5e-324]},
        ],
    }


def test_files_of_version_1_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(VERSION_1, encoding="utf-8")
    net = load(tmp_path / "a.json")
    assert isinstance(net, MarkovNetwork)
    assert net.names == ('up, "or" down', "wet")
    ((names, values),) = net.potentials
    assert names == ("wet", 'up, "or" down')
    assert values.tolist() == [[0.1, 2.0], [3.0, 1e-300]]


class OwnNetwork(MarkovNetwork):
    """A network that would come back as another class."""


def test_a_class_of_its_own_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="a OwnNetwork cannot be saved"):
        save(OwnNetwork([A], []), tmp_path / "a.json")


def test_labels_without_characters_are_refused_before_writing(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="surrogate"):
        save(MarkovNetwork([Variable("\ud83d", ["x"])], []), tmp_path / "a.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda d: d.pop("potentials"), r"net\.json: the field 'potentials' is missing"),
        (lambda d: d.pop("variables"), r"the field 'variables' is missing"),
        (place("potentials", value={}), r"potentials: expected a list, got an object"),
        (place("potentials", 1, value=3), r"potentials\[1\]: expected an object with fields, got 3"),
        (place("potentials", 1, "more", value=3), r"potentials\[1\]: there is the unknown field 'more'"),
        (place("potentials", 0, "variables", 0, value="c"), r"potentials\[0\]\.variables\[0\]: 'c' is no variable"),
        (place("potentials", 0, "variables", 0, value="a"), r"potentials\[0\]\.variables\[1\]: 'a' appears more than"),
        (place("potentials", 0, "values", value=[1]), r"potentials\[0\]\.values: 1 values for 6 configurations"),
        (place("potentials", 0, "values", 3, value=None), r"potentials\[0\]\.values: expected numbers, got null"),
        (place("potentials", 0, "values", 3, value=0), r"potentials\[0\]: .*must have positive, finite numbers"),
        (place("potentials", 1, "values", 1, value=-1), r"potentials\[1\]: .*must have positive, finite numbers"),
        (place("potentials", 1, "values", 1, value=float("nan")), r"potentials\[1\]: .*must have positive, finite"),
        (place("variables", 0, "name", value="b"), r"the name 'b' appears more than once|'b' appears"),
        (place("variables", 0, "states", value=[]), r"variables\[0\]: variable 'a' has no states"),
    ],
)
def test_every_field_is_checked(edit: Edit, message: str) -> None:
    described: dict[str, Any] = json.loads(json.dumps(markov_fields(NET)))
    edit(described)
    top = fields(described)
    with pytest.raises(FileFormatError, match=message), top.checking():
        read_markov(top)


def test_a_file_cut_anywhere_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for length in range(len(VERSION_1.rstrip())):
        path.write_text(VERSION_1[:length], encoding="utf-8")
        with pytest.raises(FileFormatError):
            load(path)
