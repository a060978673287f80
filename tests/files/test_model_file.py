from __future__ import annotations

import gzip
import json
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fishernet import BayesianNetwork, CycleError, FileFormatError, SchemaError, Variable
from fishernet.base.fields import Fields
from fishernet.files import load, save
from fishernet.files.model_file import KINDS, Kind
from fishernet.models import FullTable
from tests.files.hostile import exact, hostile_networks

RAIN = Variable("rain", ["no", "yes"])
WET = Variable("wet", [0, 1.5], cuts=[0.1])
NET = BayesianNetwork.from_tables([RAIN, WET], {"wet": ["rain"]}, {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.1, 0.9]]})

# A file of version 1, kept as it was: every later version must read it.
VERSION_1 = """{
"format": "fishernet",
"version": 1,
"kind": "BayesianNetwork",
"n_rows": 12,
"variables": [
  {"name": "rain, \\"heavy\\"", "states": ["né", 1, 1.5, "1", false], "cuts": null},
  {"name": "wet", "states": ["low", "high"], "cuts": [0.1]}
],
"conditionals": [
  {"kind": "FullTable", "child": "rain, \\"heavy\\"", "parents": ["wet"],
   "probabilities": [[0.1, 0.2, 0.3, 0.4, 0.0], [5e-324, 0.9999999999999999, 0.0, 0.0, 0]]},
  {"kind": "MergedTable", "child": "wet", "parents": [], "group_of": [0], "probabilities": [[0.25, 0.75]]}
]
}
"""


def stored(folder: Path, text: str) -> Path:
    path = folder / "model.json"
    path.write_text(text, encoding="utf-8")
    return path


@given(net=hostile_networks(), name=st.sampled_from(["a.json", "a.json.gz", "a"]))
def test_a_network_comes_back_to_the_last_bit(net: BayesianNetwork, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        save(net, Path(folder, name))
        assert exact(load(Path(folder, name))) == exact(net)


@given(st.floats(0, 1))
@example(5e-324)
@example(1e-300)
@example(1 - 2**-53)
@example(-0.0)
def test_every_probability_comes_back_to_the_last_bit(probability: float) -> None:
    net = BayesianNetwork([RAIN], [FullTable(0, (), [RAIN], [[probability, 1 - probability]])])
    with tempfile.TemporaryDirectory() as folder:
        save(net, Path(folder, "a.json"))
        back = load(Path(folder, "a.json")).conditionals[0].probabilities
    assert back.tobytes() == net.conditionals[0].probabilities.tobytes()


def test_equal_models_give_equal_files(tmp_path: Path) -> None:
    for name in ("a.json.gz", "b.json.gz"):
        save(NET, tmp_path / name)
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.json.gz").read_bytes()).startswith(
        b'{\n"format": "fishernet",\n"version": 1,'
    )


def test_files_of_version_1_are_read(tmp_path: Path) -> None:
    net = load(stored(tmp_path, VERSION_1))
    assert net.n_rows == 12
    assert net.names == ('rain, "heavy"', "wet")
    assert [type(state) for state in net.variables[0].states] == [str, int, float, str, bool]
    assert net.variables[0].states == ("né", 1, 1.5, "1", False)
    assert net.variables[1].cuts == (0.1,)
    assert net.conditional('rain, "heavy"').table().tolist() == [
        [0.1, 0.2, 0.3, 0.4, 0.0],
        [5e-324, 0.9999999999999999, 0.0, 0.0, 0.0],
    ]
    assert net.conditional("wet").table().tolist() == [0.25, 0.75]


def test_the_file_is_json_that_others_can_read(tmp_path: Path) -> None:
    save(NET, tmp_path / "a.json")
    described = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert list(described) == ["format", "version", "kind", "n_rows", "variables", "conditionals"]
    assert described["conditionals"][1]["probabilities"] == [[0.9, 0.1], [0.1, 0.9]]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (("format", "other"), 'this is no model file: it lacks "format": "fishernet"'),
        (("format", None), "this is no model file"),
        (
            ("version", 2),
            "version 2 of the format was written by a newer fishernet; this one reads 1; update fishernet",
        ),
        (("version", 0), "there is no version 0 of the format; this fishernet reads version 1"),
        (("version", "1"), "version: expected an integer from 0, got '1'"),
        (("version", True), "version: expected an integer from 0, got True"),
        (("kind", "Forest"), "unknown kind of model 'Forest'; known are 'BayesianNetwork'"),
        (("kind", 1), "kind: expected a text, got 1"),
        (("comment", "mine"), "there is the unknown field 'comment'"),
        (("variables", None), "variables: expected a list, got null"),
    ],
)
def test_a_wrong_head_is_an_error(tmp_path: Path, edit: tuple[str, object], message: str) -> None:
    save(NET, tmp_path / "a.json")
    described = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    described[edit[0]] = edit[1]
    path = stored(tmp_path, json.dumps(described))
    with pytest.raises(FileFormatError, match=message) as caught:
        load(path)
    assert caught.value.path == str(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: .*the file is empty"),
        ("[]", "expected an object with fields, got a list of 0"),
        ("3", "expected an object with fields, got 3"),
        ("{}", 'it lacks "format"'),
        ("network unknown {\n}\n", "line 1: .*it looks like a BIF file, .* which fishernet.read_bif reads"),
        ('{"a": 1,\n"b": }', r"line 2: Expecting value \(column 6\); the file is damaged, ends early"),
        ('{"a": 1, "a": 2}', "this is no model file: the field 'a' appears twice"),
        ('{"a": NaN}', "NaN is no number of JSON"),
        ('{"a": -Infinity}', "-Infinity is no number of JSON"),
        ("[" * 100_000, "this is no model file"),
        ('{"a": ' + "9" * 5000 + "}", "this is no model file"),
    ],
)
def test_what_is_no_model_file(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        load(stored(tmp_path, text))


def test_a_cycle_is_named(tmp_path: Path) -> None:
    save(NET, tmp_path / "a.json")
    text = (tmp_path / "a.json").read_text(encoding="utf-8")
    cyclic = text.replace('"parents": [], "probabilities": [[0.8', '"parents": ["wet"], "probabilities": [[0, 1], [0.8')
    with pytest.raises(FileFormatError, match=r"model\.json: .*a cycle: rain -> wet -> rain") as caught:
        load(stored(tmp_path, cyclic))
    assert isinstance(caught.value.__cause__, CycleError)


def test_a_file_cut_anywhere_is_an_error(tmp_path: Path) -> None:
    for length in range(len(VERSION_1.rstrip())):
        with pytest.raises(FileFormatError):
            load(stored(tmp_path, VERSION_1[:length]))
    packed = gzip.compress(VERSION_1.encode())
    for length in range(2, len(packed)):
        (tmp_path / "a.gz").write_bytes(packed[:length])
        with pytest.raises(FileFormatError):
            load(tmp_path / "a.gz")


def test_a_file_changed_anywhere_is_read_or_refused(tmp_path: Path) -> None:
    rng = random.Random(0)
    for _ in range(2000):
        at, piece = rng.randrange(len(VERSION_1)), rng.choice(["", '"', "0", "-", "}", "[", ",", "1e9", "null", "rain"])
        text = VERSION_1[:at] + piece + VERSION_1[at + rng.randrange(3) :]
        try:
            net = load(stored(tmp_path, text))
        except FileFormatError:
            continue
        for conditional in net.conditionals:
            np.testing.assert_allclose(conditional.probabilities.sum(axis=1), 1, rtol=0, atol=1e-9)


class Bell:
    """A model that nobody can save."""


class OwnNetwork(BayesianNetwork):
    """A network that would come back as another class."""


@pytest.mark.parametrize("model", [Bell(), None, OwnNetwork([], [])])
def test_what_cannot_be_saved(tmp_path: Path, model: object) -> None:
    message = f"a {type(model).__name__} cannot be saved; what can be saved: BayesianNetwork"
    with pytest.raises(SchemaError, match=message):
        save(model, tmp_path / "a.json")
    assert list(tmp_path.iterdir()) == []


def test_labels_without_characters_are_refused_before_writing(tmp_path: Path) -> None:
    net = BayesianNetwork.from_tables([Variable("a", ["\ud83d", "x"])], {}, {"a": [0.5, 0.5]})
    path = stored(tmp_path, "old")
    with pytest.raises(SchemaError, match="surrogate"):
        save(net, path)
    assert path.read_text() == "old"


@pytest.fixture
def gaussian_kind(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Another kind of model: one entry of the registry."""
    described: dict[str, Any] = {"mean": [0.5] * 1000, "sd": 2}

    def read(fields: Fields) -> tuple[list[Any], int]:
        return fields.items("mean"), fields.whole("sd")

    monkeypatch.setitem(KINDS, "Bell", Kind(Bell, lambda model: described, read))
    return described


def test_another_kind_is_one_entry(tmp_path: Path, gaussian_kind: dict[str, Any]) -> None:
    save(Bell(), tmp_path / "a.json")
    assert load(tmp_path / "a.json") == (gaussian_kind["mean"], 2)
    assert "Bell" in KINDS
    with pytest.raises(SchemaError, match=f"what can be saved: {', '.join(sorted(KINDS))}"):
        save(3, tmp_path / "a.json")


@pytest.mark.parametrize("broken", [object(), float("nan")])
def test_a_writer_that_fails_half_way_leaves_the_old_file(
    tmp_path: Path, gaussian_kind: dict[str, Any], broken: object
) -> None:
    path = stored(tmp_path, "old")
    gaussian_kind["sd"] = broken
    with pytest.raises((TypeError, ValueError)):
        save(Bell(), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_ctrl_c_half_way_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = stored(tmp_path, "old")
    encode = json.dumps
    calls = 0

    def interrupted(*args: Any, **options: Any) -> str:
        nonlocal calls
        calls += 1
        if calls == 9:
            raise KeyboardInterrupt
        return encode(*args, **options)

    monkeypatch.setattr(json, "dumps", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(NET, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
