from __future__ import annotations

import itertools

import numpy as np
import pytest

from fishernet import FileFormatError
from tests.files.bif.conftest import Read

VARIABLES = """network unknown {
}
variable a { type discrete [ 2 ] { x, y }; }
variable b { type discrete [ 3 ] { 1, 2, 3 }; }
variable "c d" { type discrete [ 2 ] { "p, q", r s }; }
probability ( a ) { table 0.25, 0.75; }
probability ( b ) { table 0.5, 0.25, 0.25; }
"""
FIRST = VARIABLES.count("\n") + 1
ROWS = np.array([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7], [0.4, 0.6], [0.5, 0.5], [0.0, 1.0]])


def rows(order: list[int], *, last: str = "") -> str:
    labels = list(itertools.product("xy", "123"))
    lines = [f"({labels[j][0]}, {labels[j][1]}) {ROWS[j, 0]}, {ROWS[j, 1]};" for j in order]
    return 'probability ( "c d" | a, b ) {\n' + "\n".join([*lines, last]) + "\n}"


def expected() -> np.ndarray:
    return ROWS.reshape(2, 3, 2)


@pytest.mark.parametrize("order", [range(6), [5, 4, 3, 2, 1, 0], [2, 0, 5, 1, 3, 4]])
def test_rows_come_in_any_order(read: Read, order: list[int]) -> None:
    net = read(VARIABLES + rows(list(order)))
    np.testing.assert_array_equal(net.conditional("c d").table(), expected())
    assert net.conditional("c d").parents == (0, 1)


def test_parents_keep_the_order_of_the_file(read: Read) -> None:
    labels = itertools.product("xy", "123")
    lines = [f"({two}, {one}) {row[0]}, {row[1]};" for (one, two), row in zip(labels, ROWS, strict=True)]
    net = read(VARIABLES + 'probability ( "c d" | b, a ) {' + "\n".join(lines) + "}")
    assert net.conditional("c d").parents == (1, 0)
    np.testing.assert_array_equal(net.conditional("c d").table(), expected().transpose(1, 0, 2))


@pytest.mark.parametrize("head", ['"c d" | a, b', '"c d" | a b', '"c d" a b', '"c d", a, b', "c d | a, b", '"c d"|a,b'])
def test_heads_with_and_without_commas_and_bars(read: Read, head: str) -> None:
    net = read(VARIABLES + rows(list(range(6))).replace('"c d" | a, b', head))
    np.testing.assert_array_equal(net.conditional("c d").table(), expected())


def test_default_fills_what_has_no_row_wherever_it_stands(read: Read) -> None:
    filled = expected()
    filled[0, 1] = filled[1, 2] = [0.125, 0.875]
    for text in (rows([0, 2, 3, 4], last="default 0.125, 0.875;"), rows([4, 0, 3, 2], last="default 0.125 0.875;")):
        np.testing.assert_array_equal(read(VARIABLES + text).conditional("c d").table(), filled)
    only = read(VARIABLES + 'probability ( "c d" | a, b ) { property x; default 0.125, 0.875; }')
    assert (only.conditional("c d").table() == [0.125, 0.875]).all()
    all_given = read(VARIABLES + rows(list(range(6)), last="default 1, 0;"))
    np.testing.assert_array_equal(all_given.conditional("c d").table(), expected())


def test_a_table_has_the_child_slowest_and_the_last_parent_fastest(read: Read) -> None:
    values = [f"{ROWS[i * 3 + j, k]}" for k in range(2) for i in range(2) for j in range(3)]
    net = read(VARIABLES + f'probability ( "c d" | a, b ) {{ table {" ".join(values)}; }}')
    np.testing.assert_array_equal(net.conditional("c d").table(), expected())


DOG_PROBLEM = """
// Charniak, "Bayesian networks without tears", AI Magazine 1991, in the manner of JavaBayes
network "Dog_Problem" { //5 variables and 5 probability distributions
    property "credal-set constant-density-bounded 1.1" ;
}
variable  "light-on" { type discrete[2] {  "true"  "false" };  property "position = (218, 195)" ; }
variable  "bowel-problem" { type discrete[2] {  "true"  "false" };  property "position = (335, 99)" ; }
variable  "dog-out" { type discrete[2] {  "true"  "false" }; }
variable  "hear-bark" { type discrete[2] {  "true"  "false" }; }
variable  "family-out" { type discrete[2] {  "true"  "false" }; }
probability (  "light-on"  "family-out" ) { table 0.6 0.05 0.4 0.95 ; }
probability (  "bowel-problem" ) { table 0.01 0.99 ; }
probability (  "dog-out"  "bowel-problem"  "family-out" ) { table 0.99 0.97 0.9 0.3 0.01 0.03 0.1 0.7 ; }
probability (  "hear-bark"  "dog-out" ) { table 0.7 0.01 0.3 0.99 ; }
probability (  "family-out" ) { table 0.15 0.85 ; }
"""


def test_charniaks_dog_problem(read: Read) -> None:
    net = read(DOG_PROBLEM)
    dog = net.conditional("dog-out").table()
    # P(do | fo bp) = .99, P(do | fo not bp) = .90, P(do | not fo bp) = .97, P(do | not fo not bp) = .3 (figure 2)
    assert net.conditional("dog-out").parents == (1, 4)
    np.testing.assert_array_equal(dog[:, :, 0], [[0.99, 0.97], [0.90, 0.3]])
    np.testing.assert_array_equal(net.conditional("hear-bark").table(), [[0.7, 0.3], [0.01, 0.99]])
    np.testing.assert_array_equal(net.conditional("light-on").table()[:, 0], [0.6, 0.05])
    np.testing.assert_array_equal(net.conditional("family-out").table(), [0.15, 0.85])


def test_rounded_rows_are_divided_by_their_sum_and_exact_ones_left(read: Read) -> None:
    text = VARIABLES.replace("0.25, 0.75", "0.2501, 0.7504").replace("0.5, 0.25, 0.25", "7.68e-05, 0.9999232, 0")
    net = read(text + rows(list(range(6))))
    np.testing.assert_allclose(net.conditional("a").table(), np.array([0.2501, 0.7504]) / 1.0005, rtol=1e-13)
    np.testing.assert_array_equal(net.conditional("b").table(), [7.68e-05, 0.9999232, 0])


def test_quoted_labels_in_rows(read: Read) -> None:
    text = VARIABLES.replace("( b ) { table 0.5, 0.25, 0.25; }", '( b | "c d" ) { ("p, q") 1, 0, 0; (r s) 0, 0, 1; }')
    net = read(text + 'probability ( "c d" ) { table 0.5, 0.5; }')
    np.testing.assert_array_equal(net.conditional("b").table(), [[1, 0, 0], [0, 0, 1]])


GOOD = rows(list(range(6)))


@pytest.mark.parametrize(
    ("block", "line", "message"),
    [
        ("probability a { table 0.5, 0.5; }", 0, r"expected `\( child \| parents \)`, got 'a'"),
        ("probability ( ) { table 0.5, 0.5; }", 0, r"expected one child before the bar, got '\( \)'"),
        ('probability ( a, b | "c d" ) { default 0.5, 0.5; }', 0, "expected one child before the bar"),
        (
            "probability ( e | a ) { default 0.5, 0.5; }",
            0,
            r"unknown variable 'e' in \( e \| a \); there are 'a', 'b', 'c d'",
        ),
        ('probability ( "c d" | a, e ) { default 0.5, 0.5; }', 0, "unknown variable 'e'"),
        ('probability ( "c d" | a, a ) { default 0.5, 0.5; }', 0, "the variable 'a' appears twice"),
        ('probability ( "c d" | "c d" ) { default 0.5, 0.5; }', 0, "the variable 'c d' appears twice"),
        (r'probability ( "\q" ) { default 0.5, 0.5; }', 0, "has an escape"),
        ("probability ( a ) { table 0.5, 0.5; }", 0, "a second probability block of 'a'"),
        (GOOD.replace("(x, 2)", "(x, 4)"), 2, "'c d': '4' is no state of the parent 'b'; there are '1', '2', '3'"),
        (GOOD.replace("(x, 2)", "(2, x)"), 2, "'c d': '2' is no state of the parent 'a'"),
        (GOOD.replace("(x, 2)", "(x)"), 2, r"'c d': \(x\) must be one state of each of the 2 parents"),
        (GOOD.replace("(x, 2)", "(x, 2, 3)"), 2, "must be one state of each"),
        (GOOD.replace("(x, 2)", '(x, "\\q")'), 2, "has an escape"),
        (GOOD.replace("(x, 2)", "(x, 1)"), 2, r"'c d': a second row for \(x, 1\)"),
        (GOOD.replace("(x, 2) 0.2, 0.8;", ""), 0, r"no row for \(x, 2\) in the block of"),
        (GOOD.replace("(x, 2) 0.2, 0.8", "(x, 2) 0.2"), 2, "'c d': 1 probabilities for 2 states"),
        (GOOD.replace("(x, 2) 0.2, 0.8", "(x, 2) 0.2, 0.7, 0.1"), 2, "'c d': 3 probabilities for 2 states"),
        (GOOD.replace("(x, 2) 0.2, 0.8", "(x, 2)"), 2, "'c d': 0 probabilities for 2 states"),
        (GOOD.replace("0.2, 0.8", "0.2, o.8"), 2, "'c d': 'o.8' is no number"),
        (GOOD.replace("0.2, 0.8", "0.2, 0.8_0"), 2, "are no numbers"),
        (GOOD.replace("0.2, 0.8", "0.2, nan"), 2, "nan is no probability"),
        (GOOD.replace("0.2, 0.8", "0.2, inf"), 2, "inf is no probability"),
        (GOOD.replace("0.2, 0.8", "1.2, -0.2"), 2, "1.2 is no probability"),
        (GOOD.replace("0.2, 0.8", "0.2, -0.2"), 2, "-0.2 is no probability"),
        (GOOD.replace("0.2, 0.8", "0.2, 0.7"), 2, "the probabilities sum to 0.9, not to 1$"),
        (GOOD.replace("0.2, 0.8", "0.2, 0.8011"), 2, "the probabilities sum to 1.0011, not to 1"),
        (GOOD.replace("(x, 2)", "x, 2"), 2, r"'c d': expected \(states\) numbers, table or default, got 'x, 2 0.2"),
        (rows([0], last="default 0.5;"), 2, "'c d': 1 probabilities for 2 states"),
        (rows([0], last="default 0.5, 0.6;"), 2, "sum to 1.1"),
        (rows([0], last="default 0.5, 0.5; default 0.5, 0.5;"), 2, "'c d': a second 'default'"),
        (rows([0], last="table 0.5, 0.5;"), 2, "has a table, and rows or a default beside it"),
        ('probability ( "c d" | a ) { table 0.5, 0.5, 0.5; }', 0, "has 3 probabilities; it needs 4"),
        (
            'probability ( "c d" | a ) { table 0.1, 0.9, 0.2, 0.8; }',
            0,
            "sum to 0.3, not to 1 .*the child's states slow",
        ),
        ('probability ( "c d" ) { }', 0, "no row for the probabilities in the block"),
        ("", None, "there is no probability block of 'c d'"),
    ],
)
def test_a_wrong_block_names_line_and_fault(read: Read, block: str, line: int | None, message: str) -> None:
    with pytest.raises(FileFormatError, match=message) as caught:
        read(VARIABLES + block)
    assert caught.value.line == (None if line is None else FIRST + line)


def test_a_table_that_cannot_fit_is_refused_before_memory_is_asked_for(read: Read) -> None:
    many = range(12)
    states = ", ".join(map(str, range(50)))
    text = "network x {}" + "".join(f"variable v{i} {{ type discrete [50] {{ {states} }}; }}\n" for i in many)
    parents = ", ".join(f"v{i}" for i in many[1:])
    with pytest.raises(FileFormatError, match="cells, more than the limit"):
        read(text + f"probability ( v0 | {parents} ) {{ default {', '.join(['0.02'] * 50)}; }}")
