from __future__ import annotations

import errno
import os
import subprocess
import warnings
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import Result

import fishernet as fn
from fishernet.cli.terminal import Commands, outcome
from tests.cli.running import COMMAND, ENVIRONMENT, RUNNER


def ending(error: BaseException | None, **options: Any) -> Result:
    """Run a command that ends with an error."""

    @click.command()
    @click.option("--k")
    def fail(k: str | None) -> None:
        click.echo("before")
        if error is not None:
            raise error

    return RUNNER.invoke(Commands("group", commands=[fail]), ["fail"], **options)


INTERRUPT = KeyboardInterrupt()
INTERRUPT.best = fn.Dag.from_edges(["a", "b"], [("a", "b")])  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (fn.FishernetError("what\nis wrong"), 1, "what\\nis wrong"),
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
            "interrupted while learning, with 1 arcs so far; nothing was written "
            "(--max-seconds stops in time and keeps the best)",
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


# ------------------------------------------------------------------------------- as processes, with real pipes


@pytest.mark.parametrize("command", ["sample", "score"])
def test_head_is_silent(command: str, model: Path, csv: Path) -> None:
    words = ["-n", "300000"] if command == "sample" else [str(csv), "--rows"]
    if command == "score":
        csv.write_text(csv.read_text(encoding="utf-8") + "old,yes,no\n" * 20000, encoding="utf-8")
    with subprocess.Popen(
        [*COMMAND, command, str(model), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(60) == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a Linux device")
@pytest.mark.parametrize(
    "words", [["sample", "MODEL", "-n", "10"], ["demo"], ["--help"], ["learn", "--help"], ["--version"]]
)
def test_a_full_disk_is_one_sentence(words: list[str], model: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [*COMMAND, *(str(model) if word == "MODEL" else word for word in words)],
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=False,
            env=ENVIRONMENT,
        )
    assert (ended.returncode, ended.stderr) == (
        1,
        f"fishernet: reading or writing failed: {os.strerror(errno.ENOSPC)}\n",
    )


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
