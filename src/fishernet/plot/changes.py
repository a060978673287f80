"""What changed between two tables, as bars: the nats of each conditional, and what was found about it."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fishernet.base import check
from fishernet.base.io import replacing
from fishernet.base.names import cut
from fishernet.compare import ChangeResult, VariableChange
from fishernet.plot.drawing import DOTS, FORMATS, LOOK, check_output
from fishernet.plot.picture import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAR = 0.26  # inches from one bar to the next
LEFT, RIGHT, ABOVE, BELOW, WIDE = 1.8, 0.9, 0.5, 0.5, 4.0  # inches around the bars, and of them
MOST_LETTERS = 24
KINDS: dict[str, dict[str, Any]] = {  # by fill and pattern, so that they are told apart in grey
    "changed": {"facecolor": "#1f4e79", "edgecolor": "#1f4e79"},
    "inherited": {"facecolor": "#ffffff", "edgecolor": "#1f4e79", "hatch": "////"},
    "no change found": {"facecolor": "#d9d9d9", "edgecolor": "#595959"},
}


def change(found: ChangeResult, *, most: int = 20, ax: Axes | None = None, font_size: float = 9.0) -> Axes:
    """Draw which conditionals changed: a bar per variable, as long as the nats that it carries.

    Filled bars are variables whose conditional changed, hatched ones those whose own distribution changed only because
    of others, grey ones all others. A line is the 95 % interval, a tick what would be expected by chance; the number is
    the corrected p-value.

    Parameters
    ----------
    found : ChangeResult
        As `fishernet.compare.explain_change` gives it.
    most : int
        How many variables, those that carry most.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure as large as the bars need, for `matplotlib.pyplot.show`.
    font_size : float
        Of all text, in points.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    FishernetError
        When matplotlib is missing, or `most` is no positive integer.

    Examples
    --------
    >>> import fishernet as fn
    >>> from matplotlib.figure import Figure
    >>> asia = fn.datasets.load("asia")
    >>> found = fn.compare.explain_change(asia, fn.infer.intervene(asia, {"smoke": "yes"}))
    >>> axes = fn.plot.change(found, most=3, ax=Figure().add_subplot())
    >>> [label.get_text() for label in axes.get_yticklabels()][0]
    'smoke'
    """
    require_matplotlib()
    check.made(found, "found", "a ChangeResult, as fn.compare.explain_change gives it", "by_variable", "graphs")
    rows = _largest(found, check.integer(most, "most", least=1))
    size = check.number(font_size, "font_size", above=0)
    if ax is None:
        ax = _new_axes(len(rows))
    _draw(ax, rows, size)
    ax.set_title(_title(found), fontsize=size, loc="left")
    return ax


def write_change(found: ChangeResult, path: str | os.PathLike[str], *, most: int = 20, font_size: float = 9.0) -> None:
    """Draw which conditionals changed to a file.

    Parameters
    ----------
    found, most, font_size
        As for `fishernet.plot.change`.
    path : path
        Ends in ``.png``, ``.svg`` or ``.pdf``. The file is written beside and renamed.

    Raises
    ------
    FileFormatError
        When the ending is another one, or the file cannot be written.
    FishernetError
        When matplotlib is missing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> found = fn.compare.explain_change(asia, fn.infer.intervene(asia, {"smoke": "yes"}))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "change.svg")
    ...     fn.plot.write_change(found, path)
    ...     path.stat().st_size > 0
    True
    """
    check_output(path)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    suffix = Path(path).suffix.lower()
    with rc_context(LOOK), replacing(Path(path)) as file:
        width, height, where = _places(min(len(found.by_variable), check.integer(most, "most", least=1)))
        figure = Figure(figsize=(width, height))
        change(found, most=most, ax=figure.add_axes(where), font_size=font_size)
        figure.savefig(file, format=suffix[1:], dpi=DOTS, **FORMATS[suffix])


def _largest(found: ChangeResult, most: int) -> list[VariableChange]:
    rows = sorted(found.by_variable.values(), key=lambda row: (-row.nats, row.variable))
    return rows[:most]


def _places(n: int) -> tuple[float, float, tuple[float, float, float, float]]:
    """Return the size of a figure in inches, and where the bars lie in it."""
    width, height = LEFT + WIDE + RIGHT, ABOVE + max(n, 1) * BAR + BELOW
    return width, height, (LEFT / width, BELOW / height, WIDE / width, max(n, 1) * BAR / height)


def _new_axes(n: int) -> Axes:
    from matplotlib import pyplot

    width, height, where = _places(n)
    return pyplot.figure(figsize=(width, height)).add_axes(where)


def _kind(row: VariableChange) -> str:
    return "changed" if row.changed else "inherited" if row.inherited_from else "no change found"


def _title(found: ChangeResult) -> str:
    nats = "infinitely many" if math.isinf(found.nats) else f"{found.nats:.3g}"
    if found.n_rows is None:
        return f"{nats} nats between two networks"
    return f"{nats} nats between {found.n_rows[0]:,} rows before and {found.n_rows[1]:,} after"


def _draw(ax: Axes, rows: list[VariableChange], size: float) -> None:
    """Draw the bars from the largest down."""
    longest = max((x for row in rows for x in (row.nats, row.high) if math.isfinite(x)), default=0.0) or 1.0
    for place, row in enumerate(rows):
        nats = min(row.nats, longest)
        ax.barh(place, nats, height=0.62, label=_kind(row), linewidth=0.8, **KINDS[_kind(row)])
        if math.isfinite(row.low):
            for colour, width in (("#ffffff", 3.0), ("#000000", 1.2)):  # to be seen on bars and beside them
                ax.plot([row.low, row.high], [place, place], color=colour, linewidth=width)
        if row.by_chance > 0:
            ax.plot([row.by_chance] * 2, [place - 0.38, place + 0.38], color="#000000", linewidth=0.8, linestyle=":")
        if math.isfinite(row.p_max_t):
            end = max(nats, row.high if math.isfinite(row.high) else 0.0)
            ax.text(end + 0.015 * longest, place, f"p {row.p_max_t:.2g}", va="center", fontsize=0.85 * size)
    ax.set_yticks(range(len(rows)), [cut(row.variable, MOST_LETTERS) for row in rows], fontsize=size)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlim(0, 1.15 * longest)
    ax.set_xlabel("nats of the conditional; line: 95 % interval, dots: by chance", fontsize=size)
    ax.tick_params(axis="x", labelsize=size)
    ax.tick_params(axis="y", length=0)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    handles, labels = ax.get_legend_handles_labels()
    kinds = dict(zip(labels, handles, strict=True))
    ax.legend(kinds.values(), kinds.keys(), fontsize=0.85 * size, frameon=False, loc="lower right")
