"""What a picture says of its parts when one points at them: titles in SVG, and files of pictures."""

from __future__ import annotations

import html
import io
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fishernet.base import check
from fishernet.base.errors import FileFormatError, SchemaError
from fishernet.base.io import replacing
from fishernet.base.names import a
from fishernet.plot.style import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS: dict[str, dict[str, Any]] = {  # what would differ from run to run is left out
    ".png": {"metadata": {"Software": None}},
    ".svg": {"metadata": {"Date": None, "Creator": None}},
    ".pdf": {"metadata": {"CreationDate": None, "Creator": None, "Producer": None}},
}
DOTS = 150  # an inch of a .png
LOOK: Any = {"svg.hashsalt": "fishernet", "pdf.fonttype": 42}
TITLES = "_fishernet_titles"
LONGEST_TITLE = 400


def entitle(artist: Artist, titles: Sequence[str]) -> None:
    """Give the parts of a collection, or a text, what SVG shows when one points at them."""
    setattr(artist, TITLES, [title[:LONGEST_TITLE] for title in titles])


def check_picture_path(path: str | os.PathLike[str]) -> None:
    """Raise early when a drawing could not be written to a path.

    Raises
    ------
    FileFormatError
        When the ending is not .png, .svg or .pdf.
    FishernetError
        When matplotlib is missing.
    """
    if check.path(path).suffix.lower() not in FORMATS:
        raise FileFormatError(path, f"a drawing is written to a file ending in {', '.join(FORMATS)}")
    require_matplotlib()


def write(picture: Axes | Figure, path: str | os.PathLike[str]) -> None:
    """Write a picture to a file; in SVG, names and numbers appear where one points.

    The same picture gives the same bytes with the same matplotlib.

    Parameters
    ----------
    picture : matplotlib Axes or Figure
        What a function of this module returns. All that is on the figure is written.
    path : path
        Ends in ``.png``, ``.svg`` or ``.pdf``. The file is written beside and renamed.

    Raises
    ------
    FileFormatError
        When the ending is another one, or the file cannot be written.
    FishernetError
        When matplotlib is missing.
    SchemaError
        When there is no figure.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import fishernet as fn
    >>> from matplotlib.figure import Figure
    >>> asia = fn.datasets.load("asia")
    >>> axes = fn.plot.conditional(asia, "dysp", ax=Figure().add_subplot())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "dysp.svg")
    ...     fn.plot.write(axes, path)
    ...     path.stat().st_size > 0
    True
    """
    check_picture_path(path)
    figure = _figure_of(picture)
    save(figure, Path(path))


def _figure_of(picture: Any) -> Figure:
    from matplotlib.artist import Artist

    figure = picture.get_figure(root=True) if isinstance(picture, Artist) else None
    if figure is None:
        raise SchemaError(
            f"picture must be axes or a figure of matplotlib, not {a(type(picture).__name__)}", parameter="picture"
        )
    found: Figure = figure
    return found


def save(figure: Figure, path: Path) -> None:
    """Write a figure to a file whose ending was checked."""
    from matplotlib import rc_context

    suffix = path.suffix.lower()
    with rc_context(LOOK), replacing(path) as file:
        if suffix == ".svg":
            file.write(as_svg(figure).encode())
        else:
            figure.savefig(file, format=suffix[1:], dpi=DOTS, **FORMATS[suffix])


def as_svg(figure: Figure) -> str:
    """Return a figure as SVG, with the titles of its parts."""
    titled = {f"titled_{n}": artist for n, artist in enumerate(figure.findobj(lambda one: hasattr(one, TITLES)))}
    before = {name: artist.get_gid() for name, artist in titled.items()}
    file = io.StringIO()
    try:
        for name, artist in titled.items():
            artist.set_gid(name)
        figure.savefig(file, format="svg", **FORMATS[".svg"])
    finally:
        for name, artist in titled.items():
            artist.set_gid(before[name])
    return with_titles(file.getvalue(), {name: getattr(artist, TITLES) for name, artist in titled.items()})


TAG = re.compile(r"<(/?)(\w+)([^>]*?)(/?)>")


def with_titles(svg: str, titles: dict[str, Sequence[str]]) -> str:
    """Return SVG as matplotlib writes it, with a title for each shape of the groups of some names.

    A group with one title has it as a whole. Nothing is entitled where shapes and titles differ in number.
    """
    pieces, end = [], 0
    for opening in re.finditer(r'<g id="(titled_\d+)"[^>]*>', svg):
        own = [f"<title>{html.escape(title)}</title>" for title in titles[opening[1]]]
        pieces.append(svg[end : opening.end()])
        end = opening.end()
        if len(own) == 1:
            pieces.append(own[0])
            continue
        shapes = _shapes(svg, end)
        for shape, title in zip(shapes, own, strict=True) if len(shapes) == len(own) else ():
            pieces += [svg[end : shape.end() - 2], ">", title, f"</{shape[2]}>"]
            end = shape.end()
    return "".join([*pieces, svg[end:]])


def _shapes(svg: str, start: int) -> list[re.Match[str]]:
    """Return the tags of what is drawn in a group whose opening tag ends at `start`."""
    found, inside, defined = [], 1, 0
    for tag in TAG.finditer(svg, start):
        closing, name, _, empty = tag.groups()
        if name == "g":
            inside += -1 if closing else 1
            if not inside:
                break
        elif name in ("defs", "clipPath"):
            defined += -1 if closing else 1
        elif empty and not defined and name in ("path", "use"):
            found.append(tag)
    return found
