from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from fishernet import BayesianNetwork, FileFormatError, SchemaError, Variable
from fishernet.base.fields import Fields
from fishernet.files.networks import network_fields, read_network
from fishernet.models import FullTable, MergedTable
from tests.files.hostile import exact, hostile_networks

A, B = Variable("a", ["x", "y"]), Variable("b", [1, 2.5, True][1:], cuts=[0.5])
NET = BayesianNetwork(
    [A, B],
    [
        FullTable(0, (), [A], [[0.25, 0.75]]),
        MergedTable(1, (0,), [A, B], [0, 0], [[0.5, 0.5]]),
    ],
    n_rows=7,
)


def fields(described: dict[str, Any]) -> Fields:
    return Fields("net.json", "", described)


@given(hostile_networks())
def test_fields_hold_everything_and_nothing_else(net: BayesianNetwork) -> None:
    described = fields(network_fields(net))
    assert exact(read_network(described)) == exact(net)
    described.end()


def test_fields_are_plain_values_in_a_known_layout() -> None:
    assert json.loads(json.dumps(network_fields(NET))) == {
        "n_rows": 7,
        "variables": [
            {"name": "a", "states": ["x", "y"], "cuts": None},
            {"name": "b", "states": [2.5, True], "cuts": [0.5]},
        ],
        "conditionals": [
            {"kind": "FullTable", "child": "a", "parents": [], "probabilities": [[0.25, 0.75]]},
            {"kind": "MergedTable", "child": "b", "parents": ["a"], "group_of": [0, 0], "probabilities": [[0.5, 0.5]]},
        ],
    }


class OwnTable(FullTable):
    """A conditional that the file does not know."""


def test_an_unknown_kind_of_conditional_is_refused() -> None:
    net = BayesianNetwork([A], [OwnTable(0, (), [A], [[0.5, 0.5]])])
    with pytest.raises(
        SchemaError, match="'a' is a OwnTable; what can be saved: FullTable, LinearGaussian, MergedTable"
    ):
        network_fields(net)


Edit = Callable[[dict[str, Any]], Any]


def place(*keys: Any, value: Any = None) -> Edit:
    """An edit that sets one value deep inside."""

    def edit(described: dict[str, Any]) -> None:
        inner: Any = described
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = value

    return edit


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (place("n_rows", value=-1), r"net\.json: n_rows: expected a number from 0, got -1"),
        (place("n_rows", value="2"), r"n_rows: expected a number from 0, got '2'"),
        (lambda d: d.pop("n_rows"), r"the field 'n_rows' is missing"),
        (lambda d: d.pop("variables"), r"the field 'variables' is missing"),
        (place("variables", value={}), r"variables: expected a list, got an object"),
        (place("variables", 1, value=3), r"variables\[1\]: expected an object with fields, got 3"),
        (place("variables", 0, "name", value=3), r"variables\[0\]\.name: expected a text, got 3"),
        (place("variables", 0, "name", value="b"), r"the name 'b' appears more than once|expected 'b'"),
        (place("variables", 0, "states", value=[]), r"variables\[0\]: variable 'a' has no states"),
        (place("variables", 0, "states", 1, value=None), r"variables\[0\]\.states\[1\]: null is no state"),
        (place("variables", 0, "states", 1, value=["y"]), r"variables\[0\]\.states\[1\]: a list of 1 is no state"),
        (place("variables", 0, "states", 1, value="x"), r"variables\[0\]: .*the state 'x' appears more than once"),
        (place("variables", 0, "states", 1, value="\ud800"), r"states\[1\]: '\\ud800' is no state"),
        (place("variables", 0, "states", 1, value=float("inf")), r"variables\[0\]: .*inf cannot be a state"),
        (place("variables", 1, "cuts", value=[1.0, 2.0]), r"variables\[1\]: .*2 bins need 1 cuts, got 2"),
        (place("variables", 1, "cuts", value=["1"]), r"variables\[1\]\.cuts: expected numbers, got '1'"),
        (place("variables", 1, "cuts", value=[float("nan")]), r"variables\[1\]: .*cuts must be finite"),
        (lambda d: d["variables"][0].pop("cuts"), r"variables\[0\]: the field 'cuts' is missing"),
        (place("variables", 0, "extra", value=1), r"variables\[0\]: there is the unknown field 'extra'"),
        (lambda d: d["conditionals"].pop(), r"conditionals: 1 conditionals for 2 variables"),
        (
            place("conditionals", 0, "kind", value="Tree"),
            r"conditionals\[0\]\.kind: unknown kind 'Tree'; known are Full",
        ),
        (place("conditionals", 0, "child", value="b"), r"conditionals\[0\]\.child: expected 'a', .*; got 'b'"),
        (place("conditionals", 0, "more", value=1), r"conditionals\[0\]: there is the unknown field 'more'"),
        (place("conditionals", 1, "parents", 0, value="c"), r"conditionals\[1\]\.parents\[0\]: 'c' is no variable"),
        (place("conditionals", 1, "parents", 0, value=0), r"conditionals\[1\]\.parents\[0\]: 0 is no variable"),
        (place("conditionals", 1, "parents", value="a"), r"conditionals\[1\]\.parents: expected a list, got 'a'"),
        (place("conditionals", 0, "parents", value=["b"]), r"conditionals\[0\]: .*2 configurations"),
        (place("conditionals", 0, "probabilities", value=[]), r"conditionals\[0\]: .*\(0, 2\) probabilities"),
        (place("conditionals", 0, "probabilities", value=[1]), r"probabilities\[0\]: expected a list of 2 .*, got 1"),
        (place("conditionals", 0, "probabilities", 0, value=[1.0]), r"probabilities\[0\]: expected a list of 2"),
        (place("conditionals", 0, "probabilities", 0, value=[1, True]), r"\.probabilities: expected numbers, got True"),
        (place("conditionals", 0, "probabilities", 0, value=["1", 0]), r"\.probabilities: expected numbers, got '1'"),
        (place("conditionals", 0, "probabilities", 0, value=[1, None]), r"\.probabilities: expected numbers, got null"),
        (place("conditionals", 0, "probabilities", 0, value=[10**400, 0]), r"\.probabilities: a number is too large"),
        (place("conditionals", 0, "probabilities", 0, value=[1e308, 1e308]), r"\[0\]\[0\]: 1e\+308 is no probability"),
        (place("conditionals", 0, "probabilities", 0, value=[1.5, -0.5]), r"\[0\]\[0\]: 1\.5 is no probability"),
        (place("conditionals", 0, "probabilities", 0, value=[0.5, -0.5]), r"\[0\]\[1\]: -0\.5 is no probability"),
        (place("conditionals", 0, "probabilities", 0, value=[0.5, float("nan")]), r"\[0\]\[1\]: nan is no probability"),
        (place("conditionals", 0, "probabilities", 0, value=[0.5, 0.4999]), r"conditionals\[0\]: .*sums to 0\.9999"),
        (place("conditionals", 1, "group_of", value=[0]), r"\[1\]\.group_of: 1 groups for 2 configurations"),
        (place("conditionals", 1, "group_of", 1, value=1), r"group_of\[1\]: expected a group from 0 to 0, got 1"),
        (place("conditionals", 1, "group_of", 1, value=-1), r"group_of\[1\]: expected a group from 0 to 0, got -1"),
        (place("conditionals", 1, "group_of", 1, value=2**70), r"group_of\[1\]: expected a group from 0 to 0"),
        (place("conditionals", 1, "group_of", 1, value=False), r"group_of\[1\]: expected a group .*, got False"),
        (place("conditionals", 1, "probabilities", value=[[0.5, 0.5]] * 2), r"conditionals\[1\]: .*each of the groups"),
    ],
)
def test_every_field_is_checked(edit: Edit, message: str) -> None:
    described: dict[str, Any] = json.loads(json.dumps(network_fields(NET)))
    edit(described)
    top = fields(described)
    with pytest.raises(FileFormatError, match=message), top.checking():
        read_network(top)
