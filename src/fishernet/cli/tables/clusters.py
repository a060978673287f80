"""Tables whose files the workers of a cluster read (``--scheduler``), who keep the rows and answer with counts."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from fishernet.base.errors import FileFormatError, FishernetError
from fishernet.data import Blocks, scan
from fishernet.data.formats.opening import kind_of, plain_delimiter
from fishernet.data.options import Options
from fishernet.data.streams.sizes import found_files

SECONDS = 10  # until a scheduler that does not answer counts as one that cannot be reached
INSTALL = 'pip install "fishernet[dask]"'


def read_on_cluster(address: str, path: Path, text: Mapping[str, Any], **options: Any) -> Blocks:
    """Have the workers of a scheduler read and encode the files of a path.

    Raises
    ------
    FishernetError
        When Dask is not installed, the scheduler cannot be reached, or a partition cannot be read.
    FileFormatError
        When the files are not there, or of a kind that a cluster does not read.
    """
    files = found_files(path)
    client = _connected(address)
    named = {"na_values": text["na_values"]} if "na_values" in text else {}
    typed = {kind_of(file) for file in files} in ({"parquet"}, {"arrow"})
    source = str(path) if typed else _frame(path, files, text)
    found: Any = scan(source, client=client, **named, **options)
    return found  # type: ignore[no-any-return]


def _connected(address: str) -> Any:
    """Return a client of the scheduler, which is closed when the command ends."""
    try:
        import dask.dataframe
        from distributed import Client
    except ImportError as error:
        raise FishernetError(f"--scheduler needs Dask ({error}): {INSTALL}") from None
    assert dask.dataframe is not None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what goes wrong is one sentence of our own
    make: Any = Client
    try:
        client = make(address, timeout=SECONDS, set_as_default=False)
    except (OSError, TimeoutError):
        raise FishernetError(
            f"the Dask scheduler {address} cannot be reached: nothing answered within {SECONDS} seconds (option "
            "--scheduler)"
        ) from None
    except (ValueError, TypeError) as error:
        raise FishernetError(f"--scheduler takes an address as tcp://host:8786, not {address!r} ({error})") from None
    return click.get_current_context().with_resource(client)


def _frame(path: Path, files: list[Path], text: Mapping[str, Any]) -> Any:
    """Return text files as a data frame of Dask, a partition for each part of a file."""
    import dask.dataframe as dd

    if {kind_of(file) for file in files} != {"text"}:
        raise FileFormatError(path, "a cluster reads Parquet, Arrow and text files, of one kind")
    reading: Any = dd
    names = [str(file.resolve()) for file in files]  # workers may run in another folder
    ending = Path(files[0].name.lower().removesuffix(".gz")).suffix
    packed = files[0].name.lower().endswith(".gz")
    whole = ending + ".gz" * packed
    if not all(file.name.lower().endswith(whole) for file in files):
        raise FileFormatError(path, f"the files must be of one kind, and only some of them end in {whole}")
    given = {name: text[name] for name in ("decimal", "thousands", "encoding") if name in text}
    how = {"sep": plain_delimiter(files[0], Options.checked(**text)), **given, "keep_default_na": False}
    words = Options.checked(**text).na_values  # those of one column are taken out later
    how |= {"na_values": sorted(words), **({"blocksize": None} if packed else {})}
    return _made(path, reading.read_csv, names, **how)


def _made(path: Path, read: Any, *names: Any, **how: Any) -> Any:
    try:
        return read(*names, **how)
    except FishernetError:
        raise
    except Exception as error:
        raise FileFormatError(path, f"Dask cannot read it ({' '.join(str(error).split())})") from None
