"""Folders of stores: whose they are, how files get into them whole, and what was left behind.

A store is written in a work folder inside the folder that it is for, so a folder of any kind will do: a symbolic link,
a mount point, the working directory. Its rows then get a name of their own, which never comes again, and the head that
points at them is replaced in one step. So nobody waits for anybody, and nobody sees a store half made.

The name of a work folder, of rows and of a temporary store says which process of which machine made it. What was left
behind by one that is dead is removed by the next that makes something at that place.
"""

from __future__ import annotations

import errno
import os
import platform
import re
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fishernet.base import check
from fishernet.base.errors import FileFormatError, FishernetError
from fishernet.base.machine import is_out_of_memory, without_memory

HEAD = "store.json"
ROWS = "rows-"  # of the names of folders of rows, inside that of their store
WORK = "new-"  # of the names of work folders, there as well
PREFIX = "fishernet-"  # of the names of temporary stores
MAKER = r"([0-9a-f]{8})-(\d+)-\w+"  # in such names: the machine, the process, and what is random
OURS = re.compile(rf"{re.escape(HEAD)}|({ROWS}|{WORK}){MAKER}")


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
        new = new_folder(target, WORK)
    except OSError as error:
        raise _not_made(folder, error) from None
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


@contextmanager
def telling_need(folder: Path, needed: Callable[[], int | None]) -> Iterator[None]:
    """Turn the error of a full disk into one that says what is needed, in bytes, where that is known."""
    try:
        yield
    except OSError as error:
        if is_out_of_memory(error):
            raise without_memory("the encoded copy was written", str(error.strerror)) from None
        if error.errno not in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
            raise FileFormatError(folder, f"the encoded copy cannot be written ({error.strerror})") from None
        size = needed()
        room = "" if size is None else f"; about {size / 2**30:,.2f} GiB are needed there"
        raise FishernetError(
            f"the disk of {str(folder)!r} is full{room}; set cache= or TMPDIR to a folder on another disk",
            parameter="cache",
        ) from None


class TemporaryFolder:
    """The folder of a temporary store, which goes when nothing in the process that made it looks at it any more.

    There is one object a folder. A forked child has it as well, but not the duty to remove the folder.
    """

    __slots__ = ("__weakref__", "path")

    def __init__(self) -> None:
        where = Path(tempfile.gettempdir())
        try:
            self.path: Path = new_folder(where, PREFIX)
        except OSError as error:
            raise _not_made(where, error) from None
        _temporary[self.path] = self
        weakref.finalize(self, _remove, self.path, os.getpid())

    @staticmethod
    def of(path: Path) -> TemporaryFolder | None:
        """Return what keeps a folder; None of one that is kept anyway, or by another process."""
        return _temporary.get(path)


_temporary: weakref.WeakValueDictionary[Path, TemporaryFolder] = weakref.WeakValueDictionary()


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


# ------------------------------------------------------------------------------------------------ who made what


def new_folder(where: Path, prefix: str) -> Path:
    """Make a folder whose name says who made it, and remove what dead processes left behind beside it."""
    for left in left_behind(where, prefix):
        shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{prefix}{_machine()}-{os.getpid()}-", dir=where))


def left_behind(where: Path, prefix: str) -> list[Path]:
    """Return the folders of a kind that processes of this machine made which are dead."""
    named = re.compile(re.escape(prefix) + MAKER)
    found = [(path, named.fullmatch(path.name)) for path in where.glob(f"{prefix}*")]
    return [path for path, name in found if name and name[1] == _machine() and not _is_alive(int(name[2]))]


def _machine() -> str:
    """Return what tells this machine, or container, from others that see the same disk."""
    return f"{zlib.crc32(platform.node().encode()):08x}"


def _is_alive(process: int) -> bool:
    if os.name != "posix":  # where to ask would end it; and files in use cannot be removed there
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
