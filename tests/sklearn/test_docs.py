"""What docs/scikit-learn.md lists; its examples are run by tests/test_pages.py."""

from __future__ import annotations

from pathlib import Path

import fishernet.sklearn

PAGE = Path(__file__).parents[2] / "docs" / "scikit-learn.md"


def test_the_page_names_every_estimator() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in fishernet.sklearn.__all__:
        assert f"`{name}`" in text
