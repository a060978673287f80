from __future__ import annotations

import gzip
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from fishernet import FileFormatError
from fishernet.base.io import replacing_text


class Broken(BaseException):
    """As Ctrl-C: no Exception."""


def write(path: Path, pieces: Iterable[str]) -> None:
    with replacing_text(path) as file:
        file.writelines(pieces)


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, Broken, RuntimeError])
def test_what_breaks_half_way_leaves_the_old_file_alone(tmp_path: Path, name: str, error: type[BaseException]) -> None:
    path = tmp_path / name
    path.write_bytes(b"old")

    def pieces() -> Iterator[str]:
        yield "new " * 100_000
        raise error

    with pytest.raises(error):
        write(path, pieces())
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == [name]  # noqa: PTH208


def test_what_breaks_half_way_leaves_no_new_file(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), replacing_text(tmp_path / "a.txt"):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_the_old_file_is_there_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with replacing_text(path) as file:
        file.write("new")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"


@pytest.mark.skipif(sys.platform == "win32", reason="has no limit on the size of files")
@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_a_full_disk_leaves_the_old_file_alone(tmp_path: Path, name: str) -> None:
    import resource

    path = tmp_path / name
    path.write_bytes(b"old")
    noise = "".join(chr(0x4E00 + number * 7919 % 20000) for number in range(200_000))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        with pytest.raises(FileFormatError, match=r"cannot be written \(File too large\)"):
            write(path, noise)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_gz_is_told_by_the_name_and_equal_texts_give_equal_bytes(tmp_path: Path) -> None:
    write(tmp_path / "a.GZ", "héllo\n")
    write(tmp_path / "b.gz", "héllo\n")
    packed = (tmp_path / "a.GZ").read_bytes()
    assert gzip.decompress(packed).decode() == "héllo\n"
    assert packed == (tmp_path / "b.gz").read_bytes()
    assert packed[4:8] == bytes(4)  # RFC 1952: the time stamp


def test_line_ends_are_the_same_everywhere(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", ["one\n", "two\n"])
    assert (tmp_path / "a.txt").read_bytes() == b"one\ntwo\n"


def test_permissions_stay_and_new_files_follow_the_mask(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    mask = os.umask(0o027)
    try:
        write(path, "new")
    finally:
        os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o640
    path.chmod(0o604)
    write(path, "newer")
    assert path.stat().st_mode & 0o777 == 0o604


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target = tmp_path / "folder" / "target.txt"
    target.write_text("old")
    (tmp_path / "link.txt").symlink_to(target)
    write(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert target.read_text() == "new"


def test_a_missing_folder_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"nowhere.a\.txt: cannot be written \(No such file or directory\)"):
        write(tmp_path / "nowhere" / "a.txt", "new")


def test_a_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="cannot be written"):
        write(tmp_path, "new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no pipes with names")
def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()), daemon=True)
    reader.start()
    write(pipe, "through")
    reader.join(60)
    assert got == ["through"]
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no pipes with names")
def test_a_pipe_whose_reader_leaves_is_an_error(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=lambda: pipe.open("rb").close(), daemon=True).start()
    with pytest.raises(FileFormatError, match=r"pipe: cannot be written \(Broken pipe\)"):
        write(pipe, ["much " * 1_000_000])
    assert list(tmp_path.iterdir()) == [pipe]
