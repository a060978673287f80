"""Model files, by their endings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from fishernet.cli.terminal.output import check_folder
from fishernet.errors import FileFormatError
from fishernet.files import load, read_bif, save, write_bif
from fishernet.models import BayesianNetwork

READERS: dict[str, Callable[[Path], BayesianNetwork]] = {".json": load, ".bif": read_bif}
WRITERS: dict[str, Callable[[Any, Path], None]] = {".json": save, ".bif": write_bif}


def ending(path: Path) -> str:
    """Return a path's ending in lower case, without the ``.gz`` behind it."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def read_model(path: Path) -> BayesianNetwork:
    """Read a model from ``.json`` or ``.bif``, compressed or not."""
    _check_ending(path, READERS, "read from")
    return READERS[ending(path)](path)


def write_model(model: BayesianNetwork, path: Path) -> None:
    """Write a model to ``.json`` or ``.bif``; compressed when ``.gz`` follows."""
    check_model_output(path)
    WRITERS[ending(path)](model, path)


def check_model_output(path: Path) -> None:
    """Raise early when a model could not be written to a path.

    Raises
    ------
    FileFormatError
        When the ending is unknown, or there is no folder to write in.
    """
    _check_ending(path, WRITERS, "written to")
    check_folder(path)


def _check_ending(path: Path, known: Iterable[str], what: str) -> None:
    if ending(path) not in known:
        raise FileFormatError(path, f"a model is {what} a file ending in {' or '.join(known)} (.gz may follow)")
