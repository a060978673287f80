"""Data frames of Dask as sources of statistics: the rows stay with the workers of a cluster.

Where there is no cluster, the partitions are read one after the other by Dask's threads in this process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from fishernet.base.errors import SchemaError
from fishernet.base.names import a
from fishernet.data.arrow import frame_columns
from fishernet.data.blocks.blocks import Blocks
from fishernet.data.blocks.passes import blocks_of
from fishernet.data.blocks.places import Mapped
from fishernet.data.blocks.workers import Workers, file_of, is_client, told_of
from fishernet.data.options import Options


def is_dask(frame: Any) -> bool:
    """Whether something is a data frame of Dask."""
    kind = type(frame)
    return kind.__module__.partition(".")[0] == "dask" and hasattr(kind, "to_delayed") and hasattr(kind, "columns")


def of_dask(frame: Any, client: Any = None, options: Options | None = None) -> Blocks:
    """Return a data frame of Dask as a source of statistics.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        Of partitions that are pandas frames.
    client : dask.distributed.Client, optional
        Of the cluster that works. Without it the current client is used, or this process if no client is connected.
    options : Options, optional
        The keywords of `Table.from_frame`.

    Raises
    ------
    FishernetError
        When a partition cannot be read or encoded, naming it; when the scheduler cannot be reached, or the workers have
        another version of this library.
    SchemaError, MissingValueError
        As `Table.from_frame` of the whole frame would.
    """
    if not is_dask(frame):
        raise SchemaError(f"a data frame of Dask is needed, not {type(frame).__name__}")
    options = Options.checked() if options is None else options
    if all(isinstance(name, str) for name in frame.columns):
        frame = frame[options.choose(list(frame.columns))]
        options = replace(options, exclude=())
    frame_columns(frame._meta, options)  # refuses types that hold no labels
    lazy = frame.to_delayed()
    client = _current_client() if client is None else client
    if client is None:
        return blocks_of(_Threads(), [partial(one.compute, scheduler="threads") for one in lazy], options)
    if not is_client(client):
        raise SchemaError(
            f"client must be a dask.distributed.Client, not {a(type(client).__name__)}", parameter="client"
        )
    return blocks_of(Workers(client), lazy, options, keep=_is_narrow(frame._meta))


def _is_narrow(meta: Any) -> bool:
    """Whether partitions take little more memory than what they are encoded to: numbers and categories, no text."""
    return all(dtype.name == "category" or getattr(dtype, "kind", "O") in "biufmM" for dtype in meta.dtypes)


def _current_client() -> Any:
    """Return the current client of a cluster, or None."""
    distributed = sys.modules.get("distributed")  # nobody has a client who has not imported it
    if distributed is None:
        return None
    try:
        return distributed.get_client()
    except ValueError:
        return None


class _Threads(Mapped):
    """Parts that Dask's threads read, one after the other, in this process."""

    def hold(self, parts: Sequence[Callable[[], Any]], function: Callable[[Any], Any]) -> list[Any]:
        """Return a function's answers for partitions; an error says which one it is about."""
        held = []
        for i, part in enumerate(parts):
            try:
                held.append(function(part()))
            except Exception as error:
                raise told_of(error, f"partition {i}{file_of(part.func.__self__)}") from error  # type: ignore[attr-defined]
        return held
