"""What the README shows is what happens."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from fishernet.cli.main import fishernet
from tests.cli.running import RUNNER
from tests.pages import run_examples

README = Path(__file__).parents[1] / "README.md"


def test_the_examples_print_what_the_readme_says() -> None:
    assert run_examples(README) == 13


def test_the_quick_start_prints_what_the_readme_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the table that it makes to rows drawn from the model; ``...`` stands for anything."""
    monkeypatch.chdir(tmp_path)
    text = README.read_text()
    (table,) = re.findall(r"```py\n(.*?)```", text, re.DOTALL)
    exec(table, {})
    shown = re.findall(r"^\$ fishernet (.*)\n((?:(?!\$ |```).*\n)*)", text, re.MULTILINE)
    assert [line.split()[0] for line, _ in shown] == [
        "describe", "learn", "query", "predict", "select", "similar", "sample", "learn", "impute"
    ]  # fmt: skip
    for line, expected in shown:
        ended = RUNNER.invoke(fishernet, shlex.split(line))
        assert ended.exit_code == 0, ended.stderr
        assert doctest.OutputChecker().check_output(expected, ended.stdout, doctest.ELLIPSIS), ended.stdout


def commands() -> list[str]:
    shown = re.findall(
        r"^fishernet (?!learns)([a-z-]+)( .*?)(?:\s+#.*)?$",
        README.read_text(),
        re.MULTILINE,
    )
    assert len(shown) == 18
    return [command + rest for command, rest in shown]


@pytest.mark.parametrize("line", commands())
def test_the_commands_exist_with_these_options(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They stop at the files, which are not there, and not at an option."""
    monkeypatch.chdir(tmp_path)
    result = RUNNER.invoke(fishernet, shlex.split(line))
    assert result.exit_code == 1, result.stderr
    assert "no such file" in result.stderr
