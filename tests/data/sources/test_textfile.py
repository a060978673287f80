"""Where a text file is broken."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from fishernet.data.formats.text_file import PIECE, TextFile, explain, opens_quote, records, unclosed_quote


@pytest.fixture(params=[False, True], ids=["plain", "gzipped"])
def gzipped(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def text_file(folder: Path, content: bytes, gzipped: bool = False) -> TextFile:
    path = folder / "file"
    path.write_bytes(gzip.compress(content) if gzipped else content)
    return TextFile(path, gzipped)


def test_text_is_decoded_without_a_mark_and_with_its_line_ends(tmp_path: Path, gzipped: bool) -> None:
    with text_file(tmp_path, b"\xef\xbb\xbfa\r\nb\rc\n", gzipped).text() as text:
        assert text.read() == "a\r\nb\rc\n"


@pytest.mark.parametrize("before", [0, 10, PIECE - 4, PIECE - 3, PIECE - 2, PIECE - 1, PIECE, PIECE + 1])
def test_the_line_of_a_bad_byte(tmp_path: Path, gzipped: bool, before: int) -> None:
    content = "é\n".encode() * (before // 3) + b"x" * (before % 3) + b"\xff\n"
    found = text_file(tmp_path, content, gzipped).undecodable()
    assert found is not None
    assert found.line == before // 3 + 1
    assert "the byte 0xff is not UTF-8" in str(found)


def test_a_sequence_that_breaks_off_is_no_utf8(tmp_path: Path) -> None:
    found = text_file(tmp_path, "a\né".encode()[:-1]).undecodable()
    assert found is not None
    assert found.line == 2


def test_good_text(tmp_path: Path, gzipped: bool) -> None:
    assert text_file(tmp_path, "é\n".encode() * PIECE, gzipped).undecodable() is None


def test_records_know_the_line_they_begin_in(tmp_path: Path, gzipped: bool) -> None:
    file = text_file(tmp_path, b'a,b\n\n1,"x\ny"\r\n3,4\r5,6', gzipped)
    assert [(record.cells, record.line) for record in records(file, ",")] == [
        (["a", "b"], 1),
        (["1", "x\ny"], 3),
        (["3", "4"], 5),
        (["5", "6"], 6),
    ]


def test_explaining(tmp_path: Path) -> None:
    error = explain(text_file(tmp_path, b"a,b\n1,2\n3,4,5\n"), ",", 2, "why")
    assert (error.line, "the header has 2 cells, this row 3" in str(error)) == (3, True)
    error = explain(text_file(tmp_path, b'a,b\n1,2\n"3,4\n5,6\n'), ",", 2, "why")
    assert (error.line, "a quote may not be closed" in str(error)) == (3, True)
    assert explain(text_file(tmp_path, b"a,b\n1,2\n"), ",", 2, "the reader said so").line is None
    assert "the reader said so" in str(explain(text_file(tmp_path, b"a,b\n1,2\n"), ",", 2, "the reader said so"))


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b'a,b\n1,"x', 2),
        (b'a,b\n1,"x\n2,3\n4,5\n', 2),
        (b'a,b\n"1",2\n3,"', 3),
        (b'a,b\n1,"x"\n', None),
        (b'a,b\n1,"x"', None),
        (b'a,b\n1,"x\ny"', None),
        (b'a,b\n1,5" pipe', None),
        (b"a,b\n1,2", None),
    ],
)
def test_a_quote_that_is_never_closed(tmp_path: Path, content: bytes, line: int | None) -> None:
    file = text_file(tmp_path, content)
    assert unclosed_quote(file, ",") == line
    ends_within_a_line = not content.endswith(b"\n")
    if line is not None and ends_within_a_line:
        assert opens_quote(file, ",")
    if line is None and b"\ny" not in content:
        assert not opens_quote(file, ",")
