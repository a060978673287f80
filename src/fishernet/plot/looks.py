"""What a drawing of a graph shows beside names and edges: strengths, signs, a Markov blanket, groups of nodes."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import numbered, position, shown
from fishernet.base.vocabulary import word
from fishernet.graphs import Graph, Links
from fishernet.graphs.graph import Arc, HasGraph, taken_apart
from fishernet.infer import JunctionTree
from fishernet.infer.factors import model_of
from fishernet.infer.normal import is_normal
from fishernet.learn import EdgeStrengths
from fishernet.plot.picture import MARKS, Look
from fishernet.plot.shapes import Drawable

Strengths = npt.NDArray[np.float64]
StrengthWord = Literal["mutual-information", "partial-correlation"]
MOST_GROUPS = len(MARKS) ** 2
MOST_DIGITS = 3
NOTHING = 1e-12


@dataclasses.dataclass(frozen=True)
class Measured:
    """A number per pair of variables."""

    values: Strengths
    """(n, n), symmetric."""
    what: str
    unit: str = ""
    largest: float | None = None
    """What has the thickest line; None: the largest there is."""

    def of(self, u: int, v: int) -> float:
        """Return the number of a pair."""
        return float(self.values[u, v])

    def said(self, value: float) -> str:
        """Return a number with what it is."""
        return f"{self.what} {value:.{MOST_DIGITS}g}{self.unit}"


Asked = StrengthWord | EdgeStrengths | Mapping[tuple[str, str], float] | Strengths | None


def edge_strengths_in(given: object) -> EdgeStrengths | None:
    """Return the result of a bootstrap where one was given, as a graph or as strengths; None of anything else."""
    return given if isinstance(given, EdgeStrengths) else None


def measured(asked: Asked, graph: Graph | HasGraph, shape: Drawable) -> Measured | None:
    """Return the strengths that were asked for: by a word, as a result, as an array, or by pairs of names."""
    if asked is None:
        return None
    if isinstance(asked, str):
        named = word(asked, "strengths", ("mutual-information", "partial-correlation"))
        _, model = taken_apart(graph)
        return (_mutual_information if named == "mutual-information" else _partial_correlation)(model, shape)
    sure = edge_strengths_in(asked)
    if sure is not None:
        place = [position(numbered(sure.names), name) for name in shape.names]
        return Measured(np.asarray(sure.strength)[np.ix_(place, place)], "strength", largest=1.0)
    if isinstance(asked, Mapping):
        return Measured(_by_pairs(asked, shape), "strength")
    values = check.numbers(cast(npt.ArrayLike, asked), "strengths")
    n = len(shape.names)
    if values.shape != (n, n) or not np.isfinite(values).all() or not np.allclose(values, values.T):
        raise SchemaError(
            f"strengths must be finite, symmetric and of shape ({n}, {n}), a row per variable; or edge strengths, a "
            f"mapping from pairs of names to numbers, or a word; got an array of shape {values.shape}",
            parameter="strengths",
        )
    return Measured(values, "strength")


def _by_pairs(asked: Mapping[Any, Any], shape: Drawable) -> Strengths:
    where = numbered(shape.names)
    values = np.zeros((len(where), len(where)))
    for pair, number in asked.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            message = f"strengths must have pairs of names such as ('a', 'b') as keys, not {shown(pair, 80)}"
            raise SchemaError(message, parameter="strengths")
        u, v = (position(where, name) for name in pair)
        values[u, v] = values[v, u] = check.number(number, f"the strength of {shown(pair, 80)}")
    return values


def _mutual_information(model: HasGraph | None, shape: Drawable) -> Measured:
    """Return the mutual information of each joined pair in nats, as the model has it."""
    if model is not None and is_normal(model):
        rho = _correlation(np.linalg.inv(np.asarray(model.precision)))
        return Measured(-0.5 * np.log1p(-np.minimum(rho**2, 1 - NOTHING)), "mutual information", " nats")
    if model is None or model.inference != "factors":
        raise SchemaError(
            "mutual information needs a Bayesian or a Markov network; of others, give numbers as strengths",
            parameter="strengths",
        )
    values, tree = np.zeros((len(shape.names), len(shape.names))), JunctionTree(model_of(model))
    for u, v in shape.links:
        values[u, v] = values[v, u] = _information(tree.marginal([shape.names[u], shape.names[v]]))
    return Measured(values, "mutual information", " nats")


def _information(joint: npt.NDArray[np.float64]) -> float:
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    some = joint > 0
    return max(0.0, float((joint[some] * np.log(joint[some] / apart[some])).sum()))


def _correlation(matrix: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    scale = 1 / np.sqrt(np.diagonal(matrix))
    found: npt.NDArray[np.float64] = matrix * scale[:, None] * scale
    return found


def _partial_correlation(model: HasGraph | None, _shape: Drawable) -> Measured:
    if model is None or not is_normal(model):
        raise SchemaError(
            "partial correlations need a Gaussian network; of others, give numbers as strengths",
            parameter="strengths",
        )
    return Measured(-_correlation(np.asarray(model.precision)), "partial correlation", largest=1.0)


def above(shape: Drawable, found: Measured | None, threshold: float | None) -> Drawable:
    """Return the drawable without the links that are weaker than a threshold."""
    if threshold is None:
        return shape
    least = check.number(threshold, "threshold", least=0)
    if found is None:
        message = "threshold= needs strengths; give strengths= as well"
        raise FishernetError(message, parameter="threshold")
    kept = [i for i, link in enumerate(shape.links) if abs(found.of(*link)) >= least]
    links, heads = [shape.links[i] for i in kept], [shape.heads[i] for i in kept]
    return Drawable(shape.names, links, heads, layered=shape.layered)


def look_of(shape: Drawable, found: Measured | None, target: str | None, groups: Mapping[str, object] | None) -> Look:
    """Return what is shown of a drawable."""
    look = Look()
    if found is not None:
        look = _with_strengths(look, shape, found)
    if groups is not None:
        look = _with_groups(look, shape, groups)
    return look if target is None else _with_target(look, shape, target)


def _with_strengths(look: Look, shape: Drawable, found: Measured) -> Look:
    values = [found.of(*link) for link in shape.links]
    if not values:
        return look
    sizes = np.abs(values)
    largest = max(found.largest or 0.0, float(sizes.max())) or 1.0
    signed = min(values) < 0
    kinds = ["positive" if value >= 0 else "negative" for value in values] if signed else []
    shown_ones = sorted({round(float(size), 12) for size in (sizes.min(), sizes.max())})
    legend: list[tuple[str, Any, str]] = [
        ("width", size / largest, found.said(size) if not place else f"{size:.{MOST_DIGITS}g}{found.unit}")
        for place, size in enumerate(shown_ones)
    ]
    legend += [("edge", kind, kind) for kind in dict.fromkeys(sorted(kinds, reverse=True))]
    titles = [f"{title}: {found.said(value)}" for title, value in zip(shape.titles, values, strict=True)]
    strengths = (sizes / largest).tolist()
    return dataclasses.replace(look, strengths=strengths, kinds=kinds, legend=legend, link_titles=titles)


def _with_groups(look: Look, shape: Drawable, groups: Any) -> Look:
    where = numbered(shape.names)
    of_node: list[str | None] = [None] * len(where)
    for name, group in groups.items():
        of_node[position(where, name)] = str(group)
    known = list(dict.fromkeys(group for group in of_node if group is not None))
    if len(known) > MOST_GROUPS:
        message = f"at most {MOST_GROUPS} groups can be drawn, got {len(known)}"
        raise FishernetError(message, parameter="groups")
    number = {group: place for place, group in enumerate(known)}
    counts = Counter(of_node)
    return dataclasses.replace(
        look,
        groups=[-1 if group is None else number[group] for group in of_node],
        node_titles=[name if g is None else f"{name} ({g})" for name, g in zip(shape.names, of_node, strict=True)],
        legend=[*look.legend, *(("node", number[group], f"{group} ({counts[group]})") for group in known)],
    )


def _with_target(look: Look, shape: Drawable, target: str) -> Look:
    """Push back what is neither the target nor in its Markov blanket."""
    own = position(numbered(shape.names), target)
    links = Links(tuple(shape.links), tuple(shape.heads), any(map(any, shape.heads)), shape.layered)
    blanket, arcs = links.blanket(own), set(links.arcs)
    inside = {own, *blanket}
    pale = [node not in inside for node in range(len(shape.names))]
    joins = [
        own in link or (inside.issuperset(link) and _to_child(links, arcs, i, own))
        for i, link in enumerate(shape.links)
    ]
    kinds = look.kinds or ["plain"] * len(shape.links)
    kinds = [kind if shown_ else "pale" for kind, shown_ in zip(kinds, joins, strict=True)]
    around = [] if look.groups else [("node", -1, f"its Markov blanket ({len(blanket)})")]
    legend = [*look.legend, ("node", "target", target), *around]
    groups = [-1 if dim or node == own else g for node, (g, dim) in enumerate(zip(look.groups, pale, strict=False))]
    return dataclasses.replace(look, pale=pale, target=own, kinds=kinds, groups=groups, legend=legend)


def _to_child(links: Links, arcs: set[Arc], link: int, target: int) -> bool:
    """Whether a link runs from a parent of a child of the target to that child."""
    (u, v), (start, stop) = links.pairs[link], links.heads[link]
    return start == stop or (target, v if stop else u) in arcs
