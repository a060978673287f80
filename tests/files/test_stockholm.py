"""Stockholm alignments: blocks, marks, and what is wrong with a file."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.models import Alignment

BLOCKS = """# STOCKHOLM 1.0
#=GF ID   toy
#=GS one  AC P1

#=GC RF       xx.
one           AC.
#=GR one SS   HH.
two           a-g
# a comment
#=GC RF       x
one           T
#=GR one SS   E
two           T
//
"""


def read(folder: Path, text: str, **options: bool | int) -> Alignment:
    path = folder / "a.sto"
    path.write_bytes(text.encode())
    return fn.read_stockholm(path, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blocks_are_joined_and_marks_are_kept(tmp_path: Path, end: str) -> None:
    found = read(tmp_path, BLOCKS.replace("\n", end))
    assert found.names == ("one", "two")
    assert found.rows == ("AC.T", "A-GT")
    assert found.columns == {"RF": "xx.x"}
    assert found.residues == {"SS": {"one": "HH.E"}}
    assert (len(found), found.width) == (2, 4)
    assert found.strings == ("ACT", "AGT")
    assert read(tmp_path, BLOCKS, upper=False).rows == ("AC.T", "a-gT")


@given(st.integers(1, 5), st.integers(1, 20), st.integers(1, 7), st.randoms())
def test_rows_come_back_from_blocks_of_any_width(n: int, width: int, block: int, random: object) -> None:
    rows = ["".join(random.choices("ACDE-.", k=width)) for _ in range(n)]  # type: ignore[attr-defined]
    lines = ["# STOCKHOLM 1.0"]
    for first in range(0, width, block):
        lines += ["", *(f"name/{i}  {row[first : first + block]}" for i, row in enumerate(rows))]
    with tempfile.TemporaryDirectory() as folder:
        assert read(Path(folder), "\n".join([*lines, "//"])).rows == tuple(rows)


def test_one_of_several_alignments_is_chosen(tmp_path: Path) -> None:
    two = BLOCKS + "# STOCKHOLM 1.0\nother AAA\n//\n"
    assert read(tmp_path, two, index=1).names == ("other",)
    with pytest.raises(fn.FileFormatError, match="2 alignments in the file; say which with index="):
        read(tmp_path, two)
    with pytest.raises(fn.FileFormatError, match="no alignment 2"):
        read(tmp_path, two, index=2)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (">a\nACG\n", 1, "read_fasta"),
        ("one ACG\n//\n", 1, "begins with '# STOCKHOLM"),
        ("# STOCKHOLM 1.0\none ACG\n", 3, "ends before the '//'"),
        ("# STOCKHOLM 1.0\none ACG\ntwo\n//\n", 3, "expected a name and a piece of its row, got 1 words"),
        ("# STOCKHOLM 1.0\none ACG TTT\n//\n", 2, "got 3 words"),
        ("# STOCKHOLM 1.0\none A1G\n//\n", 2, "'1' in the row of 'one'"),
        ("# STOCKHOLM 1.0\none ACG\ntwo AC\n//\n", 3, "the row 'two' has 2 columns, the first row 3"),
        ("# STOCKHOLM 1.0\n#=GC RF xx\none ACG\n//\n", 3, "the line of marks 'RF' has 2 columns"),
        ("# STOCKHOLM 1.0\none ACG\n#=GR two SS HHH\n//\n", None, "'two', which has no row"),
        ("# STOCKHOLM 1.0\n//\n", None, "needs a row"),
        ("", None, "no alignment"),
    ],
)
def test_what_is_no_alignment_is_refused(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    with pytest.raises(fn.FileFormatError, match=message) as caught:
        read(tmp_path, text)
    assert caught.value.line == line


def test_an_alignment_checks_itself() -> None:
    with pytest.raises(fn.SchemaError, match="needs a row"):
        Alignment([], [])
    with pytest.raises(fn.SchemaError, match="1 name for 2 rows"):
        Alignment(["a"], ["AC", "AC"])
    with pytest.raises(fn.SchemaError, match="the row 'b' has 1 column"):
        Alignment(["a", "b"], ["AC", "A"])
