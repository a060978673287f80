"""Links of pages to files of the repository: to the page that has them, or none where no page does.

The pages are read on their own too, in a folder of the repository, where ``../benchmarks/RESULTS.md`` is right.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGES = {
    "README.md": "/index.md",
    "CHANGELOG.md": "/changelog.md",
    "CONTRIBUTING.md": "/contributing.md",
    "benchmarks/RESULTS.md": "/benchmarks.md",
    "src/fishernet/datasets/ATTRIBUTION.md": "/data.md",
}
INCLUDED = {page.strip("/").removesuffix(".md"): file for file, page in PAGES.items() if file != "README.md"}
LINK = re.compile(r"(?<!!)\[([^\[\]]+)\]\((?!https?:|mailto:|#|/)([^)#\s]+)(#[^)\s]*)?\)")


def rewritten(text: str, folder: str) -> str:
    """Return a page's text with its links to files outside ``docs`` mended.

    Parameters
    ----------
    text : str
    folder : str
        Where the page lies, from the root of the repository: ``docs/studies``.

    Raises
    ------
    ValueError
        When a link names a file that is not there.
    """

    def mend(match: re.Match[str]) -> str:
        words, target, anchor = match[1], match[2], match[3] or ""
        place = posixpath.normpath(posixpath.join(folder, target))
        if place.startswith("docs/") and place.endswith(".md"):
            return f"[{words}](/{place.removeprefix('docs/')}{anchor})"
        if place in PAGES:
            return f"[{words}]({PAGES[place]})"
        if place.startswith("docs/"):
            return match[0]
        if not (ROOT / place).exists():
            raise ValueError(f"a page in {folder} links to {target}, which is not there")
        return words

    return LINK.sub(mend, text)


def _read(_app: Any, name: str, content: list[str]) -> None:
    if not name.startswith(("reference/", "auto_gallery/")):
        if name in INCLUDED:
            content[0] = rewritten(
                (ROOT / INCLUDED[name]).read_text(encoding="utf-8"), posixpath.dirname(INCLUDED[name])
            )
        else:
            content[0] = rewritten(content[0], posixpath.dirname(f"docs/{name}"))


def setup(app: Any) -> None:
    """Have every page mended as it is read; pages that are another file are filled with it."""
    app.connect("source-read", _read)
