"""What the options of several commands mean, before any command runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fishernet as fn
from fishernet.cli.evidence import known_values
from fishernet.cli.models import check_model_output, read_model, write_model
from fishernet.cli.options import Reading, arcs, parse_bins, read_tiers, refuse_empty
from fishernet.cli.terminal import ending
from tests.cli.running import written
from tests.networks import random_network


@pytest.mark.parametrize(
    ("texts", "bins"),
    [
        ([], None),
        (["4"], 4),
        (["age=4"], {"age": 4}),
        (["age=4", "x=y=2"], {"age": 4, "x=y": 2}),
        (["age=18,65"], {"age": (18.0, 65.0)}),
        (["age=18,"], {"age": (18.0,)}),
        (["age=-0.5"], {"age": (-0.5,)}),
        (["age=1e3,2e3"], {"age": (1000.0, 2000.0)}),
        (["4", "age=3"], {None: 4, "age": 3}),
    ],
)
def test_bins(texts: list[str], bins: Any) -> None:
    assert parse_bins(texts) == bins


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        *(([text], "--bins takes N, COLUMN=N or COLUMN=CUT") for text in ("x", "age=", "age=x", "age=1,x", "4.5", "")),
        (["4", "4"], "--bins says how many bins all other columns have twice"),
        (["age=4", "age=3"], "'age' twice"),
    ],
)
def test_bins_that_make_no_sense_are_refused(texts: list[str], said: str) -> None:
    with pytest.raises(fn.FishernetError, match=said):
        parse_bins(texts)


def test_a_table_is_read_in_the_states_of_a_model(model: Path, csv: Path) -> None:
    net, table = fn.load(model), fn.read_table(csv)
    assert Reading().read_known(csv, net.variables).variables == net.variables
    assert refuse_empty(csv, table) is table
    with pytest.raises(fn.SchemaError, match="there are no rows"):
        refuse_empty(csv, table[:0])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b", ("a", "b")),
        ("a, b", ("a", "b")),
        ('"a,b",c', ("a,b", "c")),
        ('"say ""a""",é;', ('say "a"', "é;")),
    ],
)
def test_an_arc_is_two_names(text: str, names: tuple[str, str]) -> None:
    assert arcs([text, text], "--require") == [names, names]


@pytest.mark.parametrize("text", ["a", "", "a,b,c", '"a,b"', '"a,b'])
def test_anything_else_is_no_arc(text: str) -> None:
    said = "cannot be told apart" if text == '"a,b' else "--forbid takes an arc as PARENT,CHILD"
    with pytest.raises(fn.FishernetError, match=said):
        arcs([text], "--forbid")


def test_tiers(tmp_path: Path) -> None:
    assert read_tiers("a,b;c;d, e") == [["a", "b"], ["c"], ["d", "e"]]
    assert read_tiers('"a,b";c;') == [["a,b"], ["c"]]
    path = written(tmp_path / "tiers.txt", '\ufeffa,b\n\n"c;,",d\r\ne\n')
    assert read_tiers(str(path)) == [["a", "b"], ["c;,", "d"], ["e"]]
    with pytest.raises(fn.FishernetError, match=r"'nope\.txt' is neither"):
        read_tiers("nope.txt")
    with pytest.raises(fn.FileFormatError, match=r"tiers\.txt, line 2"):
        read_tiers(str(written(path, 'a,b\n"c\n')))


def test_the_first_equals_sign_behind_a_name_divides() -> None:
    a, longer = fn.Variable("a", ["b=c", "c"]), fn.Variable("x=y", ["a", "=a"])
    assert known_values(["a=b=c"], "--given", [a, fn.Variable("a=b", ["c"])]) == {"a": "b=c"}
    assert known_values(["x=y==a", "a=c"], "--given", [a, longer]) == {"x=y": "=a", "a": "c"}


@pytest.mark.parametrize(
    "name", ["m.json", "m.JSON", "m.json.gz", "m.bif", "m.bif.gz", "m.xdsl", "m.net", "m.dsc", "m.xml"]
)
def test_a_model_is_written_and_read_by_its_ending(tmp_path: Path, name: str) -> None:
    net = random_network(1, [3, 2, 4])
    write_model(net, tmp_path / name)
    assert read_model(tmp_path / name) == net
    assert fn.load(tmp_path / name) == net


def test_endings(tmp_path: Path) -> None:
    names = {"a.json": ".json", "a.b.BIF": ".bif", "a.CSV.GZ": ".csv", "a": "", ".json": "", "a.gz": ""}
    assert {name: ending(Path(name)) for name in names} == names
    with pytest.raises(
        fn.FileFormatError, match=r"x\.txt: a model is written to a file ending in \.json, \.bif, .* or \.graphml"
    ):
        check_model_output(tmp_path / "x.txt")
    with pytest.raises(
        fn.FileFormatError, match=r"a model is read from a file ending in \.json, \.bif, \.xdsl, \.net, .* or \.uai"
    ):
        read_model(tmp_path / "x.csv")
