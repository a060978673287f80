"""The site's own parts: a page for every public name, links that are followed, a picture that can be made again."""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import pkgutil
import re
import runpy
import sys
from pathlib import Path

import pytest

import fishernet as fn

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GALLERY = sorted((DOCS / "gallery").glob("plot_*.py"))
sys.path.insert(0, str(DOCS / "_ext"))
reference, outside, site_links = (importlib.import_module(name) for name in ("reference", "outside", "site_links"))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reference")
    reference.write(folder)
    return folder


def test_every_public_name_has_a_page_and_a_place_in_its_module(pages: Path) -> None:
    packages = {info.name for info in pkgutil.iter_modules(fn.__path__) if info.ispkg} - {"base", "cli"}
    for name in ("fishernet", *(f"fishernet.{package}" for package in sorted(packages))):
        module = importlib.import_module(name)
        text = (pages / f"module-{name}.rst").read_text(encoding="utf-8")
        for public in module.__all__:
            if inspect.ismodule(getattr(module, public)):
                continue
            (page,) = re.findall(rf":doc:`{public} <([\w.]+)>`", text)
            described = (pages / f"{page}.rst").read_text(encoding="utf-8")
            assert f" {page.rpartition('.')[2]}\n" in described
            assert page == f"{name}.{public}" or f"``{name}.{public}``" in described
            home, _, own = page.rpartition(".")
            assert getattr(importlib.import_module(home), own) is getattr(module, public)


def test_every_page_has_an_example_or_says_where_there_is_one(pages: Path) -> None:
    names = {path.stem for path in pages.glob("fishernet.*.rst")}
    for entry in reference.entries():
        text = (pages / f"{entry.page}.rst").read_text(encoding="utf-8")
        if reference.has_example(entry.value):
            continue
        seen = re.findall(r":doc:`[\w.]+ <([\w.]+)>`", text)
        assert seen, entry.page
        assert set(seen) <= names


def test_what_is_no_longer_public_has_no_page(pages: Path) -> None:
    (pages / "fishernet.gone.rst").write_text("gone")
    kept = pages / "index.rst"
    before = kept.stat().st_mtime_ns
    reference.write(pages)
    assert not (pages / "fishernet.gone.rst").exists()
    assert kept.stat().st_mtime_ns == before


def test_links_to_files_of_the_repository_lead_to_their_pages() -> None:
    text = "[a](../benchmarks/RESULTS.md) [b](studies/qnml.md#x) [c](../tests/pages.py) [d](https://e.org) ![f](x.svg)"
    assert outside.rewritten(text, "docs") == (
        "[a](/benchmarks.md) [b](/studies/qnml.md#x) c [d](https://e.org) ![f](x.svg)"
    )
    with pytest.raises(ValueError, match="nowhere.md"):
        outside.rewritten("[a](../nowhere.md)", "docs")


def test_links_of_a_site_are_followed(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="b.html#here">x</a><a href="b.html#there">x</a><a href="c.html">x</a>')
    (tmp_path / "b.html").write_text(
        '<p id="here"><a href="a.html">x</a><a href="https://e.org/x">x</a><img src="d.png">'
    )
    assert site_links.broken(tmp_path) == [
        "a.html: b.html#there has no such place",
        "a.html: c.html is not there",
        "b.html: d.png is not there",
    ]


def test_every_page_is_in_a_table_of_contents() -> None:
    """Those of the front lead to all others."""
    listed, todo = set(), ["index"]
    while todo:
        page = todo.pop()
        path = DOCS / f"{page}.md"
        if page in listed or not path.exists():
            continue
        listed.add(page)
        for block in re.findall(r"```\{toctree\}(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
            names = re.findall(r"^(?:.* <)?([\w/*-]+)>?$", block, re.MULTILINE)
            todo += [f"{page.rpartition('/')[0]}/{name}".strip("/") for name in names]
    assert {path.stem for path in DOCS.glob("*.md")} <= listed


def test_the_gallery_is_large_and_each_example_is_short() -> None:
    assert len(GALLERY) >= 20
    for path in GALLERY:
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 70
        assert re.match(r'"""\n(.+)\n=+\n', text), path.name
        assert "plt." in text or "fn.plot." in text


@pytest.mark.slow
@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_examples_of_the_gallery_run(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pytest.importorskip("sklearn")
    pyplot.switch_backend("Agg")
    monkeypatch.setattr(sys, "argv", [str(path)])
    with pyplot.rc_context():
        runpy.run_path(str(path))
        assert pyplot.get_fignums()
        pyplot.close("all")


def words(picture: Path) -> set[str]:
    return set(re.findall(r"<text [^>]*>([^<]+)</text>", picture.read_text(encoding="utf-8")))


def test_the_picture_of_the_front_page_can_be_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says the same; where the lines lie may depend on matplotlib's version."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    monkeypatch.setattr(sys, "argv", ["plot_01_four_verbs.py", str(tmp_path / "again.svg")])
    with pyplot.rc_context():
        runpy.run_path(str(GALLERY[0]))
        pyplot.close("all")
    found = words(tmp_path / "again.svg")
    assert found == words(DOCS / "_static" / "four-verbs.svg")
    assert {"has_nurs", "spec_prior", "changed"} <= found


def test_times_of_the_decision_table_are_those_of_the_benchmarks() -> None:
    pages = (ROOT / "benchmarks" / "RESULTS.md", ROOT / "benchmarks" / "runs" / "history.md")
    results = "".join(page.read_text(encoding="utf-8") for page in pages)
    table = (DOCS / "score-and-search.md").read_text(encoding="utf-8").split("## Scores")[0]
    for line in table.splitlines():
        for time in re.findall(r"\b([\d.]+) (?:us|ms|s)\b", line.rsplit("|", 2)[-2] if line[:1] == "|" else ""):
            assert re.search(rf"(?<![\d.]){re.escape(time)}(?![\d.])", results), time


def test_how_to_cite_names_this_version() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {fn.__version__}\n" in text
    assert f"version {fn.__version__}," in (DOCS / "cite.md").read_text(encoding="utf-8")
