"""FASTA files: what they may look like, and what they may not."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.files import NamedStrings

names = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=8)
sequences = st.text("ACGTUNacgt-*", max_size=30)


def read(folder: Path, text: str, *, upper: bool = True) -> NamedStrings:
    path = folder / "a.fa"
    path.write_bytes(text.encode())
    return fn.read_fasta(path, upper=upper)


@given(st.lists(st.tuples(names, sequences), min_size=1), st.integers(1, 7), st.sampled_from(["\n", "\r\n", "\r"]))
def test_wrapped_sequences_come_back(records: list[tuple[str, str]], width: int, end: str) -> None:
    lines = []
    for name, sequence in records:
        lines += [f">{name}", *(sequence[i : i + width] for i in range(0, len(sequence), width))]
    with tempfile.TemporaryDirectory() as folder:
        found = read(Path(folder), end.join(lines), upper=False)
    assert (found.names, found.strings) == (tuple(n for n, _ in records), tuple(s for _, s in records))


def test_blank_lines_spaces_comments_and_small_letters(tmp_path: Path) -> None:
    text = "\n;made by hand\n>a  the\tfirst \n ac gt\n\nACG\n;not this\n>b\n\n>a\nn*"
    found = read(tmp_path, text)
    assert found.names == ("a", "b", "a")
    assert found.descriptions == ("the\tfirst", "", "")
    assert list(found) == ["ACGTACG", "", "N*"]
    assert list(read(tmp_path, text, upper=False)) == ["acgtACG", "", "n*"]


def test_what_is_read_is_a_sequence_of_strings(tmp_path: Path) -> None:
    found = read(tmp_path, ">a\nACG\n>b x\nTT\n>c\nGG\n")
    assert found[1] == "TT"
    assert found[1:] == NamedStrings(("b", "c"), ("TT", "GG"), ("x", ""))
    assert "GG" in found
    assert pickle.loads(pickle.dumps(found)) == found
    assert fn.kernels.SpectrumKernel(1)(found).shape == (3, 3)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("ACGT\n", 1, "begins with '>'"),
        ("\n# STOCKHOLM 1.0\n", 2, "read_stockholm"),
        (">a\nAC\n>\nGT\n", 3, "name is missing"),
        (">a\r\nAC\r\n> b\r\n", 3, "name is missing"),
        (">a\nACG\n  1 ACGT\n", 3, "'1' in the sequence of 'a'"),
        (">a\nACé\n", 2, "'é' in the sequence"),
        ("", None, "no sequences"),
        ("\n;only a comment\n", None, "no sequences"),
    ],
)
def test_what_is_no_fasta_is_refused_with_its_line(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    with pytest.raises(fn.FileFormatError, match=message) as caught:
        read(tmp_path, text)
    assert caught.value.line == line


def test_letters_outside_an_alphabet_are_refused_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "a.fa"
    path.write_text(">one\nacgtRYSWKMBDHVNu\n>two\nACGT\nACXT\n")
    assert fn.read_fasta(path)[1] == "ACGTACXT"
    with pytest.raises(fn.FileFormatError, match="'X' is not in the alphabet, 'ACGT'") as caught:
        fn.read_fasta(path, alphabet="dna")
    assert (caught.value.line, caught.value.parameter) == (5, "alphabet")
    path.write_text(path.read_text().replace("X", "N"))
    assert fn.read_fasta(path, alphabet="dna", upper=False)[0] == "acgtRYSWKMBDHVNu"
    with pytest.raises(fn.FileFormatError, match="'R'"):
        fn.read_fasta(path, alphabet="ACGTU")
