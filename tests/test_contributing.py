"""What CONTRIBUTING.md and README.md say of the tree is true of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import fishernet as fn
from fishernet.scores import SCORES

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PLACES = sorted({word for word in re.findall(r"`([^`\s]+)`", TEXT) if "/" in word or word.endswith((".md", ".txt"))})


@pytest.mark.parametrize("place", PLACES)
def test_a_place_that_is_named_is_there(place: str) -> None:
    """`mine` stands for what is to be written; its folder must be there, with files of the same ending beside it."""
    path = ROOT / place if (ROOT / place.split("/")[0]).exists() else ROOT / "src" / "fishernet" / place
    if path.stem == "mine":
        assert [other for other in path.parent.glob(f"*{path.suffix}") if other.stem != "__init__"]
    else:
        assert path.exists()


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("SCORES", "src/fishernet/scores/named.py"),
        ("SEARCHES", "src/fishernet/learn/structures.py"),
        ("CONDITIONALS", "src/fishernet/models/conditionals/__init__.py"),
        ("METRICS", "src/fishernet/kernels/fisher/kernel.py"),
        ("BUILDERS", "src/fishernet/kernels/fisher/kernel.py"),
        ("KINDS", "src/fishernet/files/model_file.py"),
        ("CASES", "tests/contracts/test_searches.py"),
    ],
)
def test_a_table_that_is_named_is_where_it_is_said_to_be(name: str, file: str) -> None:
    assert f"`{name}`" in TEXT
    assert re.search(rf"^{name}\b.* = ", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)


def test_searches_live_where_a_new_one_is_to_go() -> None:
    folder = re.search(r"Write `(src/fishernet/learn\S*)/mine.py`", TEXT)
    assert folder
    assert (ROOT / folder[1] / "order.py").exists()


def test_every_score_has_a_definition_to_be_held_against() -> None:
    reference = (ROOT / "tests" / "reference" / "scoring.py").read_text(encoding="utf-8")
    assert [name for name in SCORES if f'"{name}"' not in reference and name != "mdl"] == []


def test_the_readme_promises_no_more_than_the_studies_found() -> None:
    """A dependency network is slower to learn than a Bayesian network here, and FMPL has a prior."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "faster still" not in readme
    assert "without anything to tune" not in readme
    assert "prior" in str(fn.learn.gaussian_graph.__doc__)
