"""Pages whose examples are run."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
from pathlib import Path

from fishernet.cli.main import fishernet
from tests.cli.running import RUNNER

START = Path(__file__).parents[1] / "docs" / "start.md"


def run_examples(page: Path) -> int:
    """Run a page's examples one after the other, each with what those before it made; return how many there are.

    AssertionError when one does not print what stands below it, or nothing does.
    """
    text = page.read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL)
    assert len(examples) == text.count("```python\n"), f"an example of {page.name} lacks what it prints"
    names: dict[str, object] = {}
    for code, output in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        assert printed.getvalue() == output
    return len(examples)


def commands_shown(page: Path) -> list[tuple[str, str]]:
    """Return the commands that a page types after a dollar sign, and what it says that they print."""
    return _commands_of(page.read_text(encoding="utf-8"))


def _commands_of(text: str) -> list[tuple[str, str]]:
    return re.findall(r"^\$ fishernet (.*)\n((?:(?!\$ |```).*\n)*)", text, re.MULTILINE)


def run_commands(page: Path) -> list[str]:
    """Run a page's commands in the working folder, with the table that the first steps make; return their first words.

    AssertionError when one does not print what stands below it; ``...`` stands for anything.
    """
    (table,) = re.findall(r"```py\n(.*?)```", START.read_text(encoding="utf-8"), re.DOTALL)
    exec(table, {})
    return _run(commands_shown(page))


def _run(commands: list[tuple[str, str]]) -> list[str]:
    for line, expected in commands:
        ended = RUNNER.invoke(fishernet, shlex.split(line))
        assert ended.exit_code == 0, ended.stderr
        assert doctest.OutputChecker().check_output(expected, ended.stdout, doctest.ELLIPSIS), ended.stdout
    return [line.split()[0] for line, _ in commands]


def run_tutorial(page: Path) -> list[str]:
    """Run all of a page in its order in the working folder: its programs, commands and examples; return the commands.

    AssertionError when something does not print what the page says.
    """
    blocks = r"```(py|console|python)\n(.*?)```(?:\n\n```\n(.*?)```)?"
    names: dict[str, object] = {}
    found = []
    for kind, text, output in re.findall(blocks, page.read_text(encoding="utf-8"), re.DOTALL):
        if kind == "console":
            found += _run(_commands_of(text))
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(text, names)
        assert printed.getvalue() == output
    return found
