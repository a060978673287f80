from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import fishernet.datasets
from fishernet import (
    BayesianNetwork,
    DependencyNetwork,
    FishernetWarning,
    MarkovNetwork,
    SchemaError,
    StateSpaceError,
    Variable,
)
from fishernet.files import read_bif, write_bif
from fishernet.models import FullTable, MergedTable
from tests.files.hostile import exact

RAIN, WET = Variable("rain", ["no", "yes"]), Variable("wet", ["dry", "wet"])
TABLES = {"rain": np.array([0.8, 0.2]), "wet": np.array([[0.9, 0.1], [0.0, 1.0]])}
NET = BayesianNetwork.from_tables([RAIN, WET], {"wet": ["rain"]}, TABLES)


def test_asia_is_written_as_bnlearn_writes_it(tmp_path: Path) -> None:
    path = Path(fishernet.datasets.__file__).parent / "asia.bif.gz"
    write_bif(read_bif(path), tmp_path / "a.bif")
    lines = (tmp_path / "a.bif").read_text().splitlines()
    original = gzip.decompress(path.read_bytes()).decode().splitlines()
    assert sorted(lines) == sorted(original)  # rows in another order


def test_types_cuts_and_rows_stand_in_properties(tmp_path: Path) -> None:
    a, b = Variable("a", (1, "1", 0.5)), Variable("b", [False, True], cuts=[1e-300])
    net = BayesianNetwork(
        [a, b], [FullTable(0, (), [a], [[0.25, 0.25, 0.5]]), FullTable(1, (), [b], [[0.5, 0.5]])], n_rows=10
    )
    with pytest.warns(FishernetWarning, match="'1' as q1, '0.5' as q0_5"):
        write_bif(net, tmp_path / "a.bif")
    assert (tmp_path / "a.bif").read_text() == (
        "network unknown {\n"
        "  property fishernet_n_rows = 10;\n"
        "}\n"
        "variable a {\n"
        "  type discrete [ 3 ] { 1, q1, q0_5 };\n"
        '  property fishernet_states = int 1, str "1", float 0.5;\n'
        "}\n"
        "variable b {\n"
        "  type discrete [ 2 ] { False, True };\n"
        "  property fishernet_states = bool False, bool True;\n"
        "  property fishernet_cuts = 1e-300;\n"
        "}\n"
        "probability ( a ) {\n"
        "  table 0.25, 0.25, 0.5;\n"
        "}\n"
        "probability ( b ) {\n"
        "  table 0.5, 0.5;\n"
        "}\n"
    )


def test_one_warning_says_what_was_replaced(tmp_path: Path) -> None:
    net = BayesianNetwork.from_tables(
        [Variable("a b", ["x", "y z"]), Variable("é", ["x"])], {}, {"a b": [0.5, 0.5], "é": [1.0]}
    )
    with pytest.warns(FishernetWarning) as caught:
        write_bif(net, tmp_path / "a.bif")
    assert [str(warning.message) for warning in caught] == [
        "3 names and labels are written as words that other programs read, and exactly in properties: "
        "'a b' as a_b, 'y z' as y_z, 'é' as e"
    ]
    assert caught[0].filename == __file__
    assert exact(read_bif(tmp_path / "a.bif")) == exact(net)


def test_plain_labels_give_no_warning(tmp_path: Path) -> None:
    write_bif(NET, tmp_path / "a.bif")  # a warning would be an error


def test_other_models_are_told_where_they_can_go(tmp_path: Path) -> None:
    markov = MarkovNetwork(NET.variables, [])
    for model in (DependencyNetwork.from_joint(markov), markov):
        message = f"not a {model.kind}; fishernet.save stores it as .json"
        with pytest.raises(SchemaError, match=message):
            write_bif(model, tmp_path / "a.bif")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_a_writer_that_fails_half_way_leaves_the_old_file(tmp_path: Path) -> None:
    parent, child = Variable("parent", range(2**10)), Variable("child", range(2**19))
    merged = MergedTable(1, (0,), [parent, child], np.zeros(2**10, np.int32), np.full((1, 2**19), 2.0**-19))
    net = BayesianNetwork([parent, child], [FullTable(0, (), [parent], np.full((1, 2**10), 2.0**-10)), merged])
    (tmp_path / "a.bif").write_text("old")
    with pytest.raises(StateSpaceError, match="child"):
        write_bif(net, tmp_path / "a.bif")
    assert (tmp_path / "a.bif").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.bif"]
