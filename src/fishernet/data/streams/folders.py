"""Folders of stores: whose they are, how files get into them whole, and what was left behind.

Files are made in a work folder inside the folder that they are for, under a random name, and are put into place when
they are complete. So a folder of any kind will do: a symbolic link, a mount point, the working directory.

Whoever needs a work folder or a temporary store holds a lock on a file in it. The lock goes with the last process that
holds it, however that ends; what nobody holds was left behind by a process that was killed, and the next one that makes
something at that place removes it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fishernet.base import check
from fishernet.base.errors import FileFormatError, FishernetError
from fishernet.base.machine import is_out_of_memory, without_memory

HEAD = "store.json"
NUMBERS = "numbers.bin"
WEIGHTS = "weights.bin"
DERIVED = ("planes.bin", "masks.bin")
LOCK = ".lock"  # of a folder whose files are being put into place
PACKING = ".packing"  # of a folder for which somebody makes the derived files
HELD = ".held"
PREFIX = "fishernet-"  # of the names of temporary stores
WORK = "new-"  # of the names of work folders
OURS = re.compile(
    rf"codes-[124]\.bin|{re.escape(NUMBERS)}|{re.escape(WEIGHTS)}|planes\.bin|masks\.bin|{re.escape(HEAD)}"
    rf"|{re.escape(LOCK)}|{re.escape(PACKING)}|\.held.*|{WORK}.*"
)
_locks: set[int] = set()  # open files by which this process locks a folder for a while


def checked_folder(folder: str | os.PathLike[str]) -> Path:
    """Return a folder for a store: one that does not exist, is empty or holds a store; raise for any other."""
    path = Path(os.path.abspath(check.path(folder)))  # noqa: PTH100 symbolic links stay
    target = Path(os.path.realpath(path))
    try:
        names = [inside.name for inside in target.iterdir()]
    except FileNotFoundError:
        return path
    except OSError as error:
        if target.is_file():
            raise FishernetError(f"cache must be a folder, and {str(path)!r} is a file", parameter="cache") from None
        raise _not_made(path, error) from None
    if HEAD not in names and not all(map(OURS.fullmatch, names)):
        raise FishernetError(
            f"the folder {str(path)!r} holds other things; name a new or empty folder as cache", parameter="cache"
        )
    return path


def _not_made(folder: Path, error: OSError) -> FishernetError:
    return FishernetError(f"the folder {str(folder)!r} cannot be written ({error.strerror})", parameter="cache")


@contextmanager
def work_folder(folder: Path) -> Iterator[Path]:
    """Give a new folder inside another one, which is made where it does not exist; it vanishes in the end."""
    target = Path(os.path.realpath(folder))
    is_new = not target.exists()
    try:
        target.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(prefix=WORK, dir=target))
        held = _hold(new)
    except OSError as error:
        raise _not_made(folder, error) from None
    remove_abandoned(target, WORK)
    try:
        yield new
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        if is_new:
            with suppress(OSError):
                target.rmdir()
        raise
    finally:
        shutil.rmtree(new, ignore_errors=True)
        os.close(held)


@contextmanager
def locked(folder: Path, name: str, *, alone: bool) -> Iterator[None]:
    """Lock a folder, alone or among others; where it cannot be locked (no right, no such file system) do without.

    What is guarded is right without the lock, too, by random names and checksums. With it nothing is made twice, and
    nobody looks while files are put into place.
    """
    try:
        number = os.open(folder / name, os.O_RDWR | os.O_CREAT if alone else os.O_RDONLY, 0o666)
    except OSError:
        yield
        return
    _locks.add(number)
    try:
        with suppress(OSError):
            fcntl.flock(number, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield
    finally:
        with suppress(OSError):  # a child that was forked meanwhile has the file open, too
            fcntl.flock(number, fcntl.LOCK_UN)
        _locks.discard(number)
        os.close(number)


def _close_locks() -> None:
    """Close in a forked child what locks its parent's folders: the locks are to go with the parent."""
    for number in _locks:
        with suppress(OSError):
            os.close(number)
    _locks.clear()


os.register_at_fork(after_in_child=_close_locks)


@contextmanager
def telling_need(folder: Path, needed: Callable[[], int | None]) -> Iterator[None]:
    """Turn the error of a full disk into one that says what is needed, in bytes, where that is known."""
    try:
        yield
    except OSError as error:
        if is_out_of_memory(error):
            raise without_memory("the encoded copy was written", str(error.strerror)) from None
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise FileFormatError(folder, f"the encoded copy cannot be written ({error.strerror})") from None
        size = needed()
        room = "" if size is None else f"; about {size / 2**30:,.2f} GiB are needed there"
        raise FishernetError(
            f"the disk of {str(folder)!r} is full{room}; set cache= or TMPDIR to a folder on another disk",
            parameter="cache",
        ) from None


# ------------------------------------------------------------------------------------------------ who holds what


class Lease:
    """What keeps a temporary store: as long as a process has one, nobody removes the store as left behind.

    There is one a process and folder. That of the process that made the folder removes it when nothing in this process
    looks at it any more. Forked children inherit the lock, and not the duty to remove.
    """

    __slots__ = ("__weakref__", "folder")

    def __init__(self, folder: Path, number: int, *, removes: bool) -> None:
        self.folder = folder
        weakref.finalize(self, _let_go, number, folder if removes else None, os.getpid())

    @classmethod
    def on_new_folder(cls) -> Lease:
        """Make a temporary folder and hold it; what dead processes left behind beside it is removed."""
        where = Path(tempfile.gettempdir())
        remove_abandoned(where, PREFIX)
        try:
            folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=where))
            number = _hold(folder)
        except OSError as error:
            raise _not_made(where, error) from None
        return _leases.setdefault(folder, cls(folder, number, removes=True))

    @classmethod
    def of(cls, folder: Path) -> Lease | None:
        """Return what holds the temporary store in a folder; None of a store that is kept."""
        found = _leases.get(folder)
        if found is not None:
            return found
        try:
            number = os.open(folder / HELD, os.O_RDWR)
        except OSError:
            return None
        with suppress(OSError):
            fcntl.flock(number, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return _leases.setdefault(folder, cls(folder, number, removes=False))


_leases: weakref.WeakValueDictionary[Path, Lease] = weakref.WeakValueDictionary()


def _let_go(number: int, folder: Path | None, process: int) -> None:
    if os.getpid() == process:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            os.close(number)


def _hold(folder: Path) -> int:
    """Return the open file that says that somebody needs a new folder; it is locked before it has its name."""
    path = folder / f"{HELD}-{secrets.token_hex(4)}"
    number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    with suppress(OSError):
        fcntl.flock(number, fcntl.LOCK_SH)
    path.rename(folder / HELD)
    return number


def remove_abandoned(where: Path, prefix: str) -> None:
    """Remove the folders of this kind that no process holds any more."""
    for folder in where.glob(f"{prefix}*"):
        try:
            number = os.open(folder / HELD, os.O_RDWR | os.O_NOFOLLOW)
        except OSError:  # somebody else's, or about to be held
            continue
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue
        finally:
            os.close(number)
