"""Probabilities of states: the table of a conditional as a heat map, and marginals as bars."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import a, numbered, position, positions
from fishernet.infer import marginal
from fishernet.infer.queries import MarginalKeywords
from fishernet.models import BayesianNetwork, DependencyNetwork, MarkovNetwork
from fishernet.plot.style import dress, fitting, ink_on, letters, new_axes, require_matplotlib, theme_of
from fishernet.plot.texts import FONT, family_of, label, labels, name_ticks, states_of, text_sizes, under
from fishernet.plot.tooltips import entitle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = npt.NDArray[np.float64]

CELL = (0.5, 0.24)  # inches of a cell of a table, wide and high, at least
MOST_NUMBERS = 600  # cells with their numbers in them
LONGEST = 44  # characters of a label
BAR = 0.22  # inches from one bar to the next
WIDE = 3.4  # inches of a bar of probability one


def conditional(
    net: BayesianNetwork | DependencyNetwork,
    variable: str,
    *,
    most: int = 40,
    ax: Axes | None = None,
    font_size: float = 9.0,
) -> Axes:
    """Draw the conditional of a variable as a heat map: a row per configuration of its parents, a column per state.

    Cells say how probable the state is, in percent, while there is room for numbers. Of a tree, or a table with merged
    rows, there is a row per group, with the first configuration in it.

    Parameters
    ----------
    net : BayesianNetwork or DependencyNetwork
        Whose conditionals are tables, shared or not.
    variable : str
        Its name.
    most : int
        How many rows, and how many columns: if there are more, the first configurations and the most
        probable states are shown, the other states together in the last column.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure as large as the table needs, for `matplotlib.pyplot.show`.
    font_size : float
        Of all text, in points.

    Returns
    -------
    matplotlib Axes
        Its one collection holds the probabilities, row by row from the top.

    Raises
    ------
    FishernetError
        When matplotlib is missing, or `most` is below 2.
    SchemaError
        When the variable is unknown, or its conditional is not a table.

    Examples
    --------
    >>> import fishernet as fn
    >>> from matplotlib.figure import Figure
    >>> axes = fn.plot.conditional(fn.datasets.load("asia"), "dysp", ax=Figure().add_subplot())
    >>> [text.get_text() for text in axes.texts][:2]
    ['90', '10']
    """
    require_matplotlib()
    names = [one.name for one in net.variables]
    found: Any = net.conditionals[position(numbered(names), variable)]
    if found.variables[-1].is_continuous:
        message = f"the conditional of {variable!r} is {a(type(found).__name__)}, not a table of states"
        raise SchemaError(message, parameter="variable")
    size = letters(font_size)
    limit = check.integer(most, "most", least=2)
    values, columns = _states(np.asarray(found.probabilities)[:limit], found.variables[-1].states, limit)
    given = [found.describe_group(group) for group in range(len(values))]
    rows, what = _row_labels(given, [one.name for one in found.variables[:-1]])
    if ax is None:
        left = float(text_sizes([*rows, ""], size)[:, 0].max())
        width = max(CELL[0], min(1.4, float(text_sizes(columns, size)[:, 0].max()) + 0.15))
        ax = new_axes(max(3.2, left + len(columns) * width + 0.6), 1.3 + max(2, len(rows)) * CELL[1])
    titles = [under(f"{variable} = {state}", states) for states in given for state in columns]
    _draw_table(ax, values, rows, columns, size, titles)
    left_out = len(found.probabilities) - len(values)
    words = [f"{label(variable)}: probability in %", *([f"rows: {what}"] if what else [])]
    words += [f"{len(values):,} of {len(found.probabilities):,} rows"] if left_out else []
    dress(ax, theme_of(ax), size, x="\n".join(words), left=float(text_sizes(rows, size)[:, 0].max()))
    ax.tick_params(axis="y", labelsize=fitting(ax, len(rows), size))
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def _row_labels(given: Sequence[Mapping[str, Any]], parents: Sequence[str]) -> tuple[list[str], str]:
    """Return a label per group, and what its states are of where they stand alone."""
    if len(parents) > 1 and all(len(states) == len(parents) for states in given):
        alone = [", ".join(label(state, 20) for state in states.values()) for states in given]
        return labels(alone, LONGEST), label(", ".join(parents), 3 * LONGEST)
    return labels([states_of(states) or "always" for states in given], LONGEST), ""


def _states(values: Array, states: Sequence[object], most: int) -> tuple[Array, list[str]]:
    """Return the columns of the most probable states, in order, and the sum of the others; with their labels."""
    if len(states) <= most:
        return values, labels(states, LONGEST // 2)
    kept = np.sort(np.argsort(-values.mean(axis=0), kind="stable")[: most - 1])
    others = 1 - values[:, kept].sum(axis=1, keepdims=True)
    called = [*labels([states[code] for code in kept], LONGEST // 2), f"{len(states) - len(kept):,} others"]
    return np.concatenate([values[:, kept], np.maximum(others, 0.0)], axis=1), called


def _draw_table(ax: Axes, values: Array, rows: list[str], columns: list[str], size: float, titles: list[str]) -> None:
    """Draw cells from the top, with their percents in ink that stands out from them."""
    from matplotlib import colormaps

    look = theme_of(ax)
    colours = colormaps[look.sequential]
    mesh = ax.pcolormesh(values, cmap=colours, vmin=0, vmax=1, edgecolors=look.background, linewidth=0.5)
    entitle(mesh, [f"{t}: {v:.4g}" for t, v in zip(titles, values.ravel(), strict=True)])
    small = fitting(ax, len(rows), 0.9 * size)
    for (row, column), share in np.ndenumerate(values) if values.size <= MOST_NUMBERS else ():
        ink = ink_on(colours(float(share)))
        ax.text(
            column + 0.5, row + 0.5, f"{100 * share:.0f}", ha="center", va="center", color=ink, fontsize=small
        ).set_fontfamily(FONT)
    ax.set_ylim(len(rows), 0)
    name_ticks(ax.yaxis, np.arange(len(rows)) + 0.5, rows)
    turn = 90 if len(columns) > 6 and max(map(len, columns)) > 3 else 0
    name_ticks(ax.xaxis, np.arange(len(columns)) + 0.5, columns)
    ax.tick_params(axis="x", labelrotation=turn)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)


def marginals(
    net: BayesianNetwork | DependencyNetwork | MarkovNetwork,
    names: Iterable[str] | None = None,
    *,
    given: Mapping[str, Any] | None = None,
    most: int = 12,
    ax: Axes | None = None,
    font_size: float = 9.0,
    **options: Unpack[MarginalKeywords],
) -> Axes:
    """Draw how probable the states of some variables are, as bars: without evidence, and with it.

    Hollow bars are without evidence, filled ones with it; the number is the probability in percent, with the evidence
    where there is some.

    Parameters
    ----------
    net : BayesianNetwork, DependencyNetwork or MarkovNetwork
        Of variables with states.
    names : iterable of str, optional
        Which variables, in this order. By default the first ones; with evidence those whose probabilities it changes
        most.
    given : mapping from name to state, optional
        The evidence.
    most : int
        How many variables where no names are given, and how many states of each: of more those that are most probable,
        the others together.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure as large as the bars need, for `matplotlib.pyplot.show`.
    font_size : float
        Of all text, in points.
    **options
        Of `fishernet.infer.marginal`.

    Returns
    -------
    matplotlib Axes
        Its patches are the bars, from the top: each state's without evidence, then with it.

    Raises
    ------
    FishernetError
        When matplotlib is missing, or `most` is below 2.
    SchemaError, UnknownStateError, ZeroProbabilityError
        When a name or a state is not the network's, a variable is a number, or the evidence is impossible.

    Examples
    --------
    >>> import fishernet as fn
    >>> from matplotlib.figure import Figure
    >>> asia = fn.datasets.load("asia")
    >>> axes = fn.plot.marginals(asia, ["lung"], given={"smoke": "yes"}, ax=Figure().add_subplot())
    >>> [round(float(bar.get_width()), 3) for bar in axes.patches]  # yes: without and with the evidence; no
    [0.055, 0.1, 0.945, 0.9]
    """
    require_matplotlib()
    limit, size = check.integer(most, "most", least=2), letters(font_size)
    wanted = None if names is None else check.items(names, "names")
    if not len(net.variables) or wanted == ():
        raise SchemaError("there is no variable to draw", parameter="names")
    numbers = [one.name for one in net.variables if one.is_continuous]
    every = tuple(one.name for one in net.variables)
    asked = None if wanted is None else [every[place] for place in positions(every, wanted)]
    if numbers and (asked is None or set(asked) & set(numbers)):
        raise SchemaError(f"{numbers[0]!r} is continuous: it has no states with probabilities", parameter="names")
    evidence: Mapping[str, Any] = {} if given is None else given
    drawn = _asked(net, every, asked, evidence, limit, options)
    bars = [_bars(net.variables[every.index(name)], before, after, limit) for name, before, after in drawn]
    if ax is None:
        widest = text_sizes([text for _, rows in bars for text, *_ in rows], size)[:, 0].max()
        n_bars = sum(len(rows) + 1.4 for _, rows in bars)
        ax = new_axes(float(widest) + WIDE + 0.8, max(1.6, BAR * n_bars + 1.0))
    _draw_bars(ax, bars, size, label(states_of(evidence), 60) if evidence else "")
    return ax


Drawn = tuple[str, Array, Array | None]


def _asked(
    net: Any, every: tuple[str, ...], asked: list[str] | None, evidence: Mapping[str, Any], most: int, options: Any
) -> list[Drawn]:
    """Return names with their probabilities without evidence, and with it."""
    found: list[Drawn] = []
    for name in every if asked is None and evidence else (asked or every[:most]):
        before = np.asarray(marginal(net, [name], **options))
        after = np.asarray(marginal(net, [name], given=evidence, **options)) if evidence else None
        found.append((name, before, after))
    if asked is None and evidence:
        found.sort(key=lambda one: -float(np.abs(one[1] - np.asarray(one[2])).sum().round(12)))
    return found if asked is not None else found[:most]


Bars = tuple[str, list[tuple[str, float, float | None]]]


def _bars(variable: Any, before: Array, after: Array | None, most: int) -> Bars:
    """Return what bars there are of a variable: label, without evidence, with it."""
    both = np.stack([before, before if after is None else after])
    values, called = _states(both, variable.states, most)
    rows = zip(called, values[0], [None] * len(called) if after is None else values[1], strict=True)
    return label(variable.name), [(text, float(b), None if w is None else float(w)) for text, b, w in rows]


def _draw_bars(ax: Axes, bars: list[Bars], size: float, evidence: str) -> None:
    look = theme_of(ax)
    y, ticks, called = 0.0, [], []
    small = fitting(ax, sum(len(rows) + 1.4 for _, rows in bars), size)
    for name, rows in bars:
        ax.text(
            0, y, name, va="center", color=look.ink, fontsize=small, parse_math=False, fontweight="bold"
        ).set_fontfamily(family_of(name))
        for text, before, after in rows:
            y += 1
            ticks.append(y)
            called.append(text)
            high = 0.8
            bar = ax.barh(y, before, height=high, facecolor="none", edgecolor=look.line, linewidth=1.0)
            entitle(bar[0], [f"{name} = {text}: {before:.4g} without evidence"])
            if after is not None:
                bar = ax.barh(y, after, height=0.5 * high, facecolor=look.more, edgecolor="none")
                entitle(bar[0], [f"{name} = {text}: {after:.4g} given {evidence}"])
            shown = before if after is None else after
            ax.text(
                max(before, shown) + 0.015, y, f"{100 * shown:.3g}", va="center", color=look.ink, fontsize=0.9 * small
            ).set_fontfamily(FONT)
        y += 1.4
    name_ticks(ax.yaxis, ticks, called)
    ax.set_ylim(y - 0.6, -0.6)
    ax.set_xlim(0, 1.12)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100 %"])
    x = f"filled: given {evidence}; hollow: without evidence" if evidence else "probability"
    dress(ax, look, size, x=x, left=float(text_sizes(called, size)[:, 0].max()))
    ax.tick_params(axis="y", length=0, labelsize=small)
