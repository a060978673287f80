"""The page of terms: fifty words of the library's own pages and docstrings, in order, one sentence each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGE = DOCS / "terms.md"
ENTRY = re.compile(r"^- \*\*(.+?)\*\*: (.+)$", re.MULTILINE)
TERMS = ENTRY.findall(PAGE.read_text(encoding="utf-8"))
LINK = re.compile(r"\]\(([^)#\s]+)(?:#([^)]*))?\)")


def anchors(page: Path) -> set[str]:
    """Return the names by which the headings of a page are linked to."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.fixture(scope="module")
def prose() -> str:
    """The other pages, and every file of the package, whose docstrings and messages are in it."""
    pages = [path for path in DOCS.glob("*.md") if path != PAGE]
    files = [*pages, ROOT / "README.md", *(ROOT / "src").rglob("*.py")]
    return re.sub(r"\s+", " ", " ".join(path.read_text(encoding="utf-8") for path in files)).lower()


def test_there_are_fifty_in_alphabetical_order() -> None:
    words = [word.lower() for word, _ in TERMS]
    assert len(words) == 50
    assert words == sorted(words)


@pytest.mark.parametrize(("word", "sentence"), TERMS, ids=[word for word, _ in TERMS])
def test_each_has_one_sentence(word: str, sentence: str) -> None:
    assert sentence.endswith((".", ".)"))
    assert not re.search(r"[.!?] [A-Z]", sentence)
    assert word.lower() not in sentence.split(";")[0].lower().split()[:3], "a word is not explained by itself"


@pytest.mark.parametrize("word", [word for word, _ in TERMS])
def test_each_is_a_word_of_the_library(word: str, prose: str) -> None:
    """Elsewhere than on this page: a word that nobody uses needs no explanation."""
    assert word.lower().replace("-", " ") in prose.replace("-", " ")


@pytest.mark.parametrize("word", [word for word, _ in TERMS])
def test_its_links_lead_to_a_heading(word: str) -> None:
    for page, anchor in LINK.findall(dict(TERMS)[word]):
        assert (DOCS / page).exists()
        assert not anchor or anchor in anchors(DOCS / page)


@pytest.mark.parametrize("page", ["index.md", "start.md", "command-line.md", "how-it-works.md", "../README.md"])
def test_the_pages_where_people_begin_lead_to_it(page: str) -> None:
    assert "terms.md" in (DOCS / page).read_text(encoding="utf-8")
