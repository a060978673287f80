"""A short run of the campaign of `tests.fuzz`, and what it found once."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fishernet as fn
from fishernet.base import check
from fishernet.base.errors import MOST_LETTERS, FishernetError
from tests.fuzz import campaign, core, hostile, public, readers
from tests.fuzz.campaign import PARTS, cases_of, findings, repeat
from tests.fuzz.case import Case, finding

CASES = {"readers": 200, "public": 150}
OF_THE_CORE = 40


@pytest.mark.parametrize("part", CASES)
def test_a_short_run_finds_nothing(part: str) -> None:
    case = cases_of(part)
    for number in range(CASES[part]):
        found = finding(case(number))
        assert found is None, f"python -m tests.fuzz {part} {number}: {found}"


def test_a_short_run_on_the_core_finds_nothing() -> None:
    """In a process of its own, which may die."""
    command = [sys.executable, "-m", "tests.fuzz", "core", *map(str, range(OF_THE_CORE))]
    root = Path(__file__).parent.parent
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=root, env=dict(os.environ))
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]
    assert ended.stdout.count("as it should be") == OF_THE_CORE


def test_every_value_can_be_damaged_and_shown() -> None:
    """Values of any size, depth and text, also within lists: the campaign goes on behind them."""
    endless: list[Any] = [Endless(), 10**400, 1e308, "\ud83d", deep, "9" * 5000]
    for number in range(20):
        draws = random.Random(number)
        for given in (*(make() for make in hostile.VALUES), *endless):
            hostile.shown(hostile.damaged(given, draws))
            hostile.shown(hostile.damaged([given], draws))


@pytest.mark.parametrize("part", PARTS)
def test_a_case_is_the_same_every_time(part: str) -> None:
    case = cases_of(part)
    assert [case(number).what for number in range(5)] == [case(number).what for number in range(5)]


@pytest.mark.filterwarnings("ignore::fishernet.FishernetWarning")
def test_whatever_is_public_is_called() -> None:
    """Each public function with valid values: most answer, so that one wrong value is what a case is about."""
    answered = 0
    for name in public.targets():
        try:
            public.called(name, public.parameters(name))
        except (fn.FishernetError, TypeError):
            continue
        answered += 1
    assert answered > 0.85 * len(public.targets())
    every = {name for module in public.packages() for name in module.__all__}
    assert {"Table", "structure", "read_table", "FisherKernel", "mmd"} <= every & {
        name.partition(".")[0] for name in public.targets()
    }


def test_all_endings_that_are_read_have_a_file() -> None:
    names = list(readers.corpus())
    of_tables = (".csv", ".tsv", ".txt", ".arff", ".parquet", ".arrow", ".feather")
    for ending in (".json", ".bif", ".xdsl", ".net", ".dsc", ".xmlbif", ".uai", *of_tables):
        assert any(name.removesuffix(".gz").endswith(ending) for name in names), ending


def test_the_tape_of_the_core_holds_its_classes() -> None:
    seen = {call.name for call in core.tape().calls}
    assert {"Columns", "count", "HillClimb", "OrderSearch", "Inference", "Factors.add", "HiddenMarkov"} <= seen
    assert len(seen) > 50


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (AttributeError("no"), "AttributeError 'no'"),
        (FishernetError(""), "no sentence"),
        (FishernetError("wrong, for a reason"), None),
        (MemoryError(), "MemoryError"),
    ],
)
def test_only_a_sentence_of_ours_is_an_answer(answer: Exception, told: str | None) -> None:
    def call() -> None:
        raise answer

    found = finding(Case("call", call))
    assert (found or "").startswith(told or "") or (told or "") in (found or "")
    assert (found is None) == (told is None)


def made_of(monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """Let every part be made of cases that run one statement, which may use the case's number: `seed`."""

    def command(part: str, first: int, seconds: float, memory: float) -> list[str]:
        script = (
            "import os, sys, time; import tests.fuzz.campaign as campaign; from tests.fuzz.case import Case\n"
            f"def run(seed):\n    {body}\n"
            "campaign.PATIENCE = 0.3\n"
            "campaign.cases_of = lambda _: lambda seed: Case('it', lambda: run(seed))\n"
            f"campaign.work('x', {first}, {seconds}, 0)"
        )
        return ["-c", script]

    monkeypatch.setattr(campaign, "_command", command)


def test_a_crash_is_told_with_its_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cases run in another process, which may die."""
    made_of(monkeypatch, "seed % 5 == 3 and os.abort()")
    number, what = next(found for found in findings("core", 20, 0, 0) if found[1])
    assert number == 3
    assert "the process died" in what


def test_a_slow_case_is_told_and_others_come_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when it is the first of its process, as the first two cases are here."""
    made_of(monkeypatch, "time.sleep(20 * (seed < 2) + 0.01)")
    found: dict[int, list[str]] = {}
    for number, what in findings("core", 60, 0, 0):
        found.setdefault(number, []).append(what)
        if number == 4:
            break
    assert list(found) == [0, 1, 2, 3, 4]
    assert [len(told) for told in found.values()] == [2, 2, 1, 1, 1]
    assert all(found[number][1].startswith("takes more than") for number in (0, 1))


@pytest.mark.parametrize(
    ("body", "seconds", "told"),
    [
        ("time.sleep(20)", 0.1, ("# takes more than ", "core: 1 cases, 1 of which took ", "1 findings")),
        ("sys.exit('no reason')", 0.1, ("# the process died (1): no reason", " cases\n", "1 findings")),
        ("pass", 0.0, ("core: no case was made in 0 s", "1 findings")),
        ("pass", 0.1, (" cases\nnothing found\n",)),
    ],
)
def test_a_part_that_ends_early_is_no_part_without_findings(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    body: str,
    seconds: float,
    told: tuple[str, ...],
) -> None:
    made_of(monkeypatch, body)
    assert campaign.campaign(["core"], seconds, 1, 0) == (told[-1] == "1 findings")
    out = capsys.readouterr().out
    assert all(words in out for words in told), out


def test_a_process_that_makes_no_case_is_told_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(campaign, "_command", lambda *_: ["-c", "def case(): raise ImportError('no core')\ncase()"])
    assert campaign.campaign(["core"], 60, 1, 0)
    out = capsys.readouterr().out
    assert out.count("# no case was begun: the process died (1)") == 1
    assert "ImportError: no core" in out
    assert "core: no case was made in 60 s\n" in out


def test_a_slow_case_is_another_finding_than_a_wrong_one_at_its_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = [
        (1, ""),
        (1, "KeyError at a.py:3"),
        (2, ""),
        (2, "takes more than 10 s at a.py:3"),
        (3, ""),
        (3, "KeyError at a.py:3"),
    ]
    monkeypatch.setattr(campaign, "findings", lambda *_: iter(told))
    assert campaign.campaign(["core"], 60, 1, 0)
    out = capsys.readouterr().out
    assert "core: 3 cases, 1 of which took 10 of the 60 s\n2 findings\n" in out
    assert out.count("KeyError") == 1


def test_a_case_can_be_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    assert repeat("public", [1, 2]) == 0
    assert "as it should be" in capsys.readouterr().out


# ------------------------------------------------------------------------------------------------ what was found

NET: Any = public.NET
TABLE: Any = public.TABLE
HMM: Any = public.HMM
KERNEL: Any = public.KERNEL
CHAIN: Any = public.CHAIN
lib: Any = fn  # what is given here is of other types than is asked for
checks: Any = check
ROW = public.ROW
HALF = public.HALF
FRAME = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
deep: list[Any] = []
for _ in range(5000):
    deep = [deep]


class Endless:
    """An object whose repr has no end."""

    def __repr__(self) -> str:
        return f"<{self!r}>"


# Calls, and the parameter that the error is about; None where it is about no single one.
FOUND: dict[str, tuple[Callable[[], Any], str | None]] = {
    "a frame for a number": (lambda: lib.learn.markov_graph(TABLE, test="g-squared", alpha=FRAME), "alpha"),
    "a deep list for a number": (lambda: lib.learn.kdb(TABLE, "lung", k=deep), "k"),
    "no names": (lambda: lib.infer.JunctionTree(NET).marginal(3), "names"),
    "names that cannot be sorted": (lambda: lib.Table.from_codes([[0, 1]]).select([None, "v0"]), None),
    "names of two kinds": (lambda: lib.Dag.from_edges(["a", 3], []), None),
    "one variable": (lambda: lib.MarkovNetwork(ROW[0], []), "variables"),
    "columns that are one number": (lambda: lib.Table(ROW, 3), "columns"),
    "a table of words": (lambda: lib.BayesianNetwork.from_tables(ROW[:1], {}, {"x": ["a", "b"]}), None),
    "a child that is no position": (lambda: lib.models.FullTable("x", (), ROW[:1], [[0.5, 0.5]]), "child"),
    "no parents": (lambda: lib.models.FullTable(1, None, ROW, HALF), "parents"),
    "too few variables": (lambda: lib.models.MergedTable(1, (0, 2), ROW, [0, 1], HALF), None),
    "ragged probabilities": (lambda: lib.models.FullTable(0, (), ROW[:1], [[1], [0.5, 0.5]]), "probabilities"),
    "a factor that is no pair": (lambda: lib.models.ProductConditional(1, (0,), ROW, [3]), None),
    "axes that are none": (lambda: lib.models.ProductConditional(1, (0,), ROW, [(3, HALF)]), "axes"),
    "branches that are none": (lambda: lib.models.Split(0, 3, (0, 1)), "branches"),
    "weights by no name": (lambda: lib.compare.inconsistency_of_conditionals(public.DN, weights="x"), "weights"),
    "a number of rows": (lambda: TABLE.head("3"), "n"),
    "n_rows of a table": (lambda: lib.Table([], [], n_rows="many"), "n_rows"),
    "mean of words": (lambda: lib.data.Scatter(3, ["a"], [[1.0]]), "mean"),
    "rows of words": (lambda: lib.data.Scatter("3", [1.0], [[1.0]]), "n"),
    "a class for a frame": (lambda: lib.learn.structure(lib.Table), None),
    "states that are a number": (lambda: lib.Variable("x", 3), "states"),
    "cuts that are words": (lambda: lib.Variable("x", ["a", "b"], cuts=["y"]), "cuts"),
    "a unit that is a frame": (lambda: lib.Continuous("x", unit=FRAME), None),
    "columns to leave out": (lambda: lib.Table.from_frame(FRAME, exclude=3), "exclude"),
    "cells that are missing": (lambda: lib.Table.from_frame(FRAME, na_values=3), "na_values"),
    "a frame for a word": (lambda: lib.Table.from_frame(FRAME, missing=FRAME), "missing"),
    "an alphabet of lists": (lambda: lib.models.Alphabet([["a"]]), None),
    "an alphabet that is a number": (lambda: lib.models.Alphabet(3), "alphabet"),
    "codes beyond": (lambda: lib.models.Alphabet("ab").decode([2]), None),
    "strings that are a number": (lambda: HMM.log_prob(3), None),
    "strings that are a set": (lambda: HMM.log_prob([{"z"}]), "unknown"),
    "an order beyond": (lambda: lib.MarkovChain("a", 2**63, [1.0]), "order"),
    "an order of two symbols beyond": (lambda: lib.MarkovChain("ab", 2**63, [0.5, 0.5]), "order"),
    "a length beyond": (lambda: CHAIN.sample(1, length=2**62), "length"),
    "a length of a model": (lambda: HMM.sample(1, length=2**62), "length"),
    "all strings of a length": (lambda: HMM.fisher_information(length=2**62), None),
    "hidden states beyond": (lambda: lib.learn.hidden_markov_model(["ab"], n_states=2**40), "n_states"),
    "a bandwidth": (lambda: lib.kernels.Rbf(public.KERNEL, [1.0]), "bandwidth"),
    "rows that are a number": (lambda: lib.kernels.SpectrumKernel(2)(3), None),
    "a kernel that is none": (lambda: lib.compare.mmd(3, TABLE, TABLE), "kernel"),
    "edges that are a number": (lambda: lib.learn.structure(TABLE, required=3), "required"),
    "an edge that is a number": (lambda: lib.learn.structure(TABLE, required=[3]), None),
    "tiers that are a number": (lambda: lib.learn.structure(TABLE, tiers=[3]), None),
    "smoothing in a list": (lambda: lib.learn.parameters(NET.dag, TABLE, smoothing=np.ones(2)), "smoothing"),
    "a test that is none": (lambda: lib.learn.markov_graph(TABLE, test=3), "test"),
    "kappa": (lambda: lib.models.pair_hmm_dna(kappa="2"), "kappa"),
    "a divergence": (lambda: lib.models.pair_hmm_protein(divergence={}), "divergence"),
    "a path": (lambda: lib.read_table(3.5), "path"),
    "a path of a model": (lambda: lib.load(["a"]), "path"),
    "a path with a zero byte": (lambda: lib.read_bif("a\0b"), "path"),
    "a path to write to": (lambda: lib.write_table(TABLE, None), "path"),
    "a flag": (lambda: lib.learn.dependency_network(TABLE, last_step=FRAME), "last_step"),
    "seconds": (lambda: lib.learn.structure(TABLE, max_seconds="9"), "max_seconds"),
    "a fraction": (lambda: TABLE.split("0.5"), "fraction"),
    "a number for a column": (lambda: lib.select.random_subset({"asia": 2**63}, 2), "table"),
    "a class for rows": (lambda: lib.select.similar(public.KERNEL, lib.Table, 0), "table"),
    "weights that are lists": (lambda: lib.infer.stationary(public.DN, weights={"asia": []}), "weights"),
    "weights that are nested": (lambda: lib.infer.stationary(public.DN, weights={"asia": [1.0]}), "weights"),
    "parts that are a frame": (lambda: lib.kernels.CountKernel(HMM, parts=pd.DataFrame()), "parts"),
    "rows that are text": (lambda: KERNEL.smallest_expected("9"), "n_rows"),
    "an object without a repr": (lambda: lib.learn.structure(TABLE, max_seconds=Endless()), "max_seconds"),
}


@pytest.mark.parametrize("what", list(FOUND))
def test_what_was_found_once_is_one_sentence_about_its_parameter(what: str) -> None:
    call, parameter = FOUND[what]
    with pytest.raises(fn.FishernetError) as caught:
        call()
    assert finding(Case(what, call)) is None
    assert caught.value.parameter == parameter, str(caught.value)


def test_a_message_is_one_line_and_not_a_table() -> None:
    error = fn.SchemaError("wrong: " + "line\n" * 2000 + "end")
    assert "\n" not in str(error)
    assert len(str(error)) <= MOST_LETTERS
    assert str(error).startswith("wrong: line line")
    assert str(error).endswith("line end")


def test_a_state_space_beyond_all_digits_is_told_by_its_size() -> None:
    error = fn.StateSpaceError("it", cells=10**6000, limit=1, remedy="take less")
    assert "10**6000 cells" in str(error)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: checks.items(3, "names"), "names must be a sequence of names, not an int"),
        (lambda: checks.items("ab", "names"), "not a str"),
        (lambda: checks.items(np.array(3), "names"), "not a ndarray"),
        (lambda: checks.numbers([[1], [1, 2]], "mean"), "mean must be an array of numbers"),
        (lambda: checks.numbers("x", "mean"), "got 'x'"),
        (lambda: checks.flag("yes", "log"), "log must be True or False, got 'yes'"),
        (lambda: checks.path(3), "path must be a path, as a str, not an int"),
    ],
)
def test_checks_say_what_is_wrong(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(fn.SchemaError, match=message) as caught:
        call()
    assert caught.value.parameter


def test_checks_return_what_is_right(tmp_path: Path) -> None:
    assert check.items(iter("ab"), "names") == ("a", "b")
    np.testing.assert_array_equal(check.numbers([1, 2], "x"), [1.0, 2.0])
    assert check.flag(np.True_, "x") is True
    assert check.path(str(tmp_path)) == check.path(bytes(tmp_path)) == tmp_path
