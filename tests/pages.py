"""Pages whose examples are run."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path


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
