"""How well probabilities tell states apart, and whether they are as often right as they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import listed, shown
from fishernet.data.encoding.labels import as_text
from fishernet.plot.style import DASHES, Theme, dress, legend, letters, new_axes, require_matplotlib, theme_of
from fishernet.plot.texts import label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = npt.NDArray[np.float64]
SIZE = (4.8, 4.8)  # inches of a new figure
MOST_CURVES = 5
MOST_BINS = 1000
ROUNDING = 1e-6  # by which a row of probabilities may miss 1
NORMAL = 1.959963984540054  # the quantile of 97.5 %


@dataclass(frozen=True)
class _Judged:
    """Probabilities beside the truth."""

    states: tuple[str, ...]
    values: Array
    truth: npt.NDArray[np.int64]

    def place(self, state: Any) -> int:
        text = _text(state, "state")
        if text not in self.states:
            message = f"there is no state {shown(state, 80)}; there are {listed(self.states)}"
            raise SchemaError(message, parameter="state")
        return self.states.index(text)


def _text(state: Any, name: str) -> str:
    if not isinstance(state, str | int | float | np.generic):
        raise SchemaError(f"{name} must be labels (str, numbers, truth values), got {shown(state, 80)}", parameter=name)
    plain: Any = state.item() if isinstance(state, np.generic) else state
    return as_text(plain)


def _judged(truth: Any, probabilities: Any, states: Sequence[Any] | None) -> _Judged:
    """Return probabilities and truth, checked."""
    values = check.numbers(probabilities, "probabilities")
    labels, of_row = _labels(check.array(truth, "truth").ravel())
    if values.ndim == 1:
        values = np.stack([1 - values, values], axis=1)
    if values.ndim != 2 or values.shape[1] < 2 or not len(values) or len(of_row) != len(values):
        raise SchemaError(
            "probabilities must have a row per row of truth and a column per state, two at least, got "
            f"{' x '.join(map(str, values.shape))} for {len(of_row):,} rows",
            parameter="probabilities",
        )
    if not np.isfinite(values).all() or (values < -ROUNDING).any() or (np.abs(values.sum(axis=1) - 1) > ROUNDING).any():
        raise SchemaError("the probabilities of a row must be from 0 to 1 and sum to 1", parameter="probabilities")
    known = labels if states is None else [_text(one, "states") for one in check.items(states, "states", "labels")]
    if len(known) != values.shape[1] or len(set(known)) != len(known):
        raise SchemaError(
            f"there are {values.shape[1]} columns of probabilities and {len(known)} states ({listed(known)}); "
            "name them with states, in the order of the columns",
            parameter="states",
        )
    strange = next((one for one in labels if one not in known), None)
    if strange is not None:
        raise SchemaError(f"truth has {strange!r}, which is not one of the states {listed(known)}", parameter="truth")
    where = {one: place for place, one in enumerate(known)}
    return _Judged(tuple(known), values, np.array([where[one] for one in labels], dtype=np.int64)[of_row])


def _labels(truth: npt.NDArray[Any]) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Return the labels that occur, sorted, numbers as numbers, and the place of each row's among them."""
    if truth.dtype.kind not in "biufU":  # of several kinds, which have no order as they are, or no labels
        truth = np.array([_text(one, "truth") for one in truth.tolist()], dtype=np.str_)
    distinct, of_row = np.unique(truth, return_inverse=True)
    return [_text(one, "truth") for one in distinct.tolist()], of_row


def roc(
    truth: Any,
    probabilities: Any,
    *,
    states: Sequence[Any] | None = None,
    state: Any = None,
    ax: Axes | None = None,
    font_size: float = 9.0,
) -> Axes:
    """Draw how well probabilities tell a state from the others: true positives by false ones, for every threshold.

    The area under a curve is the chance that a row with the state has a larger probability than one without it. A curve
    per state, of two states for the last alone; of more than five, for the most frequent ones.

    Parameters
    ----------
    truth : (n,) labels
    probabilities : (n, r) array
        As ``net.predict_proba`` or a classifier gives them; or (n,), those of the second of two states.
    states : sequence of labels, optional
        Of the columns, such as ``classifier.classes_`` or the states of a variable; default: the labels of truth,
        sorted.
    state : label, optional
        The state to draw alone.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure, for `matplotlib.pyplot.show`.
    font_size : float
        Of all text, in points.

    Returns
    -------
    matplotlib Axes
        Its lines are the curves, and last the diagonal of guesses.

    Raises
    ------
    FishernetError
        When matplotlib is missing.
    SchemaError
        When truth, probabilities and states do not fit, or truth has one state alone.

    Examples
    --------
    >>> import fishernet as fn
    >>> from matplotlib.figure import Figure
    >>> asia = fn.datasets.load("asia")
    >>> rows = asia.sample(500, seed=1)
    >>> truth = rows.to_frame()["bronc"].to_pylist()
    >>> p = asia.predict_proba(rows, "bronc")
    >>> axes = fn.plot.roc(truth, p, states=["yes", "no"], state="yes", ax=Figure().add_subplot())
    >>> axes.lines[0].get_label()
    'yes: area 0.889'
    """
    require_matplotlib()
    found = _judged(truth, probabilities, states)
    size = letters(font_size)
    counts = np.bincount(found.truth, minlength=len(found.states))
    often = sorted(
        np.flatnonzero((counts > 0) & (counts < len(found.truth))), key=lambda place: (-counts[place], place)
    )
    asked = [found.place(state)] if state is not None else [len(found.states) - 1] if len(found.states) == 2 else often
    drawn = [place for place in asked if place in often][:MOST_CURVES]
    if not drawn:
        raise SchemaError("a curve needs rows with the state and rows without it", parameter="truth")
    if ax is None:
        ax = new_axes(*SIZE)
    look = theme_of(ax)
    for place, colour, dash in zip(drawn, look.series, DASHES, strict=False):
        false, true = _curve(found.values[:, place], found.truth == place)
        text = f"{label(found.states[place])}: area {np.trapezoid(true, false):.3f}"
        ax.plot(false, true, color=colour, linestyle=dash, linewidth=1.8, label=text)
    ax.plot([0, 1], [0, 1], color=look.line, linewidth=0.9, linestyle=(0, (1, 2)), label="guessing")
    _square(ax, look, size, "share of the others taken for the state", "share of the state's rows found")
    legend(ax, look, size, loc="lower right")
    return ax


def _curve(values: Array, positive: npt.NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return shares of false and of true positives, from no row to all; rows of one probability go together."""
    order = np.argsort(-values, kind="stable")
    hits = np.cumsum(positive[order])
    last = np.append(np.flatnonzero(np.diff(values[order])), len(values) - 1)
    true, both = hits[last], last + 1
    false = both - true
    return np.append(0.0, false / false[-1]), np.append(0.0, true / true[-1])


def calibration(
    truth: Any,
    probabilities: Any,
    *,
    states: Sequence[Any] | None = None,
    state: Any = None,
    bins: int = 10,
    ax: Axes | None = None,
    font_size: float = 9.0,
) -> Axes:
    """Draw how often what is said to have a probability is so: on the diagonal where the probabilities are right.

    Rows are cut into bins of about equal numbers by their probability; the bars are 95 % intervals (Wilson, 1927). The
    title has the mean distance from the diagonal, weighted by rows (expected calibration error).

    Parameters
    ----------
    truth, probabilities, states
        As for `fishernet.plot.roc`.
    state : label, optional
        The state whose probability is judged. By default of two states the last; of more, the most probable one of each
        row: how often it is the true one.
    bins : int
        How many, at most.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure, for `matplotlib.pyplot.show`.
    font_size : float
        Of all text, in points.

    Returns
    -------
    matplotlib Axes
        Its first line is the diagonal, its second one the bins.

    Raises
    ------
    FishernetError
        When matplotlib is missing, or there is no bin.
    SchemaError
        When truth, probabilities and states do not fit.

    Examples
    --------
    >>> import fishernet as fn
    >>> from matplotlib.figure import Figure
    >>> asia = fn.datasets.load("asia")
    >>> rows = asia.sample(500, seed=1)
    >>> truth = rows.to_frame()["bronc"].to_pylist()
    >>> p = asia.predict_proba(rows, "bronc")
    >>> axes = fn.plot.calibration(truth, p, states=["yes", "no"], ax=Figure().add_subplot())
    >>> axes.get_xlabel()
    'probability of no'
    """
    require_matplotlib()
    found = _judged(truth, probabilities, states)
    limit, size = check.integer(bins, "bins", least=1, most=MOST_BINS), letters(font_size)
    if state is None and len(found.states) > 2:
        said, so = found.values.max(axis=1), found.values.argmax(axis=1) == found.truth
        what, outcome = "the most probable state", "right"
    else:
        place = len(found.states) - 1 if state is None else found.place(state)
        said, so = found.values[:, place], found.truth == place
        what = outcome = label(found.states[place])
    if ax is None:
        ax = new_axes(*SIZE)
    look = theme_of(ax)
    _draw_bins(ax, look, np.clip(said, 0.0, 1.0), so, limit)
    _square(ax, look, size, f"probability of {what}", f"share of rows that are {outcome}")
    ax.set_title(ax.get_title(loc="left"), loc="left", fontsize=size, color=look.ink)
    return ax


def _draw_bins(ax: Axes, look: Theme, said: Array, so: npt.NDArray[np.bool_], bins: int) -> None:
    edges = np.unique(np.quantile(said, np.linspace(0, 1, bins + 1)))
    of = np.clip(np.searchsorted(edges, said, side="right") - 1, 0, max(len(edges) - 2, 0))
    n = np.bincount(of)
    used = n > 0
    n = n[used]
    x, y = np.bincount(of, said)[used] / n, np.bincount(of, so)[used] / n
    middle = (y + NORMAL**2 / (2 * n)) / (1 + NORMAL**2 / n)
    half = NORMAL / (1 + NORMAL**2 / n) * np.sqrt(y * (1 - y) / n + NORMAL**2 / (4 * n**2))
    ax.plot([0, 1], [0, 1], color=look.line, linewidth=0.9, linestyle=(0, (1, 2)))
    ax.plot(x, y, color=look.series[0], marker="o", markersize=5, linewidth=1.4)
    ax.vlines(x, middle - half, middle + half, color=look.series[0], linewidth=1.2)
    error = float((n * np.abs(x - y)).sum() / n.sum())
    ax.set_title(f"{len(said):,} rows, calibration error {error:.3f}", loc="left")


def _square(ax: Axes, look: Theme, size: float, x: str, y: str) -> None:
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_aspect("equal")
    dress(ax, look, size, x=x, y=y)
