"""Files that the library wrote, changed: a reader answers with what it read or with an error of ours."""

from __future__ import annotations

import functools
import gzip
import random
import shutil
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import fishernet as fn
from fishernet.files import read_newicks, read_uai, read_uai_evidence, read_xdsl
from tests.files.examples import EXAMPLES
from tests.fuzz.case import Case

FRAME = {
    "age": [61.5, 35.25, None, 48.0, 12.5, 7.75],
    "smoke": ["yes", "no", "no, never", 'he said "no"', None, "é"],
    "n": [1, 2, 3, 4, 5, 10**12],
    "old": [True, False, True, True, False, None],
}
TEXTS = {
    "a.arff": "@relation r\n@attribute a {x,'y z'}\n@attribute b numeric\n@data\nx,1.5\n'y z',?\n{0 x, 1 3}\n",
    "a.fasta": ">a first one\nACGT\nac-g\n;note\n>b\nTT*\n",
    "a.nwk": "((man:0.1,'mo''use':1e-3):0.2,[x]yeast_1:0.9)all;\n",
    "b.nwk": "((a,b),c);\n(d,(e,f));\n",
    "a.sto": "# STOCKHOLM 1.0\n#=GC RF xx.\none AC.\n#=GR one SS HH.\ntwo a-g\n\none T\ntwo T\n//\n",
    "a.evid": "1\n2 0 1 12 0\n",
    "b.csv": "a;b\n1,5;x\n2.000,25;y\n",
    "t.json": '[{"a": 1, "b": {"c": "x"}}, {"a": 2.5, "b": {"c": "y"}, "d": [1]}]\n',
    "u.json": '{"a": {"0": 1, "1": null}, "b": {"0": "x", "1": true}}\n',
    "t.jsonl": '{"a": 1, "b": "x"}\n{"a": 2, "b": null}\n',
    "b.txt": 'a\tb\n1\t"x\n\ty"\n-1e-3\tNA\n',
}
READERS: dict[str, list[Callable[[Path], Any]]] = {
    ".fasta": [fn.read_fasta],
    ".nwk": [fn.read_newick, read_newicks],
    ".sto": [fn.read_stockholm],
    ".bif": [fn.read_bif, fn.load],
    ".xdsl": [read_xdsl],
    **{ending: [fn.load] for ending in (".net", ".dsc", ".xmlbif")},
    ".uai": [read_uai],
    ".evid": [read_uai_evidence],
    ".json": [fn.load, fn.read_table],
}
PIECES = [
    *(b"", b'"', b"'", b"\\", b"\x00", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\r", b"\n"),
    *(b"\t", b" "),
    *(b"}", b"]", b"[", b"{", b"(", b")", b"<", b">", b"&", b"|", b";", b":", b",", b"=", b"@", b"%", b"#", b"/*"),
    *(b"nan", b"inf", b"-inf", b"null", b"true", b"-1", b"0", b"-0", b"1e999", b"1e-999", b"9" * 25, b"9" * 5000),
    *(b"2147483648", b"4294967296", b"9223372036854775807", b"9223372036854775808", b"-9223372036854775809"),
    *(b"[" * 3000, b"(" * 3000, b'{"a":' * 3000, b"<a>" * 3000, b"/*" * 500, b"<!DOCTYPE a [<!ENTITY b 'c'>]>"),
    *("é".encode(), "日本".encode(), "\u2028".encode(), b"&#0;", b"&b;", b"\\u0000", b"\\ud800", b"NaN", b"1_0"),
]  # fmt: skip


@functools.cache
def corpus() -> dict[str, bytes]:
    """Return the valid files by name; those that the library can write are written by it."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        here = Path(folder)
        table = fn.Table.from_frame(FRAME)
        for name in ("a.csv", "a.tsv", "a.csv.gz", "a.parquet", "a.arrow", "a.feather"):
            fn.write_table(table, here / name)
        for number, (name, model) in enumerate(EXAMPLES.items()):
            fn.save(model, here / f"{number}.json")
            if name in ("asia", "merged"):
                for ending in (".bif", ".xdsl", ".net", ".dsc", ".xmlbif", ".uai", ".bif.gz"):
                    fn.save(model, here / f"{name}{ending}")
        _frames(here)
        found = {path.name: path.read_bytes() for path in sorted(here.iterdir())}
    return found | {name: text.encode() for name, text in TEXTS.items()}


def _frames(here: Path) -> None:
    """Write files as pandas and polars do, whose metadata are their own."""
    import pandas as pd
    import polars as pl

    frame = pd.DataFrame({"a": ["x", None, "y"], "b": pd.Categorical(["u", "v", "u"]), "c": np.arange(3) / 2})
    frame["d"] = pd.to_datetime(["2001-01-01", "2002-02-02", None])
    pl.DataFrame({"a": ["x", None], "b": [1, 2]}).write_parquet(here / "polars.parquet")
    pl.DataFrame({"a": ["x", None], "b": [1, 2]}).write_ipc(here / "polars.arrow")
    try:
        import pyreadr
    except ImportError:
        pass
    else:
        pyreadr.write_rds(str(here / "a.rds"), frame, compress="gzip")
        pyreadr.write_rdata(str(here / "a.rda"), frame)
    try:
        frame.to_parquet(here / "pandas.parquet")
        frame.to_feather(here / "pandas.feather")
    except ImportError:  # pyarrow is not needed
        return


def readers_of(name: str) -> list[Callable[[Path], Any]]:
    """Return what reads a file of that name."""
    return READERS.get(Path(name.removesuffix(".gz")).suffix, [_table])


def _table(path: Path) -> Any:
    return fn.read_table(path)


def changed(data: bytes, draws: random.Random) -> bytes:
    """Return a file's bytes with one to four things wrong."""
    if data.startswith(b"\x1f\x8b") and draws.random() < 0.7:
        return gzip.compress(changed(gzip.decompress(data), draws))
    for _ in range(draws.choice((1, 1, 1, 2, 4))):
        data = draws.choice(WAYS)(data, draws)
    return data


def _flip(data: bytes, draws: random.Random) -> bytes:
    at = draws.randrange(len(data) + 1)
    return data[:at] + bytes([draws.randrange(256)]) + data[at + 1 :]


def _cut(data: bytes, draws: random.Random) -> bytes:
    at = draws.randrange(len(data) + 1)
    return data[:at] if draws.random() < 0.7 else data[at:]


def _twice(data: bytes, draws: random.Random) -> bytes:
    at, length = draws.randrange(len(data) + 1), draws.choice((1, 4, 16, 64, 256))
    return data[: at + length] + data[at : at + length] * draws.choice((1, 1, 50)) + data[at + length :]


def _swap(data: bytes, draws: random.Random) -> bytes:
    a, b = sorted((draws.randrange(len(data) + 1), draws.randrange(len(data) + 1)))
    length = draws.choice((1, 4, 16, 64))
    return data[:a] + data[b : b + length] + data[a + length : b] + data[a : a + length] + data[b + length :]


def _insert(data: bytes, draws: random.Random) -> bytes:
    at = draws.randrange(len(data) + 1)
    return data[:at] + draws.choice(PIECES) + data[at + draws.randrange(3) :]


def _number(data: bytes, draws: random.Random) -> bytes:
    """Replace one run of digits, where there is one."""
    at = draws.randrange(len(data) + 1)
    while at < len(data) and not 48 <= data[at] <= 57:
        at += 1
    end = at
    while end < len(data) and 48 <= data[end] <= 57:
        end += 1
    return data[:at] + draws.choice((b"-1", b"0", b"3", b"1e999", b"9" * 19, b"2147483647", b"x", b"")) + data[end:]


WAYS = [_flip, _cut, _twice, _swap, _insert, _insert, _number, _number]


@functools.cache
def folder() -> Path:
    """A folder that goes when the process ends."""
    import atexit

    made = Path(tempfile.mkdtemp(prefix="fishernet-fuzz-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def case(seed: int) -> Case:
    """Return the case of a seed."""
    draws = random.Random(f"readers {seed}")
    name = draws.choice(list(corpus()))
    reader = draws.choice(readers_of(name))
    data = changed(corpus()[name], draws)

    def call() -> Any:
        path = folder() / name
        path.write_bytes(data)
        return repr(reader(path))

    return Case(f"{getattr(reader, '__name__', reader)} of {name} as {data[:80]!r}", call)
