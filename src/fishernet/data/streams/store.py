"""The encoded copy of a long source: a folder of arrays (``.npy``), which are mapped into memory.

Codes lie there in the narrowest type that holds them, a file a type, ``[column][row]``, and numbers and weights alike;
a file a column would take one of the few files that a process may have open for each. Beside them lies the form that
the core counts fastest (`packing`). The file ``store.json`` comes last and points at them: it says what the columns
are, what they were made of, and the length and checksum of each file, and it ends with a digest of itself. What it says
of the columns and of their cells has a digest, too: the *identity* of the store, which pickled streams carry, so that
they never meet other rows.

Whatever is on the disk is looked at, to the last byte, when a process first opens it. Nothing is written twice, and
nothing is waited for: a store that is made anew has new files, and whoever has mapped the old ones keeps them.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FileFormatError
from fishernet.data.arrow import variable_fields, variable_from
from fishernet.data.decide import Decision
from fishernet.data.statistics.counting import native_columns
from fishernet.data.streams import packing
from fishernet.data.streams.checksums import Checksum, checksum_of
from fishernet.data.streams.folders import (
    HEAD,
    MAKER,
    ROWS,
    WORK,
    TemporaryFolder,
    left_behind,
    telling_need,
    work_folder,
)
from fishernet.data.variable import Column, checked_variables

VERSION = 3
MOST_ROWS = 2**53
NUMBERS, WEIGHTS = "numbers.npy", "weights.npy"
ANEW = "delete the folder and read the source again"

Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Entry:
    """What the head says of a file: its bytes and its checksum."""

    bytes: int
    checksum: str


@dataclass(frozen=True)
class Head:
    """What ``store.json`` says.

    Attributes
    ----------
    variables : tuple of Variable or Continuous
    n_rows : int
    decisions : tuple of Decision
    made_of : dict
        What the store was made of and how, to tell whether it is stale.
    rows : str
        The folder of the files, inside that of the store; empty in memory.
    files : dict
        By name.
    """

    variables: tuple[Column, ...]
    n_rows: int
    decisions: tuple[Decision, ...]
    made_of: dict[str, Any]
    rows: str = ""
    files: dict[str, Entry] = field(default_factory=dict)

    def fields(self) -> dict[str, Any]:
        """Return the head as JSON holds it, without its digest."""
        return {
            "format": "fishernet store",
            "version": VERSION,
            "n_rows": self.n_rows,
            "variables": [{"name": variable.name, **variable_fields(variable)} for variable in self.variables],
            "decisions": [[d.name, d.why, list(d.overrule), d.left_out] for d in self.decisions],
            "made_of": self.made_of,
            "rows": self.rows,
            "files": {name: vars(entry) for name, entry in self.files.items()},
        }

    @property
    def identity(self) -> str:
        """The digest of what the columns are and hold, wherever they lie and come from: 64 hexadecimal digits."""
        apart = ("made_of", "rows", "files")
        cells = {name: vars(entry) for name, entry in self.files.items() if name not in packing.NAMES}
        return _digest({name: value for name, value in self.fields().items() if name not in apart} | {"cells": cells})

    def write(self, path: Path) -> None:
        """Write the head to a file."""
        fields = self.fields()
        path.write_text(json.dumps({**fields, "digest": _digest(fields)}), "utf-8")

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the head of a store; raise FileFormatError where there is none, or a damaged one."""
        path = folder / HEAD
        try:
            fields = json.loads(path.read_bytes())
            version = fields["version"]
            if fields["format"] != "fishernet store" or type(version) is not int:
                raise ValueError
            if version != VERSION:
                told = f"the store has version {version}, and this library reads {VERSION}; {ANEW}"
                raise FileFormatError(path, told)
            if fields.pop("digest") != _digest(fields):
                raise ValueError
            return cls._checked(fields)
        except FileFormatError:
            raise
        except FileNotFoundError:
            raise FileFormatError(path, "the folder holds no encoded store (any more); read the source again") from None
        except OSError as error:
            raise FileFormatError(path, f"the file cannot be read ({error.strerror})") from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise FileFormatError(path, f"the folder holds no encoded store, or a damaged one; {ANEW}") from None

    @classmethod
    def _checked(cls, fields: dict[str, Any]) -> Self:
        """Return the head of these fields; raise ValueError, KeyError or TypeError when they cannot be one."""
        variables = checked_variables([variable_from(item["name"], json.dumps(item)) for item in fields["variables"]])
        n_rows, made_of, rows = fields["n_rows"], fields["made_of"], fields["rows"]
        decisions = tuple(Decision(name, why, tuple(words), out) for name, why, words, out in fields["decisions"])
        files = {name: Entry(**entry) for name, entry in fields["files"].items()}
        needed = {_file_of(variable) for variable in variables}
        if (
            type(n_rows) is not int
            or not 0 <= n_rows <= MOST_ROWS
            or not all(isinstance(file, list) for file in made_of.get("files", ()))
            or not re.fullmatch(ROWS + MAKER, rows)
            or not needed <= files.keys() <= {*needed, WEIGHTS, *packing.NAMES}  # of no other file, wherever it lies
        ):
            raise ValueError
        return cls(tuple(variables), n_rows, decisions, made_of, rows, files)


def _digest(fields: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


def _file_of(variable: Column) -> str:
    """Return the file that holds the columns of a variable's type, one after the other."""
    return NUMBERS if variable.is_continuous else f"codes-{variable.dtype.itemsize}.npy"


# ---------------------------------------------------------------------------------------------------------- writing


@contextmanager
def new_store(folder: Path | None, needed: Callable[[Path], int | None] = lambda _: None) -> Iterator[NewStore]:
    """Give what a store is written by; when that is finished, it is put into the folder, or a temporary one.

    Parameters
    ----------
    folder : Path or None
        None means a temporary one, which goes with the last that opened it.
    needed : function
        From the work folder to about how many bytes the store will take, for the message of a full disk.
    """
    temporary = TemporaryFolder() if folder is None else None
    target = folder or temporary.path  # type: ignore[union-attr]
    with work_folder(target) as work, telling_need(target, lambda: needed(work)):
        made = NewStore(work)
        yield made
        made.put_into(target)


class NewStore:
    """A store while it is made, in a work folder.

    Attributes
    ----------
    work : Path
        The work folder. Whoever makes the store may keep other files there meanwhile.
    opened : Stored
        What the store holds, once it lies where it belongs.
    """

    opened: Stored

    def __init__(self, work: Path) -> None:
        self.work = work
        self._rows = work / "rows"
        self._rows.mkdir()

    def write(
        self,
        columns: Sequence[tuple[Column, Iterable[npt.NDArray[Any]]]],
        weights: Iterable[npt.NDArray[Any]] | None,
        n_rows: int,
        decisions: Sequence[Decision] = (),
        made_of: dict[str, Any] | None = None,
    ) -> None:
        """Write columns that come in blocks, the rows' weights, and the head that makes the store complete."""
        by_file: dict[str, list[tuple[Column, Iterable[npt.NDArray[Any]]]]] = {}
        for variable, blocks in columns:
            by_file.setdefault(_file_of(variable), []).append((variable, blocks))
        files = {}
        for name, some in by_file.items():
            blocks = itertools.chain.from_iterable(blocks for _, blocks in some)
            files[name] = _written(self._rows / name, some[0][0].dtype, (len(some), n_rows), blocks)
        if weights is not None:
            first, weights = _first_of(weights)
            files[WEIGHTS] = _written(self._rows / WEIGHTS, first.dtype, (n_rows,), weights)
        variables = tuple([variable for variable, _ in columns])
        head = Head(variables, n_rows, tuple(decisions), made_of or {}, "rows", files)
        is_packed = n_rows >= packing.LEAST_ROWS and weights is None
        self._head = replace(head, files=files | self._packed(head)) if is_packed else head

    def _packed(self, head: Head) -> dict[str, Entry]:
        """Write the form that the core counts fastest, unless the disk has no room for it."""
        columns = _cut(self.work, head, _mapped(self._rows, head.files))
        if not packing.write(native_columns(head.variables, columns, head.n_rows, None), self._rows):
            return {}
        paths = [self._rows / name for name in packing.NAMES]
        return {path.name: Entry(path.stat().st_size, checksum_of(path)) for path in paths}

    def put_into(self, folder: Path) -> None:
        """Give the rows their name in the folder of the store, and let its head point at them."""
        name = self.work.name.replace(WORK, ROWS, 1)
        self._rows.rename(folder / name)
        head = replace(self._head, rows=name)
        try:
            self.opened = _stored(folder, head)
            head.write(self.work / HEAD)
            before = _rows_before(folder)
            (self.work / HEAD).replace(folder / HEAD)
        except BaseException:
            shutil.rmtree(folder / name, ignore_errors=True)
            raise
        _remove_old(folder, before)


def _first_of(blocks: Iterable[npt.NDArray[Any]]) -> tuple[npt.NDArray[Any], Iterator[npt.NDArray[Any]]]:
    found = iter(blocks)
    first = next(found, np.zeros(0))  # a table without rows has no blocks
    return first, itertools.chain([first], found)


def _written(path: Path, kind: Any, shape: tuple[int, ...], blocks: Iterable[npt.NDArray[Any]]) -> Entry:
    """Write an array that comes in blocks; the next one is made while a thread writes the last."""
    kind = np.dtype(kind)
    header = BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": kind.str, "fortran_order": False, "shape": shape})
    checksum = Checksum()
    with path.open("xb") as file, ThreadPoolExecutor(1) as thread:

        def append(data: memoryview) -> None:
            file.write(data)
            checksum.update(data)

        under_way = thread.submit(append, header.getbuffer())
        for block in blocks:
            data = np.ascontiguousarray(block, dtype=kind).view(np.uint8).data
            under_way.result()
            under_way = thread.submit(append, data)
            del data, block
        under_way.result()
        return Entry(file.tell(), checksum.text())


def _rows_before(folder: Path) -> Path | None:
    """Return the folder of the rows to which the head of a store points; None where it has none that can be read."""
    try:
        return folder / Head.read(folder).rows
    except FileFormatError:
        return None


def _remove_old(folder: Path, before: Path | None) -> None:
    """Remove the rows that a store had before, and those to which no head came to point before its maker died."""
    old = left_behind(folder, ROWS)  # first: whoever of them has made a head since is not dead
    now = _rows_before(folder)
    for path in (*old, before):
        if path is not None and path != now:
            shutil.rmtree(path, ignore_errors=True)


# ---------------------------------------------------------------------------------------------------------- reading


@dataclass(frozen=True)
class Stored:
    """What a store holds.

    Attributes
    ----------
    head : Head
    columns
        As of a `Table`; mapped files.
    numbers : (number of continuous columns, n_rows) float64
        Those of the columns that are continuous, in one piece.
    weights : (n_rows,) array, or None
    packed : tuple of two arrays, or None
        The form that the core counts fastest.
    folder : Path or None
        Where it lies; None in memory.
    identity : str
        Of the store (`Head.identity`); empty in memory.
    temporary : TemporaryFolder or None
        What keeps a temporary store.
    """

    head: Head
    columns: tuple[npt.NDArray[Any], ...]
    numbers: npt.NDArray[np.float64]
    weights: npt.NDArray[Any] | None
    packed: packing.Packed | None = None
    folder: Path | None = None
    identity: str = ""
    temporary: TemporaryFolder | None = None


def opened(folder: Path, identity: str | None = None) -> Stored:
    """Open a store and look at all of it, unless this process has before.

    Raises
    ------
    FileFormatError
        When the folder holds no store, a damaged one, or one of another version or identity than was asked for.
    """
    head = Head.read(folder)
    while True:
        _refuse_other(folder, head, identity)
        try:
            _check(folder, head, anew=False)
            return _stored(folder, head)
        except FileFormatError:  # unless the store was made anew meanwhile
            now = Head.read(folder)
            if now.rows == head.rows:
                raise
            head = now


def _stored(folder: Path, head: Head) -> Stored:
    arrays = _mapped(folder / head.rows, head.files)
    numbers = arrays.get(NUMBERS, np.zeros((0, head.n_rows)))
    kept = [arrays[name].reshape(-1) for name in packing.NAMES if name in arrays]
    packed = (kept[0], kept[1]) if len(kept) == 2 else None
    keeps = TemporaryFolder.of(folder)
    columns = _cut(folder, head, arrays)
    return Stored(head, columns, numbers, arrays.get(WEIGHTS), packed, folder, head.identity, keeps)


def _mapped(rows: Path, files: Iterable[str]) -> Arrays:
    found = {}
    for name in files:
        try:
            found[name] = np.load(rows / name, mmap_mode="r").view(np.ndarray)
        except OSError as error:
            raise _unreadable(rows / name, error) from None
        except ValueError:
            raise FileFormatError(rows / name, f"the file is damaged; {ANEW}") from None
    return found


def _cut(folder: Path, head: Head, arrays: Arrays) -> tuple[npt.NDArray[Any], ...]:
    """Return each variable's row of the arrays; raise FileFormatError when these are not as the head says."""
    n, names = head.n_rows, [_file_of(variable) for variable in head.variables]
    needed = {_file_of(v): ((names.count(_file_of(v)), n), np.dtype(v.dtype)) for v in head.variables}
    if any((arrays[name].shape, arrays[name].dtype) != form for name, form in needed.items()) or (
        WEIGHTS in arrays and (arrays[WEIGHTS].shape != (n,) or arrays[WEIGHTS].dtype.str not in ("<f8", "<i8"))
    ):
        raise FileFormatError(folder / HEAD, f"the folder holds a damaged store; {ANEW}")
    rows = {name: iter(arrays[name]) for name in needed}
    return tuple([next(rows[name]) for name in names])


def _unreadable(path: Path, error: OSError) -> FileFormatError:
    return FileFormatError(path, f"a file of the store is missing or cannot be read ({error.strerror}); {ANEW}")


def _refuse_other(folder: Path, head: Head, identity: str | None) -> None:
    """Raise FileFormatError when the store in a folder is not the one of an identity."""
    if identity not in (None, head.identity):
        raise FileFormatError(folder, "the store was made anew and holds other rows than the stream; scan it again")


def _check(folder: Path, head: Head, *, anew: bool) -> None:
    """Raise FileFormatError when a file of a store is not as it was written."""
    for name, entry in head.files.items():
        path = folder / head.rows / name
        try:
            if path.stat().st_size != entry.bytes:
                raise FileFormatError(path, f"a file of the store is cut off or too long; {ANEW}")
            found = checksum_of(path, anew=anew)
        except OSError as error:
            raise _unreadable(path, error) from None
        if found != entry.checksum:
            raise FileFormatError(path, f"the file is damaged (its checksum is wrong); {ANEW}")


def verify(folder: Path, identity: str) -> None:
    """Raise FileFormatError when the store is not the one of an identity, or one of its files not as it was written."""
    head = Head.read(folder)
    _refuse_other(folder, head, identity)
    _check(folder, head, anew=True)


def made_of(folder: Path) -> dict[str, Any] | None:
    """Return what the store in a folder was made of; None where there is none that is complete."""
    return Head.read(folder).made_of if (folder / HEAD).exists() else None
