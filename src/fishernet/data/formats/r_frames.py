"""Data frames that R saved: ``.rds``, ``.rda`` and ``.RData``. It needs pyreadr, of the extra ``stats``.

The levels of a factor are declared states, in their order. Names of rows are no column.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa

from fishernet.base.errors import FileFormatError
from fishernet.base.names import listed, several
from fishernet.base.remedies import Remedy
from fishernet.data.formats.contents import Contents, Note
from fishernet.data.formats.labelled import INSTALL, array_of
from fishernet.data.options import Options

R_ENDINGS = (".rds", ".rda", ".rdata")


def r_contents(path: Path, options: Options) -> Contents:
    """Return what a data frame of a file holds: the one that is asked for by ``sheet``, or the first."""
    frames = {str(name or path.stem): frame for name, frame in _read(path).items()}
    asked = options.text.sheet
    if not frames:
        raise FileFormatError(path, "holds no data frame that can be read; in R, write it with write.csv")
    if asked is not None and asked not in frames:
        fact = f"has no data frame {asked!r}; there are {listed(frames)}"
        raise FileFormatError(path, fact, parameter="sheet")
    name = asked or next(iter(frames))
    others = [other for other in frames if asked is None and other != name]
    notes: tuple[Note, ...] = ()
    if others:
        fact = (
            f"the file has {several(len(others), 'other data frame')} ({listed(others, 3)}), of which nothing is read"
        )
        notes = (Note(fact, "sheet", (Remedy({"sheet": name}, "silence this warning"),)),)
    frame = frames[name]
    table = pa.table([_column(frame.iloc[:, i]) for i in range(frame.shape[1])], names=[str(c) for c in frame.columns])
    where = str(path) if len(frames) == 1 else f"{path}, data frame {name!r}"
    return Contents(where, "R", table.schema, lambda names, _: iter([table.select(list(names))]), notes)


def _read(path: Path) -> dict[Any, Any]:
    try:
        import pyreadr
    except ImportError:
        fact = f"files of R need pyreadr: {INSTALL}, or write the data frame with write.csv"
        raise FileFormatError(path, fact) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it tells of objects that are no frames
            found: dict[Any, Any] = pyreadr.read_r(str(path))
    except UnicodeDecodeError:
        fact = "holds text that is not UTF-8; write the data frame with write.csv, or save it anew after enc2utf8"
        raise FileFormatError(path, fact) from None
    except (pyreadr.PyreadrError, pyreadr.LibrdataError, ValueError) as error:
        fact = (
            f"is no file of R, a broken one, or holds more than data frames ({error}); in R, save the data frame alone "
            "with saveRDS, or write it with write.csv"
        )
        raise FileFormatError(path, fact) from None
    return found


def _column(series: Any) -> pa.Array:
    """Return a column as an Arrow array; a factor declares its levels."""
    if hasattr(series, "cat"):
        codes = pa.array(series.cat.codes, mask=(series.cat.codes < 0).to_numpy())
        return pa.DictionaryArray.from_arrays(
            codes, pa.array([str(level) for level in series.cat.categories], pa.utf8())
        )
    return array_of(series.to_numpy())
