"""What the pages of the documentation show is what happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages import run_examples

DOCS = Path(__file__).parents[1] / "docs"
EXAMPLES = {page: page.read_text(encoding="utf-8").count("```python\n") for page in sorted(DOCS.glob("*.md"))}
SLOW = {"scikit-learn.md"}
NEEDS = {"clusters.md": "dask.distributed"}  # libraries that need not be installed


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
    if page.name in NEEDS:
        pytest.importorskip(NEEDS[page.name])
    assert run_examples(page) == EXAMPLES[page]
