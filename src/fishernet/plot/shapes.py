"""What a drawing is made of before it is drawn: who is joined, and where everything stands. Lengths are in inches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.float64]
Link = tuple[int, int]


@dataclass(frozen=True)
class Drawable:
    """Names, and what joins them.

    Attributes
    ----------
    names : tuple of str
    links : sequence of (int, int)
        The pairs that are joined, by position; each pair once.
    heads : sequence of (bool, bool)
        Whether a link has an arrow head where it begins, and where it ends.
    layered : bool
        Whether every link runs forward and there are no cycles, so that layers can show the order.
    """

    names: tuple[str, ...]
    links: Sequence[Link]
    heads: Sequence[tuple[bool, bool]]
    layered: bool


@dataclass(frozen=True)
class Layout:
    """Where things stand.

    Attributes
    ----------
    places : (n, 2) array
        Of the nodes.
    ways : list of (m, 2) arrays
        The corners of each link from its first node to its second one, in the order of the links.
    """

    places: Points
    ways: list[Points]

    @classmethod
    def straight(cls, places: Points, links: Sequence[Link]) -> Layout:
        """Return the layout whose links are straight."""
        return cls(places, [places[[u, v]] for u, v in links])

    @property
    def box(self) -> Points:
        """The lower left and the upper right corner of all, (2, 2)."""
        everything = np.concatenate([self.places, *self.ways])
        return np.array([everything.min(axis=0), everything.max(axis=0)])

    def moved(self, by: Points) -> Layout:
        """Return the layout, moved by (2,)."""
        return Layout(self.places + by, [way + by for way in self.ways])


def components(n: int, links: Sequence[Link]) -> list[list[int]]:
    """Return the nodes of each connected component, ascending; the largest first, ties by their first nodes."""
    near: list[list[int]] = [[] for _ in range(n)]
    for u, v in links:
        near[u].append(v)
        near[v].append(u)
    found, met = [], [False] * n
    for first in range(n):
        stack, members = [] if met[first] else [first], []
        while stack:
            node = stack.pop()
            if not met[node]:
                met[node] = True
                members.append(node)
                stack.extend(near[node])
        if members:
            found.append(sorted(members))
    return sorted(found, key=lambda members: (-len(members), members[0]))
