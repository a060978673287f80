from __future__ import annotations

import itertools
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.files import read_xdsl, write_xdsl
from tests.files.hostile import exact, in_full
from tests.files.twenty import TWENTY
from tests.networks import random_network

pyagrum: Any = pytest.importorskip("pyagrum")

NODES = """<cpt id="p"><state id="p0" /><state id="p1" /><probabilities>0.5 0.5</probabilities></cpt>
<cpt id="q"><state id="q0" /><state id="q1" /><state id="q2" /><probabilities>0.2 0.3 0.5</probabilities></cpt>
<cpt id="c"><state id="c0" /><state id="c1" /><parents>p q</parents>
<probabilities>0.1 0.9 0.2 0.8 0.3 0.7 0.4 0.6 0.5 0.5 0.6 0.4</probabilities></cpt>
"""


NOISY = """<cpt id="p"><state id="p0" /><state id="p1" /><probabilities>0.5 0.5</probabilities></cpt>
<cpt id="q"><state id="q0" /><state id="q1" /><state id="q2" /><probabilities>0.2 0.3 0.5</probabilities></cpt>
<noisymax id="c"><state id="high" /><state id="low" /><state id="none" /><parents>p q</parents>
<strengths>0 1 1 0 2</strengths>
<parameters>0.6 0.3 0.1 0 0 1 0.5 0.4 0.1 0.2 0.3 0.5 0 0 1 0.1 0.2 0.7</parameters></noisymax>
"""


def file(nodes: str, rest: str = "") -> str:
    return f'<?xml version="1.0"?>\n<smile version="1.0" id="n">\n<nodes>\n{nodes}</nodes>\n{rest}</smile>\n'


def read(tmp_path: Path, text: str) -> fn.BayesianNetwork:
    (tmp_path / "a.xdsl").write_text(text)
    return read_xdsl(tmp_path / "a.xdsl")


def test_the_child_is_the_fastest_and_the_first_parent_the_slowest(tmp_path: Path) -> None:
    net = read(tmp_path, file(NODES))
    assert net.names == ("p", "q", "c")
    found = net.conditional("c").table()[:, :, 0]
    np.testing.assert_allclose(found, [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])


def test_a_deterministic_node_has_its_state_for_certain(tmp_path: Path) -> None:
    own = '<deterministic id="d"><state id="x" /><state id="y" /><parents>p</parents>'
    net = read(tmp_path, file(f"{NODES}{own}<resultingstates>y x</resultingstates></deterministic>"))
    assert net.conditional("d").table().tolist() == [[0, 1], [1, 0]]


def test_a_file_in_latin_1_is_read(tmp_path: Path) -> None:
    text = '<?xml version="1.0" encoding="ISO-8859-1"?>\n' + file(NODES).split("\n", 1)[1].replace('"p"', '"é"')
    (tmp_path / "a.xdsl").write_bytes(text.replace("p q", "é q").encode("latin-1"))
    assert read_xdsl(tmp_path / "a.xdsl").names == ("é", "q", "c")
    for odd in ("martian", "rot13", "unicode_escape", "undefined", "idna"):
        (tmp_path / "a.xdsl").write_text(text.replace("ISO-8859-1", odd))
        with pytest.raises(fn.FileFormatError, match=f"line 1: the encoding '{odd}' is not known"):
            read_xdsl(tmp_path / "a.xdsl")


@pytest.mark.parametrize("kind", list(TWENTY))
def test_identifiers_are_those_that_smile_takes_and_all_comes_back(kind: str, tmp_path: Path) -> None:
    net = TWENTY[kind]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fn.FishernetWarning)
        write_xdsl(net, tmp_path / "a.xdsl")
    words = re.findall('id="([^"]*)"', (tmp_path / "a.xdsl").read_text())
    assert all(re.fullmatch("[A-Za-z][A-Za-z0-9_]*", word) for word in words)
    assert exact(read_xdsl(tmp_path / "a.xdsl")) == exact(in_full(net))


def test_parents_come_before_children_and_the_order_comes_back(tmp_path: Path) -> None:
    net = random_network(5, [2, 3, 2, 2, 3, 2])
    write_xdsl(net, tmp_path / "a.xdsl")
    lines = (tmp_path / "a.xdsl").read_text().splitlines()
    order = [line.split('"')[1] for line in lines if "<cpt" in line]
    assert order != list(net.names)
    assert all(order.index(parent) < order.index(child) for parent, child in net.dag.edges)
    assert exact(read_xdsl(tmp_path / "a.xdsl")) == exact(net)


def test_files_of_pyagrum_have_the_marginals_that_it_finds(tmp_path: Path) -> None:
    """It turns the parents round, and writes six digits."""
    theirs = pyagrum.fastBN("a{x|y}->c{x|y|z}<-b{u|v|w};a->d{x|y}<-c;b->d")
    pyagrum.saveBN(theirs, str(tmp_path / "a.xdsl"))
    net = read_xdsl(tmp_path / "a.xdsl")
    inference = pyagrum.LazyPropagation(theirs)
    for name in net.names:
        np.testing.assert_allclose(fn.infer.marginal(net, [name]), inference.posterior(name).toarray(), atol=1e-5)


def test_pyagrum_reads_trees_with_the_same_marginals(tmp_path: Path) -> None:
    a, b, c = fn.Variable("a", ["x", "y"]), fn.Variable("b", ["u"]), fn.Variable("c", [1, 2, 3])
    tables: dict[str, Any] = {"a": [0.25, 0.75], "b": [[1.0], [1.0]], "c": [[0.5, 0.25, 0.25], [0.125, 0.5, 0.375]]}
    net = fn.BayesianNetwork.from_tables([c, b, a], {"b": ["a"], "c": ["a"]}, tables)
    with pytest.warns(fn.FishernetWarning, match="'1' as q1"):
        write_xdsl(net, tmp_path / "a.xdsl")
    inference = pyagrum.LazyPropagation(pyagrum.loadBN(str(tmp_path / "a.xdsl")))
    for name in net.names:
        expected = fn.infer.marginal(net, [name])
        np.testing.assert_allclose(inference.posterior(name).toarray()[: len(expected)], expected, atol=1e-5)


@pytest.mark.parametrize("by_states", [False, True])
def test_a_noisy_node_has_the_strongest_of_what_its_causes_bring(tmp_path: Path, by_states: bool) -> None:
    """Columns are in the order of strengths, by which the last brings nothing, or, where that says so, of states."""
    text = NOISY
    brings: dict[str, dict[str, list[float]]] = {
        "p": {"p0": [0.6, 0.3, 0.1], "p1": [0, 0, 1]},
        "q": {"q1": [0.5, 0.4, 0.1], "q0": [0.2, 0.3, 0.5], "q2": [0, 0, 1]},
    }
    if by_states:  # told apart where the last state is not the weakest
        brings["q"] = {"q0": [0, 0, 1], "q1": [0.5, 0.4, 0.1], "q2": [0.2, 0.3, 0.5]}
        text = text.replace("0 1 1 0 2", "0 1 1 2 0")
        text = text.replace("0.5 0.4 0.1 0.2 0.3 0.5 0 0 1", "0 0 1 0.5 0.4 0.1 0.2 0.3 0.5")
    net = read(tmp_path, file(text))
    for p, of_p in brings["p"].items():
        for q, of_q in brings["q"].items():
            wanted = np.zeros(3)
            for states in itertools.product(range(3), repeat=3):
                wanted[min(states)] += of_p[states[0]] * of_q[states[1]] * [0.1, 0.2, 0.7][states[2]]
            found = fn.infer.marginal(net, ["c"], given={"p": p, "q": q})
            np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_a_noisy_node_without_parents_and_one_with_very_many(tmp_path: Path) -> None:
    alone = '<noisymax id="c"><state id="a" /><state id="b" /><parameters>0.25 0.75</parameters></noisymax>\n'
    np.testing.assert_allclose(fn.infer.marginal(read(tmp_path, file(alone)), ["c"]), [0.25, 0.75])
    names = [f"p{i}" for i in range(25)]
    inside = '<state id="a" /><state id="b" /><probabilities>0.5 0.5</probabilities>'
    parents = "".join(f'<cpt id="{name}">{inside}</cpt>\n' for name in names)
    many = alone.replace("<parameters>", f"<parents>{' '.join(names)}</parents><parameters>" + "0.5 0.5 0 1 " * 25)
    with pytest.raises(fn.FishernetError, match="would have more than"):
        read(tmp_path, file(parents + many))


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "this is no XML"),
        ("<smile>\n<nodes></smile>", 2, "this is no XML, or it is damaged or ends early .mismatched tag"),
        ("<BIF></BIF>", 1, "expected <smile>, got <BIF>; this is no XDSL file"),
        ('<!DOCTYPE a [<!ENTITY b "c">]>\n<smile></smile>', 1, "a document type declaration is not read"),
        ("<a>" * 101, 1, "more than 100 elements"),
        (
            file('<equation id="n"></equation>'),
            4,
            "the node 'n' is a <equation>; what is read: '<cpt>', '<deterministic>'",
        ),
        (
            file(NOISY.replace("0 0 1 0.1", "0 1 0 0.1")),
            8,
            "node 'c': no state of a parent is the one that brings nothing",
        ),
        (file(NOISY.replace("0 1 1", "0 0 1")), 7, "node 'c': strengths order the states of each parent"),
        (file(NOISY.replace("0 1 1", "0.5 1 1")), 7, "node 'c': strengths order the states of each parent"),
        (file(NOISY.replace("0 1 1", "1e999 1 1")), 7, "node 'c': strengths order the states of each parent"),
        (file(NOISY.replace(" 0.1 0.2 0.7<", "<")), 8, "node 'c': 15 entries of <parameters>; its parents need 18"),
        (file("<cpt></cpt>"), 4, "a node has no id"),
        (file('<cpt id="a"></cpt>'), 4, "node 'a': variable 'a' has no states"),
        (file(NODES.replace("p1", "p0")), 4, "node 'p': the state 'p0' appears twice"),
        (file(NODES.replace('id="q"', 'id="p"')), 5, "the node 'p' appears twice"),
        (file(NODES.replace("p q", "p r")), 6, "node 'c': 'r' is no other node"),
        (file(NODES.replace("p q", "p p")), 6, "node 'c': 'p' is no other node, or is a parent twice"),
        (file(NODES.replace("p q", "p c")), 6, "node 'c': 'c' is no other node"),
        (file(NODES.replace(" 0.6 0.4<", "<")), 7, "node 'c': 10 entries of <probabilities>; its parents need 12"),
        (file(NODES.replace("0.6 0.4<", "0.6 0.6<")), 7, "row 5 of the probabilities is negative, or sums to 1.2"),
        (file(NODES.replace("0.6 0.4<", "1.6 -0.6<")), 7, "row 5 of the probabilities is negative"),
        (file(NODES.replace("0.6 0.4<", "nan 0.4<")), 7, "'nan' is no number"),
        (file(NODES.replace("<probabilities>0.5 0.5</probabilities>", "")), 4, "node 'p': 0 <probabilities>, not one"),
        (
            file(NODES.replace('<state id="p0"', '<property id="fishernet_states">int 1</property><state id="p0"')),
            4,
            "node 'p': fishernet_states has 1 of 2 states",
        ),
        (
            file(NODES.replace('<state id="p0"', '<property id="fishernet_place">7</property><state id="p0"')),
            None,
            "the properties fishernet_place must number the nodes from 0 to 2",
        ),
        (
            file(NODES, '<properties><property id="fishernet_n_rows">-1</property></properties>'),
            2,
            "fishernet_n_rows must be a number from 0, got '-1'",
        ),
        (
            file(
                '<deterministic id="d"><state id="x" /><state id="y" />\n'
                "<resultingstates>z</resultingstates></deterministic>"
            ),
            5,
            "node 'd': 'z' is no state; there are 'x', 'y'",
        ),
    ],
)
def test_wrong_files_say_where(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    with pytest.raises(fn.FileFormatError, match=message) as caught:
        read(tmp_path, text)
    assert caught.value.line == line


def test_what_is_replaced_and_what_cannot_be_held_is_said(tmp_path: Path) -> None:
    net = TWENTY["intervals"]()
    with pytest.warns(fn.FishernetWarning, match=r"'\(3, 4\]' as gt_3_le_4") as caught:
        fn.save(net, tmp_path / "a.xdsl")
    assert caught[0].filename == __file__
    with pytest.raises(fn.SchemaError, match="an XDSL file holds a BayesianNetwork, not a Markov network"):
        write_xdsl(fn.MarkovNetwork(net.variables, []), tmp_path / "b.xdsl")  # type: ignore[arg-type]
