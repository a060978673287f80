"""``fishernet strings``: matrices and nearest strings of FASTA files, text files and columns."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from tests.cli.running import facts_of, good, refused, saved, written

GENES = {"one": "ACGTACGGT", "two": "ACGTTCGGTA", "three": "TTTTTTTT", "four": "GGTACGTACC"}
FASTA = "".join(f">{name} a gene\n{string}\n" for name, string in GENES.items())


@pytest.fixture
def genes(tmp_path: Path) -> Path:
    return written(tmp_path / "genes.fa", FASTA)


def spectra(strings: list[str], k: int) -> Any:
    """Return the inner products of the counts of substrings, counted one by one."""
    counts = [Counter(string[i : i + k] for i in range(len(string) - k + 1)) for string in strings]
    return np.array([[sum(a[part] * b[part] for part in a) for b in counts] for a in counts], float)


def cosines(matrix: Any) -> Any:
    lengths = np.sqrt(np.diag(matrix))
    return matrix / np.outer(lengths, lengths)


def matrix_of(text: str) -> tuple[list[str], Any]:
    header, *lines = [line.split(",") for line in text.splitlines()]
    assert [line[0] for line in lines] == header[1:]
    return header[1:], np.array([[float(cell) for cell in line[1:]] for line in lines])


@pytest.mark.parametrize("k", [1, 2, 3])
def test_gram_counts_substrings(genes: Path, k: int) -> None:
    names, matrix = matrix_of(good("strings", "gram", genes, "--k", k).out)
    assert names == list(GENES)
    assert np.array_equal(matrix, spectra(list(GENES.values()), k))


def test_gram_gives_cosines(genes: Path) -> None:
    _, matrix = matrix_of(good("strings", "gram", genes, "--cosine").out)
    np.testing.assert_allclose(matrix, cosines(spectra(list(GENES.values()), 3)), atol=1e-12)


def test_gram_writes_a_file_for_numpy(genes: Path) -> None:
    path = genes.with_name("gram.npy")
    assert good("strings", "gram", genes, "-o", path).out == ""
    assert np.array_equal(np.load(path), spectra(list(GENES.values()), 3))
    assert sorted(file.name for file in genes.parent.iterdir()) == ["genes.fa", "gram.npy"]


def test_gram_is_facts_as_well(genes: Path) -> None:
    facts = facts_of("strings", "gram", genes, "--k", 2)
    assert (facts["names"], facts["kernel"], facts["k"]) == (list(GENES), "spectrum", 2)
    assert np.array_equal(facts["matrix"], spectra(list(GENES.values()), 2))


def test_strings_are_lines_columns_or_fasta(genes: Path) -> None:
    strings = list(GENES.values())
    lines = written(genes.with_name("genes.txt"), "\n".join(strings) + "\n")
    column = written(genes.with_name("genes.csv"), "id,dna\n" + "".join(f"{i},{s}\n" for i, s in enumerate(strings)))
    renamed = written(genes.with_name("genes.dat"), FASTA)
    wanted = matrix_of(good("strings", "gram", genes).out)[1]
    for path, words in ((lines, []), (column, ["--column", "dna"]), (renamed, [])):
        names, matrix = matrix_of(good("strings", "gram", path, *words).out)
        assert np.array_equal(matrix, wanted)
        assert names == (["0", "1", "2", "3"] if path != renamed else list(GENES))


def test_many_rows_of_text_are_strings_and_no_identifier(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    strings = ["".join(rng.choice(list("ab"), 12)) for _ in range(300)]
    path = written(tmp_path / "t.csv", "s\n" + "\n".join(strings) + "\n")
    facts = facts_of("strings", "nearest", path, "--column", "s", "-n", 1, "--string", "7")
    assert facts["strings"] == 300


def test_an_empty_line_is_an_empty_string(tmp_path: Path) -> None:
    path = written(tmp_path / "s.txt", "abab\n\nbaba\n")
    names, matrix = matrix_of(good("strings", "gram", path, "--k", 2).out)
    assert names == ["0", "1", "2"]
    assert np.array_equal(matrix, spectra(["abab", "", "baba"], 2))


def test_nearest_lists_the_others_most_alike(genes: Path) -> None:
    matrix = cosines(spectra(list(GENES.values()), 3))
    np.fill_diagonal(matrix, -np.inf)
    facts = facts_of("strings", "nearest", genes, "-n", 2)
    for row, name, found in zip(matrix, GENES, facts["found"], strict=True):
        assert found["string"] == name
        wanted = np.argsort(-row, kind="stable")[:2].tolist()
        assert [one["position"] for one in found["nearest"]] == wanted
        assert [one["string"] for one in found["nearest"]] == [list(GENES)[place] for place in wanted]
        assert [one["cosine"] for one in found["nearest"]] == pytest.approx(row[wanted])


def test_nearest_of_one_string_by_name_or_position(genes: Path) -> None:
    by_name = good("strings", "nearest", genes, "--string", "two", "-n", 1).out
    assert by_name == good("strings", "nearest", genes, "--string", "1", "-n", 1).out
    header, line = by_name.splitlines()
    assert header.split() == ["string", "nearest", "cosine"]
    assert line.split()[:2] == ["two", "one"]


@pytest.mark.parametrize("kernel", ["markov", "hmm", "counts", "joint"])
def test_a_model_is_read(genes: Path, kernel: str) -> None:
    strings = list(GENES.values())
    if kernel == "markov":
        model: Any = fn.learn.markov_chain(strings, order=1)
        wanted = fn.kernels.FisherKernel(model, metric="practical")(strings)
    else:
        model = fn.learn.hidden_markov_model(strings, n_states=2, seed=1)
        made: dict[str, Any] = {
            "hmm": lambda: fn.kernels.FisherKernel(model, metric="practical"),
            "counts": lambda: fn.kernels.CountKernel(model),
            "joint": lambda: fn.kernels.PairHmmKernel(model),
        }
        wanted = made[kernel]()(strings)
    path = saved(model, genes.with_name("model.json"))
    _, matrix = matrix_of(good("strings", "gram", genes, "--model", path, "--kernel", kernel).out)
    np.testing.assert_allclose(matrix, wanted, rtol=1e-9)
    if kernel in ("markov", "hmm"):
        assert facts_of("strings", "gram", genes, "--model", path)["kernel"] == kernel


@pytest.mark.parametrize(
    ("words", "kernel"),
    [(["--order", 1], "markov"), (["--states", 2], "hmm"), (["--kernel", "joint"], "joint"), ([], "spectrum")],
)
def test_a_model_is_learned(genes: Path, words: list[object], kernel: str) -> None:
    facts = facts_of("strings", "gram", genes, *words)
    assert facts["kernel"] == kernel
    again = facts_of("strings", "gram", genes, *words)
    assert facts == again  # equal commands give equal numbers


def test_the_letters_of_dna(genes: Path) -> None:
    written(genes, FASTA.replace("TTTTTTTT", "ttNttRtt"))
    for words in (["--k", 2], ["--order", 1], ["--states", 2], ["--states", 2, "--kernel", "joint"]):
        facts = facts_of("strings", "gram", genes, "--alphabet", "dna", *words)
        assert np.isfinite(np.array(facts["matrix"], float)).all()
    features: Any = fn.kernels.SpectrumKernel(2, "dna")
    strings = [*GENES.values()]
    strings[2] = "TTNTTRTT"
    wanted = features.features(strings).toarray()
    _, matrix = matrix_of(good("strings", "gram", genes, "--alphabet", "dna", "--k", 2).out)
    np.testing.assert_allclose(matrix, wanted @ wanted.T)


@pytest.mark.parametrize("words", [["--k", 2], ["--order", 1], ["--states", 2]])
def test_unknown_symbols(genes: Path, words: list[object]) -> None:
    said = refused("strings", "gram", genes, "--alphabet", "ACG", *words)
    assert "string 0 has the symbol 'T' at position 3" in said
    assert "(option --unknown)" in said
    for policy in ("any", "skip"):
        good("strings", "gram", genes, "--alphabet", "ACG", "--unknown", policy, *words)
    skipped = good("strings", "gram", genes, "--alphabet", "ACG", "--unknown", "skip", *words).out
    written(genes, FASTA.replace("T", ""))
    assert skipped == good("strings", "gram", genes, "--alphabet", "ACG", *words).out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("gram ABSENT", "no such file"),
        ("gram FILE --kernel nope", "unknown kernel 'nope'; there are 'spectrum'"),
        ("gram FILE --k 0", "k must be an integer of at least 1, got 0 (option --k)"),
        ("gram FILE --order -1", "order must be"),
        ("gram FILE --states 0", "n_states must be"),
        ("gram FILE --order 1 --states 2", "--order cannot be combined with --kernel hmm"),
        ("gram FILE --k 2 --kernel markov", "--k cannot be combined with --kernel markov"),
        ("gram FILE --unknown nope", "(option --unknown)"),
        ("gram FILE --column dna", "genes.fa"),
        ("gram TABLE", "say which column has the strings (option --column)"),
        ("gram TABLE --column nope", "'nope'"),
        ("gram TABLE --column n", "holds 1, which is not text (option --column)"),
        ("gram GAPS --column s", "'s' (1)"),
        ("gram EMPTY", "the file has no strings"),
        ("gram FILE --model NETWORK", "a Markov chain or a hidden Markov model is needed"),
        ("gram FILE --model CHAIN --kernel hmm", "whose kernels are 'markov', not 'hmm'"),
        ("gram FILE --model CHAIN --order 1", "cannot be combined with --model"),
        ("gram FILE --model CHAIN --alphabet dna", "cannot be combined with --model"),
        ("gram FILE --model CHAIN", "'G' at position 2"),
        ("nearest FILE --string nope", "no string 'nope'; there are 4 strings: 'one', 'two'"),
        ("nearest FILE --string 4", "no string '4'"),
        ("nearest FILE -n 0", "n must be"),
        ("gram FILE -o nowhere/x.npy", "no directory"),
    ],
)
def test_what_is_refused(genes: Path, line: str, said: str) -> None:
    folder = genes.parent
    files = {
        "FILE": genes,
        "ABSENT": folder / "absent.fa",
        "TABLE": written(folder / "t.csv", "s,n\nab,1\nba,2\n"),
        "GAPS": written(folder / "gaps.csv", "s,t\nab,x\n,y\n"),
        "EMPTY": written(folder / "empty.txt", ""),
        "NETWORK": saved(fn.datasets.load("asia"), folder / "network.json"),
        "CHAIN": saved(fn.MarkovChain("AC", 0, [0.5, 0.5]), folder / "chain.json"),
    }
    assert said in refused("strings", *(files.get(part, part) for part in line.split()))


def test_output_for_numpy_survives_a_failure(genes: Path) -> None:
    path = genes.with_name("gram.npy")
    path.write_bytes(b"old")
    refused("strings", "gram", genes, "--kernel", "nope", "-o", path)
    assert path.read_bytes() == b"old"
    good("strings", "gram", genes, "-o", path)
    assert np.load(io.BytesIO(path.read_bytes())).shape == (4, 4)
