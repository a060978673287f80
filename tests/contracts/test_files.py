"""The laws of files: what is written is read back, damage is said, and nothing is ever half written."""

from __future__ import annotations

import contextlib
import gzip
import json
import random
import re
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.files import bif_writer, read_newicks, read_uai, read_xdsl
from fishernet.files.dsc import read_dsc
from fishernet.files.formats import FORMATS
from fishernet.files.hugin import read_net
from fishernet.files.model_file import KINDS, READ_ONLY
from fishernet.files.xmlbif import read_xmlbif
from fishernet.models import FullTable, MergedTable, ProductConditional
from tests.files.examples import EXAMPLES, MOVE
from tests.files.hostile import (
    exact,
    graphs,
    hostile_chains,
    hostile_dependency_networks,
    hostile_markov_networks,
    hostile_networks,
    in_full,
    mixtures,
    numeric_hmms,
)
from tests.reference import gaussians
from tests.reference.hidden_markov import parts
from tests.reference.trees import cases

finite = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(0, exclude_min=True, allow_nan=False, allow_infinity=False)


def saved(model: Any, name: str = "a.json") -> bytes:
    return written(fn.save, model, name)


def written(write: Callable[[Any, Path], None], model: Any, name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", fn.FishernetWarning)
        write(model, Path(folder, name))
        return Path(folder, name).read_bytes()


def read(reader: Callable[[Path], Any], data: bytes, name: str = "a.json") -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        return reader(path)


# ---------------------------------------------------------------------------------- models that are hard to store

HOSTILE: dict[str, st.SearchStrategy[Any]] = {
    "BayesianNetwork": hostile_networks(),
    "BayesianNetwork of regressions": gaussians.bayesian_networks,
    "DependencyNetwork": hostile_dependency_networks(),
    "Gaussian": st.builds(fn.Gaussian, finite, positive),
    "GaussianMarkovNetwork": gaussians.markov_networks,
    "GaussianMixture": mixtures(),
    "HiddenMarkovModel": parts().map(lambda m: m.model()),
    "HiddenTree": cases().map(lambda case: case.model(missing="?")),
    "MarkovChain": hostile_chains(),
    "MarkovNetwork": hostile_markov_networks(),
    "NumericHiddenMarkovModel": numeric_hmms(),
    "UndirectedGraph": graphs(),
}
EVERY = pytest.mark.parametrize("name", list(EXAMPLES))


def test_every_kind_is_here() -> None:
    assert {type(model).__name__ for model in EXAMPLES.values()} == set(KINDS)
    assert {name.split()[0] for name in HOSTILE} == set(KINDS)
    assert {json.loads(text)["kind"] for text, _ in OLD.values()} >= set(READ_ONLY)


@pytest.mark.parametrize("kind", list(HOSTILE))
@given(data=st.data(), name=st.sampled_from(["a.json", "a.json.gz", "a"]))
@settings(max_examples=60)
def test_what_is_written_is_read_back_to_the_last_bit(kind: str, data: st.DataObject, name: str) -> None:
    model = data.draw(HOSTILE[kind])
    again = read(fn.load, saved(model, name), name)
    assert exact(again) == exact(model)


@EVERY
def test_examples_come_back_and_equal_models_give_equal_files(name: str) -> None:
    model = EXAMPLES[name]
    for file in ("a.json", "b.json.gz"):
        data = saved(model, file)
        again = read(fn.load, data, file)
        assert exact(again) == exact(model)
        assert data == saved(model, file) == saved(again, file)


@EVERY
def test_a_file_is_json_that_others_can_read(name: str) -> None:
    described = json.loads(saved(EXAMPLES[name]), parse_constant=pytest.fail)
    assert list(described)[:3] == ["format", "version", "kind"]
    assert (described["format"], described["version"]) == ("fishernet", 2)


@EVERY
def test_a_damaged_byte_never_gives_another_model(name: str) -> None:
    data = saved(EXAMPLES[name])
    for place in range(0, len(data), 1 + len(data) // 80):
        damaged = bytearray(data)
        damaged[place] ^= 1
        with contextlib.suppress(fn.FishernetError):
            assert exact(read(fn.load, bytes(damaged))) == exact(EXAMPLES[name])


@EVERY
def test_an_edited_file_is_read_without_its_digest(name: str) -> None:
    described = json.loads(saved(EXAMPLES[name])) | {"digest": "0" * 64}
    with pytest.raises(fn.FileFormatError, match="remove its field 'digest'"):
        read(fn.load, json.dumps(described).encode())
    del described["digest"]
    assert exact(read(fn.load, json.dumps(described).encode())) == exact(EXAMPLES[name])


def plain(net: fn.BayesianNetwork | fn.MarkovNetwork) -> fn.BayesianNetwork | fn.MarkovNetwork:
    """The same network with the names and states of a format that numbers them."""
    variables = [fn.Variable(f"x{v}", range(variable.cardinality)) for v, variable in enumerate(net.variables)]
    if hasattr(net, "potentials"):
        names = {name: f"x{v}" for v, name in enumerate(net.names)}
        return fn.MarkovNetwork(variables, [([names[name] for name in of], array) for of, array in net.potentials])
    own = [
        FullTable(c.child, c.parents, [variables[v] for v in (*c.parents, c.child)], c.table().reshape(-1, r))
        for c, r in zip(net.conditionals, (variable.cardinality for variable in variables), strict=True)
    ]
    return fn.BayesianNetwork(variables, own)


FOREIGN: dict[str, tuple[st.SearchStrategy[Any], Callable[[Any], Any]]] = {
    ".bif": (hostile_networks(), in_full),
    ".xdsl": (hostile_networks(), in_full),
    ".net": (hostile_networks(), in_full),
    ".dsc": (hostile_networks(), in_full),
    ".xmlbif": (hostile_networks(), in_full),
    ".uai": (hostile_networks() | hostile_markov_networks(), plain),
}
"""By ending: networks that such files hold, and as what they come back."""


@pytest.mark.parametrize("ending", list(FOREIGN))
@given(data=st.data(), packed=st.sampled_from(["", ".gz"]))
@settings(max_examples=60)
def test_files_for_other_programs_bring_back_all_that_they_can_hold(
    ending: str, data: st.DataObject, packed: str
) -> None:
    networks, expected = FOREIGN[ending]
    net, name = data.draw(networks), f"a{ending}{packed}"
    text = saved(net, name)
    again = read(fn.load, text, name)
    assert exact(again) == exact(expected(net))
    assert text == saved(net, name)
    assert saved(again, name) == saved(expected(net), name)


@pytest.mark.parametrize("ending", [".bif", ".xdsl", ".net", ".dsc", ".xmlbif", ".bifxml", ".xml"])
@pytest.mark.parametrize("name", ["asia", "alarm"])
def test_shipped_networks_come_back_from_other_formats_to_the_last_bit(name: str, ending: str) -> None:
    net = EXAMPLES[name]
    assert exact(read(fn.load, saved(net, f"a{ending}"), f"a{ending}")) == exact(net)


@EVERY
@pytest.mark.parametrize("ending", list(FORMATS))
def test_a_model_is_written_or_refused_and_nothing_else(ending: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{ending}"
    path.write_text("old")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fn.FishernetWarning)
            fn.save(EXAMPLES[name], path)
    except fn.SchemaError:
        assert path.read_text() == "old"
    else:
        assert path.read_text() != "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["a.pkl", "a.txt", "a.nets.gz", "model v1.2"])
def test_an_ending_that_is_not_written_is_refused_with_those_that_are(name: str, tmp_path: Path) -> None:
    with pytest.raises(fn.FileFormatError, match=r"nothing is written to files that end in \.\w+; there are \.json .*"):
        fn.save(EXAMPLES["asia"], tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [".dot", ".graphml"])
def test_drawings_are_not_read(ending: str, tmp_path: Path) -> None:
    fn.save(EXAMPLES["asia"], tmp_path / f"a{ending}")
    with pytest.raises(fn.FileFormatError, match="are only written; what is read: .json, .bif"):
        fn.load(tmp_path / f"a{ending}")


# ------------------------------------------------------- files of version 1, kept as they were, and what they say

HEAVY = 'rain, "heavy"'
FIVE, WET = fn.Variable(HEAVY, ["né", 1, 1.5, "1", False]), fn.Variable("wet", ["low", "high"], cuts=[0.1])
TWO = fn.Variable(HEAVY, ["né", 1])
UP = fn.Variable('up, "or" down', ["né", 1])
OLD: dict[str, tuple[str, Any]] = {
    "Bayesian network": (
        """{
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
""",
        fn.BayesianNetwork(
            [FIVE, WET],
            [
                FullTable(0, (1,), [WET, FIVE], [[0.1, 0.2, 0.3, 0.4, 0.0], [5e-324, 1 - 2**-53, 0.0, 0.0, 0.0]]),
                MergedTable(1, (), [WET], np.zeros((), np.int32), [[0.25, 0.75]]),
            ],
            n_rows=12,
        ),
    ),
    "dependency network": (
        """{
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
""",
        fn.DependencyNetwork(
            [TWO, WET],
            [
                FullTable(0, (1,), [WET, TWO], [[0.1, 0.9], [1.0, 0.0]]),
                ProductConditional(1, (0,), [TWO, WET], [((1,), [0.5, 1e-300]), ((1, 0), [[1, 2], [3, 0]])]),
            ],
            n_rows=12,
            allow_zeros=True,
        ),
    ),
    "Markov network": (
        """{
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
""",
        fn.MarkovNetwork([UP, WET], [(("wet", UP.name), [[0.1, 2], [3.0, 1e-300]])]),
    ),
    "Gaussian Markov network": (
        """{
"format": "fishernet",
"version": 1,
"kind": "GaussianMarkovNetwork",
"names": ["a", "b"],
"mean": [0.0, 1],
"precision": [2.0, 2],
"edges": [
  [0, 1, -0.1]
]
}
""",
        fn.GaussianMarkovNetwork(["a", "b"], [0, 1], [[2, -0.1], [-0.1, 2]]),
    ),
    "Gaussian Bayesian network": (
        """{
"format": "fishernet",
"version": 1,
"kind": "GaussianBayesianNetwork",
"variables": [
  {"name": "a", "parents": [1], "intercept": 0, "coefficients": [0.5], "sd": 1},
  {"name": "b", "parents": [], "intercept": 0.1, "coefficients": [], "sd": 2.5}
]
}
""",
        fn.BayesianNetwork.from_regressions(
            fn.Dag.from_edges(["a", "b"], [("b", "a")]), [0, 0.1], [[0.5], []], [1, 2.5]
        ),
    ),
    "graph": (
        """{
"format": "fishernet",
"version": 1,
"kind": "UndirectedGraph",
"names": [
  "a",
  "b, c",
  "\\n"
],
"edges": [
  [0, 2],
  [1, 2]
]
}
""",
        EXAMPLES["graph"],
    ),
    "hidden tree": (
        """{
"format": "fishernet",
"version": 1,
"kind": "HiddenTree",
"nodes": [[4, 2], [1, 0]],
"alphabet": [{"symbols": ["A", 1, 2.5], "unknown": 0}],
"missing": "?",
"arity": [2, 1],
"branch_tables": null,
"root": [0.25, 0.75],
"transition": [[0.9, 0.1], [0.5, 0.5]],
"emission": [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]
}
""",
        EXAMPLES["hidden tree with arities"],
    ),
}


@pytest.mark.parametrize("name", list(OLD))
def test_old_files_are_read_and_still_written_in_their_layout(name: str) -> None:
    text, model = OLD[name]
    again = read(fn.load, text.encode())
    assert exact(again) == exact(model)
    described = json.loads(text)
    if described["kind"] not in READ_ONLY:
        now = json.loads(saved(again))
        assert (now.pop("version"), len(now.pop("digest"))) == (2, 64)
        assert {"version": 1, **now} == described


# ----------------------------------------------------------------------------------------------- damaged files

BIF = """network unknown {
}
variable a { type discrete [ 2 ] { x, y }; }
variable b { type discrete [ 2 ] { x, y }; }
probability ( b | a ) { (x) 0.1, 0.9; (y) 0.2, 0.8; }
probability ( a ) { table 0.5, 0.5; }
"""
XDSL = """<?xml version="1.0" encoding="UTF-8"?>
<smile version="1.0" id="n">
<nodes><cpt id="a"><state id="x" /><state id="y" /><probabilities>0.5 0.5</probabilities></cpt>
<cpt id="b"><state id="x" /><state id="y" /><parents>a</parents><probabilities>0.1 0.9 0.2 0.8</probabilities></cpt>
<deterministic id="c"><state id="x" /><state id="y" /><parents>b</parents>
<resultingstates>y x</resultingstates></deterministic></nodes>
</smile>
"""
ODDS = [fn.Variable("a b", [True, "<= 1"]), fn.Variable("ü", [1]), fn.Variable("c", ["(1, 2]", "> 2"], cuts=[2.0])]
ODD_LABELS = fn.BayesianNetwork(
    ODDS,
    [
        FullTable(0, (2, 1), [ODDS[2], ODDS[1], ODDS[0]], [[0.25, 0.75], [0.5, 0.5]]),
        FullTable(1, (2,), [ODDS[2], ODDS[1]], [[1.0], [1.0]]),
        FullTable(2, (), [ODDS[2]], [[0.125, 0.875]]),
    ],
    n_rows=8,
)
TEXTS: dict[str, tuple[Callable[[Path], Any], str]] = {
    **{name: (fn.load, text) for name, (text, _) in OLD.items()},
    **{name: (fn.load, saved(EXAMPLES[name]).decode()) for name in ("chain", "mixture", "hidden Markov", "merged")},
    "BIF": (fn.read_bif, BIF),
    "BIF, as we write it": (fn.read_bif, saved(ODD_LABELS, "a.bif").decode()),
    "XDSL": (read_xdsl, XDSL),
    "XDSL, as we write it": (read_xdsl, saved(ODD_LABELS, "a.xdsl").decode()),
    "NET": (read_net, saved(ODD_LABELS, "a.net").decode()),
    "DSC": (read_dsc, saved(ODD_LABELS, "a.dsc").decode()),
    "XMLBIF": (read_xmlbif, saved(ODD_LABELS, "a.xmlbif").decode()),
    "UAI, Markov": (read_uai, "MARKOV\n3\n2 2 1\n2\n2 0 1\n1 1\n\n4\n0 1.5\n1e-3 3\n\n2\n0 1\n"),
    "UAI, Bayes": (read_uai, "BAYES\n2\n2 2\n2\n1 0\n2 0 1\n2 0.5 0.5\n4\n0.1 0.9\n0 1\n"),
    "Newick": (fn.read_newick, "((man:0.1,'mo''use':1e-3):0.2,[x]yeast_1:0.9)all;\n((a),b);\n"),
    "Newick, all": (read_newicks, "((man:0.1,'mo''use':1e-3):0.2,[x]yeast_1:0.9)all;\n((a),b);\n"),
    "FASTA": (fn.read_fasta, ">a first one\nACGT\nac-g\n;note\n>b\nTT*\n"),
    "Stockholm": (
        fn.read_stockholm,
        "# STOCKHOLM 1.0\n#=GC RF xx.\none AC.\n#=GR one SS HH.\ntwo a-g\n\n"
        "one T\n#=GC RF x\n#=GR one SS E\ntwo T\n//\n",
    ),
}
OF_MODELS = (fn.load, fn.read_bif, read_xdsl, read_net, read_dsc, read_xmlbif, read_uai)
PIECES = [
    "",
    '"',
    "0",
    "-",
    "}",
    "]",
    "[",
    "{",
    ";",
    ":",
    ",",
    "(",
    "'",
    "|",
    "//",
    ">",
    "a",
    "nan",
    "1e9",
    "null",
    "é",
]


@pytest.mark.parametrize("name", list(TEXTS))
def test_a_file_changed_anywhere_is_read_or_refused_with_its_name(name: str, tmp_path: Path) -> None:
    reader, text = TEXTS[name]
    draws = random.Random(0)
    path = tmp_path / "changed"
    for _ in range(250):
        at = draws.randrange(len(text))
        path.write_text(text[:at] + draws.choice(PIECES) + text[at + draws.randrange(3) :], encoding="utf-8")
        try:
            model = reader(path)
        except fn.FileFormatError as error:
            assert error.path == str(path)  # noqa: PT017
            continue
        for conditional in getattr(model, "conditionals", ()):
            if type(conditional) in (FullTable, MergedTable):
                np.testing.assert_allclose(conditional.table().sum(axis=-1), 1, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", [name for name, (reader, _) in TEXTS.items() if reader in OF_MODELS])
def test_a_file_of_a_model_cut_anywhere_is_an_error(name: str, tmp_path: Path) -> None:
    reader, text = TEXTS[name]
    path = tmp_path / "cut"
    for length in range(len(text.rstrip())):
        if re.fullmatch(r"network unknown \{[^}]*\}\s*", text[:length]):
            continue  # a whole network, without variables
        path.write_text(text[:length], encoding="utf-8")
        with pytest.raises(fn.FileFormatError):
            reader(path)


@pytest.mark.parametrize("name", list(TEXTS))
def test_packed_files_are_read_and_damaged_ones_refused(name: str, tmp_path: Path) -> None:
    reader, text = TEXTS[name]
    path = tmp_path / "packed"
    packed = gzip.compress(text.encode())
    for length in range(2, len(packed), 7):
        path.write_bytes(packed[:length])
        with pytest.raises(fn.FileFormatError):
            reader(path)
    if name != "Newick":  # there are two trees
        path.write_bytes(packed)
        assert repr(reader(path)) == repr(read(reader, text.encode()))


@pytest.mark.parametrize("name", list(TEXTS))
def test_what_is_no_text_or_not_there_is_said(name: str, tmp_path: Path) -> None:
    reader, text = TEXTS[name]
    with pytest.raises(fn.FileFormatError, match="there is no such file"):
        reader(tmp_path / "nothing")
    with pytest.raises(fn.FileFormatError, match="cannot be read"):
        reader(tmp_path)
    with pytest.raises(fn.FileFormatError, match="/dev/zero.*not text"):  # and not read to its end
        reader(Path("/dev/zero"))
    lines = text.encode().splitlines(keepends=True)
    path = tmp_path / "bytes"
    path.write_bytes(lines[0] + b"\xff" + b"".join(lines[1:]))
    with pytest.raises(fn.FileFormatError, match="line 2: the file is not text") as caught:
        reader(path)
    assert (caught.value.path, caught.value.line) == (str(path), 2)


# ------------------------------------------------------------------------------------- nothing is half written

HALF = "\ud83d"
ODD = fn.Variable(HALF, ["x"])
ONE = FullTable(0, (), [ODD], [[1.0]])
ODD_STATE = fn.Variable("a", [HALF, "x"])
UNSTORABLE: dict[str, Any] = {
    "BayesianNetwork": fn.BayesianNetwork([ODD], [ONE]),
    "BayesianNetwork, state": fn.BayesianNetwork([ODD_STATE], [FullTable(0, (), [ODD_STATE], [[0.5, 0.5]])]),
    "regressions": fn.BayesianNetwork.from_regressions(fn.Dag.from_edges([HALF], []), [0], [[]], [1]),
    "DependencyNetwork": fn.DependencyNetwork([ODD], [ONE]),
    "MarkovNetwork": fn.MarkovNetwork([ODD], []),
    "GaussianMarkovNetwork": fn.GaussianMarkovNetwork([HALF], [0], [[1]]),
    "UndirectedGraph": fn.UndirectedGraph.from_edges([HALF], []),
    "MarkovChain": fn.MarkovChain([("a", 1), ("b", 2)], 0, [0.5, 0.5]),
    "HiddenMarkovModel": fn.HiddenMarkovModel([1], [[1]], [[0.5, 0.5]], alphabet=["a", HALF]),
    "NumericHiddenMarkovModel": fn.NumericHiddenMarkovModel([1], [[1]], fn.models.PoissonEmission([1.0], names=[HALF])),
    "HiddenTree": fn.HiddenTree([0], [0.4, 0.6], MOVE, MOVE, alphabet=["a", float("inf")]),
    "HiddenTree, missing": fn.HiddenTree([0], [0.4, 0.6], MOVE, MOVE, missing=(1, 2)),
}


@pytest.mark.parametrize("name", list(UNSTORABLE))
def test_what_no_file_can_hold_is_refused_before_anything_is_written(name: str, tmp_path: Path) -> None:
    model, path = UNSTORABLE[name], tmp_path / "a.json"
    path.write_text("old")
    with pytest.raises(fn.SchemaError, match="surrogate|cannot be stored"):
        fn.save(model, path)
    for ending in (
        (".bif", ".xdsl", ".net", ".dsc", ".xmlbif") if hasattr(model, "dag") and name != "regressions" else ()
    ):
        with pytest.raises(fn.SchemaError, match="surrogate"):
            fn.save(model, tmp_path / f"a{ending}")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@EVERY
def test_a_class_of_its_own_cannot_be_saved(name: str, tmp_path: Path) -> None:
    """It would come back as another class."""
    model = EXAMPLES[name]
    own: Any = type("Own", (type(model),), {"__slots__": ()})
    other = own.__new__(own)
    with pytest.raises(fn.SchemaError, match="an Own cannot be saved; what can be saved: BayesianNetwork"):
        fn.save(other, tmp_path / "a.json")
    assert list(tmp_path.iterdir()) == []


@EVERY
def test_a_writer_that_is_stopped_half_way_leaves_the_old_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0

    def interrupted(*args: Any, **options: Any) -> str:
        nonlocal calls
        calls += 1
        if calls == 5:
            raise KeyboardInterrupt
        return dumps(*args, **options)

    dumps: Callable[..., str] = json.dumps
    model, path = EXAMPLES[name], tmp_path / "a"
    path.write_text("old")
    monkeypatch.setattr(json, "dumps", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fn.save(model, path)
    if name in ("asia", "alarm"):
        calls, dumps = 0, bif_writer._numbers
        monkeypatch.setattr(bif_writer, "_numbers", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fn.write_bif(model, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
