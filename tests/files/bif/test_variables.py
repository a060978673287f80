from __future__ import annotations

import pytest

import fishernet as fn
from fishernet import FileFormatError
from tests.files.bif.conftest import Read

HEAD = "network unknown {\n}\n"


def file(block: str) -> str:
    """A file with one variable a, whose states are x and y."""
    return f"{HEAD}{block}\nprobability ( a ) {{ table 0.5, 0.5; }}"


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ("{ x, y }", ("x", "y")),
        ("{ x y }", ("x", "y")),
        ('{ "x" "y" }', ("x", "y")),
        ('{"x, y",y}', ("x, y", "y")),
        ("{ very high, low }", ("very high", "low")),
        ("{ 12+, 0-3_days }", ("12+", "0-3_days")),
        ("{ 1, 2 }", ("1", "2")),
        ("{ a|b, c }", ("a|b", "c")),
        ("{ x,, y, }", ("x", "y")),  # the format ignores commas between words
        ("{\n  x,\n  y\n}", ("x", "y")),
    ],
)
def test_states_are_words(read: Read, states: str, expected: tuple[str, ...]) -> None:
    assert read(file(f"variable a {{ type discrete [ 2 ] {states}; }}")).variables[0].states == expected
    assert read(file(f"variable a {{type discrete[2]{states};}}")).variables[0].states == expected


def test_properties_of_others_are_skipped(read: Read) -> None:
    block = (
        'variable a { property "position = (3, 4)"; property weight = None ;\n type discrete [2] {x, y}; property p; }'
    )
    net = read(file(block))
    assert net.variables[0].states == ("x", "y")
    assert net.variables[0].cuts is None


def test_our_properties_bring_types_and_cuts(read: Read) -> None:
    block = """variable a {
      type discrete [ 2 ] { 1, 1_ };
      property fishernet_states = int 1, str "1";
      property fishernet_cuts = 0.25;
    }"""
    (variable,) = read(file(block)).variables
    assert variable.states == (1, "1")
    assert variable.cuts == (0.25,)


def test_our_properties_bring_names_and_take_the_state_away_that_never_occurs(read: Read) -> None:
    net = read("""network unknown { }
    variable one_two { type discrete [ 2 ] { q_, never };
      property fishernet_name = "one, \\u0022two\\u0022";
      property fishernet_states = str "?"; }
    variable b { type discrete [ 2 ] { x, y }; }
    probability ( one_two | b ) { (x) 1.0, 0.0; (y) 1.0, 0.0; }
    probability ( b ) { table 0.5, 0.5; }
    """)
    assert net.variables == (fn.Variable('one, "two"', ["?"]), fn.Variable("b", ["x", "y"]))
    assert net.conditionals[0].table().tolist() == [[1.0], [1.0]]
    assert net.dag.edges == (("b", 'one, "two"'),)


ONLY_X = 'variable a { type discrete [2] {x, never}; property fishernet_states = str "x"; }\n'


@pytest.mark.parametrize(
    ("block", "line", "message"),
    [
        (
            'variable b { type discrete [2] {x, y};\n property fishernet_name = "\\q"; }',
            4,
            "variable 'b', fishernet_name: ",
        ),
        (
            "variable b { type discrete [2] {x, y}; }\n"
            'variable c { type discrete [2] {x, y}; property fishernet_name = "b"; }',
            4,
            "the variable 'b' is declared twice",
        ),
        (f"{ONLY_X}probability ( a ) {{ table 0.5, 0.5; }}", 4, "the state that stands for none has a probability"),
        (ONLY_X.replace("never", "y"), 3, "variable 'a': fishernet_states has 1 of 2 states"),
    ],
)
def test_wrong_properties_name_the_line(read: Read, block: str, line: int, message: str) -> None:
    with pytest.raises(FileFormatError, match=message) as caught:
        read(f"network unknown {{\n}}\n{block}\n")
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("block", "line", "message"),
    [
        ("variable a { }", 3, "variable 'a' has no type; it needs `type discrete"),
        ("variable { type discrete [2] {x, y}; }", 3, "a variable block has no name"),
        (r'variable "\q" { type discrete [2] {x, y}; }', 3, "has an escape that JSON does not know"),
        ("variable a {\n type continuous; }", 4, "variable 'a': expected `type discrete .*, got 'type continuous; }'"),
        ("variable a {\n type discrete [ two ] { x, y }; }", 4, "expected `type discrete"),
        ("variable a {\n type discrete [ 3 ] { x, y }; }", 4, r"variable 'a': \[ 3 \] states, but 'x', 'y'"),
        ("variable a {\n type discrete [ 0 ] { }; }", 3, "variable 'a' has no states"),
        ("variable a {\n type discrete [ 2 ] { x, x }; }", 4, "variable 'a': the state 'x' appears twice"),
        (r"variable a {" "\n" r' type discrete [ 2 ] { x, "\q" }; }', 4, "variable 'a': .* has an escape"),
        ("variable a { type discrete [2] {x, y};\n type discrete [2] {x, y}; }", 4, "variable 'a': expected one type"),
        (
            "variable a { type discrete [2] {x, y}; }\nvariable a { type discrete [2] {x, y}; }",
            4,
            "the variable 'a' is declared twice",
        ),
        (
            "variable a { type discrete [2] {x, y};\n property fishernet_states = int 1; }",
            4,
            "variable 'a': fishernet_states has 1 of 2 states",
        ),
        (
            "variable a { type discrete [2] {x, y};\n property fishernet_states = int 1, int z; }",
            4,
            "variable 'a', fishernet_states: ",
        ),
        (
            "variable a { type discrete [2] {x, y}; property fishernet_states = int 1, bool True; }",
            3,
            "variable 'a': the state 1 appears more than once",
        ),
        (
            "variable a { type discrete [2] {x, y};\n property fishernet_cuts = a; }",
            4,
            "variable 'a', fishernet_cuts: ",
        ),
        ("variable a { type discrete [2] {x, y};\n property fishernet_cuts = nan; }", 3, "cuts must be finite"),
        ("variable a { type discrete [2] {x, y};\n property fishernet_cuts = 1, 2; }", 3, "2 bins need 1 cuts, got 2"),
    ],
)
def test_a_wrong_variable_names_line_and_variable(read: Read, block: str, line: int, message: str) -> None:
    with pytest.raises(FileFormatError, match=message) as caught:
        read(file(block))
    assert caught.value.line == line
    assert caught.value.path.endswith("net.bif")
