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
    text = page.read_text(encoding="utf-8")
    return re.findall(r"^\$ fishernet (.*)\n((?:(?!\$ |```).*\n)*)", text, re.MULTILINE)


def run_commands(page: Path) -> list[str]:
    """Run a page's commands in the working folder, with the table that the first steps make; return their first words.

    AssertionError when one does not print what stands below it; ``...`` stands for anything.
    """
    (table,) = re.findall(r"```py\n(.*?)```", START.read_text(encoding="utf-8"), re.DOTALL)
    exec(table, {})
    for line, expected in commands_shown(page):
        ended = RUNNER.invoke(fishernet, shlex.split(line))
        assert ended.exit_code == 0, ended.stderr
        assert doctest.OutputChecker().check_output(expected, ended.stdout, doctest.ELLIPSIS), ended.stdout
    return [line.split()[0] for line, _ in commands_shown(page)]
