"""What docs/scikit-learn.md shows is what happens."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

import fishernet.sklearn

PAGE = Path(__file__).parents[2] / "docs" / "scikit-learn.md"


@pytest.mark.slow
def test_the_examples_print_what_the_page_says() -> None:
    """One after the other, each with what those before it made."""
    examples = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) == 6
    names: dict[str, object] = {}
    for code, output in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        assert printed.getvalue() == output


def test_the_page_names_every_estimator() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in fishernet.sklearn.__all__:
        assert f"`{name}`" in text
