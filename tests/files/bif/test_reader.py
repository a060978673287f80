from __future__ import annotations

import gzip
import re
from pathlib import Path

import numpy as np
import pytest

import fishernet.datasets
from fishernet import CycleError, FileFormatError
from fishernet.files import read_bif
from tests.files.bif.conftest import Read

SHIPPED = Path(fishernet.datasets.__file__).parent
CHAIN = """network unknown {
}
variable a { type discrete [ 2 ] { x, y }; }
variable b { type discrete [ 2 ] { x, y }; }
probability ( b | a ) { (x) 0.1, 0.9; (y) 0.2, 0.8; }
probability ( a ) { table 0.5, 0.5; }
"""


def naive(text: str) -> tuple[dict[str, list[str]], dict[str, tuple[list[str], dict[tuple[str, ...], list[float]]]]]:
    """States, and parents with rows by labels, of a file as bnlearn writes it."""
    states = {
        name: words.replace(" ", "").split(",")
        for name, words in re.findall(r"variable (\w+) \{\s*type discrete \[ \d+ \] \{(.*?)\};", text)
    }
    tables = {}
    for child, parents, body in re.findall(r"probability \( (\w+)(?: \| (.*?))? \) \{(.*?)\}", text, re.DOTALL):
        rows = {}
        for labels, numbers in re.findall(r"(?:\((.*?)\)|table) (.*?);", body):
            key = tuple(label.strip() for label in labels.split(",")) if labels else ()
            rows[key] = [float(number) for number in numbers.split(",")]
        tables[child] = ([name.strip() for name in parents.split(",")] if parents else [], rows)
    return states, tables


@pytest.mark.parametrize("name", ["asia", "alarm"])
def test_a_naive_reader_finds_the_same_numbers(name: str) -> None:
    path = SHIPPED / f"{name}.bif.gz"
    states, tables = naive(gzip.decompress(path.read_bytes()).decode())
    net = read_bif(path)
    assert [(v.name, list(v.states)) for v in net.variables] == list(states.items())
    compared = 0
    for child, (parents, rows) in tables.items():
        conditional = net.conditional(child)
        assert [net.names[p] for p in conditional.parents] == parents
        assert len(rows) == conditional.probabilities.shape[0]
        for labels, numbers in rows.items():
            codes = tuple(states[parent].index(label) for parent, label in zip(parents, labels, strict=True))
            sums = 1.0 if abs(sum(numbers) - 1) <= 1e-9 else sum(numbers)
            np.testing.assert_allclose(conditional.table()[codes], np.array(numbers) / sums, rtol=1e-13)
            compared += len(numbers)
    assert compared == sum(conditional.probabilities.size for conditional in net.conditionals)


@pytest.mark.parametrize(("name", "variables", "arcs", "parameters"), [("asia", 8, 8, 18), ("alarm", 37, 46, 509)])
def test_sizes_are_those_of_the_bnlearn_repository(name: str, variables: int, arcs: int, parameters: int) -> None:
    net = read_bif(SHIPPED / f"{name}.bif.gz")
    assert (len(net.variables), net.dag.n_edges, net.n_parameters) == (variables, arcs, parameters)


def test_blocks_come_in_any_order_and_lines_end_anyhow(read: Read) -> None:
    blocks = re.split(r"(?=probability|variable)", CHAIN)
    turned = blocks[0] + "".join(blocks[:0:-1])
    net = read(CHAIN)
    assert net.names == ("a", "b")
    assert read(turned).names == ("b", "a")
    assert read(turned).conditional("b").table().tolist() == net.conditional("b").table().tolist()
    assert read(CHAIN.replace("\n", "\r\n")) == net
    assert read(CHAIN.replace("\n", "")) == net
    assert read("\ufeff" + CHAIN) == net


def test_comments_go_anywhere(read: Read) -> None:
    net = read("// one\n" + CHAIN.replace(" ", ' /* { ; " \n */ ').replace(";", "; // } ( \n"))
    assert net == read(CHAIN)


def test_a_network_without_variables(read: Read) -> None:
    assert read("network nothing { }").variables == ()


def test_the_number_of_rows_is_ours(read: Read) -> None:
    assert read(CHAIN).n_rows is None
    assert read(CHAIN.replace("{\n}", "{\n property fishernet_n_rows = 120;\n}", 1)).n_rows == 120
    for wrong in ("-1", "1.5.2", "", "x", "9" * 30):
        with pytest.raises(FileFormatError, match="line 2: fishernet_n_rows must be a number from 0"):
            read(CHAIN.replace("{\n}", f"{{\n property fishernet_n_rows = {wrong};\n}}", 1))


def test_a_cycle_names_file_and_cycle(read: Read) -> None:
    cyclic = CHAIN.replace("( a ) { table 0.5, 0.5; }", "( a | b ) { default 0.5, 0.5; }")
    with pytest.raises(FileFormatError, match=r"net\.bif: the edges close a cycle: a -> b -> a") as caught:
        read(cyclic)
    assert isinstance(caught.value.__cause__, CycleError)
    assert caught.value.__cause__.cycle == ("a", "b", "a")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no network block, so this is no BIF file"),
        ("// nothing\n", "there is no network block"),
        (CHAIN.removeprefix("network unknown {\n}\n"), "there is no network block"),
        (CHAIN + CHAIN, "line 7: a second network block"),
        (CHAIN + "variable c { type discrete [ 1 ] { x }; }", "there is no probability block of 'c'"),
    ],
)
def test_what_is_no_whole_network(read: Read, text: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        read(text)


def test_a_large_file(read: Read) -> None:
    rng = np.random.default_rng(0)
    n, r = 300, 8
    states = ", ".join(f"s{k}" for k in range(r))
    parts = [
        "network large {\n}\n",
        *(f"variable v{i} {{ type discrete [ {r} ] {{ {states} }}; }}\n" for i in range(n)),
    ]
    for i in range(n):
        rows = rng.dirichlet(np.ones(r), size=r * r)
        if i < 2:
            parts.append(f"probability ( v{i} ) {{ table {', '.join(map(repr, rows[0].tolist()))}; }}\n")
            continue
        parts.append(f"probability ( v{i} | v{i - 1}, v{i - 2} ) {{\n")
        for j, row in enumerate(rows.tolist()):
            parts.append(f"  (s{j // r}, s{j % r}) {', '.join(map(repr, row))};\n")
        parts.append("}\n")
    net = read("".join(parts))
    assert net.n_parameters == 2 * (r - 1) + (n - 2) * r * r * (r - 1)
