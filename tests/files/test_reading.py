from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fishernet import FileFormatError
from fishernet.base.io import read_text


def file(folder: Path, data: bytes) -> Path:
    path = folder / "file"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("text", ["", "one\ntwo\r\n", "é \U0001f600"])
def test_text_comes_compressed_or_not_whatever_the_name(tmp_path: Path, text: str) -> None:
    assert read_text(file(tmp_path, text.encode())) == text
    assert read_text(file(tmp_path, gzip.compress(text.encode()))) == text
    assert read_text(str(file(tmp_path, b"\xef\xbb\xbf" + text.encode()))) == text  # a byte order mark


@pytest.mark.parametrize("cut", [3, 12, 25, -9, -1])
def test_damaged_gzip_data(tmp_path: Path, cut: int) -> None:
    path = file(tmp_path, gzip.compress(b"text, long enough to be cut in many places")[:cut])
    with pytest.raises(FileFormatError, match="gzip data is damaged or ends early") as caught:
        read_text(path)
    assert caught.value.path == str(path)


def test_gzip_data_with_a_wrong_byte(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(b"text, long enough to be changed somewhere"))
    data[20] ^= 255
    with pytest.raises(FileFormatError, match="gzip data is damaged"):
        read_text(file(tmp_path, bytes(data)))


def test_what_is_not_text_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="line 3: the file is not text in UTF-8") as caught:
        read_text(file(tmp_path, b"a\nb\n\xff\n"))
    assert caught.value.line == 3
    with pytest.raises(FileFormatError, match="line 2: the file is not text"):
        read_text(file(tmp_path, b"a\n\0\n"))


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"nothing\.bif: there is no such file"):
        read_text(tmp_path / "nothing.bif")
    with pytest.raises(FileFormatError, match="the file cannot be read"):
        read_text(tmp_path)


def test_a_device_without_end_is_not_read_to_its_end() -> None:
    with pytest.raises(FileFormatError, match="line 1: the file is not text"):
        read_text("/dev/zero")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_what_is_too_long_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[..., Any]
) -> None:
    monkeypatch.setattr("fishernet.base.io.MOST_BYTES", 1000)
    monkeypatch.setattr("fishernet.base.io.PIECE", 100)
    assert len(read_text(file(tmp_path, pack(b"x" * 1000)))) == 1000
    with pytest.raises(FileFormatError, match="it holds more than 1,000 bytes, or has no end") as caught:
        read_text(file(tmp_path, pack(b"x" * 1001)))
    assert caught.value.path == str(tmp_path / "file")
