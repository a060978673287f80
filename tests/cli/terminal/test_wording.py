from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.cli.learn import learn
from fishernet.cli.select import select
from fishernet.cli.terminal import on_one_line, shown, with_option
from fishernet.data.variable import require_categorical

A, B = fn.Variable("a", ["x"]), fn.Variable("b", ["x", "y"])


def refusals(folder: Path) -> list[fn.FishernetError]:
    """Return the library's real errors about arguments that the command line has options for."""
    errors: list[fn.FishernetError] = []

    def refused(text: str, **options: object) -> None:
        path = folder / "t.csv"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(fn.FishernetError) as caught:
            require_categorical(fn.read_table(path, **options).variables, "a search")  # type: ignore[arg-type]
        errors.append(caught.value)

    refused("a,b\nx,\nx,y\n", missing="error")
    refused("a,b\nx,\nx,y\n", schema=[A, fn.Variable("b", ["y"])], missing="state")
    refused("a\n" + "".join(f"{i}\n" for i in range(300)))
    refused("a\nx\n", weights="w")
    refused("a\nx\n", bins={"w": 3})
    refused("a\nx\n", columns=["w"])
    refused("a\nx\n", binning="nope")
    table = fn.Table.from_codes([[0, 0], [0, 1]], [A, B])
    never = fn.Table.from_codes([[0, 0]], [B, fn.Variable("c", ["x", "y"])])
    numbers = np.random.default_rng(1).normal(size=(50, 3))
    calls: list[Callable[[], object]] = [
        *(
            partial(fn.learn.bayesian_network, table, **options)
            for options in (
                {"smoothing": -1},
                {"smoothing": "some"},
                {"ess": -1},
                {"ess": 1, "smoothing": "snml"},
                {"max_parents": -1},
                {"max_seconds": -1},
                {"seed": -1},
                {"score": "nope"},
                {"search": "nope"},
                {"restarts": -1},
                {"perturb": 2, "search": "hill-climb"},
                {"tenure": 2},
                {"max_memory": 2},
                {"candidates": 0},
            )
        ),
        partial(fn.learn.parameters, fn.Dag.from_edges(["b", "c"], [("b", "c")]), never, smoothing=0),
        partial(fn.learn.dependency_network, table, max_inputs=-1),
        *(
            partial(fn.learn.markov_graph, numbers, **options)
            for options in ({"test": "t"}, {"rule": "r"}, {"alpha": 2}, {"scheme": "s"}, {"permutations": 0}, {"k": 0})
        ),
    ]
    for call in calls:
        with pytest.raises(fn.FishernetError) as caught:
            call()
        errors.append(caught.value)
    return errors


def test_an_error_about_an_argument_ends_with_the_option_that_sets_it(tmp_path: Path) -> None:
    for error in refusals(tmp_path):
        assert error.parameter is not None, error
        said = with_option(str(error), error.parameter, learn)
        assert said.startswith(f"{error} (option --{error.parameter.replace('_', '-')}"), said


def test_no_message_speaks_python(tmp_path: Path) -> None:
    python = re.compile(r"""[a-z_]=["'\d{]|smoothing >|\bschema\b|\bna_values\b""")
    for error in refusals(tmp_path):
        assert python.search(str(error)) is None, error


def test_a_message_of_no_option_stays_as_it_is() -> None:
    text = "column 'a', row 3: the label 'x=y' is not among the states 'max_parents', 'b'"
    for parameter, command in ((None, learn), ("schema", learn), ("k", None)):
        assert with_option(text, parameter, command) == text


def test_choices_are_named() -> None:
    assert with_option("cells", "missing", learn) == "cells (option --missing: error, drop, state)"
    assert with_option("k", "k", select) == "k (option -k)"


@given(text=st.text())
def test_one_line_is_one_line(text: str) -> None:
    line = on_one_line(text)
    assert line.isprintable() or not line
    assert len(line.splitlines()) <= 1


def test_plain_text_stays() -> None:
    assert on_one_line("Größe 'x' \U0001f600") == "Größe 'x' \U0001f600"
    assert on_one_line("a\nb\x1b[31m") == "a\\nb\\x1b[31m"


def test_labels_are_shown_as_they_are_or_in_quotes() -> None:
    assert [shown(label) for label in ("a b", 1, 2.5, True, "é")] == ["a b", "1", "2.5", "True", "é"]
    assert [shown(label) for label in ("", " a", "a\n", "\x1b")] == ["''", "' a'", "'a\\n'", "'\\x1b'"]
