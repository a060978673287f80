from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.files import read_uai, read_uai_evidence, write_uai
from tests.files.hostile import exact

pyagrum: Any = pytest.importorskip("pyagrum")

MARKOV = "MARKOV\n3\n2 2 3\n2\n2 0 1\n2 2 1\n4\n4.0 3.0\n2.0 0.0\n6\n1 2 3 4 5 6\n"
BAYES = "BAYES\n2\n2 3\n2\n1 0\n2 0 1\n2 0.25 0.75\n6\n0.2 0.3 0.5\n1 0 0\n"


def read(tmp_path: Path, text: str) -> Any:
    (tmp_path / "a.uai").write_text(text)
    return read_uai(tmp_path / "a.uai")


def test_the_last_variable_of_a_factor_is_the_fastest(tmp_path: Path) -> None:
    net = read(tmp_path, MARKOV)
    assert net.variables == tuple(fn.Variable(f"x{v}", range(r)) for v, r in enumerate((2, 2, 3)))
    (first, table), (second, other) = net.potentials
    assert (first, second) == (("x0", "x1"), ("x2", "x1"))
    assert table.tolist() == [[4, 3], [2, 0]]
    assert other.tolist() == [[1, 2], [3, 4], [5, 6]]


def test_the_last_variable_of_a_factor_is_the_child(tmp_path: Path) -> None:
    net = read(tmp_path, BAYES)
    assert net.dag.edges == (("x0", "x1"),)
    assert net.conditional("x1").table().tolist() == [[0.2, 0.3, 0.5], [1, 0, 0]]


def test_remarks_and_line_breaks_mean_nothing(tmp_path: Path) -> None:
    expected = exact(read(tmp_path, BAYES))
    assert exact(read(tmp_path, " ".join(BAYES.split()))) == expected
    assert exact(read(tmp_path, BAYES.replace("\n", " # remark 7\r\n"))) == expected


def test_rounded_probabilities_are_divided_by_their_sum(tmp_path: Path) -> None:
    net = read(tmp_path, BAYES.replace("0.25 0.75", "0.333 0.6665"))
    np.testing.assert_allclose(net.conditional("x0").table(), [0.333 / 0.9995, 0.6665 / 0.9995], rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "the file ends before MARKOV or BAYES"),
        ("markov 1 2 0", 1, "expected MARKOV or BAYES, got 'markov'"),
        (MARKOV.replace("2 2 3", "2 -2 3"), 3, "expected the number of states of x1, an integer from 1 to"),
        (MARKOV.replace("2 2 3", "2 0 3"), 3, "states of x1, an integer from 1 to 2147483647, got '0'"),
        (MARKOV.replace("2 2 1", "2 3 1"), 6, "expected a variable of factor 1, an integer from 0 to 2, got '3'"),
        (MARKOV.replace("2 2 1", "2 1 1"), 6, "factor 1 has a variable twice"),
        (MARKOV.replace("2 2 1", "9 2 1"), 6, "of variables of factor 1, an integer from 0 to 3, got '9'"),
        (MARKOV.replace("4\n4.0", "5\n4.0"), 7, "factor 0 has 5 numbers; its variables have 4 configurations"),
        (MARKOV.replace("2.0 0.0", "2.0 -1"), 9, "factor 0: '-1' is no finite number from 0"),
        (MARKOV.replace("2.0 0.0", "nan 0"), 9, "factor 0: 'nan' is no finite number from 0"),
        (MARKOV.replace("2.0 0.0", "2_0 0"), 9, "factor 0: '2_0' is no finite number from 0"),
        (MARKOV.replace(" 5 6", " 5"), 11, "the file ends after 5 of 6 numbers of factor 1"),
        (MARKOV + "\n7", 13, "1 words more than the factors need"),
        ("MARKOV\n99999999\n2", 2, "the number of variables, an integer from 0 to 2, got '99999999'"),
        ("MARKOV 1 2000000000 0", None, "the variables in no factor have more than 1,048,576 states"),
        (f"MARKOV 1 1\n1\n33 {'0 ' * 33}", 3, "the number of variables of factor 0, an integer from 0 to 1, got '33'"),
        (BAYES.replace("1 0\n2 0 1", "1 0\n2 1 0"), 9, "factor 1 of a Bayesian network is a second one of x0"),
        (BAYES.replace("0.2 0.3", "0.3 0.3"), 9, "factor 1: the probabilities of x1 sum to 1.1, not to 1"),
        ("BAYES\n1\n2\n0\n", None, "no factor of the Bayesian network is the one of 'x0'"),
        ("BAYES\n2\n1 1\n2\n2 0 1\n2 1 0\n1 1\n1 1\n", None, "cycle"),
    ],
)
def test_wrong_files_say_where(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    with pytest.raises(fn.FileFormatError, match=message) as caught:
        read(tmp_path, text)
    assert caught.value.line == line


def test_what_is_lost_is_said(tmp_path: Path) -> None:
    net = fn.datasets.load("asia")
    with pytest.warns(fn.FishernetWarning, match="numbers the variables and their states") as caught:
        write_uai(net, tmp_path / "a.uai")
    assert caught[0].filename == __file__
    write_uai(read_uai(tmp_path / "a.uai"), tmp_path / "b.uai")  # a warning would be an error
    assert (tmp_path / "a.uai").read_text() == (tmp_path / "b.uai").read_text()
    with pytest.raises(
        fn.SchemaError, match="a UAI file holds a BayesianNetwork or a MarkovNetwork, not a normal distribution"
    ):
        write_uai(fn.Gaussian(0, 1), tmp_path / "a.uai")  # type: ignore[arg-type]


def test_pyagrum_reads_trees_with_the_same_marginals(tmp_path: Path) -> None:
    """Of a table with several parents it takes the first one, not the last, as the fastest."""
    net = read(tmp_path, BAYES)
    write_uai(net, tmp_path / "b.uai")
    inference = pyagrum.LazyPropagation(pyagrum.loadBN(str(tmp_path / "b.uai")))
    for v, name in enumerate(net.names):
        np.testing.assert_allclose(inference.posterior(str(v)).toarray(), fn.infer.marginal(net, [name]), atol=1e-5)


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("0\n", {}),
        ("2 0 1 2 0", {"x0": 1, "x2": 0}),
        ("1 3 4", {"x3": 4}),
        ("1\n1 35 1 ", {"x35": 1}),
        ("1\n2 0 1 1 0", {"x0": 1, "x1": 0}),
        ("1\n0\n", {}),
    ],
)
def test_evidence_is_read(tmp_path: Path, text: str, given: dict[str, int]) -> None:
    (tmp_path / "a.uai.evid").write_text(text)
    assert read_uai_evidence(tmp_path / "a.uai.evid") == given
    (tmp_path / "a.uai.evid.gz").write_bytes(gzip.compress(text.encode()))
    assert read_uai_evidence(tmp_path / "a.uai.evid.gz") == given


def test_evidence_is_what_a_network_is_given(tmp_path: Path) -> None:
    net = read(tmp_path, MARKOV)
    (tmp_path / "evid").write_text("1 0 1")
    given = read_uai_evidence(tmp_path / "evid")
    # x1 must be 0 where x0 is 1: 2 (1 + 3 + 5) against 0
    np.testing.assert_allclose(fn.infer.marginal(net, ["x1"], given=given), [1, 0], atol=1e-15)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file ends before the number of observed variables"),
        ("2 0 1", "2 observed variables need 4 numbers more, and there are 2"),
        ("2 0 1 0 0", "the variable x0 is observed twice"),
        ("1 0 -1", "expected the state of x0"),
        ("a", "expected the number of observed variables"),
        ("1", "need 2 numbers more, and there are 0"),
    ],
)
def test_evidence_that_is_none_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "evid").write_text(text)
    with pytest.raises(fn.FileFormatError, match=message):
        read_uai_evidence(tmp_path / "evid")
