"""How work went: the learning curve of a search, EM from step to step, chains of Gibbs sampling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import numbered, position, several
from fishernet.data.encoding.labels import as_text
from fishernet.infer import Diagnosis
from fishernet.infer.gibbs import MIXED, split_r_hat
from fishernet.learn import EmResult, SearchResult
from fishernet.plot.style import DASHES, MARKS, dress, legend, letters, new_axes, require_matplotlib, theme_of
from fishernet.plot.texts import label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = npt.NDArray[np.float64]
SIZE = (6.2, 4.0)  # inches of a new figure
MOST_RESULTS = 5
MOST_MARKS = 60  # steps of one curve that have a mark each
KINDS = {"add": "o", "remove": "s", "reverse": "D"}


def search(*found: SearchResult, ax: Axes | None = None, font_size: float = 9.0) -> Axes:
    """Draw the learning curve of a search: the score after each of its steps, in nats.

    Of one result with up to 60 steps marks say what each step did.

    Parameters
    ----------
    *found : SearchResult
        As `fishernet.learn.structure` gives it; up to five, of the same data and score.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure, for `matplotlib.pyplot.show`.
    font_size : float
        Of all text, in points.

    Returns
    -------
    matplotlib Axes
        Its lines are the curves, in order; of one result then its steps by kind.

    Raises
    ------
    FishernetError
        When matplotlib is missing, or there are none or more than five.
    SchemaError
        When something is no result of a search.

    Examples
    --------
    >>> import fishernet as fn
    >>> from matplotlib.figure import Figure
    >>> table = fn.datasets.load("asia").sample(1000, seed=1)
    >>> found = fn.learn.structure(table, search="hill-climb")
    >>> axes = fn.plot.search(found, ax=Figure().add_subplot())
    >>> len(axes.lines[0].get_ydata()) == len(found.steps) + 1
    True
    """
    require_matplotlib()
    if not 1 <= len(found) <= MOST_RESULTS:
        raise FishernetError(f"search draws one to {MOST_RESULTS} results, got {len(found)}", parameter="found")
    for one in found:
        if not np.isfinite(one.score):
            raise SchemaError("this search had no time to score a graph, so there is no curve", parameter="found")
    size = letters(font_size)
    if ax is None:
        ax = new_axes(*SIZE)
    look = theme_of(ax)
    for number, (one, colour, dash) in enumerate(zip(found, look.series, DASHES, strict=False)):
        curve = _scores(one)
        end = "" if one.finished else ", stopped"
        text = f"{number + 1}: {one.score:,.2f} after {several(len(one.steps), 'step')}, {one.seconds:.2g} s{end}"
        alone = len(curve) == 1
        ax.plot(curve, color=colour, linestyle=dash, linewidth=1.6, label=text, marker="o" if alone else None)
    if len(found) == 1 and len(found[0].steps) <= MOST_MARKS:
        _mark_steps(ax, found[0])
    dress(ax, look, size, x="step", y="score, nats", grid="y")
    _at_whole_steps(ax)
    legend(ax, look, size, loc="lower right")
    return ax


def _at_whole_steps(ax: Axes) -> None:
    """Mark whole steps alone."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _scores(found: SearchResult) -> Array:
    gains = np.array([step.gain for step in found.steps], dtype=np.float64)
    return np.asarray(found.score - np.append(np.cumsum(gains[::-1])[::-1], 0.0))


def _mark_steps(ax: Axes, found: SearchResult) -> None:
    look, curve = theme_of(ax), _scores(found)
    kinds = [step.kind for step in found.steps]
    for place, kind in enumerate(dict.fromkeys(kinds)):
        at = [i + 1 for i, other in enumerate(kinds) if other == kind]
        ax.plot(
            at,
            curve[at],
            linestyle="none",
            marker=KINDS.get(kind, MARKS[(place + 3) % len(MARKS)]),
            markersize=5,
            color=look.series[(place + 1) % len(look.series)],
            label=f"{kind} ({len(at)})",
        )


def em_progress(found: EmResult[Any], *, ax: Axes | None = None, font_size: float = 9.0) -> Axes:
    """Draw how expectation and maximization converged: the objective of the model after each step, in nats.

    Marks at the right are where other restarts ended.

    Parameters
    ----------
    found : EmResult
        As `fishernet.learn.em_fit`, `baum_welch` or `hidden_tree_fit` gives it.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure, for `matplotlib.pyplot.show`.
    font_size : float
        Of all text, in points.

    Returns
    -------
    matplotlib Axes
        Its first line is the best restart's trace.

    Raises
    ------
    FishernetError
        When matplotlib is missing.
    SchemaError
        When it is another kind of result.

    Examples
    --------
    >>> import fishernet as fn
    >>> from matplotlib.figure import Figure
    >>> found = fn.learn.baum_welch(["abba", "ab", "b", "aab"], n_states=2, restarts=3, seed=1)
    >>> axes = fn.plot.em_progress(found, ax=Figure().add_subplot())
    >>> len(axes.lines[0].get_ydata()) == len(found.trace)
    True
    """
    require_matplotlib()
    size = letters(font_size)
    if ax is None:
        ax = new_axes(*SIZE)
    look, steps = theme_of(ax), len(found.trace) - 1
    ax.plot(found.trace, color=look.series[0], linewidth=1.7, marker="o", markersize=3, label="best restart")
    others = sorted(found.restarts)[:-1]
    if others:
        ends = f"ends of {several(len(others), 'other restart')}"
        ax.plot([steps] * len(others), others, linestyle="none", marker="D", markersize=5, color=look.less, label=ends)
    end = "converged" if found.converged else "not converged"
    dress(ax, look, size, x="step", y="objective, nats", title=f"{several(steps, 'step')}, {end}", grid="y")
    _at_whole_steps(ax)
    legend(ax, look, size, loc="lower right")
    return ax


def chains(found: Diagnosis, variable: str | None = None, *, ax: Axes | None = None, font_size: float = 9.0) -> Axes:
    """Draw whether chains of Gibbs sampling agree: the share of a state in each, from its first row on.

    The state is the one of which the chains agree least. The band is two standard errors around the share in all rows;
    the title has R-hat, which is near 1 when the chains agree, and how many variables are above 1.01.

    Parameters
    ----------
    found : Diagnosis
        As `fishernet.infer.diagnose` gives it.
    variable : str, optional
        Which variable; by default that with the largest R-hat.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure, for `matplotlib.pyplot.show`.
    font_size : float
        Of all text, in points.

    Returns
    -------
    matplotlib Axes
        A line per chain, and last that of the share in all rows.

    Raises
    ------
    FishernetError
        When matplotlib is missing.
    SchemaError
        When it is another kind of result, or the variable is unknown.

    Examples
    --------
    >>> import fishernet as fn
    >>> from matplotlib.figure import Figure
    >>> dn = fn.learn.dependency_network(fn.datasets.load("nursery"))
    >>> found = fn.infer.diagnose(dn, n=4000, thin=500, seed=1)
    >>> axes = fn.plot.chains(found, ax=Figure().add_subplot())
    >>> len(axes.lines) == found.chains + 1
    True
    """
    require_matplotlib()
    size = letters(font_size)
    if not found.names:
        raise SchemaError("every variable was given, so there is nothing to draw", parameter="found")
    place = int(np.argmax(found.r_hat))
    if variable is not None:
        place = position(numbered(found.names), variable)
    name = found.names[place]
    codes = np.asarray(found.rows.column(name)).reshape(found.chains, -1)
    states = found.rows.variables[found.rows.names.index(name)].states
    state = max(range(len(states)), key=lambda code: (split_r_hat((codes == code).astype(np.float64)), -code))
    if ax is None:
        ax = new_axes(*SIZE)
    _draw_chains(
        ax, codes == state, float(found.probabilities[place][state]), float(found.standard_errors[place][state])
    )
    above = int((found.r_hat > MIXED).sum())
    title = f"R-hat {found.r_hat[place]:.3f}; {above} of {several(len(found.names), 'variable')} above {MIXED}"
    y = f"share of {label(f'{name} = {as_text(states[state])}', 48)}"
    dress(ax, theme_of(ax), size, x="rows of a chain", y=y, title=title)
    legend(ax, theme_of(ax), size, loc="best")
    return ax


def _draw_chains(ax: Axes, occurs: npt.NDArray[np.bool_], share: float, error: float) -> None:
    look = theme_of(ax)
    rows = np.arange(1, occurs.shape[1] + 1)
    running = occurs.cumsum(axis=1) / rows
    for number, line in enumerate(running):
        ax.plot(
            rows,
            line,
            color=look.series[number % len(look.series)],
            linestyle=DASHES[number % len(DASHES)],
            linewidth=1.2,
            label=f"chain {number + 1}" if number < MOST_RESULTS else None,
        )
    ax.axhspan(
        share - 2 * error, share + 2 * error, color=look.faint, linewidth=0, zorder=0, label="± 2 standard errors"
    )
    ax.axhline(share, color=look.ink, linewidth=0.9, label="all rows")
    late = running[:, max(0, len(rows) // 20) :]
    low, high = min(float(late.min()), share - 2 * error), max(float(late.max()), share + 2 * error)
    ax.set_ylim(low - 0.1 * (high - low) - 1e-3, high + 0.1 * (high - low) + 1e-3)
