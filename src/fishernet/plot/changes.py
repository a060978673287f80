"""What changed between two tables, as bars: the nats of each conditional, and what was found about it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.vocabulary import word
from fishernet.compare import ChangeResult, ConfigurationChange, VariableChange
from fishernet.data.encoding.labels import as_text
from fishernet.plot.style import Theme, dress, fitting, legend, letters, new_axes, require_matplotlib, theme_of
from fishernet.plot.texts import family_of, label, labels, name_ticks, text_sizes, under
from fishernet.plot.tooltips import check_picture_path, entitle, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

By = Literal["variable", "configuration"]
BAR = 0.26  # inches from one bar to the next
WIDE, AROUND = 4.4, 1.2  # inches of the bars with the numbers beside them, and above and below
MOST_LETTERS, MOST_OF_STATE = 44, 16
KINDS: dict[str, tuple[str, str, str | None]] = {  # fill, edge and hatch, so that they are told apart in grey
    "changed": ("more", "more", None),
    "inherited": ("background", "more", "////"),
    "no change found": ("faint", "line", None),
}


def change(
    found: ChangeResult, *, by: By = "variable", most: int = 20, ax: Axes | None = None, font_size: float = 9.0
) -> Axes:
    """Draw which conditionals changed: a bar per variable, as long as the nats that it carries.

    Filled bars are variables whose conditional changed, hatched ones those whose own distribution changed only because
    of others, grey ones all others. A line is the 95 % interval, a tick what would be expected by chance; the number is
    the corrected p-value. By configuration there is a bar per configuration of the parents, and how the probability of
    the state that changed most did.

    Parameters
    ----------
    found : ChangeResult
        As `fishernet.compare.explain_change` gives it.
    by : {"variable", "configuration"}
    most : int
        How many, those that carry most.
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
    SchemaError
        When there are no configurations: of networks of numbers.

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
    size, named = letters(font_size), word(by, "by", tuple(BARS))
    rows, called = _rows(found, named, check.integer(most, "most", least=1))
    if ax is None:
        ax = new_axes(*_inches(called, size))
    look = theme_of(ax)
    _draw(ax, look, rows, called, size, named, _title(found))
    return ax


def write_change(
    found: ChangeResult, path: str | os.PathLike[str], *, by: By = "variable", most: int = 20, font_size: float = 9.0
) -> None:
    """Draw which conditionals changed to a file.

    Parameters
    ----------
    found, by, most, font_size
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
    check_picture_path(path)
    from matplotlib.figure import Figure

    _, called = _rows(found, word(by, "by", tuple(BARS)), check.integer(most, "most", least=1))
    size = letters(font_size)
    figure = Figure(figsize=_inches(called, size), layout="constrained")
    change(found, by=by, most=most, ax=figure.add_subplot(), font_size=size)
    save(figure, Path(path))


Rows = list[VariableChange] | list[ConfigurationChange]


def _rows(found: ChangeResult, by: str, most: int) -> tuple[Rows, list[str]]:
    """Return what there is a bar of, from the largest down, and the labels."""
    if by == "variable":
        rows = sorted(found.by_variable.values(), key=lambda row: (-row.nats, row.variable))[:most]
        return rows, labels([row.variable for row in rows], MOST_LETTERS)
    if not found.by_configuration:
        raise SchemaError("this result has no configurations: its networks are not of tables", parameter="by")
    some = list(found.by_configuration[:most])
    return some, labels([under(row.variable, row.configuration) for row in some], MOST_LETTERS)


def _inches(called: list[str], size: float) -> tuple[float, float]:
    left = float(text_sizes([*called, ""], size)[:, 0].max())
    return left + WIDE + 0.5, AROUND + max(len(called), 2) * BAR


def _title(found: ChangeResult) -> str:
    nats = "infinitely many" if math.isinf(found.nats) else f"{found.nats:.3g}"
    if found.n_rows is None:
        return f"{nats} nats between two networks"
    return f"{nats} nats between {found.n_rows[0]:,} rows before and {found.n_rows[1]:,} after"


def _draw(ax: Axes, look: Theme, rows: Rows, called: list[str], size: float, by: str, title: str) -> None:
    """Draw the bars from the largest down."""
    draw_bar, wider, x = BARS[by]
    ends = [row.nats for row in rows]
    if by == "variable":
        ends += [row.high for row in cast(list[VariableChange], rows)]
    longest = max((x for x in ends if math.isfinite(x)), default=0.0) or 1.0
    small = fitting(ax, len(rows), size)
    for place, row in enumerate(rows):
        end, text = draw_bar(ax, look, place, row, longest)
        if text:
            ax.text(
                end + 0.015 * longest, place, text, va="center", fontsize=0.85 * small, color=look.ink, parse_math=False
            ).set_fontfamily(family_of(text))
    name_ticks(ax.yaxis, range(len(rows)), called)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlim(0, wider * longest)
    dress(ax, look, size, x=x, title=title, left=float(text_sizes(called, size)[:, 0].max()))
    ax.tick_params(axis="y", length=0, labelsize=small)
    if by == "variable":
        legend(ax, look, 0.85 * size, once=True, frameon=False, loc="lower right")


def _configuration_bar(
    ax: Axes, look: Theme, place: int, row: ConfigurationChange, longest: float
) -> tuple[float, str]:
    """Draw the bar of a configuration, and return where it ends, and how its state changed most."""
    nats = min(row.nats, longest)
    bar = ax.barh(place, nats, height=0.62, facecolor=look.more, edgecolor=look.more)
    how = f"{row.before[row.state]:.2g} → {row.after[row.state]:.2g}"
    whose = under(row.variable, row.configuration)
    entitle(bar[0], [f"{whose}: {row.nats:.4g} nats; {as_text(row.state)}: {how}"])
    return nats, f"{label(as_text(row.state), MOST_OF_STATE)}: {how}"


def _variable_bar(ax: Axes, look: Theme, place: int, row: VariableChange, longest: float) -> tuple[float, str]:
    """Draw the bar of a variable, and return where what it carries ends, and its p-value."""
    nats = min(row.nats, longest)
    kind = "changed" if row.changed else "inherited" if row.inherited_from else "no change found"
    fill, edge, hatch = KINDS[kind]
    colours = {"facecolor": getattr(look, fill), "edgecolor": getattr(look, edge)}
    bar = ax.barh(place, nats, height=0.62, label=kind, linewidth=0.8, hatch=hatch, **colours)
    entitle(bar[0], [f"{row.variable}: {row.nats:.4g} nats, {kind}"])
    if math.isfinite(row.low):
        for colour, width in ((look.background, 3.0), (look.ink, 1.2)):  # to be seen on bars and beside them
            ax.plot([row.low, row.high], [place, place], color=colour, linewidth=width)
    if row.by_chance > 0:
        ax.plot([row.by_chance] * 2, [place - 0.38, place + 0.38], color=look.ink, linewidth=0.8, linestyle=":")
    end = max(nats, row.high if math.isfinite(row.high) else 0.0)
    return end, f"p {row.p_corrected:.2g}" if math.isfinite(row.p_corrected) else ""


BARS: dict[str, tuple[Callable[..., tuple[float, str]], float, str]] = {
    "variable": (_variable_bar, 1.18, "nats of the conditional; line: 95 % interval, dots: by chance"),
    "configuration": (_configuration_bar, 1.6, "nats of the configuration"),
}
"""How a bar is drawn, how far the axis goes, in longest bars, and what it says."""
