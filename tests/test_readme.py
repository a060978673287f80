"""What the README shows is what happens."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
from pathlib import Path

import pytest

from fishernet.cli.main import fishernet
from tests.cli.running import RUNNER

README = Path(__file__).parents[1] / "README.md"


def test_the_examples_print_what_the_readme_says() -> None:
    """One after the other, each with what those before it made."""
    examples = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(examples) == 13
    names: dict[str, object] = {}
    for code, output in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        assert printed.getvalue() == output


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
        r"^fishernet (learn|score|predict|impute|query|select|similar|sample|convert|compare-graphs)( .*?)(?:\s+#.*)?$",
        README.read_text(),
        re.MULTILINE,
    )
    assert len(shown) == 13
    return [command + rest for command, rest in shown]


@pytest.mark.parametrize("line", commands())
def test_the_commands_exist_with_these_options(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They stop at the files, which are not there, and not at an option."""
    monkeypatch.chdir(tmp_path)
    result = RUNNER.invoke(fishernet, shlex.split(line))
    assert result.exit_code == 1, result.stderr
    assert "no such file" in result.stderr
