"""Drawings in files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from fishernet.errors import FileFormatError
from fishernet.plot.drawable import Graph, drawable
from fishernet.plot.picture import Picture, require_matplotlib
from fishernet.table.writing import replacing

FORMATS: dict[str, dict[str, Any]] = {  # what would differ from run to run is left out
    ".png": {"metadata": {"Software": None}},
    ".svg": {"metadata": {"Date": None, "Creator": None}},
    ".pdf": {"metadata": {"CreationDate": None, "Creator": None, "Producer": None}},
}
DOTS = 150  # an inch of a .png
LOOK: Any = {"svg.hashsalt": "fishernet", "svg.fonttype": "path", "pdf.fonttype": 42}


def check_output(path: str | os.PathLike[str]) -> None:
    """Raise early when a drawing could not be written to a path.

    Raises
    ------
    FileFormatError
        When the ending is none of .png, .svg and .pdf.
    FishernetError
        When matplotlib is missing.
    """
    if Path(path).suffix.lower() not in FORMATS:
        raise FileFormatError(path, f"a drawing is written to a file ending in {', '.join(FORMATS)}")
    require_matplotlib()


def write_graph(
    graph: Graph, path: str | os.PathLike[str], *, labels: bool | None = None, font_size: float = 9.0
) -> None:
    """Draw a graph, or the graph of a model, to a file.

    The same graph gives the same bytes with the same matplotlib.

    Parameters
    ----------
    graph, labels, font_size
        As for `fishernet.plot.graph`.
    path : path
        Ends in ``.png``, ``.svg`` or ``.pdf``. The file is written beside and renamed.

    Raises
    ------
    FileFormatError
        When the ending is another one, or the file cannot be written.
    FishernetError
        When matplotlib is missing, or there are too many variables.
    SchemaError
        When there is no graph to draw.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import fishernet as fn
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "asia.svg")
    ...     fn.plot.write_graph(fn.datasets.load("asia"), path)
    ...     path.stat().st_size > 0
    True
    """
    check_output(path)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(LOOK):
        picture = Picture(drawable(graph), labels=labels, font_size=font_size)
        figure = Figure(figsize=picture.inches)
        picture.draw(figure.add_axes((0.0, 0.0, 1.0, 1.0)))
        suffix = Path(path).suffix.lower()
        with replacing(Path(path)) as file:
            figure.savefig(file, format=suffix[1:], dpi=DOTS, **FORMATS[suffix])
