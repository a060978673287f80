"""Numbers and what P2 prints, as they stand in the tables."""

from __future__ import annotations

from collections.abc import Sequence

from studies.dependency_networks.published import Published


def short(value: float) -> str:
    """Return a number with three digits; small ones as P2 prints them."""
    if value == 0 or abs(value) < 1e-15:
        return "0"
    if abs(value) < 0.01:
        return f"{value:.1E}".replace("E-0", "E-")
    return f"{value:.3f}" if abs(value) < 10 else f"{value:,.1f}"


def span(values: Sequence[float]) -> str:
    """Return the numbers of several trials."""
    return " ".join(f"{value:.2f}" for value in values)


def inputs(positions: Sequence[int]) -> str:
    """Return a set of nodes as P2 writes it."""
    return " ".join(f"X{v}" for v in positions) if positions else "none"


def cell(published: Published | None, field: str) -> object:
    """Return what P2 prints, a dash where it prints nothing."""
    if published is None:
        return "-"
    value = getattr(published, field)
    if field == "inputs_0":
        return inputs(value)
    return span(value) if isinstance(value, tuple) else value
