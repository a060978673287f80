"""What the pages of the documentation show is what happens."""

from __future__ import annotations

import re
import shlex
import warnings
from pathlib import Path

import click
import pytest

from fishernet.cli.main import fishernet
from tests.cli.running import RUNNER
from tests.pages import commands_shown, run_commands, run_examples, run_tutorial

DOCS = Path(__file__).parents[1] / "docs"
TUTORIALS = sorted(DOCS.glob("tutorial-*.md"))  # which make their own tables
OTHERS = [page for page in sorted(DOCS.glob("*.md")) if page not in TUTORIALS]
EXAMPLES = {page: page.read_text(encoding="utf-8").count("```python\n") for page in OTHERS}
SLOW = {"scikit-learn.md"}
NEEDS = {  # libraries that need not be installed
    "clusters.md": "dask.distributed",
    "coming-from-hmmlearn.md": "hmmlearn",
    "coming-from-pgmpy.md": "pgmpy",
    "coming-from-pyagrum.md": "pyagrum",
}


def test_pages_have_examples() -> None:
    names = {page.name for page, n in EXAMPLES.items() if n}
    assert names >= {"comparing-tables.md", "local-structure.md", "scikit-learn.md"}


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=[pytest.mark.slow] if page.name in SLOW else [])
        for page, n in EXAMPLES.items()
        if n
    ],
)
def test_examples_print_what_the_page_says(page: Path) -> None:
    with warnings.catch_warnings():
        if page.name in NEEDS:
            warnings.simplefilter("ignore")  # of other libraries among themselves
            pytest.importorskip(NEEDS[page.name])
        assert run_examples(page) == EXAMPLES[page]


def test_the_first_steps_show_the_main_commands() -> None:
    shown = [line.split()[0] for line, _ in commands_shown(DOCS / "start.md")]
    assert shown == ["describe", "learn", "query", "query", "predict", "select", "similar", "sample"]


@pytest.mark.parametrize("page", [page for page in OTHERS if commands_shown(page)], ids=lambda p: p.stem)
def test_commands_print_what_the_page_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_commands(page)


@pytest.mark.filterwarnings("ignore:numbers on which labels depend")
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda p: p.stem)
def test_tutorials_go_from_a_file_to_a_decision(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(run_tutorial(page)) >= 4


COMMAND = re.compile(r"^(?: {4})?fishernet (?!learns)([a-z-]+)( .*?)(?:\s+#.*)?$", re.MULTILINE)
COMMANDS = [
    (page.stem, *found) for page in sorted(DOCS.glob("*.md")) for found in COMMAND.findall(page.read_text("utf-8"))
]


def test_the_page_of_commands_has_them_all() -> None:
    listed = fishernet.list_commands(click.Context(fishernet))
    assert {command for page, command, _ in COMMANDS if page == "command-line"} | {"completion", "demo"} >= set(listed)


@pytest.mark.parametrize(("page", "command", "rest"), COMMANDS)
def test_the_commands_exist_with_these_options(
    page: str, command: str, rest: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They stop at the files, which are not there, and not at an option."""
    monkeypatch.chdir(tmp_path)
    result = RUNNER.invoke(fishernet, shlex.split(command + rest))
    assert result.exit_code == 1, result.stderr
    assert re.search("no (such )?file", result.stderr)
