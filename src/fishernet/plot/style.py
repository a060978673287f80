"""One look for all pictures: colours, marks and lines that are told apart by the colour-blind and in grey.

Text stands out from what it is on by a contrast of 4.5 or more, and lines and marks by 3, as the guidelines for
accessible pages ask (WCAG 2.1). What a colour says, a mark, a dash or a hatch says as well. There is a light and a dark
theme; a picture has the one that goes with the background of its axes.
"""

from __future__ import annotations

import importlib.util
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from fishernet.base import check
from fishernet.base.errors import FishernetError
from fishernet.base.vocabulary import word
from fishernet.plot.texts import POINTS, family_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TEXT_CONTRAST, MARK_CONTRAST = 4.5, 3.0
LINE, LETTER = 1.25, 0.58  # a line and a letter, in sizes of the font
LEAST_LETTERS, MOST_LETTERS = 1.0, 200.0  # points
MARKS = ("o", "^", "s", "D", "v", "p", "h")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.2, 1.2)), (0, (5, 1.5, 1.2, 1.5)), (0, (8, 2, 2, 2, 2, 2)))


@dataclass(frozen=True)
class Theme:
    """The colours of one background, from the palette of Okabe and Ito (2008), darkened or lightened to stand out."""

    background: str
    ink: str
    """Of text."""
    muted: str
    """Of text that matters less."""
    line: str
    """Of edges, and of marks without a meaning of their own."""
    faint: str
    """Of bands and of what is pushed back; nothing is to be read off it."""
    box: str
    """Of the boxes in which names stand."""
    series: tuple[str, ...]
    """Of lines and marks, in order."""
    fills: tuple[str, ...]
    """Of groups of nodes, in order: from light to dark and in between, so that the first ones differ in grey."""
    dots: tuple[str, ...]
    """Of rows by their state, in order; brighter than `series`, and told apart by their marks."""
    more: str
    """Of what is more, added, positive or likelier; drawn solid."""
    less: str
    """Of what is less, taken away, negative or less likely; drawn dashed or hatched."""
    third: str
    sequential: str
    """The colour map of numbers from 0 up, monotone in grey."""
    diverging: str


LIGHT = Theme(
    background="#FFFFFF",
    ink="#1F1F1F",
    muted="#595959",
    line="#6B6B6B",
    faint="#DADADA",
    box="#E6F0F7",
    series=("#0072B2", "#C04A00", "#00795A", "#8A3F7B", "#7A5A00", "#1F1F1F"),
    fills=("#F0E442", "#56B4E9", "#C04A00", "#0A5A8A", "#CC79A7", "#7FD3B5", "#4A4A4A"),
    dots=("#3A9BD9", "#D98200", "#00936B", "#C0609A", "#0A5A8A", "#A89B00", "#8A5A00"),
    more="#0072B2",
    less="#C04A00",
    third="#8A3F7B",
    sequential="Blues",
    diverging="RdBu_r",
)
DARK = Theme(
    background="#15181C",
    ink="#EDEDED",
    muted="#B3B3B3",
    line="#9A9A9A",
    faint="#3B4148",
    box="#1F3140",
    series=("#56B4E9", "#F08A4B", "#3DCB9F", "#E39BC6", "#F0E442", "#EDEDED"),
    fills=("#F0E442", "#56B4E9", "#D8642A", "#0F6FA8", "#CC79A7", "#7FD3B5", "#7A7A7A"),
    dots=("#56B4E9", "#E69F00", "#2CC295", "#E39BC6", "#2F8FD0", "#F0E442", "#C08A3E"),
    more="#56B4E9",
    less="#F08A4B",
    third="#E39BC6",
    sequential="Blues_r",
    diverging="berlin",
)
THEMES = {"light": LIGHT, "dark": DARK}


@contextmanager
def theme(name: Literal["light", "dark"] = "light") -> Iterator[None]:
    """Make new figures light or dark, within a ``with``.

    A picture on given axes has the colours that go with their background, so ``plt.style.use`` of
    matplotlib's "dark_background" does as well.

    Parameters
    ----------
    name : {"light", "dark"}

    Raises
    ------
    FishernetError
        When the theme is unknown, or matplotlib is missing.

    Examples
    --------
    >>> import fishernet as fn
    >>> from matplotlib.figure import Figure
    >>> with fn.plot.theme("dark"):
    ...     axes = fn.plot.graph(fn.datasets.load("asia"), ax=Figure().add_subplot())
    >>> axes.texts[0].get_color()
    '#EDEDED'
    """
    chosen = THEMES[word(name, "name", tuple(THEMES))]
    require_matplotlib()
    from matplotlib import rc_context

    colours: Any = {
        **dict.fromkeys(("figure.facecolor", "axes.facecolor", "legend.facecolor"), chosen.background),
        **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"), chosen.ink),
        **dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), chosen.line),
    }
    with rc_context(colours):
        yield


def theme_of(ax: Axes) -> Theme:
    """Return the theme that goes with the background of axes."""
    from matplotlib.colors import to_rgba

    figure = ax.get_figure(root=True)
    shade = 1.0
    for colour in ("white", figure.get_facecolor() if figure else "white", ax.get_facecolor()):
        *_, opacity = to_rgba(colour)
        shade += opacity * (luminance(colour) - shade)
    return LIGHT if contrast_of(shade, 0.0) >= contrast_of(shade, 1.0) else DARK


def luminance(colour: Any) -> float:
    """Return the relative luminance of a colour, from 0 (black) to 1 (white)."""
    from matplotlib.colors import to_rgb

    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast_of(a: float, b: float) -> float:
    """Return the contrast of two luminances, from 1 to 21."""
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)


def contrast(a: Any, b: Any) -> float:
    """Return the contrast of two colours, from 1 to 21."""
    return contrast_of(luminance(a), luminance(b))


def ink_on(fill: Any) -> str:
    """Return black or white, whichever stands out more; its contrast is 4.58 or more on any colour."""
    return max(("#000000", "#FFFFFF"), key=lambda ink: contrast(ink, fill))


def letters(font_size: object) -> float:
    """Return the size of letters in points, checked."""
    return check.number(font_size, "font_size", least=LEAST_LETTERS, most=MOST_LETTERS)


def has_matplotlib() -> bool:
    """Whether matplotlib can be imported."""
    return importlib.util.find_spec("matplotlib") is not None


def require_matplotlib() -> None:
    """Raise FishernetError when matplotlib is not there."""
    if not has_matplotlib():
        raise FishernetError('drawing needs matplotlib; pip install "fishernet[plot]" installs it')


def new_axes(width: float, height: float) -> Axes:
    """Return axes on a new figure of so many inches, which nothing on them is cut off of."""
    from matplotlib import pyplot

    return pyplot.figure(figsize=(width, height), layout="constrained").add_subplot()


def fitting(ax: Axes, lines: float, size: float) -> float:
    """Return the size of letters, at most `size`, with which so many lines stand above each other on axes."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    height = float(figure.get_size_inches()[1]) * ax.get_position().height * POINTS - 2 * LINE * size
    return max(LEAST_LETTERS, min(size, height / max(lines, 1) / LINE))


def _wrapped(text: str, inches: float, size: float) -> str:
    """Return a text in lines that are no longer than the axes."""
    longest = max(12, int(inches * POINTS / (LETTER * size)))
    return "\n".join(textwrap.fill(line, longest) for line in text.split("\n"))


def dress(
    ax: Axes, look: Theme, size: float, *, x: str = "", y: str = "", title: str = "", grid: str = "", left: float = 0.0
) -> None:
    """Write what the axes say in the colours of a theme, without lines that say nothing.

    `left` is how many inches the labels to the left of the axes take, where these are long.
    """
    words: Any = {"fontsize": size, "color": look.ink, "fontfamily": family_of(x + y + title), "parse_math": False}
    figure = ax.get_figure(root=True)
    assert figure is not None
    place, sheet = ax.get_position(), figure.get_size_inches()
    width, height = sheet * place.size
    width -= max(0.0, left + 0.1 - float(sheet[0]) * place.x0)
    if x:
        ax.set_xlabel(_wrapped(x, width, size), **words)
    if y:
        ax.set_ylabel(_wrapped(y, height, size), **words)
    if title:
        ax.set_title(_wrapped(title, width, size), loc="left", **words)
    ax.tick_params(labelsize=size, labelcolor=look.ink, color=look.line)
    for name, spine in ax.spines.items():
        spine.set_visible(name in ("left", "bottom"))
        spine.set_color(look.line)
    if grid:
        ax.grid(axis=grid, color=look.faint, linewidth=0.6)  # type: ignore[arg-type]
        ax.set_axisbelow(True)


def legend(ax: Axes, look: Theme, size: float, *, once: bool = False, **where: Any) -> None:
    """Say what marks mean, in plain text, on the background; once where marks of one label look alike."""
    handles, texts = ax.get_legend_handles_labels()
    if once:
        kinds = dict(zip(texts, handles, strict=True))
        handles, texts = list(kinds.values()), list(kinds)
    box = ax.legend(
        handles, texts, fontsize=size, labelcolor=look.ink, facecolor=look.background, edgecolor=look.faint, **where
    )
    for text in (*box.get_texts(), box.get_title()):
        text.set_parse_math(False)
        text.set_fontfamily(family_of(text.get_text()))
