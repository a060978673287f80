"""What the README shows is what happens."""

from __future__ import annotations

import contextlib
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
    assert len(examples) == 8
    names: dict[str, object] = {}
    for code, output in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        assert printed.getvalue() == output


def commands() -> list[str]:
    shown = re.findall(
        r"^fishernet (learn|score|predict|query|select|similar|sample|convert|compare-graphs)( .*?)(?:\s+#.*)?$",
        README.read_text(),
        re.MULTILINE,
    )
    assert len(shown) == 12
    return [command + rest for command, rest in shown]


@pytest.mark.parametrize("line", commands())
def test_the_commands_exist_with_these_options(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They stop at the files, which are not there, and not at an option."""
    monkeypatch.chdir(tmp_path)
    result = RUNNER.invoke(fishernet, shlex.split(line))
    assert result.exit_code == 1, result.stderr
    assert "no such file" in result.stderr
