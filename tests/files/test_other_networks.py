"""Networks in the formats of Hugin, Microsoft and Weka, as other programs write them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from tests.files.hostile import exact, in_full
from tests.files.twenty import TWENTY
from tests.networks import random_network

NET = """% from another program
net
{
    node_size = (80 40);
    HR_Grid_X = "10";
}
node rain
{
    label = "Does it rain?";
    position = (100 200);
    states = ("no" "yes");
}
discrete node wind { states = ("calm" "gale" "some (wind)"); subtype = label; }
node wet { states = ( "dry" "wet" ); }
potential ( rain | ) { data = ( 0.8 0.2 ); }
potential (wind) { }
potential (wet | rain wind)
{
    model_nodes = ();
    data = ((( 0.9 0.1 )   % rain = no
             ( .8 .2 ) ( 0.7 0.3 ))
            (( 0.4 6e-1 )( 0.3 0.7 )( 0 1 )));
}
"""
DSC = """//Bayesian network in the DSC format
belief network "weather"
node rain {
  name: "Does it rain?";
  type : discrete[2] = { "no", "yes" };
  position: (3, 4);
}
node wind { type : discrete [ 3 ] = { calm, gale, "some (wind)" }; }
node wet {
  type : discrete [ 2 ] = { "dry", "wet" };
}
probability ( rain ) { 0.8, 0.2; }
probability ( wind ) { 0.333333, 0.333333, 0.333333; }
probability ( wet | rain, wind ) {
  /* numbers of states */
  (0, 0) : 0.9, 0.1;
  (0, 1) : .8, .2;
  (0, 2) : 0.7, 0.3;
  (1, 0) : 0.4, 6e-1;
  (1, 1) : 0.3, 0.7;
  default: 0, 1;
}
"""
XMLBIF = """<?xml version="1.0" encoding="US-ASCII"?>
<!-- as Weka writes it -->
<!DOCTYPE BIF [
    <!ELEMENT BIF ( NETWORK )*>
          <!ATTLIST BIF VERSION CDATA #REQUIRED>
    <!ELEMENT NETWORK ( NAME, ( PROPERTY | VARIABLE | DEFINITION )* )>
]>
<BIF VERSION="0.3"><NETWORK><NAME>weather</NAME>
<VARIABLE TYPE="nature"><NAME>rain</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME>
<PROPERTY>position = (0,0)</PROPERTY></VARIABLE>
<VARIABLE TYPE="nature"><NAME>wind</NAME><OUTCOME>calm</OUTCOME><OUTCOME>gale</OUTCOME><OUTCOME>some (wind)</OUTCOME>
</VARIABLE>
<VARIABLE TYPE="nature"><NAME>wet</NAME><OUTCOME>dry</OUTCOME><OUTCOME>wet</OUTCOME></VARIABLE>
<DEFINITION><FOR>rain</FOR><TABLE> 0.8 0.2 </TABLE></DEFINITION>
<DEFINITION><FOR>wind</FOR><TABLE>0.333333 0.333333 0.333333</TABLE></DEFINITION>
<DEFINITION><FOR>wet</FOR><GIVEN>rain</GIVEN><GIVEN>wind</GIVEN>
<TABLE><!-- the child is the fastest -->
0.9 0.1 .8 .2 0.7 0.3
0.4 6e-1 0.3 0.7 0 1
</TABLE></DEFINITION>
</NETWORK></BIF>
"""
TEXTS = {".net": NET, ".dsc": DSC, ".xmlbif": XMLBIF, ".bifxml": XMLBIF, ".xml": XMLBIF}


def read(tmp_path: Path, ending: str, text: str) -> fn.BayesianNetwork:
    path = tmp_path / f"a{ending}"
    path.write_text(text, encoding="utf-8")
    net: fn.BayesianNetwork = fn.load(path)
    return net


@pytest.mark.parametrize("ending", list(TEXTS))
def test_files_of_other_programs_mean_what_they_say(tmp_path: Path, ending: str) -> None:
    net = read(tmp_path, ending, TEXTS[ending])
    assert net.names == ("rain", "wind", "wet")
    assert net.variables[1].states == ("calm", "gale", "some (wind)")
    assert net.parents("wet") == ("rain", "wind")
    np.testing.assert_allclose(net.conditional("wind").table(), [1 / 3] * 3)
    np.testing.assert_allclose(net.conditional("wet").table()[:, :, 1], [[0.1, 0.2, 0.3], [0.6, 0.7, 1]])


@pytest.mark.parametrize("kind", list(TWENTY))
@pytest.mark.parametrize("ending", [".net", ".dsc", ".xmlbif"])
def test_names_and_labels_of_every_kind_come_back(kind: str, ending: str, tmp_path: Path) -> None:
    net = TWENTY[kind]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fn.FishernetWarning)
        fn.save(net, tmp_path / f"a{ending}")
    assert exact(fn.load(tmp_path / f"a{ending}")) == exact(in_full(net))


@pytest.mark.parametrize(
    ("ending", "old", "new", "message"),
    [
        (".net", "node wet {", "decision wet {", "line 14: a decision node is not read"),
        (
            ".net",
            "0.8 0.2 )",
            "0.8 0.3 )",
            "line 15: node 'rain': row 0 of the probabilities is negative",
        ),
        (".net", "( .8 .2 )", "( .8 )", "line 17: node 'wet': 11 probabilities; its family needs 12"),
        (".net", ".8 .2", "normal(0, 1)", "'normal' is no number"),
        (".net", "(wet | rain wind)", "(wet | rain snow)", "line 17: node 'wet': 'snow' is no other node"),
        (".net", "potential ( rain | )", "potential ( wet | )", "line 17: node 'wet': a second table"),
        (".net", "( 0 1 )));", "( 0 1 )))", "the file ends inside of it"),
        (".net", '("calm" ', '("gale" ', "line 13: node 'wind': the state 'gale' appears twice"),
        (".net", "net\n{", "class weather\n{", "line 2: a class, of which networks are made, is not read"),
        (".dsc", "type : discrete[2]", "type : continuous", "line 5: node 'rain': what is read are types like"),
        (".dsc", "(1, 1) :", "(1, 3) :", "line 20: node 'wet': (1, 3) are not the numbers of states of 2 parents"),
        (".dsc", "  default: 0, 1;\n", "", "line 14: node 'wet': no row for (1, 2) of the parents"),
        (".dsc", "(0, 2) : 0.7, 0.3;", "(0, 2) : 0.7;", "line 18: node 'wet': 1 probabilities for 2 states"),
        (".dsc", "{ 0.8, 0.2; }", "{ 0.8; }", "line 12: node 'rain': 1 probabilities for 2 states"),
        (".xmlbif", "<FOR>rain</FOR>", "<FOR>snow</FOR>", "line 14: 'snow' is no node"),
        (
            ".xmlbif",
            'TYPE="nature"><NAME>wet',
            'TYPE="utility"><NAME>wet',
            "line 13: node 'wet' is of the type",
        ),
        (".xmlbif", "0.3 0.7 0 1", "0.3 0.7 0 one", "line 17: node 'wet': 'one' is no number"),
        (".xmlbif", "<!ELEMENT BIF ( NETWORK )*>", "<!ENTITY a 'b'>", "line 4: entities of a file's own are not read"),
        (".xml", "<BIF VERSION", "<smile VERSION", "mismatched tag"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, ending: str, old: str, new: str, message: str) -> None:
    assert old in TEXTS[ending]
    with pytest.raises(fn.FileFormatError) as caught:
        read(tmp_path, ending, TEXTS[ending].replace(old, new, 1))
    assert message in str(caught.value)
    assert f"a{ending}" in str(caught.value)


@pytest.mark.parametrize("ending", [".net", ".dsc"])
def test_an_encoding_may_be_said(tmp_path: Path, ending: str) -> None:
    text = TEXTS[ending].replace('"calm"', '"ruhig, böig"').replace("calm,", '"ruhig, böig",')
    (tmp_path / f"a{ending}").write_bytes(text.encode("latin-1"))
    with pytest.raises(fn.FileFormatError, match="say its encoding") as caught:
        fn.load(tmp_path / f"a{ending}")
    assert caught.value.parameter == "encoding"
    assert fn.load(tmp_path / f"a{ending}", encoding="latin-1").variables[1].states[0] == "ruhig, böig"


def test_a_circle_is_named(tmp_path: Path) -> None:
    text = NET.replace(
        "potential ( rain | ) { data = ( 0.8 0.2 ); }", "potential ( rain | wet ) { data = ((1 0)(0 1)); }"
    )
    with pytest.raises(fn.FileFormatError, match="cycle"):
        read(tmp_path, ".net", text)


@pytest.mark.parametrize("ending", [".net", ".bifxml"])
def test_pyagrum_and_we_read_one_another(tmp_path: Path, ending: str) -> None:
    pyagrum: Any = pytest.importorskip("pyagrum")
    net = random_network(5, [2, 3, 2, 4, 2])
    fn.save(net, tmp_path / f"ours{ending}")
    theirs = pyagrum.loadBN(str(tmp_path / f"ours{ending}"))
    for conditional in net.conditionals:
        *parents, child = [variable.name for variable in conditional.variables]
        names = [*reversed(theirs.cpt(child).names[1:]), child]
        expected = conditional.table().transpose([[*parents, child].index(name) for name in names])
        found = theirs.cpt(child).toarray()
        np.testing.assert_allclose(found, expected, atol=1e-12)
    pyagrum.saveBN(theirs, str(tmp_path / f"theirs{ending}"))
    again = fn.load(tmp_path / f"theirs{ending}")
    assert set(again.names) == set(net.names)
    for name in net.names:
        ours, back = net.conditional(name), again.conditional(name)
        order = [[v.name for v in back.variables].index(v.name) for v in ours.variables]
        np.testing.assert_allclose(back.table().transpose(order), ours.table(), atol=1e-5)
