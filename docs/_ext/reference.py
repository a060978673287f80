"""The reference: a page for every public name, written before the site is built and not kept.

A name that several modules have stands on one page, under the shortest of its names; the modules' tables lead there.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import fishernet as fn

NOT_PUBLIC = {"base", "cli"}  # reached through the others, and by the command
ORDER = [
    "data",
    "graphs",
    "scores",
    "learn",
    "models",
    "infer",
    "kernels",
    "select",
    "compare",
    "explain",
    "independence",
]
CITED = re.compile(r" \[\d+\]_")
AT_WORK = {  # where those names of a module are seen at work that no example speaks of
    "fishernet.data": ["fishernet.Table", "fishernet.scan"],
    "fishernet.scores": ["fishernet.score", "fishernet.learn.structure"],
    "fishernet.learn": ["fishernet.learn.structure"],
    "fishernet.models": ["fishernet.BayesianNetwork", "fishernet.learn.parameters"],
    "fishernet.kernels": ["fishernet.kernels.FisherKernel"],
    "fishernet.compare": ["fishernet.compare.two_sample_test", "fishernet.compare.explain_change"],
    "fishernet.independence": ["fishernet.independence.missingness", "fishernet.learn.markov_graph"],
    "fishernet.plot": ["fishernet.plot.graph"],
}
NOT_OURS = [
    (r"py:.*", r"(?!fishernet\b).*"),  # what other libraries have, and words that say a type in English
    (
        r"py:obj",
        r"fishernet\.(data\.(options|digest|encoding\.bins)|independence\.shares|learn\.order|base\.progress\.(Resumable|Interrupted))",
    ),  # not public
    (r"py:obj", r"fishernet\.learn\.(hill_climb\.among_candidates|structures\.SEARCHES)"),
]


@dataclass(frozen=True)
class Entry:
    """A public name: where it is, what it is of, and the page that has it."""

    module: str
    name: str
    value: Any
    page: str  # the full name under which it is described

    @property
    def summary(self) -> str:
        """The first sentence of its docstring."""
        if isinstance(self.value, dict):
            return "A table: " + ", ".join(f"``{key!r}``" for key in self.value) + "."
        return first_sentence(self.value)


def first_sentence(value: Any) -> str:
    """Return the first paragraph of a docstring on one line."""
    return CITED.sub("", " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split()))


def modules() -> list[ModuleType]:
    """Return the public modules, the package itself first."""
    names = [info.name for info in pkgutil.iter_modules(fn.__path__) if info.ispkg and info.name not in NOT_PUBLIC]
    names.sort(key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
    return [fn, *(importlib.import_module(f"fishernet.{name}") for name in names)]


def entries() -> list[Entry]:
    """Return all public names of all public modules that are no modules themselves, in the modules' order."""
    found: list[Entry] = []
    pages: dict[int, str] = {}
    for module in modules():
        for name in module.__all__:
            value = getattr(module, name)
            if not inspect.ismodule(value):
                page = pages.setdefault(id(value), f"{module.__name__}.{name}")
                found.append(Entry(module.__name__, name, value, page))
    return found


def has_example(value: Any) -> bool:
    """Return whether a docstring, or that of a public method of a class, shows how it is used."""
    if ">>>" in (inspect.getdoc(value) or ""):
        return True
    names = dir(value) if inspect.isclass(value) else []
    return any(">>>" in (inspect.getdoc(getattr(value, name)) or "") for name in names if not name.startswith("_"))


def speaking(every: list[Entry]) -> list[tuple[Entry, str]]:
    """Return the names that have an example, with their docstrings."""
    return [(entry, inspect.getdoc(entry.value) or "") for entry in every if has_example(entry.value)]


def at_work(entry: Entry, every: list[tuple[Entry, str]]) -> list[str]:
    """Return the pages that speak of a name and have an example, those of its own module first; at most four."""
    name = re.compile(rf"\b{re.escape(entry.name)}\b")
    found = [other for other, doc in every if name.search(doc)]
    found.sort(key=lambda other: other.module != entry.module)
    pages = [page for page in dict.fromkeys(other.page for other in found) if page != entry.page][:4]
    return pages or AT_WORK.get(entry.module, [])


def title(text: str) -> str:
    """Return a heading."""
    return f"{text}\n{'=' * len(text)}\n"


def page_of(entry: Entry, every: list[Entry], examples: list[tuple[Entry, str]]) -> str:
    """Return the page of a name: its other names, what its docstring says, and where else there is an example."""
    names = [f"{other.module}.{other.name}" for other in every if other.page == entry.page]
    others = [name for name in names if name != entry.page]
    module, _, name = entry.page.rpartition(".")
    kind = "class" if inspect.isclass(entry.value) else "function" if inspect.isroutine(entry.value) else "data"
    lines = [title(entry.page), f".. currentmodule:: {module}\n"]
    if others:
        lines.append("The same as " + " and ".join(f"``{other}``" for other in others) + ".\n")
    lines.append(f".. auto{kind}:: {name}")
    if kind == "class":
        lines += ["   :members:", "   :inherited-members: " + ", ".join(outer_bases(entry.value))]
        lines += ["   :exclude-members: " + ", ".join(routing(entry.value))] if routing(entry.value) else []
    if kind == "data":
        lines += ["   :no-value:", "", "   " + entry.summary]
    if not has_example(entry.value) and (pages := at_work(entry, examples)):
        seen = ", ".join(f":doc:`{page} <{page}>`" for page in pages)
        lines += ["", f".. admonition:: Examples\n\n   It is seen at work on the pages of {seen}."]
    return "\n".join(lines) + "\n"


def outer_bases(value: type) -> list[str]:
    """Return the names of a class's bases that are of other libraries: their members are described there."""
    names = [base.__name__ for base in value.__mro__ if not base.__module__.startswith("fishernet")]
    return sorted({*names, "object"})


def routing(value: type) -> list[str]:
    """Return the methods that scikit-learn writes into its estimators."""
    return [name for name in dir(value) if re.fullmatch(r"set_\w+_request|get_metadata_routing", name)]


def module_page(module: ModuleType, of_module: list[Entry]) -> str:
    """Return the page of a module: what it is for, and a table of its names."""
    about = inspect.getdoc(module) or ""
    # a function may have the same full name, as fn.report has: its page is the one that is linked to
    shared = not inspect.ismodule(getattr(fn, module.__name__.rpartition(".")[2], fn))
    lines = [title(module.__name__), f".. module:: {module.__name__}", "   :no-index:\n" if shared else "", about, ""]
    lines += [".. list-table::", "   :widths: 30 70", "   :class: names", ""]
    for entry in of_module:
        lines += [f"   * - :doc:`{entry.name} <{entry.page}>`", f"     - {entry.summary}"]
    own = sorted({entry.page for entry in of_module if entry.page.rpartition(".")[0] == module.__name__})
    return "\n".join([*lines, "", *toctree(own, hidden=True)]) + "\n"


def toctree(pages: list[str], *, hidden: bool) -> list[str]:
    """Return a table of contents of pages."""
    options = ["   :maxdepth: 1", *(["   :hidden:"] if hidden else [])]
    return [".. toctree::", *options, "", *(f"   {page}" for page in pages)] if pages else []


def index_page(listed: list[ModuleType]) -> str:
    """Return the front of the reference."""
    lines = [
        title("Reference"),
        "Every public name, on a page of its own. Names are found through ``import fishernet as fn``;",
        "``fishernet.sklearn`` has to be imported on its own, since it needs scikit-learn.",
        ":doc:`/terms` explains the words of docstrings and messages.\n",
        ".. list-table::",
        "   :widths: 30 70",
        "   :class: names",
        "",
    ]
    for module in listed:
        lines += [f"   * - :doc:`{module.__name__} <{module_file(module)}>`", f"     - {first_sentence(module)}"]
    return "\n".join([*lines, "", *toctree([module_file(module) for module in listed], hidden=True)]) + "\n"


def module_file(module: ModuleType) -> str:
    """Return the name of a module's page."""
    return f"module-{module.__name__}"


def write(folder: Path) -> None:
    """Write the reference into a folder, which then has nothing else; pages that did not change are left alone."""
    texts = {"index": index_page(modules())}
    every = entries()
    examples = speaking(every)
    for module in modules():
        texts[module_file(module)] = module_page(module, [entry for entry in every if entry.module == module.__name__])
    for entry in every:
        texts[entry.page] = page_of(entry, every, examples)
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        if path.stem not in texts and path.suffix == ".rst":
            path.unlink()
        elif path.is_dir():
            shutil.rmtree(path)
    for name, text in texts.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
