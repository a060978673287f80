"""The encoded copy of a long source: a folder with a file a column, which are mapped into memory.

Codes lie there in the narrowest type that holds them, all numbers in one file, column by column. The file
``store.json`` is put into place last, so a folder that has one is complete. It says what the columns are, what they
were made of, and the length and checksum of each file, and it ends with a digest of itself. What it says of the columns
and of their files has a digest, too: the *identity* of the store, which derived files (`packing`) and pickled streams
carry, so that they never meet other rows.

Whatever is on the disk is looked at, to the last byte, when a process first opens it. Nothing is written twice: a store
that is made anew has new files, and whoever has mapped the old ones keeps them.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FileFormatError
from fishernet.data.arrow import variable_fields, variable_from
from fishernet.data.decide import Decision
from fishernet.data.streams.checksums import Checksum, checksum_of
from fishernet.data.streams.folders import (
    HEAD,
    LOCK,
    NUMBERS,
    OURS,
    WEIGHTS,
    Lease,
    locked,
    telling_need,
    work_folder,
)
from fishernet.data.streams.packing import verify_derived
from fishernet.data.variable import Column, checked_variables

VERSION = 2
MOST_ROWS = 2**53
ANEW = "delete the folder and read the source again"


@dataclass(frozen=True)
class Entry:
    """What the head says of a file: its bytes, the type of its cells, and its checksum."""

    bytes: int
    type: str
    checksum: str


@dataclass(frozen=True)
class Head:
    """What ``store.json`` says.

    Attributes
    ----------
    variables : tuple of Variable or Continuous
    n_rows : int
    decisions : tuple of Decision
    files : dict
        By name.
    made_of : dict
        What the store was made of and how, to tell whether it is stale.
    """

    variables: tuple[Column, ...]
    n_rows: int
    decisions: tuple[Decision, ...]
    files: dict[str, Entry]
    made_of: dict[str, Any]

    def fields(self) -> dict[str, Any]:
        """Return the head as JSON holds it, without its digest."""
        return {
            "format": "fishernet store",
            "version": VERSION,
            "n_rows": self.n_rows,
            "variables": [{"name": variable.name, **variable_fields(variable)} for variable in self.variables],
            "decisions": [[d.name, d.why, list(d.overrule), d.left_out] for d in self.decisions],
            "files": {name: vars(entry) for name, entry in self.files.items()},
            "made_of": self.made_of,
        }

    @property
    def identity(self) -> str:
        """The digest of what the columns are and hold, whatever they were made of: 64 hexadecimal digits."""
        return _digest({name: value for name, value in self.fields().items() if name != "made_of"})

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
        n_rows, made_of = fields["n_rows"], fields["made_of"]
        decisions = tuple(Decision(name, why, tuple(words), out) for name, why, words, out in fields["decisions"])
        files = {name: Entry(**entry) for name, entry in fields["files"].items()}
        if (
            type(n_rows) is not int
            or not 0 <= n_rows <= MOST_ROWS
            or not all(isinstance(file, list) for file in made_of.get("files", ()))
        ):
            raise ValueError
        needed = _needed_files(variables)
        if WEIGHTS in files:
            needed[WEIGHTS] = [np.dtype(np.float64 if files[WEIGHTS].type == "<f8" else np.int64)]
        if files.keys() != needed.keys():  # names of no other file, wherever it lies
            raise ValueError
        for name, kinds in needed.items():
            if (files[name].bytes, files[name].type) != (sum(k.itemsize for k in kinds) * n_rows, kinds[0].str):
                raise ValueError
        return cls(tuple(variables), n_rows, decisions, files, made_of)


def _digest(fields: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


def _file_of(variable: Column) -> str:
    """Return the file that holds the columns of a variable's type, one after the other."""
    return NUMBERS if variable.is_continuous else f"codes-{variable.dtype.itemsize}.bin"


def _needed_files(variables: Iterable[Column]) -> dict[str, list[np.dtype[Any]]]:
    """Return the files that hold such columns, with the types of the columns in each."""
    found: dict[str, list[np.dtype[Any]]] = {}
    for variable in variables:
        found.setdefault(_file_of(variable), []).append(np.dtype(variable.dtype))
    return found


# ---------------------------------------------------------------------------------------------------------- writing


class Writer:
    """Writes a store into a folder, a column at a time; the next is made while a thread writes the last."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, tuple[str, list[int], Checksum]] = {}
        self._thread = ThreadPoolExecutor(1)
        self._written: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown()

    def column(self, variable: Column, blocks: Iterable[npt.NDArray[Any]], n_rows: int) -> npt.NDArray[Any]:  # noqa: ARG002
        """Write a column, block by block, and return what stands for it meanwhile: its type, without rows."""
        kind = np.dtype(variable.dtype)
        self._begin(_file_of(variable), np.zeros(0, dtype=kind))  # a column without rows has a file, too
        for block in blocks:
            self._begin(_file_of(variable), block.astype(kind, copy=False))
        return np.zeros(0, dtype=kind)

    def weights(self, weights: npt.NDArray[Any] | None) -> None:
        """Write the rows' weights."""
        if weights is not None:
            self._begin(WEIGHTS, weights)

    def _begin(self, name: str, array: npt.NDArray[Any]) -> None:
        """Have an array written when the one before it is, so that there are two in memory at most."""
        self._wait()
        self._written = self._thread.submit(self._append, name, array)

    def _wait(self) -> None:
        if self._written is not None:
            self._written.result()

    def _append(self, name: str, array: npt.NDArray[Any]) -> None:
        data = np.ascontiguousarray(array).view(np.uint8).data
        _, lengths, checksum = self._files.setdefault(name, (array.dtype.str, [], Checksum()))
        with (self._folder / name).open("ab") as file:
            file.write(data)
        checksum.update(data)
        lengths.append(len(data))

    def finish(
        self, variables: Sequence[Column], n_rows: int, decisions: Sequence[Decision], made_of: dict[str, Any]
    ) -> None:
        """Write the head, which makes the store complete."""
        self._wait()
        files = {name: Entry(sum(sizes), kind, crc.text()) for name, (kind, sizes, crc) in self._files.items()}
        fields = Head(tuple(variables), n_rows, tuple(decisions), files, made_of).fields()
        text = json.dumps({**fields, "digest": _digest(fields)})
        (self._folder / HEAD).write_text(text, "utf-8")


@contextmanager
def new_store(folder: Path | None, needed: Callable[[Path], int | None] = lambda _: None) -> Iterator[NewStore]:
    """Give what a store is written by; when that is finished, its files are put into the folder, or a temporary one.

    Parameters
    ----------
    folder : Path or None
        None means a temporary one, which goes with the last that opened it.
    needed : function
        From the work folder to about how many bytes the store will take, for the message of a full disk.
    """
    lease = Lease.on_new_folder() if folder is None else None
    target = folder or lease.folder  # type: ignore[union-attr]
    with work_folder(target) as work, telling_need(target, lambda: needed(work)):
        with Writer(work) as writer:
            yield (made := NewStore(target, work, writer, lease))
        _put_into_place(work, target)
        made._opened = opened(target)


@dataclass
class NewStore:
    """A store while it is made: where it will lie, the work folder, what writes it there, and then what it holds."""

    folder: Path
    work: Path
    writer: Writer
    lease: Lease | None
    _opened: Stored | None = None

    @property
    def opened(self) -> Stored:
        """What the store holds, once it is in its place."""
        assert self._opened is not None
        return self._opened


def _put_into_place(work: Path, folder: Path) -> None:
    """Move the files of a store into its folder, in place of what lies there; the head goes first and comes last."""
    new = {path.name for path in work.iterdir() if path.is_file() and path.name.endswith(".bin")}
    with locked(folder, LOCK, alone=True):
        (folder / HEAD).unlink(missing_ok=True)
        for path in folder.iterdir():
            if OURS.fullmatch(path.name) and path.name.endswith(".bin") and path.name not in new:
                path.unlink(missing_ok=True)
        for name in sorted(new):
            (work / name).replace(folder / name)
        (work / HEAD).replace(folder / HEAD)


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
    folder : Path or None
        Where it lies; None in memory.
    identity : str
        Of the store (`Head.identity`); empty in memory.
    lease : Lease or None
        What keeps a temporary store.
    """

    head: Head
    columns: tuple[npt.NDArray[Any], ...]
    numbers: npt.NDArray[np.float64]
    weights: npt.NDArray[Any] | None
    folder: Path | None = None
    identity: str = ""
    lease: Lease | None = None


def opened(folder: Path, identity: str | None = None) -> Stored:
    """Open a store and look at all of it, unless this process has before.

    Raises
    ------
    FileFormatError
        When the folder holds no store, a damaged one, or one of another version or identity than was asked for.
    """
    lease = Lease.of(folder)
    with ExitStack() as files:
        with locked(folder, LOCK, alone=False):
            head = Head.read(folder)
            refuse_other(folder, head, identity)
            held = {name: files.enter_context(_file(folder / name)) for name in head.files}
        arrays = {name: _mapped(folder / name, held[name], entry) for name, entry in head.files.items()}
    counts = dict.fromkeys(arrays, 0)
    columns = []
    for variable in head.variables:
        name = _file_of(variable)
        columns.append(arrays[name][counts[name] * head.n_rows : (counts[name] + 1) * head.n_rows])
        counts[name] += 1
    numbers = np.zeros((0, head.n_rows))
    if NUMBERS in arrays:
        numbers = arrays[NUMBERS].reshape(counts[NUMBERS], head.n_rows)
    return Stored(head, tuple(columns), numbers, arrays.get(WEIGHTS), folder, head.identity, lease)


def refuse_other(folder: Path, head: Head, identity: str | None) -> None:
    """Raise FileFormatError when the store in a folder is not the one of an identity."""
    if identity not in (None, head.identity):
        raise FileFormatError(folder, "the store was made anew and holds other rows than the stream; scan it again")


@contextmanager
def _file(path: Path) -> Iterator[IO[bytes]]:
    try:
        file = path.open("rb")
    except OSError as error:
        told = f"a file of the store is missing or cannot be read ({error.strerror}); {ANEW}"
        raise FileFormatError(path, told) from None
    with file:
        yield file


def _mapped(path: Path, file: IO[bytes], entry: Entry) -> npt.NDArray[Any]:
    kind = np.dtype(entry.type)
    if os.fstat(file.fileno()).st_size != entry.bytes:
        raise FileFormatError(path, f"a file of the store is cut off or too long; {ANEW}")
    _check(path, file, entry, anew=False)
    if not entry.bytes:
        return np.zeros(0, dtype=kind)
    return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), kind)


def _check(path: Path, file: IO[bytes], entry: Entry, *, anew: bool) -> None:
    try:
        found = checksum_of(file, anew=anew)
    except OSError as error:
        raise FileFormatError(path, f"the file cannot be read ({error.strerror})") from None
    if found != entry.checksum:
        raise FileFormatError(path, f"the file is damaged (its checksum is wrong); {ANEW}")


def verify(folder: Path, identity: str) -> None:
    """Raise FileFormatError when the store is not the one of an identity, or one of its files not as it was written."""
    head = Head.read(folder)
    refuse_other(folder, head, identity)
    for name, entry in head.files.items():
        with _file(folder / name) as file:
            _check(folder / name, file, entry, anew=True)
    verify_derived(folder, identity)


def holds(folder: Path, identity: str) -> bool:
    """Whether a folder holds the store of an identity."""
    try:
        return Head.read(folder).identity == identity
    except FileFormatError:
        return False


def made_of(folder: Path) -> dict[str, Any] | None:
    """Return what the store in a folder was made of; None where there is none that is complete."""
    return Head.read(folder).made_of if (folder / HEAD).exists() else None
