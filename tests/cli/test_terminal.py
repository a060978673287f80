"""What commands print, how they end, and what is shown while they work."""

from __future__ import annotations

import errno
import importlib.metadata
import io
import json
import math
import pickle
import re
import subprocess
import sys
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.progress import Interrupted
from fishernet.base.remedies import Remedy
from fishernet.cli.impute import impute
from fishernet.cli.learn import learn
from fishernet.cli.main import fishernet
from fishernet.cli.select import select
from fishernet.cli.terminal import (
    Commands,
    Stopwatch,
    aligned,
    check_folder,
    number,
    on_one_line,
    outcome,
    progress_bar,
    shown,
    with_option,
    write_facts,
    write_lines,
)
from fishernet.data.variable import require_categorical
from tests.cli.running import COMMAND, ENVIRONMENT, RUNNER, good, written

# ------------------------------------------------------------------------------------------------ what is printed

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(facts=st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), VALUES))
def test_facts_come_back(tmp_path_factory: pytest.TempPathFactory, facts: dict[str, object]) -> None:
    path = tmp_path_factory.mktemp("facts") / "facts.json"
    write_facts(facts, path)
    assert json.loads(path.read_text(encoding="utf-8")) == facts


def test_what_json_has_no_word_for_is_null(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_facts({"a": -math.inf, "b": [math.nan, {"c": (math.inf, 1.5)}]})
    assert json.loads(capfdbinary.readouterr().out) == {"a": None, "b": [None, {"c": [None, 1.5]}]}


def test_stdout_is_utf8_and_what_is_no_character_becomes_an_escape(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_facts({"path": "bad\udcff", "é": "\U0001f600"})
    assert json.loads(capfdbinary.readouterr().out) == {"path": "bad\udcff", "é": "\U0001f600"}


def test_arrays_are_lists_and_functions_are_asked(tmp_path: Path) -> None:
    write_facts({"a": np.array([[1.0, math.nan]]), "b": {"c": np.arange(2).tolist}}, tmp_path / "facts.json")
    facts = json.loads((tmp_path / "facts.json").read_text(encoding="utf-8"))
    assert facts == {"a": [[1.0, None]], "b": {"c": [0, 1]}}


def test_a_file_that_fails_half_way_is_not_there(tmp_path: Path) -> None:
    path = written(tmp_path / "out.txt", "old")

    def lines() -> Iterator[str]:
        yield "one"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_lines(lines(), path)
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_how_columns_numbers_and_labels_are_shown() -> None:
    assert aligned([("a", "b"), ("long", "x y"), ("", "c")]) == ["a     b", "long  x y", "      c"]
    assert aligned([("a", "1"), ("long", "100")], right=True) == ["a       1", "long  100"]
    assert aligned([]) == []
    assert [number(value) for value in (-1234.56789, -math.inf, math.nan)] == ["-1,234.5679", "-inf", "-"]
    assert [shown(label) for label in ("a b", 1, 2.5, True, "é")] == ["a b", "1", "2.5", "True", "é"]
    assert [shown(label) for label in ("", " a", "a\n", "\x1b")] == ["''", "' a'", "'a\\n'", "'\\x1b'"]


def test_a_file_that_could_not_be_written_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_folder(None)
    check_folder(tmp_path / "x")
    with pytest.raises(fn.FileFormatError, match="there is no directory"):
        check_folder(tmp_path / "nowhere" / "x")
    with pytest.raises(fn.FileFormatError, match="it is a directory"):
        check_folder(tmp_path)
    monkeypatch.setattr("os.access", lambda *_: False)  # root, who may run the tests, may write anywhere
    with pytest.raises(fn.FileFormatError, match="its directory does not allow it"):
        check_folder(tmp_path / "x")


# ----------------------------------------------------------------------------------------------------- how it ends


def ending(error: BaseException | None, **options: Any) -> Result:
    """Run a command that ends with an error."""

    @click.command()
    @click.option("--k")
    def fail(k: str | None) -> None:
        click.echo("before")
        if error is not None:
            raise error

    return RUNNER.invoke(Commands("group", commands=[fail]), ["fail"], **options)


INTERRUPT = Interrupted(best=fn.Dag.from_edges(["a", "b"], [("a", "b")]))


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (fn.FishernetError("what\nis wrong"), 1, "what is wrong"),
        (fn.SchemaError("k must be 1", parameter="k"), 1, "k must be 1 (option --k)"),
        (fn.SchemaError("ess must be 1", parameter="ess"), 1, "ess must be 1"),
        (fn.StateSpaceError("x", cells=9, limit=8, remedy="r"), 1, "x would have 9 cells, more than the limit of 8; r"),
        (FileNotFoundError(errno.ENOENT, "No such file", "m.json"), 1, "m.json: No such file"),
        (OSError(errno.ENOSPC, "No space left"), 1, "reading or writing failed: No space left"),
        (MemoryError("Unable to allocate 9 TiB"), 1, "there is not enough memory; Unable to allocate 9 TiB"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (
            INTERRUPT,
            130,
            "interrupted while learning; nothing was written (--max-seconds keeps the best in time)",
        ),
    ],
)
def test_an_error_is_one_sentence_and_a_status(error: BaseException, status: int, said: str) -> None:
    ended = ending(error)
    assert (ended.exit_code, ended.stdout, ended.stderr) == (status, "before\n", f"fishernet: {said}\n")


def test_a_mistake_of_ours_says_so_and_can_be_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = ending(TypeError("oops"))
    assert ended.exit_code == 1
    assert "a mistake of fishernet itself, please report it: TypeError: oops" in ended.stderr
    assert ended.stderr.count("\n") == 1
    monkeypatch.setenv("FISHERNET_TRACEBACK", "1")
    assert isinstance(ending(TypeError("oops")).exception, TypeError)


def test_a_reader_that_goes_away_is_no_failure_to_speak_of() -> None:
    assert outcome(BrokenPipeError(errno.EPIPE, "Broken pipe")) == ("", 141)
    ended = ending(BrokenPipeError(errno.EPIPE, "Broken pipe"))
    assert (ended.exit_code, ended.stderr) == (141, "")


def test_all_went_well() -> None:
    ended = ending(None)
    assert (ended.exit_code, ended.stdout, ended.stderr) == (0, "before\n", "")


def test_warnings_of_the_library_are_notes() -> None:
    @click.command()
    @click.option("--max-parents")
    def warn(max_parents: str | None) -> None:
        warnings.warn(fn.FishernetWarning("fewer\nparents", parameter="max_parents"), stacklevel=1)
        warnings.warn("of no option", fn.FishernetWarning, stacklevel=1)

    ended = RUNNER.invoke(Commands("group", commands=[warn]), ["warn"])
    assert ended.exit_code == 0
    assert ended.stderr == ("fishernet: note: fewer\\nparents (option --max-parents)\nfishernet: note: of no option\n")


def test_without_stdout_a_file_is_asked_for(model: Path) -> None:
    script = 'exec "$@" >&-'
    ended = subprocess.run(
        ["/bin/sh", "-c", script, "sh", *COMMAND, "sample", str(model), "-n", "3"],
        stderr=subprocess.PIPE,
        encoding="utf-8",
        check=False,
        env=ENVIRONMENT,
    )
    assert ended.returncode == 1
    assert ended.stderr == "fishernet: there is no standard output to write to; name a file with -o\n"


def test_version() -> None:
    told = f"fishernet {importlib.metadata.version('fishernet')}\n"
    assert good("--version").out == told
    of_module = [sys.executable, "-m", "fishernet", "--version"]
    assert subprocess.run(of_module, capture_output=True, encoding="utf-8", check=True).stdout == told


SOME = fn.Table.from_codes([[0, 0], [0, 1]], [fn.Variable("a", ["x"]), fn.Variable("b", ["x", "y"])])
NEVER = fn.Table.from_codes([[0, 0]], [fn.Variable("b", ["x", "y"]), fn.Variable("c", ["x", "y"])])
MANY = "a\n" + "".join(f"{i}\n" for i in range(300))


def refusals(folder: Path) -> Iterator[fn.FishernetError]:
    """Yield the library's real errors about arguments that the command line has options for."""
    schema = [fn.Variable("a", ["x"]), fn.Variable("b", ["y"])]
    numbers = np.random.default_rng(1).normal(size=(50, 3))
    reading: list[tuple[str, dict[str, Any]]] = [
        ("a,b\nx,\nx,y\n", {"missing": "error"}),
        ("a,b\nx,\nx,y\n", {"schema": schema, "missing": "state"}),
        (MANY, {}),
        ("a\nx\n", {"weights": "w"}),
        ("a\nx\n", {"bins": {"w": 3}}),
        ("a\nx\n", {"columns": ["w"]}),
        ("a\nx\n", {"binning": "nope"}),
    ]
    for text, options in reading:
        with pytest.raises(fn.FishernetError) as caught:
            require_categorical(fn.read_table(written(folder / "t.csv", text), **options).variables, "a search")
        yield caught.value
    learning: list[dict[str, Any]] = [
        *({"smoothing": value} for value in (-1, "some")),
        *({"ess": -1}, {"ess": 1, "smoothing": "snml"}, {"score": "nope"}, {"search": "nope"}),
        *({name: -1} for name in ("max_parents", "max_cells", "max_seconds", "seed", "restarts")),
        *({"perturb": 2, "search": "hill-climb"}, {"tenure": 2}, {"max_memory": 2}, {"candidates": 0}),
    ]
    for options in learning:
        with pytest.raises(fn.FishernetError) as caught:
            fn.learn.bayesian_network(SOME, **options)
        yield caught.value
    with pytest.raises(fn.FishernetError) as caught:
        fn.learn.parameters(fn.Dag.from_edges(["b", "c"], [("b", "c")]), NEVER, smoothing=0)
    yield caught.value
    with pytest.raises(fn.FishernetError) as caught:
        fn.learn.dependency_network(SOME, max_inputs=-1)
    yield caught.value
    tests: list[dict[str, Any]] = [{"test": "t"}, {"rule": "r"}, {"alpha": 2}, {"scheme": "s"}]
    for options in [*tests, {"permutations": 0}, {"k": 0}]:
        with pytest.raises(fn.FishernetError) as caught:
            fn.learn.markov_graph(numbers, **options)
        yield caught.value


def test_an_error_about_an_argument_ends_with_the_option_that_sets_it_and_speaks_no_python(tmp_path: Path) -> None:
    python = re.compile(r"""[a-z_]=["'\d{]|smoothing >|\bschema\b|\bna_values\b""")
    for error in refusals(tmp_path):
        assert error.parameter is not None, error
        said = with_option(error, learn)
        option = f"--{error.parameter.replace('_', '-')}"
        ends = f"; type {option} " if error.remedies else f" (option {option}"
        assert said.startswith(f"{error.fact}{ends}"), said
        assert python.search(said) is None, error


def test_a_message_of_no_option_stays_as_it_is() -> None:
    text = "column 'a', row 3: the label 'x=y' is not among the states 'max_parents', 'b'"
    for parameter, command in ((None, learn), ("schema", learn), ("k", None)):
        assert with_option(fn.FishernetError(text, parameter=parameter), command) == text


def test_choices_are_named() -> None:
    cells, k = fn.FishernetError("cells", parameter="missing"), fn.FishernetError("k", parameter="k")
    assert with_option(cells, learn) == "cells (option --missing: keep, drop, state, error, em, node-average)"
    assert with_option(k, select) == "k (option -k)"


def test_remedies_are_keywords_in_python_and_options_on_the_command_line() -> None:
    ways = [
        Remedy({"missing": "keep"}, "sum them out"),
        Remedy({"missing": "drop"}, "leave out rows"),
        Remedy({"categorical": ["a b", "c,d"]}, "keep them"),
        Remedy({"thousands": ".", "decimal": ","}, "read them"),
    ]
    error = fn.FishernetError("wrong", parameter="missing", remedies=ways)
    assert str(error) == (
        "wrong; pass missing='keep' to sum them out, missing='drop' to leave out rows, "
        "categorical=['a b', 'c,d'] to keep them, or thousands='.' with decimal=',' to read them"
    )
    assert with_option(error, impute) == ("wrong; type --thousands . --decimal , to read them"), (
        "impute has no --missing"
    )
    assert with_option(error, select).startswith("wrong; type --missing keep to sum them out, --missing drop")
    assert with_option(error, click.Command("none")) == "wrong"
    assert pickle.loads(pickle.dumps(error)).remedies == error.remedies


@given(text=st.text())
def test_one_line_is_one_line(text: str) -> None:
    line = on_one_line(text)
    assert line.isprintable() or not line
    assert len(line.splitlines()) <= 1


def test_plain_text_stays() -> None:
    assert on_one_line("Größe 'x' \U0001f600") == "Größe 'x' \U0001f600"
    assert on_one_line("a\nb\x1b[31m") == "a\\nb\\x1b[31m"


# ------------------------------------------------------------------------------------------------ while it works


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_is_shown_when_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = io.StringIO()
    monkeypatch.setattr("sys.stderr", stderr)
    with progress_bar() as progress:
        progress("learning", 3, 10)
    assert stderr.getvalue() == ""
    monkeypatch.setattr("sys.stderr", None)
    with progress_bar() as progress:
        progress("learning", 3, 10)


def test_a_terminal_sees_what_is_done_and_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stderr = Terminal()
    monkeypatch.setattr("sys.stderr", stderr)
    with progress_bar() as progress:
        progress("reading [bold]", 0, None)
        progress("learning [bold]", 3, 10)
    assert "learning [bold]" in stderr.getvalue()
    assert "3/10" in stderr.getvalue()
    assert stderr.getvalue().endswith("\x1b[2K")  # the line is wiped


def test_the_bar_is_wiped_when_the_work_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stderr = Terminal()
    monkeypatch.setattr("sys.stderr", stderr)
    with pytest.raises(KeyboardInterrupt), progress_bar() as progress:
        progress("learning", 3, None)
        raise KeyboardInterrupt
    assert stderr.getvalue().endswith("\x1b[2K")


def test_parts_are_measured_in_their_order_also_when_they_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("fishernet.cli.terminal.time.perf_counter", lambda: now[0])
    watch = Stopwatch()
    with watch.time("second"):
        now[0] += 2.0
    with pytest.raises(ValueError, match="x"), watch.time("first"):
        now[0] += 0.5
        raise ValueError("x")
    assert list(watch.seconds.items()) == [("second", 2.0), ("first", 0.5)]


class Screen(io.BytesIO):
    """A standard output that says whether it is a terminal."""

    def __init__(self, seen: bool) -> None:
        super().__init__()
        self._seen = seen

    def isatty(self) -> bool:
        return self._seen


@pytest.mark.parametrize("seen", [True, False])
@pytest.mark.parametrize("command", [["describe"], ["describe", "--json"], ["convert"]])
def test_a_terminal_is_given_nothing_to_obey(
    command: list[str], seen: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names, labels and file names with escape sequences; a pipe gets the bytes of the table as they are."""
    source = tmp_path / "a\x1b[31m.csv"
    source.write_text("a\x1b[2J,b\x9b\n" + "x\x1b]0;t\x07,y\n" * 3 + "z,\x9bw\n", encoding="utf-8")
    more = [str(tmp_path / "b\x1b.parquet")] if command[0] == "convert" else []
    screen = Screen(seen)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(screen, encoding="utf-8", write_through=True))
    with suppress(SystemExit):
        fishernet([command[0], str(source), *more, *command[1:]], standalone_mode=True)
    text = screen.getvalue().decode()
    assert text
    obeyed = {c for c in text if unicodedata.category(c) == "Cc"} - {"\n", "\t"}
    assert not obeyed or not seen


def test_the_option_escapes_formulas(tmp_path: Path) -> None:
    source = written(tmp_path / "a.csv", "a,b\n=1+2,-5\n@x,7\n")
    for more, first in (([], "=1+2"), (["--escape-formulas"], "'=1+2")):
        target = tmp_path / "b.csv"
        good("convert", source, target, *more)
        assert target.read_text(encoding="utf-8").splitlines()[1] == f"{first},-5"
