"""What a drawing is made of before it is drawn: who is joined, and where everything stands. Lengths are in inches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.float64]
Link = tuple[int, int]
SIGNS = {(False, False): "—", (True, True): "—", (False, True): "→", (True, False): "←"}


@dataclass(frozen=True)
class Drawable:
    """Names, and what joins them."""

    names: tuple[str, ...]
    links: Sequence[Link]  # the pairs that are joined, by position; each pair once
    heads: Sequence[tuple[bool, bool]]  # whether a link has an arrow head where it begins, and where it ends
    layered: bool  # whether every link runs forward and there are no cycles, so that layers can show the order

    @property
    def titles(self) -> list[str]:
        """What each link is called: ``a → b``, or ``a — b`` where it has no direction or runs both ways."""
        signs = [SIGNS[start, stop] for start, stop in self.heads]
        return [f"{self.names[u]} {sign} {self.names[v]}" for (u, v), sign in zip(self.links, signs, strict=True)]


@dataclass(frozen=True)
class Layout:
    """Where things stand: (n, 2) nodes, and the (m, 2) corners of each link from its first node to its second one."""

    coordinates: Points
    routes: list[Points]

    @classmethod
    def straight(cls, coordinates: Points, links: Sequence[Link]) -> Layout:
        """Return the layout whose links are straight."""
        return cls(coordinates, [coordinates[[u, v]] for u, v in links])

    @property
    def box(self) -> Points:
        """The lower left and the upper right corner of all, (2, 2)."""
        everything = np.concatenate([self.coordinates, *self.routes])
        return np.array([everything.min(axis=0), everything.max(axis=0)])

    def moved(self, by: Points) -> Layout:
        """Return the layout, moved by (2,)."""
        return Layout(self.coordinates + by, [route + by for route in self.routes])


@dataclass(frozen=True)
class Component:
    """Nodes that are joined with each other, and with no others."""

    members: list[int]
    positions: list[int]
    """Of its links, among those of the whole."""
    links: list[Link]
    """The same, between positions among the members."""


def in_components(shape: Drawable) -> list[Component]:
    """Return the connected components with their links, in the order of `components`."""
    groups = components(len(shape.names), shape.links)
    where = {node: (number, place) for number, members in enumerate(groups) for place, node in enumerate(members)}
    found = [Component(members, [], []) for members in groups]
    for position, (u, v) in enumerate(shape.links):
        (number, start), (_, stop) = where[u], where[v]
        found[number].positions.append(position)
        found[number].links.append((start, stop))
    return found


def components(n: int, links: Sequence[Link]) -> list[list[int]]:
    """Return the nodes of each connected component, ascending; the largest first, ties by their first nodes."""
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for u, v in links:
        neighbours[u].append(v)
        neighbours[v].append(u)
    found, visited = [], [False] * n
    for first in range(n):
        stack, members = [] if visited[first] else [first], []
        while stack:
            node = stack.pop()
            if not visited[node]:
                visited[node] = True
                members.append(node)
                stack.extend(neighbours[node])
        if members:
            found.append(sorted(members))
    return sorted(found, key=lambda members: (-len(members), members[0]))
