"""Where parts of the data are worked on: in this process, or by the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol


class Places(Protocol):
    """Where parts of the data are worked on: in this process, or by the workers of a cluster."""

    def hold(self, parts: Sequence[Any], function: Callable[[Any], Any]) -> list[Any]:
        """Return handles of a function's answers for parts that are not read yet; the answers stay where they are."""
        ...

    def each_own(self, held: Sequence[Any], functions: Sequence[Callable[[Any], Any]]) -> list[Any]:
        """Return handles of the answers of a function of its own for each that is held; they stay where they are."""
        ...

    def sum(self, held: Sequence[Any], function: Callable[[Any], Any], *, any_order: bool = False) -> Any:
        """Return the sum of a function's answers for what is held, added in an order that depends on nothing else.

        `any_order` says that the sum is the same, to the last bit, in whatever order they are added.
        """
        ...

    def each(self, held: Sequence[Any], function: Callable[[Any], Any]) -> Iterator[Any]:
        """Return a function's answers for what is held, in its order."""
        ...
