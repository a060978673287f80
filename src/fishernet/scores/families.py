"""Families (a child with its parents) in flat arrays, so that a search over thousands of variables makes no objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Families:
    """A list of families.

    Attributes
    ----------
    children : (n_families,) int32
        Positions of the children.
    offsets : (n_families + 1,) int64
        The parents of family f are ``parents[offsets[f]:offsets[f + 1]]``.
    parents : (offsets[-1],) int32
        Positions of the parents, ascending within a family and without the child.
    once : bool
        Nobody will ask for them again, so their scores need not be remembered.
    """

    children: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    parents: npt.NDArray[np.int32]
    once: bool = False

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[int, Sequence[int]]]) -> Families:
        """Make a list of (child, parents) pairs; parents may come in any order."""
        children: list[int] = []
        parents: list[int] = []
        offsets = [0]
        for child, of in pairs:
            children.append(child)
            parents.extend(sorted(of))
            offsets.append(len(parents))
        return cls(np.array(children, np.int32), np.array(offsets, np.int64), np.array(parents, np.int32))

    def __len__(self) -> int:
        return len(self.children)

    def __iter__(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        for f, child in enumerate(self.children.tolist()):
            yield child, tuple(self.parents[self.offsets[f] : self.offsets[f + 1]].tolist())

    def __getitem__(self, part: slice) -> Families:
        """Return a stretch of the list."""
        begin, end, _ = part.indices(len(self))
        offsets = self.offsets[begin : end + 1]
        parents = self.parents[offsets[0] : offsets[-1]]
        return Families(self.children[begin:end], offsets - offsets[0], parents, self.once)

    def take(self, positions: npt.NDArray[np.int64]) -> Families:
        """Return some of the families, in the order of the positions."""
        if len(positions) == len(self):
            return self
        every = list(self)
        return Families.from_pairs(every[position] for position in positions.tolist())
