"""The public names: complete, true and documented."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import inspect
import pkgutil
import subprocess
import sys
from types import ModuleType

import pytest

import fishernet as fn
from fishernet import _core

PACKAGES = [
    importlib.import_module(f"fishernet.{info.name}")
    for info in pkgutil.iter_modules(fn.__path__)
    if info.ispkg and info.name != "base"  # whose names are reached through the modules
]
MODULES = [fn, *PACKAGES]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_all_is_sorted_complete_and_true(module: ModuleType) -> None:
    names = list(module.__all__)
    assert names == sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    for name in names:
        assert hasattr(module, name)
    public = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and not (inspect.ismodule(value) and module is not fn) and name != "annotations"
    }
    submodules = {info.name for info in pkgutil.iter_modules(module.__path__)}
    assert public - submodules <= set(names), sorted(public - submodules - set(names))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_everything_public_is_documented(module: ModuleType) -> None:
    assert module.__doc__
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), f"{module.__name__}.{name} has no docstring"


def test_the_stub_of_the_core_names_what_is_there() -> None:
    text = (importlib.resources.files("fishernet") / "_core.pyi").read_text(encoding="utf-8")
    for name in dir(_core):
        if not name.startswith("_"):
            assert f"class {name}:" in text or f"def {name}(" in text or f"{name}: " in text, name
            value = getattr(_core, name)
            for method in vars(value) if inspect.isclass(value) else ():
                if not method.startswith("_"):
                    assert f"    def {method}(" in text, f"{name}.{method}"


def test_importing_loads_only_what_computing_needs() -> None:
    script = (
        "import sys, fishernet\n"
        "heavy = {'matplotlib', 'pandas', 'polars', 'sklearn', 'dask', 'click', 'rich', 'networkx', 'pytest'}\n"
        "heavy |= {'scipy.special', 'scipy.sparse', 'asyncio', 'ssl'}\n"
        "light = {'pyarrow', 'fishernet.learn', 'fishernet.data'} & set(sys.modules)\n"
        "fishernet.learn, fishernet.plot, fishernet.report\n"
        "print(sorted(light | heavy & set(sys.modules)))\n"
    )
    run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "[]"


def test_what_is_imported_later_is_what_type_checkers_see() -> None:
    tree = ast.parse(inspect.getsource(fn))
    (checked,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {part.name: node.module for node in checked.body if isinstance(node, ast.ImportFrom) for part in node.names}
    assert set(fn.__all__) == {*seen, *(name for name in vars(fn) if name in fn.__all__ and name not in seen)}
    for name, module in seen.items():
        value = getattr(fn, name)
        assert value is getattr(importlib.import_module(str(module)), name)


def test_the_version_is_that_of_the_installed_package() -> None:
    assert fn.__version__ == importlib.metadata.version("fishernet")


def test_errors_are_one_tree() -> None:
    classes = {name for name, value in vars(fn.errors).items() if inspect.isclass(value)}
    assert set(fn.errors.__all__) == {
        name for name in classes if getattr(fn.errors, name).__module__ == fn.errors.__name__
    }
    for name in fn.errors.__all__:
        value = getattr(fn.errors, name)
        assert issubclass(value, fn.FishernetError if name.endswith("Error") else UserWarning)
    assert issubclass(fn.FishernetError, ValueError)
    assert issubclass(fn.StateSpaceError, MemoryError)


VERBS = {"fit", "predict", "convert", "bootstrap", "sample", "select", "learn", "infer", "score", "query", "plot"}
CALLED = [module for module in PACKAGES if module.__name__ != "fishernet.cli"]  # the command calls itself


@pytest.mark.parametrize("module", CALLED, ids=lambda module: module.__name__)
def test_no_module_stands_where_a_function_is_looked_for(module: ModuleType) -> None:
    """What is public is no module, and no module has the name of something to do (``learn.fit`` cannot be called)."""
    modules = {name for name, value in vars(module).items() if inspect.ismodule(value)}
    assert not modules & {*VERBS, *module.__all__}


@pytest.mark.parametrize("module", [*MODULES, fn.errors], ids=lambda module: module.__name__)
def test_dir_shows_the_public_names_alone(module: ModuleType) -> None:
    assert set(dir(module)) - {"__version__"} == set(module.__all__)


SHARED = {
    ("fishernet.graphs", "cpdag"),
    ("fishernet.models", "g_wishart"),
    ("fishernet.select", "distance_by_k"),
    ("fishernet.select", "nearest"),
    ("fishernet.select", "similar"),
}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_no_module_bears_a_public_name_of_its_package(module: ModuleType) -> None:
    """Importing such a module for the first time would put it in the place of the function."""
    submodules = {info.name for info in pkgutil.iter_modules(module.__path__)}
    functions = {name for name in module.__all__ if not inspect.ismodule(getattr(module, name))}
    assert {(module.__name__, name) for name in submodules & functions} <= SHARED


def test_importing_every_module_changes_no_public_name() -> None:
    script = """if True:
        import importlib, pkgutil, fishernet
        inside = [value for name in fishernet.__all__ if hasattr(value := getattr(fishernet, name), "__path__")]
        packages = [fishernet, *(package for package in inside if hasattr(package, "__all__"))]
        before = [(package, name, getattr(package, name)) for package in packages for name in package.__all__]
        for info in pkgutil.walk_packages(fishernet.__path__, "fishernet."):
            if not info.name.endswith("__main__"):
                importlib.import_module(info.name)
        print([f"{package.__name__}.{name}" for package, name, was in before if getattr(package, name) is not was])
    """
    run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "[]"
