"""Which files a path stands for, of what kind they are, and how much there is in them before they are read."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from fishernet.base.errors import FileFormatError
from fishernet.data.formats.opening import KINDS, kind_of
from fishernet.data.formats.text_file import PACKED

UNPACKED = 5  # bytes of text in a byte of a compressed file, more or less
SAMPLE = 2**20  # bytes of text from which its number of lines is guessed


def found_files(path: Path) -> list[Path]:
    """Return the files of a path: itself, those of a folder, or those of a pattern, by their names."""
    if path.is_file():
        return [path]
    known = (*KINDS, *PACKED)
    if path.is_dir():
        inside = sorted(p for p in path.rglob("*") if p.is_file() and _is_shown(p.relative_to(path)))
        files = [p for p in inside if p.suffix.lower() in known and p.suffix.lower() != ".zip"]  # may hold the others
        if not files:
            raise FileFormatError(path, "the folder holds no Parquet, Arrow or text files")
        return files
    if glob.has_magic(str(path)):
        names = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207 a pattern may begin anywhere
        files = [Path(name) for name in names if Path(name).is_file()]
        if not files:
            raise FileFormatError(path, "no file matches this pattern")
        return files
    raise FileFormatError(path, "there is no such file or folder")


def _is_shown(path: Path) -> bool:
    """Whether a file is no bookkeeping of those that write folders (_SUCCESS, .crc)."""
    return not any(part.startswith(("_", ".")) for part in path.parts)


def is_streamed(path: Path) -> bool:
    """Whether a file is of a kind that is read in batches."""
    return kind_of(path) in ("parquet", "arrow", "text")


def decoded_bytes(path: Path) -> int:
    """Return about how many bytes the cells of a file are: what Parquet says of its pages, or the length of a text."""
    size = path.stat().st_size
    if kind_of(path) == "parquet":
        return max(size, _of_parquet(path))
    return UNPACKED * size if path.suffix.lower() in PACKED else size


def _of_parquet(path: Path) -> int:
    import pyarrow.parquet as pq

    try:
        found = pq.read_metadata(path)
    except (pa.ArrowException, OSError):
        return 0  # who reads the file says what is wrong with it
    return sum(found.row_group(i).total_byte_size for i in range(found.num_row_groups))


def guessed_rows(files: Sequence[Path]) -> int | None:
    """Return about how many lines text files have, from the first bytes of the first; None where none can be read."""
    try:
        lines, size = _first_lines(files[0])
        total = sum(path.stat().st_size for path in files)
    except (OSError, EOFError):
        return None
    return round(lines * total / size) if size else None


def _first_lines(path: Path) -> tuple[int, int]:
    """Return how many lines the first bytes of a file hold, and how many bytes of the file that took."""
    with path.open("rb") as raw:
        packing = path.suffix.lower()
        if packing not in PACKED:
            data = raw.read(SAMPLE)
            return data.count(b"\n"), len(data)
        with PACKED[packing](raw) as text:
            return text.read(SAMPLE).count(b"\n"), raw.tell()
