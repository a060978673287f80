"""ARFF files: declared states, quotes, comments, and what is refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from fishernet import Continuous, FileFormatError, SchemaError, Variable, read_table
from tests.data.hostile import labels

WEATHER = r"""% a comment
@RELATION 'the weather'

@attribute outlook {sunny, overcast, 'light rain', never}
@ATTRIBUTE 'temp in C' NUMERIC
@attribute windy {true, false}
@attribute grade {3, 1, 2} % no comment: refused below
@attribute "a note" string
@data
% another
sunny, 21, true, 1, plain
 'light rain' ,19.5,false,2,'it\'s "odd", \\ and\tso on'

?,21,?,3,"?"
overcast,?,true,1,?
""".replace(" % no comment: refused below", "")


def written(folder: Path, content: str, name: str = "file.arff") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(content.encode()) if name.endswith(".gz") else content.encode())
    return path


@pytest.mark.parametrize("name", ["file.arff", "file.arff.gz"])
def test_a_file_with_everything(tmp_path: Path, name: str) -> None:
    table = read_table(written(tmp_path, WEATHER, name), missing="keep")
    assert table.names == ("outlook", "temp in C", "windy", "grade", "a note")
    assert table.variables[0].states == ("sunny", "overcast", "light rain", "never")
    assert table.variables[1] == Continuous("temp in C")
    assert table.variables[2].states == (True, False)
    assert table.variables[3].states == (3, 1, 2)
    assert labels(table) == {
        "outlook": ["sunny", "light rain", None, "overcast"],
        "temp in C": [21.0, 19.5, 21.0, None],
        "windy": [True, False, None, True],
        "grade": [1, 2, 3, 1],
        "a note": ["plain", 'it\'s "odd", \\ and\tso on', "?", None],
    }


def test_numbers_are_declared_so_any_way_of_writing_them_will_do(tmp_path: Path) -> None:
    content = "@relation r\n@attribute x real\n@attribute y integer\n@data\n007,+3\n1E1,4\n"
    assert labels(read_table(written(tmp_path, content))) == {"x": [7.0, 10.0], "y": [3.0, 4.0]}


def test_integers_stay_integers_and_strings_stay_text(tmp_path: Path) -> None:
    content = "@relation r\n@attribute x numeric\n@attribute s string\n@data\n1,1\n2,2\n"
    table = read_table(written(tmp_path, content))
    assert [v.states for v in table.variables] == [(1, 2), ("1", "2")]
    assert type(table.variables[0].states[0]) is int


def test_nominal_states_that_would_coincide_as_numbers_stay_text(tmp_path: Path) -> None:
    content = "@relation r\n@attribute x {1, 1.0, 2}\n@data\n1.0\n"
    assert read_table(written(tmp_path, content)).variables[0].states == ("1", "1.0", "2")


def test_bins_weights_and_schema(tmp_path: Path) -> None:
    content = "@relation r\n@attribute x numeric\n@attribute n numeric\n@data\n1,2\n2,0\n3,1\n4,1\n"
    path = written(tmp_path, content)
    table = read_table(path, bins={"x": 2}, weights="n")
    assert table.variables[0].states == ("<= 1", "> 1")
    assert table.weights is not None
    assert table.weights.tolist() == [2, 0, 1, 1]
    assert read_table(path, schema=[Variable("x", [4, 3, 2, 1])]).codes[0].tolist() == [3, 2, 1, 0]


def test_na_values_beside_the_question_mark(tmp_path: Path) -> None:
    content = "@relation r\n@attribute x {a, NA}\n@attribute y numeric\n@data\nNA,NA\na,1\n'NA',?\n"
    table = read_table(written(tmp_path, content), missing="keep", na_values=["NA"])
    assert labels(table) == {"x": ["NA", "a", "NA"], "y": [None, 1, None]}


def test_no_rows(tmp_path: Path) -> None:
    nominal = read_table(written(tmp_path, "@relation r\n@attribute x {a, b}\n@data\n"))
    assert (nominal.n_rows, nominal.cardinalities) == (0, (2,))
    with pytest.raises(SchemaError, match="there is no row"):
        read_table(written(tmp_path, "@relation r\n@attribute x numeric\n@data\n"))


HEAD = "@relation r\n@attribute x {a, b}\n@attribute y numeric\n"


@pytest.mark.parametrize(
    ("content", "message", "line"),
    [
        ("a,b\n1,2\n", "expected @relation, @attribute or @data, not 'a,b'", 1),
        (HEAD, "has no line @data", None),
        (HEAD + "@data\na,1\nc,1\n", "'c' is not among the states declared for 'x'", 6),
        (HEAD + "@data\na,one\n", "'one' is no number, as 'y' holds", 5),
        (HEAD + "@data\na,inf\n", "'inf' is no number", 5),
        (HEAD + "@data\na\n", "1 cell in this row for 2 attributes", 5),
        (HEAD + "@data\n% fine\n\na,1,\n", "3 cells in this row for 2 attributes", 7),
        (HEAD + "@data\n'a,1\n", "a quote is not closed, or stands within a value", 5),
        (HEAD + "@data\n'a'b,1\n", "a quote is not closed, or stands within a value", 5),
        (HEAD + "@data\n{0 a, 1 2}\n", "sparse rows are not read; save the file with dense rows", 5),
        ("@relation r\n@attribute d date\n@data\n", "the attribute 'd' is of type 'date'", 2),
        ("@relation r\n@attribute d relational\n@data\n", "nominal, numeric and string ones are read", 2),
        ("@relation r\n@attribute x {a, a}\n@data\n", "the attribute 'x' has doubled states", 2),
        ("@relation r\n@attribute x {}\n@data\n", "the attribute 'x' has doubled states, or none", 2),
        ("@relation r\n@attribute\n@data\n", "an attribute needs a name and a type", 2),
        ("@relation r\n@attribute x\n@data\n", "is of type ''", 2),
    ],
)
def test_what_is_refused(tmp_path: Path, content: str, message: str, line: int | None) -> None:
    with pytest.raises(FileFormatError, match=message) as e:
        read_table(written(tmp_path, content))
    assert e.value.line == line


def test_bad_bytes_and_doubled_names(tmp_path: Path) -> None:
    path = tmp_path / "file.arff"
    path.write_bytes(b"@relation r\n@attribute x {a, \xff}\n@data\n")
    with pytest.raises(FileFormatError, match="not UTF-8") as e:
        read_table(path)
    assert e.value.line == 2
    with pytest.raises(SchemaError, match="the name 'x' appears more than once"):
        read_table(written(tmp_path, "@relation r\n@attribute x {a}\n@attribute x {a}\n@data\n"))
