"""What the README shows is what happens, and it leads to every page."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from fishernet.cli.main import fishernet
from tests.cli.running import RUNNER
from tests.pages import run_examples

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def test_the_examples_print_what_the_readme_says() -> None:
    assert run_examples(README) == 1


def test_it_is_short_and_begins_with_a_picture() -> None:
    assert len(TEXT.splitlines()) < 150
    assert "![" in "\n".join(TEXT.splitlines()[:8])


def test_every_link_leads_to_a_file() -> None:
    assert [link for link in LINK.findall(TEXT) if ":" not in link and not (ROOT / link).exists()] == []


def test_every_page_is_two_links_from_the_first_screen() -> None:
    """The first screen ends where installing begins."""
    first = {ROOT / link for link in LINK.findall(TEXT.split("## Install")[0]) if link.endswith(".md")}
    second = {page.parent / link for page in first for link in LINK.findall(page.read_text(encoding="utf-8"))}
    reached = {path.resolve() for path in first | second}
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"jobs", "more", "changelog", "contributing", "data"}
    assert {stem for stem in pages if (ROOT / "docs" / f"{stem}.md").resolve() not in reached} == set()


def commands() -> list[str]:
    shown = re.findall(
        r"^fishernet (?!learns)([a-z-]+)( .*?)(?:\s+#.*)?$",
        TEXT,
        re.MULTILINE,
    )
    assert len(shown) == 6
    return [command + rest for command, rest in shown]


@pytest.mark.parametrize("line", commands())
def test_the_commands_exist_with_these_options(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They stop at the files, which are not there, and not at an option."""
    monkeypatch.chdir(tmp_path)
    result = RUNNER.invoke(fishernet, shlex.split(line))
    assert result.exit_code == 1, result.stderr
    assert "no such file" in result.stderr
