"""Model files in other encodings than UTF-8."""

from __future__ import annotations

from pathlib import Path

import pytest

import fishernet as fn
from fishernet.base.errors import FileFormatError, SchemaError

NET = """network 诊断 {
}
variable 吸烟 {
  type discrete [ 2 ] { 是, 否 };
}
probability ( 吸烟 ) {
  table 0.25, 0.75;
}
"""


@pytest.mark.parametrize("encoding", ["gbk", "utf-16", "utf-8-sig"])
def test_a_network_in_another_encoding(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "net.bif"
    path.write_bytes(NET.encode())
    known = fn.load(path)
    assert known.variables == (fn.Variable("吸烟", ["是", "否"]),)
    path.write_bytes(NET.encode(encoding))
    if encoding == "gbk":
        with pytest.raises(FileFormatError, match="not text in UTF-8; say its encoding") as refused:
            fn.load(path)
        assert refused.value.parameter == "encoding"
        assert fn.load(path, encoding="gbk") == fn.read_bif(path, encoding="gbk") == known
    else:
        assert fn.load(path) == known


def test_an_encoding_for_files_that_say_their_own(tmp_path: Path) -> None:
    (tmp_path / "net.bif").write_text(NET, encoding="utf-8")
    fn.save(fn.load(tmp_path / "net.bif"), tmp_path / "net.json")
    with pytest.raises(SchemaError, match="encoding is for '.bif', '.net', '.dsc' files"):
        fn.load(tmp_path / "net.json", encoding="gbk")
    with pytest.raises(SchemaError, match="encoding must be one that Python knows"):
        fn.load(tmp_path / "net.bif", encoding="klingon")
