"""Every file and table that the page on the architecture names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`([\w/]+\.(?:py|js|cpp|hpp)|[\w/]+/)`", TEXT)
FILES = sorted({name for name in NAMED if "/" in name})
LAYERS = re.findall(r"^imports +(.*?)\n +\(", TEXT, re.MULTILINE | re.DOTALL)


def test_the_page_names_many_files() -> None:
    assert len(FILES) > 100


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_named_is_there(name: str) -> None:
    """In the package, in the core, or from the root of the repository."""
    assert any((folder / name).exists() for folder in (ROOT / "src" / "fishernet", ROOT / "core", ROOT))


@pytest.mark.parametrize("name", sorted({name for name in NAMED if "/" not in name}))
def test_a_file_of_a_folder_that_was_named_before_is_there(name: str) -> None:
    assert list((ROOT / "core").glob(f"*/{name}"))


def test_all_parts_of_the_package_are_in_the_picture() -> None:
    (line,) = LAYERS
    parts = {path.name for path in (ROOT / "src" / "fishernet").iterdir() if (path / "__init__.py").exists()}
    assert parts | {"_core"} == set(re.findall(r"\w+", line))


def test_all_sources_of_the_core_are_in_its_table() -> None:
    sources = {path.name for path in (ROOT / "core").glob("*/*.cpp") if path.parent.name not in {"bind", "test"}}
    assert sources <= {name.rpartition("/")[2] for name in NAMED}
