"""What two graphs have in common and what only one of them has, drawn as one graph."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fishernet.base import check
from fishernet.base.errors import CycleError, SchemaError
from fishernet.base.names import listed
from fishernet.graphs import Dag
from fishernet.plot.drawing import Given, drawable, place
from fishernet.plot.picture import Look
from fishernet.plot.shapes import Drawable, Link
from fishernet.plot.style import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Heads = tuple[bool, bool]
KINDS = {"both": "in both", "first": "only in {}", "second": "only in {}", "other": "another direction in {}"}


def difference(
    a: Given,
    b: Given,
    *,
    names: tuple[str, str] = ("the first", "the second"),
    ax: Axes | None = None,
    labels: bool | None = None,
    font_size: float = 9.0,
) -> Axes:
    """Draw two graphs of the same variables as one: what both have, and what only one of them has.

    Edges of both are grey; those of the first alone orange and dashed, of the second alone blue and thick. Edges that
    point another way in the other graph, or have no direction there, are drawn as the second has them, in purple with
    dashes and dots. Below is how many there are of each.

    Parameters
    ----------
    a, b : what `fishernet.plot.graph` draws
        Over the same variables, in any order.
    names : (str, str)
        What the legend calls them.
    ax, labels, font_size
        As for `fishernet.plot.graph`.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    FishernetError
        When matplotlib is missing, or there are too many variables.
    SchemaError
        When there is no graph to draw, or the variables differ.

    See Also
    --------
    fishernet.shd : the number of edges in which two equivalence classes differ.

    Examples
    --------
    >>> import fishernet as fn
    >>> from matplotlib.figure import Figure
    >>> asia = fn.datasets.load("asia")
    >>> learned = fn.learn.dag(asia.sample(1000, seed=1))
    >>> axes = fn.plot.difference(asia, learned, names=("the truth", "the learned"), ax=Figure().add_subplot())
    >>> [text.get_text() for text in axes.texts if text.get_gid() == "legend"][:2]
    ['in both (7)', 'only in the truth (1)']
    """
    require_matplotlib()
    called = check.items(names, "names", "two names")
    if len(called) != 2:
        raise SchemaError(f"names must be two, one per graph, got {len(called)}", parameter="names")
    first, second = called
    one, other = drawable(a), drawable(b)
    if set(one.names) != set(other.names):
        apart = sorted(set(one.names) ^ set(other.names))
        raise SchemaError(f"the graphs must have the same variables; in one only: {listed(apart)}", parameter="b")
    links, heads, kinds = _joined(one, other)
    shape = _as_layered(Drawable(one.names, links, heads, layered=False), one)
    words = {kind: text.format(*_called(kind, first, second)) for kind, text in KINDS.items()}
    counts = Counter(kinds)
    look = Look(
        kinds=kinds,
        strengths=[0.35 if kind == "second" else 0.2 if kind != "both" else 0.12 for kind in kinds],
        link_titles=[f"{title}: {words[kind]}" for title, kind in zip(shape.titles, kinds, strict=True)],
        legend=[("edge", kind, f"{text} ({counts[kind]})") for kind, text in words.items() if counts[kind]],
    )
    return place(shape, look, ax=ax, labels=labels, font_size=font_size)


def _called(kind: str, first: str, second: str) -> tuple[str, ...]:
    return {"both": (), "first": (first,), "second": (second,), "other": (second,)}[kind]


def _joined(one: Drawable, other: Drawable) -> tuple[list[Link], list[Heads], list[str]]:
    """Return the links of either graph, those of the first as they are there, with heads as the last one has them."""
    where = {name: position for position, name in enumerate(one.names)}
    place = [where[name] for name in other.names]
    second: dict[Link, Heads] = {}
    for (u, v), (start, stop) in zip(other.links, other.heads, strict=True):
        second[place[u], place[v]], second[place[v], place[u]] = (start, stop), (stop, start)
    links, heads, kinds = [], [], []
    for link, own in zip(one.links, one.heads, strict=True):
        as_there = second.get(link)
        links.append(link)
        heads.append(own if as_there is None else as_there)
        kinds.append("first" if as_there is None else "both" if as_there == own else "other")
    known = {frozenset(link) for link in one.links}
    for (u, v), own in zip(other.links, other.heads, strict=True):
        if frozenset((place[u], place[v])) not in known:
            links.append((place[u], place[v]))
            heads.append(own)
            kinds.append("second")
    return links, heads, kinds


def _as_layered(shape: Drawable, one: Drawable) -> Drawable:
    """Return the drawable in layers, where the first graph is and links of both close no cycle."""
    parents: list[list[int]] = [[] for _ in shape.names]
    for u, v in shape.links:
        parents[v].append(u)
    try:
        Dag(shape.names, parents)
    except CycleError:
        return shape
    return Drawable(shape.names, shape.links, shape.heads, layered=one.layered)
